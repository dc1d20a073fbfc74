// The bar on top: the way back, the title, how much is checked, and the button that approves.

import { onlyOnce } from "../state/pressing.js";
import { checkNext } from "../state/selection.js";
import { afterDrawing, redraw, state } from "../state/state.js";
import { progress } from "../state/statements.js";
import { countOf, isApproved, nameOfPage, nextAfter, stateOf } from "../state/texts.js";
import { say } from "../state/words.js";
import { focusNextConfirm } from "./acts.js";
import { approve, approvesSoon, approveWithReason, canApprove, whyNot } from "./approving.js";
import { asks } from "./asking.js";
import { switchComparison } from "./compare.js";
import { h } from "./draw.js";
import { openNext, openQueue } from "./navigation.js";

export const approveButton = () => document.querySelector("[data-approve]:enabled");

// The two buttons are different elements: whoever presses Enter on one does not press the other.
function mainButton({ left }) {
  if (isApproved() || !state.text.seen) {
    return h("button", { type: "button", key: "next", class: "main", title: "n",
      onclick: openNext }, say("next"));
  }
  if (left) {
    return h("button", { type: "button", key: "check", class: "main", title: "j",
      onclick: () => {
        checkNext();
        afterDrawing(focusNextConfirm);
      } }, say("check_more", left));
  }
  const opensNext = Boolean(nextAfter());
  const waits = approvesSoon();
  // Another one for each text: whoever presses Enter twice does not approve the next one.
  return h("button", { type: "button", key: `approve ${state.ref}`, class: "main",
    "data-approve": true, title: `a · ${whyNot() || state.text.title}`,
    "aria-disabled": waits && "true", disabled: !waits && !canApprove(),
    onclick: onlyOnce((isByKey) => approve({ opensNext, isByKey })),
  }, h("span", { class: "words" }, say(opensNext ? "approve_next" : "approve")),
  h("span", { class: "sign" }, opensNext ? `${say("approve")} ›` : say("approve")));
}

function choices({ left }) {
  const item = (name, choose, value) => h("button", { type: "button", key: name,
    onclick: onlyOnce((isByKey) => {
      state.isMenuOpen = false;
      redraw();
      choose(isByKey);
    }) }, say(name, value));
  const canApproveOpen = left > 0 && canApprove() && state.text.can_approve_open;
  return [
    left === 0 && canApprove() && nextAfter() && item("approve_only",
      (isByKey) => approve({ opensNext: false, isByKey })),
    canApproveOpen && item("approve_anyway", approveWithReason),
    ...asks().map(([name, ask]) => item(name, () => ask())),
    nextAfter() && item("next", openNext),
  ].filter(Boolean);
}

function menu(count) {
  const found = choices(count);
  if (!found.length) return null;
  const toggle = () => {
    state.isMenuOpen = !state.isMenuOpen;
    redraw();
  };
  return h("div", { class: "menu" },
    h("button", { type: "button", "aria-label": say("more"), title: say("more"),
      "aria-expanded": String(state.isMenuOpen), onclick: toggle }, "▾"),
    state.isMenuOpen && h("div", { class: "choices" }, found));
}

export function bar() {
  const { text } = state;
  const count = progress();
  return h("header", { class: "bar" },
    h("button", { type: "button", key: "back", class: "back", onclick: openQueue },
      h("span", {}, "‹ "), h("span", { class: "wide" }, say("list")), " ",
      h("span", {}, say("left_of_all", countOf("review")))),
    h("div", { key: "titles", class: "titles" },
      h("h1", { dir: "auto", tabindex: "-1", title: text.title }, text.title),
      h("p", { class: "quiet" },
        h("span", { class: "page", title: nameOfPage(text) }, nameOfPage(text)),
        h("span", { class: `state ${text.state}` }, stateOf(text)))),
    count.total > 0 && h("label", { key: "count", class: "count" },
      h("span", { class: "words" }, say("checked_of", count.checked, count.total)),
      h("span", { class: "sign" }, `${count.checked}/${count.total}`),
      h("progress", { max: String(count.total), value: String(count.checked) })),
    h("button", { type: "button", key: "compare", class: "compare", title: `d · ${say("compare")}`,
      "aria-label": say("compare"), "aria-pressed": String(Boolean(state.comparison)),
      disabled: !text.seen, onclick: switchComparison },
    h("span", { class: "sign" }, "⇄"), h("span", { class: "words" }, say("compare"))),
    mainButton(count),
    menu(count));
}
