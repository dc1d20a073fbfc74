"""A cache for many machines, in Redis or Valkey, behind the one of each machine.

What a machine has once, it reads from its own disk: a build that lacks nothing opens no connection.
Where the shared cache is away or full, the build goes on with its own, and says so once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from ..errors import ConfigurationError, StoreError
from .entry import LEASE, MAX_ENTRY, Store, StoredText, decode, encode

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline

SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
"""The schemes of `cache_url`, and what the client calls them; the `s` stands for TLS."""

CONNECT_TIMEOUT = 3.0
ANSWER_TIMEOUT = 5.0
"""Seconds after which the shared cache counts as away."""

_BATCH = 100
"""Entries that are read in one round trip."""

_TEXT, _CLAIM, _PAUSE = "contentgen:text:", "contentgen:claim:", "contentgen:pause"

# Each is one step to all other machines.
_CLAIM_SCRIPT = """
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
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
    """A Store in Redis or Valkey at `url`, behind the `local` one of this machine.

    Every method raises ConfigurationError where `url` cannot be used at all.
    """

    def __init__(self, local: Store, url: str) -> None:
        self._local = local
        self._url = url
        self._name = f"the shared cache {shown_address(url)}"
        self._redis: Redis | None = None
        self._lost = False
        self._local_is_writable = True
        self._problems: list[str] = []

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, StoredText], list[str]]:
        """Return those of the texts that are here or there; what is there is here afterwards."""
        texts, problems = self._local.load(keys, since=since)
        missing = (key for key in keys if key not in texts)
        while batch := list(islice(missing, _BATCH)):
            found = self._fetch(batch, since)
            if found:
                self._save_locally(found)
            texts |= found
        return texts, problems + self._said()

    def prepare(self) -> list[str]:
        """Make sure that texts can be saved; raises StoreError, otherwise says what is wrong."""
        replies = self._send(lambda pipeline: pipeline.info("memory"))
        try:
            problems = self._local.prepare()
        except StoreError as error:
            if self._lost:
                raise
            problems = []
            self._keep_there_only(error)
        for memory in replies:
            policy = memory.get("maxmemory_policy", "") if isinstance(memory, dict) else ""
            if str(policy).startswith("allkeys-"):
                self._problems.append(
                    f"{self._name} may drop texts that were paid for, since its maxmemory-policy "
                    f"is '{policy}'; set it to 'noeviction'"
                )
        return problems + self._said()

    def save(self, texts: Mapping[str, StoredText]) -> None:
        """Keep texts here and there. Raises StoreError where neither can."""
        failure = self._save_locally(texts)

        def commands(pipeline: Pipeline) -> None:
            for key, text in texts.items():
                pipeline.set(_TEXT + key, encode(key, text))
                pipeline.delete(_CLAIM + key)

        self._send(commands)
        if failure and self._lost:
            raise failure

    def claim(self, keys: Collection[str], owner: str) -> set[str]:
        """Return those of `keys` that `owner` alone may ask the service for now, or still may."""
        lease = str(round(LEASE * 1000))
        replies = self._send_each(
            keys, lambda pipeline, key: pipeline.eval(_CLAIM_SCRIPT, 1, _CLAIM + key, owner, lease)
        )
        if self._lost:
            return self._local.claim(keys, owner)
        return {key for key, reply in replies.items() if reply == 1}

    def release(self, keys: Collection[str], owner: str) -> None:
        """Give up claims of `owner`; those that cannot be given up expire."""
        self._send_each(
            keys, lambda pipeline, key: pipeline.eval(_RELEASE_SCRIPT, 1, _CLAIM + key, owner)
        )
        if self._lost and self._local_is_writable:
            self._local.release(keys, owner)

    def pause(self, seconds: float) -> None:
        """Tell other machines that the service wants to be left alone for so long."""
        if seconds > self.paused():
            self._send(lambda pipeline: pipeline.set(_PAUSE, "1", px=max(1, round(seconds * 1000))))

    def paused(self) -> float:
        """Return the seconds for which the service wants to be left alone, as others were told."""
        replies = self._send(lambda pipeline: pipeline.pttl(_PAUSE))
        left = replies[0] if replies else 0
        return max(0, left) / 1000 if isinstance(left, int) else 0.0

    def shared(self, keys: Collection[str]) -> set[str]:
        """Return those of the texts that other machines can get too."""
        replies = self._send_each(keys, lambda pipeline, key: pipeline.exists(_TEXT + key))
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
        replies = self._send_each(
            keys,
            lambda pipeline, key: pipeline.getrange(_TEXT + key, 0, MAX_ENTRY),
            may_be_foreign=True,
        )
        texts = {}
        for key, entry in replies.items():
            if not entry:
                continue
            text = decode(key, entry) if isinstance(entry, bytes) else None
            if text is None:
                self._problems.append(
                    f"the entry {key[:12]}… in {self._name} was changed or damaged, and is ignored"
                )
            elif since is None or text.generated_at > since:
                texts[key] = text
        return texts

    def _send_each(
        self,
        keys: Collection[str],
        command: Callable[[Pipeline, str], object],
        *,
        may_be_foreign: bool = False,
    ) -> dict[str, object]:
        """Send a command for each key, and return the replies by key, as `_send()` does."""
        if not keys:
            return {}
        replies = self._send(
            lambda pipeline: [command(pipeline, key) for key in keys], may_be_foreign=may_be_foreign
        )
        return dict(zip(keys, replies, strict=True)) if replies else {}

    def _send(
        self, commands: Callable[[Pipeline], object], *, may_be_foreign: bool = False
    ) -> list[object]:
        """Send commands in one round trip, and return the replies; none when the cache is away.

        A reply may be an error only where entries `may_be_foreign`, of another type than texts.
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
        try:
            if self._redis is None:
                self._redis = self._connection()
            with self._redis.pipeline(transaction=False) as pipeline:
                commands(pipeline)
                replies = cast(list[object], pipeline.execute(raise_on_error=False))
            for reply in replies:
                foreign = may_be_foreign and str(reply).startswith("WRONGTYPE")
                if isinstance(reply, redis.RedisError) and not foreign:
                    raise reply
        except (redis.RedisError, OSError) as error:
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
            )
            client.connection_pool.make_connection()
        except (TypeError, ValueError) as error:
            # The words of the error could quote a password.
            raise ConfigurationError(
                "cache_url: what follows '?' is not an option of the package redis"
            ) from error
        return client


_REASONS = {
    "OutOfMemoryError": "it is full",
    "AuthenticationError": "it refuses the user or the password",
    "TimeoutError": "it does not answer in time",
}


def _reason(error: Exception) -> str:
    """Say what went wrong, without the server's own words, which could repeat a password."""
    name = type(error).__name__
    cause = error.__cause__ or error.__context__ or error
    code = re.match(r"[A-Z]{2,}\b", str(error))
    return _REASONS.get(name) or getattr(cause, "strerror", None) or (code[0] if code else name)
