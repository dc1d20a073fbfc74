// From text to text, and to the list of texts.

import { adoptDrafts } from "../state/drafts.js";
import { redraw, state, tell } from "../state/state.js";
import { addressOf, firstNeeded, groupOf, keepOrder, nextAfter } from "../state/texts.js";
import { say } from "../state/words.js";
import { inTurn, look, take } from "./acts.js";
import { call } from "./api.js";
import { openFrame } from "./frame.js";

export async function loadQueue(isWanted) {
  const { queue, by, problem, commit_command: commitCommand } = await call("queue");
  if (!isWanted()) return;
  const hasSome = (group) => queue.some((row) => groupOf(row) === group);
  Object.assign(state, { view: "queue", queue, by, problem, commitCommand, ref: "" });
  keepOrder();
  if (!hasSome(state.queueTab)) state.queueTab = "review";
  redraw();
}

export function reviewNext() {
  const first = firstNeeded();
  if (first) openText(first);
}

// Opens the next text, or the list if no text needs a person: there stands what that means.
export async function openNext() {
  const next = nextAfter();
  if (next) {
    await openText(next);
  } else {
    Object.assign(state, { queueTab: "review", filter: "" });
    await openQueue();
  }
}

// Notes that the person goes elsewhere. Returns a function that tells whether they have not gone
// to yet another place since.
export function leave() {
  state.visits += 1;
  const { visits } = state;
  return () => visits === state.visits;
}

export async function openText(row) {
  const isWanted = leave();
  await inTurn(() => {}); // what is on its way belongs to the text that is open
  if (!isWanted()) return;
  const before = location.href;
  if (location.pathname + location.search !== addressOf(row)) {
    history.pushState(null, "", addressOf(row));
  }
  try {
    await showText(row, isWanted);
  } catch (error) {
    if (!isWanted()) return;
    history.replaceState(null, "", before);
    tell("red", error.message);
  }
}

// Stays with a text although another one is about to be opened, or goes back to it.
export async function returnTo(row) {
  leave();
  const isOpen = row.ref === state.ref && location.pathname + location.search === addressOf(row);
  if (!isOpen) await openText(row);
}

export async function openQueue() {
  const isWanted = leave();
  await inTurn(() => {});
  if (!isWanted()) return;
  if (!isOfApproval(state.message)) state.message = null;
  try {
    await loadQueue(isWanted);
  } catch (error) {
    tell("red", error.message);
    return;
  }
  if (isWanted()) history.pushState(null, "", "/_contentgen/");
}

const isOfApproval = (message) => Boolean(message?.undo);

// Whether a message is about more than the text before: a problem, or an approval, which can still
// be undone. The Undo of all else would take back what was done last in the text that is open.
const outlives = (message) => message?.kind === "red" || isOfApproval(message);

export async function showText(row, isWanted) {
  const { message, ref } = state;
  const isOther = ref !== row.ref;
  const text = await call("text", { ref: row.ref });
  if (!isWanted()) return;
  Object.assign(state, {
    view: "text", ref: row.ref, tab: "check", current: "", pending: [], block: null, hovered: null,
    editing: null, comparison: null, isMenuOpen: false, isSheetOpen: true, failure: "",
    warning: "",
  });
  if (isOther) state.checked = [];
  state.message = ref && isOther && outlives(message) ? message : null;
  openFrame(row.frame, location.pathname, say("page"));
  take(text);
  adoptDrafts();
}

export async function watch() {
  for (;;) {
    await new Promise((done) => { setTimeout(done, 1000); });
    if (state.view === "text" && state.text) await inTurn(look);
  }
}
