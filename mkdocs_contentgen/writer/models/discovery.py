"""Find the model servers of this machine, by the ports that they usually listen on."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping

from ...errors import ServiceError
from ...service.addresses import check_address
from ...service.bodies import decode_json
from ...service.exchange import HTTPConnection
from ...text import model_name
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

    Raises the same as find_models().
    """
    models = await find_models(endpoint, key=key)
    base = endpoint.rstrip("/")
    if models or base.endswith("/v1"):
        return models
    return await find_models(f"{base}/v1", key=key)


async def find_models(
    endpoint: str, name: str = "the model server", key: str = ""
) -> dict[str, dict[str, object]]:
    """Return the options of the models of a server that can write, by their names.

    Raises ConfigurationError if it is no address, and ServiceError if it does not answer.
    """
    url = check_address(endpoint, "endpoint", "https://host/v1", allow_http=False)
    hint = "is the server running, and its address right?"
    async with HTTPConnection(url, name, key, unreachable_hint=hint) as connection:
        answer = await connection.request("GET", "models", timeout=_TIMEOUT)
    fields = decode_json(answer.body)
    models = None
    if isinstance(fields, dict):
        models = fields.get("data")
    items = []
    if isinstance(models, list):
        items = models[:_MAX_MODELS]
    # What a server says is shown, and written into a file.
    names = []
    for item in items:
        if isinstance(item, dict):
            names.append(model_name(item.get("id")))
    found: dict[str, dict[str, object]] = {}
    for model in names:
        if model and "embed" not in model.lower():
            found[f"{model} ({name})"] = {"model": model, "endpoint": endpoint}
    return found
