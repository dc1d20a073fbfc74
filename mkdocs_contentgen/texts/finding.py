"""Find the articles of requests, with their texts from approved files and the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from ..errors import PENDING, ApprovalError, MissingReason
from ..page_request import PageRequest
from ..requests import Request
from ..stale import StaleSource
from ..text import Text
from .approved_dir import ApprovedFiles
from .approved_file import ApprovedText
from .articles import Article
from .lookup import look_up
from .policy import Policy
from .store import DiskStore

FindStale = Callable[[Text], tuple[StaleSource, ...]]
"""Returns those of the passages that a text cites that have changed since, or are gone."""


def find_articles(
    page_requests: Sequence[PageRequest],
    files: ApprovedFiles,
    store: DiskStore,
    policy: Policy,
    *,
    find_stale: FindStale = lambda text: (),
) -> tuple[list[Article], list[str]]:
    """Return an article for each request, and the problems with the cache.

    Drafts of articles with an approval, and failed updates, are only looked up if the policy says
    so. The store is closed afterwards. The originals of translations are found with them.
    """
    found = []
    wanted: dict[str, Request] = {}
    for asked in with_originals(page_requests):
        article = _article(asked, files, policy)
        found.append(article)
        if policy.looks_up_drafts or not article.shows_file:
            wanted[article.key] = article.request
    outcomes, problems = look_up(
        wanted, store, max_age=policy.max_age, with_updates=policy.looks_up_drafts
    )
    articles: list[Article] = []
    for article in found:
        if article.key in outcomes:
            article = replace(article, draft_outcome=outcomes[article.key])
        shown = article.outcome.text
        # A translation is made from its original, whatever the sources of that are now.
        if shown and shown.sources and article.asked.original is None:
            article = replace(article, stale=find_stale(shown))
        articles.append(article)
    # with_originals() has added the others after the requests.
    linked = link_originals(articles)[: len(page_requests)]
    for number, article in enumerate(linked):
        if article.original:
            linked[number] = _with_reason_of_original(article, article.original, policy)
    return linked, problems


def _with_reason_of_original(article: Article, original: Article, policy: Policy) -> Article:
    """Return a translation that says what its original lacks, if the translation is missing."""
    if not isinstance(article.draft_outcome.error, MissingReason):
        return article
    problem = problem_of_original(original, policy)
    if problem is None:
        return article
    return with_problem_of_original(article, problem)


def problem_of_original(original: Article, policy: Policy) -> MissingReason | None:
    """Return why the text of an original cannot be translated now, or None."""
    text = original.text_to_translate
    if text is None:
        if original.outcome.error == PENDING:
            return PENDING
        return MissingReason("no_original", original.no_text_to_translate)
    if text.is_draft and not policy.translates_drafts:
        command = f"contentgen review {original.page_argument}"
        return MissingReason(
            "waiting",
            f"it translates {original.page}, which waits for approval; approve that first with "
            f"`{command}`",
        )
    return None


def with_problem_of_original(article: Article, problem: MissingReason) -> Article:
    """Return a missing translation that says why its original cannot be translated now.

    A draft that is there stays as it is.
    """
    if article.draft is not None:
        return article
    return replace(article, draft_outcome=replace(article.draft_outcome, error=problem))


def _article(asked: PageRequest, files: ApprovedFiles, policy: Policy) -> Article:
    """Return the article of a request, with its file and without a draft."""
    name = asked.page, asked.request.id
    found = files.texts.get(name)
    return Article(
        asked,
        key=asked.request.key(sandbox=policy.sandbox),
        directory=files.directory,
        moved_from=files.moved.get(name),
        approved=found if isinstance(found, ApprovedText) else None,
        damaged=found if isinstance(found, ApprovalError) else None,
        may_show_draft=policy.shows_drafts,
    )


def with_originals(page_requests: Sequence[PageRequest]) -> list[PageRequest]:
    """Return requests, and then the originals of translations that are not among them."""
    others: dict[tuple[str, str], PageRequest] = {}
    for asked in page_requests:
        original = asked.original
        if original:
            others.setdefault((original.page, original.request.id), original)
    for asked in page_requests:
        others.pop((asked.page, asked.request.id), None)
    return [*page_requests, *others.values()]


def link_originals(articles: Sequence[Article]) -> list[Article]:
    """Return articles in which each translation has its original as it is among these articles."""
    by_name = {}
    for article in articles:
        by_name[article.page, article.request.id] = article
    linked = []
    for article in articles:
        original = article.asked.original
        if original:
            found = by_name.get((original.page, original.request.id), article.original)
            article = _with_approved_original(replace(article, original=found))
        linked.append(article)
    return linked


def _with_approved_original(article: Article) -> Article:
    """Return a translation that knows that its original is approved now.

    If the original has changed since it was translated as a draft, the translation stays as it is.
    """
    newest = article.newest
    original = article.original_text
    if newest is None or original is None or original.is_draft:
        return article
    if newest.original is None or not newest.original.is_draft or article.original_changes:
        return article
    from ..translation.first_translation import of_approved_original

    text = of_approved_original(newest)
    if article.approved and newest is article.approved.text:
        return replace(article, approved=replace(article.approved, text=text))
    return replace(article, draft_outcome=replace(article.draft_outcome, text=text))


def with_due_date(article: Article, review_every: timedelta, today: date) -> Article:
    """Return an article that says since when its approved text is due for another review."""
    approval = article.approval
    if approval is None or article.state != "approved":
        return article
    try:
        due = approval.approved_at + review_every
    except OverflowError:  # no calendar has that day
        return article
    if due <= today:
        return replace(article, due_since=due)
    return article
