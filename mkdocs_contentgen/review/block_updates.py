"""Take texts apart into blocks for an update, and put the blocks that a model names into them.

Every other block stays as it is, byte for byte, whatever the model answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date

from bs4 import Tag
from msgspec import structs

from ..errors import EditError, UnsafeHTMLError
from ..html.document import Block, Document, read_content
from ..html.elements import HEADINGS
from ..service.protocol import CITATION, Source, TextBlock, Update, Updated
from ..text import Text, mend
from ..writer.languages import ENGLISH, SOURCES_HEADINGS, find_language

_MAX_UPDATES = 20
_NUMBER = re.compile("[0-9]{1,3}")
_CITATION = re.compile(r"\[\\\[\d{1,3}\\\]\]\(<([^<>]*)>\)|\\\[(\d{1,3})\\\]")
"""A citation in Markdown, as a link or as a label alone."""

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

    What a person wrote stays in any case. Raises EditError for a section that is not there.
    """
    blocks = Document(text.html, image_hosts).blocks()
    numbers = {it.name: number for number, it in enumerate(sources, start=1)}
    listed = _listed_names(blocks)
    numbers |= {
        str(listed.index(it.title) + 1): numbers[it.name]
        for it in sources
        if not it.name.startswith("http") and it.title in listed
    }

    def with_number(citation: re.Match[str]) -> str:
        number = numbers.get(citation[1] or citation[2])
        return f"[{number}]" if number else citation[0]

    inside = _in_section(blocks, section)
    fixed = {it.number for it in _listed_sources(blocks)}
    changed_by = text.edits.changed_by if text.edits else {}
    found = []
    for block in blocks:
        by = changed_by.get(block.digest, "")
        is_fixed = (
            block.kind == "pre"
            or block.number not in inside
            or block.number in fixed
            or (block.kind == "h1" and not note)
            or bool(by)
            or not _is_plain(block, numbers)
        )
        markdown = _CITATION.sub(with_number, block.to_markdown(marks=False))
        checked = " ".join(it for it in block.element.strings if not it.find_parent("mark"))
        # A block that may not change at all is nobody's to doubt.
        is_persons = bool(by) and block.number in inside
        found.append(TextBlock(block.number, block.kind, markdown, checked, is_persons, is_fixed))
    return Update(found, sources, note)


def apply_update(
    text: Text, what: Update, updated: Updated, today: date, image_hosts: Sequence[str] = ()
) -> Text:
    """Return the text with the changes of an update. Raises EditError if it could not be shown."""
    document = Document(text.html, image_hosts)
    blocks = document.blocks()
    was = [it.text for it in blocks]
    changed_by = text.edits.changed_by if text.edits else {}
    by = {it.number: changed_by.get(it.digest, "") for it in blocks}
    allowed = {it.number for it in what.blocks if not it.is_fixed}
    reasons: list[str] = []
    new: list[Tag] = []
    # From the end, since a block that is gone or new moves none that comes before it.
    # Behind a block that is removed, one is inserted first.
    order = sorted(updated.changes, key=lambda it: (it.block, it.action == "insert"), reverse=True)
    for change in order:
        block = blocks[change.block] if change.block in allowed else None
        if (
            block is None
            or block.element.parent is None
            or (change.action == "remove" and block.kind == "h1")
            or (change.action != "remove" and not change.html.strip())
        ):
            continue
        before = _quoted(block.text)
        if change.action == "remove":
            block.remove()
        else:
            content = read_content(change.html)
            if change.action == "change":
                block.set_content(content)
                new.append(block.element)
            else:
                new.append(block.insert_content(content))
        verb = {"change": "changed", "insert": "added below", "remove": "removed"}[change.action]
        reasons.append(f"{verb} {before}: {change.reason or 'no reason given'}")
    used = _link(document, new[::-1], updated.cited)
    try:
        changed = Document(document.to_lines(), image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"the updated text cannot be shown: {error}") from error
    if not {it.digest for it in blocks if by[it.number]} <= {it.digest for it in changed.blocks()}:
        raise EditError("words of a person would be one block with others; edit it on the desk")
    if not reasons:
        reasons = [f"nothing had to change: {updated.reason or 'no reason given'}"]
    sources, passages = _updated_sources(text, what, used, has_changed=bool(new))
    lines = [f"{today}, {updated.model}: {reason}" for reason in reversed(reasons)]
    kept = [it for it in text.remarks if not it.startswith("update: ")]
    doubts = [
        f"update: what {by[it.block]} wrote may be wrong now: {_quoted(was[it.block])}: {it.reason}"
        for it in updated.doubts
        if by.get(it.block)
    ]
    return structs.replace(
        text,
        html=changed.to_lines(),
        # What a model has written is not of a person alone, even if the model has no name.
        model=text.model or (updated.model if new else ""),
        written_by="" if new else text.written_by,
        sources=sources,
        passages=passages,
        remarks=(*kept, *doubts, *updated.remarks),
        updates=(*text.updates, *lines)[-_MAX_UPDATES:],
    )


def _is_plain(block: Block, numbers: Mapping[str, int]) -> bool:
    """Tell whether a model can write all that is in a block: no image, and no other link."""
    for it in block.element.find_all(True):
        if it.name not in _FORMATTING and not (it.name == "a" and it.get("href") in numbers):
            return False
    cited = _CITATION.finditer(block.to_markdown())
    return all((it[1] or it[2]) in numbers for it in cited)


def _quoted(text: str) -> str:
    return f"'{text[:60]}…'" if len(text) > 60 else f"'{text}'"


def _in_section(blocks: Sequence[Block], section: str) -> Collection[int]:
    """Return the numbers of the blocks of a section, or all without one. Raises EditError."""
    if not section:
        return range(len(blocks))
    listed = {it.number for it in _listed_sources(blocks)}  # which nobody may change
    headings = [it for it in blocks if it.kind in HEADINGS - {"h1"} and it.number not in listed]
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


def _listed_sources(blocks: Sequence[Block]) -> list[Block]:
    """Return the heading of the list of sources, and its items, or nothing."""
    starts = [it for it in blocks if it.kind == "h2" and it.text in SOURCES_HEADINGS]
    listed = starts[-1].element.find_next_sibling(True) if starts else None
    items = [it for it in blocks if it.kind == "li" and it.element.parent is listed]
    return [starts[-1], *items] if items and listed and listed.name == "ol" else []


def _listed_names(blocks: Sequence[Block]) -> list[str]:
    """Return the address, or else the title, of each listed source in a text."""
    return [it.links[0] if it.links else it.text for it in _listed_sources(blocks)[1:]]


def _link(document: Document, elements: Sequence[Tag], cited: Mapping[int, Source]) -> list[Source]:
    """Write the links of citations in new blocks, and return the sources that they cite.

    Sources that are cited for the first time are added to the list at the end.
    """
    names = _listed_names(document.blocks())
    used: list[Source] = []
    new: list[Source] = []
    for element in elements:
        for link in element.find_all("a"):
            number = str(link["href"]).removeprefix(f"{CITATION}/")
            source = cited.get(int(number)) if _NUMBER.fullmatch(number) else None
            if source is None:
                continue
            is_page = source.name.startswith("http")
            name = source.name if is_page else source.title
            if name not in names:
                names.append(name)
                new.append(source)
            link.string = f"[{names.index(name) + 1}]"
            if is_page:
                link["href"] = name
            else:
                link.name, link.attrs = "span", {}
            if source not in used:
                used.append(source)
    if new:
        _list_sources(document, new)
    return used


def _list_sources(document: Document, new: Sequence[Source]) -> None:
    """Add sources to the list at the end."""
    article = document.article
    listed = _listed_sources(document.blocks())
    target = listed[1].element.parent if listed else None
    if target is None:
        body = article.find(class_="article-body", recursive=False) or article
        language = find_language(str(article.get("lang", ""))) or ENGLISH
        target = Tag(name="ol")
        body.extend([_new("h2", language.sources), target])
    for source in new:
        item = _new("li", source.title)
        if source.name.startswith("http"):
            item.contents[0].wrap(Tag(name="a", attrs={"href": source.name}))
        target.append(item)


def _new(name: str, text: str) -> Tag:
    tag = Tag(name=name)
    tag.string = text
    return tag


def _updated_sources(
    text: Text, what: Update, used: Sequence[Source], *, has_changed: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return digests and passages of the sources of the updated text."""
    digests, passages = dict(text.sources), dict(text.passages)
    # A note is for its own change: whether the sources make others necessary stays open.
    for source in what.sources if not what.note else ():
        if not source.has_changed:
            continue
        digests[source.name] = source.digest
        if source.now:
            passages[source.name] = source.now
        elif has_changed:  # if a new block cites it, it is added again
            del digests[source.name]
            passages.pop(source.name, None)
    for it in used:
        if it.name and it.name not in digests:
            digests[it.name], passages[it.name] = it.digest, it.now
    found = mend({"sources": digests, "passages": passages})
    return found.get("sources", {}), found.get("passages", {})
