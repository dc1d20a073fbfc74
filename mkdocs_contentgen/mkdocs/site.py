"""Load a site for a command, with the same requests that a build would have."""

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
from ..texts.articles import Article, add_details, find_articles
from ..texts.policy import PageRequest
from .cited import with_changed_sources
from .options import ContentgenConfig
from .plugin import ContentgenPlugin

if TYPE_CHECKING:
    from ..service.writer.options import WriterOptions
    from .resolution import PageContent


@dataclass(frozen=True)
class RenderedPage:
    """A rendered page, without the theme."""

    content: str
    title: str
    toc: list[tuple[int, str, str]]
    """Level, id and plain text of each heading."""

    marked: set[str]
    """The ids of the articles with a marker."""


@dataclass(frozen=True)
class Site:
    """An MkDocs configuration with this plugin, and the files of a build before it renders them.

    `docs_dir` is the value in `mkdocs.yml`. Other plugins may have changed that of `config`.
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
    def requests(self) -> list[PageRequest]:
        """The requests of all pages."""
        return self.plugin.requests

    def approved_files(self) -> ApprovedFiles:
        """Read the approved files of this site."""
        others = self.files.src_uris.keys() - self.plugin.pages_read
        directory = self.options.approved_directory(self.config)
        return read_all(self.requests, directory, others=others)

    def articles(self, pages: Sequence[str] = ()) -> tuple[list[Article], list[str]]:
        """Return the articles of the named pages, or all, and the problems with cache and files.

        Raises ConfigurationError for a name that matches no page with a request.
        """
        files = self.approved_files()
        store = self.options.store(self.config)
        sandbox = self.options.uses_sandbox()
        articles, problems = find_articles(
            select_requests(self.requests, pages), files, store, sandbox=sandbox, all_drafts=True
        )
        articles, more = add_details(articles, store)
        articles = with_changed_sources(articles, self.files, self.config.site_url)
        warnings = [f"{path}: no page asks for this text" for path in files.unclaimed]
        return articles, [*dict.fromkeys(problems + more), *warnings]

    def render(
        self, name: str, source: str, articles: Mapping[str, PageContent] | None = None
    ) -> RenderedPage:
        """Render the page `name` with `source` as the content of its file.

        It gets `articles`, whatever its front matter asks for. Nothing is logged, and only other
        plugins may write files.
        """
        file = self.files.src_uris[name]
        page = file.page or Page(None, file, self.config)
        # Rendering changes the page, and some plugins treat its title as a template.
        state = {k: copy(v) if isinstance(v, dict | list) else v for k, v in vars(page).items()}
        path = file.abs_src_path
        file.content_string = source
        file.abs_src_path = path  # MkDocs resets it, and plugins need it to find other files
        extension = self.plugin.set_articles({name: dict(articles)} if articles else {})
        events = self.config.plugins
        arguments: dict[str, Any] = {"config": self.config, "files": self.files}
        self.config._current_page = page
        logging.disable()
        try:
            page = events.on_pre_page(page, **arguments)
            page.markdown = None
            page.read_source(self.config)
            if page.markdown is None:  # Material's blog has read its posts already
                page.markdown, _ = get_data(source)
            page.markdown = events.on_page_markdown(page.markdown, page=page, **arguments)
            page.render(self.config, self.files)
            content = events.on_page_content(page.content or "", page=page, **arguments)
            toc = [(i.level, i.id, plain_text(unescape(i.title))) for i in _flatten_toc(page.toc)]
            marked = extension.marked.get(name, set())
            title = unescape(str(page.title))
            return RenderedPage(content, title, toc, marked)
        finally:
            logging.disable(logging.NOTSET)
            self.config._current_page = None
            vars(page).clear()
            vars(page).update(state)


def _flatten_toc(items: Iterable[AnchorLink]) -> Iterator[AnchorLink]:
    for item in items:
        yield item
        yield from _flatten_toc(item.children)


@contextmanager
def load_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Load a configuration, and run the events of a build up to `on_nav`.

    With `drafts`, the site includes the pages that only `mkdocs serve` shows. The site directory is
    not touched. Raises ConfigurationError, and the exceptions of MkDocs for its own options.
    """
    with TemporaryDirectory() as site_dir:
        config = load_config(config_file, site_dir=site_dir)
        docs_dir = Path(config.docs_dir)
        plugin = _find_plugin(config)
        plugin.collect_only = True
        plugin.include_drafts = drafts
        config.plugins.on_startup(command="build", dirty=False)
        try:
            files = _load_files(config)
            asked, read = dict.fromkeys(plugin.requests), plugin.pages_read
            # mkdocs-static-i18n builds once for each language.
            languages: Any = config.plugins.get("i18n")
            first = getattr(languages, "current_language", None)
            for language in getattr(languages, "build_languages", ()):
                if language != first:
                    languages.current_language = language
                    for file in _load_files(config):
                        if file.src_uri not in files.src_uris:
                            files.append(file)
                    asked |= dict.fromkeys(plugin.requests)
                    read |= plugin.pages_read
            plugin.requests, plugin.pages_read = list(asked), read
            yield Site(config, plugin, files, docs_dir)
        finally:
            config.plugins.on_shutdown()


def load_writer_options(config_file: str | None) -> WriterOptions:
    """Return the options of the writer in a configuration, without loading the site.

    Without a `mkdocs.yml`, they come from the environment. Raises ConfigurationError, and the
    exceptions of MkDocs for its own options.
    """
    if config_file is None and not Path("mkdocs.yml").exists():
        from ..service.writer.options import load_options

        return load_options({}, Path(), allow_http=False)
    config = load_config(config_file)
    plugin = _find_plugin(config)
    return plugin.config.writer_options(config)


def _find_plugin(config: MkDocsConfig) -> ContentgenPlugin:
    for plugin in config.plugins.values():
        if isinstance(plugin, ContentgenPlugin):
            return plugin
    raise ConfigurationError(
        f"{config.config_file_path}: has no plugin 'contentgen'; add it under `plugins`"
    )


def _load_files(config: MkDocsConfig) -> Files:
    """Return the files of a build, after its plugins have added theirs."""
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
    """Return the requests of the named pages, or of all pages without names.

    A name is a path in the docs directory or from the current directory, or a glob. Raises
    ConfigurationError for a name that matches no page with a request.
    """
    selected: dict[PageRequest, None] = {}
    for name in pages:
        found = [entry for entry in asked if _matches(entry, name)]
        if not found:
            raise ConfigurationError(
                f"{name}: is not a page that asks for an article; "
                "`contentgen status` lists those that do"
            )
        selected |= dict.fromkeys(found)
    return list(selected if pages else asked)


def _matches(entry: PageRequest, name: str) -> bool:
    shown = entry.place.rpartition(":")[0]
    tail = Path(name).as_posix().removeprefix("./")
    return tail.endswith(f"/{shown}") or any(fnmatchcase(p, tail) for p in (entry.page, shown))
