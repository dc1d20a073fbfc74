"""How the words of a text are counted, and its scripts."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.writer.words import count_scripts, count_words, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's a page, version 1.2.", 5),
        ("कैश कैसे काम करता है। और क्यों?", 7),
        ("கேச் எப்படி வேலை செய்கிறது", 4),
        ("ক্যাশ কীভাবে কাজ করে", 4),
        ("كَيْفَ تَعْمَلُ الذّاكِرَة", 3),
        ("cafe\u0301 nai\u0308ve", 2),
        ("缓存很快", 2),
        ("a well-known 3.5 fact — really.", 5),
        ("缓存的工作 cache", 4),
        ("用Redis缓存", 3),
    ],
)
def test_words(text: str, words: int) -> None:
    """Vowel signs and accents are parts of words."""
    assert count_words(split_words(text)) == words


def test_scripts_are_counted() -> None:
    """A word counts as much as two Chinese characters, and kana are in the same script."""
    assert count_scripts("Docker 入门 5") == {"LATIN": 2, "CJK": 2}
    assert count_scripts("サーバー") == {"CJK": 4}
    assert count_scripts("12 — 3") == {}
