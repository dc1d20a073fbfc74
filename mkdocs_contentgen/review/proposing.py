"""Write drafts into the repository as proposals, which people review in a pull request."""

from __future__ import annotations

from msgspec import structs

from ..errors import ApprovalError, UnsafeHTMLError
from ..html.document import Document, ReadText
from ..site.site import Site
from ..texts.approved_writer import write_file
from ..texts.articles import Article
from ..texts.file_to_write import FileChangedError, file_to_write, propose
from ..texts.store import DiskStore, Kept
from ..writer.sources.staleness import with_unsupported
from .approving import document_of_file, service_name, unusable_draft_error
from .earlier import is_committed


def has_proposal(article: Article) -> bool:
    """Tell whether there is a draft of an article that its file does not have."""
    return article.damaged is None and article.draft is not None and article.has_newer_draft


def propose_article(
    article: Article, site: Site, store: DiskStore, *, overwrite: bool = False
) -> str:
    """Write the draft of an article into its file, without an approval. Return a line to print.

    With `overwrite`, human edits in the file that the draft does not have are overwritten. `store`
    keeps what the file has before. Raises ApprovalError if there are such edits, or if there is no
    draft that a build can show, and StoreError.
    """
    if article.damaged:
        raise article.damaged
    draft = article.draft
    if draft is None or not article.has_newer_draft:
        return _nothing_to_propose(article)
    try:
        options = site.options
        document = Document(draft.html, options.image_hosts)
        written = document_of_file(document, options, marks=True)
    except UnsafeHTMLError as error:
        raise unusable_draft_error(article, error) from error
    text = structs.replace(draft, html=written.source, request=article.request.record())
    agreed = article.approved.file_digest if overwrite and article.approved else ""
    look = f"compare them with `contentgen diff {article.page_argument}`"
    cure = f"{look}, and overwrite the file with --yes"
    if not overwrite and article.approval and not is_committed(article):
        raise ApprovalError(
            f"{article.place}: {article.path} has an approved text that is not committed; commit "
            f"it first, or {cure}"
        )
    read = with_unsupported(ReadText(text, written), site.cited_passages().of(text))
    proposal = propose(read, article.key, service_name(options))
    try:
        file = file_to_write(
            article.path,
            article.directory,
            proposal,
            written,
            before=article.approved,
            kept=Kept("", article.draft, page=article.page, act="propose"),
            agreed=agreed,
        )
        write_file(file, store)
    except FileChangedError as error:
        raise ApprovalError(f"{article.place}: {error}; {cure}") from error
    return f"{article.page}: proposed in {article.path}"


def _nothing_to_propose(article: Article) -> str:
    """Return why there is nothing to propose. Raises ApprovalError where there is no text."""
    if article.approved is None or article.state == "outdated":
        raise ApprovalError(
            f"{article.place}: there is no draft to propose; {article.how_to_get_text}"
        )
    return f"{article.page}: nothing to propose: {article.state}, {article.reason}"
