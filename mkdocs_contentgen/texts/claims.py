"""Claim requests, so that only one of several runs with the same cache sends each."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial

from ..concurrency import WorkerThread
from ..errors import StoreError
from .store import LEASE, DiskStore


class Claims:
    """The claims of this run. `held` contains the keys of the requests that only it may send.

    Its values are their Idempotency-Keys, which are new with `refresh`. `on_problem` is called with
    errors of the store that do not stop the run.
    """

    def __init__(
        self,
        store: DiskStore,
        thread: WorkerThread,
        on_problem: Callable[[str], None],
        *,
        refresh: bool = False,
    ) -> None:
        self.held: dict[str, str] = {}
        self._store = store
        self._thread = thread
        self._on_problem = on_problem
        self._refresh = refresh
        self._owner = uuid.uuid4().hex

    async def claim(self, keys: Collection[str]) -> set[str]:
        """Claim all `keys` that no other run holds, and return them. Raises StoreError."""
        claim = partial(self._store.claim, refresh=self._refresh)
        claimed = await self._thread.run(claim, keys, self._owner)
        self.held |= claimed
        return set(claimed)

    async def release(self, keys: Collection[str], *, answered: bool = False) -> None:
        """End the claims on these keys. With `answered`, delete their Idempotency-Keys as well."""
        release = partial(self._store.release, answered=answered)
        try:
            if keys:
                await self._thread.run(release, keys, self._owner)
        except StoreError as error:
            self._on_problem(str(error))
        for key in keys:
            self.held.pop(key, None)

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[None]:
        """Return a context manager that renews all claims, and releases them at its end."""
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
                    await self._thread.run(self._store.claim, list(self.held), self._owner)
            except StoreError as error:
                self._on_problem(str(error))
