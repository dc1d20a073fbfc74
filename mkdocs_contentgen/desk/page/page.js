// In a page of the site beside the desk: shows the article as the desk has it, and tells which of
// its blocks was clicked. The page is not trusted: it can neither read nor change what the desk has.

const DESK = document.querySelector("script[data-desk]").dataset.desk;
const style = document.createElement("style");
style.textContent = `
  [data-contentgen-block]:hover { outline: 1px dashed currentColor; outline-offset: 3px; cursor: pointer; }
  [data-contentgen-selected] { outline: 3px solid #d08b00 !important; outline-offset: 4px; }
  [data-contentgen-selected], [data-contentgen-text] { scroll-margin: 30vh; }
`;
document.head.append(style);

let shown = "";
// A page that loads itself again stays where it is scrolled to.
let selected = performance.getEntriesByType("navigation")[0].type === "reload" ? null : undefined;

// Put the article where the one of the last build is. Without that place, nothing is shown.
function show({ title, article, index, count, digest }) {
  const plain = document.querySelector("[data-contentgen-plain]");
  const articles = document.querySelectorAll("article.contentgen, article.contentgen-missing");
  if (digest === shown || (!plain && articles.length !== count)) return;
  const heading = document.querySelector(".contentgen-title");
  if (plain) plain.innerHTML = title + article; // sanitized, as in every build
  else articles[index].outerHTML = title && !heading ? title + article : article;
  if (heading && title && !plain) heading.outerHTML = title;
  const text = document.querySelector("article[data-contentgen-text]");
  uncover(text);
  // Whoever reviews a text reads all of it.
  for (const details of text?.querySelectorAll("details") ?? []) details.open = true;
  shown = digest;
}

// Open the tabs and the <details> around an element.
function uncover(element) {
  for (let it = element; it; it = it.parentElement) {
    if (it.tagName === "DETAILS") it.open = true;
    const tab = it.matches(".tabbed-content > *") ? [...it.parentElement.children].indexOf(it) : -1;
    it.closest(".tabbed-set")?.querySelectorAll(":scope > input")[tab]?.click();
  }
}

function tell(type) {
  const block = document.querySelector("[data-contentgen-selected]");
  const { top, left, width, height } = block?.getBoundingClientRect() ?? {};
  parent.postMessage({ type, block: block ? Number(block.dataset.contentgenBlock) : null, top, left, width, height }, DESK);
}

function select(number, scrolls) {
  document.querySelector("[data-contentgen-selected]")?.removeAttribute("data-contentgen-selected");
  const block = number === null ? null : document.querySelector(`[data-contentgen-block="${Number(number)}"]`);
  if (block) block.dataset.contentgenSelected = "";
  else if (selected === undefined) document.querySelector("[data-contentgen-text]")?.scrollIntoView();
  if (scrolls) block?.scrollIntoView({ block: "center" });
}

addEventListener("message", ({ origin, data }) => {
  if (origin !== DESK) return;
  if (data?.type === "reload") document.querySelector("[data-contentgen-plain]") ? location.replace(location.href) : location.reload();
  if (data?.type !== "text") return;
  show(data.page);
  select(data.select, data.select !== selected);
  selected = data.select;
  parent.postMessage({ type: "shown", digest: shown }, DESK);
  tell("place");
});

addEventListener("click", ({ target }) => {
  if (target.closest("a, input, textarea, select, button, label")) return;
  selected = target.closest("[data-contentgen-block]")?.dataset.contentgenBlock ?? null;
  selected = selected === null ? null : Number(selected);
  select(selected, false);
  tell("click");
});
for (const name of ["scroll", "resize"]) addEventListener(name, () => requestAnimationFrame(() => tell("place")), { passive: true });
addEventListener("keydown", (event) => { if (event.key === "Escape") { select(null); tell("click"); } });

parent.postMessage({ type: "ready", path: location.pathname }, DESK);
