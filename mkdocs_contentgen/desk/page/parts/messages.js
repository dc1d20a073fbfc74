// The line below the bar: the outcome of what was done last, and what the person has to know.

import {
  areLostWithPage, blockOf, discardWords, draftOf, drafts, takeDraft,
} from "../state/drafts.js";
import { onlyOnce } from "../state/pressing.js";
import { PATIENCE, redraw, state } from "../state/state.js";
import { isApproved, isTranslation } from "../state/texts.js";
import { say, translate } from "../state/words.js";
import { act } from "./acts.js";
import { isShownSoon, whyNot } from "./approving.js";
import { copyButton, undoButton } from "./buttons.js";
import { comparisonMessage } from "./compare.js";
import { h } from "./draw.js";
import { openEditor, openPaste } from "./editing.js";
import { frame, goBack, isElsewhere, isOfEarlierDesk } from "./frame.js";
import { openText } from "./navigation.js";
import { toShow } from "./seen.js";
import { redo, undo, undoTitle } from "./undoing.js";

const note = (key, kind, ...content) => h("div", { key, class: `note ${kind}` }, ...content);

const button = (label, onclick) => h("button", { type: "button", onclick }, label);

const redoButton = () => h("button", { type: "button", key: "redo", title: say("ctrl_y"),
  onclick: onlyOnce(redo) }, say("redo"));

// What was done last, also before the desk was opened, and what takes it back.
function outcome() {
  const { message, text } = state;
  if (!message && !text.undo && !text.redo) return null;
  // Why the server cannot be asked stands there already, and can be another reason by now.
  if (state.failure && [state.failure, say("lost")].includes(message?.text)) return null;
  const isAboutLastAct = message?.isAboutLastAct;
  const takesBack = message?.undo ?? ((isAboutLastAct || text.undo) && undo);
  // What the Undo beside the message takes back.
  const isAboutEarlierAct = takesBack && !message?.undo && !isAboutLastAct;
  return note("outcome", message?.kind ?? "quiet",
    message && h("span", { dir: "auto" }, message.text),
    isAboutEarlierAct && h("span", {},
      say(message?.isUndone ? "change_before" : "last_act", undoTitle())),
    takesBack && undoButton(takesBack),
    text.redo && redoButton());
}

function elsewhere() {
  if (!isElsewhere()) return null;
  const other = state.queue.find((text) => text.url === frame.path);
  return note("elsewhere", "amber", say("elsewhere"), button(say("back"), goBack),
    other && button(other.title, () => openText(other)));
}

function restarted() {
  if (!isOfEarlierDesk()) return null;
  return note("restarted", "amber", say("restarted"),
    button(say("load_again"), () => location.reload()));
}

function asking() {
  const { asking: running, ask_problem: problem } = state.text;
  if (!running) return problem && note("asking", "red", translate(problem));
  const seconds = Math.max(0, Math.floor(Date.now() / 1000 - running.began));
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const update = isTranslation() ? "translating" : "updating";
  return note("asking", "amber", `${say(running.is_update ? update : "writing")}, ${clock}`,
    button(say("cancel"), () => act("cancel")));
}

// Words that were not saved, and are in no open editor of this tab.
function unsaved() {
  const isSeen = ({ words }) => state.pending.some((own) => own.words === words)
    || state.editing?.words === words;
  return drafts().filter((draft) => !isSeen(draft))
    .map((draft, index) => {
      const block = blockOf(draft);
      const open = draft.mode === "edit" ? openEditor : openPaste;
      // Whoever goes on with the words of another tab would lose those of this tab for the block.
      const ofThisTab = draftOf(draft);
      const canGoOn = block && (!ofThisTab || ofThisTab.words === draft.words);
      const goOn = () => {
        takeDraft(draft);
        state.editing = null;
        open(block.number);
      };
      const discard = () => {
        discardWords(draft);
        redraw();
      };
      return note(`draft ${index}`, "amber", h("span", {}, say("lost_words")),
        h("textarea", { readonly: true, dir: "auto", rows: "1", "aria-label": say("lost_words"),
          value: draft.words }),
        canGoOn && button(say("go_on"), goOn),
        button(say("discard"), discard));
    });
}

// Why the button that approves waits, though nothing is left to check.
function saving() {
  const [first] = state.pending;
  if (!first || performance.now() - first.since < PATIENCE) return null;
  return note("saving", "quiet", say("saving", state.pending.length));
}

// What the person has not seen as it is now, which is shown before the text is approved.
function notSeen() {
  if (state.comparison || isApproved()) return [];
  return toShow().map(({ name, count, words, show }) => note(name, "amber",
    h("span", {}, `${say(name)} (${count}): `, h("q", { dir: "auto" }, words)),
    button(say("show"), show)));
}

function replacing() {
  const { replaces, state: name } = state.text;
  if (!replaces) return null;
  if (name === "changed") return note("replaces", "amber", say("replaces_edits"));
  return note("replaces", "quiet", say("replaces"));
}

export function messages() {
  const { text } = state;
  const why = isElsewhere() || isOfEarlierDesk() || text.asking ? "" : whyNot();
  // Each change is on the page a moment later, and a line for that moment would only flicker.
  const isWaiting = Boolean(why) && why !== state.failure && !isShownSoon();
  return h("div", { class: "messages", role: "status" },
    state.failure && note("failure", "red", state.failure),
    restarted(),
    elsewhere(),
    asking(),
    saving(),
    state.warning && note("warning", "amber", say(state.warning)),
    isWaiting && note("why", text.waits ? "amber" : "quiet", why),
    state.comparison && note("comparison", "quiet", comparisonMessage()),
    notSeen(),
    outcome(),
    text.approved_file && note("approved", "green", say("approved", text.approved_file),
      text.commit_command && copyButton(text.commit_command)),
    areLostWithPage() && note("not_kept", "red", say("not_kept")),
    unsaved(),
    replacing());
}
