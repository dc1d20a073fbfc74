"""The served writer as an ASGI application (interface sections 2, 4 and 5)."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network

import msgspec
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request as HTTPRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...concurrency import WorkerThread
from ...digest import sha256
from ...display import escape_controls
from ...errors import (
    BusyModelError,
    FailedTextError,
    LedgerError,
    LostLedgerError,
    ServiceError,
    UnavailableModelError,
    UnusableServiceError,
)
from ...requests import Request
from ...service.application import OPERATIONS, application, error_response, refusal
from ...service.connection import REQUEST_ID
from ...service.updates import OPERATION, Update
from ..ledger import Ledger
from ..ledger.protocol import KeyedRequest
from ..ledger.users import NAME, Limits, User
from ..prompts import check_prompts
from ..usage import Usage
from . import openapi
from .configuration import Configuration
from .jobs import NEARLY_SPENT, RETRY_AFTER, Job, Jobs, rate_limit
from .metrics import Metrics
from .models import Models, connect

Log = Callable[[dict[str, object]], None]
"""Writes an object as a line of the log."""

_NOBODY = User(0)
"""The one who has no token."""


@dataclass(frozen=True)
class _Caller:
    user: str
    limits: Limits


class Server:
    """The served writer: `app` is the ASGI application.

    It is served while running() is entered. `log` gets a record for each request and each
    warning, without topics, texts and tokens. Raises ConfigurationError for invalid options.
    """

    def __init__(
        self, configuration: Configuration, ledger: Ledger, log: Log, *, authenticated: bool = True
    ) -> None:
        for options in configuration.models:
            check_prompts(options)
        fields = configuration.fields
        self._limits = fields.limits
        self._ledger = ledger
        self._thread, self._users_thread = WorkerThread(), WorkerThread()
        self._models = Models(connect(configuration.models), self._warn)
        self.jobs = Jobs(configuration, self._models, ledger, self._thread, self._warn)
        self._metrics = Metrics(self.jobs)
        self._log = log
        self._schema = openapi.describe()
        self._networks = [ip_network(it) for it in fields.trusted_proxies]
        self._authenticated = authenticated
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
        app.add_exception_handler(HTTPException, _refuse)
        for error in _REFUSALS:
            app.add_exception_handler(error, _refuse)
        self.app: ASGIApp = self._logged(app)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the requests in progress alive as long as the block runs. Raises LedgerError."""
        await self._thread.run(self._ledger.beat)
        beats = asyncio.create_task(self.jobs.keep_alive())
        try:
            async with self._models:
                yield
        finally:
            beats.cancel()
            await asyncio.gather(beats, return_exceptions=True)
            # Pending calls can take long, and nobody waits for them any more.
            for thread in (self._thread, self._users_thread):
                thread.close(cancel_pending=True)

    def _warn(self, message: str) -> None:
        self._log({"time": _now(), "warning": escape_controls(message)})

    async def _authenticate(self, user: str, token: str) -> _Caller:
        found = None
        if NAME.fullmatch(user):
            _record.get()["user"] = user
            found = await self._users_thread.run(self._ledger.user, user)
        now = time.time()
        name = (found or _NOBODY).token_name(sha256(token))
        if found is None or name is None or not found.tokens[name].is_valid(now):
            # The client is not told which, but the operator is.
            reason = "unknown user" if found is None else "wrong token"
            _record.get()["reason"] = f"the token {name} has expired" if name else reason
            raise HTTPException(403, "the token is not that of user_id, or has expired; check both")
        self.jobs.uses[user, name] = now
        _record.get()["token"] = name
        return _Caller(user, found.limits.over(self._limits))

    async def _accept(self, user: str, token: str) -> _Caller:
        """Accept any token, but no name that the ledger cannot store."""
        if not NAME.fullmatch(user):
            raise HTTPException(400, "user_id can have at most 64 letters, digits and . _ @ -")
        return _Caller(user, self._limits)

    async def _write(
        self, request: Request, what: Update | None, caller: _Caller, idempotency_key: str
    ) -> bytes:
        operation = OPERATION if what else request.operation
        update = [request.type, msgspec.to_builtins(what)] if what else []
        body = json.dumps([operation, request.body(), *update], sort_keys=True)
        key = idempotency_key or uuid.uuid4().hex
        # Hashed, so that nobody can read topics and keys in the ledger.
        keyed = KeyedRequest(caller.user, sha256(key), sha256(body))
        record = _record.get()
        record |= {"user": caller.user, "key": keyed.key[:12]}
        try:
            job = self.jobs.start(keyed, caller.limits, request, what)
            joined, job.clients = job.clients > 0, job.clients + 1
            try:
                # A client that goes away does not end the job.
                return await asyncio.shield(job.task)
            finally:
                record |= _describe_job(job, joined=joined)
                _headers.get().update(_job_headers(job, caller.limits))
                if not joined and job.outcome:
                    self._metrics.count_text(operation, job)
        except asyncio.CancelledError:  # by a second signal
            message = "the server was stopped; ask again with the same Idempotency-Key"
            raise HTTPException(500, message) from None

    def _logged(self, app: ASGIApp) -> ASGIApp:

        async def logged(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return
            refused = self._refusal(scope)
            inner = refused or app
            if scope["path"] in _UNLOGGED and not refused:
                with suppress(asyncio.CancelledError):  # as below
                    await app(scope, receive, send)
                return
            started = time.monotonic()
            path = scope["path"]
            operation = path[1:] if path in (*OPERATIONS, f"/{OPERATION}") else "other"
            address, request_id = self._origin(scope)
            record: dict[str, object] = {
                "operation": operation,
                "status": 500,
                "request": request_id,
                "address": escape_controls(address)[:60],
                "outcome": "refused",
            }
            headers = {"X-Request-Id": request_id}

            async def observed(message: Message) -> None:
                if message["type"] == "http.response.start":
                    record["status"] = message["status"]
                    added = [(name.lower().encode(), it.encode()) for name, it in headers.items()]
                    message["headers"] = [*message["headers"], *added]
                await send(message)

            tokens = _record.set(record), _headers.set(headers)
            try:
                await inner(scope, receive, observed)
            except asyncio.CancelledError:
                pass  # The server stops while a client stalls; uvicorn would log a traceback.
            finally:
                _record.reset(tokens[0])
                _headers.reset(tokens[1])
                self._metrics.count_request(operation, int(str(record["status"])))
                seconds = round(time.monotonic() - started, 3)
                self._log({"time": _now(), **record, "seconds": seconds})

        return logged

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        """Return the answer to a request that no route may see, or None."""
        if not self._authenticated:
            hosts = Headers(scope=scope).getlist("host")
            if not (len(hosts) == 1 and _LOOPBACK.fullmatch(hosts[0])):
                # A page of another site can have its name resolved to this address.
                message = "without authentication, only this machine is answered, by its own name"
                return JSONResponse({"success": False, "error": message}, 403)
        if not scope["path"].isprintable():  # `$` of a route matches before a line break, too
            return JSONResponse({"success": False, "error": "no such address"}, 404)
        return None

    def _origin(self, scope: Scope) -> tuple[str, str]:
        """Return the address of the client, and the id of the request.

        Both are from the headers of proxies where these are trusted.
        """
        address = str((scope.get("client") or ("",))[0])
        request_id = uuid.uuid4().hex[:16]
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        if self.is_trusted(address) and REQUEST_ID.fullmatch(given):
            request_id = given
        hops = ",".join(headers.getlist("x-forwarded-for")).split(",")
        while self.is_trusted(address) and hops and hops[-1].strip():
            address = hops.pop().strip()
        return address, request_id

    def is_trusted(self, address: str) -> bool:
        """Tell whether an address is that of a trusted proxy."""
        try:
            return any(ip_address(address) in network for network in self._networks)
        except ValueError:
            return False

    async def _healthz(self, _: HTTPRequest) -> Response:
        return PlainTextResponse("ok\n")

    async def _readyz(self, _: HTTPRequest) -> Response:
        """Answer whether requests can be served. The model is not asked."""
        if self.jobs.is_draining:
            return PlainTextResponse("shutting down\n", 503)
        try:
            await self._thread.run(self._ledger.beat)
        except LostLedgerError:
            return PlainTextResponse("the ledger was replaced or has lost its data\n", 503)
        except LedgerError:
            return PlainTextResponse("the ledger cannot be used\n", 503)
        if self._models.problem:  # which can name the address of a model server
            return PlainTextResponse("the model server refuses requests; see the log\n", 503)
        return PlainTextResponse("ok\n")

    async def _show_metrics(self, _: HTTPRequest) -> Response:
        return Response(self._metrics.render(), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def _describe(self, _: HTTPRequest) -> Response:
        return JSONResponse(self._schema)


_record: ContextVar[dict[str, object]] = ContextVar("record")
"""The log record of the current request."""

_headers: ContextVar[dict[str, str]] = ContextVar("headers")
"""Further headers of the answer to the current request."""

_UNLOGGED = ("/healthz", "/readyz", "/metrics", "/openapi.json")
_LOOPBACK = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")

_REFUSALS: dict[type[Exception], HTTPException] = {
    LostLedgerError: refusal(503, "the ledger is gone; the operator has to act", RETRY_AFTER),
    LedgerError: refusal(503, "the ledger cannot be used now; ask again later", RETRY_AFTER),
    BusyModelError: refusal(503, "the model has no time; ask again later", 30),
    UnavailableModelError: refusal(503, "the model cannot be used now; ask again later", 30),
    UnusableServiceError: refusal(
        502,
        "the model server refuses all requests; its operator has "
        "to act, and finds the reason in the log",
    ),
    ServiceError: refusal(500, "the model did not write a text; the log of the server says why"),
}
"""The answers to a client by exception. The messages of the exceptions are for the log only."""


async def _refuse(request: HTTPRequest, error: Exception) -> Response:
    """Answer a request that failed, and record the reason for the log."""
    if isinstance(error, HTTPException):  # its message is the server's own
        response = await error_response(request, error)
        _record.get({})["error"] = error.detail  # health checks have no record
        return response
    if isinstance(error, FailedTextError):  # its message can quote the text
        _record.get()["error"] = "nobody can use the text"
        body = {"error": str(error), "answer": error.answer, "model": error.model}
        return JSONResponse(
            {"success": False, **body, "usage": {"cost": error.cost}}, status_code=500
        )
    _record.get()["error"] = escape_controls(str(error))
    answer = next(answer for kind, answer in _REFUSALS.items() if isinstance(error, kind))
    if isinstance(error, ServiceError) and error.retry_after:
        answer = refusal(answer.status_code, answer.detail, error.retry_after)
    return await error_response(request, answer)


def _job_headers(job: Job, limits: Limits) -> dict[str, str]:
    """Return the headers about the limits of a user."""
    headers = {}
    if job.begun:
        policy = f'"requests_per_minute";q={limits.requests_per_minute};w=60'
        headers = {
            "RateLimit-Policy": policy,
            "RateLimit": rate_limit(job.begun.left, job.begun.reset),
        }
    if job.budget_used >= NEARLY_SPENT:
        headers["Budget-Used"] = f"{job.budget_used:.0%}"
    return headers


def _describe_job(job: Job, *, joined: bool) -> dict[str, object]:
    """Return the fields of the log for a job. Tokens and cost are logged for its first request."""
    usage = Usage() if joined else job.spending.total
    return {
        "outcome": "joined" if joined and job.outcome == "written" else job.outcome or "refused",
        "tokens": usage.tokens,
        "cost": usage.cost,
        "model": job.model,
        "waited": round(job.spending.waited, 3),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
