"""How the code of an article is highlighted, beside an author's fence with the same code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import pytest
from bs4 import BeautifulSoup
from conftest import Project
from markdown import Markdown
from markdown.extensions import Extension
from service_double import ServiceDouble, generated

from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.site.highlighting import highlight_code

FENCES = {
    "superfences": {"pymdownx.superfences": {}},
    "highlight": {"pymdownx.highlight": {}, "pymdownx.superfences": {}},
    "inlinehilite": {"pymdownx.inlinehilite": {}, "pymdownx.superfences": {}},
    "own default": {"pymdownx.highlight": {"default_lang": "json"}, "pymdownx.superfences": {}},
    "titles": {"pymdownx.highlight": {"auto_title": True}, "pymdownx.superfences": {}},
    "class of the language": {
        "pymdownx.highlight": {"pygments_lang_class": True},
        "pymdownx.superfences": {},
    },
    "no pygments": {"pymdownx.highlight": {"use_pygments": False}, "pymdownx.superfences": {}},
    "extended": {
        "pymdownx.highlight": {"extend_pygments_lang": [{"name": "jsonc", "lang": "json"}]},
        "pymdownx.superfences": {},
    },
    "codehilite": {"fenced_code": {}, "codehilite": {"guess_lang": False}},
    "codehilite with numbers": {
        "fenced_code": {},
        "codehilite": {"guess_lang": False, "linenums": True},
    },
}
"""Markdown extensions by what they show of a fence."""

LANGUAGES = (
    *("python", "json", "c++", ""),
    *("mermaid", "plaintext", "txt", "log", "csv", "env", "conf", "jsonc", "svelte", "plantuml"),
    *("---", "#", "klingon"),
)
CODE = """:::python
{"a": 1}  # <b> & &lt;

  end"""


def shown(md: Markdown, html: str) -> str:
    """Return what becomes of the only block of code in an article."""
    article = parse_article(f"<article>{html}</article>")
    highlight_code(article, md)
    (block,) = list(article)
    if block.tag == "pre":
        return ""
    assert (block.tag, block.get("class")) == ("div", "contentgen-code")
    return md.postprocessors["raw_html"].run(f"<p>{block[0].text}</p>").strip()


def pre(language: str, code: str = CODE) -> str:
    """Return a block of code as a service sends it."""
    attribute = f' class="language-{language}"' if language else ""
    return f"<pre><code{attribute}>{escape(code)}\n</code></pre>"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("extensions", FENCES.values(), ids=FENCES.keys())
def test_code_is_as_in_a_fence_of_the_author(extensions: dict[str, Any], language: str) -> None:
    """The same code in the same language gets the same HTML, known to Pygments or not."""
    fence = f"```{language}\n{CODE}\n```"
    if "fenced_code" in extensions:
        fence = f"``` {{ .{language} }}\n{CODE}\n```" if language else fence
    markdown = Markdown(extensions=list(extensions), extension_configs=extensions)
    author = markdown.convert(fence).strip()
    assert shown(markdown.reset(), pre(language)) == author


@pytest.mark.parametrize("language", ["python", "klingon", ""])
@pytest.mark.parametrize("extensions", FENCES.values(), ids=FENCES.keys())
def test_statements_in_code_stay_marked(extensions: dict[str, Any], language: str) -> None:
    """What is to be checked is marked in highlighted code, whose text and colours are the same."""
    markdown = Markdown(extensions=list(extensions), extension_configs=extensions)
    plain = BeautifulSoup(shown(markdown, pre(language)), "html.parser")
    attribute = f' class="language-{language}"' if language else ""
    code = escape(CODE).replace("# &lt;b", "<mark># &lt;b</mark>")
    code = code.replace("end", "<mark>end</mark>")
    html = f"<pre><code{attribute}>{code}\n</code></pre>"
    marked = BeautifulSoup(shown(markdown.reset(), html), "html.parser")
    marks = marked.find_all("mark")
    assert "".join(mark.get_text() for mark in marks) == "# <bend"
    for mark in marks:
        mark.unwrap()
    assert re.sub(r'(id|name|href)="[^"]*"', "", str(marked)) == re.sub(
        r'(id|name|href)="[^"]*"', "", str(plain)
    )


@pytest.mark.parametrize(
    "extensions", [["fenced_code"], ["fenced_code", "codehilite"], []], ids=len
)
def test_code_is_left_where_nothing_highlights(extensions: list[str]) -> None:
    """Without a highlighter, or with one that leaves it to the browser, code stays as it is."""
    configs = {"codehilite": {"use_pygments": False}} if "codehilite" in extensions else {}
    assert shown(Markdown(extensions=extensions, extension_configs=configs), pre("python")) == ""


@pytest.mark.parametrize("guessing", ["pymdownx.highlight", "codehilite"])
def test_no_language_is_guessed(guessing: str) -> None:
    """Guessing takes seconds for some texts, and an article may name its language."""
    markdown = Markdown(
        extensions=["fenced_code", guessing], extension_configs={guessing: {"guess_lang": True}}
    )
    code = "<?php echo 1; ?>"
    assert 'class="cp"' in markdown.convert(f"    {code}")  # it is an author's, and guessed
    for language in ("", "klingon"):
        assert 'class="cp"' not in shown(markdown.reset(), pre(language, code))


BROKEN: dict[str, dict[str, Any]] = {
    "style": {"pymdownx.highlight": {"pygments_style": "no-style"}},
    "default language": {"pymdownx.highlight": {"default_lang": "no-language"}},
    "options of a lexer": {
        "pymdownx.highlight": {
            "extend_pygments_lang": [
                {"name": "klingon", "lang": "python", "options": {"encoding": 1, "tabsize": "x"}}
            ],
            "default_lang": "no-language",
        }
    },
    "formatter": {"codehilite": {"pygments_formatter": lambda **options: 1 / 0}},
    "codehilite style": {"codehilite": {"pygments_style": "no-style"}},
}


@pytest.mark.parametrize("configs", BROKEN.values(), ids=BROKEN.keys())
def test_no_failure_of_a_highlighter_ends_a_build(configs: dict[str, Any]) -> None:
    """Code that cannot be highlighted is shown as it came."""
    markdown = Markdown(extensions=list(configs), extension_configs=configs)
    assert shown(markdown, pre("klingon")) == ""


class Recursive(Extension):
    """A highlighter of the site's own, which fails for every code."""

    pygments_code_block = 0

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  the name is Python-Markdown's
        """Register as pymdownx.highlight does."""
        md.registerExtension(self)

    def get_pymdownx_highlight_settings(self) -> dict[str, object]:
        """Return the options."""
        return {"css_class": "highlight"}

    def get_pymdownx_highlighter(self) -> Callable[..., object]:
        """Return what cannot be called with any option."""
        return lambda md, **options: self.get_pymdownx_highlighter()(md, **options)


def test_a_highlighter_of_the_site_may_fail_in_any_way() -> None:
    """One that never ends with a result leaves the code as it came."""
    assert shown(Markdown(extensions=[Recursive()]), pre("python")) == ""


@pytest.mark.parametrize(
    "html",
    [
        "<pre><code class='language-python'>a = <em>1</em></code></pre>",
        "<pre>before <code class='language-python'>a = 1</code></pre>",
        "<pre><code class='language-python'>a = 1</code> behind</pre>",
        "<pre>a = 1</pre>",
    ],
)
def test_no_word_is_lost_for_colours(html: str) -> None:
    """A block with other elements in its code, or with text beside it, stays as it is."""
    assert shown(Markdown(extensions=["pymdownx.highlight"]), html) == ""


def test_attributes_of_a_block_stay() -> None:
    """The direction of code within a text from right to left is one."""
    article = parse_article(f"<article>{pre('python')}</article>")
    article[0].set("dir", "ltr")
    highlight_code(article, Markdown(extensions=["pymdownx.highlight"]))
    assert article[0].attrib == {"class": "contentgen-code", "dir": "ltr"}


def blocks_of(languages: Iterable[str]) -> str:
    """Return an article with a block of code in each language, which says the language."""
    blocks = "".join(pre(language, f"code in {language}.") for language in languages)
    return f"<article><h1>T</h1><p>x</p>{blocks}</article>"


@pytest.mark.parametrize("highlighter", ["pymdownx.superfences", "codehilite"])
def test_builds_with_mkdocs(project: Project, service: ServiceDouble, highlighter: str) -> None:
    """The build that gets a text shows each of its codes, and so does the next one."""
    service.answer = generated(blocks_of(LANGUAGES))
    extensions = ["fenced_code", highlighter]
    project.configure(markdown_extensions=extensions)
    project.page("index.md", {"type": "article", "topic": "T"})
    for _ in range(2):
        project.built("--strict")
        codes = [code.get_text().strip() for code in project.soup("index.html").select("pre")]
        assert codes == [f"code in {language}." for language in LANGUAGES]


@pytest.mark.parametrize("highlighter", ["pymdownx.superfences", "codehilite"])
def test_builds_with_zensical(project: Project, service: ServiceDouble, highlighter: str) -> None:
    """Zensical shows each code of a text, too."""
    service.answer = generated(blocks_of(LANGUAGES))
    project.configure(
        theme="material", markdown_extensions=["contentgen", "fenced_code", highlighter]
    )
    project.page("index.md", {"type": "article", "topic": "T"})
    project.ran("mkdocs_contentgen", "zensical", "build", "--strict")
    codes = [code.get_text().strip() for code in project.soup("index.html").select("article pre")]
    assert codes == [f"code in {language}." for language in LANGUAGES]
