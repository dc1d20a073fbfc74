// Of a translation: what a block says in the original.

import { h } from "./draw.js";
import { state } from "./state.js";
import { say } from "./words.js";

export const isTranslation = () => Boolean(state.text?.translation_of);

export function original(number) {
  const words = state.text.blocks[number]?.original;
  if (!words) return null;
  return h("div", { key: "original" },
    h("p", { class: "quiet" }, `${say("original")}: ${state.text.translation_of}`),
    h("p", { class: "source", dir: "auto", lang: state.text.original_language || undefined },
      words));
}
