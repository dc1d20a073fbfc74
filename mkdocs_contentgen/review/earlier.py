"""The earlier versions of the text of a file, from the commits of git.

Whoever has the repository has them, without the cache of the machine that generated the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ..errors import ApprovalError
from ..git import commits_of
from ..text import Text
from ..texts.approved_dir import read_committed
from ..texts.approved_file import ApprovedText
from ..texts.articles import Article

_MAX_COMMITS = 50
"""Commits that are searched: a text that was changed more often since is not compared."""

_MAX_HTML_READ = 1_000_000
"""How many characters of versions are read, which takes four seconds: large texts have fewer."""


def approved_text(article: Article) -> Text | None:
    """Return the text of an article as somebody approved it last, or None if nobody knows it."""
    approved = article.approved
    if approved is None:
        return None
    if approved.approval is None:
        return approved_in_git(article)
    return text_as_written(article) or approved.text


def approved_in_git(article: Article) -> Text | None:
    """Return the newest text in the commits of a file that is as somebody approved it, or None."""
    for version in _versions(article):
        if version.approval and not version.is_changed:
            return version.text
    return None


def text_as_written(article: Article) -> Text | None:
    """Return the text of a file as it was approved or proposed, before it was edited, or None."""
    approved = article.approved
    if approved is None:
        return None
    if not approved.is_changed:
        return approved.text
    for version in _versions(article):
        if (
            not version.is_changed
            and version.header.written_digest == approved.header.written_digest
        ):
            return version.text
    return None


def _versions(article: Article) -> Iterator[ApprovedText]:
    """Yield what can be read of the earlier versions of a file, the newest first."""
    size = 0
    for commit in commits_of(article.path, _MAX_COMMITS):
        if size > _MAX_HTML_READ:
            return
        with suppress(ApprovalError):
            version = read_committed(article.path, commit)
            if version is not None:
                size += len(version.text.html)
                yield version


def is_committed(article: Article) -> bool:
    """Tell whether the last commit has the file of an article exactly as it is now."""
    try:
        committed = read_committed(article.path)
    except ApprovalError:
        return False
    if committed is None or article.approved is None:
        return False
    return committed.file_digest == article.approved.file_digest
