// What is pressed stays where it is: nothing is drawn between pressing a button and its click.

import { redraw } from "./state.js";

let release = null;
let ended = Promise.resolve();

export const isPressed = () => release !== null;
export const released = () => ended;

export function watchPressing() {
  addEventListener("pointerdown", ({ target }) => {
    if (release || !target.closest("button:enabled, summary")) return;
    ended = new Promise((done) => { release = done; });
  }, true);
  for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, end);
}

function end() {
  setTimeout(() => { // after the click
    release?.();
    release = null;
    redraw();
  });
}
