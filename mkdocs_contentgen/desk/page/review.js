// The screen of one text: the bar, its page, and what is to be done with it.

import { inTurn, look, take } from "./acts.js";
import { about } from "./about.js";
import { call } from "./api.js";
import { bar } from "./bar.js";
import { changes, countChanges } from "./changes.js";
import { check, chooseTab, keepCurrentInSight } from "./check.js";
import { comparisonTools, followText } from "./compare.js";
import { adoptDrafts } from "./drafts.js";
import { drawScreen, h } from "./draw.js";
import { adder, editor, followBlock, place } from "./editor.js";
import { frame, isElsewhere, keepFocusFromPage, openFrame, showInPage } from "./frame.js";
import { messages } from "./messages.js";
import { isNeeded, groupOf, loadQueue, sortByNeed } from "./queue.js";
import { focusWhatWasDrawn, redraw, state, tell } from "./state.js";
import { openStatements } from "./statements.js";
import { say } from "./words.js";

export const addressOf = (text) => `${text.url || "/"}?text=${text.ref}`;

export const countOf = (group) => state.queue.filter((text) => groupOf(text) === group).length;

// The text that needs a person next, after the one that is open.
export function nextAfter() {
  const rows = sortByNeed(state.queue);
  const index = rows.findIndex((row) => row.ref === state.ref);
  // From there on, and then from the start. Without an open text, that is all of them.
  const following = [...rows.slice(index + 1), ...rows.slice(0, Math.max(index, 0))];
  return following.find(isNeeded) ?? null;
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
    isTooQuick: false,
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

function tab(name, label) {
  const isChosen = state.tab === name;
  return h("button", { type: "button", key: name, id: `tab-${name}`, role: "tab",
    "aria-selected": String(isChosen), "aria-controls": "tab-body", tabindex: isChosen ? "0" : "-1",
    onclick: () => chooseTab(name), onkeydown: changeTab }, label);
}

function changeTab({ key }) {
  const names = ["check", "changes", "about"];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return;
  const name = names[(names.indexOf(state.tab) + step + names.length) % names.length];
  chooseTab(name);
  document.getElementById(`tab-${name}`).focus();
}

function panel() {
  const left = openStatements().length;
  const found = countChanges();
  const shown = { check, changes, about }[state.tab];
  const toggle = () => {
    state.isSheetOpen = !state.isSheetOpen;
    redraw();
  };
  return h("aside", { key: "panel", class: state.isSheetOpen ? "panel" : "panel closed",
    "aria-label": say("review"), tabindex: "-1" },
  h("div", { class: "tabs" }, h("div", { role: "tablist", "aria-label": say("review") },
    tab("check", `${say("check")} (${left})`),
    tab("changes", found ? `${say("changes")} (${found})` : say("changes")),
    tab("about", say("about"))),
  h("button", { type: "button", key: "sheet", class: "handle", onclick: toggle,
    "aria-expanded": String(state.isSheetOpen), "aria-label": say("sheet") },
  state.isSheetOpen ? "▾" : "▴")),
  h("div", { key: state.tab, class: "body", id: "tab-body", role: "tabpanel", tabindex: "-1",
    "aria-labelledby": `tab-${state.tab}` }, shown()));
}

// Whether the page does not show the text yet as the person and the desk have it.
function isBehind() {
  const { comparison, pending, text } = state;
  if (isElsewhere() || comparison || !text.in_page) return false;
  return pending.length > 0 || frame.shown !== text.in_page.digest;
}

export function drawText() {
  followBlock();
  followText();
  document.title = `${state.text.title} · ${say("review")}`;
  const hadFocus = document.activeElement?.closest("aside");
  const layer = h("div", { key: "layer", class: "layer" }, editor(), adder(), comparisonTools());
  drawScreen([
    h("div", { key: "desk", class: state.editing ? "desk editing" : "desk" },
      bar(), messages(),
      h("main", { key: "main", "aria-busy": String(isBehind()) }, frame.element, layer),
      panel()),
    ...document.querySelectorAll("dialog"),
  ]);
  const drawn = document.querySelector("aside");
  // What had the focus is gone, such as the card of a statement that was confirmed.
  if (hadFocus && !hadFocus.contains(document.activeElement)) drawn.focus({ preventScroll: true });
  focusWhatWasDrawn();
  keepCurrentInSight(drawn);
  place(document.querySelector(".layer"));
  keepFocusFromPage();
  showInPage();
}
