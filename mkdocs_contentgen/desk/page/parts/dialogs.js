// Dialogs, which stay with what was typed until what they ask for is done.

import { state } from "../state/state.js";
import { say } from "../state/words.js";
import { draw, h } from "./draw.js";

function open(title, ...content) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", title);
  draw(dialog, [h("h2", {}, title), ...content]);
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

const closeButton = (name) => h("button", {
  type: "button",
  key: name,
  onclick: ({ target }) => target.closest("dialog").close(),
}, say(name));

export const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

export function inform(title, ...content) {
  return open(title, ...content, h("div", { class: "buttons" }, closeButton("close")));
}

const problemNow = () => state.warning ? say(state.warning) : state.message?.text ?? "";

// Shows the fields that `fetchFields` returns, and sends them when the person says so. `send` tells
// whether it was done. The dialog is there before its fields, so that a quick Escape closes it.
export async function ask(title, label, fetchFields, send) {
  const problem = h("p", { role: "alert", class: "problem" });
  const submit = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    form.inert = true;
    const done = await send();
    form.inert = false;
    if (done) dialog.close();
    else draw(form.querySelector(".problem"), [problemNow()]);
  };
  const form = (fields, ...buttons) => h("form", { onsubmit: submit }, problem, fields,
    h("div", { class: "buttons" }, buttons, closeButton("cancel")));
  const dialog = open(title, form([]));
  const fields = await fetchFields();
  draw(dialog, [h("h2", {}, title), form(fields, h("button", { class: "main" }, label))]);
  dialog.querySelector("textarea, input, .main").focus();
}

// Asks a question, and returns whether the person says yes.
export function personAgrees(title, question) {
  if (isDialogOpen()) return Promise.resolve(false); // it was asked for twice
  return new Promise((done) => {
    const yes = (event) => {
      event.preventDefault();
      done(true);
      dialog.close();
    };
    const buttons = [h("button", { class: "main" }, title), closeButton("cancel")];
    const dialog = open(title, h("form", { onsubmit: yes }, h("p", {}, question),
      h("div", { class: "buttons" }, buttons)));
    dialog.addEventListener("close", () => done(false));
  });
}
