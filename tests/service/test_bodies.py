"""Bodies of requests and answers, which whoever sends them can go on with for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from mkdocs_contentgen.service.bodies import TooLargeError, read_body


async def chunks_of(parts: Sequence[bytes], taken: list[bytes]) -> AsyncIterator[bytes]:
    """Yield parts, and note those that were taken."""
    for part in parts:
        taken.append(part)
        yield part


@pytest.mark.parametrize("parts", [[], [b""], [b"12345"], [b"1", b"", b"2345"]])
def test_a_body_within_the_limit(parts: list[bytes]) -> None:
    """All of it is returned."""
    assert asyncio.run(read_body(chunks_of(parts, []), 5)) == b"".join(parts)


def test_a_body_that_is_too_large() -> None:
    """No more of it is read than what shows that it is."""
    taken: list[bytes] = []
    with pytest.raises(TooLargeError):
        asyncio.run(read_body(chunks_of([b"123", b"456", b"789"], taken), 5))
    assert taken == [b"123", b"456"]
