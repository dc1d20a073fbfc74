// The list of texts: what needs a person first.

import { copyButton } from "./about.js";
import { call } from "./api.js";
import { ask } from "./dialogs.js";
import { discardDraftOf, draftsWithoutText } from "./drafts.js";
import { drawScreen, h } from "./draw.js";
import { undoButton } from "./messages.js";
import { costNote, originalChanges } from "./original.js";
import { addressOf, countOf, openText } from "./review.js";
import { stateOf } from "./bar.js";
import { redraw, state, tell } from "./state.js";
import { say, translate } from "./words.js";

const NEED = [
  "outdated", "changed", "damaged", "proposed", "draft", "failed", "missing", "approved",
];
const GROUPS = ["review", "behind", "missing", "approved"];

export function groupOf(text) {
  if (text.newer_draft || text.due_since || text.watched?.length) return "review";
  if (text.state === "approved") return text.original_changes ? "behind" : "approved";
  return ["failed", "missing"].includes(text.state) ? "missing" : "review";
}

// Whether a person can review it now.
export const isNeeded = (text) => groupOf(text) === "review" && text.state !== "damaged";

const rank = (text) => text.newer_draft ? 0 : NEED.indexOf(text.state);

export const sortByNeed = (rows) => [...rows].sort((one, other) => rank(one) - rank(other)
  || other.marked - one.marked || one.page.localeCompare(other.page));

export async function loadQueue(isWanted) {
  const { queue, by, problem, commit_command: commitCommand } = await call("queue");
  if (!isWanted()) return;
  const hasSome = (group) => queue.some((row) => groupOf(row) === group);
  Object.assign(state, { view: "queue", queue, by, problem, commitCommand, ref: "" });
  if (!hasSome(state.queueTab)) state.queueTab = "review";
  redraw();
}

// Several texts can be on a page.
export const nameOfPage = (text) => text.id === "main" ? text.page : `${text.page} · ${text.id}`;

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
  ask(say("generate"), say("send"), fields, () => send(text, { replace: true }));
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
  const total = text.checked + text.marked;
  if (groupOf(text) !== "review") return null;
  if (!total) return h("span", { class: "quiet" }, say("nothing_marked"));
  return h("label", { class: "count" }, say("checked_of", text.checked, total),
    h("progress", { max: String(total), value: String(text.checked) }));
}

const remarksOf = ({ remarks: { length } }) => length > 0 && `${say("remarks")}: ${length}`;

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
  const left = waiting.reduce((sum, text) => sum + text.marked, 0);
  return say("total", waiting.length, left);
}

function everythingApproved() {
  const command = state.commitCommand;
  return h("div", { key: "done", class: "empty" },
    h("p", {}, say(countOf("missing") ? "only_missing" : "all_approved")),
    countOf("approved") > 0 && h("p", {}, h("code", {}, command), " ",
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

const firstNeeded = () => sortByNeed(state.queue).find(isNeeded);

export function reviewNext() {
  const first = firstNeeded();
  if (first) openText(first);
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
