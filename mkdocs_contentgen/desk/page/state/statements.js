// The statements to check, each with its sentence, and which of them are not settled yet.

import { state } from "./state.js";

const sentenceOf = (card) => card.parts.map(([text]) => text).join("");

// One for each statement, in the order of the server: those with weak marks come last.
export function statementsOf(text) {
  const found = [];
  for (const card of text.statements) {
    const sentence = sentenceOf(card);
    for (const number of card.statements) {
      const parts = card.parts.filter(([, statement]) => statement === number);
      const words = parts.map(([text]) => text).join("");
      const same = found.filter((other) => other.card === card && other.words === words).length;
      const key = [card.block, ...card.place, sentence, words, same].join("\n");
      found.push({ card, block: card.block, number, sentence, words, same, key });
    }
  }
  return found;
}

const CELLS = ["td", "th", "caption"];

export const isCell = (number) => CELLS.includes(state.text.blocks[number].kind);

// Whether nothing of a cell is left without the sentence of a statement.
export function isWholeCell({ block, sentence }) {
  const { text } = state.text.blocks[block];
  return isCell(block) && sentence.trim() === text.trim();
}

// Finds a statement in another version of the text, or returns undefined. Where several read the
// same, it is the one in the block with the same number, if there is one.
export function findIn(statements, wanted) {
  const place = wanted.card.place.join("\n");
  const same = statements.filter(({ sentence, words, card }) => sentence === wanted.sentence
    && words === wanted.words && card.place.join("\n") === place);
  const inBlock = same.filter(({ block }) => block === wanted.block);
  // If its block has another number now, it is known only where no other block says the same.
  const hasMoved = !inBlock.length && !areInSeveralBlocks(same);
  const found = hasMoved ? same : inBlock;
  return found[Math.min(wanted.same, found.length - 1)];
}

const areInSeveralBlocks = (statements) => new Set(statements.map(({ block }) => block)).size > 1;

// Without what the person has settled already, though the server does not know yet.
export function openStatements() {
  let left = statementsOf(state.text);
  for (const { action, statement } of state.pending) {
    const found = statement && findIn(left, statement);
    if (!found) continue;
    const isRemoved = action === "remove"; // then the sentence goes as a whole
    left = left.filter((other) => isRemoved ? other.card !== found.card : other !== found);
  }
  return left;
}

export function settledMarks() {
  const open = new Set(openStatements().map(({ key }) => key));
  const settled = statementsOf(state.text).filter(({ key }) => !open.has(key));
  return settled.map(({ block, number }) => [block, number]);
}

export const currentStatement = () => {
  const open = openStatements();
  return open.find(({ key }) => key === state.current) ?? open[0];
};

export function progress() {
  const left = openStatements().length;
  const total = state.text.checked + statementsOf(state.text).length;
  return { left, checked: total - left, total };
}
