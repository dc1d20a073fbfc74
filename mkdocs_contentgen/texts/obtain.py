"""From what pages ask for to texts: the one operation of builds, commands and programs."""

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

Ask = Callable[[Mapping[str, Request], Collection[str]], tuple[dict[str, Outcome], list[str]]]
"""Asks for texts: takes the requests by key, and the keys for which a text is there already.

Returns an outcome for each key, and what is wrong with the cache.
"""


@dataclass
class Obtained:
    """What became of each article, and what there is to say about it, one line each."""

    articles: list[Article] = field(default_factory=list)
    """In the order in which they were asked for."""

    wanted: dict[str, Request] = field(default_factory=dict)
    """What was asked for, by key, or would be."""

    sent: int = 0
    """How many requests were handed to whoever asks."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def say(self, message: str, *, tolerated: bool) -> None:
        """Add a warning, or a failure; what is the same for many pages is said once."""
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
    """Return a text for each request: from its approved file, the cache, or whoever `ask` asks.

    Nothing is asked for where one of the approved `files` is damaged or an approval is missing that
    `policy` requires, where that would be more than its `max_requests`, or without `ask`. Whatever
    went wrong is in what is returned.
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
    _judge_approvals(obtained, policy)
    if not obtained.failures:
        obtained.wanted = {a.key: a.asked.request for a in articles if _is_wanted(a, policy)}
        if obtained.wanted and policy.on_missing == "generate" and ask:
            problems += _ask(obtained, policy, ask)
    if not obtained.failures:
        obtained.warnings += dict.fromkeys(problems)
    outdated = [article for article in obtained.articles if article.state == "outdated"]
    obtained.warnings += map(_review_is_due, outdated)
    if not obtained.failures and ask:
        _judge_texts(obtained, policy)
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
    """Return what asks the service that `connect` makes a client of, and waits for its answers.

    What arrives is kept in `store`. `log` is told of a wait that an interrupt begins, and `debug`
    of each try.
    """

    def ask(
        wanted: Mapping[str, Request], there: Collection[str]
    ) -> tuple[dict[str, Outcome], list[str]]:
        # It imports what a build does not need that finds all its texts.
        from .generation import Generation, Limits, generate

        generation = Generation(
            store, connect, limits or Limits(), on_progress=on_progress, debug=debug
        )
        try:
            outcomes = generate(generation, wanted, replaced=there, log=log)
        except (ConfigurationError, StoreError) as error:
            outcomes = dict.fromkeys(wanted, Outcome(error=error))
        return outcomes, generation.problems

    return ask


def _is_wanted(article: Article, policy: Policy) -> bool:
    if article.damaged:
        return False
    return policy.refresh or (not article.is_settled and article.found.error is not None)


def _ask(obtained: Obtained, policy: Policy, ask: Ask) -> list[str]:
    """Ask for what is wanted, and put what came into the articles; return the problems."""
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
    there = {article.key for article in obtained.articles if article.draft}
    outcomes, problems = ask(obtained.wanted, there & obtained.wanted.keys())
    obtained.articles = [
        replace(article, found=_newer(article.found, outcomes[article.key]))
        if article.key in outcomes
        else article
        for article in obtained.articles
    ]
    return problems


def _newer(old: Outcome, new: Outcome) -> Outcome:
    """Return the new outcome, but keep an old text where no new one came."""
    if new.text or old.text is None:
        return new
    if old.error:
        reason = f"{old.error}, and no newer came: {new.error}"
    else:
        reason = f"no newer text came: {new.error}"
    return Outcome(old.source, old.text, NoText(Absence.MISSING, reason))


def _judge_approvals(obtained: Obtained, policy: Policy) -> None:
    """Say what there is to say of approved files, and of texts that need one."""
    for article in obtained.articles:
        place = article.asked.place
        if article.damaged:
            obtained.say(str(article.damaged), tolerated=policy.lenient)
            continue
        if article.moved_from:
            message = (
                f"{place}: its approved text is still in the file of a page that is gone; "
                f"move {article.moved_from} to {article.own_path}"
            )
            obtained.say(message, tolerated=True)
        if article.state == "changed":
            obtained.say(_review_is_due(article), tolerated=True)
    for article in obtained.articles if policy.require_approval else ():
        if not article.is_settled:
            obtained.say(_unapproved(article), tolerated=policy.lenient)


def _judge_texts(obtained: Obtained, policy: Policy) -> None:
    """Say what there is to say of texts that are missing or old."""
    for article in obtained.articles:
        if article.is_settled and article.key not in obtained.wanted:
            continue
        outcome = article.found
        is_missing = _absence(outcome) is Absence.MISSING
        setting = policy.on_missing if is_missing else policy.on_error
        tolerated = policy.lenient or outcome.text is not None or setting == "placeholder"
        obtained.say(_message(outcome, article.asked.place, policy), tolerated=tolerated)


def _review_is_due(article: Article) -> str:
    return (
        f"{article.asked.place}: {article.state}, {article.reason}; `contentgen status` says more"
    )


def _unapproved(article: Article) -> str:
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
    """Return what there is to say about an outcome, if anything."""
    match outcome.error:
        case None | NoText(absence=Absence.PENDING | Absence.STOPPED):
            return ""  # why all was stopped is said once, not for each page
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
