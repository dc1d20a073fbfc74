// What the person does with the text. Own changes are queued, and shown at once: each is sent
// when the one before has been answered.

import { dropDoneNotes, dropSavedDrafts, moveDrafts, renumberDrafts } from "../state/drafts.js";
import { noteEarlier } from "../state/earlier.js";
import { nameOfOther } from "../state/people.js";
import { released } from "../state/pressing.js";
import {
  afterDrawing, noteOtherText, PATIENCE, redraw, state, tell, tellDone,
} from "../state/state.js";
import {
  findFirst, findIn, hasStatement, isWholeCell, openSentences, openStatements, sentencesOf,
  statementsOf, withoutSettled, wordsToCheck,
} from "../state/statements.js";
import { say } from "../state/words.js";
import { call } from "./api.js";
import { personAgrees } from "./dialogs.js";
import { noteText } from "./seen.js";

const MAX_CHANGES = 50; // that the server makes at once
const OF_MODEL = ["ask", "cancel"]; // acts after which the model's words can come
const MAX_TRIES = 20; // for one change, while others change something else each time

let last = Promise.resolve(); // ends with the last act that waits for its turn

export function inTurn(next) {
  last = last.then(next);
  return last;
}

// Where a block is now: others before it may be gone, or new.
export function numberOf({ number, digest }) {
  const { blocks } = state.text;
  if (blocks[number]?.digest === digest) return number;
  return blocks.findIndex((block) => block.digest === digest);
}

// Takes the text as the server has it now, after an act of the person's own or of somebody else.
export function take(text, isOwn = false) {
  const before = state.text;
  const isOther = text.ref !== before?.ref;
  const hasSelected = !isOther && state.block !== null;
  const selected = hasSelected ? before.blocks[state.block] : null;
  const current = !isOther && sentencesOf(before).find(({ key }) => key === state.current);
  state.text = text;
  // Its block can have another number now.
  if (current) state.current = findIn(sentencesOf(text), current)?.key ?? state.current;
  const row = state.queue.findIndex(({ ref }) => ref === text.ref);
  if (row >= 0) state.queue[row] = { ...state.queue[row], ...text };
  const number = selected ? numberOf(selected) : -1;
  state.block = number < 0 ? null : number;
  if (text.seen !== before?.seen || isOther) noteOtherText();
  if (!isOther) renumberDrafts(numberOf);
  noteText(text, isOwn);
  dropSavedDrafts();
  dropDoneNotes();
  forgetReopened();
  redraw();
}

// What is open again, whoever did that, was not checked.
function forgetReopened() {
  const open = new Set(openStatements().map(({ key }) => key));
  state.checked = state.checked
    .filter(({ statements }) => !statements.some(({ key }) => open.has(key)));
}

// Looks whether somebody else has changed something.
export async function look() {
  const { ref, text: { version } } = state; // before the answer, Undo can replace state.text
  try {
    const text = await call("text", { ref, version });
    // Only another text waits until no button is pressed: with the mouse held down on one, the desk
    // still looks whether the server is there.
    if (text.version !== version) await released();
    if (ref !== state.ref) return;
    state.failure = "";
    if (state.message?.text === say("lost")) tell("amber", say("answers"));
    if (text.version === version) {
      redraw(); // its answer has nothing else
      return;
    }
    if (text.seen !== state.text.seen) forgetUndo();
    take(text);
  } catch (error) {
    state.failure = error.message;
    redraw();
  }
}

// Another person has done something since, which the Undo beside the message would take back.
function forgetUndo() {
  const isPending = state.pending.length > 0;
  if (state.message?.isAboutLastAct && !isPending) state.message = null;
}

// Sends an act, and tells whether it was done.
async function send(action, body, ref) {
  try {
    const text = await call(action, { ref, seen: state.text.seen, ...body });
    await released();
    receive(text, !OF_MODEL.includes(action));
    return text;
  } catch (error) {
    if (error.status === 409) await look();
    tell("red", error.message);
    // Somebody has written into the file what the text to approve does not have.
    const agrees = error.file
      && await personAgrees(say("approve"), `${error.message} — ${say("overwrites_file")}`);
    return agrees ? send(action, { ...body, overwrites: error.file }, ref) : null;
  }
}

// Sends changes of the text that is open.
async function sendChanges(ref, changes) {
  const before = state.text;
  const after = await call("change", { ref, seen: before.seen, changes });
  if (changes.length === 1) noteEarlier(after, before);
  return after;
}

// Notes an own change until the server has answered it.
function pend(own) {
  own.since = performance.now();
  state.pending.push(own);
  setTimeout(redraw, PATIENCE + 20);
}

// Does something when it is its turn, with an own change pending until that is done. Returns the
// outcome.
async function inTurnPending(own, doChange) {
  pend(own);
  redraw();
  const done = await inTurn(doChange);
  state.pending = state.pending.filter((other) => other !== own);
  redraw();
  return done;
}

export function act(action, body = {}) {
  const { ref } = state;
  return inTurnPending({ action }, () => send(action, body, ref));
}

// Settles statements of a sentence: "confirm" settles one alone, and "confirm_sentence" and
// "remove" settle all of them.
export function settle(statements, action) {
  if (!statements?.length) return;
  const open = openSentences();
  const index = open.findIndex((other) => hasStatement(other, statements[0]));
  if (index < 0) return; // a click too many
  const { ref } = state;
  const { block, card, sentence } = statements[0];
  const checked = { block, card, sentence, statements, action };
  const own = { action, statements, checked };
  const hadFocus = document.activeElement?.closest('[aria-current="true"]');
  pend(own);
  state.checked.unshift(checked);
  const left = openSentences();
  const isLeft = left.some(({ key }) => key === open[index].key);
  state.current = (isLeft ? open[index] : left[index] ?? left[0])?.key ?? "";
  state.block = null;
  tellDone(outcomeOf(checked));
  if (hadFocus) afterDrawing(focusNextConfirm);
  inTurn(() => sendSettled(own, ref));
}

// Where the next sentence is confirmed. Nothing is pressed by a key that is still held.
export function focusNextConfirm() {
  const next = document.querySelector('[aria-current="true"] .confirm, .all-checked');
  next?.focus({ preventScroll: true });
}

function outcomeOf(checked) {
  const words = wordsToCheck(checked);
  if (checked.action !== "remove") return say("did_confirm", words);
  return isWholeCell(checked) ? say("did_empty") : say("did_remove", words);
}

// Sends what was settled, with the confirmations after it: one answer is enough for all of them.
async function sendSettled(first, ref) {
  if (first.isSent) return;
  const all = withConfirmationsBehind(first);
  for (const own of all) own.isSent = true;
  const isDone = await sendTogether(all, ref);
  if (isDone || all.length === 1) return;
  // The server does all of them or none. One by one, all are done but those that cannot be.
  for (const own of all) await sendTogether([own], ref);
}

const isConfirmed = ({ action }) => ["confirm", "confirm_sentence"].includes(action);

function withConfirmationsBehind(first) {
  const found = [first];
  for (const own of state.pending.slice(state.pending.indexOf(first) + 1)) {
    const areBothConfirmed = isConfirmed(first) && isConfirmed(own);
    if (!areBothConfirmed || found.length === MAX_CHANGES) break;
    found.push(own);
  }
  return found;
}

// Takes what was settled out of what is pending. If it was not done, it is open again.
function endSettling(all, isDone) {
  state.pending = state.pending.filter((own) => !all.includes(own));
  if (isDone) return;
  const undone = all.map(({ checked }) => checked);
  state.checked = state.checked.filter((checked) => !undone.includes(checked));
}

// Settles statements in one request, and tells whether it was done. Of one alone, the person hears
// why not.
async function sendTogether(all, ref, tries = 1) {
  const changes = changesFor(all);
  if (!changes && all.length > 1) return false;
  if (!changes) return endSettledByOther(all[0]);
  try {
    const text = await sendChanges(ref, changes);
    await released();
    endSettling(all, true);
    receive(text);
    return true;
  } catch (error) {
    if (error.status === 409 && tries < MAX_TRIES) {
      await look(); // somebody has changed something else
      return sendTogether(all, ref, tries + 1);
    }
    if (all.length === 1) {
      endSettling(all, false);
      tell("red", error.message);
    }
    return false;
  }
}

// Ends a change whose statement is no longer there, since another person was faster. Tells whether
// it is as this person wants it: that is so if both have confirmed the statement.
function endSettledByOther(own) {
  const words = wordsToCheck(own);
  const isThere = state.text.blocks.some(({ digest }) => digest === own.checked.card.digest);
  const isDone = isThere && isConfirmed(own);
  endSettling([own], isDone);
  if (isDone) redraw();
  else if (isThere) tell("red", say("confirmed_by_other", words, nameOfOther()));
  else tell("red", say("statement_gone", words));
  return isDone;
}

// The changes that settle statements one after the other, or null if one of them is gone.
function changesFor(all) {
  const before = statementsOf(state.text);
  let left = before;
  const changes = [];
  for (const own of all) {
    const now = findFirst(left, own);
    if (!now) return null;
    const { block, number, card: { digest } } = now;
    // The server makes one change after the other. When it comes to this one, the marks of those
    // that stand before it in its block are gone, and its own has a lower number.
    const settled = before.filter((other) => !left.includes(other) && other.block === block
      && other.number < number);
    changes.push({ action: own.action, block, digest, statement: number - settled.length });
    left = withoutSettled(left, own.action, now);
  }
  return changes;
}

function receive(text, isOwn = true) {
  if (text.ref === state.ref) take(text, isOwn);
}

// Changes a block, and tells whether it was done. If another person has changed the block before,
// the words are not lost: they are in the message, and in the draft.
export function change(block, wanted, outcome) {
  const { ref } = state;
  const own = Object.assign(block, { action: wanted.action });
  return inTurnPending(own, () => sendChange(own, wanted, outcome, ref));
}

async function sendChange(own, wanted, outcome, ref, tries = 1) {
  const number = numberOf(own);
  if (number >= 0) {
    const sent = { block: number, digest: own.digest, ...wanted };
    try {
      const text = await sendChanges(ref, [sent]);
      await released();
      if (text.ref === state.ref && wanted.action === "edit") goOnWith(text.blocks[number], own);
      receive(text);
      tellDone(outcome);
      return true;
    } catch (error) {
      if (error.status !== 409) {
        tell("red", error.message);
        return false;
      }
    }
  }
  await look(); // another person was faster, or no page has the text any more
  if (state.failure) {
    tell("red", state.failure);
    return false;
  }
  if (numberOf(own) >= 0 && tries < MAX_TRIES) {
    return sendChange(own, wanted, outcome, ref, tries + 1);
  }
  const name = state.text.blocks[own.number]?.changed_by || nameOfOther();
  tell("red", say("overtaken", name, wanted.markdown ?? ""));
  return false;
}

// The person may have gone on with a block while their words for it were being saved. What they
// have typed and sent since is for the block as it is saved.
function goOnWith(block, own) {
  const isForBefore = (other) => other.digest === own.digest && other.id !== own.id
    && numberOf(other) === numberOf(own);
  moveDrafts((draft) => draft.words !== own.words && isForBefore(draft), block);
  for (const other of [state.editing, ...state.pending]) {
    if (!other || !isForBefore(other)) continue;
    if (other.words === own.words) other.words = block.markdown;
    if (other.mode === "edit") other.markdown = block.markdown;
    other.digest = block.digest;
  }
}

export function takeBack(row) {
  return inTurnPending(row, async () => {
    const done = await send("change", { changes: [row.change] }, state.ref);
    if (done) tellDone(say("did_take_back"));
    return done;
  });
}
