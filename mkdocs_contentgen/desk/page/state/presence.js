// Whether the person is there: keys that are meant for another window approve nothing.

const COMING = 2000; // milliseconds after which a person who has come can have seen something

const APPROVING = ["a", "Enter", " "];

let cameAt = performance.now(); // when the page was loaded, or its tab came to the front
let hasActed = false; // whether the person has moved, scrolled or pressed another key since

function come() {
  cameAt = performance.now();
  hasActed = false;
}

export function noteActed() {
  hasActed = true;
}

export function watchPresence() {
  let wasAway = false;
  addEventListener("blur", () => {
    // A page beside the desk that takes the focus is no other window.
    wasAway = document.activeElement?.tagName !== "IFRAME";
  });
  addEventListener("focus", () => {
    if (wasAway) come();
    wasAway = false;
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") come();
  });
  for (const name of ["pointermove", "pointerdown", "wheel", "touchmove"]) {
    addEventListener(name, noteActed, { capture: true, passive: true });
  }
  addEventListener("keydown", ({ key }) => {
    if (!APPROVING.includes(key)) noteActed();
  }, true);
}

export const isPresent = () => hasActed && performance.now() >= cameAt + COMING;
