"""Take a text out of what holds it: a code fence, JSON, and the front matter of a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from .answers import split_lines
from .words import count_words, split_words

_FENCE = re.compile(r"^ {0,3}(?P<fence>```+|~~~+)[ \t]*\{?\.?(?P<info>[^`\n]*)$", re.MULTILINE)
_MARKDOWN_INFO = re.compile(r"(?:markdown|md|mdx)\b", re.IGNORECASE)
_TEXT_INFO = re.compile(
    r"\s*(?:(?:te?xt|plain(?:text)?|html|json|article|blog|post)\b.*)?", re.IGNORECASE
)
"""What stands behind the fence of a whole text that is not said to be Markdown."""

_TEXT_START = re.compile(
    r"\s*(?:#{1,6} [^\n]*\n(?:[ \t]*\n|#|\Z)|```|~~~|<(?:!DOCTYPE|html|body|article|h1)\b"
    r"|[\[{]\s*[\"{])",
    re.IGNORECASE,
)
"""How a text, HTML or JSON begins, but no code with a comment."""

_DATA_START = re.compile(r"\s*[<\[{]")
"""How HTML and JSON begin, in which there are no code blocks."""

_HEADING = re.compile(r"^##? .+$", re.MULTILINE)
_NO_WORDS = re.compile(r"<(?P<name>script|style)\b.*?</(?P=name)\s*>|<[^<>]*>", re.DOTALL)
"""What is no text in HTML."""

_TEXT_KEYS = {"title": "# ", "headline": "# ", "heading": "## ", "header": "## ", "subtitle": "## "}
"""The keys in JSON whose values are headings."""

_NO_TEXT_KEY = re.compile(
    r"slug|tags|keywords|meta|description|summary|excerpt|author|date|path|name"
    r"|(?:id|error|type|lang|language|locale|status|category|format|style|tone|audience)$"
)
_LEAST_WORDS = 8
"""The least number of words of a text in JSON."""

_YAML = re.compile(
    r"(?:[^#\n]{1,300}:\n\n)?(?:```ya?ml\n)?(?P<start>---[ \t]*\n)?(?P<lines>[^`]{1,4000}?)\n"
    r"(?:---|\.\.\.)[ \t]*\n(?:```\n)?"
)
_TOML = re.compile(
    r"(?:```toml\n)?(?P<start>\+\+\+[ \t]*\n)(?P<lines>[^`]{1,4000}?)\n\+\+\+[ \t]*\n(?:```\n)?"
)
_YAML_LINE = re.compile(r"(?P<key>[\w:-]{1,30}):(?:[ \t].*)?|[ \t]+\S.*|- .*|#.*|[ \t]*|[\]})]+,?")
_TOML_LINE = re.compile(r"(?P<key>[\w.-]{1,30})[ \t]*=.*|\[.*\]|[ \t]+\S.*|#.*|[ \t]*|[\]})]+,?")
_TITLE = re.compile(
    r"^title[ \t]*[:=][ \t]*(?:[>|]-?\s+)?[\"']?(?P<title>.+?)[\"']?$", re.MULTILINE
)


def without_fence(text: str) -> str:
    """Take the text out of a code block, if hardly any prose stands beside it."""
    fences = list(_FENCE.finditer(text))
    for number, start in enumerate(fences):
        inside = text[start.end() + 1 :]
        is_text = number == 0 and _TEXT_INFO.fullmatch(start["info"]) and _TEXT_START.match(inside)
        if not (is_text or _MARKDOWN_INFO.match(start["info"])):
            continue
        following = fences[number + 1 :]
        has_fences = not _DATA_START.match(inside)
        end = _end_of_fence(start, following) if has_fences else next(iter(following), None)
        inner = text[start.end() + 1 : end.start() if end else len(text)]
        before = text[: start.start()]
        after = text[end.end() :] if end else ""
        share = 2 if _MARKDOWN_INFO.match(start["info"]) else 0.5
        if _is_whole_text(inner, f"{before}\n{after}", share):
            return inner if has_title(inner) else f"{before}\n{inner}"
    last_line = text.rpartition("\n")[2].strip()
    is_lone = len(fences) == 1 and last_line == fences[0]["fence"]
    return text[: -len(last_line)] if is_lone else text


def _end_of_fence(start: re.Match[str], following: Sequence[re.Match[str]]) -> re.Match[str] | None:
    """Return the end of a code block that can have others in it, or None if it has none."""
    same = [fence for fence in following if fence["fence"].startswith(start["fence"])]
    # With an even number of them, the last one is that of a code block.
    return same[-1] if len(same) % 2 and not same[-1]["info"] else None


def _is_whole_text(inner: str, beside: str, share: float) -> bool:
    """Tell whether a code block has the text, and what stands beside it are a few words on it.

    `share` says how many words beside it these can be for each word in it.
    """
    has_headings = len(_HEADING.findall(beside)) > (not has_title(inner))
    if has_headings or _FENCE.search(beside):
        return False
    words = _NO_WORDS.sub(" ", without_data(inner))
    return _count(beside) <= share * _count(words)


def _count(text: str) -> int:
    return count_words(split_words(text))


def has_title(text: str) -> bool:
    """Tell whether a text has a heading of level 1."""
    return any(line.startswith("# ") for is_code, line in split_lines(text) if not is_code)


def without_data(text: str) -> str:
    """Take the text out of an answer that is JSON."""
    with suppress(ValueError, RecursionError):
        found = list(_strings(json.loads(text, strict=False)))
        if any(len(string.split()) >= _LEAST_WORDS for string in found):
            return "\n\n".join(found)
    return text


def _strings(value: object, name: str = "") -> Iterator[str]:
    """Yield the texts in JSON in order, titles as headings."""
    if isinstance(value, str):
        yield f"{_TEXT_KEYS.get(name, '')}{value.strip()}"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not _NO_TEXT_KEY.match(key.lower()):
                yield from _strings(inner, key.lower())
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, name)


def without_front_matter(text: str) -> str:
    """Drop front matter in YAML or TOML, but keep its title."""
    for block, line in ((_YAML, _YAML_LINE), (_TOML, _TOML_LINE)):
        match = block.match(text)
        if match is None or not _is_data(match["lines"], line):
            continue
        title = _TITLE.search(match["lines"])
        if not (match["start"] or title):
            continue
        rest = text[match.end() :]
        name = title["title"].replace("''", "'") if title else ""
        return f"# {name}\n\n{rest}" if name and not has_title(rest) else rest
    return text


def _is_data(lines: str, line: re.Pattern[str]) -> bool:
    """Tell whether each line is one of front matter, and not of a text between two rules."""
    found = [line.fullmatch(it) for it in lines.split("\n")]
    return None not in found and any(match["key"] for match in found if match)
