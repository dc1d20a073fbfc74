// A sentence that was confirmed by mistake is one to check again.

import { state, tell, tellDone } from "../state/state.js";
import { sentencesOf, wordsToCheck } from "../state/statements.js";
import { say } from "../state/words.js";
import { act } from "./acts.js";

export async function recheck(checked) {
  const words = wordsToCheck(checked);
  if (checked.action === "remove") {
    tell("amber", say("undo_hint"));
    return;
  }
  const blocks = state.text.blocks.filter(({ digest }) => digest === checked.card.digest);
  const block = blocks.find(({ number }) => number === checked.block) ?? blocks[0];
  if (!block) {
    tell("red", say("statement_gone", words));
    return;
  }
  const changes = checked.statements.map((statement) => ({
    action: "reopen", block: block.number, digest: block.digest, markdown: statement.words,
  }));
  if (!await act("change", { changes })) return;
  state.checked = state.checked.filter((other) => other !== checked);
  const reopened = sentencesOf(state.text).find((sentence) => sentence.block === block.number
    && sentence.sentence === checked.sentence);
  state.current = reopened?.key ?? state.current;
  tellDone(say("did_reopen", words), "amber");
}
