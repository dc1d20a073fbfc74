// What is pressed stays where it is: nothing is drawn between pressing a button and its click.

import { redraw, tellTooQuick } from "./state.js";

let release = null;
let ended = Promise.resolve();
let ending = 0; // the timer that ends what was pressed

export const isPressed = () => release !== null;
export const released = () => ended;

export function watchPressing() {
  addEventListener("pointerdown", ({ target }) => {
    if (!target.closest("button:enabled, summary")) return;
    clearTimeout(ending); // that of another press a moment before
    if (release) return;
    ended = new Promise((done) => { release = done; });
  }, true);
  for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, end);
}

// What stands there at the second click of a double click is often something else.
export const onlyOnce = (act) => ({ detail }) => detail < 2 ? act() : tellTooQuick();

function end() {
  clearTimeout(ending);
  ending = setTimeout(() => { // after the click
    release?.();
    release = null;
    redraw();
  });
}
