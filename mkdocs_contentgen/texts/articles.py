"""The articles that a site asks for: what is there of each, and in which state it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element

from ..errors import ApprovalError, ContentgenError
from ..html.disclosure import Provenance, Review
from ..html.presentation import Facts, Presentation, present
from .approval import ApprovedFiles, ApprovedText, State, approved_path, state_of
from .lookup import NEVER_GENERATED, Outcome, look_up
from .policy import PageRequest
from .store import Store, StoredText


@dataclass(frozen=True)
class Article:
    """One article of a site, with its approved text and what the cache and the service have."""

    asked: PageRequest
    key: str
    own_path: Path
    """Where its approved file is to be."""

    moved_from: Path | None
    """The file of the page's former name, if the approved text is still there."""

    directory: Path
    """The directory of approved files."""

    approved: ApprovedText | None = None
    damaged: ApprovalError | None = None
    """Why the approved file cannot be read."""

    found: Outcome = field(default_factory=Outcome)
    """What the cache has, or the service sent: a draft, unless it was not looked for."""

    unused: tuple[Mapping[str, object], ...] = ()
    """Requests whose texts are in the cache, though no page asks for them now."""

    is_shared: bool = False
    """Whether other machines can get the draft too."""

    @property
    def path(self) -> Path:
        """The approved file, or where it would be."""
        return self.moved_from or self.own_path

    @property
    def draft(self) -> StoredText | None:
        """The newest text that nobody approved, as far as it was looked for."""
        return self.found.text

    @property
    def state(self) -> State:
        """The state of the review, which is `missing` where the approved file is damaged."""
        return self._state[0]

    @property
    def reason(self) -> str:
        """Why the article is in that state, in words."""
        return self._state[1]

    @property
    def is_settled(self) -> bool:
        """Whether an approved file decides what the page shows, and nothing is to be asked for."""
        return self.damaged is not None or self.state in ("approved", "changed")

    @property
    def outcome(self) -> Outcome:
        """What the page shows, and what went wrong."""
        if self.damaged:
            return Outcome(error=self.damaged)
        if self.approved is None or not self.is_settled:
            return self.found
        header = self.approved.header
        text = StoredText(self.approved.html, header.generated_at, header.request)
        return Outcome("approved", text)

    @property
    def review(self) -> Review | None:
        """Who answers for the text that the page shows, if anybody does."""
        if self.approved is None or self.state != "approved":
            return None
        return Review(self.approved.header.approved_by, self.approved.header.approved_at)

    @property
    def provenance(self) -> Provenance | None:
        """How the text that the page shows came about, if there is one."""
        if (text := self.outcome.text) is None:
            return None
        return Provenance(self.asked.request.type, text.generated_at, self.review)

    def present(self, how: Presentation) -> tuple[Element, Facts]:
        """Return the element that a page shows, and what it says of itself.

        Raises ContentgenError where there is no text, and UnsafeHTMLError.
        """
        provenance, text = self.provenance, self.outcome.text
        if provenance is None or text is None:
            raise ContentgenError(str(self.outcome.error or NEVER_GENERATED))
        return present(text.html, provenance, how)

    @property
    def where(self) -> list[str]:
        """Where its text is: `approved file`, `cache`, `shared cache`."""
        there = {
            "approved file": self.approved is not None,
            "cache": self.draft is not None,
            "shared cache": self.is_shared,
        }
        return [place for place, is_there in there.items() if is_there]

    @cached_property
    def _state(self) -> tuple[State, str]:
        if self.damaged:
            return "missing", str(self.damaged)
        state, reason = state_of(
            self.asked.request,
            self.approved,
            has_draft=self.draft is not None,
            unused=self.unused,
        )
        if state == "missing" and self.found.error and str(self.found.error) != NEVER_GENERATED:
            reason = str(self.found.error)
        if self.moved_from:
            reason += f"; its file is still at {self.moved_from}"
        return state, reason


def find_articles(
    asked: Iterable[PageRequest],
    files: ApprovedFiles,
    store: Store,
    *,
    sandbox: bool,
    max_age: timedelta | None = None,
    all_drafts: bool = False,
) -> tuple[list[Article], list[str]]:
    """Return what is there for each request, and what is wrong with the cache.

    A draft of what an approved file settles is looked for with `all_drafts` only. The store is
    closed afterwards.
    """
    articles = [_with_file(entry, files, sandbox=sandbox) for entry in asked]
    requests = {a.key: a.asked.request for a in articles if all_drafts or not a.is_settled}
    outcomes, problems = look_up(requests, store, max_age=max_age)
    return [
        replace(article, found=outcomes[article.key]) if article.key in outcomes else article
        for article in articles
    ], problems


def _with_file(entry: PageRequest, files: ApprovedFiles, *, sandbox: bool) -> Article:
    name = entry.page, entry.request.id
    text = files.texts.get(name)
    return Article(
        entry,
        entry.request.key(sandbox=sandbox),
        approved_path(files.directory, *name),
        files.moved.get(name),
        files.directory,
        approved=text if isinstance(text, ApprovedText) else None,
        damaged=text if isinstance(text, ApprovalError) else None,
    )


def explain(articles: Sequence[Article], store: Store) -> tuple[list[Article], list[str]]:
    """Return articles that know why a text is missing and who can get it, and the problems.

    It reads what all texts of the cache were asked for with. The store is closed afterwards.
    """
    shared = store.shared([article.key for article in articles])
    unused: tuple[Mapping[str, object], ...] = ()
    problems: list[str] = []
    if any(article.draft is None for article in articles):
        cached, problems = store.requests()
        needed = {article.key for article in articles}
        unused = tuple(request for key, request in cached.items() if key not in needed)
    problems += store.close()
    return [
        replace(article, unused=unused, is_shared=article.key in shared) for article in articles
    ], problems
