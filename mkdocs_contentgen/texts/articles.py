"""The articles of a site, with their texts and states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element

from ..display import model_name, valid_sources
from ..errors import ApprovalError, ContentgenError
from ..html.disclosure import Provenance, Review
from ..html.presentation import Facts, Presentation, present
from .approval import ApprovedFiles, ApprovedText, State, approved_path, state_and_reason
from .lookup import NEVER_GENERATED_REASON, Outcome, look_up
from .policy import PageRequest
from .store import Store, StoredText


@dataclass(frozen=True)
class Article:
    """One article of a site, with its approved text and its draft."""

    asked: PageRequest
    key: str
    directory: Path
    """The directory of approved files."""

    moved_from: Path | None = None
    """The path of its approved file under a former name of the page, or None."""

    approved: ApprovedText | None = None
    damaged: ApprovalError | None = None
    """Why the approved file cannot be read."""

    found: Outcome = field(default_factory=Outcome)
    """The outcome for the draft, from the cache or the service; empty if it was not looked up."""

    unused: tuple[Mapping[str, object], ...] = ()
    """Cached requests that no page makes any more."""

    is_shared: bool = False
    """Whether the draft is in the shared cache."""

    changed_sources: tuple[str, ...] = ()
    """The cited sections of this site that have changed since, or are gone, by path."""

    @property
    def own_path(self) -> Path:
        """The path of its approved file, whether or not that exists."""
        return approved_path(self.directory, self.asked.page, self.asked.request.id)

    @property
    def path(self) -> Path:
        """The path of its approved file, under the former name of the page if it is there."""
        return self.moved_from or self.own_path

    @property
    def draft(self) -> StoredText | None:
        """The newest text from the cache or the service, or None."""
        return self.found.text

    @property
    def state(self) -> State:
        """The state of the article; `missing` if the approved file is damaged."""
        return self._state[0]

    @property
    def reason(self) -> str:
        """The reason for the state, as a message."""
        return self._state[1]

    @property
    def is_settled(self) -> bool:
        """Whether an approved file, even a damaged one, makes a request unnecessary."""
        return self.damaged is not None or self.state in ("approved", "changed")

    @cached_property
    def outcome(self) -> Outcome:
        """The outcome for the text that the page shows."""
        if self.damaged:
            return Outcome(error=self.damaged)
        if self.approved is None or not self.is_settled:
            return self.found
        header = self.approved.header
        model = model_name(header.model)
        text = StoredText(self.approved.html, header.generated_at, header.request, model)
        return Outcome("approved", text)

    @property
    def review(self) -> Review | None:
        """The review of the text that the page shows, or None."""
        if self.approved is None or self.state != "approved":
            return None
        return Review(self.approved.header.approved_by, self.approved.header.approved_at)

    @property
    def provenance(self) -> Provenance | None:
        """The provenance of the text that the page shows, or None without a text."""
        if (text := self.outcome.text) is None:
            return None
        return Provenance(self.asked.request.type, text.generated_at, self.review, model=text.model)

    def present(self, how: Presentation) -> tuple[Element, Facts]:
        """Return the element to insert into a page, and its metadata.

        Raises ContentgenError if there is no text, and UnsafeHTMLError as present() does.
        """
        provenance, text = self.provenance, self.outcome.text
        if provenance is None or text is None:
            raise ContentgenError(str(self.outcome.error or NEVER_GENERATED_REASON))
        return present(text.html, provenance, how)

    @property
    def model(self) -> str:
        """The name of the model of the newest text, or an empty string if it is not known."""
        if self.draft and not self.is_settled:
            return self.draft.model
        return model_name(self.approved.header.model) if self.approved else ""

    @property
    def sources(self) -> Mapping[str, str]:
        """The SHA-256 of each section that the text of the page cites, by its address."""
        if not self.is_settled:
            return self.draft.sources if self.draft else {}
        return valid_sources(self.approved.header.sources) if self.approved else {}

    @property
    def marked(self) -> int:
        """The number of statements to check in the draft that the page shows."""
        return 0 if self.is_settled else count_marks(self.draft)

    @property
    def where(self) -> list[str]:
        """The places that have its text: `approved file`, `cache`, `shared cache`."""
        places = {
            "approved file": self.approved is not None,
            "cache": self.draft is not None,
            "shared cache": self.is_shared,
        }
        return [place for place, has_text in places.items() if has_text]

    @cached_property
    def _state(self) -> tuple[State, str]:
        if self.damaged:
            return "missing", str(self.damaged)
        state, reason = state_and_reason(
            self.asked.request,
            self.approved,
            has_draft=self.draft is not None,
            unused=self.unused,
        )
        if (
            state == "missing"
            and self.found.error
            and str(self.found.error) != NEVER_GENERATED_REASON
        ):
            reason = str(self.found.error)
        if state == "draft" and (marked := count_marks(self.draft)):
            noun = "statement" if marked == 1 else "statements"
            reason += f", {marked} {noun} to check"
        if self.changed_sources:
            reason += f"; sources changed: {', '.join(self.changed_sources)}"
        if self.moved_from:
            reason += f"; its file is still at {self.moved_from}"
        return state, reason


def count_marks(text: StoredText | None) -> int:
    """Return the number of statements to check in a draft of the writer."""
    # Other services may use <mark> for something else.
    return text.html.count("<mark>") if text and text.model else 0


def find_articles(
    asked: Iterable[PageRequest],
    files: ApprovedFiles,
    store: Store,
    *,
    sandbox: bool,
    max_age: timedelta | None = None,
    all_drafts: bool = False,
) -> tuple[list[Article], list[str]]:
    """Return an article for each request, and the problems with the cache.

    Drafts of articles that an approved file settles are only looked up with `all_drafts`. The store
    is closed afterwards.
    """
    articles = [_with_approved_text(entry, files, sandbox=sandbox) for entry in asked]
    requests = {a.key: a.asked.request for a in articles if all_drafts or not a.is_settled}
    outcomes, problems = look_up(requests, store, max_age=max_age)
    return [
        replace(article, found=outcomes[article.key]) if article.key in outcomes else article
        for article in articles
    ], problems


def _with_approved_text(entry: PageRequest, files: ApprovedFiles, *, sandbox: bool) -> Article:
    name = entry.page, entry.request.id
    text = files.texts.get(name)
    return Article(
        entry,
        entry.request.key(sandbox=sandbox),
        files.directory,
        files.moved.get(name),
        approved=text if isinstance(text, ApprovedText) else None,
        damaged=text if isinstance(text, ApprovalError) else None,
    )


def add_details(articles: Sequence[Article], store: Store) -> tuple[list[Article], list[str]]:
    """Return the articles with `unused` and `is_shared` set, and the problems with the cache.

    It reads the requests of all cached texts, and closes the store.
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
