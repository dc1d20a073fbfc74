"""Mend the answer of a model, so that it is a text in Markdown and nothing else.

Each step is a function from a text to a text. What a step changes is a remark for the reviewer.
Code is never changed, except for a fence around the whole text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from textwrap import dedent

from markdown_it.common.html_blocks import block_names

from ..html.elements import DROPPED
from .answers import Step, apply_steps, each_line, split_lines
from .languages import any_of
from .markdown import MAX_CHARACTERS, TIP, render_mixed
from .words import split_words

_MAX_PREFACE = 300
"""The number of characters before or after a text that may be a remark to the reader."""

_FENCE = re.compile(r"^ {0,3}(?P<fence>```+|~~~+)[ \t]*\{?\.?(?P<info>[^`\n]*)$", re.MULTILINE)
_BEGINNING = re.compile(
    r"\s*(?:#{1,6} [^\n]*\n(?:[ \t]*\n|#|\Z)|```|~~~|<(?:!DOCTYPE|html|body|article|h1)\b"
    r"|[\[{]\s*[\"{])",
    re.IGNORECASE,
)
"""How a text or JSON begins, but no code with a comment."""

_MARKDOWN_INFO = re.compile(r"(?:markdown|md|mdx)\b", re.IGNORECASE)
_HEADING = re.compile(r"^##? .+$", re.MULTILINE)

_HEADINGS = {"title": "# ", "headline": "# ", "heading": "## ", "header": "## ", "subtitle": "## "}
_NO_TEXT = re.compile(
    r"slug|tags|keywords|meta|description|summary|excerpt|author|date|path|name"
    r"|(?:id|error|type|lang|language|locale|status|category|format|style|tone|audience)$"
)
_LEAST_TEXT = 8
"""The least number of words of a text in JSON."""
BEFORE = re.compile(any_of("before"), re.IGNORECASE)
"""What models say before a text."""

_AFTER = re.compile(rf"[^\w\n]{{0,9}}{any_of('after')}", re.IGNORECASE)
"""What models say after a text."""

_PREFACE = re.compile(r"(?:(?!```|~~~)[^#|]){1,300}\n(?=# )")
_FRONT_MATTER = re.compile(
    r"(?:[^#\n]{1,300}:\n\n)?(?:```ya?ml\n)?(?P<start>---\n)?(?P<yaml>[^`]{1,4000}?)\n"
    r"(?:---|\.\.\.)[ \t]*\n(?:```\n)?"
)
_YAML_TITLE = re.compile(r"^title:[ \t]*(?:[>|]-?\s+)?[\"']?(.+?)[\"']?$", re.MULTILINE)
_MARKS = (
    (re.compile("^([ \t]*)(?:[•‣▪●◦]|[-*](?=\u00a0))[ \u00a0\t]+|^()\\\\-[ ]"), r"\1- "),
    (re.compile(r"\\\((.{1,300}?)\\\)|^\\\[(.{1,300}?)\\\]$"), r"`\1\2`"),
    (re.compile("^(#+ )(\\d)\ufe0f?\u20e3\\s?"), r"\1\2. "),
)
"""What is nearly the mark of an item or its number, and formulas, with the Markdown for it."""

_NEARLY_HEADING = (re.compile(r"^\\?(#{1,6})(?:\u00a0|\ |(?=[^\s#]))"), r"\1 ")
_BOLD_LINE = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{0,99}[^*_\n.!,:]):?\1:?")
_LINE_OF_NAMES = rf"[^\w\n]{{0,9}}{any_of('references')}[^\w\n]{{0,9}}"
_REFERENCES = re.compile(
    rf"\n(?=[ \t]*[#*_]|[^\n]*[:：]\n){_LINE_OF_NAMES}\n"
    r"(?:[ \t]*(?:[-*+]|\[?\^?\d{1,3}[\].):]{0,2})\s[^\n]*\n|[ \t]*(?:https?://\S+)?\n){0,200}\Z",
    re.IGNORECASE,
)
"""A list of references at the end. The writer adds the sources that it gave."""

_PLACEHOLDER = re.compile(
    rf"(?![ \t]*[-+*] )[\W_]{{0,4}}{any_of('salutation')}?[,: ]{{0,3}}"
    rf"\[(?:(?P<image>{any_of('image')})|{any_of('gap')})\b[^\[\]\n]{{0,100}}\]"
    r"(?(image)(?:\([^()\n]{0,200}\))?)[\W_]{0,4}",
    re.IGNORECASE,
)
_INLINE = (
    "a b i u em strong small br code pre img font span meta input button video audio "
    "content answer response".split()
)
_CLOSED = (*DROPPED, *"abbr bdi bdo cite del dfn ins kbd mark q ruby s samp time var".split())
"""Elements with an end tag. Without one, `<time>` is the author's word for a value."""

_NAMES = "|".join([*block_names, *_CLOSED, *_INLINE])
_TAG = re.compile(
    rf"<(?:(?P<end>/?)(?P<name>{_NAMES})(?=[\s/>])|(?P<other>!DOCTYPE|!--))?", re.IGNORECASE
)
"""The start of a tag, or a `<` that begins none."""

_END = re.compile(rf"(?P<comment>-->)|</(?P<name>{'|'.join(_CLOSED)})\s{{0,9}}>", re.IGNORECASE)
_LESS_THAN, _BACKSLASH = "\ue000", "\ue001"
"""Stand for characters that are no HTML, while HTML is read."""


def mend(answer: str) -> tuple[str, list[str]]:
    """Return the text in an answer, and a remark for each kind of change.

    A text that is too long for any target is cut just above the limit.
    """
    text, remarks = apply_steps(_STEPS, answer[: MAX_CHARACTERS + 1])
    return text.strip(), remarks


def trim(text: str) -> str:
    """Return a text that was cut somewhere, up to the end of its last whole sentence.

    A heading without a text is left out.
    """
    ends = re.finditer(r"[.!?…][\"'”’»)*_]{0,3}(?=\s)|[。！？]|\n(?=\n)", f"{text}\n")
    last = max((match.end() for match in ends), default=0)
    paragraphs = text[:last].rstrip().split("\n\n")
    while paragraphs and paragraphs[-1].startswith("#"):
        paragraphs.pop()
    return "\n\n".join(paragraphs)


def whole_paragraphs(text: str) -> str:
    """Return a text that was cut somewhere, up to the last paragraph that is certainly whole.

    It is empty without a paragraph below the headings.
    """
    paragraphs = text.split("\n\n")[:-1]
    while len(_FENCE.findall("\n\n".join(paragraphs))) % 2:
        paragraphs.pop()
    has_words = any(not paragraph.startswith("#") for paragraph in paragraphs)
    return "\n\n".join(paragraphs) if has_words else ""


def join_texts(start: str, rest: str) -> str:
    """Return a text and the rest of it, without the paragraphs that it has already."""
    known = {tuple(split_words(paragraph)) for paragraph in start.split("\n\n")}
    added = (it for it in rest.split("\n\n") if tuple(split_words(it)) not in known)
    return "\n\n".join([start, *added])


def without_fence(text: str) -> str:
    """Take the text out of a code block, if hardly any prose stands beside it."""
    marks = list(_FENCE.finditer(text))
    for index, start in enumerate(marks):
        inside = text[start.end() + 1 :]
        is_text = not index and _BEGINNING.match(inside)
        if not (is_text or _MARKDOWN_INFO.match(start["info"])):
            continue
        same = [it for it in marks[index + 1 :] if it["fence"].startswith(start["fence"])]
        # With an even number of them, the last one is that of a code block.
        last = same[-1] if len(same) % 2 and not same[-1]["info"] else None
        inner = text[start.end() + 1 : last.start() if last else len(text)]
        before, after = text[: start.start()], text[last.end() :] if last else ""
        prose, is_titled = f"{before}\n{after}", _has_title(inner)
        has_headings = len(_HEADING.findall(prose)) > (not is_titled)
        if not has_headings and len(prose.split()) <= 2 * len(inner.split()):
            return inner if is_titled else f"{before}\n{inner}"
    bare = text.rpartition("\n")[2].strip()
    return text[: -len(bare)] if len(marks) == 1 and bare == marks[0]["fence"] else text


def _has_title(text: str) -> bool:
    return any(line.startswith("# ") for is_code, line in split_lines(text) if not is_code)


def without_data(text: str) -> str:
    """Take the text out of an answer that is JSON."""
    with suppress(ValueError, RecursionError):
        found = list(_strings(json.loads(text, strict=False)))
        if any(len(it.split()) >= _LEAST_TEXT for it in found):
            return "\n\n".join(found)
    return text


def _strings(value: object, name: str = "") -> Iterator[str]:
    """Yield the texts in JSON in order, titles as headings."""
    if isinstance(value, str):
        yield f"{_HEADINGS.get(name, '')}{value.strip()}"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not _NO_TEXT.match(key.lower()):
                yield from _strings(inner, key.lower())
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, name)


def without_front_matter(text: str) -> str:
    """Drop front matter, but keep its title."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return text
    title, rest = _YAML_TITLE.search(match["yaml"]), text[match.end() :]
    if not (match["start"] or title):
        return text
    name = title[1].replace("''", "'") if title else ""
    return f"# {name}\n\n{rest}" if name and not _has_title(rest) else rest


def without_html(text: str) -> str:
    """Replace HTML by its Markdown where there is one, and else by its text."""
    if "<" not in text:
        return text
    from ..html.markdown_writer import to_plain_markdown  # few models write HTML

    last = {(it["name"] or "!--").lower(): it.start() for it in _END.finditer(text)}
    whole = {"!--", *_CLOSED}

    def visible(tag: re.Match[str]) -> str:
        name = (tag["name"] or tag["other"] or "").lower()
        is_html = name not in whole or tag["end"] or tag.start() < last.get(name, 0)
        return tag[0] if name and is_html else f"{_LESS_THAN}{tag[0][1:]}"

    marked = re.sub(r"\\(?!\|)", _BACKSLASH, _TAG.sub(visible, text))
    marked = each_line(marked, lambda line: re.sub("(?<!`)<pre", "\n\n<pre", line))
    with suppress(RecursionError):
        if found := render_mixed(marked):
            text = to_plain_markdown(found)
    return text.replace(_LESS_THAN, "<").replace(_BACKSLASH, "\\")


def without_preface(text: str) -> str:
    """Drop what the model says before the text."""
    titles = sum(not is_code and line.startswith("# ") for is_code, line in split_lines(text))
    preface = _PREFACE.match(text)
    if preface and titles == 1:  # of several, the first is no title
        return text[preface.end() :]
    first, _, rest = text.partition("\n")
    is_said = len(first) <= _MAX_PREFACE and BEFORE.match(first)
    return rest if rest.strip() and is_said else text


def without_epilogue(text: str) -> str:
    """Drop what the model says after the text, such as the number of words."""
    # Below a paragraph, a line of dashes would make it a heading.
    paragraphs = re.sub(r"\n[-*_ ]+\Z", "", text).split("\n\n")
    while len(paragraphs) > 1:
        last = paragraphs[-1].strip()
        if last.endswith(("```", "~~~")):
            break
        if last.strip("-*_ \n") and not (len(last) <= _MAX_PREFACE and _AFTER.match(last)):
            break
        paragraphs.pop()
    return "\n\n".join(paragraphs)


def without_copies(text: str) -> str:
    """Keep a text once that is given several times, even if the last one is not whole."""
    title = text.partition("\n")[0]
    first, *copies = f"\n{text}\n".split(f"\n{title}\n")[1:] if title.strip() else [""]
    words = split_words(first)
    found = [split_words(it) for it in copies]
    is_copied = found and all(len(it) >= _LEAST_TEXT and it == words[: len(it)] for it in found)
    return f"{title}\n{first}" if is_copied else text


def with_marks(text: str) -> str:
    """Make Markdown of what is nearly the mark of a heading or of an item, and of formulas."""
    marks = [*_MARKS, *(() if _HEADING.search(text) else (_NEARLY_HEADING,))]
    for pattern, mark in marks:
        text = each_line(text, partial(pattern.sub, mark))
    return text


def with_headings(text: str) -> str:
    """Make paragraphs in bold headings, in a text that has no sections otherwise."""
    marked = "\n".join(f"\0{line}" if is_code else line for is_code, line in split_lines(text))
    if re.search("^##+ ", marked, re.MULTILINE):
        return text
    parts = marked.split("\n\n")
    found = {number: _BOLD_LINE.fullmatch(part.strip()) for number, part in enumerate(parts[:-1])}
    bold = {number: it["text"] for number, it in found.items() if it and not TIP.match(it[0])}
    for number, heading in bold.items():
        is_title = number == 0 and len(bold) > 1
        parts[number] = f"{'#' if is_title else '##'} {heading}"
    return "\n\n".join(parts).replace("\0", "")


def without_placeholders(text: str) -> str:
    """Drop lines that are placeholders, such as `[Insert image]` and `Dear [Your Name],`."""
    return each_line(text, lambda line: "" if _PLACEHOLDER.fullmatch(line) else line)


_STEPS: Sequence[Step] = (
    ("a code fence around the text was taken out", without_fence),
    ("a code fence around the text was taken out", without_fence),  # one in the other
    ("", partial(re.compile("^[ \t]+$", re.MULTILINE).sub, "")),  # so that no remark is for them
    ("spaces before all lines were taken out", dedent),
    ("the text was taken out of JSON", without_data),
    ("front matter was taken out", without_front_matter),
    ("HTML was replaced by Markdown or text", without_html),
    ("what the model said before the text was taken out", without_preface),
    ("what the model said after the text was taken out", without_epilogue),
    ("a copy of the whole text was taken out", without_copies),
    ("placeholders were taken out", without_placeholders),
    ("a list of references was taken out", lambda text: _REFERENCES.sub("", f"{text}\n")),
    ("marks of headings and items became Markdown", with_marks),
    ("lines in bold became headings", with_headings),
)
