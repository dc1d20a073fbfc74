"""The header Idempotency-Key over several builds: lost answers, kills, machines."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import Project, Variable, wait_until
from redis_server import RedisServer, redis_running
from service_double import Answer, ServiceDouble, generated, raw, reset, silence

from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DATABASE, DiskStore
from mkdocs_contentgen.texts.store.shared import SharedStore

REQUEST = BlogRequest(topic="Tides")
KEY, OTHER = REQUEST.key(sandbox=False), "b" * 64
CACHE = ".cache/plugin/contentgen"
ROW, REDIS_ROW = f"idempotency:{KEY}", f"contentgen:idempotency:{KEY}"


def text(days: float = 0) -> Text:
    """Return a text for the request that was generated so many days ago."""
    html = "<article><h1>Tides</h1><p>The old text.</p></article>"
    return Text(html, datetime.now(UTC) - timedelta(days=days), REQUEST.record())


def keys(service: ServiceDouble) -> list[str]:
    """Return the Idempotency-Key of each request that the service received."""
    return [request.headers["idempotency-key"] for request in service.received]


def stored_keys(directory: Path) -> dict[str, dict[str, str]]:
    """Return the rows with Idempotency-Keys in a cache, read apart from the code under test."""
    with closing(sqlite3.connect(directory / DATABASE)) as connection:
        query = "SELECT key, value FROM Cache WHERE key LIKE 'idempotency:%'"
        rows = connection.execute(query).fetchall()
        return {name: json.loads(value) for name, value in rows}


@pytest.fixture
def site(project: Project) -> Project:
    """Return a project with one page that asks for a text."""
    project.page("tides.md", {"type": "blog", "topic": "Tides"})
    project.configure({"retries": 0})
    return project


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """Run a Redis."""
    with redis_running() as running:
        yield running


# --- builds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reset, id="lost"),
        *(pytest.param(raw(b"", n), id=str(n)) for n in (401, 409, 503)),
    ],
)
def test_an_unknown_outcome_is_asked_for_with_the_same_key(
    site: Project, service: ServiceDouble, answer: Answer
) -> None:
    """The next build repeats the request, and once there is a text, a refresh is a new request."""
    service.answer = answer
    assert site.build().returncode == 1
    assert stored_keys(site.root / CACHE) == {ROW: {"generate": keys(service)[0]}}
    service.answer = generated()
    assert site.build("--strict").returncode == 0
    assert stored_keys(site.root / CACHE) == {}
    assert site.run("mkdocs_contentgen", "generate", "--refresh").returncode == 0
    lost, found, refreshed = keys(service)
    assert lost == found != refreshed
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in (lost, refreshed))


@pytest.mark.parametrize(
    "answer",
    [raw(b"{}"), raw(b'{"success": true, "content": "no article"}'), raw(b"", 400), raw(b"", 500)],
    ids=["no-content", "no-article", "400", "500"],
)
def test_a_definite_failure_drops_the_key(
    site: Project, service: ServiceDouble, answer: Answer
) -> None:
    """A service that repeats its answer for the same key would never give this page a text."""
    service.answer = answer
    assert site.build().returncode == 1
    assert stored_keys(site.root / CACHE) == {}
    service.answer = generated()
    assert site.run("mkdocs_contentgen", "generate", "tides.md").returncode == 0
    failed, found = keys(service)
    assert failed != found


@pytest.mark.system
def test_a_killed_build(site: Project, service: ServiceDouble) -> None:
    """The build after one that SIGKILL ended in the middle of a request sends the same key."""
    service.answer = silence
    build = site.start("mkdocs", "build")
    wait_until(lambda: service.received)
    build.kill()
    build.wait()
    site.end_claims()
    service.answer = generated()
    assert site.build("--strict").returncode == 0
    killed, found = keys(service)
    assert killed == found


def test_a_refresh_has_a_key_of_its_own(site: Project, service: ServiceDouble) -> None:
    """`--refresh` asks for another text, but for the same one again while it has no answer."""
    service.answer = reset
    assert site.build().returncode == 1
    for _ in range(2):
        assert site.run("mkdocs_contentgen", "generate", "--refresh").returncode == 1
    built, refreshed, again = keys(service)
    assert built != refreshed == again
    assert stored_keys(site.root / CACHE) == {ROW: {"generate": built, "refresh": refreshed}}
    service.answer = generated()
    assert site.run("mkdocs_contentgen", "generate", "--refresh").returncode == 0
    assert site.run("mkdocs_contentgen", "generate", "--refresh").returncode == 0
    assert keys(service)[3] == refreshed != keys(service)[4]


def test_each_update_has_a_key_of_its_own(site: Project, service: ServiceDouble) -> None:
    """A lost update is repeated with its key; another note, or a new text, is another request."""
    site.configure({"retries": 0, "service_fields": ["update"]})
    assert site.build().returncode == 0
    service.answer = reset
    for note in ("shorter", "longer", "shorter"):
        update = ("update", "tides.md", "--note", note)
        assert site.run("mkdocs_contentgen", *update).returncode == 1
    assert site.run("mkdocs_contentgen", "generate", "--refresh").returncode == 1
    service.answer = raw(b"", 422)
    assert site.run("mkdocs_contentgen", "update", "tides.md", "--note", "longer").returncode == 1
    _, shorter, longer, again, refreshed, refused = keys(service)
    assert shorter == again
    assert longer == refused
    assert len({shorter, longer, refreshed}) == 3
    kept = stored_keys(site.root / CACHE)[ROW]
    assert sorted(kept.values()) == sorted((shorter, refreshed))
    service.violations.clear()  # the interface has no updates


def test_an_old_text_is_asked_for_with_the_same_key(site: Project, service: ServiceDouble) -> None:
    """A request due to `max_age` is repeated with its key if its outcome is unknown."""
    store = DiskStore(site.root / CACHE)
    store.save({KEY: text(days=40)})
    store.close()
    site.configure({"retries": 0, "max_age": "30d"})
    service.answer = reset
    assert site.build().returncode == 0
    service.answer = generated()
    assert site.build("--strict").returncode == 0
    lost, found = keys(service)
    assert lost == found
    assert "The old text" not in site.html("tides/index.html")


@pytest.mark.system
def test_two_machines(site: Project, service: ServiceDouble, server: RedisServer) -> None:
    """A machine that takes over the request of a killed one sends the same key."""
    site.environment["CACHE_URL"] = server.url
    site.configure({"cache_url": Variable("CACHE_URL")})
    other = Project(site.root / "other", site.environment)
    shutil.copytree(site.root / "docs", other.root / "docs")
    shutil.copy(site.root / "mkdocs.yml", other.root)
    service.answer = silence
    build = site.start("mkdocs", "build")
    wait_until(lambda: service.received)
    build.kill()
    build.wait()
    admin = server.admin()
    assert admin.hgetall(REDIS_ROW) == {b"generate": keys(service)[0].encode()}
    admin.delete(f"contentgen:claim:{KEY}")
    service.answer = generated()
    assert other.build("--strict").returncode == 0
    killed, found = keys(service)
    assert killed == found
    assert admin.keys("contentgen:idempotency:*") == []


def test_keys_are_no_texts(site: Project, service: ServiceDouble) -> None:
    """`status` and `prune` count texts alone, and a text that is dropped takes its key along."""
    service.answer = reset
    assert site.build().returncode == 1
    listed = json.loads(site.run("mkdocs_contentgen", "status", "--json").stdout)
    assert [article["state"] for article in listed] == ["missing"]
    assert "texts dropped: 0" in site.run("mkdocs_contentgen", "prune").stdout
    store = DiskStore(site.root / CACHE)
    store.save({OTHER: text()})
    store.claim({OTHER: "generate"}, "me")
    store.close()
    assert "texts dropped: 1" in site.run("mkdocs_contentgen", "prune").stdout
    assert stored_keys(site.root / CACHE).keys() == {ROW}


# --- stores --------------------------------------------------------------------------------------


Make = Callable[[], SharedStore | DiskStore]


@pytest.fixture(params=["disk", pytest.param("redis", marks=pytest.mark.system)])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Return what makes a store: all on one directory, or each on its own with one Redis."""
    stores: list[SharedStore | DiskStore] = []

    def make() -> SharedStore | DiskStore:
        if request.param == "disk":
            stores.append(DiskStore(tmp_path))
        else:
            url = request.getfixturevalue("server").url
            stores.append(SharedStore(tmp_path / str(len(stores)), url))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def test_a_claim_has_a_key(make: Make) -> None:
    """Every request has a key of its own, which renewing or releasing its claim does not change."""
    one, two = make(), make()
    claimed = one.claim(dict.fromkeys([KEY, OTHER], "generate"), "one")
    assert len(set(claimed.values())) == 2
    assert one.claim(dict.fromkeys([KEY, OTHER], "generate"), "one") == claimed
    assert two.claim({KEY: "generate"}, "two") == {}
    one.release(dict.fromkeys([KEY, OTHER], "generate"), "one")
    assert two.claim(dict.fromkeys([KEY, OTHER], "generate"), "two") == claimed


def test_what_ends_a_key(make: Make) -> None:
    """A text, and an answer that is none, end a key; but an answer to its owner only."""
    store = make()
    ends: list[Callable[[], None]] = [
        lambda: store.save({KEY: text()}),
        lambda: store.release({KEY: "generate"}, "me", answered=True),
    ]
    for end in ends:
        before = store.claim({KEY: "generate"}, "me")
        end()
        assert store.claim({KEY: "generate"}, "me") != before
    before = store.claim({KEY: "generate"}, "me")
    store.release({KEY: "generate"}, "you", answered=True)
    assert store.claim({KEY: "generate"}, "me") == before


def test_operations_have_keys_of_their_own(make: Make) -> None:
    """An answer to one operation ends its key only, and a text ends all keys of its request."""
    store = make()
    new, update = {KEY: "generate"}, {KEY: "update-text 1"}
    first, second = store.claim(new, "me"), store.claim(update, "me")
    assert first != second
    store.release(update, "me", answered=True)
    assert store.claim(new, "me") == first
    third = store.claim(update, "me")
    assert third != second
    store.save({KEY: text()})
    assert store.claim(new, "me") != first
    assert store.claim(update, "me") != third


def test_a_refresh_keeps_its_key_until_it_is_answered(make: Make) -> None:
    """An update, an edit or an import that is saved meanwhile does not make it paid again."""
    store = make()
    refresh = {KEY: "refresh"}
    lost = store.claim(refresh, "me")
    store.save({KEY: text()}, replacing={KEY: None}, operation="update-text 1")
    store.save({KEY: text()})
    assert store.claim(refresh, "you") == lost
    store.save({KEY: text()}, operation="refresh")
    assert store.claim(refresh, "me") != lost
