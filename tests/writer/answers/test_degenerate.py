"""Texts without sense: answers of a real model, and pages that repeat words for a reason.

`golden/degenerate/NAME.txt` is an answer of SmolLM2-135M-Instruct, or a page in the form of those
that repeat words most. `NAME.expected` says what is found in it; without one, that is nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_file import GOLDEN, cases, expect
from growth import LINEAR, growth, seconds

from mkdocs_contentgen.writer.answers.degenerate import degenerate_problem, find_loop

CASES = cases("degenerate")

FOLDER = GOLDEN / "degenerate"
PARAGRAPHS = [
    " ".join(f"{letter}{number}x" for number in "abcdefghijklmnop") for letter in "qrstuvw"
]
START = "The library opens on Sundays from now on. Families have asked for it.\n\n"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    """The text before a loop, and what is wrong with the whole text and with that before."""
    text = path.read_text("utf-8")
    found = ""
    if problem := degenerate_problem(text):
        found += f"{problem}\n"
    if (loop := find_loop(text)) is not None:
        before = degenerate_problem(text[:loop]) or "no problem"
        found += f"before the loop: {before}\n{text[:loop]}"
    assert bool(found) == path.name.startswith(("loop", "task"))
    expect(found, path.with_suffix(".expected"))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("loop*.txt")), ids=lambda path: path.stem)
def test_while_it_is_written(path: Path) -> None:
    """A loop is found while the answer arrives, and much of it need not be written."""
    text = path.read_text("utf-8")
    starts = (find_loop(text[:end]) for end in range(300, len(text), 300))
    found = [start is not None for start in starts]
    assert any(found)
    assert all(found[found.index(True) :])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("page*.txt")), ids=lambda path: path.stem)
def test_pages_while_they_are_written(path: Path) -> None:
    """No beginning of a page is taken for a loop."""
    text = path.read_text("utf-8")
    found = [find_loop(text[:end]) for end in range(0, len(text), 100)]
    assert set(found) == {None}


@pytest.mark.parametrize("repeated", CASES["loops"])
def test_loops(repeated: str) -> None:
    """What repeats is found, whatever it consists of, and what stands before it is kept."""
    start = find_loop(START + repeated * (2000 // len(repeated)))
    assert start is not None
    assert START.rstrip() in (START + repeated)[:start]
    assert find_loop(START + repeated * 3) is None


def _counting(lines: int) -> str:
    return "\n".join(f"In {1900 + it} the library had {it * 7} visitors." for it in range(lines))


def test_other_figures() -> None:
    """The same sentence with other figures is a list, unless it goes on and on."""
    text = START + _counting(40)
    assert find_loop(text) is None
    assert degenerate_problem(text) == ""
    assert find_loop(START + _counting(200)) == len(f"{START}{_counting(1)}\n")
    found = degenerate_problem(START + _counting(200))
    assert found.startswith("the text repeats itself without end: 'In 1902 the library had 14 vis")


def test_a_loop_of_several_paragraphs() -> None:
    """It is found while it is written, also with a new paragraph in each round."""
    rounds = [
        "\n\n".join([*PARAGRAPHS, f"In round {chr(97 + number) * 9} the {chr(97 + number)} came."])
        for number in range(8)
    ]
    text = START + "\n\n".join(rounds)
    found = [find_loop(text[:end]) for end in range(0, len(text), 100)]
    first = next(index for index, loop in enumerate(found) if loop is not None)
    assert all(loop == len(START) + len(rounds[0]) + 2 for loop in found[first:])
    assert first * 100 < len(text) / 2
    assert find_loop("\n\n".join([START, *PARAGRAPHS[:5], *PARAGRAPHS[:5]])) is None


def test_a_loop_that_ends() -> None:
    """A loop within a text makes it degenerate, although the text goes on."""
    loop = "It is a day that people like. " * 30
    problem = degenerate_problem(f"{START}{loop}\n{START.replace('library', 'museum')}")
    assert problem is not None
    assert problem.startswith(
        "the text repeats itself without end: 'It is a day that people like. It"
    )


def test_few_words() -> None:
    """A text of the same few words is degenerate in any order of them."""
    words = ("bus", "line", "port")
    text = " ".join(words[number * number // 7 % 3] for number in range(2, 4000))
    assert degenerate_problem(text)


@pytest.mark.parametrize("text", CASES["talk_about_the_task"])
def test_talk_about_the_task(text: str) -> None:
    """A text about its task is degenerate; one remark in a long text is not."""
    problem = degenerate_problem(text)
    assert problem is not None
    assert problem.startswith("the text talks about its task ('")
    page = (FOLDER / "page-guide-fr.txt").read_text("utf-8")
    other = (FOLDER / "page-changelog.txt").read_text("utf-8")
    assert degenerate_problem(f"{page}\n{other}\n{text}") == ""


@pytest.mark.parametrize("text", CASES["clean_texts"])
def test_clean_texts(text: str) -> None:
    """Words about users, texts and topics are no talk about the task."""
    assert degenerate_problem(text) == ""
    assert find_loop(text) is None


@pytest.mark.parametrize("function", [find_loop, degenerate_problem])
@pytest.mark.parametrize(
    "repeated", ["a", "\n", "the user ", "In 1999 it rains. ", "one two \n", "天"]
)
def test_linear_time(function: object, repeated: str) -> None:
    """The time grows like the text."""
    assert callable(function)
    assert growth(function, lambda size: repeated * size, 8_000) < LINEAR


def test_time() -> None:
    """To watch a text of 900 words while it is written takes milliseconds in all."""
    text = " ".join((FOLDER / "kept-nonsense.txt").read_text("utf-8").split()[:300])
    text += (FOLDER / "page-changelog.txt").read_text("utf-8") * 2
    assert seconds(lambda: [find_loop(text[:end]) for end in range(0, len(text), 300)]) < 0.1
    assert seconds(lambda: degenerate_problem(text)) < 0.1
