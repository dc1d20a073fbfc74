"""From the requests of a build to what its pages show, under the policy of the options.

Imported only by builds with a page that asks for something.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from mkdocs.config.defaults import MkDocsConfig

from ..errors import Absence, NoText, UnsafeHTMLError
from ..html.article import being_generated, placeholder
from ..html.disclosure import Provenance
from ..html.presentation import Facts, Presentation, present
from ..requests import Request
from ..texts.approval import read_all
from ..texts.articles import Article
from ..texts.lookup import Outcome
from ..texts.obtain import Ask, asking, obtain
from ..texts.policy import PageRequest
from ..texts.store import Cache
from .options import ContentgenConfig
from .pages import PageProblem

if TYPE_CHECKING:
    from .background import Background


@dataclass
class PageContent:
    """One article of a page: how to make its element, and what to say of it, if it is there."""

    maker: Callable[[], tuple[Element, Facts | None]]
    provenance: Provenance | None
    _made: tuple[Element, Facts | None] | None = None

    def make(self) -> tuple[Element, Facts | None]:
        """Return the element anew, and what it says of itself. Raises UnsafeHTMLError."""
        made, self._made = self._made, None
        return made or self.maker()

    def facts(self) -> Facts | None:
        """Return what the article says of itself, if it is there and can be shown."""
        try:
            self._made = self.maker()  # the page is rendered next
        except UnsafeHTMLError:
            return None
        return self._made[1]


@dataclass
class Resolution:
    """What a build shows, and what there is to say about it, one line each."""

    articles: dict[str, dict[str, PageContent]] = field(default_factory=dict)
    """The articles by page (`src_uri`) and id, in the pages' order."""

    unfinished: set[str] = field(default_factory=set)
    """Pages (`src_uri`) that lack a text."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    """Where the text of each article came from."""

    summary: str = ""

    sent: int = 0
    """Number of requests that count for the budget."""

    def note_problems(self, problems: Iterable[PageProblem], *, tolerated: bool) -> None:
        """Add what is wrong in pages, each once, and show it in their places."""
        for problem in problems:
            messages = self.warnings if tolerated else self.failures
            if problem.message not in messages:
                messages.append(problem.message)
            self.show(problem.page, "main", _message_in_place(problem.message))

    def show(self, page: str, name: str, article: PageContent) -> None:
        """Put an article, or the message in its place, on a page."""
        self.articles.setdefault(page, {})[name] = article
        if article.provenance is None:
            self.unfinished.add(page)


def resolve(
    asked: Sequence[PageRequest],
    problems: Iterable[PageProblem],
    site: MkDocsConfig,
    options: ContentgenConfig,
    *,
    budget: int,
    background: Background | None,
    log: Callable[[str], None],
    debug: Callable[[str], None] | None,
    others: Collection[str] | None = None,
) -> Resolution:
    """Get the texts of all requests: from the cache, then, if the options let it, the service.

    `problems` are those of the pages; with one of them, or a damaged approved file, nothing is
    sent.
    With a `background`, nothing is waited for, and nothing is a failure: what has no text says so
    in its page. `budget` is what is left of `max_requests`. `log` gets a line now and then while
    the service is being asked, and `debug` one for each try. `others` are the pages of the site
    that were not read; without them, no approved file is said to be of no page.
    Raises ConfigurationError for an option that makes no sense.
    """
    started = time.monotonic()
    resolution = Resolution()
    names = [(entry.page, entry.request) for entry in asked]
    files = read_all(names, options.approved_directory(site), others=others or ())
    policy = options.policy(budget=budget, lenient=background is not None)
    resolution.note_problems(problems, tolerated=policy.lenient)
    if others is not None:
        resolution.warnings += [
            f"{path}: no page asks for this text; remove the file if it is not needed any more"
            for path in files.unclaimed
        ]
    ask = None if resolution.failures else _ask(site, options, background, log, debug)
    obtained = obtain(asked, files, options.store(site), policy, ask)
    resolution.failures += obtained.failures
    resolution.warnings += obtained.warnings
    if resolution.failures:
        return resolution
    resolution.sent = obtained.sent
    how = options.presentation()
    for article in obtained.articles:
        entry = article.asked
        resolution.details.append(f"{entry.place}: {article.outcome}")
        resolution.show(entry.page, entry.request.id, _page_content(article, how))
    seconds = time.monotonic() - started
    outcomes = [article.outcome for article in obtained.articles]
    resolution.summary = _summary(outcomes, seconds)
    return resolution


def _ask(
    site: MkDocsConfig,
    options: ContentgenConfig,
    background: Background | None,
    log: Callable[[str], None],
    debug: Callable[[str], None] | None,
) -> Ask:
    """Return what asks for texts: beside a server without waiting, else with progress shown."""
    if background is None:
        return ask_with_progress(options.store(site), options, log, debug)
    limits = options.limits()
    open_store = partial(options.store, site)

    def ask(
        wanted: Mapping[str, Request], there: Collection[str]
    ) -> tuple[dict[str, Outcome], list[str]]:
        return background.ask(wanted, there, open_store, options.connect, limits, debug), []

    return ask


def ask_with_progress(
    store: Cache,
    options: ContentgenConfig,
    log: Callable[[str], None],
    debug: Callable[[str], None] | None,
) -> Ask:
    """Return what asks for texts, and shows how far it is."""

    def ask(
        wanted: Mapping[str, Request], there: Collection[str]
    ) -> tuple[dict[str, Outcome], list[str]]:
        from .progress import shown_progress

        with shown_progress(log, in_lines=debug is not None) as (show, say):
            limits = options.limits()
            return asking(store, options.connect, limits, on_progress=show, log=say, debug=debug)(
                wanted, there
            )

    return ask


def _page_content(article: Article, how: Presentation) -> PageContent:
    outcome, request = article.outcome, article.asked.request
    if _is_pending(outcome):
        return PageContent(lambda: (being_generated(request.topic), None), None)
    if outcome.text is None or (provenance := article.provenance) is None:
        return _message_in_place(str(outcome.error))
    # It is kept until the last page is built, and is a third of what a large site needs.
    packed = zlib.compress(outcome.text.html.encode(), 1)
    return PageContent(partial(_present_packed, packed, provenance, how), provenance)


def _is_pending(outcome: Outcome) -> bool:
    match outcome:
        case Outcome(text=None, error=NoText(absence=Absence.PENDING)):
            return True
    return False


def _present_packed(
    packed: bytes, provenance: Provenance, how: Presentation
) -> tuple[Element, Facts]:
    return present(zlib.decompress(packed).decode(), provenance, how)


def _message_in_place(message: str) -> PageContent:
    return PageContent(lambda: (placeholder(message), None), None)


def _summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    number = Counter(outcome.source for outcome in outcomes)
    pending = sum(map(_is_pending, outcomes))
    noun = "text" if len(outcomes) == 1 else "texts"
    on_its_way = f", {pending} being generated" if pending else ""
    return (
        f"{len(outcomes)} {noun}: {number['approved']} from approved files, "
        f"{number['cache']} from the cache, {number['service']} generated{on_its_way}, "
        f"{number[None] - pending} missing, in {seconds:.1f} s"
    )
