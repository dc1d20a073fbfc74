"""What is there already, and what may be asked for."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import Project
from msgspec.structs import replace
from service_double import ServiceDouble

from mkdocs_contentgen.errors import FailedTextError, MissingReason, StoreError
from mkdocs_contentgen.requests import BlogRequest, Request
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.lookup import (
    load_failures,
    load_parts,
    load_replaced,
    load_saved,
    look_up,
    save_failure,
    save_parts,
)
from mkdocs_contentgen.texts.store import DiskStore, Failure
from mkdocs_contentgen.texts.store.entries import MAX_KEPT_ANSWER

REQUEST = BlogRequest(topic="A")


def requests(*topics: str) -> dict[str, Request]:
    """Return blog requests about topics, by topic: any text may be a key here."""
    return {topic: BlogRequest(topic=topic) for topic in topics}


def test_look_up_says_what_to_ask_for(tmp_path: Path) -> None:
    """A text that is missing or older than `max_age` is to be asked for; others are not."""
    store = DiskStore(tmp_path)
    for topic, days in (("new", 1), ("future", -400), ("old", 40)):
        written = datetime.now(UTC) - timedelta(days=days)
        store.save({topic: Text("<article>Text</article>", written, {})})
    asked = requests("old", "new", "future", "none")
    outcomes, problems = look_up(asked, store, max_age=timedelta(days=30))
    assert problems == []
    assert {topic: str(outcome.error) for topic, outcome in outcomes.items() if outcome.error} == {
        "old": f"the text of {written:%Y-%m-%d %H:%M} UTC is older than max_age",
        "none": "never generated",
    }
    assert outcomes["old"].text
    outcomes, _ = look_up(asked, store)
    assert [topic for topic, outcome in outcomes.items() if outcome.error] == ["none"]
    assert isinstance(outcomes["none"].error, MissingReason)


class WithAnotherMachine(DiskStore):
    """A cache that looks for newer texts in the one of another machine, too."""

    def load(
        self, keys: Collection[str], *, newest: bool = False
    ) -> tuple[dict[str, Text], list[str]]:
        """Return the texts of the other machine where newer ones are wanted."""
        if not newest:
            return super().load(keys)
        written = datetime.now(UTC) - timedelta(days=1)
        return {"a": Text("<article>Newer</article>", written, {})}, ["a note"]


def test_a_newer_text_replaces_the_older(tmp_path: Path) -> None:
    """What another machine wrote in the meantime costs no request."""
    store = WithAnotherMachine(tmp_path)
    written = datetime.now(UTC) - timedelta(days=40)
    store.save({topic: Text("<article>Old</article>", written, {}) for topic in "ab"})
    outcomes, problems = look_up(requests(*"ab"), store, max_age=timedelta(days=30))
    texts = {topic: outcome.text.html for topic, outcome in outcomes.items() if outcome.text}
    assert texts == {"a": "<article>Newer</article>", "b": "<article>Old</article>"}
    assert [topic for topic, outcome in outcomes.items() if outcome.error] == ["b"]
    assert problems == ["a note"]


def test_what_another_machine_has_made_meanwhile(tmp_path: Path) -> None:
    """It counts although the clock of that machine is slow; what was there before does not."""
    store = DiskStore(tmp_path)
    now = datetime.now(UTC)
    first = Text("<article>First</article>", now, {})
    store.save(dict.fromkeys(("text", "other", "edited"), first))
    for key in ("failed", "failed again"):
        save_failure(store, key, REQUEST, FailedTextError("looped"))
    keys = ["text", "other", "edited", "failed", "failed again", "new"]
    replaced, _ = load_replaced(keys, store)
    slow = Text("<article>Second</article>", now - timedelta(minutes=10), {})
    store.save({"other": slow, "new": slow})
    store.save({"edited": replace(first, html="<article>By hand</article>")})
    save_failure(store, "failed again", REQUEST, FailedTextError("refused"))
    saved, problems = load_saved(keys, store, with_failures=keys, replaced=replaced)
    assert problems == []
    assert {key: str(it.text.html if it.text else it.error)[:20] for key, it in saved.items()} == {
        "other": "<article>Second</art",
        "new": "<article>Second</art",
        "failed again": f"refused (on {now.date()})"[:20],
    }


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_failure_is_newer_than_the_text_beside_it(tmp_path: Path, minutes: int) -> None:
    """A text that another machine dates later does not hide that its update has failed."""
    store = DiskStore(tmp_path)
    made = datetime.now(UTC) + timedelta(minutes=minutes)
    store.save({"a": Text("<article>A</article>", made, {}, edition=3)})
    save_failure(store, "a", REQUEST, FailedTextError("looped"), edition=2)
    outcomes, _ = look_up({"a": REQUEST}, store, with_updates=True)
    failure = outcomes["a"].error
    assert isinstance(failure, FailedTextError)
    assert failure.edition == 3


def test_a_build_with_a_text_that_is_no_article(project: Project, service: ServiceDouble) -> None:
    """A warning says why it is not shown, and no other text is asked for."""
    project.page("page.md", {"type": "blog", "topic": "Tides"})
    request = BlogRequest(topic="Tides")
    key = request.key(sandbox=False)
    store = DiskStore(project.root / ".cache/plugin/contentgen")
    store.save({key: Text("<p>Sign in</p>", datetime.now(UTC), request.record())})
    store.close()
    built = project.built("--strict", code=1)
    assert "the article 'main' cannot be shown: " in built
    assert service.topics == []


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
        assert MAX_KEPT_ANSWER - 1 <= len(failure.answer) <= MAX_KEPT_ANSWER
    store.close()


def test_parts_of_any_size(store: DiskStore) -> None:
    """What is too large for an entry is refused, since it could not be read again."""
    save_parts(store, "a", REQUEST, b"\xff" * 196_608)
    assert load_parts(store, "a") == (b"\xff" * 196_608, [])
    with pytest.raises(StoreError, match="parts of 196,609 bytes are not kept"):
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
    failure = store.load_notes("failed", Failure, ["a"])[0]["a"]
    made = datetime.now(UTC) - timedelta(days=40)
    store.save({"a": Text("<article>Text</article>", made, {})})
    written_at = made + timedelta(days=20)
    store.save_notes("a", {"failed": replace(failure, written_at=written_at)})
    outcomes, _ = look_up({"a": REQUEST}, store, max_age=timedelta(days=30))
    assert "is older than max_age" in str(outcomes["a"].error)
