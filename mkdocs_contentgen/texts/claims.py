"""Claim requests, so that only one of several runs with the same cache sends each."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from ..concurrency import run_in
from ..errors import StoreError
from .store import LEASE, DiskStore


@dataclass
class Claims:
    """The claims of this run. `on_problem` gets errors of the store that do not stop it."""

    store: DiskStore
    executor: Executor
    on_problem: Callable[[str], None]

    operation_of: Callable[[str], str]
    """Returns what is asked of the service for the request with a key. See DiskStore.claim()."""

    held: dict[str, str] = field(default_factory=dict)
    """The Idempotency-Keys of the requests that only this run may send, by their keys."""

    _owner: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def claim(self, keys: Collection[str]) -> set[str]:
        """Claim all `keys` that no other run holds, and return them. Raises StoreError."""
        claimed = await run_in(self.executor, self.store.claim, self._operations(keys), self._owner)
        self.held |= claimed
        return set(claimed)

    async def release(self, keys: Collection[str], *, answered: bool = False) -> None:
        """End the claims on these keys. With `answered`, delete their Idempotency-Keys as well."""
        release = partial(self.store.release, answered=answered)
        try:
            if keys:
                await run_in(self.executor, release, self._operations(keys), self._owner)
        except StoreError as error:
            self.on_problem(str(error))
        for key in keys:
            self.held.pop(key, None)

    def _operations(self, keys: Iterable[str]) -> dict[str, str]:
        return {key: self.operation_of(key) for key in keys}

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
                    held = self._operations(self.held)
                    await run_in(self.executor, self.store.claim, held, self._owner)
            except StoreError as error:
                self.on_problem(str(error))
