"""What changes in an original changes in its translation, and nothing else does."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from edited_translations import (
    HOSTS,
    TODAY,
    Site,
    composed,
    numbers_in,
    text_of,
    translate,
    translated,
    update,
)
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from remarks import in_words, said

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.service.protocol import Translated, TranslatedBlock
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.translation.first_translation import count_changes, plan_translation
from mkdocs_contentgen.translation.remembered import (
    Remembered,
    read_remembered,
    short_digest_of,
    write_remembered,
)
from mkdocs_contentgen.translation.updated_translation import (
    apply_translation_update,
    plan_translation_update,
)

SITES = 125 if "FUZZ_SECONDS" in os.environ else 5
"""Sites of eight rounds each. A thousand rounds take four minutes, which only fuzzing takes."""

ORIGINAL = text_of("""<article lang="en"><h1>title</h1><p class="intro">first. second.</p>
<h2>part</h2><ul><li>one</li><li>two <a href="https://a.example">more</a></li><li>three</li></ul>
<pre><code>run --x</code></pre>
<table><thead><tr><th>what</th><th>time</th></tr></thead>
<tbody><tr><td>fast</td><td>yes</td></tr><tr><td>slow</td><td>yes</td></tr></tbody></table>
<figure><img src="https://img.example/a.png" alt="a"><figcaption>picture</figcaption></figure>
<p>last</p><h2>Sources</h2><ol><li><a href="https://a.example">Source</a></li></ol></article>""")
TRANSLATION = translate(ORIGINAL)


def changed(text: Text, *changes: tuple[str, str]) -> Text:
    """Return a text in whose HTML something is something else."""
    html = text.html
    for before, after in changes:
        assert html.count(before) == 1, before
        html = html.replace(before, after)
    return replace(text, html=Document(html, HOSTS).to_lines())


def differences(before: Text, after: Text) -> list[str]:
    """Return the lines of HTML that are gone and new, in the order of the texts."""
    old, new = before.html.splitlines(), after.html.splitlines()
    gone = [f"- {line}" for line in old if line not in new]
    return gone + [f"+ {line}" for line in new if line not in old]


REL = ' rel="nofollow noopener noreferrer"'
CHANGES = {
    "one sentence": (
        [("second.", "other.")],
        ['- <p class="intro">FIRST. SECOND.</p>', '+ <p class="intro">FIRST. OTHER.</p>'],
    ),
    "an item that is new": (
        [("<li>three</li>", "<li>new</li><li>three</li>")],
        ["+ <li>NEW</li>"],
    ),
    "an item that is the first": (
        [("<li>one</li>", "<li>new</li><li>one</li>")],
        ["+ <li>NEW</li>"],
    ),
    "a row": (
        [("<tr><td>slow", "<tr><td>new</td><td>yes</td></tr><tr><td>slow")],
        ["+ <tr><td>NEW</td><td>YES</td></tr>"],
    ),
    "a column": (
        [
            ("<th>what</th>", "<th>what</th><th>new</th>"),
            ("<td>fast</td>", "<td>fast</td><td>5</td>"),
            ("<td>slow</td>", "<td>slow</td><td></td>"),
        ],
        [
            "- <tr><th>WHAT</th><th>TIME</th></tr>",
            "- <tr><td>FAST</td><td>YES</td></tr>",
            "- <tr><td>SLOW</td><td>YES</td></tr>",
            "+ <tr><th>WHAT</th><th>NEW</th><th>TIME</th></tr>",
            "+ <tr><td>FAST</td><td>5</td><td>YES</td></tr>",
            "+ <tr><td>SLOW</td><td></td><td>YES</td></tr>",
        ],
    ),
    "a cell": (
        [("<td>slow</td><td>yes</td>", "<td>slow</td><td>no</td>")],
        ["- <tr><td>SLOW</td><td>YES</td></tr>", "+ <tr><td>SLOW</td><td>NO</td></tr>"],
    ),
    "a row that is gone": (
        [("<tr><td>fast</td><td>yes</td></tr>", "")],
        ["- <tr><td>FAST</td><td>YES</td></tr>"],
    ),
    "a list that is new": (
        [("<h2>part</h2>", '<h2>part</h2><ol start="3"><li>new</li><li>newer</li></ol>')],
        ['+ <ol start="3">', "+ <li>NEW</li>", "+ <li>NEWER</li>"],
    ),
    "a table that is gone": (
        [(re.search("<table>.*</table>", ORIGINAL.html, re.DOTALL)[0], "")],  # type: ignore[index]
        [
            *("- <table>", "- <thead>", "- <tr><th>WHAT</th><th>TIME</th></tr>", "- </thead>"),
            *("- <tbody>", "- <tr><td>FAST</td><td>YES</td></tr>"),
            *("- <tr><td>SLOW</td><td>YES</td></tr>", "- </tbody>", "- </table>"),
        ],
    ),
    "code": (
        [("--x", "--y")],
        ["- <pre><code>run --x</code></pre>", "+ <pre><code>run --y</code></pre>"],
    ),
    "a picture": (
        [("a.png", "b.png")],
        [
            '- <img alt="A" loading="lazy" src="https://img.example/a.png">',
            '+ <img alt="A" loading="lazy" src="https://img.example/b.png">',
        ],
    ),
    "a line": ([("<p>last</p>", "<p>last</p><hr>")], ["+ <hr>"]),
    "a source": (
        [("</li>\n</ol>", '</li><li><a href="https://b.example">Other</a></li></ol>')],
        ['+ <li><a href="https://b.example" rel="nofollow noopener noreferrer">Other</a></li>'],
    ),
    "a list that is split": (
        [("<li>three</li>", "</ul><h3>new</h3><ul><li>three</li>")],
        ["+ <h3>NEW</h3>"],
    ),
    "an item with a list of its own": (
        [("<li>three</li>", "<li>three<ul><li>new</li></ul></li>")],
        ["- <li>THREE</li>", "+ <li>", "+ THREE", "+ <li>NEW</li>", "+ </li>"],
    ),
}


ROW_BEHIND = "<td>SLOW</td><td>YES</td></tr><tr><td>FAST</td><td>YES</td></tr>"
CITED = '<p class="intro">First [A]. Second [B].</p><p>mild <em>air</em> [B]</p>'
LINKS = {
    "[A]": '<a href="https://a.example/#a">[1]</a>',
    "[B]": '<a href="https://a.example/#b">[2]</a>',
    "[C]": '<a href="https://a.example/#c">[2]</a>',
    "[B3]": '<a href="https://a.example/#b">[3]</a>',
}


def cited(html: str) -> Text:
    """Return an original with citations in place of the labels."""
    html = ORIGINAL.html.replace('<p class="intro">first. second.</p>', html)
    for label, link in LINKS.items():
        html = html.replace(label, link)
    return text_of(html)


STRUCTURES = {
    "a level": ([("<h2>part</h2>", "<h3>part</h3>")], ["- <h2>PART</h2>", "+ <h3>PART</h3>"]),
    "a numbered list": (
        [("<ul>", '<ol start="3">'), ("</ul>", "</ol>")],
        ["- <ul>", "- </ul>", '+ <ol start="3">'],
    ),
    "a quote": (
        [("<p>last</p>", "<blockquote><p>last</p></blockquote>")],
        ["+ <blockquote>", "+ </blockquote>"],
    ),
    "a paragraph in an item": (
        [("<li>one</li>", "<li><p>one</p></li>")],
        ["- <li>ONE</li>", "+ <li>", "+ <p>ONE</p>", "+ </li>"],
    ),
    "an item of a list": (
        [("<p>last</p>", "<ul><li>last</li></ul>")],
        ["- <p>LAST</p>", "+ <li>LAST</li>"],
    ),
    "a list in two": ([("<li>three</li>", "</ul><ul><li>three</li>")], []),
    "a head of a table": (
        [("<td>fast</td>", "<th>fast</th>")],
        ["- <tr><td>FAST</td><td>YES</td></tr>", "+ <tr><th>FAST</th><td>YES</td></tr>"],
    ),
    "a class": (
        [('<p class="intro">', "<p>")],
        ['- <p class="intro">FIRST. SECOND.</p>', "+ <p>FIRST. SECOND.</p>"],
    ),
    "an address": (
        [('<li>two <a href="https://a.example"', '<li>two <a href="https://b.example"')],
        [
            f'- <li>TWO <a href="https://a.example"{REL}>MORE</a></li>',
            f'+ <li>TWO <a href="https://b.example"{REL}>MORE</a></li>',
        ],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), STRUCTURES.values(), ids=STRUCTURES)
def test_a_change_of_the_structure(changes: list[tuple[str, str]], expected: list[str]) -> None:
    """It is followed around the words that there are, those of persons too, and costs nothing."""
    original = changed(ORIGINAL, *changes)
    for own in (TRANSLATION, by_ann(TRANSLATION, ("THREE", "Anns Satz"))):
        assert own.original and count_changes(own.original, original.html) == 1
        assert plan_translation_update(own, original) is None
        after = update(own, original)
        assert differences(own, after) == expected
        assert structure(after) == structure(original)
        assert all("has the same words in another form" in line for line in after.updates)
        assert after.original and count_changes(after.original, original.html) == 0
        assert update(after, original).html == after.html


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (CITED.replace("[B]", "[B3]"), "FIRST [A]. SECOND [B3].</p>|MILD <em>AIR</em> [B3]</p>"),
        (CITED.replace(" [A]", ""), "FIRST. SECOND [B].</p>|MILD <em>AIR</em> [B]</p>"),
        (CITED.replace(" [B]", ""), "FIRST [A]. SECOND.</p>|MILD <em>AIR</em></p>"),
        (
            CITED.replace("[A]", "[A] [C]"),
            "FIRST [A] [C]. SECOND [B].</p>|MILD <em>AIR</em> [B]</p>",
        ),
        (CITED.replace("[A]", "[C][A]"), "FIRST [C][A]. SECOND [B].</p>|MILD <em>AIR</em> [B]</p>"),
        (CITED.replace("[A].", "[C]."), "FIRST [C]. SECOND [B].</p>|MILD <em>AIR</em> [B]</p>"),
        (
            CITED.replace("[B]", "[C]").replace(" [A]", ""),
            "FIRST. SECOND [C].</p>|MILD <em>AIR</em> [C]</p>",
        ),
    ],
)
def test_other_citations(html: str, expected: str) -> None:
    """They are numbered anew, taken out and put in where the original has them, without a call."""
    own = translate(cited(CITED))
    original = cited(html)
    assert own.original and count_changes(own.original, original.html) > 0
    assert plan_translation_update(own, original) is None
    after = update(own, original)
    for label, link in LINKS.items():
        expected = expected.replace(label, link.replace('">', f'"{REL}>'))
    assert all(part in after.html for part in expected.split("|"))
    assert len(differences(own, after)) <= 4
    assert update(after, original).html == after.html


def test_a_citation_within_a_sentence() -> None:
    """Where it belongs in other words is not known, so the block is translated again."""
    own = translate(cited(CITED))
    asked = plan_translation_update(own, cited(CITED.replace("mild", "mild [C]")))
    assert asked
    assert [block.text for block in asked.blocks if not block.translation] == ["mild ⟦1⟧ *air* ⟦2⟧"]


def test_citations_in_words_of_a_person() -> None:
    """They get the numbers of the original, and nothing else; what is new there is a remark."""
    own = by_ann(translate(cited(CITED)), ("MILD <em>AIR</em>", "Anns Luft"))
    numbered = cited(CITED.replace("[B]", "[B3]"))
    assert plan_translation_update(own, numbered) is None
    after = update(own, numbered)
    assert f'Anns Luft <a href="https://a.example/#b"{REL}>[3]</a></p>' in after.html
    assert said(after) == ()
    assert after.edits and set(after.edits.changed_by.values()) == {"Ann"}
    more = cited(CITED.replace("[B]", "[B3] [C]"))
    again = update(after, more)
    assert f'Anns Luft <a href="https://a.example/#b"{REL}>[3]</a></p>' in again.html
    assert said(again) == ("translation: its original has changed: 'Anns Luft [3]'",)
    assert "Anns Luft" in update(again, cited("<p>other</p><p>words</p>")).html


def test_a_statement_to_check_stays_one() -> None:
    """Words that are carried over keep their marks, and remarks name the block as it is now."""
    own = translate(cited(CITED))
    own = replace(own, html=own.html.replace("MILD", "<mark>MILD</mark>"))
    leaves_before = Document(own.html, HOSTS).leaves()
    assert own.original
    pairs = read_remembered(own.original.blocks)
    pairs[2] = Remembered(pairs[2].form, short_digest_of(leaves_before[2]))
    remark = Remark("differs", "'MILD AIR [2]'", {"because": "'12' of the original is missing"})
    own = replace(
        own,
        original=replace(own.original, blocks=write_remembered(pairs)),
        remarks=(remark,),
    )
    after = update(own, cited(CITED.replace("[B]", "[B3]")))
    assert "<p><mark>MILD</mark> <em>AIR</em> " in after.html
    assert after.remarks == (replace(remark, block="'MILD AIR [3]'"),)


@pytest.mark.parametrize(("changes", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_of_the_original(changes: list[tuple[str, str]], expected: list[str]) -> None:
    """The translation follows it, has the structure of the original, and changes nowhere else."""
    original = changed(ORIGINAL, *changes)
    assert TRANSLATION.original and count_changes(TRANSLATION.original, original.html) > 0
    after = update(TRANSLATION, original)
    assert differences(TRANSLATION, after) == expected
    assert [leaf.kind for leaf in Document(after.html, HOSTS).leaves()] == [
        leaf.kind for leaf in Document(original.html, HOSTS).leaves()
    ]
    assert after.original and count_changes(after.original, original.html) == 0
    assert update(after, original).html == after.html


def test_only_what_has_changed_is_asked_for() -> None:
    """The others go along with their translations, to be read."""
    asked = plan_translation_update(TRANSLATION, changed(ORIGINAL, ("second.", "other.")))
    assert asked
    assert [(block.text, block.translation) for block in asked.blocks[:3]] == [
        ("title", "TITLE"),
        ("first. other.", ""),
        ("part", "PART"),
    ]
    assert [block.text for block in asked.blocks if not block.translation] == ["first. other."]
    assert (asked.language, asked.from_language) == ("de", "en")


def test_nobody_is_asked_for_what_has_no_words() -> None:
    """Code, pictures and what is gone or moved cost nothing."""
    original = changed(ORIGINAL, ("--x", "--y"), ("a.png", "b.png"), ("<p>last</p>", ""))
    assert plan_translation_update(TRANSLATION, original) is None
    after = update(TRANSLATION, original)
    assert "--y" in after.html and "b.png" in after.html and "LAST" not in after.html
    assert after.updates == (
        "2026-11-26: changed 'run --x': its original has changed",
        "2026-11-26: adapted a picture: its original has the same words in another form",
        "2026-11-26: removed 'LAST': its original is gone",
    )


def test_an_original_that_moves() -> None:
    """Its translation moves with it, whole lists with what a person has added to them."""
    items = re.search("<ul>.*</ul>\n", ORIGINAL.html, re.DOTALL)
    assert items
    original = changed(ORIGINAL, (items[0], ""), ("<h2>Sources", f"{items[0]}<h2>Sources"))
    own = changed(TRANSLATION, ("<li>THREE</li>", "<li>Ann's</li><li>THREE</li>"))
    assert plan_translation_update(own, original) is None
    after = update(own, original)
    moved = items[0].replace("<li>three", "<li>Ann's</li>\n<li>three")
    expected = own.html.replace(in_upper_case(moved).replace("ANN'S", "Ann's"), "")
    expected = expected.replace("<h2>Quellen", f"{in_upper_case(moved)}<h2>Quellen")
    assert after.html == expected.replace("ANN'S", "Ann's")


def test_a_repeated_block_that_moves() -> None:
    """Its words are those that it had: nobody is asked for what has a translation."""
    parts = ["<p>note</p>", *(f"<p>word {number}</p>" for number in range(4))]
    original = text_of(f"<article><h1>title</h1>{''.join([*parts, parts[0]])}</article>")
    own = translate(original)
    moved = [*parts[1:3], parts[0], parts[0], "<p>new</p>", *parts[3:]]
    changed_original = text_of(f"<article><h1>title</h1>{''.join(moved)}</article>")
    asked = plan_translation_update(own, changed_original)
    assert asked and [block.text for block in asked.blocks if not block.translation] == ["new"]
    assert update(own, changed_original).html == translate(changed_original).html


def test_a_repeated_block_in_the_place_of_another() -> None:
    """It is not taken for that one in new words, since its own have a translation."""
    before = "<p>note</p><p>one</p><p>two</p><p>three</p><p>note</p><p>four</p>"
    own = translate(text_of(f"<article><h1>title</h1>{before}</article>"))
    now = "<p>one</p><p>note</p><p>three</p><p>four</p>"
    original = text_of(f"<article><h1>title</h1>{now}</article>")
    assert plan_translation_update(own, original) is None
    assert update(own, original).html == translate(original).html


def in_upper_case(html: str) -> str:
    """Return HTML with its words in capitals, those of descriptions too."""
    html = re.sub('(alt|title)="([^"]*)"', lambda part: f'{part[1]}="{part[2].upper()}"', html)
    return re.sub("(<[^>]*>)|([^<]+)", lambda part: part[1] or part[2].upper(), html)


def test_an_original_that_is_the_same_in_other_words() -> None:
    """Marks that an approval takes off, and white space, are no change."""
    original = replace(ORIGINAL, html=ORIGINAL.html.replace("second", "<mark>second</mark>"))
    assert TRANSLATION.original and count_changes(TRANSLATION.original, original.html) == 0
    assert update(TRANSLATION, original).html == TRANSLATION.html


def by_ann(text: Text, *changes: tuple[str, str]) -> Text:
    """Return a text that Ann has changed on the desk."""
    known = {block.digest for block in Document(text.html, HOSTS).blocks()}
    after = changed(text, *changes)
    blocks = Document(after.html, HOSTS).blocks()
    by = {block.digest: "Ann" for block in blocks if block.digest not in known}
    return replace(after, edits=Edits(changed_by=by))


@pytest.mark.parametrize("edit", [by_ann, changed])
def test_words_of_a_person(edit: Callable[..., Text]) -> None:
    """They stay, on the desk or in a file; a remark says that their original has changed."""
    own = edit(TRANSLATION, ("FIRST. SECOND.", "Anns Satz."))
    original = changed(ORIGINAL, ("second.", "other."))
    assert plan_translation_update(own, original) is None
    after = update(own, original)
    assert after.html == own.html
    assert said(after) == ("translation: its original has changed: 'Anns Satz.'",)
    assert after.updates == ("2026-11-26: nothing had to change",)
    again = changed(original, ("other.", "another."), ("<p>last</p>", "<p>end</p>"))
    after_that = update(after, again)
    assert "Anns Satz." in after_that.html and "END" in after_that.html
    assert said(after_that) == said(after)


def test_a_remark_goes_with_the_words() -> None:
    """When a person has written the block anew, nothing has to be said of it any more."""
    own = by_ann(TRANSLATION, ("FIRST. SECOND.", "Anns Satz."))
    after = update(own, changed(ORIGINAL, ("second.", "other.")))
    assert len(said(after)) == 1
    edited = by_ann(after, ("Anns Satz.", "Anns neuer Satz."))
    assert said(update(edited, changed(ORIGINAL, ("second.", "other.")))) == ()


def test_a_person_whose_original_is_gone() -> None:
    """The words stay, and a cell with its row."""
    own = by_ann(TRANSLATION, ("<td>SLOW", "<td>Anns"), ("LAST", "Anns Ende"))
    row = "<tr><td>slow</td><td>yes</td></tr>"
    after = update(own, changed(ORIGINAL, (row, ""), ("<p>last</p>", "")))
    assert after.html == own.html
    assert after.updates == ("2026-11-26: nothing had to change",)
    assert said(after) == (
        "translation: its original is gone: 'Anns'",
        "translation: its original is gone: 'Anns Ende'",
    )
    assert update(after, changed(ORIGINAL, (row, ""), ("<p>last</p>", ""))).html == own.html


def test_what_a_person_removed() -> None:
    """It stays away, even if its original changes."""
    own = changed(TRANSLATION, ("<li>ONE</li>", ""), ("<p>LAST</p>", ""))
    original = changed(ORIGINAL, ("<li>one</li>", "<li>five</li>"), ("title", "name"))
    after = update(own, original)
    assert differences(own, after) == ["- <h1>TITLE</h1>", "+ <h1>NAME</h1>"]
    again = update(after, changed(original, ("five", "six"), ("name", "title")))
    assert again.html == own.html


def test_a_cell_that_a_person_emptied() -> None:
    """Nobody is asked for its words, whatever else has changed."""
    own = changed(TRANSLATION, ("<td>FAST</td>", "<td></td>"))
    assert (
        plan_translation_update(own, changed(ORIGINAL, ("<h2>part</h2>", "<h3>part</h3>"))) is None
    )


def test_what_a_person_added() -> None:
    """It stays where it was: behind its neighbour, in the same list."""
    own = changed(
        TRANSLATION,
        ("<li>ONE</li>", "<li>ONE</li><li>Ann</li>"),
        ("<p>LAST</p>", "<p>LAST</p><table><tr><td>Ann's</td></tr></table>"),
    )
    original = changed(
        ORIGINAL,
        ("<li>one</li>", "<li>one</li><li>new</li>"),
        ("<p>last</p>", "<p>end</p><p>new end</p>"),
    )
    after = update(own, original)
    assert "<li>ONE</li>\n<li>Ann</li>\n<li>NEW</li>" in after.html
    assert re.search("<p>END</p>\n<table>.*</table>\n<p>NEW END</p>", after.html, re.DOTALL)


def test_what_a_person_added_behind_a_block_that_is_quoted() -> None:
    """It stays behind that block, and does not go before it."""
    own = changed(TRANSLATION, ("<p>LAST</p>", "<p>LAST</p><p>Ann</p>"))
    after = update(own, changed(ORIGINAL, ("<p>last</p>", "<blockquote><p>last</p></blockquote>")))
    assert "<blockquote>\n<p>LAST</p>\n</blockquote>\n<p>Ann</p>\n<h2>" in after.html


def test_an_order_of_a_person() -> None:
    """What a person moved goes back, which is said, and its words stay or follow their original."""
    own = changed(TRANSLATION, ("<p>LAST</p>\n", ""), ("<h2>PART", "<p>LAST</p><h2>PART"))
    after = update(own, changed(ORIGINAL, ("<p>last</p>", "<p>last of all</p>")))
    assert differences(own, after) == ["- <p>LAST</p>", "+ <p>LAST OF ALL</p>"]
    assert "<p>LAST OF ALL</p>\n<h2>Quellen" in after.html
    assert after.updates[1:] == (
        "2026-11-26, t: moved back 'LAST': a translation has the order of its original",
    )


def test_a_row_that_a_person_moved() -> None:
    """It goes when its original does, also the cells that stand in other rows, too."""
    row = "<tr><td>FAST</td><td>YES</td></tr>"
    own = changed(TRANSLATION, (f"{row}\n", ""), ("<td>SLOW</td><td>YES</td></tr>", ROW_BEHIND))
    assert row in own.html
    after = update(own, changed(ORIGINAL, ("<tr><td>fast</td><td>yes</td></tr>", "")))
    assert differences(own, after) == [f"- {row}"]


def table(rows: list[str]) -> Text:
    """Return a text with a table, whose rows are given as words."""
    cells = ["".join(f"<td>{word}</td>" for word in row.split()) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return text_of(f"<article><h1>title</h1><table><tbody>{body}</tbody></table></article>")


def rows_of(text: Text) -> list[str]:
    """Return the words of each row of a table."""
    rows = Document(text.html, HOSTS).article.find_all("tr")
    return [" ".join(row.stripped_strings) for row in rows]


@pytest.mark.parametrize(
    ("edited", "rows", "expected"),
    [
        ("yes no one", ["no yes two", "yes yes three", "yes no one"], "by-ann NO ONE"),
        ("yes no one", ["no yes two", "yes yes one", "yes yes three"], "by-ann YES ONE"),
        ("yes yes three", ["yes no one", "no yes two", "no yes three"], "by-ann YES THREE"),
        ("yes yes three", ["no yes three", "yes no one", "no yes two"], "by-ann YES THREE"),
    ],
)
def test_repeated_cells_stay_in_their_row(edited: str, rows: list[str], expected: str) -> None:
    """A `yes` of a person goes with its row, although it is nowhere near a cell that tells it."""
    original = ["yes no one", "no yes two", "yes yes three"]
    translation = translate(table(original))
    row = edited.upper().split()
    place = original.index(edited)
    pieces = translation.html.split("<tr>")
    pieces[place + 1] = pieces[place + 1].replace(f"<td>{row[0]}</td>", "<td>by-ann</td>", 1)
    translation = replace(translation, html="<tr>".join(pieces))
    after = rows_of(update(translation, table(rows)))
    assert expected in after
    others = [row.upper() for row in rows if edited.split()[-1] not in row]
    assert [row for row in after if row != expected] == others


def test_a_repeated_cell_whose_column_is_gone() -> None:
    """A person's word in it goes to no other row, such as the next one, which begins alike."""
    rows = ["no yes one", "no no two", "yes yes three", "no yes four"]
    last_column = ["no", "no", "yes", "yes"]
    before = [f"{row} {last}" for row, last in zip(rows, last_column, strict=True)]
    translation = translate(table(before))
    own = replace(translation, html=translation.html.replace("ONE</td><td>NO", "ONE</td><td>by"))
    after = rows_of(update(own, table(rows)))
    assert after[1:] == [row.upper() for row in rows[1:]]


def random_cells(chance: random.Random, words: Iterator[int]) -> list[str]:
    """Return the cells of a row, of which some are also in other rows."""
    cells = []
    for _ in range(3):
        cells.append(chance.choice(["yes", "yes", "no", f"w{next(words)}"]))
    return cells


def edit_rows(chance: random.Random, rows: list[list[str]], words: Iterator[int]) -> None:
    """Change a row or a column of a table in place."""
    edit = chance.choice(["remove", "add", "add", "move", "remove column", "remove column"])
    place = chance.randrange(len(rows))
    if edit == "remove" and len(rows) > 1:
        rows.pop(place)
    elif edit == "add":
        rows.insert(place, random_cells(chance, words)[: len(rows[0])])
    elif edit == "move":
        rows.insert(chance.randrange(len(rows)), rows.pop(place))
    elif edit == "remove column" and len(rows[0]) > 1:
        column = chance.randrange(len(rows[0]))
        for row in rows:
            row.pop(column)


@settings(max_examples=12, derandomize=True, deadline=None, phases=[Phase.generate])
@given(st.randoms(use_true_random=False))
def test_words_of_a_person_stay_in_one_row(chance: random.Random) -> None:
    """Whatever becomes of rows and columns of the original."""
    words = count(1)
    rows = [random_cells(chance, words) for _ in range(4)]
    translation = translate(table([" ".join(row) for row in rows]))
    own_rows = [row.split() for row in rows_of(translation)]
    for place, own_row in enumerate(own_rows):
        for column in chance.sample(range(3), chance.randint(0, 3)):
            own_row[column] = f"person{place}x{column}"
    own = table([" ".join(row) for row in own_rows])
    own = replace(translation, html=own.html.replace("title", "TITLE"))
    for _ in range(3):
        edit_rows(chance, rows, words)
    after = [row.split() for row in rows_of(update(own, table([" ".join(row) for row in rows])))]
    for own_row in own_rows:
        persons = {word for word in own_row if word.startswith("person")}
        assert [row for row in after if persons <= set(row)], (own_rows, rows, after)


def test_levels_and_lists_of_a_person() -> None:
    """They are again those of the original, which is said."""
    own = changed(TRANSLATION, ("<h2>PART</h2>", "<h4>PART</h4>"))
    own = replace(own, html=own.html.replace("ul>", "ol>"))
    after = update(own, changed(ORIGINAL, ("<li>one</li>", "<li>five</li>")))
    assert after.html == TRANSLATION.html.replace("ONE", "FIVE")
    reason = "a translation has the levels and lists of its original"
    assert after.updates == (
        "2026-11-26, t: changed 'ONE': its original has changed",
        *(
            f"2026-11-26, t: restored {name}: {reason}"
            for name in ("'PART'", "'ONE'", "'TWO MORE'", "'THREE'")
        ),
    )


def test_a_list_that_a_person_has_parted() -> None:
    """Its items are in one list again, which is said; the words between them stay behind it."""
    own = changed(TRANSLATION, ("<li>TWO", "</ul><p>Anns Satz</p><ul><li>TWO"))
    after = update(own, changed(ORIGINAL, ("title", "name")))
    expected = changed(TRANSLATION, ("TITLE", "NAME"), ("</ul>", "</ul><p>Anns Satz</p>"))
    assert after.html == expected.html
    assert [line.split(": ")[1] for line in after.updates[1:]] == ["restored 'TWO MORE'"]


def test_an_item_of_a_person_where_no_list_is_any_more() -> None:
    """It has a list of its own."""
    own = changed(TRANSLATION, ("<li>ONE</li>", "<li>ONE</li><li>Ann</li>"))
    html = re.sub("<(/?)li>", r"<\1p>", ORIGINAL.html.partition("<ol>")[0])
    original = replace(
        ORIGINAL,
        html=re.sub("</?ul>\n", "", html) + "<ol>" + ORIGINAL.html.partition("<ol>")[2],
    )
    after = update(own, original)
    assert "<p>ONE</p>\n<ul>\n<li>Ann</li>\n</ul>\n<p>TWO" in after.html
    assert update(after, original).html == after.html


def test_a_heading_of_a_person_moves_with_its_section() -> None:
    """It stays before the words that it is a heading for."""
    original = text_of("<article><h1>title</h1><h2>a</h2><p>one</p><h2>b</h2><p>two</p></article>")
    own = by_ann(translate(original), ("<h2>A</h2>", "<h3>Anns Titel</h3>"))
    moved = text_of("<article><h1>title</h1><h2>b</h2><p>two</p><h2>a</h2><p>one</p></article>")
    after = update(own, moved)
    expected = translate(moved).html.replace("<h2>A</h2>", "<h2>Anns Titel</h2>")
    assert after.html == expected


def test_a_row_that_a_person_removed() -> None:
    """It stays away, also with a cell that is new in the original."""
    rows = ["one yes", "two no"]
    own = translate(table(rows))
    own = replace(own, html=own.html.replace("<tr><td>ONE</td><td>YES</td></tr>\n", ""))
    original = table(["one yes new", "two no newer"])
    asked = plan_translation_update(own, original)
    assert asked and [block.text for block in asked.blocks if not block.translation] == ["newer"]
    after = update(own, original)
    assert rows_of(after) == ["TWO NO NEWER"]
    assert rows_of(update(after, table(["one yes newest", "two no newer"]))) == ["TWO NO NEWER"]


def test_a_translator_that_cannot() -> None:
    """The former translation stays, and is asked for again; what is new has no words of its own."""
    original = changed(ORIGINAL, ("second.", "other."), ("<p>last</p>", "<p>last</p><p>new</p>"))
    after = update(TRANSLATION, original, lambda: True)
    assert differences(TRANSLATION, after) == ["+ <p>new</p>"]
    assert said(after) == (
        "translation: its original has changed: 'FIRST. SECOND.': it is as before, since "
        "the answer has no translation of it",
        "translation: 'new' stays in the language of the original: "
        "the answer has no translation of it",
    )
    assert after.original and count_changes(after.original, original.html) == 1
    asked = plan_translation_update(after, original)
    assert asked and [it.text for it in asked.blocks if not it.translation] == ["first. other."]
    second = update(after, original)
    assert said(second) == said(after)[1:]
    assert differences(after, second)[1] == '+ <p class="intro">FIRST. OTHER.</p>'


def test_untranslated_blocks_are_asked_for_again() -> None:
    """A person who names the page gets what an earlier answer has left out."""
    failing = iter([True, *[False] * 50])
    asked = plan_translation_update(TRANSLATION, ORIGINAL, repeats=True)
    assert asked is None
    original = changed(ORIGINAL, ("<p>last</p>", "<p>last</p><p>new</p>"))
    text = update(TRANSLATION, original, lambda: next(failing))
    assert "<p>new</p>" in text.html
    assert plan_translation_update(text, original) is None
    again = plan_translation_update(text, original, repeats=True)
    assert again and [it.text for it in again.blocks if not it.translation] == ["new"]
    after = apply_translation_update(text, original, again, translated(again), TODAY)
    assert differences(text, after) == ["- <p>new</p>", "+ <p>NEW</p>"]
    assert said(after) == ()
    assert after.updates[-1] == "2026-11-26, t: translated 'new': it had no translation"


def test_many_untranslated_blocks_are_asked_for_again() -> None:
    """Those without a remark of their own are asked for, too, and the remarks are those of now."""
    original = text_of(f"<article><h1>title</h1>{'<p>word</p>' * 30}</article>")
    text = translate(original, fails=lambda: True)
    assert len(said(text)) == 21
    again = plan_translation_update(text, original, repeats=True)
    assert again and len([it for it in again.blocks if not it.translation]) == 31
    failed = translated(again, lambda: True)
    assert said(apply_translation_update(text, original, again, failed, TODAY)) == said(text)
    after = apply_translation_update(text, original, again, translated(again), TODAY)
    assert after.html == in_upper_case(text.html)
    assert said(after) == ()


def test_a_hostile_answer_to_an_update() -> None:
    """It changes no block that was not asked for, and brings neither links nor HTML."""
    original = changed(ORIGINAL, ("second.", "other."))
    asked = plan_translation_update(TRANSLATION, original)
    answers = [TranslatedBlock(number, "EVIL") for number in range(-1, 40) if number != 1]
    link = TranslatedBlock(1, "[EVIL](https://evil.example)")
    after = apply_translation_update(
        TRANSLATION,
        original,
        asked,
        Translated([*answers, link], in_words("\x1b[2J"), "m\n"),
        TODAY,
    )
    assert after.html == TRANSLATION.html
    assert said(after)[-1] == "\\x1b[2J"


def test_remarks_on_words_leave_room_for_those_on_blocks() -> None:
    """A text keeps 50 remarks; that the original of a person's block has changed is among them."""
    words = in_words(*(f"the figure {number} is missing" for number in range(50)))
    translation = replace(changed(TRANSLATION, ("TITLE", "Mein Titel")), remarks=words)
    after = update(translation, changed(ORIGINAL, ("title", "name")))
    assert len(said(after)) == 50
    assert said(after)[0] == "translation: its original has changed: 'Mein Titel'"


def test_what_is_said_of_an_update() -> None:
    """Four blocks are named, and the others counted; sources and model are those of now."""
    items = "".join(f"<li>new {number}</li>" for number in range(9))
    original = changed(ORIGINAL, ("<li>three</li>", f"<li>three</li>{items}"), ("title", "name"))
    original = replace(original, sources={"b.md": "2" * 64}, passages={"b.md": "said"})
    after = update(replace(TRANSLATION, written_by="Ann"), original)
    assert after.updates == (
        "2026-11-26, t: changed 'TITLE': its original has changed",
        "2026-11-26, t: added 'NEW 0': it is new in the original",
        "2026-11-26, t: added 'NEW 1': it is new in the original",
        "2026-11-26, t: added 'NEW 2': it is new in the original",
        "2026-11-26, t: added 'NEW 3': it is new in the original",
        "2026-11-26, t: added 5 more blocks: it is new in the original",
    )
    assert (after.sources, after.passages) == (original.sources, original.passages)
    assert (after.model, after.written_by) == ("t", "")


DESCRIBED = changed(
    ORIGINAL,
    ('alt="a"', 'alt="a red house" title="see there"'),
    ("last", 'the <a href="https://a.example" title="of it">end</a> [1]'),
)


def test_descriptions_are_kept_true() -> None:
    """What changes in them is translated, and another address of a picture costs nothing."""
    before = translate(DESCRIBED)
    assert 'alt="A RED HOUSE"' in before.html
    after = update(before, changed(DESCRIBED, ("a red house", "a blue house")))
    assert differences(before, after) == [
        '- <img alt="A RED HOUSE" loading="lazy" src="https://img.example/a.png"'
        ' title="SEE THERE">',
        '+ <img alt="A BLUE HOUSE" loading="lazy" src="https://img.example/a.png"'
        ' title="SEE THERE">',
    ]
    moved = changed(DESCRIBED, ("a.png", "b.png"), (' title="of it"', ' title="of them"'))
    asked = plan_translation_update(before, moved)
    assert asked
    words = [block.text for block in asked.blocks if not block.translation]
    assert words == ["the [end](1) ⟦2⟧", "of them"]
    after = update(before, moved)
    assert 'alt="A RED HOUSE" loading="lazy" src="https://img.example/b.png"' in after.html
    assert f'<a href="https://a.example"{REL} title="OF THEM">END</a>' in after.html


def test_descriptions_go_with_words_that_are_carried_over() -> None:
    """A link that leads elsewhere costs nothing, and keeps what it says."""
    before = translate(DESCRIBED)
    other = ('<a href="https://a.example"' + REL + ' title="of it">', "https://b.example")
    original = changed(DESCRIBED, (other[0], other[0].replace("https://a.example", other[1])))
    assert plan_translation_update(before, original) is None
    assert f'THE <a href="https://b.example"{REL} title="OF IT">END</a>' in (
        update(before, original).html
    )


@pytest.mark.parametrize("words", ["A RED HOUSE", "OF IT"])
def test_a_description_by_a_person(words: str) -> None:
    """It stays, whatever becomes of the original, and so do the words around it."""
    own = changed(translate(DESCRIBED), (words, "Annes Worte"))
    original = changed(DESCRIBED, (words.lower(), "other words"), ("title</h1>", "name</h1>"))
    after = update(own, original)
    assert differences(own, after) == ["- <h1>TITLE</h1>", "+ <h1>NAME</h1>"]
    named = "a picture" if words == "A RED HOUSE" else "'THE END [1]'"
    assert said(after) == (f"translation: its original has changed: {named}",)
    assert "Annes Worte" in update(after, changed(original, ("first.", "other."))).html


def test_a_description_without_a_translation() -> None:
    """It stays as it is, with a remark, until an update that names the page gets it."""
    asked = plan_translation(DESCRIBED, "de", "en")
    blocks = [block for block in translated(asked).blocks if block.text != "A RED HOUSE"]
    before = composed(DESCRIBED, asked, Translated(blocks))
    stays = "stays in the language of the original: the answer has no translation of it"
    remark = f"translation: `alt` 'a red house' {stays}"
    same = "translation: texts of `alt` and `title` that are those of the original: 1"
    assert said(before) == (same, remark)
    original = changed(DESCRIBED, ("first.", "other."))
    assert said(update(before, original)) == said(before)
    again = plan_translation_update(before, DESCRIBED, repeats=True)
    assert again
    words = [block.text for block in again.blocks if not block.translation]
    assert words == ["a red house", "see there"]
    after = apply_translation_update(before, DESCRIBED, again, translated(again), TODAY)
    assert (said(after), 'alt="A RED HOUSE"' in after.html) == ((), True)


def test_a_hostile_description() -> None:
    """It is text, and what the original does not state is a remark, since nothing can mark it."""
    answers = {"a red house": '"><b>x</b> ==5== houses', "see there": "[x](https://evil.example)"}
    asked = plan_translation(DESCRIBED, "de", "en")
    blocks = [
        TranslatedBlock(block.number, answers.get(block.text, block.text)) for block in asked.blocks
    ]
    text = composed(DESCRIBED, asked, Translated(blocks))
    assert 'alt="“›x 5 houses"' in text.html
    assert 'title="see there"' in text.html
    assert said(text)[1:] == (
        "translation: `title` 'see there' stays in the language of the original: "
        "<a> is not in the original",
        "translation: `alt` '“›x 5 houses': '5' is not in the original",
    )


def test_a_draft_that_was_approved_since() -> None:
    """The remark that nobody had approved the original goes."""
    original = changed(ORIGINAL, ("title", "name"))
    asked = plan_translation_update(TRANSLATION, original)
    draft = apply_translation_update(
        TRANSLATION, original, asked, translated(asked), TODAY, is_draft=True
    )
    assert said(draft) == ("translation: the original is a draft that nobody has approved",)
    assert said(update(draft, changed(original, ("name", "title")))) == ()


def test_a_text_that_is_no_translation() -> None:
    """It cannot be updated from another."""
    with pytest.raises(EditError, match="not a translation"):
        plan_translation_update(ORIGINAL, ORIGINAL)


@pytest.mark.parametrize(
    ("language", "word"), [("ar", "الأخير"), ("ja", "最後"), ("zh-hant", "最後")]
)
def test_updates_in_other_scripts(language: str, word: str) -> None:
    """Blocks are found by what they remember, whatever script they are in."""
    text = translate(ORIGINAL, language)
    text = replace(text, html=text.html.replace("LAST", word))
    blocks = Document(text.html, HOSTS).leaves()
    assert text.original
    pairs = read_remembered(text.original.blocks)
    pairs[-3] = Remembered(pairs[-3].form, short_digest_of(blocks[-3]))
    own = replace(text, original=replace(text.original, blocks=write_remembered(pairs)))
    after = update(own, changed(ORIGINAL, ("<p>last</p>", "<p>new</p><p>last</p>")))
    assert f"<p>NEW</p>\n<p>{word}</p>" in after.html


def rounds(seed: int, number: int) -> None:
    """Edit an original and its translation in turn, and check the translation each time."""
    site = Site(random.Random(seed))
    is_own = False
    for _ in range(number):
        original_before = site.original
        begun = len(site.log)
        keeps_words = site.chance.random() < 0.3
        for _ in range(site.chance.randint(1, 3)):
            site.edit_original(keeps_words=keeps_words)
        for _ in range(site.chance.randint(0, 2)):
            site.edit_translation()
            is_own = True
        before = site.translation
        if site.original.html != original_before.html:
            assert before.original and count_changes(before.original, site.original.html) > 0
        if keeps_words:
            asked = plan_translation_update(before, site.original)
            texts = [block.text for block in asked.blocks if not block.translation] if asked else []
            assert texts == [], site.log[begun:]
        site.translation = update(before, site.original)
        # A list that a person has split is one again, before what stood between its parts.
        has_moved = any("move" in line or "person: split list" in line for line in site.log)
        check(site, before, original_before, site.log[begun:], has_moved=has_moved)
        check_words(site, before, original_before, site.log[begun:])
        if not is_own:
            assert site.translation.html == translate(site.original).html, site.log[begun:]


def check(
    site: Site, before: Text, original_before: Text, log: list[str], *, has_moved: bool
) -> None:
    """Check that what need not change is as it was, and that all changes are made."""
    contents = leaves(site.translation)
    same = set(leaves(original_before)) & set(leaves(site.original))
    same = {in_upper_case(html) for html in same} | same
    stays = [html for html in leaves(before) if "person" in html or html in same]
    stays = [html for html in stays if re.search(r"\dx\b", html, re.IGNORECASE)]
    assert [html for html in stays if html not in contents] == [], log
    if not has_moved:
        assert [html for html in contents if html in set(stays)] == stays, log
    numbers = dict(citations(site.original))
    for address, number in citations(site.translation):
        assert numbers.get(address, number) == number, log
    assert site.translation.original
    assert count_changes(site.translation.original, site.original.html) == 0, log
    assert update(site.translation, site.original).html == site.translation.html, log


def leaves(text: Text) -> list[str]:
    """Return the HTML of all blocks, pictures, lines and empty cells without citations' numbers."""
    return [re.sub(r">\[\d\]<", "><", leaf.html) for leaf in Document(text.html, HOSTS).leaves()]


def citations(text: Text) -> set[tuple[str, str]]:
    """Return the address and the number of each citation."""
    return set(re.findall(r'href="(https://c[^"]*)"[^>]*>(\[\d\])<', text.html))


def structure(text: Text) -> list[tuple[str, str]]:
    """Return all tags of elements that contain blocks, and those of the blocks."""
    pieces = Document(text.html, HOSTS).pieces()
    return [(piece.element.name, piece.part) for piece in pieces]


def check_words(site: Site, before: Text, original_before: Text, log: list[str]) -> None:
    """Check that new words of an original arrive, and that old ones neither stay nor come back."""
    of_original_before = set(numbers_in(original_before.html))
    of_original = set(numbers_in(site.original.html))
    of_translation = set(numbers_in(site.translation.html))
    assert numbers_without_person(site.translation) <= of_original, log
    # What a person has removed is still in the original.
    removed = (of_original & of_original_before) - set(numbers_in(before.html))
    assert not removed & of_translation, log
    replaced_by_persons = of_original_before - numbers_without_person(before)
    for number in of_original - of_original_before:
        first = number
        while first in site.replaced and first not in of_original_before:
            first = site.replaced[first]
        # Nothing says of a cell such as `yes` whether a person has changed it.
        is_new = first and first not in replaced_by_persons
        assert not is_new or number in of_translation, log


def numbers_without_person(text: Text) -> set[str]:
    """Return the numbers of words of models that are not beside words of a person.

    A cell of a person whose original is gone stays with its row, also if the person emptied it.
    """
    numbers: set[str] = set()
    for leaf in Document(text.html, HOSTS).leaves():
        around = leaf.element.find_parent("tr") or leaf.element
        is_by_person = "person" in str(around) or "<td></td>" in str(around)
        if not is_by_person:
            numbers.update(numbers_in(leaf.html))
    return numbers


@pytest.mark.system
@pytest.mark.parametrize("seed", range(2))
def test_edits_in_turn(seed: int) -> None:
    """People's words stay, and no other byte changes, whatever was edited before."""
    rounds(seed, 6)


@pytest.mark.system
@pytest.mark.parametrize("seed", range(1000, 1000 + SITES))
def test_many_edits_in_turn(seed: int) -> None:
    """As above, in many more rounds."""
    rounds(seed, 8)
