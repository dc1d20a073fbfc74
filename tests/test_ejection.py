"""Ejected pages show what they showed before, with everything on that could read their text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, NavigableString, Tag
from conftest import Project
from service_double import TOKEN, USER, Handler, Received, generated, running

HARMFUL = {
    "fence-in-pre": "<pre>a\n```\n<script>x()</script>\n&lt;script&gt;x()&lt;/script&gt;\n```\n</pre>",
    "fence-in-code": "<pre><code>a\n```\n&lt;script&gt;x()&lt;/script&gt;\n~~~\n</code></pre>",
    "backticks-in-code": "<p><code>a ` b `` c</code> and ` and `` more</p>",
    "parenthesis-in-address": '<p><a href="https://x.example/a)b(c">one</a></p>',
    "balanced-address": '<p><a href="https://x.example/A_(b)">one</a> (and <i>so</i>)</p>',
    "title-of-link": '<p><a href="https://x.example/" title="a) &quot; [b](c) *d* {: .e }">t</a></p>',
    "brackets-in-link": '<p><a href="https://x.example/">a ] [ b](javascript:x) c</a></p>',
    "link-in-text": "<p>[text](javascript:alert(1)) ![image](https://x.example/a.png) [a][b]</p>",
    "snippet": '<p>--8&lt;-- ".env"</p><p>;--8&lt;-- ".env"</p><pre><code>--8&lt;-- ".env"\n</code></pre>',
    "snippet-block": "<p>--8&lt;--</p><p>.env</p><p>--8&lt;--</p><pre>--8&lt;--\n.env\n--8&lt;--</pre>",
    "snippet-in-attribute": '<p><abbr title="--8&lt;-- &quot;.env&quot;">x</abbr></p>',
    "include": '<p>{% include ".env" %} {! .env !} {% include-markdown "../.env" %}</p>',
    "include-in-code": '<pre><code>{% include ".env" %}\n{! .env !}\n</code></pre>',
    "macro": "<p>{{ ran() }} {% set x = ran() %} {# ran() #}</p><p><code>{{ ran() }}</code></p>",
    "macro-in-heading": "<h2>{{ ran() }}</h2><p>{<b>{ ran() }</b>}</p><p>{<b>% raw %}</b></p>",
    "macro-in-code": "<pre><code>{{ ran() }}\n</code></pre><ul><li><pre><code>{{ ran() }}</code></pre></li></ul>",
    "macro-in-table": "<table><thead><tr><th>{{ ran() }}</th></tr></thead><tbody><tr><td>a|b {{ ran() }}</td></tr></tbody></table>",
    "macro-of-own-delimiters": "<p>[[ ran() ]] and [% ran() %]</p><pre><code>[[ ran() ]]</code></pre>",
    "macro-in-attribute": '<p><a href="https://x.example/{{ran()}}" title="{{ ran() }}">x</a></p>',
    "rule-first": "<hr><p>title: x</p><hr><p>Text</p>",
    "metadata": "<p>Title: other</p><p>Author: me</p>",
    "attribute-list": '<p>Text {: onclick="x()" .y #z }</p><h2>Heading {: #own }</h2><p>{: .y }</p>',
    "attribute-list-in-list": "<ul><li>One {: .y }</li><li><em>two</em>{: .z }</li></ul>",
    "toc": "<p>[TOC]</p><p>[[TOC]]</p>",
    "footnotes": "<p>Text[^1] and ^[inline]</p><p>[^1]: The note</p>",
    "abbreviations": "<p>HTML and Beta. *[NEW]: a new one</p><p>*[NEW]: other</p><p>NEW</p>",
    "definitions": "<p>Term</p><p>: Definition</p><p>[id]: https://x.example</p>",
    "numbers": "<p>2020. A year.</p><p>1) One</p><ul><li>3. Three</li><li>- dash</li></ul>",
    "beginnings": "<p># a</p><p>- b</p><p>+ c</p><p>&gt; d</p><p>=== e</p><p>--- f</p><p>| g |</p><p>#</p>",
    "admonitions": '<p>!!! note "x"</p><p>??? note</p><p>=== "Tab"</p><p>/// note</p><p>::: module</p>',
    "critic": "<p>{++ added ++} {-- gone --} {~~ a~&gt;b ~~} {== m ==} {&gt;&gt; c &lt;&lt;}</p><pre><code>{++ a ++}</code></pre>",
    "marks": '<p>==mark== ^^ins^^ ~~del~~ H~2~O x^2^ ++ctrl+alt++ :smile: $x$ \\(y\\) [=50% "half"]</p>',
    "symbols": "<p>(c) (tm) --&gt; +/- =/= 1/2 1st 2nd -- --- ... \"q\" 'r' &lt;&lt;s&gt;&gt;</p><h2>The 1st (c)</h2>",
    "addresses": "<p>https://x.example/a_b www.x.example me@x.example @user #12 user/repo#3 u/r@abc1234</p>",
    "wiki": "<p>[[Page]] [[ Other page ]]</p>",
    "tasks": "<ul><li>[ ] open</li><li>[x] done</li></ul>",
    "entities": "<p>&amp;lt;script&amp;gt; &amp;amp; AT&amp;T R&amp;D; &amp;copy &amp;#60;</p>",
    "comments": "<p>&lt;!-- contentgen --&gt; &lt;!-- x</p><p>--&gt;</p>",
    "backslashes": "<p>C:\\new\\*x* \\_ \\\\ \\</p><p>end\\<br>next</p>",
    "emphasis": "<p><b>a</b><b>b</b> <i>c<b>d</b></i><b><i>e</i></b> x<b> y </b>z *<b>w</b>* <em></em></p>",
    "images": '<p>Wow!<a href="https://x.example/">x</a> <img src="https://img.example/a(b).png" alt="a ] [ &quot; {{ ran() }}" title="t"></p>',
    "hilite": "<p><code>#!python x</code> <code>:::js y</code></p><pre><code>#!python\nx = 1\n</code></pre><pre><code>:::python\ny\n</code></pre>",
    "mermaid": "<pre><code>mermaid\ngraph</code></pre><p>```mermaid</p><p>graph</p><p>```</p>",
    "white-space": "<pre><code>\n\n  a\tb  \n\n\n c\n\n</code></pre><pre>\n\nx  y</pre><p>a\xa0b\u2028c\u200bd\u202ee</p>",
    "lists": "<ul><li>a</li></ul><ul><li>b</li></ul><ol><li>c</li></ol><ol start='5'><li>d</li></ol><ol type='a'><li>e</li></ol>",
    "blocks-in-lists": "<ul><li><p>a</p><p>b</p><ul><li>c<ol><li>d</li></ol></li></ul></li><li><pre><code>e\n\n  f</code></pre></li><li><blockquote>g</blockquote>h</li><li></li></ul>",
    "quotes": "<blockquote>a</blockquote><blockquote><p>b</p><ul><li>c</li></ul><blockquote>d</blockquote></blockquote>",
    "tables": "<table><caption>C</caption><tbody><tr><th scope='row'>a</th><td colspan='2'>b<br>c</td></tr></tbody></table>"
    "<table><thead><tr><th>a|b</th><th><code>c|d</code></th></tr></thead><tbody><tr><td>e</td><td></td></tr></tbody></table>",
    "rare": "<dl><dt>a *b*</dt><dd>c {{ ran() }}</dd></dl><figure><img src='https://img.example/a.png' alt='x'><figcaption>_f_</figcaption></figure>"
    "<aside>HTML <kbd>Ctrl</kbd></aside><p><kbd>a</kbd> <time datetime='2026-01-01'>b</time> <q>c</q> <sub>d</sub> <ruby>e<rt>f</rt></ruby></p>",
    "markup-in-pre": "<pre>a <b>b</b>\n\n<i>c</i></pre>",
    "languages": "<p lang='de'>Ein *Wort*</p><p>und <span lang='fr'>un mot</span> <bdi dir='rtl'>x</bdi></p>",
    "block-in-inline": "<a href='https://x.example/'><p>a</p></a><b><ul><li>b</li></ul></b>",
    "headings": "<h2>Same</h2><h2>Same</h2><h4>C# &amp; <code>x_y</code> #</h4><h2>1. <em>Q</em>: *why*?</h2>",
    "long": "<ul>" + "<li>Word *x*</li>" * 500 + "</ul>",
}
"""What Markdown, an extension or a plugin would take for its own, or what Markdown cannot say."""

EXTENSIONS: list[object] = [
    "pymdownx.arithmatex pymdownx.betterem pymdownx.caret pymdownx.critic pymdownx.details",
    "pymdownx.emoji pymdownx.escapeall pymdownx.extra pymdownx.fancylists pymdownx.highlight",
    "pymdownx.inlinehilite pymdownx.keys pymdownx.mark pymdownx.progressbar",
    "pymdownx.smartsymbols pymdownx.superfences pymdownx.tabbed pymdownx.tasklist pymdownx.tilde",
    "pymdownx.blocks.admonition pymdownx.blocks.html",
    "abbr admonition attr_list def_list footnotes md_in_html meta nl2br sane_lists smarty tables",
    "toc wikilinks",
]
EXTENSIONS = [
    *(name for line in EXTENSIONS for name in str(line).split()),
    {"pymdownx.snippets": {"auto_append": ["abbreviations.md"], "check_paths": False}},
    {
        "pymdownx.magiclink": {
            "normalize_issue_symbols": True,
            "repo": "repo",
            "repo_url_shortener": True,
            "repo_url_shorthand": True,
            "social_url_shorthand": True,
            "user": "user",
        }
    },
]
OWN = "# The author's page\n\nOf HTML.[^own]\n\n[^own]: A note.\n\n"

MACROS = """
from pathlib import Path

def define_env(env):
    @env.macro
    def ran():
        Path("ran.txt").write_text("a macro ran")
        return "a macro ran"
"""

EJECT_ALL = """
import json, sys
from click import ClickException
from mkdocs_contentgen.cli import main
said = {}
for page in sys.argv[1:]:
    try:
        main(["eject", page], standalone_mode=False)
        said[page] = ""
    except ClickException as error:
        said[page] = error.message
print(json.dumps(said))
"""


@dataclass
class Ejected:
    """A site as it was before its pages were ejected, and afterwards."""

    project: Project
    before: dict[str, str]
    after: dict[str, str]
    refused: dict[str, str]

    def source(self, page: str) -> str:
        """Return the Markdown of a page."""
        return (self.project.root / f"docs/{page}.md").read_bytes().decode()


def eject(project: Project, *pages: str) -> dict[str, str]:
    """Eject pages in one process; return what was refused, and why."""
    ran = project.call(sys.executable, "-c", EJECT_ALL, *(f"{page}.md" for page in pages))
    assert ran.returncode == 0, ran.stdout
    said = json.loads(ran.stdout.splitlines()[-1])
    return {page.removesuffix(".md"): reason for page, reason in said.items() if reason}


def eject_site(project: Project, pages: list[str]) -> Ejected:
    """Build a site, eject pages, and build it anew."""
    versions = []
    refused: dict[str, str] = {}
    for number in range(2):
        if number:
            refused = eject(project, *pages)
        built = project.build()
        assert built.returncode == 0, built.stdout
        versions.append({page: project.html(f"{page}/index.html") for page in pages})
    return Ejected(project, *versions, refused)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ejected]:
    """Return a site with an article of each kind, with all extensions and templates on."""
    with running() as service:

        def answer(received: Received, handler: Handler) -> None:
            html = f"<article><h1>{received.topic}</h1>{HARMFUL[received.topic]}</article>"
            generated(html)(received, handler)

        service.answer = answer
        project = project_at(tmp_path_factory.mktemp("hostile"), service.base_url)
        project.write(".env", "SECRET_OF_THE_ENVIRONMENT=1\n")
        project.write("abbreviations.md", "*[HTML]: Hypertext\n*[Beta]: the second letter\n")
        project.write("main.py", MACROS)
        project.configure(
            {"image_hosts": ["img.example"]},
            markdown_extensions=EXTENSIONS,
            plugins=[
                "include-markdown",
                {"macros": {"on_error_fail": True}},
                {"contentgen": {"image_hosts": ["img.example"]}},
            ],
        )
        for number, name in enumerate(HARMFUL):
            text = f"{OWN}<!-- contentgen -->\n\nThe end.\n" if number % 2 else ""
            project.page(f"{name}.md", {"type": "blog", "topic": name}, text)
        yield eject_site(project, list(HARMFUL))


def project_at(root: Path, base_url: str) -> Project:
    """Return an empty project that asks the service at an address."""
    import os

    environment = {
        **{name: value for name, value in os.environ.items() if "CONTENTGEN_" not in name},
        "CONTENTGEN_BASE_URL": base_url,
        "CONTENTGEN_USER_ID": USER,
        "CONTENTGEN_TOKEN": TOKEN,
        "NO_MKDOCS_2_WARNING": "1",
    }
    (root / "docs").mkdir()
    return Project(root, environment)


MEANINGFUL = set(
    "h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tr th td blockquote pre code "
    "figure figcaption aside strong em a abbr kbd q sub sup time ruby rt s del ins mark bdi div.x "
    "u small var samp cite dfn script svg iframe details input".split()
)
SAID = set("href id title datetime colspan rowspan scope lang dir start type value src alt".split())


def spoken(html: str) -> list[tuple[str, str]]:
    """Return each word of a page's content with the elements that it is in, as a browser has it."""
    content = BeautifulSoup(html, "html5lib").select_one('[role="main"]')
    assert content
    for tag in content.select("link, .contentgen-disclosure"):
        tag.decompose()
    words: list[tuple[str, str]] = []

    def read(node: Tag, within: tuple[str, ...], *, verbatim: bool) -> None:
        for child in node.children:
            if isinstance(child, Tag):
                name = {"b": "strong", "i": "em"}.get(child.name, child.name)
                said = sorted(
                    f"{key}={value}"
                    for key, value in child.attrs.items()
                    if key in SAID or key.startswith("on")
                )
                if name in ("img", "hr", "br", "input"):
                    words.append(("", " ".join([*within, name, *said])))
                    continue
                label = [" ".join([name, *said])] if name in MEANINGFUL or said else []
                read(child, (*within, *label), verbatim=verbatim or name == "pre")
            elif type(child) is NavigableString:
                parts = child.rstrip("\n").splitlines() if verbatim else child.split()
                words.extend((part, " ".join(within)) for part in parts)

    read(content, (), verbatim=False)
    return words


@pytest.mark.parametrize("name", HARMFUL)
def test_the_page_stays_the_same(hostile: Ejected, name: str) -> None:
    """Before and after, a browser shows the same words in the same elements."""
    assert hostile.refused.get(name, "") == ""
    assert "contentgen:" not in hostile.source(name)
    assert "ai-disclosure" in hostile.before[name]
    assert "ai-disclosure" not in hostile.after[name]
    assert spoken(hostile.after[name]) == spoken(hostile.before[name])


def test_nothing_is_read_or_run(hostile: Ejected) -> None:
    """No template of an article was ever evaluated, and no file is in the site."""
    assert not (hostile.project.root / "ran.txt").exists()
    for page in hostile.after.values():
        assert "SECRET_OF_THE_ENVIRONMENT" not in page
        assert "a macro ran" not in page
