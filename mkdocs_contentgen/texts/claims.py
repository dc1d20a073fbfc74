"""Which requests this run alone sends, of those that several runs with one cache want."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

from ..errors import StoreError
from .store import LEASE, Coordinator
from .waiting import WorkerThread


class Claims:
    """The keys that this run alone may ask the service for; `held` has them.

    `complain` gets what went wrong where the run can go on.
    """

    def __init__(
        self, coordinator: Coordinator, thread: WorkerThread, complain: Callable[[str], None]
    ) -> None:
        self.held: set[str] = set()
        self._coordinator = coordinator
        self._thread = thread
        self._complain = complain
        self._owner = uuid.uuid4().hex

    async def claim(self, keys: Collection[str]) -> set[str]:
        """Return those of `keys` that no other run holds; they are held then. Raises StoreError."""
        claimed = await self._thread.run(self._coordinator.claim, keys, self._owner)
        self.held |= claimed
        return claimed

    async def release(self, keys: Collection[str]) -> None:
        """Let other runs claim these keys."""
        try:
            if keys:
                await self._thread.run(self._coordinator.release, keys, self._owner)
        except StoreError as error:
            self._complain(str(error))
        self.held -= set(keys)

    def forget(self, key: str) -> None:
        """Hold a key no longer, without a release: saving its text has ended the claim."""
        self.held.discard(key)

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[None]:
        """Renew what is held as long as the block runs, and release what is left after it."""
        renewal = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            renewal.cancel()
            await asyncio.gather(renewal, return_exceptions=True)
            await self.release(set(self.held))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE / 3)
            try:
                if self.held:
                    await self._thread.run(self._coordinator.claim, list(self.held), self._owner)
            except StoreError as error:
                self._complain(str(error))
