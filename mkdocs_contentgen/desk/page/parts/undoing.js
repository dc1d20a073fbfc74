// Undo: what it takes back, in words, and how the text looked before, which is shown at once.

import { takeEarlier } from "../state/earlier.js";
import { otherPerson } from "../state/people.js";
import { noteOtherText, state, tell, tellDone } from "../state/state.js";
import { findIn, openStatements, sentenceWith } from "../state/statements.js";
import { say } from "../state/words.js";
import { act, inTurn, take } from "./acts.js";
import { personAgrees } from "./dialogs.js";

const UNDONE = {
  confirm: "undone_confirm", confirm_sentence: "undone_confirm", remove: "undone_remove",
  edit: "undone_edit", insert: "undone_add", paste: "undone_add", delete: "undone_delete",
  take_back: "undone_take_back", approve: "undone_approve", ask: "undone_ask",
  reopen: "undone_reopen",
};

export const inWords = ({ act: name }) => say(UNDONE[name] ?? "undo");

// What the next Undo takes back, in words.
export function undoTitle() {
  const { undo: last } = state.text;
  const name = otherPerson(last);
  return name ? `${inWords(last)} (${name})` : inWords(last);
}

// Whether the person goes on, though Undo would delete the approved file of a text, or take back
// what another person has done.
export async function agreesToUndo({ undo: last, approved_file: file }) {
  const name = otherPerson(last);
  const questions = [
    name && say("undo_of_other", name, inWords(last)),
    last.deletes_file && say("undo_deletes", file),
  ].filter(Boolean);
  return !questions.length || personAgrees(say("undo"), questions.join(" "));
}

let ended = Promise.resolve();

// Does what takes an act back when the one before has ended, however quickly they come.
export function afterLastUndo(takeBack) {
  ended = ended.then(takeBack);
  return ended;
}

// Takes back what was done last with the text that is open.
export function undo() {
  const { ref } = state;
  return afterLastUndo(() => undoNext(ref));
}

async function undoNext(ref) {
  await inTurn(() => {}); // what is on its way
  const { text } = state;
  if (ref !== state.ref || !text?.undo) return;
  if (!await agreesToUndo(text)) return;
  if (ref !== state.ref) return; // another text was opened beneath the question
  state.block = null;
  const open = openStatements();
  const shown = showEarlier(text);
  const done = await act("undo", { seen: text.seen });
  if (done) {
    selectReopened(open);
    tellUndone(say("did_undo", inWords(text.undo)));
  } else if (shown && state.text === shown) {
    take(text);
  }
}

// Says what was taken back, and beside it what the next Undo takes back.
export function tellUndone(words) {
  tell("amber", words);
  state.message.isUndone = true;
}

// Does again what was taken back last.
export function redo() {
  const { ref } = state;
  return afterLastUndo(async () => {
    await inTurn(() => {});
    const { text } = state;
    if (ref !== state.ref || !text?.redo) return;
    const done = await act("redo", { seen: text.seen });
    if (done) tellDone(say("did_redo", inWords(text.redo)));
  });
}

// Shows the text as it was before, if that is known, until the server has answered.
function showEarlier(text) {
  if (state.text !== text) return null;
  const before = takeEarlier(text);
  if (!before) return null;
  const { stamp, waits, asking } = text; // of now
  state.text = { ...before, stamp, waits, asking };
  noteOtherText();
  return state.text;
}

// What is open again is what to check next.
function selectReopened(before) {
  const reopened = openStatements().filter((statement) => !findIn(before, statement));
  const areOfOne = reopened.every(({ card }) => card === reopened[0].card);
  if (reopened.length && areOfOne) state.current = sentenceWith(reopened[0]).key;
}
