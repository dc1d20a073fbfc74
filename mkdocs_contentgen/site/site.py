"""A site as commands see it, whichever program builds it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar, Literal

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File

from ..errors import ConfigurationError
from ..texts.approval import ApprovedFiles, read_all
from ..texts.articles import Article, ChangedSources, find_articles
from ..texts.policy import PageRequest
from .cited import CitedSections
from .options import ContentgenConfig


@dataclass(frozen=True)
class Site(ABC):
    """A configuration, and the requests of a build before it renders the pages."""

    generator: ClassVar[Literal["mkdocs", "zensical"]]

    config: MkDocsConfig
    options: ContentgenConfig

    requests: list[PageRequest]
    pages: Sequence[File]
    """The pages that a build publishes."""

    others: Collection[str]
    """The files (`src_uri`) that were not read for requests."""

    problems: Sequence[str]
    """What is wrong with requests, where nobody has said it yet."""

    warnings: Sequence[str]
    """Further messages about requests and options."""

    notes: Sequence[str]
    """What was done when the site was loaded."""

    def approved_files(self) -> ApprovedFiles:
        """Read the approved files of this site."""
        directory = self.options.approved_directory(self.config)
        return read_all(self.requests, directory, others=self.others)

    def articles(self, pages: Sequence[str] = ()) -> tuple[list[Article], list[str]]:
        """Return the articles of the named pages, or all, and the problems with cache and files.

        Raises ConfigurationError for a name that matches no page with a request.
        """
        files, store = self.approved_files(), self.options.store(self.config)
        articles, problems = find_articles(
            select_requests(self.requests, pages),
            files,
            store,
            sandbox=self.options.uses_sandbox(),
            all_drafts=True,
            details=True,
            others=self.requests,
            changed_sources=self.changed_sources(),
        )
        warnings = [f"{path}: no page requests this text" for path in files.unclaimed]
        return articles, [*dict.fromkeys(problems), *warnings]

    def article(self, page_request: PageRequest) -> Article:
        """Return the article of a request of this site as it is now."""
        found, _ = self.articles([page_request.place.rpartition(":")[0]])
        name = page_request.page, page_request.request.id
        return next(it for it in found if (it.page, it.request.id) == name)

    def cited_sections(self) -> CitedSections:
        """Return what finds the sections that texts cite."""
        return CitedSections(self.options, self.config, self.pages)

    def changed_sources(self) -> ChangedSources:
        """Return a function that compares cited sections with those of this site."""
        return self.cited_sections().changed

    @abstractmethod
    def theme(self) -> Mapping[str, object]:
        """Return the settings of the theme."""

    @abstractmethod
    def source_file(self, page: str) -> Path:
        """Return the file of a page, to be edited. Raises ApprovalError if there is none."""


def select_requests(
    page_requests: Sequence[PageRequest], pages: Sequence[str]
) -> list[PageRequest]:
    """Return the requests of the named pages, or of all pages without names.

    A name is a path in the docs directory or from the current directory, or a glob. Raises
    ConfigurationError for a name that matches no page with a request.
    """
    selected: dict[PageRequest, None] = {}
    for name in pages:
        found = [it for it in page_requests if _matches(it, name)]
        if not found:
            raise ConfigurationError(
                f"{name}: is not a page that requests an article; "
                "`contentgen status` lists those that do"
            )
        selected |= dict.fromkeys(found)
    return list(selected if pages else page_requests)


def _matches(page_request: PageRequest, name: str) -> bool:
    page, (path, _, _) = page_request.page, page_request.place.rpartition(":")
    tail = Path(name).as_posix().removeprefix("./")
    return tail.endswith(f"/{path}") or fnmatchcase(page, tail) or fnmatchcase(path, tail)
