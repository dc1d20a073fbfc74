"""Values that a text says of a name, of which the source has another value."""

from __future__ import annotations

import re

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.language.ranges import Range
from mkdocs_contentgen.writer.marks.defaults import find_other_values

CASES = cases("defaults")


def found(text: str, source: str) -> list[str]:
    """Return the values that are marked, where backticks are around code."""
    code = [Range(*match.span()) for match in re.finditer("`[^`]+`", text)]
    return [part.of(text) for part in find_other_values(text, code, source)]


@pytest.mark.parametrize(("text", "source", "value"), CASES["other_values"])
def test_other_values(text: str, source: str, value: str) -> None:
    """A default is compared with what stands beside its name, though it stands elsewhere, too."""
    assert found(text, source) == [value]


@pytest.mark.parametrize(("text", "source"), CASES["values_of_a_source"])
def test_values_of_a_source(text: str, source: str) -> None:
    """A default in another form, one of an unknown name and a value of something else are right."""
    assert found(text, source) == []


def test_defaults_in_linear_time() -> None:
    """Neither many names nor a name that each line has takes longer for each of them."""

    def compare(text: str) -> None:
        found(text, text.replace("is 3", "is 2"))

    assert growth(compare, "`retries` is 3 by default.\n".__mul__, 2_000) < LINEAR
    names = growth(
        compare, lambda n: "".join(f"`n{i}` is 3 by default.\n" for i in range(n)), 2_000
    )
    assert names < LINEAR
