"""Find what is doubtful about an approval: whether git says that the person it names made it.

An approval names a person, so each line that makes it up has to be from a commit of that person.
The author of the commit counts, since `github approve` commits in the name of the reviewer. Whoever
committed it has to be the same person, or a machine of GitHub: otherwise, somebody has committed in
the name of another.

The digest in an approval covers all that its file says. So a line that was there before, such as
the author of a text in its proposal, counts as vouched for by whoever has written that digest.

Git does not prove who made a commit: people choose name and address themselves. What it proves is
that nobody has changed an approval in a commit with another name. Whoever needs more requires
signed commits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..errors import ApprovalError
from ..git import Commit, CommittedLine, Person, committed_lines, top_level
from ..texts.approved_dir import read_in_repository
from ..texts.approved_file import Approval, ApprovedText
from ..texts.articles import Article
from .earlier import is_committed

JOBS_OF_GITHUB = Person(
    "github-actions[bot]",
    "41898282+github-actions[bot]@users.noreply.github.com",
)
"""The account that GitHub shows for jobs."""

_MACHINES = (JOBS_OF_GITHUB, Person("GitHub", "noreply@github.com"))
"""Who commits on GitHub what people do there."""

_WRITTEN_ANEW = ("approved_by", "sha256")
"""The fields that an approval by another person always writes again."""

_FIELDS = (
    *_WRITTEN_ANEW,
    "approved_at",
    "declined",
    "unchecked",
    "written_by",
    "edits.confirmed",
    "edits.reason",
)
"""The fields of a header that make up an approval."""

_IN_PROPOSALS = ("written_by", "edits.confirmed")
"""Those of them that a proposed text has before somebody approves it."""

_NOT_IN_NAMES = re.compile(r"[<>\x00-\x1f\x7f]")
"""What git takes out of names."""

_NOT_AT_ENDS = " .,:;\"\\'"
"""What git takes off both ends of names, such as the point of `Jr.`."""

_MAX_VERSIONS = 20
"""How many earlier versions of a file are read to find out who approved those."""


@dataclass(frozen=True)
class Doubt:
    """Something that is not as it is where the person named has approved a text."""

    field: str
    """The field of the header, or an empty string for the whole file."""

    reason: str
    """What is wrong with it, such as `committed by Mallory`."""

    line: int = 1
    """The number of the line in the file."""

    def __str__(self) -> str:
        return f"{self.field or 'file'}: {self.reason}"


def doubts_about(article: Article, now: datetime) -> tuple[Doubt, ...]:
    """Return what is doubtful about the approval in the file of an article, by what git says."""
    approved = article.approved
    if approved is None or approved.approval is None:
        return ()
    if not is_committed(article):
        return (Doubt("", "not committed as it is now"),)
    lines = committed_lines(article.path)
    versions = _versions_of_others(article, approved, lines)
    return tuple(find_doubts(approved, approved.approval, lines, versions, now))


def _versions_of_others(
    article: Article, approved: ApprovedText, lines: Sequence[CommittedLine]
) -> dict[str, ApprovedText]:
    """Return the file as it was in the commits of others that wrote lines of its approval."""
    approval = approved.approval
    versions: dict[str, ApprovedText] = {}
    top = top_level(article.directory)
    if approval is None or top is None:
        return versions
    names: dict[str, str] = {}
    for number, _ in _numbered_fields(approved):
        line = lines[number - 1] if number <= len(lines) else None
        if line and line.commit and _made_problem(line.commit, approval.approved_by):
            names[line.commit.id] = line.name
    for commit, name in list(names.items())[:_MAX_VERSIONS]:
        try:
            version = read_in_repository(top, name, commit)
        except ApprovalError:
            continue
        if version is not None:
            versions[commit] = version
    return versions


def find_doubts(
    approved: ApprovedText,
    approval: Approval,
    lines: Sequence[CommittedLine],
    versions: Mapping[str, ApprovedText],
    now: datetime,
) -> Iterator[Doubt]:
    """Yield what is doubtful about the approval of a text, once for each field.

    `lines` are those of its file as committed, and `versions` is what the file said in the commits
    of others.
    """
    yield from _wrong_dates(approved, approval, now)
    doubted: set[str] = set()
    for field, number, commit in _lines_of_approval(approved, lines):
        if field in doubted:
            continue
        problem = _commit_problem(field, commit, approval.approved_by, versions)
        if problem:
            doubted.add(field)
            yield Doubt(field, problem, number)


def _wrong_dates(approved: ApprovedText, approval: Approval, now: datetime) -> Iterator[Doubt]:
    """Yield a doubt for a time that is in the future, and for an approval before the text."""
    generated_at = approved.text.generated_at
    if generated_at > now:
        yield Doubt("generated_at", "in the future", _line_of(approved, "generated_at"))
    line = _line_of(approved, "approved_at")
    if approval.approved_at > now.astimezone(UTC).date():
        yield Doubt("approved_at", "in the future", line)
    elif approval.approved_at < generated_at.astimezone(UTC).date():
        yield Doubt("approved_at", "before the text was generated", line)


def _line_of(approved: ApprovedText, field: str) -> int:
    lines = approved.field_lines.get(field)
    return lines.start if lines else 1


def _lines_of_approval(
    approved: ApprovedText, lines: Sequence[CommittedLine]
) -> Iterator[tuple[str, int, Commit | None]]:
    """Yield the field, the number and the commit of each line that makes up an approval.

    The commit is None where git does not know it.
    """
    for field in _WRITTEN_ANEW:
        if field not in approved.field_lines:
            yield field, 1, None
    for number, field in _numbered_fields(approved):
        commit = None
        if number <= len(lines):
            commit = lines[number - 1].commit
        yield field, number, commit


def _numbered_fields(approved: ApprovedText) -> Iterator[tuple[int, str]]:
    """Yield the number of each line that makes up an approval, and its field."""
    for field in _FIELDS:
        for number in approved.field_lines.get(field, ()):
            yield number, field


def _commit_problem(
    field: str, commit: Commit | None, person: str, versions: Mapping[str, ApprovedText]
) -> str:
    """Return why a commit does not vouch for a line of an approval, or an empty string.

    `person` is whom the approval names.
    """
    if commit is None:
        return "from a commit that git does not know"
    problem = _made_problem(commit, person)
    if problem and _was_vouched_for(field, commit, versions):
        return ""
    return problem


def _was_vouched_for(field: str, commit: Commit, versions: Mapping[str, ApprovedText]) -> bool:
    """Tell whether a line of another person was a part of what the person named has approved.

    It is from an earlier approval by that other person, or from the proposal.
    """
    version = versions.get(commit.id)
    if version is None or field in _WRITTEN_ANEW:
        return False
    if version.approval is None:
        return field in _IN_PROPOSALS
    return not version.is_changed and not _made_problem(commit, version.approval.approved_by)


def _made_problem(commit: Commit, person: str) -> str:
    """Return why a commit is not one that a person made, or an empty string.

    An approval on GitHub names the account behind the name, as in `Jo Doe (jo)`; its commit has
    the address that GitHub gives that account.
    """
    author = commit.author
    if not author.name:
        return "from a commit without an author"
    if not _is_person(author, person):
        return f"committed by {author.name}"
    committer = commit.committer
    if committer.name != author.name and committer not in _MACHINES:
        return f"committed by {committer.name or 'nobody'} in the name of {author.name}"
    return ""


def _is_person(author: Person, person: str) -> bool:
    """Tell whether the author of a commit is the person that an approval names."""
    if _in_git(author.name) == _in_git(person):
        return True
    name, _, login = person.removesuffix(")").rpartition(" (")
    of_account = author.address.partition("@")[0].rpartition("+")[2]
    is_of_github = author.address.endswith("@users.noreply.github.com")
    return _in_git(author.name) == _in_git(name) and is_of_github and of_account == login


def _in_git(name: str) -> str:
    """Return a name as git has it in commits, which cannot have some characters."""
    return " ".join(_NOT_IN_NAMES.sub(" ", name).split()).strip(_NOT_AT_ENDS)
