"""A model writes each text once, whatever is killed or cut meanwhile: with real processes."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import cast

import pytest
from conftest import Project, wait_until
from mkdocs_contentgen.writer.ledger.protocol import GRACE
from model_double import Call, ModelHandler, completion, running_model
from model_writer import write
from redis_server import redis_running
from service_double import Handler, Received, Server, environment, listening, reset
from writer_server import add_user, configure, run

from mkdocs_contentgen.writer.server.jobs import RETRY_AFTER

pytestmark = pytest.mark.system

START = 0.5
"""Seconds in which a program begins to work on a machine that has nothing else to do."""

PATIENCE = 400
"""Seconds after which a run that is not complete has failed."""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def accepts(port: int) -> bool:
    """Tell whether somebody listens on a port."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


# --- services that are killed --------------------------------------------------------------------


@dataclass
class Life:
    """One process of a service, from its start to its end."""

    process: subprocess.Popen[bytes]
    output: Path
    killed_at: float | None = None


class Service:
    """A program that a supervisor starts again whenever it ends."""

    def __init__(
        self, name: str, port: int, directory: Path, command: Sequence[str], chance: random.Random
    ) -> None:
        self.name = name
        self.port = port
        self.lives: list[Life] = []
        self.absence = 0.0
        """The seconds for which the program stays away after its next end."""

        self._directory = directory
        self._command = command
        self._chance = chance
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._supervise, daemon=True)

    def __enter__(self) -> Service:
        self._thread.start()
        wait_until(lambda: accepts(self.port), 60)
        return self

    def __exit__(self, *error: object) -> None:
        """End the program as an operator does."""
        self._is_over.set()
        self._thread.join()
        process = self.lives[-1].process
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
        process.wait()

    @property
    def kills(self) -> int:
        """The number of processes that were killed."""
        return sum(life.killed_at is not None for life in self.lives)

    def kill(self) -> None:
        """End the process, if it runs and has begun to listen."""
        life = self.lives[-1]
        if life.process.poll() is None and accepts(self.port):
            life.process.kill()
            life.killed_at = time.monotonic()
            life.process.wait()

    def _supervise(self) -> None:
        while not self._is_over.is_set():
            key = f"{self.name}-{len(self.lives)}"
            output = self._directory / f"{key}.log"
            with output.open("wb") as file:
                process = subprocess.Popen(
                    self._command,
                    cwd=self._directory,
                    # So the model knows which process asks it.
                    env={**environment(), "CONTENTGEN_MODEL_KEY": key},
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                )
            self.lives.append(Life(process, output))
            while process.poll() is None and not self._is_over.wait(0.05):
                pass
            self._is_over.wait(self.absence or self._chance.uniform(0.1, 1))
            self.absence = 0.0


# --- the model -----------------------------------------------------------------------------------


@dataclass
class Writing:
    """A call of the model. `process` names the one that asked."""

    number: int
    topic: str
    process: str
    answered_at: float | None = None


@dataclass
class Author:
    """Writes a text in 20 to 200 ms, never the same twice, and notes each."""

    chance: random.Random
    calls: list[Writing] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, call: Call, handler: ModelHandler) -> None:
        """Answer a call."""
        messages = call.body["messages"]
        found = re.search("Topic: (.*)\n", messages[1]["content"])
        assert found
        process = call.headers["authorization"].removeprefix("Bearer ")
        with self.lock:
            writing = Writing(len(self.calls) + 1, found[1], process)
            self.calls.append(writing)
        time.sleep(self.chance.uniform(0.02, 0.2))
        text = f"{write(messages)} This is copy number{writing.number}x."
        usage = {"prompt_tokens": 1000, "completion_tokens": 100}
        handler.send(completion(text, usage=usage))
        writing.answered_at = time.monotonic()


# --- the network between builds and writers ------------------------------------------------------

NO_REQUEST = Received(0, "", "", [], {}, {})
CUTS = ("before the request", "after the request", "within the answer", "instead of the answer")


@dataclass(frozen=True)
class Sent:
    """A request on its way to a writer."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answered:
    """What a writer answered, or the proxy for it."""

    status: int
    content: bytes = b""
    retry_after: str | None = None


@dataclass
class Network:
    """A proxy in front of the writers. While `is_bad`, it cuts connections and repeats requests."""

    writers: Sequence[Service]
    chance: random.Random
    is_bad: bool = False
    url: str = ""
    cuts: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    topics: dict[str, str] = field(default_factory=dict)
    """The topics of requests, by the start of the SHA-256 of their Idempotency-Key."""

    requests: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def forward(self, handler: Handler, body: bytes) -> None:
        """Deal with one request."""
        key = sha256(handler.headers["Idempotency-Key"].encode()).hexdigest()[:12]
        headers = {name: value for name, value in handler.headers.items() if name != "Host"}
        sent = Sent(handler.path, headers, body)
        with self.lock:
            self.topics[key] = json.loads(body)["topic"]
            self.requests += 1
            cut = self.chance.choice(CUTS) if self._happens(0.3) else ""
        if cut == CUTS[0]:
            self._cut(cut, handler)
        elif cut == CUTS[1]:
            self._ask(sent, leaves=True)
            self._cut(cut, handler)
        else:
            answer = self._ask_again(sent)
            if cut and answer.status == 200:
                if cut == CUTS[2]:
                    self._answer(handler, answer, len(answer.content) // 2)
                    time.sleep(0.01)
                self._cut(cut, handler)
            else:
                self._answer(handler, answer, len(answer.content))

    def _happens(self, probability: float) -> bool:
        return self.is_bad and self.chance.random() < probability

    def _ask_again(self, sent: Sent) -> Answered:
        """Ask a writer, and sometimes another one as well, or again where nothing was written."""
        if self._happens(0.25):
            self.repeated += 1
            threading.Thread(target=self._ask_until_written, args=(sent,), daemon=True).start()
        return self._ask_until_written(sent) if self._happens(0.7) else self._ask(sent)

    def _ask_until_written(self, sent: Sent) -> Answered:
        answer = self._ask(sent)
        while answer.status in (502, 503) and self.is_bad:
            time.sleep(self.chance.uniform(0.1, 0.5))
            answer = self._ask(sent)
        return answer

    def _ask(self, sent: Sent, *, leaves: bool = False) -> Answered:
        """Ask one of the writers, and hang up without an answer if it `leaves`."""
        for writer in self.chance.sample(self.writers, len(self.writers)):
            connection = http.client.HTTPConnection("127.0.0.1", writer.port, timeout=60)
            with closing(connection):
                try:
                    connection.connect()
                except OSError:
                    continue
                try:
                    connection.request("POST", sent.path, sent.body, sent.headers)
                    if leaves:
                        time.sleep(self.chance.uniform(0, 0.3))
                        break
                    answer = connection.getresponse()
                    return Answered(answer.status, answer.read(), answer.headers["Retry-After"])
                except (OSError, http.client.HTTPException):  # the writer was killed
                    return Answered(502)
        return Answered(503, retry_after="1")

    def _answer(self, handler: Handler, answer: Answered, size: int) -> None:
        handler.send_response(answer.status)
        if answer.retry_after:
            handler.send_header("Retry-After", answer.retry_after)
        handler.send_header("Content-Length", str(len(answer.content)))
        handler.end_headers()
        handler.wfile.write(answer.content[:size])
        handler.wfile.flush()

    def _cut(self, cut: str, handler: Handler) -> None:
        with self.lock:
            self.cuts[cut] += 1
        reset(NO_REQUEST, handler)


class ProxyHandler(Handler):
    """Gives each request to the network."""

    def do_POST(self) -> None:  # noqa: N802  http.server's name
        """Handle a request."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True
        with suppress(ConnectionError):  # the build was killed
            cast("ProxyServer", self.server).network.forward(self, body)


class ProxyServer(Server):
    """Carries the network to its handlers."""

    network: Network


@contextmanager
def forwarding(network: Network) -> Iterator[None]:
    """Serve a proxy until the block ends."""
    with ProxyServer(("127.0.0.1", 0), ProxyHandler) as server:
        server.network = network
        network.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


@dataclass
class Relay:
    """Connections to a Redis that are cut at random while `is_bad`, wherever they are."""

    port: int
    chance: random.Random
    is_bad: bool = False
    cuts: int = 0

    def talk(self, client: socket.socket) -> None:
        """Deal with one connection."""
        with socket.create_connection(("127.0.0.1", self.port)) as server:
            peers = {client: server, server: client}
            while True:
                for source in select.select(list(peers), [], [])[0]:
                    data = source.recv(2**16)
                    is_cut = self.is_bad and self.chance.random() < 0.04
                    part = self.chance.choice((0, len(data) // 2, len(data)))
                    peers[source].sendall(data[:part] if is_cut else data)
                    self.cuts += is_cut
                    if is_cut or not data:
                        return


# --- the sites -----------------------------------------------------------------------------------


@dataclass
class Site:
    """A site that is built again and again, until a build has all its texts."""

    project: Project
    topics: Sequence[str]
    chance: random.Random
    builds: int = 0
    kills: int = 0
    is_complete: bool = False

    def build_until_complete(self, chaos: Chaos) -> None:
        """Build, and kill some of the builds while there is chaos."""
        while not self.is_complete and chaos.left > 0:
            self.builds += 1
            process = self.project.start("mkdocs", "build", "--quiet")
            if chaos.is_on and (self.kills < 2 or self.chance.random() < 0.8):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(chaos.slowness * self.chance.uniform(0.7, 4))
                if process.poll() is None and chaos.is_on:
                    process.kill()
                    process.wait()
                    self.kills += 1
                    self.project.end_claims()
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(1, chaos.left))
            process.kill()
            self.is_complete = process.wait() == 0

    def copies(self) -> dict[str, int]:
        """Return the numbers of the copies that the pages show, by topic."""
        found = {}
        for topic in self.topics:
            soup = self.project.soup(f"{topic.lower()}/index.html")
            assert [heading.get_text() for heading in soup.select("h1")] == [topic]
            (article,) = soup.select("article")
            copy = re.search(r"copy number(\d+)x", article.get_text())
            assert copy, topic
            found[topic] = int(copy[1])
        return found


def make_site(
    directory: Path, topics: Sequence[str], chance: random.Random, **options: object
) -> Site:
    """Return a site with a page for each topic."""
    project = Project(directory, {**environment(), "NO_MKDOCS_2_WARNING": "1"})
    for topic in topics:
        request = {"type": "blog", "topic": topic, "length": "short"}
        project.page(f"{topic.lower()}.md", request)
    project.write("theme/main.html", "<title>x</title>{{ page.content }}")
    plain = {"theme": {"name": None, "custom_dir": "theme"}}
    project.configure({"max_requests": 10_000, "timeout": 20, **options}, **plain)
    return Site(project, topics, random.Random(chance.random()))


# --- chaos ---------------------------------------------------------------------------------------


class Chaos:
    """Kills services at random moments, from `start` to `stop`."""

    def __init__(self) -> None:
        self.is_on = False
        self.slowness = 1.0
        """How many times longer than START a program took to begin to work."""

        self._started = time.monotonic()
        self._threads: list[threading.Thread] = []
        self._is_over = threading.Event()

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return time.monotonic() - self._started

    @property
    def left(self) -> float:
        """The seconds for which it is worth to wait."""
        return PATIENCE - self.seconds

    def start(
        self, kills: Mapping[tuple[float, float], Sequence[Service]], chance: random.Random
    ) -> None:
        """Kill one of some services, after each time between two numbers of seconds."""
        for pause, services in kills.items():
            thread = threading.Thread(
                target=self._kill, args=(pause, services, chance), daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Kill nothing from now on."""
        self.is_on = False
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _kill(
        self, pause: tuple[float, float], services: Sequence[Service], chance: random.Random
    ) -> None:
        while not self._is_over.wait(self.slowness * chance.uniform(*pause)):
            chance.choice(services).kill()


@dataclass
class Proof:
    """What a run with chaos has left."""

    directory: Path
    author: Author
    network: Network
    relay: Relay
    writers: Sequence[Service]
    redis: Service | None
    sites: Sequence[Site]

    @property
    def is_enough(self) -> bool:
        """Tell whether each kind of accident has happened, and during most of the texts.

        For each hundred texts, there is at least one of each kind.
        """
        cuts = [self.network.cuts[cut] for cut in CUTS]
        accidents = [self.network.repeated, *cuts, *([self.relay.cuts] if self.redis else [])]
        is_late = len(self.author.calls) > len(self.topics) / 2
        least = len(self.topics) // 100
        return is_late and min(self.kills.values()) >= 2 and min(accidents) >= least

    @property
    def services(self) -> list[Service]:
        """All services that were killed."""
        return [*self.writers, *([self.redis] if self.redis else [])]

    @property
    def kills(self) -> dict[str, int]:
        """How often each service was killed, and how often a build."""
        kills = {service.name: service.kills for service in self.services}
        return {**kills, "builds": sum(site.kills for site in self.sites)}

    @property
    def topics(self) -> set[str]:
        """The topics of all pages."""
        return {topic for site in self.sites for topic in site.topics}

    def kept(self) -> set[tuple[str, str]]:
        """Return process and topic of each text that the log of a writer says is kept."""
        found = set()
        for writer in self.writers:
            for life in writer.lives:
                for line in life.output.read_text().splitlines():
                    with suppress(ValueError):  # what it says on stderr, or a killed line
                        record = json.loads(line)
                        if record.get("outcome") in ("written", "joined"):
                            found.add((life.output.stem, self.network.topics[record["key"]]))
        return found

    def lost(self) -> list[Writing]:
        """Return the calls whose writer was killed before it had kept the text."""
        kept = self.kept()
        ends = {life.output.stem: life.killed_at for each in self.writers for life in each.lives}
        lost = [call for call in self.author.calls if (call.process, call.topic) not in kept]
        for call in lost:
            end = ends[call.process]
            assert end is not None, f"not kept, though its writer was not killed: {call}"
            # A text waits while Redis is away.
            assert end - (call.answered_at or end) < 2 * GRACE, f"not kept for long: {call}"
        return lost

    def check(self, seconds: float) -> None:
        """Check that each text was written once, charged once, and is on its pages."""
        calls: defaultdict[str, list[Writing]] = defaultdict(list)
        for call in self.author.calls:
            calls[call.topic].append(call)
        lost = self.lost()
        self.report(lost, seconds)
        for topic in self.topics:
            sure = [call for call in calls[topic] if call not in lost]
            assert len(sure) <= 1, f"written twice: {calls[topic]}, lost: {lost}"
            assert calls[topic], topic
        assert calls.keys() == set(self.topics)
        self.check_pages(calls)
        self.check_usage()
        self.check_output()

    def report(self, lost: Sequence[Writing], seconds: float) -> None:
        """Print what happened."""
        unanswered = sum(call.answered_at is None for call in lost)
        print(
            f"{seconds:.0f} s; {len(self.topics)} texts; {len(self.author.calls)} calls; "
            f"{len(self.author.calls) - len(self.topics)} repeated, of {len(lost)} whose writer "
            f"was killed ({unanswered} within the call); "
            f"{self.network.requests} requests, "
            f"{self.network.repeated} sent twice; kills: {self.kills} in "
            f"{sum(site.builds for site in self.sites)} builds; cuts: {dict(self.network.cuts)}, "
            f"{self.relay.cuts} of the ledger"
        )

    def check_pages(self, calls: Mapping[str, Sequence[Writing]]) -> None:
        """Check that all pages with a topic have the same text for it, which was written for it."""
        copies: dict[str, int] = {}
        for site in self.sites:
            assert site.is_complete, site.project.output[-2000:]
            for topic, number in site.copies().items():
                assert number in {call.number for call in calls[topic]}
                assert copies.setdefault(topic, number) == number

    def check_usage(self) -> None:
        """Check that each text was charged once."""
        ran = run(self.directory, "usage", "--json")
        assert ran.exit_code == 0, ran.output
        (row,) = json.loads(ran.stdout)
        texts = len(self.topics)
        assert (row["texts"], row["failed"], row["calls"]) == (texts, 0, texts)

    def check_output(self) -> None:
        """Check that nothing has failed in another way than it should."""
        outputs = [life.output.read_text() for service in self.services for life in service.lives]
        for output in (*outputs, *(site.project.output for site in self.sites)):
            assert "Traceback" not in output, output


def redis_service(directory: Path, chance: random.Random) -> Service:
    """Return a Redis that forgets nothing that it has confirmed."""
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server")
    directory.mkdir()
    port = free_port()
    listen = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", ""]
    command = [*listen, "--appendonly", "yes", "--appendfsync", "always"]
    return Service("redis", port, directory, command, chance)


def writer_service(name: str, directory: Path, chance: random.Random) -> Service:
    """Return a served writer."""
    port = free_port()
    command = [sys.executable, "-m", "mkdocs_contentgen", "writer", "serve", "--port", str(port)]
    return Service(name, port, directory, command, chance)


def seeded() -> random.Random:
    """Return the source of a run's accidents, which a variable of the environment can repeat."""
    seed = os.environ.get("CHAOS_SEED") or str(random.randrange(10**6))
    print(f"CHAOS_SEED={seed}")
    return random.Random(seed)


def prove(
    directory: Path,
    writers: Sequence[Service],
    sites: Sequence[Site],
    chance: random.Random,
    *,
    redis: Service | None = None,
    seconds: float,
) -> None:
    """Build sites with chaos for some seconds at least, then without until all texts are there."""
    author, network, chaos = Author(chance), Network(writers, chance), Chaos()
    relay = Relay(redis.port if redis else 0, chance)
    proof = Proof(directory, author, network, relay, writers, redis, sites)
    with ExitStack() as stack:
        model = stack.enter_context(running_model())
        model.answer = author
        limits = {"requests_per_minute": 100_000, "parallel": 1000}
        ledger = {}
        if redis:
            stack.enter_context(redis)
            ledger = {"ledger": f"redis://{stack.enter_context(listening(relay.talk))}/0"}
        configure(directory, model.endpoint, limits=limits, queue=1000, parallel=2, **ledger)
        token = add_user(directory)
        started = chaos.seconds
        users = ("writer", "user", "list", "--config", str(directory / "writer.yml"))
        sites[0].project.run_process("mkdocs_contentgen", *users)
        chaos.slowness = max(1, (chaos.seconds - started) / START)
        with forwarding(network), ExitStack() as serving:
            for writer in writers:
                serving.enter_context(writer)
            builders = [
                threading.Thread(target=site.build_until_complete, args=(chaos,), daemon=True)
                for site in sites
            ]
            for site, builder in zip(sites, builders, strict=True):
                names = {"BASE_URL": network.url, "USER_ID": "alice", "TOKEN": token}
                site.project.environment |= {f"CONTENTGEN_{name}": names[name] for name in names}
                builder.start()
            chaos.is_on = network.is_bad = relay.is_bad = True
            if redis:
                # Longer than the writers tell their clients to wait.
                wait_until(lambda: len(author.calls) > 50, 60)
                redis.absence = RETRY_AFTER + 2
                redis.kill()
                wait_until(lambda: redis.absence == 0, 60)
            stack.callback(chaos.stop)
            chaos.start({(1, 4): writers, **({(2, 7): [redis]} if redis else {})}, chance)
            until = chaos.seconds + seconds
            wait_until(
                lambda: (
                    chaos.left <= 0
                    or (chaos.seconds > until and proof.is_enough)
                    or not any(builder.is_alive() for builder in builders)
                ),
                float("inf"),
            )
            chaos.stop()
            network.is_bad = relay.is_bad = False
            print(f"chaos ended after {chaos.seconds:.0f} s, {len(author.calls)} calls")
            for builder in builders:
                builder.join()
        proof.check(chaos.seconds)
        assert proof.is_enough, (proof.kills, network.cuts, network.repeated, len(author.calls))


def test_redis(tmp_path: Path) -> None:
    """Two writers with a ledger in Redis write 500 texts once, for five sites."""
    chance = seeded()
    directory = tmp_path / "writer"
    directory.mkdir()
    topics = [f"Topic{number}" for number in range(500)]
    with redis_running() as cache:
        sites = [
            *(make_site(tmp_path / str(i), topics[i : i + 100], chance) for i in (0, 100, 200)),
            # Two machines with a cache in another Redis, and pages that both have.
            make_site(tmp_path / "east", topics[300:440], chance, cache_url=cache.url),
            make_site(tmp_path / "west", topics[360:], chance, cache_url=cache.url),
        ]
        redis = redis_service(tmp_path / "redis", chance)
        writers = [writer_service(name, directory, chance) for name in ("first", "second")]
        prove(directory, writers, sites, chance, redis=redis, seconds=25)


def test_sqlite(tmp_path: Path) -> None:
    """A writer with a ledger in a file writes 200 texts once, for two sites."""
    chance = seeded()
    directory = tmp_path / "writer"
    directory.mkdir()
    topics = [f"Topic{number}" for number in range(200)]
    sites = [
        make_site(tmp_path / "east", topics[:100], chance),
        make_site(tmp_path / "west", topics[100:], chance),
    ]
    writers = [writer_service("writer", directory, chance)]
    prove(directory, writers, sites, chance, seconds=12)
