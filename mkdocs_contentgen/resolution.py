"""From the requests of a build to what its pages show, under the policy of the options.

Imported only by builds with a page that asks for something.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from mkdocs.config.defaults import MkDocsConfig

from .approval import approved_path, state_of
from .approval import read as read_approved
from .article import placeholder
from .config import ContentgenConfig, OnMissing
from .disclosure import Provenance, Review
from .errors import (
    ApprovalError,
    BudgetError,
    ConfigurationError,
    MissingError,
    PendingError,
    StoppedError,
    StoreError,
)
from .generator import Generation, Outcome, check_budget, generate, look_up
from .pages import PageRequest
from .presentation import Facts, Presentation, present
from .progress import shown_progress
from .request import Request
from .store import Store, StoredText

if TYPE_CHECKING:
    from .background import Background


@dataclass(frozen=True)
class PageArticle:
    """One article of a page: how to make its element, and what to say of it, if it is there."""

    make: Callable[[], tuple[Element, Facts | None]]
    provenance: Provenance | None


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


def resolve(
    asked: Iterable[PageRequest],
    site: MkDocsConfig,
    options: ContentgenConfig,
    *,
    background: Background | None,
    log: Callable[[str], None],
) -> Resolution:
    """Get the texts of all requests: from the cache, then, if the options let it, the service.

    With a `background`, nothing is waited for, and nothing is a failure: what has no text yet says
    so in its page. `log` gets a line now and then while the service is being asked.
    Raises ConfigurationError for an option that makes no sense.
    """
    started = time.monotonic()
    policy = options.missing_policy()
    sandbox = options.uses_sandbox()
    asked = list(asked)
    resolution = Resolution()
    approved = _read_approved(asked, options.approved_directory(site), resolution)
    keys = {entry: entry.request.key(sandbox=sandbox) for entry in asked if entry not in approved}
    if options.require_approval and keys:
        resolution.failures += [
            f"{entry.place}: nobody approved this text; review and approve it with "
            f"`contentgen approve {entry.page}`"
            for entry in keys
        ]
    if resolution.failures and background is None:
        return resolution

    requests = {key: entry.request for entry, key in keys.items()}
    store = options.store(site)
    try:
        outcomes, problems = look_up(requests, store, max_age=options.max_age)
        wanted = {key: request for key, request in requests.items() if outcomes[key].error}
        if policy == "generate" and wanted:
            generated, found = _generate(wanted, store, site, options, background, log)
            problems += found
            for key, outcome in generated.items():
                outcomes[key] = outcome if outcome.text else _without_new(outcomes[key], outcome)
    except BudgetError as error:
        places = [
            f"{entry.place}: would be asked for" for entry, key in keys.items() if key in wanted
        ]
        return Resolution(failures=[*places, str(error)])
    finally:
        store.close()

    resolution.warnings += problems
    for entry in asked:
        outcome, review = approved.get(entry) or (outcomes[keys[entry]], None)
        message = _message(outcome, entry, policy)
        tolerated = outcome.text or background or _is_tolerated(outcome, policy, options.on_error)
        messages = resolution.warnings if tolerated else resolution.failures
        if message and message not in messages[-1:]:
            messages.append(message)
        if outcome.text is None:
            resolution.unfinished.add(entry.page)
        article = _page_article(outcome, entry.request, review, options.presentation())
        resolution.articles.setdefault(entry.page, {})[entry.request.id] = article
    sources = [outcome.source for outcome, _ in approved.values()]
    sources += [outcome.source for outcome in outcomes.values()]
    resolution.summary = _summary(sources, time.monotonic() - started)
    return resolution


def _read_approved(
    asked: Iterable[PageRequest], directory: Path, resolution: Resolution
) -> dict[PageRequest, tuple[Outcome, Review | None]]:
    """Return the texts from approved files, each with its review, if that still holds."""
    texts: dict[PageRequest, tuple[Outcome, Review | None]] = {}
    for entry in asked:
        try:
            text = read_approved(approved_path(directory, entry.page, entry.request.id))
        except ApprovalError as error:
            resolution.failures.append(str(error))
            continue
        if text is None:
            continue
        state, reason = state_of(entry.request, text, has_draft=False)
        if state != "approved":
            resolution.warnings.append(
                f"{entry.place}: {state}, {reason}; `contentgen status` says more"
            )
        if state != "outdated":
            header = text.header
            review = Review(header.approved_by, header.approved_at) if state == "approved" else None
            stored = StoredText(text.html, header.generated_at, header.request)
            texts[entry] = (Outcome("approved", stored), review)
    return texts


def _generate(
    wanted: Mapping[str, Request],
    store: Store,
    site: MkDocsConfig,
    options: ContentgenConfig,
    background: Background | None,
    log: Callable[[str], None],
) -> tuple[dict[str, Outcome], list[str]]:
    limits = options.limits()
    if background:
        # Its thread outlives this build, so it has a store of its own.
        return background.ask(wanted, options.store(site), options.connect, limits), []
    check_budget(wanted, options.max_requests)
    with shown_progress(log) as show:
        generation = Generation(store, options.connect, limits, on_progress=show)
        try:
            return generate(generation, wanted), generation.problems
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
        case None | PendingError():
            return ""
        case StoppedError():
            return ""  # why it was stopped is said once, not for each page
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
    return setting == "placeholder"


def _page_article(
    outcome: Outcome, request: Request, review: Review | None, how: Presentation
) -> PageArticle:
    if outcome.text is None:
        message = str(outcome.error)
        return PageArticle(lambda: (placeholder(message), None), None)
    provenance = Provenance(request.type, outcome.text.generated_at, review)
    return PageArticle(partial(present, outcome.text.html, provenance, how), provenance)


def _summary(sources: Iterable[str | None], seconds: float) -> str:
    number = Counter(sources)
    return (
        f"{number.total()} texts: {number['approved']} from approved files, "
        f"{number['cache']} from the cache, {number['service']} generated, "
        f"{number[None]} missing, in {seconds:.1f} s"
    )
