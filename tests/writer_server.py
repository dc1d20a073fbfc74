"""A served writer as a process of its own, and requests to it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import httpx
import yaml
from service_double import environment

HEADERS = {"Content-Type": "application/json"}


def run(directory: Path, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run `contentgen writer` in a directory."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs_contentgen", "writer", *arguments],
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def configure(directory: Path, endpoint: str, **options: object) -> Path:
    """Write `writer.yml` for a model server."""
    fields = {"model": "double", "endpoint": endpoint, **options}
    path = directory / "writer.yml"
    path.write_text(yaml.safe_dump(fields), encoding="utf-8")
    return path


def add_user(directory: Path, name: str = "alice") -> str:
    """Add a user, and return the token."""
    ran = run(directory, "user", "add", name)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@dataclass
class WriterServer:
    """A server that runs in a directory, with its log."""

    directory: Path
    process: subprocess.Popen[str]
    token: str
    url: str = ""
    lines: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def log(self) -> list[dict[str, Any]]:
        """The records of the log."""
        return [json.loads(line) for line in self.lines]

    def ask(
        self,
        topic: str = "Bees",
        *,
        key: str | None = None,
        operation: str = "generate-blog",
        user: str = "alice",
        token: str | None = None,
        timeout: float = 60,
        headers: Mapping[str, str] | None = None,
        **fields: object,
    ) -> httpx.Response:
        """Send one request."""
        keys = {} if key is None else {"Idempotency-Key": key}
        return httpx.post(
            f"{self.url}/{operation}",
            params={"user_id": user},
            headers={
                **HEADERS,
                "Authorization": f"Bearer {token or self.token}",
                **keys,
                **(headers or {}),
            },
            content=json.dumps({"topic": topic, "length": "short", **fields}),
            timeout=timeout,
        )

    def get(self, path: str) -> httpx.Response:
        """Get a page that needs no token."""
        return httpx.get(f"{self.url}{path}", timeout=20)

    def wait(self, timeout: float = 30) -> int:
        """Wait for the end of the process, and return its status."""
        return self.process.wait(timeout)


@contextmanager
def writer_running(
    directory: Path,
    *arguments: str,
    token: str | None = None,
    port: int = 0,
    stdout: int = subprocess.PIPE,
) -> Iterator[WriterServer]:
    """Serve the `writer.yml` of a directory until the block ends. Adds a user without `token`.

    The log is collected unless `stdout` is a file descriptor.
    """
    if token is None and "--no-auth" not in arguments:
        token = add_user(directory)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "mkdocs_contentgen"),
            *("writer", "serve", "--port", str(port), *arguments),
        ],
        cwd=directory,
        env=environment(),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )
    server = WriterServer(directory, process, token or "any")
    streams = ((process.stdout, server.lines), (process.stderr, server.errors))
    threads = [
        threading.Thread(target=_collect, args=(stream, lines), daemon=True)
        for stream, lines in streams
        if stream
    ]
    for thread in threads:
        thread.start()
    try:
        deadline = time.monotonic() + 30
        while not server.url:
            found = re.search(r"http://\S+", " ".join(server.errors))
            server.url = found[0] if found else ""
            assert process.poll() is None, "".join(server.errors)
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield server
    finally:
        process.kill()
        process.wait()
        for thread in threads:
            thread.join(5)
        for stream, _ in streams:
            if stream:
                stream.close()


def _collect(stream: IO[str], lines: list[str]) -> None:
    for line in stream:
        lines.append(line)
