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
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from mkdocs.config.defaults import MkDocsConfig

from ..errors import (
    ApprovalError,
    BudgetError,
    ConfigurationError,
    MissingError,
    PendingError,
    StoppedError,
    StoreError,
    UnsafeHTMLError,
)
from ..html.article import being_generated, placeholder
from ..html.disclosure import Provenance, Review
from ..html.presentation import Facts, Presentation, present
from ..requests import Request
from ..texts.approval import ApprovedText, approved_path, read_all, state_of
from ..texts.lookup import Outcome, check_budget, look_up
from ..texts.store import Cache, StoredText
from .options import ContentgenConfig, OnMissing
from .pages import PageProblem, PageRequest

if TYPE_CHECKING:
    from .background import Background


@dataclass
class PageArticle:
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

    articles: dict[str, dict[str, PageArticle]] = field(default_factory=dict)
    """The articles by page (`src_uri`) and id, in the pages' order."""

    unfinished: set[str] = field(default_factory=set)
    """Pages (`src_uri`) that lack a text."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    summary: str = ""

    sent: int = 0
    """Number of requests that count for the budget."""

    def say(self, message: str, *, tolerated: bool) -> None:
        """Add a warning, or a failure; what is the same for many pages is said once."""
        messages = self.warnings if tolerated else self.failures
        if message and message not in messages[-1:]:
            messages.append(message)

    def show(self, page: str, name: str, article: PageArticle) -> None:
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
    the service is being asked, `debug` one
    for each request and each try. `others` are the pages of the site that were not read; without
    them, no approved file is said to be of no page.
    Raises ConfigurationError for an option that makes no sense.
    """
    started = time.monotonic()
    policy = options.missing_policy()
    sandbox = options.uses_sandbox()
    lenient = background is not None
    resolution = Resolution()
    for problem in problems:
        resolution.say(problem.message, tolerated=lenient)
        resolution.show(problem.page, "main", _message_in_place(problem.message))
    directory = options.approved_directory(site)
    settled, outdated = _read_approved(asked, directory, others, resolution, lenient=lenient)
    keys = {entry: entry.request.key(sandbox=sandbox) for entry in asked if entry not in settled}
    requests = {key: entry.request for entry, key in keys.items()}
    store = options.store(site)
    outcomes, complaints = look_up(requests, store, max_age=options.max_age)
    for entry, key in keys.items() if options.require_approval else ():
        resolution.say(_unapproved(entry, outcomes[key]), tolerated=lenient)
    if resolution.failures:
        resolution.warnings += [_outdated(e, outdated[e], outcomes[keys[e]]) for e in outdated]
        return resolution

    wanted = {key: request for key, request in requests.items() if outcomes[key].error}
    if policy == "generate" and wanted:
        try:
            if background is None:
                check_budget(wanted, budget)
            open_store = partial(options.store, site)
            generated, more = _generate(
                wanted, outcomes, open_store, options, background, log, debug
            )
        except BudgetError as error:
            places = [entry.place for entry, key in keys.items() if key in wanted]
            resolution.warnings += [f"{place}: would be asked for" for place in places]
            resolution.failures.append(str(error))
            return resolution
        resolution.sent = len(wanted)
        complaints += more
        for key, outcome in generated.items():
            outcomes[key] = outcome if outcome.text else _without_new(outcomes[key], outcome)

    resolution.warnings += dict.fromkeys(complaints)
    resolution.warnings += [_outdated(e, outdated[e], outcomes[keys[e]]) for e in outdated]
    for entry, key in keys.items():
        message = _message(outcomes[key], entry, policy)
        tolerated = lenient or _is_tolerated(outcomes[key], policy, options.on_error)
        resolution.say(message, tolerated=tolerated)
        settled[entry] = (outcomes[key], None)
    how = options.presentation()
    for entry in asked:  # in the order of the pages
        outcome, review = settled[entry]
        if debug:
            debug(f"{entry.place}: {outcome}")
        article = _page_article(outcome, entry.request, review, how)
        resolution.show(entry.page, entry.request.id, article)
    seconds = time.monotonic() - started
    resolution.summary = _summary([outcome for outcome, _ in settled.values()], seconds)
    return resolution


def _read_approved(
    asked: Sequence[PageRequest],
    directory: Path,
    others: Collection[str] | None,
    resolution: Resolution,
    *,
    lenient: bool,
) -> tuple[dict[PageRequest, tuple[Outcome, Review | None]], dict[PageRequest, ApprovedText]]:
    """Return what approved files settle: texts, each with its review if that still holds.

    Also the texts that were approved for other requests than the pages have now.
    """
    settled: dict[PageRequest, tuple[Outcome, Review | None]] = {}
    outdated: dict[PageRequest, ApprovedText] = {}
    asking = [(entry.page, entry.request) for entry in asked]
    files = read_all(asking, directory, others=others or ())
    for path in files.unclaimed if others is not None else ():
        message = (
            f"{path}: no page asks for this text; remove the file if it is not needed any more"
        )
        resolution.say(message, tolerated=True)
    for entry in asked:
        name = entry.page, entry.request.id
        text = files.texts.get(name)
        if isinstance(text, ApprovalError):
            resolution.say(str(text), tolerated=lenient)
            settled[entry] = (Outcome(error=text), None)
            continue
        if text is None:
            continue
        if name in files.moved:
            new = approved_path(directory, *name)
            message = (
                f"{entry.place}: its approved text is still in the file of a page that is gone; "
                f"move {files.moved[name]} to {new}"
            )
            resolution.say(message, tolerated=True)
        state, reason = state_of(entry.request, text, has_draft=False)
        if state == "outdated":
            outdated[entry] = text  # there is more to say of it once the new text was looked for
            continue
        if state != "approved":
            message = f"{entry.place}: {state}, {reason}; `contentgen status` says more"
            resolution.say(message, tolerated=True)
        header = text.header
        review = Review(header.approved_by, header.approved_at) if state == "approved" else None
        stored = StoredText(text.html, header.generated_at, header.request)
        settled[entry] = (Outcome("approved", stored), review)
    return settled, outdated


def _outdated(entry: PageRequest, approved: ApprovedText, outcome: Outcome) -> str:
    has_draft = outcome.text is not None
    state, reason = state_of(entry.request, approved, has_draft=has_draft)
    return f"{entry.place}: {state}, {reason}; `contentgen status` says more"


def _unapproved(entry: PageRequest, outcome: Outcome) -> str:
    if outcome.text is None:
        return (
            f"{entry.place}: nobody approved this text, and it was not generated yet; "
            f"`contentgen generate {entry.page}` makes one to review"
        )
    return (
        f"{entry.place}: nobody approved this text; review and approve it with "
        f"`contentgen approve {entry.page}`"
    )


def _generate(
    wanted: Mapping[str, Request],
    found: Mapping[str, Outcome],
    open_store: Callable[[], Cache],
    options: ContentgenConfig,
    background: Background | None,
    log: Callable[[str], None],
    debug: Callable[[str], None] | None,
) -> tuple[dict[str, Outcome], list[str]]:
    replaced = {key for key in wanted if found[key].text}
    limits = options.limits()
    if background:
        connect = options.connect
        return background.ask(wanted, replaced, open_store, connect, limits, debug), []
    # What a build that finds all its texts does not need is not imported.
    from ..texts.generation import Generation, generate
    from .progress import shown_progress

    with shown_progress(log, in_lines=debug is not None) as (show, say):
        store = open_store()
        generation = Generation(store, options.connect, limits, on_progress=show, debug=debug)
        try:
            outcomes = generate(generation, wanted, replaced=replaced, log=say)
            return outcomes, generation.problems
        except (ConfigurationError, StoreError) as error:
            return dict.fromkeys(wanted, Outcome(error=error)), generation.problems


def _without_new(old: Outcome, new: Outcome) -> Outcome:
    """Return the outcome of a request that was sent in vain, though an old text may be there."""
    if old.text is None:
        return new
    return Outcome(
        old.source, old.text, MissingError(f"{old.error}, and no newer came: {new.error}")
    )


def _message(outcome: Outcome, entry: PageRequest, policy: OnMissing) -> str:
    """Return what there is to say about an outcome, if anything."""
    match outcome.error:
        case None | PendingError() | StoppedError():
            return ""  # why all was stopped is said once, not for each page
        case error if outcome.text:
            return f"{entry.place}: {error}; the old text stays"
        case ConfigurationError() | StoreError() as error:
            return str(error)  # the same for all pages
        case MissingError() as error:
            return (
                f"{entry.place}: {error}, and on_missing is '{policy}'; "
                "a build with on_missing 'generate' asks for it"
            )
        case error:
            return f"{entry.place}: {error}"


def _is_tolerated(outcome: Outcome, policy: OnMissing, on_error: str) -> bool:
    setting = policy if isinstance(outcome.error, MissingError) else on_error
    return outcome.text is not None or setting == "placeholder"


def _page_article(
    outcome: Outcome, request: Request, review: Review | None, how: Presentation
) -> PageArticle:
    if isinstance(outcome.error, PendingError) and outcome.text is None:
        return PageArticle(lambda: (being_generated(request.topic), None), None)
    if outcome.text is None:
        return _message_in_place(str(outcome.error))
    provenance = Provenance(request.type, outcome.text.generated_at, review)
    # It is kept until the last page is built, and is a third of what a large site needs.
    packed = zlib.compress(outcome.text.html.encode(), 1)
    return PageArticle(partial(_present_packed, packed, provenance, how), provenance)


def _present_packed(
    packed: bytes, provenance: Provenance, how: Presentation
) -> tuple[Element, Facts]:
    return present(zlib.decompress(packed).decode(), provenance, how)


def _message_in_place(message: str) -> PageArticle:
    return PageArticle(lambda: (placeholder(message), None), None)


def _summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    number = Counter(outcome.source for outcome in outcomes)
    pending = sum(isinstance(o.error, PendingError) for o in outcomes if o.text is None)
    noun = "text" if len(outcomes) == 1 else "texts"
    on_its_way = f", {pending} being generated" if pending else ""
    return (
        f"{len(outcomes)} {noun}: {number['approved']} from approved files, "
        f"{number['cache']} from the cache, {number['service']} generated{on_its_way}, "
        f"{number[None] - pending} missing, in {seconds:.1f} s"
    )
