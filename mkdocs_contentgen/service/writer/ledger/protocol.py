"""The protocol of ledgers, with the types of its arguments and results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, Protocol, Self

import msgspec

from ....errors import LedgerError
from ..usage import Usage

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""The name of a user, which is the `user_id` of requests."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of each user."""

    requests_per_minute: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 20
    parallel: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 4
    cost_per_month: Annotated[float, msgspec.Meta(ge=0, le=1e9)] | None = None


@dataclass(frozen=True)
class KeyedRequest:
    """A request of a user with its Idempotency-Key.

    `key` is the SHA-256 of the Idempotency-Key, `fingerprint` that of the operation and body.
    """

    user: str
    key: str
    fingerprint: str


@dataclass(frozen=True)
class Limited:
    """A limit is reached, so nothing is written.

    `limit` is the name of the option, and `retry_after` the seconds until it allows another
    request, or None where that is not known.
    """

    limit: str
    retry_after: float | None = None


Beginning = Literal["begun", "running", "other body"] | bytes | Limited
"""The result of begin(): `begun` if the caller has to write the text.

It is `running` if another process writes it, `other body` if the key was used for another request,
and the body of the answer if the text is there.
"""


@dataclass(frozen=True)
class MonthlyUsage:
    """The usage of a user in a month. `texts` and `failed` are numbers of texts."""

    user: str
    month: str
    """Such as `2026-11`, in UTC."""

    texts: int
    failed: int
    usage: Usage


class Ledger(Protocol):
    """Users, Idempotency-Keys with their answers, and usage.

    Its methods block, and are called by one thread at a time. They raise LedgerError if the
    database cannot be used; then nothing has changed.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...

    def add_user(self, name: str, token_hash: str) -> bool:
        """Add a user with the SHA-256 of a token. Return whether the name was free."""

    def remove_user(self, name: str) -> bool:
        """Remove a user, but not the usage. Return whether there was one."""

    def token_hash(self, name: str) -> str | None:
        """Return the SHA-256 of the user's token, or None if there is no such user."""

    def users(self) -> dict[str, datetime]:
        """Return when each user was added, by name."""

    def begin(self, request: KeyedRequest, limits: Limits, max_cost: float | None) -> Beginning:
        """Begin a request, unless it is known or a limit is reached. Atomic.

        A kept answer and a running request come before the limits. Of two processes that begin the
        same request, one gets `begun`. `max_cost` is for all users together. A request of a
        process that has died can be begun again.
        """

    def over_budget(self, user: str, limits: Limits, max_cost: float | None) -> Limited | None:
        """Return the limit on cost that is reached now, or None. For a request that has waited."""

    def finish(self, request: KeyedRequest, body: bytes | None, usage: Usage) -> None:
        """Keep the answer of a begun request, and add its usage.

        With None there is no text, so the request can be begun again. The first answer stays.
        """

    def withdraw(self, request: KeyedRequest) -> None:
        """Undo begin() for a request for which nothing was written."""

    def load_parts(self, request: KeyedRequest) -> bytes:
        """Return what save_parts() has saved for a request, or nothing."""

    def save_parts(self, request: KeyedRequest, parts: bytes) -> None:
        """Keep the parts of an unfinished text in place of earlier ones; nothing deletes them."""

    def beat(self) -> None:
        """Keep the begun requests of this process, and raise LedgerError if the ledger is gone.

        Called every BEAT seconds.
        """

    def expire(self, seconds: float) -> int:
        """Drop the answers that are older, and return their number."""

    def usage(self) -> list[MonthlyUsage]:
        """Return the usage of each user and month, by month and user.

        The cost is None for a month with a call whose price is not known. For limits, such a call
        costs nothing.
        """

    def problems(self) -> list[str]:
        """Return warnings about the settings of the database."""
        return []


BEAT = 2.0
"""Seconds between two calls of beat()."""

GRACE = 15.0
"""Seconds without a beat after which a process counts as dead."""


def check_name(name: str) -> str:
    """Return the name of a user. Raises LedgerError if it cannot be one."""
    if not NAME.fullmatch(name):
        raise LedgerError(
            "the name of a user has at most 64 letters, digits and '.', '_', '@' or '-', and "
            "begins with a letter or digit"
        )
    return name


def month_of(now: float) -> str:
    """Return the month of a time in seconds since 1970, such as `2026-11`, in UTC."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def rest_of_month(now: float) -> float:
    """Return the seconds until the next month begins, in UTC."""
    today = datetime.fromtimestamp(now, UTC)
    years, index = divmod(today.month, 12)
    return datetime(today.year + years, index + 1, 1, tzinfo=UTC).timestamp() - now
