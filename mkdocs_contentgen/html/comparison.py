"""Compare the HTML of a page before and after its articles were ejected as Markdown."""

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
"""A block of an article: the id of the article, and the index of the block."""


@dataclass
class Differences:
    """The differences between two pages.

    `blocks` are the blocks of articles that differ, `abbreviations` the words that only the new
    page marks up as abbreviations, and `problem` describes the first element that differs.
    """

    blocks: set[Place] = field(default_factory=set)
    abbreviations: set[str] = field(default_factory=set)
    problem: str = ""

    def add(self, element: Element, *blocks: Place) -> None:
        """Record an element that differs or is missing, and the blocks that may be the cause."""
        text = " ".join("".join(element.itertext()).split())
        self.problem = self.problem or f"<{element.tag}> ('{text[:40]}')"
        self.blocks.update(blocks)


def compare(before: str, after: str) -> Differences:
    """Return the differences between the HTML of a page before and after an ejection.

    In `before`, the attribute `ai-disclosure` of each `<article>` holds the article's id. So does
    the `<h1>` of an article that was moved to the top of the page.
    """
    old, new = _parse(before), _parse(after)
    ancestors = {id(old)}
    parents = {child: parent for parent in old.iter() for child in parent}
    articles = [element for element in old.iter("article") if "ai-disclosure" in element.attrib]
    for article in articles:
        ancestor = parents[article]
        while id(ancestor) not in ancestors:
            ancestors.add(id(ancestor))
            ancestor = parents[ancestor]
    article_ids = {id(article): article.attrib["ai-disclosure"] for article in articles}
    titles = {id(title): name for title in old.iter("h1") if (name := title.get("ai-disclosure"))}
    differences = Differences()
    _compare_children(old, new, article_ids | titles, ancestors, differences)
    if differences.problem:
        own = {_text(part) for article in articles for part in article.iter("abbr")}
        differences.abbreviations = {_text(part) for part in new.iter("abbr")} - own
    return differences


@dataclass
class _ExpectedBlock:
    """A block of the old page. Only blocks of articles have `place` and `form`."""

    block: Element
    place: Place | None = None
    form: tuple[str, str] | None = None


def _compare_children(
    old: Element,
    new: Element,
    article_ids: dict[int, str],
    ancestors: set[int],
    differences: Differences,
) -> None:
    expected = _expected_blocks(old, article_ids)
    found = flow(new, unwrap=())
    forms = [_normalize(child, lenient=True) for child in found]
    _add_missing(expected, forms, differences)
    if differences.blocks:
        return
    for position, part in enumerate(expected):
        if position >= len(found) or not _is_same(
            part, found[position], forms[position], ancestors
        ):
            differences.add(part.block, *_adjacent_blocks(expected, position))
            return
        if part.place is None and id(part.block) in ancestors:
            _compare_children(part.block, found[position], article_ids, ancestors, differences)
    if len(found) > len(expected):
        differences.add(found[len(expected)], *_adjacent_blocks(expected, len(expected)))


def _expected_blocks(old: Element, article_ids: dict[int, str]) -> list[_ExpectedBlock]:
    """Return the blocks in an element, each article replaced by its own blocks."""
    expected: list[_ExpectedBlock] = []
    numbers: Counter[str] = Counter()
    for child in flow(old, unwrap=()):
        name = article_ids.get(id(child))
        if name is None:
            expected.append(_ExpectedBlock(child))
            continue
        for block in [child] if child.tag == "h1" else flow(child):
            expected.append(
                _ExpectedBlock(block, (name, numbers[name]), _normalize(block, lenient=True))
            )
            numbers[name] += 1
    return expected


def _add_missing(
    expected: list[_ExpectedBlock], forms: list[tuple[str, str]], differences: Differences
) -> None:
    """Record the blocks of articles that the new page does not have."""
    missing = Counter(part.form for part in expected if part.form) - Counter(forms)
    for part in expected:
        if part.place and part.form in missing:
            differences.add(part.block, part.place)


def _is_same(
    part: _ExpectedBlock, found: Element, form: tuple[str, str], ancestors: set[int]
) -> bool:
    """Tell whether a block is as expected. For ancestors of articles, only the tag counts."""
    if part.place:
        return part.form == form
    if id(part.block) in ancestors:
        return (part.block.tag, part.block.attrib) == (found.tag, found.attrib)
    return _normalize(part.block) == _normalize(found)


def _adjacent_blocks(expected: list[_ExpectedBlock], position: int) -> list[Place]:
    """Return the blocks of articles at a position and just before it."""
    return [part.place for part in expected[max(position - 1, 0) : position + 1] if part.place]


def _normalize(element: Element, *, lenient: bool = False) -> tuple[str, str]:
    """Return two strings to compare an element by: its markup, and its text by lines."""
    written = SPACE.sub(" ", "".join(_serialize(element, lenient=lenient)))
    structure = re.sub(f" ?({_TAG}) ?", r"\1", written)
    lines = re.sub(" +", " ", re.sub(_INLINE_TAG, "", written))
    return structure, re.sub(f" ?(?:(?:{_TAG}) ?)+", "\n", lines)


# Control characters delimit the tags of blocks and of inline elements, and stand for the white
# space of code.
_INLINE_TAG = "\x03[^\x03\x04]*\x04"
_TAG = f"\x01[^\x01\x02]*\x02|{_INLINE_TAG}"
_CODE_WHITESPACE = {ord(" "): "\x05", ord("\n"): "\x06", ord("\t"): "\x07", ord("\r"): "\x08"}

_TEXT_OR_BLOCKS = frozenset("li blockquote dd td th aside figure figcaption".split())
"""Elements whose text looks the same with and without a `<p>` around it."""

_LINE_NUMBER = re.compile(r"\b__(?:codelineno|span)-\d+")
_SPACE_BEFORE_PERMALINK = re.compile(r"(?<!\s)\s++(?=\x03a [^\x03\x04]*href=#)")
_SYNONYMS = {"b": "strong", "i": "em"}


def _serialize(element: Element, *, lenient: bool) -> list[str]:
    tag, attrs = element.tag, dict(element.items())
    if lenient:
        tag = _SYNONYMS.get(tag, tag)
        attrs = {k: v for k, v in attributes(element).items() if not _LINE_NUMBER.search(v)}
        if tag in WRAPPERS and not attrs:
            return [part for child in flow(element) for part in _serialize(child, lenient=True)]
        if tag == "span" and not attrs:
            return _serialize_children(element, lenient=True)
        if tag in INLINE and not has_content(element):
            return [" "] if "".join(element.itertext()) else []
    values = "".join(
        f" {name}={_LINE_NUMBER.sub('', value).translate(_CODE_WHITESPACE)}"
        for name, value in sorted(attrs.items())
    )
    if lenient and tag in _TEXT_OR_BLOCKS:
        contents = [part for child in flow(element) for part in _serialize(child, lenient=True)]
    else:
        contents = _serialize_children(element, lenient=lenient)
    if re.fullmatch("h[1-6]", tag):
        # It is trailing white space of the heading.
        contents = [_SPACE_BEFORE_PERMALINK.sub("", "".join(contents))]
    if tag == "pre":
        inner = "".join(contents).translate(_CODE_WHITESPACE)
        contents = [re.sub("(?<!\x06)\x06++(\x03/code\x04)?$", r"\1", inner)]
    start, end = ("\x03", "\x04") if tag in INLINE and tag != "br" else ("\x01", "\x02")
    return [f"{start}{tag}{values}{end}", *contents, f"{start}/{tag}{end}"]


def _serialize_children(element: Element, *, lenient: bool) -> list[str]:
    parts = [element.text or ""]
    for child in element:
        parts += _serialize(child, lenient=lenient)
        parts.append(child.tail or "")
    return parts


def _text(element: Element) -> str:
    return "".join(element.itertext())


def _parse(html: str) -> Element:
    soup = BeautifulSoup(f"<div>{html}</div>", "html.parser", multi_valued_attributes=None)
    return _to_element(cast(Tag, soup.find("div")))


def _to_element(tag: Tag) -> Element:
    """Return a tag as an element, without comments, style sheets and the ends of articles."""
    element = Element(tag.name, {name: str(value) for name, value in tag.attrs.items()})
    last: Element | None = None
    for child in tag.children:
        if isinstance(child, Tag):
            if child.name != "link" and "contentgen-end" not in str(child.get("class")):
                last = _to_element(child)
                element.append(last)
        elif not isinstance(child, PreformattedString):
            if last is None:
                element.text = (element.text or "") + str(child)
            else:
                last.tail = (last.tail or "") + str(child)
    return element
