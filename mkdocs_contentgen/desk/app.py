"""The desk as an ASGI application: its own pages and routes, and the pages of the site.

The desk shows a page of the site in a frame, and gives nobody else a page, since it can be a draft.
Each page has an origin of its own, `http://RANDOM.localhost:PORT`: its scripts can read neither the
desk nor other pages. The name of the host is the secret that opens the page. A cookie would go to
all servers of a host, whatever their ports, and browsers keep cookies from frames of other sites.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from functools import partial
from html import escape
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import ContentgenError, EditError, UnsafeHTMLError
from ..files import sha256
from ..html.block import MAX_PASTED
from ..html.plain_markdown import to_editable_markdown
from ..remark import Line
from ..review import updating
from ..service.bodies import TooLargeError, read_body
from ..service.protocol import MAX_NOTE
from ..site.build import Build
from ..text import Edits, Text
from ..texts.articles import Article
from .acts import EARLIER, Change, Desk, Earlier, FileEditedError, OutdatedError, digest_of, ref_of
from .builder import Builder
from .describing import commit_all_command, describe, describe_rows, described_remarks
from .session import DeskSite
from .site_files import PAGE, emptied_index, is_asset, is_index, type_of

HOST = "127.0.0.1"

MAX_BODY = 1024 * 1024
"""The maximum size of a request body in bytes. It has room for MAX_PASTED characters."""

MAX_CHANGES = 50
"""How many changes of a text are made at once; for each, the text is read again."""

_T = TypeVar("_T")
_ROOT = "/_contentgen"
_ADDRESS_HINT = "open the address that contentgen review has printed"
_TYPES = {"js": "text/javascript", "css": "text/css", "json": "application/json"}
_PAGE = Path(__file__).with_name("page")
"""The folder of the desk's own page: its modules, styles and words."""

_IN_SITE = "in_site"
"""The folder of the scripts that the pages of the site get."""


def _served_files() -> tuple[list[str], list[str]]:
    """Return the files of the desk's own page, and the scripts for the pages of the site."""
    own = []
    in_site = []
    for file in sorted(_PAGE.rglob("*")):
        name = file.relative_to(_PAGE).as_posix()
        if file.suffix.removeprefix(".") not in _TYPES:
            continue
        if name.startswith(f"{_IN_SITE}/"):
            in_site.append(name)
        else:
            own.append(name)
    return own, in_site


_HEAD = re.compile(r"<head\b[^<>]*>", re.IGNORECASE)

_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Origin-Agent-Cluster": "?1",  # no page can give up a part of its host's name
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_CLEARED = {"Clear-Site-Data": '"cache", "storage"'}
"""Deletes what an earlier program has left on the port. Cookies would be those of all ports."""

_PLAIN = (
    '<!doctype html><html lang="en"><meta name="color-scheme" content="light dark">'
    "<title>contentgen</title><style>main { font: 16px/1.6 system-ui; max-width: 44rem; "
    'margin: 2rem auto; padding: 0 1rem }</style><main data-contentgen-plain=""></main></html>'
)
"""A page that is not built yet, or is none of those that are published."""


class _Part(NamedTuple):
    """What answers for some hosts, and the Content-Security-Policy of its answers."""

    app: ASGIApp
    policy: str


_REFUSED = _Part(Response("this is not served here", 403), "default-src 'none'")
"""What answers for other hosts."""


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    """What the desk's page sends with an action; each action takes some of it."""

    ref: str = ""
    """The reference of the text."""

    version: str = ""
    """The version of the description that the page has (`text`)."""

    seen: str = ""
    """What digest_of() returned for the text that the person has seen."""

    shown: str = ""
    """The digest of what the page of the site shows (`approve`)."""

    changes: Annotated[tuple[Change, ...], msgspec.Meta(max_length=MAX_CHANGES)] = ()
    reason: Line = ""
    """Why a text with statements to check is approved."""

    overwrites: str = ""
    """The SHA-256 of the file whose human edits the person agrees to overwrite (`approve`)."""

    replace: bool = False
    """Whether the person has agreed that a new text replaces this one (`ask`)."""

    earlier: Earlier | None = None
    """The version to compare with, or None for the first that there is (`compare`)."""

    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE)] = ""
    section: str = ""
    update: bool = False
    """Whether an update is asked for, and not a new text (`ask`, `cost`)."""

    address: str = ""
    """The address of a page of the site (`page`)."""

    html: str = ""
    """The formatted text that a person pastes (`markdown`)."""


class _PageHosts:
    """The hosts of the pages of the site, each with a name that nobody can guess."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._hosts: dict[str, str] = {}
        self._pages: dict[str, str] = {}

    def origin(self, page: str) -> str:
        """Return the origin of a page, which page_name() has named."""
        if page not in self._hosts:
            host = f"{secrets.token_hex(16)}.localhost:{self._port}"
            self._hosts[page] = host
            self._pages[host] = page
        return f"http://{self._hosts[page]}"

    def page(self, host: str) -> str | None:
        """Return the page of a host, as a request names it, or None for no host of a page."""
        return self._pages.get(host)


def page_name(path: str) -> str:
    """Return one name for a page of the site, by any path that leads to it."""
    name = posixpath.normpath(f"/{path}").lstrip("/")
    return name if name.endswith(PAGE) else posixpath.join(name, "index.html")


class DeskApp:
    """The desk on a port of 127.0.0.1, and the pages on another one, on hosts of their own.

    `site` has the texts, `token` opens a session, and `language` is that of the site, which is
    served below the path `base`, such as `docs/`.
    """

    def __init__(
        self,
        site: DeskSite,
        builder: Builder,
        ports: tuple[int, int],
        token: str,
        language: str = "",
        base: str = "",
    ) -> None:
        self._site = site
        self._builder = builder
        self._host = f"{HOST}:{ports[0]}"
        self._origin = f"http://{self._host}"
        self._hosts = _PageHosts(ports[1])
        self._base = base
        self._token = token
        self._opener = ""
        """Names the page that has got the key for the token, or nobody yet."""

        # It is not a cookie, since browsers send those to all ports of a host.
        self._key = secrets.token_urlsafe(32)
        shell = (_PAGE / "desk.html").read_text("utf-8")
        self._shell = partial(shell.format, language=escape(language or "en"))
        own_files, files_in_site = _served_files()
        desk = _application(
            own_files,
            Route(f"{_ROOT}/api/session", self._open_session, methods=["POST"]),
            Route(f"{_ROOT}/api/{{action}}", self._answer, methods=["POST"]),
            Route("/{path:path}", self._show_desk),
        )
        pages = _application(files_in_site, Route("/{path:path}", self._page))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"frame-src http://*.localhost:{ports[1]}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )
        self._desk = _Part(desk, policy)
        self._pages = _Part(pages, f"frame-ancestors {self._origin}")

    @property
    def address(self) -> str:
        """The address that opens the desk."""
        return f"{self._origin}{_ROOT}/#token={self._token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it names the host of the desk or of a page.

        A service worker would outlive the session, and answer for what comes next on this port.
        """
        given = Headers(scope=scope)
        hosts = given.getlist("host")
        part = _REFUSED
        if len(hosts) == 1 and "service-worker" not in given:
            if hosts[0] == self._host:
                part = self._desk
            elif self._hosts.page(hosts[0]):
                part = self._pages

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update({**_HEADERS, "Content-Security-Policy": part.policy})
            await send(message)

        await part.app(scope, receive, send_with_headers)

    async def _open_session(self, request: Request) -> Response:
        """Exchange the token for the key of the desk, for one page.

        Until the key is used, that page can repeat this: it may have been loaded again meanwhile.
        """
        self._check_origin(request)
        given = await _read(request, dict[str, str])
        is_right = self._token and _is_same(given.get("token", ""), self._token)
        opener = given.get("opener") or secrets.token_urlsafe(32)
        if not is_right or (self._opener and not _is_same(opener, self._opener)):
            raise HTTPException(403, "this address has been opened before; run `contentgen review`")
        self._opener = opener
        response = _json({"key": self._key})
        response.headers.update(_CLEARED)
        return response

    def _check_origin(self, request: Request) -> None:
        """Refuse what another page sends, also one of this site."""
        initiator = request.headers.get("sec-fetch-site")
        if initiator:
            is_own = initiator == "same-origin"
        else:  # from an older browser
            is_own = request.headers.get("origin") == self._origin
        media_type = request.headers.get("content-type", "").partition(";")[0].strip()
        if not is_own or media_type != "application/json":
            raise HTTPException(403, "only the desk itself can read or change something")

    async def _answer(self, request: Request) -> Response:
        key = request.headers.get("x-contentgen-key", "")
        if not _is_same(key, self._key):
            raise HTTPException(401, _ADDRESS_HINT)
        self._token = ""  # whoever opened the address has the key
        self._check_origin(request)
        body = await _read(request, _Body)

        def act() -> Response:
            with self._site.lock:
                return _json(self._act(request.path_params["action"], body))

        return await run_in_threadpool(act)

    def _act(self, action: str, body: _Body) -> object:
        """Do what the desk's page asks for, and return what it shows then."""
        match action:
            case "queue":
                return self._queue(self._site.open())
            case "page":
                return {"frame": self._frame(body.address)}
            case "compare":
                return _compare(*self._find(body.ref), body.earlier)
            case "markdown":
                return {"markdown": _pasted(body.html)}
            case "cost":
                return _cost(*self._find(body.ref), is_update=body.update)
            case "text":
                desk, article = self._find_newest(body.ref)
            case _:
                self._change(action, body)
                desk = self._site.after_change()
                article = desk.find(body.ref)
        text = self._described(desk, article)
        return {"version": body.version} if text["version"] == body.version else text

    def _find(self, ref: str) -> tuple[Desk, Article]:
        """Return the desk, and the article with this reference, as they are now.

        Raises OutdatedError if no page has this article any more.
        """
        desk = self._site.open()
        return desk, desk.find(ref)

    def _find_newest(self, ref: str) -> tuple[Desk, Article]:
        """Return the desk and an article, also with what another machine has saved meanwhile."""
        desk, article = self._find(ref)
        if desk.look_for_newer(article):
            desk = self._site.after_change()
            article = desk.find(ref)
        return desk, article

    def _change(self, action: str, body: _Body) -> None:
        """Change a text, approve it, or ask for another one."""
        find = self._find_newest if action == "approve" else self._find
        desk, article = find(body.ref)
        job = self._site.last_job(article)
        if job and job.is_running and action != "cancel":
            raise EditError("another text is being generated; wait for it")
        match action:
            case "change":
                desk.change(article, body.seen, body.changes)
            case "undo":
                desk.undo(article, body.seen)
            case "redo":
                desk.redo(article, body.seen)
            case "approve":
                self._check_shown(desk, article, body.shown)
                desk.approve(article, body.seen, body.reason, body.overwrites)
            case "ask":
                self._ask(desk, article, body)
            case "cancel":
                if job:
                    job.cancelled.set()
            case _:
                raise HTTPException(404, "no such action")

    def _queue(self, desk: Desk) -> object:
        if "queue" not in desk.described:
            desk.described["queue"] = [self._row(desk, article) for article in desk.queue()]
        problem = self._site.problem or self._builder.problem
        return {
            "queue": desk.described["queue"],
            "by": desk.by,
            "problem": problem,
            "commit_command": commit_all_command(desk.site),
        }

    def _row(self, desk: Desk, article: Article) -> dict[str, object]:
        url = desk.addresses.get(article.page, "")
        newest = article.newest
        edits = newest.edits if newest and newest.edits else Edits()
        return {
            **self._site.to_json(article),
            "ref": ref_of(article),
            "title": article.title,
            "original_ref": ref_of(article.original) if article.original else "",
            "translated_into": article.request.language if article.asked.original else "",
            "url": url,
            "frame": self._frame(url),
            "seen": digest_of(article) if newest else "",
            "checked": edits.settled,
            "remarks": described_remarks(article.remarks),
        }

    def _frame(self, url: str) -> str:
        """Return the origin of the page at an address of the site."""
        return self._hosts.origin(page_name(unquote(url)))

    def _described(self, desk: Desk, article: Article) -> dict[str, Any]:
        ref = ref_of(article)
        if ref not in desk.described:
            # First, since it counts the statements of the text that it has parsed; the row needs
            # that number, too.
            described = describe(desk, article, desk.on_page(article.page))
            desk.described[ref] = {**self._row(desk, article), **described}
        job = self._site.last_job(article)
        running = None
        if job and job.is_running:
            running = {"is_update": job.is_update, "began": job.began}
        answer = {
            **desk.described[ref],
            "asking": running,
            "ask_problem": job.problem if job else "",
            "stamp": self._builder.stamp,
            "waits": self._why_not_shown(desk, ref),
        }
        return {**answer, "version": sha256(msgspec.json.encode(answer).decode())}

    def _why_not_shown(self, desk: Desk, ref: str) -> str:
        """Return why the page beside the desk does not show this text yet, or an empty string."""
        if self._site.problem:
            return self._site.problem
        if self._builder.stamp == self._site.stamp:
            return str(desk.described[ref].get("page_problem", ""))
        if self._builder.problem and not self._builder.is_building:
            return f"the site cannot be built: {self._builder.problem}"
        return "the site is being built, since its pages have changed"

    def _check_shown(self, desk: Desk, article: Article, shown: str) -> None:
        """Raise OutdatedError unless the page beside the desk shows the text as it is now.

        `shown` is the digest of what that page shows.
        """
        text = self._described(desk, article)
        if text["waits"] or (text.get("in_page") or {}).get("digest") != shown:
            reason = text["waits"] or "it does not show this text yet"
            raise OutdatedError(f"look at the page first: {reason}")

    def _ask(self, desk: Desk, article: Article, body: _Body) -> None:
        is_update = body.update or bool(body.note.strip())
        if is_update and article.original:
            self._check_translation(desk, body)
        elif is_update and not desk.site.options.service_can("update"):
            raise EditError("this service cannot update texts; see `service_fields`")
        if article.newest and digest_of(article) != body.seen:
            raise OutdatedError("the text has changed since you opened it; look at it again")
        if not (body.replace or is_update):
            raise EditError("a new text replaces this one; confirm that first")
        self._site.ask(article, update=is_update, note=body.note.strip(), section=body.section)

    def _check_translation(self, desk: Desk, body: _Body) -> None:
        """Raise EditError unless a service can be asked for an update of a translation."""
        if body.note.strip():
            raise EditError("a translation says what its original says; change that, or edit this")
        if not desk.site.options.service_can("translate"):
            raise EditError("this service cannot translate texts; see `service_fields`")

    async def _show_desk(self, request: Request) -> Response:
        """Return the desk, and tell it whether a person or another page has opened it."""
        is_own = request.headers.get("sec-fetch-site") in ("none", "same-origin")
        return HTMLResponse(self._shell(opened_by="person" if is_own else "page"))

    async def _page(self, request: Request) -> Response:
        """Return a file of the built site. Pages get the scripts that the desk needs there."""
        page_of_host = self._hosts.page(request.headers["host"])
        initiator = request.headers.get("sec-fetch-site", "same-origin")
        destination = request.headers.get("sec-fetch-dest", "iframe")
        path = self._path_in_site(request.path_params["path"])
        if not (initiator == "same-origin" or destination == "iframe"):
            raise HTTPException(403, _ADDRESS_HINT)
        if destination == "document":  # a link that opens a tab
            return RedirectResponse(f"{self._origin}/{quote(path)}")
        # First, so that no page is older than its stamp says. A newer one is loaded once more.
        build = self._builder.stamp
        html = await self._find_page(path, request)
        if isinstance(html, Response):
            return html
        page = page_name(path)
        if page != page_of_host:
            if destination != "iframe":
                raise HTTPException(404, "this page has another host")
            return RedirectResponse(f"{self._hosts.origin(page)}/{quote(path)}")
        return HTMLResponse(self._with_scripts(html, build))

    def _path_in_site(self, path: str) -> str:
        """Return a path without that below which the site is served, unless a file has both."""
        if not self._base:
            return path
        directory = self._builder.site_dir
        # Not Path.exists(), which raises OSError for a name that is too long.
        is_file = directory is not None and os.path.exists(directory / path)  # noqa: PTH110
        return path if is_file else path.removeprefix(self._base)

    def _with_scripts(self, html: str, build: str) -> str:
        script = (
            f'<script type="module" src="{_ROOT}/{_IN_SITE}/page.js" data-desk="{self._origin}" '
            f'data-build="{escape(build)}"></script>'
        )
        head = _HEAD.search(html)
        if head:
            # Before the scripts of the theme, and before a <base> and a policy in a <meta>.
            storage = f'<script src="{_ROOT}/{_IN_SITE}/storage.js"></script>'
            # What the script imports, too: a policy refuses what is asked for after it.
            sight = f'<script type="module" src="{_ROOT}/{_IN_SITE}/sight.js"></script>'
            html = f"{html[: head.end()]}{storage}{sight}{script}{html[head.end() :]}"
        # A browser runs a module once. Here, it also runs if that is not a start tag of a head.
        before, body_end, after = html.rpartition("</body>")
        return f"{before}{script}{body_end}{after}" if body_end else f"{html}{script}"

    async def _find_page(self, path: str, request: Request) -> str | Response:
        """Return the HTML of a page, or another file that pages are shown with.

        For a page that is not built, it is HTML that its text can be put into.
        """
        response = await self._find_file(path, request)
        if response is not None:
            file = str(getattr(response, "path", ""))  # a redirection has none
            if is_index(path) and response.status_code == 200:
                index = await run_in_threadpool(Path(file).read_text, "utf-8", "replace")
                return Response(emptied_index(index), media_type=_TYPES["json"])
            if not file or await run_in_threadpool(is_asset, file):
                return response
            # With another status, it is the 404.html of the site.
            if type_of(file) == PAGE and response.status_code == 200:
                return await run_in_threadpool(Path(file).read_text, "utf-8", "replace")
        if path and not path.endswith(("/", PAGE)):
            raise HTTPException(404, "no such file, or none that pages are shown with")
        return _PLAIN

    async def _find_file(self, path: str, request: Request) -> Response | None:
        """Return a file of the built site, or None if it is not there."""
        directory = self._builder.site_dir
        if directory is None:
            return None
        static = StaticFiles(directory=directory, html=True)
        try:
            return await static.get_response(path, request.scope)
        except HTTPException:
            return None


def _application(files_served: Sequence[str], *routes: Route) -> Starlette:
    """Return an application with these files of the desk, and with these routes."""
    own = [Route(f"{_ROOT}/{name}", _file(name)) for name in files_served]
    handlers = dict.fromkeys((HTTPException, ContentgenError, Exception), _error_response)
    return Starlette(routes=[*own, *routes], exception_handlers=handlers)


def _compare(desk: Desk, article: Article, wanted: Earlier | None) -> object:
    """Return how a text differs from the earlier version that is wanted, or else from the first.

    The approved text comes first: it is what readers have.
    """
    found: dict[Earlier, Text] = {}
    for name in EARLIER:
        text = desk.earlier(article, name)
        if text:
            found[name] = text
    earlier = next(iter(found), EARLIER[0])
    if wanted and wanted in found:
        earlier = wanted
    rows: list[dict[str, object]] = []
    if article.newest and found:
        rows = list(describe_rows(desk, found[earlier], article.newest, earlier))
    return {"rows": rows, "earlier": earlier, "versions": list(found)}


def _pasted(html: str) -> str:
    """Return formatted text that a person pastes as Markdown. Raises EditError."""
    try:
        return to_editable_markdown(html)
    except UnsafeHTMLError as error:
        raise EditError(f"this text cannot be shown: {error}") from error


def _cost(desk: Desk, article: Article, *, is_update: bool) -> dict[str, object]:
    """Return what a new text or a translation of what has changed will take; nothing if free.

    It is calls and tokens of the model, with what they cost, or the number of requests.
    """
    if desk.site.options.uses_sandbox():
        return {}
    build = Build(desk.site, desk.site.options.command_policy())
    if is_update and article.original:
        updates = updating.plan(build, [article]).updates
        total = updating.estimate_of_updates(build, updates)
        return asdict(total) if total else {}
    total = build.estimate({article.key: article.asked_now})
    return asdict(total) if total else {"requests": 1}


def _file(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        content = (_PAGE / name).read_bytes()
        return Response(content, media_type=_TYPES[name.rpartition(".")[2]])

    return endpoint


def _is_same(given: str, secret: str) -> bool:
    """Compare two texts in a time that does not depend on them."""
    return secrets.compare_digest(given.encode(), secret.encode())


async def _read(request: Request, model: type[_T]) -> _T:
    try:
        body = await read_body(request.stream(), MAX_BODY)
    except TooLargeError:
        reason = f"at most {MAX_PASTED:,} characters can be added at once"
        raise HTTPException(413, reason) from None
    try:
        return msgspec.json.decode(body, type=model)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"this body is not valid: {error}") from error


def _json(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value), status, media_type="application/json")


async def _error_response(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return _json({"error": error.detail}, error.status_code)
    if isinstance(error, FileEditedError):
        conflicts = [msgspec.to_builtins(conflict) for conflict in error.conflicts]
        answer = {"error": str(error), "conflicts": conflicts, "file": error.file}
        return _json(answer, 409)
    if isinstance(error, OutdatedError):
        return _json({"error": str(error)}, 409)
    if isinstance(error, ContentgenError):
        return _json({"error": str(error)}, 422)
    return _json({"error": "an error in the desk; the terminal shows it"}, 500)
