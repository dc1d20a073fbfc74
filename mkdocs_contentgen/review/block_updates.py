"""Take texts apart into blocks for an update, and put the blocks that a model names into them.

Every other block stays as it is, byte for byte, whatever the model answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from bs4 import Tag
from msgspec import structs

from ..citation import Citation
from ..errors import EditError, UnsafeHTMLError
from ..html.block import Block
from ..html.document import Document, ReadText, document_of
from ..html.elements import HEADINGS
from ..html.html_reader import read_content
from ..language.languages import ENGLISH, find_language
from ..remark import OF_UPDATES, Remark
from ..service.protocol import CITED_ADDRESS, BlockChange, TextBlock, Update, Updated
from ..text import MAX_BLOCK, Text
from ..writer.sources.source_lists import listed_items, listed_numbers, name_of_listed

_NO_REASON = "no reason given"
_NUMBER = re.compile("[0-9]{1,3}")
_CITATION = re.compile(
    r"""
    (?P<other>  # code, and addresses
        (?<!\\)`[^`]*` | <code\b(?:[^<]|<(?!/?code))*</code> | <[^<>]*>
    )
    | \[\[\d{1,3}\]\]\(<(?P<address>[^<>]*)>\)
    | \\?\[(?P<label>\d{1,3})\\?\]
    """,
    re.VERBOSE,
)
"""A citation in Markdown, as a link or only as a label, or what has none."""

_FORMATTING = frozenset({"strong", "em", "b", "i", "code", "mark", "br", "span"})


class _Applied(NamedTuple):
    """A change that was made: why, and the element that is new or other than before, if any."""

    reason: str
    element: Tag | None


def plan_update(
    read: ReadText,
    sources: Sequence[Citation],
    *,
    doubtful: Sequence[str] = (),
    note: str = "",
    section: str = "",
) -> Update:
    """Return what a model gets of a text. With `section`, only that part of it may change.

    `doubtful` are the sentences to look at first.

    What a person wrote stays in any case. Raises EditError for a section that is not there.
    """
    text = read.text
    blocks = read.document.blocks()
    numbers = _numbers_of_sources(sources, _listed_names(blocks))
    inside = _in_section(blocks, section)
    listed = listed_numbers(blocks)
    found = []
    for block in blocks:
        is_inside = block.number in inside
        is_persons = bool(text.changed_by.get(block.digest))
        may_change = is_inside and not is_persons and block.number not in listed
        is_changeable = may_change and _can_be_rewritten(block, numbers, note)
        found.append(
            TextBlock(
                block.number,
                block.kind,
                _with_numbers(block.to_markdown(marks=False), numbers),
                _checked_text(block),
                # Outside of the section, the model is not asked to doubt what a person wrote.
                is_persons=is_persons and is_inside,
                is_fixed=not is_changeable,
            )
        )
    return Update(found, sources, note, [sentence[:MAX_BLOCK] for sentence in doubtful])


def read_to_update(text: Text) -> ReadText:
    """Return a text with its document, which has all of its own pictures. Raises UnsafeHTMLError.

    A picture that became a link would add words to its block, which nobody would know then as that
    of a person.
    """
    return ReadText(text, document_of(text.html))


def _can_be_rewritten(block: Block, numbers: Mapping[str, int], note: str) -> bool:
    """Tell whether a model can write a block again: no code, and the title only with a note."""
    if block.kind == "pre" or (block.kind == "h1" and not note):
        return False
    return _is_plain(block, numbers)


def apply_update(text: Text, update: Update, answer: Updated, today: date) -> Text:
    """Return the text with the changes that a model answers to an update.

    Raises EditError if it could not be shown.
    """
    document = read_to_update(text).document
    blocks = document.blocks()
    digests_of_persons = _digests_of_persons(document, text.changed_by)
    doubts = _doubts(blocks, text.changed_by, answer)
    applied = _apply_all(blocks, update, answer)
    new = [change.element for change in applied if change.element is not None]
    used = _write_citations(document, new, answer.cited)
    try:
        changed = Document(document.to_lines(), document.image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"the updated text cannot be shown: {error}") from error
    _check_persons_words(digests_of_persons, changed)
    text = text.with_citations(_updated_citations(text, update, used, has_changed=bool(new)))
    if new:
        text = text.with_words_of(answer.model)
    kept = [remark for remark in text.remarks if remark.kind not in OF_UPDATES]
    lines = [f"{today}, {answer.model}: {reason}" for reason in _reasons(applied, answer)]
    return structs.replace(
        text.with_updates(lines),
        html=changed.to_lines(),
        remarks=(*kept, *doubts, *answer.remarks),
    )


def _digests_of_persons(document: Document, changed_by: Mapping[str, str]) -> set[str]:
    """Return the digests of the blocks that a person wrote."""
    return {digest for digest in document.digests() if changed_by.get(digest)}


def _reasons(applied: Sequence[_Applied], answer: Updated) -> list[str]:
    """Return what was changed and why, or why nothing had to change."""
    if not applied:
        return [f"nothing had to change: {answer.reason or _NO_REASON}"]
    return [change.reason for change in applied]


def _apply_all(blocks: Sequence[Block], update: Update, answer: Updated) -> list[_Applied]:
    """Make the changes that are allowed, in place, and return them in the order of the text.

    Raises EditError.
    """
    allowed = {block.number for block in update.blocks if not block.is_fixed}
    applied = []
    for change in _from_the_end(answer.changes):
        if change.block in allowed and _is_possible(change, blocks[change.block]):
            applied.append(_apply_one(change, blocks[change.block]))
    return applied[::-1]


def _from_the_end(changes: Sequence[BlockChange]) -> list[BlockChange]:
    """Return changes in an order in which each finds its block where the model saw it.

    That is from the end, since a block that is removed or new moves only those after it. What is
    inserted below a block comes before the removal of that, since it needs the block.
    """
    return sorted(
        changes, key=lambda change: (change.block, change.action == "insert"), reverse=True
    )


def _is_possible(change: BlockChange, block: Block) -> bool:
    """Tell whether a change can be made: a title stays, and so does a block without a new text."""
    if block.element.parent is None:  # it was removed
        return False
    if change.action == "remove":
        return block.kind != "h1"
    return bool(change.html.strip())


def _apply_one(change: BlockChange, block: Block) -> _Applied:
    """Make a change of a block, in place. Raises EditError."""
    quoted = block.first_words
    reason = change.reason or _NO_REASON
    if change.action == "remove":
        block.remove()
        return _Applied(f"removed {quoted}: {reason}", None)
    content = read_content(change.html)
    if change.action == "insert":
        return _Applied(f"added below {quoted}: {reason}", block.insert_content(content))
    block.set_content(content)
    return _Applied(f"changed {quoted}: {reason}", block.element)


def _doubts(
    blocks: Sequence[Block], changed_by: Mapping[str, str], answer: Updated
) -> list[Remark]:
    """Return a remark for each block of a person that the model would change."""
    by_number = {block.number: block for block in blocks}
    remarks = []
    for doubt in answer.doubts:
        block = by_number.get(doubt.block)
        if block is None:
            continue
        author = changed_by.get(block.digest)
        if author:
            values = {"author": author, "reason": doubt.reason}
            remarks.append(Remark("update_doubt", block.first_words, values))
    return remarks


def _check_persons_words(digests: Collection[str], changed: Document) -> None:
    """Raise EditError unless each block of a person, by its digest, is in the new text."""
    if not changed.digests().issuperset(digests):
        raise EditError("words of a person would be one block with others; edit it on the desk")


def _numbers_of_sources(sources: Sequence[Citation], listed_names: Sequence[str]) -> dict[str, int]:
    """Return the number of each source as a model gets it, by what cites it in the text.

    A page is cited by a link to its address. A file has no address, so a label such as `[2]` cites
    it, which is its place in the list at the end. If a model gets a page and the file `notes.md`,
    and the text lists the file as its first source, that is:

        {"https://example.org/page/": 1, "file:notes.md": 2, "1": 2}
    """
    numbers: dict[str, int] = {}
    for number, source in enumerate(sources, start=1):
        numbers[source.name] = number
        is_listed_file = not source.is_page and source.title in listed_names
        if is_listed_file:
            label = listed_names.index(source.title) + 1
            numbers[str(label)] = number
    return numbers


def _with_numbers(markdown: str, numbers: Mapping[str, int]) -> str:
    """Return a block in Markdown, in which citations have the numbers that a model gets."""

    def with_number(citation: re.Match[str]) -> str:
        number = None if citation["other"] else numbers.get(_cited(citation))
        if number:
            return f"[{number}]"
        return citation[0]

    return _CITATION.sub(with_number, markdown)


def _cited(citation: re.Match[str]) -> str:
    """Return the address or the label of a citation in Markdown."""
    return citation["address"] or citation["label"]


def _checked_text(block: Block) -> str:
    """Return the text of a block without its statements to check."""
    return " ".join(string for string in block.element.strings if not string.find_parent("mark"))


def _is_plain(block: Block, numbers: Mapping[str, int]) -> bool:
    """Tell whether a model can write all that is in a block: no image, and no other link."""
    for tag in block.element.find_all(True):
        is_citation = tag.name == "a" and tag.get("href") in numbers
        if tag.name not in _FORMATTING and not is_citation:
            return False
    for citation in _CITATION.finditer(block.to_markdown()):
        if not citation["other"] and _cited(citation) not in numbers:
            return False
    return True


def _in_section(blocks: Sequence[Block], section: str) -> Collection[int]:
    """Return the numbers of the blocks of a section, or all without one. Raises EditError."""
    if not section:
        return range(len(blocks))
    fixed = listed_numbers(blocks)
    headings = []
    for block in blocks:
        if block.kind in HEADINGS - {"h1"} and block.number not in fixed:
            headings.append(block)
    wanted = " ".join(section.split()).casefold()
    for position, heading in enumerate(headings, start=1):
        if heading.text.casefold() == wanted:
            end = _end_of_section(heading, headings[position:], len(blocks))
            return range(heading.number, end)
    names = ", ".join(f"'{heading.text}'" for heading in headings) or "none"
    raise EditError(f"has no section '{section}'; its headings are: {names}")


def _end_of_section(heading: Block, following: Sequence[Block], end: int) -> int:
    """Return the number of the next heading of the same level or a higher one, or `end`."""
    for other in following:
        if other.kind <= heading.kind:  # such as "h2" and "h3"
            return other.number
    return end


def _listed_names(blocks: Sequence[Block]) -> list[str]:
    """Return the address, or else the title, of each listed source in a text."""
    return [name_of_listed(item) for item in listed_items(blocks)]


def _write_citations(
    document: Document, elements: Sequence[Tag], cited: Mapping[int, Citation]
) -> list[Citation]:
    """Write the links of citations in new blocks, and return the sources that they cite.

    Sources that are cited for the first time are added to the list at the end.
    """
    names = _listed_names(document.blocks())
    used: list[Citation] = []
    new: list[Citation] = []
    for element in elements:
        for link in element.find_all("a"):
            source = _cited_source(link, cited)
            if source is None:
                continue
            name = source.name if source.is_page else source.title
            if name not in names:
                names.append(name)
                new.append(source)
            _write_citation(link, names.index(name) + 1, source)
            if source not in used:
                used.append(source)
    if new:
        _list_sources(document, new)
    return used


def _cited_source(link: Tag, cited: Mapping[int, Citation]) -> Citation | None:
    """Return the source that a link in a new block cites by its number, or None."""
    number = str(link["href"]).removeprefix(f"{CITED_ADDRESS}/")
    if not _NUMBER.fullmatch(number):
        return None
    return cited.get(int(number))


def _write_citation(link: Tag, number: int, source: Citation) -> None:
    """Give a citation its number in the list at the end. That of a file is not a link."""
    link.string = f"[{number}]"
    if source.is_page:
        link["href"] = source.name
    else:
        link.name = "span"
        link.attrs = {}


def _list_sources(document: Document, new: Sequence[Citation]) -> None:
    """Add sources to the list at the end."""
    article = document.article
    items = listed_items(document.blocks())
    target = items[0].element.parent if items else None
    if target is None:
        body = article.find(class_="article-body", recursive=False) or article
        language = find_language(str(article.get("lang", ""))) or ENGLISH
        target = Tag(name="ol")
        body.extend([_make_tag("h2", language.sources), target])
    for source in new:
        item = _make_tag("li", source.title)
        if source.is_page:
            item.contents[0].wrap(Tag(name="a", attrs={"href": source.name}))
        target.append(item)


def _make_tag(name: str, text: str) -> Tag:
    tag = Tag(name=name)
    tag.string = text
    return tag


def _updated_citations(
    text: Text, update: Update, used: Sequence[Citation], *, has_changed: bool
) -> list[Citation]:
    """Return what the updated text cites. Its new blocks cite what is in `used`."""
    citations = {citation.name: citation for citation in text.citations()}
    # An update with a note is only about the note. Its sources still count as changed after it,
    # so that an update without a note follows them.
    changed = [] if update.note else [source for source in update.sources if source.has_changed]
    for source in changed:
        if source.now or not has_changed:
            citations[source.name] = source
        else:  # if a new block cites it, it is added again
            citations.pop(source.name, None)
    for source in used:
        citations.setdefault(source.name, source)
    return list(citations.values())
