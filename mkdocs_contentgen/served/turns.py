"""Turns of users, so that nobody waits for all the texts of somebody else.

A queue in the order of arrival would be fair to requests, and not to people: a build in CI that
sends a hundred of them would hold up everybody for an hour. So each user has a queue, and a free
slot goes to whoever holds the fewest slots, and among these to whoever has waited for a turn the
longest: a user who got a slot goes to the end of the line. A full queue makes room in the same
way: whoever has most of it loses the last slot there, if others have fewer.

Everything runs in one event loop, so that no lock is needed.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class QueueFullError(Exception):
    """There is no slot in the queue, or none any more for whoever has most of it."""


class Turns:
    """Gives a number of slots to users. Whoever has the fewest gets the next one.

    `capacity` is the number of those who have a slot or wait for one.
    """

    def __init__(self, slots: int, capacity: int) -> None:
        self._free = slots
        self._capacity = capacity
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        """Return the number of those who wait."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def slot(self, user: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it as long as the block runs. Raises QueueFullError."""
        if self._held.total() + len(self) >= self._capacity:
            self._make_room(user)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        self._give()
        try:
            await turn
            yield
        finally:
            has_slot = turn.done() and not turn.cancelled() and not turn.exception()
            if has_slot:
                self._free += 1
                self._held[user] -= 1
            self._give()

    def refuse_waiting(self) -> None:
        """Let all those who wait get a QueueFullError."""
        while self._waiting:
            self._refuse_last(next(iter(self._waiting)))

    def _make_room(self, user: str) -> None:
        """Take the last slot from whoever has most of the queue, if that is fairer."""
        waiting = {name: len(turns) for name, turns in self._waiting.items()}
        largest = max(waiting, key=waiting.__getitem__, default=user)
        # Otherwise, the user would have more of the queue than whoever loses a slot.
        if waiting.get(largest, 0) <= waiting.get(user, 0) + 1:
            raise QueueFullError
        self._refuse_last(largest)

    def _refuse_last(self, user: str) -> None:
        turn = self._waiting[user].pop()
        if not self._waiting[user]:
            del self._waiting[user]
        if not turn.cancelled():
            turn.set_exception(QueueFullError())

    def _give(self) -> None:
        """Give the free slots to those who wait."""
        while self._free and self._waiting:
            # Of several with the fewest, the first in the dictionary: who has waited longest.
            user = min(self._waiting, key=self._held.__getitem__)
            turns = self._waiting.pop(user)
            turn = turns.popleft()
            if turns:
                self._waiting[user] = turns  # after the others
            if not turn.cancelled():
                self._free -= 1
                self._held[user] += 1
                turn.set_result(None)
