// Calls the server of the desk.

import { keepWords } from "../state/drafts.js";
import { kept } from "../state/kept.js";
import { say, translate } from "../state/words.js";

export async function call(action, body = {}) {
  let response;
  let answer;
  try {
    response = await fetch(`/_contentgen/api/${action}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Contentgen-Key": kept.get("key") ?? "",
      },
      body: JSON.stringify(body),
    });
    answer = await response.json(); // which can break off, too
  } catch {
    throw new Error(say("lost"));
  }
  if (response.ok) return answer;
  const { status } = response;
  const message = status === 401 ? say("open") : translate(answer.error);
  throw Object.assign(new Error(message), { status, file: answer.file });
}

// Exchanges the token of the address for the key. Each token is good once; a browser that has
// the key already opens the desk with any. The token stays in the address until then, with a name
// of this page: when somebody loads the page again meanwhile, the server gives it the key again.
export async function openSession(token, opener) {
  const { pathname, search } = location;
  const named = new URLSearchParams({ token, opener });
  history.replaceState(history.state, "", `${pathname}${search}#${named}`);
  try {
    const { key } = await keepWords(() => call("session", { token, opener }));
    kept.set("key", key);
  } catch (error) {
    if (error.status !== 403 || !await hasKey()) throw error;
  }
  history.replaceState(null, "", pathname + search);
}

async function hasKey() {
  try {
    await call("queue");
    return true;
  } catch {
    return false;
  }
}
