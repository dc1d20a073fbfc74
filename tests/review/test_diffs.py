"""What a person is shown of two texts before an approval."""

from __future__ import annotations

import pytest
from click import unstyle

from mkdocs_contentgen.review.diffs import word_diff

UNSEEN = "\xad\u034f\u180e\u200b\u2060\u2064\u2800\u3164\ufe01\ufeff\x9b\u202e\U000e0101"


@pytest.mark.parametrize("character", UNSEEN)
def test_a_diff_shows_what_nobody_sees(character: str) -> None:
    """Where only an invisible character differs, the diff shows it as an escape."""
    article = "<article><h1>T</h1><p>pay{}pal</p></article>"
    shown = unstyle(word_diff(article.format(""), article.format(character)))
    escape = character.encode("unicode_escape").decode()
    assert f"\n[-paypal-]{{+pay{escape}pal+}}" in shown


@pytest.mark.parametrize("word", ["می\u200cخواهم", "👩\u200d💻", "❤\ufe0f"])  # noqa: RUF001  it is Persian
def test_a_diff_leaves_words_as_they_are(word: str) -> None:
    """Letters and signs that are joined by an invisible character stay readable."""
    before, after = (f"<article><h1>T</h1><p>{it}</p></article>" for it in ("x", word))
    assert f"{{+{word}+}}" in unstyle(word_diff(before, after))
