"""Find the texts whose watched files have changed since they were approved, with the help of git.

A text is as old as the last commit that changed its approved file. What counts are the commits that
this one did not know, so that a branch counts that is older but was merged later. Git is asked a
few times for all texts together, and not at all where no request has `watch`.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ..git import (
    ChangingCommit,
    changing_commits,
    common_ancestor,
    top_level,
    tracked_files,
    uncommitted_files,
)
from ..globs import Glob
from ..texts.articles import Article, WatchedFiles

NO_HISTORY = "git does not have the commit of the approval; a shallow clone needs `fetch-depth: 0`"
"""Why nobody knows whether watched files have changed."""


def with_watched_files(articles: Sequence[Article], directory: Path) -> list[Article]:
    """Return articles that know what of their watched files has changed since the approval.

    Their globs are relative to `directory`.
    """
    watching = []
    for article in articles:
        if _is_watching(article):
            watching.append(article)
    if not watching:
        return [*articles]
    top = top_level(directory)
    history = None
    if top:
        history = _History(top, directory, watching)
    found = []
    for article in articles:
        if not _is_watching(article):
            found.append(article)
        elif history is None:
            found.append(replace(article, watched=WatchedFiles(problem=NO_HISTORY)))
        else:
            found.append(replace(article, watched=history.watched(article)))
    return found


def _is_watching(article: Article) -> bool:
    """Tell whether a text is due once files have changed since its approval."""
    # A translation has the fields of its original, which is the text that is due.
    is_original = article.asked.original is None
    return bool(article.request.watch) and article.state == "approved" and is_original


class _History:
    """What git knows of approved files and of the files that their texts watch."""

    def __init__(self, top: Path, directory: Path, articles: Sequence[Article]) -> None:
        self._top = top
        self._directory = directory.resolve().relative_to(top).as_posix()
        self._articles = articles

    def watched(self, article: Article) -> WatchedFiles:
        """Return what of the watched files of an article has changed since its approval."""
        globs = self._globs(article)
        for pattern, glob in zip(article.request.watch, globs, strict=True):
            if glob.pattern.startswith("../"):
                return WatchedFiles(problem=f"`{pattern}` is outside of the repository")
        name = self._name(article)
        if name in self._uncommitted:  # it is approved after all commits
            return WatchedFiles(problem=self._unmatched(article, ()))
        if name not in self._approvals:
            return WatchedFiles(problem=NO_HISTORY)
        known = _ancestors(self._approvals[name], self._commits)
        changes = _changes(globs, known, self._commits.values())
        problem = self._unmatched(article, changes)
        return WatchedFiles(tuple(sorted(changes.items())), problem)

    def _unmatched(self, article: Article, changed: Iterable[str]) -> str:
        """Return which pattern of an article matches no file, or an empty string."""
        names = [*self._tracked, *changed]
        for pattern, glob in zip(article.request.watch, self._globs(article), strict=True):
            if not any(map(glob.matches, names)):
                return f"`{pattern}` matches no file that git tracks"
        return ""

    def _name(self, article: Article) -> str:
        """Return the path of an approved file in the repository."""
        return article.path.resolve().relative_to(self._top).as_posix()

    def _globs(self, article: Article) -> list[Glob]:
        """Return the globs of an article, relative to the repository."""
        globs = []
        for pattern in article.request.watch:
            globs.append(Glob(posixpath.normpath(posixpath.join(self._directory, pattern))))
        return globs

    @cached_property
    def _folders(self) -> list[str]:
        """The folders in which files are watched; only the empty name if one is the repository."""
        folders = set()
        for article in self._articles:
            for glob in self._globs(article):
                folders.add(glob.folder)
        if "" in folders:
            return [""]
        return sorted(folders)

    @cached_property
    def _uncommitted(self) -> set[str]:
        return uncommitted_files(self._top, map(self._name, self._articles))

    @cached_property
    def _tracked(self) -> list[str]:
        return tracked_files(self._top, self._folders)

    @cached_property
    def _approvals(self) -> Mapping[str, str]:
        """The last commit that changed each approved file, by its name."""
        days = []
        for article in self._articles:
            if article.approval:
                days.append(article.approval.approved_at)
        found: dict[str, str] = {}
        names = [self._name(article) for article in self._articles]
        for commit in changing_commits(self._top, names, since=min(days)):
            for name in commit.names:
                found.setdefault(name, commit.id)
        return found

    @cached_property
    def _commits(self) -> Mapping[str, ChangingCommit]:
        """The commits since the first approval that change watched or approved files, by id."""
        approvals = sorted(set(self._approvals.values()))
        if not approvals:
            return {}
        names = [*self._folders, *map(self._name, self._articles)]
        if "" in names:  # the whole repository
            names = [""]
        without = common_ancestor(self._top, approvals)
        commits = changing_commits(self._top, names, without=without)
        return {commit.id: commit for commit in commits}


def _ancestors(commit: str, commits: Mapping[str, ChangingCommit]) -> set[str]:
    """Return a commit and those that led to it."""
    found: set[str] = set()
    waiting = [commit]
    while waiting:
        current = waiting.pop()
        if current in found or current not in commits:
            continue
        found.add(current)
        waiting += commits[current].parents
    return found


def _changes(
    globs: Iterable[Glob], known: set[str], commits: Iterable[ChangingCommit]
) -> Mapping[str, int]:
    """Return the number of commits that changed each watched file and are not `known`."""
    changed: Counter[str] = Counter()
    for commit in commits:
        if commit.id not in known:
            changed.update(commit.names)
    found = {}
    for name, number in changed.items():
        if any(glob.matches(name) for glob in globs):
            found[name] = number
    return found
