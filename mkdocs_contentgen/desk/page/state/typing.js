// Whether a person may still be typing for what is gone: then no key acts on anything else.

import { HOLD } from "./state.js";

let quietUntil = 0;

// Lets no key act until nobody has typed for a moment.
export function holdKeys() {
  quietUntil = performance.now() + HOLD;
}

// Lets no key act until the window has the focus again, and nobody has typed for a moment then.
export function holdKeysWithoutFocus() {
  addEventListener("blur", () => { quietUntil = Infinity; });
  addEventListener("focus", () => {
    const wasBlurred = quietUntil === Infinity; // else it is the first focus, after a load
    if (wasBlurred) holdKeys();
  });
}

export function freeKeys() {
  quietUntil = 0;
}

// Whether a key that is pressed now acts on nothing.
export function isTyping() {
  const now = performance.now();
  const isHeld = now < quietUntil;
  if (isHeld) quietUntil = Math.max(quietUntil, now + HOLD);
  return isHeld;
}

// Whether a key is one of an input method, which composes characters out of several.
export const isComposing = (event) => event.isComposing || event.keyCode === 229;
