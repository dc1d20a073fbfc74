// What is pressed stays where it is: nothing is drawn between pressing a button and its click.

import { redraw, tellTooQuick } from "./state.js";

let release = Promise.resolve(); // ends when what was pressed last is released
let resolveRelease = null; // ends `release`; null while nothing is pressed
let timer = 0; // calls resolveRelease after the click

export const isPressed = () => resolveRelease !== null;
export const released = () => release;

export function watchPressing() {
  addEventListener("pointerdown", ({ target }) => {
    if (!target.closest("button:enabled, summary")) return;
    clearTimeout(timer); // that of another press a moment before
    if (isPressed()) return;
    release = new Promise((done) => { resolveRelease = done; });
  }, true);
  for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, end);
}

// What stands there at the second click of a double click is often something else. `act` gets
// whether it was a key that pressed.
export const onlyOnce = (act) => ({ detail }) => detail < 2 ? act(detail === 0) : tellTooQuick();

function end() {
  clearTimeout(timer);
  timer = setTimeout(() => { // after the click
    resolveRelease?.();
    resolveRelease = null;
    redraw();
  });
}
