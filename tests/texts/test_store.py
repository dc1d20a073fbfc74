"""The cache in real directories: good ones, broken ones, and ones that mean harm."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import diskcache
import pytest
from hypothesis import strategies as st

from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.html.sanitizer import MAX_CHARACTERS
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DATABASE, LEASE, DiskStore, note_key
from mkdocs_contentgen.texts.store.database import SCHEMA_SHA256
from mkdocs_contentgen.texts.store.entry import note_keys

WHEN = datetime(2026, 5, 4, 12, 30, 15, 123456, tzinfo=UTC)
REQUEST: dict[str, object] = {"type": "blog", "topic": "Tides", "revision": 1}
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def key(name: object) -> str:
    """Return a key as requests have it."""
    return hashlib.sha256(str(name).encode()).hexdigest()


def text(words: str = "Text.") -> Text:
    """Return a text to keep."""
    return Text(f"<article><p>{words}</p></article>", WHEN, REQUEST)


KEY, OTHER = key("asked for"), key("another")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Use a file system in memory where there is one: opening a cache waits often for the disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=memory) as directory:
        yield Path(directory)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return the path of a cache directory that is not there yet."""
    return tmp_path / "project" / "cache"


def keep(directory: Path, *keys: str, words: str = "Text.") -> None:
    """Save a text under each of the keys, and close the store."""
    store = DiskStore(directory)
    try:
        for name in keys:
            store.save({name: text(words)})
    finally:
        store.close()


def load(directory: Path, *keys: str) -> tuple[dict[str, Text], list[str]]:
    """Load from a new store; every problem is one line that names the cache."""
    store = DiskStore(directory)
    try:
        texts, problems = store.load(keys)
    finally:
        store.close()
    assert_clear(problems, directory)
    return texts, problems


def assert_clear(messages: Iterable[object], directory: Path) -> None:
    """Look whether messages are one line each, and say where the cache is."""
    for message in map(str, messages):
        assert message.isprintable()
        assert str(directory / DATABASE) in message
        assert len(message) < 500


def assert_works(directory: Path) -> None:
    """Save, claim and load, first in the store that meets what is there, then in another."""
    store = DiskStore(directory)
    try:
        assert_clear(store.prepare(), directory)
        assert store.claim([KEY, OTHER], "me").keys() == {KEY, OTHER}
        store.save({KEY: text("new")})
        store.release([OTHER], "me")
    finally:
        store.close()
    assert load(directory, KEY) == ({KEY: text("new")}, [])


def names(directory: Path) -> list[str]:
    """Return the names of all that is in a directory."""
    return sorted(path.name for path in directory.iterdir())


def set_aside(directory: Path) -> list[Path]:
    """Return what was set aside in a directory."""
    return sorted(directory.glob("*.set-aside-*"))


def execute(directory: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Change a database behind the store's back; the last statement gets the values."""
    with closing(sqlite3.connect(directory / DATABASE, isolation_level=None)) as connection:
        for statement in statements[:-1]:
            connection.execute(statement)
        connection.execute(statements[-1], values)


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python process that knows the store."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


CHILD = """
import diskcache, os, signal, sqlite3, sys
from datetime import datetime, UTC
from pathlib import Path
from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.texts.store import DiskStore
from mkdocs_contentgen.text import Text
directory = Path(sys.argv[1])
text = Text("<article><p>Text.</p></article>", datetime.now(UTC), {})
"""


def output(process: subprocess.Popen[str], timeout: float = 20) -> str:
    """Return what a process prints until it ends, which it must."""
    try:
        return process.communicate(timeout=timeout)[0]
    finally:
        process.kill()
        process.communicate()


# --- keeping and finding -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "request_"),
    [
        ("<article>Text</article>", REQUEST),
        ("<article>Ümläut 日本語 🧭👩‍👩‍👧 \u2028 \x00 \\ \" '</article>", {"topic": "日本語 🧭"}),
        ("", {}),
        ("x" * MAX_CHARACTERS, REQUEST),
        ("🧭" * MAX_CHARACTERS, REQUEST),
        ("\x01" * MAX_CHARACTERS, {"topic": "\x01" * 30_000}),
        ("line\r\nbreaks\n\rstay\n", {"a": 1, "b": None, "c": True, "d": -(10**9)}),
    ],
    ids=["plain", "characters", "empty", "long", "long-emoji", "escaped", "white-space"],
)
def test_a_text_comes_back_as_it_was(
    directory: Path, html: str, request_: dict[str, object]
) -> None:
    """Text, time and request are the same in another store."""
    kept = Text(html, WHEN, request_)
    store = DiskStore(directory)
    store.save({KEY: kept})
    assert store.load([KEY]) == ({KEY: kept}, [])
    store.close()
    assert load(directory, KEY) == ({KEY: kept}, [])


def test_times_of_other_zones_are_the_same_moment(directory: Path) -> None:
    """A text's time is in UTC, whatever zone it was given in."""
    zone = timezone(timedelta(hours=5, minutes=30))
    store = DiskStore(directory)
    store.save({KEY: Text("x", WHEN.astimezone(zone), {})})
    store.close()
    found = load(directory, KEY)[0][KEY].generated_at
    assert (found, found.tzinfo) == (WHEN, UTC)


def test_only_what_is_asked_for_is_loaded(directory: Path) -> None:
    """A key that is not there is no problem, and keys of others are left alone."""
    keep(directory, *map(key, range(5)))
    texts, problems = load(directory, key(1), key(3), key("missing"))
    assert (set(texts), problems) == ({key(1), key(3)}, [])


def test_a_new_text_takes_the_place_of_the_old_one(directory: Path) -> None:
    """What is saved last under a key is what is found."""
    keep(directory, KEY, OTHER, words="old")
    keep(directory, KEY, words="new")
    assert load(directory, KEY, OTHER)[0] == {KEY: text("new"), OTHER: text("old")}


def test_loading_makes_no_directory(directory: Path) -> None:
    """A build that only looks leaves nothing behind."""
    assert load(directory, KEY) == ({}, [])
    assert not directory.exists()


def test_a_store_can_be_used_again_after_close(directory: Path) -> None:
    """To close twice is no mistake, and saving opens the store anew."""
    store = DiskStore(directory)
    store.close()
    for name in (KEY, OTHER):
        store.save({name: text()})
        store.close()
        store.close()
    assert store.load([KEY, OTHER])[0].keys() == {KEY, OTHER}


@pytest.mark.parametrize(
    "name", ["ca?che#1", "100%41", "Prüfung 日本 🧭", "a b'c\";--", "~user", "-x"]
)
def test_odd_names_of_directories(tmp_path: Path, name: str) -> None:
    """The path of the cache is a path, whatever characters are in it."""
    directory = tmp_path / name
    assert_works(directory)
    assert names(tmp_path) == [name]
    assert names(directory) == [DATABASE]


def test_a_directory_that_is_a_link(tmp_path: Path, directory: Path) -> None:
    """A cache directory may be somewhere else; that is for its owner to say."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    directory.parent.mkdir()
    directory.symlink_to(elsewhere)
    assert_works(directory)
    assert names(elsewhere) == [DATABASE]


@pytest.mark.parametrize("name", ["$CACHE_NAME", "${CACHE_NAME}x"])
def test_a_path_that_diskcache_would_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Diskcache replaces variables in paths, and would save where nothing is looked for."""
    monkeypatch.setenv("CACHE_NAME", "elsewhere")
    with pytest.raises(StoreError) as caught:
        DiskStore(tmp_path / name).prepare()
    assert_clear([caught.value], tmp_path / name)
    assert names(tmp_path) == []


def test_nothing_but_the_database_is_left_behind(directory: Path) -> None:
    """A copy of `cache.db` is a copy of the cache: at any time, and after the end of a process."""
    store = DiskStore(directory)
    for number in range(3):
        store.save({key(number): text("x" * 100_000)})
        assert names(directory) == [DATABASE]
        copy = directory.parent / f"copy{number}"
        shutil.copytree(directory, copy)
        assert load(copy, key(number))[0].keys() == {key(number)}
    store.close()
    assert names(directory) == [DATABASE]
    assert output(child("store = DiskStore(directory); store.save({'x': text})", directory)) == ""
    assert names(directory) == [DATABASE]


def test_the_schema_is_the_one_that_diskcache_makes(tmp_path: Path) -> None:
    """The hash that a database is held against is of a database that diskcache has just made."""
    settings = {"eviction_policy": "none", "sqlite_journal_mode": "delete"}
    diskcache.Cache(str(tmp_path), **settings).close()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        rows = connection.execute(
            "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY name"
        ).fetchall()
    assert len(rows) == 10
    assert hashlib.sha256(repr(rows).encode()).hexdigest() == SCHEMA_SHA256


# --- processes -----------------------------------------------------------------------------------


@pytest.mark.system
def test_a_saved_text_outlives_a_kill(directory: Path) -> None:
    """Once save() has returned, nothing that happens to the process loses the text."""
    code = """
DiskStore(directory).save({sys.argv[2]: text})
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = child(code, directory, KEY)
    assert output(process) == ""
    assert process.returncode == -signal.SIGKILL
    assert names(directory) == [DATABASE]
    texts, problems = load(directory, KEY)
    assert (set(texts), problems) == ({KEY}, [])


@pytest.mark.system
def test_a_kill_in_the_middle_of_writing(directory: Path) -> None:
    """What a killed process had half written is taken back, with SQLite's own journal."""
    keep(directory, *map(key, range(50)), words="x" * 2000)
    code = """
connection = sqlite3.connect(directory / "cache.db", isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that it writes before the transaction ends
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE Cache SET value = 'half written' || zeroblob(5000)")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert output(child(code, directory)) == ""
    assert (directory / "cache.db-journal").stat().st_size > 512
    assert b"half written" in (directory / DATABASE).read_bytes()
    texts, problems = load(directory, *map(key, range(50)))
    assert (len(texts), problems) == (50, [])
    assert names(directory) == [DATABASE]
    assert_works(directory)


def test_processes_at_once_lose_nothing(directory: Path) -> None:
    """Four builds that start together on a fresh directory share one cache."""
    code = """
print("ready", flush=True)
sys.stdin.readline()
store = DiskStore(directory)
for number in range(25):
    key = f"{sys.argv[2]}-{number}"
    assert store.prepare() == []
    assert store.claim([key], sys.argv[2]).keys() == {key}
    store.save({key: text})
    assert store.load([key])[0].keys() == {key}
store.close()
"""
    processes = [child(code, directory, number) for number in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [output(process) for process in processes] == ["", "", "", ""]
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    texts, problems = load(directory, *(f"{a}-{b}" for a in range(4) for b in range(25)))
    assert (len(texts), problems) == (100, [])
    assert names(directory) == [DATABASE]


def test_a_text_is_found_by_a_store_that_is_open(directory: Path) -> None:
    """What one build saves, another that waits for it sees at once."""
    waiting = DiskStore(directory)
    waiting.prepare()
    assert waiting.load([KEY]) == ({}, [])
    keep(directory, KEY)
    assert waiting.load([KEY]) == ({KEY: text()}, [])
    waiting.close()


def test_a_thread_that_looks_does_not_unlock_another(directory: Path) -> None:
    """While a thread writes, no other process can, though a second thread reads the same cache."""
    keep(directory, KEY)
    begun, go_on = threading.Event(), threading.Event()

    class Slow(dict[str, Text]):
        """Texts that are not all there yet."""

        def items(self) -> Any:
            yield OTHER, text()
            begun.set()
            go_on.wait(20)

    def save() -> None:
        store = DiskStore(directory)
        store.save(Slow())
        store.close()

    writer = threading.Thread(target=save)
    writer.start()
    assert begun.wait(20)
    reader = threading.Thread(target=load, args=(directory, KEY))
    reader.start()
    reader.join(0.5)
    code = """
with sqlite3.connect(directory / "cache.db", timeout=0) as connection:
    connection.execute("BEGIN IMMEDIATE")
"""
    said = output(child(code, directory))
    go_on.set()
    writer.join()
    reader.join()
    assert "database is locked" in said
    assert load(directory, KEY, OTHER) == ({KEY: text(), OTHER: text()}, [])


# --- claims --------------------------------------------------------------------------------------


@pytest.fixture
def two(directory: Path) -> Iterator[tuple[DiskStore, DiskStore]]:
    """Return two stores on one directory, as two builds have them."""
    stores = DiskStore(directory), DiskStore(directory)
    yield stores
    for store in stores:
        store.close()


def test_a_claim_is_for_one(two: tuple[DiskStore, DiskStore]) -> None:
    """A key is claimed by one build at a time, which may claim it again to renew it."""
    mine, theirs = two
    assert mine.claim([KEY], "me").keys() == {KEY}
    assert theirs.claim([KEY, OTHER], "them").keys() == {OTHER}
    assert mine.claim([KEY, OTHER], "me").keys() == {KEY}
    assert mine.claim([], "me") == {}


def test_a_claim_that_is_released_is_free(two: tuple[DiskStore, DiskStore]) -> None:
    """Only the owner of a claim can give it up."""
    mine, theirs = two
    mine.claim([KEY, OTHER], "me")
    theirs.release([KEY, OTHER], "them")
    assert theirs.claim([KEY, OTHER], "them") == {}
    mine.release([KEY, key("never claimed")], "me")
    assert theirs.claim([KEY, OTHER], "them").keys() == {KEY}


def test_a_text_ends_its_claim(two: tuple[DiskStore, DiskStore], directory: Path) -> None:
    """Whoever saves a text need not give up its claim."""
    mine, theirs = two
    mine.claim([KEY, OTHER], "me")
    mine.save({KEY: text()})
    assert theirs.claim([KEY, OTHER], "them").keys() == {KEY}
    mine.save({KEY: text()})
    mine.save({OTHER: text()})
    with closing(sqlite3.connect(directory / DATABASE)) as connection:
        assert list(connection.execute("SELECT count(*) FROM Cache")) == [(2,)]


@pytest.mark.parametrize(
    ("expires_in", "free"),
    [(-1, True), (LEASE / 2, False), (LEASE + 3600, True), (1e300, True), (float("inf"), True)],
    ids=["expired", "holds", "clock-set-back", "far", "never"],
)
def test_a_claim_lasts_no_longer_than_its_lease(
    two: tuple[DiskStore, DiskStore], directory: Path, expires_in: float, free: bool
) -> None:
    """A claim of a build that was killed ends, also where the clock was set back since."""
    mine, theirs = two
    mine.claim([KEY], "me")
    statement = "UPDATE Cache SET expire_time = ? WHERE key = ?"
    execute(directory, statement, values=(time.time() + expires_in, f"claim:{KEY}"))
    assert theirs.claim([KEY], "them").keys() == ({KEY} if free else set())


def test_renewing_makes_a_claim_last_longer(
    two: tuple[DiskStore, DiskStore], directory: Path
) -> None:
    """A claim lasts a lease from when it was renewed last."""
    mine, _ = two
    mine.claim([KEY], "me")
    execute(directory, "UPDATE Cache SET expire_time = expire_time - ?", values=(LEASE / 2,))
    mine.claim([KEY], "me")
    with closing(sqlite3.connect(directory / DATABASE)) as connection:
        [(expires,)] = connection.execute("SELECT expire_time FROM Cache WHERE key LIKE 'claim:%'")
    assert LEASE - 5 < expires - time.time() <= LEASE


@pytest.mark.parametrize("column", ["expire_time", "value", "mode", "access_time"])
@pytest.mark.parametrize("value", ["zzz", b"zzz", None, -5])
def test_a_claim_of_a_poisoned_row(directory: Path, column: str, value: object) -> None:
    """A claim that no build has made holds for no longer than one that a build has made."""
    store = DiskStore(directory)
    store.claim([KEY], "me")
    store.close()
    execute(directory, f"UPDATE Cache SET {column} = ?", values=(value,))
    assert store.claim([KEY], "them").keys() <= {KEY}
    store.save({KEY: text()})
    assert store.load([KEY]) == ({KEY: text()}, [])
    store.close()


# --- poison --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lab:
    """A cache directory that somebody has prepared, and what shows that it did harm."""

    directory: Path
    victim: Path
    """A file that is none of the cache's business; it holds what would be right as an entry."""

    proof: Path
    """What is made when code of the poison runs."""

    def assert_unharmed(self) -> None:
        """Look whether anything has happened outside the cache."""
        assert not self.proof.exists()
        assert self.victim.read_text() == entry(html="<article>Victim</article>")


class Touch:
    """Makes a directory when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return os.mkdir, (str(self._path),)


def entry(name: str = KEY, /, **fields: object) -> str:
    """Return an entry that is right, but for what is given."""
    right = {"html": text("Poison").html, "generated_at": WHEN.isoformat(), "request": REQUEST}
    encoded = json.dumps({**right, **fields})
    checksum = hashlib.sha256(f"{name}\n{encoded}".encode(errors="replace")).hexdigest()
    return f'{{"sha256": "{checksum}", "text": {encoded}}}'


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a cache with two texts in it, once, since that is what most tests begin with."""
    directory = tmp_path_factory.mktemp("template") / "cache"
    keep(directory, KEY, OTHER, words="old")
    return directory


@pytest.fixture
def lab(directory: Path, tmp_path: Path, template: Path) -> Lab:
    """Prepare a cache with two texts in it."""
    shutil.copytree(template, directory)
    victim = tmp_path / "victim"
    victim.write_text(entry(html="<article>Victim</article>"))
    return Lab(directory, victim, tmp_path / "proof")


def pickled_value(lab: Lab) -> None:
    """Put a pickle where a text was."""
    data = pickle.dumps(Touch(lab.proof))
    execute(lab.directory, "UPDATE Cache SET mode = 4, value = ? WHERE key = ?", values=(data, KEY))


def pickled_key(lab: Lab) -> None:
    """Put a pickle where a key was."""
    data = pickle.dumps(Touch(lab.proof))
    execute(lab.directory, "UPDATE Cache SET raw = 0, key = ? WHERE key = ?", values=(data, KEY))


def raw_key(lab: Lab) -> None:
    """Say of a key that it is a pickle, though it is none."""
    execute(
        lab.directory, "UPDATE Cache SET raw = 0, value = ? WHERE key = ?", values=(entry(), KEY)
    )


def named_file(mode: int, *, absolute: bool = False) -> Callable[[Lab], None]:
    """Let a row say that its text is in the victim's file."""

    def poison(lab: Lab) -> None:
        name = str(lab.victim) if absolute else os.path.relpath(lab.victim, lab.directory)
        statement = "UPDATE Cache SET mode = ?, filename = ?, value = NULL, expire_time = NULL"
        execute(lab.directory, statement, values=(mode, name))

    return poison


@pytest.mark.parametrize(
    ("poison", "harm"),
    [
        (pickled_value, "proof"),
        (pickled_key, "proof"),
        (named_file(3), "victim"),
        (named_file(3, absolute=True), "victim"),
    ],
    ids=["pickled-value", "pickled-key", "file", "file-absolute"],
)
def test_the_poison_is_real(lab: Lab, poison: Callable[[Lab], None], harm: str) -> None:
    """What the next tests use as poison does its harm where diskcache is used as it comes."""
    poison(lab)
    cache = diskcache.Cache(str(lab.directory), sqlite_journal_mode="delete")
    for name in cache:
        cache.get(name)
        cache.delete(name)
    cache.close()
    assert lab.proof.exists() == (harm == "proof")
    assert lab.victim.exists() == (harm != "victim")


@pytest.mark.parametrize(
    "poison",
    [
        pickled_value,
        pickled_key,
        raw_key,
        *(named_file(mode) for mode in (0, 1, 2, 3, 4)),
        named_file(2, absolute=True),
    ],
    ids=[
        "value",
        "key",
        "no-pickle",
        *(f"file-{mode}" for mode in (0, 1, 2, 3, 4)),
        "file-absolute",
    ],
)
def test_poisoned_rows(lab: Lab, poison: Callable[[Lab], None]) -> None:
    """A row with a pickle or a file name is a miss: it is not run, read, overwritten or deleted."""
    poison(lab)
    texts, _ = load(lab.directory, KEY)
    assert texts == {}
    lab.assert_unharmed()
    assert_works(lab.directory)
    lab.assert_unharmed()


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_rows_that_are_poisoned_while_a_store_is_open(lab: Lab, mode: int) -> None:
    """Overwriting and deleting rows with file names leaves the files alone, texts and claims."""
    store = DiskStore(lab.directory)
    store.claim([KEY, OTHER], "me")
    named_file(mode)(lab)
    store.claim([OTHER], "them")
    store.release([OTHER], "them")
    store.save({KEY: text("new")})
    assert store.load([KEY])[0] == {KEY: text("new")}
    store.close()
    lab.assert_unharmed()


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (["INSERT INTO Settings VALUES ('disk_evil', 1)"], "settings"),
        (["INSERT INTO Settings VALUES ('disk_directory', '/')"], "settings"),
        (["INSERT INTO Settings VALUES ('evil', 1)"], "settings"),
        (["INSERT INTO Settings VALUES (x'ff', 1)"], "settings"),
        (["INSERT INTO Settings VALUES (CAST(x'ff' AS TEXT), CAST(x'ff' AS TEXT))"], "settings"),
        (["INSERT INTO Settings VALUES ('sqlite_writable_schema', 1)"], "settings"),
        (["UPDATE Settings SET value = 10 WHERE key = 'cull_limit'"], "settings"),
        (["UPDATE Settings SET value = 0 WHERE key = 'size_limit'"], "settings"),
        (["UPDATE Settings SET value = 'wal' WHERE key = 'sqlite_journal_mode'"], "settings"),
        (["UPDATE Settings SET value = '../x' WHERE key = 'eviction_policy'"], "settings"),
        (
            ["UPDATE Settings SET value = 'least-recently-used' WHERE key = 'eviction_policy'"],
            "settings",
        ),
        (["UPDATE Settings SET value = 1 WHERE key = 'statistics'"], "settings"),
        (["UPDATE Settings SET value = 'many' WHERE key = 'count'"], "settings"),
        (["DELETE FROM Settings WHERE key = 'cull_limit'"], "settings"),
        (["DELETE FROM Settings"], "settings"),
        (
            [
                "CREATE TRIGGER evil AFTER INSERT ON Cache "
                "BEGIN UPDATE Cache SET value = 'evil' WHERE rowid = NEW.rowid; END"
            ],
            "schema",
        ),
        (["CREATE TRIGGER evil AFTER DELETE ON Cache BEGIN DELETE FROM Cache; END"], "schema"),
        (["DROP TRIGGER Settings_count_insert"], "schema"),
        (["ALTER TABLE Cache RENAME TO c", "CREATE VIEW Cache AS SELECT * FROM c"], "schema"),
        (["DROP TABLE Cache"], "schema"),
        (["DROP TABLE Settings"], "schema"),
        (["CREATE TABLE evil (x)"], "schema"),
        (["CREATE VIEW evil AS SELECT 1"], "schema"),
        (["CREATE INDEX evil ON Cache (abs(size))"], "schema"),
        (
            ["DROP INDEX Cache_key_raw", "CREATE INDEX Cache_key_raw ON Cache (key, raw)"],
            "schema",
        ),
        (["ALTER TABLE Cache ADD COLUMN evil TEXT"], "schema"),
        (["CREATE VIRTUAL TABLE evil USING fts4(x)"], "schema"),
        (["ANALYZE"], "schema"),
        (
            [
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_master SET name = 'x\n::error::evil', sql = 'evil' "
                "WHERE name = 'Cache_key_raw'",
            ],
            "damaged",
        ),
        (
            [
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'evil' "
                "WHERE name = 'Cache_key_raw'",
            ],
            "damaged",
        ),
    ],
)
def test_a_foreign_database_is_set_aside(lab: Lab, statements: list[str], reason: str) -> None:
    """A schema or a setting of others never gets to work, and the file is kept as it was."""
    execute(lab.directory, *statements)
    data = (lab.directory / DATABASE).read_bytes()
    texts, [problem] = load(lab.directory, KEY)
    assert texts == {}
    assert reason in problem
    [aside] = set_aside(lab.directory)
    assert aside.name in problem
    assert aside.read_bytes() == data
    assert_works(lab.directory)
    assert names(lab.directory) == [DATABASE, aside.name]


def test_a_foreign_database_is_set_aside_before_writing(lab: Lab) -> None:
    """Whoever saves without having loaded meets the same check."""
    execute(lab.directory, "CREATE TABLE evil (x)")
    store = DiskStore(lab.directory)
    [problem] = store.prepare()
    store.save({KEY: text("new")})
    store.close()
    assert_clear([problem], lab.directory)
    assert load(lab.directory, KEY, OTHER) == ({KEY: text("new")}, [])


def test_a_trigger_that_hides(lab: Lab) -> None:
    """A schema that Python cannot read, since it is not UTF-8, is not taken for a good one."""
    execute(
        lab.directory,
        "CREATE TRIGGER evil AFTER INSERT ON Cache "
        "BEGIN UPDATE Cache SET value = 'evil' WHERE rowid = NEW.rowid; END",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = CAST(CAST(sql || '/*' AS BLOB) || x'ff' "
        "|| CAST('*/' AS BLOB) AS TEXT) WHERE name = 'evil'",
    )
    with closing(sqlite3.connect(lab.directory / DATABASE)) as connection:
        connection.execute("INSERT INTO Cache (key, value) VALUES ('probe', 'good')")
        assert list(connection.execute("SELECT value FROM Cache WHERE key = 'probe'")) == [
            ("evil",)
        ]
    texts, [problem] = load(lab.directory, KEY)
    assert (texts, "schema" in problem) == ({}, True)
    assert_works(lab.directory)


def test_a_cache_of_another_program(directory: Path) -> None:
    """A directory that diskcache made with its own settings is set aside, with its journal mode."""
    with diskcache.Cache(str(directory)) as cache:
        cache["x"] = "y"
    _, [problem] = load(directory, KEY)
    assert "cannot be trusted" in problem
    assert_works(directory)
    with closing(sqlite3.connect(set_aside(directory)[0])) as connection:
        assert list(connection.execute("SELECT key, value FROM Cache")) == [("x", "y")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"topic":"Tides"', '"topic":"Tidal"'),
        ('"revision":1', '"revision":2'),
        ("2026-05-04", "2026-05-05"),
        ('"sha256":"', '"sha256":"0'),
    ],
)
def test_no_field_of_an_entry_can_change(lab: Lab, old: str, new: str) -> None:
    """Not only the text has a hash: so does what it was asked for with, and when."""
    statement = "UPDATE Cache SET value = replace(value, ?, ?)"
    execute(lab.directory, statement, values=(old, new))
    texts, problems = load(lab.directory, KEY, OTHER)
    assert (texts, len(problems)) == ({}, 2)
    assert DiskStore(lab.directory).requests() == ({KEY: {}, OTHER: {}}, [])


# --- notes ---------------------------------------------------------------------------------------


def test_a_note_is_no_text(directory: Path) -> None:
    """Each kind of note has entries of its own, and is listed on its own."""
    store = DiskStore(directory)
    notes = {name: text(f"{name}\n 🧭") for name in note_keys(KEY)}
    store.save(notes)
    store.close()
    assert store.load([KEY, *notes]) == (notes, [])
    assert store.requests() == ({}, [])
    assert store.requests("failed") == store.requests("parts") == ({KEY: REQUEST}, [])


@pytest.mark.parametrize("use", ["save", "delete"])
def test_a_note_goes_with_its_text(directory: Path, use: str) -> None:
    """A text needs no notes, and what is deleted leaves none."""
    store = DiskStore(directory)
    store.save({name: text() for name in note_keys(KEY) + note_keys(OTHER)})
    if use == "save":
        store.save({KEY: text()})
    else:
        store.delete([KEY])
    assert [store.requests(kind)[0] for kind in ("failed", "parts")] == [{OTHER: REQUEST}] * 2
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "value = replace(value, 'note of', 'text of')",
        f"key = 'failed:{OTHER}'",
        "value = '{}'",
        "value = '[1]'",
        "value = x'80'",
    ],
)
def test_a_note_that_was_changed(directory: Path, change: str) -> None:
    """A note is checked against its key and its hash, as texts are, and nothing of it is used."""
    store = DiskStore(directory)
    store.save({note_key("failed", KEY): text("note of a failure")})
    store.close()
    execute(directory, f"UPDATE Cache SET {change}")
    notes, problems = store.load([note_key("failed", KEY), note_key("failed", OTHER)])
    assert (notes, len(problems)) == ({}, 1)
    assert_clear(problems, directory)


KEYS = st.just(KEY) | st.text(max_size=70)
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
NESTED = st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def test_text_that_is_not_utf_8(lab: Lab) -> None:
    """A value that Python's sqlite3 cannot read hides none of the others, and is not quoted."""
    statement = "UPDATE Cache SET value = CAST(x'ff0a41' AS TEXT) WHERE key = ?"
    execute(lab.directory, statement, values=(KEY,))
    texts, [problem] = load(lab.directory, KEY, OTHER)
    assert texts == {OTHER: text("old")}
    assert KEY[:12] in problem
    assert_works(lab.directory)


def test_a_changed_entry_with_its_hash_is_returned(lab: Lab) -> None:
    """The hash finds damage, not malice: harmful HTML is found when each build sanitizes it."""
    html = "<article><script>alert(1)</script></article>"
    values = (entry(KEY, html=html), KEY)
    execute(lab.directory, "UPDATE Cache SET value = ? WHERE key = ?", values=values)
    assert load(lab.directory, KEY) == ({KEY: Text(html, WHEN, REQUEST)}, [])


def test_an_entry_larger_than_any_text(lab: Lab) -> None:
    """What is too large to come from a service is not read into memory."""
    statement = "UPDATE Cache SET value = zeroblob(20000000) WHERE key = ?"
    execute(lab.directory, statement, values=(KEY,))
    texts, [problem] = load(lab.directory, OTHER, KEY)
    assert texts == {OTHER: text("old")}
    assert "too big" in problem
    assert_works(lab.directory)


def test_a_row_that_cannot_be_overwritten(lab: Lab) -> None:
    """Where a row stops diskcache from saving, that is one error, which quotes nothing of it."""
    statement = "UPDATE Cache SET filename = CAST(x'ff0a41' AS TEXT) WHERE key = ?"
    execute(lab.directory, statement, values=(KEY,))
    with pytest.raises(StoreError) as caught:
        keep(lab.directory, KEY)
    assert_clear([caught.value], lab.directory)


# --- files that are damaged, or no files ---------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"garbage", "it is not a SQLite database"),
        (b"SQLite format 3\0\x10\0\2\2", "it needs a write-ahead log"),
    ],
)
def test_the_words_for_what_is_no_cache(lab: Lab, data: bytes, reason: str) -> None:
    """The message says in brackets why the file cannot be trusted."""
    (lab.directory / DATABASE).write_bytes(data)
    _, [problem] = load(lab.directory, KEY)
    assert f"cannot be trusted ({reason}); it was renamed to" in problem


def test_a_database_without_measure(lab: Lab) -> None:
    """A file that takes no room on the disk can be larger than any cache."""
    with (lab.directory / DATABASE).open("r+b") as file:
        file.truncate(17 * 1024**3)
    _, [problem] = load(lab.directory, KEY)
    assert "cannot be trusted (it is too large)" in problem
    assert_works(lab.directory)


def test_a_truncated_database(lab: Lab) -> None:
    """Whatever length is left of a database, no entry is wrong, and texts can be saved."""
    keep(lab.directory, *map(key, range(5)), words="x" * 3000)
    data = (lab.directory / DATABASE).read_bytes()
    lengths = [0, 1, 15, 16, 20, 99, 100, 1000, len(data) // 2, len(data) - 4096]
    for length in [*lengths, *range(len(data) - 4000, len(data), 507)]:
        shutil.rmtree(lab.directory)
        lab.directory.mkdir()
        (lab.directory / DATABASE).write_bytes(data[:length])
        texts, problems = load(lab.directory, KEY, OTHER)
        assert all(found == text("old") for found in texts.values())
        assert len(texts) == 2 or problems
        assert_works(lab.directory)
        for aside in set_aside(lab.directory):
            assert aside.read_bytes() == data[:length]


@pytest.mark.parametrize(
    ("offset", "data"),
    [
        (0, b"garbage\n" * 1000),
        (0, b"SQLite format 3\0" + b"garbage\n" * 1000),
        (16, b"\0\0"),  # the page size
        (18, b"\2\2"),  # write-ahead log
        (18, b"\1\2"),
        (18, b"\xff\xff"),
        (28, b"\xff\xff\xff\xff"),  # the number of pages
        (44, b"\0\0\0\x09"),  # the schema's format
        (56, b"\0\0\0\2"),  # the encoding
        (100, b"\xff" * 40),  # the first page
        (4096 * 3, b"\xff" * 4096),
        (4096 * 4, b"\xff" * 4096),
    ],
)
def test_a_damaged_database(lab: Lab, offset: int, data: bytes) -> None:
    """A file with wrong bytes in it is set aside as it is, and a new cache begun."""
    with (lab.directory / DATABASE).open("r+b") as file:
        file.seek(offset)
        file.write(data)
    damaged = (lab.directory / DATABASE).read_bytes()
    load(lab.directory, KEY, OTHER)
    assert_works(lab.directory)
    [aside] = set_aside(lab.directory)
    assert aside.read_bytes() == damaged


TREES = (
    "sqlite_master Cache Settings Cache_key_raw Cache_expire_time sqlite_autoindex_Settings_1"
).split()


def roots(database: Path) -> dict[str, int]:
    """Return the page at which each table and index begins."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0")
        return {"sqlite_master": 1, **dict(rows)}


def share_pages(database: Path, tree: str, levels: int) -> None:
    """Put interior pages above what a tree holds, of which all children are one and the same.

    So 300 ** `levels` ways lead to its rows, though the file has only `levels` pages more.
    """
    root, size = roots(database)[tree], 4096
    data = database.read_bytes()
    pages = [data[start : start + size] for start in range(0, len(data), size)]
    old, start = pages[root - 1], 100 if root == 1 else 0
    kind, cells = old[start], int.from_bytes(old[start + 3 : start + 5])
    assert kind in (10, 13), "a leaf is expected"
    pointers = old[start + 8 : start + 8 + 2 * cells]
    pages.append((old[start : start + 8] + pointers).ljust(start + 8 + 2 * cells, b"\0"))
    pages[-1] += old[len(pages[-1]) :]
    first = int.from_bytes(pointers[:2])
    cell = b"\1" if kind == 13 else old[first : first + 1 + old[first]]
    for level in range(levels):
        child, above = len(pages).to_bytes(4, "big"), root == 1 and level == levels - 1
        start = 100 if above else 0
        content = size - len(child + cell)
        number = min(300, (content - start - 12) // 2)
        header = bytes([kind - 8, 0, 0]) + number.to_bytes(2, "big") + content.to_bytes(2, "big")
        page = header + b"\0" + child + content.to_bytes(2, "big") * number
        page = data[:start] + page.ljust(content - start, b"\0") + child + cell
        pages.append(page)
    pages[root - 1] = pages.pop()
    whole = bytearray(b"".join(pages))
    whole[28:32] = len(pages).to_bytes(4, "big")
    database.write_bytes(whole)


def test_the_shared_pages_are_real(lab: Lab) -> None:
    """What the next tests use has many more rows than it has bytes."""
    share_pages(lab.directory / DATABASE, "Cache", 2)
    with closing(sqlite3.connect(lab.directory / DATABASE)) as connection:
        [(rows,)] = connection.execute("SELECT count(value) FROM Cache")
    assert rows == 2 * 301 * 301


@pytest.mark.parametrize("use", ["load", "requests", "prepare", "claim"])
@pytest.mark.parametrize("tree", TREES)
def test_a_tree_that_shares_its_pages(lab: Lab, tree: str, use: str) -> None:
    """A small file with endless rows is set aside, whoever meets it first."""
    store = DiskStore(lab.directory)
    store.claim([key("claimed")], "me")  # or the index of claims would be empty
    store.close()
    share_pages(lab.directory / DATABASE, tree, 12)
    assert (lab.directory / DATABASE).stat().st_size < 110_000
    code = """
store = DiskStore(directory)
use = {
    "load": lambda: store.load(["asked"]),
    "requests": store.requests,
    "prepare": store.prepare,
    "claim": lambda: store.claim(["asked"], "me"),
}
use[sys.argv[2]]()
print(store.load(["asked"]))
"""
    assert output(child(code, lab.directory, use)) == "({}, [])\n"
    assert_works(lab.directory)
    assert len(set_aside(lab.directory)) == 1


@pytest.mark.parametrize("tree", TREES[1:])
@pytest.mark.parametrize("page", [0, 1, 2, 3, 10_000])
def test_a_tree_that_begins_elsewhere(lab: Lab, tree: str, page: int) -> None:
    """A schema that is right, but leads to other pages, is met with a message or a new cache."""
    execute(
        lab.directory,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET rootpage = {page} WHERE name = ?",
        values=(tree,),
    )
    load(lab.directory, KEY)
    assert_works(lab.directory)


def test_a_key_as_long_as_the_file(lab: Lab) -> None:
    """SQLite would read it each time that it compares a key with it, which takes the square."""
    rows = ((str(number), "x" * 50) for number in range(5000))
    with closing(sqlite3.connect(lab.directory / DATABASE)) as connection, connection:
        connection.executemany("INSERT INTO Cache (key, raw, value) VALUES (?, 1, ?)", rows)
        connection.execute("INSERT INTO Cache (key, raw) VALUES (?, 1)", ("5" * 3_000_000,))
    _, [problem] = load(lab.directory, KEY)
    assert "cannot be trusted (it is damaged)" in problem
    assert_works(lab.directory)


def test_texts_that_share_their_pages(lab: Lab) -> None:
    """A file whose rows say that there is more text than the file has bytes is set aside."""
    keep(lab.directory, *map(key, range(30)), words="x" * 20_200)
    database = lab.directory / DATABASE
    data = bytearray(database.read_bytes())
    for start in range(0, len(data), 4096):
        if data[start] == 13:  # a leaf of a table
            for cell in range(start + 8, start + 8 + 2 * data[start + 4], 2):
                offset = start + int.from_bytes(data[cell : cell + 2])
                make_endless(data, offset)
    database.write_bytes(data)
    with closing(sqlite3.connect(database)) as connection:
        [(longest,)] = connection.execute("SELECT max(length(value)) FROM Cache")
    assert longest > 400_000
    store = DiskStore(lab.directory)
    assert len(store.load([KEY, OTHER])[0]) == 2
    found, [problem] = store.requests()
    assert "cannot be trusted (it is damaged)" in problem
    assert len(found) < 30
    assert_works(lab.directory)


def make_endless(data: bytearray, cell: int) -> None:
    """Let a row say that its text of 20,000 bytes is as long as the file, in one page."""

    def number(offset: int) -> int:
        high, middle, low = data[offset : offset + 3]
        return (high & 0x7F) << 14 | (middle & 0x7F) << 7 | low

    def put(offset: int, value: int) -> None:
        data[offset : offset + 3] = value >> 14 | 0x80, value >> 7 & 0x7F | 0x80, value & 0x7F

    if not data[cell] & data[cell + 1] & 0x80:
        return  # it is not that long
    record = cell + 4  # behind its length and a row id below 128
    kind = record + data[record] - 3  # the last in the record's header is the type of the text
    length = 489 + 100 * 4092 + 4000  # of which 489 bytes are here, as before
    put(kind, number(kind) + 2 * (length - number(cell)))
    put(cell, length)
    next_page = data[record + 489 : record + 493]
    start = (int.from_bytes(next_page) - 1) * 4096
    data[start : start + 4] = next_page


def test_damage_that_comes_while_a_store_is_open(lab: Lab) -> None:
    """What is saved after a database was set aside goes into the new one, not the old one."""
    store = DiskStore(lab.directory)
    store.prepare()
    (lab.directory / DATABASE).write_bytes(b"garbage")
    assert len(store.load([KEY])[1]) == 1
    store.save({KEY: text("new")})
    assert load(lab.directory, KEY) == ({KEY: text("new")}, [])
    store.close()


def test_a_write_ahead_log(lab: Lab) -> None:
    """A database in WAL mode is set aside with its log, which holds a part of it."""
    connection = sqlite3.connect(lab.directory / DATABASE, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("UPDATE Cache SET value = 'x'")
    copy = lab.directory.parent / "copy"
    shutil.copytree(lab.directory, copy)
    connection.close()
    assert names(copy) == [DATABASE, f"{DATABASE}-shm", f"{DATABASE}-wal"]
    _, [problem] = load(copy, KEY)
    assert "write-ahead log" in problem
    assert len(set_aside(copy)) == 3
    assert_works(copy)


@pytest.mark.parametrize("suffix", ["-journal", "-wal"])
@pytest.mark.parametrize("kind", ["pipe", "directory", "dangling", "link"])
def test_a_journal_that_is_no_file(lab: Lab, suffix: str, kind: str) -> None:
    """SQLite would wait at a pipe for ever, and fail at the others in every build."""
    make(kind, lab.directory / f"{DATABASE}{suffix}", lab)
    assert output(child(USE, lab.directory)) == "1 []\n"
    lab.assert_unharmed()
    assert load(lab.directory, "key")[1] == []


USE = """
store = DiskStore(directory)
texts, problems = store.load(["asked"])
assert texts == {}
store.save({"key": text})
print(len(problems), store.load(["key"])[1])
store.close()
"""


def make(kind: str, path: Path, lab: Lab) -> None:
    """Put something else there where a file is expected."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
        (path / "file").write_text("kept")
    elif kind == "dangling":
        path.symlink_to(lab.proof)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.symlink_to(lab.victim)


@pytest.mark.parametrize("kind", ["pipe", "directory", "dangling", "loop", "link"])
def test_a_database_that_is_no_file(lab: Lab, kind: str) -> None:
    """Whatever stands in the database's place is renamed, and neither opened nor followed."""
    path = lab.directory / DATABASE
    path.unlink()
    make(kind, path, lab)
    assert output(child(USE, lab.directory)) == "1 []\n"
    lab.assert_unharmed()
    assert path.is_file()
    assert len(set_aside(lab.directory)) == 1


@pytest.mark.parametrize("foreign", [True, False], ids=["foreign", "like-ours"])
def test_a_link_to_another_database(lab: Lab, tmp_path: Path, foreign: bool) -> None:
    """A database that a link leads to stays as it is, byte for byte."""
    other = tmp_path / "other.db"
    shutil.copy(lab.directory / DATABASE, other)
    if foreign:
        with closing(sqlite3.connect(other)) as connection:
            connection.execute("CREATE TABLE precious (x)")
    before = other.read_bytes(), other.stat().st_mtime_ns
    (lab.directory / DATABASE).unlink()
    (lab.directory / DATABASE).symlink_to(other)
    texts, [problem] = load(lab.directory, KEY)
    assert (texts, "not a file" in problem) == ({}, True)
    assert_works(lab.directory)
    assert (other.read_bytes(), other.stat().st_mtime_ns) == before


def super_journal(database: Path, victim: Path) -> bytes:
    """Return a journal after which SQLite looks at a file that it names, and deletes it."""
    name = str(victim).encode()
    header = b"".join(
        number.to_bytes(4, "big") for number in (0, 0, database.stat().st_size // 4096, 512, 4096)
    )
    trailer = (
        # The page of SQLite's lock byte, then the name, its length, its sum, and the magic number.
        (2**30 // 4096 + 1).to_bytes(4, "big")
        + name
        + len(name).to_bytes(4, "big")
        + sum(name).to_bytes(4, "big")
        + JOURNAL_MAGIC
    )
    return (JOURNAL_MAGIC + header).ljust(512, b"\0") + trailer


@pytest.mark.parametrize("tool", ["sqlite3", "store", "store-without-database"])
def test_a_journal_that_names_a_file(lab: Lab, tool: str) -> None:
    """The file would be deleted by whoever opens the database; the store does not open it."""
    database = lab.directory / DATABASE
    journal = lab.directory / f"{DATABASE}-journal"
    data = super_journal(database, lab.victim)
    journal.write_bytes(data)
    if tool == "sqlite3":
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("SELECT count(*) FROM Cache")
        assert not lab.victim.exists()
        return
    if tool == "store-without-database":
        database.unlink()
    else:
        _, [problem] = load(lab.directory, KEY)
        assert "its journal names other files" in problem
    assert_works(lab.directory)
    lab.assert_unharmed()
    [kept] = [path for path in set_aside(lab.directory) if "-journal" in path.name]
    assert kept.read_bytes() == data


def journal(
    database: Path, *, records: int = 0, pages: int = 0, sector: int = 512, page_size: int = 4096
) -> bytes:
    """Return the header of a journal, as long as SQLite makes it."""
    pages = pages or database.stat().st_size // 4096
    numbers = (records, 0, pages, sector, page_size)
    header = b"".join((number % 2**32).to_bytes(4, "big") for number in numbers)
    return (JOURNAL_MAGIC + header).ljust(512, b"\0")


@pytest.mark.parametrize("use", ["load", "prepare", "requests"])
@pytest.mark.parametrize(
    "fields",
    [
        {"pages": 2**32 - 1},
        {"pages": 2**31},
        {"pages": 10_000},
        {"pages": 10_000, "records": 50_000},
        {"pages": 10_000, "records": -1},
        {"pages": 2**32},  # which is 0
        {"page_size": 65536},
        {"page_size": 512},
        {"page_size": 0},
        {"pages": 2**32 - 1, "sector": 65536},
    ],
    ids=lambda fields: "-".join(f"{name}={value}" for name, value in fields.items()),
)
def test_a_journal_that_asks_for_what_was_never_there(
    lab: Lab, fields: dict[str, int], use: str
) -> None:
    """SQLite would make the file as large as the journal says; the store sets both aside."""
    database = lab.directory / DATABASE
    data = journal(database, **fields)
    before = database.read_bytes()
    (lab.directory / f"{DATABASE}-journal").write_bytes(data)
    store = DiskStore(lab.directory)
    problems = (
        store.prepare() if use == "prepare" else getattr(store, use)(*[[KEY]][use != "load" :])[1]
    )
    store.close()
    assert "cannot be trusted (its journal is damaged)" in problems[0]
    assert {path.read_bytes() for path in set_aside(lab.directory)} == {before, data}
    assert_works(lab.directory)
    assert database.stat().st_size < 100_000


def test_the_journal_is_real(lab: Lab) -> None:
    """SQLite makes the database as large as the journal of the next test asks for."""
    database = lab.directory / DATABASE
    (lab.directory / f"{DATABASE}-journal").write_bytes(journal(database, pages=10_000))
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("SELECT count(*) FROM Cache")
    assert database.stat().st_size == 10_000 * 4096


@pytest.mark.parametrize("length", [0, 1, 8, 27, 28, 511, 512])
def test_a_journal_that_takes_nothing_back(lab: Lab, length: int) -> None:
    """The journal of a process that was killed before it changed anything spoils nothing."""
    data = journal(lab.directory / DATABASE)[:length]
    (lab.directory / f"{DATABASE}-journal").write_bytes(data)
    assert load(lab.directory, KEY, OTHER) == ({KEY: text("old"), OTHER: text("old")}, [])
    assert_works(lab.directory)
    assert set_aside(lab.directory) == []


@pytest.mark.system
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_in_the_middle_of_pruning(directory: Path, when: str) -> None:
    """A file that was cut shorter is restored, though its journal asks for more than is there."""
    all_keys = [*map(key, range(200))]
    keep(directory, *all_keys, words="x" * 20_000)
    size = (directory / DATABASE).stat().st_size
    code = """
journal = directory / "cache.db-journal"
connection = sqlite3.connect(directory / "cache.db", isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that it writes before the transaction ends
connection.execute("BEGIN IMMEDIATE")
connection.execute("DELETE FROM Cache WHERE rowid > 1")
if sys.argv[2] == "after":  # the file was cut, and before the journal is deleted
    os.link(journal, directory / "kept")
    connection.execute("COMMIT")
    os.rename(directory / "kept", journal)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert output(child(code, directory, when)) == ""
    if when == "after":
        assert (directory / DATABASE).stat().st_size < size / 50
    texts, problems = load(directory, *all_keys)
    assert (len(texts), problems) == (200, [])
    assert names(directory) == [DATABASE]
    assert_works(directory)


def test_a_cache_directory_that_is_a_file(directory: Path) -> None:
    """Where the directory is a file, nothing is found, nothing can be saved, and the file stays."""
    directory.parent.mkdir()
    directory.write_text("precious")
    assert load(directory, KEY) == ({}, [])
    for use in (DiskStore(directory).prepare, lambda: DiskStore(directory).save({KEY: text()})):
        with pytest.raises(StoreError) as caught:
            use()
        assert_clear([caught.value], directory)
    assert directory.read_text() == "precious"


# --- rights and locks ----------------------------------------------------------------------------

AS_NOBODY = """
from tempfile import TemporaryDirectory
with TemporaryDirectory() as other:  # imports what is needed while it may be read
    store = DiskStore(Path(other))
    store.save({"key": text})
    store.load(["key"])
    store.close()
if os.geteuid() == 0:  # whom rights do not bind
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
store = DiskStore(directory)
texts, problems = store.load([sys.argv[2]])
print(len(texts), problems)
try:
    print(store.prepare())
    store.save({"key": text})
except StoreError as error:
    print(error)
print(len(store.load([sys.argv[2]])[0]))
"""


@pytest.fixture
def shared(directory: Path) -> Iterator[Path]:
    """Return a cache directory that anybody can reach."""
    keep(directory, KEY)
    passed = [path for path in (directory, *directory.parents) if path.stat().st_mode & 1 == 0]
    modes = {path: path.stat().st_mode for path in passed}
    for path in modes:
        path.chmod(0o755)
    yield directory
    for path, mode in modes.items():
        path.chmod(mode)
    directory.chmod(0o755)


@pytest.mark.parametrize("mode", [0o444, 0o666])
def test_a_read_only_directory(shared: Path, mode: int) -> None:
    """Texts can be read where nothing can be written, and that is said before one is paid for."""
    (shared / DATABASE).chmod(mode)
    shared.chmod(0o555)
    found, error, again = output(child(AS_NOBODY, shared, KEY)).splitlines()
    assert (found, again) == ("1 []", "1")
    assert "cannot be written" in error
    assert_clear([error], shared)
    assert names(shared) == [DATABASE]


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("CREATE TABLE evil (x)", id="foreign"),
        # Damage that only shows while reading.
        pytest.param("UPDATE Cache SET value = zeroblob(20000000)", id="damaged"),
    ],
)
def test_a_read_only_directory_with_a_database_of_no_use(shared: Path, statement: str) -> None:
    """What can neither be trusted nor renamed is not used, and the message says what to do."""
    execute(shared, statement)
    (shared / DATABASE).chmod(0o444)
    shared.chmod(0o555)
    found, error, again = output(child(AS_NOBODY, shared, KEY)).splitlines()
    assert "remove it" in found
    assert (found[:2], again) == ("0 ", "0")
    assert_clear([error], shared)


@pytest.mark.parametrize(("directory_mode", "file_mode"), [(0o700, 0o644), (0o755, 0o600)])
def test_a_cache_that_may_not_be_read(shared: Path, directory_mode: int, file_mode: int) -> None:
    """A cache of somebody else is reported, and nothing is written to it."""
    (shared / DATABASE).chmod(file_mode)
    shared.chmod(directory_mode)
    if os.geteuid() != 0:
        pytest.skip("needs root to make a file of somebody else")
    found, error, again = output(child(AS_NOBODY, shared, KEY)).splitlines()
    assert "cannot be read" in found
    assert (found[:2], again) == ("0 ", "0")
    assert_clear([error], shared)


def test_a_directory_that_cannot_be_made(shared: Path) -> None:
    """Where the directory cannot be made, the error says so in one line."""
    shared.chmod(0o555)
    below = shared / "below"
    found, error, again = output(child(AS_NOBODY, below, KEY)).splitlines()
    assert (found, again) == ("0 []", "0")
    assert "cannot be written" in error
    assert_clear([error], below)


@pytest.mark.parametrize("lock", ["EXCLUSIVE", "IMMEDIATE"])
def test_a_database_that_stays_locked(directory: Path, lock: str) -> None:
    """Nobody waits for long for a program that does not end its writing."""
    keep(directory, KEY)
    store = DiskStore(directory, lock_timeout=0.1)
    started = time.monotonic()
    with closing(sqlite3.connect(directory / DATABASE, isolation_level=None)) as connection:
        connection.execute(f"BEGIN {lock}")
        texts, problems = store.load([KEY])
        if lock == "IMMEDIATE":  # which lets others read
            assert (set(texts), problems) == ({KEY}, [])
        else:
            assert texts == {}
            assert "locked" in problems[0]
        with pytest.raises(StoreError) as caught:
            store.prepare()
    assert time.monotonic() - started < 30  # diskcache itself would wait a minute
    assert_clear([caught.value], directory)
    assert "locked" in str(caught.value)
    assert_works(directory)


def test_a_full_disk(directory: Path) -> None:
    """What cannot be saved raises StoreError, and what is there stays readable."""
    keep(directory, KEY)
    code = """
import resource
store = DiskStore(directory)
store.prepare()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = (directory / "cache.db").stat().st_size + 10_000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    store.save({"key": Text("x" * 100_000, datetime.now(UTC), {})})
except StoreError as error:
    print(error)
print(len(store.load([sys.argv[2]])[0]))
"""
    error, again = output(child(code, directory, KEY)).splitlines()
    assert_clear([error], directory)
    assert again == "1"
    assert load(directory, KEY) == ({KEY: text()}, [])
