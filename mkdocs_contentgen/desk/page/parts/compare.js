// Compare: what was added and removed, in place on the page, and what takes it back.

import { onlyOnce } from "../state/pressing.js";
import { redraw, state, tell } from "../state/state.js";
import { say } from "../state/words.js";
import { takeBack } from "./acts.js";
import { call } from "./api.js";
import { h } from "./draw.js";

export async function switchComparison() {
  if (state.comparison) {
    state.tab = state.comparison.tabBefore;
    state.comparison = null;
    state.isSheetOpen = true;
    redraw();
  } else {
    await compareWith();
    state.isSheetOpen = false; // what differs is on the page
    redraw();
  }
}

// With no name, it is the version that readers have, or else the one before people changed it.
export async function compareWith(earlier, index = 0) {
  const { ref, text: { seen } } = state;
  const wasOpen = state.comparison !== null;
  try {
    const found = await call("compare", { ref, earlier });
    const wasClosed = wasOpen && !state.comparison; // while the server was asked
    if (ref !== state.ref || wasClosed) return;
    const rows = rowsToRead(found.rows);
    const kept = Math.min(index, Math.max(rows.length - 1, 0));
    const tabBefore = state.comparison?.tabBefore ?? state.tab;
    state.comparison = { ...found, rows, seen, index: kept, tabBefore };
    state.editing = null;
    state.block = null;
    state.tab = "changes";
    redraw();
  } catch (error) {
    tell("red", error.message);
  }
}

// Takes back what people have changed in a block.
export async function takeBackBlock({ number }) {
  const { ref, text: { seen } } = state;
  try {
    const { rows } = await call("compare", { ref, earlier: "generated" });
    if (ref !== state.ref) return;
    const row = rows.find(({ block, is_gone: isGone }) => block === number && !isGone);
    const isSameText = state.text.seen === seen; // else the number can be that of another block
    if (row && isSameText) await takeBack(row);
    else await compareWith();
  } catch (error) {
    tell("red", error.message);
  }
}

// The differences that a person can read.
function rowsToRead(rows) {
  return rows.filter((row) => row.plain.length > 0 && !goesWithContent(row, rows));
}

// Whether a row is only the tag of a list or a table, which comes or goes with the next row.
function goesWithContent({ plain, change }, rows) {
  const isTag = plain.length === 1 && /^\[\w+\] $/.test(plain[0][1]);
  const content = rows.find((row) => row.change.block === change.block + 1);
  if (!isTag || !content?.plain.length) return false;
  const [[kind]] = plain;
  return content.plain.every(([other]) => other === kind);
}

// The text is another one than it was when it was compared.
export function followText() {
  const { comparison, text } = state;
  if (!comparison || comparison.seen === text.seen || comparison.isLoading) return;
  comparison.isLoading = true;
  compareWith(comparison.earlier, comparison.index);
}

export function words(parts) {
  return parts.map(([kind, text]) => {
    if (kind === "equal") return text;
    return h(kind === "old" ? "del" : "ins", {}, text);
  });
}

const isNew = ({ words: parts }) => parts.every(([kind]) => kind === "new");

function kindOf(row) {
  if (row.is_gone) return say("removed");
  return isNew(row) ? say("added") : say("changed_words");
}

const rejectButton = (row) => h("button", {
  type: "button",
  disabled: !row.change || state.pending.includes(row),
  onclick: onlyOnce(() => takeBack(row)),
}, say("reject"));

// Leaves the chosen difference as it is, and goes to the next one.
function keepButton() {
  const { comparison } = state;
  const showNext = () => {
    comparison.index = (comparison.index + 1) % comparison.rows.length;
    redraw();
  };
  return h("button", { type: "button", onclick: showNext }, say("keep"));
}

function difference(row, index) {
  const { comparison } = state;
  const isCurrent = index === comparison.index;
  const show = () => {
    comparison.index = index;
    redraw();
  };
  return h("li", { class: isCurrent ? "card open" : "card" },
    h("button", { type: "button", class: "row", onclick: show, "aria-pressed": String(isCurrent) },
      h("span", { class: "quiet" }, kindOf(row)), " ",
      h("span", { dir: "auto" }, words(row.plain))),
    h("div", { class: "buttons" }, rejectButton(row), isCurrent && keepButton()));
}

export function comparisonMessage() {
  const { comparison } = state;
  if (!comparison) return "";
  if (!comparison.versions.length) return say("no_earlier");
  const count = comparison.rows.length;
  const versions = say(`with_${comparison.earlier}`);
  return count ? say("differences", count, versions) : say("same", versions);
}

export function comparison() {
  const { versions, rows, earlier } = state.comparison;
  return h("section", { key: "comparison", "aria-label": say("compare") },
    versions.length > 1 && h("div", { class: "buttons" }, versions.map((name) => h("button", {
      type: "button",
      "aria-pressed": String(name === earlier),
      onclick: () => compareWith(name),
    }, say(`with_${name}`)))),
    rows.length > 0 && h("ul", { class: "cards" }, rows.map(difference)));
}

// The buttons of the difference that is chosen, beside it on the page.
export function comparisonTools() {
  const { comparison } = state;
  const row = comparison?.rows[comparison.index];
  if (!row) return null;
  return h("div", { class: "tools", key: "tools", role: "group", "aria-label": kindOf(row) },
    rejectButton(row), keepButton());
}
