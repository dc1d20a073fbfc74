// The list of texts: what needs a person first.

import { discardDraftOf, draftsWithoutText } from "../state/drafts.js";
import { redraw, state, tell } from "../state/state.js";
import {
  addressOf, countOf, firstNeeded, groupOf, GROUPS, nameOfPage, remarksOf, sortByNeed, stateOf,
} from "../state/texts.js";
import { say, translate } from "../state/words.js";
import { call } from "../parts/api.js";
import { copyButton, undoButton } from "../parts/buttons.js";
import { ask } from "../parts/dialogs.js";
import { drawScreen, h } from "../parts/draw.js";
import { openText, reviewNext } from "../parts/navigation.js";
import { costNote, originalChanges } from "../parts/original.js";

// Asks for a text, and opens it.
async function send(text, body) {
  try {
    await call("ask", { ref: text.ref, ...body });
  } catch (error) {
    tell("red", error.message);
    return false;
  }
  await openText(text);
  return true;
}

function generate(text) {
  const fields = async () => [h("p", { dir: "auto" }, text.topic), await costNote(text.ref)];
  ask(say("generate"), say("generate_now"), fields, () => send(text, { replace: true }));
}

// A translation has the topic of its original.
function titleOf({ title, topic, translated_into: language }) {
  const name = title || topic;
  return language ? `${name} → ${language}` : name;
}

const open = (text) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab of its own
  event.preventDefault();
  openText(text);
};

function progressOf(text) {
  const total = text.checked + text.marked_sentences;
  if (groupOf(text) !== "review") return null;
  if (!total) return h("span", { class: "quiet" }, say("nothing_marked"));
  return h("label", { class: "count" }, say("checked_of", text.checked, total),
    h("progress", { max: String(total), value: String(text.checked) }));
}

function row(text) {
  const isMissing = groupOf(text) === "missing";
  return h("li", { key: text.ref, class: "text" },
    h("div", { class: "what" },
      h("a", { href: addressOf(text), dir: "auto", onclick: open(text) }, titleOf(text)),
      h("div", { class: "quiet" }, [nameOfPage(text), remarksOf(text)].filter(Boolean).join(" · ")),
      text.state === "failed" && h("div", { class: "problem" }, translate(text.reason)),
      originalChanges(text, () => send(text, { update: true, seen: text.seen }))),
    h("div", {}, h("span", { class: `state ${text.state}` }, stateOf(text))),
    progressOf(text),
    isMissing && h("button", { type: "button", onclick: () => generate(text) }, say("generate")));
}

function total() {
  const waiting = state.queue.filter((text) => groupOf(text) === "review");
  const left = waiting.reduce((sum, text) => sum + text.marked_sentences, 0);
  return say("total", waiting.length, left);
}

function everythingApproved() {
  const command = state.commitCommand;
  return h("div", { key: "done", class: "empty" },
    h("p", {}, say(countOf("missing") ? "only_missing" : "all_approved")),
    command && h("p", {}, h("code", {}, command), " ",
      copyButton(command)));
}

// What the filter looks for.
const wordsOf = (text) => [titleOf(text), text.topic, nameOfPage(text), stateOf(text)].join(" ");

function list() {
  const wanted = state.filter.toLowerCase();
  const found = sortByNeed(state.queue).filter((text) => groupOf(text) === state.queueTab
    && wordsOf(text).toLowerCase().includes(wanted));
  if (!found.length && !wanted && state.queueTab === "review") return everythingApproved();
  if (!found.length) return h("p", { key: "none", class: "quiet" }, say("no_match"));
  return h("ul", { key: "list", class: "texts" }, found.map(row));
}

function group(name) {
  return h("button", { type: "button", key: name, "aria-pressed": String(state.queueTab === name),
    onclick: () => {
      state.queueTab = name;
      redraw();
    } }, say(`group_${name}`, countOf(name)));
}

// Words whose text has no page any more, or none of those that are in the list.
function withoutText() {
  const found = draftsWithoutText();
  if (!found.length) return null;
  const title = say("words_without_text");
  return h("section", { key: "words", "aria-label": title }, h("h2", {}, title),
    h("ul", { class: "cards" }, found.map(draftWithoutText)));
}

function draftWithoutText(found) {
  const { words, title } = found.draft;
  const copy = async () => {
    await navigator.clipboard.writeText(words);
    tell("green", say("copied"));
  };
  const discard = () => {
    discardDraftOf(found);
    redraw();
  };
  return h("li", { class: "card" }, h("p", { dir: "auto" }, title),
    h("textarea", { readonly: true, dir: "auto", rows: "1", "aria-label": title, value: words }),
    h("div", { class: "buttons" },
      h("button", { type: "button", key: "copy", onclick: copy }, say("copy_words")),
      h("button", { type: "button", key: "discard", onclick: discard }, say("discard"))));
}

function outcome(message) {
  return message && h("div", { class: `note ${message.kind}` },
    h("span", { dir: "auto" }, message.text), message.undo && undoButton(message.undo));
}

export function drawQueue() {
  document.title = say("queue");
  drawScreen([h("main", { key: "queue", class: "queue" },
    h("h1", { tabindex: "-1" }, say("queue")),
    h("p", { class: "quiet" }, `${total()} · ${say("by", state.by)}`),
    h("div", { class: "messages", role: "status" },
      state.problem && h("p", { class: "note red" }, translate(state.problem)),
      outcome(state.message)),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "main", disabled: !firstNeeded(), title: "n",
        onclick: reviewNext }, say("review_next")),
      h("div", { class: "buttons groups", role: "group", "aria-label": say("state") },
        GROUPS.filter((name) => name !== "behind" || countOf(name)).map(group)),
      h("input", { type: "search", "aria-label": say("filter"), placeholder: say("filter"),
        value: state.filter, oninput: ({ target }) => {
          state.filter = target.value;
          redraw();
        } })),
    list(), withoutText()), ...document.querySelectorAll("dialog")]);
}
