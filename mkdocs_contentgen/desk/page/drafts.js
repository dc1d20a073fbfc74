// What was typed and neither saved nor discarded. The browser keeps it as long as the desk runs.

import { state } from "./state.js";

const placeOf = (kind) => `${kind} ${state.ref}`;

export const recall = (kind) => JSON.parse(localStorage.getItem(placeOf(kind)) ?? "null");

export function remember(kind, value) {
  if (value) localStorage.setItem(placeOf(kind), JSON.stringify(value));
  else localStorage.removeItem(placeOf(kind));
}

// The words for blocks: {mode, number, digest, markdown, words}.
export const drafts = () => recall("edits") ?? [];

export const withoutMarks = (markdown) => markdown.replace(/==|<\/?mark>/g, "");

// Whether a draft is one of this block, as it was then: others may have changed it.
const isSame = (one, other) => one.mode === other.mode && one.digest === other.digest
  && one.number === other.number && withoutMarks(one.markdown) === withoutMarks(other.markdown);

export const blockOf = (draft) => state.text.blocks.find((block) => block.digest === draft.digest
  && (draft.mode === "paste" || withoutMarks(block.markdown) === withoutMarks(draft.markdown)));

export const draftOf = (editing) => drafts().find((draft) => isSame(draft, editing));

export function keepDraft(editing, words) {
  const others = drafts().filter((draft) => !isSame(draft, editing));
  const isOther = words.trim() && words !== editing.markdown;
  const { mode, number, digest, markdown } = editing;
  const kept = isOther ? [...others, { mode, number, digest, markdown, words }] : others;
  remember("edits", kept.length ? kept : null);
}

export const discardDraft = (editing) => keepDraft(editing, "");

// Where these words are saved, whatever the number of their block was then.
export function discardWords(words) {
  const left = drafts().filter((draft) => draft.words !== words);
  remember("edits", left.length ? left : null);
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
