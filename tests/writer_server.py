"""A served writer, in the process of the test without sockets, or as a process of its own."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import yaml
from anyio.from_thread import BlockingPortal, start_blocking_portal
from click.testing import CliRunner, Result
from conftest import wait_until
from ledger_calls import put_user
from programs import Program, start
from service_double import environment

from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.served.app import Server
from mkdocs_contentgen.served.configuration import load_server_configuration
from mkdocs_contentgen.served.ledger import Ledger, open_ledger


def configure(directory: Path, endpoint: str, **options: object) -> Path:
    """Write `writer.yml` for a model server."""
    fields = {"model": "double", "endpoint": endpoint, **options}
    path = directory / "writer.yml"
    path.write_text(yaml.safe_dump(fields), encoding="utf-8")
    return path


def run(directory: Path, *arguments: str) -> Result:
    """Run `contentgen writer` with the `writer.yml` of a directory."""
    unset = {name: None for name in os.environ if name.startswith("CONTENTGEN_")}
    command = ["writer", *arguments, "--config", str(directory / "writer.yml")]
    return CliRunner(env=unset).invoke(main, command)


def add_user(directory: Path, name: str = "alice") -> str:
    """Add a user, and return the token."""
    ran = run(directory, "user", "add", name)
    assert ran.exit_code == 0, ran.output
    return ran.stdout.strip()


def encode(
    token: str,
    topic: str = "Bees",
    operation: str = "generate-blog",
    *,
    key: str | None = None,
    user: str = "alice",
    length: str = "short",
    **headers: str,
) -> tuple[str, dict[str, str], str]:
    """Return the path, the headers and the body of a request."""
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {token}",
        **({} if key is None else {"Idempotency-Key": key}),
        **headers,
    }
    body = json.dumps({"topic": topic, "length": length})
    return f"/{operation}?{urlencode({'user_id': user})}", headers, body


# --- In the process of the test -------------------------------------------------------------------


@dataclass
class ServedWriter:
    """A server that takes requests, with its log. Its user is `alice`."""

    directory: Path
    server: Server
    log: list[dict[str, Any]]
    portal: BlockingPortal
    client: httpx.AsyncClient
    token: str = field(repr=False)

    def begin(
        self, *request: str, token: str | None = None, **options: str
    ) -> Future[httpx.Response]:
        """Send a request, and return its answer to come. A client goes away by cancelling that."""
        sent = encode(token or self.token, *request, **options)
        return self.portal.start_task_soon(self._post, *sent)

    def ask(self, *request: str, **options: str) -> httpx.Response:
        """Send a request, and wait for its answer."""
        return self.begin(*request, **options).result(60)

    def begin_for_text(
        self, operation: str, body: Mapping[str, object], key: str = "k"
    ) -> Future[httpx.Response]:
        """Send an update or a translation, and return its answer to come."""
        path, headers, _ = encode(self.token, operation=operation, key=key)
        return self.portal.start_task_soon(self._post, path, headers, json.dumps(body))

    @property
    def warnings(self) -> list[str]:
        """The warnings in the log."""
        return [record["warning"] for record in self.log if "warning" in record]

    def get(self, path: str) -> httpx.Response:
        """Get a page that needs no token."""
        return self.portal.call(self.client.get, path)

    async def _post(self, path: str, headers: dict[str, str], body: str) -> httpx.Response:
        return await self.client.post(path, headers=headers, content=body)


@contextmanager
def serving(directory: Path, *, ledger: Ledger | None = None) -> Iterator[ServedWriter]:
    """Serve the `writer.yml` of a directory until the block ends."""
    fields, options = load_server_configuration(directory / "writer.yml")
    ledger = ledger or open_ledger(fields.ledger, directory)
    token, log = "t0ken-of-alice", list[dict[str, Any]]()
    with ledger, start_blocking_portal() as portal:
        put_user(ledger, "alice", sha256(token))
        server = Server(fields, options, ledger, log.append)
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(server.app), base_url="http://127.0.0.1"
        )
        with (
            portal.wrap_async_context_manager(server.running()),
            portal.wrap_async_context_manager(client),
        ):
            yield ServedWriter(directory, server, log, portal, client, token)
            portal.call(server.jobs.drain)


# --- As a process of its own ----------------------------------------------------------------------


@dataclass
class WriterServer:
    """A server that runs in a directory, with its log. Its user is `alice`."""

    directory: Path
    process: Program
    token: str
    lines: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address that the server has printed, or nothing before it listens."""
        found = re.search(r"http://\S+", " ".join(self.errors))
        return found[0] if found else ""

    @property
    def log(self) -> list[dict[str, Any]]:
        """The records of the log."""
        return [json.loads(line) for line in self.lines]

    def ask(self, *request: str, timeout: float = 60, **options: str) -> httpx.Response:
        """Send a request, and wait for its answer."""
        path, headers, body = encode(self.token, *request, **options)
        return httpx.post(f"{self.url}{path}", headers=headers, content=body, timeout=timeout)

    def get(self, path: str) -> httpx.Response:
        """Get a page that needs no token."""
        return httpx.get(f"{self.url}{path}", timeout=20)

    def wait(self, timeout: float = 60) -> int:
        """Wait for the end of the process, and return its status."""
        return self.process.wait(timeout)


@contextmanager
def writer_running(
    directory: Path,
    *arguments: str,
    token: str | None = None,
    port: int = 0,
    stdout: int | None = None,
) -> Iterator[WriterServer]:
    """Serve the `writer.yml` of a directory until the block ends. Adds a user without `token`.

    The log is collected unless `stdout` is a file descriptor.
    """
    if token is None:
        token = add_user(directory)
    lines, errors = list[str](), list[str]()
    log_end, log_thread = _collecting(lines)
    error_end, error_thread = _collecting(errors)
    command = ("mkdocs_contentgen", "writer", "serve", "--port", str(port), *arguments)
    stdout = log_end if stdout is None else stdout
    process = start(command, directory, environment(), stdout, error_end)
    for end in (log_end, error_end):
        os.close(end)
    server = WriterServer(directory, process, token, lines, errors)
    try:
        wait_until(lambda: server.url or process.poll() is not None)
        assert process.poll() is None, "".join(server.errors)
        yield server
    finally:
        process.kill()
        process.wait()
        for thread in (log_thread, error_thread):
            thread.join(5)


def _collecting(lines: list[str]) -> tuple[int, threading.Thread]:
    """Return where to write lines to, and the thread that collects them from there."""
    end_to_read, end = os.pipe()
    thread = threading.Thread(target=_collect, args=(end_to_read, lines), daemon=True)
    thread.start()
    return end, thread


def _collect(end_to_read: int, lines: list[str]) -> None:
    with open(end_to_read, encoding="utf-8") as stream:
        for line in stream:
            lines.append(line)
