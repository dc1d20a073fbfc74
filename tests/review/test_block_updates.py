"""An update changes the blocks that it names, and not a byte of any other."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

import pytest
from golden_file import cases
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from parses import counted_parses
from remarks import said

from mkdocs_contentgen.citation import Citation
from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document, document_of
from mkdocs_contentgen.requests import ArticleRequest
from mkdocs_contentgen.review.block_updates import apply_update, plan_update, read_to_update
from mkdocs_contentgen.service.protocol import BlockChange, Updated
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.store import DiskStore
from mkdocs_contentgen.writer.changes import read_update, update_prompt
from mkdocs_contentgen.writer.models.completion import Completion
from mkdocs_contentgen.writer.models.settings import WriterFields, WriterOptions
from mkdocs_contentgen.writer.sources.sources import Passage

CASES = cases("block_updates")

SITE = "https://docs.example/"
SPEED, PRICE = f"{SITE}plan/#speed", f"{SITE}plan/#price"
HTML = Document(f"""<article class="blog-post"><h1>Fast builds</h1>
<p class="intro">A build takes 4 seconds <a href="{SPEED}">[1]</a> &amp; more.</p>
<h2>Price</h2><p>It costs 5 EUR <a href="{PRICE}">[2]</a>.</p>
<ul><li>One</li><li>Two <strong>cores</strong></li></ul>
<div class="pro-tip">💡 <strong>Tip:</strong> Wait.</div>
<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>
<pre><code>x  =  1
</code></pre><blockquote><p>Quoted</p></blockquote><p class="conclusion">A person's words.</p>
<h2>Sources</h2><ol><li><a href="{SPEED}">Plan › Speed</a></li>
<li><a href="{PRICE}">Plan › Price</a></li></ol></article>""").to_lines()
BLOCKS = Document(HTML).blocks()
MINE = next(it for it in BLOCKS if it.text == "A person's words.")
TEXT = Text(
    HTML,
    datetime(2026, 11, 1, tzinfo=UTC),
    {"type": "article", "topic": "Fast builds"},
    "m",
    {SPEED: "1" * 64, PRICE: "2" * 64},
    edits=Edits(changed_by={MINE.digest: "Ann"}),
    passages={SPEED: "4 seconds"},
)
SOURCES = [
    Citation(SPEED, "Plan › Speed", "3 seconds", "4 seconds", True, "3" * 64),
    Citation(PRICE, "Plan › Price", "5 EUR", "", False, "2" * 64),
]
FOUND = Passage("plan.md", "Plan › New", "New words", "plan/#new", digest="4" * 64)
REQUEST = ArticleRequest(topic="Fast builds")
OPTIONS = WriterOptions(WriterFields(model="m", site_url=SITE))
TODAY = date(2026, 11, 23)


def updated(answer: str, *, note: str = "", section: str = "") -> Text:
    """Return the text after an update with this answer."""
    what = plan_update(read_to_update(TEXT), SOURCES, note=note, section=section)
    found = [Passage("", it.title, it.now, digest=it.digest) for it in SOURCES]
    read = read_update(Completion(answer), REQUEST, what, [*found, FOUND], OPTIONS) or Updated([])
    return apply_update(TEXT, what, read, TODAY)


def shown(block: Block) -> tuple[str, str]:
    """Return all of a block that a page shows."""
    return block.kind, block.html


def test_only_citations_get_the_numbers_of_a_prompt() -> None:
    """Brackets in code are none, so that the block can be changed and its code stays."""
    code = "<code>a[7]</code> and <code>b`[7]</code>"
    html = TEXT.html.replace("&amp; more", f"&amp; {code}").replace("[1]", "[8]")
    update = plan_update(read_to_update(replace(TEXT, html=html)), SOURCES)
    block = update.blocks[1]
    assert block.text == r"A build takes 4 seconds [1] & `a[7]` and <code>b\`[7]</code>."
    assert not block.is_fixed


ACTIONS = st.tuples(
    st.sampled_from(["[{}]", "[+{}]", "BLOCK {}:", "AFTER {}:", "block {}:", "PAGE {}:"]),
    st.integers(-1, 25),
    st.sampled_from(
        [
            *("REMOVE", "", "New words [3].", "**5** & <b>more</b> [1] [9]", "NOTHING", "- item"),
            *("# Heading", "| a |\n|---|", "```\ncode", "<script>x</script>", "[x](http://evil)"),
            *("Two\n\nparagraphs", "==marked==", "‹‹ \x1b[31m", "A person's words.", "1. One"),
        ]
    ),
)


@given(st.lists(ACTIONS, max_size=30), st.booleans())
def test_bytes_of_other_blocks(actions: list[tuple[str, int, str]], has_note: bool) -> None:
    """Whatever the model answers: lines of blocks that it does not name stay as they were."""
    lines = [f"{form.format(number)} {text}\nWHY: because" for form, number, text in actions]
    answer = "\n".join(lines)
    text = updated(answer, note="a note" if has_note else "")
    changing = ("[{}]", "BLOCK {}:", "block {}:")
    named = {number for form, number, _ in actions if form in changing}
    before = [it for it in BLOCKS if it.number not in named]
    after = [shown(it) for it in Document(text.html).blocks()]
    position = 0
    for block in before:  # each is there, in their order
        position = after.index(shown(block), position) + 1
    ends = [f">{it.html}</{it.kind}>" for it in before]
    unchanged = {line for end in ends for line in HTML.splitlines() if line.endswith(end)}
    assert unchanged <= set(text.html.splitlines())
    assert shown(MINE) in after
    assert ("pre", "<code>x  =  1\n</code>") in after
    assert "evil" not in "".join(link for _, link in after if "href" in link and "evil" in link)


def test_new_sources_are_numbered_and_listed() -> None:
    """They follow those that the list has; what is cited already keeps its number."""
    text = updated("BLOCK 1: It takes 3 seconds [1], says the news [3].\nWHY: x")
    assert f'<a href="{SPEED}" rel="nofollow noopener noreferrer">[1]</a>' in text.html
    assert f'<a href="{SITE}plan/#new" rel="nofollow noopener noreferrer">[3]</a>' in text.html
    items = [it.text for it in Document(text.html).blocks() if it.element.find_parent("ol")]
    assert items == ["Plan › Speed", "Plan › Price", "Plan › New"]
    assert text.sources == {SPEED: "3" * 64, PRICE: "2" * 64, f"{SITE}plan/#new": "4" * 64}
    assert text.passages == {SPEED: "3 seconds", f"{SITE}plan/#new": "New words"}


def test_a_new_source_after_one_that_is_listed_twice() -> None:
    """Two parts of a section have an item each, and the new one has the number of its own."""
    twice = replace(TEXT, html=HTML.replace(PRICE, SPEED))
    change = BlockChange(1, "change", '3 <a href="https://source.invalid/3">x</a>')
    read = Updated([change], cited={3: Citation(f"{SITE}new/", "New", "3")})
    after = apply_update(twice, plan_update(read_to_update(twice), SOURCES), read, TODAY)
    assert f'<a href="{SITE}new/" rel="nofollow noopener noreferrer">[3]</a>' in after.html
    assert Document(after.html).blocks()[-1].text == "New"


def test_statements_of_new_blocks_are_to_be_checked() -> None:
    """But not what the sources say, nor what the block said before and somebody has checked."""
    text = updated("BLOCK 3: It costs 5 EUR, or 3 seconds, or 99 dollars.\nWHY: x")
    assert "5 EUR, or 3 seconds, or <mark>99 dollars</mark>." in text.html


def test_what_a_person_wrote_stays() -> None:
    """It is a remark that it may be wrong now, whatever a note asks for."""
    sections = [Passage("", it.title, it.now) for it in SOURCES]
    asked = update_prompt(REQUEST, plan_update(read_to_update(TEXT), SOURCES), sections)[1][
        "content"
    ]
    assert "(p, a person's): A person's words." in asked
    answer = f"BLOCK {MINE.number}: Other words.\nWHY: they are wrong"
    text = updated(answer)
    assert "Other words" not in text.html
    assert said(text) == (
        "update: what Ann wrote may be wrong now: 'A person's words.': they are wrong",
    )
    assert updated(answer, note="make “a person's words.” friendlier").html == HTML
    assert updated(answer, note="x", section="Price").html == HTML


@pytest.mark.parametrize(("answer", "remark"), CASES["wrong_answers_change_nothing"])
def test_wrong_answers_change_nothing(answer: str, remark: str) -> None:
    """What a model may not change is a remark, and the text stays as it was."""
    text = updated(f"{answer}\nWHY: x\n\nNOTHING: else")
    assert text.html == HTML
    assert remark in "".join(said(text))


def test_what_a_person_wrote_beside_a_picture_stays() -> None:
    """Also where the site shows no pictures of that host."""
    picture = '<img alt="A house" loading="lazy" src="https://a.example/t.png">'
    html = HTML.replace("A person's words.", f"A person's words {picture}.")
    [mine] = [block for block in document_of(html).blocks() if "person's" in block.text]
    text = replace(TEXT, html=html, edits=Edits(changed_by={mine.digest: "Ann"}))
    update = plan_update(read_to_update(text), SOURCES)
    assert update.blocks[mine.number].is_persons
    answer = Updated([BlockChange(mine.number, "change", "x", "y")], model="m")
    assert apply_update(text, update, answer, TODAY).html == html


def test_a_service_does_not_change_what_a_person_wrote() -> None:
    """Not even one that names the block."""
    changes = [BlockChange(MINE.number, action, "x", "y") for action in ("change", "remove")]
    update = plan_update(read_to_update(TEXT), SOURCES)
    assert apply_update(TEXT, update, Updated(changes, model="m"), TODAY).html == HTML


def test_headings_and_titles() -> None:
    """A title changes with a note only; new headings have marks, and no citations."""
    assert updated("BLOCK 0: Slow builds\nWHY: x").html == HTML
    title = updated("BLOCK 0: Slow **builds** in 2031\nWHY: x", note="y").html
    assert "Slow <strong>builds</strong> in <mark>2031</mark></h1>" in title
    assert "<h2>Price of <mark>99</mark></h2>" in updated("BLOCK 2: Price of 99 [1]\nWHY: x").html
    below = updated("AFTER 2: New words [1].\nWHY: x", note="y").html
    assert "New words <a href=" in below


def test_a_section_that_is_not_there() -> None:
    """The error names those that are."""
    with pytest.raises(EditError, match=r"its headings are: 'Price'$"):
        plan_update(read_to_update(TEXT), SOURCES, note="x", section="Speed")


def test_a_text_without_sources_gets_a_list() -> None:
    """The heading is in the language of the text."""
    html = '<article lang="de"><h1>T</h1><p>Alt.</p></article>'
    text = Text(html, TEXT.generated_at, TEXT.request, "m")
    what = plan_update(read_to_update(text), [], note="x")
    read = read_update(Completion("BLOCK 1: Neu [1].\nWHY: x"), REQUEST, what, [FOUND], OPTIONS)
    assert read is not None
    after = apply_update(text, what, read, TODAY).html
    assert "<h2>Quellen</h2>\n<ol>\n<li>" in after


@pytest.mark.parametrize(("answer", "expected"), CASES["words_that_look_like_markup"])
def test_words_that_look_like_markup(answer: str, expected: str) -> None:
    """A block stays a block, with all of its words."""
    html = updated(f"BLOCK 3: {answer}\nWHY: x").html
    assert expected in html.replace("<mark>", "").replace("</mark>", "")


def test_a_block_that_is_removed_and_followed() -> None:
    """A paragraph takes the place of another one."""
    html = updated("BLOCK 3: REMOVE\nWHY: x\n\nAFTER 3: New.\nWHY: y", note="z").html
    assert "<p>New.</p>" in html
    assert "It costs 5 EUR" not in html


@pytest.mark.parametrize("action", ["change", "remove"])
def test_a_block_that_is_removed_twice(action: Literal["change", "remove"]) -> None:
    """What a service wants of a block that it has removed is neither done nor reported."""
    removal = BlockChange(3, "remove", reason="too dear")
    second = BlockChange(3, action, "Other words.", "another reason")
    update = plan_update(read_to_update(TEXT), SOURCES)
    once = apply_update(TEXT, update, Updated([removal]), TODAY)
    assert apply_update(TEXT, update, Updated([removal, second]), TODAY) == once


@pytest.mark.parametrize("model", ["m", ""])
def test_a_text_of_a_person(model: str) -> None:
    """It is theirs until a model has written some of it, even one without a name."""
    text = replace(TEXT, model="", written_by="Ann")
    what = plan_update(read_to_update(text), SOURCES)
    change = BlockChange(1, "change", "A build takes 3 seconds.", "it does")
    for changes, expected in (([], ("", "Ann")), ([change], (model, ""))):
        after = apply_update(text, what, Updated(changes, model=model), TODAY)
        assert (after.model, after.written_by) == expected


def test_what_a_model_cannot_write_stays() -> None:
    """Images and links of a person's own are in blocks that no model changes."""
    html = '<article><h1>T</h1><p>See <a href="https://x.example">x</a>.</p><p>Y</p></article>'
    what = plan_update(read_to_update(Text(html, TEXT.generated_at, TEXT.request, "m")), SOURCES)
    assert [it.is_fixed for it in what.blocks] == [True, True, False]


def test_code_keeps_its_signs() -> None:
    """Only marks of statements are taken off what the model sees."""
    html = "<article><h1>T</h1><p><code>a==b</code> is <mark>4 km</mark></p></article>"
    what = plan_update(read_to_update(Text(html, TEXT.generated_at, TEXT.request, "m")), [])
    assert what.blocks[1].text == "`a==b` is 4 km"


def test_a_source_that_is_gone() -> None:
    """It stays as long as a block cites it; the list at the end does not count."""
    gone = [Citation(SPEED, "Plan › Speed", "", "", True), SOURCES[1]]
    for answer, stays in (("New words", False), ("New words [1]", True)):
        what = plan_update(read_to_update(TEXT), gone)
        sections = [Passage("", it.title, it.now, digest=it.digest) for it in gone]
        read = read_update(
            Completion(f"BLOCK 1: {answer}\nWHY: x"), REQUEST, what, sections, OPTIONS
        )
        assert read is not None
        assert (SPEED in apply_update(TEXT, what, read, TODAY).sources) is stays


def test_odd_names_of_files_are_kept(tmp_path: Path) -> None:
    """A cache entry with such a source can be read again, and an unknown one drops out alone."""
    sources = {"file:a/[id]/notes (1).md#x": "1" * 64, "javascript:x": "2" * 64}
    store = DiskStore(tmp_path)
    store.save({"k" * 64: replace(TEXT, sources=sources)})
    assert list(store.load(["k" * 64])[0]["k" * 64].sources) == ["file:a/[id]/notes (1).md#x"]
    store.close()


def test_a_nested_list_is_removed() -> None:
    """The words around it become one block, so it stays if a person wrote some of them."""
    inner = "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"
    html = f"<article><h1>T</h1><ul><li>before {inner} after</li><li>other</li></ul></article>"
    mine = next(it for it in Document(html).blocks() if it.text == "before")
    text = replace(
        TEXT, html=html, sources={}, passages={}, edits=Edits(changed_by={mine.digest: "Jo"})
    )
    what = plan_update(read_to_update(text), [], note="x")
    removed = [BlockChange(it.number, "remove") for it in what.blocks if it.text in ("one", "two")]
    update = Updated(removed, model="m")
    after = apply_update(replace(text, edits=None), what, update, TODAY)
    blocks = Document(after.html).blocks()
    assert [it.text for it in blocks] == ["T", "before after", "other"]
    with pytest.raises(EditError, match="words of a person would be one block with others"):
        apply_update(text, what, update, TODAY)


def test_only_the_last_changes_are_recorded() -> None:
    """A text that is updated for years has a header of a limited size."""
    text = TEXT
    for number in range(22):
        what = plan_update(read_to_update(text), SOURCES)
        changes = [BlockChange(1, "change", f"Text {number}", str(number))]
        text = apply_update(text, what, Updated(changes, model="m"), TODAY)
    assert [it.rpartition(": ")[2] for it in text.updates] == [str(it) for it in range(2, 22)]


def test_how_often_an_update_reads_its_text() -> None:
    """To plan it, to change it, and as it is written."""
    with counted_parses() as parses:
        assert "3 dollars" in updated("BLOCK 3: It costs 3 dollars.\nWHY: x").html
    assert parses.count == 3
