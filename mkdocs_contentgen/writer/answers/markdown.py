"""Read the Markdown of a model, and give it the HTML of interface section 2.2.

HTML in it stays text, images are dropped, and links lose their address, since nobody vouches for
it. Statements that a person has to check are put into `<mark>`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ...html.elements import HEADINGS
from ...html.formulas import FORMULA
from ...html.markup import STYLES, byline, root, tag
from ...language.languages import ENGLISH, Language, find_language
from ...language.values import guess_language
from ...language.words import split_words
from ..marks.marking import Given, inline_text, mark_code_block, mark_paragraph
from .document import MarkdownBlock, MarkdownDocument
from .parser import CODE_BLOCKS, TIP, TIPS, answer_parser, excess_problem
from .reading import MAX_TEXT
from .transforms import OF_PERSONS, TRANSFORMS, blocks_of, remarks_in

_MAX_TITLE = 150
"""The maximum length of a title that is taken from the topic, in characters."""

_MAX_LEVEL = 4
"""The deepest level of a heading."""

_TIP_LABEL = re.compile(
    rf"\A\s*(?:💡\s*)?(?P<start>(?:<\w+>)*)(?:💡\s*)?(?:pro[ -]?)?(?:{TIPS})"
    r"(?P<before>(?:</\w+>)*)\s?[:：](?P<end>(?:</\w+>)*)(?:<br />)?\s*",
    re.IGNORECASE,
)
"""The label of a tip in HTML: tags may stand before it and around its colon."""

_LABEL = re.compile(r"\W*\w+(?: \w+){0,2}\W{0,3}[:：]")
"""A label of a box, such as `Note:`."""

_SPEAKER = re.compile(r"\W*(?:[A-Z]\w+ ){1,2}[A-Z]\w+\W{0,3}:")
"""What looks like a label but can be a name, such as `Mayor Jane Smith:`."""

_SECTION_NUMBER = re.compile(r"(\d{1,2})\s+(?=[^\W\d])")
"""The number of a section at the start of its heading."""

# A text with more of them is not read: it is not for people, and takes seconds.
_MAX_LINES = 5_000
_MAX_CELLS = 10_000
"""The number of lines times that of columns, as if all lines were rows of one table."""

_MAX_REFERENCES = 40_000
"""The references of a paragraph times its lines, added up, as the time to read them grows."""


def read_markdown(
    text: str, *, title: str = "", by_person: bool = False, has_sources: bool = False
) -> MarkdownDocument:
    """Return the document in a Markdown text, with `title` where it has none.

    The title is the first heading of level 1 if it is the only one, if another heading comes next,
    or if it repeats `title`. Without such a heading, it is the first block if that repeats `title`.
    Later repetitions of the title are left out. The other headings become sections of level 2 and
    deeper, without gaps between the levels. Images are dropped, and
    headings within lists and quotations become paragraphs. Of a text that is too large, nothing is
    read.

    What a text `by_person` says again stays. With `has_sources`, numbers in brackets cite them.
    """
    document = MarkdownDocument(problem=_size_problem(text))
    if document.problem:
        return document
    environment: dict[str, Any] = {"has_sources": has_sources}
    tokens = answer_parser().parse(text, environment)
    document.problem = environment.get("problem", "")
    blocks = blocks_of(tokens, environment)
    for transform in OF_PERSONS if by_person else TRANSFORMS:
        blocks = transform(blocks, environment)
    document.blocks = blocks
    topic = split_words(title)
    heading = _find_title(document.blocks, topic)
    _take_title(document, heading, topic)
    _close_gaps(document.blocks)
    if not inline_text(document.title).strip():
        document.title = [Token("text", "", 0, content=" ".join(title.split())[:_MAX_TITLE])]
    document.remarks = remarks_in(environment)
    return document


def _take_title(
    document: MarkdownDocument, heading: MarkdownBlock | None, topic: list[str]
) -> None:
    """Make a heading the title, and leave out what repeats the title.

    Without a heading, blocks at the beginning that repeat the `topic` are the title.
    """
    title = _inline(heading) if heading else []
    title_words = heading.words if heading else topic
    blocks: list[MarkdownBlock] = []
    for block in document.blocks:
        if block is not heading and not _repeats(block, title_words):
            blocks.append(block)
    while title_words and blocks and blocks[0].words == title_words:
        repeated = blocks.pop(0)
        title = title or _inline(repeated)
    document.blocks = blocks
    # A page shows its title in bold anyway.
    document.title = [token for token in title if token.tag != "strong"]


def _find_title(blocks: Sequence[MarkdownBlock], topic: list[str]) -> MarkdownBlock | None:
    """Return the heading that is the title of a text, or None: several of level 1 can be sections.

    `topic` are the words of the title that it is likely to have.
    """
    headings = [block for block in blocks if block.kind == "h1"]
    if not headings:
        return None
    first = headings[0]
    after = blocks.index(first) + 1
    is_followed = after < len(blocks) and blocks[after].kind in HEADINGS
    is_only = all(block.words == first.words for block in headings)
    if is_only or is_followed or first.words == topic:
        return first
    return None


def _repeats(block: MarkdownBlock, title_words: list[str]) -> bool:
    """Tell whether a block is the title once more, as a heading of its level."""
    return block.kind == "h1" and block.words == title_words


def as_section(
    document: MarkdownDocument, heading: str, later: Sequence[str]
) -> list[MarkdownBlock]:
    """Return the blocks of a section of a text, with its `heading` and no other of that level.

    What follows the heading of a `later` section is left out.
    """
    heading_blocks = read_markdown(f"## {heading}").blocks  # one, unless it has no words
    blocks = _without_later_sections(document.blocks, later)
    indexes = [index for index, block in enumerate(blocks) if block.kind == "h2"]
    for index in indexes:
        blocks[index].tokens[0].tag = "h3"
        blocks[index].tokens[-1].tag = "h3"
    if not (heading_blocks and indexes):
        return [*heading_blocks, *blocks]
    # The first heading of the section is replaced, whatever it says.
    first = indexes[0]
    return [*blocks[:first], *heading_blocks, *blocks[first + 1 :]]


def _without_later_sections(
    blocks: Sequence[MarkdownBlock], later: Sequence[str]
) -> list[MarkdownBlock]:
    """Return the blocks up to the first heading that is one of the `later` ones."""
    later_words = [split_words(heading) for heading in later]
    kept = []
    for block in blocks:
        if block.kind == "h2" and block.words in later_words:
            break
        kept.append(block)
    return kept


def to_html(
    document: MarkdownDocument,
    kind: str,
    *,
    given: str,
    day: date,
    author: str = "",
    names: bool = False,
    after: Sequence[str] = (),
    language: str = "",
) -> str:
    """Return the HTML of a text of type `kind` (interface section 2.2).

    What does not stand in `given` is marked as a statement to check. Names and code are only marked
    with `names`, which is true for a text with sources. `day` and `author`, if a person wrote it,
    are those of a news article. `after` is the HTML that follows the text. `language` is a BCP 47
    tag, or empty if it is not known.
    """
    phrases = find_language(language)
    marking_language = language or guess_language(document.text, given)
    mark_paragraph(document.title, Given(given, language=marking_language))
    given_to_blocks = Given(given, names, marking_language)
    numbered = _numbered_headings(document.blocks)
    for block in document.blocks:
        _style(block)
        if block in numbered:
            _split_number(_inline(block))
        _mark(block, given_to_blocks, is_numbered=block in numbered)
    title = tag("h1", _render_inline(document.title))
    match kind:
        case "blog":
            content = [title, *_blog(document.blocks, phrases), *after]
        case "news":
            name = author or (phrases or ENGLISH).byline
            header = tag("p", byline(name, day, day.isoformat()), "byline")
            content = [tag("header", f"{title}\n{header}"), *_news(document.blocks, after)]
        case _:
            content = [title, *map(_render, document.blocks), *after]
    return root(kind, content, language)


def paragraph_html(document: MarkdownDocument, given: str, *, names: bool = False) -> str:
    """Return the content of a text's first paragraph as HTML, marked as to_html() does.

    It is empty for a text without a paragraph.
    """
    inline = _inline(document.blocks[0]) if document.blocks else []
    mark_paragraph(inline, Given(given, names, guess_language(document.text, given)))
    return _render_inline(inline).strip()


def is_tip(block: MarkdownBlock) -> bool:
    """Tell whether a block is a paragraph that begins with `Tip:`."""
    is_short = block.kind == "p" or (block.kind == "blockquote" and len(block.inlines) == 1)
    return is_short and bool(TIP.match(block.text))


def is_quote(block: MarkdownBlock) -> bool:
    """Tell whether a block has a quotation, and is no box that begins with `Note:`."""
    has_quote = any(token.type == "blockquote_open" for token in block.tokens)
    is_label = _LABEL.match(block.text) and not _SPEAKER.match(block.text)
    return has_quote and not (is_label or TIP.match(block.text))


def _first_paragraph(blocks: Sequence[MarkdownBlock]) -> MarkdownBlock | None:
    """Return the paragraph with which a text begins: at most headings and tips stand before it."""
    texts = (block for block in blocks if block.kind not in HEADINGS and not is_tip(block))
    first = next(texts, None)
    return first if first and first.kind == "p" else None


def _blog(blocks: list[MarkdownBlock], phrases: Language | None) -> list[str]:
    intro = _first_paragraph(blocks)
    content = []
    for block in blocks:
        if is_tip(block):
            content.append(_tip(block, phrases))
        elif block is intro:
            content.append(_paragraph(block, "intro"))
        elif block is blocks[-1] and block.kind == "p":
            content.append(_paragraph(block, "conclusion"))
        else:
            content.append(_render(block))
    return content


def _tip(block: MarkdownBlock, phrases: Language | None) -> str:
    match = TIP.match(block.text)
    label = match[1] if match else ""
    if phrases:
        label = phrases.tip
    text = _TIP_LABEL.sub(_without_label, _render_inline(_inline(block)))
    return tag("div", f"💡 <strong>{html.escape(label)}:</strong> {text}", "pro-tip")


def _without_label(match: re.Match[str]) -> str:
    """Return what is left of the label of a tip, which can be in bold, alone or with its text."""
    # With an end tag beside the colon, the start tag belongs to the label, and else to the text.
    is_bold_alone = match["before"] or match["end"]
    return "" if is_bold_alone else match["start"]


def _news(blocks: list[MarkdownBlock], after: Sequence[str]) -> list[str]:
    lead = _first_paragraph(blocks)
    body = [_render(block) for block in blocks if block is not lead]
    parts = [_paragraph(lead, "lead")] if lead else []
    return [*parts, tag("div", "\n".join([*body, *after]), "article-body")]


def _paragraph(block: MarkdownBlock, class_name: str) -> str:
    return tag("p", _render_inline(_inline(block)), class_name)


def _size_problem(text: str) -> str:
    """Return why a text is too large to be read, or an empty string."""
    lines = text.split("\n")
    columns = 0
    for line in lines:
        is_line_below_table_head = "-" in line and not line.strip("|:-> \t")
        if is_line_below_table_head:
            columns = max(columns, line.count("|"))
    paragraphs = text.split("\n\n")
    references = sum(part.count("]:") * part.count("\n") for part in paragraphs)
    return (
        excess_problem("characters", len(text), MAX_TEXT)
        or excess_problem("lines", len(lines), _MAX_LINES)
        or excess_problem("lines times columns of a table", len(lines) * columns, _MAX_CELLS)
        or excess_problem("references times lines", references, _MAX_REFERENCES)
    )


@cache
def _renderer() -> MarkdownIt:
    """Return what renders the tokens of answers."""
    parser = MarkdownIt("commonmark")
    parser.add_render_rule(FORMULA, _render_formula)
    for name in CODE_BLOCKS:
        parser.add_render_rule(name, _render_code)
    return parser


def _render_code(
    _: object, tokens: Sequence[Token], index: int, options: object, environment: object
) -> str:
    token = tokens[index]
    language = re.match(r"[a-z0-9+#-]+(?=\s|$)", token.info.lower())
    name = ""
    if language:
        name = f' class="language-{language[0]}"'
    return tag("pre", f"<code{name}>{_marked_code(token)}</code>")


def _marked_code(token: Token) -> str:
    """Return the content of a code block as HTML, with its statements to check in `<mark>`."""
    parts: list[str] = []
    done = 0
    for marked in token.meta.get("marks", ()):
        parts.append(html.escape(token.content[done : marked.start]))
        parts.append(f"<mark>{html.escape(marked.of(token.content))}</mark>")
        done = marked.end
    parts.append(html.escape(token.content[done:]))
    return "".join(parts)


def _render_formula(
    _: object, tokens: Sequence[Token], index: int, options: object, environment: object
) -> str:
    return html.escape(tokens[index].content)


def _inline(block: MarkdownBlock) -> list[Token]:
    """Return the inline tokens of a paragraph or heading."""
    return next(iter(block.inlines), [])


def _close_gaps(blocks: list[MarkdownBlock]) -> None:
    """Give the headings levels from 2, each one below that of the section that it stands in."""
    sections: list[int] = []
    """The original levels of the enclosing sections."""

    for block in blocks:
        if block.tokens[0].type == "heading_open":
            level = int(block.kind[1])
            while sections and sections[-1] >= level:
                sections.pop()
            sections.append(level)
            shown = min(len(sections) + 1, _MAX_LEVEL)
            block.tokens[0].tag = f"h{shown}"
            block.tokens[-1].tag = f"h{shown}"


def _style(block: MarkdownBlock) -> None:
    """Add the inline styles, in place."""
    for token in block.tokens:
        tag_name = "ol" if token.tag == "ul" else token.tag  # both lists look the same
        style = STYLES.get(tag_name)
        if token.nesting == 1 and style:
            alignment = token.attrGet("style")  # of a cell
            token.attrSet("style", f"{style} {alignment};" if alignment else style)


def _numbered_headings(blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    """Return the headings such as `## 2 Title`, if all numbers from 1 on are there."""
    found: list[MarkdownBlock] = []
    for block in blocks:
        number = _SECTION_NUMBER.match(block.text) if block.kind in HEADINGS else None
        if number and int(number[1]) == len(found) + 1:
            found.append(block)
    return found if len(found) > 1 else []


def _split_number(inline: list[Token]) -> None:
    """Make a token of its own of the number with which a heading begins, in place."""
    number = _SECTION_NUMBER.match(inline[0].content)
    if number:
        rest = inline[0].content[number.end() :]
        inline[:1] = [
            Token("text", "", 0, content=number[0]),
            Token("text", "", 0, content=rest),
        ]


def _mark(block: MarkdownBlock, given: Given, *, is_numbered: bool = False) -> None:
    """Mark the statements to check, in place, but not the number of a section."""
    is_heading = block.tokens[0].type == "heading_open"
    is_quotation = is_quote(block)
    for token in block.tokens:
        if token.type in CODE_BLOCKS:
            mark_code_block(token, given)
        elif token.children is not None:
            number = token.children[:1] if is_numbered else []
            words = token.children[len(number) :]
            mark_paragraph(words, given, is_heading=is_heading, is_quotation=is_quotation)
            token.children[:] = [*number, *words]


def _render_inline(tokens: list[Token]) -> str:
    parser = _renderer()
    inline = Token("inline", "", 0, children=tokens)
    return str(parser.renderer.render([inline], parser.options, {}))


def _render(block: MarkdownBlock) -> str:
    parser = _renderer()
    return str(parser.renderer.render(block.tokens, parser.options, {})).rstrip("\n")
