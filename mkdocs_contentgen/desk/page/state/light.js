// The parts of a line of light Markdown, which the page can show before the server has answered.
// It knows what people write in a sentence. For all else, the desk waits for the server.

const BRACKETS = String.raw`\[[\p{L}\p{N} ,.;:?!%'’/-]{1,60}\](?![\[(:])`;
const CHARACTER = String.raw`[\p{L}\p{M}\p{N} ,.;:?!()%'"’‘“”„«»–—…€£/-]|\\[\\[\]*_<\x60]`;
const TEXT = `((?:${CHARACTER}|${BRACKETS})+)`;
const PARTS = [
  ["", TEXT],
  ["strong", String.raw`\*\*${TEXT}\*\*`],
  ["em", String.raw`\*${TEXT}\*`],
  ["s", `~~${TEXT}~~`],
  ["mark", `==${TEXT}==`],
  ["code", "`([^`\\n]+)`"],
  ["a", String.raw`\[${TEXT}\]\(<(https?:[^\s<>]+)>\)`],
].map(([tag, pattern]) => [tag, new RegExp(pattern, "uy")]);

// What Markdown reads as something else than a sentence: items, dashes, and addresses.
const OTHER = /^\s*(?:[-+]|\d+[.)])\s|--|:\/\/|www\./i;

// Where signs around words can only be those of Markdown.
const BEFORE = /[\s(]/;
const BEHIND = /[\s.,;:!?)]/;

function partAt(line, begin) {
  for (const [tag, pattern] of PARTS) {
    pattern.lastIndex = begin;
    const [all, text, address] = pattern.exec(line) ?? [];
    if (!all) continue;
    const end = begin + all.length;
    // Other signs need room around them, and so does a picture. A link or a text does not.
    const isPicture = tag === "a" && line[begin - 1] === "!";
    const needsRoom = isPicture || !["", "a"].includes(tag);
    const hasRoom = text === text.trim()
      && BEFORE.test(line[begin - 1] ?? " ") && BEHIND.test(line[end] ?? " ");
    return needsRoom && !hasRoom ? null : { tag, text, address, end };
  }
  return null;
}

// Returns [tag, text, address] for each part, or null for what only the server can read.
export function partsOf(line) {
  const parts = [];
  let plain = "";
  let end = 0;
  while (end < line.length) {
    const part = partAt(line, end);
    if (!part) return null;
    const { tag, text, address } = part;
    const isCode = tag === "code";
    parts.push([tag, isCode ? text : text.replace(/\\(.)/g, "$1"), address]);
    if (!isCode) plain += text;
    end = part.end;
  }
  return parts.length && !OTHER.test(plain) ? parts : null;
}
