"""The served writer as an ASGI application (interface sections 2, 4 and 5)."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.exceptions import HTTPException
from starlette.requests import Request as HTTPRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ....concurrency import WorkerThread
from ....digest import sha256
from ....display import escape_controls
from ....errors import FailedTextError, LedgerError, ServiceError, UnusableServiceError
from ....requests import Request
from ...application import OPERATIONS, application, error_response, refusal
from ..ledger import Ledger
from ..ledger.protocol import NAME, KeyedRequest
from ..model import Model
from ..prompts import check_prompts
from ..usage import Spending, Usage
from . import openapi
from .configuration import Configuration
from .jobs import RETRY_AFTER, Job, Jobs
from .metrics import Metrics

Log = Callable[[dict[str, object]], None]
"""Writes an object as a line of the log."""

_NO_HASH = sha256(secrets.token_bytes())
"""Compared with the token of an unknown user, so that it takes the same time."""


class Server:
    """The served writer: `app` is the ASGI application.

    It is served while running() is entered. `log` gets a record for each request and each
    warning, without topics, texts and tokens. Raises ConfigurationError for invalid options.
    """

    def __init__(
        self, configuration: Configuration, ledger: Ledger, log: Log, *, authenticated: bool = True
    ) -> None:
        check_prompts(configuration.options)
        self._ledger = ledger
        self._thread = WorkerThread()
        # Messages of a model server can quote the topic, which the log must not contain.
        self._model = Model(configuration.options, Spending(), quotes=False)
        self.jobs = Jobs(configuration, self._model, ledger, self._thread, self._warn)
        self._metrics = Metrics(self.jobs.__len__)
        self._log = log
        self._schema = openapi.describe()
        app = application(
            self._write,
            self._authenticate if authenticated else self._accept,
            [
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route("/metrics", self._show_metrics),
                Route("/openapi.json", self._describe),
            ],
        )
        for error in _REFUSALS:
            app.add_exception_handler(error, _refuse)
        self.app: ASGIApp = self._logged(app)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the requests in progress alive as long as the block runs. Raises LedgerError."""
        await self._thread.run(self._ledger.beat)
        beats = asyncio.create_task(self.jobs.keep_alive())
        try:
            async with self._model:
                yield
        finally:
            beats.cancel()
            await asyncio.gather(beats, return_exceptions=True)
            # Pending calls can take long, and nobody waits for them any more.
            self._thread.close(cancel_pending=True)

    def _warn(self, message: str) -> None:
        self._log({"time": _now(), "warning": message})

    async def _authenticate(self, user: str, token: str) -> None:
        expected = None
        if NAME.fullmatch(user):
            expected = await self._thread.run(self._ledger.token_hash, user)
        is_right = hmac.compare_digest(sha256(token), expected or _NO_HASH)
        if not (is_right and expected):
            raise HTTPException(403, "the token is not that of user_id; check both")

    async def _accept(self, user: str, token: str) -> None:
        """Accept any token, but no name that the ledger cannot store."""
        if not NAME.fullmatch(user):
            raise HTTPException(400, "user_id can have at most 64 letters, digits and . _ @ -")

    async def _write(self, request: Request, user: str, idempotency_key: str) -> bytes:
        body = json.dumps([request.operation, request.body()], sort_keys=True)
        key = idempotency_key or uuid.uuid4().hex
        # Hashed, so that nobody can read topics and keys in the ledger.
        keyed = KeyedRequest(user, sha256(key), sha256(body))
        record = _record.get()
        record |= {"user": user, "key": keyed.key[:12], "outcome": "refused"}
        try:
            job = self.jobs.start(keyed, request)
            joined, job.clients = job.clients > 0, job.clients + 1
            try:
                # A client that goes away does not end the job.
                return await asyncio.shield(job.task)
            finally:
                record |= _describe_job(job, joined=joined)
                if not joined and job.outcome:
                    self._metrics.count_text(
                        request.operation, job.outcome, job.spending.total, job.seconds
                    )
        except asyncio.CancelledError:  # by a second signal
            message = "the server was stopped; ask again with the same Idempotency-Key"
            raise HTTPException(500, message) from None

    def _logged(self, app: ASGIApp) -> ASGIApp:

        async def logged(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["path"] in _UNLOGGED:
                with suppress(asyncio.CancelledError):  # as below
                    await app(scope, receive, send)
                return
            started = time.monotonic()
            path = scope["path"]
            operation = path[1:] if path in OPERATIONS else "other"
            record: dict[str, object] = {"operation": operation, "status": 500}

            async def observed(message: Message) -> None:
                if message["type"] == "http.response.start":
                    record["status"] = message["status"]
                await send(message)

            token = _record.set(record)
            try:
                await app(scope, receive, observed)
            except asyncio.CancelledError:
                pass  # The server stops while a client stalls; uvicorn would log a traceback.
            finally:
                _record.reset(token)
                self._metrics.count_request(operation, int(str(record["status"])))
                seconds = round(time.monotonic() - started, 3)
                self._log({"time": _now(), **record, "seconds": seconds})

        return logged

    async def _healthz(self, _: HTTPRequest) -> Response:
        return PlainTextResponse("ok\n")

    async def _readyz(self, _: HTTPRequest) -> Response:
        """Answer whether requests can be served. The model is not asked."""
        if self.jobs.is_draining:
            return PlainTextResponse("shutting down\n", 503)
        try:
            await self._thread.run(self._ledger.beat)
        except LedgerError:
            return PlainTextResponse("the ledger cannot be used\n", 503)
        return PlainTextResponse("ok\n")

    async def _show_metrics(self, _: HTTPRequest) -> Response:
        return Response(self._metrics.render(), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def _describe(self, _: HTTPRequest) -> Response:
        return JSONResponse(self._schema)


_record: ContextVar[dict[str, object]] = ContextVar("record")
"""The log record of the current request."""

_UNLOGGED = ("/healthz", "/readyz", "/metrics", "/openapi.json")

_REFUSALS: dict[type[Exception], HTTPException] = {
    LedgerError: refusal(503, "the ledger cannot be used now; ask again later", RETRY_AFTER),
    UnusableServiceError: refusal(503, "the model cannot be used now; ask again later", 30),
    ServiceError: refusal(500, "the model did not write a text; the log of the server says why"),
}
"""The answers to a client by exception. The messages of the exceptions are for the log only."""


async def _refuse(request: HTTPRequest, error: Exception) -> Response:
    """Answer a request that failed, and record the reason for the log."""
    if isinstance(error, FailedTextError):  # its message can quote the text
        reason, answer = "the text failed its checks", refusal(500, str(error))
    else:
        reason = escape_controls(str(error))
        answer = next(answer for kind, answer in _REFUSALS.items() if isinstance(error, kind))
    _record.get()["error"] = reason
    return await error_response(request, answer)


def _describe_job(job: Job, *, joined: bool) -> dict[str, object]:
    """Return the fields of the log for a job. Tokens and cost are logged for its first request."""
    usage = Usage() if joined else job.spending.total
    return {
        "outcome": "joined" if joined and job.outcome == "written" else job.outcome or "refused",
        "tokens": usage.tokens,
        "cost": usage.cost,
        "waited": round(job.spending.waited, 3),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
