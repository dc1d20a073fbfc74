// What was typed and neither saved nor discarded. The browser keeps it, also for the next desk on
// the same port.

import { state } from "./state.js";

const UNLOADING = 200; // milliseconds until the lock of a tab is free when it is loaded again

let ownTab = sessionStorage.getItem("tab") ?? crypto.randomUUID();

// Makes sure that no other tab has the name of this one: a duplicate has that of its original.
export async function nameTab() {
  sessionStorage.setItem("tab", ownTab); // for this tab when it is loaded again
  if (!navigator.locks) return; // of an old browser
  const isFree = await new Promise((done) => {
    const keep = () => {
      done(true);
      return new Promise(() => {}); // as long as the tab is open
    };
    const options = { signal: AbortSignal.timeout(UNLOADING) };
    navigator.locks.request(`tab ${ownTab}`, options, keep).catch(() => done(false));
  });
  if (isFree) return;
  ownTab = crypto.randomUUID();
  await nameTab();
}

const placeOf = (kind) => `${kind} ${state.ref}`;

export const recall = (kind) => JSON.parse(localStorage.getItem(placeOf(kind)) ?? "null");

export function remember(kind, value) {
  if (value) localStorage.setItem(placeOf(kind), JSON.stringify(value));
  else localStorage.removeItem(placeOf(kind));
}

const TEXT_FIELDS = ["tab", "mode", "digest", "markdown", "words"];

const isDraft = (value) => Number.isInteger(value?.number)
  && TEXT_FIELDS.every((name) => typeof value[name] === "string");

// Another program can have used the port before, and have left anything there.
function isKept([place, json]) {
  const [kind] = place.split(" ");
  try {
    const value = JSON.parse(json);
    if (kind === "note") return typeof value === "string";
    return kind === "edits" && Array.isArray(value) && value.every(isDraft);
  } catch {
    return false; // no JSON, so it is not the desk's
  }
}

// Keeps the words in the browser while `deleteAll` deletes all else there. Returns its outcome.
export async function keepWords(deleteAll) {
  const kept = Object.entries(localStorage).filter(isKept);
  const outcome = await deleteAll();
  for (const [place, json] of kept) localStorage.setItem(place, json);
  return outcome;
}

// The words for blocks, of all tabs: {tab, mode, number, digest, markdown, words}.
export const drafts = () => recall("edits") ?? [];

const withoutMarks = (markdown) => markdown.replace(/==|<\/?mark>/g, "");

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
  const own = { tab: ownTab, mode, number, digest, markdown, words };
  const kept = isChanged ? [...others, own] : others;
  remember("edits", kept.length ? kept : null);
}

// From now on, these words are those of this tab.
export function takeDraft(draft) {
  discardWords(draft.words);
  keepDraft(draft, draft.words);
}

export const discardDraft = (editing) => keepDraft(editing, "");

// Drops all drafts with these words, for whatever block they were.
export function discardWords(words) {
  const left = drafts().filter((draft) => draft.words !== words);
  remember("edits", left.length ? left : null);
}

// Forgets words that the text has, since only the answer to saving them was lost.
export function dropSavedDrafts() {
  const kept = drafts();
  const left = kept.filter(({ mode, number, words }) => mode !== "edit"
    || state.text.blocks[number]?.markdown !== words.trim());
  if (left.length < kept.length) remember("edits", left.length ? left : null);
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
