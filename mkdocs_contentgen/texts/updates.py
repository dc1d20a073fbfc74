"""Take a text apart for an update, and put the blocks that have to change into it.

Every other block stays as it is, byte for byte, whatever the model answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from xml.etree.ElementTree import Element, SubElement

from msgspec.structs import replace

from ..errors import EditError, UnsafeHTMLError
from ..html.article import parse_article
from ..html.blocks import (
    HEADINGS,
    Block,
    blocks_of,
    finish,
    insert_content,
    read_blocks,
    remove_block,
    set_content,
    unmarked,
)
from ..service.updates import CITATION, Cited, Source, TextBlock, Update, Updated
from ..text import Text, mend
from ..writer.languages import ENGLISH, SOURCES_HEADINGS, find_language
from .approval import to_lines

_MAX_UPDATES = 20
_NOT_LISTED = re.compile(r"(\d{1,9}) earlier changes are not listed")
_LABEL = re.compile(r"\[(\d{1,3})\]")
_CITED = re.compile(r"\[\\\[\d{1,3}\\\]\]\(<([^<>]*)>\)")
_QUOTED = re.compile('"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|`([^`]+)`')
_WORDS_TO_NAME = 5
_PLAIN_LABEL = re.compile(r"\\\[(\d{1,3})\\\]")
_FORMATTING = frozenset({"strong", "em", "b", "i", "code", "mark", "br", "span"})


def plan_update(
    text: Text,
    sources: Sequence[Source],
    *,
    note: str = "",
    section: str = "",
    image_hosts: Sequence[str] = (),
) -> Update:
    """Return what a model gets of a text. With `section`, only that part of it may change.

    What a person wrote may only change with a note that names it: by its section, or by the words
    that it begins with. Raises EditError for a section that is not there.
    """
    _, blocks = read_blocks(text.html, image_hosts)
    numbers = {it.name: number for number, it in enumerate(sources, start=1)}
    shown = _labels(blocks)
    labels = {
        str(shown[it.title]): number
        for number, it in enumerate(sources, start=1)
        if not it.name.startswith("http") and it.title in shown
    }
    inside = _in_section(blocks, section)
    listed = set(_listed_sources(blocks))
    changed_by = text.edits.changed_by if text.edits else {}
    found = []
    heading = ""
    for block in blocks:
        heading = block.text if block.kind in HEADINGS else heading
        by = changed_by.get(block.digest, "")
        is_fixed = (
            block.kind == "pre"
            or block.number not in inside
            or block.number in listed
            or (block.kind == "h1" and not note)
            or bool(by and not _names(note, section, block, heading))
            or not _is_plain(block, numbers, labels)
        )
        markdown = _CITED.sub(
            lambda match: f"[{numbers[match[1]]}]" if match[1] in numbers else match[0],
            unmarked(block).markdown,
        )
        markdown = _PLAIN_LABEL.sub(
            lambda match: f"[{labels[match[1]]}]" if match[1] in labels else match[0], markdown
        )
        checked = " ".join(_unmarked(block.element))
        # A block that may not change at all is nobody's to doubt.
        is_persons = bool(by) and block.number in inside
        found.append(TextBlock(block.number, block.kind, markdown, checked, is_persons, is_fixed))
    return Update(found, sources, note)


def apply_update(
    text: Text,
    what: Update,
    updated: Updated,
    today: date,
    image_hosts: Sequence[str] = (),
) -> Text:
    """Return the text with the changes of an update. Raises EditError if it could not be shown."""
    article, blocks = read_blocks(text.html, image_hosts)
    was = [it.text for it in blocks]
    changed_by = text.edits.changed_by if text.edits else {}
    by = {it.number: changed_by.get(it.digest, "") for it in blocks}
    allowed = {it.number for it in what.blocks if not it.is_fixed}
    cited = {it.number: it for it in updated.cited}
    labels = _labels(blocks)
    reasons: list[str] = []
    new: list[Element] = []
    # From the end, since a block that is gone or new moves none that comes before it.
    # Behind a block that is removed, one is inserted first.
    order = sorted(updated.changes, key=lambda it: (it.block, it.action == "insert"), reverse=True)
    for change in order:
        block = blocks[change.block] if change.block in allowed else None
        if (
            block is None
            or block.element not in list(block.parent)
            or (change.action == "remove" and block.kind == "h1")
            or (change.action != "remove" and not change.html.strip())
        ):
            continue
        before = _quoted(block.text)
        if change.action == "remove":
            remove_block(article, block)
        else:
            content = _content(change.html, plain=block.kind in HEADINGS)
            if change.action == "change":
                set_content(block, content)
                new.append(block.element)
            else:
                new.append(insert_content(block, content))
        verb = {"change": "changed", "insert": "added below", "remove": "removed"}[change.action]
        reasons.append(f"{verb} {before}: {change.reason or 'no reason given'}")
    used = _link(new[::-1], labels, cited)
    _list_sources(article, labels, used)
    html = to_lines(finish(article))
    try:
        _, now = read_blocks(html, image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"the updated text cannot be shown: {error}") from error
    if not reasons:
        reasons = [f"nothing had to change: {updated.reason or 'no reason given'}"]
    sources, passages = _sources(text, what, used, article, has_changed=bool(new))
    lines = [f"{today}, {updated.model}: {reason}" for reason in reversed(reasons)]
    kept = [it for it in text.remarks if not it.startswith("update: ")]
    doubts = [
        f"update: what {by[it.block]} wrote may be wrong now: {_quoted(was[it.block])}: {it.reason}"
        for it in updated.doubts
        if by.get(it.block)
    ]
    edits = text.edits
    if edits:
        digests = {it.digest for it in now}
        still = {k: v for k, v in edits.changed_by.items() if k in digests}
        edits = replace(edits, changed_by=still)
    return replace(
        text,
        html=html,
        model=text.model or updated.model,
        sources=sources,
        passages=passages,
        remarks=(*kept, *doubts, *updated.remarks),
        edits=edits,
        updates=_recorded([*text.updates, *lines]),
    )


def _recorded(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the last changes of a text, and how many are not among them."""
    if len(lines) <= _MAX_UPDATES:
        return tuple(lines)
    earlier, *rest = lines
    known = _NOT_LISTED.fullmatch(earlier)
    left_out = int(known[1]) if known else 0
    rest = rest if known else list(lines)
    left_out += len(rest) - _MAX_UPDATES + 1
    return (f"{left_out} earlier changes are not listed", *rest[1 - _MAX_UPDATES :])


def _is_plain(block: Block, numbers: Mapping[str, int], labels: Mapping[str, int]) -> bool:
    """Tell whether a model can write all that is in a block: no image, and no other link."""
    for it in block.element.iter():
        is_citation = it.tag == "a" and it.get("href") in numbers
        if it is not block.element and it.tag not in _FORMATTING and not is_citation:
            return False
    outside = _CITED.sub("", block.markdown)
    return all(label in labels for label in _PLAIN_LABEL.findall(outside))


def _quoted(text: str) -> str:
    return f"'{text[:60]}…'" if len(text) > 60 else f"'{text}'"


def _in_section(blocks: Sequence[Block], section: str) -> Collection[int]:
    """Return the numbers of the blocks of a section, or all without one. Raises EditError."""
    if not section:
        return range(len(blocks))
    listed = _listed_sources(blocks)
    headings = [
        it for it in blocks if it.kind in HEADINGS and it.kind != "h1" and it.number not in listed
    ]
    wanted = " ".join(section.split()).casefold()
    start = next((it for it in headings if it.text.casefold() == wanted), None)
    if start is None:
        names = ", ".join(f"'{it.text}'" for it in headings) or "none"
        raise EditError(f"has no section '{section}'; its headings are: {names}")
    end = next(
        (it.number for it in headings if it.number > start.number and it.kind <= start.kind),
        len(blocks),
    )
    return range(start.number, end)


def _names(note: str, section: str, block: Block, heading: str) -> bool:
    """Tell whether a note is about this block of a person."""
    if not note or section:
        return bool(note)
    text, said = block.text.casefold(), " ".join(note.split()).casefold()
    names = [it for found in _QUOTED.findall(said) for it in found if it]
    if any(text.startswith(it) or heading.casefold() == it for it in names):
        return True
    words = text.split()[:_WORDS_TO_NAME]
    return len(words) == _WORDS_TO_NAME and f" {' '.join(words)} " in f" {said} "


def _unmarked(element: Element) -> Iterator[str]:
    """Yield the texts in an element that are outside of statements to check."""
    if element.tag == "mark":
        return
    yield element.text or ""
    for child in element:
        yield from _unmarked(child)
        yield child.tail or ""


def _listed_sources(blocks: Sequence[Block]) -> list[int]:
    """Return the numbers of the blocks with the list of sources, the heading first, or nothing."""
    starts = [it for it in blocks if it.kind == "h2" and it.text in SOURCES_HEADINGS]
    if not starts:
        return []
    after = [it for it in blocks if it.number > starts[-1].number]
    items = [it for it in after if it.kind == "li" and it.parent.tag == "ol"]
    if not items or items[0] is not after[0]:
        return []
    return [starts[-1].number, *(it.number for it in items if it.parent is items[0].parent)]


def _labels(blocks: Sequence[Block]) -> dict[str, int]:
    """Return the number of each listed source in a text, by its address, or else its title."""
    items = [blocks[number] for number in _listed_sources(blocks)[1:]]
    found: dict[str, int] = {}
    for number, item in enumerate(items, start=1):
        links = [link.get("href", "") for link in item.element.iter("a")]
        found.setdefault(links[0] if links else item.text, number)
    return found


def _content(html: str, *, plain: bool) -> Element:
    """Return an element with the content of a block. Raises EditError."""
    try:
        article = parse_article(f"<article><h1>.</h1><p>{html}</p></article>")
    except UnsafeHTMLError as error:
        raise EditError(f"the updated text cannot be shown: {error}") from error
    paragraph = next(it for it in article if it.tag == "p")
    if plain:  # headings have neither statements to check nor links
        text = " ".join("".join(paragraph.itertext()).split())
        paragraph[:], paragraph.text = [], _LABEL.sub("", text).strip()
    return paragraph


def _link(
    elements: Sequence[Element], labels: dict[str, int], cited: Mapping[int, Cited]
) -> list[Cited]:
    """Write the links of citations in new blocks, and return the sources that they cite."""
    used: list[Cited] = []
    for element in elements:
        for link in list(element.iter("a")):
            number = link.get("href", "").removeprefix(f"{CITATION}/")
            source = cited.get(int(number)) if number.isdecimal() else None
            if source is None:
                continue
            label = labels.setdefault(_label_name(source), len(labels) + 1)
            link.text = f"[{label}]"
            if source.name.startswith("http"):
                link.set("href", source.name)
            else:
                link.tag = "span"
                link.attrib.clear()
            if source not in used:
                used.append(source)
    return used


def _label_name(source: Cited) -> str:
    return source.name if source.name.startswith("http") else source.title


def _list_sources(article: Element, labels: Mapping[str, int], used: Sequence[Cited]) -> None:
    """Add the sources that are cited for the first time to the list at the end."""
    blocks = blocks_of(article)
    _, *items = _listed_sources(blocks) or [0]
    new = [it for it in used if labels[_label_name(it)] > len(items)]
    if not new:
        return
    if items:
        target = blocks[items[0]].parent
    else:
        body = next((it for it in article if it.get("class") == "article-body"), article)
        language = find_language(article.get("lang", "")) or ENGLISH
        SubElement(body, "h2").text = language.sources
        target = SubElement(body, "ol")
    for source in new:
        item = SubElement(target, "li")
        if source.name.startswith("http"):
            SubElement(item, "a", {"href": source.name}).text = source.title
        else:
            item.text = source.title


def _sources(
    text: Text, what: Update, used: Sequence[Cited], article: Element, *, has_changed: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return digests and passages of the sources of the updated text."""
    digests, passages = dict(text.sources), dict(text.passages)
    blocks = blocks_of(article)
    listed = set(_listed_sources(blocks))
    links = {
        link.get("href")
        for block in blocks
        if block.number not in listed
        for link in block.element.iter("a")
    }
    # A note is for its own change: whether the sources make others necessary stays open.
    for source in what.sources if not what.note else ():
        if not source.has_changed:
            continue
        is_page = source.name.startswith("http")
        if source.now:
            digests[source.name], passages[source.name] = source.digest, source.now
        elif source.name not in links if is_page else has_changed:  # nothing rests on it any more
            digests.pop(source.name, None)
            passages.pop(source.name, None)
    for it in used:
        if it.name and it.name not in digests:
            digests[it.name], passages[it.name] = it.digest, it.text
    found = mend({"sources": digests, "passages": passages})
    return found["sources"], found["passages"]
