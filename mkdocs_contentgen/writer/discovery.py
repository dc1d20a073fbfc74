"""Find the model servers of this machine, by the ports that they usually listen on."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import ServiceError
from ..service.connection import HTTPConnection, check_address, decode_json
from ..text import model_name
from .settings import OLLAMA_PORT

PORTS = {OLLAMA_PORT: "Ollama", 1234: "LM Studio", 8080: "llama.cpp"}
"""The servers by their usual ports."""

PROGRAMS = {
    "claude": ["claude", "-p"],
    "codex": ["codex", "exec", "--skip-git-repo-check", "-"],
    "gemini": ["gemini"],
    "llm": ["llm"],
    "ollama": ["ollama", "run", "llama3.2"],
}
"""The programs that write, with the arguments with which they read a prompt from their input."""

_TIMEOUT = 2.0
"""Seconds for the list of models."""


@dataclass(frozen=True)
class FoundServer:
    """A server with the names of its models that can write."""

    name: str
    endpoint: str
    models: Sequence[str]


async def find_servers(ports: Mapping[int, str] = PORTS) -> list[FoundServer]:
    """Return the servers of this machine that list a model."""
    asked = (find_server(f"http://127.0.0.1:{port}/v1", name) for port, name in ports.items())
    return [server for server in await asyncio.gather(*asked) if server]


async def find_server(
    endpoint: str, name: str = "the model server", key: str = ""
) -> FoundServer | None:
    """Return the server at an address, or None if it lists no model that can write.

    Raises ConfigurationError if it is no address.
    """
    url = check_address(endpoint, "endpoint", "https://host/v1", allow_http=False)
    async with HTTPConnection(url, name, key) as connection:
        try:
            answer = await connection.request("GET", "models", timeout=_TIMEOUT)
        except ServiceError:
            return None
    fields = decode_json(answer.body)
    models = fields.get("data") if isinstance(fields, dict) else None
    ids = (
        [it.get("id") for it in models if isinstance(it, dict)] if isinstance(models, list) else []
    )
    # What a server says is shown, and written into a file.
    names = [model_name(it) for it in ids if isinstance(it, str)]
    usable = [it for it in names if it and "embed" not in it.lower()]
    return FoundServer(name, endpoint, usable) if usable else None


def find_programs() -> list[list[str]]:
    """Return the commands of the programs on the path."""
    return [command for name, command in PROGRAMS.items() if shutil.which(name)]
