// The texts before own changes, which Undo shows before the server has answered.

const MAX_EARLIER = 10; // texts that are kept: each can be long

// The text before an own change, by the one after it. Two pages can have the same text.
const earlier = new Map();
const keyOf = ({ ref, seen }) => `${ref} ${seen}`;

export function noteEarlier(after, before) {
  earlier.set(keyOf(after), before);
  if (earlier.size > MAX_EARLIER) earlier.delete(earlier.keys().next().value);
}

// Returns the text before the own change that has made this one, or undefined. It is forgotten.
export function takeEarlier(text) {
  const before = earlier.get(keyOf(text));
  earlier.delete(keyOf(text));
  return before;
}
