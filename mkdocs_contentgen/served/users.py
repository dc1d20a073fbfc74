"""The users of a served writer, with their tokens and limits."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from ..errors import LedgerError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""The name of a user, which is the `user_id` of requests, and of a token."""

_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Cost = Annotated[float, msgspec.Meta(gt=0, le=1e9)]


class UserLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a user. These defaults are for users without limits of their own."""

    requests_per_minute: _Count = 20
    parallel: _Count = 4
    cost_per_month: _Cost | None = None


class Token(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token, as its SHA-256."""

    hash: str
    added: datetime
    expires: datetime | None = None

    def is_valid(self) -> bool:
        """Tell whether it has not expired."""
        return self.expires is None or datetime.now(UTC) < self.expires


class User(msgspec.Struct, omit_defaults=True):
    """A user, with the tokens by their names."""

    added: datetime
    tokens: dict[str, Token] = {}
    limits: dict[str, int | float] = {}
    """The user's own limits by name. For the others, those of `writer.yml` apply."""

    def limits_over(self, defaults: UserLimits) -> UserLimits:
        """Return the limits of the user: where there is no own one, that of `defaults`."""
        return msgspec.structs.replace(defaults, **self.limits)

    def shown_limits(self) -> str:
        """Return the user's own limits on one line, which can be empty."""
        return ", ".join(f"{name} {value:g}" for name, value in self.limits.items())


def check_name(name: str) -> str:
    """Return the name of a user or token. Raises LedgerError if it cannot be one."""
    if not NAME.fullmatch(name):
        raise LedgerError(
            "a name has at most 64 letters, digits and '.', '_', '@' or '-', and begins with a "
            "letter or digit"
        )
    return name
