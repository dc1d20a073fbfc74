"""The errors of this package.

    ContentgenError
    ├── ConfigurationError        the options do not say how to reach the service
    ├── ServiceError              one request failed
    │   ├── NotSentError          it surely did not run: it can be tried again
    │   │   └── UnreachableError  no connection to the service
    │   ├── UnknownOutcomeError   it was sent, and may have been carried out and paid for
    │   ├── AccessDeniedError     401 or 403: no other request would fare better
    │   ├── RejectedError         any other status than 200
    │   └── InvalidAnswerError    status 200, but not what the interface describes
    ├── ApprovalError             an approved file is damaged, or cannot be written
    ├── StoreError                the cache cannot be read or written
    └── UnsafeHTMLError           a text is not an article that can be shown

Who catches ContentgenError catches them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class ContentgenError(Exception):
    """Base of all; its text is one line that says what happened and what to do."""


class ConfigurationError(ContentgenError):
    """The options do not say how to reach the service, or not safely."""


class ServiceError(ContentgenError):
    """One request failed."""


class NotSentError(ServiceError):
    """The request surely did not run, so that it can be tried again.

    `retry_after` is the number of seconds that the service asked to wait, if it did.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnreachableError(NotSentError):
    """No connection to the service could be made."""


class UnknownOutcomeError(ServiceError):
    """The request was sent, and no whole answer came: it may have been paid for."""


class AccessDeniedError(ServiceError):
    """The service answered 401 or 403."""


class RejectedError(ServiceError):
    """The service answered with another status than 200 that does not invite a second try."""


class InvalidAnswerError(ServiceError):
    """The service answered 200 with something else than interface section 2.2 describes."""


class ApprovalError(ContentgenError):
    """An approved file is damaged, or cannot be written; the text names file and line."""


class StoreError(ContentgenError):
    """The cache cannot be read or written."""


class UnsafeHTMLError(ContentgenError):
    """A text is not an article, or not one that can be made safe."""


class Absence(Enum):
    """Why a request has no text, though nothing failed."""

    MISSING = auto()
    """The text is neither approved nor cached, and was not asked for."""

    PENDING = auto()
    """The text is being generated."""

    STOPPED = auto()
    """The run was stopped before the request was sent."""

    OVER_BUDGET = auto()
    """`max_requests` does not allow the request."""


@dataclass(frozen=True)
class NoText:
    """The reason for a missing text, which no error is: it is returned and never raised."""

    absence: Absence
    message: str

    def __str__(self) -> str:
        return self.message
