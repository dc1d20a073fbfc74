"""A site as the command line sees it: exactly the requests that a build would see."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files, get_files, set_exclusions
from mkdocs.structure.nav import get_navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink
from mkdocs.utils.meta import get_data

from ..errors import ConfigurationError
from ..html.plaintext import plain_text
from ..texts.approval import ApprovedFiles, read_all
from ..texts.articles import Article, explain, find_articles
from ..texts.policy import PageRequest
from .options import ContentgenConfig
from .plugin import ContentgenPlugin

if TYPE_CHECKING:
    from .resolution import PageContent


@dataclass(frozen=True)
class RenderedPage:
    """What a build makes of a page before it is put into the theme."""

    content: str
    title: str
    toc: list[tuple[int, str, str]]
    """The headings: level, id and text without markup."""

    marked: set[str]
    """The ids of the articles that stand where a marker does."""


@dataclass(frozen=True)
class Site:
    """A MkDocs configuration, the plugin in it, and the files with which a build would begin.

    `docs_dir` is the directory that `mkdocs.yml` names; a plugin may have put another in its place.
    """

    config: MkDocsConfig
    plugin: ContentgenPlugin
    files: Files
    docs_dir: Path

    @property
    def options(self) -> ContentgenConfig:
        """The options of the plugin."""
        return self.plugin.config

    @property
    def asked(self) -> list[PageRequest]:
        """What the pages ask for."""
        return self.plugin.asked

    def approved_files(self) -> ApprovedFiles:
        """Return what the directory of approved files holds for this site."""
        asking = [(entry.page, entry.request) for entry in self.asked]
        others = self.files.src_uris.keys() - self.plugin.read
        return read_all(asking, self.options.approved_directory(self.config), others=others)

    def articles(self, pages: Sequence[str] = ()) -> tuple[list[Article], list[str]]:
        """Return the articles of the named pages, or all, and what is wrong with cache and files.

        Raises ConfigurationError for a name that fits no page with a request.
        """
        files = self.approved_files()
        store = self.options.store(self.config)
        sandbox = self.options.uses_sandbox()
        articles, problems = find_articles(
            select_requests(self.asked, pages), files, store, sandbox=sandbox, all_drafts=True
        )
        articles, more = explain(articles, store)
        unclaimed = [f"{path}: no page asks for this text" for path in files.unclaimed]
        return articles, [*dict.fromkeys(problems + more), *unclaimed]

    def render(
        self, name: str, source: str, articles: Mapping[str, PageContent] | None = None
    ) -> RenderedPage:
        """Return the page `name` as a build would have it, were `source` what its file holds.

        Its articles are `articles`, whatever it asks for. Nothing is logged or written, apart from
        what other plugins write.
        """
        file = self.files.src_uris[name]
        page = file.page or Page(None, file, self.config)
        # A page remembers what was rendered before, and some plugins read its title as a template.
        state = {k: copy(v) if isinstance(v, dict | list) else v for k, v in vars(page).items()}
        path = file.abs_src_path
        file.content_string = source
        file.abs_src_path = path  # MkDocs forgets it, and plugins find other files by it
        extension = self.plugin.show({name: dict(articles)} if articles else {})
        events = self.config.plugins
        arguments: dict[str, Any] = {"config": self.config, "files": self.files}
        self.config._current_page = page
        logging.disable()
        try:
            page = events.on_pre_page(page, **arguments)
            page.markdown = None
            page.read_source(self.config)
            if page.markdown is None:  # Material's blog reads a post when it finds it
                page.markdown, _ = get_data(source)
            page.markdown = events.on_page_markdown(page.markdown, page=page, **arguments)
            page.render(self.config, self.files)
            content = events.on_page_content(page.content or "", page=page, **arguments)
            toc = [(i.level, i.id, plain_text(unescape(i.title))) for i in _all_items(page.toc)]
            marked = extension.marked.get(name, set())
            title = unescape(str(page.title))
            return RenderedPage(content, title, toc, marked)
        finally:
            logging.disable(logging.NOTSET)
            self.config._current_page = None
            vars(page).clear()
            vars(page).update(state)


def _all_items(items: Iterable[AnchorLink]) -> Iterator[AnchorLink]:
    for item in items:
        yield item
        yield from _all_items(item.children)


@contextmanager
def load_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Read a configuration and let its plugins make the pages, as `mkdocs build` does.

    With `drafts`, pages count that only `mkdocs serve` shows. Nothing is rendered yet, and the site
    directory is not touched. Raises ConfigurationError, and what MkDocs raises for its own.
    """
    with TemporaryDirectory() as nowhere:
        config = load_config(config_file, site_dir=nowhere)
        docs_dir = Path(config.docs_dir)
        plugin = next((p for p in config.plugins.values() if isinstance(p, ContentgenPlugin)), None)
        if plugin is None:
            raise ConfigurationError(
                f"{config.config_file_path}: has no plugin 'contentgen'; add it under `plugins`"
            )
        plugin.only_reads = True
        plugin.reads_drafts = drafts
        config.plugins.on_startup(command="build", dirty=False)
        try:
            files = _read_pages(config)
            asked, read = dict.fromkeys(plugin.asked), plugin.read
            # What builds once for each language is mkdocs-static-i18n.
            languages: Any = config.plugins.get("i18n")
            first = getattr(languages, "current_language", None)
            for language in getattr(languages, "build_languages", ()):
                if language != first:
                    languages.current_language = language
                    for file in _read_pages(config):
                        if file.src_uri not in files.src_uris:
                            files.append(file)
                    asked |= dict.fromkeys(plugin.asked)
                    read |= plugin.read
            plugin.asked, plugin.read = list(asked), read
            yield Site(config, plugin, files, docs_dir)
        finally:
            config.plugins.on_shutdown()


def _read_pages(config: MkDocsConfig) -> Files:
    """Let the plugins of a site make the pages of a build; return its files."""
    config = config.plugins.on_config(config)
    config.plugins.on_pre_build(config=config)
    files = get_files(config)
    files.add_files_from_theme(config.theme.get_env(), config)
    files = config.plugins.on_files(files, config=config)
    set_exclusions(files, config)
    navigation = get_navigation(files, config)
    config.plugins.on_nav(navigation, config=config, files=files)
    return files


def select_requests(asked: Sequence[PageRequest], pages: Sequence[str]) -> list[PageRequest]:
    """Return what the named pages ask for: paths from where one stands, in the docs, or globs.

    Without names, it is what all pages ask for. Raises ConfigurationError for a name that fits no
    page with a request.
    """
    selected: dict[PageRequest, None] = {}
    for name in pages:
        found = [entry for entry in asked if _fits(entry, name)]
        if not found:
            raise ConfigurationError(
                f"{name}: is not a page that asks for an article; "
                "`contentgen status` lists those that do"
            )
        selected |= dict.fromkeys(found)
    return list(selected if pages else asked)


def _fits(entry: PageRequest, name: str) -> bool:
    shown = entry.place.rpartition(":")[0]
    tail = Path(name).as_posix().removeprefix("./")
    return tail.endswith(f"/{shown}") or any(fnmatchcase(p, tail) for p in (entry.page, shown))
