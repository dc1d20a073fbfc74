// Whether the text can be approved, and its approval.

import { drafts, dropLine, keepLine, recallLine } from "../state/drafts.js";
import { isPresent } from "../state/presence.js";
import { HOLD, PATIENCE, state, tell, tellTooQuick, warn } from "../state/state.js";
import { openSentences } from "../state/statements.js";
import { isApproved, nextAfter } from "../state/texts.js";
import { say, translate } from "../state/words.js";
import { act } from "./acts.js";
import { call } from "./api.js";
import { ask } from "./dialogs.js";
import { h } from "./draw.js";
import { frame, isElsewhere, isOfEarlierDesk } from "./frame.js";
import { openNext, openText, returnTo } from "./navigation.js";
import { showUnseen } from "./seen.js";
import { afterLastUndo, agreesToUndo, tellUndone } from "./undoing.js";

// Why the text cannot be approved now, whatever its statements are, in the words for the person. It
// is an empty string if the text can be approved, and also for an approved text.
export function whyNot() {
  const { text } = state;
  if (!text.seen) return translate(text.waits || text.reason);
  if (text.state === "damaged") return translate(text.reason);
  if (state.failure) return state.failure;
  if (isOfEarlierDesk()) return say("restarted");
  if (isElsewhere()) return say("elsewhere");
  if (text.waits) return translate(text.waits);
  if (text.asking) return say("asking");
  if (isApproved()) return "";
  if (state.comparison) return say("close_to_approve");
  return frame.shown === text.in_page?.digest ? "" : say("not_shown");
}

// Whether the page shows a text a moment later, as after each change.
export const isShownSoon = () => whyNot() === say("not_shown")
  && performance.now() - state.since < PATIENCE;

// Whether it is only a moment until the text can be approved: nobody approves what has just
// appeared.
export function approvesSoon() {
  if (isApproved() || state.comparison) return false;
  if (whyNot()) return isShownSoon();
  const isNew = performance.now() < Math.max(state.since, frame.shownAt) + HOLD;
  return isNew || state.pending.length > 0;
}

export const canApprove = () => !whyNot() && !isApproved() && !approvesSoon();

export async function approve({ opensNext, reason = "", seen = state.text.seen, isByKey = false }) {
  if (drafts().length) {
    tell("amber", say("unsaved"));
    return null;
  }
  if (approvesSoon()) {
    tellTooQuick();
    return null;
  }
  if (isByKey && !isPresent()) {
    warn("not_there");
    return null;
  }
  if (!canApprove()) {
    tell("amber", whyNot());
    return null;
  }
  if (showUnseen()) {
    tell("amber", say("look_first"));
    return null;
  }
  const { ref, visits, text: { title } } = state;
  const done = await act("approve", { shown: frame.shown, reason, seen });
  if (!done && state.ref === ref && isApproved()) {
    tell("amber", say("approved_by_other", state.text.approved_by, title));
  }
  if (!done) return null;
  dropLine("reasons", ref);
  state.checked = [];
  tell("green", say("did_approve", title), () => afterLastUndo(() => undoApproval(ref)));
  if (opensNext && state.visits === visits) await openNext();
  return done;
}

async function undoApproval(ref) {
  const row = state.queue.find((other) => other.ref === ref);
  const text = await call("text", { ref }).catch((error) => tell("red", error.message));
  if (!text?.undo) return;
  if (text.undo.act !== "approve") {
    state.message = null;
    await openText({ ...row, ...text }); // which says what was done with it since
    return;
  }
  if (!await agreesToUndo(text)) return;
  await returnTo({ ...row, ...text });
  if (ref !== state.ref) return; // the person has gone elsewhere meanwhile
  const done = await act("undo");
  if (done) tellUndone(say("did_undo", say("undone_approve")));
}

// The sentences that nobody has confirmed.
function openList() {
  const rows = openSentences().map(({ card }) => h("li", { dir: "auto" },
    card.place.length > 0 && `${card.place.join(" · ")}: `,
    card.parts.map(([text, number]) => number === null ? text : h("mark", {}, text))));
  return h("ul", { class: "open-list", tabindex: "0", "aria-label": say("open_sentences") }, rows);
}

export function approveWithReason() {
  const { seen } = state.text;
  let reason = "";
  const fields = async () => {
    reason = await recallLine("reasons");
    const field = h("input", { "aria-label": say("reason"), maxlength: "300", size: "50",
      required: true, value: reason, oninput: ({ target }) => {
        reason = target.value;
        keepLine("reasons", reason);
      } });
    return [openList(), h("p", {}, say("reason")), field];
  };
  ask(say("approve_anyway"), say("approve"), fields,
    () => approve({ opensNext: Boolean(nextAfter()), reason, seen }));
}
