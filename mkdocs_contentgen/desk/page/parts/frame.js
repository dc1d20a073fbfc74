// The page of the site beside the panel, which is not trusted: it only says what it shows, and
// where its blocks are. It gets its own text, and no other page gets it.

import { noteActed } from "../state/presence.js";
import { HOLD, redraw, state } from "../state/state.js";
import {
  currentSentence, findIn, openStatements, sentenceWith, settledMarks, statementsOf,
} from "../state/statements.js";
import { holdKeys } from "../state/typing.js";
import { numberOf } from "./acts.js";
import { isDoubleClick, openEditor } from "./editing.js";
import { hearSight } from "./seen.js";

export const frame = {
  element: null,
  origin: "", // the origin of this text's page; no other page has the same
  shownOrigin: "", // the origin of the page that is in the frame
  path: "", // the path of the page that is in the frame
  shown: "", // the digest of the text that the page shows
  shownAt: Infinity, // when the page said that
  isReady: false, // whether the page can be sent a text
  build: null, // the stamp of the build that the page is from, as the page says
  stamp: null, // the stamp of the newest build that the desk knows
  earlier: new Set(), // the stamps of the builds before that
  places: {}, // where the blocks are that the page has told of: "select" and "hover"
};

let lastMessage = ""; // the last one to the page, as JSON
let versions = []; // the version of the text that the page shows, and those that it was sent since

// While a person types in the editor, the page cannot take the focus.
export function keepFocusFromPage() {
  if (!frame.element) return;
  frame.element.inert = Boolean(document.activeElement?.closest(".editor"));
}

export function openFrame(origin, path, title) {
  frame.element = document.createElement("iframe");
  frame.element.title = title;
  frame.element.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  frame.element.src = origin + path;
  Object.assign(frame, {
    origin, path, shownOrigin: "", shown: "", shownAt: Infinity, isReady: false, build: null,
    stamp: null, earlier: new Set(), places: {},
  });
  lastMessage = "";
  versions = [];
}

export const isElsewhere = () => Boolean(frame.shownOrigin) && frame.shownOrigin !== frame.origin;

// Whether the desk was started again: then the pages have other origins, which only a page that is
// loaded again may frame.
export const isOfEarlierDesk = () => state.text.frame !== frame.origin;

export function goBack() {
  Object.assign(frame, { path: location.pathname, shownOrigin: "", isReady: false, shown: "" });
  frame.element.src = frame.origin + frame.path;
  redraw();
}

// Another build has ended.
function reload() {
  frame.shown = "";
  if (frame.isReady) {
    frame.element.contentWindow.postMessage({ type: "reload" }, frame.shownOrigin);
  } else {
    frame.element.src = frame.origin + location.pathname;
  }
  frame.isReady = false;
  frame.build = null;
  lastMessage = "";
  redraw(); // nothing can be approved until it shows the text again
}

function selection() {
  const { editing, block } = state;
  if (editing) return { block: editing.number };
  if (block !== null) return { block, shows: state.shows };
  if (state.comparison) {
    const row = state.comparison.rows[state.comparison.index];
    return { block: row?.block ?? null, row: state.comparison.index };
  }
  const current = currentSentence();
  if (!current) return { block: null };
  return { block: current.block, statements: current.statements.map(({ number }) => number) };
}

// Loads the page again if there is a newer build than the one that it is from.
function followBuild(stamp) {
  const isOther = frame.stamp !== null && frame.stamp !== stamp;
  if (isOther) frame.earlier.add(frame.stamp);
  frame.stamp = stamp;
  const isNewAlready = frame.build === stamp;
  // Browsers do not load a page again that they are still loading, so an earlier one can come late.
  const isEarlier = frame.earlier.has(frame.build);
  if ((isOther && !isNewAlready) || isEarlier) reload();
}

// How much of the page is under the sheet of a narrow screen, in pixels from below.
function coveredHeight() {
  const sheet = document.querySelector("aside").getBoundingClientRect();
  const page = frame.element.getBoundingClientRect();
  const isOverPage = sheet.height > 0 && sheet.left < page.right;
  return isOverPage ? Math.round(page.bottom - sheet.top) : 0;
}

// Tells the page what to show, if that is something else than before.
export function showInPage() {
  followBuild(state.text.stamp);
  if (!frame.isReady || isElsewhere() || !state.text.in_page) return;
  const message = {
    type: "text",
    page: state.text.in_page,
    select: selection(),
    covered: coveredHeight(),
    settled: state.comparison ? [] : settledMarks(),
    deleted: state.pending.filter(({ action }) => action === "delete")
      .map(({ number }) => number),
    written: state.pending.filter(({ parts }) => parts).map((own) => [numberOf(own), own.parts]),
    rows: state.comparison?.rows.map(({ words, plain, block, is_gone: isGone }) => (
      { words: plain ?? words, block, isGone })) ?? null,
  };
  const json = JSON.stringify(message);
  if (json === lastMessage) return;
  lastMessage = json;
  if (versions.at(-1)?.in_page.digest !== state.text.in_page.digest) versions.push(state.text);
  frame.element.contentWindow.postMessage(message, frame.origin);
}

const placeIn = (data) => {
  const place = {};
  for (const name of ["top", "left", "width", "height"]) place[name] = Number(data[name]) || 0;
  place.font = typeof data.font === "object" && data.font ? data.font : {};
  return place;
};

// The version of the text that a page is of, or undefined. It never shows an earlier one again.
function versionOf(digest) {
  const index = versions.findIndex((text) => text.in_page.digest === digest);
  if (index > 0) versions.splice(0, index);
  return index < 0 ? undefined : versions[0];
}

// Hears a message of the page in the frame. A page of another origin can only say that it is there.
export function hear({ origin, source, data }) {
  if (!frame.element || source !== frame.element.contentWindow || !state.text) return;
  if (data?.type === "ready") hearReady(origin, data);
  if (origin !== frame.origin) return;
  if (data?.type === "shown") hearShown(data);
  // A page could say so falsely, but it cannot press a key of the desk.
  if (data?.type === "acted") noteActed();
  // Until the site is built, the text stands alone, and nothing around it hides it.
  const isBuilt = frame.isReady && !state.text.waits;
  if (data?.type === "sight" && isBuilt) hearSight(data);
  if (["place", "hover", "click"].includes(data?.type)) hearOfBlock(data);
}

function hearReady(origin, { path, build }) {
  Object.assign(frame, {
    isReady: true, shown: "", path: String(path), build: String(build), shownOrigin: origin,
  });
  lastMessage = "";
  redraw();
}

function hearShown({ digest }) {
  if (frame.shown === digest) return;
  frame.shown = String(digest);
  frame.shownAt = performance.now();
  setTimeout(redraw, HOLD + 20);
  redraw();
}

// Hears where the selected block is, or which one has the mouse, or was clicked.
function hearOfBlock(data) {
  const version = versionOf(data.digest);
  const seen = version?.blocks[data.block];
  const number = seen ? numberOf(seen) : -1;
  const block = number < 0 ? null : number;
  frame.places[data.type === "hover" ? "hover" : "select"] = placeIn(data);
  if (data.type === "hover") state.hovered = block;
  if (data.type === "click") clicked(block, clickedStatement(version, data), data);
  redraw();
}

// The statement that was clicked in a version of the text, if it is still open, or undefined.
function clickedStatement(version, { block, statement }) {
  const seen = version && statementsOf(version)
    .find((found) => found.block === block && found.number === statement);
  return seen && findIn(openStatements(), seen);
}

function clicked(block, found, data) {
  const { row } = data;
  if (document.activeElement !== frame.element || isDoubleClick(data)) return;
  if (state.comparison) {
    if (Number.isInteger(row) && state.comparison.rows[row]) state.comparison.index = row;
    return;
  }
  // Keys are for the desk now, but not those of a word that the person is still typing.
  holdKeys();
  if (found) {
    state.editing = null;
    state.block = null;
    state.current = sentenceWith(found).key;
    state.tab = "check";
    state.isSheetOpen = true;
    document.querySelector("aside")?.focus({ preventScroll: true });
  } else if (block === null) {
    state.block = null;
  } else {
    openEditor(block);
  }
}
