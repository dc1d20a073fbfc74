"""Originals and translations that people edit in turn, at random, with a translator that is a fake.

Each word is there once, so that it is known what became of each, without asking the code that is
tested. Words of models are `w12` in the original and `W12` in the translation; those of people who
edit a translation are `person12`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from bs4 import BeautifulSoup, Tag
from msgspec.structs import replace

from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document, ReadText, document_of
from mkdocs_contentgen.service.protocol import Translated, TranslatedBlock, Translation
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.translation.first_translation import first_translation, plan_translation
from mkdocs_contentgen.translation.imported_translation import (
    ImportedTranslation,
    import_translation,
)
from mkdocs_contentgen.translation.updated_translation import (
    apply_translation_update,
    plan_translation_update,
)

MOMENT = datetime(2026, 11, 1, tzinfo=UTC)
TODAY = date(2026, 11, 26)
HOSTS = ["img.example"]


def imported_from(original: Text, html: str, language: str = "") -> ImportedTranslation:
    """Return a person's translation of a text with the structure of that."""
    read = ReadText(original, document_of(original.html))
    return import_translation(read, document_of(html), language=language)


def translated(asked: Translation | None, fails: Callable[[], bool] = lambda: False) -> Translated:
    """Return the answer of a translator that writes words in capitals."""
    blocks = []
    for block in asked.blocks if asked else []:
        if not block.translation:
            text = "" if fails() else in_capitals(block.text)
            blocks.append(TranslatedBlock(block.number, text))
    return Translated(blocks, model="t")


def in_capitals(markdown: str) -> str:
    """Return the light Markdown of a block with all parts, and its words in capitals."""
    parts = re.split(r"(`[^`]*`|\]\(\d+\)|⟦\d+⟧)", markdown)
    return "".join(part.upper() if index % 2 == 0 else part for index, part in enumerate(parts))


def translate(
    original: Text, language: str = "de", fails: Callable[[], bool] = lambda: False
) -> Text:
    """Return the first translation of a text."""
    asked = plan_translation(original, language, "en")
    return composed(original, asked, translated(asked, fails))


def composed(original: Text, asked: Translation, answer: Translated) -> Text:
    """Return the first translation of a text that is made of an answer."""
    request = {"type": "article", "language": asked.language}
    return first_translation(original, asked, answer, request=request, generated_at=MOMENT)


def update(translation: Text, original: Text, fails: Callable[[], bool] = lambda: False) -> Text:
    """Return an updated translation."""
    asked = plan_translation_update(translation, original)
    answer = translated(asked, fails)
    return apply_translation_update(translation, original, asked, answer, TODAY)


def text_of(html: str) -> Text:
    """Return a text with this HTML, as it is kept."""
    return Text(Document(html, HOSTS).to_lines(), MOMENT, {"type": "article"})


def numbers_in(html: str) -> list[str]:
    """Return the numbers of words of models, in an original or a translation, in their order."""
    return list(dict.fromkeys(re.findall(r"w(\d+)x", html, re.IGNORECASE)))


@dataclass
class Site:
    """An original and its translation, which are edited at random."""

    chance: random.Random
    original: Text = field(init=False)
    translation: Text = field(init=False)
    words: int = 0
    replaced: dict[str, str] = field(default_factory=dict)
    """The numbers of the original's words that are gone, by those that came in their place.

    They are empty for words in the place of such as `yes`.
    """

    log: list[str] = field(default_factory=list)
    """What was done, for the message of a test that fails."""

    def __post_init__(self) -> None:
        """Write and translate the text that both begin with."""
        table = "".join(self._row() for _ in range(4))
        items = "".join(f"<li>{self.new_words()}</li>" for _ in range(4))
        nested = f"<li>{self.new_words()}<ul><li>{self.new_words()}</li></ul></li>"
        parts = [f"<h1>{self.new_words()}</h1>", f'<p class="intro">{self.new_words()}</p>']
        for _ in range(3):
            parts += [f"<h2>{self.new_words()}</h2>", f"<p>{self.new_words()}</p>"]
            parts += [f"<p>{self.new_words()}</p>"]
        parts += [f"<ul>{items}{nested}</ul>", f"<pre><code>{self.new_words()}</code></pre>"]
        parts += [f"<table><thead>{self._row('th')}</thead><tbody>{table}</tbody></table>"]
        parts += [f"<section>{self.new_words()}<p>{self.new_words()}</p></section><hr>"]
        parts += [f"<blockquote><p>{self.new_words()}</p></blockquote>", self._picture()]
        self.original = text_of(f'<article lang="en">{"".join(parts)}</article>')
        self.translation = translate(self.original)

    def new_words(self, start: str = "w") -> str:
        """Return words that are nowhere else."""
        self.words += 1
        word = f"{start}{self.words}x"
        return f"{word} and <em>more</em> of {word}" if self.words % 3 == 0 else f"{word} here"

    def _row(self, cell: str = "td", start: str = "w") -> str:
        cells = [self.new_words(start), self.chance.choice(["yes", "no", ""]), "12"]
        return f"<tr>{''.join(f'<{cell}>{words}</{cell}>' for words in cells)}</tr>"

    def _picture(self) -> str:
        self.words += 1
        said = self.chance.choice(["", self.new_words().replace("<em>", "").replace("</em>", "")])
        image = f'<img src="https://img.example/{self.words}.png" alt="{said}">'
        return f"<figure>{image}<figcaption>{self.new_words()}</figcaption></figure>"

    def edit_original(self, *, keeps_words: bool = False) -> None:
        """Change the original at a random place, and with `keeps_words` only its structure."""
        document = Document(self.original.html, HOSTS)
        before = document.to_lines()
        of_structure = [
            self._change_level,
            self._change_list,
            self._join_lists,
            self._quote,
            self._wrap,
            self._cite,
            self._number_citations,
            self._illustrate,
        ]
        of_words = [*[self._reword] * 3, self._describe, *[self._add] * 2, self._remove, self._move]
        changes = of_structure if keeps_words else [*of_words, self._split_list, *of_structure]
        while document.to_lines() == before:
            self._make(self.chance.choice(changes), document, "w")
        self.original = replace(self.original, html=Document(document.to_lines(), HOSTS).to_lines())

    def edit_translation(self) -> None:
        """Change the translation at a random place, as a person does, on the desk or in a file."""
        document = Document(self.translation.html, HOSTS)
        before = document.to_lines()
        known = {block.digest for block in document.blocks()}
        while document.to_lines() == before:
            change = self.chance.choice(
                [
                    *[self._reword] * 2,
                    self._reword_start,
                    self._add,
                    self._remove,
                    self._split,
                    self._move,
                    self._describe,
                    self._change_level,
                    self._change_list,
                    self._join_lists,
                    self._split_list,
                    self._quote,
                    self._wrap,
                ]
            )
            self._make(change, document, "person")
        after = Document(document.to_lines(), HOSTS)
        edits = self.translation.edits or Edits()
        if self.chance.random() < 0.5:  # on the desk
            by = {block.digest: "Ann" for block in after.blocks() if block.digest not in known}
            edits = replace(edits, changed_by={**edits.changed_by, **by})
        self.translation = replace(self.translation, html=after.to_lines(), edits=edits)

    def _make(self, change: Callable[[Document, str], str], document: Document, start: str) -> None:
        done = change(document, start)
        if done:
            self.log.append(f"{start}: {done}")

    def _any_block(self, document: Document) -> Block:
        return self.chance.choice(document.blocks()[1:])

    def _reword(self, document: Document, start: str) -> str:
        block = self._any_block(document)
        named = block.text
        content = _element(f"<p>{self.new_words(start)}</p>")
        if block.kind == "pre":
            content = _element(f"<p><code>{self.new_words(start)}</code></p>")
        self._note_replaced(named, start)
        block.set_content(content)
        return f"reword {named}"

    def _note_replaced(self, before: str, start: str) -> None:
        """Note that the newest words of the original stand in the place of others."""
        if start == "w":
            self.replaced[str(self.words)] = next(iter(numbers_in(before)), "")

    def _describe(self, document: Document, start: str) -> str:
        pictures = document.article.find_all("img")
        if not pictures:
            return ""
        picture = self.chance.choice(pictures)
        self.words += 1
        self._note_replaced(str(picture["alt"]), start)
        picture["alt"] = f"{start}{self.words}x seen"
        return f"describe {picture['src']}"

    def _illustrate(self, document: Document, start: str) -> str:
        pictures = document.article.find_all("img")
        if not pictures:
            return ""
        self.words += 1
        picture = self.chance.choice(pictures)
        picture["src"] = f"https://img.example/{self.words}.png"
        return f"another picture for {picture['alt']}"

    def _reword_start(self, document: Document, start: str) -> str:
        block = self._any_block(document)
        text = block.element.find(string=re.compile(r"\d+x\b", re.IGNORECASE))
        if block.kind == "pre" or text is None or text.find_parent("em"):
            return ""
        named = block.text
        self.words += 1
        text.replace_with(f"{start}{self.words}x there ")
        return f"reword the start of {named}"

    def _add(self, document: Document, start: str) -> str:
        block = self._any_block(document)
        place = block.element
        row = place.find_parent("tr")
        if row is not None:
            row.insert_after(_element(self._row(place.name, start), "tr"))
            return f"row behind {block.text}"
        if place.name == "li":
            place.insert_after(_element(f"<li>{self.new_words(start)}</li>", "li"))
            return f"item behind {block.text}"
        if place.parent is not document.article:
            return ""
        items = f"<ul><li>{self.new_words(start)}</li><li>{self.new_words(start)}</li></ul>"
        html, tag = self.chance.choice(
            [
                (f"<p>{self.new_words(start)}</p>", "p"),
                (f"<h3>{self.new_words(start)}</h3>", "h3"),
                (f"<pre><code>{self.new_words(start)}</code></pre>", "pre"),
                (items, "ul"),
                (f"<table><tbody>{self._row('td', start)}</tbody></table>", "table"),
                ("<hr>", "hr"),
                (self._picture(), "figure") if start == "w" else ("<hr>", "hr"),
            ]
        )
        place.insert_after(_element(html, tag))
        return f"{tag} behind {block.text}"

    def _remove(self, document: Document, start: str) -> str:
        if len(document.blocks()) < 12:
            return ""
        block = self._any_block(document)
        row = block.element.find_parent("tr")
        if row is not None and start == "w":
            named = row.get_text()
            row.extract()
            for name in ("thead", "tbody", "table"):
                for empty in document.article.find_all(name):
                    if not empty.contents:
                        empty.extract()
            return f"remove row {named}"
        block.remove()
        return f"remove {block.text}"

    def _move(self, document: Document, start: str) -> str:
        parts = [child for child in document.article.children if isinstance(child, Tag)][1:]
        if self.chance.random() < 0.4:
            containers = document.article.find_all(["ul", "tbody"])
            if containers:
                parts = list(self.chance.choice(containers).find_all(True, recursive=False))
        if len(parts) < 3:
            return ""
        part, place = self.chance.sample(parts, 2)
        place.insert_after(part.extract())
        return f"move {part.get_text()[:20]} behind {place.get_text()[:20]}"

    def _split_list(self, document: Document, start: str) -> str:
        lists = [item for item in document.article.find_all("ul") if len(item.contents) > 2]
        lists = [item for item in lists if item.parent is document.article]
        if not lists:
            return ""
        first = self.chance.choice(lists)
        second = Tag(name="ul")
        second.extend(first.contents[2:])
        heading = _element(f"<h3>{self.new_words(start)}</h3>", "h3")
        first.insert_after(heading, second)
        return f"split list with {heading.get_text()}"

    def _change_level(self, document: Document, start: str) -> str:
        headings = document.article.find_all(["h2", "h3"])
        if not headings:
            return ""
        heading = self.chance.choice(headings)
        heading.name = "h3" if heading.name == "h2" else "h2"
        return f"level of {heading.get_text()}"

    def _change_list(self, document: Document, start: str) -> str:
        lists = document.article.find_all(["ul", "ol"])
        if not lists:
            return ""
        changed = self.chance.choice(lists)
        changed.name = "ul" if changed.name == "ol" else "ol"
        if changed.name == "ol" and self.chance.random() < 0.5:
            changed["start"] = "3"
        else:
            changed.attrs = {}
        return f"{changed.name} of {changed.get_text()[:20]}"

    def _join_lists(self, document: Document, start: str) -> str:
        for first in document.article.find_all(["ul", "ol"]):
            second = first.find_next_sibling(True)
            if second is not None and second.name == first.name:
                first.extend(second.extract().contents[:])
                return f"join lists {first.get_text()[:20]}"
        items = [item for item in document.article.find_all("li") if item.find_next_sibling("li")]
        if not items:
            return ""
        last = self.chance.choice(items)
        first = next(iter(last.parents))
        second = Tag(name=first.name, attrs=dict(first.attrs))
        second.extend(list(last.find_next_siblings("li")))
        first.insert_after(second)
        return f"part the list behind {last.get_text()[:20]}"

    def _quote(self, document: Document, start: str) -> str:
        paragraphs = document.article.find_all("p")
        if not paragraphs:
            return ""
        paragraph = self.chance.choice(paragraphs)
        around = next(iter(paragraph.parents))
        if around.name == "blockquote" and len(around.contents) == 1:
            around.unwrap()
        else:
            paragraph.wrap(Tag(name="blockquote"))
        return f"quote {paragraph.get_text()[:20]}"

    def _wrap(self, document: Document, start: str) -> str:
        items = [item for item in document.article.find_all("li") if not item.find(["ul", "ol"])]
        if not items:
            return ""
        item = self.chance.choice(items)
        paragraph = item.find("p")
        if paragraph:
            paragraph.unwrap()
        else:
            inner = Tag(name="p")
            inner.extend(item.contents[:])
            item.append(inner)
        return f"paragraph in {item.get_text()[:20]}"

    def _cite(self, document: Document, start: str) -> str:
        block = self._any_block(document)
        if block.kind == "pre" or not re.search(r"w\d+x", block.text):
            return ""
        links = block.element.find_all("a")
        if links and self.chance.random() < 0.5:
            link = self.chance.choice(links)
            if link.previous_sibling and str(link.previous_sibling).isspace():
                link.previous_sibling.extract()
            link.extract()
            return f"cite less in {block.text}"
        self.words += 1
        source = self.words % 7
        if block.element.find(href=f"https://c.example/{source}"):
            return ""
        address = f"https://c.example/{source}"
        other = document.article.find("a", href=address)
        number = other.get_text() if isinstance(other, Tag) else f"[{source + 1}]"
        citation = _element(f'<p> <a href="{address}">{number}</a></p>')
        block.element.extend(citation.contents[:])
        return f"cite {source} in {block.text}"

    def _number_citations(self, document: Document, start: str) -> str:
        numbers = self.chance.sample(range(1, 8), 7)
        for link in document.article.find_all("a"):
            link.string = f"[{numbers[int(str(link['href'])[-1])]}]"
        return "number citations"

    def _split(self, document: Document, start: str) -> str:
        block = self._any_block(document)
        if block.kind not in ("p", "li"):
            return ""
        named = block.text
        block.set_content(_element(f"<p>{self.new_words(start)}</p>"))
        block.insert_content(_element(f"<p>{self.new_words(start)}</p>"))
        return f"split {named}"


def _element(html: str, name: str = "p") -> Tag:
    found = BeautifulSoup(html, "html.parser").find(name)
    assert isinstance(found, Tag)
    return found.extract()
