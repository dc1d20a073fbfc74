"""Compare sequences, and find which items of one are which of another."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

_MAX_COMPARED = 10_000
"""How many pairs of repeated items are compared, which takes about 10 ms."""


def common_length(one: Iterable[object], other: Iterable[object]) -> int:
    """Return how many items at the start of two sequences are equal."""
    length = 0
    for item, other_item in zip(one, other, strict=False):
        if item != other_item:
            break
        length += 1
    return length


def match_in_order(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Return which items of one sequence are which of the other, in the order of both.

    This is a patience diff: first what is unique in both is matched, then the same is done with
    what is between that. Where nothing is unique any more, what is repeated is matched, such as a
    cell with a `yes`.
    """
    matched: dict[int, int] = {}
    waiting = [(range(len(before)), range(len(after)))]
    while waiting:
        places, other_places = waiting.pop()
        items = before[places.start : places.stop]
        other_items = after[other_places.start : other_places.stop]
        unique = match_unique(items, other_items)
        for index, other_index in unique or _match_repeated(items, other_items):
            # From indexes within this part of the sequences to places in the whole of them.
            matched[places[index]] = other_places[other_index]
        if not unique:
            continue
        for gap, other_gap in gaps(dict(unique), (len(items), len(other_items))):
            between = places[gap.start : gap.stop]
            other_between = other_places[other_gap.start : other_gap.stop]
            waiting.append((between, other_between))
    return matched


def _match_repeated(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of places with equal items, in the order of both sequences.

    It is for sequences that have no unique item in common.
    """
    start = common_length(before, after)
    at_end = common_length(reversed(before[start:]), reversed(after[start:]))
    end = len(before) - at_end
    end_after = len(after) - at_end
    matched = [(number, number) for number in range(start)]
    if (end - start) * (end_after - start) <= _MAX_COMPARED:  # difflib takes quadratic time
        matcher = SequenceMatcher(None, before[start:end], after[start:end_after], autojunk=False)
        for number, other, size in matcher.get_matching_blocks():
            for offset in range(size):
                matched.append((start + number + offset, start + other + offset))
    matched += zip(range(end, len(before)), range(end_after, len(after)), strict=True)
    return matched


def match_unique(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of items that are once in each sequence.

    Where these are not in the same order, as many as possible are taken that are.
    """
    counts = Counter(before)
    counts_after = Counter(after)
    places: dict[str, int] = {}
    for place, item in enumerate(after):
        if counts[item] == 1 and counts_after[item] == 1:
            places[item] = place
    common = []
    for number, item in enumerate(before):
        if item in places:
            common.append((number, places[item]))
    return _longest_run(common)


def _longest_run(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return as many of these pairs as possible, in their order, so that the second numbers rise.

    This is the longest increasing subsequence, in a time of n log n.
    """
    # Of all runs of a length, the one that ends with the smallest number is the best to go on with.
    # `ends` has that number for each length, and `chosen` the index of the pair that it is of.
    ends: list[int] = []
    chosen: list[int] = []
    # The index of the pair before each pair in its run, or -1.
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(chosen[length - 1] if length else -1)
        # With this pair, a run is longer by one. Its end replaces that of others so long, if any.
        ends[length : length + 1] = [place]
        chosen[length : length + 1] = [index]
    run = []
    index = chosen[-1] if chosen else -1
    while index >= 0:
        run.append(pairs[index])
        index = previous[index]
    return run[::-1]


def gaps(matched: Mapping[int, int], sizes: tuple[int, int]) -> Iterator[tuple[range, range]]:
    """Yield the places between two matched pairs, in two sequences of these sizes.

    `matched` has places of the second sequence by those of the first, in the order of both.
    """
    place = 0
    other_place = 0
    # After the last pair, there is what is left up to the ends of both.
    for next_place, next_other_place in [*sorted(matched.items()), sizes]:
        yield range(place, next_place), range(other_place, next_other_place)
        place = next_place + 1
        other_place = next_other_place + 1
