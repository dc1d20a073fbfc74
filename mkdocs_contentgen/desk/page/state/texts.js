// The texts of the list: which group each is in, what needs a person first, and how each is named.

import { state } from "./state.js";
import { say } from "./words.js";

const NEED = [
  "outdated", "changed", "damaged", "proposed", "draft", "failed", "missing", "approved",
];
export const GROUPS = ["review", "behind", "missing", "approved"];

export function groupOf(text) {
  if (text.newer_draft || text.due_since || text.watched?.length) return "review";
  if (text.state === "approved") return text.original_changes ? "behind" : "approved";
  return ["failed", "missing"].includes(text.state) ? "missing" : "review";
}

// Whether a person can review it now.
const isNeeded = (text) => groupOf(text) === "review" && text.state !== "damaged";

const rank = (text) => text.newer_draft ? 0 : NEED.indexOf(text.state);

export const sortByNeed = (rows) => [...rows].sort((one, other) => rank(one) - rank(other)
  || other.marked - one.marked || one.page.localeCompare(other.page));

export const firstNeeded = () => sortByNeed(state.queue).find(isNeeded);

// The text that needs a person next, after the one that is open.
export function nextAfter() {
  const rows = sortByNeed(state.queue);
  const index = rows.findIndex((row) => row.ref === state.ref);
  // From there on, and then from the start. Without an open text, that is all of them.
  const following = [...rows.slice(index + 1), ...rows.slice(0, Math.max(index, 0))];
  return following.find(isNeeded) ?? null;
}

export const countOf = (group) => state.queue.filter((text) => groupOf(text) === group).length;

export const addressOf = (text) => `${text.url || "/"}?text=${text.ref}`;

// Several texts can be on a page.
export const nameOfPage = (text) => text.id === "main" ? text.page : `${text.page} · ${text.id}`;

export function stateOf(text) {
  if (text.newer_draft) return say("newer");
  if (text.due_since) return say("state_due", text.due_since.slice(0, 10));
  return say(`state_${text.state}`);
}

// Whether nothing of the text that is open waits for an approval.
export const isApproved = () => state.text.state === "approved" && !state.text.newer_draft
  && !state.text.due_since && !state.text.watched?.length;

export const isTranslation = () => Boolean(state.text?.translation_of);
