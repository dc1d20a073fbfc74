"""What a terminal would show of a program's output."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.writer.models.terminal import Screen, shown_text


def in_parts(parts: list[str]) -> str:
    """Return what is shown of an output that comes in parts."""
    screen = Screen()
    found = ""
    for part in parts:
        screen.write(part)
        final, _ = screen.take()
        found += final
    screen.write("", is_last=True)
    return found + "".join(screen.take())


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
        ("one\ntwo\x1b[1A\r\x1b[Jthree", "three"),
        ("wait\x1b[2J\x1b[Htext", "text"),
        ("wait\x1bctext", "text"),
        ("\x1b7wait\x1b8\x1b[Ktext", "text"),
        ("\x1b[swait\x1b[u\x1b[0Ktext", "text"),
        # The other screen, on which menus are.
        ("a\n\x1b[?1049h\x1b[2J\x1b[Hmenu\nitem\x1b[?1049lb\n", "a\nb\n"),
        ("\x1b[?1049l\x1b[?47hmenu\x1b[?47h two\x1b[?47ltext\x1b[?47l", "text"),
        ("\x1b[?1049htext", "text"),
        # Codes that move, erase and insert.
        ("a\nb\nc\x1b[2;1Hx\x1b[3Gy\x1b[1dz", "a  z\nx y\nc"),
        ("abcdef\x1b[4D\x1b[2Pgh", "abgh"),
        ("abcdef\x1b[1G\x1b[2X", "  cdef"),
        ("abcdef\x1b[3G\x1b[1K", "   def"),
        ("ad\x1b[1D\x1b[2@bc", "abcd"),
        ("a\nc\x1b[1Lb", "a\nb\nc"),
        ("a\nb\nc\x1b[1A\x1b[1M", "a\nc"),
        ("a\x1b[3Cb", "a   b"),
        ("a\n\nb\x1b[2F\x1b[2Kx\x1b[2Ey", "x\n\ny"),
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


def test_rows_that_have_left_the_screen() -> None:
    """They are final, so that a long text takes linear time, and codes change what is near."""
    screen = Screen()
    screen.write("".join(f"row {number}\n" for number in range(1000)))
    final, changeable = screen.take()
    assert final.startswith("row 0\nrow 1\n")
    assert final + changeable == "".join(f"row {number}\n" for number in range(1000))
    screen.write("\x1b[999A\x1b[J")
    assert screen.take() == ("", "")


def test_a_row_without_an_end() -> None:
    """The start of a very long row is final."""
    screen = Screen()
    screen.write("first\n" + "x" * 200_000)
    final, changeable = screen.take()
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
