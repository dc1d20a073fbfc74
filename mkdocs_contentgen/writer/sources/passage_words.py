"""Reduce a passage to its words, to tell whether it says something else than before.

A passage often changes only in its form: a link leads elsewhere, a picture is new, a line is
wrapped at another place. Nobody has to check a text for that.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ...files import sha256

Triples = frozenset[tuple[str, str, str]]
"""Each three words that follow each other in a text."""

_FENCE = re.compile(r"[ \t]*(?P<fence>```+|~~~+)(?P<label>.*)")
"""A line that begins or ends a block of code."""

_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]{1,200}\]:[ \t]*\S.*$", re.MULTILINE)
"""The definition of the target of a link, such as `[guide]: https://example.org`."""

_CODE_SPAN = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]{1,500})\1(?!`)")
"""Code within a line, as group 2."""

_PICTURE = re.compile(r"!\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,200}\])")
_LINK = re.compile(r"\[([^\[\]\n]{1,500})\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,200}\])")
"""A link, with its text as group 1."""

_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>|<!--(?:(?!-->).){0,300}-->", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{:?[ \t]*[.#][^{}\n]{0,200}\}")
"""Attributes of Markdown, such as `{ #start .wide }`."""

_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|\*{1,3}|~~|==")
_SIGNS = re.compile(r"[\"'`\u00b4‘’\u201a“”„«»‹›]|^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
"""Quotation marks, and the signs of block quotations."""


def words_of(markdown: str) -> str:
    """Return the words of a passage in Markdown, with one space between them.

    What is left out: targets and definitions of links, pictures, tags, the labels of fences,
    emphasis, quotation marks, and white space.
    """
    parts: list[str] = []
    prose: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        match = _FENCE.match(line)
        if fence:
            if match and match["fence"].startswith(fence) and not match["label"].strip():
                fence = ""
            else:
                parts.append(line)
        elif match:
            fence = match["fence"]
            parts.append(_words_of_prose("\n".join(prose)))
            prose = []
        else:
            prose.append(line)
    parts.append(_words_of_prose("\n".join(prose)))
    return " ".join(" ".join(parts).split())


def _words_of_prose(markdown: str) -> str:
    """Return the words of Markdown without blocks of code."""
    markdown = _DEFINITION.sub("", markdown)
    words: list[str] = []
    end = 0
    for code in _CODE_SPAN.finditer(markdown):
        words.append(_without_markup(markdown[end : code.start()]))
        words.append(code[2])  # where `*` and `<…>` are no markup
        end = code.end()
    words.append(_without_markup(markdown[end:]))
    return "".join(words)


def _without_markup(prose: str) -> str:
    """Return prose without links, pictures, tags, emphasis and quotation marks.

    A link can begin before code and end after it, so its signs go, too.
    """
    prose = _PICTURE.sub("", prose)
    prose = _LINK.sub(r"\1", prose)
    prose = re.sub(r"\]\([^()\n]{0,500}\)|\[(?=[^\[\]\n]*\Z)", "", prose)
    prose = _ATTRIBUTES.sub("", _TAG.sub("", prose))
    return _EMPHASIS.sub("", _SIGNS.sub("", prose))


def digest_of_words(markdown: str) -> str:
    """Return the SHA-256 of the words of a passage in Markdown."""
    return sha256(words_of(markdown))


def word_triples(markdown: str) -> Triples:
    """Return each three words that follow each other in a passage, or all of a shorter one."""
    words = words_of(markdown).casefold().split()
    found = set()
    for (first, second), (_, third) in pairwise(pairwise(words)):
        found.add((first, second, third))
    return frozenset(found)
