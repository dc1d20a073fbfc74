"""A served writer in the process of the test, without sockets, and the commands for it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from click.testing import CliRunner, Result

from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.digest import sha256
from mkdocs_contentgen.service.writer.ledger import Ledger, open_ledger
from mkdocs_contentgen.service.writer.server.app import Server
from mkdocs_contentgen.service.writer.server.configuration import load_configuration


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
        self,
        topic: str = "Bees",
        operation: str = "generate-blog",
        *,
        key: str | None = None,
        user: str = "alice",
        token: str | None = None,
        **headers: str,
    ) -> Future[httpx.Response]:
        """Send a request, and return its answer to come. A client goes away by cancelling that."""
        sent = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {token or self.token}",
            **({} if key is None else {"Idempotency-Key": key}),
            **headers,
        }
        content = json.dumps({"topic": topic, "length": "short"})
        address = f"/{operation}?{urlencode({'user_id': user})}"
        return self.portal.start_task_soon(self._post, address, sent, content)

    def ask(self, *request: str, **fields: str) -> httpx.Response:
        """Send a request, and wait for its answer."""
        return self.begin(*request, **fields).result(30)

    def get(self, path: str) -> httpx.Response:
        """Get a page that needs no token."""
        return self.portal.call(self.client.get, path)

    async def _post(self, path: str, headers: Mapping[str, str], body: str) -> httpx.Response:
        return await self.client.post(path, headers=headers, content=body)


@contextmanager
def serving(
    directory: Path, *, authenticated: bool = True, ledger: Ledger | None = None
) -> Iterator[ServedWriter]:
    """Serve the `writer.yml` of a directory until the block ends."""
    configuration = load_configuration(directory / "writer.yml")
    ledger = ledger or open_ledger(configuration.fields.ledger, directory, serving=True)
    token, log = "t0ken-of-alice", list[dict[str, Any]]()
    with ledger, start_blocking_portal() as portal:
        ledger.add_user("alice", sha256(token))
        server = Server(configuration, ledger, log.append, authenticated=authenticated)
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(server.app), base_url="http://writer"
        )
        with (
            portal.wrap_async_context_manager(server.running()),
            portal.wrap_async_context_manager(client),
        ):
            yield ServedWriter(directory, server, log, portal, client, token)
            portal.call(server.jobs.drain)
