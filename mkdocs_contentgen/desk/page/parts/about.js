// The tab About: what was asked for, and what the text is like.

import { state } from "../state/state.js";
import { nameOfPage } from "../state/texts.js";
import { remarkIn, say } from "../state/words.js";
import { act } from "./acts.js";
import { h } from "./draw.js";
import { help } from "./help.js";
import { languages, originalChanges } from "./original.js";

const lines = (name, found) => found?.length > 0 && h("section", { key: name },
  h("h2", {}, say(name)), h("ul", {}, found.map((line) => h("li", { dir: "auto" }, line))));

export function about() {
  const { text } = state;
  const facts = [
    [say("page_of"), nameOfPage(text)],
    [say("original"), languages(text)],
    [say("topic"), text.topic],
    [say("request"), Object.entries(text.request).map((field) => field.join(": ")).join(" · ")],
    [say("state"), say(`state_${text.state}`)],
    [say("model"), text.model],
    [say("age"), (text.generated_at ?? "").slice(0, 10)],
    [say("approved_by"), text.approved_by],
  ].filter(([, value]) => value);
  return [
    h("dl", {}, facts.map(([name, value]) => [h("dt", {}, name), h("dd", { dir: "auto" }, value)])),
    originalChanges(text, () => act("ask", { update: true, seen: text.seen })),
    text.brief && h("section", { key: "brief" }, h("h2", {}, say("brief")),
      h("div", { class: "brief", dir: "auto" }, text.brief)),
    lines("remarks", text.remarks?.map(remarkIn)),
    lines("hidden", text.hidden),
    h("div", { class: "buttons", key: "keys" },
      h("button", { type: "button", onclick: help, title: "?" }, say("keys"))),
  ];
}
