"""Turns of users, so that nobody waits behind all the texts of somebody else."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Gives a number of places to users. Whoever has the fewest gets the next one."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        """Return the number of those who wait."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def place(self, user: str) -> AsyncIterator[None]:
        """Wait for a place, and hold it as long as the block runs."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        self._give()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._free += 1
                self._held[user] -= 1
            self._give()

    def _give(self) -> None:
        while self._free and self._waiting:
            user = min(self._waiting, key=self._held.__getitem__)
            turns = self._waiting.pop(user)
            turn = turns.popleft()
            if turns:
                self._waiting[user] = turns  # behind the others
            if not turn.cancelled():
                self._free -= 1
                self._held[user] += 1
                turn.set_result(None)
