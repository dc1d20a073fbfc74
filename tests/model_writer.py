"""Texts that pass the checks of the writer, from the double of a model server."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from model_double import Answer, Call, ModelHandler, completion

Conversation = list[dict[str, str]]

_WORDS = (
    "readers open pages because each page answers one question and says where the next answer is "
    "while writers keep short files that teams review before they publish them together"
).split()


def sentences(words: int, seed: object) -> str:
    """Return plain sentences with this number of words, which differ for each seed."""
    chosen = random.Random(str(seed)).choices(_WORDS, k=words)
    lines = (chosen[start : start + 12] for start in range(0, words, 12))
    return " ".join(" ".join(line).capitalize() + "." for line in lines)


def write(conversation: Conversation) -> str:
    """Return the Markdown that a conversation asks for, of the right length and shape."""
    system, topic, last = (conversation[i]["content"] for i in (0, 1, -1))
    if plan := re.search(r"exactly (\d+) sections", last):
        lines = [f"## Part {number}\nWhat it says." for number in range(1, int(plan[1]) + 1)]
        return "\n".join(["# A plan", *lines])
    if section := re.search(r'alone: "([^"]+)".*?Write (\d+) words', last, re.DOTALL):
        words = int(section[2]) - 3
        opening = sentences(20, "opening") if "opens the whole text" in last else ""
        closing = sentences(20, "closing") if "ends the whole text" in last else ""
        body = sentences(words - 20 * bool(opening) - 20 * bool(closing), section[1])
        return "\n\n".join(filter(None, [opening, f"## {section[1]}", body, closing]))
    found = re.search(r"Topic: (.*)\n\nLength: about (\d+) words", topic)
    assert found, topic
    words = int(found[2])
    number = {"Ten": 10, "Seven": 7}.get(found[1].split()[0], 3)
    names = [f"Part {letter}" for letter in "ABCDEFGHIJ"[:number]]
    if "The post is a numbered list" in system:
        names = [f"{i}. {name}" for i, name in enumerate(names, start=1)]
    parts = [f"## {name}\n\n{sentences(words * 4 // 5 // number, name)}" for name in names]
    extra = "Tip: **Read** what you publish." if "blog of a" in system else ""
    steps = "1. Open the file.\n2. Save the file." if "The post is a guide" in system else ""
    figure = f"It took 42 days in 2019. {sentences(words // 10, 'end')}"
    blocks = [f"# {found[1]}", sentences(words // 10, "start"), *parts, extra, steps, figure]
    return "\n\n".join(filter(None, blocks))


def translate(conversation: Conversation) -> str:
    """Return each block that a conversation asks for, with its words in reverse order."""
    asked = re.findall(r"^\[(\d+)\] (.*)$", conversation[-1]["content"], re.MULTILINE)
    lines = [f"[{number}] {' '.join(reversed(text.split()))}" for number, text in asked]
    return "\n\n".join(lines)


def writing(
    compose: Callable[[Conversation], str] = write,
    *,
    cost: float | None = None,
    reports: bool = True,
) -> Answer:
    """Return what answers with the texts of `compose`, and with a cost if there is one.

    Unless it `reports` it, there is no usage.
    """

    def answer(call: Call, handler: ModelHandler) -> None:
        messages = call.body["messages"]
        text = compose(messages)
        usage: dict[str, object] = {
            "prompt_tokens": sum(len(message["content"]) for message in messages) // 4,
            "completion_tokens": len(text) // 4,
            **({} if cost is None else {"cost": cost}),
        }
        handler.send(completion(text, usage=usage if reports else None))

    return answer
