// The texts of the list: which group each is in, what needs a person first, and how each is named.

import { state } from "./state.js";
import { remarkIn, say } from "./words.js";

const NEED = [
  "outdated", "changed", "damaged", "proposed", "draft", "failed", "missing", "approved",
];
export const GROUPS = ["review", "behind", "missing", "approved"];

export function groupOf(text) {
  if (text.newer_draft || text.due_since || text.watched?.length) return "review";
  const isBehind = text.original_changes || text.stale?.length > 0;
  if (text.state === "approved") return isBehind ? "behind" : "approved";
  return ["failed", "missing"].includes(text.state) ? "missing" : "review";
}

// Whether a person can review it now.
const isNeeded = (text) => groupOf(text) === "review" && text.state !== "damaged";

const rank = (text) => text.newer_draft ? 0 : NEED.indexOf(text.state);

// What waits for one click stands first: nothing is left to check in it.
const left = (text) => isNeeded(text) ? text.marked_sentences : 0;

export const sortByNeed = (rows) => [...rows].sort((one, other) =>
  waitsForOriginal(one) - waitsForOriginal(other) || isReady(other) - isReady(one)
  || rank(one) - rank(other) || left(other) - left(one) || one.page.localeCompare(other.page));

const isReady = (text) => isNeeded(text) && !text.marked_sentences;

// Whether it is a translation whose original has to be reviewed first.
function waitsForOriginal(text) {
  const original = state.queue.find(({ ref }) => ref === text.original_ref);
  return Boolean(original) && groupOf(original) === "review";
}

export const firstNeeded = () => sortByNeed(state.queue).find(isNeeded);

// Keeps the order of the list for going through its texts: what is done with them changes it.
export function keepOrder() {
  state.order = sortByNeed(state.queue).map(({ ref }) => ref);
}

// The text that needs a person next, after the one that is open, or null after the last one.
export function nextAfter() {
  const following = state.order.slice(state.order.indexOf(state.ref) + 1);
  const rows = following.map((ref) => state.queue.find((row) => row.ref === ref));
  return rows.find((row) => row && isNeeded(row)) ?? null;
}

export const countOf = (group) => state.queue.filter((text) => groupOf(text) === group).length;

export const addressOf = (text) => `${text.url || "/"}?text=${text.ref}`;

// Several texts can be on a page.
export const nameOfPage = (text) => text.id === "main" ? text.page : `${text.page} · ${text.id}`;

// How many remarks there are, and what each is about: what stands before its colon.
export function remarksOf({ remarks }) {
  if (!remarks.length) return "";
  const names = remarks.map((remark) => remarkIn(remark).split(/[:：]/)[0].trim().toLowerCase());
  return say("remarks_about", remarks.length, [...new Set(names)].join(", "));
}

// The worst that may be so of a text whose sources say something else now.
function staleState({ stale }) {
  const worst = ["gone", "wrong", "changed"].find((level) => (
    stale.some((source) => source.level === level)));
  return `state_stale_${worst}`;
}

export function stateOf(text) {
  if (text.newer_draft) return say("newer");
  if (text.due_since) return say("state_due", text.due_since.slice(0, 10));
  if (text.watched?.length) return say("state_watched", text.watched.length);
  if (text.state === "approved" && text.stale?.length) return say(staleState(text));
  return say(`state_${text.state}`);
}

// Whether nothing of the text that is open waits for an approval.
export const isApproved = () => state.text.state === "approved" && !state.text.newer_draft
  && !state.text.due_since && !state.text.watched?.length;

export const isTranslation = () => Boolean(state.text?.translation_of);
