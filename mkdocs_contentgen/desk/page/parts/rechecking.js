// A statement that was confirmed by mistake is one to check again.

import { state, tell, tellDone } from "../state/state.js";
import { say } from "../state/words.js";
import { act } from "./acts.js";

export async function recheck(statement) {
  if (statement.action !== "confirm") {
    tell("amber", say("undo_hint"));
    return;
  }
  const blocks = state.text.blocks.filter(({ digest }) => digest === statement.card.digest);
  const block = blocks.find(({ number }) => number === statement.block) ?? blocks[0];
  if (!block) {
    tell("red", say("statement_gone", statement.words));
    return;
  }
  const change = {
    action: "reopen", block: block.number, digest: block.digest, markdown: statement.words,
  };
  if (!await act("change", { changes: [change] })) return;
  state.checked = state.checked.filter((other) => other !== statement);
  state.current = statement.key;
  tellDone(say("did_reopen", statement.words), "amber");
}
