// The tab Check: one open card for the sentence to check, the others with their first words.

import { onlyOnce } from "../state/pressing.js";
import { chooseTab, select } from "../state/selection.js";
import { state } from "../state/state.js";
import { currentSentence, isWholeCell, openSentences, wordsToCheck } from "../state/statements.js";
import { isApproved, isTranslation, remarksOf } from "../state/texts.js";
import { beginning, say, translate } from "../state/words.js";
import { act, settle } from "./acts.js";
import { asks } from "./asking.js";
import { hasClosest, hasWordsOf, readable, withClosest } from "./closest.js";
import { h } from "./draw.js";
import { openEditor } from "./editing.js";
import { lostLinks } from "./links.js";
import { original, originalChanges } from "./original.js";
import { recheck } from "./rechecking.js";
import { staleSources } from "./stale.js";

function evidence(found, show = readable) {
  if (!found.length) return h("p", { class: "quiet" }, say("no_evidence"));
  return found.map(({ title, file, text }) => h("div", {},
    h("p", { class: "quiet" }, `${say("closest")}: ${title} (${file})`),
    h("p", { class: "source", dir: "auto" }, show(text))));
}

const sourceOf = (card) => state.text.sources.find(({ address }) => address === card.source);

// What comes closest, without what is in sight in the cited source.
function otherEvidence(sentence) {
  const { card } = sentence;
  const cited = sourceOf(card)?.text ?? "";
  const isInSight = ({ text }) => {
    if (cited.trim() === text.trim()) return true;
    // A part of it is in sight if the cited source is scrolled to it.
    return cited.includes(text.trim()) && hasClosest(cited, sentence);
  };
  return card.evidence.filter((found) => !isInSight(found));
}

function citedSource(card, show) {
  const source = sourceOf(card);
  if (!source) {
    const words = card.source_title && `${say("source")}: ${card.source_title}`;
    return words && h("p", { class: "quiet" }, words);
  }
  return h("div", {},
    h("p", { class: "quiet" }, `${say("source")}: ${source.title}`),
    source.state !== "same" && h("p", { class: "note amber" }, say(source.state)),
    h("div", { class: "source", tabindex: "0", role: "region", "aria-label": source.title,
      dir: "auto" }, show(source.text)));
}

// The words of a sentence, in which each statement that is left is a button.
function wordsOf({ card, statements }) {
  return card.parts.map(([text, number]) => {
    const statement = statements.find((other) => other.number === number);
    return statement ? markButton(statement) : text;
  });
}

// A mark is part of a line of words, which a <button> would cut.
function markButton(statement) {
  const confirm = onlyOnce(() => settle([statement], "confirm"));
  return h("mark", { key: statement.key, class: "current", role: "button", tabindex: "0",
    title: say("confirm_one"), onclick: confirm, onkeydown: (event) => {
      if (!["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      if (!event.repeat) confirm({ detail: 0 });
    } }, statement.words);
}

function openCard(sentence) {
  const { card, statements, key } = sentence;
  const show = (passage) => withClosest(passage, sentence);
  const others = otherEvidence(sentence);
  const button = (name, onclick, title, properties = {}) => h("button",
    { type: "button", key: name, onclick, title, ...properties }, say(name));
  return h("section", { key, class: "card open", tabindex: "0", "aria-current": "true",
    "aria-label": wordsToCheck(sentence) },
  card.place.length > 0 && h("p", { class: "quiet", dir: "auto" }, card.place.join(" · ")),
  h("p", { class: "sentence", dir: "auto" }, wordsOf(sentence)),
  reasons(sentence),
  lostLinks(card),
  h("div", { class: "buttons" },
    button("confirm", onlyOnce(() => settle(statements, "confirm_sentence")), "c",
      { class: "main soft confirm" }),
    button("edit", () => openEditor(card.block), "e"),
    button("remove", onlyOnce(() => settle(statements, "remove")),
      `x · ${say(isWholeCell(sentence) ? "removes_cell" : "removes")}`)),
  askButtons(card.block),
  isTranslation() ? original(card.block) : citedSource(card, show),
  !isTranslation() && others.length > 0 && evidence(others, show));
}

function askButtons(number) {
  return h("div", { class: "buttons asks", key: "asks" }, asks(number).map(([name, ask]) => h(
    "button", { type: "button", key: name, onclick: ask }, say(name))));
}

// Why the statements of a sentence are marked, each reason once.
function reasons({ statements }) {
  const wordsFor = new Map();
  for (const statement of statements) {
    const reason = whyMarked(statement);
    wordsFor.set(reason, [...wordsFor.get(reason) ?? [], statement.words]);
  }
  const isForAll = wordsFor.size === 1;
  return [...wordsFor].map(([reason, words]) => h("p", { key: reason, class: "why", dir: "auto" },
    isForAll ? say(reason) : `${words.join(", ")}: ${say(reason)}`));
}

// A draft is compared with the sources that its model got, and the evidence is of all.
function whyMarked(statement) {
  const { card } = statement;
  if (isTranslation()) return "why_translation";
  if (card.evidence.some(({ text }) => hasWordsOf(text, statement))) return "why_words";
  return card.is_weak ? "why_weak" : "why_none";
}

// The block in the page that has the editor or the mouse, unless a card shows its original.
function originalOfBlock(current) {
  const number = state.block ?? state.hovered;
  if (number !== null && number !== current?.card.block) return original(number);
  return current ? null : h("p", { key: "see_original", class: "quiet" }, say("see_original"));
}

// The place of a cell says more than its words, which are the statement itself.
const placeOrWords = ({ card, sentence }) => card.place.length
  ? card.place.join(" · ") : beginning(sentence, 90);

function closedCard(sentence) {
  const marks = sentence.statements.map(({ words }, index) => [index > 0 && ", ",
    h("mark", {}, words)]);
  return h("button", { type: "button", key: sentence.key, class: "card row",
    onclick: () => select(sentence), dir: "auto" },
  marks, " ", h("span", { class: "quiet" }, placeOrWords(sentence)));
}

function checkedCard(checked) {
  const isRemoved = checked.action === "remove";
  const words = wordsToCheck(checked);
  const key = [checked.action, checked.block, checked.sentence, words].join("\n");
  return h("button", { type: "button", key: `checked ${key}`, class: "card row checked",
    title: say(isRemoved ? "undo_hint" : "check_again"),
    onclick: onlyOnce(() => recheck(checked)), dir: "auto" },
  `${isRemoved ? "–" : "✓"} `, words, " ", h("span", { class: "quiet" }, placeOrWords(checked)));
}

function sentencesToRead() {
  const { to_read: found } = state.text;
  if (!found.length) return null;
  return h("details", { key: "to_read" }, h("summary", {}, `${say("to_read")} (${found.length})`),
    found.map(({ text, evidence: passages }) => h("div", { class: "card open" },
      h("p", { class: "to-read", dir: "auto" }, text), evidence(passages))));
}

// What is left to read, though nothing is left to check.
function remarks() {
  const { length } = state.text.remarks;
  if (!length || isApproved()) return null;
  return h("button", { type: "button", key: "remarks", class: "card row",
    onclick: () => chooseTab("about") }, remarksOf(state.text));
}

export function check() {
  const open = openSentences();
  const current = currentSentence();
  const { text } = state;
  if (!text.seen) return [h("p", {}, translate(text.reason)), askButtons()];
  return [
    originalChanges(text, () => act("ask", { update: true, seen: text.seen })),
    isTranslation() && originalOfBlock(current),
    open.length === 0 && h("p", { class: "all-checked", tabindex: "-1" },
      say("none_left")),
    open.length === 0 && remarks(),
    ...open.map((sentence) => sentence.key === current.key
      ? openCard(sentence) : closedCard(sentence)),
    staleSources(),
    sentencesToRead(),
    state.checked.length > 0 && h("h2", { key: "checked" }, say("checked_title")),
    ...state.checked.map(checkedCard),
  ];
}

// The statement that is open stays in sight, and so does the button that has the focus.
let shownCard = null;
export function keepCurrentInSight(panel) {
  const card = panel.querySelector('[aria-current="true"]');
  if (!card || card === shownCard) return;
  shownCard = card;
  for (const box of card.querySelectorAll(".source")) showClosest(box);
  const body = panel.querySelector(".body");
  const { top, bottom } = card.getBoundingClientRect();
  const around = body.getBoundingClientRect();
  if (top < around.top || bottom > around.bottom) body.scrollTop += top - around.top - 8;
}

// What comes closest stands in the middle of a long source.
function showClosest(box) {
  const closest = box.querySelector("b");
  if (!closest) return;
  const { top, height } = closest.getBoundingClientRect();
  const around = box.getBoundingClientRect();
  box.scrollTop += top - around.top - (around.height - height) / 2;
}
