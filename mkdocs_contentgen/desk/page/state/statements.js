// The sentences to check, each with its statements, and which of them are not settled yet.

import { state } from "./state.js";

// The text of some parts of a sentence.
export const textOf = (parts) => parts.map(([text]) => text).join("");

// One for each statement, in the order of the server: those with weak marks come last.
export function statementsOf(text) {
  const found = [];
  for (const card of text.statements) {
    const sentence = textOf(card.parts);
    for (const number of card.statements) {
      const parts = card.parts.filter(([, statement]) => statement === number);
      const words = parts.map(([part]) => part).join("");
      const same = found.filter((other) => other.card === card && other.words === words).length;
      const key = [card.block, ...card.place, sentence, words, same].join("\n");
      found.push({ card, block: card.block, number, sentence, words, same, key });
    }
  }
  return found;
}

// Groups statements by their sentences. The key of a sentence stays the same while some of its
// statements are settled.
function bySentence(statements) {
  const found = [];
  for (const statement of statements) {
    const { card, block, sentence } = statement;
    const last = found.at(-1);
    if (last?.card === card) {
      last.statements.push(statement);
      continue;
    }
    const same = found.filter((other) => other.block === block && other.sentence === sentence)
      .length;
    const key = [block, ...card.place, sentence, same].join("\n");
    found.push({ card, block, sentence, same, key, statements: [statement] });
  }
  return found;
}

export const sentencesOf = (text) => bySentence(statementsOf(text));

const CELLS = ["td", "th", "caption"];

export const isCell = (number) => CELLS.includes(state.text.blocks[number].kind);

// Whether nothing of a cell is left without a sentence.
export function isWholeCell({ block, sentence }) {
  const { text } = state.text.blocks[block];
  return isCell(block) && sentence.trim() === text.trim();
}

// The words of the statements of a sentence, such as in a message.
export const wordsToCheck = ({ statements }) => statements.map(({ words }) => words).join(", ");

// Finds a statement or a sentence in another version of the text, or returns undefined. Where
// several read the same, it is the one in the block with the same number, if there is one.
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

// Finds the first of the statements of an own act that is still there, or returns undefined.
export function findFirst(statements, { statements: wanted = [] }) {
  for (const statement of wanted) {
    const found = findIn(statements, statement);
    if (found) return found;
  }
  return undefined;
}

// What is left of statements when an act has settled one of them, or its whole sentence.
export function withoutSettled(statements, action, settled) {
  const isOfOne = action === "confirm";
  return statements.filter((other) => isOfOne ? other !== settled : other.card !== settled.card);
}

// Without what the person has settled already, though the server does not know yet.
export function openStatements() {
  let left = statementsOf(state.text);
  for (const own of state.pending) {
    const found = findFirst(left, own);
    if (found) left = withoutSettled(left, own.action, found);
  }
  return left;
}

export const openSentences = () => bySentence(openStatements());

export function settledMarks() {
  const isOpen = new Set(openStatements().map(({ block, number }) => `${block} ${number}`));
  return statementsOf(state.text).map(({ block, number }) => [block, number])
    .filter((place) => !isOpen.has(place.join(" ")));
}

export const hasStatement = ({ statements }, wanted) => statements
  .some(({ key }) => key === wanted.key);

export const sentenceWith = (statement) => openSentences()
  .find((sentence) => hasStatement(sentence, statement));

export const currentSentence = () => {
  const open = openSentences();
  return open.find(({ key }) => key === state.current) ?? open[0];
};

export function progress() {
  const left = openSentences().length;
  const total = state.text.checked + sentencesOf(state.text).length;
  return { left, checked: total - left, total };
}
