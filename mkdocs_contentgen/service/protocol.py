"""What each of those does who write texts: the service, the writer and the sandbox."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..requests import Request
from ..text import Text

if TYPE_CHECKING:
    from .updates import Update, Updated


async def _load_nothing() -> bytes:
    return b""


async def _save_nothing(parts: bytes) -> None:
    pass


@dataclass(frozen=True)
class Attempt:
    """What a client has to know of one try, and what is kept and shown of the text meanwhile."""

    idempotency_key: str = ""
    timeout: float = math.inf
    """Seconds from the start of the connection to the last byte of the answer."""

    load: Callable[[], Awaitable[bytes]] = _load_nothing
    """Returns the parts that an earlier, interrupted try has saved, or nothing."""

    save: Callable[[bytes], Awaitable[None]] = _save_nothing
    """Saves the parts that are written, in place of earlier ones."""

    report: Callable[[int, int], None] = lambda words, target: None
    """Gets the number of words so far, and the target."""


UNOBSERVED = Attempt()
"""Neither keeps nor shows anything."""


class Client(Protocol):
    """Gives new texts, and changes of texts that are there."""

    async def generate(self, request: Request, attempt: Attempt) -> Text:
        """Return a new text for a request. Raises ServiceError."""

    async def update(self, request: Request, update: Update, attempt: Attempt) -> Updated:
        """Return the changes of the text for a request. Raises ServiceError."""

    @property
    def warnings(self) -> Sequence[str]:
        """Messages about all requests."""
