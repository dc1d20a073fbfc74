"""A real PostgreSQL in a temporary directory, on a free port of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from conftest import wait_until
from ports import free_port

PASSWORD = "p0stgres-s3cret/with+signs"
QUOTED = "p0stgres-s3cret%2Fwith%2Bsigns"


@dataclass
class PostgresServer:
    """A server with a user `writer`, who has a password, and an empty database."""

    port: int
    _directory: Path
    _programs: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The address as an operator would write it."""
        return f"postgresql://writer:{QUOTED}@127.0.0.1:{self.port}/postgres"

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement over a connection of the test's own, and return the rows."""
        own = "-c default_transaction_read_only=off"
        with psycopg.connect(self.url, autocommit=True, options=own) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def empty(self) -> None:
        """Drop all tables."""
        for (name,) in self.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
            self.run(f"DROP TABLE {name}")

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = ("-p", str(self.port), "-k", str(self._directory))
        self._process = subprocess.Popen(
            [str(self._programs / "postgres"), "-D", str(self._directory / "data"), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **unprivileged(),
        )
        wait_until(self._answers, 60)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End the server: with SIGQUIT as a crash does, with SIGINT as an operator."""
        if self._process:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def unprivileged() -> dict[str, Any]:
    """Return the arguments of subprocess for a program that refuses to be run by root."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if not os.getuid() else {}


@contextmanager
def postgres_running() -> Iterator[PostgresServer]:
    """Run a server until the block ends."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    initdb = shutil.which("initdb") or (str(found[-1] / "initdb") if found else None)
    if initdb is None:
        pytest.skip("needs PostgreSQL")
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        directory = Path(name)
        if not os.getuid():
            shutil.chown(directory, "postgres", "postgres")
        directory.chmod(0o755)
        password = directory / "password"
        password.write_text(PASSWORD)
        subprocess.run(
            [
                *(initdb, "--pgdata", str(directory / "data"), "--username", "writer"),
                *("--pwfile", str(password), "--auth", "scram-sha-256"),
                *("--encoding", "UTF8", "--no-locale", "--no-sync"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            **unprivileged(),
        )
        settings = "fsync = off\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\n"
        with (directory / "data/postgresql.conf").open("a") as file:
            file.write(settings)
        server = PostgresServer(free_port(), directory, Path(initdb).parent)
        try:
            server.start()
            yield server
        finally:
            server.stop()
