"""The exceptions of this package, and the reasons for a missing text that are not errors.

```
ContentgenError
├── ConfigurationError         an option is missing, invalid or unsafe
├── ServiceError               a request for a text failed
│   ├── NotSentError              it was not processed: it can be sent again at once
│   │   ├── UnreachableError         no connection could be made
│   │   └── LoadingModelError        the model server is still reading its model
│   ├── UnknownOutcomeError       it may have been processed: repeated only with the same key
│   │   └── CancelledRequestError    a person cancelled it while it was running
│   ├── StoppedRunError           the run was stopped before this call began
│   ├── UnusableServiceError      all other requests would fail too
│   │   └── UnavailableModelError    the model server cannot be used now
│   ├── BusyModelError            the model server has no time for a call
│   ├── ProgramError              the program that writes texts failed
│   ├── RejectedError             final: the service refused the request
│   ├── InvalidAnswerError        final: the answer is not one of this interface
│   ├── FailedTextError           final: the answer was paid for, and nobody can use it
│   └── EditedTextError           final: a person changed the text while it was updated
├── ApprovalError              an approved file is damaged, or cannot be written
├── EditError                  a change of a text is not possible
├── StoreError                 the cache cannot be read or written
├── GitHubError                GitHub refused a request, or cannot be reached
├── LedgerError                the ledger of the served writer cannot be read or written
│   └── ReplacedLedgerError       its file was removed or replaced while it was open
└── UnsafeHTMLError            the HTML of a text cannot be sanitized
```

Only a final error drops the Idempotency-Key of a request. Exceptions of other packages become one
of these in one place each: those of httpx and its statuses in `service/exchange.py`, those of
caches in `texts/store/`, and those of databases in `served/databases.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal


class ContentgenError(Exception):
    """Base class. The message is one line that says what happened and what to do."""


class ConfigurationError(ContentgenError):
    """An option for the service or the shared cache is missing, invalid or unsafe."""


class ServiceError(ContentgenError):
    """A request failed.

    `retry_after` is the time in seconds after which it may be sent again, or None if the service
    says nothing about it. `detail` is what only a verbose log adds to the message.
    """

    is_final: ClassVar[bool] = False
    """Whether the service has answered this request for good.

    It may repeat such an answer for the same Idempotency-Key, so the key is dropped.
    """

    def __init__(self, message: str, retry_after: float | None = None, *, detail: str = "") -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.detail = detail


class NotSentError(ServiceError):
    """The service did not process the request, so it can be sent again."""


class UnreachableError(NotSentError):
    """No connection to the service could be made."""


class LoadingModelError(NotSentError):
    """The server is still reading its model, and will take the request soon."""


class UnknownOutcomeError(ServiceError):
    """The request was sent, but its text did not arrive. It may have been paid for."""


class CancelledRequestError(UnknownOutcomeError):
    """A person cancelled the request while it was running. The service may still finish it."""


class StoppedRunError(ServiceError):
    """The run was stopped before this call to the model began."""


class UnusableServiceError(ServiceError):
    """All other requests of the run would fail too."""


class UnavailableModelError(UnusableServiceError):
    """The model server cannot be used now."""


class BusyModelError(ServiceError):
    """The model server has no time for a call."""


class ProgramError(ServiceError):
    """The program that writes texts has failed, so that there is no text.

    `answer` is what it had written, or empty if that is no more than a few words.
    """

    def __init__(self, message: str, answer: str = "") -> None:
        super().__init__(message)
        self.answer = answer


class RejectedError(ServiceError):
    """The service refused the request: it answered with a status that makes a retry pointless."""

    is_final = True


class InvalidAnswerError(ServiceError):
    """The service answered, but not as in interface section 2.2, or with unusable changes."""

    is_final = True


class EditedTextError(ServiceError):
    """The answer arrived, but a person changed the text while it was updated."""

    is_final = True


class FailedTextError(ServiceError):
    """The answer was paid for, and nobody can use it. It is remembered, and not paid for again.

    `answer` is what was answered, `model` the name of the model or empty, and `cost` None if it is
    not known. Of a remembered failure, `failed_at` is its time, and `edition` that of the newest
    text that was there at that time, or 0 without one. Of any other, these are None and 0.
    """

    is_final = True

    def __init__(
        self,
        message: str,
        answer: str = "",
        *,
        model: str = "",
        cost: float | None = None,
        failed_at: datetime | None = None,
        edition: int = 0,
    ) -> None:
        super().__init__(message)
        self.answer = answer
        self.model = model
        self.cost = cost
        self.failed_at = failed_at
        self.edition = edition


class ApprovalError(ContentgenError):
    """An approved file is damaged, or cannot be written. The message names the file and line."""


class EditError(ContentgenError):
    """A change of a text is not possible."""


class StoreError(ContentgenError):
    """The cache cannot be read or written."""


class GitHubError(ContentgenError):
    """GitHub refused a request, or cannot be reached. `status` is that of its answer, or 0."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class LedgerError(ContentgenError):
    """The ledger of the served writer cannot be read or written.

    `cause` says why, and names no address, and no file of this machine.
    """

    def __init__(self, message: str, cause: str = "") -> None:
        super().__init__(message)
        self.cause = cause


class ReplacedLedgerError(LedgerError):
    """The file of the ledger was removed or replaced while it was open. It cannot be used again."""


class UnsafeHTMLError(ContentgenError):
    """The HTML of a text is not an article, or cannot be sanitized."""


@dataclass(frozen=True)
class MissingReason:
    """The reason for a missing text that is not an error: it is returned and never raised.

    A text is `missing` if it was not requested, `pending` while it is generated, `stopped` if the
    run was stopped before its request was sent, and `over_budget` if `max_requests` was reached.
    A translation can have `no_original`, or be `waiting` until somebody approves its original.
    """

    absence: Literal["missing", "pending", "stopped", "over_budget", "no_original", "waiting"]
    message: str
    answer: str = ""
    """What a program had written of the text before it failed."""

    cause: ServiceError | None = None
    """The failure of another request, if that has stopped the run."""

    def __str__(self) -> str:
        return self.message


def failure_behind(error: ContentgenError | MissingReason | None) -> ServiceError | None:
    """Return the failure of another request for which a request was not sent, or None."""
    if not isinstance(error, MissingReason):
        return None
    return error.cause


PENDING = MissingReason("pending", "the text is being generated")
