"""The exceptions of this package, and the reasons for a missing text that are no errors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto


class ContentgenError(Exception):
    """Base class. The message is one line that says what happened and what to do."""


class ConfigurationError(ContentgenError):
    """An option for the service or the shared cache is missing, invalid or unsafe."""


class ServiceError(ContentgenError):
    """A request failed.

    `retry_after` is the time in seconds after which it may be sent again, or None if the service
    says nothing about it.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotSentError(ServiceError):
    """The service did not process the request, so it can be sent again."""


class UnreachableError(NotSentError):
    """No connection to the service could be made."""


class UnknownOutcomeError(ServiceError):
    """The request was sent, but its text did not arrive. It may have been paid for."""


class UnusableServiceError(ServiceError):
    """All other requests of the run would fail too."""


class UnavailableModelError(UnusableServiceError):
    """The model server cannot be used now."""


class RejectedError(ServiceError):
    """The service answered with a status that makes a retry pointless."""


class BusyModelError(RejectedError):
    """The model server has no time for a call."""


class InvalidAnswerError(ServiceError):
    """The service answered with status 200, but not as in interface section 2.2."""


class FailedTextError(ServiceError):
    """The answer was paid for, and nobody can use it. It is remembered, and not paid for again.

    `answer` is what was answered, `model` the name of the model or empty, and `cost` None if it is
    not known. `failed_at` is None unless the failure is a remembered one.
    """

    def __init__(
        self,
        message: str,
        answer: str = "",
        *,
        model: str = "",
        cost: float | None = None,
        failed_at: datetime | None = None,
    ) -> None:
        super().__init__(message)
        self.answer = answer
        self.model = model
        self.cost = cost
        self.failed_at = failed_at


class ApprovalError(ContentgenError):
    """An approved file is damaged, or cannot be written. The message names the file and line."""


class EditError(ContentgenError):
    """A change of a text is not possible."""


class StoreError(ContentgenError):
    """The cache cannot be read or written."""


class LedgerError(ContentgenError):
    """The ledger of the served writer cannot be read or written.

    `cause` says why, and names neither a path nor an address.
    """

    def __init__(self, message: str, cause: str = "") -> None:
        super().__init__(message)
        self.cause = cause


class UnsafeHTMLError(ContentgenError):
    """The HTML of a text is not an article, or cannot be sanitized."""


class MissingReason(Enum):
    """The reason why a request has no text, although nothing failed."""

    MISSING = auto()
    """The text is neither approved nor cached, and was not requested."""

    PENDING = auto()
    """The text is being generated."""

    STOPPED = auto()
    """The run was stopped before the request was sent."""

    OVER_BUDGET = auto()
    """`max_requests` does not allow the request."""


@dataclass(frozen=True)
class NoText:
    """The reason for a missing text that is not an error: it is returned and never raised."""

    absence: MissingReason
    message: str

    def __str__(self) -> str:
        return self.message


PENDING = NoText(MissingReason.PENDING, "the text is being generated")
