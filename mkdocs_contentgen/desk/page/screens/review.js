// The screen of one text: the bar, its page, and what is to be done with it.

import { chooseTab } from "../state/selection.js";
import { focusWhatWasDrawn, redraw, state } from "../state/state.js";
import { openSentences } from "../state/statements.js";
import { say } from "../state/words.js";
import { about } from "../parts/about.js";
import { bar } from "../parts/bar.js";
import { changes, countChanges } from "../parts/changes.js";
import { check, keepCurrentInSight } from "../parts/check.js";
import { comparisonTools, followText } from "../parts/compare.js";
import { drawScreen, h } from "../parts/draw.js";
import { followBlock } from "../parts/editing.js";
import { adder, editor, place } from "../parts/editor.js";
import { frame, isElsewhere, keepFocusFromPage, showInPage } from "../parts/frame.js";
import { messages } from "../parts/messages.js";

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
  const left = openSentences().length;
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
