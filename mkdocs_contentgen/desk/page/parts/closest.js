// Which lines or sentences of a passage say the like of a statement: what is wrong is seen there.

import { h } from "./draw.js";

const WORDS_AROUND = 6; // those further away are about something else
const MAX_EMPHASIZED = 2; // the heads of a table, and a row

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+(?:[.,]\p{N}+)*/gu) ?? [];

const isTelling = (word) => word.length > 2 || /\p{N}/u.test(word);

function wordsAround({ card, number }) {
  const index = card.parts.findIndex(([, ofStatement]) => ofStatement === number);
  const textOf = (parts) => parts.map(([text]) => text).join("");
  const before = wordsOf(textOf(card.parts.slice(0, index))).slice(-WORDS_AROUND);
  const after = wordsOf(textOf(card.parts.slice(index + 1))).slice(0, WORDS_AROUND);
  const own = wordsOf(card.parts[index][0]);
  const around = [...before, ...own, ...after, ...wordsOf(card.place.join(" "))];
  return new Set(around.filter(isTelling));
}

const isRuleOfTable = (line) => line.includes("|") && /^[\s|:-]+$/.test(line);

// A passage in Markdown for people: the cells of a table's row as "a · b", no row of dashes.
export function readable(passage) {
  const lines = passage.split("\n").filter((line) => !isRuleOfTable(line));
  return lines.map((line) => {
    const row = line.trim();
    if (!row.startsWith("|")) return line;
    const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim()).filter(Boolean);
    return cells.join(" · ");
  }).join("\n");
}

// The lines and sentences of a passage, and whether they come closest to a statement.
function piecesOf(passage, statement) {
  const wanted = wordsAround(statement);
  const pieces = readable(passage).split(/(?<=\n|[.!?]\s)/).map((text) => {
    const shared = new Set(wordsOf(text).filter((word) => wanted.has(word)));
    return { text, score: shared.size };
  });
  const best = Math.max(...pieces.map(({ score }) => score));
  const count = pieces.filter(({ score }) => score === best).length;
  const least = statement.card.place.length ? 1 : 2; // a cell has few words
  const isClear = best >= least && count <= MAX_EMPHASIZED;
  return pieces.map(({ text, score }) => ({ text, isClosest: isClear && score === best }));
}

export const hasClosest = (passage, statement) => piecesOf(passage, statement)
  .some(({ isClosest }) => isClosest);

const inWords = (text) => ` ${wordsOf(text).join(" ")} `;

// Whether what comes closest has the words of the statement. It can still say something else.
export function hasWordsOf(passage, statement) {
  const words = inWords(statement.words);
  return piecesOf(passage, statement)
    .some(({ text, isClosest }) => isClosest && inWords(text).includes(words));
}

// The passage, in which what comes closest is bold.
export function withClosest(passage, statement) {
  const pieces = piecesOf(passage, statement);
  const wouldAllBeBold = pieces.every(({ isClosest }) => isClosest);
  if (wouldAllBeBold) return readable(passage);
  return pieces.map(({ text, isClosest }) => isClosest ? h("b", {}, text) : text);
}
