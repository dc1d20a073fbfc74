"""A composed translation has its original's structure, all its words, and what a person added."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from bs4 import Tag
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.tags import closest, tags_in
from mkdocs_contentgen.translation.composing import (
    Composed,
    Former,
    Tree,
    compose,
    rows_in,
    tree_of,
)

few = settings(
    max_examples=60,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],  # what is made at random does not get simpler
)


class Writer:
    """Writes articles whose words are all different."""

    def __init__(self, chance: Random, start: str) -> None:
        self._chance = chance
        self._start = start
        self._number = 0

    def article(self) -> Document:
        """Return an article with lists, tables and quotes in each other."""
        parts = "".join(self._part(depth=0) for _ in range(self._chance.randint(1, 5)))
        return Document(f"<article><h1>{self._words()}</h1>{parts}</article>")

    def _words(self) -> str:
        self._number += 1
        return f"{self._start}{self._number}"

    def _part(self, depth: int) -> str:
        makers: list[Callable[[int], str]] = [self._block, self._block]
        if depth < 2:
            makers += [self._list, self._table, self._group]
        return self._chance.choice(makers)(depth + 1)

    def _block(self, _: int) -> str:
        tag = self._chance.choice(["p", "h2", "h3", "pre"])
        return "<hr>" if self._chance.random() < 0.1 else f"<{tag}>{self._words()}</{tag}>"

    def _list(self, depth: int) -> str:
        tag = self._chance.choice(["ul", "ol"])
        items = []
        for _ in range(self._chance.randint(1, 3)):
            inner = self._part(depth) if self._chance.random() < 0.3 else ""
            items.append(f"<li>{self._words()}{inner}</li>")
        return f"<{tag}>{''.join(items)}</{tag}>"

    def _table(self, _: int) -> str:
        columns = self._chance.randint(1, 3)
        head = f"<thead><tr>{self._row('th', columns)}</tr></thead>"
        if self._chance.random() < 0.5:
            head = ""
        rows = "".join(
            f"<tr>{self._row('td', columns)}</tr>" for _ in range(self._chance.randint(1, 3))
        )
        return f"<table>{head}<tbody>{rows}</tbody></table>"

    def _row(self, tag: str, columns: int) -> str:
        cells = [self._words() if self._chance.random() < 0.8 else "" for _ in range(columns)]
        return "".join(f"<{tag}>{cell}</{tag}>" for cell in cells)

    def _group(self, depth: int) -> str:
        tag = self._chance.choice(["blockquote", "section"])
        return f"<{tag}>{self._part(depth)}{self._part(depth)}</{tag}>"


class Case:
    """An original, a translation, and what of each stands for the other, all at random."""

    def __init__(self, chance: Random) -> None:
        self.original = Writer(chance, "o").article()
        self.own = Writer(chance, "t").article()
        self.leaves = self.original.leaves()
        self.own_leaves = self.own.leaves()
        self.stands_for: dict[int, int] = {}
        self.words: list[Tag | None] = []
        places = [leaf.number for leaf in self.own_leaves]
        if chance.random() < 0.5:
            chance.shuffle(places)
        for leaf in self.leaves:
            own = self._next(places, has_text=bool(leaf.text))
            if own is not None and chance.random() < 0.7:
                self.stands_for[own] = leaf.number
                self.words.append(self.own_leaves[own].element)
            elif leaf.number and chance.random() < 0.3:  # the title stays
                self.words.append(None)
            else:
                self.words.append(leaf.element)
        unused = [number for number in range(len(self.own_leaves)) if number not in self.stands_for]
        self.dropped = {number for number in unused if chance.random() < 0.4}

    def _next(self, places: list[int], *, has_text: bool) -> int | None:
        """Take the next leaf of the translation that can stand for one, with or without text."""
        for index, number in enumerate(places):
            if bool(self.own_leaves[number].text) == has_text:
                return places.pop(index)
        return None

    def compose(self) -> Composed:
        """Return what is composed."""
        return compose(
            tree_of(self.original.article, self.leaves),
            self.words,
            Former(tree_of(self.own.article, self.own_leaves), self.stands_for, self.dropped),
        )


chances = st.randoms(use_true_random=False)


def structure(element: Tag) -> str:
    """Return the tags in an element, without those in which nothing stands any more."""
    inner = "".join(structure(child) for child in element.children if isinstance(child, Tag))
    return f"<{element.name}>{inner}</{element.name}>"


def prune(element: Tag) -> None:
    """Take an element out of its tree, and all that is empty without it."""
    parent = element.parent
    element.extract()
    while parent is not None and not parent.contents and parent.parent is not None:
        around = parent.parent
        parent.extract()
        parent = around


@few
@given(chances)
def test_the_structure_is_that_of_the_original(chance: Random) -> None:
    """Without what was added and what was left out, both have the same tags in the same order."""
    case = Case(chance)
    composed = case.compose()
    placed = list(composed.placed.values())
    assert [leaf for leaf in tags_in(composed.root) if any(leaf is one for one in placed)] == placed
    for added in composed.added.values():
        prune(added)
    for leaf, words in zip(case.leaves, case.words, strict=True):
        if words is None:
            prune(leaf.element)
    loose_texts_are_read_apart = structure(composed.root).replace("text>", "p>")
    assert loose_texts_are_read_apart == structure(case.original.article).replace("text>", "p>")


@few
@given(chances)
def test_all_words_stay(chance: Random) -> None:
    """What was given stands for its leaf, and what was not dropped is there once."""
    case = Case(chance)
    composed = case.compose()
    for number, placed in composed.placed.items():
        words = case.words[number]
        assert words is not None and placed.get_text() == words.get_text()
    unused = {leaf.number for leaf in case.own_leaves} - case.stands_for.keys()
    assert composed.added.keys() >= unused - case.dropped
    text = composed.root.get_text(" ").split()
    for number, added in composed.added.items():
        own_words = case.own_leaves[number].text
        assert added.get_text() == own_words
        assert not own_words or text.count(own_words) == 1


@few
@given(chances)
def test_no_row_is_torn(chance: Random) -> None:
    """A row that stays beside the original has all of its cells, in their order."""
    case = Case(chance)
    composed = case.compose()
    for row in rows_in(case.own_leaves):
        if case.stands_for.keys().isdisjoint(row) and not case.dropped.issuperset(row):
            rows = {id(closest(composed.added[number], ("tr",))) for number in row}
            assert len(rows) == 1
            (together,) = {closest(composed.added[number], ("tr",)) for number in row}
            assert together is not None
            cells = case.own_leaves[row[0]].element.find_parent("tr")
            assert cells is not None and together.get_text() == cells.get_text()


PARENTS = {
    "li": {"ul", "ol"},
    "tr": {"thead", "tbody"},
    "td": {"tr"},
    "th": {"tr"},
    "thead": {"table"},
    "tbody": {"table"},
}


@few
@given(chances)
def test_each_element_is_where_it_can_be(chance: Random) -> None:
    """An item is in a list, and a list has nothing but items; what is read again is the same."""
    case = Case(chance)
    composed = case.compose()
    only = set().union(*PARENTS.values())
    for element in tags_in(composed.root):
        (parent, *_) = element.parents
        allowed = PARENTS.get(element.name)
        assert parent.name in allowed if allowed else parent.name not in only
    case.own.article = composed.root
    again = Document(case.own.to_lines())
    words = [leaf.text for leaf in case.own.leaves()]
    assert [leaf.text for leaf in again.leaves()] == words
    assert again.to_lines() == case.own.to_lines()


@few
@given(chances)
def test_composing_again_changes_nothing(chance: Random) -> None:
    """What was added stays where it is."""
    case = Case(chance)
    composed = case.compose()
    leaves = [*composed.placed.values(), *composed.added.values()]
    in_order = [tag for tag in tags_in(composed.root) if any(tag is leaf for leaf in leaves)]
    stands_for = {}
    words: list[Tag | None] = [None] * len(case.words)
    for number, placed in composed.placed.items():
        (own,) = [place for place, tag in enumerate(in_order) if tag is placed]
        stands_for[own] = number
        words[number] = placed
    again = compose(
        tree_of(case.original.article, case.leaves),
        words,
        Former(Tree(composed.root, in_order), stands_for),
    )
    assert str(again.root) == str(composed.root)


def made(original: str, own: str, stands_for: dict[int, int], dropped: set[int]) -> str:
    """Return the HTML of an article made of two others, on one line and without the article."""
    documents = [Document(f"<article>{html}</article>") for html in (original, own)]
    leaves, own_leaves = [document.leaves() for document in documents]
    words: list[Tag | None] = [None] * len(leaves)
    for number, of_original in stands_for.items():
        words[of_original] = own_leaves[number].element
    composed = compose(
        tree_of(documents[0].article, leaves),
        words,
        Former(tree_of(documents[1].article, own_leaves), stands_for, dropped),
    )
    return composed.root.decode_contents()


@pytest.mark.parametrize(
    ("original", "own", "stands_for", "dropped", "expected"),
    [
        pytest.param(
            "<p>a</p><p>b</p>",
            "<ul><li>A</li><li>x</li><li>y</li><li>B</li></ul>",
            {0: 0, 3: 1},
            set(),
            "<p>A</p><ul><li>x</li><li>y</li></ul><p>B</p>",
            id="items without a list",
        ),
        pytest.param(
            "<p>a</p><ul><li>b</li></ul>",
            "<p>A</p><ul><li>x</li><li>B</li></ul>",
            {0: 0, 2: 1},
            set(),
            "<p>A</p><ul><li>x</li><li>B</li></ul>",
            id="the first item",
        ),
        pytest.param(
            "<blockquote><p>a</p></blockquote><p>b</p>",
            "<p>A</p><p>x</p><p>B</p>",
            {0: 0, 2: 1},
            set(),
            "<blockquote><p>A</p></blockquote><p>x</p><p>B</p>",
            id="behind a quote",
        ),
        pytest.param(
            "<p>a</p>",
            "<p>A</p><table><tr><td>x</td><td>old</td></tr><tr><td>old</td></tr></table>",
            {0: 0},
            {2, 3},
            "<p>A</p><table><tbody><tr><td>x</td><td>old</td></tr></tbody></table>",
            id="a whole row, and no other",
        ),
        pytest.param(
            "<p>b</p><p>a</p>",
            "<p>A</p><h3>x</h3><p>B</p>",
            {0: 1, 2: 0},
            set(),
            "<p>B</p><p>A</p><h3>x</h3>",
            id="behind the last leaf that stood before it",
        ),
        pytest.param(
            "<section>a<p>b</p>c</section>",
            "<section>A<p>B</p>C</section>",
            {0: 0, 2: 2},
            {1},
            "<section><text>A</text><p>C</p></section>",
            id="loose texts that meet",
        ),
        pytest.param(
            "<p>a</p>", "<h3>x</h3><p>A</p>", {1: 0}, set(), "<h3>x</h3><p>A</p>", id="at the start"
        ),
    ],
)
def test_where_additions_stand(
    original: str, own: str, stands_for: dict[int, int], dropped: set[int], expected: str
) -> None:
    """They stay behind what they stood behind, in what they need around them."""
    assert made(original, own, stands_for, dropped) == expected
