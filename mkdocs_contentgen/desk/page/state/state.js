// All that the desk knows. Whoever changes it calls redraw().

export const HOLD = 500; // milliseconds for which nothing approves what has just appeared
export const PATIENCE = 1500; // milliseconds before the desk says what it waits for

export const state = {
  view: "", // "queue" or "text"
  queue: [], // the rows of the list of texts, in the order of the site
  order: [], // the references of the texts, as the list had them when it was loaded
  by: "",
  problem: "",
  commitCommand: "",
  queueTab: "review",
  filter: "",

  visits: 0, // how often the person has gone to a text, or to the list
  text: null, // the text that is open, as the server describes it
  ref: "",
  tab: "check", // "check", "changes" or "about"
  current: "", // the key of the statement that is open
  pending: [], // own changes that the server has not answered yet
  checked: [], // the statements that were checked since the text was opened
  block: null, // the number of the block that is selected in the page
  shows: 0, // how often the desk has brought a block in sight since it was opened
  hovered: null, // the number of the block that has the mouse
  editing: null,
  comparison: null, // the differences, while Compare is on
  since: 0, // when this version of the text arrived
  message: null, // the outcome of what was done last
  warning: "", // the name of why the last press of a key or a button did nothing, or ""
  failure: "", // why the server cannot be asked
  isSheetOpen: true, // on a narrow screen
  isMenuOpen: false,
};

let drawAll = () => {};
let isWaiting = false;

export function drawWith(draw) {
  drawAll = draw;
}

// Draws once, however much has changed.
export function redraw() {
  if (isWaiting) return;
  isWaiting = true;
  queueMicrotask(() => {
    isWaiting = false;
    drawAll();
  });
}

let focusNext = null;

// Called once, when what was changed has been drawn.
export function afterDrawing(focus) {
  focusNext = focus;
}

export function focusWhatWasDrawn() {
  const focus = focusNext;
  focusNext = null;
  focus?.();
}

// Notes that the person sees another text from now on.
export function noteOtherText() {
  state.hovered = null; // until the page tells it again, with the other words
  noteOtherSight();
}

// Notes that something else is on the screen from now on.
export function noteOtherSight() {
  state.since = performance.now();
  setTimeout(redraw, HOLD + 20);
}

export function tellTooQuick() {
  warn("too_quick");
}

// Says why a press of a key or a button did nothing.
export function warn(name) {
  state.warning = name;
  redraw();
}

// Shows a message, and beside it the Undo of what it is about, if that needs one of its own.
export function tell(kind, text, undo = null) {
  state.message = { kind, text, undo, isAboutLastAct: false };
  state.warning = "";
  redraw();
}

// Shows what was done last with the text that is open, which Undo takes back.
export function tellDone(text, kind = "green") {
  tell(kind, text);
  state.message.isAboutLastAct = true;
}
