// What the person does with the text. Own changes are queued, and shown at once: each is sent
// when the one before has been answered.

import { call } from "./api.js";
import { renumberDrafts } from "./drafts.js";
import { askFirst } from "./dialogs.js";
import { HOLD, PATIENCE, redraw, state, tell } from "./state.js";
import { findIn, openStatements, statementsOf } from "./statements.js";
import { released } from "./pressing.js";
import { say } from "./words.js";

const MAX_CHANGES = 50; // that the server makes at once
const MAX_TRIES = 20; // for one change, while others change something else each time

let last = Promise.resolve();

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

// Takes the text as the server has it now.
export function take(text) {
  const before = state.text;
  const isOther = text.ref !== before?.ref;
  const selected = isOther || state.block === null ? null : before.blocks[state.block];
  state.text = text;
  const row = state.texts.findIndex((it) => it.ref === text.ref);
  if (row >= 0) state.texts[row] = { ...state.texts[row], ...text };
  const number = selected ? numberOf(selected) : -1;
  state.block = number < 0 ? null : number;
  if (text.seen !== before?.seen || isOther) {
    state.hovered = null; // until the page tells it again, with the other words
    state.since = performance.now();
    setTimeout(redraw, HOLD + 20);
  }
  if (!isOther) renumberDrafts(numberOf);
  redraw();
}

// Looks whether somebody else has changed something.
export async function look() {
  const { ref } = state;
  try {
    const text = await call("text", { ref, version: state.text.version });
    // What is the same can be known while a button is pressed; it would look no more otherwise.
    if (text.version !== state.text.version) await released();
    if (ref !== state.ref) return;
    state.failure = "";
    if (text.version !== state.text.version) take(text);
    else redraw();
  } catch (error) {
    state.failure = error.message;
    redraw();
  }
}

// Sends an act, and tells whether it was done.
async function send(action, body, ref) {
  try {
    const text = await call(action, { ref, seen: state.text.seen, ...body });
    await receive(text);
    return text;
  } catch (error) {
    if (error.status === 409) await look();
    tell("red", error.message);
    return null;
  }
}

// Notes an own change until the server has answered it.
function pend(own) {
  own.since = performance.now();
  state.pending.push(own);
  setTimeout(redraw, PATIENCE + 20);
}

export async function act(action, body = {}) {
  const { ref } = state;
  const own = { action };
  pend(own);
  redraw();
  const done = await inTurn(() => send(action, body, ref));
  state.pending = state.pending.filter((it) => it !== own);
  redraw();
  return done;
}

export const undoLast = () => undo();

// Confirms a statement, or removes its sentence.
export function settle(statement, action) {
  if (!statement) return;
  const open = openStatements();
  const index = open.findIndex((it) => it.key === statement.key);
  if (index < 0) return; // a click too many
  const { ref } = state;
  const own = { action, statement };
  pend(own);
  state.checked.unshift({ ...statement, action });
  const left = openStatements();
  state.current = (left[index] ?? left[0])?.key ?? "";
  state.block = null;
  const outcome = action === "confirm" ? "did_confirm" : "did_remove";
  tell("green", say(outcome, statement.words), undoLast);
  inTurn(() => sendSettled(own, ref));
}

// Sends what was settled, with the confirmations behind it: one answer is enough for all of them.
async function sendSettled(first, ref) {
  if (first.isSent) return;
  const all = withConfirmationsBehind(first);
  for (const own of all) own.isSent = true;
  const isDone = await sendTogether(all, ref);
  if (isDone || all.length === 1) return;
  // None of them is done if one cannot be. It keeps no other from being done.
  for (const own of all) await sendTogether([own], ref);
}

function withConfirmationsBehind(first) {
  const found = [first];
  for (const own of state.pending.slice(state.pending.indexOf(first) + 1)) {
    const isOther = first.action !== "confirm" || own.action !== "confirm";
    if (isOther || found.length === MAX_CHANGES) break;
    found.push(own);
  }
  return found;
}

// What was settled is neither pending nor open any more, at once.
function end(all, isDone) {
  state.pending = state.pending.filter((own) => !all.includes(own));
  if (isDone) return;
  const keys = all.map(({ statement }) => statement.key);
  state.checked = state.checked.filter(({ key }) => !keys.includes(key));
}

async function sendTogether(all, ref, tries = 1) {
  const changes = changesFor(all);
  if (!changes) return all.length === 1 && endSettledByOther(all[0]);
  try {
    const text = await call("change", { ref, seen: state.text.seen, changes });
    await released();
    end(all, true);
    if (text.ref === state.ref) take(text);
    return true;
  } catch (error) {
    if (error.status !== 409 || tries === MAX_TRIES) {
      if (all.length > 1) return false;
      end(all, false);
      tell("red", error.message);
      return false;
    }
    await look(); // somebody has changed something else
    return sendTogether(all, ref, tries + 1);
  }
}

// Another person was faster, and what both of them confirm is confirmed. Tells whether it is.
function endSettledByOther(own) {
  const { action, statement } = own;
  const isConfirmed = state.text.blocks.some(({ digest }) => digest === statement.card.digest);
  const isDone = isConfirmed && action === "confirm";
  end([own], isDone);
  if (isDone) redraw();
  else tell("red", say(isConfirmed ? "confirmed_by_other" : "statement_gone", statement.words));
  return isDone;
}

// The changes that settle statements one after the other, or null if one of them is gone.
function changesFor(all) {
  let left = statementsOf(state.text);
  const found = [];
  for (const { action, statement } of all) {
    const now = findIn(left, statement);
    if (!now) return null;
    const { block, number, card } = now;
    // Those that are settled before it in its block do not count any more.
    const before = found.filter((it) => it.block === block && it.number < number).length;
    found.push({ action, block, digest: card.digest, number, statement: number - before });
    left = left.filter((it) => it !== now);
  }
  return found.map(({ number, ...change }) => change);
}

async function receive(text) {
  await released();
  if (text.ref === state.ref) take(text);
}

export function settleSentence(statement) {
  const all = openStatements().filter((it) => it.card === statement.card);
  for (const each of all) settle(each, "confirm");
}

// Changes a block, and tells whether it was done. Words that another person was faster than are
// in the message, and in the draft.
export async function change(block, wanted, outcome) {
  const { ref } = state;
  const { number, digest, words, parts } = block;
  const own = { action: wanted.action, number, digest, words, parts };
  pend(own);
  redraw();
  const done = await inTurn(() => sendChange(block, wanted, outcome, ref));
  state.pending = state.pending.filter((it) => it !== own);
  redraw();
  return done;
}

async function sendChange(block, wanted, outcome, ref, tries = 1) {
  const number = numberOf(block);
  const sent = { block: number, digest: block.digest, ...wanted };
  try {
    if (number < 0) throw Object.assign(new Error(say("overtaken")), { status: 409 });
    await receive(await call("change", { ref, seen: state.text.seen, changes: [sent] }));
  } catch (error) {
    if (error.status !== 409) {
      tell("red", error.message);
      return false;
    }
    await look();
    if (numberOf(block) >= 0 && tries < MAX_TRIES) {
      return sendChange(block, wanted, outcome, ref, tries + 1);
    }
    const name = state.text.blocks[block.number]?.changed_by || say("somebody");
    tell("red", say("overtaken", name, wanted.markdown ?? ""));
    return false;
  }
  tell("green", outcome, undoLast);
  return true;
}

export function takeBack(row) {
  pend(row);
  redraw();
  return inTurn(async () => {
    const done = await send("change", { changes: [row.change] }, state.ref);
    state.pending = state.pending.filter((it) => it !== row);
    if (done) tell("green", say("did_take_back"), undoLast);
    return done;
  });
}

const UNDONE = {
  confirm: "undone_confirm", remove: "undone_remove", edit: "undone_edit", insert: "undone_add",
  paste: "undone_add", delete: "undone_delete", take_back: "undone_take_back",
  approve: "undone_approve", ask: "undone_ask", reopen: "undone_reopen",
};

// What the next Undo takes back, in words.
export const undoTitle = () => say(UNDONE[state.text?.undo?.act] ?? "undo");

export async function undo() {
  await inTurn(() => {}); // what is on its way
  const { text } = state;
  if (!text?.undo) return;
  const { act: what, deletes_file: deletes } = text.undo;
  const isSure = !deletes || await askFirst(say("undo"), say("undo_deletes", text.approved_file));
  if (!isSure) return;
  state.block = null;
  const done = await act("undo");
  state.checked = [];
  if (done) tell("amber", say("did_undo", say(UNDONE[what] ?? "undo")));
}
