"""What a client tells and keeps of a text while it is being written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


async def _load_nothing() -> bytes:
    return b""


async def _save_nothing(parts: bytes) -> None:
    pass


@dataclass(frozen=True)
class TextInProgress:
    """What can be kept and shown of a text while it is being written."""

    load: Callable[[], Awaitable[bytes]] = _load_nothing
    """Returns the parts that an earlier, interrupted run has saved, or nothing."""

    save: Callable[[bytes], Awaitable[None]] = _save_nothing
    """Saves the parts that are written, in place of earlier ones."""

    report: Callable[[int, int], None] = lambda words, target: None
    """Gets the number of words so far, and the target."""


UNOBSERVED = TextInProgress()
"""Neither keeps nor shows anything."""
