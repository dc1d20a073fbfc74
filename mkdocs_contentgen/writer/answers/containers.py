"""Take a text out of what holds it: a code fence, JSON, and the front matter of a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...language.words import count_words, split_words
from .block_lines import HEADING, split_code
from .talk import is_talk

_FENCE = re.compile(r"^ {0,3}(?P<fence>```+|~~~+)[ \t]*\{?\.?(?P<info>[^`\n]*)$", re.MULTILINE)
"""The first or last line of a code block, and what stands after its fence."""

_MARKDOWN_INFO = re.compile(r"(?:markdown|md|mdx)\b", re.IGNORECASE)
"""What stands after the fence of a block of Markdown."""

_TEXT_INFO = re.compile(
    r"\s*(?:(?:te?xt|plain(?:text)?|html|json|article|blog|post)\b.*)?", re.IGNORECASE
)
"""What stands after the fence of a whole text that is not said to be Markdown."""

_TEXT_START = re.compile(
    r"\s*(?:#{1,6} [^\n]*\n(?:[ \t]*\n|#|\Z)|```|~~~|<(?:!DOCTYPE|html|body|article|h1)\b"
    r"|[\[{]\s*[\"{])",
    re.IGNORECASE,
)
"""How a text, HTML or JSON begins, but no code with a comment."""

_DATA_START = re.compile(r"\s*[<\[{]")
"""How HTML and JSON begin, in which there are no code blocks."""

_NO_WORDS = re.compile(r"<(?P<name>script|style)\b.*?</(?P=name)\s*>|<[^<>]*>", re.DOTALL)
"""What is no text in HTML."""

_SHARE_OF_PROSE = 0.25
"""The maximum number of words around a text that are not about it, for each word of the text."""

_MAX_LABEL_WORDS = 12
"""The maximum number of words of a label or an instruction beside a block."""

_ITEM = re.compile(r"(?:[-*+]|\d{1,2}[.)]) ")
"""The bullet of an item of a list."""

_HEADING_SIGNS = {
    "title": "# ",
    "headline": "# ",
    "heading": "## ",
    "header": "## ",
    "subtitle": "## ",
}
"""What stands before the values of keys in JSON that are headings."""

_NO_TEXT_KEY = re.compile(
    r"slug|tags|keywords|meta|description|summary|excerpt|author|date|path|name"
    r"|(?:id|error|type|lang|language|locale|status|category|format|style|tone|audience)$"
)
"""The start of a key in JSON whose value is no part of the text."""

_MIN_JSON_WORDS = 8
"""The minimum number of words of a text in JSON."""

_FRONT_MATTER = re.compile(
    r"(?:[^#\n]{1,300}:\n\n)?(?:```(?:ya?ml|toml)\n)?(?P<start>(?:---|\+\+\+)[ \t]*\n)?"
    r"(?P<lines>[^`]{1,4000}?)\n(?:---|\.\.\.|\+\+\+)[ \t]*\n(?:```\n)?"
)
"""Front matter in YAML or TOML, also in a code block, or after a line such as `Here it is:`."""

_DATA_LINE = re.compile(
    r"[\w:.-]{1,30}(?:(?P<colon>:)(?:[ \t].*)?|[ \t]*(?P<equals>=).*)"
    r"|[ \t]+\S.*|- .*|#.*|\[.*\]|[ \t]*|[\]})]+,?"
)
"""A line of it: a key, what belongs to the key above, an item, a comment, a table, or an end.

The group is the separator after a key.
"""

_TITLE = re.compile(
    r"^title[ \t]*[:=][ \t]*(?:[>|]-?\s+)?[\"']?(?P<title>.+?)[\"']?$", re.MULTILINE
)
"""The title in front matter, in quotation marks or a YAML block (`title: >`) or without."""


def without_fence(text: str) -> str:
    """Take the text out of a code block that is all of an answer, with at most talk around it.

    A title above it stays, and so do a few words. If more stands beside the block, or more words
    than it has, or further headings, it is code, and nothing changes.
    """
    fences = list(_FENCE.finditer(text))
    if not fences:
        return text
    first = fences[0]
    last_line = text.rpartition("\n")[2].strip()
    if len(fences) == 1 and last_line == first["fence"] and first.start() > 0:
        return text[: -len(last_line)]  # the end of a block without a start
    if not (_MARKDOWN_INFO.match(first["info"]) or _begins_text(text, first)):
        return text
    following = fences[1:]
    if _DATA_START.match(text, first.end() + 1):
        following = following[:1]
    before = text[: first.start()]
    inner = text[first.end() + 1 :]
    after = ""
    end = _end_of_fence(first, following)
    if end:
        inner = text[first.end() + 1 : end.start()]
        after = text[end.end() :]
    kept = _text_in_block(before, inner, after)
    return text if kept is None else kept


def _text_in_block(before: str, inner: str, after: str) -> str | None:
    """Return the text in a block with what has to stay beside it, or None if it is code."""
    beside = f"{before}\n{after}"
    is_titled = has_title(inner)
    most_headings = 0 if is_titled else 1
    if _FENCE.search(beside) or len(HEADING.findall(beside)) > most_headings:
        return None
    parts = [*_without_talk(before), inner, *_without_talk(after)]
    if is_titled:
        parts = [part for part in parts if not part.startswith("# ") or part is inner]
    kept = "\n\n".join(parts)
    prose = _count(kept) - _count(inner)
    words = _count(_NO_WORDS.sub(" ", text_in_json(inner)))
    is_all = prose <= _SHARE_OF_PROSE * words and _count(beside) <= words
    return kept if is_all else None


def _count(text: str) -> int:
    return count_words(split_words(text))


def _begins_text(text: str, fence: re.Match[str]) -> bool:
    """Tell whether a text seems to begin after a fence that does not say that it is Markdown."""
    return bool(_TEXT_INFO.fullmatch(fence["info"]) and _TEXT_START.match(text, fence.end() + 1))


def _end_of_fence(start: re.Match[str], following: Sequence[re.Match[str]]) -> re.Match[str] | None:
    """Return the end of a code block that can have others in it, or None if it has none.

    A fence with a language begins an inner block. One without can begin or end one, so where all
    of them are so, the last one is the end.
    """
    same = [fence for fence in following if fence["fence"].startswith(start["fence"])]
    depth = 0
    for number, fence in enumerate(same):
        if fence["info"]:
            depth += 1
        elif depth:
            depth -= 1
        elif all(not other["info"] for other in same[number:]):
            # Each inner block has two fences, so with the end of this block the number is odd.
            return same[-1] if (len(same) - number) % 2 else None
        else:
            return fence
    return None


def _without_talk(text: str) -> list[str]:
    """Return the paragraphs beside a code block that are not about it."""
    kept: list[str] = []
    for paragraph in filter(str.strip, text.split("\n\n")):
        words = paragraph.strip()
        is_label = words.endswith((":", "：")) or _count(words) <= _MAX_LABEL_WORDS
        is_list_below_label = _ITEM.match(words) and not kept
        if words.startswith("# ") or not (is_label or is_list_below_label or is_talk(words)):
            kept.append(words)
    return kept


def has_title(text: str) -> bool:
    """Tell whether a text has a heading of level 1."""
    lines = split_code(text.split("\n"))
    return any(line.startswith("# ") and not is_code for is_code, line in lines)


def text_in_json(text: str) -> str:
    """Return the text in an answer that is JSON; any other answer is returned as it is."""
    with suppress(ValueError, RecursionError):
        found = list(_strings(json.loads(text, strict=False)))
        if any(len(string.split()) >= _MIN_JSON_WORDS for string in found):
            return "\n\n".join(found)
    return text


def _strings(value: object, name: str = "") -> Iterator[str]:
    """Yield the texts in JSON in order, titles as headings."""
    if isinstance(value, str):
        yield f"{_HEADING_SIGNS.get(name, '')}{value.strip()}"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not _NO_TEXT_KEY.match(key.lower()):
                yield from _strings(inner, key.lower())
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, name)


def without_front_matter(text: str) -> str:
    """Drop front matter in YAML or TOML, but keep its title."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return text
    separator = "equals" if (match["start"] or "").startswith("+") else "colon"
    if not _is_data(match["lines"], separator):
        return text
    title = _TITLE.search(match["lines"])
    # Otherwise, it can be the first lines of a text above a rule, such as `Note: …`.
    if not (match["start"] or title):
        return text
    rest = text[match.end() :]
    name = title["title"].replace("''", "'") if title else ""
    return f"# {name}\n\n{rest}" if name and not has_title(rest) else rest


def _is_data(text: str, separator: str) -> bool:
    """Tell whether each line is one of front matter, and not of a text between two rules.

    `separator` names the group of what stands between the keys and their values.
    """
    has_key = False
    for line in text.split("\n"):
        match = _DATA_LINE.fullmatch(line)
        if match is None or match.lastgroup not in (None, separator):
            return False
        has_key = has_key or match.lastgroup is not None
    return has_key
