// The tab About: what was asked for, what the text is like, and how to get another one.

import { keepLine, noteSent, recallLine } from "../state/drafts.js";
import { state } from "../state/state.js";
import { isTranslation, nameOfPage } from "../state/texts.js";
import { remarkIn, say } from "../state/words.js";
import { act } from "./acts.js";
import { ask } from "./dialogs.js";
import { h } from "./draw.js";
import { help } from "./help.js";
import { costNote, languages, originalChanges } from "./original.js";

function askForNew() {
  const { ref, text: { seen } } = state;
  const isFirst = !seen;
  ask(say(isFirst ? "generate" : "new_text"), say("send"),
    async () => [!isFirst && h("p", {}, say("replace")), await costNote(ref)],
    () => act("ask", { replace: true, seen }));
}

function askForChange() {
  const headings = state.text.blocks.filter((block) => /^h[2-6]$/.test(block.kind));
  let note = "";
  let section = "";
  const part = h("select", { "aria-label": say("section"), onchange: ({ target }) => {
    section = target.value;
  } }, h("option", { value: "" }, say("whole")),
  headings.map((block) => h("option", { value: block.text }, block.text)));
  const fields = async () => {
    const cost = await costNote(state.ref);
    note = await recallLine("notes");
    const area = h("textarea", { "aria-label": say("note"), placeholder: say("note"),
      required: true, maxlength: "2000", dir: "auto", value: note, oninput: ({ target }) => {
        note = target.value;
        keepLine("notes", note);
      } });
    return [area, part, cost];
  };
  ask(say("with_note"), say("send"), fields, async () => {
    const { seen } = state.text;
    const done = await act("ask", { note, section });
    if (done) noteSent(seen);
    return done;
  });
}

const lines = (name, found) => found?.length > 0 && h("section", { key: name },
  h("h2", {}, say(name)), h("ul", {}, found.map((line) => h("li", { dir: "auto" }, line))));

export function about() {
  const { text } = state;
  const isBusy = Boolean(text.asking);
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
    h("div", { class: "buttons", key: "ask" },
      text.can_update && text.seen && !isTranslation() && h("button", { type: "button",
        key: "note", disabled: isBusy, onclick: askForChange }, say("with_note")),
      h("button", { type: "button", key: "new", disabled: isBusy, onclick: askForNew },
        say(text.seen ? "new_text" : "generate"))),
    h("div", { class: "buttons", key: "keys" },
      h("button", { type: "button", onclick: help, title: "?" }, say("keys"))),
  ];
}
