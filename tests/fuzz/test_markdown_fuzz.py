"""No text of an article is syntax in the Markdown of its page, whatever it says."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import tostring

import yaml
from bs4 import BeautifulSoup
from drafts import request
from hypothesis import given
from hypothesis import strategies as st
from markdown import Markdown
from mkdocs.config import load_config
from mkdocs.structure.files import get_files
from mkdocs.utils.meta import get_data
from test_fuzz import few, fuzz

from mkdocs_contentgen.errors import ApprovalError, UnsafeHTMLError
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.mkdocs.plugin import ContentgenPlugin
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.review.ejection import eject_articles
from mkdocs_contentgen.site.site import Site
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.articles import Article
from mkdocs_contentgen.texts.lookup import Outcome

EXTENSIONS = [
    *"arithmatex betterem blocks.admonition blocks.html caret critic details emoji".split(),
    *"escapeall extra fancylists highlight inlinehilite keys mark progressbar snippets".split(),
    *"superfences tabbed tasklist tilde".split(),
]
OTHERS = "admonition attr_list def_list footnotes md_in_html nl2br tables toc wikilinks".split()
SITES = {
    "all": [*(f"pymdownx.{name}" for name in EXTENSIONS), *OTHERS],
    "few": [],
    "usual": ["admonition", "sane_lists", "smarty", "pymdownx.superfences"],
}
"""The extensions of sites besides those that every site has."""

PIECES = [
    *"{{ {% {: --8<-- /// !!! ??? === [^1] *[A]: ]( ![ [ ] ( ) < <!-- --> &amp; &#60;".split(),
    *"` ``` ~~~ * ** _ __ == ^ ~~ ~ $ $$ \\ \\( | # - + 1. i) > : ::: ++a++ :smile:".split(),
    *"[TOC] [[W]] {++ {>> @u #1 http://a.example --- ' \" % ! ? } A a word 0 .".split(),
    *("<b>", "\u2028", "\xa0", "\t", " ", "  ", "/// html | script\n", '"x" '),
    *(
        "<img src=x onerror=alert(1)>",
        "[a](javascript:x)",
        "![i](https://x.example/)",
        "``",
        "    a",
    ),
]
LINES = """\
<code>{}</code>
<code>{}</code>
<samp>{}</samp>
<code>``</code>
<code></code>
<b>{}</b>
<i>{}</i>
<i></i>
<a href="https://a.example/">{}</a>
<kbd>{}</kbd>
<mark>{}</mark>
<q>{}</q>
<span>{}</span>
<abbr title="x">{}</abbr>
<img src="https://img.example/a.png" alt="x" title="y">
<br>
""".splitlines()
GROUPS = """\
<p>{}</p>
<p></p>
<h2>{}</h2>
<hr>
<ul>{}</ul>
<ul><li>{}</li></ul>
<ul><li>{}</li><li>x</li></ul>
<ol>{}</ol>
<ol start="3">{}</ol>
<ol><li>x</li><li>{}</li></ol>
<li>{}</li>
<blockquote>{}</blockquote>
<pre>{}</pre>
<pre><code>{}</code></pre>
<pre><code class="language-python">{}</code></pre>
<div>{}</div>
<div class="pro-tip">{}</div>
<section>{}</section>
<details><summary>{}</summary>x</details>
<dl><dt>{}</dt><dd>x</dd></dl>
<dl><dd>{}</dd></dl>
<figure>{}</figure>
<figcaption>{}</figcaption>
<table><caption>{}</caption><tr><td>x</td></tr></table>
<table><tr><td>{}</td><td>x</td></tr></table>
<table><thead><tr><th>{}</th></tr></thead><tbody><tr><td>y</td></tr></tbody></table>
""".splitlines()
ATTRIBUTES = [
    "<p><a href='https://a.example/{}'>x</a></p>",
    "<p><abbr title='{}'>x</abbr><img src='https://img.example/a.png' alt='{}' title='{}'></p>",
]
OF_MARKDOWN = set("p li div code pre span thead tbody th td body blockquote".split())
SAME = {"b": "strong", "i": "em", "dt": "strong", "summary": "strong"}
SAME |= {f"h{level}": "heading" for level in range(1, 7)}
TYPOGRAPHIC = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})
MARKER = "<!-- contentgen -->"
PAGES = [
    "",
    MARKER,
    f"# Own\n\nWords.\n\n{MARKER}\n\nMore.\n",
    f"# Own\n\n- a\n\n{MARKER}\n\n- b\n",
    f"# Own\n\n<div markdown>\n\n{MARKER}\n\n</div>\n",
    f"# Own\n\n> a\n\n{MARKER}\n\n    b\n",
]

texts = st.lists(st.sampled_from([*PIECES, " "]), min_size=1, max_size=6).map("".join)
words = texts.map(escape)


def within(shapes: list[str], content: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return strategies for shapes with some content in them."""
    several = st.lists(content, max_size=3).map("".join)
    return st.builds(
        lambda shape, inner: shape.replace("{}", inner), st.sampled_from(shapes), several
    )


lines = st.recursive(words, lambda content: within(LINES, content), max_leaves=6)
blocks = st.recursive(
    lines | within(GROUPS, lines),
    lambda content: within(GROUPS, content) | within([*LINES, *GROUPS], content),
    max_leaves=8,
) | within(ATTRIBUTES, words)


def shown(html: str) -> str:
    """Return the text of HTML without white space."""
    soup = BeautifulSoup(html, "html5lib")
    for tag in soup.select(".admonition-title"):
        tag.decompose()
    text = "".join(soup.get_text().split())
    return text.translate(TYPOGRAPHIC)


def elements(html: str) -> set[str]:
    """Return the kinds of the elements of HTML, and the addresses and events that they have."""
    found = set()
    for tag in BeautifulSoup(html, "html5lib").find_all(True):
        found.add(SAME.get(tag.name, tag.name))
        for name, value in tag.attrs.items():
            address = unquote(str(value))
            text = tag.get_text()
            is_automatic = tag.name == "a" and text != "" and address.endswith(text)
            if name in ("href", "src") and not is_automatic:
                found.add(address)
            elif name.startswith("on"):
                found.add(name)
    return found


def load(directory: Path, extensions: list[str]) -> tuple[Site, Markdown]:
    """Return a site with one page and these extensions, and what reads its Markdown."""
    (directory / "docs").mkdir(parents=True)
    page = directory / "docs/page.md"
    page.touch()
    configuration = {
        "site_name": "Site",
        "plugins": [{"contentgen": {"image_hosts": ["img.example"]}}],
        "markdown_extensions": extensions,
    }
    file = directory / "mkdocs.yml"
    file.write_text(yaml.safe_dump(configuration))
    config = load_config(str(file))
    plugin = config.plugins["contentgen"]
    assert isinstance(plugin, ContentgenPlugin)
    files = get_files(config)
    site = Site(config=config, options=plugin.config, files=files.src_uris, docs_dir=page.parent)
    reader = Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)
    return site, reader


def article(html: str, directory: Path) -> Article:
    """Return the article of the page, with a draft."""
    text = Text(html, datetime.now(UTC), {})
    return Article(
        PageRequest(request("blog"), "page.md"),
        key="0",
        directory=directory,
        draft_outcome=Outcome(text=text),
    )


def test_no_text_becomes_syntax(tmp_path: Path) -> None:
    """Ejected articles show the same text in the same elements, and the author's text stays."""
    sites = {name: load(tmp_path / name, extensions) for name, extensions in SITES.items()}
    counted: Counter[str] = Counter()

    @few
    @given(
        st.sampled_from(list(SITES)),
        st.sampled_from(PAGES),
        st.lists(blocks, min_size=1, max_size=3),
    )
    def check(name: str, page: str, parts: list[str]) -> None:
        site, reader = sites[name]
        html = f"<article>{''.join(parts)}</article>"
        try:
            clean = tostring(parse_article(html, ["img.example"]), "unicode", "html")
        except UnsafeHTMLError:
            return
        file = site.source_file("page.md")
        file.write_text(f"---\ncontentgen:\n  type: blog\n---\n{page}", encoding="utf-8")
        counted["documents"] += 1
        if counted["documents"] % 1000 == 0:
            print(dict(counted))
        try:
            eject_articles(site, [article(html, tmp_path)])
        except ApprovalError:
            counted["refused"] += 1
            assert "<div" in page
            return
        after = reader.reset().convert(get_data(file.read_text("utf-8"))[0])
        own = reader.reset().convert(
            page.replace(MARKER, "PLACE") if MARKER in page else f"{page}\n\nPLACE"
        )
        assert shown(after) == shown(own).replace("PLACE", shown(clean))
        assert elements(after) <= elements(own) | elements(clean) | OF_MARKDOWN

    fuzz(check)
