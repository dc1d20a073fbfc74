"""Mark the lists that do not count 1, 2, 3, for `containment.css`.

Themes number lists with counters of their own, which ignore `start`, `type`, `reversed` and
`value`, or give all lists one type. A style sheet cannot tell how wide a number is, and not every
browser compares the case of `type`, so classes say both.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

_TYPE_CLASSES = {
    "a": "contentgen-lower-alpha",
    "A": "contentgen-upper-alpha",
    "i": "contentgen-lower-roman",
    "I": "contentgen-upper-roman",
}
_MAX_ITEMS = 99
"""Themes leave room for numbers of two digits."""

_ROOM = 2
"""How many digits fit into the room that each list has."""

_MAX_WIDE = 13
"""The last of the classes `contentgen-wide-1` and so on."""


_FIRST_WITHOUT_ROMAN = 4000

_ROMAN_LETTERS = (0, 1, 2, 3, 2, 1, 2, 3, 4, 2)
"""How many letters each digit has in a Roman number, such as two for `IX`."""


def mark_numbered_lists(article: Element) -> None:
    """Add classes to each list with numbers of its own, and to the numbered lists in it."""
    marked: set[Element] = set()
    for element in article.iter("ol"):
        if element not in marked and _has_own_numbers(element):
            marked.update(element.iter("ol"))
    for element in marked:
        classes = [*element.get("class", "").split(), "contentgen-numbers"]
        type_class = _TYPE_CLASSES.get(element.get("type", ""))
        if type_class:
            classes.append(type_class)
        wide = min(_widest_number(element) - _ROOM, _MAX_WIDE)
        if wide > 0:
            classes.append(f"contentgen-wide-{wide}")
        element.set("class", " ".join(classes))


def _has_own_numbers(element: Element) -> bool:
    items = element.findall("li")
    return (
        element.get("start", "1") != "1"
        or "type" in element.attrib
        or "reversed" in element.attrib
        or len(items) > _MAX_ITEMS
        or any("value" in item.attrib for item in items)
    )


def _widest_number(element: Element) -> int:
    """Return the width of the widest number of a list, in digits."""
    items = element.findall("li")
    is_reversed = "reversed" in element.attrib
    number = int(element.get("start", len(items) if is_reversed else 1))
    widest = 0
    for item in items:
        number = int(item.get("value", number))
        widest = max(widest, number_width(number, element.get("type", "1")))
        number += -1 if is_reversed else 1
    return widest


def number_width(number: int, type_: str) -> int:
    """Return how wide a number is, in digits, where a list has this `type`."""
    if type_ in ("a", "A") and number > 0:
        return _letters(number)
    if type_ in ("i", "I") and 0 < number < _FIRST_WITHOUT_ROMAN:
        return _roman_letters(number)
    return len(str(number))


def _letters(number: int) -> int:
    """Return the length of a number in letters, such as two for `ab`."""
    letters = 0
    while number > 0:
        number = (number - 1) // 26
        letters += 1
    return letters


def _roman_letters(number: int) -> int:
    thousands, rest = divmod(number, 1000)
    return thousands + sum(_ROMAN_LETTERS[int(digit)] for digit in str(rest))
