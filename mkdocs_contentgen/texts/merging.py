"""Bring the structure of a changed original into its translation, around what stays as it is.

Both are trees whose leaves stand for each other. Why this way: if a translation were made anew with
the structure of its original, it would lose what people changed of its lists, tables and order; if
it were only patched, it could not follow where a list of the original is split. So both trees are
compared from the root down. An element stays, byte for byte, unless a leaf in it has to change.
Where one element stands for one, only what is in it is compared. Where the leaves are grouped in
another way now, their elements are made anew as the original has them.

For example, the list of an original is split by a new paragraph N. In the translation, a person has
added the item x, for which the original has nothing:

    original before     original now     translation     merged
    h2 A                h2 A             h2 a            h2 a
    ul                  ul               ul              ul
      li B                li B             li b            li b
      li C              p N                li x            li x
                        ul                 li c          p n
                          li C                           ul
                                                           li c

The two headings are one group: one stands for one, and the translation's stays. The paragraph is a
group of its own, to which the translation has nothing yet. Both lists of the original share leaves
with the one list of the translation, so that the three lists are one group, which is made anew: its
leaves b and c move into new lists, and x follows the leaf that it stood behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bs4 import Tag

from ..sequences import common_length

_FREE = frozenset("p h1 h2 h3 h4 h5 h6 blockquote div pre hr".split())
"""Elements that can stand in the place of each other."""

_LANGUAGE = ("lang", "dir")


@dataclass(frozen=True)
class Slot:
    """What is to stand for a leaf of the original.

    - Neither `own` nor `new`: nothing stands for it, since a person has removed or moved it.
    - `new` alone: the leaf is new.
    - `own` alone: what stands for it stays as it is.
    - Both: `new` takes the place of `own`.

    Only with `own` can it have moved, or have a new place.
    """

    own: int | None = None
    """The number of the leaf of the translation that stands for it now, if there is one."""

    new: Tag | None = None
    """The element that is to stand for it, if there is a new one."""

    has_moved: bool = False
    """Whether it has to go where the original has it now."""

    has_new_place: bool = False
    """Whether the original has something else around it than it had."""


@dataclass(frozen=True)
class Tree:
    """An article, with its leaves."""

    root: Tag
    leaves: Sequence[Tag]


def merge(original: Tree, own: Tree, slots: Sequence[Slot], removed: Collection[int]) -> None:
    """Change a translation in place, so that it follows the structure of its original.

    There is a slot for each leaf of the original. `removed` are the numbers of the translation's
    leaves that have to go. All others stay, with a whole row of a table if one of its cells does.
    """
    used = {slot.own for slot in slots if slot.own is not None}
    translation = _Translation(own, used, removed)
    _Merge(original, translation, slots).merge(original.root, own.root)
    for text in own.root.find_all("text"):
        if isinstance(text.next_sibling, Tag) and text.next_sibling.name == "text":
            text.next_sibling.name = "p"  # or both would be read as one


def without_content(element: Tag) -> Tag:
    """Return an element of an original, for a text in another language, without its content."""
    attributes = {}
    for name, value in element.attrs.items():
        if name not in _LANGUAGE:
            attributes[name] = value
    return Tag(name=element.name, attrs=attributes)


class _Numbers:
    """Finds the numbers of the leaves in the elements of a tree, as the tree was at first."""

    def __init__(self, tree: Tree) -> None:
        # Elements are told apart by their `id()`, since those with the same content are equal.
        self._number_of_leaf: dict[int, int] = {}
        self._numbers_in: defaultdict[int, list[int]] = defaultdict(list)
        for number, leaf in enumerate(tree.leaves):
            self._number_of_leaf[id(leaf)] = number
            for element in _path(leaf):
                self._numbers_in[id(element)].append(number)

    def of_leaf(self, element: Tag) -> int | None:
        """Return the number of a leaf, or None for an element that is none."""
        return self._number_of_leaf.get(id(element))

    def within(self, element: Tag) -> Sequence[int]:
        """Return the numbers of the leaves in an element, or of the leaf that it is."""
        return self._numbers_in.get(id(element), ())


@dataclass(eq=False)
class _Group:
    """Children of an element of the original, and of its translation, that share leaves."""

    original: list[Tag] = field(default_factory=list)
    own: list[Tag] = field(default_factory=list)
    made: list[Tag] = field(default_factory=list)
    """The elements that were made anew for those of the original."""


class _Translation:
    """The tree of a translation, while it is made to follow the original.

    What is in it is found by the numbers of its leaves, wherever they stand by now.
    """

    def __init__(self, tree: Tree, used: set[int], removed: Collection[int]) -> None:
        self.numbers = _Numbers(tree)
        self.elements = list(tree.leaves)
        """What stands for each leaf now: itself, or what came in its place."""

        self._paths = [_path(leaf) for leaf in tree.leaves]
        self._used = used
        """The leaves that stand for one of the original."""

        self.removed = set(removed)
        """The leaves that have to go."""

        self._keep_rows()

    def _keep_rows(self) -> None:
        """Keep each row as a whole in which a cell stays, although none stands for the original."""
        rows: defaultdict[int, list[int]] = defaultdict(list)
        """The numbers of the leaves in each row, by the `id()` of the row."""

        for number, path in enumerate(self._paths):
            for element in path:
                if element.name == "tr":
                    rows[id(element)].append(number)
        for numbers in rows.values():
            if self._used.isdisjoint(numbers) and not self.removed.issuperset(numbers):
                self.removed.difference_update(numbers)

    def prune(self, element: Tag) -> None:
        """Take the leaves that have to go out of an element, and what is empty without them."""
        for number in self.numbers.within(element):
            if number not in self.removed:
                continue
            node = self.elements[number]
            while node.parent is not None:
                parent = node.parent
                node.extract()
                if parent.contents:
                    break
                node = parent

    def place_others(self, group: _Group, parent: Tag) -> None:
        """Put the leaves of a group that stand for none of the original where they stood in it.

        A person may have added them, for example. They follow the leaf that was before them. Then
        the former elements of the group are removed from their parent.
        """
        leaf_before: int | None = None
        placed: set[int] = set()
        for own_child in group.own:
            for number in self.numbers.within(own_child):
                if number in self._used:
                    leaf_before = number
                elif number not in self.removed and number not in placed:
                    top = self._top_of(number)
                    placed.update(self.numbers.within(top))
                    self.prune(top)
                    top.extract()
                    if leaf_before is None:
                        group.made[0].insert_before(top)
                    else:
                        self._place_behind(leaf_before, top, number, parent)
                    leaf_before = number
        for own_child in group.own:
            number_of_leaf = self.numbers.of_leaf(own_child)
            # A leaf that moved into what was made is at its new place already.
            if number_of_leaf is None or self.elements[number_of_leaf] is not own_child:
                own_child.extract()

    def _top_of(self, number: int) -> Tag:
        """Return the outermost element around a leaf in which nothing stands for the original.

        It is the leaf itself if there is no such element.
        """
        top = self.elements[number]
        *around, _ = self._paths[number]
        for element in reversed(around):
            if not self._used.isdisjoint(self.numbers.within(element)):
                break
            top = element
        return top

    def _place_behind(self, leaf_before: int, top: Tag, number: int, parent: Tag) -> None:
        """Insert an element, with the leaf `number`, behind a leaf, at its own level in the tree.

        If a list item was before a paragraph, for example, the paragraph comes behind the list.
        """
        path = self._paths[leaf_before]
        common = common_length(map(id, path), map(id, self._paths[number]))
        place = self.elements[leaf_before]
        # Climb out of all elements that were around the leaf before alone.
        for _ in path[common + 1 :]:
            if place.parent is None or place.parent is parent:
                break
            place = place.parent
        place.insert_after(top)


@dataclass(eq=False)
class _Level:
    """The content of one element of the translation, while it is made to follow the original."""

    own: Tag
    children: Sequence[Tag]
    """What the element of the translation contained before."""

    groups: Mapping[int, _Group]
    """The groups of children of both elements, by the `id()` of a child."""

    _holders: dict[int, Tag] = field(default_factory=dict)
    """An empty element in the place of each leaf that may go elsewhere, by the `id()` of the leaf.

    What a person has added behind a leaf stays behind its holder."""

    _last: Tag | None = None
    """What stands for the last child of the original so far."""

    def __post_init__(self) -> None:
        self._added = set(map(id, self.children)) - self.groups.keys()

    def stay(self, node: Tag) -> None:
        """Leave what stands for the next child of the original where it is."""
        self._last = node

    def insert(self, node: Tag) -> None:
        """Insert what stands for the next child, behind what a person has added behind the last.

        The first one comes before all else that stands for something of the original.
        """
        node.extract()
        if self._last is None:
            self._insert_first(node)
        else:
            place = self._last
            while isinstance(place.next_sibling, Tag) and id(place.next_sibling) in self._added:
                place = place.next_sibling
            place.insert_after(node)
        self._last = node

    def _insert_first(self, node: Tag) -> None:
        for child in self.children:
            place = self._holders.get(id(child), child)
            if id(child) in self.groups and place.parent is self.own:
                place.insert_before(node)
                return
        self.own.append(node)

    def hold(self, leaf: Tag) -> None:
        """Remember the place of a leaf that may go elsewhere."""
        if id(leaf) not in self._holders:
            holder = Tag(name="text")
            leaf.insert_before(holder)
            self._holders[id(leaf)] = holder

    def remove_holders(self) -> None:
        """Take the empty elements out, when all is in its place."""
        for holder in self._holders.values():
            holder.extract()


class _Merge:
    """Follows an original, from its root down, and changes its translation."""

    def __init__(self, original: Tree, translation: _Translation, slots: Sequence[Slot]) -> None:
        self._numbers = _Numbers(original)
        self._translation = translation
        self._slots = slots
        self._moving = {number for number, slot in enumerate(slots) if slot.has_moved}
        """The leaves of the original that have to move by themselves.

        Once an element moves as a whole, those in it are taken out: they move with it."""

    def merge(self, original: Tag, own: Tag) -> None:
        """Change what is in an element that stands for one of the original."""
        children = _children(original)
        own_children = _children(own)
        level = _Level(own, own_children, self._groups(children, own_children))
        for child in children:
            self._follow(child, level)
        for own_child in own_children:
            group = level.groups.get(id(own_child))
            if group is None:  # a person has added it
                self._translation.prune(own_child)
            elif group.made and own_child is group.own[0]:  # once for each group
                self._translation.place_others(group, own)
        level.remove_holders()

    def _groups(self, children: Sequence[Tag], own_children: Sequence[Tag]) -> dict[int, _Group]:
        """Return the group of each child of both elements, by the `id()` of the child.

        Two children that share a leaf are in one group, and so is whatever shares a leaf with one
        of them: groups are connected components. Children of the translation that share no leaf
        with the original are in none.
        """
        groups = {id(child): _Group(original=[child]) for child in children}
        for child, own_child in self._sharing(children, own_children):
            group = groups[id(child)]
            other = groups.setdefault(id(own_child), _Group(own=[own_child]))
            if other is group:
                continue
            # One group takes the place of both, for all their members.
            both = _Group(group.original + other.original, group.own + other.own)
            for member in (*both.original, *both.own):
                groups[id(member)] = both
        places = {id(child): place for place, child in enumerate((*children, *own_children))}
        for group in groups.values():
            group.original.sort(key=lambda child: places[id(child)])
            group.own.sort(key=lambda child: places[id(child)])
        return groups

    def _sharing(
        self, children: Sequence[Tag], own_children: Sequence[Tag]
    ) -> Iterator[tuple[Tag, Tag]]:
        """Yield each child of the original with each child of the translation that has its leaf."""
        child_with_leaf = {}
        for own_child in own_children:
            for own_number in self._translation.numbers.within(own_child):
                child_with_leaf[own_number] = own_child
        for child in children:
            for own_number in self._own_numbers(child):
                yield child, child_with_leaf[own_number]

    def _follow(self, child: Tag, level: _Level) -> None:
        """Bring a child of the original into the translation, behind the child before it."""
        group = level.groups[id(child)]
        if self._is_one_to_one(group):
            has_moved = self._has_moved(child)  # before _merge_one(), which changes `_moving`
            node = self._merge_one(group)
            if has_moved:
                level.insert(node)
            else:
                level.stay(node)
        elif group.own and not self._is_touched(group):
            last = self._last_own_child(child, group)
            if last is not None:
                level.stay(last)
        else:
            made = self._make_for_group(child, group, level)
            if made is not None:
                level.insert(made)

    def _is_one_to_one(self, group: _Group) -> bool:
        """Tell whether one element stands for one, and both are leaves, or neither is."""
        if len(group.original) != 1 or len(group.own) != 1:
            return False
        is_leaf = self._numbers.of_leaf(group.original[0]) is not None
        is_own_leaf = self._translation.numbers.of_leaf(group.own[0]) is not None
        return is_leaf == is_own_leaf

    def _is_touched(self, group: _Group) -> bool:
        """Tell whether a leaf in a group has to change, or a new element stands between its own."""
        for child, next_child in pairwise(group.original):
            if child.next_sibling is not next_child:
                return True
        for child in group.original:
            for number in self._numbers.within(child):
                slot = self._slots[number]
                if slot.new is not None or slot.has_new_place or number in self._moving:
                    return True
        for own_child in group.own:
            own_numbers = self._translation.numbers.within(own_child)
            if not self._translation.removed.isdisjoint(own_numbers):
                return True
        return False

    def _merge_one(self, group: _Group) -> Tag:
        """Change an element that stands for one alone, and return what stands for it then."""
        child = group.original[0]
        own_child = group.own[0]
        number = self._numbers.of_leaf(child)
        if number is not None:
            return self._replace_leaf(own_child, self._slots[number])
        if self._has_moved(child) and self._is_in_order(child):
            # Its leaves move with it, so they do not move within it.
            self._moving.difference_update(self._translated_numbers(child))
        if self._has_new_tag(child):
            own_child.name = child.name
            own_child.attrs = without_content(child).attrs
        if self._is_touched(group):
            self.merge(child, own_child)
        return own_child

    def _replace_leaf(self, own_leaf: Tag, slot: Slot) -> Tag:
        """Put the new element of a slot in the place of a leaf, if there is a new one."""
        if slot.own is None or slot.new is None:
            return own_leaf
        own_leaf.replace_with(slot.new)
        self._translation.elements[slot.own] = slot.new
        return slot.new

    def _has_moved(self, child: Tag) -> bool:
        """Tell whether all in an element of the original has moved there.

        This is asked only of elements of which the translation has a leaf.
        """
        return self._moving.issuperset(self._translated_numbers(child))

    def _has_new_tag(self, child: Tag) -> bool:
        """Tell whether an element of the original, around leaves, is another one than it was.

        Then all in it have a new place. A list whose tag a person has changed stays as it is.
        """
        return all(self._slots[number].has_new_place for number in self._translated_numbers(child))

    def _is_in_order(self, child: Tag) -> bool:
        """Tell whether the translation has the leaves of an element in the same order."""
        own_numbers = self._own_numbers(child)
        return own_numbers == sorted(own_numbers)

    def _translated_numbers(self, child: Tag) -> list[int]:
        """Return the numbers of the leaves in an element for which the translation has one."""
        numbers = self._numbers.within(child)
        return [number for number in numbers if self._slots[number].own is not None]

    def _own_numbers(self, child: Tag) -> list[int]:
        """Return the numbers of the translation's leaves that stand for those in an element."""
        own_numbers = []
        for number in self._numbers.within(child):
            own = self._slots[number].own
            if own is not None:
                own_numbers.append(own)
        return own_numbers

    def _last_own_child(self, child: Tag, group: _Group) -> Tag | None:
        """Return the child of a translation that has the last leaf for a child of the original."""
        own_numbers = self._own_numbers(child)
        if not own_numbers:
            return None
        for own_child in group.own:
            if own_numbers[-1] in self._translation.numbers.within(own_child):
                return own_child
        return None

    def _make_for_group(self, child: Tag, group: _Group, level: _Level) -> Tag | None:
        """Make what is to stand for a child of the original in a group, or None for nothing."""
        # The leaves of the group may go into what is made. Their places are needed after that.
        for own_child in group.own:
            if self._translation.numbers.of_leaf(own_child) is not None:
                level.hold(own_child)
        node = self._make(child)
        if node is not None:
            group.made.append(node)
        return node

    def _make(self, element: Tag) -> Tag | None:
        """Return what is to stand for an element of the original, or None for nothing."""
        number = self._numbers.of_leaf(element)
        if number is not None:
            return self._make_leaf(element, self._slots[number])
        made = without_content(element)
        for child in _children(element):
            node = self._make(child)
            if node is not None:
                made.append(node)
        if not made.contents:
            return None
        return made

    def _make_leaf(self, leaf: Tag, slot: Slot) -> Tag | None:
        """Return what is to stand for a leaf of the original, taken out of where it was."""
        if slot.own is None:
            return slot.new
        if slot.new is not None:
            self._translation.elements[slot.own] = slot.new
            return slot.new
        node = self._translation.elements[slot.own].extract()
        if node.name != leaf.name and not {node.name, leaf.name} <= _FREE:
            node.name = leaf.name  # an item in a list, for example
        return node


def _children(element: Tag) -> list[Tag]:
    """Return the elements in an element. Only leaves have text in them."""
    return [child for child in element.children if isinstance(child, Tag)]


def _path(leaf: Tag) -> list[Tag]:
    """Return the elements around a leaf, from the outermost on, and the leaf."""
    return [*reversed([*leaf.parents]), leaf]
