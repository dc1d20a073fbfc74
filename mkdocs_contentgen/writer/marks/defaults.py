"""Find default values in a text that differ from those in the sources.

`retries: 2` in a source and "`retries` is 3 by default" in a text, although some other line of the
source has a 3. A value counts as right wherever it stands beside its name: on the same line, or in
the section that has the name as its heading.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from ...language.languages import PHRASES, any_of
from ...language.ranges import Range, overlaps
from ...language.sentences import sentence_ranges
from ...language.values import find_values, known_values
from .data_facts import PARTS_OF_PARAMETERS, Fact, read_facts

_DEFAULT = re.compile(any_of("default"), re.IGNORECASE)

_NAME = re.compile(
    r"`(?P<code>[^`\n]{1,80})`|(?<![\w.-])(?P<word>(?:--)?[A-Za-z_][\w-]{1,60})(?![\w-])"
)
"""What can be the name of an option: code, a flag or a word."""

_LITERAL = r"(?:true|false|null|none|nil|undefined|\[\]|\{\}|\"\"|'')"
_VALUE = re.compile(
    rf"(?P<literal>(?<![\w]){_LITERAL}(?!\w))"
    r"|(?P<quoted>\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|\[[^\[\]\n]{1,80}\])"
    r"|(?P<figure>(?<![\w.:/-])\d+(?:[.,_]\d+)*)"
    r"|(?P<path>(?<![\w.-])[\w.-]+/(?:[\w/-]|\.(?=\w))+)",
    re.IGNORECASE,
)
"""What can be a value in prose."""

_HEADING = re.compile(r"^#{1,6} +`?(?P<name>[^`\n#]{1,80}?)`? *#* *$", re.MULTILINE)

_MOST_BETWEEN = 60
"""The most characters between a name and its value."""

_LONGEST_SENTENCE = 600
"""A longer sentence is a list of many names, of which each value could be."""

_LONGEST_UNIT = 20

_LINKS = frozenset(PHRASES["link_to_value"].split())
"""Words that stand between a name and its value."""

_MOST_BEFORE_DEFAULT = 30
"""Characters up to the end of the word `default` in a sentence without another subject."""

_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")

_MOST_LINES = 200
"""The lines that are kept for a name, such as one that each line has."""


class _Name(NamedTuple):
    """The name of an option in a text."""

    place: Range
    name: str


@dataclass
class _Known:
    """What the sources say of a name."""

    has_value: bool = False
    is_key: bool = False
    """Whether data have it as a key, so that it is hardly a value."""

    lines: list[str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """All its lines. They are complete before a text is compared."""
        return "\n".join(self.lines)


def find_other_values(text: str, code: list[Range], given: str, language: str = "") -> list[Range]:
    """Return the ranges of values in `text` that sources do not have for the name beside them.

    `code` are the ranges of code spans in the text, in order.
    """
    if not _DEFAULT.search(text):
        return []
    known = _known_names(given)
    starts = [span.start for span in code]
    found: list[Range] = []
    for sentence in sentence_ranges(text, language):
        if _DEFAULT.search(text, sentence.start, sentence.end):
            first = bisect_left(starts, sentence.start)
            spans = code[first : bisect_left(starts, sentence.end)]
            found += _find_in_sentence(text, sentence, spans, known, language)
    return found


def _find_in_sentence(
    text: str, sentence: Range, spans: list[Range], known: dict[str, _Known], language: str
) -> Iterator[Range]:
    if sentence.end - sentence.start > _LONGEST_SENTENCE:
        return
    names, values = _names_and_values(text, sentence, spans, known)
    for value in sorted(values):
        name = _name_of(text, value, names, values)
        if name:
            value = _with_unit(text, value)
            if not _is_beside(text, value, known[name], language):
                yield value


def _names_and_values(
    text: str, sentence: Range, spans: list[Range], known: dict[str, _Known]
) -> tuple[list[_Name], list[Range]]:
    """Return the names in a sentence that have a value in a source, and what can be a value."""
    names: list[_Name] = []
    values: list[Range] = []
    for span in spans:
        name = _normal_name(span.of(text))
        if name in known and known[name].has_value:
            names.append(_Name(span, name))
        elif name not in known or not known[name].is_key:
            values.append(span)
    for match in _NAME.finditer(text, sentence.start, sentence.end):
        name = _normal_name(match[0])
        is_name = len(name) > 2 and name in known and known[name].has_value
        if is_name and not overlaps(match.start(), match.end(), spans):
            names.append(_Name(Range(*match.span()), name))
    names.sort()
    places = [name.place for name in names]
    for match in _VALUE.finditer(text, sentence.start, sentence.end):
        if not overlaps(match.start(), match.end(), sorted([*spans, *places])):
            values.append(Range(*match.span()))
    return names, values


def _with_unit(text: str, value: Range) -> Range:
    """Return a figure with its unit, and any other value as it is."""
    found = find_values(text[value.start : value.end + _LONGEST_UNIT])
    if found and found[0].start == 0:
        return Range(value.start, max(value.end, value.start + found[0].end))
    return value


def _name_of(text: str, value: Range, names: list[_Name], values: list[Range]) -> str:
    """Return the name that a value is said of, or an empty string."""
    before = [name for name in names if name.place.end <= value.start]
    after = [name for name in names if name.place.start >= value.end]
    if before:
        place, name = before[-1]
        between = text[place.end : value.start]
        is_first = not any(place.end <= other.start < value.start for other in values)
    elif after:
        place, name = after[0]
        between = text[value.end : place.start]
        is_first = _DEFAULT.search(between) is not None
    else:
        return ""
    is_said = is_first and len(between) <= _MOST_BETWEEN and _only_links(between)
    return name if is_said else ""


def _only_links(between: str) -> bool:
    """Tell whether only words such as `is` and `by default` stand between a name and its value."""
    words = re.findall(r"\w+", _DEFAULT.sub(" ", between).casefold())
    return all(word in _LINKS for word in words)


def _is_beside(text: str, value: Range, known: _Known, language: str) -> bool:
    """Tell whether a value stands beside its name in a source, in any form."""
    figures = find_values(value.of(text), language)
    if figures and figures[0].start == 0:
        return figures[0].is_stated(known_values(known.text, language))
    wanted = _normal_value(value.of(text))
    for match in re.finditer(re.escape(wanted), known.text, re.IGNORECASE):
        before = known.text[max(0, match.start() - 1) : match.start()]
        after = known.text[match.end() : match.end() + 1]
        if not re.search(r"[\w/-]", before + after):
            return True
    return not wanted


@lru_cache(maxsize=64)  # what is given is the same for all paragraphs of a text
def _known_names(given: str) -> dict[str, _Known]:
    """Return what the sources say of each name, by the name."""
    known: dict[str, _Known] = {}
    fences = _fences(given)
    breaks = [match.start() for match in re.finditer("\n", given)]
    lines_with_keys: set[int] = set()
    for fact in read_facts(given):
        lines_with_keys.add(bisect_left(breaks, fact.start))
        if not fact.value or len(fact.value) > _MOST_BETWEEN:
            continue
        key = fact.key
        if _DEFAULT.fullmatch(key):
            key = fact.name or _name_around(fact)
        if key:
            entry = known.setdefault(_normal_name(key), _Known())
            entry.is_key = True
            # What an example has is no default.
            entry.has_value = entry.has_value or not overlaps(fact.start, fact.start + 1, fences)
            entry.lines.append(f"{key}: {fact.value}")
    _add_lines(given, known, lines_with_keys)
    return known


def _name_around(fact: Fact) -> str:
    """Return the key that has a default, such as `limit` in `limit: {schema: {default: 20}}`."""
    for key in reversed(fact.path[:-1]):
        if key not in PARTS_OF_PARAMETERS:
            return key
    return ""


def _fences(given: str) -> list[Range]:
    """Return the ranges of blocks of code in Markdown."""
    found: list[Range] = []
    opened: int | None = None
    start = 0
    for line in given.splitlines(keepends=True):
        if _FENCE.match(line):
            if opened is None:
                opened = start
            else:
                found.append(Range(opened, start + len(line)))
                opened = None
        start += len(line)
    return found


def _add_lines(given: str, known: dict[str, _Known], lines_with_keys: set[int]) -> None:
    """Add the sentences of what is given to what is known of the names in them."""
    heading = ""
    is_code = False
    for number, line in enumerate(given.split("\n")):
        if _FENCE.match(line):
            is_code = not is_code
            continue
        title = _HEADING.match(line)
        if title and not is_code:
            heading = _normal_name(title["name"])
        elif number not in lines_with_keys or ("{" not in line and _DEFAULT.search(line)):
            for sentence in _sentences(line):
                _add_line(sentence, heading, known)


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line, each with what follows it in brackets."""
    start = 0
    for sentence in sentence_ranges(line):
        if line.startswith("(", sentence.end):
            continue
        yield line[start : sentence.end]
        start = sentence.end


def _add_line(line: str, heading: str, known: dict[str, _Known]) -> None:
    """Add a line to what is known of its names, and of the name that is the heading above it."""
    has_default = _DEFAULT.search(line) is not None
    names = {_normal_name(match["code"] or match["word"]) for match in _NAME.finditer(line)}
    # `Default: 3` below a heading is about that heading, unless the sentence has another subject.
    if heading and _DEFAULT.search(line, 0, _MOST_BEFORE_DEFAULT):
        names.add(heading)
    for name in names:
        if not has_default and name not in known:
            continue
        entry = known.setdefault(name, _Known())
        if len(entry.lines) < _MOST_LINES:
            entry.lines.append(line)
        if has_default and name == heading:
            entry.has_value = True


def _normal_name(name: str) -> str:
    """Return a name as it is compared: without quotation marks, hyphens and case."""
    return name.strip("`'\"[]: ").lstrip("-").partition("=")[0].replace("-", "_").casefold()


def _normal_value(value: str) -> str:
    return value.strip("`'\" ")
