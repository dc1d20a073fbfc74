// Which block is edited, and what becomes of the words: they are kept until they are saved or
// discarded.

import { discardWords, draftOf, isOfBlock } from "../state/drafts.js";
import { partsOf } from "../state/light.js";
import { afterDrawing, HOLD, redraw, state } from "../state/state.js";
import { currentSentence, isCell, openStatements } from "../state/statements.js";
import { holdKeys } from "../state/typing.js";
import { say } from "../state/words.js";
import { change, numberOf } from "./acts.js";

// A statement to check in Markdown. It is HTML where it touches something else.
const STATEMENT = /==(.+?)==|<mark>(.+?)<\/mark>/g;

let back = null; // what had the focus before
let openings = 0;
let hadSheet = true; // whether the sheet of a narrow screen was open before
let lastPress = { x: 0, y: 0, at: -Infinity }; // in the editor: where on the screen, and when

function begin(editing) {
  if (!back?.isConnected) back = document.activeElement;
  openings += 1;
  if (!state.editing) hadSheet = state.isSheetOpen;
  // Held here too: another tab can take the draft while this one shows its words.
  const words = draftOf(editing)?.words ?? editing.markdown;
  state.editing = { ...editing, words, id: openings };
  state.block = editing.number;
  state.isSheetOpen = false;
  afterDrawing(focusEditor);
  redraw();
}

export function openEditor(number) {
  const { digest, kind } = state.text.blocks[number];
  if (state.editing?.number === number && state.editing.mode === "edit") {
    focusEditor(); // what is typed next is for it, and no key of the desk
    return;
  }
  begin({ mode: "edit", number, digest, markdown: markdownOf(number), kind });
}

// The numbers of the statements in a block that are not settled.
function openNumbers(number) {
  const inBlock = openStatements().filter(({ block }) => block === number);
  return inBlock.map((statement) => statement.number).sort((one, other) => one - other);
}

// Without the marks that the person has taken off, though the server does not know yet.
function markdownOf(number) {
  const { kind, markdown } = state.text.blocks[number];
  if (kind === "pre") return markdown;
  const open = openNumbers(number);
  let count = -1;
  return markdown.replace(STATEMENT, (mark, inMarkdown, inHtml) => {
    count += 1;
    return open.includes(count) ? mark : (inMarkdown ?? inHtml);
  });
}

export function openPaste(number) {
  const { digest, kind } = state.text.blocks[number];
  begin({ mode: "paste", number, digest, markdown: "", kind });
}

function focusEditor() {
  const area = document.querySelector(".editor textarea");
  if (!area) return;
  area.focus();
  if (hasUnsavedWords()) return;
  const match = matchToSelect(area.value);
  if (match) area.setSelectionRange(match.index, match.index + match[0].length);
}

// Where the open statement is, if it is in this block, else the first one. Typing replaces it.
function matchToSelect(markdown) {
  const { kind, number } = state.editing;
  if (kind === "pre") return null; // its marks are not written
  const found = [...markdown.matchAll(STATEMENT)];
  const current = currentSentence();
  if (current?.block !== number) return found[0];
  const [first] = current.statements;
  return found[openNumbers(number).indexOf(first.number)]; // the field has the open ones alone
}

// Closes the editor; what was typed stays.
export function closeEditor() {
  state.editing = null;
  state.block = null;
  state.isSheetOpen = hadSheet;
  const place = back?.tagName === "IFRAME" ? null : back;
  back = null;
  afterDrawing(() => {
    const target = place?.isConnected ? place : document.querySelector("aside");
    target?.focus({ preventScroll: true });
  });
  redraw();
}

export function notePress({ screenX: x, screenY: y, timeStamp }) {
  lastPress = { x, y, at: performance.timeOrigin + timeStamp };
}

// The second click of a double click on a button of the editor is none on the page beneath.
export function isDoubleClick({ x, y, at }) {
  const isNear = Math.abs(x - lastPress.x) < 8 && Math.abs(y - lastPress.y) < 8;
  return isNear && at - lastPress.at < HOLD;
}

export function hasUnsavedWords() {
  return Boolean(state.editing && state.editing.words !== state.editing.markdown);
}

// What the page can show before the server has answered, or null.
function partsToShow({ mode, kind }, words) {
  return mode === "edit" && ["p", "li", "td"].includes(kind) ? partsOf(words) : null;
}

export async function save(event) {
  event.preventDefault();
  const { editing } = state;
  if (!editing) return; // its words are being saved; the form goes with the next frame
  const area = event.currentTarget.querySelector("textarea");
  if (editing.mode === "edit" && area.value === editing.markdown) closeEditor();
  else if (!editing.isSaving) await saveWords(editing, area); // once, however often it is clicked
}

// Saves the words of the editor. If the page can show them at once, it closes then, and opens again
// if they could not be saved. Otherwise it stays open, and waits for the server.
async function saveWords(editing, area) {
  const words = area.value;
  const parts = partsToShow(editing, words);
  const closesAtOnce = parts !== null;
  if (closesAtOnce) closeEditor();
  editing.isSaving = true;
  const own = { ...editing, words, parts };
  const isSaved = await change(own, changeFor(editing, words), say(`did_${editing.mode}`));
  editing.isSaving = false;
  const isOpen = state.editing === editing;
  if (isSaved) discardWords(own);
  if (isSaved || !isThere(own)) {
    if (isOpen) closeEditor();
  } else if (isOpen) {
    area.focus();
  } else if (closesAtOnce && !state.editing) {
    openEditor(numberOf(own));
  }
  redraw();
}

const isThere = ({ digest }) => state.text.blocks.some((block) => block.digest === digest);

function changeFor({ mode, kind }, words) {
  if (mode === "edit") return { action: "edit", markdown: words };
  const isLine = !/\n/.test(words.trim());
  if (kind === "li" && isLine) return { action: "insert", markdown: words, kind: "li" };
  return { action: "paste", markdown: words };
}

export function removeBlock(editing) {
  const outcome = say(isCell(editing.number) ? "did_empty" : "did_delete");
  closeEditor();
  return change({ ...editing }, { action: "delete" }, outcome);
}

// Other blocks may have come or gone before it. Its words stay in the draft if it is gone.
export function followBlock() {
  const { editing } = state;
  if (!editing) return;
  const { blocks } = state.text;
  const isSame = (block) => isOfBlock(editing, block);
  const number = isSame(blocks[editing.number]) ? editing.number : blocks.findIndex(isSame);
  // Also if only the answer to saving them was lost.
  const isSaved = editing.isSaving || blocks[editing.number]?.markdown === editing.words.trim();
  if (number < 0 && isSaved) {
    closeEditor();
  } else if (number < 0) {
    state.editing = null;
    state.block = null;
    holdKeys();
    afterDrawing(() => focusLostWords(editing));
  } else if (number !== editing.number) {
    Object.assign(editing, { number });
    state.block = number;
  }
}

// Where the words are now that were typed for a block that is gone. What is typed next would act
// on something else.
function focusLostWords({ words }) {
  const fields = [...document.querySelectorAll(".messages textarea")];
  const field = fields.find(({ value }) => value === words);
  (field ?? document.querySelector("aside")).focus({ preventScroll: true });
}
