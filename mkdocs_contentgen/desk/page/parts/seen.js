// What of a text the person has not seen as it is now: what others have changed and was not on the
// screen since, and what the page cannot show. It is shown before the text is approved.

import { align } from "../state/alignment.js";
import { keptForTab } from "../state/kept.js";
import { withoutMarks } from "../state/marks.js";
import { HOLD, noteOtherSight, PATIENCE, redraw, state, tellTooQuick } from "../state/state.js";
import { say } from "../state/words.js";
import { inform } from "./dialogs.js";
import { h } from "./draw.js";

const MAX_WORDS = 60; // characters of a block that name it in a message

// What is known of the blocks of each text that was open, by its reference: `rows` for those that
// the text has, `gone` for those that others have removed, when that became so, and the digest of
// the page's article with these blocks.
const known = new Map();

// The digest is of the words alone, and the Markdown also has addresses, which no page shows.
const keyOf = ({ kind, digest, markdown }) => `${kind} ${digest} ${withoutMarks(markdown)}`;

const rowOf = (block) => ({
  key: keyOf(block), words: block.text, isSeen: false, isChanged: false, isHidden: false,
  isThere: true,
});

const isOfRow = (value) => ["key", "words"].every((name) => typeof value?.[name] === "string");

// What this tab knew of a text before it was loaded again, or null. Another program can have used
// the port before, and have left anything there.
function recalled(ref) {
  try {
    const { rows, gone } = JSON.parse(keptForTab.get(`seen ${ref}`));
    return [...rows, ...gone].every(isOfRow) ? { rows, gone, since: performance.now() } : null;
  } catch { // there is nothing, or something else
    return null;
  }
}

// Keeps what is known for this tab when it is loaded again.
export function keepSeen() {
  addEventListener("pagehide", () => {
    for (const [ref, { rows, gone }] of known) {
      keptForTab.set(`seen ${ref}`, JSON.stringify({ rows, gone }));
    }
  });
}

// Takes what the text has now, after an act of the person's own or of somebody else. A text that is
// opened for the first time has not changed since it was seen.
export function noteText({ ref, blocks, in_page: inPage }, isOwn) {
  const digest = inPage?.digest;
  const before = known.get(ref) ?? recalled(ref);
  if (!before?.rows.length) {
    known.set(ref, { rows: blocks.map(rowOf), gone: [], since: performance.now(), digest });
    return;
  }
  const keys = blocks.map(keyOf);
  const places = align(before.rows.map(({ key }) => key), keys);
  const rows = blocks.map((block, number) => {
    const row = before.rows[places[number]] ?? rowOf(block);
    const isNew = places[number] < 0;
    return isNew ? { ...row, isSeen: isOwn, isChanged: !isOwn } : row;
  });
  const gone = isOwn ? [] : goneOf(before.rows, places);
  const isOther = gone.length > 0 || rows.some((row) => !before.rows.includes(row));
  const left = [...before.gone, ...gone].filter(({ key }) => !keys.includes(key));
  const since = isOther ? performance.now() : before.since;
  if (isOther) setTimeout(redraw, PATIENCE + 20);
  known.set(ref, { rows, gone: left, since, digest });
}

// The rows of which nothing is left. Others in the place of a row show what has changed there.
function goneOf(rows, places) {
  const found = [];
  let next = 0; // the first row that was not looked at
  let hasOthers = false; // whether there are new blocks since the last one that has stayed
  for (const place of [...places, rows.length]) {
    if (place < 0) {
      hasOthers = true;
    } else {
      if (!hasOthers) found.push(...rows.slice(next, place));
      next = place + 1;
      hasOthers = false;
    }
  }
  return found;
}

const isListOf = (numbers) => Array.isArray(numbers) && numbers.every(Number.isInteger);

// Hears what was on the screen of the page. Of another version than the newest, it says nothing.
export function hearSight({ digest, there, seen, hidden }) {
  const { rows, digest: newest } = known.get(state.ref) ?? {};
  if (!rows || digest !== newest) return;
  if (![there, seen, hidden].every(isListOf)) return;
  const [areThere, areSeen, areHidden] = [there, seen, hidden].map((numbers) => new Set(numbers));
  const before = JSON.stringify(unseen());
  rows.forEach((row, number) => {
    row.isThere = areThere.has(number);
    row.isSeen ||= areSeen.has(number);
    row.isHidden = areHidden.has(number);
  });
  if (JSON.stringify(unseen()) !== before) redraw();
}

// What was not seen: the numbers of blocks in the page that have changed, and the words that it
// cannot show.
function unseen() {
  const { rows = [], gone = [] } = known.get(state.ref) ?? {};
  const changed = [];
  const hidden = [];
  rows.forEach((row, number) => {
    if (row.isSeen || !(row.isChanged || row.isHidden)) return;
    if (row.isHidden || !row.isThere) hidden.push(row);
    else changed.push({ number, words: row.words });
  });
  return { changed, hidden, gone };
}

// Shows what was not seen, and tells whether there was something.
export function showUnseen() {
  const { changed, hidden, gone } = unseen();
  if (changed.length) showInPlace(changed[0].number);
  else if (gone.length) showGone(gone);
  else if (hidden.length) showHidden(hidden);
  return changed.length + gone.length + hidden.length > 0;
}

function showInPlace(number) {
  Object.assign(state, { editing: null, block: number, isSheetOpen: false });
  state.shows += 1;
  noteOtherSight();
  redraw();
}

function showGone(gone) {
  const { ref } = state;
  const words = gone.map((row) => h("p", { dir: "auto" }, h("del", {}, row.words)));
  informOf(say("gone_since"), words, () => {
    const now = known.get(ref);
    now.gone = now.gone.filter((row) => !gone.includes(row));
  });
}

function showHidden(hidden) {
  informOf(say("hidden"), hidden.map(({ words }) => h("p", { dir: "auto" }, words)), () => {
    for (const row of hidden) row.isSeen = true;
  });
}

// Shows words in a dialog. They count as seen if nobody closes it in the same moment.
function informOf(title, words, noteSeen) {
  const since = performance.now();
  inform(title, words).addEventListener("close", () => {
    if (performance.now() < since + HOLD) tellTooQuick();
    else noteSeen();
    redraw();
  });
}

// What is named before somebody approves the text: the words, how many there are, and a function
// that shows them. What is on the screen anyway would only flicker here.
export function toShow() {
  const { since } = known.get(state.ref) ?? {};
  if (performance.now() < since + PATIENCE) return [];
  const { changed, hidden, gone } = unseen();
  return [
    ["changed_since", changed, () => showInPlace(changed[0].number)],
    ["gone_since", gone, () => showGone(gone)],
    ["hidden", hidden, () => showHidden(hidden)],
  ].filter(([, found]) => found.length > 0).map(([name, found, show]) => ({
    name, count: found.length, words: found[0].words.slice(0, MAX_WORDS), show,
  }));
}
