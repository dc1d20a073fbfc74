// In a page of the site beside the desk: shows the article as the desk has it, and tells which of
// its blocks was clicked. The page is not trusted: it can neither read nor change what the desk
// has.

import { noteBlocks, noteCovered, watchSight } from "./sight.js";

const SETTLING = 1000; // milliseconds after which a page that was loaded has its height
const { desk: DESK, build } = document.querySelector("script[data-desk]").dataset;
const styles = new CSSStyleSheet(); // which no policy of the page refuses
styles.replaceSync(`
  [data-contentgen-block]:hover {
    outline: 1px dashed currentColor; outline-offset: 3px; cursor: text; }
  [data-contentgen-block] mark { cursor: pointer; }
  [data-contentgen-block] mark[data-contentgen-settled] { background: none !important; border: 0;
    outline: 0; text-decoration: none; color: inherit !important; }
  [data-contentgen-block] mark[data-contentgen-current] { background: #ffc83d !important;
    color: #1f1600 !important; box-shadow: 0 3px #8a5a00 !important; outline: 0; }
  [data-contentgen-selected] { outline: 3px solid #d08b00 !important; outline-offset: 4px; }
  [data-contentgen-deleted] { display: none; }
  [data-contentgen-others] article.contentgen:not([data-contentgen-text]) { opacity: .5; }
  [data-contentgen-difference] { outline: 1px dashed #888; outline-offset: 3px; cursor: pointer; }
  [data-contentgen-difference] del { /* on whatever colour the theme has, also in the dark */
    background: rgb(225 60 60 / .24); color: inherit; text-decoration: line-through; }
  [data-contentgen-difference] ins {
    background: rgb(40 170 70 / .24); color: inherit; text-decoration: underline; }
  [data-contentgen-selected], [data-contentgen-text], mark { scroll-margin: 30vh; }
  html { overscroll-behavior: contain; }
  /* The search of a theme needs an index of all pages, which can have drafts. */
  [role="search"], .md-search, .md-header__button[for="__search"], .search-button,
  [data-bs-target="#mkdocs_search_modal"], [data-target="#mkdocs_search_modal"] {
    display: none !important; }
  [data-contentgen-covered] { scroll-padding-bottom: var(--contentgen-covered) !important; }
  [data-contentgen-covered] > body { padding-bottom: var(--contentgen-covered) !important; }
`);
document.adoptedStyleSheets.push(styles);

let article = null; // as the desk has it
let shown = ""; // the digest of what is shown
let isCompared = false;
let goneBlocks = []; // what is not in the text, and stands there while one compares
let isWritten = false; // shows words that the server does not have yet
let selected = null; // what the desk had selected last, as JSON
// A page that loads itself again stays where it is scrolled to.
let scrollsToText = performance.getEntriesByType("navigation")[0].type !== "reload";

const find = (number) => document.querySelector(`[data-contentgen-block="${Number(number)}"]`);

// Put the article where the one of the last build is. Without that place, nothing is shown.
function show({ title, article: html, index, count, digest }) {
  const plain = document.querySelector("[data-contentgen-plain]");
  const articles = document.querySelectorAll("article.contentgen, article.contentgen-missing");
  if (digest === shown) return;
  if (!plain && articles.length !== count) return;
  const heading = document.querySelector(".contentgen-title");
  // The HTML is sanitized, as in every build.
  if (plain) {
    plain.innerHTML = title + html;
  } else if (title && heading) {
    heading.outerHTML = title;
    articles[index].outerHTML = html;
  } else {
    articles[index].outerHTML = title + html;
  }
  document.body.toggleAttribute("data-contentgen-others", count > 1); // which are not approved now
  const text = document.querySelector("article[data-contentgen-text]");
  uncover(text);
  // Whoever reviews a text reads all of it.
  for (const details of text?.querySelectorAll("details") ?? []) details.open = true;
  shown = digest;
  noteBlocks(digest);
}

// Open the tabs and the <details> around an element.
function uncover(element) {
  for (let around = element; around; around = around.parentElement) {
    if (around.tagName === "DETAILS") around.open = true;
    const isPanel = around.matches(".tabbed-content > *");
    const tab = isPanel ? [...around.parentElement.children].indexOf(around) : -1;
    around.closest(".tabbed-set")?.querySelectorAll(":scope > input")[tab]?.click();
  }
}

// Show what was added and removed at each block. What is shown then is not a text to approve.
function compare(rows) {
  const after = new Map(); // the last gone block that is shown after each block
  rows.forEach(({ words, block, isGone }, number) => {
    const parts = words.map(([kind, text]) => {
      if (kind === "equal") return text;
      const part = document.createElement(kind === "old" ? "del" : "ins");
      part.textContent = text;
      return part;
    });
    const place = block === null ? null : find(block);
    if (!place) return;
    if (!isGone) {
      place.replaceChildren(...parts);
      place.dataset.contentgenDifference = number;
      return;
    }
    const isItem = place.tagName === "LI";
    const gone = document.createElement(isItem ? "li" : "p");
    gone.dataset.contentgenDifference = number;
    goneBlocks.push(gone);
    gone.append(...parts);
    // Only an item can be in a list: anything else stands after the whole list or table.
    const around = isItem ? null : place.closest("table, ul, ol");
    const last = after.get(place) ?? around ?? place;
    last.after(gone);
    after.set(place, gone);
  });
  isCompared = true;
  shown = "";
}

function fontOf(element) {
  const { fontFamily: family, fontSize: size, fontWeight: weight } = getComputedStyle(element);
  return { family, size, weight };
}

// The digest tells which version of the text a block is of: the desk can have another one already.
function tell(type, element, more = {}) {
  const { top, left, width, height } = element?.getBoundingClientRect() ?? {};
  const block = element?.closest("[data-contentgen-block]")?.dataset.contentgenBlock;
  const font = element ? fontOf(element) : null;
  parent.postMessage({ type, block: block === undefined ? null : Number(block),
    digest: article?.digest, top, left, width, height, font, ...more }, DESK);
}

function selectedElement() {
  return document.querySelector("[data-contentgen-selected]")
    ?? document.querySelector("mark[data-contentgen-current]")?.closest("[data-contentgen-block]");
}

function unmark(name) {
  for (const element of document.querySelectorAll(`[${name}]`)) element.removeAttribute(name);
}

const markOf = (block, number) => find(block)?.querySelectorAll("mark")[number];

// What the desk has selected: a difference, the statements of a sentence, or a block.
function elementsToSelect({ block, statements, row }) {
  let found = [];
  if (row !== undefined) {
    found = [document.querySelector(`[data-contentgen-difference="${Number(row)}"]`)];
  } else if (block !== null) {
    const marks = (statements ?? []).map((number) => markOf(block, Number(number)));
    found = marks.some(Boolean) ? marks : [find(block)];
  }
  return found.filter(Boolean);
}

// Tells the page how many pixels the desk covers from below. Its end can be scrolled above them.
function cover(height) {
  const root = document.documentElement;
  root.toggleAttribute("data-contentgen-covered", height > 0);
  root.style.setProperty("--contentgen-covered", `${Number(height)}px`);
  noteCovered(Number(height));
}

function select(selection, scrolls, covered) {
  unmark("data-contentgen-selected");
  unmark("data-contentgen-current");
  const elements = elementsToSelect(selection);
  const [element] = elements;
  if (!element) {
    if (scrollsToText) bringInSight(document.querySelector("[data-contentgen-text]"), "start");
    return;
  }
  for (const other of elements) {
    if (other.tagName === "MARK") other.dataset.contentgenCurrent = "";
    else if (!selection.statements) other.dataset.contentgenSelected = "";
  }
  const { top, bottom } = element.getBoundingClientRect();
  const isInSight = top >= 80 && bottom <= (innerHeight - covered) * 0.8;
  if (!scrolls || isInSight) return;
  uncover(element);
  bringInSight(element, bottom - top > innerHeight - covered ? "start" : "center");
}

// While a page loads, what stands above can become higher or lower: then it is scrolled again, but
// not from under the hands of a person.
let scrollAgain = () => {};
const resizing = new ResizeObserver(() => scrollAgain());

function bringInSight(element, block) {
  scrollAgain = () => element?.scrollIntoView({ block });
  scrollAgain();
}

const stopScrolling = () => resizing.disconnect();
resizing.observe(document.documentElement);
addEventListener("load", () => setTimeout(stopScrolling, SETTLING));
for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  addEventListener(name, stopScrolling, { passive: true, capture: true });
}

function elementOf([tag, text, address]) {
  if (!tag) return text;
  const element = document.createElement(tag);
  element.textContent = text;
  if (address) element.href = address;
  return element;
}

// Own changes that the server has not answered yet.
function anticipate({ settled, deleted, written }) {
  unmark("data-contentgen-settled");
  unmark("data-contentgen-deleted");
  for (const [block, number] of settled) {
    markOf(block, number)?.setAttribute("data-contentgen-settled", "");
  }
  for (const block of deleted) find(block)?.setAttribute("data-contentgen-deleted", "");
  for (const [block, parts] of written) find(block)?.replaceChildren(...parts.map(elementOf));
  isWritten = written.length > 0;
}

// A page that is loaded again, or gets another article, while it is pressed would lose the click.
let isPressed = false;
let isOutdated = false;
let unshown = null; // what the desk has sent meanwhile
let releasing = 0;
addEventListener("pointerdown", ({ button }) => {
  if (button !== 0) return; // the menu of the browser can take the other end
  isPressed = true;
  clearTimeout(releasing);
}, true);
for (const name of ["pointerup", "pointercancel", "contextmenu", "blur"]) {
  addEventListener(name, () => {
    clearTimeout(releasing);
    releasing = setTimeout(release); // after the click
  }, true);
}

function release() {
  isPressed = false;
  if (isOutdated) reload();
  else if (unshown) follow(unshown);
}

function reload() {
  if (isPressed) {
    isOutdated = true;
    return;
  }
  isOutdated = false;
  if (document.querySelector("[data-contentgen-plain]")) location.replace(location.href);
  else location.reload();
}

addEventListener("message", ({ origin, data }) => {
  if (origin !== DESK) return;
  if (data?.type === "reload") reload();
  if (data?.type === "text") follow(data);
});

// Shows the text as the desk has it now.
function follow(data) {
  if (isPressed) {
    unshown = data;
    return;
  }
  unshown = null;
  article = data.page;
  for (const block of goneBlocks) block.remove(); // those below a title stand outside the article
  goneBlocks = [];
  if (isCompared || isWritten) {
    isCompared = false;
    shown = "";
  }
  show(article);
  if (data.rows) compare(data.rows);
  anticipate(data);
  const wanted = JSON.stringify(data.select);
  cover(data.covered);
  select(data.select, wanted !== selected, data.covered);
  selected = wanted;
  scrollsToText = false;
  parent.postMessage({ type: "shown", digest: shown }, DESK);
  tell("place", selectedElement());
}

addEventListener("click", ({ target, screenX: x, screenY: y, timeStamp }) => {
  if (target.closest("a, input, textarea, select, button, label")) return;
  const block = target.closest("[data-contentgen-block]");
  const difference = target.closest("[data-contentgen-difference]");
  const mark = block && target.closest("mark");
  const number = mark ? [...block.querySelectorAll("mark")].indexOf(mark) : null;
  const row = difference ? Number(difference.dataset.contentgenDifference) : null;
  const at = performance.timeOrigin + timeStamp;
  tell("click", difference ?? block, { statement: number, row, x, y, at });
});

let hovered = null;
addEventListener("mouseover", ({ target }) => {
  const block = target.closest("[data-contentgen-block]");
  if (!block || block === hovered) return;
  hovered = block;
  tell("hover", block);
});

const again = () => requestAnimationFrame(() => {
  tell("place", selectedElement());
  if (hovered?.isConnected) tell("hover", hovered);
});
for (const name of ["scroll", "resize"]) addEventListener(name, again, { passive: true });

// Tells the desk now and then that the person moves, scrolls or presses keys here.
const TELLING = 300; // milliseconds
let toldAt = -Infinity;
for (const name of ["pointermove", "wheel", "touchmove", "keydown"]) {
  addEventListener(name, ({ isTrusted }) => {
    if (!isTrusted || performance.now() < toldAt + TELLING) return;
    toldAt = performance.now();
    parent.postMessage({ type: "acted" }, DESK);
  }, { passive: true, capture: true });
}

watchSight((sight) => parent.postMessage({ type: "sight", ...sight }, DESK));
parent.postMessage({ type: "ready", path: location.pathname, build }, DESK);
