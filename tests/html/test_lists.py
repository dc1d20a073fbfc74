"""The classes of lists that do not count 1, 2, 3."""

from __future__ import annotations

from functools import partial
from xml.etree.ElementTree import fromstring

import pytest
from growth import once

from mkdocs_contentgen.html.lists import mark_numbered_lists, number_width


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("<ol>", None),
        ('<ol start="1">', None),
        ('<ol start="2">', "contentgen-numbers"),
        ('<ol reversed="">', "contentgen-numbers"),
        ('<ol type="1">', "contentgen-numbers"),
        ('<ol type="a">', "contentgen-numbers contentgen-lower-alpha"),
        ('<ol type="A">', "contentgen-numbers contentgen-upper-alpha"),
        ('<ol type="i">', "contentgen-numbers contentgen-lower-roman"),
        ('<ol type="I">', "contentgen-numbers contentgen-upper-roman"),
        ('<ol start="98">', "contentgen-numbers"),
        ('<ol start="99">', "contentgen-numbers contentgen-wide-1"),
        ('<ol start="-5">', "contentgen-numbers"),
        ('<ol start="-99999">', "contentgen-numbers contentgen-wide-4"),
        (
            '<ol type="I" start="3888">',
            "contentgen-numbers contentgen-upper-roman contentgen-wide-13",
        ),
        ('<ol class="cg-fill" start="1998">', "cg-fill contentgen-numbers contentgen-wide-2"),
    ],
)
def test_a_list_of_two(start: str, expected: str | None) -> None:
    """Only a list that does not count 1, 2, 3 has classes, for its type and its widest number."""
    article = fromstring(f"<article>{start}<li>x</li><li>y</li></ol></article>")
    mark_numbered_lists(article)
    assert article[0].get("class") == expected


def test_numbers_of_items() -> None:
    """The numbers that items ask for count, and those that follow them."""
    article = fromstring('<article><ol><li>x</li><li value="999">y</li><li>z</li></ol></article>')
    mark_numbered_lists(article)
    assert article[0].get("class") == "contentgen-numbers contentgen-wide-2"


def test_lists_in_lists() -> None:
    """A list within a marked one is marked, and a list around it is not."""
    article = fromstring(
        '<article><ol><li><ol start="3"><li>x<ul><li><ol><li>y</li></ol></li></ul></li></ol></li>'
        "</ol></article>"
    )
    mark_numbered_lists(article)
    classes = [element.get("class") for element in article.iter("ol")]
    assert classes == [None, "contentgen-numbers", "contentgen-numbers"]


def test_a_list_of_a_hundred() -> None:
    """Numbers of three digits need more room, wherever they come from."""
    article = fromstring(f"<article><ol>{'<li>x</li>' * 100}</ol></article>")
    mark_numbered_lists(article)
    assert article[0].get("class") == "contentgen-numbers contentgen-wide-1"


@pytest.mark.parametrize(
    ("number", "type_", "width"),
    [
        (26, "a", 1),
        (27, "a", 2),
        (702, "A", 2),
        (703, "A", 3),
        (0, "a", 1),
        (-12, "i", 3),
        (8, "i", 4),
        (1888, "i", 13),
        (4000, "i", 4),
        (18, "I", 5),
    ],
)
def test_the_width_of_a_number(number: int, type_: str, width: int) -> None:
    """Letters and Roman numbers are as wide as a browser shows them."""
    assert number_width(number, type_) == width


def test_many_lists_are_fast() -> None:
    """Lists within one another, and beside one another, take linear time."""
    start = "<ol start='2'><li>"
    nested = f"{start * 45}x{'</li></ol>' * 45}"
    article = fromstring(f"<article>{nested * 50}{f'{start}x</li></ol>' * 3000}</article>")
    assert once(partial(mark_numbered_lists, article)) < 1
