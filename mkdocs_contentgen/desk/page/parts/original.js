// Of a translation: what a block says in the original.

import { state } from "../state/state.js";
import { say, translate } from "../state/words.js";
import { call } from "./api.js";
import { ask } from "./dialogs.js";
import { h } from "./draw.js";

// The original and both languages of a translation, such as `builds.md (en → de)`.
export function languages({ translation_of: page, original_language: from, language }) {
  if (!page) return "";
  const both = from ? `${from} → ${language}` : `→ ${language}`;
  return `${page} (${both})`;
}

// What a new text or an update takes, in one sentence.
export async function costNote(ref, update) {
  const cost = await call("cost", { ref, update }).catch((error) => ({ problem: error.message }));
  return h("div", {}, h("p", {}, cost.problem ?? costInWords(cost)),
    cost.hint && h("p", { class: "quiet" }, translate(cost.hint)));
}

function costInWords({ calls, most_calls: most, tokens, cost, requests }) {
  if (requests) return say("cost_request");
  if (calls === undefined) return say("free");
  return say(cost ? "cost_money" : "cost_calls", calls, most, tokens.toLocaleString(), cost);
}

// What to know of an original that has changed, with what translates that.
export function originalChanges(text, send) {
  if (!text.original_changes) return null;
  const askToTranslate = () => ask(say("translate_changes"), say("send"),
    async () => [await costNote(text.ref, true)], send);
  return h("div", { key: "original_changes", class: "original-changes" },
    h("span", { class: "note amber" }, say("original_changed", text.original_changes)), " ",
    h("button", { type: "button", disabled: Boolean(text.asking), onclick: askToTranslate },
      say("translate_changes")));
}

export function original(number) {
  const words = state.text.blocks[number]?.original;
  if (!words) return null;
  return h("div", { key: "original" },
    h("p", { class: "quiet" }, `${say("original")}: ${state.text.translation_of}`),
    h("p", { class: "source", dir: "auto", lang: state.text.original_language || undefined },
      words));
}
