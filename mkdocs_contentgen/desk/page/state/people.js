// Who else works on the text that is open.

import { state } from "./state.js";
import { say } from "./words.js";

// Who did what Undo takes back, if it was another person.
export const otherPerson = ({ by }) => by && by !== state.by ? by : "";

// Another person who has just done something with the text, as far as that is known.
export const nameOfOther = () => otherPerson(state.text?.undo ?? {}) || say("somebody");
