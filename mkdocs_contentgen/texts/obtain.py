"""Get the texts for requests: the central operation of builds and commands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..errors import Absence, ConfigurationError, NoText, StoreError
from ..requests import Request
from .approval import ApprovedFiles
from .articles import Article, find_articles
from .lookup import Outcome
from .policy import PageRequest, Policy
from .store import Cache, Store

if TYPE_CHECKING:
    from .generation import Connect, Limits, Progress

Ask = Callable[[Mapping[str, Request], Collection[str], bool], tuple[dict[str, Outcome], list[str]]]
"""A function that sends requests. It takes them by key, the keys with a cached text, and `refresh`.

It returns an outcome for each key, and the problems with the cache.
"""


@dataclass
class Obtained:
    """The articles with their outcomes, and messages of one line each."""

    articles: list[Article] = field(default_factory=list)
    """In the order of the requests."""

    wanted: dict[str, Request] = field(default_factory=dict)
    """The requests that were sent, or would be, by key."""

    sent: int = 0
    """The number of requests that were passed to `ask`."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add_message(self, message: str, *, tolerated: bool) -> None:
        """Add a warning or a failure. A message that repeats the last one is left out."""
        messages = self.warnings if tolerated else self.failures
        if message and message not in messages[-1:]:
            messages.append(message)


def obtain(
    asked: Iterable[PageRequest],
    files: ApprovedFiles,
    store: Store,
    policy: Policy,
    ask: Ask | None,
) -> Obtained:
    """Return the text for each request: from its approved file, from the cache, or from `ask`.

    `ask` is None to send nothing. Nothing is sent either if one of the approved `files` is damaged,
    if an approval is missing that `policy` requires, or if there are more requests than its
    `max_requests`. Errors are part of the result, and not raised.
    """
    articles, problems = find_articles(
        asked,
        files,
        store,
        sandbox=policy.sandbox,
        max_age=policy.max_age,
        all_drafts=policy.refresh,
    )
    obtained = Obtained(articles)
    _report_approvals(obtained, policy)
    if not obtained.failures:
        obtained.wanted = {a.key: a.asked.request for a in articles if _is_wanted(a, policy)}
        if obtained.wanted and policy.on_missing == "generate" and ask:
            problems += _request_wanted(obtained, policy, ask)
    if not obtained.failures:
        obtained.warnings += dict.fromkeys(problems)
    outdated = [article for article in obtained.articles if article.state == "outdated"]
    obtained.warnings += map(_review_message, outdated)
    if not obtained.failures and ask:
        _report_texts(obtained, policy)
    return obtained


def asking(
    store: Cache,
    connect: Connect,
    limits: Limits | None = None,
    *,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    log: Callable[[str], None] = lambda line: None,
    debug: Callable[[str], None] | None = None,
) -> Ask:
    """Return a function that sends requests, waits for the answers, and saves them in `store`.

    `connect` makes a client of the service. `log` gets a line if an interrupt has to wait, and
    `debug` a line for each try.
    """

    def ask(
        wanted: Mapping[str, Request], cached_keys: Collection[str], refresh: bool
    ) -> tuple[dict[str, Outcome], list[str]]:
        from .generation import Generation, Limits, generate

        generation = Generation(
            store,
            connect,
            limits or Limits(),
            refresh=refresh,
            on_progress=on_progress,
            debug=debug,
        )
        try:
            outcomes = generate(generation, wanted, replaced=cached_keys, log=log)
        except (ConfigurationError, StoreError) as error:
            outcomes = dict.fromkeys(wanted, Outcome(error=error))
        return outcomes, generation.problems

    return ask


def _is_wanted(article: Article, policy: Policy) -> bool:
    if article.damaged:
        return False
    return policy.refresh or (not article.is_settled and article.found.error is not None)


def _request_wanted(obtained: Obtained, policy: Policy, ask: Ask) -> list[str]:
    """Send the wanted requests, update the articles, and return the problems with the cache."""
    number = len(obtained.wanted)
    if number > policy.max_requests and not policy.lenient:
        obtained.warnings += [
            f"{article.asked.place}: would be asked for"
            for article in obtained.articles
            if article.key in obtained.wanted
        ]
        obtained.failures.append(
            f"{number} requests would be sent, and max_requests allows {policy.max_requests}; "
            "nothing was sent: raise max_requests if that is what you want to pay for"
        )
        return []
    obtained.sent = number
    cached_keys = {article.key for article in obtained.articles if article.draft}
    cached_keys &= obtained.wanted.keys()
    outcomes, problems = ask(obtained.wanted, cached_keys, policy.refresh)
    obtained.articles = [
        replace(article, found=_merge_outcomes(article.found, outcomes[article.key]))
        if article.key in outcomes
        else article
        for article in obtained.articles
    ]
    return problems


def _merge_outcomes(old: Outcome, new: Outcome) -> Outcome:
    """Return the new outcome. Keep the old text where a refresh failed."""
    if new.text or old.text is None:
        return new
    if old.error:
        reason = f"{old.error}, and no newer text arrived: {new.error}"
    else:
        reason = f"no newer text arrived: {new.error}"
    return Outcome(old.source, old.text, NoText(Absence.MISSING, reason))


def _report_approvals(obtained: Obtained, policy: Policy) -> None:
    """Add messages about approved files, and about missing approvals."""
    for article in obtained.articles:
        place = article.asked.place
        if article.damaged:
            obtained.add_message(str(article.damaged), tolerated=policy.lenient)
            continue
        if article.moved_from:
            message = (
                f"{place}: its approved text is still in the file of a page that is gone; "
                f"move {article.moved_from} to {article.own_path}"
            )
            obtained.add_message(message, tolerated=True)
        if article.state == "changed":
            obtained.add_message(_review_message(article), tolerated=True)
    for article in obtained.articles if policy.require_approval else ():
        if not article.is_settled:
            obtained.add_message(_unapproved_message(article), tolerated=policy.lenient)


def _report_texts(obtained: Obtained, policy: Policy) -> None:
    """Add messages about missing and old texts."""
    for article in obtained.articles:
        if article.is_settled and article.key not in obtained.wanted:
            continue
        outcome = article.found
        is_missing = _absence(outcome) is Absence.MISSING
        setting = policy.on_missing if is_missing else policy.on_error
        tolerated = policy.lenient or outcome.text is not None or setting == "placeholder"
        obtained.add_message(_message(outcome, article.asked.place, policy), tolerated=tolerated)


def _review_message(article: Article) -> str:
    return f"{article.asked.place}: {article.state}, {article.reason}; see `contentgen status`"


def _unapproved_message(article: Article) -> str:
    place, page = article.asked.place, article.asked.page
    if article.draft is None:
        return (
            f"{place}: nobody approved this text, and it was not generated yet; "
            f"`contentgen generate {page}` makes one to review"
        )
    return (
        f"{place}: nobody approved this text; review and approve it with "
        f"`contentgen approve {page}`"
    )


def _absence(outcome: Outcome) -> Absence | None:
    return outcome.error.absence if isinstance(outcome.error, NoText) else None


def _message(outcome: Outcome, place: str, policy: Policy) -> str:
    """Return the message about an outcome, or an empty string."""
    match outcome.error:
        case None | NoText(absence=Absence.PENDING | Absence.STOPPED):
            return ""  # the reason is reported once, not for each page
        case error if outcome.text:
            return f"{place}: {error}; the old text stays"
        case ConfigurationError() | StoreError() as error:
            return str(error)  # the same for all pages
        case NoText(absence=Absence.MISSING) as error:
            return (
                f"{place}: {error}, and on_missing is '{policy.on_missing}'; "
                "a build with on_missing 'generate' asks for it"
            )
        case error:
            return f"{place}: {error}"
