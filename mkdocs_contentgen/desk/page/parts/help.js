// The list of the keys.

import { say } from "../state/words.js";
import { inform } from "./dialogs.js";
import { h } from "./draw.js";

const nameOf = (key) => key === "+" ? "plus" : key;

export function help() {
  const names = ["j", "k", "c", "x", "e", "+", "d", "a", "n"];
  const rows = names.map((key) => h("li", {}, h("kbd", {}, key), ` ${say(`key_${nameOf(key)}`)}`));
  const undoRow = h("li", {}, h("kbd", {}, say("ctrl_z")), ` ${say("undo")}`);
  const redoRow = h("li", {}, h("kbd", {}, say("ctrl_y")), ` ${say("redo")}`);
  inform(say("keys"), h("ul", { class: "keys" }, rows, undoRow, redoRow));
}
