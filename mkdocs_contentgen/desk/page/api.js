// Calls the server of the desk.

import { keepWords } from "./drafts.js";
import { say, translate } from "./words.js";

export async function call(action, body = {}) {
  let response;
  let answer;
  try {
    response = await fetch(`/_contentgen/api/${action}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Contentgen-Key": localStorage.getItem("key") ?? "",
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
  throw Object.assign(new Error(message), { status });
}

// Exchanges the token of the address for the key. Each token is good once; a browser that has
// the key already opens the desk with any.
export async function openSession(token) {
  try {
    const { key } = await keepWords(() => call("session", { token }));
    localStorage.setItem("key", key);
  } catch (error) {
    if (error.status !== 403 || !await hasKey()) throw error;
  }
}

async function hasKey() {
  try {
    await call("queue");
    return true;
  } catch {
    return false;
  }
}
