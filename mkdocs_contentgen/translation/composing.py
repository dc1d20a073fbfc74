"""Make a translation: the structure is its original's, and the words are those that it is given.

All translations are made so: the first one, one whose original has changed, and one that a person
brings. What a person has added stays in it; an order, a level or a kind of list does not:

    original      translation before     words        composed
    h2 A          h3 a                   a            h2 a
    ul            ol                                  ul
      li B          li c                 b              li b
      li C          li b                 c              li x
      li D          li x                 d              li c
                  p y                                   li d
                                                      p y

The item x is a person's, and stays after b. So does the paragraph y, which was in no list: it
comes after the whole list that has b now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from bs4 import Tag

from ..html.block import Block
from ..html.tags import closest, tags_in
from ..sequences import common_length

_LANGUAGE = ("lang", "dir")

_PARENTS = {
    "li": ("ul", "ol"),
    "dt": ("dl",),
    "dd": ("dl",),
    "tr": ("table", "thead", "tbody", "tfoot"),
    "td": ("tr",),
    "th": ("tr",),
    "thead": ("table",),
    "tbody": ("table",),
    "tfoot": ("table",),
    "caption": ("table",),
    "figcaption": ("figure",),
    "summary": ("details",),
}
"""What an element has to be in."""

_ONLY_OWN = frozenset({"ul", "ol", "dl", "table", "thead", "tbody", "tfoot", "tr"})
"""Elements that no other element has its place in."""


@dataclass(frozen=True)
class Tree:
    """An article, with its leaves."""

    root: Tag
    leaves: Sequence[Tag]


@dataclass(frozen=True)
class Former:
    """A translation as it was, of which stays what stands for nothing in the original."""

    tree: Tree
    stands_for: Mapping[int, int]
    """The number of the original's leaf, by that of the leaf which stands for it."""

    dropped: Collection[int] = ()
    """The numbers of the leaves that have to go. A row stays whole if one of its cells stays."""


@dataclass(frozen=True)
class Composed:
    """A translation that was composed again."""

    root: Tag
    placed: dict[int, Tag] = field(default_factory=dict)
    """What stands for the leaves of the original, by their number."""

    added: dict[int, Tag] = field(default_factory=dict)
    """The leaves that stand for none, by their number in the former translation."""


def compose(original: Tree, words: Sequence[Tag | None], former: Former | None = None) -> Composed:
    """Return an article with the structure of its original, in other words.

    For each leaf of the original, there is an element with the words for it, or None if nothing is
    to stand for it. These elements stay as they are.
    """
    composed = Composed(without_content(original.root))
    number_of = {id(leaf): number for number, leaf in enumerate(original.leaves)}

    def fill(made: Tag, element: Tag) -> None:
        """Put what stands for the content of an element of the original into another one."""
        for child in _children(element):
            made_child = without_content(child)
            number = number_of.get(id(child))
            if number is None:
                fill(made_child, child)
                if made_child.contents:
                    made.append(made_child)
                continue
            given = words[number]
            if given is not None:
                made_child.extend(copy(given).contents[:])
                made.append(made_child)
                composed.placed[number] = made_child

    fill(composed.root, original.root)
    if former:
        _Additions(composed, former).place()
    _part_loose_texts(composed.root)
    return composed


def _part_loose_texts(root: Tag) -> None:
    """Make paragraphs of loose texts that would be read as one with the text before them."""
    for text in tags_in(root, ("text",)):
        if isinstance(text.next_sibling, Tag) and text.next_sibling.name == "text":
            text.next_sibling.name = "p"


def tree_of(article: Tag, leaves: Iterable[Block]) -> Tree:
    """Return an article with these leaves."""
    return Tree(article, [leaf.element for leaf in leaves])


def without_content(element: Tag) -> Tag:
    """Return an element of an original, for a text in another language, without its content."""
    attributes = {}
    for name, value in element.attrs.items():
        if name not in _LANGUAGE:
            attributes[name] = value
    return Tag(name=element.name, attrs=attributes)


def rows_in(leaves: Iterable[Block]) -> list[list[int]]:
    """Return the numbers of the leaves in each row of a table."""
    rows: dict[int, list[int]] = {}
    for leaf in leaves:
        row = closest(leaf.element, ("tr",))
        if row is not None:
            rows.setdefault(id(row), []).append(leaf.number)
    return list(rows.values())


class _Additions:
    """Puts what stands for nothing in the original beside what it stood beside."""

    def __init__(self, composed: Composed, former: Former) -> None:
        self._composed = composed
        self._leaves = former.tree.leaves
        self._paths = [_path(leaf) for leaf in self._leaves]
        self._used: dict[int, Tag] = {}
        """What there is now of the former leaves, by their number."""

        for number, of_original in former.stands_for.items():
            if of_original in composed.placed:
                self._used[number] = composed.placed[of_original]
        # Elements are told apart by their `id()`, since those with the same content are equal.
        self._number_of = {id(leaf): number for number, leaf in enumerate(self._leaves)}
        self._with_used: set[int] = set()
        """The `id()` of each element around a leaf that stands for one of the original."""

        for number in self._used:
            self._with_used.update(map(id, self._paths[number]))
        self._dropped = self._without_rows_that_stay(former.dropped)

    def _without_rows_that_stay(self, dropped: Collection[int]) -> set[int]:
        """Return the leaves that have to go, except the cells of rows in which another stays."""
        remaining = set(dropped)
        for row in rows_in(Block(number, leaf) for number, leaf in enumerate(self._leaves)):
            if self._used.keys().isdisjoint(row) and not remaining.issuperset(row):
                remaining.difference_update(row)
        return remaining

    def place(self) -> None:
        """Put them into what was composed."""
        followers = self._find_followers()
        before: int | None = None
        for number in range(len(self._leaves)):
            is_new = number not in self._used and number not in self._composed.added
            if is_new and number not in self._dropped:
                self._place_beside(self._top_of(number), number, before, followers[number])
            if number not in self._dropped:
                before = number

    def _find_followers(self) -> list[int | None]:
        """Return for each leaf the next one that stands for one of the original."""
        followers: list[int | None] = []
        follower: int | None = None
        for number in reversed(range(len(self._leaves))):
            followers.append(follower)
            if number in self._used:
                follower = number
        return followers[::-1]

    def _top_of(self, number: int) -> Tag:
        """Return the outermost element around a leaf in which nothing stands for the original."""
        for element in self._paths[number][1:]:
            if id(element) not in self._with_used:
                return element
        return self._leaves[number]

    def _place_beside(
        self, top: Tag, number: int, before: int | None, follower: int | None
    ) -> None:
        """Put an element, with the leaf `number`, after the leaf before it.

        Only where it was in a list or a table with the leaf after it alone, it comes before that.
        """
        shared_before = self._count_shared(number, before)
        shared_after = self._count_shared(number, follower)
        new = self._copy(top)
        if before is not None and shared_before >= shared_after:
            anchor = self._place_of(self._now(before), new, shared_before)
            anchor.insert_after(self._wrapped(new, top, anchor))
        elif follower is not None:
            anchor = self._place_of(self._now(follower), new, shared_after)
            anchor.insert_before(self._wrapped(new, top, anchor))
        else:
            self._composed.root.append(new)

    def _count_shared(self, number: int, other: int | None) -> int:
        """Return how many elements are around both leaves."""
        if other is None:
            return 0
        return common_length(map(id, self._paths[number][:-1]), map(id, self._paths[other][:-1]))

    def _now(self, number: int) -> Tag:
        """Return what there is now of a former leaf."""
        return self._used.get(number) or self._composed.added[number]

    def _copy(self, element: Tag) -> Tag:
        """Return a copy of an element without the leaves in it that have to go."""
        number = self._number_of.get(id(element))
        if number is not None:
            made = copy(element)
            self._composed.added[number] = made
            return made
        made = Tag(name=element.name, attrs=dict(element.attrs))
        for child in _children(element):
            if not self._is_dropped(child):
                made.append(self._copy(child))
        return made

    def _is_dropped(self, element: Tag) -> bool:
        """Tell whether all leaves in an element have to go."""
        number = self._number_of.get(id(element))
        if number is not None:
            return number in self._dropped
        return all(map(self._is_dropped, _children(element)))

    def _place_of(self, leaf: Tag, new: Tag, depth: int) -> Tag:
        """Return the element around a leaf, or the leaf, that a new one can stand beside.

        It is in as many others as `depth`, or in fewer.
        """
        place = leaf
        for parent in leaf.parents:
            is_last = parent is self._composed.root
            if is_last or (_depth(parent) <= depth and _can_contain(parent, new)):
                break
            place = parent
        return place

    def _wrapped(self, new: Tag, top: Tag, anchor: Tag) -> Tag:
        """Return a new element in those that it needs around it where it comes to stand.

        An item needs a list if there is none any more.
        """
        (parent, *_) = anchor.parents
        for outer in top.parents:
            if _can_contain(parent, new):
                break
            wrapper = Tag(name=outer.name, attrs=dict(outer.attrs))
            wrapper.append(new)
            new = wrapper
        return new


def _depth(element: Tag) -> int:
    """Return how many elements there are from the article to an element, with both."""
    return 1 + len(list(element.parents))


def _can_contain(parent: Tag, element: Tag) -> bool:
    """Tell whether an element has its place in another one."""
    if element.name in _PARENTS:
        return parent.name in _PARENTS[element.name]
    return parent.name not in _ONLY_OWN


def _children(element: Tag) -> list[Tag]:
    """Return the elements in an element. Only leaves have text in them."""
    return [child for child in element.children if isinstance(child, Tag)]


def _path(leaf: Tag) -> list[Tag]:
    """Return the elements around a leaf, from the outermost on, and the leaf."""
    return [*reversed([*leaf.parents]), leaf]
