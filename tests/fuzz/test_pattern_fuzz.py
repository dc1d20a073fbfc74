"""The time that patterns take for texts like what they match, and that a model's text takes."""

from __future__ import annotations

import time
from functools import partial

from drafts import TOPIC, draft, request
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fuzz import few, fuzz
from test_markdown import DAY, PIECES
from test_patterns import caller, calls, is_slow

from mkdocs_contentgen.writer.markdown import to_html

CHARACTERS = 32 * 1024


def test_patterns() -> None:
    """No pattern takes more than linear time for a text that repeats a part of what it matches."""
    tried = calls()

    @few
    @given(st.data())
    def test(data: st.DataObject) -> None:
        pattern, method = data.draw(st.sampled_from(tried))
        matching = data.draw(st.from_regex(pattern))[:16]
        places = st.integers(0, len(matching))
        start, end = sorted((data.draw(places), data.draw(places)))
        parts = matching[:start], matching[start:end] or "a", data.draw(st.sampled_from("\0\n !"))
        assert not is_slow(caller(pattern, method), partial(repeat, *parts))

    fuzz(test)


def repeat(before: str, piece: str, after: str, times: int) -> str:
    """Return a text that repeats a piece."""
    return before + times * piece + after


def test_model() -> None:
    """No text of a model takes more than seconds to read, to check and to write as HTML."""
    pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=6)

    @settings(few, max_examples=20)
    @given(pieces.map("".join).filter(bool), st.integers(1, 10_000))
    def test(piece: str, length: int) -> None:
        paragraph = piece * (length // len(piece) + 1)
        answer = "\n\n".join([paragraph] * (CHARACTERS // len(paragraph) + 1))[:CHARACTERS]
        started = time.process_time()
        found = draft(answer, request("blog"), words=10)
        if not found.unusable:
            assert len(found.remarks) < 30
        to_html(found.document, "blog", given=TOPIC, day=DAY, names=True)
        assert time.process_time() - started < 10, ascii(piece)

    fuzz(test)
