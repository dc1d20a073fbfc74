"""The words of a passage, which tell whether it says something else."""

from __future__ import annotations

import pytest
from growth import seconds

from mkdocs_contentgen.writer.sources.passage_words import words_of

SAME = [
    ("See [the guide](a.md).", "See [the guide](b.md#x)."),
    ("See [the guide][g].\n\n[g]: a.md", "See the guide."),
    ("Words ![a picture](a.png) here.", "Words here."),
    ("Line<br>\nbreak", "Line\nbreak"),
    ("```python title='a.py'\nrun()\n```", "~~~py\nrun()\n~~~"),
    ("It is **very** _good_.", "It is *very* good."),
    ('> Quoted "words"', "Quoted “words”"),
    ("One line\nand another", "One line and\nanother"),
    ("Call `run`.", "Call run."),
    ("Heading text { #id .wide }", "Heading text"),
    ("A [`run`](a.md) link", "A [`run`](b.md) link"),
]
OTHER = [
    ("Run `a_b`.", "Run `ab`."),
    ("Run `<name>`.", "Run `<topic>`."),
    ("```\na <b> c\n```", "```\na c\n```"),
    ("It is not so.", "It is so."),
    ("snake_case_name", "snakecasename"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_another_form(one: str, other: str) -> None:
    """Targets, pictures, tags, labels, emphasis, quotation marks and white space are not words."""
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_words(one: str, other: str) -> None:
    """What a reader would see in another way is another word, also in code."""
    assert words_of(one) != words_of(other)


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "`", "![", "<a", "<!--", "**", "{#", "> ", "[a]: ", "```\n"]
)
def test_linear_time(piece: str) -> None:
    """Hostile Markdown takes no longer than other Markdown of its length."""
    text = piece * (2**16 // len(piece))
    assert seconds(lambda: words_of(text), times=1) < 2
