"""What no step of mending touches, and what each changes; most are shapes in `golden/writer`."""

from __future__ import annotations

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.remark_words import sentences_of
from mkdocs_contentgen.writer.answers.answers import read_answer
from mkdocs_contentgen.writer.answers.reading import mend_answer, trim

MENDED = [
    *cases("reading")["an_answer_is_mended"],
    (f"{'<div>' * 5000}x{'</div>' * 5000}", "x", ["HTML"]),
    (f"{'<ul><li>' * 5000}x{'</li></ul>' * 5000}", None, []),
]


@pytest.mark.parametrize(("answer", "text", "remarks"), MENDED)
def test_an_answer_is_mended(answer: str, text: str | None, remarks: list[str]) -> None:
    """A step changes what models put around a text, says so, and leaves all else as it is."""
    mended, found = mend_answer(read_answer(answer)[0])
    assert mended == (answer if text is None else text)
    assert len(found) == len(remarks)
    assert all(word in remark for word, remark in zip(remarks, sentences_of(found), strict=True))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("One. Two, thr", "One."),
        ("One.\n\n## Two\n\n- a\n- b", "One."),
        ("缓存。更多", "缓存。"),
        ("“One.” Two", "“One.”"),
        ("「缓存。」更多", "「缓存。」"),
        ("यह एक है। दूसरा", "यह एक है।"),
        ("One", ""),
    ],
)
def test_a_text_that_was_cut_ends_with_a_sentence(text: str, kept: str) -> None:
    """Half a sentence is not kept."""
    assert trim(text) == kept


@pytest.mark.parametrize(
    "part",
    [
        "\n\n",
        "- Sources:\n",
        "~~~\n",
        "*a*\n\n",
        "<!--",
        "---\n",
        "<pre>\n",
        "<td>|",
        "<div>",
        "<br>x",
        "<b a='",
        "!!! note\n\n    ",
        "/// note\n",
    ],
)
def test_mending_takes_linear_time(part: str) -> None:
    """No text of a model keeps a build busy."""

    def make(size: int) -> str:
        return f"# T\n\nText.\n\n{part * size}\n\nText."

    assert growth(mend_answer, make, 5_000) < LINEAR
