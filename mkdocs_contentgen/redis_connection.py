"""Connect to Redis or Valkey, with limits on the time and the size of each round trip.

Only this module imports redis. The server is not trusted: whatever it sends, a call returns
replies of the expected types, or raises UnavailableError.
"""

from __future__ import annotations

import errno
import json
import re
import socket
import time
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from .errors import ConfigurationError

if TYPE_CHECKING:
    from redis import Redis

Command = tuple[str | bytes | int, ...]
"""The name of a command, and its arguments."""

SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
"""The schemes of addresses, and those of redis-py for them. A final `s` means TLS."""

CONNECT_TIMEOUT = 3.0
ANSWER_TIMEOUT = 5.0
"""Seconds without data after which the server counts as unavailable."""

MAX_REPLY = 128
_OVERHEAD = 64 * 1024
"""The maximum size in bytes of a reply without an entry, and of other data in a round trip."""


class UnavailableError(Exception):
    """The server cannot be used. The message is the reason, without anything that it sent."""


def shown_address(url: str) -> str | None:
    """Return the address in a URL without user and password, or None if it is invalid."""
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
    except ValueError:
        return None
    # urlsplit() drops spaces and line breaks, redis-py does not.
    if url.partition("://")[0].lower() not in SCHEMES or not parts.hostname:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}"


class RedisConnection:
    """A connection to the server at `url`, which is made when it is needed.

    `option` is the name of the option with the URL, for messages. `timeout` is the time in seconds
    for a whole round trip.
    """

    def __init__(self, url: str, option: str, timeout: float) -> None:
        self._url = url
        self._option = option
        self._timeout = timeout
        self._limits = _RoundTripLimits(timeout)
        self._client: Redis | None = None

    def open(self) -> None:
        """Check the URL, without connecting.

        Raises ConfigurationError if it is invalid or the package redis is missing.
        """
        try:
            import redis  # noqa: F401
        except ImportError as error:
            raise ConfigurationError(
                f"{self._option}: needs the package redis; "
                'install it with: pip install "mkdocs-contentgen[redis]"'
            ) from error
        if self._client is None:
            self._client = self._make_client()

    def send(
        self,
        commands: Sequence[Command],
        expected: type,
        *,
        size: int = MAX_REPLY,
        allow_wrong_type: bool = False,
        transaction: bool = False,
    ) -> list[object]:
        """Send commands in one round trip, or as one transaction, and return the replies.

        Replies are of the type `expected`, and of `size` bytes at most. With `allow_wrong_type`,
        they may also be WRONGTYPE errors. If the connection is lost, the commands are sent once
        more. Raises UnavailableError; then they may have been executed, and the next call connects
        again. Also raises ConfigurationError, like open().
        """
        self.open()
        import redis

        pipeline = cast("Redis", self._client).pipeline(transaction=transaction)
        for command in commands:
            pipeline.execute_command(*command)  # type: ignore[no-untyped-call]  # it has no types
        self._limits.begin(_OVERHEAD + len(pipeline) * (size + MAX_REPLY))
        try:
            with pipeline:
                replies = cast(list[object], pipeline.execute(raise_on_error=False))
            for reply in replies:
                if isinstance(reply, redis.RedisError):
                    if not (allow_wrong_type and str(reply).startswith("WRONGTYPE")):
                        raise reply
                # False means that a value was not set, and is an int for Python.
                elif not isinstance(reply, expected) or reply is False:
                    raise redis.InvalidResponse
        except Exception as error:  # redis-py can raise anything for invalid data
            raise UnavailableError(_reason(error)) from error
        return replies

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _make_client(self) -> Redis:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        scheme, _, rest = self._url.partition("://")
        try:
            client = Redis.from_url(
                f"{SCHEMES[scheme.lower()]}://{rest}",
                socket_connect_timeout=min(CONNECT_TIMEOUT, self._timeout),
                socket_timeout=min(ANSWER_TIMEOUT, self._timeout),
                # One retry, since servers close idle connections.
                retry=Retry(NoBackoff(), 1),
                # With version 3, a server can redirect the client to another address.
                protocol=2,
            )
            pool = client.connection_pool
            pool.connection_class = _with_limits(pool.connection_class, self._limits)
            pool.make_connection()
        except Exception:  # noqa: BLE001  redis-py raises anything for unexpected values
            # Its message could quote a password.
            raise ConfigurationError(
                f"{self._option}: the package redis refuses what follows '?'; correct the name or "
                "the value of the option there"
            ) from None
        return client


def script_call(
    package: str, command: str, keys: Sequence[str], *data: bytes, **arguments: object
) -> Command:
    """Return the call of a command in the `shared.lua` of a package.

    ARGV are the command with its arguments as JSON, and `data`. Arguments that are None are nil.
    """
    fields = {name: value for name, value in arguments.items() if value is not None}
    encoded = json.dumps({"command": command, **fields})
    return ("EVAL", _script(package), len(keys), *keys, encoded, *data)


@cache
def _script(package: str) -> str:
    return files(package).joinpath("shared.lua").read_text("utf-8")


def eviction_problems(name: str, memory: object, *, volatile: bool = False) -> list[str]:
    """Return a warning if a server with this `INFO memory` deletes entries when it is full.

    With `volatile`, also if it deletes entries that expire.
    """
    policy = str(cast(dict[str, object], memory).get("maxmemory_policy"))
    kinds = "allkeys|volatile" if volatile else "allkeys"
    if not re.fullmatch(f"({kinds})-[a-z]{{1,20}}", policy):
        return []
    return [
        f"{name} may evict texts that were paid for, since its maxmemory-policy is '{policy}'; "
        "set it to 'noeviction'"
    ]


class _RoundTripLimits:
    """The remaining time and bytes of a round trip, including attempts to connect."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._deadline = self._size = 0.0

    def begin(self, size: int) -> None:
        self._deadline = time.monotonic() + self._timeout
        self._size = size

    def seconds(self) -> float:
        """Return the remaining seconds. Raises TimeoutError if there are none."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def count(self, size: int) -> None:
        self._size -= size
        if self._size < 0:
            raise OSError(errno.EMSGSIZE, "it sends more data than requested")


class _LimitedSocket:
    """A socket, plain or with TLS, that enforces the limits of a round trip.

    The timeout of a socket restarts with each byte, and redis-py reads as long as data arrives.
    """

    def __init__(self, wrapped: socket.socket, limits: _RoundTripLimits) -> None:
        self._wrapped = wrapped
        self._limits = limits
        self._timeout = wrapped.gettimeout()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def settimeout(self, timeout: float | None) -> None:
        self._timeout = timeout

    def recv(self, *arguments: int) -> bytes:
        self._apply_timeout()
        data = self._wrapped.recv(*arguments)
        self._limits.count(len(data))
        return data

    def recv_into(self, *arguments: Any) -> int:
        self._apply_timeout()
        size = self._wrapped.recv_into(*arguments)
        self._limits.count(size)
        return size

    def sendall(self, data: bytes) -> None:
        self._apply_timeout()
        self._wrapped.sendall(data)

    def _apply_timeout(self) -> None:
        left = self._limits.seconds()
        self._wrapped.settimeout(left if self._timeout is None else min(self._timeout, left))


def _with_limits(connection_class: Any, limits: _RoundTripLimits) -> Any:
    """Return a subclass of a redis-py connection class whose sockets enforce the limits."""

    class LimitedConnection(connection_class):  # type: ignore[misc]  # a dynamic base
        def _connect(self) -> _LimitedSocket:
            limits.seconds()
            return _LimitedSocket(super()._connect(), limits)

    return LimitedConnection


_REASONS = {
    "OutOfMemoryError": "it is full",
    "ReadOnlyError": "it is a replica, which cannot be written",
    "BusyLoadingError": "it is still loading its data",
    "AuthenticationError": "it refuses the user or the password",
    "TimeoutError": "it does not answer in time",
}


def _reason(error: Exception) -> str:
    """Return what went wrong, without the server's message, which could repeat a password."""
    from redis import ConnectionError as EndedError
    from redis import InvalidResponse, ResponseError

    name = type(error).__name__
    cause = error.__cause__ or error.__context__ or error
    if reason := _REASONS.get(name) or getattr(cause, "strerror", None):
        return str(reason)
    if isinstance(error, ResponseError) and not isinstance(error, InvalidResponse):
        code = re.match(r"[A-Z]{2,20}\b", str(error))
        return code[0] if code else name
    return (
        "it ended the connection" if isinstance(error, EndedError) else "it sends invalid replies"
    )
