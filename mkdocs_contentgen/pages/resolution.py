"""Get the texts for the requests of a build, or placeholders for those that are missing."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from ..errors import Absence, NoText, UnsafeHTMLError
from ..html.article import being_generated, placeholder
from ..html.disclosure import Provenance
from ..html.presentation import Facts, Presentation, present
from ..requests import Request
from ..texts.approval import ApprovedFiles
from ..texts.articles import Article
from ..texts.lookup import Outcome
from ..texts.obtain import Ask, asking, obtain
from ..texts.policy import PageRequest, Policy
from .cited import changed_source_warnings, with_changed_sources
from .front_matter import PageProblem
from .options import ContentgenConfig, PageFile, SiteConfig

if TYPE_CHECKING:
    from .background import Background


@dataclass
class PageContent:
    """One article of a page. `provenance` is None for a placeholder."""

    factory: Callable[[], tuple[Element, Facts | None]]
    provenance: Provenance | None

    source: bytes = b""
    """What the factory makes the article or the placeholder of."""

    cited: Collection[str] = ()
    """The addresses that the text cites."""

    _made: tuple[Element, Facts | None] | None = None

    def make(self) -> tuple[Element, Facts | None]:
        """Return a new element, and its metadata. Raises UnsafeHTMLError."""
        made, self._made = self._made, None
        return made or self.factory()

    def facts(self) -> Facts | None:
        """Return the metadata of the article, or None if it cannot be shown."""
        try:
            self._made = self.factory()  # kept for make(), which follows
        except UnsafeHTMLError:
            return None
        return self._made[1]


@dataclass
class Resolution:
    """The articles of a build, and its messages of one line each."""

    articles: dict[str, dict[str, PageContent]] = field(default_factory=dict)
    """The articles by page (`src_uri`) and id, in the order of the front matter."""

    incomplete: set[str] = field(default_factory=set)
    """Pages (`src_uri`) that lack a text."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    summary: str = ""

    sent: int = 0
    """The number of requests that were sent."""

    missing: dict[str, str] = field(default_factory=dict)
    """Why there is no text, by the key of its request; empty while it is being generated."""

    def add_problems(self, problems: Iterable[PageProblem], *, tolerated: bool) -> None:
        """Add the problems of pages, each once, and a placeholder for each."""
        for problem in problems:
            messages = self.warnings if tolerated else self.failures
            if problem.message not in messages:
                messages.append(problem.message)
            self.add_article(problem.page, "main", _placeholder_content(problem.message))

    def add_article(self, page: str, name: str, article: PageContent) -> None:
        """Add an article or a placeholder to a page."""
        self.articles.setdefault(page, {})[name] = article
        if article.provenance is None:
            self.incomplete.add(page)


def resolve(
    asked: Sequence[PageRequest],
    problems: Iterable[PageProblem],
    approved: ApprovedFiles,
    site: SiteConfig,
    options: ContentgenConfig,
    policy: Policy,
    ask: Ask,
    *,
    debug: Callable[[str], None] | None,
    files: Iterable[PageFile],
) -> Resolution:
    """Return the articles of all requests: from `approved` files, the cache or `ask`.

    Nothing is sent if there are `problems` with pages or damaged approved files. If `policy` is
    lenient, placeholders take the place of failures. `debug` gets a line for the source of each
    text. `files` are the pages of the site. Raises ConfigurationError for invalid options.
    """
    started = time.monotonic()
    resolution = Resolution()
    resolution.add_problems(problems, tolerated=policy.lenient)
    resolution.warnings += [
        f"{path}: no page asks for this text; remove the file if it is not needed any more"
        for path in approved.unclaimed
    ]
    send = None if resolution.failures else ask
    obtained = obtain(asked, approved, options.store(site), policy, send)
    resolution.failures += obtained.failures
    resolution.warnings += obtained.warnings
    if resolution.failures:
        return resolution
    resolution.sent = obtained.sent
    presentation = options.presentation()
    cited = with_changed_sources(obtained.articles, files, site.site_url)
    resolution.warnings += changed_source_warnings(cited)
    for article in obtained.articles:
        entry = article.asked
        if debug:
            debug(f"{entry.place}: {article.outcome}")
        if article.outcome.text is None:
            pending = _is_pending(article.outcome)
            resolution.missing[article.key] = "" if pending else str(article.outcome.error)
        resolution.add_article(entry.page, entry.request.id, _page_content(article, presentation))
    seconds = time.monotonic() - started
    outcomes = [article.outcome for article in obtained.articles]
    resolution.summary = _summary_message(outcomes, seconds)
    return resolution


def make_ask(
    site: SiteConfig,
    options: ContentgenConfig,
    background: Background | None,
    log: Callable[[str], None],
    debug: Callable[[str], None] | None,
) -> Ask:
    """Return a function that requests texts: in the background, or else with visible progress."""
    if background is None:
        return ask_with_progress(site, options, log, debug)
    return partial(
        background.ask,
        open_store=partial(options.store, site),
        connect=partial(options.connect, site, debug),
        limits=options.limits(),
        debug=debug,
    )


def ask_with_progress(
    site: SiteConfig,
    options: ContentgenConfig,
    log: Callable[[str], None],
    debug: Callable[[str], None] | None,
) -> Ask:
    """Return a function that requests texts and shows its progress.

    At the end, `log` gets a line about the calls to the model of the writer.
    """
    store, connect = options.store(site), partial(options.connect, site, debug)

    def ask(
        wanted: Mapping[str, Request], cached_keys: Collection[str], refresh: bool
    ) -> tuple[dict[str, Outcome], list[str]]:
        from .progress import show_progress

        with show_progress(log, use_log=debug is not None) as (show, log_line):
            limits = options.limits()
            ask_all = asking(store, connect, limits, on_progress=show, log=log_line, debug=debug)
            outcomes, problems = ask_all(wanted, cached_keys, refresh)
        if options.spending and options.spending.total.calls:
            log(_usage_message(outcomes.values(), str(options.spending.total)))
        return outcomes, problems

    return ask


def estimate_message(
    wanted: Mapping[str, Request], options: ContentgenConfig, site: SiteConfig
) -> str:
    """Return what the writer will take for the requests, or an empty string for a service."""
    if not (options.uses_writer() and wanted):
        return ""
    from ..service.writer import evaluation

    return evaluation.estimate_message(wanted.values(), options.writer_options(site))


def _usage_message(outcomes: Iterable[Outcome], usage: str) -> str:
    generated = [o.text.model for o in outcomes if o.source == "service" and o.text]
    noun = "text" if len(generated) == 1 else "texts"
    by = f" by {generated[0]}" if generated else ""
    return f"{len(generated)} {noun} generated{by}, {usage}"


def _page_content(article: Article, presentation: Presentation) -> PageContent:
    outcome, request = article.outcome, article.asked.request
    if _is_pending(outcome):
        return PageContent(lambda: (being_generated(request.topic), None), None, b"pending")
    if outcome.text is None or (provenance := article.provenance) is None:
        return _placeholder_content(str(outcome.error))
    # Compressed, since all texts are in memory until the last page is built.
    packed = zlib.compress(outcome.text.html.encode(), 1)
    factory = partial(_present_packed, packed, provenance, presentation)
    return PageContent(factory, provenance, packed, list(article.sources))


def _is_pending(outcome: Outcome) -> bool:
    match outcome:
        case Outcome(text=None, error=NoText(absence=Absence.PENDING)):
            return True
    return False


def _present_packed(
    packed: bytes, provenance: Provenance, presentation: Presentation
) -> tuple[Element, Facts]:
    return present(zlib.decompress(packed).decode(), provenance, presentation)


def _placeholder_content(message: str) -> PageContent:
    return PageContent(lambda: (placeholder(message), None), None, message.encode())


def _summary_message(outcomes: Sequence[Outcome], seconds: float) -> str:
    number = Counter(outcome.source for outcome in outcomes)
    pending = sum(map(_is_pending, outcomes))
    noun = "text" if len(outcomes) == 1 else "texts"
    pending_message = f", {pending} being generated" if pending else ""
    return (
        f"{len(outcomes)} {noun}: {number['approved']} from approved files, "
        f"{number['cache']} from the cache, {number['service']} generated{pending_message}, "
        f"{number[None] - pending} missing, in {seconds:.1f} s"
    )
