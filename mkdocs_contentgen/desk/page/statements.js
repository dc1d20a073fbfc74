// The statements to check, each with its sentence, and which of them are not settled yet.

import { state } from "./state.js";

const sentenceOf = (card) => card.parts.map(([text]) => text).join("");

// One for each statement, in the order of the server: those with weak marks come last.
export function statementsOf(text) {
  const found = [];
  for (const card of text.statements) {
    const sentence = sentenceOf(card);
    for (const number of card.statements) {
      const words = card.parts.filter(([, it]) => it === number).map(([part]) => part).join("");
      const same = found.filter((it) => it.card === card && it.words === words).length;
      const key = [card.block, ...card.place, sentence, words, same].join("\n");
      found.push({ card, block: card.block, number, sentence, words, same, key });
    }
  }
  return found;
}

// Where a statement is in another version of the text, or undefined. Two that read the same are
// told apart by the number of their block, or not at all.
export function findIn(statements, wanted) {
  const isSame = (it) => it.sentence === wanted.sentence && it.words === wanted.words
    && it.card.place.join("\n") === wanted.card.place.join("\n");
  const same = statements.filter(isSame);
  let found = same.filter((it) => it.block === wanted.block);
  if (!found.length) found = new Set(same.map((it) => it.block)).size === 1 ? same : [];
  return found[Math.min(wanted.same, found.length - 1)];
}

// Without what the person has settled already, though the server does not know yet.
export function openStatements() {
  let left = statementsOf(state.text);
  for (const { action, statement } of state.pending) {
    const found = statement && findIn(left, statement);
    if (!found) continue;
    const isGone = action === "remove" ? (it) => it.card === found.card : (it) => it === found;
    left = left.filter((it) => !isGone(it));
  }
  return left;
}

export function settledMarks() {
  const open = new Set(openStatements().map((it) => it.key));
  return statementsOf(state.text).filter((it) => !open.has(it.key))
    .map(({ block, number }) => [block, number]);
}

export const currentStatement = () => {
  const open = openStatements();
  return open.find((it) => it.key === state.current) ?? open[0];
};

export function progress() {
  const left = openStatements().length;
  const total = state.text.checked + statementsOf(state.text).length;
  return { left, checked: total - left, total };
}
