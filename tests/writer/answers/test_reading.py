"""What no step of mending touches, and what each changes; most are shapes in `golden/writer`."""

from __future__ import annotations

from datetime import date

import pytest
from golden_file import cases
from growth import LINEAR, growth

from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.remark_words import sentences_of
from mkdocs_contentgen.writer.answers.answers import read_answer
from mkdocs_contentgen.writer.answers.markdown import read_markdown, to_html
from mkdocs_contentgen.writer.answers.reading import mend_answer, trim

DAY = date(2026, 2, 3)

MENDED = [
    *cases("reading")["an_answer_is_mended"],
    (f"{'<div>' * 5000}x{'</div>' * 5000}", "x", ["HTML"]),
    (f"{'<ul><li>' * 5000}x{'</li></ul>' * 5000}", None, []),
]


def read(answer: str) -> tuple[str, list[Remark]]:
    """Return the HTML of an answer, and the remarks on what was changed."""
    text, remarks = mend_answer(read_answer(answer)[0])
    document = read_markdown(text)
    return to_html(document, "article", given="", day=DAY), [*remarks, *document.remarks]


@pytest.mark.parametrize(
    ("answer", "text", "remarks"), MENDED, ids=[answer[:60] for answer, _, _ in MENDED]
)
def test_an_answer_is_mended(answer: str, text: str | None, remarks: list[str]) -> None:
    """What models put around and into a text goes, with a remark; all else stays as it is."""
    html, found = read(answer)
    if text is not None:
        assert html == to_html(read_markdown(text), "article", given="", day=DAY)
    assert len(found) == len(remarks)
    assert all(word in remark for word, remark in zip(remarks, sentences_of(found), strict=True))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("One. Two, thr", "One."),
        ("One.\n\n## Two\n\n- a\n- b", "One."),
        ("One.\n\n**Two**", "One."),
        ("One.\n\n**Two** is it.", "One.\n\n**Two** is it."),
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
        "<a-name>\n",
        "a b c d e f g h</a-name>\n",
        "<code>\n",
        "<svg>\n",
        "• a\n",
        "[^1]: https://x.example\n",
        "[1] https://x.example\n\n",
        "$a_1",
        "[ ] a\n",
        "Let me search. I will look for more. ",
        "1. **Analyze the request**\n",
        "<article>\n",
        "```md\n",
    ],
)
def test_mending_takes_linear_time(part: str) -> None:
    """No text of a model keeps a build busy."""

    def make(size: int) -> str:
        return f"# T\n\nText.\n\n{part * size}\n\nText."

    assert growth(read, make, 1_000) < LINEAR
