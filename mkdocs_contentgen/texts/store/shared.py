"""A cache for many machines, in Redis or Valkey, behind the one of each machine.

What a machine has once, it reads from its own disk: a build that lacks nothing opens no connection.
Where the shared cache is away or full, the build goes on with its own, and says so once.
"""

from __future__ import annotations

import errno
import re
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from ...errors import ConfigurationError, StoreError
from .entry import LEASE, MAX_ENTRY, Cache, StoredText, decode, encode

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline

SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
"""The schemes of `cache_url`, and what the client calls them; the `s` stands for TLS."""

CONNECT_TIMEOUT = 3.0
ANSWER_TIMEOUT = 5.0
"""Seconds of silence after which the shared cache counts as away."""

ROUND_TRIP_TIMEOUT = LEASE
"""Seconds for a round trip as a whole. After that, the claims of this run would be anybody's."""

LONGEST_PAUSE = 600.0
"""Seconds. No pause is longer than the option `timeout`, which is 120 for most; who has to wait for
longer hears so from the service itself."""

_ENTRIES, _KEYS = 50, 1000
"""Entries, and other commands, that are sent in one round trip."""

_USUAL_ENTRY = 32 * 1024
"""Bytes of an entry that are read at first; longer ones are then read one by one."""

_SMALL_REPLY = 128
_HANDSHAKE = 64 * 1024
"""Bytes of a reply that is no entry, and of what is sent beside the replies."""

_Item = TypeVar("_Item")

_TEXT, _CLAIM, _PAUSE = "contentgen:text:", "contentgen:claim:", "contentgen:pause"

# Each is one step to all other machines.
_CLAIM_SCRIPT = """
local owner = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
local lasts = left >= 0 and left <= tonumber(ARGV[2])
if owner and owner ~= ARGV[1] and lasts then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_RELEASE_SCRIPT = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


def shown_address(url: str) -> str | None:
    """Return the address in a `cache_url` without user and password, or None if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
    except ValueError:
        return None
    if parts.scheme not in SCHEMES or not parts.hostname:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}"


class SharedStore:
    """A Cache in Redis or Valkey at `url`, behind the `local` one of this machine.

    Every method raises ConfigurationError where `url` cannot be used at all.
    """

    def __init__(self, local: Cache, url: str) -> None:
        self._local = local
        self._url = url
        self._name = f"the shared cache {shown_address(url)}"
        self._redis: Redis | None = None
        self._allowance = _Allowance()
        self._lost = False
        self._local_is_writable = True
        self._problems: list[str] = []

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, StoredText], list[str]]:
        """Return those of the texts that are here or there; what is there is here afterwards."""
        texts, problems = self._local.load(keys, since=since)
        for batch in _batches([key for key in keys if key not in texts], _ENTRIES):
            found = self._fetch(batch, since)
            if found:
                self._save_locally(found)
            texts |= found
        return texts, problems + self._said()

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved; raises StoreError, otherwise says what is wrong."""
        replies = self._send(lambda pipeline: pipeline.info("memory"), dict)
        try:
            problems = self._local.prepare()
        except StoreError as error:
            if self._lost:
                raise
            problems = []
            self._keep_there_only(error)
        for memory in replies:
            policy = cast(dict[str, object], memory).get("maxmemory_policy")
            if re.fullmatch("allkeys-[a-z]{1,20}", str(policy)):
                self._problems.append(
                    f"{self._name} may drop texts that were paid for, since its maxmemory-policy "
                    f"is '{policy}'; set it to 'noeviction'"
                )
        return problems + self._said()

    def save(self, texts: Mapping[str, StoredText]) -> None:
        """Keep texts here and there. Raises StoreError where neither can."""
        failure = self._save_locally(texts)
        for batch in _batches(texts.items(), _ENTRIES):
            self._send(partial(_set_texts, batch), int)
        if failure and self._lost:
            raise failure

    def claim(self, keys: Collection[str], owner: str) -> set[str]:
        """Return those of `keys` that `owner` alone may ask the service for now, or still may."""
        lease = str(round(LEASE * 1000))
        replies = self._send_each(
            keys,
            lambda pipeline, key: pipeline.eval(_CLAIM_SCRIPT, 1, _CLAIM + key, owner, lease),
            int,
        )
        if self._lost:
            return self._local.claim(keys, owner)
        return {key for key, reply in replies.items() if reply == 1}

    def release(self, keys: Collection[str], owner: str) -> None:
        """Give up claims of `owner`; those that cannot be given up expire."""
        self._send_each(
            keys, lambda pipeline, key: pipeline.eval(_RELEASE_SCRIPT, 1, _CLAIM + key, owner), int
        )
        if self._lost and self._local_is_writable:
            self._local.release(keys, owner)

    def pause(self, seconds: float) -> None:
        """Tell other machines that the service asked for a pause of so many seconds."""
        seconds = min(seconds, LONGEST_PAUSE)
        if seconds > self.paused():
            lasts = max(1, round(seconds * 1000))
            self._send(lambda pipeline: pipeline.set(_PAUSE, "1", px=lasts), int)

    def paused(self) -> float:
        """Return the remaining seconds of the pause that other machines were asked for, or 0."""
        replies = self._send(lambda pipeline: pipeline.pttl(_PAUSE), int)
        left = cast(int, replies[0]) / 1000 if replies else 0.0
        # One without an end, or of years, is of nobody who was asked to wait.
        return left if 0 < left <= LONGEST_PAUSE else 0.0

    def shared(self, keys: Collection[str]) -> set[str]:
        """Return those of the texts that other machines can get too."""
        replies = self._send_each(keys, lambda pipeline, key: pipeline.exists(_TEXT + key), int)
        return {key for key, reply in replies.items() if reply == 1}

    def requests(self) -> tuple[dict[str, dict[str, object]], list[str]]:
        """Return what each text of this machine was asked for with, by key, and what is wrong."""
        return self._local.requests()

    def delete(self, keys: Collection[str]) -> None:
        """Drop texts of this machine; others may still need them. Raises StoreError."""
        self._local.delete(keys)

    def close(self) -> list[str]:
        """Let go of files and connections; say what went wrong that was not said yet."""
        if self._redis is not None:
            self._redis.close()
            self._redis = None
        return self._local.close() + self._said()

    def _said(self) -> list[str]:
        problems, self._problems = self._problems, []
        return problems

    def _save_locally(self, texts: Mapping[str, StoredText]) -> StoreError | None:
        """Keep texts on this machine, or return why that is impossible."""
        try:
            self._local.save(texts)
        except StoreError as error:
            self._keep_there_only(error)
            return error
        return None

    def _keep_there_only(self, error: StoreError) -> None:
        if self._local_is_writable:
            self._problems.append(f"{error}; texts are kept in {self._name} only")
        self._local_is_writable = False

    def _fetch(self, keys: Collection[str], since: datetime | None) -> dict[str, StoredText]:
        entries = self._entries(keys, _USUAL_ENTRY)
        for key in [key for key, entry in entries.items() if len(entry) == _USUAL_ENTRY]:
            del entries[key]
            entries |= self._entries([key], MAX_ENTRY)
        texts = {}
        for key, entry in entries.items():
            text = decode(key, entry)
            if text is None:
                self._problems.append(
                    f"the entry {key[:12]}… in {self._name} was changed or damaged, and is ignored"
                )
            elif since is None or text.generated_at > since:
                texts[key] = text
        return texts

    def _entries(self, keys: Collection[str], size: int) -> dict[str, bytes]:
        """Return so many bytes of the entries that are there; what is none is one that is wrong."""
        replies = self._send_each(
            keys,
            lambda pipeline, key: pipeline.getrange(_TEXT + key, 0, size - 1),
            bytes,
            size=size,
            may_be_foreign=True,
        )
        return {
            key: reply if isinstance(reply, bytes) else b"wrong"
            for key, reply in replies.items()
            if reply != b""
        }

    def _send_each(
        self,
        keys: Collection[str],
        command: Callable[[Pipeline, str], object],
        expected: type,
        *,
        size: int = _SMALL_REPLY,
        may_be_foreign: bool = False,
    ) -> dict[str, object]:
        """Send a command for each key, and return the replies by key, as `_send()` does."""
        replies: list[object] = []
        for batch in _batches(keys, _KEYS):
            replies += self._send(
                partial(_each, command, batch), expected, size=size, may_be_foreign=may_be_foreign
            )
        return {} if self._lost else dict(zip(keys, replies, strict=True))

    def _send(
        self,
        commands: Callable[[Pipeline], object],
        expected: type,
        *,
        size: int = _SMALL_REPLY,
        may_be_foreign: bool = False,
    ) -> list[object]:
        """Send commands in one round trip, and return the replies; none when the cache is away.

        Replies are of the `expected` type, and of `size` bytes at most; they may be errors only
        where entries `may_be_foreign`, of another type than texts.
        """
        if self._lost:
            return []
        try:
            import redis
        except ImportError as error:
            raise ConfigurationError(
                "cache_url: needs the package redis; "
                'install it with: pip install "mkdocs-contentgen[redis]"'
            ) from error
        if self._redis is None:
            self._redis = self._connection()
        pipeline = self._redis.pipeline(transaction=False)
        commands(pipeline)
        self._allowance.begin(_HANDSHAKE + len(pipeline) * (size + _SMALL_REPLY))
        try:
            with pipeline:
                replies = cast(list[object], pipeline.execute(raise_on_error=False))
            for reply in replies:
                if isinstance(reply, redis.RedisError):
                    if not (may_be_foreign and str(reply).startswith("WRONGTYPE")):
                        raise reply
                # That something was not kept is the answer False, which is a number to Python.
                elif not isinstance(reply, expected) or reply is False:
                    raise redis.InvalidResponse
        except Exception as error:  # noqa: BLE001  who reads what is no Redis can meet any
            self._lost = True
            self._problems.append(
                f"{self._name} cannot be used ({_reason(error)}); this build goes on with the "
                "cache of this machine, and another machine may pay for the same texts"
            )
            return []
        return replies

    def _connection(self) -> Redis:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        scheme, _, rest = self._url.partition("://")
        try:
            client = Redis.from_url(
                f"{SCHEMES[scheme.lower()]}://{rest}",
                socket_connect_timeout=CONNECT_TIMEOUT,
                socket_timeout=ANSWER_TIMEOUT,
                # Once more, since a server ends connections that were idle.
                retry=Retry(NoBackoff(), 1),
                # With the other one, a server can send this machine to another address.
                protocol=2,
            )
            pool = client.connection_pool
            pool.connection_class = _bounded(pool.connection_class, self._allowance)
            pool.make_connection()
        except (TypeError, ValueError) as error:
            # The words of the error could quote a password.
            raise ConfigurationError(
                "cache_url: what follows '?' is not an option of the package redis"
            ) from error
        return client


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def _each(
    command: Callable[[Pipeline, str], object], keys: Iterable[str], pipeline: Pipeline
) -> None:
    for key in keys:
        command(pipeline, key)


def _set_texts(texts: Iterable[tuple[str, StoredText]], pipeline: Pipeline) -> None:
    for key, text in texts:
        pipeline.set(_TEXT + key, encode(key, text))
        pipeline.delete(_CLAIM + key)


class _Allowance:
    """What is left of the time and the bytes of a round trip, tries to connect included."""

    def __init__(self) -> None:
        self._deadline = self._size = 0.0

    def begin(self, size: int) -> None:
        """Allow a round trip that brings so many bytes."""
        self._deadline = time.monotonic() + ROUND_TRIP_TIMEOUT
        self._size = size

    def seconds(self) -> float:
        """Return the time that is left. Raises TimeoutError."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def take(self, size: int) -> None:
        """Count bytes that came. Raises OSError for more than is allowed."""
        self._size -= size
        if self._size < 0:
            raise OSError(errno.EMSGSIZE, "it sends more than it was asked for")


class _BoundedSocket:
    """A socket, plain or with TLS, that keeps to an allowance.

    A socket's own timeout begins anew with each byte, and redis-py reads for as long as some come.
    """

    def __init__(self, wrapped: socket.socket, allowance: _Allowance) -> None:
        self._wrapped = wrapped
        self._allowance = allowance
        self._timeout = wrapped.gettimeout()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def settimeout(self, timeout: float | None) -> None:
        """Set the seconds that the next call may take, as far as the allowance lets it."""
        self._timeout = timeout

    def recv(self, *arguments: int) -> bytes:
        """Return some bytes."""
        self._bound()
        data = self._wrapped.recv(*arguments)
        self._allowance.take(len(data))
        return data

    def recv_into(self, *arguments: Any) -> int:
        """Read some bytes into a buffer, and return how many."""
        self._bound()
        size = self._wrapped.recv_into(*arguments)
        self._allowance.take(size)
        return size

    def sendall(self, data: bytes) -> None:
        """Send all bytes."""
        self._bound()
        self._wrapped.sendall(data)

    def _bound(self) -> None:
        left = self._allowance.seconds()
        self._wrapped.settimeout(left if self._timeout is None else min(self._timeout, left))


def _bounded(connection_class: Any, allowance: _Allowance) -> Any:
    """Return a class of redis-py's connections whose sockets keep to the allowance."""

    class BoundedConnection(connection_class):  # type: ignore[misc]  # it is known when it runs
        def _connect(self) -> _BoundedSocket:
            allowance.seconds()
            return _BoundedSocket(super()._connect(), allowance)

    return BoundedConnection


_REASONS = {
    "OutOfMemoryError": "it is full",
    "AuthenticationError": "it refuses the user or the password",
    "TimeoutError": "it does not answer in time",
}


def _reason(error: Exception) -> str:
    """Say what went wrong, without the server's own words, which could repeat a password."""
    from redis import ConnectionError as EndedError
    from redis import InvalidResponse, ResponseError

    name = type(error).__name__
    cause = error.__cause__ or error.__context__ or error
    if reason := _REASONS.get(name) or getattr(cause, "strerror", None):
        return str(reason)
    if isinstance(error, ResponseError) and not isinstance(error, InvalidResponse):
        code = re.match(r"[A-Z]{2,20}\b", str(error))
        return code[0] if code else name
    return "it ended the connection" if isinstance(error, EndedError) else "it answers nonsense"
