"""The served writer as an ASGI application (interface sections 2, 4 and 5)."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from hmac import compare_digest

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request as HTTPRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import FailedTextError, LedgerError
from ..files import sha256
from ..service.application import OPERATIONS, TEXT_OPERATIONS, application, error_response
from ..service.protocol import REQUEST_ID, ServiceRequest
from ..writer.models.model import make_model
from ..writer.models.settings import WriterOptions
from ..writer.models.usage import Spending, Usage
from ..writer.prompts import check_prompts
from .configuration import ServerFields
from .jobs import RETRY_AFTER, Job, Jobs, Refusal, rate_limit
from .ledger import KeyedRequest, Ledger
from .metrics import Metrics
from .openapi import openapi_document
from .users import NAME, User, UserLimits

Log = Callable[[dict[str, object]], None]
"""Writes an object as a line of the log."""

_UNLOGGED = ("/healthz", "/readyz", "/metrics", "/openapi.json")
"""The paths that have no line in the log."""


@dataclass(frozen=True)
class _Caller:
    user: str
    limits: UserLimits
    added: datetime


@dataclass(frozen=True)
class _Exchange:
    """A request with its record for the log, and further headers of the answer."""

    record: dict[str, object]
    headers: dict[str, str]

    def observing(self, send: Send) -> Send:
        """Return a `send` that adds these headers to the answer, and records its status."""

        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.record["status"] = message["status"]
                headers = [*message["headers"]]
                for name, value in self.headers.items():
                    headers.append((name.lower().encode(), value.encode()))
                message["headers"] = headers
            await send(message)

        return observed


_exchange: ContextVar[_Exchange] = ContextVar("exchange")
"""The current request."""


class Server:
    """The served writer: `app` is the ASGI application.

    It is served while running() is entered. `log` gets a record for each request and each
    warning, without topics, texts and tokens. Raises ConfigurationError for invalid options.
    """

    def __init__(
        self, fields: ServerFields, options: WriterOptions, ledger: Ledger, log: Log
    ) -> None:
        check_prompts(options)
        self._limits = fields.limits
        self._ledger = ledger
        # No message quotes the model server, since that can repeat the topic.
        self._model = make_model(options, Spending(), retries=None, quotes=False)
        self._metrics = Metrics()
        self._log = log
        self.jobs = Jobs(fields, options, self._model, ledger, self._metrics, self._note)
        self._lookups: dict[str, asyncio.Task[User | None]] = {}
        """The look-ups of users in progress, by the users' names."""

        app = application(
            self._write,
            self._authenticate,
            [
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route("/metrics", self._show_metrics),
                Route("/openapi.json", self._show_openapi),
            ],
        )
        for error in (HTTPException, FailedTextError, LedgerError):
            app.add_exception_handler(error, self._refuse)
        self.app: ASGIApp = self._logged(app)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the requests in progress alive as long as the block runs. Raises LedgerError."""
        await self.jobs.call(self._ledger.beat)
        beats = asyncio.create_task(self.jobs.keep_alive())
        try:
            async with self._model:
                yield
        finally:
            beats.cancel()
            await asyncio.gather(beats, return_exceptions=True)
            self.jobs.close()

    def _note(self, record: dict[str, object]) -> None:
        self._log({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **record})

    async def _authenticate(self, user: str, token: str) -> _Caller:
        record = _exchange.get().record
        found = None
        if NAME.fullmatch(user):
            record["user"] = user
            found = await self._find_user(user)
        # The client is not told which of these is wrong, but the operator is.
        message = "the token is not that of user_id, or has expired; check both"
        refusal = Refusal("token", 403, message)
        if found is None:
            record["reason"] = "unknown user"
            raise refusal
        name = _token_name(found, token)
        if name is None:
            record["reason"] = "wrong token"
            raise refusal
        if not found.tokens[name].is_valid():
            record["reason"] = f"the token {name} has expired"
            raise refusal
        record["token"] = name
        return _Caller(user, found.limits_over(self._limits), found.added)

    async def _find_user(self, name: str) -> User | None:
        """Look a user up, once for all requests that come at the same time."""
        lookup = self._lookups.get(name)
        if lookup is None:
            lookup = asyncio.create_task(self.jobs.call(self._ledger.user, name))
            self._lookups[name] = lookup
            lookup.add_done_callback(lambda _: self._lookups.pop(name))
        return await asyncio.shield(lookup)

    async def _write(self, asked: ServiceRequest, caller: _Caller, idempotency_key: str) -> bytes:
        """Return the body of the answer to a request, which joins the same one in progress."""
        keyed = _keyed_request(asked, caller, idempotency_key)
        exchange = _exchange.get()
        exchange.record.update({"user": caller.user, "key": keyed.key[:12]})
        job = self.jobs.start(keyed, caller.limits, asked)
        joined = job.clients > 0  # start() has returned the job of an earlier request
        job.clients += 1
        try:
            # A client that goes away does not end the job.
            return await asyncio.shield(job.task)
        except asyncio.CancelledError:  # a second signal ends the server
            message = "the server was stopped; ask again with the same Idempotency-Key"
            # Not 500, which says that there is no text: it may be written all the same.
            raise HTTPException(409, message) from None
        finally:
            self._note_job(job, exchange, joined=joined)

    def _note_job(self, job: Job, exchange: _Exchange, *, joined: bool) -> None:
        """Put what came of a job into the log, the headers of the answer and the metrics.

        A request that has `joined` the job of an earlier one is not counted again.
        """
        exchange.record.update(self._describe_job(job, joined=joined))
        if job.begun:
            exchange.headers["RateLimit"] = rate_limit(job.begun.left, job.begun.reset)
        if not joined and job.outcome:
            self._metrics.texts.labels(job.asked.operation, job.outcome).inc()
            self._metrics.count_usage(job.spending.total)

    def _describe_job(self, job: Job, *, joined: bool) -> dict[str, object]:
        """Return the fields of the log for a job. Its first request has the tokens and the cost."""
        usage = Usage() if joined else job.spending.total
        outcome = job.outcome or "refused"
        if joined and outcome == "written":
            outcome = "joined"
        return {
            "outcome": outcome,
            "tokens": usage.tokens,
            "cost": usage.cost,
            "model": self._model.name if job.outcome == "written" else "",
            "waited": round(job.spending.waited, 3),
        }

    def _logged(self, app: ASGIApp) -> ASGIApp:
        """Return an application that answers as `app` does, and logs and counts each request."""

        async def logged(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return
            started = time.monotonic()
            path = scope["path"]
            handler = app
            if not path.isprintable():  # `$` of a route matches before a line break, too
                handler = JSONResponse({"success": False, "error": "no such address"}, 404)
            exchange = _begin_exchange(scope)
            record = exchange.record
            previous = _exchange.set(exchange)
            try:
                await handler(scope, receive, exchange.observing(send))
            except asyncio.CancelledError:
                pass  # The server stops while a client stalls; uvicorn would log a traceback.
            finally:
                _exchange.reset(previous)
                if path not in _UNLOGGED:
                    operation = str(record["operation"])
                    self._metrics.requests.labels(operation, str(record["status"])).inc()
                    self._note({**record, "seconds": round(time.monotonic() - started, 3)})

        return logged

    async def _refuse(self, request: HTTPRequest, error: Exception) -> Response:
        """Answer a request that failed, and record the reason for the log."""
        record = _exchange.get().record
        match error:
            case FailedTextError():
                record["error"] = "nobody can use the text"  # the message can quote it
                return _failed_text_response(error)
            case LedgerError():
                message = "the ledger cannot be used now; ask again later"
                shown: Exception = Refusal("ledger", 503, message, RETRY_AFTER)
                reason = "ledger"
                note = str(error)
            case Refusal():
                shown = error
                reason = error.reason
                note = error.note
            case _:
                shown = error
                reason = "request"
                note = str(error)
        record["error"] = note
        self._metrics.refusals.labels(reason).inc()
        return await error_response(request, shown)

    async def _healthz(self, _: HTTPRequest) -> Response:
        return PlainTextResponse("ok\n")

    async def _readyz(self, _: HTTPRequest) -> Response:
        """Answer whether requests can be served. The model is not asked."""
        problem = self.jobs.problem
        return PlainTextResponse(f"{problem or 'ok'}\n", 503 if problem else 200)

    async def _show_metrics(self, _: HTTPRequest) -> Response:
        return Response(self._metrics.render(), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def _show_openapi(self, _: HTTPRequest) -> Response:
        return JSONResponse(openapi_document())


def _keyed_request(asked: ServiceRequest, caller: _Caller, idempotency_key: str) -> KeyedRequest:
    """Return what names a request in the ledger. Without an Idempotency-Key, it gets a new one.

    Both are hashed, so that nobody can read topics and keys there. If a user is removed, the next
    one of that name has other keys.
    """
    key = idempotency_key or uuid.uuid4().hex
    body = json.dumps([asked.operation, asked.body()], sort_keys=True)
    return KeyedRequest(caller.user, key=sha256(f"{caller.added} {key}"), fingerprint=sha256(body))


def _failed_text_response(error: FailedTextError) -> Response:
    """Return the answer about a text that nobody can use, with what the model has written."""
    content = {
        "success": False,
        "error": str(error),
        "answer": error.answer,
        "model": error.model,
        "usage": {"cost": error.cost},
    }
    return JSONResponse(content, status_code=500)


def _token_name(user: User, token: str) -> str | None:
    """Return the name of a user's token, or None if the user has no such token."""
    hashed = sha256(token)
    for name, known in user.tokens.items():
        if compare_digest(known.hash, hashed):
            return name
    return None


def _begin_exchange(scope: Scope) -> _Exchange:
    """Return a request with its first record, and with its id: its own, or a new one."""
    path = scope["path"]
    client = scope.get("client")
    given_id = Headers(scope=scope).get("x-request-id", "")
    request_id = given_id
    if not REQUEST_ID.fullmatch(given_id):
        request_id = uuid.uuid4().hex[:16]
    record: dict[str, object] = {
        "operation": path[1:] if path in {*OPERATIONS, *TEXT_OPERATIONS} else "other",
        "status": 500,
        "request": request_id,
        "address": str(client[0])[:60] if client else "",
        "outcome": "refused",
    }
    return _Exchange(record, {"X-Request-Id": request_id})
