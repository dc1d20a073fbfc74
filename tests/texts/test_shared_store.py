"""The cache for many machines, on a real Redis: trust, claims, loss; and builds that share it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import Project, Variable, wait_until
from msgspec.structs import replace
from redis_server import PASSWORD, QUOTED, RedisServer, redis_running
from service_double import Answer, Handler, Received, ServiceDouble, generated, listening

from mkdocs_contentgen.errors import ConfigurationError, StoreError
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.store import (
    LEASE,
    DiskStore,
    Failure,
    Parts,
    UnreadableTextError,
    row_key,
    shared,
)
from mkdocs_contentgen.texts.store.entries import encode_entry
from mkdocs_contentgen.texts.store.shared import SharedStore

in_redis = pytest.mark.system
"""Marks a test that runs a Redis of its own."""

WHEN = datetime(2026, 5, 4, 12, 30, 15, tzinfo=UTC)
REQUEST: dict[str, object] = {"type": "blog", "topic": "T"}
KEY, OTHER = "a" * 64, "b" * 64


def text(words: str = "Words") -> Text:
    """Return a text."""
    html = f"<article><h1>T</h1><p>{words}</p></article>"
    return Text(html, WHEN, REQUEST)


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """Run a Redis."""
    with redis_running() as running:
        yield running


@pytest.fixture
def machine(tmp_path: Path, server: RedisServer) -> Iterator[Callable[[str], SharedStore]]:
    """Return what makes the store of a machine, with a disk of its own."""
    stores = []

    def make(name: str) -> SharedStore:
        stores.append(SharedStore(tmp_path / name, server.url))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


Machine = Callable[[str], SharedStore]


def one_problem(problems: list[str]) -> str:
    """Return the only problem, which shows no password, on one line."""
    (problem,) = problems
    assert PASSWORD not in problem
    assert QUOTED not in problem
    assert "\n" not in problem
    return problem


# --- texts ---------------------------------------------------------------------------------------


def test_what_one_machine_keeps_another_loads(machine: Machine) -> None:
    """A text that was saved on one machine is there for all, as it was."""
    machine("a").save({KEY: text()})
    assert machine("b").load([KEY, OTHER]) == ({KEY: text()}, [])


def test_what_was_loaded_once_needs_no_redis(
    machine: Machine, server: RedisServer, tmp_path: Path
) -> None:
    """The machine's own cache stays in front: what is in it opens no connection."""
    machine("a").save({KEY: text()})
    machine("b").load([KEY])
    server.kill()
    assert machine("b").load([KEY]) == ({KEY: text()}, [])
    assert DiskStore(tmp_path / "b").load([KEY]) == ({KEY: text()}, [])


def test_what_could_not_be_read_is_sent_to_nobody(machine: Machine) -> None:
    """It is refused with the reason; cache and shared cache stay as they are, and usable."""
    store = machine("a")
    store.save({KEY: text()})
    unreadable = replace(text(), edits=Edits(confirmed=("x" * 301,)))
    for replacing in (None, {KEY: text()}):
        with pytest.raises(UnreadableTextError, match="confirmed"):
            store.save({OTHER: text(), KEY: unreadable}, replacing=replacing)
    for name in ("a", "b"):
        assert machine(name).load([KEY, OTHER], newest=True) == ({KEY: text()}, [])
    assert store.close() == []


def test_the_newest_text(machine: Machine) -> None:
    """What is too old here can have been asked for anew elsewhere."""
    machine("b").save({KEY: text("old")})
    newer = replace(text("new"), generated_at=WHEN + timedelta(days=2))
    machine("a").save({KEY: newer})
    assert machine("b").load([KEY], newest=True) == ({KEY: newer}, [])


@pytest.mark.parametrize("name", [KEY, row_key("generated", KEY)])
@pytest.mark.parametrize(
    "poison", [encode_entry(OTHER, text()).encode(), b"{}", b"\x80\x04N.", b"[" * 9999]
)
def test_an_entry_that_was_changed(
    machine: Machine, server: RedisServer, name: str, poison: bytes
) -> None:
    """It is a miss and said so; a new text can take its place."""
    server.admin().set(f"contentgen:text:{name}", poison)
    store = machine("a")
    texts, problems = store.load([name])
    assert texts == {}
    assert "was changed or damaged" in one_problem(problems)
    store.save({name: text()})
    assert machine("b").load([name]) == ({name: text()}, [])


def test_a_note_is_known_on_all_machines(
    machine: Machine, server: RedisServer, tmp_path: Path
) -> None:
    """The newest note counts on all machines, also without Redis, until there is a text."""

    def failures(store: DiskStore) -> tuple[dict[str, Failure], list[str]]:
        return store.load_notes("failed", Failure, [KEY, OTHER])

    first = Failure(REQUEST, WHEN, "first")
    second = Failure(REQUEST, WHEN, "second", "🧭" * 50_000)
    parts = Parts(REQUEST, WHEN, b"parts")
    machine("a").save_notes(KEY, {"failed": first, "parts": parts})
    assert machine("b").load_notes("parts", Parts, [KEY]) == ({KEY: parts}, [])
    machine("b").save_notes(KEY, {"failed": second, "parts": None})
    assert failures(machine("a")) == failures(machine("c")) == ({KEY: second}, [])
    assert machine("d").load_notes("parts", Parts, [KEY]) == ({}, [])
    machine("a").save({KEY: text()})
    assert failures(machine("b"))[0] == {KEY: second}  # the text comes first anyway
    assert failures(machine("d")) == ({}, [])
    server.kill()
    found, problems = failures(machine("c"))
    assert (found, "cannot be used" in one_problem(problems)) == ({KEY: second}, True)
    assert failures(DiskStore(tmp_path / "c")) == ({KEY: second}, [])


@pytest.mark.parametrize("poison", [encode_entry(KEY, text()).encode(), b"{}", b"[" * 9999])
def test_a_note_that_was_changed(machine: Machine, server: RedisServer, poison: bytes) -> None:
    """It is no note and said so; a new one can take its place."""
    server.admin().set(f"contentgen:text:{row_key('failed', KEY)}", poison)
    store = machine("a")
    failure = Failure(REQUEST, WHEN, "looped")
    notes, problems = store.load_notes("failed", Failure, [KEY])
    assert notes == {}
    assert "was changed or damaged" in one_problem(problems)
    store.save_notes(KEY, {"failed": failure})
    assert machine("b").load_notes("failed", Failure, [KEY]) == ({KEY: failure}, [])


# --- claims --------------------------------------------------------------------------------------


def test_a_claim_ends_unless_it_is_renewed(machine: Machine, server: RedisServer) -> None:
    """The claim of a machine that died is anybody's after LEASE seconds."""
    a, b = machine("a"), machine("b")
    a.claim({KEY: "generate"}, "a")
    admin = server.admin()
    left = admin.pttl(f"contentgen:claim:{KEY}")
    assert LEASE * 900 < left <= LEASE * 1000
    admin.pexpire(f"contentgen:claim:{KEY}", 100)
    assert a.claim({KEY: "generate"}, "a").keys() == {KEY}
    assert admin.pttl(f"contentgen:claim:{KEY}") > LEASE * 900
    admin.pexpire(f"contentgen:claim:{KEY}", 1)
    wait_until(lambda: not admin.exists(f"contentgen:claim:{KEY}"))
    assert b.claim({KEY: "generate"}, "b").keys() == {KEY}


# --- a shared cache that is away, full or not allowed --------------------------------------------


def test_nobody_listens(machine: Machine, server: RedisServer, tmp_path: Path) -> None:
    """Everything goes on with the machine's own cache, and it is said once."""
    server.kill()
    store = machine("a")
    texts, problems = store.load([KEY])
    assert texts == {}
    problem = one_problem(problems)
    assert f"redis://127.0.0.1:{server.port} cannot be used (Connection refused)" in problem
    assert "; this build continues with the local cache, and another machine may" in problem
    assert store.prepare() == []
    assert store.claim({KEY: "generate"}, "me").keys() == {KEY}
    other = DiskStore(tmp_path / "a")
    assert other.claim({KEY: "generate"}, "you") == {}
    other.close()
    store.save({KEY: text()})
    store.release({KEY: "generate"}, "me")
    assert store.load([KEY]) == ({KEY: text()}, [])
    assert store.close() == []


def test_what_was_written_meanwhile_is_shared(
    machine: Machine, server: RedisServer, tmp_path: Path
) -> None:
    """As soon as the server is back, other machines get the texts that were paid for."""
    outage = threading.Event()
    outage.set()
    away = SharedStore(tmp_path / "a", server.url, outage)
    failure = Failure(REQUEST, WHEN, "looped")
    away.save({KEY: text()})
    away.save_notes(OTHER, {"failed": failure, "parts": None})
    away.close()
    assert machine("b").load([KEY])[0] == {}
    assert machine("a").load([OTHER]) == ({}, [])
    assert machine("b").load([KEY]) == ({KEY: text()}, [])
    assert machine("b").load_notes("failed", Failure, [OTHER]) == ({OTHER: failure}, [])


def test_what_was_written_meanwhile_replaces_no_other_text(
    machine: Machine, server: RedisServer, tmp_path: Path
) -> None:
    """A text that another machine has shared in the meantime stays."""
    outage = threading.Event()
    outage.set()
    away = SharedStore(tmp_path / "a", server.url, outage)
    away.save({KEY: text("written while the cache was away")})
    away.close()
    newer = text("shared meanwhile")
    machine("b").save({KEY: newer})
    assert machine("a").load([OTHER]) == ({}, [])
    assert machine("c").load([KEY]) == ({KEY: newer}, [])


def test_a_server_that_hangs(
    machine: Machine, server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits long for a server that was stopped."""
    monkeypatch.setattr(shared, "ANSWER_TIMEOUT", 1)
    store = SharedStore(tmp_path / "a", server.url)
    store.prepare()
    server.process.send_signal(signal.SIGSTOP)
    store.save({KEY: text()})
    server.process.send_signal(signal.SIGCONT)
    assert "(TimeoutError)" in one_problem(store.close())
    assert machine("a").load([KEY]) == ({KEY: text()}, [])


@in_redis
def test_a_server_that_is_full(tmp_path: Path) -> None:
    """A full server drops nothing; the text is kept here, and it is said once."""
    with redis_running("--maxmemory", "3mb", "--maxmemory-policy", "noeviction") as server:
        store = SharedStore(tmp_path / "a", server.url)
        assert store.prepare() == []
        texts = {f"{number:064}": text("x" * 100_000) for number in range(60)}
        for key, value in texts.items():
            store.save({key: value})
        assert "cannot be used (OutOfMemoryError)" in one_problem(store.close())
        assert DiskStore(tmp_path / "a").load(texts)[0] == texts
        other = SharedStore(tmp_path / "b", server.url)
        kept, problems = other.load(texts)
        other.close()
        assert 0 < len(kept) < 60
        assert problems == []


@in_redis
@pytest.mark.parametrize("password", ["", ":wr0ng-s3cret@"])
def test_a_wrong_password(tmp_path: Path, server: RedisServer, password: str) -> None:
    """Also where none is given, it is named as the reason, and not shown."""
    store = SharedStore(tmp_path, f"redis://{password}127.0.0.1:{server.port}")
    problem = one_problem(store.load([KEY])[1])
    assert "(AuthenticationError)" in problem
    assert "wr0ng" not in problem
    store.close()


@in_redis
def test_a_machine_that_can_write_nothing(tmp_path: Path, server: RedisServer) -> None:
    """Where its directory cannot be used, texts are kept in the shared cache, and it is said."""
    (tmp_path / "file").write_text("x")
    store = SharedStore(tmp_path / "file/below", server.url)
    assert "kept in the shared cache" in one_problem(store.prepare())
    store.save({KEY: text()})
    assert "kept in the shared cache" in one_problem(store.close())
    other = SharedStore(tmp_path / "b", server.url)
    assert other.load([KEY]) == ({KEY: text()}, [])
    other.close()
    server.kill()
    store = SharedStore(tmp_path / "file/below", server.url)
    with pytest.raises(StoreError):
        store.prepare()
    store.close()


@in_redis
def test_tls(tmp_path: Path, certificate: Path) -> None:
    """With `rediss://`, the server's certificate is checked."""
    with redis_running(certificate=certificate) as server:
        url = server.url.replace("redis://", "rediss://")
        store = SharedStore(tmp_path / "a", url)
        assert "CERTIFICATE" in one_problem(store.load([KEY])[1]).upper()
        store.close()
        store = SharedStore(tmp_path / "a", f"{url}?ssl_ca_certs={certificate}")
        store.save({KEY: text()})
        assert store.close() == []
        store = SharedStore(tmp_path / "b", f"valkeys{url[6:]}?ssl_ca_certs={certificate}")
        assert store.load([KEY]) == ({KEY: text()}, [])
        store.close()


@pytest.mark.parametrize(
    "address",
    [
        "redis://:s3cret@127.0.0.1:1?colour=blue",
        "redis://:s3cret@127.0.0.1:1?socket_timeout=abc",
        "redis://:s3cret@127.0.0.1:1?db=x",
        "redis://:s3cret@127.0.0.1:1?protocol=9",
        "redis://:s3cret@127.0.0.1:1?credential_provider=s3cret",
        "redis://:s3cret@127.0.0.1:1?maint_notifications_config=1",
        "rediss://:s3cret@127.0.0.1:1?ssl_cert_reqs=s3cret",
    ],
)
def test_an_option_that_redis_does_not_know(tmp_path: Path, address: str) -> None:
    """An option or a value that redis-py refuses, however it does, is one line, and not shown."""
    store = SharedStore(tmp_path, address)
    with pytest.raises(ConfigurationError, match=r"^cache_url: the package redis") as caught:
        store.load([KEY])
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))
    assert "\n" not in str(caught.value)


def test_without_the_package(tmp_path: Path) -> None:
    """The error says what to install; a machine that lacks nothing does not need it."""
    code = (
        "import sys; sys.modules['redis'] = None\n"
        "from pathlib import Path\n"
        "from mkdocs_contentgen.errors import ConfigurationError\n"
        "from mkdocs_contentgen import DiskStore, SharedStore\n"
        "store = SharedStore(Path(sys.argv[1]), 'redis://127.0.0.1')\n"
        "try: store.load(['k'])\n"
        "except ConfigurationError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert "cache_url: needs the package redis; install it with: pip install" in ran.stdout
    assert ran.stderr == ""


# --- builds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"HTTP/1.1 400 Bad Request\r\n\r\n", "(InvalidResponse)"), (b"", "(ConnectionError)")],
)
def test_another_server(tmp_path: Path, data: bytes, reason: str) -> None:
    """With the address of another server, a build goes on with the machine's own cache."""

    def talk(connection: socket.socket) -> None:
        connection.recv(100_000)
        connection.sendall(data)

    with listening(talk) as address:
        store = SharedStore(tmp_path, f"redis://{address}")
        assert reason in one_problem(store.load([KEY])[1])
        store.save({KEY: text()})
        assert store.load([KEY]) == ({KEY: text()}, [])
        assert store.close() == []


def test_a_build_asks_once(project: Project, service: ServiceDouble) -> None:
    """A build looks up texts and generates them, and says once that nobody listens."""
    project.page("index.md", {"type": "blog", "topic": "T"})
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        project.configure({"cache_url": f"redis://127.0.0.1:{unused.getsockname()[1]}"})
        built = project.build()
    assert built.returncode == 0, built.stdout
    assert built.stdout.count("cannot be used (") == 1
    assert service.topics == ["T"]


@pytest.fixture
def machines(project: Project, server: RedisServer) -> list[Project]:
    """Return three checkouts of one site with 12 pages, each with a cache of its own."""
    for number in range(12):
        project.page(f"t{number}.md", {"type": "blog", "topic": f"T{number}"})
    project.environment["CACHE_URL"] = server.url
    project.configure({"cache_url": Variable("CACHE_URL"), "concurrency": 2})
    checkouts = []
    for name in "abc":
        root = project.root / name
        root.mkdir()
        shutil.copytree(project.root / "docs", root / "docs")
        shutil.copy(project.root / "mkdocs.yml", root)
        checkouts.append(Project(root, project.environment))
    return checkouts


TOPICS = sorted(f"T{number}" for number in range(12))


def warnings_in(output: str) -> list[str]:
    """Return the lines of MkDocs' output that count for `--strict`."""
    return [line for line in output.splitlines() if line.startswith(("WARNING", "ERROR"))]


def first_together(service: ServiceDouble, number: int) -> Answer:
    """Return what answers the first requests when so many have come, and then each at once."""

    def answer(request: Received, handler: Handler) -> None:
        wait_until(lambda: len(service.received) >= number, 50)
        generated()(request, handler)

    return answer


def test_three_machines_share_the_work(machines: list[Project], service: ServiceDouble) -> None:
    """Each text is paid for once, each machine asks for some, and all get all."""
    service.answer = first_together(service, 6)
    builds = [machine.start("mkdocs", "build", "--strict") for machine in machines]
    assert [build.wait(300) for build in builds] == [0, 0, 0], machines[0].output
    assert sorted(service.topics) == TOPICS
    for machine in machines:
        assert machine.cached() == set(TOPICS)
        assert re.search(r"[1-9][0-9]* from the cache, [1-9][0-9]* generated", machine.output)
    assert machines[0].html("t3/index.html") == machines[2].html("t3/index.html")


def test_killed_machines_lose_nothing(
    machines: list[Project], service: ServiceDouble, server: RedisServer
) -> None:
    """What was answered is in the cache of all, whoever was killed and when."""
    service.answer = generated(delay=0.4)
    builds = [machine.start("mkdocs", "build") for machine in machines]
    wait_until(lambda: len(server.admin().keys("contentgen:text:*")) >= 4)
    for build in builds[:2]:
        build.kill()
    kept = [
        json.loads(entry or b"")["record"]["request"]["topic"]
        for entry in server.admin().mget(server.admin().keys("contentgen:text:*"))
    ]
    assert builds[2].wait(300) == 0, machines[2].output
    assert machines[2].cached() == set(TOPICS)
    assert [service.topics.count(topic) for topic in kept] == [1] * len(kept) != []
    for build in builds:
        build.wait()


def test_redis_dies_in_the_middle(
    machines: list[Project], service: ServiceDouble, server: RedisServer
) -> None:
    """One warning, all texts are kept here, and the next build needs neither."""
    is_dead = threading.Event()

    def answer(request: Received, handler: Handler) -> None:
        if request.number > 2:
            is_dead.wait(60)
        generated()(request, handler)

    service.answer = answer
    build = machines[0].start("mkdocs", "build")
    wait_until(lambda: len(service.received) >= 4)
    server.kill()
    is_dead.set()
    assert build.wait(300) == 0
    (warning,) = warnings_in(machines[0].output)
    assert f"the shared cache redis://127.0.0.1:{server.port} cannot be used" in warning
    assert PASSWORD not in machines[0].output
    assert QUOTED not in machines[0].output
    assert machines[0].cached() == set(TOPICS)
    assert sorted(service.topics) == TOPICS
    built = machines[0].build("--strict")
    assert built.returncode == 0, built.stdout
    assert len(service.received) == 12


def test_prune_leaves_the_shared_cache_alone(machines: list[Project], server: RedisServer) -> None:
    """Another branch or site may ask for what this one does not."""
    a, _, _ = machines
    assert a.run("mkdocs_contentgen", "generate", "t0.md").returncode == 0
    a.page("t0.md", {"type": "blog", "topic": "Another"})
    assert "texts dropped: 1" in a.run("mkdocs_contentgen", "prune").stdout
    assert a.cached() == set()
    assert len(server.admin().keys("contentgen:text:*")) == 1


@pytest.mark.parametrize(
    "value", ["http://:s3cret@host", "redis://", "redis://:s3cret@host:port", ["s3cret"], "s3cret"]
)
def test_an_address_that_is_none(project: Project, value: object) -> None:
    """What cannot be an address is refused and not shown, since it may hold a password."""
    project.configure({"cache_url": value})
    built = project.built(code=1)
    assert "cache_url" in built
    assert "s3cret" not in built
    assert "Traceback" not in built
