"""Ejected pages show what they showed before, with everything on that could read their text.

`golden/ejection/harmful.html` holds cases, each below a line `=== name`: what Markdown, an
extension or a plugin would take for its own. Each directory there has a page before (`page.md`) and
after (`expected.md`), and its articles, `TOPIC.html`; UPDATE_GOLDEN=1 rewrites `expected.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from browsing import browser_started
from bs4 import BeautifulSoup, Tag
from click.testing import CliRunner
from conftest import Project
from golden_file import GOLDEN, cases, expect
from playwright.sync_api import Dialog, Route
from service_double import Handler, Received, ServiceDouble, generated, running

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.review.ejection import eject_articles

TABLES = cases("ejection")

CASES = GOLDEN / "ejection"
HARMFUL = dict(
    re.findall(r"^=== (.+)\n((?:(?!=== ).*\n)+)", (CASES / "harmful.html").read_text("utf-8"), re.M)
)
EXTENSIONS = TABLES["extensions"]
PLUGINS: list[object] = ["include-markdown", {"macros": {"on_error_fail": True}}]
MACROS = """
from pathlib import Path

def define_env(env):
    @env.macro
    def ran():
        Path("ran.txt").write_text("a macro ran")
        return "a macro ran"
"""
THEME = '<!doctype html><html><body><div role="main">{{ page.content }}</div></body></html>'
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
    before: dict[str, str]
    after: dict[str, str]


def eject(project: Project, page: str, code: int = 0) -> str:
    """Eject a page, and return what was printed."""
    command = ["eject", "--config-file", str(project.root / "mkdocs.yml"), f"{page}.md"]
    ran = CliRunner().invoke(main, command)
    assert ran.exit_code == code, ran.output
    return ran.output


def eject_site(project: Project, pages: list[str]) -> Ejected:
    """Build a site, eject pages, and build it anew."""

    def build() -> dict[str, str]:
        project.built()
        return {page: project.html(f"{page}/index.html") for page in pages}

    before = build()
    with open_site(str(project.root / "mkdocs.yml")) as site:
        for page in pages:
            eject_articles(site, site.articles([f"{page}.md"])[0])
    return Ejected(project, before, build())


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
        project = Project(root, service.environment)
        # Reading pages of MkDocs' own theme as a browser does takes most of the time of the tests.
        configure(project, theme={"name": None, "custom_dir": "theme"})
        project.write("theme/main.html", THEME)
        for number, name in enumerate(HARMFUL):
            text = f"{OWN}<!-- contentgen -->\n\nThe end.\n" if number % 2 else ""
            project.page(f"{name}.md", {"type": "blog", "topic": name}, text)
        project.write("docs/index.md", "# Home\n\n{{ 6 * 7 }}\n\n--8<-- 'shared.txt'\n")
        project.write("shared.txt", "of a snippet")
        yield eject_site(project, list(HARMFUL))


def configure(project: Project, **config: object) -> None:
    """Write a configuration with all that reads Markdown."""
    # Where the macros plugin finds git, it runs it twelve times whenever the site is loaded.
    project.environment["PATH"] = ""
    project.write(".env", "SECRET_OF_THE_ENVIRONMENT=1\n")
    project.write("main.py", MACROS)
    plugins = [*PLUGINS, {"contentgen": {"image_hosts": ["img.example"]}}]
    project.configure(plugins=plugins, markdown_extensions=EXTENSIONS, **config)


@cache
def content(html: str) -> Tag:
    """Return what a page shows, as a browser has it, without what only the plugin adds."""
    found = BeautifulSoup(html, "html5lib").select_one('[role="main"]')
    assert found
    for tag in found.select(
        "link, .contentgen-disclosure, .contentgen-end, .headerlink, .admonition-title"
    ):
        tag.decompose()
    return found


def text(html: str) -> str:
    """Return the text of a page without white space."""
    return "".join(content(html).get_text().split())


def targets(html: str) -> set[str]:
    """Return the addresses of links and images, but for those that magiclink finds in the text."""
    values = [
        unquote(str(tag.get("href") or tag.get("src")))
        for tag in content(html).select("a, img")
        if tag.get_text() != tag.get("href")
    ]
    return {value for value in values if not value.startswith(("#", "mailto:", "http://www."))}


def elements(html: str) -> set[str]:
    """Return the kinds of the elements of a page."""
    return {SYNONYMS.get(tag.name, tag.name) for tag in content(html).find_all(True)}


SYNONYMS = {"b": "strong", "i": "em"}
OF_MARKDOWN = set("p div code span thead tbody th td a".split())
"""Elements that Markdown adds."""


@pytest.mark.system
@pytest.mark.parametrize("name", HARMFUL)
def test_the_text_of_an_article_is_no_syntax(harmful: Ejected, name: str) -> None:
    """Before and after, a browser shows the same text, and nothing new."""
    before, after = harmful.before[name], harmful.after[name]
    assert "contentgen:" not in source(harmful.project, name)
    assert "ai-disclosure" in before
    assert "ai-disclosure" not in after
    assert text(after) == text(before) != ""
    assert elements(after) <= elements(before) | OF_MARKDOWN
    assert targets(after) == targets(before)


def test_no_template_is_evaluated_and_no_file_is_read(harmful: Ejected) -> None:
    """Templates and snippets work on the site, but no article's did."""
    home = harmful.project.html("index.html")
    assert "42" in home
    assert "of a snippet" in home
    assert not (harmful.project.root / "ran.txt").exists()
    for page in harmful.after.values():
        assert "SECRET_OF_THE_ENVIRONMENT" not in page
        assert "a macro ran" not in page


@pytest.mark.system
def test_nothing_runs_in_a_browser(harmful: Ejected) -> None:
    """In Chromium, no ejected text runs a script, or asks for another picture than before."""
    run: list[str] = []
    hosts: set[str | None] = set()

    def dismiss(dialog: Dialog) -> None:
        run.append(dialog.message)
        dialog.dismiss()

    def refuse(route: Route) -> None:
        hosts.add(urlsplit(route.request.url).hostname)
        route.abort()

    with browser_started() as browser:
        page = browser.new_page()
        page.on("dialog", dismiss)
        page.route("**/*", refuse)
        for html in harmful.after.values():
            page.set_content(str(content(html)))
        assert run == []
        assert hosts == {"img.example"}
        page.set_content('<img src="https://x.example/" onerror="alert(1)">')
        assert run == ["1"]
        assert "x.example" in hosts


def test_what_is_written(project: Project, service: ServiceDouble) -> None:
    """Each page has its articles as a person would write them, and the site can be built."""
    articles = {path.stem: path.read_text("utf-8") for path in CASES.glob("*/*.html")}

    def answer(received: Received, handler: Handler) -> None:
        generated(articles[received.topic])(received, handler)

    service.answer = answer
    extensions = ["admonition", "footnotes", "pymdownx.superfences", "pymdownx.tabbed"]
    plugins = [{"contentgen": {"image_hosts": ["img.example"]}}]
    project.write("hook.py", "def on_page_markdown(markdown, **_):\n    return markdown\n")
    project.configure(
        plugins=plugins,
        markdown_extensions=extensions,
        hooks=["hook.py"],
        site_url="https://docs.example/",
    )
    cases = sorted(path.parent.name for path in CASES.glob("*/page.md"))
    for name in cases:
        project.write(f"docs/{name}.md", (CASES / name / "page.md").read_text("utf-8"))
    ejected = eject_site(project, cases)
    for name in cases:
        expect(source(project, name), CASES / name / "expected.md")
        before, after = content(ejected.before[name]), content(ejected.after[name])
        levels = [tag.name for tag in before.find_all(re.compile("^h[1-6]$"))]
        assert [tag.name for tag in after.find_all(re.compile("^h[1-6]$"))] == levels
        shown = [it.get_text(" ", strip=True) for it in before.find_all(["p", "li", "td", "pre"])]
        assert set(shown) <= {
            it.get_text(" ", strip=True) for it in after.find_all(["p", "li", "td", "pre"])
        }


LANGUAGES: dict[str, tuple[dict[str, object], str, tuple[str, str | None]]] = {
    "a translation": ({"translation_of": "post.md", "language": "ar"}, "", ("ar", "rtl")),
    "with words": ({"translation_of": "post.md", "language": "de"}, "Mein Satz.", ("de", None)),
    "the language of the site": ({**ASKED, "language": "en"}, "", ("en", None)),
}
"""A request, the words of the author below it, and the language and direction of its page."""


@pytest.mark.parametrize("case", LANGUAGES.values(), ids=LANGUAGES)
def test_the_language_of_a_page(
    project: Project, case: tuple[dict[str, object], str, tuple[str, str | None]]
) -> None:
    """An ejected page says the language of its text, if that is not the one of the site."""
    asked, words, expected = case
    project.configure(plugins=[{"contentgen": {"base_url": "sandbox"}}])
    project.page("post.md", ASKED)
    project.page("page.md", asked, words)
    project.write("docs/own.md", "# Own\n")
    project.built()
    printed = eject(project, "page")
    assert "languages" not in printed
    project.built()
    root = project.soup("page/index.html").html
    assert root is not None
    assert (root["lang"], root.get("dir")) == expected
    own = project.soup("own/index.html").html
    assert own is not None
    assert own["lang"] == "en"


def test_another_language_in_the_front_matter(project: Project) -> None:
    """What the page said of its language is not true of the text, and would hide what is."""
    project.configure(plugins=[{"contentgen": {"base_url": "sandbox"}}])
    project.page("post.md", ASKED)
    request = "contentgen: {translation_of: post.md, language: de}"
    project.write("docs/page.md", f"---\nlang: fr\n{request}\n---\n")
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    eject(project, "page")
    assert source(project, "page").startswith("---\nlang: de\n---\n")


@pytest.mark.parametrize("words", ["", "# Mine\n\nSaid in English.\n"])
def test_a_text_in_another_language_than_its_site(
    project: Project, service: ServiceDouble, words: str
) -> None:
    """Its page is in that language, unless the author has words there: then that is named."""
    service.answer = generated(ARTICLE.replace("<article>", '<article lang="fr">'))
    project.page("page.md", ASKED, words)
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert ("but without its languages" in eject(project, "page")) == bool(words)
    assert source(project, "page").startswith("---\nlang: fr\n---\n") != bool(words)


def test_the_message(project: Project, service: ServiceDouble) -> None:
    """It names what Markdown cannot say, and where to look."""
    service.answer = generated(
        "<article><h1>A</h1><p style='color: red'>b</p><table><tbody><tr>"
        "<td colspan='2' style='text-align: right'>c</td></tr></tbody></table></article>"
    )
    project.page("page.md", ASKED)
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert eject(project, "page").splitlines()[0] == (
        "page.md: contains its text now, and no request, but without its inline styles, "
        "merged cells; read `git diff`"
    )


@pytest.mark.parametrize(
    ("code", "is_lost"),
    [
        ("<pre><code class='language-yaml'>a: b</code></pre>", False),
        ("<pre><code>a: ${{ b }}</code></pre>", False),
        ("<pre><code class='language-yaml'>a: ${{ b }}</code></pre>", True),
        ("<ol><li>A<pre><code class='language-yaml'>a: b</code></pre></li></ol>", True),
    ],
)
def test_code_that_is_no_longer_highlighted(
    project: Project, service: ServiceDouble, code: str, *, is_lost: bool
) -> None:
    """Code with templates is HTML, and code in a list has no fence: the message says so."""
    service.answer = generated(f"<article><h1>A</h1>{code}<p>b</p></article>")
    project.page("page.md", ASKED)
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    message = "but without its highlighting of code with templates or in lists; read `git diff`"
    assert (message in eject(project, "page")) == is_lost


DELIMITERS = {"j2_variable_start_string": "[[", "j2_variable_end_string": "]]"}


@pytest.mark.parametrize(
    "html",
    [
        "<p>a [[ ran() ]] <code>[[ ran() ]]</code></p>",
        "<pre><code class='language-python'>x = [[ ran() ]]</code></pre>",
        "<ul><li><pre><code>[[ ran() ]]</code></pre></li></ul>",
        "<table><tr><th>[[ ran() ]]</th></tr><tr><td><code>[[ ran() ]]</code></td></tr></table>",
        "<p><a href='https://a.example/?[[ran()]]' title='[[ ran() ]]'>b</a></p>",
    ],
)
def test_delimiters_of_a_site(project: Project, service: ServiceDouble, html: str) -> None:
    """Where a site has other delimiters for its templates, those of an article are text, too."""
    service.answer = generated(f"<article><h1>A</h1>{html}</article>")
    project.environment["PATH"] = ""
    project.write("main.py", MACROS)
    project.configure(
        plugins=[{"macros": {**DELIMITERS, "on_error_fail": True}}, "contentgen"],
        markdown_extensions=["pymdownx.superfences", "tables"],
    )
    project.page("page.md", ASKED)
    project.write("docs/index.md", "# Home\n\n[[ 6 * 7 ]]\n")
    ejected = eject_site(project, ["page"])
    assert "42" in project.html("index.html")
    assert not (project.root / "ran.txt").exists()
    assert text(ejected.after["page"]) == text(ejected.before["page"]) != ""


def test_delimiters_that_cannot_be_escaped(project: Project, service: ServiceDouble) -> None:
    """A text in which a plugin would find a template is refused, and the page stays as it was.

    Of several delimiters, the message always names the same one.
    """
    service.answer = generated(
        "<article><h1>A</h1><ul><li>b</li></ul><ol><li>c</li></ol></article>"
    )
    project.environment["PATH"] = ""
    project.write("main.py", MACROS)
    starts = {
        "j2_variable_start_string": "<!--",
        "j2_block_start_string": "<!-",
        "j2_comment_start_string": "<!",
    }
    project.configure(plugins=[{"macros": {**DELIMITERS, **starts}}, "contentgen"])
    project.page("page.md", ASKED)
    before = source(project, "page")
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert "a plugin of this site would run what begins with '<!'" in eject(project, "page", 1)
    assert source(project, "page") == before


PLACES: dict[str, str] = dict(TABLES["places"])


def test_places(project: Project, service: ServiceDouble) -> None:
    """Where a marker stands alone, the article stays there, and all around it as it is."""
    service.answer = generated(ARTICLE)
    extensions = ["footnotes", "pymdownx.superfences"]
    project.configure(markdown_extensions=extensions)
    for name, text in PLACES.items():
        newline = "\r\n" if "\r" in text else "\n"
        page = project.page(f"{name}.md", ASKED, "")
        page.write_bytes(page.read_text().replace("\n", newline).encode() + text.encode())
    ejected = eject_site(project, list(PLACES))
    for name in PLACES:
        before, after = content(ejected.before[name]), content(ejected.after[name])
        assert outline(after) == outline(before), name
        assert title(ejected.after[name]) == title(ejected.before[name]), name
    # Not every reader of front matter knows that this is none.
    assert source(project, "rule").startswith("---\n{}\n---\n---\n")
    assert source(project, "line-breaks").startswith("Before.\n\n## Alpha\n")
    assert source(project, "text-below").endswith("End.\n\nAfter.\n")
    assert "\n" not in source(project, "carriage-returns").replace("\r\n", "")


GROUPS = set("p div span section article [document]".split())


def outline(shown: Tag) -> list[tuple[str, str]]:
    """Return each word of a page, with the elements around it that are neither groups nor links."""
    words: list[tuple[str, str]] = []
    for string in shown.find_all(string=True):
        names = [SYNONYMS.get(tag.name, tag.name) for tag in string.parents]
        path = " ".join(name for name in names if name not in GROUPS)
        words += [(word, path) for word in str(string).split()]
    return words


def title(html: str) -> str:
    """Return the title of a page."""
    found = BeautifulSoup(html, "html5lib").find("title")
    assert found
    return found.get_text()


@pytest.mark.parametrize(
    "place",
    [
        "| a |\n| --- |\n| <!-- contentgen --> |",
        "- a\n\n    <!-- contentgen -->",
        "> <!-- contentgen -->",
        "{% include 'x' %}",
    ],
)
def test_a_marker_that_is_not_alone(project: Project, service: ServiceDouble, place: str) -> None:
    """Where there is no place for Markdown, or none in this file, it follows the text."""
    service.answer = generated(ARTICLE)
    project.page("page.md", ASKED, f"Before.\n\n{place}\n")
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    said = eject(project, "page")
    assert source(project, "page").startswith(f"Before.\n\n{place}\n\n## Alpha\n")
    assert ("at its end: the text of `<!-- contentgen -->`" in said) == ("<!--" in place)


@pytest.mark.parametrize(("front", "left"), TABLES["the_rest_of_the_front_matter_stays"])
def test_the_rest_of_the_front_matter_stays(
    project: Project, service: ServiceDouble, front: str, left: str
) -> None:
    """Only the lines of the request go, and what is left is a front matter still."""
    service.answer = generated("<article><h1>Alpha</h1></article>")
    project.write("docs/page.md", f"---\n{front}---\n")
    ejected = eject_site(project, ["page"])
    assert source(project, "page") == f"{left}# Alpha\n"
    assert text(ejected.after["page"]) == text(ejected.before["page"])


@pytest.mark.parametrize(
    ("page", "message"),
    TABLES["a_request_that_has_no_lines_of_its_own_stays"],
    ids=["of-others", "on-one-line", "without-lines"],
)
def test_a_request_that_has_no_lines_of_its_own_stays(
    project: Project, page: str, message: str
) -> None:
    """Without them, the front matter would say something else, or nothing at all."""
    project.write("docs/page.md", page)
    project.run("mkdocs_contentgen", "generate")
    assert message in eject(project, "page", code=1)
    assert source(project, "page") == page


def test_a_title_is_no_template(project: Project, service: ServiceDouble) -> None:
    """A title that looks like a template or HTML is plain text."""
    heading = "{{ ran() }} &amp; &lt;b&gt;it's&lt;/b&gt;"
    service.answer = generated(f"<article><p>{{% if ran()</p><h1>{heading}</h1></article>")
    configure(project)
    project.page("page.md", ASKED)
    ejected = eject_site(project, ["page"])
    assert title(ejected.after["page"]) == title(ejected.before["page"])
    assert "{%ifran()" in text(ejected.after["page"])
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
        files.remove(page)
        files.append(File.generated(config, "page.md", abs_src_path=page.abs_src_path))
"""


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("moves", "outside of the docs_dir in mkdocs.yml"),
        ("generates", "is generated by a plugin, or outside"),
    ],
)
def test_a_page_from_elsewhere_is_refused(project: Project, how: str, message: str) -> None:
    """A page that a plugin moved or made has no file here, and nothing is written."""
    project.write("elsewhere.py", ELSEWHERE)
    project.configure(hooks=["elsewhere.py"], extra={how: True})
    project.page("page.md", ASKED)
    before = source(project, "page")
    assert project.run("mkdocs_contentgen", "generate").returncode == 0
    assert message in eject(project, "page", code=1)
    assert source(project, "page") == before


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
    eject(project, "blog/posts/post")
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
