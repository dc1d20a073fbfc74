"""Get the texts for requests: the central operation of builds and commands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..display import counted, first_names
from ..errors import (
    ConfigurationError,
    ContentgenError,
    FailedTextError,
    MissingReason,
    ServiceError,
    StoreError,
)
from ..page_request import PageRequest
from .approved_dir import ApprovedFiles
from .articles import Article, how_to_ask_again
from .finding import (
    FindStale,
    find_articles,
    link_originals,
    problem_of_original,
    with_problem_of_original,
)
from .lookup import Outcome
from .policy import Policy, SendingOptions
from .store import DiskStore

_ANY_PAGE = "PAGE"
"""Stands for the page in the command of a message about several pages."""


class TextSource(Protocol):
    """Gives the texts that are neither approved nor cached."""

    def get(
        self, wanted: Mapping[str, PageRequest], cached_keys: Collection[str], *, refresh: bool
    ) -> tuple[dict[str, Outcome], list[str]]:
        """Return an outcome for each request, by key, and the problems with the cache.

        `cached_keys` have a text or a failure that is to be replaced. With `refresh`, the service
        may not repeat an earlier answer.
        """


@dataclass(frozen=True)
class CacheOnly:
    """A TextSource that sends no requests. `reason` returns why a key has no text."""

    reason: Callable[[str], ContentgenError | MissingReason]

    def get(
        self, wanted: Mapping[str, PageRequest], cached_keys: Collection[str], *, refresh: bool
    ) -> tuple[dict[str, Outcome], list[str]]:
        """Return the reason for each request, by key."""
        return {key: Outcome(error=self.reason(key)) for key in wanted}, []


@dataclass(frozen=True)
class Foreground(SendingOptions):
    """A TextSource that sends requests and waits for the answers."""

    def get(
        self,
        wanted: Mapping[str, PageRequest],
        cached_keys: Collection[str],
        *,
        refresh: bool = False,
    ) -> tuple[dict[str, Outcome], list[str]]:
        """Generate the texts."""
        from .generation import Generation, generate

        with self.reporter.generating() as reporter:
            generation = Generation(self, reporter, refresh=refresh)
            try:
                outcomes = generate(generation, wanted, replaced=cached_keys)
            except (ConfigurationError, StoreError) as error:
                outcomes = dict.fromkeys(wanted, Outcome(error=error))
        return outcomes, generation.problems


@dataclass
class Obtained:
    """The articles with their outcomes, and messages, each on one line."""

    articles: list[Article] = field(default_factory=list)
    """In the order of the requests."""

    wanted: dict[str, PageRequest] = field(default_factory=dict)
    """The requests that were sent, or would be, by key."""

    sent: int = 0
    """The number of requests that were passed to the text source."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add_message(self, message: str, *, warn_only: bool) -> None:
        """Add a warning or a failure.

        A message that repeats the last one is left out: articles of a page can have one problem.
        """
        messages = self.warnings if warn_only else self.failures
        is_repeated = bool(messages) and messages[-1] == message
        if message and not is_repeated:
            messages.append(message)


def obtain(
    page_requests: Sequence[PageRequest],
    store: DiskStore,
    policy: Policy,
    source: TextSource | None,
    *,
    files: ApprovedFiles | None = None,
    find_stale: FindStale = lambda text: (),
    check: Callable[[PageRequest], list[str]] = lambda page_request: [],
    adds_originals: bool = False,
) -> Obtained:
    """Return the text for each request: from its approved file, from the cache, or from `source`.

    `source` is None to send nothing. Nothing is sent either if one of the approved `files` is
    damaged, if an approval is missing that `policy` requires, or if there are more requests than
    its `max_requests`. `check` returns what is wrong with a request. If it finds anything, nothing
    is sent; if `policy` only warns, the other requests are sent. Errors are part of the result, and
    not raised.

    A translation needs the text of its original. With `adds_originals`, that is asked for as well
    if it is missing and not among the requests: another build of the site has its page.
    """
    articles, problems = find_articles(
        page_requests,
        files or ApprovedFiles(),
        store,
        policy,
        find_stale=find_stale,
    )
    obtained = Obtained(articles)
    _report_approvals(obtained, policy)
    if not obtained.failures:
        if adds_originals and policy.on_missing == "generate":
            obtained.articles += _missing_originals(articles)
        problems += _send_wanted(obtained, policy, source, check)
    # An approval is missing, a request is wrong, or there are too many.
    is_refused = bool(obtained.failures)
    if not is_refused:
        obtained.warnings += dict.fromkeys(problems)
    _report_outdated(obtained)
    if source and not is_refused:
        _report_texts(obtained, policy)
    del obtained.articles[len(page_requests) :]  # the originals that were added
    return obtained


def _send_wanted(
    obtained: Obtained,
    policy: Policy,
    source: TextSource | None,
    check: Callable[[PageRequest], list[str]],
) -> list[str]:
    """Find the requests that are wanted, and send them unless one is wrong or they are too many.

    Returns the problems with the cache.
    """
    if policy.on_missing == "generate":
        _find_wanted(obtained, policy)
        _refuse_wanted(obtained, policy, check)
    if obtained.failures or not obtained.wanted or source is None:
        return []
    return _request_wanted(obtained, policy, source)


def _missing_originals(articles: Sequence[Article]) -> list[Article]:
    """Return the originals of translations that are not among the articles and have no text."""
    missing: dict[tuple[str, str], Article] = {}
    for article in articles:
        original = article.original
        if original is not None and original.text_to_translate is None:
            missing[original.page, original.request.id] = original
    for article in articles:
        missing.pop((article.page, article.request.id), None)
    return list(missing.values())


def _find_wanted(obtained: Obtained, policy: Policy) -> None:
    """Fill `wanted`. Translations whose original has no text yet are not wanted in this run."""
    for article in obtained.articles:
        if _is_wanted(article, policy):
            obtained.wanted[article.key] = article.asked_now
    _leave_out_without_original(obtained, policy)


def _is_wanted(article: Article, policy: Policy) -> bool:
    """Tell whether a text is to be requested for an article, as far as its own state says."""
    if article.damaged:
        return False
    if policy.refresh:
        return True
    # An error beside a text means that the text is too old.
    needs_text = not article.shows_file and article.draft_outcome.error is not None
    return needs_text and (policy.retry_failed or article.failure is None)


def _refuse_wanted(
    obtained: Obtained, policy: Policy, check: Callable[[PageRequest], list[str]]
) -> None:
    """Take the requests that `check` objects to out of `wanted`, with failures or warnings."""
    for number, article in enumerate(obtained.articles):
        # Not only those of `wanted`: a translation that waits for its original is checked as well.
        if not _is_wanted(article, policy):
            continue
        messages = check(article.asked)
        if not messages:
            continue
        for message in messages:
            obtained.add_message(message, warn_only=policy.warn_only)
        outcome = replace(article.draft_outcome, error=ConfigurationError(messages[0]))
        obtained.articles[number] = replace(article, draft_outcome=outcome)
        obtained.wanted.pop(article.key, None)


def _request_wanted(obtained: Obtained, policy: Policy, source: TextSource) -> list[str]:
    """Send the wanted requests, update the articles, and return the problems with the cache."""
    number = len(obtained.wanted)
    if number > policy.max_requests and not policy.warn_only:
        obtained.failures.append(
            f"{counted(number, 'request')} would be sent, and max_requests allows "
            f"{policy.max_requests}; nothing was sent; `contentgen generate --dry-run` lists them; "
            "to pay for them, raise max_requests"
        )
        return []
    originals = {}
    for key, asked in obtained.wanted.items():
        if asked.original is None:
            originals[key] = asked
    problems = _send(obtained, originals, policy, source)
    if len(originals) < number:
        # Translations come second: the text of an original may have arrived just now.
        obtained.articles = link_originals(obtained.articles)
        translations = _with_texts_of_originals(obtained, policy)
        problems += _send(obtained, translations, policy, source)
    return problems


def _send(
    obtained: Obtained, wanted: Mapping[str, PageRequest], policy: Policy, source: TextSource
) -> list[str]:
    """Send requests, update their articles, and return the problems with the cache."""
    if not wanted:
        return []
    obtained.sent += len(wanted)
    cached_keys = set()
    editions: dict[str, int] = {}
    for article in obtained.articles:
        editions[article.key] = max(article.edition, editions.get(article.key, 0))
        if article.key in wanted and (article.draft or article.failure):
            cached_keys.add(article.key)
    # Only a source that waits for its texts is told which editions there are now. Where a text
    # arrives later, in the background, its edition comes after that of the text in the cache.
    if isinstance(source, Foreground):
        source = replace(source, editions=editions)
    outcomes, problems = source.get(wanted, cached_keys, refresh=policy.refresh)
    for number, article in enumerate(obtained.articles):
        if article.key in outcomes:
            obtained.articles[number] = _with_outcome(article, outcomes[article.key])
    return problems


def _leave_out_without_original(obtained: Obtained, policy: Policy) -> None:
    """Take the translations out of `wanted` whose originals cannot be translated in this run."""
    for number, article in enumerate(obtained.articles):
        if article.key not in obtained.wanted or article.original is None:
            continue
        if article.original.key in obtained.wanted:
            continue
        problem = problem_of_original(article.original, policy)
        if problem:
            del obtained.wanted[article.key]
            obtained.articles[number] = with_problem_of_original(article, problem)


def _with_texts_of_originals(obtained: Obtained, policy: Policy) -> dict[str, PageRequest]:
    """Return the requests for the wanted translations, with the texts of their originals.

    If an original has no text, such as one that was asked for and has failed, its translation is
    not among them. It stays in `wanted`, which says what a run would send if nothing failed.
    """
    translations: dict[str, PageRequest] = {}
    for number, article in enumerate(obtained.articles):
        if article.key not in obtained.wanted or article.original is None:
            continue
        problem = problem_of_original(article.original, policy)
        if problem:
            obtained.articles[number] = with_problem_of_original(article, problem)
        else:
            translations[article.key] = article.asked_now
    return translations


def _with_outcome(article: Article, new: Outcome) -> Article:
    """Return the article with a new outcome. An old text stays where a refresh failed.

    Then its outcome has both the old text and an error, which says why there is no newer one.
    """
    old = article.draft_outcome
    if new.text or old.text is None:
        return replace(article, draft_outcome=new, stale=())
    # Where the failure of another request has stopped the run, that is the reason.
    message = f"no newer text arrived: {new.stopped_by or new.error}"
    if old.error:
        message = f"{old.error}, and {message}"
    error = MissingReason("missing", message, cause=new.stopped_by)
    return replace(article, draft_outcome=Outcome(origin=old.origin, text=old.text, error=error))


def _report_approvals(obtained: Obtained, policy: Policy) -> None:
    """Add messages about damaged, moved, edited and missing approvals."""
    for article in obtained.articles:
        if article.damaged:
            obtained.add_message(str(article.damaged), warn_only=policy.warn_only)
            continue
        if article.has_moved:
            message = (
                f"{article.place}: its approved text is still in the file of a page that is gone; "
                f"move {article.moved_from} to {article.own_path}"
            )
            obtained.add_message(message, warn_only=True)
        if article.state == "changed" and not policy.require_approval:
            obtained.add_message(_review_message(article), warn_only=True)
    if policy.require_approval:
        _require_approvals(obtained, policy)


def _require_approvals(obtained: Obtained, policy: Policy) -> None:
    """Add a message about each text that is not as somebody approved it."""
    for article in obtained.articles:
        if article.state == "changed":
            obtained.add_message(
                f"{_place_and_state(article)}, and require_approval is set; read and approve it "
                f"with `contentgen review {article.page_argument}`",
                warn_only=policy.warn_only,
            )
        elif not article.shows_approved_file:
            obtained.add_message(
                f"{article.place}: {_no_approval_message(article)}", warn_only=policy.warn_only
            )


def _no_approval_message(article: Article) -> str:
    """Return that there is no approved text, and what comes before its approval."""
    if article.outcome.text is None:
        return f"there is no text to approve; {article.how_to_get_text}"
    command = f"contentgen review {article.page_argument}"
    return f"nobody approved this text; read and approve it with `{command}`"


def _report_texts(obtained: Obtained, policy: Policy) -> None:
    """Add one message for each reason why texts are missing, or old."""
    by_reason: dict[tuple[str, bool], list[Article]] = {}
    for article in obtained.articles:
        is_asked_anew = article.key in obtained.wanted
        if article.shows_file and not is_asked_anew:  # its page has a text
            continue
        reason = _reason(article.draft_outcome, policy)
        if reason:
            warn_only = _is_warning(article.draft_outcome, policy)
            by_reason.setdefault((reason, warn_only), []).append(article)
    for (reason, warn_only), articles in by_reason.items():
        obtained.add_message(_message(reason, articles), warn_only=warn_only)


def _is_warning(outcome: Outcome, policy: Policy) -> bool:
    """Tell whether it is a warning, and no failure, that a text is missing or old."""
    if policy.warn_only or outcome.text is not None:
        return True
    match outcome.error:
        case MissingReason(absence="waiting"):
            return True
        case MissingReason(absence="no_original") if policy.on_missing == "placeholder":
            return True
        case MissingReason(absence="missing"):
            return policy.on_missing == "placeholder"
    return policy.on_error == "placeholder"


def _report_outdated(obtained: Obtained) -> None:
    """Add a warning about each approved text whose request has changed since."""
    for article in obtained.articles:
        if article.state == "outdated":
            obtained.warnings.append(_review_message(article))


def _review_message(article: Article) -> str:
    """Return that a text is not as somebody approved it, and what comes next."""
    if article.newest is None:
        return f"{_place_and_state(article)}; {article.how_to_get_text}"
    command = f"contentgen review {article.page_argument}"
    return f"{_place_and_state(article)}; read and approve it with `{command}`"


def _place_and_state(article: Article) -> str:
    return f"{article.place}: {article.state}, {article.reason}"


def _message(reason: str, articles: Sequence[Article]) -> str:
    """Return the message about articles whose texts are missing or old for the same reason."""
    first = articles[0]
    if isinstance(first.draft_outcome.error, ConfigurationError | StoreError):
        return reason  # the same for all pages
    pages = [article.source_path or article.page for article in articles]
    if len(set(pages)) == 1:
        next_step = _next_step(first.draft_outcome, first.page_argument)
        message = f"{first.place}: {reason}{next_step}"
    else:
        message = reason + _next_step(first.draft_outcome, _ANY_PAGE)
    # Several pages can have one text.
    not_requested = {article.key for article in articles if article.draft_outcome.stopped_by}
    return message_for_pages(message, pages, len(not_requested))


def message_for_pages(reason: str, pages: Iterable[str], not_requested: int) -> str:
    """Return a message with the pages that it concerns, if there are several.

    `not_requested` is the number of texts that were not requested for that reason.
    """
    parts = [reason]
    named = list(dict.fromkeys(pages))
    if len(named) > 1:
        parts.append(f"{len(named)} pages: {first_names(named)}")
    if not_requested:
        texts = counted(not_requested, "text was", "texts were")
        parts.append(f"{texts} not requested for this reason")
    return "; ".join(parts)


def _reason(outcome: Outcome, policy: Policy) -> str:
    """Return why a text is missing or old.

    It is empty if the text is neither, or if another message says why for all pages.
    """
    match outcome.error:
        case MissingReason(absence="stopped", cause=ServiceError() as cause):
            return str(cause)
        case None | MissingReason(absence="pending" | "stopped"):
            return ""  # the reason is reported once, not for each page
        case error if outcome.text:
            return f"{error}; the old text stays"
        case MissingReason(absence="missing") as error:
            return (
                f"{error}, and on_missing is '{policy.on_missing}'; "
                "a build with on_missing 'generate' requests it"
            )
        case error:
            return str(error)


def _next_step(outcome: Outcome, page: str) -> str:
    """Return what to do about a text that has failed, as the end of a message, or nothing.

    `page` is the page as an argument of a command.
    """
    if outcome.text is not None or not isinstance(outcome.error, FailedTextError):
        return ""
    return f"; {how_to_ask_again(page)}"
