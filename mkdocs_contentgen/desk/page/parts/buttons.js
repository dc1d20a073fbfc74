// Buttons that stand in several places.

import { onlyOnce } from "../state/pressing.js";
import { tell } from "../state/state.js";
import { say } from "../state/words.js";
import { h } from "./draw.js";

export function copyButton(command) {
  if (!command) return null; // there is nothing to commit
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    tell("green", say("copied"));
  };
  return h("button", { type: "button", key: "copy", onclick: copy }, say("copy"));
}

export const undoButton = (takesBack) => h("button", {
  type: "button", key: "undo", title: say("ctrl_z"), onclick: onlyOnce(takesBack),
}, say("undo"));
