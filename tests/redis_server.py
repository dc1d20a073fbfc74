"""A real redis-server on a free port of this machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from ports import free_port
from redis import Redis

PASSWORD = "r3dis-s3cret/with+signs"
QUOTED = "r3dis-s3cret%2Fwith%2Bsigns"


@dataclass
class RedisServer:
    """A server that runs, with a password, and its address with and without that."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def url(self) -> str:
        """The address as an author would write it."""
        return f"redis://:{QUOTED}@127.0.0.1:{self.port}/0"

    def admin(self) -> Redis:
        """Return a connection of the test's own."""
        return Redis(port=self.port, password=PASSWORD)

    def kill(self) -> None:
        """End the server as a power cut does."""
        self.process.kill()
        self.process.wait()


@contextmanager
def redis_running(*arguments: str, certificate: Path | None = None) -> Iterator[RedisServer]:
    """Run a server until the block ends; `arguments` are settings. With a certificate, over TLS."""
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server")
    port = free_port()
    listen = ["--port", str(port)]
    if certificate:
        key = certificate.with_name("key.pem")
        listen = ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"]
        listen += ["--tls-cert-file", str(certificate), "--tls-key-file", str(key)]
    command = ["redis-server", "--bind", "127.0.0.1", *listen, "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(
        [*command, "--requirepass", PASSWORD, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if b"Ready to accept connections" in line:
                break
        else:
            pytest.fail("redis-server did not start")
        yield RedisServer(process, port)
    finally:
        process.kill()
        process.communicate()
