// In a page of the site beside the desk: which blocks of the text were on the screen, and which
// cannot be, such as those in a closed dialog. A block that is higher than the screen was on it
// once each part was.

const BETWEEN = 200; // milliseconds between two looks; what both of them find was seen
const REPEATED = 5; // looks after which a report is repeated: the desk may not have been ready
const PART = 24; // pixels of a block that are seen together, as a line of text is
const LEAST = 4; // pixels: what is smaller shows no words
const SHARE = 0.9; // of a block that has to be in sight

let blocks = []; // what is known of each block of the text that the page shows
let digest = ""; // of that text
let covered = 0; // pixels that the desk covers from below
let lastReport = "";
let looks = 0;

// Begins again with the blocks that the page shows now.
export function noteBlocks(shown) {
  const elements = document.querySelectorAll("[data-contentgen-block]");
  blocks = [...elements].map((element) => ({
    element, number: Number(element.dataset.contentgenBlock), isSeen: false, isHidden: false,
    parts: 0, before: new Set(), seen: new Set(),
  }));
  digest = shown;
}

export function noteCovered(height) {
  covered = height;
}

// Looks again and again, and reports what it finds.
export function watchSight(report) {
  setInterval(() => {
    if (document.visibilityState !== "visible" || !digest) return;
    const styles = new Map();
    for (const block of blocks) if (!block.isSeen) look(block, styles);
    const numbers = (found) => found.map(({ number }) => number);
    const all = {
      digest,
      there: numbers(blocks),
      seen: numbers(blocks.filter(({ isSeen }) => isSeen)),
      hidden: numbers(blocks.filter(({ isHidden }) => isHidden)),
    };
    const json = JSON.stringify(all);
    looks += 1;
    if (json === lastReport && looks % REPEATED) return;
    lastReport = json;
    report(all);
  }, BETWEEN);
}

function look(block, styles) {
  const { element } = block;
  // Own changes that the server has not answered yet; nobody can overlook what has no words.
  if (element.hasAttribute("data-contentgen-deleted")) return;
  if (!element.textContent.trim()) return;
  const rect = boxOf(element.getBoundingClientRect());
  block.isHidden = !canBeSeen(element, rect, styles);
  const visible = block.isHidden ? null : partInSight(element, rect, styles);
  const now = visible ? partsIn(block, rect, visible) : new Set();
  for (const part of now) if (block.before.has(part)) block.seen.add(part);
  block.before = now;
  block.isSeen = block.parts > 0 && block.seen.size === block.parts;
}

const boxOf = ({ left, top, right, bottom }) => ({ left, top, right, bottom });

const widthOf = ({ left, right }) => right - left;
const heightOf = ({ top, bottom }) => bottom - top;
const isNothing = (box) => widthOf(box) < LEAST || heightOf(box) < LEAST;

const common = (one, other) => ({
  left: Math.max(one.left, other.left), top: Math.max(one.top, other.top),
  right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom),
});

function styleOf(element, styles) {
  if (!styles.has(element)) {
    const { overflowX, overflowY } = getComputedStyle(element);
    const both = [overflowX, overflowY];
    const scrolls = both.some((value) => ["auto", "scroll"].includes(value));
    const clips = both.some((value) => ["hidden", "clip"].includes(value));
    const box = scrolls || clips ? boxOf(element.getBoundingClientRect()) : null;
    styles.set(element, { scrolls, clips, box, overflowY });
  }
  return styles.get(element);
}

// The elements around one, without those whose overflow is that of the window.
function* around(element) {
  for (let outer = element.parentElement; outer; outer = outer.parentElement) {
    if (outer !== document.body && outer !== document.documentElement) yield outer;
  }
}

// Whether a person who scrolls can come to a block, without a click.
function canBeSeen(element, rect, styles) {
  const isDrawn = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  if (!isDrawn || isNothing(rect)) return false;
  let box = rect;
  let isInScroller = false;
  for (const outer of around(element)) {
    const { scrolls, clips, box: edges } = styleOf(outer, styles);
    if (scrolls) {
      box = edges;
      isInScroller = true;
    } else if (clips) {
      const left = common(box, edges);
      const share = Math.min(widthOf(left) / widthOf(box), heightOf(left) / heightOf(box));
      if (isNothing(left) || share < SHARE) return false;
      box = left;
    }
  }
  if (isInScroller) return true;
  const isBeforePage = box.right + scrollX < LEAST || box.bottom + scrollY < LEAST;
  return !isBeforePage && (windowScrolls(styles) || !isNothing(common(box, view())));
}

const windowScrolls = (styles) => [document.documentElement, document.body]
  .every((root) => !["hidden", "clip"].includes(styleOf(root, styles).overflowY));

const view = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight - covered });

// What of a block is on the screen now, or null.
function partInSight(element, rect, styles) {
  let visible = common(rect, view());
  if (heightOf(visible) < LEAST) return null;
  for (const outer of around(element)) {
    const { box } = styleOf(outer, styles);
    if (box) visible = common(visible, box);
  }
  const needed = Math.min(widthOf(rect), innerWidth) / 2;
  return heightOf(visible) >= LEAST && widthOf(visible) >= needed ? visible : null;
}

// The numbers of the parts of a block that are wholly on the screen.
function partsIn(block, rect, visible) {
  const height = heightOf(rect);
  const parts = Math.max(1, Math.ceil(height / PART));
  if (parts !== block.parts) Object.assign(block, { parts, before: new Set(), seen: new Set() });
  const from = Math.ceil((visible.top - rect.top) / height * parts - 1 + SHARE);
  const to = Math.floor((visible.bottom - rect.top) / height * parts + 1 - SHARE);
  const found = new Set();
  for (let part = Math.max(0, from); part < Math.min(parts, to); part += 1) found.add(part);
  return found;
}
