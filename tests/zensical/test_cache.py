"""Where the cache of a site is that uses Zensical, and how texts get there."""

from __future__ import annotations

import json
import random
import re
import signal
import sqlite3
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import Project, wait_until
from service_double import ServiceDouble

from mkdocs_contentgen import DiskStore, Text
from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.texts.store import note_key

BEFORE, AFTER = ".cache/plugin/contentgen", ".contentgen-cache"
MOVED = f"1 cached text was moved from {BEFORE} to {AFTER}, "


def use_zensical(project: Project, options: object = None) -> None:
    """Add the extension to the configuration."""
    project.configure(options, theme="material", markdown_extensions=["contentgen"])


@pytest.fixture
def site(project: Project) -> Project:
    """Return a site that MkDocs has built with a text, and that uses Zensical from now on."""
    project.page("index.md", {"type": "blog", "topic": "One"})
    built = project.build()
    assert built.returncode == 0, built.stdout
    use_zensical(project)
    return project


@pytest.mark.parametrize(
    "command",
    [
        "mkdocs_contentgen status",
        "mkdocs_contentgen zensical build",
        "zensical build",
        "mkdocs build --strict",
    ],
)
def test_texts_are_moved_once(site: Project, service: ServiceDouble, command: str) -> None:
    """Whatever runs first moves the texts and says so, and nobody pays for them again."""
    first, second = site.run(*command.split()), site.run(*command.split())
    assert (first.returncode, second.returncode) == (0, 0), first.stdout + second.stdout
    assert first.stdout.count(MOVED) == 1
    assert MOVED not in second.stdout
    cleaned = site.run("zensical", "build", "--clean")
    assert cleaned.returncode == 0, cleaned.stdout
    assert "Text number 1" in site.html("index.html")
    assert not (site.root / BEFORE).exists()
    assert service.topics == ["One"]


def test_a_cache_that_is_named_stays(site: Project, service: ServiceDouble) -> None:
    """A cache in `.cache` that the site names is not moved, but a warning; --clean is refused."""
    use_zensical(site, {"cache_dir": BEFORE})
    ran = site.run("mkdocs_contentgen", "zensical", "build")
    assert ran.returncode == 0, ran.stdout
    assert "is in the directory that `zensical build --clean` deletes" in ran.stdout
    refused = site.run("mkdocs_contentgen", "zensical", "build", "--clean")
    assert refused.returncode == 1
    assert (site.root / BEFORE / "cache.db").exists()
    assert service.topics == ["One"]


def test_a_linked_cache_is_left_alone(site: Project, tmp_path: Path) -> None:
    """Nothing is moved out of a directory that a symbolic link leads to."""
    (site.root / ".cache").rename(tmp_path / "elsewhere")
    (site.root / ".cache").symlink_to(tmp_path / "elsewhere")
    ran = site.run("mkdocs_contentgen", "status")
    assert ran.returncode == 0, ran.stdout
    assert "missing" in ran.stdout
    assert MOVED not in ran.stdout


def text(topic: str, html: str, *, age: int = 0) -> Text:
    """Return a text that is `age` days old."""
    made = datetime.now(UTC) - timedelta(days=age)
    return Text(f"<article><p>{html}</p></article>", made, {"type": "blog", "topic": topic})


def test_the_newer_text_stays(tmp_path: Path) -> None:
    """Of a text that both caches have, the newer one stays; an Idempotency-Key moves too."""
    before, after = DiskStore(tmp_path / "before"), DiskStore(tmp_path / "after")
    before.save({"a": text("A", "old", age=2), "b": text("B", "new"), "c": text("C", "only")})
    after.save({"a": text("A", "new"), "b": text("B", "old", age=2)})
    keys = before.claim(["d"], "somebody")
    note = {note_key("failed", "d"): text("D", "why")}
    before.save(note)
    assert after.take_over(before) == (3, [])
    assert after.load(note) == (note, [])
    assert before.load(note) == ({}, [])
    texts, problems = after.load(["a", "b", "c"])
    assert [("new" in t.html, "only" in t.html) for t in texts.values()] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    assert problems == []
    assert before.load(["a", "b", "c"]) == ({}, [])
    assert after.claim(["d"], "somebody else") == keys
    assert after.take_over(before) == (0, [])


@pytest.mark.parametrize(
    "command", ["mkdocs build", "mkdocs_contentgen zensical build", "zensical build"]
)
def test_a_damaged_cache_is_left_behind(site: Project, command: str) -> None:
    """A cache that cannot be moved, since it is damaged, is a warning, as it is elsewhere."""
    use_zensical(site, {"on_missing": "placeholder"})
    (site.root / BEFORE / "cache.db").write_bytes(b"garbage")
    ran = site.run(*command.split())
    assert ran.returncode == 0, ran.stdout
    assert re.search(
        r"(WARNING|Warning).*it is not a SQLite database\); it was renamed", ran.stdout
    )
    assert MOVED not in ran.stdout


def test_the_sound_part_of_a_damaged_cache_moves(tmp_path: Path) -> None:
    """Texts before the damage are moved, the rest is set aside, and a later move has nothing."""
    before, after = DiskStore(tmp_path / "before"), DiskStore(tmp_path / "after")
    before.save({f"{number:064x}": text("A", "x" * 3000) for number in range(100)})
    before.close()
    with (tmp_path / "before/cache.db").open("r+b") as file:
        file.seek(68 * 4096)
        file.write(b"\xff" * 4096)
    number, (problem,) = after.take_over(before)
    assert 50 < number < 100
    assert "it was renamed to cache.db.set-aside-" in problem
    assert len(after.requests()[0]) == number
    assert after.take_over(before) == (0, [])


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """Texts that cannot be moved are an error, since they would be paid for again."""
    before, after = DiskStore(tmp_path / "before"), DiskStore(tmp_path / "file/after")
    (tmp_path / "file").write_text("")
    before.save({"a": text("A", "only")})
    with pytest.raises(StoreError, match=r"file/after/cache\.db"):
        after.take_over(before)
    assert set(before.load(["a"])[0]) == {"a"}


def test_what_changes_during_a_move_stays(tmp_path: Path) -> None:
    """An entry that another program writes after it was copied is not deleted."""
    before, after = DiskStore(tmp_path / "before"), DiskStore(tmp_path / "after")
    before.save({"a": text("A", "x"), "b": text("B", "x")})
    after.prepare()
    rows = "SELECT key FROM Cache ORDER BY key"
    with (
        closing(sqlite3.connect(tmp_path / "before/cache.db", isolation_level=None)) as there,
        closing(sqlite3.connect(tmp_path / "after/cache.db")) as here,
        ThreadPoolExecutor(1) as pool,
    ):
        there.execute("BEGIN IMMEDIATE")
        moved = pool.submit(after.take_over, before)
        wait_until(lambda: len(here.execute(rows).fetchall()) == 2)
        there.execute("UPDATE Cache SET value = 'new' WHERE key = 'b'")
        there.execute("COMMIT")
        assert moved.result() == (2, [])
        assert there.execute(rows).fetchall() == [("b",)]


def test_a_large_cache_is_moved_row_by_row(tmp_path: Path) -> None:
    """A move does not hold all texts in memory at once."""
    before, after = DiskStore(tmp_path / "before"), DiskStore(tmp_path / "after")
    before.save({f"{number:064x}": text("A", "x" * 100_000) for number in range(100)})
    tracemalloc.start()
    try:
        assert after.take_over(before) == (100, [])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000  # of ten million characters


@pytest.mark.system
def test_a_killed_move_loses_nothing(site: Project) -> None:
    """Whenever a move is killed, and whoever moves at the same time, each text is in one cache."""
    topics = [f"Topic {number}" for number in range(300)]
    before = DiskStore(site.root / BEFORE)
    before.save({f"{number:064x}": text(topic, "x" * 2000) for number, topic in enumerate(topics)})
    before.close()
    started = time.monotonic()
    site.run_process("mkdocs_contentgen", "schema")
    least = time.monotonic() - started
    chance = random.Random(7)
    for _ in range(6):
        one, two = (site.start("mkdocs_contentgen", "status") for _ in range(2))
        time.sleep(least * chance.uniform(0.5, 2.5))
        one.send_signal(signal.SIGKILL)
        one.wait()
        if chance.random() < 0.5:
            two.send_signal(signal.SIGKILL)
        two.wait()
        assert held(site.root) >= {*topics, "One"}
    ran = site.run("mkdocs_contentgen", "status")
    assert ran.returncode == 0, ran.stdout
    assert held(site.root, [AFTER]) >= {*topics, "One"}
    assert held(site.root, [BEFORE]) == set()


def held(root: Path, folders: list[str] | None = None) -> set[str]:
    """Return the topics of all texts in the caches, read apart from the code under test."""
    topics = set()
    for folder in folders or [BEFORE, AFTER]:
        database = root / folder / "cache.db"
        if database.exists():
            with closing(sqlite3.connect(database, timeout=10)) as connection:
                rows = connection.execute("SELECT value FROM Cache WHERE key NOT LIKE '%:%'")
                topics |= {json.loads(value)["request"]["topic"] for (value,) in rows}
    return topics
