"""What the cache remembers of requests without a text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from mkdocs_contentgen.errors import FailedTextError, StoreError
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.lookup import look_up
from mkdocs_contentgen.texts.notes import (
    MAX_ANSWER,
    load_failures,
    load_parts,
    save_failure,
    save_parts,
)
from mkdocs_contentgen.texts.store import DiskStore, note_key
from mkdocs_contentgen.texts.store.entry import note_keys

REQUEST = BlogRequest(topic="A")


@pytest.fixture
def store(tmp_path: Path) -> DiskStore:
    """Return a cache in a fresh directory."""
    return DiskStore(tmp_path / "cache")


def test_no_failure_is_too_large(store: DiskStore) -> None:
    """Of an answer of any size and any characters, some is kept."""
    for answer in ("\x00" * 10**6, "\\" * 10**6, '"\n' * 10**6, "\ud83d" * 10**6):
        save_failure(store, "a", REQUEST, FailedTextError("x" * 10**6, answer))
        failure = load_failures(["a"], store)[0]["a"]
        assert 2000 < len(str(failure)) < 2100
        assert MAX_ANSWER - 1 <= len(failure.answer) <= MAX_ANSWER
    store.close()


@pytest.mark.parametrize(
    "note", ["", "[]", "{}", "{" * 9999, '{"a":' * 9999, '{"reason": 5}', "[[[[", "\x00"]
)
def test_a_note_that_is_no_failure(store: DiskStore, note: str) -> None:
    """A note of another form counts as none."""
    now = datetime.now(UTC)
    store.save({name: Text(note, now, {}) for name in note_keys("a")})
    assert load_failures(["a"], store) == ({}, [])
    assert load_parts(store, "a") == (b"", [])
    store.close()


def test_parts_of_any_size(store: DiskStore) -> None:
    """What is too large for an entry is refused, since it could not be read again."""
    save_parts(store, "a", REQUEST, b"\xff" * 196_608)
    assert load_parts(store, "a") == (b"\xff" * 196_608, [])
    with pytest.raises(StoreError, match="a note of 262148 characters is not kept"):
        save_parts(store, "a", REQUEST, b"\xff" * 196_609)
    store.close()


def age(store: DiskStore, days: int) -> None:
    """Keep a text of this age, and the failure of a refresh beside it."""
    made = datetime.now(UTC) - timedelta(days=days)
    store.save({"a": Text("<article>Text</article>", made, {})})
    save_failure(store, "a", REQUEST, FailedTextError("looped"))


def test_a_refresh_that_failed_is_not_paid_for_again(store: DiskStore) -> None:
    """An old text stays, and so does the failure of the newer one."""
    age(store, days=40)
    outcomes, _ = look_up({"a": REQUEST}, store, max_age=timedelta(days=30))
    assert outcomes["a"].text
    assert isinstance(outcomes["a"].error, FailedTextError)


def test_a_refresh_that_failed_while_the_text_was_young(store: DiskStore) -> None:
    """It says nothing of a later one, when the text has become too old."""
    age(store, days=20)
    name = note_key("failed", "a")
    note = store.load([name])[0][name]
    made = datetime.now(UTC) - timedelta(days=40)
    store.save({"a": Text("<article>Text</article>", made, {})})
    store.save({name: replace(note, generated_at=made + timedelta(days=20))})
    outcomes, _ = look_up({"a": REQUEST}, store, max_age=timedelta(days=30))
    assert str(outcomes["a"].error) == "the text is 40 days old"
