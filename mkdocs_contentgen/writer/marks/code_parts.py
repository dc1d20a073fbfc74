"""Find the parts of code in a text that no source has.

Each part of a flag, command, path, file, identifier, environment variable, address or version has
to stand in a source, with no letter or figure beside it there. What follows a command is looked for
beside it: `tool` and `deploy` are words of many sources, and `uv tool deploy` is in none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from ...language.ranges import Range

_PART = re.compile(r"[^\s\"'`\u00b4‘’“”()\[\]{}<>,;|&=!…]+")
"""What stands between the brackets, quotation marks and punctuation of a piece of code."""

_SURROUNDING = ".:?!*~^$@+%\\"
"""Signs at the start or the end of a part that do not belong to it."""

LITERALS = frozenset(
    "true false none null nil yes no on off self cls this and or not in if else for 0 1 2".split()
)
"""What every reader knows and no source has to say."""

_COMMAND = re.compile(r"(?:^|\$ )([a-z][\w.-]*(?: [a-z][\w-]*)+)", re.MULTILINE)
"""A command with its subcommands, such as `uv tool install`, as group 1."""

FILE_TYPES = frozenset(
    "py pyi toml yml yaml json jsonc md rst txt cfg ini conf env js mjs ts tsx jsx css scss html "
    "htm sh bash ps1 bat lock xml csv tsv sql go rs java kt rb php c h cpp hpp cs swift exe dll so "
    "whl tar gz zip log".split()
)
"""The endings of names of files, which are no words of prose."""

_TOKEN = re.compile(r"(?<![\w@:])[\w.$~/-]+(?:\(\))?")
"""What may be code in prose."""

_MAX_TOKEN = 200
"""The maximum length of code in prose, in characters."""

_CODE_IN_PROSE = re.compile(
    r"--[A-Za-z][\w-]*"  # a flag
    r"|\$?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # an environment variable
    r"|_{0,2}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_{0,2}(?:\(\))?"  # an identifier
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(\)"  # a function
    r"|(?:~|\.{1,2})?(?:/[\w.-]+){2,}/?"  # a path
    r"|[a-z][\w-]*\.[a-z]{2,5}"  # what looks like a file
)
"""What is code although it stands in prose."""

_CHOICE = re.compile(r"[A-Za-z][\w-]*(?:/[A-Za-z][\w-]*)+")
"""Words such as `read/write`, which can stand apart in a source, or a path."""

_VERSION = re.compile(r"v(\d{1,9}(?:\.\d{1,9}){1,3})")
"""A version such as `v1.2.0`, with its number as group 1, which a source can have without `v`."""

_NOTEWORTHY = re.compile(r"[\d._/:$-]|[a-z][A-Z]")
"""Found in a part of a code block that is more than a keyword or the name of a variable."""

_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//|--(?=\s)|;;|<!--).*$", re.MULTILINE)
"""A comment in a code block, up to the end of its line."""


def find_code(text: str, given: str) -> list[Range]:
    """Return the ranges of code in prose that does not stand in `given`."""
    found = []
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".-")
        if token.isalpha() or len(token) > _MAX_TOKEN:  # nearly all tokens are words
            continue
        version = _VERSION.fullmatch(token)
        if version and is_given(version[1], given):
            continue
        if version or _is_code(token):
            parts = [token]
        elif _CHOICE.fullmatch(token):
            parts = _unknown_words(token.split("/"), given)
        else:
            continue
        if not all(is_given(part, given) for part in parts):
            found.append(Range(match.start(), match.start() + len(token)))
    return found


def _unknown_words(words: Iterable[str], given: str) -> list[str]:
    """Return the words that do not stand in what is given, in any case."""
    known = _words(given)
    return [word for word in words if word.casefold() not in known]


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _words(given: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", given.casefold()))


def _is_code(token: str) -> bool:
    """Tell whether a word of prose is code."""
    _, dot, file_type = token.rpartition(".")
    if dot and file_type in FILE_TYPES:
        return True
    return _CODE_IN_PROSE.fullmatch(token) is not None


def is_given(code: str, given: str) -> bool:
    """Tell whether each part of a piece of code in a line stands in what is given."""
    return not _unknown_parts(code, given, is_block=False)


def stands_as_whole(code: str, given: str) -> bool:
    """Tell whether a piece of code stands in what is given word by word."""
    whole = _normalized(code).strip(_SURROUNDING)
    return _stands_in(whole, _normalized(given)) if whole else True


def find_unknown_in_line(code: str, given: str) -> list[Range]:
    """Return the ranges in a piece of code in a line of the parts that do not stand there."""
    return _unknown_parts(code, given, is_block=False)


def find_unknown_parts(code: str, given: str) -> list[Range]:
    """Return the ranges in a code block of the parts that do not stand in what is given."""
    return _unknown_parts(code, given, is_block=True)


def _unknown_parts(code: str, given: str, *, is_block: bool) -> list[Range]:
    """Return the ranges of the parts of code that are not given.

    Of a code block, comments are left out, and what may be a word of the language.
    """
    known = _normalized(given)
    comments: list[tuple[int, int]] = []
    if is_block:
        for match in _COMMENT.finditer(code):
            comments.append(match.span())
    found = []
    for match in _PART.finditer(code):
        part = match[0].strip(_SURROUNDING)
        start = match.start() + match[0].find(part)
        if not _says_something(part) or (is_block and not _NOTEWORTHY.search(part)):
            continue
        if any(begin <= start < end for begin, end in comments):
            continue
        if not _stands_in(part, known):
            found.append(Range(start, start + len(part)))
    return sorted({*found, *_unknown_commands(code, known)})


def _says_something(part: str) -> bool:
    """Tell whether a part of code is more than punctuation, or a word such as `true`."""
    return re.search(r"\w", part) is not None and part.casefold() not in LITERALS


def _unknown_commands(code: str, known: str) -> list[Range]:
    """Return the ranges of the words of commands that do not stand beside each other."""
    found = []
    for match in _COMMAND.finditer(code):
        words = list(re.finditer(r"\S+", match[1]))
        for first, second in pairwise(words):
            if "-" in second[0] and _stands_in(second[0], known):
                continue  # no word of prose, so it is a command wherever it stands
            if not _stands_in(f"{first[0]} {second[0]}", known):
                offset = match.start(1)
                found.append(Range(offset + second.start(), offset + second.end()))
                break
    return found


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _normalized(given: str) -> str:
    """Return what is given without quotation marks and the breaks of its lines."""
    return " ".join(re.sub(r"[\"'`\u00b4‘’“”\\]", " ", given).split())


def _stands_in(part: str, known: str) -> bool:
    """Tell whether a part of code stands in a text, as a whole."""
    start = known.find(part)
    while start >= 0:
        end = start + len(part)
        before = known[max(0, start - 2) : start]
        after = known[end : end + 2]
        nearest_first = before[::-1]
        if not _goes_on(nearest_first, part[0]) and not _goes_on(after, part[-1]):
            return True
        start = known.find(part, start + 1)
    return False


def _goes_on(beside: str, character: str) -> bool:
    """Tell whether what stands beside a part belongs to its first or last word or figure.

    `character` is the first or the last character of the part, and `beside` are those beside it, of
    which the nearest is the first.
    """
    if not beside:
        return False
    if re.match(r"\w", character) and re.match(r"-?\w", beside):
        return True
    return character.isdigit() and re.match(r"\.\d", beside) is not None
