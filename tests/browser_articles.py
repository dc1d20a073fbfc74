"""Articles for tests in a browser: colours, widths, sizes, attacks, and ways out of their box."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from golden_file import GOLDEN

from mkdocs_contentgen.requests import ArticleRequest, BlogRequest, NewsRequest
from mkdocs_contentgen.service.sandbox import write_article

LINK = '<a href="https://far.example/">a link</a>'
INLINE = (
    f"{LINK}, <code>code</code>, <small>small print</small>, <mark>a mark</mark>, <kbd>a key</kbd>,"
    " <del>deleted</del>, <ins>inserted</ins>, <abbr title='x'>abbr</abbr>, <sub>sub</sub>,"
    " <q>quoted</q>, <a href='https://far.example/'><code>linked code</code></a>"
)


def golden(name: str) -> str:
    """Return an article, in which `{LINK}` and `{INLINE}` stand for what is above."""
    html = (GOLDEN / f"browser/{name}.html").read_text(encoding="utf-8")
    return html.replace("{INLINE}", INLINE).replace("{LINK}", LINK)


COLOURS = golden("colours")


PLACES = {
    "p": "<p {}</p>",
    "h2": "<h2 {}</h2>",
    "li": "<ul><li {}</li></ul>",
    "li h3": "<ol><li><h3 {}</h3></li></ol>",
    "li p": "<ol start='98'><li><p {}</p><p>x</p></li></ol>",
    "dd": "<dl><dt>x</dt><dd {}</dd></dl>",
    "quote": "<blockquote {}</blockquote>",
    "filled quote": "<blockquote style='background: #eee'><p {}</p></blockquote>",
    "details": "<details open><summary>x</summary><p {}</p></details>",
    "caption": "<table><caption {}</caption><tr><td>x</td></tr></table>",
    "th": "<table><tr><th {}</th><th>x</th></tr></table>",
    "td": "<table><tr><td {}</td></tr></table>",
}
ASKED = {
    "text-align: center": ("textAlign", "center"),
    "text-align: right": ("textAlign", "right"),
    "font-style: italic": ("fontStyle", "italic"),
    "font-weight: bold": ("fontWeight", "700"),
    "text-transform: uppercase": ("textTransform", "uppercase"),
    "text-decoration: underline": ("textDecorationLine", "underline"),
}
"""Styles of the service, and the property and value that a browser has for each."""

STYLED = (
    "<article><header><h1 style='text-align: center'>title text-align: center</h1></header>"
    + "".join(
        place.format(f"style='{style}'>{name} {style}")
        for style in ASKED
        for name, place in PLACES.items()
    )
    + "<table><caption>A plain caption</caption><tr><td>x</td></tr></table>"
    "<p style='border-bottom: 1px solid #e2e8f0'>A grey rule</p>"
    "<hr><hr style='border-top: 3px solid red'><details open style='background: #eef'>"
    "<summary style='background: #00f'>A filled one</summary></details>"
    "<pre><code class='language-python'>def f():\n    return 'text'</code></pre></article>"
)
"""An article with each of these styles in each place."""

RIGHT_TO_LEFT = golden("right_to_left")


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

LOUD = "color: #f0f; background: #fff; border: 2px solid #f0f"
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

ORDINARY = golden("ordinary")

LISTS = golden("lists")

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


def texts() -> dict[str, str]:
    """Return all articles by their topics."""
    return {
        "Colours": COLOURS,
        "Random": random_colours(7, 20),
        "Wide": WIDE,
        "Sizes": SIZES,
        "Ordinary": ORDINARY,
        "Lists": LISTS,
        "Styled": STYLED,
        "Right to left": RIGHT_TO_LEFT,
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
