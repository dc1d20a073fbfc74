"""The protocol of ledgers, with the types of its arguments and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, Self

from ..usage import Usage
from .users import Event, Limits, User


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


@dataclass(frozen=True)
class Begun:
    """The caller has to write the text.

    In this minute, the user has `left` further requests. The minute ends in `reset` seconds.
    `parts` is what save_parts() has saved for the request, or empty.
    """

    left: int
    reset: float
    parts: bytes = b""


Beginning = Literal["running", "other body"] | bytes | Limited | Begun
"""The result of begin().

It is `running` if another process writes the text, `other body` if the key was used for another
request, and the body of the answer if the text is there.
"""


@dataclass(frozen=True)
class Costs:
    """What the texts of this month have cost: those of a user, and all of them."""

    user: float
    all: float
    kept: bytes = b""
    """The answer that is kept, if another process was first."""


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

    Its methods block, and are called by one thread at a time, but user() also by another one
    meanwhile. They raise LedgerError if the database cannot be used; then nothing has changed.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...

    def user(self, name: str) -> User | None:
        """Return a user, or None if there is none."""

    def users(self) -> dict[str, User]:
        """Return the users by name."""

    def replace_user(self, old: User | None, new: User | None, event: Event) -> bool:
        """Add, change or remove the user of an event, and keep that. Atomic.

        Return False, and change nothing, if the user is not `old` any more.
        """

    def events(self) -> list[Event]:
        """Return what was done to the users, the oldest first."""

    def note_uses(self, uses: Mapping[tuple[str, str], float]) -> None:
        """Keep when tokens were last used, by user and token, in seconds since 1970."""

    def uses(self) -> dict[tuple[str, str], float]:
        """Return when tokens were last used, by user and token, in seconds since 1970."""

    def begin(
        self, request: KeyedRequest, limits: Limits, max_cost: float | None, reserve: float
    ) -> Beginning:
        """Begin a request, unless it is known or a limit is reached. Atomic.

        A kept answer and a running request come before the limits. Of two processes that begin the
        same request, one gets Begun. `max_cost` is for all users together. Until the request ends,
        `reserve` counts as its cost. A request of a process that has died can be begun again.
        """

    def finish(self, request: KeyedRequest, body: bytes | None, usage: Usage) -> Costs:
        """Keep the answer of a begun request, and add its usage.

        With None there is no text, so the request can be begun again. The first answer stays.
        Raises DamagedUsageError if the answer is kept, but the usage could not be added.
        """

    def withdraw(self, request: KeyedRequest) -> None:
        """Undo begin() for a request for which nothing was written. It counts for no limit."""

    def save_parts(self, request: KeyedRequest, parts: bytes, usage: Usage) -> None:
        """Keep the parts of an unfinished text in place of earlier ones; nothing deletes them.

        `usage` is added, which finish() then need not be told: what a process that dies has paid
        for counts too.
        """

    def beat(self) -> None:
        """Keep the begun requests of this process, and raise LedgerError if nothing can be kept.

        Called every BEAT seconds. From the first call on, all methods raise LostLedgerError if the
        ledger was replaced or deleted.
        """

    def expire(self, seconds: float) -> int:
        """Drop the answers that are older, and return their number.

        They are those that were older a day ago already, so that a clock that is wrong for less
        than a day deletes nothing.
        """

    def usage(self) -> list[MonthlyUsage]:
        """Return the usage of each user and month, by month and user.

        The cost is None for a month with a call whose price is not known.
        """

    def problems(self) -> list[str]:
        """Return warnings about the settings of the database."""
        return []


BEAT = 2.0
"""Seconds between two calls of beat()."""

GRACE = 15.0
"""Seconds without a beat after which a process counts as dead."""


_DAY = 86400.0


@dataclass(frozen=True)
class Look:
    """A look at old answers: `at` a time, those from before `before` were old. In seconds."""

    before: float
    at: float


def next_look(last: Look | None, now: float, seconds: float) -> tuple[float | None, Look]:
    """Return from before which time answers are dropped now, if any, and the look to keep.

    `seconds` is the age of old answers. A look counts a day later, unless the clock was set back.
    """
    look = Look(now - seconds, now)
    if last is None or last.at > now or last.before > look.before:
        return None, look
    return (None, last) if now - last.at < _DAY else (last.before, look)


def exceeds(cost: float, limit: float) -> bool:
    """Tell whether a cost reaches a limit, but for the rounding of sums."""
    return cost >= limit - 1e-9


def month_of(now: float) -> str:
    """Return the month of a time in seconds since 1970, such as `2026-11`, in UTC."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")


def rest_of_month(now: float) -> float:
    """Return the seconds until the next month begins, in UTC."""
    today = datetime.fromtimestamp(now, UTC)
    years, index = divmod(today.month, 12)
    return datetime(today.year + years, index + 1, 1, tzinfo=UTC).timestamp() - now
