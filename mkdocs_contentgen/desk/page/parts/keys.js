// What keys do. None acts in a field, beneath a dialog, or in a page of the site.

import { isPresent } from "../state/presence.js";
import { checkNext, step } from "../state/selection.js";
import { redraw, state, warn } from "../state/state.js";
import { currentSentence } from "../state/statements.js";
import { freeKeys, holdKeysWithoutFocus, isComposing, isTyping } from "../state/typing.js";
import { settle } from "./acts.js";
import { approveButton } from "./bar.js";
import { switchComparison } from "./compare.js";
import { isDialogOpen } from "./dialogs.js";
import { openEditor, openPaste } from "./editing.js";
import { help } from "./help.js";
import { openNext, reviewNext } from "./navigation.js";
import { redo, undo } from "./undoing.js";

// Another page can lead here while one types there: no key acts then before the person has come.
let isArmed = document.documentElement.dataset.openedBy === "person";

export function watchKeys() {
  addEventListener("keydown", press);
  holdKeysWithoutFocus(); // a page can give the focus away
  addEventListener("pointerdown", () => {
    isArmed = true;
    freeKeys();
  }, true);
  addEventListener("focusin", ({ target }) => {
    if (target.tagName !== "IFRAME") isArmed = true;
  });
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  c: () => settle(currentSentence()?.statements, "confirm_sentence"),
  x: () => settle(currentSentence()?.statements, "remove"),
  e: () => {
    const block = state.block ?? currentSentence()?.block;
    if (block !== undefined) openEditor(block);
  },
  "+": () => {
    const block = state.block ?? currentSentence()?.block ?? state.text.blocks.length - 1;
    openPaste(block);
  },
  a: () => approveButton() ? approveButton().focus() : checkNext(),
  d: () => switchComparison(),
  n: () => openNext(),
  "?": () => help(),
  Escape: () => {
    state.block = null;
    state.isMenuOpen = false;
    redraw();
  },
};

const KEYS_OF_LIST = { n: () => reviewNext(), Enter: () => reviewNext(), "?": () => help() };

function keys() {
  if (state.view === "queue") return KEYS_OF_LIST;
  return state.view === "text" && state.text ? KEYS : {};
}

// What Undo takes back: what the message is about, which can be the approval of the text before, or
// else the last change of the text that is open.
const whatTakesBack = () => state.message?.undo ?? (keys() === KEYS ? undo : null);

// What Ctrl+Z, Ctrl+Y and Ctrl+Shift+Z do. All other keys with Ctrl or Alt are the browser's.
function whatChord({ key, altKey, shiftKey }) {
  if (altKey) return null;
  const letter = key.toLowerCase();
  if (letter === "z" && !shiftKey) return whatTakesBack();
  const isRedo = letter === "y" || letter === "z";
  return isRedo && keys() === KEYS ? redo : null;
}

function press(event) {
  if (isComposing(event)) return;
  const { key, target } = event;
  const isModified = event.ctrlKey || event.metaKey;
  if (key === "Enter" && isModified) {
    if (!event.repeat) target.form?.requestSubmit();
    return;
  }
  const isField = target.closest?.("textarea, input, select");
  const isOfButton = key === "Enter" && target.closest?.("a, button, summary, [tabindex='0']");
  if (isOfButton && event.repeat) event.preventDefault(); // a key that is held acts once
  if (isField || isOfButton || isDialogOpen() || !isArmed) return;
  if (key === "a" && !isModified && approveButton() && !isPresent()) {
    warn("not_there");
    return;
  }
  if (isTyping()) return;
  if (event.repeat) return;
  const does = isModified || event.altKey ? whatChord(event) : keys()[key];
  if (!does) return;
  event.preventDefault();
  does();
}
