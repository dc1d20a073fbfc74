"""Write drafts into the repository as proposals, which people review in a pull request."""

from __future__ import annotations

from msgspec import structs

from ..display import first_names, quoted
from ..errors import ApprovalError, UnsafeHTMLError
from ..site.options import ContentgenConfig
from ..text import Text
from ..texts.approved_writer import propose, save_approved
from ..texts.articles import Article
from .approving import proposed_html, service_name, unusable_draft_error, words_at_risk
from .earlier import is_committed

_MAX_NAMED = 3


def has_proposal(article: Article) -> bool:
    """Tell whether there is a draft of an article that its file does not have."""
    return article.damaged is None and article.draft is not None and article.has_newer_draft


def propose_article(article: Article, options: ContentgenConfig, *, overwrite: bool = False) -> str:
    """Write the draft of an article into its file, without an approval. Return a line to print.

    With `overwrite`, words of people in the file that the draft does not have are overwritten.
    Raises ApprovalError if there are such words, or if there is no draft that a build can show.
    """
    if article.damaged:
        raise article.damaged
    draft = article.draft
    if draft is None or not article.has_newer_draft:
        return _nothing_to_propose(article)
    try:
        html = proposed_html(draft, options)
        problem = ""
        if not overwrite:
            problem = _overwrite_problem(article, draft)
    except UnsafeHTMLError as error:
        raise unusable_draft_error(article, error) from error
    if problem:
        raise ApprovalError(f"{article.place}: {problem}")
    text = structs.replace(draft, html=html, request=article.request.record())
    proposal = propose(text, article.key, service_name(options))
    save_approved(article.path, article.directory, proposal, before=article.approved)
    return f"{article.page}: proposed in {article.path}"


def _nothing_to_propose(article: Article) -> str:
    """Return why there is nothing to propose. Raises ApprovalError where there is no text."""
    if article.approved is None or article.state == "outdated":
        raise ApprovalError(
            f"{article.place}: there is no draft to propose; "
            f"`contentgen generate {article.page_argument}` makes one"
        )
    return f"{article.page}: nothing to propose: {article.state}, {article.reason}"


def _overwrite_problem(article: Article, draft: Text) -> str:
    """Return what would be lost if a draft took the place of the file, or an empty string."""
    approved = article.approved
    if approved is None:
        return ""
    look = f"compare them with `contentgen diff {article.page_argument}`"
    cure = f"{look}, and overwrite the file with --yes"
    words = words_at_risk(article, draft)
    if words:
        named = first_names([quoted(text) for text in words], _MAX_NAMED)
        return f"{article.path} has words of people that the draft does not have: {named}; {cure}"
    if approved.approval and not is_committed(article):
        return (
            f"{article.path} has an approved text that is not committed; commit it first, or {cure}"
        )
    return ""
