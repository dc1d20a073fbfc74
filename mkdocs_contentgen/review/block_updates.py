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
from ..text import Edits, Text, mend
from ..writer.languages import ENGLISH, SOURCES_HEADINGS, find_language

_MAX_UPDATES = 20
_NUMBER = re.compile("[0-9]{1,3}")
_CITED = re.compile(r"\[\\\[\d{1,3}\\\]\]\(<([^<>]*)>\)")
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

    What a person wrote stays in any case. Raises EditError for a section that is not there.
    """
    blocks = Document(text.html, image_hosts).blocks()
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
    for block in blocks:
        by = changed_by.get(block.digest, "")
        is_fixed = (
            block.kind == "pre"
            or block.number not in inside
            or block.number in listed
            or (block.kind == "h1" and not note)
            or bool(by)
            or not _is_plain(block, numbers, labels)
        )
        markdown = _CITED.sub(
            lambda match: f"[{numbers[match[1]]}]" if match[1] in numbers else match[0],
            block.to_markdown(marks=False),
        )
        markdown = _PLAIN_LABEL.sub(
            lambda match: f"[{labels[match[1]]}]" if match[1] in labels else match[0], markdown
        )
        checked = " ".join(it for it in block.element.strings if not it.find_parent("mark"))
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
    document = Document(text.html, image_hosts)
    blocks = document.blocks()
    was = [it.text for it in blocks]
    changed_by = text.edits.changed_by if text.edits else {}
    by = {it.number: changed_by.get(it.digest, "") for it in blocks}
    allowed = {it.number for it in what.blocks if not it.is_fixed}
    labels = _labels(blocks)
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
            content = _content(change.html, is_heading=block.kind in HEADINGS)
            if change.action == "change":
                block.set_content(content)
                new.append(block.element)
            else:
                new.append(block.insert_content(content))
        verb = {"change": "changed", "insert": "added below", "remove": "removed"}[change.action]
        reasons.append(f"{verb} {before}: {change.reason or 'no reason given'}")
    used = _link(new[::-1], labels, updated.cited)
    _list_sources(document, labels, used)
    try:
        changed = Document(document.to_lines(), image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"the updated text cannot be shown: {error}") from error
    if not reasons:
        reasons = [f"nothing had to change: {updated.reason or 'no reason given'}"]
    sources, passages = _updated_sources(text, what, used, document, has_changed=bool(new))
    lines = [f"{today}, {updated.model}: {reason}" for reason in reversed(reasons)]
    kept = [it for it in text.remarks if not it.startswith("update: ")]
    doubts = [
        f"update: what {by[it.block]} wrote may be wrong now: {_quoted(was[it.block])}: {it.reason}"
        for it in updated.doubts
        if by.get(it.block)
    ]
    written = {was[number]: who for number, who in by.items() if who}
    made = {*was, *(" ".join(it.get_text().split()) for it in new)}
    return structs.replace(
        text,
        html=changed.to_lines(),
        # What a model has written is not of a person alone, even if the model has no name.
        model=text.model or (updated.model if new else ""),
        written_by="" if new else text.written_by,
        sources=sources,
        passages=passages,
        remarks=(*kept, *doubts, *updated.remarks),
        edits=_edits_after(text.edits, changed, written, made),
        updates=(*text.updates, *lines)[-_MAX_UPDATES:],
    )


def _edits_after(
    edits: Edits | None, document: Document, written: Mapping[str, str], made: Collection[str]
) -> Edits | None:
    """Return the edits of an updated text: what persons have `written` stays theirs.

    Without a list between them, their words and others become one block, which is not in `made`.
    """
    if edits is None:
        return None
    changed_by: dict[str, str] = {}
    for block in document.blocks():
        parts = [who for words, who in written.items() if words and words in block.text]
        if known := edits.changed_by.get(block.digest):
            changed_by[block.digest] = known
        elif parts and block.text not in made:
            changed_by[block.digest] = parts[0]
    return structs.replace(edits, changed_by=changed_by)


def _is_plain(block: Block, numbers: Mapping[str, int], labels: Mapping[str, int]) -> bool:
    """Tell whether a model can write all that is in a block: no image, and no other link."""
    for it in block.element.find_all(True):
        if it.name not in _FORMATTING and not (it.name == "a" and it.get("href") in numbers):
            return False
    outside = _CITED.sub("", block.to_markdown())
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


def _listed_sources(blocks: Sequence[Block]) -> list[int]:
    """Return the numbers of the blocks with the list of sources, the heading first, or nothing."""
    starts = [it for it in blocks if it.kind == "h2" and it.text in SOURCES_HEADINGS]
    if not starts:
        return []
    after = [it for it in blocks if it.number > starts[-1].number]
    items = [it for it in after if it.kind == "li" and it.parent.name == "ol"]
    if not items or items[0] is not after[0]:
        return []
    return [starts[-1].number, *(it.number for it in items if it.parent is items[0].parent)]


def _labels(blocks: Sequence[Block]) -> dict[str, int]:
    """Return the number of each listed source in a text, by its address, or else its title."""
    items = [blocks[number] for number in _listed_sources(blocks)[1:]]
    found: dict[str, int] = {}
    for number, item in enumerate(items, start=1):
        found.setdefault(item.links[0] if item.links else item.text, number)
    return found


def _content(html: str, *, is_heading: bool) -> Tag:
    """Return an element with the content of a block. Raises EditError."""
    paragraph = read_content(html)
    for tag in paragraph.find_all(True) if is_heading else ():
        if tag.name == "a":  # no citation stands in a heading
            tag.decompose()
        elif tag.name != "mark":
            tag.unwrap()
    return paragraph


def _link(
    elements: Sequence[Tag], labels: dict[str, int], cited: Mapping[int, Source]
) -> list[Source]:
    """Write the links of citations in new blocks, and return the sources that they cite."""
    used: list[Source] = []
    for element in elements:
        for link in element.find_all("a"):
            number = str(link["href"]).removeprefix(f"{CITATION}/")
            source = cited.get(int(number)) if _NUMBER.fullmatch(number) else None
            if source is None:
                continue
            link.string = f"[{labels.setdefault(_label_name(source), len(labels) + 1)}]"
            if source.name.startswith("http"):
                link["href"] = source.name
            else:
                link.name, link.attrs = "span", {}
            if source not in used:
                used.append(source)
    return used


def _label_name(source: Source) -> str:
    return source.name if source.name.startswith("http") else source.title


def _list_sources(document: Document, labels: Mapping[str, int], used: Sequence[Source]) -> None:
    """Add the sources that are cited for the first time to the list at the end."""
    blocks, article = document.blocks(), document.article
    _, *items = _listed_sources(blocks) or [0]
    new = [it for it in used if labels[_label_name(it)] > len(items)]
    if not new:
        return
    if items:
        target = blocks[items[0]].parent
    else:
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
    text: Text, what: Update, used: Sequence[Source], document: Document, *, has_changed: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return digests and passages of the sources of the updated text."""
    digests, passages = dict(text.sources), dict(text.passages)
    blocks = document.blocks()
    listed = set(_listed_sources(blocks))
    links = {link for block in blocks if block.number not in listed for link in block.links}
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
        else:
            digests[source.name] = source.digest
    for it in used:
        if it.name and it.name not in digests:
            digests[it.name], passages[it.name] = it.digest, it.now
    found = mend({"sources": digests, "passages": passages})
    return found.get("sources", {}), found.get("passages", {})
