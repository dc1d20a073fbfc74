"""What is shown of texts that somebody else wrote: all of it, and nothing that is obeyed."""

from __future__ import annotations

import re
import unicodedata

import pytest
from golden_file import cases
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.display import escape_controls, hidden_character, quoted, without_commands

CASES = cases("display")

ORDINARY = [
    "Ten ways to speed up a docs build: faster, cheaper",
    "std::vector, a::b, 12::34, x :: y, C# and ## headings, [x], #[derive]",
    "שלום עולם, C++ (גרסה 3)\u200f!",
    "مرحبا بالعالم \u061cABC\u200e",
    "नमस्ते, क्\u200dष and می\u200cخواهم",  # noqa: RUF001  it is Persian
    "👩\u200d💻 ❤\ufe0f 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🇩🇪",
    "日本語、中文\u3000한국어",
    "tab\there, no\u00a0break, soft\u00adhyphen, zero\u200bwidth, Zażółć, e\u0301",
    "C:\\new\\table, \\u202e",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    """Texts of all languages are shown as they are, with the marks that their letters need."""
    assert escape_controls(text) == text
    assert hidden_character(text) is None


@pytest.mark.parametrize(("text", "expected"), CASES["what_would_be_obeyed"])
def test_what_would_be_obeyed(text: str, expected: str) -> None:
    """It is shown as an escape, also in the middle of a line that a log may fold."""
    assert escape_controls(text) == expected


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_is_obeyed(text: str) -> None:
    """Whatever the text, it is one line of text that can be encoded, and no command."""
    line = escape_controls(text)
    assert all(
        unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") or character == "\t"
        for character in line
    )
    overriding = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    assert not any(unicodedata.bidirectional(character) in overriding for character in line)
    assert line.splitlines() in ([line], [])
    line.encode()
    assert escape_controls(line) == line
    assert hidden_character(line) is None
    if hidden_character(text) is None:
        assert line == without_commands(text)


@given(
    st.lists(
        st.sampled_from(["::", ":", "#", "##", "[", "vso", " ", "\u00a0", "\n", "error", "a"]),
        max_size=12,
    ).map("".join)
)
def test_no_line_is_a_command(text: str) -> None:
    """Neither as it stands nor folded at its spaces is a text what a runner looks for."""
    for line in re.split(r"\s", escape_controls(text)):
        assert not re.match(r"::\w", line)
    assert not re.search(r"##\w*\[", escape_controls(text))
    for line in without_commands(text).split("\n"):
        assert not re.match(r"\s*::\w", line)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(
    st.characters(exclude_categories=[])) | st.dates(), lambda inner: st.lists(inner)
    | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_values_are_shown_short(value: object) -> None:
    """A value of any kind is one short line."""
    text = quoted(value)
    assert 0 < len(text) <= 60
    assert hidden_character(text) is None


def test_values_of_any_size_are_shown() -> None:
    """Neither a large number nor a list that holds itself takes time, or fails."""
    value: list[object] = [10**5000]
    value.append(value)
    assert quoted(value) == "a number with too many digits"
    assert len(quoted({"a": value[1:], "b": "x" * 10**6})) <= 60
