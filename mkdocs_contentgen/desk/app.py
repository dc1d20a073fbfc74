"""The desk as an ASGI application: its own pages and routes, and the pages of the site.

Both have origins of their own, on two ports: the scripts of a page of the site can neither read
what the desk has nor change anything on it. The desk shows the page in a frame, and gives nobody
else a page, since it can be a draft.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import ContentgenError, EditError
from ..files import sha256
from ..review.updating import can_update
from ..service.protocol import MAX_NOTE
from ..site.build import Build
from ..texts.articles import Article
from .builder import Builder
from .describing import describe, describe_rows
from .session import DeskSite
from .texts import Change, Desk, OutdatedError, digest_of, ref_of

HOST = "127.0.0.1"

MAX_BODY = 128 * 1024
"""The maximum size of a request body in bytes."""

_T = TypeVar("_T")
_ROOT = "/_contentgen"
_ADDRESS_HINT = "open the address that contentgen review has printed"
_TYPES = {"js": "text/javascript", "css": "text/css", "json": "application/json"}
_OWN_FILES = ("desk.js", "desk.css", "words.json")


Earlier = Literal["approved", "generated"]
"""The version that a text is compared with."""


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    seen: str = ""
    shown: str = ""
    change: Change | None = None
    reason: str = ""
    replace: bool = False
    earlier: Earlier = "approved"
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
        # Cookies ignore the port, so another server on this machine may get that of the pages.
        self._key, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._entry = ""
        api = f"{_ROOT}/api"
        desk = Starlette(
            routes=[
                *(Route(f"{_ROOT}/{name}", _file(name)) for name in _OWN_FILES),
                Route(f"{api}/session", self._open_session, methods=["POST"]),
                Route(f"{api}/queue", self._reading(self._queue)),
                Route(f"{api}/texts/{{ref}}", self._reading(self._detail)),
                Route(f"{api}/texts/{{ref}}/compare", self._reading(self._compare)),
                Route(f"{api}/texts/{{ref}}/cost", self._reading(self._cost)),
                *(
                    Route(f"{api}/texts/{{ref}}/{name}", self._writing(action), methods=["POST"])
                    for name, action in {
                        "change": self._changing(_change),
                        "undo": self._changing(_undo),
                        "take-back": self._changing(_take_back),
                        "approve": self._changing(self._approve),
                        "ask": self._ask,
                        "cancel": self._cancel,
                    }.items()
                ),
                Route(f"{api}/{{rest:path}}", _unknown, methods=["GET", "POST"]),
                Route("/{path:path}", self._shell),
            ],
            exception_handlers={HTTPException: _error_response, Exception: _error_response},
        )
        pages = Starlette(
            routes=[
                Route(f"{_ROOT}/page.js", _file("page.js")),
                Route(f"{_ROOT}/enter", self._enter),
                Route("/{path:path}", self._page),
            ],
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
        """Answer a request, if it names one of the two hosts.

        A service worker would outlive the session, and answer for what comes next on this port.
        """
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        app = self._apps.get(hosts[0]) if len(hosts) == 1 else None
        if app is None or "service-worker" in headers:
            app = Response("this is not served here", 403, headers=_HEADERS)
        await app(scope, receive, send)

    async def _open_session(self, request: Request) -> Response:
        """Exchange the token, once, for the key, and for an entry to the pages."""
        self._check_origin(request)
        given = (await _read(request, dict[str, str])).get("token", "")
        is_right = secrets.compare_digest(given.encode(), self._token.encode())
        if not (self._token and is_right):
            raise HTTPException(403, "this address has been opened before; run `contentgen review`")
        self._token, self._entry = "", secrets.token_urlsafe(32)
        entry = f"{self._pages_origin}{_ROOT}/enter?entry={self._entry}"
        response = _json({"key": self._key, "entry": entry})
        # What an earlier program has left on this port. Cookies would be those of all ports.
        response.headers["Clear-Site-Data"] = '"cache", "storage"'
        return response

    async def _enter(self, request: Request) -> Response:
        """Give the desk's frame the cookie for the pages, once."""
        entry = request.query_params.get("entry", "")
        if not (self._entry and secrets.compare_digest(entry.encode(), self._entry.encode())):
            raise HTTPException(403, _ADDRESS_HINT)
        self._entry = ""
        headers = _HEADERS | {"Clear-Site-Data": '"cache", "storage"'}
        response = Response(media_type="text/html", headers=headers)
        response.headers["Content-Security-Policy"] = f"frame-ancestors {self._origin}"
        response.set_cookie(self._cookie_name, self._cookie, httponly=True, samesite="strict")
        return response

    @property
    def _cookie_name(self) -> str:
        return f"contentgen_pages_{self._port}"

    def _check_key(self, request: Request) -> None:
        key = request.headers.get("x-contentgen-key", "")
        if not secrets.compare_digest(key.encode(), self._key.encode()):
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
            self._check_key(request)
            if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                raise HTTPException(403, "only the desk itself can read this")
            return await self._answer(lambda desk: answer(desk, request))

        return endpoint

    def _writing(
        self, act: Callable[[Desk, str, _Body], object]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            self._check_key(request)
            self._check_origin(request)
            body = await _read(request, _Body)
            ref = request.path_params["ref"]
            return await self._answer(lambda desk: act(desk, ref, body))

        return endpoint

    async def _answer(self, answer: Callable[[Desk], object]) -> Response:
        def locked() -> Response:
            with self._texts.lock:
                return _json(answer(self._texts.open()))

        try:
            return await run_in_threadpool(locked)
        except OutdatedError as error:
            raise HTTPException(409, str(error)) from error
        except ContentgenError as error:
            raise HTTPException(422, str(error)) from error

    def _queue(self, desk: Desk, request: Request) -> object:
        if "queue" not in desk.shown:
            desk.shown["queue"] = [self._row(desk, article) for article in desk.queue()]
        problem = self._texts.problem or self._builder.problem
        return {"texts": desk.shown["queue"], "by": desk.by, "problem": problem}

    def _row(self, desk: Desk, article: Article) -> dict[str, object]:
        return {
            **self._texts.to_json(article),
            "ref": ref_of(article.page, article.request.id),
            "title": article.request.topic,
            "url": desk.addresses.get(article.page, ""),
        }

    def _detail(self, desk: Desk, request: Request) -> object:
        ref, version = request.path_params["ref"], request.query_params.get("version")
        desk.look_for_newer(ref)
        desk = self._texts.open()
        text = self._described(desk, ref)
        return {"version": version} if text["version"] == version else text

    def _described(self, desk: Desk, ref: str) -> dict[str, object]:
        article = desk.find(ref)
        if ref not in desk.shown:
            desk.shown[ref] = {**self._row(desk, article), **describe(desk, article)}
        asking = self._texts.asking(article)
        shown = {
            **desk.shown[ref],
            "asking": asking and {"is_update": asking.is_update, "began": asking.began},
            "ask_problem": self._texts.problem_of(article),
            "stamp": self._builder.stamp,
            "waits": self._waits(desk, ref),
            "problem": self._texts.problem or self._builder.problem,
        }
        return {**shown, "version": sha256(msgspec.json.encode(shown).decode())}

    def _waits(self, desk: Desk, ref: str) -> str:
        """Return why the page that is shown is not the one of this text, or an empty string."""
        if self._texts.problem:
            return self._texts.problem
        if self._builder.stamp != self._texts.stamp:
            if self._builder.problem and not self._builder.is_building:
                return f"the site cannot be built: {self._builder.problem}"
            return "the site is being built, since its pages have changed"
        return str(desk.shown[ref].get("page_problem", ""))

    def _compare(self, desk: Desk, request: Request) -> object:
        article = desk.find(request.path_params["ref"])
        versions = [it for it in get_args(Earlier) if desk.earlier(article, it)]
        wanted = request.query_params.get("with")
        # The approved text is what readers have.
        known = [it for it in versions if it == wanted]
        earlier: Earlier = [*known, *versions, get_args(Earlier)[0]][0]
        newest, before = article.newest, desk.earlier(article, earlier)
        return {
            "rows": describe_rows(desk, before, newest) if newest and before else [],
            "against": before and sha256(before.html),
            "earlier": earlier,
            "versions": versions,
        }

    def _cost(self, desk: Desk, request: Request) -> object:
        article, options = desk.find(request.path_params["ref"]), desk.site.options
        build = Build(desk.site, options.policy(max_requests=1, warn_only=True))
        cost = build.estimate_message({article.key: article.request})
        return {"cost": "" if options.uses_sandbox() else cost or "1 request"}

    def _changing(
        self, act: Callable[[Desk, str, _Body], str | None]
    ) -> Callable[[Desk, str, _Body], object]:
        """Return an action that changes a text, unless a text in progress would overwrite it."""

        def change(desk: Desk, ref: str, body: _Body) -> object:
            if self._texts.asking(desk.find(ref)):
                raise EditError("another text is being generated; wait for it")
            approved_file = act(desk, ref, body)
            desk = self._texts.open()
            return {**self._described(desk, ref), "approved_file": approved_file}

        return change

    def _approve(self, desk: Desk, ref: str, body: _Body) -> str:
        desk.look_for_newer(ref)
        desk = self._texts.open()
        text = self._described(desk, ref)
        if text["waits"]:
            raise OutdatedError(f"look at the page first: {text['waits']}")
        page = text["in_page"]
        if not isinstance(page, dict) or body.shown != page["digest"]:
            raise OutdatedError("the page does not show this text yet; look at it first")
        return desk.approve(ref, body.seen, body.reason)

    def _ask(self, desk: Desk, ref: str, body: _Body) -> object:
        article = desk.find(ref)
        is_update = body.update or bool(body.note.strip())
        if is_update and not can_update(desk.site.options):
            raise EditError("this service cannot update texts; see `service_fields`")
        if article.newest and digest_of(article) != body.seen:
            raise OutdatedError("the text has changed since you opened it; look at it again")
        if not (body.replace or is_update):
            raise EditError("a new text replaces this one; confirm that first")
        self._texts.ask(article, update=is_update, note=body.note.strip(), section=body.section)
        return self._described(desk, ref)

    def _cancel(self, desk: Desk, ref: str, body: _Body) -> object:
        if asking := self._texts.asking(desk.find(ref)):
            asking.cancelled.set()
        return self._described(desk, ref)

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
        cookie = request.cookies.get(self._cookie_name, "")
        site = request.headers.get("sec-fetch-site", "same-origin")
        into = request.headers.get("sec-fetch-dest", "iframe")
        if not secrets.compare_digest(cookie.encode(), self._cookie.encode()) or not (
            site == "same-origin" or (site == "same-site" and into == "iframe")
        ):
            raise HTTPException(403, _ADDRESS_HINT)
        path = request.path_params["path"]
        if into == "document":  # a link that opens a tab
            return RedirectResponse(f"{self._origin}/{quote(path)}", headers=_HEADERS)
        html = await self._find_page(path, request)
        if isinstance(html, Response):
            html.headers.update(headers)
            return html
        script = f'<script type="module" src="{_ROOT}/page.js" data-desk="{self._origin}"></script>'
        head, body_end, tail = html.rpartition("</body>")
        html = f"{head}{script}{body_end}{tail}" if body_end else f"{html}{script}"
        return Response(html, media_type="text/html", headers=headers)

    async def _find_page(self, path: str, request: Request) -> str | Response:
        """Return the HTML of a page; of one that is not built, where its text can be put."""
        with suppress(HTTPException):
            if directory := self._builder.site_dir:
                static = StaticFiles(directory=directory, html=True)
                response = await static.get_response(path, request.scope)
                file = str(getattr(response, "path", ""))
                if not file.endswith(".html"):
                    return response
                if response.status_code == 200:
                    return await run_in_threadpool(Path(file).read_text, "utf-8", "replace")
        if path and not path.endswith(("/", ".html")):
            raise HTTPException(404, "no such file")
        return _PLAIN


_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_PLAIN = (
    '<!doctype html><html lang="en"><meta name="color-scheme" content="light dark">'
    "<title>contentgen</title><style>main { font: 16px/1.6 system-ui; max-width: 44rem; "
    'margin: 2rem auto; padding: 0 1rem }</style><main data-contentgen-plain=""></main></html>'
)
"""A page that is not built yet, or is none of those that are published."""


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
