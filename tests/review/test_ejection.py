"""Ejected pages show what they showed before, with everything on that could read their text.

`golden/ejection/harmful.html` holds cases, each below a line `=== name`: what Markdown, an
extension or a plugin would take for its own, and what Markdown cannot say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import yaml
from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString
from conftest import Project
from golden_file import GOLDEN, expect
from growth import once
from service_double import (
    TOKEN,
    USER,
    Handler,
    Received,
    ServiceDouble,
    generated,
    running,
)

CASES = GOLDEN / "ejection"
HARMFUL = dict(
    re.findall(r"^=== (.+)\n((?:(?!=== ).*\n)+)", (CASES / "harmful.html").read_text("utf-8"), re.M)
)
EXTENSIONS: list[object] = [
    *"pymdownx.arithmatex pymdownx.betterem pymdownx.blocks.admonition".split(),
    *"pymdownx.blocks.html pymdownx.caret".split(),
    *"pymdownx.critic pymdownx.details pymdownx.emoji pymdownx.escapeall".split(),
    *"pymdownx.extra pymdownx.fancylists pymdownx.highlight pymdownx.inlinehilite".split(),
    *"pymdownx.keys pymdownx.mark pymdownx.progressbar pymdownx.smartsymbols".split(),
    *"pymdownx.superfences pymdownx.tabbed pymdownx.tasklist pymdownx.tilde".split(),
    *"abbr admonition attr_list def_list footnotes md_in_html meta nl2br sane_lists".split(),
    *"smarty tables wikilinks".split(),
    {"toc": {"permalink": True}},
    {"pymdownx.snippets": {"auto_append": ["abbreviations.md"]}},
    {
        "pymdownx.magiclink": {
            "normalize_issue_symbols": True,
            "provider": "github",
            "repo": "repo",
            "repo_url_shortener": True,
            "repo_url_shorthand": True,
            "social_url_shorthand": True,
            "user": "user",
        }
    },
]
PLUGINS: list[object] = ["include-markdown", {"macros": {"on_error_fail": True}}]
MACROS = """
from pathlib import Path

def define_env(env):
    @env.macro
    def ran():
        Path("ran.txt").write_text("a macro ran")
        return "a macro ran"
"""
OWN = "# The author's page\n\nOf HTML.[^own]\n\n[^own]: A note.\n\n"
ASKED = {"type": "blog", "topic": "Alpha"}
ARTICLE = (
    "<article><h1>Alpha</h1><p>It's <b>one</b>.</p><ul><li>a</li><li>b</li></ul>"
    "<pre><code>x = 1\n\ny = 2</code></pre><p>End.</p></article>"
)


@dataclass
class Ejected:
    """A site as it was before its pages were ejected, and afterwards."""

    project: Project
    refused: dict[str, str]
    before: dict[str, str]
    after: dict[str, str]


def eject(project: Project, *pages: str) -> dict[str, str]:
    """Eject pages; return the messages of those that were refused."""
    refused = {}
    for page in pages:
        ran = project.run("mkdocs_contentgen", "eject", f"{page}.md")
        if ran.returncode:
            refused[page] = ran.stdout.removeprefix("Error: ").removesuffix("\n")
    return refused


def eject_site(project: Project, pages: list[str]) -> Ejected:
    """Build a site, eject pages, and build it anew."""

    def build() -> dict[str, str]:
        built = project.build()
        assert built.returncode == 0, built.stdout
        return {page: project.html(f"{page}/index.html") for page in pages}

    before = build()
    refused = eject(project, *pages)
    return Ejected(project, refused, before, build())


def source(project: Project, page: str) -> str:
    """Return the Markdown of a page, with the line breaks that it has."""
    return (project.root / f"docs/{page}.md").read_bytes().decode()


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ejected]:
    """Return a site with an article of each kind, with all extensions and templates on."""
    root = tmp_path_factory.mktemp("harmful")
    with running() as service:

        def answer(received: Received, handler: Handler) -> None:
            html = f"<article><h1>{received.topic}</h1>{HARMFUL[received.topic]}</article>"
            generated(html)(received, handler)

        service.answer = answer
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CONTENTGEN_")}
        environment |= {
            "CONTENTGEN_BASE_URL": service.base_url,
            "CONTENTGEN_USER_ID": USER,
            "CONTENTGEN_TOKEN": TOKEN,
            "NO_MKDOCS_2_WARNING": "1",
        }
        project = Project(root, environment)
        configure(project)
        for number, name in enumerate(HARMFUL):
            text = f"{OWN}<!-- contentgen -->\n\nThe end.\n" if number % 2 else ""
            project.page(f"{name}.md", {"type": "blog", "topic": name}, text)
        project.write("docs/index.md", "# Home\n\n{{ 6 * 7 }}\n\n--8<-- 'shared.txt'\n")
        project.write("shared.txt", "of a snippet")
        yield eject_site(project, list(HARMFUL))


def configure(project: Project) -> None:
    """Write a configuration with all that reads Markdown."""
    # Where the macros plugin finds git, it runs it twelve times whenever the site is loaded.
    project.environment["PATH"] = ""
    project.write(".env", "SECRET_OF_THE_ENVIRONMENT=1\n")
    project.write("abbreviations.md", "*[HTML]: Hypertext\n*[Beta]: the second letter\n")
    project.write("main.py", MACROS)
    plugins = [*PLUGINS, {"contentgen": {"image_hosts": ["img.example"]}}]
    project.configure(plugins=plugins, markdown_extensions=EXTENSIONS)


MEANINGFUL = set(
    "h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tr th td blockquote pre code "
    "figure figcaption aside strong em a abbr kbd q sub sup time ruby rt s del ins mark u small "
    "var samp cite dfn bdi script svg iframe details input".split()
)
SAID = set("href id title datetime colspan rowspan scope lang dir start type value src alt".split())


def spoken(html: str) -> list[tuple[str, str]]:
    """Return each word of a page's content with the elements that it is in, as a browser has it."""
    content = BeautifulSoup(html, "html5lib").select_one('[role="main"]')
    assert content
    for tag in content.select("link, .contentgen-disclosure"):
        tag.decompose()
    words: list[tuple[str, str]] = []
    is_open = False  # whether a word goes on in the next text

    def read(node: Tag, within: tuple[str, ...], *, verbatim: bool) -> None:
        nonlocal is_open
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
                    is_open = False
                    continue
                label = [" ".join([name, *said])] if name in MEANINGFUL or said else []
                is_open &= name == "span"
                read(child, (*within, *label), verbatim=verbatim or name == "pre")
                is_open &= name == "span"
            elif type(child) is NavigableString:
                parts = child.rstrip("\n").splitlines() if verbatim else child.split()
                if is_open and parts and not child[0].isspace():
                    parts[0] = words.pop()[0] + parts[0]
                words.extend((part, " ".join(within)) for part in parts)
                is_open = bool(child) and not child[-1].isspace()

    read(content, (), verbatim=False)
    return words


@pytest.mark.parametrize("name", HARMFUL)
def test_the_page_stays_the_same(harmful: Ejected, name: str) -> None:
    """Before and after, a browser shows the same words in the same elements."""
    assert harmful.refused.get(name) is None
    assert "contentgen:" not in source(harmful.project, name)
    assert "ai-disclosure" in harmful.before[name]
    assert "ai-disclosure" not in harmful.after[name]
    assert len(spoken(harmful.before[name])) > 1
    assert spoken(harmful.after[name]) == spoken(harmful.before[name])


def test_no_template_is_evaluated_and_no_file_is_read(harmful: Ejected) -> None:
    """Templates and snippets work on the site, but no article's did, nor in the comparison."""
    home = harmful.project.html("index.html")
    assert "42" in home
    assert "of a snippet" in home
    assert not (harmful.project.root / "ran.txt").exists()
    for page in harmful.after.values():
        assert "SECRET_OF_THE_ENVIRONMENT" not in page
        assert "a macro ran" not in page


def test_an_ordinary_article_reads_as_prose(project: Project, service: ServiceDouble) -> None:
    """What needs no care is written as a person would write it."""
    service.answer = generated((CASES / "ordinary.html").read_text("utf-8"))
    project.configure({"image_hosts": ["img.example"]})
    project.page("page.md", ASKED)
    ejected = eject_site(project, ["page"])
    assert ejected.refused == {}
    expect(source(project, "page"), CASES / "ordinary.md")
    assert spoken(ejected.after["page"]) == spoken(ejected.before["page"])


def test_only_what_needs_care_gets_it(project: Project, service: ServiceDouble) -> None:
    """Abbreviations, typographic quotes and brackets make HTML of their paragraphs only."""
    service.answer = generated(
        "<article><h1>T's HTML</h1><p>HTML (plain), a_b.</p><p>It's so.</p><p>[x] + 1</p>"
        "<p>On <time datetime='2026-01-02'>2 January</time>.</p>"
        "<p>Plain, and (so) on.</p></article>"
    )
    configure(project)
    project.page("page.md", ASKED)
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert eject(project, "page") == {}
    assert source(project, "page") == (
        "# T&apos;s &#x48;TML\n\n<p>&#x48;TML (plain), a_b.</p>\n\n<p>It's so.</p>\n\n"
        '<p>&#x5b;x&#x5d; + 1</p>\n\nOn <time datetime="2026-01-02">2 January</time>.\n\n'
        "Plain, and (so) on.\n"
    )


def test_code_with_anchors_for_its_lines(project: Project, service: ServiceDouble) -> None:
    """What an extension adds to code shows nothing, so the code can be Markdown."""
    service.answer = generated(ARTICLE)
    highlight = {"anchor_linenums": True, "line_spans": "__span"}
    project.configure(
        markdown_extensions=[{"pymdownx.highlight": highlight}, "pymdownx.superfences"]
    )
    project.page("page.md", ASKED)
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert eject(project, "page") == {}
    assert "```\nx = 1\n\ny = 2\n```\n" in source(project, "page")


def test_a_marked_time_of_day(project: Project, service: ServiceDouble) -> None:
    """`8<` is the middle of a snippet's marker, and may stand before a tag."""
    service.answer = generated("<article><h1>A</h1><p>At <mark>23:07:58</mark>.</p></article>")
    project.page("page.md", ASKED)
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert eject(project, "page") == {}
    assert "At <mark>23:07:58</mark>." in source(project, "page")


PLACES = {
    "tab": '=== "A"\n\n    Before.\n\n    <!-- contentgen -->\n\n    After.\n\n=== "B"\n\n    B\n',
    "admonition": "!!! note\n    Text\n\n    <!-- contentgen -->\n\nAfter.\n",
    "details": "??? note\n\n    <!-- contentgen -->\n\n    Within.\n\nAfter.\n",
    "list": "- a\n\n- <!-- contentgen -->\n\n- c\n",
    "in-item": "1. a\n\n    - b\n\n        <!-- contentgen -->\n\n        c\n\n2. d\n",
    "quote": "> a\n>\n> <!-- contentgen -->\n>\n> b\n",
    "definition": "Term\n:   <!-- contentgen -->\n",
    "between-lists": "- a\n\n<!-- contentgen -->\n\n- b\n",
    "shown": "    <!-- contentgen -->\n\n`<!-- contentgen -->`\n\n<!-- contentgen -->\n\n"
    "```\n<!-- contentgen -->\n```\n",
    "within-text": "Before.\n<!-- contentgen -->\nAfter.\n",
    "text-below": "<!-- contentgen -->\nAfter.\n",
    "line-breaks": "\n\nBefore.\n\n\n",
    "many-lines": "Before.\n\n<!--\n  contentgen main\n-->\n\nAfter.\n",
    "footnotes": "Before.[^1]\n\n<!-- contentgen -->\n\n[^1]: A note.\n",
    "no-line-break": "Before.",
    "carriage-returns": "Before.\r\n\r\n<!-- contentgen -->\r\n\r\nAfter.\r\n",
    "metadata": "Note: this is the page's own text.\n\n<!-- contentgen -->\n",
    "rule": "---\n\nText\n\n---\n\n<!-- contentgen -->\n",
}


def test_places(project: Project, service: ServiceDouble) -> None:
    """Wherever a marker stands, the article stays there, and all around it as it is."""
    service.answer = generated(ARTICLE)
    extensions = "admonition def_list footnotes pymdownx.details pymdownx.tabbed".split()
    project.configure(markdown_extensions=[*extensions, "pymdownx.superfences"])
    for name, text in PLACES.items():
        newline = "\r\n" if "\r" in text else "\n"
        page = project.page(f"{name}.md", ASKED, "")
        page.write_bytes(page.read_text().replace("\n", newline).encode() + text.encode())
    ejected = eject_site(project, list(PLACES))
    assert ejected.refused == {}
    for name in PLACES:
        assert spoken(ejected.after[name]) == spoken(ejected.before[name]), name
        assert title(ejected.after[name]) == title(ejected.before[name]), name
    lines = source(project, "tab").splitlines()
    assert lines[lines.index("    - a") :][:2] == ["    - a", "    - b"]
    # Not every reader of front matter knows that this is none.
    assert source(project, "rule").startswith("---\n{}\n---\n---\n")
    assert source(project, "line-breaks").startswith("Before.\n\n## Alpha\n")
    assert source(project, "text-below").endswith("End.\n\nAfter.\n")
    assert "\n" not in source(project, "carriage-returns").replace("\r\n", "")


def title(html: str) -> str:
    """Return the title of a page."""
    found = BeautifulSoup(html, "html5lib").find("title")
    assert found
    return found.get_text()


REFUSED = {
    "cell": (
        "| a | b |\n| --- | --- |\n| <!-- contentgen --> | c |\n",
        "docs/cell.md:8: the marker shares its line with other text",
    ),
    "last-cell": (
        "a | b\n--- | ---\nc | <!-- contentgen -->\n",
        "docs/last-cell.md:8: the marker shares its line with other text",
    ),
    "footnote": ("A.[^1]\n\n[^1]: <!-- contentgen -->\n", "would not be the same in Markdown"),
    "tight": (
        "- a\n- <!-- contentgen -->\n- b\n",
        "docs/tight.md:7: the marker is in a list without",
    ),
    "included": ("{% include-markdown '_place.md' %}\n", "'main' is not in this file"),
    "notes-first": (
        "A.[^1]\n\n[^1]: A note.\n",
        "docs/notes-first.md:2: '<div class=footnote>' would",
    ),
}


def test_what_cannot_stay_the_same_is_refused(project: Project, service: ServiceDouble) -> None:
    """The message has the place, the element and what to do, and nothing is written."""
    service.answer = generated(ARTICLE)
    project.configure(
        plugins=["include-markdown", "contentgen"],
        markdown_extensions=["footnotes"],
        exclude_docs="_place.md\n",
    )
    project.write("docs/_place.md", "<!-- contentgen -->\n")
    for name, (text, _) in REFUSED.items():
        project.page(f"{name}.md", ASKED, text)
    before = {name: source(project, name) for name in REFUSED}
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    refused = eject(project, *REFUSED)
    for name, (_, message) in REFUSED.items():
        assert message in refused[name]
        assert "\n" not in refused[name]
        assert source(project, name) == before[name]


def test_html_in_a_tab_is_refused(project: Project, service: ServiceDouble) -> None:
    """What needs HTML has no place where Markdown is indented; the message names the element."""
    service.answer = generated("<article><h1>T</h1><p>a</p><aside>Tip &amp; more</aside></article>")
    project.configure(markdown_extensions=["admonition"])
    project.page("page.md", ASKED, "!!! note\n\n    <!-- contentgen -->\n")
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert "docs/page.md:8: <aside> can be written neither as" in eject(project, "page")["page"]


def test_a_heading_in_html_is_refused(project: Project, service: ServiceDouble) -> None:
    """The table of contents has the headings in any element, but none of raw HTML."""
    service.answer = generated("<article><h1>T</h1><aside><h2>Tip</h2></aside></article>")
    project.page("page.md", ASKED)
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert "2: the table of contents would not be the same" in eject(project, "page")["page"]


def test_a_paragraph_that_is_there_twice(project: Project, service: ServiceDouble) -> None:
    """If an extension takes one of them, both are escaped, since each is still on the page."""
    service.answer = generated("<article><p>Author: me</p><p>Author: me</p></article>")
    project.configure(markdown_extensions=["meta"])
    project.page("page.md", ASKED)
    ejected = eject_site(project, ["page"])
    assert ejected.refused == {}
    assert source(project, "page").endswith("<p>Author: me</p>\n\n<p>Author: me</p>\n")
    assert spoken(ejected.after["page"]) == spoken(ejected.before["page"])


def test_several_articles_on_a_page(project: Project, service: ServiceDouble) -> None:
    """Each goes to its marker, or behind the text, with the headings that it had there."""
    topics = {"one": "<h1>One</h1><h2>A</h2>", "two": "<h1>Two</h1><ul><li>x</li></ul>"}
    topics |= {"three": "<h1>Three</h1><p>c</p>"}

    def answer(received: Received, handler: Handler) -> None:
        generated(f"<article>{topics[received.topic]}</article>")(received, handler)

    service.answer = answer
    asked = [{"id": name, "type": "blog", "topic": name} for name in topics]
    text = "<!-- contentgen two -->\n\nOwn.\n\n<!-- contentgen -->"
    project.page("page.md", asked, text, tags=["x"])
    ejected = eject_site(project, ["page"])
    assert source(project, "page") == (
        "---\ntags:\n- x\n---\n# Two\n\n- x\n\nOwn.\n\n## One\n\n### A\n\n## Three\n\nc\n"
    )
    assert spoken(ejected.after["page"]) == spoken(ejected.before["page"])


def test_what_differs_in_places_where_html_cannot_stand(
    project: Project, service: ServiceDouble
) -> None:
    """In a tab, in a quote and behind them, extensions change nothing of an ordinary article."""
    service.answer = generated(
        "<article><h1>What's new</h1><p>It's <b>HTML</b>: <a href='https://x.example/'>x</a>.</p>"
        "<ul><li>it's one</li><li>two<ul><li>HTML</li></ul></li></ul>"
        "<blockquote>It's so...</blockquote><pre><code>it's</code></pre></article>"
    )
    configure(project)
    asked = [{"id": name, **ASKED} for name in ("tab", "quote", "end")]
    text = '# Own\n\n=== "Tab"\n\n    <!-- contentgen tab -->\n\n> <!-- contentgen quote -->\n'
    project.page("page.md", asked, text)
    ejected = eject_site(project, ["page"])
    assert ejected.refused == {}
    assert spoken(ejected.after["page"]) == spoken(ejected.before["page"])


ALPHA = "<article><h1>T</h1><h2>Alpha</h2><p>a</p><h2>What's new</h2></article>"
OWN_ALPHA = "# Own\n\n<!-- contentgen -->\n\n## Alpha\n\nOf mine.\n\n[To it](#alpha)\n"


def test_headings_keep_their_ids(project: Project, service: ServiceDouble) -> None:
    """A heading states its id where it would take another's, in the table of contents or not."""
    service.answer = generated(ALPHA)
    project.configure(markdown_extensions=["attr_list", {"toc": {"toc_depth": 1}}])
    project.page("page.md", ASKED, OWN_ALPHA.replace("## Alpha", "### Alpha"))
    ejected = eject_site(project, ["page"])
    assert ejected.refused == {}
    assert "### Alpha { #alpha_1 }\n\na\n\n### What's new\n" in source(project, "page")
    assert spoken(ejected.after["page"]) == spoken(ejected.before["page"])


def test_an_id_that_cannot_be_stated(project: Project, service: ServiceDouble) -> None:
    """Without attr_list, the message names the heading whose links would break, and the cure."""
    service.answer = generated(ALPHA)
    project.page("page.md", ASKED, OWN_ALPHA)
    before = source(project, "page")
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert eject(project, "page")["page"] == (
        "docs/page.md:8: the heading '#alpha_1' would get another id, and links to it would break; "
        "add attr_list to markdown_extensions, which keeps the ids, or give that heading another "
        "text"
    )
    assert source(project, "page") == before


@pytest.mark.parametrize(
    ("front", "left"),
    [
        ("contentgen: {type: blog, topic: Alpha}\n", ""),
        ("# mine\ncontentgen: {type: blog, topic: Alpha}\n", "---\n{}\n# mine\n---\n"),
        (
            "a: 1\ncontentgen:\n  type: blog\n  topic: Alpha\nb: 2 # c\n",
            "---\na: 1\nb: 2 # c\n---\n",
        ),
        ("contentgen:\n- type: blog\n  topic: Alpha\n", ""),
        (
            "'contentgen':\n  type: blog\n#  length: long\n\n  topic: Alpha\n\n# mine\na: 1\n",
            "---\n\n# mine\na: 1\n---\n",
        ),
    ],
)
def test_the_rest_of_the_front_matter_stays(
    project: Project, service: ServiceDouble, front: str, left: str
) -> None:
    """Only the lines of the request go, and what is left is a front matter still."""
    service.answer = generated("<article><h1>Alpha</h1></article>")
    project.write("docs/page.md", f"---\n{front}---\n")
    ejected = eject_site(project, ["page"])
    assert source(project, "page") == f"{left}# Alpha\n"
    assert spoken(ejected.after["page"]) == spoken(ejected.before["page"])


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (
            "---\ncontentgen: &asked {type: blog, topic: Alpha}\nextra: *asked\n---\n",
            "page.md:1: the front matter does not have one key per line; remove `contentgen` by",
        ),
        (
            "---\n{contentgen: {type: blog, topic: A}}\n---\n",
            "page.md:1: the front matter does not have one key per line; remove `contentgen` by",
        ),
        ("contentgen: x\n\nText.\n", "expected a mapping, found 'x'"),
    ],
    ids=["of-others", "on-one-line", "without-lines"],
)
def test_a_request_that_has_no_lines_of_its_own_stays(
    project: Project, page: str, message: str
) -> None:
    """Without them, the front matter would say something else, or nothing at all."""
    project.write("docs/page.md", page)
    project.run("mkdocs_contentgen", "generate")
    assert message in eject(project, "page")["page"]
    assert source(project, "page") == page


def test_a_title_is_no_template(project: Project, service: ServiceDouble) -> None:
    """A title that looks like a template or HTML stands in the front matter as plain text."""
    service.answer = generated(
        "<article><p>First.</p><h1>{{ ran() }} &amp; &lt;b&gt;it's&lt;/b&gt;</h1></article>"
    )
    configure(project)
    project.page("page.md", ASKED)
    ejected = eject_site(project, ["page"])
    assert ejected.refused == {}
    assert "title: '&#x7b; &#x7b; ran() &#x7d;&#x7d; &amp; ‹b›it’s‹/b›'" in source(project, "page")
    assert title(ejected.after["page"]) == title(ejected.before["page"])
    assert not (project.root / "ran.txt").exists()


def test_templates_with_other_delimiters(project: Project, service: ServiceDouble) -> None:
    """What the options of a plugin make the beginning of a template is known from them."""
    service.answer = generated(
        "<article><h1>[% ran() %]</h1><p>$$ ran() $$ and ((if ran()</p>"
        "<p><code>$$ ran() $$</code></p><pre><code>$$ ran() $$</code></pre></article>"
    )
    configure(project)
    macros = {
        "j2_block_start_string": "((if",
        "j2_block_end_string": "))",
        "j2_variable_start_string": "$$",
        "j2_variable_end_string": "$$",
        "j2_comment_start_string": "[%",
        "j2_comment_end_string": "%]",
    }
    project.configure(plugins=[{"macros": macros}, "contentgen"])
    project.page("page.md", ASKED)
    ejected = eject_site(project, ["page"])
    assert ejected.refused == {}
    assert spoken(ejected.after["page"]) == spoken(ejected.before["page"])
    assert not (project.root / "ran.txt").exists()


ELSEWHERE = """
import shutil, tempfile
from mkdocs.structure.files import File

def on_config(config):
    if config.extra.get("moves"):
        config.docs_dir = shutil.copytree(config.docs_dir, tempfile.mkdtemp(), dirs_exist_ok=True)

def on_files(files, config):
    if not config.extra.get("moves"):
        page = files.src_uris["page.md"]
        if config.extra.get("rewrites"):
            page.content_string = page.content_string
        else:
            other = File.generated(config, "page.md", abs_src_path=page.abs_src_path)
            files.remove(page)
            files.append(other)
"""


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("moves", "outside of the docs_dir in mkdocs.yml"),
        ("rewrites", "is generated by a plugin, so there is no file to edit"),
        ("generates", "is generated by a plugin, so there is no file to edit"),
    ],
)
def test_a_page_from_elsewhere_is_refused(project: Project, how: str, message: str) -> None:
    """A page that a plugin moved, rewrote or made has no file here, and nothing is written."""
    project.write("elsewhere.py", ELSEWHERE)
    project.configure(hooks=["elsewhere.py"], extra={how: True})
    project.page("page.md", ASKED)
    before = source(project, "page")
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert message in eject(project, "page")["page"]
    assert source(project, "page") == before


LARGE: dict[str, Callable[[int], str]] = {
    "list": lambda number: f"<ul>{'<li>It is <b>one</b></li>' * (number // 2)}</ul>",
    "headings": lambda number: "".join(f"<h2>Part {i}</h2><p>a</p>" for i in range(number // 10)),
    "table": lambda number: (
        "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
        f"<tbody>{'<tr><td>1</td><td>2</td></tr>' * (number // 3)}</tbody></table>"
    ),
    "punctuation": lambda number: f"<p>{'*_[x]{{ ' * (number * 2)}</p>",
    "code": lambda number: "<pre><code>a {{ b\n</code></pre>" * (number // 2),
    "nested": lambda number: f"{'<ul><li>a' * 45}{'</li></ul>' * 45}" * (number // 90),
}


@pytest.mark.parametrize("name", LARGE)
def test_the_largest_articles(project: Project, service: ServiceDouble, name: str) -> None:
    """They take seconds, and twice as much takes about twice the time."""

    def answer(received: Received, handler: Handler) -> None:
        generated(f"<article><h1>T</h1>{LARGE[name](int(received.topic))}</article>")(
            received, handler
        )

    service.answer = answer

    def seconds(size: int) -> float:
        project.page(f"{size}.md", {"type": "blog", "topic": str(size)})
        assert project.run("mkdocs_contentgen", "generate").returncode == 0
        return once(lambda: refused.update(eject(project, str(size))))

    refused: dict[str, str] = {}
    # What a busy machine made look worse is measured again.
    assert any(seconds(4_500) < min(20, 3 * seconds(2_250)) for _ in range(4))
    assert refused == {}


def test_a_post_of_a_blog(project: Project, service: ServiceDouble) -> None:
    """Material's blog reads posts itself, and shows the same afterwards."""
    service.answer = generated(ARTICLE)
    project.configure(
        plugins=["blog", "contentgen"], theme={"name": "material", "font": False}, site_url=""
    )
    project.environment["DISABLE_MKDOCS_2_WARNING"] = "true"
    project.page("blog/posts/post.md", ASKED, date=yaml.safe_load("2026-01-02"), slug="post")
    page = "blog/2026/01/02/post/index.html"
    assert project.build().returncode == 0
    before = words_of_post(project.html(page))
    assert eject(project, "blog/posts/post") == {}
    assert project.build().returncode == 0
    assert before[-1] == "End."
    assert words_of_post(project.html(page)) == before


def words_of_post(html: str) -> list[str]:
    """Return the words of a post as Material shows them, but for how it came about."""
    post = BeautifulSoup(html, "html5lib").select_one("article.md-content__inner")
    assert post
    for tag in post.select(".contentgen-disclosure, script"):
        tag.decompose()
    return post.get_text(" ").split()
