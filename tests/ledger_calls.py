"""Short ways to call a ledger."""

from __future__ import annotations

from datetime import UTC, datetime

from mkdocs_contentgen.served.ledger import KeyedRequest, Ledger, LimitReached, Started
from mkdocs_contentgen.served.users import Token, User, UserLimits
from mkdocs_contentgen.writer.models.usage import Usage


def begin(
    ledger: Ledger,
    request: KeyedRequest,
    limits: UserLimits,
    max_cost: float | None = None,
    reserve: float = 0.0,
) -> str | bytes | LimitReached:
    """Begin a request, and return `begun` or what else became of it."""
    found = ledger.begin(request, limits, max_cost, reserve)
    return "begun" if isinstance(found, Started) else found


def load_parts(ledger: Ledger, request: KeyedRequest) -> bytes:
    """Return the parts that whoever begins a request gets, and begin nothing."""
    found = ledger.begin(request, UserLimits(requests_per_minute=1000, parallel=1000), None, 0.0)
    assert isinstance(found, Started)
    ledger.finish(request, None, Usage(), keeps_parts=True)
    return found.parts


def put_user(ledger: Ledger, name: str, token_hash: str, **limits: float) -> bool:
    """Add a user with one token, and return whether the name was free."""
    now = datetime.now(UTC)
    user = User(now, {"default": Token(token_hash, now)}, dict(limits))
    with ledger.changing_users() as users:
        return users.setdefault(name, user) is user


def drop_user(ledger: Ledger, name: str) -> bool:
    """Remove a user, and return whether there was one."""
    with ledger.changing_users() as users:
        return users.pop(name, None) is not None


def token_hash(ledger: Ledger, name: str) -> str | None:
    """Return the SHA-256 of a user's first token."""
    user = ledger.users().get(name)
    return next((it.hash for it in user.tokens.values()), None) if user else None
