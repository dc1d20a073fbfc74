"""The cache in real directories: whole ones, damaged ones, and ones that several programs use."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from msgspec.structs import replace

from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.text import MAX_HTML, Edits, Text
from mkdocs_contentgen.texts.store import (
    DATABASE,
    LEASE,
    DiskStore,
    Failure,
    NoteKind,
    Parts,
    UnreadableTextError,
    row_key,
)
from mkdocs_contentgen.texts.store.entries import Note, decode_entry, encode_entry

WHEN = datetime(2026, 5, 4, 12, 30, 15, 123456, tzinfo=UTC)
REQUEST: dict[str, object] = {"type": "blog", "topic": "Tides", "revision": 1}


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
        assert store.claim(dict.fromkeys([KEY, OTHER], "generate"), "me").keys() == {KEY, OTHER}
        store.save({KEY: text("new")})
        store.release({OTHER: "generate"}, "me")
    finally:
        store.close()
    assert load(directory, KEY) == ({KEY: text("new")}, [])


def names(directory: Path) -> list[str]:
    """Return the names of the files in a directory, but for what makes git leave it out."""
    return sorted(path.name for path in directory.iterdir() if path.name != ".gitignore")


def execute(directory: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Change a database behind the store's back; the last statement gets the values."""
    with closing(sqlite3.connect(directory / DATABASE, isolation_level=None)) as connection:
        for statement in statements[:-1]:
            connection.execute(statement)
        connection.execute(statements[-1], values)


def entry(name: str = KEY, /, **fields: object) -> str:
    """Return an entry that is right, but for what is given."""
    right = {"html": text("Poison").html, "generated_at": WHEN.isoformat(), "request": REQUEST}
    encoded = json.dumps({**right, **fields})
    checksum = hashlib.sha256(f"{name}\n{encoded}".encode(errors="replace")).hexdigest()
    return f'{{"sha256": "{checksum}", "record": {encoded}}}'


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


def output(process: subprocess.Popen[str], timeout: float = 120) -> str:
    """Return what a process prints until it ends, which it must."""
    try:
        return process.communicate(timeout=timeout)[0]
    finally:
        process.kill()
        process.communicate()


# --- keeping and finding --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "request_"),
    [
        ("<article>Text</article>", REQUEST),
        ("<article>Ümläut 日本語 🧭👩‍👩‍👧 \u2028 \x00 \\ \" '</article>", {"topic": "日本語 🧭"}),
        ("", {}),
        ("x" * MAX_HTML, REQUEST),
        ("🧭" * MAX_HTML, REQUEST),
        ("\x01" * MAX_HTML, {"topic": "\x01" * 30_000}),
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


@pytest.mark.parametrize(
    ("unreadable", "reason"),
    [
        (replace(text(), html="x" * (MAX_HTML + 1)), "its HTML has 262,145 characters, 262"),
        (replace(text(), html="\ud800"), "surrogates not allowed"),
        (replace(text(), edits=Edits(confirmed=("x" * 301,))), "length <= 300 - at `$.edits.conf"),
        (replace(text(), edits=Edits(changed_by={"short": "Jo"})), "matching regex"),
        (replace(text(), written_by="Jo\nDoe"), "matching regex"),
        (replace(text(), request={"topic": object()}), "unsupported"),
        (replace(text(), request={"topic": float("nan")}), "it would be another text"),
    ],
    ids=["html", "surrogate", "confirmed", "authors", "writer", "object", "number"],
)
def test_what_could_not_be_read_is_not_written(
    directory: Path, unreadable: Text, reason: str
) -> None:
    """It is refused with the reason, nothing that was there changes, and others can be saved."""
    store = DiskStore(directory)
    store.save({KEY: text("Before.")})
    (mine,) = store.claim({OTHER: "generate"}, "me").values()
    for texts in ({OTHER: text(), KEY: unreadable}, {KEY: unreadable}):
        with pytest.raises(UnreadableTextError, match=re.escape(reason)):
            store.save(texts, replacing={KEY: text("Before.")})
    with pytest.raises(UnreadableTextError):
        store.rescue(KEY, unreadable)
    assert store.load([KEY, OTHER]) == ({KEY: text("Before.")}, [])
    assert store.claim({OTHER: "generate"}, "me") == {OTHER: mine}, (
        "its Idempotency-Key is still there"
    )
    store.save({KEY: text("After.")})
    assert store.load([KEY]) == ({KEY: text("After.")}, [])
    store.close()


def test_times_of_other_zones_are_the_same_moment(directory: Path) -> None:
    """A text's time is in UTC, whatever zone it was given in."""
    zone = timezone(timedelta(hours=5, minutes=30))
    store = DiskStore(directory)
    store.save({KEY: Text("x", WHEN.astimezone(zone), {})})
    store.close()
    found = load(directory, KEY)[0][KEY].generated_at
    assert (found, found.tzinfo) == (WHEN, UTC)


def test_more_keys_than_a_query_has(directory: Path) -> None:
    """Many are read a few hundred at a time, one that is missing is no problem, and no other."""
    all_keys = [*map(key, range(1100))]
    store = DiskStore(directory)
    store.save({name: text() for name in (*all_keys, OTHER)})
    store.close()
    texts, problems = load(directory, *all_keys, key("missing"))
    assert (set(texts), problems) == (set(all_keys), [])


def test_a_new_text_takes_the_place_of_the_old_one(directory: Path) -> None:
    """What is saved last under a key is what is found."""
    keep(directory, KEY, OTHER, words="old")
    keep(directory, KEY, words="new")
    assert load(directory, KEY, OTHER)[0] == {KEY: text("new"), OTHER: text("old")}


def test_loading_makes_no_directory(directory: Path) -> None:
    """A build that only looks leaves nothing behind."""
    assert load(directory, KEY) == ({}, [])
    assert not directory.exists()


def test_git_leaves_out_a_directory_that_it_makes(tmp_path: Path) -> None:
    """So it does wherever `cache_dir` puts it, but not with the files that are there already."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in ("new/cache", "mine"):
        keep(tmp_path / name, KEY)
    (tmp_path / "with_files").mkdir()
    (tmp_path / "with_files/page.md").write_text("Mine.")
    keep(tmp_path / "with_files", KEY)
    listed = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
    status = subprocess.run(listed, check=True, capture_output=True, text=True).stdout
    assert status == "?? with_files/cache.db\n?? with_files/page.md\n"


def test_a_link_in_place_of_its_ignore_file(directory: Path, tmp_path: Path) -> None:
    """Nothing is written where a link of a pull request leads."""
    directory.mkdir(parents=True)
    (directory / ".gitignore").symlink_to(tmp_path / "outside")
    keep(directory, KEY)
    assert not (tmp_path / "outside").exists()


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


def delete_nothing(directory: Path) -> None:
    """Open a store for writing, and close it."""
    store = DiskStore(directory)
    store.delete([])
    store.close()


def test_opening_a_database_writes_only_settings_that_are_others(directory: Path) -> None:
    """A text is saved by many stores in turn, and each would write all of them to the disk."""
    keep(directory, KEY)
    before = (directory / DATABASE).read_bytes()
    delete_nothing(directory)
    assert (directory / DATABASE).read_bytes() == before
    setting = "WHERE key = 'sqlite_synchronous'"
    execute(directory, f"UPDATE Settings SET value = 0 {setting}")
    delete_nothing(directory)
    with closing(sqlite3.connect(directory / DATABASE)) as found:
        assert found.execute(f"SELECT value FROM Settings {setting}").fetchall() == [(2,)]


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


# --- entries --------------------------------------------------------------------------------------


class Harm:
    """Makes a directory where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Return what pickle is to call."""
        return os.mkdir, ("/tmp/contentgen-was-unpickled",)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "[" * 100_000,
        entry()[:-20],
        entry(OTHER),
        entry().replace("Poison", "Poisoned"),
        entry(html=7),
        entry(html="x" * (MAX_HTML + 1)),
        entry(generated_at="2026-05-04T12:30:15"),
        entry(remarks=["\x1b[2J"]),
        b"\xff\x0aA",
        pickle.dumps(Harm()),
    ],
    ids=range(11),
)
def test_an_entry_that_was_changed(directory: Path, value: object) -> None:
    """It counts as missing, which is said; it hides no other, and a new text takes its place."""
    keep(directory, KEY, OTHER)
    for mode in (1, 4):  # 4 is what diskcache would unpickle
        execute(
            directory,
            f"UPDATE Cache SET value = ?, mode = {mode} WHERE key = ?",
            values=(value, KEY),
        )
        texts, [problem] = load(directory, KEY, OTHER)
        assert texts == {OTHER: text()}
        assert f"the entry {KEY[:12]}… in" in problem
        assert DiskStore(directory).requests() == ({KEY: {}, OTHER: REQUEST}, [])
        assert_works(directory)
    assert not Path("/tmp/contentgen-was-unpickled").exists()


def test_a_row_that_names_a_file(directory: Path, tmp_path: Path) -> None:
    """No file that a row names is read or deleted."""
    keep(directory, KEY)
    precious = tmp_path / "precious"
    precious.write_text(entry(KEY))
    for row in (KEY, f"claim:{KEY}", f"idempotency:{KEY}"):
        execute(
            directory,
            "INSERT OR REPLACE INTO Cache (key, raw, mode, filename, size) VALUES (?, 1, 2, ?, 9)",
            values=(row, str(precious)),
        )
    assert load(directory, KEY)[0] == {}
    assert_works(directory)
    DiskStore(directory).delete([KEY])
    assert precious.exists()


FAILURE = Failure(REQUEST, WHEN, "looped", "An answer.\n 🧭", "m", 0.5, 2)
PARTS = Parts(REQUEST, WHEN, b"\x00parts")
NOTES: dict[NoteKind, Note | None] = {"failed": FAILURE, "unfinished": FAILURE, "parts": PARTS}


def test_notes(directory: Path) -> None:
    """Each kind of note is kept beside the text, and is listed on its own."""
    store = DiskStore(directory)
    store.save_notes(KEY, NOTES)
    store.close()
    for kind in ("failed", "unfinished"):
        assert store.load_notes(kind, Failure, [KEY, OTHER]) == ({KEY: FAILURE}, [])
        assert store.requests(kind) == ({KEY: REQUEST}, [])
    assert store.load_notes("parts", Parts, [KEY, OTHER]) == ({KEY: PARTS}, [])
    assert store.load([KEY, row_key("failed", KEY)]) == ({}, [])
    assert store.requests() == ({}, [])
    store.save_notes(KEY, {"failed": None})
    assert store.load_notes("failed", Failure, [KEY]) == ({}, [])
    assert store.load_notes("parts", Parts, [KEY]) == ({KEY: PARTS}, [])
    store.close()


@pytest.mark.parametrize("use", ["save", "delete"])
def test_a_note_goes_with_its_text(directory: Path, use: str) -> None:
    """A text needs no notes, and what is deleted leaves none; nor does its generated text stay."""
    store = DiskStore(directory)
    generated = [row_key("generated", name) for name in (KEY, OTHER)]
    store.save(dict.fromkeys(generated, text()))
    for name in (KEY, OTHER):
        store.save_notes(name, NOTES)
    if use == "save":
        store.save({KEY: text()})
    else:
        store.delete([KEY])
    assert store.requests("failed")[0] == store.requests("parts")[0] == {OTHER: REQUEST}
    assert store.load(generated)[0] == {generated[1]: text()}
    store.close()


@pytest.mark.parametrize(
    "poison",
    [
        encode_entry(row_key("failed", OTHER), FAILURE),
        encode_entry(row_key("failed", KEY), FAILURE)[:-20],
        encode_entry(row_key("failed", KEY), FAILURE).replace("looped", "leaped"),
        encode_entry(KEY, text()),
        '{"sha256": "", "record": {}}',
    ],
    ids=range(5),
)
def test_a_note_that_was_changed(directory: Path, poison: str) -> None:
    """It counts as missing, which is said, and hides no other note."""
    store = DiskStore(directory)
    store.save_notes(KEY, NOTES)
    store.close()
    name = row_key("failed", KEY)
    execute(directory, "UPDATE Cache SET value = ? WHERE key = ?", values=(poison, name))
    notes, [problem] = store.load_notes("failed", Failure, [KEY])
    assert notes == {}
    assert f"the entry {KEY[:12]}… in" in problem
    assert store.load_notes("parts", Parts, [KEY]) == ({KEY: PARTS}, [])
    store.close()


@pytest.mark.parametrize(
    "note",
    [
        replace(FAILURE, reason="\x1b[2J"),
        replace(FAILURE, reason="x" * 2001),
        replace(FAILURE, answer="x" * (64 * 1024 + 1)),
        replace(PARTS, parts=b"x" * (192 * 1024 + 1)),
        replace(PARTS, written_at=datetime(1, 1, 1, tzinfo=UTC)),
    ],
    ids=range(5),
)
def test_a_note_that_could_not_be_read(directory: Path, note: Note) -> None:
    """It is refused, and what was there stays."""
    store = DiskStore(directory)
    store.save_notes(KEY, NOTES)
    kind: NoteKind = "failed" if isinstance(note, Failure) else "parts"
    with pytest.raises(UnreadableTextError):
        store.save_notes(KEY, {"unfinished": None, kind: note})
    assert store.load_notes("unfinished", Failure, [KEY]) == ({KEY: FAILURE}, [])
    store.close()


# --- processes ------------------------------------------------------------------------------------


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


@pytest.mark.system
def test_processes_at_once_lose_nothing(directory: Path) -> None:
    """Four builds that start together on a fresh directory share one cache."""
    code = """
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    store = DiskStore(directory, lock_timeout=60)
    key = f"{sys.argv[2]}-{number}"
    assert store.prepare() == []
    assert store.claim({key: "generate"}, sys.argv[2]).keys() == {key}
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


# --- claims ---------------------------------------------------------------------------------------


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
    assert mine.claim({KEY: "generate"}, "me").keys() == {KEY}
    assert theirs.claim(dict.fromkeys([KEY, OTHER], "generate"), "them").keys() == {OTHER}
    assert mine.claim(dict.fromkeys([KEY, OTHER], "generate"), "me").keys() == {KEY}
    assert mine.claim({}, "me") == {}


def test_a_claim_that_is_released_is_free(two: tuple[DiskStore, DiskStore]) -> None:
    """Only the owner of a claim can give it up."""
    mine, theirs = two
    mine.claim(dict.fromkeys([KEY, OTHER], "generate"), "me")
    theirs.release(dict.fromkeys([KEY, OTHER], "generate"), "them")
    assert theirs.claim(dict.fromkeys([KEY, OTHER], "generate"), "them") == {}
    mine.release(dict.fromkeys([KEY, key("never claimed")], "generate"), "me")
    assert theirs.claim(dict.fromkeys([KEY, OTHER], "generate"), "them").keys() == {KEY}


def test_a_text_ends_its_claim(two: tuple[DiskStore, DiskStore], directory: Path) -> None:
    """Whoever saves a text need not give up its claim."""
    mine, theirs = two
    mine.claim(dict.fromkeys([KEY, OTHER], "generate"), "me")
    mine.save({KEY: text()})
    assert theirs.claim(dict.fromkeys([KEY, OTHER], "generate"), "them").keys() == {KEY}
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
    mine.claim({KEY: "generate"}, "me")
    statement = "UPDATE Cache SET expire_time = ? WHERE key = ?"
    execute(directory, statement, values=(time.time() + expires_in, f"claim:{KEY}"))
    assert theirs.claim({KEY: "generate"}, "them").keys() == ({KEY} if free else set())


def test_renewing_makes_a_claim_last_longer(
    two: tuple[DiskStore, DiskStore], directory: Path
) -> None:
    """A claim lasts a lease from when it was renewed last."""
    mine, _ = two
    mine.claim({KEY: "generate"}, "me")
    execute(directory, "UPDATE Cache SET expire_time = expire_time - ?", values=(LEASE / 2,))
    mine.claim({KEY: "generate"}, "me")
    with closing(sqlite3.connect(directory / DATABASE)) as connection:
        [(expires,)] = connection.execute("SELECT expire_time FROM Cache WHERE key LIKE 'claim:%'")
    assert LEASE - 5 < expires - time.time() <= LEASE


# --- damaged databases ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "data"),
    [
        (0, b"garbage\n" * 1000),
        (0, b"SQLite format 3\0" + b"garbage\n" * 1000),
        (16, b"\0\0"),  # the page size
        (100, b"\xff" * 40),  # the first page
        (4096, b"\xff" * 4096 * 20),
    ],
)
@pytest.mark.parametrize("use", ["load", "requests", "save"])
def test_a_damaged_database(directory: Path, offset: int, data: bytes, use: str) -> None:
    """It stays as it is, and that it has to be restored or deleted is said."""
    keep(directory, KEY, OTHER)
    with (directory / DATABASE).open("r+b") as file:
        file.seek(offset)
        file.write(data)
    damaged = (directory / DATABASE).read_bytes()
    store = DiskStore(directory)
    if use == "save":
        with pytest.raises(StoreError) as caught:
            store.save({KEY: text()})
        problems = [str(caught.value)]
    else:
        _, problems = store.load([KEY]) if use == "load" else store.requests()
        assert str(store.unreadable) == problems[0]
    store.close()
    assert "; restore a copy of it, or delete it to pay for its texts again" in problems[0]
    assert_clear(problems, directory)
    assert (directory / DATABASE).read_bytes() == damaged
    (directory / DATABASE).unlink()
    assert_works(directory)


def test_a_truncated_database(directory: Path) -> None:
    """Whatever length is left of a database, no entry is wrong, and a loss does not go unsaid."""
    keep(directory, KEY, OTHER, *map(key, range(5)), words="x" * 3000)
    data = (directory / DATABASE).read_bytes()
    for length in [0, 1, 20, 100, 1000, *range(5000, len(data), 4 * 4096)]:
        shutil.rmtree(directory)
        directory.mkdir()
        (directory / DATABASE).write_bytes(data[:length])
        texts, problems = load(directory, KEY, OTHER)
        assert all(found == text("x" * 3000) for found in texts.values())
        assert len(texts) == 2 or problems


def test_an_empty_file(directory: Path) -> None:
    """What is left of a copy is not taken for a cache without texts, which would be paid for."""
    directory.mkdir(parents=True)
    (directory / DATABASE).touch()
    with pytest.raises(StoreError, match=r"written \(no such table: Cache\); restore a copy of it"):
        DiskStore(directory).prepare()
    assert not (directory / DATABASE).read_bytes()


def test_a_cache_that_is_removed_while_a_store_is_open(directory: Path) -> None:
    """A text is never saved into a database that nobody can find any more."""
    store = DiskStore(directory)
    store.save({KEY: text()})
    shutil.rmtree(directory)
    store.save({OTHER: text()})
    store.close()
    assert load(directory, KEY, OTHER) == ({OTHER: text()}, [])


def test_a_database_of_another_program(directory: Path) -> None:
    """One that diskcache did not make is left alone."""
    directory.mkdir(parents=True)
    execute(directory, "CREATE TABLE Cache (other)")
    _, [problem] = load(directory, KEY)
    assert "cannot be read (no such column: " in problem


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


# --- rights and locks -----------------------------------------------------------------------------

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
    for path, number in ((shared, 1), (shared / "below", 0)):
        found, error, again = output(child(AS_NOBODY, path, KEY)).splitlines()
        assert (found, again) == (f"{number} []", str(number))
        assert "cannot be written" in error
        assert_clear([error], path)
    assert names(shared) == [DATABASE]


@pytest.mark.parametrize(
    ("directory_mode", "file_mode"),
    [(0o700, 0o644), (0o755, 0o600)],
    ids=["directory-of-others", "file-of-others"],
)
def test_a_cache_that_cannot_be_used(shared: Path, directory_mode: int, file_mode: int) -> None:
    """One of somebody else is reported, and never written to."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make a file of somebody else")
    (shared / DATABASE).chmod(file_mode)
    shared.chmod(directory_mode)
    found, error, again = output(child(AS_NOBODY, shared, KEY)).splitlines()
    assert "cannot be read" in found
    assert (found[:2], again) == ("0 ", "0")
    assert_clear([error], shared)


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


def test_a_text_that_cannot_be_saved(directory: Path) -> None:
    """It is written beside the cache, read from there, and removed once the cache has it."""
    directory.parent.mkdir()
    store = DiskStore(directory)
    path = store.rescue(KEY, text())
    assert path.parent == directory.with_name("cache-unsaved")
    assert load(directory, KEY, OTHER) == ({KEY: text()}, [])
    path.with_name(OTHER).write_text(path.read_text())
    assert load(directory, KEY, OTHER) == ({KEY: text()}, [])
    store.save({KEY: text("Another text.")})
    store.close()
    assert not path.exists()
    assert load(directory, KEY) == ({KEY: text("Another text.")}, [])


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00"])
def test_a_time_that_no_other_zone_has(tmp_path: Path, moment: str) -> None:
    """It would end a command when it is shown or approved: it is neither kept nor read."""
    text = Text("<article>A</article>", datetime.fromisoformat(moment), {})
    store = DiskStore(tmp_path)
    with pytest.raises(StoreError, match="it is of the year"):
        store.save({"key": text})
    encoded = msgspec.json.encode(text)
    checksum = hashlib.sha256(b"key\n" + encoded).hexdigest()
    entry = msgspec.json.encode({"sha256": checksum, "record": msgspec.Raw(encoded)})
    assert decode_entry("key", entry) is None
    assert decode_entry("key", encode_entry("key", replace(text, generated_at=datetime.now(UTC))))
    store.close()
