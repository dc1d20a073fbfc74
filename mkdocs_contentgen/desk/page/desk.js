// Starts the desk in the browser. All that comes from texts, pages and people is shown as text.

import { areLostWithPage, nameTab } from "./state/drafts.js";
import { watchPresence } from "./state/presence.js";
import { isPressed, watchPressing } from "./state/pressing.js";
import { drawWith, state } from "./state/state.js";
import { keepOrder } from "./state/texts.js";
import { loadWords, say } from "./state/words.js";
import { inTurn } from "./parts/acts.js";
import { call, openSession } from "./parts/api.js";
import { draw, h } from "./parts/draw.js";
import { frame, hear, keepFocusFromPage, openFrame } from "./parts/frame.js";
import { watchKeys } from "./parts/keys.js";
import { leave, loadQueue, showText, watch } from "./parts/navigation.js";
import { keepSeen } from "./parts/seen.js";
import { drawQueue } from "./screens/queue.js";
import { drawText } from "./screens/review.js";

function drawDesk() {
  if (isPressed()) return; // it is drawn when nothing is pressed
  if (state.view === "queue") drawQueue();
  if (state.view === "text" && state.text) drawText();
}

async function show(isWanted) {
  if (location.pathname === "/_contentgen/") {
    await loadQueue(isWanted);
    return;
  }
  const { queue, by, problem } = await call("queue");
  if (!isWanted()) return;
  Object.assign(state, { queue, by, problem });
  keepOrder();
  const asked = new URLSearchParams(location.search).get("text");
  const found = queue.find((row) => row.ref === asked)
    ?? queue.find((row) => row.url === location.pathname);
  if (found) {
    await showText(found, isWanted);
    return;
  }
  state.view = "";
  openFrame((await call("page", { address: location.pathname })).frame, location.pathname,
    say("page"));
  draw(document.body, [h("div", { key: "none", class: "desk" },
    h("header", { class: "bar" }, h("a", { href: "/_contentgen/" }, `‹ ${say("list")}`),
      h("h1", {}, say("no_text"))),
    h("main", { key: "main" }, frame.element))]);
}

function fail(error) {
  const mayAnswerLater = error.status === undefined;
  draw(document.body, [h("main", { key: "failed", class: "queue" },
    h("p", { class: "note red", role: "alert" }, error.message),
    mayAnswerLater && h("button", { type: "button", onclick: () => location.reload() },
      say("load_again")))]);
}

async function start() {
  await loadWords();
  drawWith(drawDesk);
  watchPressing();
  watchPresence();
  watchKeys();
  keepSeen();
  addEventListener("message", hear);
  addEventListener("popstate", followAddress);
  addEventListener("beforeunload", (event) => {
    // What neither the server nor the browser has is lost.
    if (state.pending.length || areLostWithPage()) event.preventDefault();
  });
  for (const name of ["focusin", "focusout"]) {
    addEventListener(name, () => queueMicrotask(keepFocusFromPage));
  }
  const address = new URLSearchParams(location.hash.slice(1));
  const token = address.get("token");
  if (token) await openSession(token, address.get("opener") ?? crypto.randomUUID());
  await nameTab(); // after openSession(), whose answer deletes all that the browser has stored
  await show(leave());
  watch();
}

function followAddress() {
  if (location.hash) { // the address of a desk, whose token opens another session
    location.reload();
    return;
  }
  const isWanted = leave();
  // What is on its way belongs to the text that is open.
  inTurn(() => {}).then(() => show(isWanted)).catch((error) => isWanted() && fail(error));
}

start().catch(fail);
