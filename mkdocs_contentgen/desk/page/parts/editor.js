// The editor of a block where it stands, and the button that adds Markdown below a block.

import { discardDraft, keepDraft } from "../state/drafts.js";
import { redraw, state } from "../state/state.js";
import { isCell } from "../state/statements.js";
import { isComposing } from "../state/typing.js";
import { say } from "../state/words.js";
import { call } from "./api.js";
import { h } from "./draw.js";
import {
  closeEditor, hasUnsavedWords, notePress, openPaste, removeBlock, save,
} from "./editing.js";
import { frame } from "./frame.js";
import { original } from "./original.js";

export function editor() {
  const { editing } = state;
  if (!editing) return null;
  const isEdit = editing.mode === "edit";
  const isCode = isEdit && editing.kind === "pre";
  const label = say(isEdit ? "edit" : "add");
  const discard = () => {
    discardDraft(editing);
    closeEditor();
  };
  const area = h("textarea", {
    "aria-label": label,
    dir: "auto",
    required: true,
    readonly: editing.isSaving, // what is typed after the words were sent would not be saved
    placeholder: isEdit ? undefined : say("paste_hint"),
    value: editing.words,
    oninput: ({ target }) => {
      editing.words = target.value;
      keepDraft(editing, target.value);
      redraw();
    },
    onpaste: pasteFormatted,
    onkeydown: (event) => {
      if (event.key !== "Escape" || isComposing(event)) return;
      event.stopPropagation();
      closeEditor();
    },
  });
  return h("form", {
    key: `editor ${editing.id}`, // not its number, which other changes change
    class: `editor ${editing.mode}`,
    onsubmit: save,
    onpointerdown: notePress,
  }, area, h("div", { class: "buttons" },
    h("button", { class: "main", title: say("key_save") }, say("save")),
    h("button", { type: "button", key: "close", title: "Esc", onclick: closeEditor },
      say(hasUnsavedWords() ? "close_keep" : "close")),
    hasUnsavedWords() && h("button", { type: "button", key: "discard", onclick: discard },
      say("discard")),
    isEdit && h("button", { type: "button", key: "add", title: "+",
      onclick: () => openPaste(editing.number) }, say("add")),
    isEdit && h("button", { type: "button", key: "delete", onclick: () => removeBlock(editing) },
      say(isCell(editing.number) ? "empty_cell" : "delete"))),
  isEdit && original(editing.number),
  !isCode && h("p", { class: "quiet" }, say(isEdit ? "syntax" : "paste_hint")));
}

// Formatted text is pasted as Markdown. The browser has its plain text if the server refuses it.
async function pasteFormatted(event) {
  const { currentTarget: area, clipboardData } = event;
  const html = clipboardData.getData("text/html");
  if (!html) return;
  event.preventDefault();
  const plain = clipboardData.getData("text/plain");
  const { markdown } = await call("markdown", { html }).catch(() => ({ markdown: plain }));
  area.focus();
  // Unlike setRangeText(), it can be taken back with Ctrl+Z.
  document.execCommand("insertText", false, markdown.trim());
}

// The "+" at the lower edge of the block that has the mouse, in the page.
export function adder() {
  const { hovered } = state;
  if (state.editing || state.comparison || !state.text.blocks[hovered]) return null;
  return h("button", {
    type: "button",
    class: "adder",
    title: say("key_plus"),
    "aria-label": say("add"),
    onclick: () => openPaste(hovered),
  }, "+");
}

// Puts what belongs to a block where the page says that it is.
export function place(layer) {
  const { select, hover } = frame.places;
  const form = layer.querySelector(".editor");
  const button = layer.querySelector(".adder");
  if (form && select) {
    move(form, select);
    const font = select.font;
    const area = form.querySelector("textarea").style;
    if (form.classList.contains("edit")) {
      area.fontFamily = String(font.family ?? "");
      area.fontSize = `${Math.min(Math.max(parseFloat(font.size) || 16, 12), 48)}px`;
      area.fontWeight = String(font.weight ?? "");
    }
    form.style.setProperty("--own-height", `${form.offsetHeight}px`); // so that it stays in sight
  }
  if (button && hover) move(button, hover);
}

function move(element, { top, left, width, height }) {
  const values = { top, left, width, height };
  for (const [name, value] of Object.entries(values)) {
    element.style.setProperty(`--${name}`, `${value}px`);
  }
}
