"""How calls reach a model: what a server and a program have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...reporting import Reporter
from .completion import Completion, ModelCall
from .settings import WriterOptions
from .usage import Spending


class RefusedSystemError(Exception):
    """The model refused a system message in its stream. Sent again, the call has none."""


class Transport(ABC):
    """Sends calls to a model.

    `reporter` gets a line for each call. Without `quotes`, no message has what the model's side
    says.
    """

    label: str
    """What a message calls it, such as `the model server models.example`."""

    def __init__(self, options: WriterOptions, *, reporter: Reporter, quotes: bool) -> None:
        self.warnings: list[str] = []
        """Messages about all calls so far."""

        self._fields = options.fields
        self._prefix = options.prefix
        self._reporter = reporter
        self._quotes = quotes

    @abstractmethod
    async def call(self, call: ModelCall, spending: Spending) -> Completion:
        """Return the answer to one call that is sent once, and add its usage to `spending`.

        Raises a ServiceError, or RefusedSystemError if the call is to be sent again at once.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close what is open between calls."""
