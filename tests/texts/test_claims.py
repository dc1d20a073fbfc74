"""Claims of several runs on one cache, in a directory, with renewals in simulated time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from simulated_time import SimulatedTime

from mkdocs_contentgen.errors import StoreError
from mkdocs_contentgen.texts.claims import Claims
from mkdocs_contentgen.texts.store import LEASE, DiskStore


class Store(DiskStore):
    """A cache that notes what is claimed, and can be broken."""

    broken = False

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.claimed: list[set[str]] = []

    def claim(self, operations: Mapping[str, str], owner: str) -> dict[str, str]:
        """Note the keys, and claim them."""
        self.claimed.append(set(operations))
        if self.broken:
            raise StoreError("the disk is gone")
        return super().claim(operations, owner)

    def release(self, operations: Mapping[str, str], owner: str, *, answered: bool = False) -> None:
        """Give up claims."""
        if self.broken:
            raise StoreError("the disk is gone")
        super().release(operations, owner, answered=answered)


Story = Callable[[Store, Claims, Claims, list[str]], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Story], None]:
    """Return what lets a story of two runs happen; it gets their store, claims and complaints."""

    def play(story: Story) -> None:
        store = Store(tmp_path)
        complaints: list[str] = []
        one, two = (
            Claims(store, ThreadPoolExecutor(1), complaints.append, lambda key: "generate")
            for _ in range(2)
        )
        loop = SimulatedTime()

        async def main() -> None:
            await story(store, one, two, complaints)

        loop.run_until_complete(main())
        loop.close()
        store.close()

    return play


def test_claims_are_renewed_while_they_are_held(play: Callable[[Story], None]) -> None:
    """So often that none expires, and for no key that is not held any more."""

    async def story(store: Store, one: Claims, two: Claims, complaints: list[str]) -> None:
        async with one.renewed():
            await asyncio.sleep(2 * LEASE)
            assert store.claimed == []
            await one.claim(["a", "b"])
            await asyncio.sleep(2 * LEASE)
            assert store.claimed.count({"a", "b"}) > 5
            await one.release({"a"})
            store.claimed.clear()
            await asyncio.sleep(LEASE)
            assert 1 < store.claimed.count({"b"}) == len(store.claimed)

    play(story)


def test_what_is_left_is_released_in_the_end(play: Callable[[Story], None]) -> None:
    """Also if the run fails, another run need not wait until its claims expire."""

    async def story(store: Store, one: Claims, two: Claims, complaints: list[str]) -> None:
        with pytest.raises(ValueError, match="a bug"):
            async with one.renewed():
                await one.claim(["a", "b"])
                raise ValueError("a bug")
        assert one.held == {}
        assert await two.claim(["a", "b"]) == {"a", "b"}

    play(story)


def test_a_store_that_fails_later(play: Callable[[Story], None]) -> None:
    """A run goes on with what it holds, and says what went wrong; but it claims no more."""

    async def story(store: Store, one: Claims, two: Claims, complaints: list[str]) -> None:
        async with one.renewed():
            await one.claim(["a"])
            store.broken = True
            with pytest.raises(StoreError):
                await one.claim(["b"])
            assert one.held.keys() == {"a"}
            await asyncio.sleep(LEASE)
        assert one.held == {}
        assert len(complaints) >= 3
        assert set(complaints) == {"the disk is gone"}

    play(story)
