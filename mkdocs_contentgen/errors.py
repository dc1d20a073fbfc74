"""The exceptions of this package, and the reasons for a missing text that are no errors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


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

    `cause` says why, and names no address, and no file of this machine.
    """

    def __init__(self, message: str, cause: str = "") -> None:
        super().__init__(message)
        self.cause = cause


class UnsafeHTMLError(ContentgenError):
    """The HTML of a text is not an article, or cannot be sanitized."""


@dataclass(frozen=True)
class NoText:
    """The reason for a missing text that is not an error: it is returned and never raised.

    A text is `missing` if it was not requested, `pending` while it is generated, `stopped` if the
    run was stopped before its request was sent, and `over_budget` if `max_requests` was reached.
    """

    absence: Literal["missing", "pending", "stopped", "over_budget"]
    message: str

    def __str__(self) -> str:
        return self.message


PENDING = NoText("pending", "the text is being generated")
