// What was typed and is neither done nor discarded: words for blocks, notes for the model, and
// reasons to approve. The browser keeps it, also for the next desk on the same port. It belongs to
// a text, whatever the name of its page is by then.

import { kept, keptForTab } from "./kept.js";
import { withoutMarks } from "./marks.js";
import { state } from "./state.js";

const UNLOADING = 200; // milliseconds until the lock of a tab is free when it is loaded again

let ownTab = keptForTab.get("tab") ?? crypto.randomUUID();

// Makes sure that no other tab has the name of this one: a duplicate has that of its original.
export async function nameTab() {
  keptForTab.set("tab", ownTab); // for this tab when it is loaded again
  if (!navigator.locks) return; // of an old browser
  const isFree = await new Promise((done) => {
    const keep = () => {
      done(true);
      return new Promise(() => {}); // as long as the tab is open
    };
    const options = { signal: AbortSignal.timeout(UNLOADING) };
    navigator.locks.request(`tab ${ownTab}`, options, keep)
      .catch(({ name }) => done(name !== "TimeoutError")); // else the browser locks nothing
  });
  if (isFree) return;
  ownTab = crypto.randomUUID();
  await nameTab();
}

const KINDS = ["edits", "notes", "reasons"];

const placeOf = (kind, ref = state.ref) => `${kind} ${ref}`;

// The drafts of a kind for a text: "edits", "notes" or "reasons".
const recall = (kind, ref) => JSON.parse(kept.get(placeOf(kind, ref)) ?? "[]");

function remember(kind, drafts, ref) {
  if (drafts.length) kept.set(placeOf(kind, ref), JSON.stringify(drafts));
  else kept.remove(placeOf(kind, ref));
}

// What each draft has of its text: the key of its request, by which it is found when its page is
// another one, and the title, which names it when it is gone.
const aboutText = () => ({ key: state.text.key, title: state.text.title });

const hasTexts = (value, names) => names.every((name) => typeof value?.[name] === "string");

const isLine = (value) => hasTexts(value, ["tab", "words", "key", "title", "sent"]);

const isEdit = (value) => Number.isInteger(value?.number)
  && hasTexts(value, ["tab", "mode", "digest", "markdown", "words", "key", "title"]);

// Another program can have used the port before, and have left anything there.
function isKept([place, json]) {
  const [kind] = place.split(" ");
  try {
    const isOfKind = kind === "edits" ? isEdit : isLine;
    return KINDS.includes(kind) && JSON.parse(json).every(isOfKind);
  } catch {
    return false; // no list as JSON, so it is not the desk's
  }
}

// Keeps the words in the browser while `deleteAll` deletes all else there. Returns its outcome.
// Meanwhile they are in the entry of the page in the history, which is still there when somebody
// loads the page again.
export async function keepWords(deleteAll) {
  const all = { ...history.state?.words, ...Object.fromEntries(kept.entries()) };
  const words = Object.entries(all).filter(isKept);
  history.replaceState({ words: Object.fromEntries(words) }, "");
  const outcome = await deleteAll();
  for (const [place, json] of words) kept.set(place, json);
  history.replaceState(null, "");
  return outcome;
}

// The names of the tabs that are open, as nameTab() has locked them.
async function openTabs() {
  try {
    const { held } = await navigator.locks.query();
    return held.map(({ name }) => name.replace(/^tab /, ""));
  } catch { // no browser without locks tells
    return [];
  }
}

// All drafts of all texts, each with its kind and the reference that its text had.
function allDrafts() {
  const found = [];
  for (const [place, json] of kept.entries().filter(isKept)) {
    const [kind, ref] = place.split(" ");
    for (const draft of JSON.parse(json)) found.push({ kind, ref, draft });
  }
  return found;
}

// Whether a draft is for a text of another page now, such as one that was renamed.
const hasMoved = ({ ref, draft }) => state.queue.find((row) => row.ref === ref)?.key !== draft.key;

// Takes the drafts for the text that is open from the page that it was on before.
export function adoptDrafts() {
  const { ref, key } = state.text;
  for (const found of allDrafts()) {
    if (found.ref === ref || found.draft.key !== key || !hasMoved(found)) continue;
    discardDraftOf(found);
    remember(found.kind, [...recall(found.kind, ref), found.draft], ref);
  }
}

// The drafts whose texts are not in the list: {kind, ref, draft}.
export function draftsWithoutText() {
  const refs = new Set(state.queue.map(({ ref }) => ref));
  const keys = new Set(state.queue.map(({ key }) => key));
  return allDrafts().filter(({ ref, draft }) => !refs.has(ref) && !keys.has(draft.key));
}

export function discardDraftOf({ kind, ref, draft }) {
  const json = JSON.stringify(draft);
  remember(kind, recall(kind, ref).filter((other) => JSON.stringify(other) !== json), ref);
}

// Returns the line of a kind that this tab has kept, or else that of a tab that is closed.
export async function recallLine(kind) {
  const lines = recall(kind);
  const own = lines.find(({ tab }) => tab === ownTab);
  if (own) return own.words;
  const open = await openTabs();
  const left = lines.find(({ tab }) => !open.includes(tab));
  if (!left) return "";
  remember(kind, [...recall(kind).filter(({ tab }) => tab !== left.tab), { ...left, tab: ownTab }]);
  return left.words;
}

// Keeps the line of this tab, and leaves those of others alone.
export function keepLine(kind, words) {
  const own = { tab: ownTab, words, sent: "", ...aboutText() };
  const others = recall(kind).filter(({ tab }) => tab !== ownTab);
  remember(kind, words.trim() ? [...others, own] : others);
}

// Forgets the line of this tab, when what it was for is done.
export function dropLine(kind, ref) {
  remember(kind, recall(kind, ref).filter(({ tab }) => tab !== ownTab), ref);
}

// Notes which version of the text the model was asked to change. The note stays until it has.
export function noteSent(seen) {
  const notes = recall("notes").map((note) => (
    note.tab === ownTab ? { ...note, sent: seen } : note));
  remember("notes", notes);
}

// Forgets the notes that a model has followed.
export function dropDoneNotes() {
  const { asking, seen, undo } = state.text;
  if (asking || undo?.act !== "ask") return;
  const notes = recall("notes");
  const left = notes.filter(({ sent }) => !sent || sent === seen);
  if (left.length < notes.length) remember("notes", left);
}

// Whether words for the text that is open would be lost with this page.
export const areLostWithPage = () => KINDS.some((kind) => kept.isInPage(placeOf(kind)));

// The words for blocks, of all tabs: {tab, mode, number, digest, markdown, words}.
export const drafts = () => recall("edits");

// Whether two drafts are of one block, as it was then: others may have changed it.
const isSame = (one, other) => one.mode === other.mode && one.digest === other.digest
  && one.number === other.number && withoutMarks(one.markdown) === withoutMarks(other.markdown);

// Whether a draft is one of this block as it is now.
export const isOfBlock = (draft, block) => block?.digest === draft.digest
  && (draft.mode === "paste" || withoutMarks(block.markdown) === withoutMarks(draft.markdown));

export const blockOf = (draft) => state.text.blocks.find((block) => isOfBlock(draft, block));

// Two tabs can have words for the same block, and none takes or overwrites those of the other.
const isOwn = (draft, editing) => draft.tab === ownTab && isSame(draft, editing);

export const draftOf = (editing) => drafts().find((draft) => isOwn(draft, editing));

export function keepDraft(editing, words) {
  const others = drafts().filter((draft) => !isOwn(draft, editing));
  const isChanged = words.trim() && words !== editing.markdown;
  const { mode, number, digest, markdown } = editing;
  const own = { tab: ownTab, mode, number, digest, markdown, words, ...aboutText() };
  const kept = isChanged ? [...others, own] : others;
  remember("edits", kept);
}

// From now on, these words are those of this tab.
export function takeDraft(draft) {
  discardWords(draft);
  keepDraft(draft, draft.words);
}

// Takes the drafts of this tab for a block to the one that was saved in its place.
export function moveDrafts(isForBefore, { digest, markdown }) {
  const move = (draft) => {
    const now = { ...draft, digest };
    return draft.mode === "edit" ? { ...now, markdown } : now;
  };
  remember("edits", drafts().map((draft) => (
    draft.tab === ownTab && isForBefore(draft) ? move(draft) : draft)));
}

export const discardDraft = (editing) => keepDraft(editing, "");

// Drops words for a block, also those of another tab, whatever number the block has now.
export function discardWords({ mode, digest, words }) {
  const left = drafts().filter((draft) => draft.words !== words || draft.digest !== digest
    || draft.mode !== mode);
  remember("edits", left);
}

// Forgets words that the text has, since only the answer to saving them was lost.
export function dropSavedDrafts() {
  const kept = drafts();
  const left = kept.filter(({ mode, number, words }) => mode !== "edit"
    || state.text.blocks[number]?.markdown !== words.trim());
  if (left.length < kept.length) remember("edits", left);
}

// Own changes before a block have given it another number.
export function renumberDrafts(numberOf) {
  const kept = drafts();
  if (!kept.length) return;
  const moved = kept.map((draft) => {
    const number = numberOf(draft);
    return number < 0 ? draft : { ...draft, number };
  });
  remember("edits", moved);
}
