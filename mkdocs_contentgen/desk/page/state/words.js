// The words of the desk, in the language of the site or in English.

let words = {};
let column = 0;
let plurals = new Intl.PluralRules("en");
let messages = {}; // of the server, which speaks English
let remarks = {};

const read = async (file) => (await fetch(`/_contentgen/data/${file}`)).json();

export async function loadWords() {
  words = await read("words.json");
  const language = document.documentElement.lang.toLowerCase().split("-")[0];
  column = words.languages.indexOf(language);
  if (column < 0) {
    document.documentElement.lang = "en";
    column = 0;
  }
  if (column === 0) return;
  plurals = new Intl.PluralRules(words.languages[column]);
  messages = await read("server.json");
  remarks = await read("remarks.json");
}

// The word that a number chooses, such as "sentence" of `sentence|sentences`.
function choose(choice, number) {
  const [one, many] = choice.split("|");
  return plurals.select(number) === "one" ? one : many;
}

// In a sentence, `{0}` is a value, and `{0:sentence|sentences}` a word that it chooses.
const fill = (sentence, values) => sentence
  // A function, since a value can contain what replace() takes for a pattern, such as $'.
  .replace(/\{(\d)(?::([^{}]*))?\}/g, (place, index, choice) => {
    const value = values[index] ?? place;
    return choice ? choose(choice, value) : value;
  });

export const say = (name, ...values) => fill(words[name]?.[column] ?? name, values);

// What differs in messages that are otherwise the same: words in quotes, a tag, an address, a path,
// a date, a figure, or a cost.
const VALUE = new RegExp([
  "'[^']*'", "`[^`]*`", String.raw`<\w+>`, String.raw`https?://[^\s;,()]+`,
  String.raw`[\w.~-]*/[^\s:;,()]+(?::\d+)?`, String.raw`\d{4}-\d\d-\d\d`,
  String.raw`\d+(?:[.,]\d+)*(?: [A-Z]{3}\b)?`,
].join("|"), "g");

function translateSentence(message) {
  const values = message.match(VALUE) ?? [];
  let count = 0;
  const sentence = message.replace(VALUE, () => `{${count++}}`);
  const translated = messages[sentence]?.[column - 1];
  return translated && fill(translated, values);
}

// A message of the server in the language of the desk. What stands after a colon, in brackets or
// after a semicolon is translated by itself, and what nobody has translated stays as it is.
export function translate(message) {
  const whole = translateSentence(message);
  if (whole) return whole;
  const [, head, sign, rest] = message.match(/^(.+?)(: | \(|; |\)$)(.*)$/s) ?? [];
  return head ? (translateSentence(head) ?? head) + sign + translate(rest) : message;
}

// A remark in the language of the desk. In a sentence, `{words}` is a value, `{more:block|blocks}`
// a word that a number chooses, and `{said:; the server said: }` has words before a value.
export function remarkIn({ kind, values, words: english }) {
  const sentence = remarks[kind]?.[column - 1];
  return sentence?.replace(/\{(\w+)(?::([^{}]*))?\}/g, (place, name, choice) => {
    const value = values[name];
    if (typeof value === "number") {
      if (choice) return choose(choice, value);
      return value.toLocaleString(words.languages[column]);
    }
    if (!value) return "";
    return (choice ?? "") + (name === "because" ? translate(value) : value);
  }) ?? english;
}

// The beginning of a text with at most so many characters, which ends with a whole word.
export function beginning(text, most) {
  const letters = [...text.trim()];
  if (letters.length <= most) return letters.join("");
  return `${letters.slice(0, most).join("").replace(/\s+\S*$/, "")}…`;
}
