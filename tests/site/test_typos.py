"""What looks like a request or a marker but is none."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.site.front_matter import marker_typo_problem, request_typo_problems


def test_each_misspelled_key_has_its_line() -> None:
    """Keys are found wherever they are in the front matter."""
    source = "---\ntitle: T\ncontentgn: a\n\nother-one: b\ncontengen: c\n---\n"
    assert [line for line, _ in request_typo_problems(source)] == [3, 6]


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("<!-- contentgn -->", "<!-- contentgn -->"),
        ("<p>\n<!--contentgn\nside --></p>", "<!--contentgn side -->"),
        ("<!-- a --><!-- contengen -->", "<!-- contengen -->"),
        ("<!-- contentgn <!-- contentgn a -->", "<!-- contentgn a -->"),
        ("<!-- contentgn", None),
    ],
)
def test_a_misspelled_marker(block: str, found: str | None) -> None:
    """The problem names it, and says how a marker is spelled; one that does not end is none."""
    problem = marker_typo_problem(block)
    assert problem.startswith(f"'{found}' is not a marker; write '<!-- " if found else "")
    assert bool(problem) == bool(found)


def test_many_keys_take_linear_time() -> None:
    """A front matter of others, in which each line is a key, is read once."""

    def make(size: int) -> str:
        return "---\n" + "some-key: a\n" * size + "---\n"

    assert growth(request_typo_problems, make, 8_000) < LINEAR
