// In a page of the site beside the desk: finds the blocks of the text, marks them, and tells which
// one was clicked. The page is not trusted: it can neither read nor change what the desk has.

const DESK = document.querySelector("script[data-desk]").dataset.desk;
const BLOCKS = "h1,h2,h3,h4,h5,h6,p,li,td,th,dt,dd,blockquote,figcaption,caption,pre,div";
const style = document.createElement("style");
style.textContent = `
  [data-contentgen-block]:hover { outline: 1px dashed currentColor; outline-offset: 3px; cursor: pointer; }
  [data-contentgen-selected] { outline: 3px solid #d08b00 !important; outline-offset: 4px; scroll-margin: 30vh; }
`;
document.head.append(style);

const plain = (element) => {
  const copy = element.cloneNode(true);
  for (const extra of copy.querySelectorAll(".headerlink, .contentgen-disclosure")) extra.remove();
  return copy.textContent.replace(/[💡\s]+/gu, " ").trim();
};

// The element of each block, or null: those of the article that has most of them, since a page can
// have several, and headings that the theme shows above it.
function findBlocks(texts) {
  const wanted = texts.map((text) => text.replace(/[💡\s]+/gu, " ").trim());
  const candidates = [...document.querySelectorAll(`article.contentgen :is(${BLOCKS}), :is(h1,h2,h3,h4,h5,h6)`)]
    .filter((element) => !element.querySelector(BLOCKS) || /^H\d$/.test(element.tagName))
    .map((element) => [element, plain(element), element.closest("article.contentgen")]);
  const scores = new Map();
  for (const [, text, article] of candidates) if (wanted.includes(text)) scores.set(article, (scores.get(article) ?? 0) + 1);
  scores.delete(null);
  const [best] = [...scores].sort(([, one], [, other]) => other - one)[0] ?? [null];
  const own = candidates.filter(([, , article]) => !article || article === best);
  const found = new Set();
  let from = 0;
  return wanted.map((text) => {
    let index = own.findIndex(([, other], position) => position >= from && other === text);
    if (index < 0) index = own.findIndex(([element, other]) => other === text && !found.has(element));
    if (index < 0) return null;
    found.add(own[index][0]);
    from = index + 1;
    return own[index][0];
  });
}

let shown = [];
// What the person has scrolled to stays, unless they select something else.
let selected = performance.getEntriesByType("navigation")[0]?.type === "reload" ? undefined : null;

// The site is built again behind the desk; until then, the page shows what has changed.
function change(blocks, elements) {
  const spare = shown.filter((element) => element.isConnected && !elements.includes(element));
  const isBehind = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
  blocks.forEach(({ kind, html }, number) => {
    const before = elements[number - 1];
    const next = elements.slice(number + 1).find(Boolean);
    if (elements[number]) return;
    const index = spare.findIndex((it) => (!before || isBehind(before, it)) && (!next || isBehind(it, next)));
    const [old] = index < 0 ? [] : spare.splice(index, 1);
    let anchor = before;
    while (kind !== "li" && anchor?.parentElement?.matches("ul, ol, dl, table, thead, tbody, tr, header")) anchor = anchor.parentElement;
    if (kind === "text" || (!old && !anchor)) return;
    const element = old ?? document.createElement(kind);
    element.innerHTML = html; // sanitized, as every text
    if (!old) anchor.after(element);
    elements[number] = element;
  });
  for (const element of spare) element.remove();
}

addEventListener("message", (event) => {
  if (event.origin !== DESK) return;
  if (event.data?.type === "reload") location.reload();
  if (event.data?.type !== "text") return;
  const { blocks, select } = event.data;
  for (const old of document.querySelectorAll("[data-contentgen-block]")) {
    delete old.dataset.contentgenBlock;
    delete old.dataset.contentgenSelected;
  }
  const elements = findBlocks(blocks.map(({ text }) => text));
  if (shown.length) change(blocks, elements);
  shown = elements.filter(Boolean);
  elements.forEach((element, number) => {
    if (!element) return;
    element.dataset.contentgenBlock = number;
    if (number !== select) return;
    element.dataset.contentgenSelected = "";
    if (selected !== undefined && selected !== select) element.scrollIntoView({ block: "center" });
  });
  selected = select;
});

addEventListener("click", (event) => {
  const block = event.target.closest?.("[data-contentgen-block]");
  if (event.target.closest("a")) return;
  if (!block) return parent.postMessage({ type: "no block" }, DESK);
  const { top, left, width } = block.getBoundingClientRect();
  parent.postMessage({ type: "block", block: Number(block.dataset.contentgenBlock), top, left, width }, DESK);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape") parent.postMessage({ type: "no block" }, DESK);
});

parent.postMessage({ type: "ready", path: location.pathname }, DESK);
