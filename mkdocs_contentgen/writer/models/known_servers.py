"""What to do about the errors of a model server: its key, its address, or the model it lacks.

Each status has one cause, and the message has the cure of only that one.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from ...service.exchange import URL, Answer
from .settings import OLLAMA_PORT

_OPERATIONS = re.compile(r"/(chat/completions|completions|responses|embeddings|models)/*$")
"""Matches the end of the address of an operation, which is not that of the API."""

_NO_MODEL = re.compile(
    r"\bmodel\b.{0,100}\b(not (be )?found|(does not|doesn't) exist|unknown|not loaded|unavailable)"
    r"|\b(unknown|no such|not a valid|invalid|unsupported) model\b|model_not_found|pulling it",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say, with statuses such as 400 and 404, that they do not have a model."""

_MAY_LACK_MODEL = frozenset({400, 404, 422})

_WRONG_ADDRESS = frozenset({404, 405, 501, *range(300, 400)})
"""Statuses of an address where no such API is, if they say nothing of a model."""


@dataclass(frozen=True)
class KnownServer:
    """A program that serves models, with the commands for what it lacks, or empty ones."""

    name: str
    port: int
    start: str = ""
    get: str = ""
    """The command that gets a model, without the name of it."""

    list: str = ""
    """The command that lists the models."""


_OLLAMA = KnownServer("Ollama", OLLAMA_PORT, "ollama serve", "ollama pull", "ollama list")

KNOWN_SERVERS = (
    _OLLAMA,
    KnownServer("LM Studio", 1234, "lms server start", "lms get", "lms ls"),
    KnownServer("llama.cpp", 8080),
)
"""The servers that are found by their usual ports."""


@dataclass(frozen=True)
class ServerCures:
    """Says what to do about the errors of the server at an address."""

    address: URL
    """The base address of the API."""

    endpoint_option: str
    """The option with the address, such as `writer.endpoint`."""

    model_option: str = ""
    model: str = ""
    key_option: str = ""
    """The option with the key, where that can be in a file."""

    has_key: bool = False

    @property
    def known(self) -> KnownServer | None:
        """The program at the port of the address, as far as it is known."""
        for server in KNOWN_SERVERS:
            if server.port == self.address.port:
                return server
        return None

    @property
    def unreachable(self) -> str:
        """What to do if there is no connection."""
        asked = f"is {self.endpoint_option} right"
        if self.known and self.known.start:
            return f"{asked}? Is {self.known.name} running? `{self.known.start}` starts it"
        return f"{asked}, and is the server running?"

    def of_status(self, answer: Answer, operation: str = "chat/completions") -> str:
        """Return what to do about a status of an operation, or an empty string."""
        status = answer.status
        if self.lacks_model(answer):
            return self._no_model(answer.reason())
        if status == 401:
            return self._wrong_key()
        if status == 402:
            return "add credit to the account of the model server"
        if status == 403:
            return f"{self._wrong_key()}, or choose a model that it may use"
        if status in _WRONG_ADDRESS:
            return self.wrong_address(operation)
        return ""

    def lacks_model(self, answer: Answer) -> bool:
        """Tell whether an answer says that the server does not have the model."""
        words = answer.body.decode("utf-8", "replace")  # with codes such as model_not_found
        if answer.status == 404 and self.model and self.model in words:
            return True
        return answer.status in _MAY_LACK_MODEL and bool(_NO_MODEL.search(words))

    def wrong_address(self, operation: str) -> str:
        """Return what to do if the API has no such operation at its address."""
        tried = f"{str(self.address).rstrip('/')}/{operation}"
        return (
            f"{tried} was tried: correct {self.endpoint_option}, which is what stands before "
            f"/{operation}, and often ends in /v1"
        )

    def _no_model(self, reason: str) -> str:
        known = self.known
        if "pulling it" in reason:
            known = _OLLAMA
        other = f"write the name of another one as {self.model_option}"
        if known and known.get:
            command = f"{known.get} {shlex.quote(self.model)}"
            return f"`{command}` gets it; or {other}: `{known.list}` lists those that are there"
        return f"{other}; {str(self.address).rstrip('/')}/models lists those that are there"

    def _wrong_key(self) -> str:
        or_option = f" (or {self.key_option})" if self.key_option else ""
        if self.has_key:
            return f"set CONTENTGEN_MODEL_KEY{or_option} to a key that this server takes"
        return f"the server needs a key: set CONTENTGEN_MODEL_KEY{or_option}"


def base_address(endpoint: str) -> str:
    """Return the address of an API without the operation that somebody has copied with it."""
    return _OPERATIONS.sub("", endpoint.strip())
