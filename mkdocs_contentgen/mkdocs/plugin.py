"""The MkDocs plugin, with its event handlers."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element

from jinja2 import Environment
from markdown import Markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from mkdocs.utils.templates import TemplateContext

from ..display import escape_controls, paths_from_here
from ..errors import ContentgenError, UnsafeHTMLError
from ..site.extension import ArticleExtension
from ..site.front_matter import place_of, read_requests, unread_metadata_problems
from ..site.options import ContentgenConfig, refuse_extension_options
from ..site.rendered_page import RenderedPage
from ..site.site import Site
from ..site.stylesheet import read_stylesheet
from ..site.titles import add_metadata, leading_article
from .internals import (
    correct_links,
    file_of_page,
    folder_metadata,
    index_articles_last,
    render_page,
    set_title_before_rendering,
    set_title_found,
)

if TYPE_CHECKING:
    from mkdocs.livereload import LiveReloadServer

    from ..site.anchors import SiteIds
    from ..site.background import Background
    from ..site.build import Resolution
    from ..site.content import PageContent
    from ..site.progress import LineReporter
    from ..texts.obtain import TextSource
    from ..writer.models.usage import Spending
    from .languages import SiteLanguages

STYLESHEET = "assets/stylesheets/contentgen.css"

_MARKER = "<!-- contentgen -->"
"""What the Markdown of a page without a text of the author is."""

_ARTICLE = re.compile(r"<article\b[^<>]*\bai-disclosure=")
"""The start of a generated article in the HTML of a page."""

log = get_plugin_logger("contentgen")


def _escape_record(record: logging.LogRecord) -> bool:
    record.msg = escape_controls(paths_from_here(record.getMessage()))
    record.args = ()
    return True


log.logger.addFilter(_escape_record)


class ContentgenPlugin(BasePlugin[ContentgenConfig]):
    """Inserts generated articles into the pages that ask for them."""

    collect_only = False
    """Whether to collect the requests of all pages, as commands do, without getting the texts."""

    include_drafts = False
    """Whether to read the pages that only `mkdocs serve` shows."""

    _sent = 0
    """Requests of this run so far: mkdocs-static-i18n builds once per language."""

    _dirty = False
    _serves = False
    _background: Background | None = None
    _spending: Spending | None = None
    _ids: SiteIds | None = None
    """The ids of headings, for commands."""

    _topics: Mapping[str, str]
    """The topic of the first text of each page."""

    _first_line = ""
    """The line that was added to the Markdown of the page that is being prepared."""

    _languages: SiteLanguages | None = None
    """The languages of this build, if its pages have translations."""

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Prepare background generation for `mkdocs serve`."""
        self._dirty = dirty
        # A program can run several builds.
        self._sent = 0
        self._spending = None
        if command == "serve":
            from ..site.signals import exit_on_sigterm

            self.include_drafts = True
            self._serves = True
            exit_on_sigterm()

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[..., None]
    ) -> None:
        """Watch the file that triggers a rebuild when texts have arrived, and approved files."""
        if self._background:
            server.watch(str(self._background.trigger_file))
        if self._extension.articles:
            approved = Site(config=config, options=self.config).approved_directory()
            with suppress(OSError):  # without the directory, the first approval is not noticed
                approved.mkdir(parents=True, exist_ok=True)
                server.watch(str(approved))

    def on_shutdown(self) -> None:
        """Wait for the requests in flight, which may have been paid for."""
        if self._background:
            self._background.stop()

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Tell the background generation that a build starts."""
        if self._background:
            self._background.build_started()

    def on_build_error(self, *, error: Exception) -> None:
        """Tell the background generation that a build failed."""
        if self._background:
            self._background.build_ended(failed=True)

    def _make_reporter(self) -> LineReporter:
        """Return what logs the lines of a build; a server has no room for a bar."""
        from ..site.progress import LineReporter

        debug = log.debug if log.isEnabledFor(logging.DEBUG) else None
        return LineReporter(log.info, debug, always_lines=self._serves)

    def on_config(self, config: MkDocsConfig) -> None:
        """Check the options, and register the Markdown extension. Start background generation."""
        try:
            refuse_extension_options(config.mdx_configs, config.config_file_path)
            Site(config=config, options=self.config).check_directories()
        except ContentgenError as error:
            raise PluginError(escape_controls(paths_from_here(f"contentgen: {error}"))) from error
        if self._serves and self._background is None:
            from ..site.background import Background

            self._background = Background(self.config.max_requests, self._make_reporter())
        self._ids = None  # they depend on the configuration
        self._extension = ArticleExtension(file_of_page, set_title_found)
        if self.config.styles != "strip":
            self._extension.styles = _link_stylesheet
        # The type says names only, but Markdown accepts objects too.
        config.markdown_extensions.append(self._extension)  # type: ignore[arg-type]

    # After the plugins that create pages, and before MkDocs renders the first page.
    @event_priority(-100)
    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation | None:
        """Collect the requests of all pages of this build, and get their texts.

        Return the navigation without translations, which have one in their language.
        """
        self._languages = None
        site = self._read_site(config, files)
        self._topics = {asked.page: asked.request.topic for asked in reversed(site.requests)}
        if self.collect_only:
            self.site = site
            return None
        for warning in site.warnings:
            log.warning(warning)
        if not (site.requests or site.problems):
            for warning in site.orphan_warnings():
                log.warning(warning)
            return None
        try:
            resolution = self._get_texts(site)
        except ContentgenError as error:
            raise PluginError(escape_controls(paths_from_here(f"contentgen: {error}"))) from error
        self._sent += resolution.sent
        for warning in resolution.warnings:
            log.warning(warning)
        _raise_problems(resolution.failures)
        # mkdocs-static-i18n builds once for each language.
        language = getattr(config.plugins.get("i18n"), "current_language", None)
        log.info(f"{language}: {resolution.summary}" if language else resolution.summary)
        self._extension.use(resolution.articles)
        index_articles_last(config.plugins)
        self._extension.pages = site.addresses()
        if self._dirty:
            for page_request in site.requests:  # whose text may have changed since it was built
                with suppress(FileNotFoundError):
                    os.utime(files.src_uris[page_request.page].abs_dest_path, (0, 0))
        # mkdocs-static-i18n does for its languages what SiteLanguages does.
        if "i18n" in config.plugins or not any(map(attrgetter("original"), site.requests)):
            return None
        return self._find_languages(site, nav, files)

    def _find_languages(self, site: Site, nav: Navigation, files: Files) -> Navigation:
        """Find the languages of the pages, and return the navigation of the originals."""
        from ..site.page_groups import find_groups
        from .languages import SiteLanguages

        groups = find_groups(site.requests)
        self._languages = SiteLanguages(groups, nav, site.config, files)
        if self._languages.warning:
            log.warning(self._languages.warning)
        return self._languages.navigation

    def _read_site(self, config: MkDocsConfig, files: Files) -> Site:
        """Return the site of this build, with the requests of its pages."""
        built = InclusionLevel.is_included
        if self.include_drafts:
            built = InclusionLevel.is_in_serve
        pages = files.documentation_pages(inclusion=built)
        unread = set(files.src_uris)
        for page in pages:
            unread.discard(page.src_uri)
        site = Site(
            config=config,
            options=self.config,
            theme=config.theme,
            pages=files.documentation_pages(),
            files=files.src_uris,
            unread_files=unread,
            is_partial="i18n" in config.plugins,  # which builds once for each language
        )
        site = read_requests(site, pages)
        shared = unread_metadata_problems(site, folder_metadata(config.plugins, files))
        return replace(site, warnings=[*site.warnings, *shared])

    def _get_texts(self, site: Site) -> Resolution:
        """Return the articles of a site: a server requests missing ones in the background.

        Raises ContentgenError.
        """
        from ..site.build import Build, resolve

        policy = self.config.policy()
        policy = replace(
            policy,
            max_requests=self.config.max_requests - self._sent,
            warn_only=policy.warn_only or self._background is not None,
        )
        build = Build(site, policy, self._make_reporter(), self._spending)
        self._spending = build.spending  # `max_cost` is for all builds of a server
        if self._background:
            source: TextSource = self._background.source(build.foreground)
        else:
            source = build.foreground()
        return resolve(build, site.approved_files(), source)

    def render(
        self, config: MkDocsConfig, files: Files, name: str, articles: Mapping[str, PageContent]
    ) -> str:
        """Return the HTML of the Markdown of a page with these articles. Needs `collect_only`."""
        self._extension.use({name: articles})
        if not self._extension.pages:
            self._extension.pages = self.site.addresses()
        content = render_page(files.src_uris[name], config, files)
        page = files.src_uris[name].page
        rendered = self._extension.rendered.get(name)
        if page is None or rendered is None or not rendered.citations:
            return content
        if self._ids is None:
            from ..site.anchors import SiteIds

            def render_other(file: File) -> str:
                return render_page(file, config, files)

            self._ids = SiteIds(files.get_file_from_path, render_other)
        correct_links(page, self._ids.find_all(rendered.citations), files)
        return page.content or ""

    # Before all hooks and plugins.
    @event_priority(100)
    def _add_first_line(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str | None:
        """Give a page without a text of the author a first line, which some hooks read.

        It is the author's title or topic: other plugins would run templates in a generated one.
        """
        self._first_line = ""
        if markdown.strip() or not self._extension.articles.get(page.file.src_uri):
            return None
        # A page whose request is wrong has no topic.
        title = page.meta.get("title") or self._topics.get(page.file.src_uri, "")
        title = " ".join(str(title).split())
        self._first_line = f"# {title}" if title and "{" not in title else _MARKER
        return f"{self._first_line}\n{markdown}"

    # After plugins that treat titles as templates, and before those that draw social cards.
    @event_priority(-90)
    def _prepare_page(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str | None:
        """Fill in missing page metadata, and make sure that empty pages are converted.

        Other plugins use the metadata for social cards, feeds and tags. Python-Markdown runs no
        extensions for a page without text.
        """
        articles = self._extension.articles.get(page.file.src_uri)
        if not articles:
            return None
        if self._first_line:
            line = rf"^{re.escape(self._first_line)}(\n|\Z)"
            markdown = re.sub(line, "", markdown, count=1, flags=re.MULTILINE)
        name = leading_article(markdown, articles)
        if name:
            with suppress(UnsafeHTMLError):  # which rendering reports
                element, metadata = articles[name].make()
                self._extension.made[page.file.src_uri, name] = element, metadata
                if metadata:
                    add_metadata(page.meta, metadata, has_feed="rss" in config.plugins)
                    set_title_before_rendering(page, metadata.title)
        return markdown if markdown.strip() else _MARKER

    on_page_markdown = CombinedEvent(_add_first_line, _prepare_page)

    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
        """Log the warnings about the markers of a page."""
        rendered = self._extension.rendered.get(page.file.src_uri)
        if rendered:
            # Only now is it certain what the page begins with.
            add_metadata(page.meta, rendered.leading, has_feed="rss" in config.plugins)
            for marker, problem in rendered.problems:
                log.warning(f"{place_of(page.file, config, marker)}: {problem}")

    # Before plugins that use the HTML of pages. All pages are rendered now, and so have their ids.
    @event_priority(50)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> None:
        """Let citations lead to the ids of headings. Add the style sheet to the files."""
        citing: dict[str, RenderedPage] = {}
        for name, rendered in self._extension.rendered.items():
            if rendered.citations:
                citing[name] = rendered
        if citing:
            self._correct_citations(citing, config, files)
        if self._extension.articles and self._extension.styles:
            content = read_stylesheet(adapted=self.config.styles == "adapt")
            files.append(File.generated(config, STYLESHEET, content=content))

    def _correct_citations(
        self, citing: Mapping[str, RenderedPage], config: MkDocsConfig, files: Files
    ) -> None:
        from ..site.anchors import SiteIds, missing_message

        def content_of(file: File) -> str | None:
            return file.page.content if file.page else None

        ids = SiteIds(files.get_file_from_path, content_of)
        for name, rendered in citing.items():
            file = files.get_file_from_path(name)
            if file is None or file.page is None:
                continue
            found = ids.find_all(rendered.citations)
            correct_links(file.page, found, files)
            for citation, target in found.items():
                if target is None:
                    place = place_of(file, config, "contentgen")
                    log.warning(f"{place}: {missing_message(citation, name)}")
        self._extension.find_id = ids.find  # for excerpts, which are rendered later

    # After plugins that replace the navigation.
    @event_priority(-100)
    def on_page_context(
        self, context: TemplateContext, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> None:
        """Set what the theme shows in the language of a page."""
        if self._languages:
            self._languages.prepare(context, page)

    # Before plugins that change the finished page, such as minifiers.
    @event_priority(50)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Add the language of the page, the links to its translations, and its JSON-LD."""
        if self._languages:
            output = self._languages.finish(output, page)
        elif "lang" in page.meta and "i18n" not in config.plugins:
            from .languages import with_own_language

            output = with_own_language(output, page)
        rendered = self._extension.rendered.get(page.file.src_uri)
        if not rendered or not rendered.metadata:
            return output
        from ..site.build import page_json_ld

        number = len(rendered.metadata)
        shown = len(_ARTICLE.findall(output))
        if shown < number:
            place = place_of(page.file, config, "contentgen")
            problem = f"leaves out {number - shown} of its {number} articles"
            log.warning(f"{place}: the template of the page {problem}")
        if not shown:
            return output
        script = page_json_ld(
            self._extension.articles[page.file.src_uri], rendered.metadata, str(page.title)
        )
        return output.replace("</head>", f"{script}</head>", 1)

    # After mkdocs-static-i18n, which builds the other languages in this event.
    @event_priority(-110)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Tell the background generation that a build has ended."""
        if self._background:
            self._background.build_ended()


def _link_stylesheet(md: Markdown, page: File) -> Element:
    href = get_relative_url(STYLESHEET, page.url)
    return Element("link", {"rel": "stylesheet", "href": href})


def _raise_problems(problems: Sequence[str]) -> None:
    """Log problems. The last one is the error that ends the build."""
    if not problems:
        return
    *others, last = problems
    for problem in others:
        log.error(problem)
    raise PluginError(escape_controls(paths_from_here(f"contentgen: {last}")))
