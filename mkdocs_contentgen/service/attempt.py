"""One try to get a text."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


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
