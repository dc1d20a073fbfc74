"""Values: the same figure, date or time in other words."""

from __future__ import annotations

import pytest
from golden_file import cases
from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.language.values import find_values, guess_language, known_values

CASES = cases("values")
NUMBERS = cases("numbers")


def is_stated(text: str, source: str) -> bool:
    """Tell whether a text has values, and a source states all of them."""
    values = find_values(text)
    assert values, "the case has no value"
    return all(value.is_stated(known_values(source)) for value in values)


@pytest.mark.parametrize(
    ("text", "source"), [*CASES["same_values"], *CASES["figures_of_parameters"]]
)
def test_the_same_value_in_another_form(text: str, source: str) -> None:
    """Units, magnitudes, dates and number words are compared as values, across languages.

    Of a figure in code and data, the unit stands in the name, a comment, a cell or the words
    beside it.
    """
    assert is_stated(text, source)


@pytest.mark.parametrize(
    ("text", "source"), [*CASES["other_values"], *CASES["other_figures_of_parameters"]]
)
def test_another_value(text: str, source: str) -> None:
    """The same digits with another unit, magnitude, month or half of the day are something else."""
    assert not is_stated(text, source)


@pytest.mark.parametrize("text", CASES["no_values"])
def test_words_that_are_no_values(text: str) -> None:
    """A word that looks like a month, a number or a unit is none without its neighbours."""
    assert find_values(text) == []


@pytest.mark.parametrize(("language", "number", "words"), NUMBERS["number_in_words"])
def test_a_number_in_words(language: str, number: int, words: str) -> None:
    """All its words are one value, whatever the language writes together."""
    [value] = find_values(f"{words}.", language)
    assert (value.start, value.end) == (0, len(words))
    assert [set(readings) for readings in value.parts] == [{str(number)}]


def test_the_same_digits() -> None:
    """A figure with another unit than in the source is told from a new one."""
    [value] = find_values("12 pounds")
    assert value.has_known_digits(known_values("12 dollars"))
    assert not value.has_known_digits(known_values("13 pounds"))


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("The cache is there for the pages of a site.", "en"),
        ("Der Cache ist für die Seiten da.", "de"),
        ("Le cache est là pour les pages du site.", "fr"),
        ("El caché es para las páginas del sitio.", "es"),
        ("Кеш", "ru"),
        ("κανόνας", "el"),
        ("缓存", "zh"),
        ("キャッシュです", "ja"),
        ("캐시", "ko"),
        ("ذاكرة", "ar"),
        ("12345", "en"),
    ],
)
def test_the_language_of_a_text(text: str, tag: str) -> None:
    """The words or the script of a text tell its language."""
    assert guess_language(text) == tag


@given(st.text(alphabet="ab1 .,:/-$%年月日三万twohreMay–²٣\n", max_size=80))
def test_values_are_in_order_and_apart(text: str) -> None:
    """Values do not overlap, are not empty, and stand in their text, which states them."""
    end = 0
    for value in find_values(text):
        assert end <= value.start < value.end <= len(text)
        end = value.end


@pytest.mark.parametrize("piece", ["12 ", "1.1", "May 1 ", "five-", "1–", "三", "twenty ", "1 000"])
def test_values_are_found_in_linear_time(piece: str) -> None:
    """No text takes long: each character is read a few times."""
    assert growth(find_values, lambda size: piece * size, 1_000) < LINEAR


def test_a_figure_with_any_number_of_digits_is_read() -> None:
    """A figure with more digits than are computed with is itself, and no number of TiB."""
    figure = "9" * 36
    assert is_stated(f"{figure} rows", f"size={figure}")
    assert is_stated("4 KiB", "size=4096")
