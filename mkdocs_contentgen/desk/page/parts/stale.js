// What of the text may no longer hold, since its sources say something else now.

import { state } from "../state/state.js";
import { say } from "../state/words.js";
import { bothSides } from "./changes.js";
import { h } from "./draw.js";
import { openEditor } from "./editing.js";

function sentenceRow({ text, lost, now, block }) {
  return h("li", {},
    h("button", { type: "button", class: "row stale", dir: "auto", disabled: block === null,
      title: say("edit"), onclick: () => openEditor(block) }, text),
    lost.length > 0 && h("p", { class: "quiet", dir: "auto" }, say("stale_lost", lost.join(", "))),
    now && h("p", { class: "quiet", dir: "auto" }, say("stale_now", now)));
}

function staleSource({ address, source: shown, level, moved_to: movedTo, sentences, added }) {
  const source = state.text.sources.find((other) => other.address === address);
  const place = movedTo ? say("stale_moved", shown, movedTo) : shown;
  const name = level === "changed" && sentences.length ? "stale_read" : `stale_${level}`;
  return h("section", { key: `stale ${address}`, class: "card open", "aria-label": shown },
    h("p", { class: level === "changed" ? "note" : "note amber" },
      say(name, sentences.length, place)),
    sentences.length > 0 && h("ul", { class: "cards" }, sentences.map(sentenceRow)),
    level === "changed" && added.map((sentence) => h("p", { class: "quiet", dir: "auto" },
      say("stale_added", sentence))),
    source && bothSides(source));
}

export const staleSources = () => (state.text.stale ?? []).map(staleSource);
