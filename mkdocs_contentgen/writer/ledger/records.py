"""The records of a ledger: users with their limits, and the arguments and results of calls."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec

from ...errors import LedgerError
from ..usage import Usage

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""The name of a user, which is the `user_id` of requests, and of a token."""

_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Cost = Annotated[float, msgspec.Meta(gt=0, le=1e9)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of each user."""

    requests_per_minute: _Count = 20
    parallel: _Count = 4
    cost_per_month: _Cost | None = None


class Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A token, as its SHA-256. Times are in seconds since 1970."""

    hash: str
    added: float
    expires: float | None = None

    def is_valid(self, now: float) -> bool:
        """Tell whether it has not expired."""
        return self.expires is None or now < self.expires


class User(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A user. `added` is in seconds since 1970."""

    added: float
    tokens: dict[str, Token] = {}
    limits: dict[str, int | float] = {}
    """The user's own limits, which apply in place of those of each user."""

    def limits_over(self, limits: Limits) -> Limits:
        """Return the limits of the user, with those of each user for the others."""
        return msgspec.structs.replace(limits, **self.limits)

    def shown_limits(self) -> str:
        """Return the user's own limits on one line, which can be empty."""
        return ", ".join(f"{name} {value:g}" for name, value in self.limits.items())

    def token_name(self, token_hash: str) -> str | None:
        """Return the name of the token with this SHA-256, or None. It can have expired."""
        found = [  # all of them are compared, so that the time tells nothing
            name for name, it in self.tokens.items() if hmac.compare_digest(it.hash, token_hash)
        ]
        return found[0] if found else None

    def with_token(self, name: str, token: Token) -> User:
        """Return the user with another token. Raises LedgerError if the name is not free."""
        if check_name(name) in self.tokens:
            raise LedgerError(f"there is a token {name} already; revoke it first, or name another")
        return msgspec.structs.replace(self, tokens={**self.tokens, name: token})

    def without_token(self, name: str) -> User:
        """Return the user without a token. Raises LedgerError if there is none of this name."""
        if name not in self.tokens:
            raise LedgerError(
                f"there is no token {check_name(name)}; `contentgen writer user list` shows them"
            )
        left = {key: token for key, token in self.tokens.items() if key != name}
        return msgspec.structs.replace(self, tokens=left)


def check_name(name: str) -> str:
    """Return the name of a user or token. Raises LedgerError if it cannot be one."""
    if not NAME.fullmatch(name):
        raise LedgerError(
            "a name has at most 64 letters, digits and '.', '_', '@' or '-', and begins with a "
            "letter or digit"
        )
    return name


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
    """Its cost is None for a month with a call whose price is not known."""


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
