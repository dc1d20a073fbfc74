"""The errors of this package.

    ContentgenError
    ├── ConfigurationError        the options do not say how to reach the service
    ├── BudgetError               more requests than `max_requests` allows
    ├── MissingError              a text is not there, and was not asked for
    ├── PendingError              a text is not there yet
    ├── StoppedError              a request was not sent, since the run was stopped
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


class ContentgenError(Exception):
    """Base of all; its text is one line that says what happened and what to do."""


class ConfigurationError(ContentgenError):
    """The options do not say how to reach the service, or not safely."""


class BudgetError(ContentgenError):
    """A build would send more requests than the option `max_requests` allows."""


class MissingError(ContentgenError):
    """A text is neither approved nor cached, and was not asked for."""


class PendingError(ContentgenError):
    """A text is being generated while the page without it is shown."""


class StoppedError(ContentgenError):
    """A request was not sent, since the run was stopped before its turn."""


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
