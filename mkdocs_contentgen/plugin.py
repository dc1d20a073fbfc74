"""The MkDocs plugin: which event calls what."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Collection
from importlib import resources
from typing import TYPE_CHECKING, Literal

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_markdown_title

from .config import ContentgenConfig
from .errors import ContentgenError
from .extension import ArticleExtension
from .pages import place_of, read_requests

if TYPE_CHECKING:
    from mkdocs.livereload import LiveReloadServer

    from .background import Background
    from .resolution import PageArticle

STYLESHEET = "assets/stylesheets/contentgen.css"

log = get_plugin_logger("contentgen")


class ContentgenPlugin(BasePlugin[ContentgenConfig]):
    """Puts generated articles into the pages that ask for them."""

    only_reads = False
    """Set by the command line, which wants to know what is asked for, and no more."""

    reads_drafts = False
    """Whether pages count that only a server shows."""

    _sent = 0
    """Requests of earlier builds in this process: static-i18n makes one for each language."""

    _dirty = False
    _background: Background | None = None

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Prepare for a server, which must not wait for the service, nor die of it."""
        self._dirty = dirty
        if command == "serve":
            from .background import Background, exit_on_sigterm

            self.reads_drafts = True
            self._background = Background(self.config.max_requests)
            exit_on_sigterm()

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[..., None]
    ) -> None:
        """Rebuild when a text has arrived."""
        if self._background:
            server.watch(str(self._background.news))

    def on_shutdown(self) -> None:
        """Wait for the requests in flight, which may have been paid for."""
        if self._background:
            self._background.stop(log.info)

    def on_config(self, config: MkDocsConfig) -> None:
        """Check what MkDocs cannot check, and register the extension."""
        if self.config.defaults:
            from .request import check_defaults

            _fail_on([str(problem) for problem in check_defaults(self.config.defaults)])
        self._articles: dict[str, dict[str, PageArticle]] = {}
        self._extension = ArticleExtension()
        self._extension.stylesheet = STYLESHEET if self.config.styles != "strip" else ""
        # MkDocs types the list as one of names, and hands it to Markdown, which takes both.
        config.markdown_extensions.append(self._extension)  # type: ignore[arg-type]

    # The last moment before MkDocs renders the first page, and after all plugins that make pages.
    @event_priority(-100)
    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
        """Get all texts that the pages of this build ask for."""
        self._unfinished: list[str] = []
        built = InclusionLevel.is_in_serve if self.reads_drafts else InclusionLevel.is_included
        pages = files.documentation_pages(inclusion=built)
        if self._dirty:
            pages = [file for file in pages if file.is_modified()]
        asked, problems = read_requests(pages, config, self.config.defaults)
        if self.only_reads:
            _fail_on([problem.message for problem in problems])
            self.asked = asked
        if self.only_reads or not (asked or problems):
            return
        # What a site without requests does not need is not imported.
        from .resolution import resolve

        try:
            resolution = resolve(
                asked,
                problems,
                config,
                self.config,
                budget=self.config.max_requests - self._sent,
                background=self._background,
                log=log.info,
            )
        except ContentgenError as error:
            raise PluginError(f"contentgen: {error}") from error
        self._sent += resolution.sent
        for warning in resolution.warnings:
            log.warning(warning)
        _fail_on(resolution.failures)
        log.info(resolution.summary)
        self._extension.articles = self._articles = resolution.articles
        unfinished = resolution.unfinished
        self._unfinished = [file.abs_dest_path for file in pages if file.src_uri in unfinished]

    # After the plugins that read a title as a template, and before those that draw cards of it.
    @event_priority(-90)
    def on_page_markdown(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str | None:
        """Say what the author did not say of the page, and give Markdown something to convert.

        Markdown skips a page that has no text of its own. And social cards are drawn, feeds and
        tags made, of what a page says of itself, some of them from here on.
        """
        articles = self._articles.get(page.file.src_uri)
        if not articles:
            return None
        told = [facts for article in articles.values() if (facts := article.facts())]
        for facts in told:
            if facts.lead:
                page.meta.setdefault("description", facts.lead)
            if facts.published:
                page.meta.setdefault("date", facts.published)
        if told and get_markdown_title(markdown) is None:
            # Until MkDocs finds it out itself, when it renders the page.
            page._title_from_render = html.escape(told[0].title, quote=False) or None
        return None if markdown.strip() else f"<!-- contentgen {next(iter(articles))} -->"

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
        """Say what the author should know of the page that was just rendered."""
        for marker, problem in self._extension.problems.get(page.file.src_uri, ()):
            log.warning(f"{place_of(page.file, config, marker)}: {problem}")

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Add the style sheet to a site that links it."""
        if self._articles and self._extension.stylesheet:
            package = resources.files("mkdocs_contentgen")
            content = package.joinpath("containment.css").read_text("utf-8")
            if self.config.styles == "adapt":
                content += "\n" + package.joinpath("contentgen.css").read_text("utf-8")
            files.append(File.generated(config, STYLESHEET, content=content))

    # Before the plugins that change the finished page, such as those that minify it.
    @event_priority(50)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str | None:
        """Tell machines what the page tells its readers of its articles."""
        facts = self._extension.facts.get(page.file.src_uri)
        if not facts:
            return None
        from .disclosure import json_ld_script

        articles = self._articles[page.file.src_uri]
        described = [
            provenance.json_ld(told.title or str(page.title), told.published)
            for name, told in facts.items()
            if (provenance := articles[name].provenance)
        ]
        return output.replace("</head>", f"{json_ld_script(described)}</head>", 1)

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Let the next build with `--dirty` make the pages anew that lack a text."""
        for path in self._unfinished if self._dirty else ():
            os.utime(path, (0, 0))


def _fail_on(problems: Collection[str]) -> None:
    """End the build if there are problems, with a line for each."""
    for problem in problems:
        log.error(problem)
    if problems:
        raise PluginError(f"contentgen: {len(problems)} problem(s), each named above")
