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

function findBlocks(texts) {
  const wanted = texts.map((text) => text.replace(/[💡\s]+/gu, " ").trim());
  const candidates = [...document.querySelectorAll(`article.contentgen :is(${BLOCKS}), :is(h1,h2,h3,h4,h5,h6)`)]
    .filter((element) => !element.querySelector(BLOCKS) || /^H\d$/.test(element.tagName))
    .map((element) => [element, plain(element)]);
  const found = new Map();
  let from = 0;
  wanted.forEach((text, number) => {
    let index = candidates.findIndex(([, other], position) => position >= from && other === text);
    if (index < 0) index = candidates.findIndex(([element, other]) => other === text && !found.has(element));
    if (index < 0) return;
    found.set(candidates[index][0], number);
    from = index + 1;
  });
  return found;
}

addEventListener("message", (event) => {
  if (event.origin !== DESK || event.data?.type !== "text") return;
  for (const old of document.querySelectorAll("[data-contentgen-block]")) {
    delete old.dataset.contentgenBlock;
    delete old.dataset.contentgenSelected;
  }
  for (const [element, number] of findBlocks(event.data.blocks)) {
    element.dataset.contentgenBlock = number;
    if (number !== event.data.select) continue;
    element.dataset.contentgenSelected = "";
    element.scrollIntoView({ block: "center" });
  }
});

addEventListener("click", (event) => {
  const block = event.target.closest?.("[data-contentgen-block]");
  if (!block || event.target.closest("a")) return;
  parent.postMessage({ type: "block", block: Number(block.dataset.contentgenBlock) }, DESK);
});

parent.postMessage({ type: "ready" }, DESK);
