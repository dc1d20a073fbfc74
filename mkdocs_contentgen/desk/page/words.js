// The words of the desk, in the language of the site or in English.

let words = {};
let column = 0;

export async function loadWords() {
  words = await (await fetch("/_contentgen/words.json")).json();
  const language = document.documentElement.lang.toLowerCase().split("-")[0];
  column = words.languages.indexOf(language);
  if (column < 0) {
    document.documentElement.lang = "en";
    column = 0;
  }
}

export function say(name, ...values) {
  const sentence = words[name]?.[column] ?? name;
  // A function, since a value can contain what replace() takes for a pattern, such as $'.
  return sentence.replace(/\{(\d)\}/g, (place, index) => values[index] ?? place);
}
