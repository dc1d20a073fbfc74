// The tab Changes: who changed what, and the sources that are others now.

import { onlyOnce } from "../state/pressing.js";
import { state } from "../state/state.js";
import { beginning, say } from "../state/words.js";
import { act } from "./acts.js";
import { compareWith, comparison, takeBackBlock, words } from "./compare.js";
import { h } from "./draw.js";
import { openEditor } from "./editing.js";

const changedBlocks = () => state.text.blocks.filter((block) => block.changed_by);

export const countChanges = () => changedBlocks().length + changedSources().length;

const changedSources = () => state.text.sources.filter((source) => source.state !== "same");

// A source as it was, and as it is.
export function bothSides(source) {
  const side = (name, kind) => h("div", {
    class: "source", dir: "auto", tabindex: "0", role: "region",
    "aria-label": `${say(name)}: ${source.title}`,
  }, h("span", { class: "quiet" }, `${say(name)}: `),
  words(source.words.filter(([other]) => other === "equal" || other === kind)));
  return [side("before", "old"), side("after", "new")];
}

function changedSource(source) {
  return h("div", { class: "card open", key: source.address },
    h("strong", { dir: "auto" }, source.title),
    source.blocks.map((number) => h("p", { class: "quiet", dir: "auto" },
      beginning(state.text.blocks[number].text, 80))),
    bothSides(source));
}

function changedBlock(block) {
  return h("li", { class: "card" }, h("button", {
    type: "button", class: "row", dir: "auto", onclick: () => openEditor(block.number),
  }, `${beginning(block.text, 90)} `, h("span", { class: "quiet" },
    `${say("changed_by")} ${block.changed_by}`)),
  h("div", { class: "buttons" }, h("button", {
    type: "button", onclick: onlyOnce(() => takeBackBlock(block)),
  }, say("reject"))));
}

export function changes() {
  const { text } = state;
  const sources = changedSources();
  const blocks = changedBlocks();
  return [
    state.comparison ? comparison() : h("button", {
      type: "button", key: "compare", onclick: () => compareWith(),
    }, say("compare")),
    sources.length > 0 && h("section", { key: "sources" },
      h("h2", {}, say("changed_sources")),
      text.can_update && h("button", { type: "button", disabled: Boolean(text.asking),
        onclick: () => act("ask", { update: true }) }, say("update")),
      sources.map(changedSource)),
    !state.comparison && h("section", { key: "people" },
      h("h2", {}, say("by_people")),
      blocks.length ? h("ul", { class: "cards" }, blocks.map(changedBlock))
        : h("p", { class: "quiet" }, say("nobody_changed"))),
    text.updates?.length > 0 && h("section", { key: "updates" }, h("h2", {}, say("updates")),
      h("ul", {}, text.updates.map((line) => h("li", { dir: "auto" }, line)))),
  ];
}
