"""Comparing a page that shows its articles with the same page after their ejection."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import cast
from xml.etree.ElementTree import Element

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

from .markdown_writer import INLINE, SPACE, WRAPPERS, attributes, flow, has_content

Place = tuple[str, int]
"""A block: the id of its article, and its number within the article."""


@dataclass
class Differences:
    """What is not the same on two pages.

    `blocks` are those of articles, and `example` is the first difference in words.
    """

    blocks: set[Place] = field(default_factory=set)
    abbreviations: set[str] = field(default_factory=set)
    example: str = ""

    def add(self, element: Element, *blocks: Place) -> None:
        """Note an element that is another, or missing, and which blocks may be the reason."""
        text = " ".join("".join(element.itertext()).split())
        self.example = self.example or f"<{element.tag}> ('{text[:40]}')"
        self.blocks.update(blocks)


def compare(before: str, after: str) -> Differences:
    """Return how the HTML of a page differs.

    Articles are, in the page before, elements with their id in the attribute `ai-disclosure`. So is
    the title of the one that is the page, which stands on top.
    """
    old, new = _parsed(before), _parsed(after)
    holders = {id(old)}
    parents = {child: parent for parent in old.iter() for child in parent}
    articles = [element for element in old.iter("article") if "ai-disclosure" in element.attrib]
    for article in articles:
        holder = parents[article]
        while id(holder) not in holders:
            holders.add(id(holder))
            holder = parents[holder]
    names = {id(article): article.attrib["ai-disclosure"] for article in articles}
    titles = {id(title): name for title in old.iter("h1") if (name := title.get("ai-disclosure"))}
    differences = Differences()
    _compare_contents(old, new, names | titles, holders, differences)
    if differences.example:
        own = {_text(part) for article in articles for part in article.iter("abbr")}
        differences.abbreviations = {_text(part) for part in new.iter("abbr")} - own
    return differences


@dataclass
class _Expected:
    """A block of the page before; those of articles have a place, and their form."""

    block: Element
    place: Place | None = None
    form: tuple[str, str] | None = None


def _compare_contents(
    old: Element,
    new: Element,
    names: dict[int, str],
    holders: set[int],
    differences: Differences,
) -> None:
    expected = _expected(old, names)
    found = flow(new, unwrap=())
    forms = [_form(child, lenient=True) for child in found]
    _add_missing(expected, forms, differences)
    if differences.blocks:
        return
    for position, part in enumerate(expected):
        if position >= len(found) or not _is_same(part, found[position], forms[position], holders):
            differences.add(part.block, *_near(expected, position))
            return
        if part.place is None and id(part.block) in holders:
            _compare_contents(part.block, found[position], names, holders, differences)
    if len(found) > len(expected):
        differences.add(found[len(expected)], *_near(expected, len(expected)))


def _expected(old: Element, names: dict[int, str]) -> list[_Expected]:
    """Return the blocks in an element, with those of articles in place of the articles."""
    expected: list[_Expected] = []
    numbers: Counter[str] = Counter()
    for child in flow(old, unwrap=()):
        name = names.get(id(child))
        if name is None:
            expected.append(_Expected(child))
            continue
        for block in [child] if child.tag == "h1" else flow(child):
            expected.append(_Expected(block, (name, numbers[name]), _form(block, lenient=True)))
            numbers[name] += 1
    return expected


def _add_missing(
    expected: list[_Expected], forms: list[tuple[str, str]], differences: Differences
) -> None:
    """Note the blocks of articles that are nowhere among those found."""
    missing = Counter(part.form for part in expected if part.form) - Counter(forms)
    for part in expected:
        if part.place and part.form in missing:
            differences.add(part.block, part.place)


def _is_same(part: _Expected, found: Element, form: tuple[str, str], holders: set[int]) -> bool:
    """Tell whether a block is as expected; of what holds articles, whether its tag is."""
    if part.place:
        return part.form == form
    if id(part.block) in holders:
        return (part.block.tag, part.block.attrib) == (found.tag, found.attrib)
    return _form(part.block) == _form(found)


def _near(expected: list[_Expected], position: int) -> list[Place]:
    """Return the blocks of articles at a position and right before it."""
    return [part.place for part in expected[max(position - 1, 0) : position + 1] if part.place]


def _form(element: Element, *, lenient: bool = False) -> tuple[str, str]:
    """Return what an element consists of: its elements without the space around them, its text."""
    written = SPACE.sub(" ", "".join(_written(element, lenient=lenient)))
    structure = re.sub(f" *({_TAG}) *", r"\1", written)
    lines = re.sub(_INLINE_TAG, "", written)
    text = re.sub(f" *(?:(?:{_TAG}) *)+", "\n", lines)
    return structure, re.sub(" +", " ", text)


# The tags of blocks and of inline elements in a form, and the white space of code.
_TAG = "\x01[^\x02]*\x02|\x03[^\x04]*\x04"
_INLINE_TAG = "\x03[^\x04]*\x04"
_VERBATIM = {ord(" "): "\x05", ord("\n"): "\x06", ord("\t"): "\x07", ord("\r"): "\x08"}

_FLOW = frozenset("li blockquote dd td th aside figure figcaption".split())
"""What may hold text with a paragraph around it or without: the reader reads the same."""

_LINE_NUMBER = re.compile(r"\b__(?:codelineno|span)-\d+")
_BEFORE_PERMALINK = re.compile(r"\s+(?=\x03a [^\x04]*href=#)")
_SAME = {"b": "strong", "i": "em"}


def _written(element: Element, *, lenient: bool) -> list[str]:
    tag, said = element.tag, dict(element.items())
    if lenient:
        tag = _SAME.get(tag, tag)
        said = {k: v for k, v in attributes(element).items() if not _LINE_NUMBER.search(v)}
        if tag in WRAPPERS and not said:
            return [part for child in flow(element) for part in _written(child, lenient=True)]
        if tag == "span" and not said:
            return _contents(element, lenient=True)
        if tag in INLINE and not has_content(element):
            return [" "] if "".join(element.itertext()) else []
    values = "".join(
        f" {name}={_LINE_NUMBER.sub('', value).translate(_VERBATIM)}"
        for name, value in sorted(said.items())
    )
    if lenient and tag in _FLOW:
        contents = [part for child in flow(element) for part in _written(child, lenient=True)]
    else:
        contents = _contents(element, lenient=lenient)
    if re.fullmatch("h[1-6]", tag):
        # White space before a permalink is that at the end of the heading.
        contents = [_BEFORE_PERMALINK.sub("", "".join(contents))]
    if tag == "pre":
        inner = "".join(contents).translate(_VERBATIM)
        contents = [re.sub("\x06+(\x03/code\x04)?$", r"\1", inner)]
    start, end = ("\x03", "\x04") if tag in INLINE and tag != "br" else ("\x01", "\x02")
    return [f"{start}{tag}{values}{end}", *contents, f"{start}/{tag}{end}"]


def _contents(element: Element, *, lenient: bool) -> list[str]:
    parts = [element.text or ""]
    for child in element:
        parts += _written(child, lenient=lenient)
        parts.append(child.tail or "")
    return parts


def _text(element: Element) -> str:
    return "".join(element.itertext())


def _parsed(html: str) -> Element:
    soup = BeautifulSoup(f"<div>{html}</div>", "html.parser", multi_valued_attributes=None)
    return _converted(cast(Tag, soup.find("div")))


def _converted(tag: Tag) -> Element:
    """Return an element without comments and style sheets."""
    element = Element(tag.name, {name: str(value) for name, value in tag.attrs.items()})
    last: Element | None = None
    for child in tag.children:
        if isinstance(child, Tag):
            if child.name != "link":
                last = _converted(child)
                element.append(last)
        elif not isinstance(child, PreformattedString):
            if last is None:
                element.text = (element.text or "") + str(child)
            else:
                last.tail = (last.tail or "") + str(child)
    return element
