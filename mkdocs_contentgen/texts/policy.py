"""The input of `obtain` beside requests: what may be sent, and how."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from ..reporting import SILENT, Reporter

if TYPE_CHECKING:
    from ..page_request import PageRequest
    from ..service.protocol import Attempt, Client
    from ..text import Text
    from .store import DiskStore

Connect = Callable[[], AbstractAsyncContextManager["Client"]]
"""Makes a client. It is called only if there are requests, and may raise ConfigurationError."""

AskForText = Callable[["Client", "PageRequest", "Attempt"], Awaitable["Text"]]
"""Asks a client for the text of a request, once. Raises ServiceError."""

OnMissing = Literal["generate", "placeholder", "fail"]
OnError = Literal["fail", "placeholder"]


@dataclass(frozen=True)
class Policy:
    """What may be requested, and what counts as a failure.

    The fields up to `max_age` are the plugin options of the same names.
    """

    on_missing: OnMissing = "generate"
    on_error: OnError = "fail"
    require_approval: bool = False
    max_requests: int = 100
    max_age: timedelta | None = None
    sandbox: bool = False
    """Whether the sandbox writes the texts, which have other keys then."""

    refresh: bool = False
    """Whether all texts are requested, cached ones too."""

    retry_failed: bool = False
    """Whether texts that failed before are requested again."""

    all_drafts: bool = False
    """Whether the drafts of approved articles are looked up, too."""

    shows_drafts: bool = False
    """Whether a draft that is newer is shown in place of the approved text, as on the desk."""

    translates_drafts: bool = True
    """Whether a text that nobody has approved may be translated."""

    warn_only: bool = False
    """Whether all failures are warnings, as in a server. The text source has to respect
    `max_requests` then."""

    @property
    def looks_up_drafts(self) -> bool:
        """Whether the drafts of articles with an approval, and failed updates, are looked up."""
        return self.all_drafts or self.refresh or self.shows_drafts


@dataclass(frozen=True)
class Limits:
    """The plugin options of the same names. `timeout` is in seconds."""

    concurrency: int = 8
    timeout: float = 120
    retries: int = 2


@dataclass(frozen=True)
class SendingOptions:
    """How requests are sent: by the client that `connect` makes. Answers are saved in `store`."""

    store: DiskStore
    connect: Connect
    limits: Limits = field(default_factory=Limits)
    reporter: Reporter = SILENT
    ask: AskForText | None = None
    """Asks a client for a text, or None for `generation.ask_for_text`."""

    editions: Mapping[str, int] = field(default_factory=dict)
    """The edition of the newest text that there is already, for some requests by key."""

    operations: Mapping[str, str] = field(default_factory=dict)
    """The operations of updates, by key: the name of each, and a digest of its body.

    Each operation has an Idempotency-Key of its own."""

    agreed: frozenset[str] = frozenset()
    """The `version` of each text whose human edits a person has agreed to lose, as it was seen."""
