"""What pages ask for, and what may be done to get it: the input of `obtain`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..requests import Request

OnMissing = Literal["generate", "placeholder", "fail"]
OnError = Literal["fail", "placeholder"]


@dataclass(frozen=True)
class PageRequest:
    """One article that a page asks for. `place` is for messages, such as `docs/post.md:2`."""

    request: Request
    page: str = ""
    place: str = ""
    template: str = ""
    """The template that the page's front matter names."""


@dataclass(frozen=True)
class Policy:
    """What may be asked for, and what counts as a failure: the plugin options of the same names.

    With `refresh`, every text is asked for, also what is there. With `lenient`, nothing is a
    failure, and `max_requests` is left to whoever asks, as under `mkdocs serve`.
    """

    on_missing: OnMissing = "generate"
    on_error: OnError = "fail"
    require_approval: bool = False
    max_requests: int = 100
    max_age: timedelta | None = None
    sandbox: bool = False
    refresh: bool = False
    lenient: bool = False
