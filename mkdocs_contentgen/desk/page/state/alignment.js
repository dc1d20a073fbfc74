// Which blocks of a text are those of another version.

// Names each of several equal keys, such as those of cells that read the same.
function numbered(keys) {
  const counts = new Map();
  return keys.map((key) => {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return `${count} ${key}`;
  });
}

// Returns, for each key of `after`, where the same one stands in `before`, or -1. What has changed
// places counts as new.
export function align(before, after) {
  const places = new Map(numbered(before).map((name, index) => [name, index]));
  const found = numbered(after).map((name) => places.get(name) ?? -1);
  const kept = new Set(longestRise(found));
  return found.map((place, index) => kept.has(index) ? place : -1);
}

// The indexes of the longest rising sequence of numbers that are not negative.
function longestRise(numbers) {
  const ends = []; // the index at which the best sequence of each length ends
  const previous = [];
  numbers.forEach((number, index) => {
    if (number < 0) return;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    previous[index] = low ? ends[low - 1] : -1;
    ends[low] = index;
  });
  const rise = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index]) rise.push(index);
  return rise;
}
