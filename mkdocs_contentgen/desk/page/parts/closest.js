// Which lines or sentences of a passage say the like of a sentence: what is wrong is seen there.

import { textOf } from "../state/statements.js";
import { h } from "./draw.js";

const WORDS_AROUND = 6; // those further away are about something else
const MAX_EMPHASIZED = 2; // the heads of a table, and a row

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+(?:[.,]\p{N}+)*/gu) ?? [];

const isTelling = (word) => word.length > 2 || /\p{N}/u.test(word);

// The words of the statements of a sentence that are left to check, and those around them.
function wordsAround({ card, statements }) {
  const around = wordsOf(card.place.join(" "));
  for (const { number } of statements) {
    const index = card.parts.findIndex(([, ofStatement]) => ofStatement === number);
    around.push(
      ...wordsOf(textOf(card.parts.slice(0, index))).slice(-WORDS_AROUND),
      ...wordsOf(card.parts[index][0]),
      ...wordsOf(textOf(card.parts.slice(index + 1))).slice(0, WORDS_AROUND),
    );
  }
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

// The lines and sentences of a passage, and whether they come closest to a sentence.
function piecesOf(passage, sentence) {
  const wanted = wordsAround(sentence);
  const pieces = readable(passage).split(/(?<=\n|[.!?]\s)/).map((text) => {
    const shared = new Set(wordsOf(text).filter((word) => wanted.has(word)));
    return { text, score: shared.size };
  });
  const best = Math.max(...pieces.map(({ score }) => score));
  const count = pieces.filter(({ score }) => score === best).length;
  const least = sentence.card.place.length ? 1 : 2; // a cell has few words
  const isClear = best >= least && count <= MAX_EMPHASIZED;
  return pieces.map(({ text, score }) => ({ text, isClosest: isClear && score === best }));
}

export const hasClosest = (passage, sentence) => piecesOf(passage, sentence)
  .some(({ isClosest }) => isClosest);

const inWords = (text) => ` ${wordsOf(text).join(" ")} `;

// Whether what comes closest has the words of the statement. It can still say something else.
export function hasWordsOf(passage, statement) {
  const words = inWords(statement.words);
  return piecesOf(passage, { card: statement.card, statements: [statement] })
    .some(({ text, isClosest }) => isClosest && inWords(text).includes(words));
}

// The passage, in which what comes closest is bold.
export function withClosest(passage, sentence) {
  const pieces = piecesOf(passage, sentence);
  const wouldAllBeBold = pieces.every(({ isClosest }) => isClosest);
  if (wouldAllBeBold) return readable(passage);
  return pieces.map(({ text, isClosest }) => isClosest ? h("b", {}, text) : text);
}
