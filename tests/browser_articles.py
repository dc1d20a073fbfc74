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
<blockquote style="background: #eee"><p>First</p><p>last <small>small</small></p></blockquote>
<div style="background: #fee"><details open><summary>Open</summary><p>Inside</p></details></div>
<details open><summary>Open</summary><p>Inside: {INLINE}</p></details>
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
    "<article><header style='text-align: center'><h1>title text-align: center</h1></header>"
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

RIGHT_TO_LEFT = """
<article><h1>عنوان</h1><p>فقرة <code>--flag=1</code></p>
<div class="pro-tip">نصيحة</div>
<blockquote style="border-left: 4px solid #3498db">اقتباس</blockquote>
<ol><li>بند</li></ol>
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


def texts() -> dict[str, str]:
    """Return all articles by their topics."""
    return {
        "Colours": COLOURS,
        "Random": random_colours(7, 20),
        "Wide": WIDE,
        "Sizes": SIZES,
        "Ordinary": ORDINARY,
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
