// Asks the model for another text, or to change this one.

import { keepLine, noteSent, recallLine } from "../state/drafts.js";
import { state } from "../state/state.js";
import { isTranslation } from "../state/texts.js";
import { say } from "../state/words.js";
import { act } from "./acts.js";
import { ask } from "./dialogs.js";
import { h } from "./draw.js";
import { costNote } from "./original.js";

export function askForNew() {
  const { ref, text: { seen } } = state;
  const isFirst = !seen;
  ask(say(isFirst ? "generate" : "new_text"), say(isFirst ? "generate_now" : "write_again"),
    async () => [!isFirst && h("p", {}, say("replace")), await costNote(ref)],
    () => act("ask", { replace: true, seen }));
}

const isHeading = ({ kind }) => /^h[2-6]$/.test(kind);

// The heading that a block stands under, or an empty string.
function headingOf(number) {
  const before = state.text.blocks.slice(0, number + 1);
  return before.findLast(isHeading)?.text ?? "";
}

// Asks for a change of the whole text, or of the part that a block is in.
export function askForChange(number = -1) {
  let note = "";
  let section = headingOf(number);
  const option = (value, words) => h("option", { value, selected: value === section }, words);
  const part = h("select", { "aria-label": say("section"), onchange: ({ target }) => {
    section = target.value;
  } }, option("", say("whole")),
  state.text.blocks.filter(isHeading).map(({ text }) => option(text, text)));
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

// What the model can be asked for now: the name of each button, and what it does.
export function asks(number) {
  const { asking, can_update: canUpdate, seen } = state.text;
  if (asking) return [];
  if (!seen) return [["generate", askForNew]];
  const isChangeable = canUpdate && !isTranslation();
  return [
    isChangeable && ["with_note", () => askForChange(number)],
    ["new_text", askForNew],
  ].filter(Boolean);
}
