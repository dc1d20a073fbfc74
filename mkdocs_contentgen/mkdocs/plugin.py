"""The MkDocs plugin: which event calls what."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection
from importlib import resources
from typing import TYPE_CHECKING, Literal

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from ..display import visible
from ..errors import ContentgenError
from .extension import GENERATED_END, ArticleExtension, leading_article
from .internals import set_title_before_rendering
from .options import ContentgenConfig
from .pages import place_of, read_requests, unshown_requests

if TYPE_CHECKING:
    from mkdocs.livereload import LiveReloadServer

    from ..html.presentation import Facts
    from .background import Background
    from .resolution import PageContent

STYLESHEET = "assets/stylesheets/contentgen.css"

log = get_plugin_logger("contentgen")


def _make_visible(record: logging.LogRecord) -> bool:
    """Let a message from a page, a cache or an approved file do nothing but be read."""
    record.msg, record.args = visible(record.getMessage()), ()
    return True


log.logger.addFilter(_make_visible)


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

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Tell the server's background work that a build begins."""
        if self._background:
            self._background.build_started()

    def on_build_error(self, *, error: Exception) -> None:
        """Tell the server's background work that a build ended early."""
        if self._background:
            self._background.build_ended(failed=True)

    def on_config(self, config: MkDocsConfig) -> None:
        """Check what MkDocs cannot check, and register the extension."""
        if self.config.defaults:
            from ..requests import check_defaults

            _fail_on([str(problem) for problem in check_defaults(self.config.defaults)])
        self._articles: dict[str, dict[str, PageContent]] = {}
        self._filled_in: dict[str, dict[str, str]] = {}
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
        read = {file.src_uri for file in pages}
        reading = read_requests(pages, config, self.config.defaults)
        for warning in reading.warnings:
            log.warning(warning)
        if self.only_reads:
            _fail_on([problem.message for problem in reading.problems])
            self.asked = reading.requests
            self.read = read
        if self.only_reads or not (reading.requests or reading.problems):
            return
        problems = reading.problems + unshown_requests(reading.requests, config)
        # Such a build does not see all pages.
        others = None if self._dirty or "i18n" in config.plugins else files.src_uris.keys() - read
        # What a site without requests does not need is not imported.
        from .resolution import resolve

        try:
            resolution = resolve(
                reading.requests,
                problems,
                config,
                self.config,
                budget=self.config.max_requests - self._sent,
                background=self._background,
                log=log.info,
                debug=log.debug if log.isEnabledFor(logging.DEBUG) else None,
                others=others,
            )
        except ContentgenError as error:
            raise PluginError(visible(f"contentgen: {error}")) from error
        self._sent += resolution.sent
        for warning in resolution.warnings:
            log.warning(warning)
        _fail_on(resolution.failures)
        for detail in resolution.details:
            log.debug(detail)
        log.info(resolution.summary)
        self.show(resolution.articles)
        unfinished = resolution.unfinished
        self._unfinished = [file.abs_dest_path for file in pages if file.src_uri in unfinished]

    # Before Material's blog, which fails a post without an end of its excerpt if it requires one.
    def _end_excerpt(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Give a post that is an article an end of its excerpt, which is then behind its lead."""
        articles = self._articles.get(page.file.src_uri)
        if not articles or not (blog := config.plugins.get("material/blog")):
            return
        if blog.config["post_excerpt"] == "required" and leading_article(markdown, articles):
            separator = str(blog.config["post_excerpt_separator"])
            if separator not in markdown:
                page.markdown = f"{markdown}\n\n{GENERATED_END}{separator}\n"

    # After the plugins that read a title as a template, and before those that draw cards of it.
    @event_priority(-90)
    def _fill_in_metadata(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str | None:
        """Say what the author did not say of the page, and give Markdown something to convert.

        Markdown skips a page that has no text of its own. And social cards are drawn, feeds and
        tags made, of what a page says of itself, some of them from here on.
        """
        articles = self._articles.get(page.file.src_uri)
        if not articles:
            return None
        name = leading_article(markdown, articles)
        if name and (facts := articles[name].facts()):
            self._fill_in(page, facts)
            # Until MkDocs finds it out itself, when it renders the page.
            set_title_before_rendering(page, facts.title)
        return None if markdown.strip() else f"<!-- contentgen {next(iter(articles))} -->"

    on_page_markdown = CombinedEvent(_end_excerpt, _fill_in_metadata)

    def show(self, articles: dict[str, dict[str, PageContent]]) -> ArticleExtension:
        """Let the pages that are rendered next have `articles`; return what places them."""
        self._extension.articles = self._articles = articles
        return self._extension

    def _fill_in(self, page: Page, facts: Facts | None) -> None:
        """Take over what the article that is the page says of it, and nothing else."""
        said = {"description": facts.lead, "date": facts.published} if facts else {}
        for key, before in self._filled_in.pop(page.file.src_uri, {}).items():
            if page.meta.get(key) == before:
                del page.meta[key]
        new = {key: value for key, value in said.items() if value and key not in page.meta}
        page.meta.update(new)
        self._filled_in[page.file.src_uri] = new

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
        """Say what the author should know of the page that was just rendered."""
        uri = page.file.src_uri
        if uri in self._articles:
            # Only now it is certain what begins the page.
            leading = self._extension.leading.get(uri, "")
            self._fill_in(page, self._extension.facts.get(uri, {}).get(leading))
        for marker, problem in self._extension.problems.get(page.file.src_uri, ()):
            log.warning(f"{place_of(page.file, config, marker)}: {problem}")

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Add the style sheet to a site that links it."""
        if self._articles and self._extension.stylesheet:
            package = resources.files("mkdocs_contentgen.html")
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
        from ..html.disclosure import json_ld_script

        articles = self._articles[page.file.src_uri]
        if "ai-disclosure=" not in output:
            place = place_of(page.file, config, "contentgen")
            log.warning(
                f"{place}: the template of the page does not show its text, nor the article"
            )
        described = [
            provenance.json_ld(told.title or str(page.title), told.published)
            for name, told in facts.items()
            if (provenance := articles[name].provenance)
        ]
        return output.replace("</head>", f"{json_ld_script(described)}</head>", 1)

    # After the plugins for translations, which build the other languages here.
    @event_priority(-110)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Backdate incomplete pages, so that `--dirty` builds them again."""
        if self._background:
            self._background.build_ended()
        for path in self._unfinished if self._dirty else ():
            os.utime(path, (0, 0))


def _fail_on(problems: Collection[str]) -> None:
    """End the build if there are problems, with a line for each."""
    for problem in problems:
        log.error(problem)
    if problems:
        number = "1 problem" if len(problems) == 1 else f"{len(problems)} problems, each"
        raise PluginError(f"contentgen: {number} named above")
