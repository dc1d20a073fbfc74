"""Bring the structure of a changed original into its translation, around what stays as it is.

Both are trees whose leaves stand for each other. Why this way: if a translation were made anew with
the structure of its original, it would lose what people changed of its lists, tables and order; if
it were only patched, it could not follow where a list of the original is split. So both trees are
compared from the root down. An element stays, byte for byte, unless a leaf in it has to change.
Where one element stands for one, only what is in it is compared. Where the leaves are grouped in
another way now, their elements are made anew as the original has them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bs4 import Tag

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
    _Merge(original, own, slots, removed).merge(original.root, own.root)
    for text in own.root.find_all("text"):
        if isinstance(text.next_sibling, Tag) and text.next_sibling.name == "text":
            text.next_sibling.name = "p"  # or both would be read as one


def without_content(element: Tag) -> Tag:
    """Return an element of an original, for a text in another language, without its content."""
    attributes = {name: value for name, value in element.attrs.items() if name not in _LANGUAGE}
    return Tag(name=element.name, attrs=attributes)


@dataclass(eq=False)
class _Group:
    """Children of an element of the original, and of its translation, that share leaves."""

    original: list[Tag] = field(default_factory=list)
    own: list[Tag] = field(default_factory=list)
    made: list[Tag] = field(default_factory=list)
    """The elements that were made anew for those of the original."""


@dataclass(eq=False)
class _Level:
    """The content of an element of the translation, while it is made to follow the original."""

    own: Tag
    children: Sequence[Tag]
    """What the element of the translation contained before."""

    groups: Mapping[int, _Group]
    """The groups of children of both elements, by the `id()` of a child."""

    holders: dict[int, Tag] = field(default_factory=dict)
    """An empty element in the place of each leaf that may go elsewhere, by the `id()` of the leaf.

    What a person has added behind a leaf stays behind its holder. The holders are taken out at the
    end."""

    last: Tag | None = None
    """What stands for the last child of the original so far."""

    def __post_init__(self) -> None:
        self._persons = {id(child) for child in self.children if id(child) not in self.groups}

    def insert(self, node: Tag) -> None:
        """Insert what stands for the next child, behind what a person has added there."""
        place = self.last
        if place is None:
            self._insert_first(node)
            return
        while isinstance(place.next_sibling, Tag) and id(place.next_sibling) in self._persons:
            place = place.next_sibling
        place.insert_after(node)

    def _insert_first(self, node: Tag) -> None:
        """Insert an element before all that stands for something of the original."""
        for child in self.children:
            place = self.holders.get(id(child), child)
            if id(child) in self.groups and place.parent is self.own:
                place.insert_before(node)
                return
        self.own.append(node)


class _Merge:
    def __init__(
        self, original: Tree, own: Tree, slots: Sequence[Slot], removed: Collection[int]
    ) -> None:
        self._slots = slots
        # All of these find leaves, by their numbers, and elements by their `id()`.
        self._leaf_of = {id(leaf): number for number, leaf in enumerate(original.leaves)}
        self._own_leaf_of = {id(leaf): number for number, leaf in enumerate(own.leaves)}
        self._leaves_in = _leaves_in(original)
        self._own_leaves_in = _leaves_in(own)
        self._own_paths = [_path(leaf) for leaf in own.leaves]
        self._elements = list(own.leaves)
        """What stands for each leaf of the translation: itself, or what came in its place."""

        self._used = {slot.own for slot in slots}
        """The leaves of the translation that stand for one of the original."""

        self._removed = set(removed)
        self._keep_rows()
        self._moving = {number for number, slot in enumerate(slots) if slot.has_moved}
        """The leaves of the original that have to move by themselves.

        Once an element moves as a whole, those in it are taken out: they move with it."""

    def merge(self, original: Tag, own: Tag) -> None:
        """Change what is in an element that stands for one of the original."""
        own_children = _children(own)
        level = _Level(own, own_children, self._groups(original, own_children))
        for child in _children(original):
            self._follow(child, level)
        for own_child in own_children:
            group = level.groups.get(id(own_child))
            if group is None:  # a person has added it
                self._prune(own_child)
            elif group.made and own_child is group.own[0]:  # once for each group
                self._place_others(group, own)
        for holder in level.holders.values():
            holder.extract()

    def _follow(self, child: Tag, level: _Level) -> None:
        """Bring a child of the original into the translation, behind the child before it.

        What stands for it is changed in place, stays as it is, or is made anew.
        """
        group = level.groups[id(child)]
        node: Tag | None
        if self._is_one_to_one(group):
            stays = not self._has_moved(child)  # before _merge_child(), which changes `_moving`
            node = self._merge_child(child, group.own[0])
        elif group.own and not self._is_touched(group):
            stays = True
            node = self._last_own_child(child, group)
        else:
            stays = False
            node = self._make_for_group(child, group, level.holders)
        if node is None:
            return
        if not stays:
            node.extract()
            level.insert(node)
        level.last = node

    def _make_for_group(self, child: Tag, group: _Group, holders: dict[int, Tag]) -> Tag | None:
        """Make what is to stand for a child of the original in a group, or None for nothing."""
        # The leaves of the group may go into what is made. Their places are needed after that.
        for own_child in group.own:
            if id(own_child) in self._own_leaf_of and id(own_child) not in holders:
                holders[id(own_child)] = Tag(name="text")
                own_child.insert_before(holders[id(own_child)])
        node = self._make(child)
        if node is not None:
            group.made.append(node)
        return node

    def _groups(self, original: Tag, own_children: Sequence[Tag]) -> dict[int, _Group]:
        """Return the group of each child of both elements, by the identity of the child.

        Two children that share a leaf are in one group, and so is whatever shares a leaf with one
        of them: groups are connected components. Children of the translation that share no leaf
        with the original are in none.
        """
        child_of_leaf = {}
        for own_child in own_children:
            for number in self._own_leaves_in[id(own_child)]:
                child_of_leaf[number] = own_child
        groups: dict[int, _Group] = {}
        for child in _children(original):
            group = _Group([child])
            groups[id(child)] = group
            for number in self._leaves_in[id(child)]:
                own = self._slots[number].own
                if own is None:
                    continue
                own_child = child_of_leaf[own]
                other = groups.get(id(own_child), _Group([], [own_child]))
                if other is not group:
                    # One group takes the place of both, for all their members.
                    group = _Group(other.original + group.original, other.own + group.own)
                    for member in (*group.original, *group.own):
                        groups[id(member)] = group
        order = [id(child) for child in (*_children(original), *own_children)]
        places = {name: place for place, name in enumerate(order)}
        for group in groups.values():
            group.original.sort(key=lambda child: places[id(child)])
            group.own.sort(key=lambda child: places[id(child)])
        return groups

    def _is_one_to_one(self, group: _Group) -> bool:
        """Tell whether one element stands for one, and both are leaves, or neither is."""
        if len(group.original) != 1 or len(group.own) != 1:
            return False
        is_leaf = id(group.original[0]) in self._leaf_of
        return is_leaf == (id(group.own[0]) in self._own_leaf_of)

    def _is_touched(self, group: _Group) -> bool:
        """Tell whether a leaf in a group has to change, or a new element stands between its own."""
        for child, other in pairwise(group.original):
            if child.next_sibling is not other:
                return True
        for child in group.original:
            for number in self._leaves_in[id(child)]:
                slot = self._slots[number]
                if slot.new is not None or slot.has_new_place or number in self._moving:
                    return True
        for own_child in group.own:
            if not self._removed.isdisjoint(self._own_leaves_in[id(own_child)]):
                return True
        return False

    def _has_moved(self, child: Tag) -> bool:
        """Tell whether all in an element of the original has moved there.

        This is asked only of elements of which the translation has a leaf.
        """
        return self._moving.issuperset(self._leaves_with_own(child))

    def _has_new_tag(self, child: Tag) -> bool:
        """Tell whether an element of the original, around leaves, is another one than it was.

        Then all in it have a new place. A list whose tag a person has changed stays as it is.
        """
        return all(self._slots[number].has_new_place for number in self._leaves_with_own(child))

    def _leaves_with_own(self, child: Tag) -> list[int]:
        """Return the leaves in an element for which the translation has one."""
        numbers = self._leaves_in[id(child)]
        return [number for number in numbers if self._slots[number].own is not None]

    def _merge_child(self, child: Tag, own_child: Tag) -> Tag:
        """Change an element that stands for one alone, and return what stands for it then."""
        number = self._leaf_of.get(id(child))
        if number is None:
            if self._has_moved(child) and self._is_in_order(child):
                # Its leaves move with it, so they do not move within it.
                self._moving.difference_update(self._leaves_with_own(child))
            if self._has_new_tag(child):
                own_child.name = child.name
                own_child.attrs = without_content(child).attrs
            if self._is_touched(_Group([child], [own_child])):
                self.merge(child, own_child)
            return own_child
        slot = self._slots[number]
        if slot.own is None or slot.new is None:
            return own_child
        own_child.replace_with(slot.new)
        self._elements[slot.own] = slot.new
        return slot.new

    def _is_in_order(self, child: Tag) -> bool:
        """Tell whether the translation has the leaves of an element in the same order."""
        own_numbers = []
        for number in self._leaves_with_own(child):
            own = self._slots[number].own
            if own is not None:
                own_numbers.append(own)
        return own_numbers == sorted(own_numbers)

    def _last_own_child(self, child: Tag, group: _Group) -> Tag | None:
        """Return the child of a translation that has the last leaf for a child of the original."""
        leaves = self._leaves_with_own(child)
        if not leaves:
            return None
        own = self._slots[leaves[-1]].own
        around = (member for member in group.own if own in self._own_leaves_in[id(member)])
        return next(around, None)

    def _make(self, element: Tag) -> Tag | None:
        """Return what is to stand for an element of the original, or None for nothing."""
        number = self._leaf_of.get(id(element))
        if number is not None:
            return self._make_leaf(element, self._slots[number])
        made = without_content(element)
        for child in _children(element):
            node = self._make(child)
            if node is not None:
                made.append(node)
        return made if made.contents else None

    def _make_leaf(self, leaf: Tag, slot: Slot) -> Tag | None:
        if slot.own is None:
            return slot.new
        if slot.new is not None:
            self._elements[slot.own] = slot.new
            return slot.new
        node = self._elements[slot.own].extract()
        if node.name != leaf.name and not {node.name, leaf.name} <= _FREE:
            node.name = leaf.name  # an item in a list, for example
        return node

    def _place_others(self, group: _Group, own: Tag) -> None:
        """Put the leaves of a group that no slot has where they stood among its other leaves.

        A person may have added them, for example. Then remove the former elements of the group.
        """
        leaf_before: int | None = None
        placed: set[int] = set()
        for own_child in group.own:
            for number in self._own_leaves_in[id(own_child)]:
                if number in self._used:
                    leaf_before = number
                elif number not in self._removed and number not in placed:
                    top = self._top_of(number)
                    placed.update(self._own_leaves_in[id(top)])
                    self._prune(top)
                    self._place(top.extract(), number, leaf_before, group, own)
                    leaf_before = number
        for own_child in group.own:
            number_of_leaf = self._own_leaf_of.get(id(own_child))
            if number_of_leaf is None or self._elements[number_of_leaf] is not own_child:
                own_child.extract()

    def _top_of(self, number: int) -> Tag:
        """Return the outermost element around a leaf that has no leaf of a slot in it.

        It is the leaf itself if there is no such element.
        """
        top = self._elements[number]
        for element in reversed(self._own_paths[number][:-1]):
            if not self._used.isdisjoint(self._own_leaves_in[id(element)]):
                break
            top = element
        return top

    def _place(
        self, top: Tag, number: int, leaf_before: int | None, group: _Group, own: Tag
    ) -> None:
        """Insert an element behind the leaf that it stood behind, at its level in the tree."""
        if leaf_before is None:
            group.made[0].insert_before(top)
            return
        path = self._own_paths[leaf_before]
        common = _common_depth(path, self._own_paths[number])
        place = self._elements[leaf_before]
        # Climb to the level of `top`: into the innermost element that was around both leaves.
        for _ in range(len(path) - common - 1):
            if place.parent is None or place.parent is own:
                break
            place = place.parent
        place.insert_after(top)

    def _prune(self, element: Tag) -> None:
        """Take the leaves that have to go out of an element, and what is empty without them."""
        for number in self._own_leaves_in[id(element)]:
            if number not in self._removed:
                continue
            node = self._elements[number]
            while node.parent is not None:
                parent = node.parent
                node.extract()
                if parent.contents:
                    break
                node = parent

    def _keep_rows(self) -> None:
        """Keep each row as a whole in which a cell stays, although none stands for the original."""
        rows: dict[int, list[int]] = defaultdict(list)
        for number, path in enumerate(self._own_paths):
            for element in path:
                if element.name == "tr":
                    rows[id(element)].append(number)
        for numbers in rows.values():
            if self._used.isdisjoint(numbers) and not self._removed.issuperset(numbers):
                self._removed.difference_update(numbers)


def _children(element: Tag) -> list[Tag]:
    """Return the elements in an element. Only leaves have text in them."""
    return [child for child in element.children if isinstance(child, Tag)]


def _path(leaf: Tag) -> list[Tag]:
    """Return the elements around a leaf, from the outermost on, and the leaf."""
    return [*reversed([*leaf.parents]), leaf]


def _common_depth(path: Sequence[Tag], other: Sequence[Tag]) -> int:
    """Return how many elements two paths share, from the outermost on."""
    depth = 0
    for element, other_element in zip(path, other, strict=False):
        if element is not other_element:
            break
        depth += 1
    return depth


def _leaves_in(tree: Tree) -> Mapping[int, Sequence[int]]:
    """Return the numbers of the leaves in each element, by its identity."""
    leaves: defaultdict[int, list[int]] = defaultdict(list)
    for number, leaf in enumerate(tree.leaves):
        for element in _path(leaf):
            leaves[id(element)].append(number)
    return leaves
