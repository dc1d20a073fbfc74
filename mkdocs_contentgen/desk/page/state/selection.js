// Which sentence is open in the panel, and which tab of the panel is.

import { redraw, state } from "./state.js";
import { currentSentence, openSentences } from "./statements.js";

export function chooseTab(name) {
  state.tab = name;
  state.isSheetOpen = true;
  redraw();
}

export function select(sentence) {
  state.current = sentence.key;
  state.block = null;
  chooseTab("check");
}

// Selects the sentence that is so many after the current one, or before it.
export function step(by) {
  const open = openSentences();
  if (!open.length) return;
  const current = currentSentence();
  const index = open.findIndex(({ key }) => key === current.key);
  select(open[(index + by + open.length) % open.length]);
}

// Goes to the next sentence, or to the one that is open if the person was elsewhere.
export function checkNext() {
  const isThere = state.tab === "check" && state.block === null && state.current;
  step(isThere ? 1 : 0);
}
