"""The blocks of a text for a person to change: as light Markdown, and back.

Light Markdown is one line with `**bold**`, `*italic*`, `` `code` ``, `[links](<address>)`, and
`==statements to check==`. Other inline elements stay HTML. What comes back is sanitized.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from html import escape
from itertools import pairwise
from typing import Literal
from xml.etree.ElementTree import Element

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from ..digest import sha256
from ..errors import EditError, UnsafeHTMLError
from .article import parse_article
from .plaintext import SENTENCE_END

Kind = Literal["p", "h2", "h3", "li", "blockquote"]
"""What a new block can be."""

MAX_BLOCK = 20_000
"""The maximum length of a block in characters."""

_TAGS = frozenset(
    "h1 h2 h3 h4 h5 h6 p li td th dt dd blockquote figcaption caption pre div text".split()
)
_MAX_MARKS, _MAX_SYNTAX = 100, 500
CELLS = frozenset({"td", "th", "caption", "figcaption"})
"""The kinds of blocks that have their place in a table or a figure."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

LOOSE = "text"
"""The kind of a text that stands beside blocks in the same element, such as an item with a list."""

_CONTAINERS = frozenset({"article", "section", "main", "aside", "header", "footer", "figure"})
_BLOCK_LEVEL = frozenset({"ul", "ol", "dl", "hr", "table", *_CONTAINERS})
_SPECIAL = re.compile(r"[\\`*_\[\]<]|==|&(?=#?\w+;)")
_SYNTAX = {"strong": "**", "b": "**", "em": "*", "i": "*", "mark": "=="}
_MORE_BLOCKS = re.compile(r"\n[ \t]*(?:\n|[-*+] |\d{1,3}[.)] |#{1,6} |> )")
_MARK = re.compile(r"(?<!\\)==.+?(?<!\\)==")


@dataclass(frozen=True)
class Statement:
    """A statement to check."""

    text: str
    sentence: list[tuple[str, bool]]
    """The parts of its sentence, and whether each is this statement."""

    cited: list[str]
    """The addresses that the sentence links to."""


@dataclass(frozen=True)
class Block:
    """A paragraph, heading, item, cell or the like, which contains no other."""

    number: int
    element: Element
    ancestors: tuple[Element, ...]
    """The elements that it is in, from the article to its parent."""

    image_hosts: Sequence[str] = ()

    @property
    def parent(self) -> Element:
        """The element that it is in."""
        return self.ancestors[-1]

    @property
    def kind(self) -> str:
        """The tag."""
        return self.element.tag

    @property
    def text(self) -> str:
        """The plain text."""
        return _text(self.element)

    @property
    def html(self) -> str:
        """The content as HTML."""
        return _content(self.element)

    @property
    def digest(self) -> str:
        """The SHA-256 of the plain text."""
        return sha256(self.text)

    @property
    def markdown(self) -> str:
        """The content as light Markdown, or as HTML where that would not come back the same."""
        markdown, content = _write(self.element).strip(), _content(self.element)
        if self.kind == "pre":
            return markdown
        try:
            return markdown if _content(self.read(markdown)) == content else content
        except EditError:  # a block can have more in it than a person may write
            return content

    def read(self, markdown: str) -> Element:
        """Return an element with the content that light Markdown stands for. Raises EditError."""
        return _read(markdown, self.image_hosts)

    @property
    def statements(self) -> list[Statement]:
        """The statements to check."""
        marks = list(self.element.iter("mark"))
        if self.sentences is None:
            if len(marks) > _MAX_MARKS:
                return [Statement(_text(it), [(_text(it), True)], []) for it in marks]
            return [Statement(_text(it), _parts(self.element, it), []) for it in marks]
        found = []
        for sentence in self.sentences:
            element = self.read(sentence)
            cited = [link.get("href", "") for link in element.iter("a")]
            found += [
                Statement(_text(it), _parts(element, it), cited) for it in element.iter("mark")
            ]
        return found

    @cached_property
    def sentences(self) -> list[str] | None:
        """The sentences as light Markdown, or None where they cannot be told apart for sure."""
        marks = list(self.element.iter("mark"))
        if len(marks) > _MAX_MARKS:
            return None
        sentences = _sentences(self.markdown)
        try:
            read = [self.read(sentence) for sentence in sentences]
        except EditError:
            return None
        same = "".join(map(_content, read)).replace(" ", "")
        return sentences if same == _content(self.element).replace(" ", "") else None


Pair = tuple[Block, Block]
"""A block in two versions of a text."""


def read_blocks(html: str, image_hosts: Sequence[str] = ()) -> tuple[Element, list[Block]]:
    """Return the `<article>` of a text and its blocks. Raises UnsafeHTMLError.

    Text beside blocks is a block, too, until finish() is called. `image_hosts` is the option.
    """
    article = parse_article(html, image_hosts)
    for element in list(article.iter()):
        _wrap_loose_text(element)
    return article, blocks_of(article, image_hosts)


def blocks_of(article: Element, image_hosts: Sequence[str] = ()) -> list[Block]:
    """Return the blocks of an `<article>`."""
    leaves = enumerate(_leaves(article, (article,)))
    return [Block(n, it, ancestors, image_hosts) for n, (it, ancestors) in leaves]


def finish(article: Element) -> Element:
    """Return an `<article>` of read_blocks() as a text has it."""
    parents = {child: parent for parent in article.iter() for child in parent}
    for element in [it for it in article.iter() if it.tag == LOOSE]:
        _replace(parents[element], element, element.text, list(element))
    return article


def set_markdown(block: Block, markdown: str) -> None:
    """Replace the content of a block. Raises EditError for what is too long or empty."""
    if block.kind == "pre":
        raise EditError("code cannot be changed here; change it in the approved file")
    if markdown.count("==") > _MAX_SYNTAX or markdown.count("<") > _MAX_SYNTAX:
        raise EditError(f"a block has at most {_MAX_SYNTAX:,} signs of one kind")
    if len(markdown) > MAX_BLOCK:
        raise EditError(f"a block has at most {MAX_BLOCK:,} characters, not {len(markdown):,}")
    if _MORE_BLOCKS.search(markdown.strip()):
        raise EditError("this is more than one block; add each below the other")
    new = block.read(" ".join(markdown.split()))
    if not "".join(new.itertext()).strip():
        raise EditError("the block would be empty; remove it instead")
    set_content(block, new)


def set_content(block: Block, element: Element) -> None:
    """Replace the content of a block by that of an element."""
    block.element.text, block.element[:] = element.text, deepcopy(element[:])


def unmarked(block: Block) -> Block:
    """Return a block without the marks of its statements. The text stays as it is."""
    copy = replace(block, element=deepcopy(block.element))
    for _ in block.element.iter("mark"):
        confirm_statement(copy, 0)
    return copy


def confirm_statement(block: Block, number: int) -> None:
    """Take the mark off a statement of a block."""
    parents = {child: parent for parent in block.element.iter() for child in parent}
    mark = [*block.element.iter("mark")][number]
    _replace(parents[mark], mark, mark.text, list(mark))


def remove_sentence(article: Element, block: Block, number: int) -> str:
    """Remove the sentence with a statement of a block, and return it. May remove the block."""
    kept, removed, position = [], "", 0
    if block.sentences is None:
        raise EditError("its sentence cannot be told apart; edit the block, or remove it")
    for sentence in block.sentences:
        marks = len(list(block.read(sentence).iter("mark")))
        if position <= number < position + marks:
            removed = sentence
        else:
            kept.append(sentence)
        position += marks
    if rest := "".join(kept).strip():
        set_markdown(block, rest)
    else:
        remove_block(article, block)
    return _text(block.read(removed))


def insert_block(block: Block, kind: Kind, markdown: str) -> None:
    """Insert a block behind another one: an item behind an item. Raises EditError."""
    new = Element("p")
    set_markdown(replace(block, element=new), markdown)
    insert_content(block, new, kind)


def insert_content(block: Block, content: Element, kind: Kind = "p") -> Element:
    """Insert a block with the content of an element behind another one, and return it.

    Raises EditError behind a cell of a table.
    """
    if block.kind in CELLS:
        raise EditError("no block can follow a cell of a table")
    new = Element("li" if block.kind == "li" else "p" if kind == "li" else kind)
    new.text, new[:] = content.text, deepcopy(content[:])
    block.parent.insert(_position(block) + 1, new)
    return new


def remove_block(article: Element, block: Block) -> None:
    """Remove a block, and what is empty without it. A cell becomes empty."""
    if block.kind in CELLS:
        block.element.text, block.element[:] = "", []
        return
    parents = {child: parent for parent in article.iter() for child in parent}
    node = block.element
    while node is not article:
        parent = parents[node]
        _replace(parent, node, "", ())
        if len(parent) or (parent.text or "").strip() or parent.tag in CELLS:
            break
        node = parent


def restore_block(
    article: Element, block: Block, before: Sequence[Pair], after: Sequence[Pair]
) -> None:
    """Insert a block of another version of a text.

    `before` and `after` are the blocks around it that both versions have, the nearest first. What
    the block was in, and is gone too, comes back with it. Raises EditError for what was in a cell
    of a table that is empty now.
    """
    same = {block.ancestors[0]: article}
    for old, new in (*before, *after):
        lines = ((*it.ancestors, it.element) for it in (old, new))
        for one, other in zip(*lines, strict=False):
            if one.tag != other.tag:
                break
            same.setdefault(one, other)
    depth = max(n for n, it in enumerate(block.ancestors) if it in same)
    gone = block.ancestors[depth + 1 :]
    if block.kind in CELLS or any(it.tag in (*CELLS, "tr") for it in gone):
        raise EditError("a cell of a table comes back with `Undo` only")
    node = deepcopy(block.element)
    node.tail = None
    for outer in reversed(gone):
        group = Element(outer.tag, outer.attrib)
        group.append(node)
        node = group
    target = same[block.ancestors[depth]]
    places = [(new, 1) for _, new in before] + [(new, 0) for _, new in after]
    for near, offset in places:
        line = (*near.ancestors, near.element)
        if target is near.element:
            target.insert(len(target) * offset, node)
            return
        if target in near.ancestors:
            child = line[line.index(target) + 1]
            target.insert(list(target).index(child) + offset, node)
            return
    target.insert(0, node)


def move_block(blocks: Sequence[Block], number: int, target: int) -> None:
    """Move a block behind the block `target`, or before the first one of its part with -1.

    Raises EditError where that is another list or part of the text.
    """
    block = blocks[number]
    first = next(it for it in blocks if it.parent is block.parent)
    anchor = first if target < 0 else blocks[target]
    if block.parent is not anchor.parent or block.kind in CELLS:
        raise EditError("a block can only be moved within its list or its part of the text")
    if block is anchor:
        return
    block.parent.remove(block.element)
    block.parent.insert(_position(anchor) + (target >= 0), block.element)


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _parts(element: Element, statement: Element) -> list[tuple[str, bool]]:
    """Return the texts in an element, and whether each is in the statement."""
    parts = [(element.text or "", element is statement)]
    for child in element:
        parts += [(text, is_in or element is statement) for text, is_in in _parts(child, statement)]
        parts.append((child.tail or "", element is statement))
    return [(text, is_in) for text, is_in in parts if text]


def _position(block: Block) -> int:
    return list(block.parent).index(block.element)


def _leaves(
    element: Element, ancestors: tuple[Element, ...]
) -> Iterator[tuple[Element, tuple[Element, ...]]]:
    for child in element:
        has_blocks = any(it.tag in _TAGS for it in child.iter() if it is not child)
        if child.tag in _TAGS and not has_blocks:
            if "".join(child.itertext()).strip():
                yield child, ancestors
        else:
            yield from _leaves(child, (*ancestors, child))


def _wrap_loose_text(element: Element) -> None:
    """Put each text beside blocks into an element of its own."""
    is_block = [it.tag in _TAGS or it.tag in _BLOCK_LEVEL for it in element]
    if element.tag not in _CONTAINERS and not (any(is_block) and element.tag in _TAGS):
        return
    text, element.text = element.text, None
    children, element[:] = list(element), []
    run = Element(LOOSE)
    run.text = text

    def end_run() -> None:
        if "".join(run.itertext()).strip():
            element.append(run)

    for child, ends in zip(children, is_block, strict=True):
        if not ends:
            run.append(child)
            continue
        end_run()
        element.append(child)
        run = Element(LOOSE)
        run.text, child.tail = child.tail, None
    end_run()


def _sentences(text: str) -> list[str]:
    """Return the sentences of a line, with the space that follows each."""
    plain = _OPAQUE.sub(lambda match: "x" * len(match[0]), text)
    marked = [match.span() for match in _MARK.finditer(plain)]
    found = (match.end() for match in SENTENCE_END.finditer(plain))
    ends = [end for end in found if not any(a < end < b for a, b in marked)]
    return [text[a:b] for a, b in pairwise([0, *ends, len(text)]) if text[a:b]]


def _replace(parent: Element, child: Element, text: str | None, content: Sequence[Element]) -> None:
    """Put something in the place of a child. The text behind the child stays."""
    position = list(parent).index(child)

    def add(text: str | None, index: int) -> None:
        if index:
            parent[index - 1].tail = f"{parent[index - 1].tail or ''}{text or ''}"
        else:
            parent.text = f"{parent.text or ''}{text or ''}"

    parent.remove(child)
    add(text, position)
    for offset, inner in enumerate(content):
        parent.insert(position + offset, inner)
    add(child.tail, position + len(content))


def _write(element: Element) -> str:
    parts = [_escape(element.text)]
    for child in element:
        inner, syntax = _write(child), _SYNTAX.get(child.tag)
        if child.tag == "code" and not child.attrib and _CODE.fullmatch(child.text or ""):
            parts.append(f"`{child.text}`")
        elif child.tag == "a" and child.attrib.keys() - {"rel"} == {"href"}:
            parts.append(f"[{inner}](<{child.get('href')}>)")
        elif syntax and inner.strip() == inner != "" and not child.attrib:
            parts.append(f"{syntax}{inner}{syntax}")
        else:
            attributes = "".join(f' {key}="{escape(v)}"' for key, v in child.attrib.items())
            end = "" if child.tag in ("br", "img", "wbr") else f"</{child.tag}>"
            parts.append(f"<{child.tag}{attributes}>{inner}{end}")
        parts.append(_escape(child.tail))
    return re.sub(r"\s+", " ", "".join(parts))


def _content(element: Element) -> str:
    """Return what is in an element as HTML, with spaces as a browser shows them."""
    parts = [escape(element.text or "", quote=False)]
    for child in element:
        attributes = "".join(
            f' {k}="{escape(v)}"' for k, v in sorted(child.attrib.items()) if k != "rel"
        )
        end = "" if child.tag in ("br", "img", "wbr") else f"</{child.tag}>"
        parts.append(f"<{child.tag}{attributes}>{_content(child)}{end}")
        parts.append(escape(child.tail or "", quote=False))
    return re.sub(r"\s+", " ", "".join(parts)).strip() if element.tag in _TAGS else "".join(parts)


_OPAQUE = re.compile(r"`[^`]*`|\]\(<[^<>]*>\)|<[^<>]*>")
_CODE = re.compile(r"[^`\s](?:[^`]*[^`\s])?")


def _escape(text: str | None) -> str:
    return _SPECIAL.sub(lambda match: "".join(f"\\{it}" for it in match[0]), text or "")


def _read(markdown: str, image_hosts: Sequence[str]) -> Element:
    html = _parser().renderInline(markdown)
    try:
        article = parse_article(f"<article><h1>.</h1><p>{html}</p></article>", image_hosts)
    except UnsafeHTMLError as error:
        raise EditError(f"this text cannot be shown: {error}") from error
    if [child.tag for child in article] != ["h1", "p"]:
        raise EditError("a block is text, without other blocks in it")
    return article[1]


def _mark_rule(state: StateInline, silent: bool) -> bool:
    end = state.src.find("==", state.pos + 2, state.posMax)
    if not state.src.startswith("==", state.pos) or end <= state.pos + 2:
        return False
    if not silent:
        most = state.posMax
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = state.pos + 2, end
        state.md.inline.tokenize(state)
        state.posMax = most
        state.push("mark_close", "mark", -1)
    state.pos = end + 2
    return True


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True})
    parser.inline.ruler.before("emphasis", "mark", _mark_rule)
    return parser
