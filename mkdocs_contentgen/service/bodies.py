"""Read the bodies of requests and answers up to a limit, since whoever sends one can go on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable

import msgspec

from .event_stream import BOM

MAX_ANSWER = 2 * 1024 * 1024
"""The maximum size of an answer in bytes."""

MAX_STREAM = 32 * 1024 * 1024
"""The maximum size of a stream in bytes. Each token has an event of some hundred bytes."""


class TooLargeError(Exception):
    """A body has more bytes than its limit."""


async def limited(chunks: AsyncIterable[bytes], limit: int) -> AsyncGenerator[bytes]:
    """Yield the parts of a body as they come. Raises TooLargeError after `limit` bytes."""
    total = 0
    async for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise TooLargeError
        yield chunk


async def read_body(chunks: AsyncIterable[bytes], limit: int) -> bytes:
    """Return a body of at most `limit` bytes. Raises TooLargeError."""
    read = bytearray()
    async for chunk in limited(chunks, limit):
        read += chunk
    return bytes(read)


def decode_json(body: bytes) -> object:
    """Return the value in a body, or None if it is not JSON."""
    try:
        return msgspec.json.decode(body.removeprefix(BOM))
    except (ValueError, RecursionError):
        return None
