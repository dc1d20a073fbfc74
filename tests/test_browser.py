"""Articles in a real browser: every theme and scheme, as its readers see, search and scroll them.

Each theme's site is built once, by `mkdocs build` against the service double, and served with
`Content-Security-Policy: style-src 'self'`. No test may make the browser ask another host.
"""

from __future__ import annotations

import base64
import functools
import os
import random
import re
import shutil
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, cast

import pytest
from conftest import Project
from golden_file import GOLDEN
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, sync_playwright
from service_double import TOKEN, USER, Handler, Received, generated, running

from mkdocs_contentgen.requests import ArticleRequest, BlogRequest, NewsRequest
from mkdocs_contentgen.service.sandbox import write_article

LIMIT = 4.5
"""The least contrast that a text may have (WCAG 2.2, success criterion 1.4.3)."""

# --- The articles ---------------------------------------------------------------------------------

LINK = '<a href="https://far.example/">a link</a>'
INLINE = (
    f"{LINK}, <code>code</code>, <small>small print</small>, <mark>a mark</mark>, <kbd>a key</kbd>,"
    " <del>deleted</del>, <ins>inserted</ins>, <abbr title='x'>abbr</abbr>, <sub>sub</sub>,"
    " <q>quoted</q>, <a href='https://far.example/'><code>linked code</code></a>"
)
COLOURS = f"""
<article class="blog-post" style="background: #111; color: #fff; padding: 40px">
<h1 style="color: white; background: linear-gradient(90deg, #667eea, #764ba2)">Colours 🎨</h1>
<p class="intro" style="color: #fff; background: #fff">White on white.</p>
<p style="color: #777; background: #000">Grey on black.</p>
<p style="color: #000; background-color: #111">Black on black: {INLINE}.</p>
<p style="color: yellow; background: white">Yellow on white: {INLINE}.</p>
<p style="color: yellow">Yellow with <em style="color: silver">silver</em> in it.</p>
<h4 style="color: #eee">A heading that skips two levels</h4>
<p>Plain text: {INLINE}, <a style="color: white" href="https://far.example/">a white link</a>,
<code style="background: #000; color: #111">dark code</code>,
<mark style="background: navy; color: black">a dark mark</mark>,
<span style="background: crimson">crimson</span>, <strong style="color: gold">gold</strong>,
<span style="color: #7f8c8d">grey</span>.</p>
<div style="background: linear-gradient(rgba(0,0,0,.9), #fff)">
<h2 style="color: #fff">In a gradient</h2><p>Text in a gradient: {INLINE}.</p></div>
<p style="background: conic-gradient(red, lime, blue)">A conic gradient: {INLINE}.</p>
<p style="background: repeating-linear-gradient(45deg, #000, #000 9px, #fff 9px, #fff 20px)">
Stripes: {INLINE}.</p>
<p style="background: radial-gradient(white, black); color: white">A radial gradient.</p>
<div class="pro-tip" style="background: linear-gradient(135deg, #667eea, #764ba2); color: white">
<p>💡 <strong>Pro tip:</strong> {INLINE}.</p></div>
<div class="pro-tip">A tip without a style: {INLINE}.</div>
<div style="background: #c00" lang="de"><p>Rot <span style="color: #0c0">mit Grün</span></p>
<div style="background: #00c"><p>Blue in red <span style="color: red">with red</span></p>
<div style="background: #fff"><p style="color: #ff0">Yellow on white in blue in red</p>
<div style="background: hsl(120deg, 50%, 50%)"><blockquote style="color: hsla(120, 50%, 50%, .3)">
Green in white in blue in red: {INLINE}, <a href="https://far.example/" style="color: green">green
</a></blockquote></div></div></div></div>
<h2 style="color: transparent">Transparent</h2>
<p style="color: rgba(255,255,255,.05)">Nearly transparent.</p>
<p style="background: rgba(0, 0, 0, 0.5); color: #888">Half a background.</p>
<blockquote style="background: #f8f9fa; border-left: 4px solid #3498db; color: #eee">
<p>A quote with a bar: {INLINE}.</p></blockquote>
<blockquote>A plain quote: {INLINE}.</blockquote>
<table style="background: #000; color: #000"><caption style="color: #ddd">A caption</caption>
<thead style="background: #2c3e50"><tr><th style="background: #2c3e50; color: white">Dark head</th>
<th>Head: {LINK}</th></tr></thead>
<tbody><tr style="background: #fee"><td>Pink row</td><td style="color: #999">grey</td></tr>
<tr><td style="background: yellow; color: white">Yellow</td><td>{LINK} <code>code</code></td></tr>
<tr><td>plain</td><td style="background: #030">dark green</td></tr></tbody></table>
<table><tr><th>Year</th><th>Number</th></tr><tr><td>2020</td><td>{LINK}</td></tr>
<tr><td>2021</td><td><code>8</code></td></tr></table>
<ul style="background: #222; color: #222"><li>A dark list</li>
<li style="color: #fff">white<ul><li>{LINK}</li></ul></li></ul>
<ol><li style="background: #fafad2">An item with a fill</li><li>and one without</li></ol>
<dl style="color: #ccc"><dt style="color: orange">Term</dt><dd>Meaning</dd></dl>
<pre style="background: #000; color: #0f0"><code>$ print green on black</code></pre>
<pre>without a code element</pre>
<figure style="background: #eee"><pre><code>in a figure</code></pre>
<figcaption style="color: #fff">A caption</figcaption></figure>
<section style="background: navy"><h3>A section</h3><p style="color: navy">Navy on navy.</p>
<pre><code>code in navy</code></pre><table><tr><th>In navy</th><td>cell</td></tr></table></section>
<p style="border: 2px solid red">A box.</p>
<p class="conclusion" style="background: #e8f4f8; color: #2c3e50">The end: {INLINE}.</p>
</article>"""


def random_colours(seed: int, number: int) -> str:
    """Return an article of texts in random colours on random fills, within one another."""
    rng = random.Random(seed)

    def colour() -> str:
        return rng.choice(
            (
                f"#{rng.randrange(2**24):06x}",
                f"#{rng.randrange(2**12):03x}",
                f"rgba({', '.join(str(rng.randrange(256)) for _ in 'rgb')}, {rng.random():.1f})",
                f"hsl({rng.randrange(360)}, {rng.randrange(101)}%, {rng.randrange(101)}%)",
                rng.choice(("white", "black", "red", "lime", "navy", "gold", "teal", "silver")),
            )
        )

    def fill() -> str:
        if rng.random() < 0.3:
            return (
                f"linear-gradient({rng.randrange(360)}deg, {colour()}, {colour()} 40%, {colour()})"
            )
        return colour()

    parts = ["<article><h1>Random colours</h1>"]
    for _ in range(number):
        outer, inner = f"{colour()} on {fill()}", f"{colour()} on {fill()}"
        (ink, _, ground), (ink2, _, ground2) = outer.partition(" on "), inner.partition(" on ")
        parts.append(
            f'<div style="color: {ink}; background: {ground}">{outer}'
            f'<p style="color: {ink2}; background: {ground2}">{inner} {LINK}</p></div>'
            f'<p style="color: {ink2}">{ink2} <em style="background: {ground}">{outer}</em></p>'
        )
    return "".join([*parts, "</article>"])


WIDE = (
    "<article><h1>Wide</h1>"
    f"<p>{'Donaudampfschifffahrt' * 8}</p>"
    f"<h2>{'Donaudampfschifffahrt' * 4}</h2>"
    f'<p style="background: #eee">{LINK} {"https://far.example/" * 9}</p>'
    "<table><caption>Twelve columns</caption><tr>"
    + "".join(f"<th>Column number {number}</th>" for number in range(12))
    + "</tr><tr>"
    + "".join(f"<td>Cell number {number}</td>" for number in range(12))
    + "</tr></table>"
    f'<table style="background: #eee"><tr>{"<td>Cell</td>" * 40}</tr></table>'
    f"<pre><code>{'a very long line of code, ' * 20}</code></pre>"
    f"<pre>{'a very long line without a code element, ' * 20}</pre>"
    f"<p><code>{'code' * 60}</code></p><blockquote>{'quote' * 60}</blockquote>"
    "<h2>A section</h2><p>Its text is xylographic.</p></article>"
)

LOUD = "color: #f0f; background: #f0f; border: 2px solid #f0f"
FAR = '<a href="https://far.example/">'


def nested(start: str, times: int, style: str = "") -> str:
    """Return a link within `times` elements in one another, all of them in one colour."""
    tag = start.split()[0].rstrip(">").lstrip("<")
    one = f'{start.rstrip(">")} style="{style}; {LOUD}">' if style else start
    return f"{one * times}{FAR}MMMM MMMM</a>{f'</{tag}>' * times}"


ESCAPES = [
    f'<div style="line-height: 1px; {LOUD}">{nested("<span>", 1, "font-size: 6em")}</div>',
    f'<div style="line-height: 1px; {LOUD}">{nested("<span>", 40, "font-size: 6em")}</div>',
    f'<div style="line-height: 1; {LOUD}">{nested("<span>", 40, "font-size: 600%")}</div>',
    f'<div style="line-height: 5%; {LOUD}">{nested("<span>", 3, "font-size: 100px")}</div>',
    nested("<span>", 60, "vertical-align: 100px"),
    nested("<span>", 60, "vertical-align: 600%"),
    nested("<span>", 20, "font-size: larger"),
    nested("<p>", 1, "text-indent: 100%"),
    nested("<p>", 1, "text-indent: 100px; letter-spacing: 6em"),
    f'<p style="text-decoration: underline 100px #f0f">{FAR}underlined</a></p>',
    nested("<div>", 60, "margin: 100px"),
    nested("<div>", 60, "margin-left: 100%"),
    nested("<div>", 60, "padding-left: 100px"),
    nested("<div>", 60, "padding: 100%"),
    nested("<div>", 60, "border-width: 100px"),
    nested("<blockquote>", 60),
    nested("<ul><li>", 1).replace("<ul><li>", "<ul><li>" * 45),
    nested("<h2><div>", 1).replace("<h2><div>", "<h2><div>" * 40).replace("</h2>", "</h2>" * 40),
    nested("<sup>", 60),
    nested("<small>", 60),
    nested('<div class="intro">', 60),
    f'{FAR}<ol type="I" start="3888"><li style="{LOUD}; font-size: 100px">x</ol></a>',
    f'{FAR}<ol start="-99999" style="{LOUD}; font-size: 6em"><li>x</ol></a>',
    f'<div dir="rtl">{nested("<blockquote>", 60)}</div>',
    f"<p>{FAR}{'W' * 600}</a></p>",
    f'<table style="{LOUD}; border-width: 100px; margin: 100px; border-collapse: collapse"><tr>'
    f'<td style="{LOUD}; padding: 100px">{FAR}x</a></td></tr></table>',
    f"<table><tr>{f'<td>{FAR}WWWWWWW</a></td>' * 40}</tr></table>",
    f"<pre>{FAR}{'W' * 600}</a></pre>",
]
"""Ways out of an article, for a link in a colour that is nowhere else."""

SIZES = (
    "<article>"
    + "".join(
        nested("<span>", 30, f"font-size: {size}")
        for size in ("0.5em", "50%", "smaller", "1ch", "6em", "600%", "larger", "8px", "100px")
    )
    + nested("<small>", 30)
    + nested("<sup>", 30)
    + nested("<h2><div>", 1).replace("<h2><div>", "<h2><div>" * 30).replace("</h2>", "</h2>" * 30)
    + f"{'<code>' * 30}x{'</code>' * 30}".replace("<code>", "<code>", 1)
    + "</article>"
)
"""Sizes of letters, nested."""

ORDINARY = f"""
<article><h1>Ordinary</h1>
<p>{LINK} at the start and far to the right, where the line is full, {LINK}, {LINK}, {LINK}</p>
<h2>A heading</h2><ul><li>{LINK}</li><li>b<ul><li>c</li></ul></li></ul>
<ol start="1998"><li>{LINK}</li><li>b</li></ol><blockquote><p>{LINK}</p></blockquote>
<dl><dt>{LINK}</dt><dd>a</dd></dl><table><tr><th>{LINK}</th><td>b</td></tr></table>
<pre><code>code</code></pre><p>The end: <a href="https://far.example/"><code>x</code></a></p>
</article>"""

SANDBOX: Mapping[str, ArticleRequest | BlogRequest | NewsRequest] = {
    "article": ArticleRequest(topic="An article", focus="research", audience="expert"),
    "blog": BlogRequest(topic="A blog post", style="technical", format="listicle"),
    "news": NewsRequest(topic="A news article", length="short", tone="investigative"),
}

ATTACKS = [
    case.partition("\n")[2].rstrip("\n")
    for path in sorted((GOLDEN / "sanitizer").glob("*.html"))
    if ".out" not in path.name
    for case in re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
]
"""The cases of the sanitizer's golden files."""

RAW_ATTACK = """<!doctype html><p onclick="alert('click')">x</p><script>alert('script')</script>
<img src="https://evil.example/pixel.png"><a href="javascript:alert(1)">link</a>
<p style="background: url(https://evil.example/background)">y</p>"""
"""What the tests for attacks have to notice."""

PLAIN = """# Plain

A paragraph with [a link](all.md).

## A section

- a list

## Another section

Its text.
"""


def texts() -> dict[str, str]:
    """Return all articles by their topics."""
    return {
        "Colours": COLOURS,
        "Random": random_colours(7, 20),
        "Wide": WIDE,
        "Sizes": SIZES,
        "Ordinary": ORDINARY,
        **{request.topic: write_article(request) for request in SANDBOX.values()},
        **{
            f"Attack {i}": f"<article><h2>{i}</h2>{html}</article>"
            for i, html in enumerate(ATTACKS)
        },
        **{
            f"Escape {i}": f'<article style="{LOUD}">{html}</article>'
            for i, html in enumerate(ESCAPES)
        },
    }


# --- The sites ------------------------------------------------------------------------------------

MATERIAL = {
    "name": "material",
    "font": False,
    "features": ["navigation.instant"],
    "palette": [
        {
            "media": f"(prefers-color-scheme: {name})",
            "scheme": scheme,
            "primary": "indigo",
            "toggle": {"icon": "material/weather-night", "name": f"Leave {name}"},
        }
        for name, scheme in (("light", "default"), ("dark", "slate"))
    ],
}
MKDOCS = {"name": "mkdocs", "highlightjs": False}  # highlight.js would come from another host
SITES: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "material": (MATERIAL, {}),
    "mkdocs": (MKDOCS, {}),
    "mkdocs-dark": ({**MKDOCS, "color_mode": "dark"}, {}),
    "readthedocs": ({"name": "readthedocs", "highlightjs": False}, {}),
    "keep": (MKDOCS, {"styles": "keep"}),
    "keep-material": (MATERIAL, {"styles": "keep"}),
    "keep-readthedocs": ({"name": "readthedocs", "highlightjs": False}, {"styles": "keep"}),
    "strip": (MKDOCS, {"styles": "strip"}),
}
"""The themes and the options of the plugin, by the names of the sites."""


DARK: dict[str, dict[str, object]] = {
    "darkly": {"name": "darkly", "highlightjs": False},
    "cyborg": {"name": "cyborg", "highlightjs": False},
    "dracula": {"name": "dracula", "highlightjs": False},
    "terminal-dark": {"name": "terminal", "palette": "dark"},
    "terminal-gruvbox": {"name": "terminal", "palette": "gruvbox_dark"},
    "material-own": {"name": "material", "font": False, "palette": {"scheme": "own"}},
    "mkdocs-own": MKDOCS,
}
"""Dark themes that do not say so with `color-scheme`, by the names of their sites."""

OWN = """
body { background: #111; color: #ddd; }
[data-md-color-scheme="own"] {
    --md-default-bg-color: #1b1020; --md-default-fg-color: #eeddeedd;
    --md-typeset-color: #eeddee; --md-code-bg-color: #2a1a30; --md-code-fg-color: #eeddee;
    --md-typeset-a-color: #a040c0; --md-accent-fg-color: #e040a0;
}
"""
"""A dark look of a site's own."""

FOR_FONTS = re.compile(
    r"https://(fonts\.googleapis\.com|stackpath\.bootstrapcdn\.com|cdnjs\.cloudflare\.com)/"
)
"""Where the dark themes get letters and highlighting from, which no test does."""


class Look(NamedTuple):
    """How a reader sees a site."""

    site: str
    scheme: Literal["light", "dark"]


LOOKS = [
    Look("material", "light"),
    Look("material", "dark"),
    Look("mkdocs", "light"),
    Look("mkdocs-dark", "dark"),
    Look("readthedocs", "light"),
]
THEMES = ("material", "mkdocs", "readthedocs")
KEPT = ("keep", "keep-material", "keep-readthedocs")
in_each_theme = pytest.mark.parametrize("theme", THEMES)


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def end_headers(self) -> None:
        # Only styles are limited: whatever script gets into a page is to run and be noticed.
        if not self.path.endswith("?unlimited"):
            self.send_header("Content-Security-Policy", "style-src 'self' 'report-sample'")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


def write_project(root: Path, address: str, name: str, environment: dict[str, str]) -> Project:
    """Write the project of a site, to be built to `root/site` and served at `address/name/`."""
    project = Project(root, environment)
    theme, options = (DARK[name], {}) if name in DARK else SITES[name]
    if name.endswith("-own"):
        project.write("docs/own.css", OWN)
    project.configure(
        extra_css=["own.css"] if name.endswith("-own") else [],
        theme=theme,
        plugins=["search", {"contentgen": {**options, "max_requests": 1000, "concurrency": 32}}],
        markdown_extensions=[{"toc": {"anchorlink" if name in DARK else "permalink": True}}],
        site_url=f"{address}/{name}/",
    )
    project.write("docs/index.md", PLAIN)
    nasty = [{"type": "blog", "topic": name, "id": name.lower()} for name in ("Colours", "Random")]
    sandbox = [{"type": kind, "id": kind, **request.body()} for kind, request in SANDBOX.items()]
    project.page("all.md", [*nasty, *sandbox])
    if name in DARK:
        return project
    for number in range(len(ESCAPES)):
        asked = {"type": "article", "topic": f"Escape {number}"}
        between = "# Author\n\nText above.\n\n<!-- contentgen -->\n\nText below.\n"
        project.page(f"escapes/{number}.md", asked, between)
    project.write("docs/raw.html", RAW_ATTACK)
    project.page("colours.md", nasty[0])
    for topic in ("Wide", "Sizes", "Ordinary"):
        project.page(f"{topic.lower()}.md", {"type": "article", "topic": topic})
    for asked in sandbox:
        project.page(f"guides/{asked['type']}.md", asked)
    if name in THEMES:
        # A third each; the theme makes no difference to a single attack.
        numbers = range(THEMES.index(name), len(ATTACKS), len(THEMES))
        attacks = [{"type": "article", "topic": f"Attack {n}", "id": f"a{n}"} for n in numbers]
        project.page("attacks.md", attacks)
    return project


@contextmanager
def served(root: Path, names: Collection[str]) -> Iterator[str]:
    """Build sites, serve them, and return where."""
    (root / "served").mkdir()
    articles = texts()

    def answer(request: Received, handler: Handler) -> None:
        generated(articles[request.topic])(request, handler)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    handler = functools.partial(_Handler, directory=str(root / "served"))
    with Server(("127.0.0.1", 0), handler) as server, running() as service:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        service.answer = answer
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("CONTENTGEN_")
        } | {
            "CONTENTGEN_BASE_URL": service.base_url,
            "CONTENTGEN_USER_ID": USER,
            "CONTENTGEN_TOKEN": TOKEN,
            "NO_MKDOCS_2_WARNING": "1",
        }
        projects = [write_project(root / name, address, name, environment) for name in names]
        for name, project in zip(names, projects, strict=True):
            built = project.build("-d", f"../served/{name}")
            assert built.returncode == 0, built.stdout
        assert service.violations == []
        yield address
        server.shutdown()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the sites whose themes say what they are, and return where."""
    with served(tmp_path_factory.mktemp("sites"), SITES) as address:
        yield address


@pytest.fixture(scope="module")
def dark_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the dark sites that do not say so, and return where."""
    with served(tmp_path_factory.mktemp("dark"), DARK) as address:
        yield address


# --- The browser ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return Debian's Chromium; where there is none, the tests are skipped, but not in CI."""
    executable = shutil.which("chromium")
    if executable is None:
        reason = "no `chromium` on the PATH (Debian: apt install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=[
                *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
                *("--disable-component-update", "--disable-sync", "--no-first-run"),
            ],
        )
        yield browser
        browser.close()


@dataclass
class Visitor:
    """Opens pages of the sites, and notes what they must not do."""

    browser: Browser
    address: str
    foreign: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def open(self, look: Look, path: str, width: int = 1280, height: int = 800) -> Page:
        """Open a page as a new reader."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=look.scheme
        )
        self.contexts.append(context)
        context.set_default_timeout(120_000)
        context.add_init_script(WATCH)
        page = context.new_page()
        page.route(FOR_FONTS, lambda route: route.abort())
        page.on("request", self._note_request)
        page.on("dialog", self._note_dialog)
        page.goto(f"{self.address}/{look.site}/{path}")
        return page

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.address}/", "data:", "blob:")) and not (
            FOR_FONTS.match(request.url)
        ):
            self.foreign.append(request.url)

    def _note_dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()


WATCH = """
window.violations = [];
addEventListener('securitypolicyviolation', event =>
    violations.push(`${event.effectiveDirective}: ${event.sample || event.blockedURI}`));
"""


@contextmanager
def visiting(browser: Browser, address: str) -> Iterator[Visitor]:
    """Return a visitor; in the end, no other host was asked, and no script opened a dialog."""
    visitor = Visitor(browser, address)
    yield visitor
    for context in visitor.contexts:
        context.close()
    assert visitor.foreign == []
    assert visitor.dialogs == []


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Visitor]:
    """Return a visitor for one test."""
    with visiting(browser, address) as visitor:
        yield visitor


# --- Contrast -------------------------------------------------------------------------------------


class Text(TypedDict):
    """A piece of text, its contrast against the worst pixel behind it, and that pixel."""

    text: str
    within: str
    ratio: float
    colour: list[int]
    behind: list[int]


HIDE = """
const sheet = new CSSStyleSheet();
sheet.replaceSync(`
    *, ::before, ::after { transition: none !important; animation: none !important; }
    article * {
        -webkit-text-fill-color: transparent !important;
        text-decoration-color: transparent !important;
        text-shadow: none !important;
    }
    ${rule}`);
document.adoptedStyleSheets = [sheet];
"""
"""Leaves only what is behind the texts (in a way that the Content-Security-Policy allows)."""

MEASURE = """
async picture => {
    const bytes = Uint8Array.from(atob(picture), letter => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const drawing = canvas.getContext('2d', {willReadFrequently: true});
    drawing.drawImage(bitmap, 0, 0);
    const pixels = drawing.getImageData(0, 0, bitmap.width, bitmap.height).data;
    const brush = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const colours = new Map();
    const parse = colour => {
        if (!colours.has(colour)) {
            brush.clearRect(0, 0, 1, 1);
            brush.fillStyle = colour;
            brush.fillRect(0, 0, 1, 1);
            colours.set(colour, [...brush.getImageData(0, 0, 1, 1).data]);
        }
        return colours.get(colour);
    };
    const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const luminance = ([red, green, blue]) =>
        0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255);
    const contrast = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    const found = [];
    for (const article of document.querySelectorAll('article.contentgen')) {
        const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, element = node.parentElement;
            // The theme's own: its permalinks, which show while one points at a heading.
            if (!node.data.trim() || element.closest('.headerlink')) continue;
            let opacity = 1;
            for (let at = element; at; at = at.parentElement)
                opacity *= getComputedStyle(at).opacity;
            const [red, green, blue, alpha] = parse(getComputedStyle(element).color);
            const share = opacity * alpha / 255;
            const range = document.createRange();
            range.selectNodeContents(node);
            let worst = null;
            for (const box of range.getClientRects()) {
                const inset = Math.min(3, box.width / 2 - 0.5);
                // Where the letters are, without the room for accents that lines may share.
                for (const part of [0.3, 0.5, 0.7]) {
                    const y = Math.round(box.top + scrollY + part * box.height);
                    // And not where the frame of a neighbour ends.
                    for (let x = Math.ceil(box.left + inset); x < box.right - inset; x += 2) {
                        const at = 4 * (y * bitmap.width + x);
                        if (x < 0 || x >= bitmap.width || y < 0 || y >= bitmap.height) continue;
                        const behind = [pixels[at], pixels[at + 1], pixels[at + 2]];
                        const shown = [red, green, blue].map(
                            (value, i) => share * value + (1 - share) * behind[i]);
                        const ratio = contrast(shown, behind);
                        if (!worst || ratio < worst.ratio)
                            worst = {ratio, behind, colour: shown.map(Math.round)};
                    }
                }
            }
            if (worst)
                found.push(
                    {text: node.data.trim(), within: element.outerHTML.slice(0, 80), ...worst});
        }
    }
    return found;
}
"""


def measure(page: Page, rule: str = "") -> list[Text]:
    """Measure the contrast of each text in the articles of a page, with the pixels behind it.

    Meanwhile another `rule` of style holds as well.
    """
    page.evaluate(f"rule => {{ {HIDE} }}", rule)
    picture = page.screenshot(full_page=True, scale="css")
    found = page.evaluate(MEASURE, base64.b64encode(picture).decode())
    page.evaluate("() => { document.adoptedStyleSheets = []; }")
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
AUDIT = """
async () => {
    const {violations} = await axe.run(document, {resultTypes: ['violations']});
    return violations.flatMap(({id, nodes}) => nodes.map(({target, html}) => ({
        rule: id,
        html: html.slice(0, 200),
        inside: !!document.querySelector(target[0])?.closest('article.contentgen'),
    })));
}
"""


def audit(page: Page) -> list[dict[str, Any]]:
    """Return what axe-core finds on a page."""
    page.evaluate(f"{AXE}; undefined")
    return cast(list[dict[str, Any]], page.evaluate(AUDIT))


# --- What holds in each look ----------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """In one of the looks: a page without articles, one with all, and what was measured there."""

    plain: Page
    page: Page
    texts: list[Text]


@pytest.fixture(scope="module", params=LOOKS, ids="-".join)
def shown(request: pytest.FixtureRequest, browser: Browser, address: str) -> Iterator[Shown]:
    """Open the site in each look."""
    with visiting(browser, address) as visitor:
        page = visitor.open(request.param, "all/")
        yield Shown(visitor.open(request.param, ""), page, measure(page))


def named(measured: list[Text], start: str) -> Text:
    """Return the text that starts so."""
    return next(text for text in measured if text["text"].startswith(start))


def test_every_text_has_contrast(shown: Shown) -> None:
    """Each text has a contrast of 4.5:1 against what is behind it, whatever the service sent."""
    assert len(shown.texts) > 500
    assert too_faint(shown.texts) == []


def test_meanings_survive(shown: Shown) -> None:
    """A callout stays one, fills and inks keep their hues, also in tables and one in another."""
    keeps_meanings(shown.texts)


@pytest.mark.parametrize("site", DARK)
def test_dark_themes_that_do_not_say_so(browser: Browser, dark_address: str, site: str) -> None:
    """Contrast and meanings are kept on a dark page without `color-scheme`, and nothing glares."""
    with visiting(browser, dark_address) as visitor:
        page = visitor.open(Look(site, "light"), "all/?unlimited")
        measured = measure(page)
        assert len(measured) > 500
        assert too_faint(measured) == []
        keeps_meanings(measured)
        for start in ("Grey on black", "Pro tip", "A tip without", "The end", "Pink row"):
            assert max(named(measured, start)["behind"]) < 110, start


def test_anchors_and_lines_are_the_themes(browser: Browser, dark_address: str) -> None:
    """Anchors of headings are not underlined, links are, and plain lines have the accent."""
    with visiting(browser, dark_address) as visitor:
        page = visitor.open(Look("material-own", "light"), "all/?unlimited")
        line = "all => [...new Set(all.map(it => getComputedStyle(it).textDecorationLine))]"
        assert page.locator("article.contentgen a.toclink").evaluate_all(line) == ["none"]
        assert page.locator("article.contentgen a[rel]").evaluate_all(line) == ["underline"]
        bar = page.get_by_text("A tip without").evaluate(
            "it => getComputedStyle(it).borderLeftColor"
        )
        assert bar == "rgb(224, 64, 160)"


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


def test_articles_comply_with_a_content_security_policy(shown: Shown) -> None:
    """No style is forbidden by `style-src 'self'` that is not on a page without an article."""
    assert shown.page.locator("article [style], article[style]").count() == 0
    assert violations(shown.page) <= violations(shown.plain)


def test_axe_finds_nothing_new(shown: Shown) -> None:
    """Articles add nothing to what axe-core finds on a page of the theme."""
    known = {found["rule"] for found in audit(shown.plain)}
    found = audit(shown.page)
    assert [what for what in found if what["inside"] or what["rule"] not in known] == []


def test_the_style_sheet_is_linked_where_it_is_needed(shown: Shown) -> None:
    """A page without an article has no link to the style sheet, and one with five has one."""
    links = [page.locator("link[href$='/contentgen.css']") for page in (shown.plain, shown.page)]
    assert [link.count() for link in links] == [0, 1]


def test_headings_have_no_gaps(shown: Shown) -> None:
    """There is one `<h1>`, and no heading is more than a level below the one before it."""
    headings = shown.page.locator("[role=main], .md-content").locator("h1, h2, h3, h4, h5, h6")
    levels = [int(tag[1]) for tag in headings.evaluate_all("all => all.map(it => it.tagName)")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert len(levels) > 10
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_what_screen_readers_get(shown: Shown) -> None:
    """Emoji are shown, but not read, and a language that the service names is kept."""
    tip = shown.page.locator(".pro-tip").first
    assert "💡" in tip.inner_text()
    assert "Pro tip:" in tip.aria_snapshot()
    assert "💡" not in tip.aria_snapshot()
    german = shown.page.get_by_text("Rot mit Grün")
    assert german.evaluate("it => it.closest('[lang]').lang") == "de"


# --- The option `styles` --------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["keep", "strip"])
def test_keep_and_strip(visitor: Visitor, site: str) -> None:
    """`keep` shows the colours of the service, `strip` none, and neither gets the plugin's."""
    page = visitor.open(Look(site, "light"), "colours/?unlimited")
    look = page.get_by_text("Grey on black").evaluate(
        "it => [getComputedStyle(it).color, getComputedStyle(it).backgroundColor]"
    )
    assert (look == ["rgb(119, 119, 119)", "rgb(0, 0, 0)"]) == (site == "keep")
    assert (page.locator("article [style]").count() > 0) == (site == "keep")
    assert page.locator("link[href*=contentgen]").count() == (site == "keep")
    assert page.locator("[class*=cg-]").count() == 0
    assert (
        "oklch"
        not in page.request.get(
            f"{visitor.address}/{site}/assets/stylesheets/contentgen.css"
        ).text()
    )


def test_contrast_would_be_missed(visitor: Visitor) -> None:
    """Where styles are kept, the same page has texts that cannot be read, and they are found."""
    page = visitor.open(Look("keep", "light"), "colours/?unlimited")
    assert "color-contrast" in {found["rule"] for found in audit(page) if found["inside"]}
    faint = too_faint(measure(page))
    for start in ("White on white", "Black on black", "Yellow on white", "Navy on navy"):
        assert any(f" {start!r}"[:-1] in line for line in faint), start


def test_violations_would_be_noticed(visitor: Visitor) -> None:
    """Where styles are kept, they are forbidden, and that is noticed."""
    noticed = violations(visitor.open(Look("keep", "light"), "colours/"))
    assert "style-src-attr: color: yellow" in noticed


# --- Other circumstances --------------------------------------------------------------------------


@pytest.mark.parametrize("look", [Look("material", "dark"), Look("mkdocs-dark", "dark")])
def test_prints_well(visitor: Visitor, look: Look) -> None:
    """Also a dark page can be read on white paper, whether backgrounds are printed or not."""
    page = visitor.open(look, "colours/")
    page.emulate_media(media="print")
    for elements in ("html, body", "html, body, body *"):
        rule = f":is({elements}), body::before {{ background: white !important; }}"
        assert too_faint(measure(page, rule)) == []


def test_palette_switch(visitor: Visitor) -> None:
    """Contrast and hues are kept when the reader switches to dark and back."""
    page = visitor.open(Look("material", "light"), "colours/")
    behind = []
    for title in ("Leave light", "Leave dark"):
        page.locator(f"label[title='{title}']").click()
        measured = measure(page)
        assert too_faint(measured) == []
        behind.append(named(measured, "A tip without")["behind"])
    assert max(behind[0]) < 100 < 200 < min(behind[1])


# --- Attacks --------------------------------------------------------------------------------------

PROVOKE = """
() => {
    const events = ['click', 'mouseover', 'mouseenter', 'focus', 'blur', 'input', 'toggle', 'load',
                    'error', 'animationstart', 'transitionend', 'wheel', 'copy', 'pointerdown'];
    for (const element of document.querySelectorAll('.contentgen, .contentgen *, body > p, img'))
        if (element.tagName !== 'A')
            for (const name of events) element.dispatchEvent(new Event(name, {bubbles: true}));
    const links = [...document.querySelectorAll('.contentgen a, body > a')];
    return [...new Set(links.map(link => link.protocol))].sort();
}
"""
"""Does to each element what a reader may do, and returns to what kinds of addresses links lead."""


@in_each_theme
def test_attacks_fail(visitor: Visitor, theme: str) -> None:
    """No script of an article runs, and nothing in it asks another host or leads to a script."""
    page = visitor.open(Look(theme, "light"), "attacks/")
    assert page.locator("article.contentgen").count() > 60
    protocols = page.evaluate(PROVOKE)
    page.wait_for_timeout(200)
    assert set(protocols) <= {"http:", "https:", "mailto:"}
    assert visitor.dialogs == []
    assert visitor.foreign == []


def test_attacks_would_be_noticed(visitor: Visitor) -> None:
    """On a page that nobody sanitized, each kind of attack is noticed."""
    page = visitor.open(Look("mkdocs", "light"), "raw.html?unlimited")
    assert "javascript:" in page.evaluate(PROVOKE)
    page.wait_for_timeout(200)
    assert {"script", "click"} <= set(visitor.dialogs)
    assert {address.rpartition("/")[2] for address in visitor.foreign} == {
        "pixel.png",
        "background",
    }
    visitor.dialogs.clear()
    visitor.foreign.clear()


# --- The article's box ----------------------------------------------------------------------------

OUTSIDE = """
() => {
    const box = document.querySelector('article.contentgen').getBoundingClientRect();
    const found = new Set();
    for (let y = 0; y < innerHeight; y += 25)
        for (let x = 0; x < innerWidth; x += 25) {
            const inside = x >= box.left - 1 && x <= box.right + 1
                && y >= box.top - 1 && y <= box.bottom + 1;
            const at = inside ? null : document.elementFromPoint(x, y);
            if (at?.closest('article.contentgen, article.contentgen *'))
                found.add(`${at.tagName} at ${x}, ${y}`);
        }
    return [...found].slice(0, 3);
}
"""
PAINTED = """
async picture => {
    const bytes = Uint8Array.from(atob(picture), letter => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const drawing = canvas.getContext('2d', {willReadFrequently: true});
    drawing.drawImage(bitmap, 0, 0);
    const {data} = drawing.getImageData(0, 0, bitmap.width, bitmap.height);
    const box = document.querySelector('article.contentgen').getBoundingClientRect();
    for (let y = 0; y < bitmap.height; y++)
        for (let x = 0; x < bitmap.width; x++) {
            const inside = x >= box.left - 1 && x <= box.right + 1
                && y >= box.top - 1 && y <= box.bottom + 1;
            const at = 4 * (y * bitmap.width + x);
            if (!inside && data[at] > 250 && data[at + 1] < 5 && data[at + 2] > 250)
                return [`a pixel at ${x}, ${y}`];
        }
    return [];
}
"""
"""Finds the colour of `LOUD` outside the article's box."""


def escaped(page: Page) -> list[str]:
    """Return what of an article is seen, or takes a click, outside the article's box."""
    picture = base64.b64encode(page.screenshot(scale="css")).decode()
    return [*page.evaluate(OUTSIDE), *page.evaluate(PAINTED, picture)]


in_each_contained_site = pytest.mark.parametrize("site", [*THEMES, *KEPT])


@in_each_contained_site
def test_nothing_leaves_its_article(visitor: Visitor, site: str) -> None:
    """Whatever an article holds, it is painted and takes clicks within its own box only."""
    page = visitor.open(Look(site, "light"), "", height=900)
    found = {}
    # Each article in one site, and some in the others, which share the style sheet.
    step = 1 if site == KEPT[0] else 9
    for number in range(len(site) % step, len(ESCAPES), step):
        page.goto(f"{visitor.address}/{site}/escapes/{number}/?unlimited")
        if where := escaped(page):
            found[ESCAPES[number][:90]] = where
    assert found == {}


UNCONTAINED = """
const sheet = new CSSStyleSheet();
sheet.replaceSync(`
    .contentgen { overflow: visible !important; }
    .contentgen-kept { contain: layout !important; }`);
document.adoptedStyleSheets = [sheet];
"""
"""Takes the containment away, and leaves the layout as it is."""

WITH_MARGIN = """
const sheet = new CSSStyleSheet();
sheet.replaceSync(
    '.contentgen { overflow: clip !important; overflow-clip-margin: 80px !important; }');
document.adoptedStyleSheets = [sheet];
"""
"""Lets what is contained be seen around the article as well, and leaves the layout as it is."""


@pytest.mark.parametrize("site", KEPT)
def test_what_leaves_would_be_noticed(visitor: Visitor, site: str) -> None:
    """Without the containment, lists leave the same articles, and that is seen."""
    page = visitor.open(Look(site, "light"), "", height=900)
    found = []
    for number in (16, 21):
        page.goto(f"{visitor.address}/{site}/escapes/{number}/?unlimited")
        page.evaluate(UNCONTAINED)
        found += escaped(page)
    assert {what.startswith("a pixel") for what in found} == {True, False}


@pytest.mark.parametrize("site", KEPT)
def test_letters_stay_readable(visitor: Visitor, site: str) -> None:
    """However sizes are nested, no letter is very small or as large as a screen."""
    page = visitor.open(Look(site, "light"), "sizes/?unlimited")
    sizes = page.locator("article a[rel], article code").evaluate_all(
        "all => all.map(it => parseFloat(getComputedStyle(it).fontSize))"
    )
    assert len(sizes) == SIZES.count("MMMM MMMM") + 2
    assert 5 < min(sizes) < max(sizes) < 400


@pytest.mark.parametrize("site", KEPT)
def test_containment_works_under_a_content_security_policy(visitor: Visitor, site: str) -> None:
    """The containment comes with the style sheet, which `style-src 'self'` allows."""
    page = visitor.open(Look(site, "light"), "colours/")
    assert any(what.startswith("style-src-attr") for what in violations(page))
    contained = page.locator("article.contentgen").evaluate("it => getComputedStyle(it).contain")
    assert contained == "paint"


DIFFERENT = """
async pictures => {
    const [one, other] = await Promise.all(pictures.map(async picture => {
        const bytes = Uint8Array.from(atob(picture), letter => letter.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes]));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const drawing = canvas.getContext('2d', {willReadFrequently: true});
        drawing.drawImage(bitmap, 0, 0);
        return drawing.getImageData(0, 0, bitmap.width, bitmap.height).data;
    }));
    return one.filter((value, i) => Math.abs(value - other[i]) > 48).length;
}
"""
"""Counts what differs in two pictures, but for roundings at the edges of letters."""


def different(page: Page, *pictures: bytes) -> int:
    """Return in how many values two pictures of a page differ."""
    encoded = [base64.b64encode(picture).decode() for picture in pictures]
    return int(page.evaluate(DIFFERENT, encoded))


@in_each_contained_site
def test_containment_cuts_nothing_off(visitor: Visitor, site: str) -> None:
    """Of an ordinary article everything is seen: numbers of lists, permalinks, outlines."""
    page = visitor.open(Look(site, "light"), "ordinary/?unlimited", height=1000)
    heading = page.locator("article h2").first
    heading.hover()
    heading.locator("a.headerlink").click(trial=True)
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)  # until what the theme fades is done
    before = page.screenshot()
    # Each link in one site, and some in the others, which share the style sheet.
    for link in page.locator("article a[rel]").all()[:: 1 if site == KEPT[0] else 3]:
        link.focus()
        page.wait_for_timeout(300)
        contained = page.screenshot()
        assert different(page, before, contained) > 20
        page.evaluate(WITH_MARGIN)
        assert different(page, contained, page.screenshot()) == 0
        page.evaluate("() => { document.adoptedStyleSheets = []; }")


# --- Readers --------------------------------------------------------------------------------------


@in_each_contained_site
def test_a_click_in_the_table_of_contents_lands(visitor: Visitor, site: str) -> None:
    """A click in the table of contents leads to the heading in the article."""
    page = visitor.open(Look(site, "light"), "guides/blog/", height=500)
    heading = page.locator("article h2").nth(3)
    anchor = heading.get_attribute("id")
    page.locator(f"a[href$='#{anchor}']:not(.headerlink)").locator("visible=true").first.click()
    page.wait_for_function(
        """anchor => {
            const heading = document.getElementById(anchor);
            const box = heading.getBoundingClientRect();
            const shown = document.elementFromPoint(box.left + 5, box.top + box.height / 2);
            return location.hash === '#' + anchor && box.top > -1 && box.top < 200
                && heading.contains(shown);
        }""",
        arg=anchor,
    )


@in_each_theme
def test_a_title_is_in_line_with_its_text(visitor: Visitor, theme: str) -> None:
    """The title of a page begins where the lines of its article begin."""
    page = visitor.open(Look(theme, "light"), "guides/blog/")
    left = """element => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getBoundingClientRect().left;
    }"""
    title = page.locator("h1.contentgen-title").evaluate(left)
    assert abs(title - page.locator("article.contentgen h2").first.evaluate(left)) < 1


@in_each_theme
def test_search_finds_a_word_of_an_article(visitor: Visitor, theme: str) -> None:
    """A search for a word leads to the section of the article that has it."""
    page = visitor.open(Look(theme, "light"), "")
    box = page.locator(".md-search__input, #mkdocs-search-query, input[name=q]").first
    if theme == "mkdocs":
        page.get_by_role("link", name="Search").click()
    box.fill("xylographic")
    if theme == "readthedocs":
        box.press("Enter")
        page.wait_for_url("**/search.html?q=xylographic")
    found = page.locator("a[href$='wide/#a-section']").locator("visible=true").first
    for _ in range(100):
        if found.is_visible():
            break
        box.press("End")  # a key that is pressed before the index has been loaded has no effect
        page.wait_for_timeout(100)
    found.click()
    page.wait_for_url("**/wide/#a-section")
    assert page.locator("#a-section").inner_text().startswith("A section")


@in_each_contained_site
def test_narrow_screens_do_not_scroll_sideways(visitor: Visitor, site: str) -> None:
    """At 360 pixels only the groups of tables and code scroll, tables with the keyboard too."""
    for path in ("colours/", "wide/"):
        page = visitor.open(Look(site, "light"), path, width=360)
        room = page.evaluate(
            "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
        )
        assert room == [360, 360], path
    for group in page.get_by_role("group").locator("visible=true").all():
        group.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    assert page.get_by_role("group", name="Twelve columns").count() == 1


def test_instant_navigation(visitor: Visitor) -> None:
    """The style sheet comes and goes with the article where Material loads pages by itself."""
    page = visitor.open(Look("material", "light"), "")
    page.wait_for_load_state("networkidle")  # the theme reads the site's map before it can do so
    page.evaluate("window.stayed = true")
    for path in ("colours/", "guides/blog/"):
        page.locator(f"nav a[href$='{path}']").first.evaluate("link => link.click()")
        page.wait_for_url(f"**/{path}")
        callout = page.locator(".pro-tip").first
        page.wait_for_function(
            "callout => getComputedStyle(callout).borderLeftStyle === 'solid'",
            arg=callout.element_handle(),
        )
        page.locator("nav a[href='../'], nav a[href='../../'], a.md-logo").first.evaluate(
            "link => link.click()"
        )
        page.wait_for_url("**/material/")
        page.wait_for_function("document.querySelectorAll('article .pro-tip').length === 0")
    assert page.evaluate("window.stayed")
