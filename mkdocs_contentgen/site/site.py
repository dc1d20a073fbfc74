"""A site: its configuration, its options, and what its pages ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File

from ..display import did_you_mean, quoted
from ..errors import ApprovalError, ConfigurationError
from ..files import normal_form
from ..page_request import PageRequest
from ..texts.policy import Policy
from .cited_passages import CitedPassages, link_of
from .options import (
    EXTENSION,
    MKDOCS_CACHE,
    ZENSICAL_CACHE,
    ContentgenConfig,
    project_directory,
    resolve_directory,
)

if TYPE_CHECKING:
    from threading import Event

    from ..texts.approved_dir import ApprovedFiles
    from ..texts.articles import Article
    from ..texts.store import DiskStore
    from ..writer.models.settings import WriterOptions
    from ..writer.sources.retrieval import Sources
    from ..writer.sources.sources import RepositoryFolder
    from .content import PageContent


_NOT_SENT = (
    "is not sent to this service; use `base_url: writer`, or `service_fields` if your service "
    "takes a brief or a language"
)

_VIEWING = {"/_edit/": "/src/branch/", "/edit/": "/blob/"}
"""What addresses of forges have to view a file, by what they have to edit it."""

_CANNOT_TRANSLATE = (
    "this service cannot translate, which needs a writer: use `base_url: writer` for a language "
    "model of your own, or `service_fields: [translate]` if your service is a writer for the team; "
    "`contentgen prompt` prints what to ask a chat"
)


@dataclass(frozen=True)
class PageProblem:
    """A problem in a page. `message` begins with file and line."""

    page: str
    message: str


@dataclass(frozen=True)
class MarkdownExtensions:
    """The extensions of Python-Markdown that a site has, and their options by their names."""

    names: Sequence[str]
    options: Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, kw_only=True)
class Site:
    """A site as it was read, whichever program builds it."""

    config: MkDocsConfig
    options: ContentgenConfig
    generator: Literal["mkdocs", "zensical"] = "mkdocs"

    theme: Mapping[str, object] = field(default_factory=dict)
    """The settings of the theme."""

    plugins: Sequence[tuple[str, Mapping[str, object]]] = ()
    """The name and the options of each plugin, which may be there several times, for Zensical."""

    requests: Sequence[PageRequest] = ()

    pages: Sequence[File] = ()
    """The pages that a build publishes."""

    files: Mapping[str, File] = field(default_factory=dict)
    """The pages that were read, by `src_uri`: with those that only a server shows."""

    unread_files: Collection[str] = ()
    """The `src_uri` of each file that was not read for requests."""

    docs_dir: Path | None = None
    """The directory of pages in `mkdocs.yml`, where plugins can have set another."""

    is_partial: bool = False
    """Whether the site can have pages that are neither in `files` nor in `unread_files`."""

    problems: Sequence[PageProblem] = ()
    """What is wrong with requests."""

    warnings: Sequence[str] = ()
    """Further messages about requests and options."""

    notices: Sequence[str] = ()
    """What commands say about pages, although it may be intended."""

    render: Callable[[str, Mapping[str, PageContent]], str] | None = None
    """Returns the HTML that a build makes of the Markdown of a page (`src_uri`) and its articles.

    Not for several threads at once. Raises what a build would.
    """

    extensions: Callable[[], MarkdownExtensions] | None = None
    """Returns the Markdown extensions of a site that Zensical builds, if Zensical is installed."""

    @property
    def directory(self) -> Path:
        """The directory that the paths of options are relative to."""
        return project_directory(self.config)

    def markdown_extensions(self) -> MarkdownExtensions:
        """Return the Markdown extensions. Raises ConfigurationError if only Zensical knows them."""
        if self.extensions is not None:
            return self.extensions()
        if self.generator == "zensical":
            raise ConfigurationError(
                "only Zensical knows the Markdown extensions of this site, and it is not "
                "installed; install it with: pip install 'mkdocs-contentgen[zensical]'"
            )
        return MarkdownExtensions(self.config.markdown_extensions, self.config.mdx_configs or {})

    def check_directories(self) -> None:
        """Raise ConfigurationError if a directory cannot be used, or its files are published."""
        self.approved_directory()
        self.cache_directory()

    def approved_directory(self) -> Path:
        """Return the directory of approved files. Raises ConfigurationError for a symbolic link."""
        return resolve_directory("approved_dir", self.options.approved_dir, self.config)

    def cache_directory(self) -> Path:
        """Return the local directory of the cache. Raises ConfigurationError, as store() does."""
        if self.options.cache_dir:
            return resolve_directory("cache_dir", self.options.cache_dir, self.config)
        if EXTENSION not in self.config.markdown_extensions:
            return resolve_directory("cache_dir", MKDOCS_CACHE, self.config)
        from ..texts.store import DATABASE

        directory = resolve_directory("cache_dir", ZENSICAL_CACHE, self.config)
        if (self.directory / MKDOCS_CACHE / DATABASE).exists() and not directory.exists():
            raise ConfigurationError(
                f"cache_dir: the texts of this site are in {MKDOCS_CACHE}, and `zensical build "
                f"--clean` deletes .cache; move them with: mv {MKDOCS_CACHE} {ZENSICAL_CACHE}"
            )
        return directory

    def store(self, outage: Event | None = None) -> DiskStore:
        """Return the cache. The stores of a run share `outage`.

        Raises ConfigurationError if a symbolic link leads to `cache_dir`.
        """
        from ..texts.store import DiskStore

        directory = self.cache_directory()
        url = self.options.cache_url
        if not url:
            return DiskStore(directory)
        from ..texts.store.shared import SharedStore

        return SharedStore(directory, url, outage)

    def reading_options(self, **more: object) -> WriterOptions:
        """Return the options for texts from elsewhere, which need neither a model nor a program.

        `more` are other values for the options of the writer.

        Raises ConfigurationError.
        """
        value = self.options.writer
        model = value.get("model") or "any"
        return self.writer_options({**value, "model": model, "command": None, **more})

    def writer_options(self, given: Mapping[str, object] | None = None) -> WriterOptions:
        """Return the options of the writer, or `given` ones. Raises ConfigurationError."""
        from ..writer.models.settings import find_secrets, load_options
        from ..writer.sources.sources import PublishedPage

        value = self.options.writer if given is None else given
        if self.config.site_url and not value.get("site_url"):
            value = {**value, "site_url": self.config.site_url}
        pages = []
        for page in self.pages:
            if page.abs_src_path:
                title = self.nav_title(page.src_uri)
                pages.append(PublishedPage(page.abs_src_path, link_of(page), title))
        options = load_options(
            value,
            self.directory,
            allow_http=self.options.allow_http,
            docs=Path(self.config.docs_dir),
            pages=pages,
        )
        titles = [title for title, _ in _nav_entries(self.config.nav)]
        names = "\n".join([self.config.site_name or "", *titles])
        secrets = find_secrets([self.options.token, self.options.cache_url])
        return replace(
            options, site_names=names, secrets=secrets, repository=self.repository_folder()
        )

    def repository_folder(self) -> RepositoryFolder | None:
        """Return where readers find the files of the project, as `edit_uri` says it, or None."""
        from ..writer.sources.sources import RepositoryFolder

        repo_url = self.config.repo_url
        if not (repo_url and self.config.edit_uri):
            return None
        edit_address = urljoin(f"{repo_url.rstrip('/')}/", self.config.edit_uri)
        docs_dir = self.docs_dir or Path(self.config.docs_dir)
        docs = Path(os.path.relpath(docs_dir, self.directory)).as_posix()
        is_path = "?" not in edit_address and "#" not in edit_address
        if not is_path or not edit_address.endswith(f"/{docs}/"):
            return None
        address = edit_address.removesuffix(f"{docs}/")
        for editing, viewing in _VIEWING.items():
            address = address.replace(editing, viewing, 1)
        return RepositoryFolder(self.directory.resolve(), address)

    def nav_title(self, page: str) -> str:
        """Return the title that the navigation gives to a page by its `src_uri`, or nothing."""
        return self._nav_titles.get(page, "")

    @cached_property
    def _nav_titles(self) -> Mapping[str, str]:
        titles: dict[str, str] = {}
        for title, value in _nav_entries(self.config.nav):
            if isinstance(value, str):
                titles.setdefault(value, title)
        return titles

    @cached_property
    def sources(self) -> Sources:
        """What the writer can write texts from. Raises ConfigurationError."""
        return self.reading_options().sources

    def addresses(self) -> dict[str, str]:
        """Return the `src_uri` of each page by its address; empty without `site_url`."""
        url = self.config.site_url
        if not url:
            return {}
        return {urljoin(url, page.url): page.src_uri for page in self.pages}

    def approved_files(self, files: Iterable[Path] | None = None) -> ApprovedFiles:
        """Read the approved files of this site; `files` are those to consider, by default all."""
        from ..texts.approved_dir import ApprovedFiles, read_all
        from ..texts.finding import with_originals

        directory = self.approved_directory()
        # Looking for no files saves a tenth of the time that status takes for 10,000 pages.
        if not directory.exists():
            return ApprovedFiles(directory)
        requests = with_originals(self.requests)
        # Nobody knows what a page with a wrong request would ask for.
        with_problems = {problem.page for problem in self.problems}
        others = with_problems | set(self.unread_files)
        found = read_all(requests, directory, others=others, files=files)
        if self.is_partial:  # a page that is not known may claim them
            found.unclaimed.clear()
        return found

    def orphan_warnings(self, files: ApprovedFiles | None = None) -> list[str]:
        """Return a warning for each approved file that no page asks for, of `files` or all."""
        if files is None:
            if not self.approved_directory().exists():  # as on most sites without requests
                return []
            files = self.approved_files()
        message = (
            "no page requests this text; if its page should, correct the front matter there; if "
            "you do not need it any more, delete the file"
        )
        warnings = []
        for path in files.unclaimed:
            warnings.append(f"{path}: {message}")
        return warnings

    def articles(self, pages: Sequence[str] = ()) -> tuple[list[Article], list[str]]:
        """Return the articles of the named pages, or all, and the problems with cache and files.

        Raises ConfigurationError for a name that matches no page with a request.
        """
        selected = self.select_requests(pages)
        files = self.approved_files()
        articles, problems = self._find_articles(selected, files)
        return articles, [*dict.fromkeys(problems), *self.orphan_warnings(files)]

    def _find_articles(
        self, page_requests: Sequence[PageRequest], files: ApprovedFiles
    ) -> tuple[list[Article], list[str]]:
        """Return the articles of requests, and the problems with the cache.

        They have what is shown to people: who edited their blocks, and whether a review is due.
        """
        from ..texts.finding import find_articles, with_due_date
        from .authors import with_authors
        from .watched_files import with_watched_files

        articles, problems = find_articles(
            page_requests,
            files,
            self.store(),
            self._review_policy(),
            find_stale=self.cited_passages().stale,
        )
        articles = [with_authors(article) for article in articles]
        every = self.options.review_every
        if every:
            today = datetime.now(UTC).date()
            articles = [with_due_date(article, every, today) for article in articles]
        return with_watched_files(articles, self.directory), problems

    def _review_policy(self) -> Policy:
        """Return the policy for a look at all texts, which asks for none."""
        return Policy(
            sandbox=self.options.uses_sandbox(),
            all_drafts=True,
            translates_drafts=not self.options.require_approval,
        )

    def reread(self, articles: Sequence[Article]) -> list[Article]:
        """Return articles with the texts that their approved files and the cache have now."""
        from ..texts.approved_dir import read_all
        from ..texts.finding import with_originals

        own = [article.asked for article in articles]
        # Only their own files: reading those of 500 articles takes almost half a second.
        paths = [article.path for article in articles]
        paths += [article.original.path for article in articles if article.original]
        files = read_all(
            with_originals(own), self.approved_directory(), others=self.unread_files, files=paths
        )
        found, _ = self._find_articles(own, files)
        return found

    def cited_passages(self, commit: str = "") -> CitedPassages:
        """Return what finds the sections that texts cite, as they are or were in a commit."""
        sources = None
        if self.options.uses_writer():
            sources = self._load_sources
        return CitedPassages(
            self.config.site_url or "",
            self.pages,
            Path(self.config.docs_dir),
            sources,
            commit,
            self.nav_title,
        )

    def _load_sources(self) -> Sources:
        return self.sources

    def field_problems(self, page_request: PageRequest) -> list[str]:
        """Return messages about what the service cannot do, or sources that cannot be used.

        Raises ConfigurationError.
        """
        from ..requests import OPTIONAL_FIELDS

        place = page_request.place
        request = page_request.request
        problems = []
        if page_request.original is not None:
            if not self.options.service_can("translate"):
                problems.append(f"{place}: contentgen.translation_of: {_CANNOT_TRANSLATE}")
            return problems  # its other fields are those of the original
        if self.options.uses_writer() or self.options.uses_sandbox():
            for source in request.sources:
                problem = self._source_problems.find(source)
                if problem:
                    problems.append(f"{place}: contentgen.sources: {quoted(source)} {problem}")
        else:
            for name in OPTIONAL_FIELDS:
                if getattr(request, name) and name not in self.options.service_fields:
                    problems.append(f"{place}: contentgen.{name}: {_NOT_SENT}")
        return problems

    @cached_property
    def _source_problems(self) -> _SourceProblems:
        generated_pages = {page_request.page for page_request in self.requests}
        return _SourceProblems(self.sources, generated_pages)

    def select_requests(self, pages: Sequence[str]) -> Sequence[PageRequest]:
        """Return the requests of the named pages, or of all pages without names.

        A name is a path in the docs directory or from the current directory, or a glob if no page
        has this path. Raises ConfigurationError for a name that matches no page with a request.
        """
        if not pages:
            return self.requests
        selected: dict[PageRequest, None] = {}  # in their order, each once
        for name in pages:
            found = self._select(name)
            if not found:
                raise ConfigurationError(f"{name}: {self._no_request_message(name)}")
            selected |= dict.fromkeys(found)
        return list(selected)

    def _no_request_message(self, name: str) -> str:
        """Return why a name stands for no request: there is no such page, or it asks for none."""
        listed = "`contentgen status` lists the pages that do"
        if any(character in name for character in "*?["):
            return f"matches no page that asks for a text; {listed}"
        if self._is_page(name):
            return f"this page asks for no text; add `contentgen:` to its front matter; {listed}"
        known = []
        for page_request in self.requests:
            known += [page_request.page, page_request.source_path]
        hint = did_you_mean(name, known)
        return f"there is no such page{hint or '; `contentgen status` lists those with a text'}"

    def _is_page(self, name: str) -> bool:
        """Tell whether a name stands for a page of the site, or a file from the current folder."""
        path = Path(name).as_posix().removeprefix("./")
        docs = (self.docs_dir or Path(self.config.docs_dir)).name
        return path.removeprefix(f"{docs}/") in self.files or Path(name).is_file()

    def _select(self, name: str) -> list[PageRequest]:
        """Return the requests that a name stands for.

        It is read as a path, then with other forms of its letters, then as a pattern, and last as a
        path from the current folder. The first reading that finds a request counts.
        """
        path = Path(name).as_posix().removeprefix("./")
        for matches in (_is_path, _is_path_in_normal_form, _is_pattern):
            found = []
            for asked in self.requests:
                if matches(asked, path):
                    found.append(asked)
            if found:
                return found
        # From a folder within the site, such as that of the page.
        from_site = Path(os.path.relpath(Path.cwd() / name, self.directory.absolute()))
        found = []
        for asked in self.requests:
            if asked.source_path == from_site.as_posix():
                found.append(asked)
        return found

    def source_file(self, page: str) -> Path:
        """Return the file of a page, to be edited. Raises ApprovalError if there is none."""
        file = self.files.get(page)
        if file and file.abs_src_path and not file.generated_by:
            path = Path(file.abs_src_path)
            if self._is_in_docs(path):
                return path
        raise ApprovalError(
            f"{page}: is generated by a plugin, or outside of the docs_dir in mkdocs.yml; "
            "eject it where it comes from"
        )

    def _is_in_docs(self, path: Path) -> bool:
        """Tell whether a file is in the docs_dir of mkdocs.yml, as far as that is known."""
        if self.docs_dir is None:
            return True
        is_unchanged = Path(self.config.docs_dir) == self.docs_dir  # a plugin can set another one
        return is_unchanged and path.is_relative_to(self.docs_dir)


@dataclass
class _SourceProblems:
    """Finds out why sources cannot be used.

    Each is looked at once: requests share them, for example through the option `defaults`.
    """

    sources: Sources
    generated_pages: Collection[str]
    _known: dict[str, str] = field(default_factory=dict)

    def find(self, name: str) -> str:
        """Return why a source cannot be used, or an empty string."""
        if name not in self._known:
            self._known[name] = self._look_at(name)
        return self._known[name]

    def _look_at(self, name: str) -> str:
        if name in self.generated_pages:
            return "has a generated text, which is not a source; name what that is written from"
        return self.sources.problem(name)


def _names_of(page_request: PageRequest) -> list[str]:
    """Return what a page can be called: `post.md`, `docs/post.md`, and so on to its whole path."""
    page = page_request.page
    path = page_request.source_path
    names = [page, path]
    parts = path.split("/")
    parts_in_front = len(parts) - len(page.split("/"))
    for left_out in range(parts_in_front + 1):
        names.append("/".join(parts[left_out:]))
    return names


def _is_path(page_request: PageRequest, name: str) -> bool:
    ends_with_path = f"/{name}".endswith(f"/{page_request.source_path}")
    return ends_with_path or name in _names_of(page_request)


def _is_path_in_normal_form(page_request: PageRequest, name: str) -> bool:
    name = normal_form(name)
    path = normal_form(page_request.source_path)
    ends_with_path = f"/{name}".endswith(f"/{path}")
    return ends_with_path or name in map(normal_form, _names_of(page_request))


def _is_pattern(page_request: PageRequest, name: str) -> bool:
    pattern = normal_form(name)
    return any(fnmatchcase(normal_form(path), pattern) for path in _names_of(page_request))


def _nav_entries(nav: object) -> Iterator[tuple[str, object]]:
    """Yield the titles in a navigation, each with the page or the list that it is of."""
    if not isinstance(nav, list):
        return
    for entry in nav:
        if not isinstance(entry, dict):
            continue
        for title, inner in entry.items():
            yield str(title), inner
            yield from _nav_entries(inner)
