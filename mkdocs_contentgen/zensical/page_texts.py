"""Look up the texts of pages, in the process of Zensical. No request is sent."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from ..display import escape_controls
from ..errors import (
    PENDING,
    ConfigurationError,
    ContentgenError,
    MissingReason,
    ServiceError,
    StoreError,
)
from ..requests import TRANSLATION_KEY
from ..site.build import Build, Resolution, resolve
from ..site.content import PageContent
from ..site.front_matter import place_of, read_requests
from ..site.options import ContentgenConfig
from ..site.site import PageProblem, Site
from ..site.stylesheet import read_stylesheet
from ..texts.approved_dir import list_files
from ..texts.obtain import CacheOnly
from .configuration import (
    find_configuration,
    load_zensical_configuration,
    plugin_options,
    read_arguments,
)
from .loading import find_pages
from .page_cache import delete_entries
from .process import exchange_with_command

if TYPE_CHECKING:
    from ..site.anchors import PageIds
    from ..site.page_groups import PageGroup

LISTING_AGE = 2.0
"""Seconds after which `zensical serve` looks for files of removed pages again."""

_CLEANING_INTERVAL = 0.5
"""Seconds after which a page that was rendered is looked for in Zensical's cache."""


class PageError(ContentgenError):
    """A page lacks a text. Its problems have been printed."""


class SiteTexts:
    """The texts of a site, which are looked up when a page needs them, unless `given` has them.

    `given` maps the `src_uri` of a page to its articles by their ids.
    """

    def __init__(
        self, site: Site, *, serves: bool, given: Mapping[str, dict[str, PageContent]] | None = None
    ) -> None:
        self._serves = serves
        self._given = given
        _use_local_cache(site.options)
        self._exchange = exchange_with_command()
        pages, _ = find_pages(site, drafts=serves)
        self._site = replace(site, pages=pages, is_partial=True)
        self._site.check_directories()
        self._printed: set[str] = set()
        self._print_warnings(site.warnings)
        self._rendered: set[str] = set()
        self._was_rendered = threading.Event()
        if given is None:
            threading.Thread(target=self._delete_rendered_again, daemon=True).start()
            atexit.register(self._delete_rendered)
        self._list = lru_cache(maxsize=1)(self._list_files)
        self._groups = lru_cache(maxsize=1)(self._find_groups)
        self.stylesheet = ""
        """The content of the style sheet: Zensical publishes no file of an extension."""

        if site.options.styles != "strip":
            self.stylesheet = read_stylesheet(adapted=site.options.styles == "adapt")

        self.has_feed = bool(plugin_options(site, "rss"))
        """Whether the site has feeds, which show the descriptions of pages to readers."""

        self.addresses = self._site.addresses()
        self.known_ids: dict[str, tuple[str, PageIds]] = {}
        """The Markdown and the ids of the cited pages that were rendered."""

    def contents(self, page: str) -> dict[str, PageContent]:
        """Return the articles of a page with requests by their ids. Raises PageError."""
        if self._given is not None:
            return self._given.get(page, {})
        self._note_rendered(page)
        resolution = self._resolve(page)
        self._print_warnings(resolution.warnings)
        if resolution.failures:
            raise _page_error(resolution.failures)
        return resolution.articles.get(page, {})

    def report(self, page: str, problems: Iterable[tuple[str, str]]) -> None:
        """Print the problems with the markers of a page, given as pairs of marker and problem."""
        if self._given is not None:
            return
        for marker, problem in problems:
            self._note_rendered(page)  # so that the next build says it again
            message = escape_controls(f"{self._place_of(page, marker)}: {problem}")
            if self._exchange and not self._serves:
                self._exchange.add_problem(message)
            else:
                _print_to_stderr(f"Warning: {message}")

    def _note_rendered(self, page: str) -> None:
        """Note a page that has to be deleted from Zensical's cache once it is there."""
        self._rendered.add(page)
        self._was_rendered.set()

    def _delete_rendered_again(self) -> None:
        """Delete pages each time that some were rendered: Ctrl-C ends Zensical at once."""
        while self._was_rendered.wait():
            self._was_rendered.clear()
            time.sleep(_CLEANING_INTERVAL)
            self._delete_rendered()

    def _delete_rendered(self) -> None:
        """Delete pages with articles from Zensical's cache, which renders them again next time.

        From its cache, it would show them unchanged: it does not notice changed texts and
        approvals, and this process, which could, is called only for pages that are rendered.
        """
        try:
            delete_entries(self._site.directory, set(self._rendered))
        except StoreError as error:
            _print_to_stderr(f"Error: {error}")

    def _place_of(self, page: str, text: str) -> str:
        try:
            return place_of(self.file(page), self._site.config, text)
        except (OSError, UnicodeError):  # it was deleted while Zensical rendered it
            return page

    def _print_warnings(self, warnings: Iterable[str]) -> None:
        """Print warnings. A build prints each once: one about an option comes with all pages."""
        if self._exchange or self._given is not None:  # the command has printed them
            return
        for warning in warnings:
            if self._serves or warning not in self._printed:
                self._printed.add(warning)
                _print_to_stderr(f"Warning: {warning}")

    def _resolve(self, name: str) -> Resolution:
        file = self.file(name)
        path = Path(str(file.abs_src_path))
        is_hidden = path.name == "README.md" and path.with_name("index.md").is_file()
        if is_hidden or not path.is_file():  # Zensical makes some pages itself
            return Resolution()
        try:
            names, files = self._list(self._period())
            site = read_requests(replace(self._site, unread_files=names), [file])
            own = list_files(site.approved_directory() / name)
            approved = site.approved_files(files + own)
            policy = site.options.policy()
            policy = replace(  # nothing is requested here, so there is no limit to keep
                policy, max_requests=sys.maxsize, warn_only=policy.warn_only or self._serves
            )
            return resolve(Build(site, policy), approved, CacheOnly(self._missing_reasons()))
        except ConfigurationError as error:
            resolution = Resolution()
            problem = PageProblem(name, str(error))
            resolution.add_problems([problem], warn_only=self._serves)
            return resolution

    def group_of(self, page: str) -> PageGroup | None:
        """Return the pages with the text of a page in other languages, or None."""
        if self._given is not None:
            return None
        return self._groups(self._period()).get(page)

    def _period(self) -> float:
        """Return what changes when the files are listed again: in a build, never."""
        return time.monotonic() // LISTING_AGE if self._serves else 0.0

    def _missing_reasons(self) -> Callable[[str], ServiceError | MissingReason]:
        """Return a function that tells why there is no text for a key."""
        reasons = self._exchange.missing() if self._exchange else {}
        default = "the text is neither approved nor cached; `contentgen generate` requests it"
        if self._exchange and self._serves:
            default = ""  # the command is about to ask for it

        def reason_of(key: str) -> ServiceError | MissingReason:
            message = reasons.get(key, default)
            return ServiceError(message) if message else PENDING

        return reason_of

    def file(self, page: str) -> File:
        """Return the file of a page."""
        config = self._site.config
        return File(page, config.docs_dir, config.site_dir, config.use_directory_urls)

    def _list_files(self, period: float) -> tuple[set[str], list[Path]]:
        """Return the names of all files, and the approved files of pages that do not exist.

        `period` is what lru_cache() knows the lists by: for another one, they are read again.
        """
        names = set(find_pages(self._site, drafts=True)[1])
        directory = self._site.approved_directory()
        others = []
        for path in list_files(directory):
            page = path.parent.relative_to(directory).as_posix()
            if page not in names:
                others.append(path)
        return names, others

    def _find_groups(self, period: float) -> Mapping[str, PageGroup]:
        """Return the groups of all pages. `period` is as for _list_files()."""
        pages, names = find_pages(self._site, drafts=self._serves)
        if not any(map(_may_be_translation, pages)):
            return {}
        from ..site.page_groups import find_groups

        read = {page.src_uri for page in pages}
        unread = [name for name in names if name not in read]
        site = read_requests(replace(self._site, unread_files=unread), pages)
        return find_groups(site.requests)


def _may_be_translation(page: File) -> bool:
    try:
        return TRANSLATION_KEY.encode() in Path(str(page.abs_src_path)).read_bytes()
    except OSError:  # it was deleted while Zensical rendered it
        return False


def _use_local_cache(options: ContentgenConfig) -> None:
    """Set options so that texts are only looked up in the cache of this machine.

    `contentgen zensical` has copied those of a shared cache there, and has tried to get newer ones.
    """
    options.cache_url = ""
    options.max_age = None


@dataclass(frozen=True)
class _Loaded:
    """What a configuration of Zensical has led to."""

    config: object
    texts: SiteTexts | PageError
    """The texts of the site, or the error that each page raises."""


_loaded: _Loaded | None = None


def load_texts(config: dict[str, object]) -> SiteTexts:
    """Return the texts of the site that is rendered. Zensical reads a changed `config` again.

    Raises PageError.
    """
    global _loaded
    if _loaded is None or _loaded.config is not config:
        before = _loaded.texts if _loaded else None
        _loaded = _Loaded(config, _read_texts(config, before))
    if isinstance(_loaded.texts, PageError):
        raise _loaded.texts
    return _loaded.texts


def use_texts(config: dict[str, object], texts: SiteTexts) -> None:
    """Let load_texts() return these texts for this configuration."""
    global _loaded
    _loaded = _Loaded(config, texts)


def _read_texts(
    config: dict[str, object], before: SiteTexts | PageError | None
) -> SiteTexts | PageError:
    """Return the texts of a configuration, or else an error, or those `before` in a server."""
    invocation = read_arguments(sys.argv[1:])
    named = invocation.config_file
    serves = invocation.command == "serve"
    try:
        if named:
            directory = Path.cwd()
        else:
            directory = Path(str(config["root_dir"]))
        path = find_configuration(named, directory)
        return SiteTexts(load_zensical_configuration(path), serves=serves)
    except ContentgenError as error:
        if serves and before:
            _print_to_stderr(f"Error: {error}")  # an exception would end the server
            return before
        return _page_error([str(error)])


def _page_error(failures: list[str]) -> PageError:
    """Print failures, and return the exception that ends the build with one line."""
    for failure in failures:
        _print_to_stderr(f"Error: {failure}")
    sys.excepthook = _print_end
    return PageError("texts are missing; see the errors above")


def _print_end(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Print one line for a build that a PageError ended: Zensical would print a traceback."""
    if PageError.__name__ in str(error):
        _print_to_stderr("Error: the site was not built; see the errors above")
    else:
        sys.__excepthook__(kind, error, traceback)


def _print_to_stderr(line: str) -> None:
    """Print a line to stderr, with control characters and CI commands escaped."""
    print(escape_controls(line), file=sys.stderr, flush=True)
