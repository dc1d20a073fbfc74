"""Sites in a real browser: builds and serves them, opens pages, and measures what is shown."""

from __future__ import annotations

import base64
import functools
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, cast

import pytest
from browser_articles import ASKED
from conftest import Project
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, sync_playwright
from service_double import Handler, Received, generated, running

SCRIPTS = Path(__file__).parent / "scripts"

LIMIT = 4.5
"""The least contrast that a text may have (WCAG 2.2, success criterion 1.4.3)."""

# --- The sites ------------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    policy = ""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        policy = cast(_Server, self.server).policy
        if policy and not self.path.endswith("?unlimited"):
            self.send_header("Content-Security-Policy", policy)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


@contextmanager
def served(
    root: Path,
    names: Collection[str],
    write: Callable[[Path, str, str, dict[str, str]], Project],
    compose: Callable[[str], str],
    *build: str,
    policy: str = "",
) -> Iterator[str]:
    """Build sites side by side, and return the address under whose `/NAME/` they are served.

    `write` gets the directory of a project, the address, its name and the environment. `compose`
    returns the text for a topic. `policy` is a Content-Security-Policy, from which `?unlimited` in
    an address exempts.
    """
    (root / "served").mkdir()

    def answer(request: Received, handler: Handler) -> None:
        generated(compose(request.topic))(request, handler)

    handler = functools.partial(_Handler, directory=str(root / "served"))
    with _Server(("127.0.0.1", 0), handler) as server, running() as service:
        server.policy = policy
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        service.answer = answer
        environment = service.environment
        projects = [write(root / name, address, name, environment) for name in names]
        builds = [(project, project.start(*build)) for project in projects]
        for project, process in builds:
            assert process.wait(timeout=600) == 0, project.output
            (root / "served" / project.root.name).symlink_to(project.root / "site")
        assert service.violations == []
        yield address
        server.shutdown()


# --- The browser ----------------------------------------------------------------------------------


def chromium() -> str | None:
    """Return the path of Debian's Chromium, or None.

    The one without a window needs a third less of the processor, with the same engine.
    """
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


@contextmanager
def browser_started() -> Iterator[Browser]:
    """Start Debian's Chromium; where there is none, the test is skipped, but not in CI.

    As long as it runs, nothing else in the process of the test can use asyncio.
    """
    executable = chromium()
    if executable is None:
        reason = "no Chromium on the PATH (Debian: apt install chromium-headless-shell)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=[
                *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
                *("--disable-component-update", "--disable-sync", "--no-first-run"),
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost",
            ],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run Debian's Chromium for a module."""
    with browser_started() as browser:
        yield browser


class Look(NamedTuple):
    """How a reader sees a site; `own` is what the site itself makes of the theme."""

    site: str
    scheme: Literal["light", "dark", "own"]


@dataclass
class Visitor:
    """Opens pages of the sites, and notes what they must not do."""

    browser: Browser
    address: str
    own_style: str = ""
    far: tuple[str, ...] = ()
    """Where themes get letters and highlighting from, which no test does."""

    foreign: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    contexts: dict[Look, BrowserContext] = field(default_factory=dict, repr=False)
    pages: dict[Look, Page] = field(default_factory=dict, repr=False)
    looks: dict[Look, Shown] = field(default_factory=dict, repr=False)

    def open(self, look: Look, path: str, width: int = 1280, height: int = 800) -> Page:
        """Open a page of a site, in the one tab that there is for the look."""
        page = self.pages.get(look) or self.pages.setdefault(look, self._new_tab(look))
        page.set_viewport_size({"width": width, "height": height})
        self._go(page, look, path)
        return page

    def look_at(self, look: Look) -> Shown:
        """Return the page `all/` in a look, with the contrast of each text in it."""
        if look not in self.looks:
            page = self._new_tab(look)
            self._go(page, look, "all/")
            self.looks[look] = Shown(page, measure(page))
        return self.looks[look]

    def _new_tab(self, look: Look) -> Page:
        if look not in self.contexts:
            context = self.contexts[look] = self.browser.new_context(
                color_scheme="dark" if look.scheme == "dark" else "light",
                bypass_csp=look.scheme == "own",
            )
            context.set_default_timeout(120_000)
            context.add_init_script(script("init"))
        page = self.contexts[look].new_page()
        page.on("request", self._note_request)
        page.on("dialog", self._note_dialog)
        return page

    def _go(self, page: Page, look: Look, path: str) -> None:
        page.goto(f"{self.address}/{look.site}/{path}")
        if look.scheme == "own":
            page.add_style_tag(content=self.own_style)
            page.evaluate("() => { document.body.dataset.mdColorScheme = 'own'; }")

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.address}/", "data:", "blob:", *self.far)):
            self.foreign.append(request.url)

    def _note_dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def assert_innocent(self) -> None:
        """Fail if another host was asked, or a script opened a dialog, since the last call."""
        noticed = [*self.foreign, *self.dialogs]
        self.foreign.clear()
        self.dialogs.clear()
        assert noticed == []


@contextmanager
def visiting(browser: Browser, address: str, **options: Any) -> Iterator[Visitor]:
    """Return a visitor, whose tabs are closed in the end."""
    visitor = Visitor(browser, address, **options)
    yield visitor
    for context in visitor.contexts.values():
        context.close()


# --- What is shown --------------------------------------------------------------------------------


class Text(TypedDict):
    """A piece of text, its contrast against the worst pixel behind it, and that pixel."""

    text: str
    within: str
    ratio: float
    colour: list[int]
    behind: list[int]


@dataclass(frozen=True)
class Shown:
    """In one of the looks: a page with many articles, and what was measured there."""

    page: Page
    texts: list[Text]


HIDE = """
*, ::before, ::after { transition: none !important; animation: none !important; }
article * {
    -webkit-text-fill-color: transparent !important;
    text-decoration-color: transparent !important;
    text-shadow: none !important;
}
"""
"""Leaves only what is behind the texts."""


def script(name: str) -> str:
    """Return a script for the browser."""
    return (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


def adopt(page: Page, style: str = "") -> None:
    """Give a page a style of the test's alone, in a way that its policy allows, or none."""
    page.evaluate(script("adopt"), style)


def measure(page: Page, rule: str = "") -> list[Text]:
    """Measure the contrast of each text in the articles of a page, with the pixels behind it.

    Meanwhile another `rule` of style holds as well.
    """
    adopt(page, HIDE + rule)
    picture = page.screenshot(full_page=True, scale="css")
    found = page.evaluate(script("contrast"), base64.b64encode(picture).decode())
    adopt(page)
    return cast(list[Text], found)


def too_faint(measured: list[Text]) -> list[str]:
    """Return the texts whose contrast is too small, each as a line of a report."""
    return [
        f"{text['ratio']:.2f} {text['text'][:40]!r} {text['colour']} on {text['behind']}"
        f" in {text['within']}"
        for text in measured
        if text["ratio"] < LIMIT
    ]


def violations(page: Page) -> set[str]:
    """Return what the Content-Security-Policy forbade."""
    return set(page.evaluate("violations"))


AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def audit(page: Page) -> list[dict[str, Any]]:
    """Return what axe-core finds on a page."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(f"{AXE}; undefined")
    return cast(list[dict[str, Any]], page.evaluate(script("audit")))


def new_violations(visitor: Visitor, look: Look) -> list[dict[str, Any]]:
    """Return what axe-core finds in articles, or on a page with them and on none without."""
    known = {found["rule"] for found in audit(visitor.open(look, ""))}
    shown = audit(visitor.look_at(look).page)
    return [what for what in shown if what["inside"] or what["rule"] not in known]


def named(measured: list[Text], start: str) -> Text:
    """Return the text that starts so."""
    return next(text for text in measured if text["text"].startswith(start))


def keeps_meanings(measured: list[Text]) -> None:
    """Fail if a fill or an ink has lost what it meant."""
    page = named(measured, "Nearly transparent")["behind"]
    for start in ("Grey on black", "Pro tip", "A tip without", "A quote with a bar", "The end"):
        fill = named(measured, start)["behind"]
        assert max(abs(one - other) for one, other in zip(fill, page, strict=True)) >= 6, start
    for start, strongest in (("Rot", 0), ("Pink row", 0), ("dark green", 1), ("Blue in red", 2)):
        fill = named(measured, start)["behind"]
        assert fill[strongest] == max(fill) > min(fill) + 10, start
    for start, strongest in (("with red", 0), ("mit Grün", 1), ("Navy on navy", 2)):
        ink = named(measured, start)["colour"]
        assert ink[strongest] == max(ink) > min(ink) + 30, start


def differs_from_asked(page: Page) -> list[str]:
    """Return each text of `STYLED` that is shown otherwise than its name says."""
    return [
        f"{text}: {shown}"
        for style, (name, value) in ASKED.items()
        for text, shown in page.evaluate(script("styles_of"), [style, name])
        if shown != value
    ]
