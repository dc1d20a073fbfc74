"""Find the model servers of this machine, by the ports that they usually listen on."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from contextlib import suppress

from ...errors import ServiceError, UnusableServiceError
from ...service.addresses import check_address
from ...service.bodies import decode_json
from ...service.exchange import HTTPConnection
from ...text import model_name
from .known_servers import KNOWN_SERVERS, ServerCures, base_address

PORTS = {server.port: server.name for server in KNOWN_SERVERS}
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

_MAX_MODELS = 20
"""The maximum number of models of a server that are shown."""


async def find_writers(ports: Mapping[int, str] = PORTS) -> dict[str, dict[str, object]]:
    """Return the options of the models and programs of this machine by their names."""
    asked = []
    for port, name in ports.items():
        asked.append(find_models(f"http://127.0.0.1:{port}/v1", name))
    found: dict[str, dict[str, object]] = {}
    for models in await asyncio.gather(*asked, return_exceptions=True):
        if isinstance(models, dict):
            found |= models
        elif not isinstance(models, ServiceError):
            raise models
    for name, command in PROGRAMS.items():
        if shutil.which(name):
            found[f"the program {name}"] = {"command": command}
    return found


async def find_models_elsewhere(endpoint: str, key: str = "") -> dict[str, dict[str, object]]:
    """Return the options of the models of a server, also if its address lacks the `/v1`.

    Raises ServiceError if that lists no models, and the same as find_models().
    """
    base = base_address(endpoint).rstrip("/")
    if not base.endswith("/v1"):
        with suppress(UnusableServiceError):  # of which the address with `/v1` may be right
            models = await find_models(base, key=key)
            if models:
                return models
        base += "/v1"
    models = await find_models(base, key=key)
    if not models:
        raise ServiceError(f"{base} lists no models that can write; get one for it first")
    return models


async def find_models(endpoint: str, name: str = "", key: str = "") -> dict[str, dict[str, object]]:
    """Return the options of the models of a server that can write, by their names.

    Raises ConfigurationError if it is not an address, UnusableServiceError if it refuses the
    request or answers something else, and another ServiceError if it does not answer.
    """
    url = check_address(endpoint, "endpoint", "https://host/v1", allow_http=False)
    cures = ServerCures(url, "the address", has_key=bool(key))
    label = f"the model server {url.netloc.decode()}"
    connection = HTTPConnection(url, label, key, unreachable_hint=cures.unreachable)
    async with connection:
        answer = await connection.request("GET", "models", timeout=_TIMEOUT)
        if not answer.is_success:
            words = connection.quote(answer.reason())
            said = f"{label} answered {answer.status_text}: {words}".removesuffix(": ")
            cure = cures.of_status(answer, "models")
            raise UnusableServiceError(f"{said}; {cure}".removesuffix("; "))
    fields = decode_json(answer.body)
    if not isinstance(fields, dict) or "data" not in fields:
        raise UnusableServiceError(f"{label} sent no list; {cures.wrong_address('models')}")
    models = fields["data"] if isinstance(fields["data"], list) else []
    # What a server says is shown, and written into a file.
    names = []
    for item in models[:_MAX_MODELS]:
        if isinstance(item, dict):
            names.append(model_name(item.get("id")))
    found: dict[str, dict[str, object]] = {}
    for model in names:
        if model and "embed" not in model.lower():
            found[f"{model} ({name or 'the model server'})"] = {
                "model": model,
                "endpoint": endpoint,
            }
    return found
