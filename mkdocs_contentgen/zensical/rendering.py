"""Insert the texts of a site into its pages, in the process of Zensical."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import unquote
from weakref import WeakSet
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url
from mkdocs.utils.meta import get_data

from ..site.anchors import SiteIds
from ..site.build import page_json_ld
from ..site.content import PageContent
from ..site.extension import ArticleExtension
from ..site.front_matter import NAME, language_tag
from ..site.rendered_page import RenderedPage
from ..site.site import MarkdownExtensions, Site
from ..site.titles import add_metadata
from .configuration import load_zensical_configuration
from .page_texts import SiteTexts, load_texts, use_texts


class _Page(Protocol):
    """The page that Zensical renders. Zensical reads `meta` when the page is rendered."""

    path: str
    meta: dict[str, object]
    title: str | None
    title_override: str | None


class _PageContext(Protocol):
    """The preprocessor of Zensical that holds the page and the configuration."""

    page: _Page
    config: dict[str, Any]


_prepared: WeakSet[_Page] = WeakSet()
"""The pages whose processors are registered. All further Markdown is within such a page."""


def register_processors(md: Markdown, preprocessor: Preprocessor) -> None:
    """Register the tree processors for the page that Zensical renders with `md`.

    `preprocessor` is Zensical's, which holds the page. Other Markdown within that page, such as a
    docstring, gets no tree processors. Raises PageError.
    """
    context = cast(_PageContext, preprocessor)
    page = context.page
    if page in _prepared:
        return
    _prepared.add(page)
    texts = load_texts(context.config)
    file = texts.file(page.path)
    contents = texts.contents(page.path) if NAME in page.meta else {}

    rendered_pages: dict[str, RenderedPage] = {}
    group = texts.group_of(page.path) if contents else None
    folders = context.config.get("theme_dirs") or ()
    if group:
        from .languages import KEY, metadata_of_languages

        site_url = context.config.get("site_url") or ""
        page.meta[KEY] = metadata_of_languages(group, page.path, texts.file, site_url, folders)
    elif "lang" in page.meta:
        from .languages import KEY, metadata_of_language

        page.meta[KEY] = metadata_of_language(language_tag(page.meta["lang"]), folders)

    def finish(md: Markdown, root: Element, title: str) -> None:
        """Set the metadata of the page, add the JSON-LD, and report problems with its markers."""
        if title and page.title_override is None:  # the navigation gives the page no title
            page.meta.setdefault("title", title)
        rendered = rendered_pages[page.path]
        add_metadata(page.meta, rendered.leading, has_feed=texts.has_feed)
        if rendered.metadata:
            script = page_json_ld(contents, rendered.metadata, unescape(str(page.title or "")))
            root.append(_raw(md, script))
        texts.report(page.path, rendered.problems)

    extension = ArticleExtension(
        find_page=lambda md: file,
        finish=finish,
        articles={page.path: contents},
        pages=texts.addresses,
        rendered=rendered_pages,
    )
    if contents:
        render_other = partial(_render_other, context)
        extension.find_id = SiteIds(texts.file, render_other, texts.known_ids).find
    if texts.stylesheet:
        extension.styles = lambda md, _: _raw(md, f"<style>\n{texts.stylesheet}</style>")
    extension.extendMarkdown(md)
    if contents:
        _convert_empty_pages_too(md)


def _convert_empty_pages_too(md: Markdown) -> None:
    """Let `md` convert a page without text, too: Python-Markdown runs no extensions for one."""
    convert = md.convert

    def convert_with_marker(source: str) -> str:
        return convert(source if source.strip() else f"<!-- {NAME} -->")

    md.convert = convert_with_marker  # type: ignore[method-assign]  # only of this page


def _render_other(context: _PageContext, file: File) -> str:
    """Return the HTML that Zensical makes of another page, without its articles.

    It is as in `zensical.markdown.render`, which would leave its page as the current one.
    """
    from zensical.extensions.autorefs import set_autorefs_page
    from zensical.extensions.context import ContextExtension, Page

    markdown, meta = get_data(file.content_string)
    page = Page(file.url, file.src_uri, meta=meta)
    extensions = []
    for extension in context.config["markdown_extensions"]:
        if isinstance(extension, ContextExtension):
            extensions.append(ContextExtension(page=page, config=context.config))
        elif extension != NAME:
            extensions.append(extension)
    set_autorefs_page(page)
    try:
        md = Markdown(extensions=extensions, extension_configs=context.config["mdx_configs"])
        return md.convert(markdown)
    finally:
        set_autorefs_page(cast(Page, context.page))


def _raw(md: Markdown, html: str) -> Element:
    """Return an element that becomes a block of raw HTML."""
    paragraph = Element("p")
    paragraph.text = md.htmlStash.store(html)
    return paragraph


def read_extensions(site: Site) -> MarkdownExtensions:
    """Return the extensions of a site without those of Zensical, which are its plugins."""
    from zensical.config import parse_config

    config = parse_config(str(site.config.config_file_path))
    names = []
    for name in config["markdown_extensions"]:
        if isinstance(name, str) and name != NAME and not name.startswith("zensical."):
            names.append(name)
    return MarkdownExtensions(names, config["mdx_configs"])


def render_with_zensical(site: Site, page: str, articles: Mapping[str, PageContent]) -> str:
    """Return the HTML that Zensical makes of the Markdown of a page with these articles."""
    from zensical.config import parse_config
    from zensical.markdown.render import render

    path = Path(site.config.config_file_path)
    config = parse_config(str(path))
    url = site.files[page].url
    given = {page: dict(articles)}
    use_texts(config, SiteTexts(load_zensical_configuration(path), serves=True, given=given))
    markdown, meta = get_data(site.files[page].content_string)
    rendered = render(markdown, page, url, json.dumps(meta, default=str))

    def link(match: re.Match[str]) -> str:
        """Link to the address of a page, as Zensical does outside of Python."""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(match[1])))
        found = site.files.get(target)
        if found is None:
            return match[0]
        return f'href="{get_relative_url(found.url, url)}'

    return re.sub(r'(?<=\s)href="([^":#?]+\.md)(?=["#?])', link, str(rendered["content"]))
