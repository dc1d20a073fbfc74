// The words of the desk, in the language of the site or in English.

let words = {};
let column = 0;
let messages = {}; // of the server, which speaks English

const read = async (file) => (await fetch(`/_contentgen/${file}`)).json();

export async function loadWords() {
  words = await read("words.json");
  const language = document.documentElement.lang.toLowerCase().split("-")[0];
  column = words.languages.indexOf(language);
  if (column < 0) {
    document.documentElement.lang = "en";
    column = 0;
  }
  if (column > 0) messages = await read("server.json");
}

const fill = (sentence, values) => sentence
  // A function, since a value can contain what replace() takes for a pattern, such as $'.
  .replace(/\{(\d)\}/g, (place, index) => values[index] ?? place);

export const say = (name, ...values) => fill(words[name]?.[column] ?? name, values);

// Words in quotes, a date, a figure, or a cost.
const VALUE = /'[^']*'|\d{4}-\d\d-\d\d|\d+(?:[.,]\d+)*(?: [A-Z]{3}\b)?/g;

// A message of the server in the language of the desk. What stands behind a colon or in brackets is
// translated by itself, and what nobody has translated stays as it is.
export function translate(message) {
  const values = message.match(VALUE) ?? [];
  let count = 0;
  const sentence = message.replace(VALUE, () => `{${count++}}`);
  const translated = messages[sentence]?.[column - 1];
  if (translated) return fill(translated, values);
  const [, head, sign, rest] = message.match(/^(.+?)(: | \()(.*)$/s) ?? [];
  const start = messages[head]?.[column - 1];
  return start ? start + sign + translate(rest) : message;
}
