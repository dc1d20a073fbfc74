"""Find which part of a translation stands for which of its original, after people edited both.

A translation remembers digests of the parts of both, in pairs, and no words. So what is equal is
matched first: in order, and then wherever else it stands, which means that it was moved. What is
left over between two equal parts has changed. It is paired in order, so that kinds, links, code,
names and figures fit best: translations share these with their originals. What has no partner then
is gone or new.

The parts are the leaves of a document: its blocks, and also pictures, lines and empty cells. Here,
`own` names what is the translation's, and `original` what is the original's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

from ..errors import EditError
from ..html.block import Block, is_block
from ..html.document import document_of
from ..html.elements import HEADINGS
from ..sequences import gaps, match_in_order, match_unique
from ..text import Text
from .remembered import (
    MISSING,
    REMOVED,
    LeafDigests,
    Remembered,
    forms_of,
    read_remembered,
    shared_elements,
    short_digest_of,
)

_MAX_COMPARED = 10_000
"""How many pairs of parts are compared between two equal ones, which takes about 30 ms."""

_MAX_COMPARED_ONCE = 300_000
"""That number where nothing is remembered, which takes about a second."""

_SAME_KIND = 2.0
"""How much it counts that two parts have the same kind, such as `li`."""

_SIMILAR_KIND = 1.0
"""How much it counts that both are headings, or that both are mostly one paragraph."""

_SHARED_WORDS = 4.0
"""How much it counts that all their links, code, names and figures are the same."""

_WEIGHT_OF_MISSING = 0.25
"""Factor for the similarity of a leaf to a part that the translation lacked before."""

_FLOW = frozenset({"p", "li", "text", "blockquote", "div", "dd", "dt", "summary"})
"""The kinds of blocks that are mostly one paragraph."""

_WORD = re.compile(r"[\w.-]+", re.ASCII)


@dataclass(frozen=True)
class Pair:
    """Two parts that a translation remembers, and where they are now."""

    remembered: Remembered

    original: int | None
    """The number of the leaf in the original, or None if it is gone."""

    own: int | None
    """The number of the leaf in the translation, or None if a person has removed it."""

    has_changed: bool
    """Whether the original's part has other words than it had."""

    has_new_content: bool
    """Whether it has the same words, but other links, citations or pictures within them."""

    has_new_place: bool
    """Whether its tag is another one, or what is around it: a heading has another level."""

    has_moved: bool
    """Whether the original's part stands elsewhere among the others than it did."""

    was_moved_by_person: bool
    """Whether the translation's part stands elsewhere among the others than it did."""

    @property
    def is_missing(self) -> bool:
        """Whether the original's part never had a translation."""
        return self.own is None and self.remembered.own == MISSING


@dataclass(frozen=True)
class Alignment:
    """Which part of a translation stands for which of its original."""

    pairs: Sequence[Pair]
    """The pairs that the translation remembers, in the order of the original as it was."""

    added: Sequence[int]
    """The numbers of the original's leaves that are new."""

    leaves_by_persons: frozenset[int]
    """The numbers of the translation's leaves that a person wrote, changed or added."""

    @property
    def missing(self) -> list[int]:
        """The numbers of the original's leaves that never had a translation."""
        numbers = []
        for pair in self.pairs:
            if pair.is_missing and pair.original is not None:
                numbers.append(pair.original)
        return numbers


@dataclass(frozen=True)
class AlignedTexts:
    """The leaves of a translation and of its original, and which stands for which.

    They are shared, so nobody may change them.
    """

    leaves: Sequence[Block]
    """The leaves of the original."""

    own_leaves: Sequence[Block]
    """The leaves of the translation."""

    alignment: Alignment

    @property
    def missing(self) -> list[Block]:
        """The leaves of the original that never had a translation."""
        return [self.leaves[number] for number in self.alignment.missing]


def align_texts(translation: Text, original: Text) -> AlignedTexts:
    """Return which leaf of a translation stands for which leaf of its original.

    Raises UnsafeHTMLError, and EditError for a text that is not a translation.
    """
    if translation.original is None:
        raise EditError("this text is not a translation")
    return _align_html(
        translation.original.blocks,
        translation.original.additions,
        original.html,
        translation.html,
        tuple(sorted(translation.changed_by.items())),
    )


@lru_cache(maxsize=1)  # an edit on the desk needs it for the remarks, and then for the cards
def _align_html(
    remembered: str,
    additions: str,
    original: str,
    translation: str,
    changed_by: tuple[tuple[str, str], ...],
) -> AlignedTexts:
    leaves = document_of(original).leaves()
    own_leaves = document_of(translation).leaves()
    alignment = align(remembered, leaves, own_leaves, dict(changed_by), additions)
    return AlignedTexts(leaves, own_leaves, alignment)


def align(
    remembered: str,
    original: Sequence[Block],
    own: Sequence[Block],
    changed_by: Mapping[str, str],
    additions: str = "",
) -> Alignment:
    """Return which leaf of a translation stands for which leaf of its original.

    `remembered` is `Original.blocks`, `additions` is what it has of that name, and `changed_by`
    says by digest who wrote a block.
    """
    parts = read_remembered(remembered)
    forms = forms_of(original)
    places = _places_of_forms(parts, forms, original)
    own_digests = [short_digest_of(leaf) for leaf in own]
    # What stood for the parts had the structure of the original then.
    own_rows = _Rows([part.own for part in parts], [part.form.shared for part in parts])
    own_places = _Places(own_rows, _Rows(own_digests, shared_elements(own)), own)
    standing_for_none = set(additions.split())

    def similarity(number: int, leaf: int) -> float:
        """Return how well a leaf of the original fits the translation of a remembered part."""
        return places.features[leaf].similarity(own_places.features_of(number))

    def own_similarity(number: int, own_leaf: int) -> float:
        """Return how well a leaf of the translation fits the original of a remembered part."""
        if parts[number].own == REMOVED or own_digests[own_leaf] in standing_for_none:
            return 0
        found = own_places.features[own_leaf].similarity(places.features_of(number))
        if parts[number].own == MISSING:
            # A person may have added it; more often, the leaf is another part that was changed.
            return found * _WEIGHT_OF_MISSING
        return found

    # In this order: own_similarity() asks which leaf of the original a part is now.
    places.add_changed(similarity)
    own_places.add_changed(own_similarity)
    by_persons = _leaves_by_persons(parts, own, own_places, changed_by)
    return Alignment(_pairs(parts, forms, places, own_places), places.unmatched(), by_persons)


def _pairs(
    parts: Sequence[Remembered], forms: Sequence[LeafDigests], places: _Places, own_places: _Places
) -> list[Pair]:
    """Return what became of each remembered part in the original and in the translation."""
    with_new_content = _find_new_content(parts, forms, places)
    with_new_place = _find_new_places(parts, forms, places)
    pairs = []
    for number, part in enumerate(parts):
        pairs.append(
            Pair(
                part,
                places.of(number),
                own_places.of(number),
                has_changed=number in places.changed,
                has_new_content=number in with_new_content,
                has_new_place=number in with_new_place,
                has_moved=places.has_moved(number),
                was_moved_by_person=own_places.has_moved(number),
            )
        )
    return pairs


def _leaves_by_persons(
    parts: Sequence[Remembered],
    own: Sequence[Block],
    own_places: _Places,
    changed_by: Mapping[str, str],
) -> frozenset[int]:
    """Return the leaves of a translation that are not as a model wrote them.

    A person has changed or added them, or is remembered or named as their author.
    """
    as_written = set()
    for number, leaf_number in chain(own_places.equal.items(), own_places.moved.items()):
        if not parts[number].is_by_person:
            as_written.add(leaf_number)
    found = set()
    for leaf in own:
        has_author = is_block(leaf.element) and bool(changed_by.get(leaf.digest))
        if has_author or leaf.number not in as_written:
            found.add(leaf.number)
    return frozenset(found)


def count_changed_leaves(remembered: str, original: Sequence[Block]) -> int:
    """Return how many leaves of an original are changed, moved, gone or new.

    Neighbours that are only in another element now, such as the items of a list that is numbered
    now, count as one. `remembered` is `Original.blocks` of its translation, which need not be read
    for this.
    """
    parts = read_remembered(remembered)
    forms = forms_of(original)
    places = _places_of_forms(parts, forms, original)
    counted = {*places.moved, *_find_new_content(parts, forms, places)}
    only_in_new_place = _find_new_places(parts, forms, places) - counted
    total = len(counted)
    for number in only_in_new_place:
        leaf = places.of(number)
        shares_element = leaf is not None and forms[leaf].shared > 0
        counts_with_part_before = shares_element and number - 1 in only_in_new_place
        if not counts_with_part_before:
            total += 1
    for gone, new in places.left_over():
        total += max(len(gone), len(new))
    return total


def _places_of_forms(
    parts: Sequence[Remembered], forms: Sequence[LeafDigests], leaves: Sequence[Block]
) -> _Places:
    """Return where the leaves of an original are, which are found by their words."""
    before = [part.form for part in parts]
    return _Places(_rows_of_forms(before), _rows_of_forms(forms), leaves)


def _rows_of_forms(forms: Sequence[LeafDigests]) -> _Rows:
    return _Rows([form.words for form in forms], [form.shared for form in forms])


def _find_new_content(
    parts: Sequence[Remembered], forms: Sequence[LeafDigests], places: _Places
) -> set[int]:
    """Return the numbers of the parts that have the same words with other content in them."""
    found = set()
    for number, part in enumerate(parts):
        leaf = places.of(number)
        if leaf is not None and part.form.differs_only_in_content(forms[leaf]):
            found.add(number)
    return found


def _find_new_places(
    parts: Sequence[Remembered], forms: Sequence[LeafDigests], places: _Places
) -> set[int]:
    """Return the numbers of the parts that have another tag, or something else around them."""
    found = set()
    leaf_before: int | None = None
    for number, part in enumerate(parts):
        leaf = places.of(number)
        if leaf is not None:
            has_other_place = part.form.place != forms[leaf].place
            # `shared` counts the elements that are around both a leaf and the one before it. If the
            # leaf before it is still the same one, another number says that a list was split
            # between the two, for example, or that two lists became one.
            is_grouped_anew = leaf_before == leaf - 1 and part.form.shared != forms[leaf].shared
            if has_other_place or is_grouped_anew:
                found.add(number)
        leaf_before = leaf
    return found


def align_unknown(original: Sequence[Block], own: Sequence[Block]) -> dict[int, int]:
    """Return the number of the translation's leaf by that of the original's leaf.

    Nothing is remembered of them. What is once in both, such as code and pictures, is found first,
    then headings, then what is between them.
    """
    features = [_Features(leaf) for leaf in original]
    own_features = [_Features(leaf) for leaf in own]

    def similarity(number: int, own_number: int) -> float:
        return own_features[own_number].similarity(features[number])

    digests = [short_digest_of(leaf) for leaf in original]
    matched = dict(match_unique(digests, [short_digest_of(leaf) for leaf in own]))
    sizes = len(original), len(own)
    for numbers, leaves in list(gaps(matched, sizes)):
        headings = [number for number in numbers if original[number].kind in HEADINGS]
        own_headings = [leaf for leaf in leaves if own[leaf].kind in HEADINGS]
        matched.update(_pair(headings, own_headings, similarity, _MAX_COMPARED_ONCE))
    for numbers, leaves in list(gaps(matched, sizes)):
        matched.update(_pair(numbers, leaves, similarity, _MAX_COMPARED_ONCE))
    return matched


@dataclass(frozen=True)
class _Rows:
    """The parts or the leaves of a text, which are in rows, such as those of a table."""

    digests: Sequence[str]
    shared: Sequence[int]
    """How many of the elements around each are also around the one before it."""

    def spans(self) -> list[range]:
        """Return the places of each row. The first one shares less with what is before it."""
        spans = []
        start = 0
        while start < len(self.digests):
            end = start + 1
            level = self.shared[end] if end < len(self.digests) else 0
            if self.shared[start] < level:
                while end < len(self.digests) and self.shared[end] == level:
                    end += 1
            spans.append(range(start, end))
            start = end
        return spans

    def features(self, row: range) -> list[str]:
        """Return what can be in only one row: a cell, a cell in its column, and all cells."""
        cells = self.cells(row)
        in_columns = [f"{column} {cell}" for column, cell in enumerate(cells)]
        return [*cells, *in_columns, " ".join(cells)]

    def cells(self, row: range) -> Sequence[str]:
        """Return the digests in a row."""
        return self.digests[row.start : row.stop]


class _RowPair(NamedTuple):
    """A row as it was and as it is now."""

    before: range
    after: range
    has_same_columns: bool
    """Whether no column has come or gone, as far as cells tell that are nowhere else."""


def _match_rows(before: _Rows, after: _Rows) -> list[_RowPair]:
    """Return the rows of several cells whose cells match no other row."""
    rows = [row for row in before.spans() if len(row) > 1]
    rows_after = [row for row in after.spans() if len(row) > 1]
    features = [set(before.features(row)) for row in rows]
    features_after = [set(after.features(row)) for row in rows_after]
    telling = _found_once(features) & _found_once(features_after)
    pairs = []
    for number, other in _match_by_features(features, features_after, telling).items():
        cells = before.cells(rows[number])
        cells_after = after.cells(rows_after[other])
        has_same_columns = _have_same_columns(cells, cells_after, telling)
        pairs.append(_RowPair(rows[number], rows_after[other], has_same_columns))
    return pairs


def _found_once(features: Sequence[set[str]]) -> set[str]:
    """Return the features that a single row has."""
    counts = Counter(chain.from_iterable(features))
    return {feature for feature, count in counts.items() if count == 1}


def _match_by_features(
    features: Sequence[set[str]], features_after: Sequence[set[str]], telling: set[str]
) -> dict[int, int]:
    """Return the numbers of rows that share telling features only with each other.

    `features` are those of each row before, and `features_after` those of each row now.
    """
    with_feature = {feature: number for number, row in enumerate(features_after) for feature in row}
    found: dict[int, int] = {}
    for number, row in enumerate(features):
        others = {with_feature[feature] for feature in row & telling}
        if len(others) == 1:
            found[number] = others.pop()
    claims = Counter(found.values())
    return {number: other for number, other in found.items() if claims[other] == 1}


def _have_same_columns(
    cells: Sequence[str], cells_after: Sequence[str], telling: Container[str]
) -> bool:
    """Tell whether two rows are as long, and have the cells that are telling in the same place."""
    if len(cells) != len(cells_after):
        return False
    pairs = zip(cells, cells_after, strict=True)
    return all(cell == cell_after for cell, cell_after in pairs if cell in telling)


def _name_cells_in_columns(
    row: _RowPair, name: str, digests: list[str], now: list[str], repeated: Container[str]
) -> None:
    """Add the name of a row, and of the column, to the digests of its cells, in place.

    So a repeated cell, such as a `yes`, is known by the others of its row. Where such a cell has
    changed, it is in no other row either.
    """
    for column, (number, leaf) in enumerate(zip(row.before, row.after, strict=True)):
        is_same = digests[number] == now[leaf]
        if is_same or digests[number] in repeated:
            digests[number] += f"{name} {column}"
        if is_same or now[leaf] in repeated:
            now[leaf] += f"{name} {column}"


def _name_common_cells(row: _RowPair, name: str, digests: list[str], now: list[str]) -> None:
    """Add the name of a row to the digests of the cells that it had and has, in place.

    A column has come or gone, so that nothing is known of the columns of the others.
    """
    common = {digests[number] for number in row.before} & {now[leaf] for leaf in row.after}
    for number in row.before:
        if digests[number] in common:
            digests[number] += name
    for leaf in row.after:
        if now[leaf] in common:
            now[leaf] += name


def _find_repeated(digests: Sequence[str]) -> Iterator[str]:
    return (digest for digest, count in Counter(digests).items() if count > 1)


class _Places:
    """Which leaf of a document each remembered part is now.

    `before` are the parts, and `after` the leaves. A part is known by its number: its place in
    `before`. For example, with letters for digests:

        before     A B C D E
        after      A X D C Y E

    A, D and E are equal, and C was moved. B has changed to X if they are alike, since these are
    left over between A and D. Y is new.
    """

    def __init__(self, before: _Rows, after: _Rows, leaves: Sequence[Block]) -> None:
        digests = list(before.digests)
        now = list(after.digests)
        self._rows = _match_rows(before, after)
        repeated = {*_find_repeated(digests), *_find_repeated(now)}
        for index, row in enumerate(self._rows):
            if row.has_same_columns:
                _name_cells_in_columns(row, f" {index}", digests, now, repeated)
            else:
                _name_common_cells(row, f" {index}", digests, now)
        self.features = [_Features(leaf) for leaf in leaves]
        self._sizes = len(digests), len(leaves)
        self.equal = match_in_order(digests, now)
        """The leaves of parts that are as they were, by the number of the part."""

        self.moved = self._find_moved(digests, now, leaves)
        """Those of parts that stand elsewhere among the others."""

        self.changed: dict[int, int] = {}
        """Those of parts that add_changed() has found."""

        self.changed_and_moved: set[int] = set()
        """Those of them that have moved with other cells of their row."""

    def _find_moved(
        self, digests: Sequence[str], now: Sequence[str], leaves: Sequence[Block]
    ) -> dict[int, int]:
        """Return the leaves of blocks that stand elsewhere now, by the number of the part.

        Of a block that is there more than once, such as a cell with a `yes`, nobody can say whether
        it was moved.
        """
        counts = Counter(digests)
        counts_now = Counter(now)
        places = {digest: place for place, digest in enumerate(now)}
        moved = {}
        for number, digest in enumerate(digests):
            is_unique = counts[digest] == 1 and counts_now[digest] == 1
            if is_unique and number not in self.equal and is_block(leaves[places[digest]].element):
                moved[number] = places[digest]
        return self._with_neighbours(moved, digests, now)

    def _with_neighbours(
        self, moved: Mapping[int, int], digests: Sequence[str], now: Sequence[str]
    ) -> dict[int, int]:
        """Return the leaves of moved parts, and of equal parts beside them, such as repeated cells.

        A part that stood beside a moved one, and stands beside it again, has moved along.
        """
        found = dict(moved)
        taken = {*self.equal.values(), *moved.values()}
        left = list(moved.items())
        while left:
            number, place = left.pop()
            for step in (-1, 1):
                beside = number + step
                place_beside = place + step
                if not self._are_same((beside, place_beside), digests, now):
                    continue
                has_leaf = beside in self.equal or beside in found
                if not has_leaf and place_beside not in taken:
                    found[beside] = place_beside
                    taken.add(place_beside)
                    left.append((beside, place_beside))
        return found

    @staticmethod
    def _are_same(pair: tuple[int, int], digests: Sequence[str], now: Sequence[str]) -> bool:
        """Tell whether a part and a leaf are there, and equal."""
        number, place = pair
        are_there = 0 <= number < len(digests) and 0 <= place < len(now)
        return are_there and digests[number] == now[place]

    def of(self, number: int) -> int | None:
        """Return the leaf that a part is now, or None if it is gone."""
        for mapping in (self.equal, self.moved, self.changed):
            if number in mapping:
                return mapping[number]
        return None

    def features_of(self, number: int) -> _Features | None:
        """Return the features of the leaf that a part is now, or None if it is gone."""
        leaf = self.of(number)
        return None if leaf is None else self.features[leaf]

    def unmatched(self) -> list[int]:
        """Return the leaves that are no remembered part."""
        matched = {*self.equal.values(), *self.moved.values(), *self.changed.values()}
        return [leaf for leaf in range(len(self.features)) if leaf not in matched]

    def add_changed(self, similarity: Callable[[int, int], float]) -> None:
        """Match what is left over between equal parts, if its similarity is not 0."""
        self._add_changed_cells(similarity)
        for numbers, leaves in self.left_over():
            self.changed.update(_pair(numbers, leaves, similarity, _MAX_COMPARED))

    def _add_changed_cells(self, similarity: Callable[[int, int], float]) -> None:
        """Match what is left over in the same column of a row, also if the row was moved."""
        taken = {*self.equal.values(), *self.moved.values()}
        for row in self._rows:
            if not row.has_same_columns:
                continue
            has_moved = any(number in self.moved for number in row.before)
            for number, leaf in zip(row.before, row.after, strict=True):
                has_leaf = number in self.equal or number in self.moved
                if not has_leaf and leaf not in taken and similarity(number, leaf):
                    self.changed[number] = leaf
                    if has_moved:
                        self.changed_and_moved.add(number)

    def has_moved(self, number: int) -> bool:
        """Tell whether a part stands elsewhere among the others."""
        return number in self.moved or number in self.changed_and_moved

    def left_over(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the parts and the leaves between two equal ones, except what was moved.

        Of the parts A B C and the leaves A X Y C, these are B, and X and Y.
        """
        known = {**self.moved, **self.changed}
        known_leaves = set(known.values())
        for numbers, leaves in gaps(self.equal, self._sizes):
            left_numbers = [number for number in numbers if number not in known]
            left_leaves = [leaf for leaf in leaves if leaf not in known_leaves]
            yield left_numbers, left_leaves


class _Features:
    """What a block mostly shares with its translation."""

    def __init__(self, leaf: Block) -> None:
        self._kind = leaf.kind
        self._element = leaf.element

    def similarity(self, other: _Features | None) -> float:
        """Return how well two blocks fit, or 0 if they cannot be each other.

        None is a block of which nothing is known.
        """
        if other is None:
            return _SIMILAR_KIND
        if self._kind == other._kind:
            similarity = _SAME_KIND
        elif {self._kind, other._kind} <= HEADINGS or {self._kind, other._kind} <= _FLOW:
            similarity = _SIMILAR_KIND
        else:
            return 0
        words = self._lasting_words
        other_words = other._lasting_words
        most = max(words.total(), other_words.total())
        if most:
            similarity += _SHARED_WORDS * (words & other_words).total() / most
        # At most 1, for two of the same length.
        shorter, longer = sorted((len(self._text), len(other._text)))
        return similarity + (shorter + 1) / (longer + 1)

    @cached_property
    def _text(self) -> str:
        return self._element.get_text()

    @cached_property
    def _lasting_words(self) -> Counter[str]:
        """The names, figures, code and addresses."""
        words = filter(_is_lasting, _WORD.findall(self._text))
        found = Counter(map(str.casefold, words))
        for tag in self._element.find_all(True):
            address = tag.get("href") or tag.get("src")
            if address:
                found[str(address)] += 1
            elif tag.name == "code":
                found[tag.get_text()] += 1
        return found


def _is_lasting(word: str) -> bool:
    """Tell whether a translation mostly keeps a word: names, figures and identifiers."""
    return not (word.islower() and word.isalpha())


def _pair(
    numbers: Sequence[int],
    leaves: Sequence[int],
    similarity: Callable[[int, int], float],
    max_compared: int,
) -> dict[int, int]:
    """Return the pairs in the order of both sequences that are most alike together.

    If there are more than `max_compared` possible pairs, the first is paired with the first, and so
    on: so much has changed that a better guess is not worth its time.
    """
    if len(numbers) * len(leaves) > max_compared:
        pairs = zip(numbers, leaves, strict=False)
        return {number: leaf for number, leaf in pairs if similarity(number, leaf)}
    alike = [[similarity(number, leaf) for leaf in leaves] for number in numbers]
    best = _best_sums(alike, len(leaves))
    pairs_found = {}
    row = 0
    column = 0
    while row < len(numbers) and column < len(leaves):
        together = alike[row][column]
        if together and best[row][column] == together + best[row + 1][column + 1]:
            pairs_found[numbers[row]] = leaves[column]
            row += 1
            column += 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs_found


def _best_sums(alike: Sequence[Sequence[float]], columns: int) -> list[list[float]]:
    """Return a table for the pairs that are most alike together, in the order of both sequences.

    `alike` has the similarity of each possible pair: a row for each item of one sequence, and a
    column for each of the other. `table[row][column]` is the sum of the best pairs from that row
    and that column on.
    """
    table = [[0.0] * (columns + 1) for _ in range(len(alike) + 1)]
    for row in reversed(range(len(alike))):
        for column in reversed(range(columns)):
            best = max(table[row + 1][column], table[row][column + 1])
            if alike[row][column]:
                best = max(best, alike[row][column] + table[row + 1][column + 1])
            table[row][column] = best
    return table
