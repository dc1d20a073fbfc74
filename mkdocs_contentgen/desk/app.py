"""The desk as an ASGI application: its own pages and routes, and the pages of the site.

Both have origins of their own, on two ports: the scripts of a page of the site can neither read
what the desk has nor change anything on it. The desk shows the page in a frame.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal, TypeVar, get_args

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import ContentgenError, EditError
from ..files import sha256
from ..review.updating import can_update
from ..service.protocol import MAX_NOTE
from ..texts.articles import Article
from .builder import Builder
from .describing import describe, describe_rows
from .session import DeskSite
from .texts import Change, Desk, OutdatedError, ref_of

HOST = "127.0.0.1"

MAX_BODY = 128 * 1024
"""The maximum size of a request body in bytes."""

_T = TypeVar("_T")
_ROOT = "/_contentgen"
_ADDRESS_HINT = "open the address that contentgen review has printed"
_TYPES = {"js": "text/javascript", "css": "text/css", "json": "application/json"}
_OWN_FILES = ("desk.js", "desk.css", "words.json")


Earlier = Literal["generated", "approved"]
"""The version that a text is compared with."""


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    seen: str = ""
    change: Change | None = None
    reason: str = ""
    replace: bool = False
    earlier: Earlier = "generated"
    against: str = ""
    row: int = 0
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE)] = ""
    section: str = ""
    update: bool = False


class DeskApp:
    """The desk on a port, and the pages on another one.

    `token` opens a session, and `language` is that of the site.
    """

    def __init__(
        self,
        texts: DeskSite,
        builder: Builder,
        ports: tuple[int, int],
        token: str,
        language: str = "",
    ) -> None:
        self._texts = texts
        self._builder = builder
        self._port = ports[0]
        self._origin, self._pages_origin = (f"http://{HOST}:{port}" for port in ports)
        self._token = token
        self._language = language
        self._session, self._key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._lock = Lock()
        api = f"{_ROOT}/api"
        desk = Starlette(
            routes=[
                *(Route(f"{_ROOT}/{name}", _file(name)) for name in _OWN_FILES),
                Route(f"{api}/session", self._open_session, methods=["POST"]),
                Route(f"{api}/queue", self._reading(self._queue)),
                Route(f"{api}/texts/{{ref}}", self._reading(self._detail)),
                Route(f"{api}/texts/{{ref}}/compare", self._reading(self._compare)),
                *(
                    Route(f"{api}/texts/{{ref}}/{name}", self._writing(action), methods=["POST"])
                    for name, action in {
                        "change": self._changing(_change),
                        "undo": self._changing(_undo),
                        "take-back": self._changing(_take_back),
                        "approve": self._changing(_approve),
                        "ask": self._ask,
                    }.items()
                ),
                Route(f"{api}/{{rest:path}}", _unknown, methods=["GET", "POST"]),
                Route("/{path:path}", self._shell),
            ],
            exception_handlers={HTTPException: _error_response, Exception: _error_response},
        )
        pages = Starlette(
            routes=[Route(f"{_ROOT}/page.js", _file("page.js")), Route("/{path:path}", self._page)],
            exception_handlers={HTTPException: _error_response},
        )
        self._apps: Mapping[str, ASGIApp] = {
            f"{HOST}:{ports[0]}": desk,
            f"{HOST}:{ports[1]}": pages,
        }

    @property
    def address(self) -> str:
        """The address that opens the desk."""
        return f"{self._origin}{_ROOT}/#token={self._token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it names one of the two hosts."""
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        app = self._apps.get(hosts[0]) if len(hosts) == 1 else None
        if app is None:
            app = JSONResponse({"error": "this host is not served here"}, 403)
        await app(scope, receive, send)

    async def _open_session(self, request: Request) -> Response:
        self._check_origin(request)
        given = await _read(request, dict[str, str])
        if not secrets.compare_digest(given.get("token", "").encode(), self._token.encode()):
            raise HTTPException(403, _ADDRESS_HINT)
        # Cookies ignore the port, so another server on this machine may get the one below.
        response = JSONResponse({"key": self._key})
        response.set_cookie(
            self._cookie, self._session, httponly=True, samesite="strict", path=f"{_ROOT}/api"
        )
        return response

    @property
    def _cookie(self) -> str:
        return f"contentgen_desk_{self._port}"

    def _check_session(self, request: Request) -> None:
        cookie = request.cookies.get(self._cookie, "")
        if not secrets.compare_digest(cookie.encode(), self._session.encode()):
            raise HTTPException(401, _ADDRESS_HINT)

    def _check_origin(self, request: Request) -> None:
        """Refuse what another page sends, also one of this site."""
        site = request.headers.get("sec-fetch-site")
        is_own = site == "same-origin" if site else request.headers.get("origin") == self._origin
        media_type = request.headers.get("content-type", "").partition(";")[0].strip()
        if not is_own or media_type != "application/json":
            raise HTTPException(403, "only the desk itself can change something")

    def _reading(
        self, answer: Callable[[Desk, Request], object]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            self._check_session(request)
            if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                raise HTTPException(403, "only the desk itself can read this")
            return await self._answer(lambda desk: answer(desk, request))

        return endpoint

    def _writing(
        self, act: Callable[[Desk, str, _Body], object]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            self._check_session(request)
            self._check_origin(request)
            key = request.headers.get("x-contentgen-key", "")
            if not secrets.compare_digest(key.encode(), self._key.encode()):
                raise HTTPException(401, _ADDRESS_HINT)
            body = await _read(request, _Body)
            ref = request.path_params["ref"]
            return await self._answer(lambda desk: act(desk, ref, body))

        return endpoint

    async def _answer(self, answer: Callable[[Desk], object]) -> Response:
        def locked() -> object:
            with self._lock:
                return answer(self._texts.open())

        try:
            return _json(await run_in_threadpool(locked))
        except OutdatedError as error:
            raise HTTPException(409, str(error)) from error
        except ContentgenError as error:
            raise HTTPException(422, str(error)) from error

    def _queue(self, desk: Desk, request: Request) -> object:
        return {
            "texts": [self._row(desk, article) for article in desk.articles(desk.pages)],
            "by": desk.by,
            "building": self._builder.is_building,
            "problem": self._builder.problem,
        }

    def _row(self, desk: Desk, article: Article) -> dict[str, object]:
        return {
            **self._texts.to_json(article),
            "ref": ref_of(article.page, article.request.id),
            "title": article.request.topic,
            "url": desk.addresses().get(article.page, ""),
        }

    def _detail(self, desk: Desk, request: Request) -> object:
        return self._described(desk, desk.find(request.path_params["ref"]))

    def _described(self, desk: Desk, article: Article) -> dict[str, object]:
        return {
            **self._row(desk, article),
            **describe(desk, article),
            "asking": self._texts.asking(article),
            "ask_problem": self._texts.problem(article),
            "built": self._builder.finished,
            "building": self._builder.is_building,
        }

    def _compare(self, desk: Desk, request: Request) -> object:
        article = desk.find(request.path_params["ref"])
        earlier: Earlier = "generated"
        if request.query_params.get("with") == "approved" and article.approved:
            earlier = "approved"
        newest, before = article.newest, desk.earlier(article, earlier)
        return {
            "rows": describe_rows(desk, before, newest) if newest and before else [],
            "against": before and sha256(before.html),
            "earlier": earlier,
            "versions": [it for it in get_args(Earlier) if desk.earlier(article, it)],
        }

    def _changing(
        self, act: Callable[[Desk, str, _Body], str | None]
    ) -> Callable[[Desk, str, _Body], object]:
        """Return an action that changes a text, unless a text in progress would overwrite it."""

        def change(desk: Desk, ref: str, body: _Body) -> object:
            if self._texts.asking(desk.find(ref)):
                raise EditError("another text is being generated; wait for it")
            approved_file = act(desk, ref, body)
            self._builder.build()
            return {**self._described(desk, desk.find(ref)), "approved_file": approved_file}

        return change

    def _ask(self, desk: Desk, ref: str, body: _Body) -> object:
        article = desk.find(ref)
        is_update = body.update or bool(body.note.strip())
        if is_update and not can_update(desk.site.options):
            raise EditError("this service cannot update texts; see `service_fields`")
        if article.draft and article.draft.edits and not (body.replace or is_update):
            raise OutdatedError("people have changed this text; another one replaces their words")
        self._texts.ask(article, note=body.note.strip(), section=body.section, update=is_update)
        return self._described(desk, article)

    async def _shell(self, request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        html = (
            files(__package__)
            .joinpath("page/desk.html")
            .read_text("utf-8")
            .replace("{nonce}", nonce)
            .replace("{frame}", self._pages_origin)
            .replace("{language}", escape(self._language or "en"))
        )
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
            f"connect-src 'self'; frame-src {self._pages_origin}; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"
        )
        headers = {**_HEADERS, "Content-Security-Policy": policy}
        return Response(html, media_type="text/html", headers=headers)

    async def _page(self, request: Request) -> Response:
        """Return a file of the built site. Pages get the script that talks to the desk."""
        headers = {**_HEADERS, "Content-Security-Policy": f"frame-ancestors {self._origin}"}
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405, "the pages can only be read")
        directory = self._builder.site_dir
        if directory is None:
            html = _waiting(self._builder.problem)
            return Response(html, media_type="text/html", headers=headers)
        static = StaticFiles(directory=directory, html=True)
        response = await static.get_response(request.path_params["path"], request.scope)
        path = getattr(response, "path", None)
        if path is None or not str(path).endswith(".html"):
            response.headers.update(headers)
            return response
        html = await run_in_threadpool(Path(path).read_text, "utf-8", "replace")
        script = f'<script type="module" src="{_ROOT}/page.js" data-desk="{self._origin}"></script>'
        head, body_end, tail = html.rpartition("</body>")
        return Response(
            f"{head}{script}{body_end}{tail}" if body_end else f"{html}{script}",
            response.status_code,
            media_type="text/html",
            headers=headers,
        )


_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def _waiting(problem: str) -> str:
    text = f"The site cannot be built: {problem}" if problem else "The site is being built…"
    return (
        '<!doctype html><html lang="en"><title>contentgen</title>'
        f'<meta http-equiv="refresh" content="1"><p>{escape(text)}</p>'
    )


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        content = files(__package__).joinpath("page", name).read_bytes()
        media_type = _TYPES[name.rpartition(".")[2]]
        return Response(content, media_type=media_type, headers=_HEADERS)

    return endpoint


def _change(desk: Desk, ref: str, body: _Body) -> None:
    if body.change is None:
        raise EditError("name the change")
    desk.change(ref, body.seen, body.change)


def _take_back(desk: Desk, ref: str, body: _Body) -> None:
    before = desk.earlier(desk.find(ref), body.earlier)
    if before is None or sha256(before.html) != body.against:
        raise OutdatedError("the earlier text has changed; compare again")
    desk.take_back(ref, body.seen, before, body.row)


def _undo(desk: Desk, ref: str, body: _Body) -> None:
    desk.undo(ref, body.seen)


def _approve(desk: Desk, ref: str, body: _Body) -> str:
    return desk.approve(ref, body.seen, body.reason)


async def _unknown(request: Request) -> Response:
    raise HTTPException(404, "no such address")


async def _read(request: Request, model: type[_T]) -> _T:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise HTTPException(413, f"at most {MAX_BODY:,} bytes are allowed")
    try:
        return msgspec.json.decode(bytes(body), type=model)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"this body is not valid: {error}") from error


def _json(value: object) -> Response:
    return Response(json.dumps(value), media_type="application/json", headers=_HEADERS)


async def _error_response(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        error = HTTPException(500, "an error in the desk; the terminal shows it")
    response = _json({"error": error.detail})
    response.status_code = error.status_code
    return response
