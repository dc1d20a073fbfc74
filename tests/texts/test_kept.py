"""What the cache keeps of a text that another one replaces, in the same transaction."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import structs
from redis_server import redis_running

from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.store import DiskStore, EditsAtRiskError, Kept, decode_kept
from mkdocs_contentgen.texts.store.shared import SharedStore

KEY = "a" * 64
OLD = Text("<article><h1>T</h1><p>Old.</p></article>", datetime(2026, 11, 20, tzinfo=UTC), {})
NEW = structs.replace(OLD, html=OLD.html.replace("Old.", "New."))
ANNS = structs.replace(OLD, written_by="Ann", edits=Edits(confirmed=("Old.",)))

STORES = ["disk", pytest.param("redis", marks=pytest.mark.system)]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DiskStore]:
    """Return a cache, alone or with one in Redis behind it."""
    if request.param == "disk":
        with closing(DiskStore(tmp_path / "cache")) as found:
            yield found
        return
    with redis_running() as server, closing(SharedStore(tmp_path / "cache", server.url)) as found:
        yield found


def kept_of(store: DiskStore) -> list[Kept]:
    """Return what was kept."""
    found = []
    for line in store.load_kept(KEY):
        kept = decode_kept(line)
        assert kept is not None
        found.append(kept)
    return found


def cached(store: DiskStore) -> Text:
    """Return the text of the cache."""
    return store.load([KEY])[0][KEY]


def test_a_replaced_text_is_kept(store: DiskStore) -> None:
    """Whoever replaces it, also if nobody says what to keep; the same text again is no act."""
    store.save({KEY: OLD})
    assert kept_of(store) == []
    store.save({KEY: NEW}, replacing={KEY: OLD})
    store.save({KEY: structs.replace(NEW, edition=2)})
    assert kept_of(store) == [Kept(NEW.version, OLD)]


def test_human_edits_are_not_replaced(store: DiskStore) -> None:
    """Without the agreement of a person, not even by a program that knows nothing of them."""
    store.save({KEY: ANNS})
    for replacing in ({KEY: ANNS}, None):
        with pytest.raises(EditsAtRiskError, match=r"'Old\.' by Ann") as raised:
            store.save({KEY: NEW}, replacing=replacing)
        assert raised.value.now == ANNS
    assert cached(store) == ANNS
    store.save({KEY: NEW}, replacing={KEY: ANNS}, agreed=True)
    assert cached(store) == NEW
    assert kept_of(store) == [Kept(NEW.version, ANNS)]


def test_confirmations_are_not_replaced(store: DiskStore) -> None:
    """A person who has confirmed statements has read the text, also if no word is theirs."""
    confirmed = structs.replace(OLD, edits=Edits(confirmed=("4 seconds",)))
    store.save({KEY: confirmed})
    with pytest.raises(EditsAtRiskError, match="'4 seconds', which was confirmed"):
        store.save({KEY: NEW}, replacing={KEY: confirmed})
    store.save({KEY: structs.replace(NEW, edits=confirmed.edits)}, replacing={KEY: confirmed})


def test_a_text_that_cannot_be_kept_is_not_replaced(tmp_path: Path) -> None:
    """It is one transaction: where the one fails, the other is not done."""
    store = DiskStore(tmp_path / "cache")
    store.save({KEY: ANNS})
    with closing(sqlite3.connect(tmp_path / "cache/cache.db")) as database:
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON Cache WHEN NEW.key GLOB 'kept:*' "
            "BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(StoreError):
        store.save({KEY: NEW}, agreed=True)
    assert cached(store) == ANNS
    store.close()


def test_an_act_is_taken_back_with_what_came_later(store: DiskStore) -> None:
    """What was kept of an act that was never done is dropped with the act before it."""
    first = Kept("1", OLD, act="edit", by="Ann")
    store.save({KEY: OLD})
    store.save({KEY: NEW}, kept={KEY: [first]})
    store.keep(KEY, Kept("never done", file=""))
    store.save({KEY: OLD}, kept={KEY: []}, undone={KEY: first})
    assert kept_of(store) == []
    store.keep(KEY, first)
    store.forget(KEY, first)
    assert kept_of(store) == []


def test_what_was_taken_back_is_not_brought_back(store: DiskStore) -> None:
    """Once all acts are undone, there is nothing left to undo, in Redis neither."""
    kept = Kept(NEW.version, OLD, act="edit", by="Ann")
    store.save({KEY: OLD}, replacing={KEY: None})
    store.save({KEY: NEW}, replacing={KEY: OLD}, kept={KEY: [kept]})
    store.save({KEY: OLD}, replacing={KEY: NEW}, kept={KEY: []}, undone={KEY: kept})
    assert kept_of(store) == []


def test_the_last_hundred_are_kept(tmp_path: Path) -> None:
    """With line breaks that only some programs take for one."""
    store = DiskStore(tmp_path / "cache")
    for number in range(103):
        store.keep(KEY, Kept(str(number), by="a\u2028b\x85c"))
    kept = kept_of(store)
    assert [each.after for each in kept] == [str(number) for number in range(3, 103)]
    assert kept[0].by == "a\u2028b\x85c"
    store.delete([KEY])
    assert store.keys_with_kept() == set()
    store.close()


def test_large_texts_are_kept_as_long_as_there_is_room(tmp_path: Path) -> None:
    """Each act writes all of them, so they have a length together; the last one always stays."""
    store = DiskStore(tmp_path / "cache")
    for number in range(30):
        store.keep(KEY, Kept(str(number), structs.replace(OLD, html="x" * 250_000)))
    lines = store.load_kept(KEY)
    assert 10 < len(lines) < 20
    assert kept_of(store)[-1].after == "29"
    store.keep(KEY, Kept("30", file="x" * 5_000_000))
    assert [kept.after for kept in kept_of(store)] == ["30"]
    store.close()


@pytest.mark.system
@pytest.mark.parametrize("replacing", [{KEY: ANNS}, None])
@pytest.mark.parametrize("is_full", [True, False])
def test_human_edits_in_redis_alone_are_not_replaced(
    tmp_path: Path, replacing: dict[str, Text | None] | None, *, is_full: bool
) -> None:
    """By a machine that never had them, or whose own cache cannot be written."""
    with redis_running() as server:
        anns, job = (SharedStore(tmp_path / name, server.url) for name in "ab")
        anns.save({KEY: ANNS}, replacing={KEY: None})
        if is_full:
            (tmp_path / "b").write_text("a file in place of the directory")
        elif replacing:
            job.load([KEY])
        with pytest.raises(EditsAtRiskError, match=r"'Old\.' by Ann"):
            job.save({KEY: NEW}, replacing=replacing)
        assert anns.load([KEY], newest=True)[0] == {KEY: ANNS}
        job.save({KEY: NEW}, replacing=replacing, agreed=True)
        assert anns.load([KEY], newest=True)[0] == {KEY: NEW}
        for store in (anns, job):
            store.close()


@pytest.mark.system
def test_another_machine_keeps_what_it_replaces(tmp_path: Path) -> None:
    """So does Redis, for a machine that never had the text, and so does the one that wrote it."""
    with redis_running() as server:
        anns, job, third = (SharedStore(tmp_path / name, server.url) for name in "abc")
        anns.save({KEY: ANNS}, replacing={KEY: None})
        assert job.load([KEY])[0] == {KEY: ANNS}
        job.save({KEY: NEW}, replacing={KEY: ANNS}, agreed=True)
        assert anns.load([KEY], newest=True)[0] == {KEY: NEW}
        assert kept_of(anns) == [Kept(NEW.version, ANNS, act="other")]
        assert kept_of(job) == kept_of(third) == [Kept(NEW.version, ANNS)]
        for store in (anns, job, third):
            store.close()


_REPLACE = """
import sys
from pathlib import Path
from msgspec import structs
from mkdocs_contentgen.texts.store import DiskStore
from test_kept import ANNS, KEY, NEW

store = DiskStore(Path(sys.argv[1]))
for number in range(1_000_000):
    now = store.load([KEY])[0][KEY]
    newer = structs.replace(NEW, html=NEW.html.replace("New.", f"New {number}."))
    store.save({KEY: newer}, replacing={KEY: now}, agreed=True)
    store.save({KEY: ANNS}, replacing={KEY: newer})
    print(number, flush=True)
"""


@pytest.mark.system
def test_a_kill_loses_no_human_edits(tmp_path: Path) -> None:
    """In twelve kills at any moment, the words of a person are in the cache, or kept. 10 s."""
    store = DiskStore(tmp_path / "cache")
    for number in range(12):
        store.save({KEY: ANNS}, agreed=True)
        process = subprocess.Popen(
            [sys.executable, "-c", _REPLACE, str(tmp_path / "cache")],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for _ in range(number + 1):
            assert process.stdout.readline()
        process.kill()
        process.communicate()
        now = cached(store)
        if now != ANNS:
            assert kept_of(store)[-1] == Kept(now.version, ANNS)
    store.close()
