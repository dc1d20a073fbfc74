"""What a terminal would show of a program's output."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.writer.models.terminal import ProgramOutput, shown_text


def in_parts(parts: list[str]) -> str:
    """Return what is shown of an output that comes in parts."""
    shown = ProgramOutput()
    found = ""
    for part in parts:
        shown.write(part)
        final, _ = shown.take()
        found += final
    shown.write("", is_last=True)
    return found + "".join(shown.take())


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("Text  \n\n- a\n\tb\n", "Text  \n\n- a\n\tb\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("", ""),
        # Words that are taken back at the end of a line, as `ollama run` does.
        ("before a comm\x1b[4D\x1b[K\ncommit, and", "before a commit, and"),
        ("comm\x1b[4D\x1b[K\ncommit", "commit"),
        ("comm\x1b[4D\x1b[K\r\ncommit", "commit"),
        ("# A long head\x1b[4D\x1b[K\nheading\n\nText", "# A long heading\n\nText"),
        ("中文字\x1b[2D\x1b[K\n字。", "中文字。"),
        ("a cafe\u0301\x1b[4D\x1b[K\ncafe\u0301", "a cafe\u0301"),
        ("a line\x1b[K\nanother", "a line\nanother"),
        # Spinners and progress.
        ("\x1b[?25l\x1b[?2026h⠋ \x1b[K\x1b[?25h\x1b[?2026l\x1b[2K\x1b[1G# T", "# T"),
        ("⠋ \b\b⠙ \b\b  \b\b# T", "# T"),
        ("⠋ thinking\r⠙ thinking\r\x1b[K# T\n", "# T\n"),
        ("thinking…\r         \r# T\ntext", "# T\ntext"),
        ("10 %\r100 %\ndone", "100 %\ndone"),
        # Codes that move and erase within the line, and others, which are dropped.
        ("abc\x1b[3Gx\x1b[1Gy", "ybx"),
        ("one\ntwo\x1b[1A\x1b[J\x1b7\x1b8\x1b[s\x1b[u\x1bM\x1bc three", "one\ntwo three"),
        ("\x1b[?1049h\x1b[2J\x1b[Htext\x1b[?1049l", "text"),
        ("abcdef\x1b[3G\x1b[1K", "   def"),
        ("a\x1b[3Cb", "a   b"),
        # Codes that show nothing, and those of eight bits.
        ("\x1b[1mbold\x1b[0m \x1b[38;5;1mred\x1b[m", "bold red"),
        ("a\x9b31mb\x9b0m", "ab"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x07a\x1b_payload\x1b\\b\x1bP1$r\x1b\\c\x1b^x\x1b\\d", "abcd"),
        ("a\x07\x00\x7fb", "ab"),
        ("👩‍👩‍👧 क्षि e\u0301", "👩‍👩‍👧 क्षि e\u0301"),
        # Codes that never end.
        ("text\x1b", "text"),
        ("text\x1b[12;", "text"),
        ("text\x1b]0;title", "text"),
        ("text\x1b]0;no end\nof it", "text0;no end\nof it"),
    ],
)
def test_what_is_shown(output: str, shown: str) -> None:
    """Codes are obeyed, in however many parts they come."""
    assert shown_text(output) == shown
    assert in_parts(list(output)) == shown


CODES = st.sampled_from(
    [
        "\n",
        "\r",
        "\b",
        "\t",
        "\x1b",
        "\x1b[",
        "\x1b]",
        "\x1b7",
        "\x1b8",
        "\x1bM",
        "\x1bc",
        "字",
        "e\u0301",
    ]
) | st.builds(
    "\x1b[{}{}".format,
    st.sampled_from(["", "0", "1", "2", "5;5", "99999", "?25"]),
    st.sampled_from("ABCDEFGHJKLMPXdfhlmsu@`"),
)


@given(st.lists(CODES | st.text(max_size=9)))
def test_any_output(parts: list[str]) -> None:
    """Whatever a program writes, what is shown is the same in any parts, and has no codes."""
    shown = shown_text("".join(parts))
    assert in_parts(parts) == shown
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t")))
def test_any_text(text: str) -> None:
    """A text without codes stays as it is."""
    assert shown_text(text) == text


def test_the_last_line_alone_can_change() -> None:
    """All before it is final, so that a long text takes linear time."""
    shown = ProgramOutput()
    shown.write("".join(f"row {number}\n" for number in range(1000)))
    final, changeable = shown.take()
    assert final == "".join(f"row {number}\n" for number in range(1000))
    assert changeable == ""
    shown.write("\x1b[999A\x1b[Jwai\rtext")
    assert shown.take() == ("", "text")


def test_a_line_without_an_end() -> None:
    """The start of a very long line is final."""
    shown = ProgramOutput()
    shown.write("first\n" + "x" * 200_000)
    final, changeable = shown.take()
    assert final.startswith("first\nxxx")
    assert len(final + changeable) == 200_006
    assert len(changeable) < 70_000


@pytest.mark.parametrize(
    "code",
    [
        "\x1b[99999999C x\n",
        "\x1b[9999@",
        "\x1b[999L",
        "\x1b[999;999Hx",
        "\x1b]",
        "\x1b[2J",
        "\x1b[",
    ],
)
def test_hostile_codes(code: str) -> None:
    """No code makes far more text than it is long itself."""
    assert len(shown_text(code * 5000)) < 5000 * 210
