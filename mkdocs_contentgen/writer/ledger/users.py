"""The users of a served writer, with their tokens and limits."""

from __future__ import annotations

import hmac
import re
from typing import Annotated

import msgspec

from ...errors import LedgerError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""The name of a user, which is the `user_id` of requests, and of a token."""

MAX_TOKENS = 20
"""The maximum number of tokens of a user."""

_Time = Annotated[float, msgspec.Meta(ge=0, le=1e11)]
_Name = Annotated[str, msgspec.Meta(pattern=rf"^{NAME.pattern}\Z")]
_Hash = Annotated[str, msgspec.Meta(pattern=r"^[!-~]{1,128}\Z")]
_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
_Cost = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of each user."""

    requests_per_minute: _Count = 20
    parallel: _Count = 4
    cost_per_month: _Cost | None = None


class OwnLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The limits of one user. Where one is None, that of each user applies."""

    requests_per_minute: _Count | None = None
    parallel: _Count | None = None
    cost_per_month: _Cost | None = None

    def over(self, limits: Limits) -> Limits:
        """Return the limits of the user, with those of each user for the others."""
        own = {name: it for name, it in msgspec.structs.asdict(self).items() if it is not None}
        return msgspec.structs.replace(limits, **own)

    def __str__(self) -> str:
        own = msgspec.structs.asdict(self).items()
        return ", ".join(f"{name} {value:g}" for name, value in own if value is not None)


class Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A token, as its SHA-256. Times are in seconds since 1970."""

    hash: _Hash
    added: _Time
    expires: _Time | None = None

    def is_valid(self, now: float) -> bool:
        """Tell whether it has not expired."""
        return self.expires is None or now < self.expires


class User(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A user. `added` is in seconds since 1970."""

    added: _Time
    tokens: dict[_Name, Token] = {}
    limits: OwnLimits = OwnLimits()

    def token_name(self, token_hash: str) -> str | None:
        """Return the name of the token with this SHA-256, or None. It can have expired."""
        found = None
        for name, token in self.tokens.items():  # all of them, so that the time tells nothing
            if hmac.compare_digest(token.hash.encode(), token_hash.encode()):
                found = name
        return found

    def with_token(self, name: str, token: Token) -> User:
        """Return the user with another token. Raises LedgerError if the name is not free."""
        if check_name(name) in self.tokens:
            raise LedgerError(f"there is a token {name} already; revoke it first, or name another")
        if len(self.tokens) >= MAX_TOKENS:
            raise LedgerError(f"a user has at most {MAX_TOKENS} tokens; revoke one first")
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
