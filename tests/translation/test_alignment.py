"""Blocks of a translation and its original are found again, whatever was edited in both."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from growth import LINEAR, growth

from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.translation.alignment import Alignment, align, count_changed_leaves
from mkdocs_contentgen.translation.remembered import (
    REMOVED,
    Remembered,
    forms_of,
    read_remembered,
    short_digest_of,
    write_remembered,
)


def leaves(*parts: str) -> list[Block]:
    """Return the leaves of an article that consists of these elements."""
    return Document(f"<article>{''.join(parts)}</article>").leaves()


def remembered(original: list[Block], own: list[Block]) -> str:
    """Return what a translation remembers of both."""
    pairs = zip(forms_of(original), own, strict=True)
    return write_remembered(Remembered(form, short_digest_of(leaf)) for form, leaf in pairs)


ORIGINAL = [f"<p>Text {number}</p>" for number in range(6)]
OWN = [f"<p>Satz {number}</p>" for number in range(6)]
PAIRS = remembered(leaves(*ORIGINAL), leaves(*OWN))


def places(found: Alignment) -> list[tuple[int | None, int | None]]:
    """Return where each remembered pair is."""
    return [(pair.original, pair.own) for pair in found.pairs]


def test_nothing_was_edited() -> None:
    """Each stands for the one that it stood for, and nobody has written any."""
    found = align(PAIRS, leaves(*ORIGINAL), leaves(*OWN), {})
    assert places(found) == [(number, number) for number in range(6)]
    assert (list(found.added), set(found.leaves_by_persons)) == ([], set())


def test_both_were_edited_at_the_same_place() -> None:
    """What is left over between equal neighbours has changed, on either side."""
    original = [*ORIGINAL[:2], "<p>Other 2</p>", *ORIGINAL[3:5]]
    own = [*OWN[:2], "<p>Anders 2</p>", OWN[3], "<p>Mehr</p>", *OWN[4:]]
    found = align(PAIRS, leaves(*original), leaves(*own), {})
    assert places(found) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (None, 6)]
    assert [pair.has_changed for pair in found.pairs] == [False, False, True, False, False, False]
    assert (list(found.added), set(found.leaves_by_persons)) == ([], {2, 4})


def test_one_of_two_neighbours_is_gone() -> None:
    """Figures and names that both have tell which of them has changed."""
    original = [ORIGINAL[0], "<p>Another 2</p>", *ORIGINAL[3:]]
    found = align(PAIRS, leaves(*original), leaves(*OWN), {})
    assert places(found)[1:3] == [(None, 1), (1, 2)]
    own = [OWN[0], "<p>Mein 2</p>", *OWN[3:]]
    found = align(PAIRS, leaves(*ORIGINAL), leaves(*own), {})
    assert places(found)[1:3] == [(1, None), (2, 1)]


def test_what_was_moved() -> None:
    """A block that is once in the original is found wherever it stands; repeated cells are not."""
    found = align(PAIRS, leaves(*ORIGINAL[1:5], ORIGINAL[0], ORIGINAL[5]), leaves(*OWN), {})
    assert places(found)[0] == (4, 0)
    assert [pair.has_moved for pair in found.pairs] == [True, *[False] * 5]
    cells = [f"<table><tr><td>{words}</td><td>yes</td></tr></table>" for words in ("a", "b")]
    new = "<table><tr><td>c</td><td>yes</td></tr></table>"
    pairs = remembered(leaves(*cells), leaves(*cells))
    changed = cells[0].replace("yes", "no")
    found = align(pairs, leaves(changed, cells[1], new), leaves(*cells), {})
    assert places(found) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert found.added == [4, 5]


def test_one_of_two_equal_blocks_is_gone() -> None:
    """No block of a translation stands for two of the original, wherever equal ones were found."""
    original = leaves(ORIGINAL[0], "<p>Yes</p>", ORIGINAL[2])  # of which the second fits best
    pairs = remembered(original, leaves("<p>Ja</p>", "<p>Ja</p>", OWN[2]))
    found = align(pairs, original, leaves("<p>Ja</p>", OWN[2]), {})
    assert places(found) == [(0, 0), (1, None), (2, 1)]


def test_repeated_cells_move_with_their_row() -> None:
    """What stands beside a block that was moved, and is as it was, has moved along."""
    rows = [f"<tr><td>{words}</td><td>yes</td><td></td></tr>" for words in ("a", "b", "c")]
    before = leaves(f"<table>{''.join(rows)}</table>")
    after = leaves(f"<table>{''.join([*rows[1:], rows[0]])}</table>")
    expected = [(number, (number - 3) % 9) for number in range(9)]
    pairs = remembered(before, before)
    found = align(pairs, before, after, {})
    assert (places(found), set(found.leaves_by_persons)) == (expected, set())
    found = align(pairs, after, before, {})
    assert places(found) == [(own, original) for original, own in expected]
    assert count_changed_leaves(pairs, after) == 3


def test_a_block_of_another_kind() -> None:
    """The same words are the same block; others in a cell are no paragraph, but can be an item."""
    original = [*ORIGINAL[:2], "<ul><li>Text 2</li></ul>", *ORIGINAL[3:]]
    found = align(PAIRS, leaves(*original), leaves(*OWN), {})
    assert places(found)[2] == (2, 2)
    original[2] = "<table><tr><td>Text 2</td></tr></table>"
    assert places(align(PAIRS, leaves(*original), leaves(*OWN), {}))[2] == (2, 2)
    original[2] = "<table><tr><td>Words</td></tr></table>"
    found = align(PAIRS, leaves(*original), leaves(*OWN), {})
    assert (places(found)[2], found.added) == ((None, 2), [2])


def test_an_item_that_has_no_list_of_its_own_any_more() -> None:
    """Its words tell that it is not the item which was in that list, and which a person wrote."""
    nested = "<ul><li>see v1x<ul><li>text is longer</li></ul></li></ul>"
    own_nested = "<ul><li>Siehe V1x<ul><li>Anns Satz</li></ul></li></ul>"
    pairs = remembered(leaves(nested), leaves(own_nested))
    own = leaves(own_nested)
    found = align(pairs, leaves("<ul><li>see v1x</li></ul>"), own, {own[1].digest: "Ann"})
    assert places(found) == [(0, 0), (None, 1)]


def test_who_wrote_a_block() -> None:
    """A block is a person's if somebody has changed it on the desk, or in the file."""
    own = leaves(*OWN)
    assert align(PAIRS, leaves(*ORIGINAL), own, {own[3].digest: "Ann"}).leaves_by_persons == {3}
    own = leaves(*OWN[:3], "<p>Satz 3!</p>", *OWN[4:])
    assert align(PAIRS, leaves(*ORIGINAL), own, {}).leaves_by_persons == {3}


def test_what_a_person_has_removed() -> None:
    """It is not taken for another block that a person has added at its place."""
    pairs = read_remembered(PAIRS)
    pairs[2] = replace(pairs[2], own=REMOVED)
    own = leaves(*OWN[:2], "<p>Neu</p>", *OWN[3:])
    found = align(write_remembered(pairs), leaves(*ORIGINAL), own, {})
    assert places(found)[2] == (2, None)
    assert found.leaves_by_persons == {2}


def test_counted_changes() -> None:
    """Changed, new, gone and moved blocks count once each, and so does a list around several."""
    items = [*ORIGINAL[:2], "<ul>", *ORIGINAL[2:5], "</ul>", "<blockquote>", ORIGINAL[5]]
    assert count_changed_leaves(PAIRS, leaves(*items, "</blockquote>")) == 2
    assert count_changed_leaves(PAIRS, leaves(*ORIGINAL)) == 0
    assert count_changed_leaves(PAIRS, leaves("<p>x</p>", *ORIGINAL[1:])) == 1
    assert count_changed_leaves(PAIRS, leaves(*ORIGINAL, "<p>x</p>", "<p>y</p>")) == 2
    assert count_changed_leaves(PAIRS, leaves(*ORIGINAL[2:])) == 2
    assert count_changed_leaves(PAIRS, leaves(*ORIGINAL[1:5], ORIGINAL[0], ORIGINAL[5])) == 1


def article_of(piece: str, count: int) -> str:
    """Return an article of so many pieces, each with a number of its own."""
    return f"<article><h1>T</h1>{''.join(map(piece.format, range(count)))}</article>"


def test_texts_that_have_nothing_in_common() -> None:
    """The time is not quadratic, where all is new, reversed or repeated."""

    def align_reversed(html: str) -> None:
        found = Document(html).leaves()
        pairs = remembered(found[::-1], found)
        align(pairs, found, found[::2], {})

    for piece in ("<p>{}</p>", "<table><tr><td>{}</td><td>yes</td><td></td></tr></table>"):
        make = partial(article_of, piece)
        assert growth(align_reversed, make, 240) < LINEAR
