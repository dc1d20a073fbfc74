// The links of a sentence whose addresses were taken out, each with a button that puts it back.

import { onlyOnce } from "../state/pressing.js";
import { state } from "../state/state.js";
import { textOf } from "../state/statements.js";
import { say } from "../state/words.js";
import { change } from "./acts.js";
import { h } from "./draw.js";

export function lostLinks(card) {
  const sentence = textOf(card.parts);
  return state.text.links
    .filter(({ block, words }) => block === card.block && sentence.includes(words))
    .map((link) => h("p", { key: `link ${link.address}`, class: "why", dir: "auto" },
      say("linked_to", link.words, link.address), " ", link.markdown && putBack(link)));
}

function putBack({ block, address, markdown }) {
  const { number, digest } = state.text.blocks[block];
  return h("button", { type: "button", key: "put_back", onclick: onlyOnce(() => change(
    { number, digest }, { action: "edit", markdown }, say("did_put_back", address))) },
  say("put_back"));
}
