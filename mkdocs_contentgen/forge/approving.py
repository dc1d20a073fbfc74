"""Approve the proposed texts of a pull request in the name of whoever has approved it on GitHub.

The configuration of the site, which a pull request can change, is not loaded: only the files of
`approved_dir` are read, out of git, at the commit that was reviewed. Either all proposed texts of
the pull request are approved, or none is, and the comment says why.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from msgspec import structs

from ..errors import ApprovalError, ConfigurationError, ForgeError, UnsafeHTMLError
from ..git import Person, run_git
from ..html.document import Document, document_of
from ..review.approving import settled_html, with_confirmed
from ..review.report_markdown import sentence_marks
from ..site.authors import name_authors
from ..text import Text
from ..texts.approved_dir import read_approved, read_in_repository
from ..texts.approved_file import ApprovedText, name_problem
from ..texts.approved_writer import approve, save_approved
from ..texts.translation import count_changes, of_approved_original
from .api import Account, GitHub
from .comment import find_own, put_answer, ticked_marks
from .events import Job, PullRequest, Review
from .repository import change_repository

_NOT_IN_GIT_NAMES = re.compile(r"[<>\n\r\x00-\x1f\x7f]")
"""What git takes out of the name of an author, or refuses."""


@dataclass(frozen=True)
class ProposedText:
    """A proposed text at the head of a pull request."""

    path: str
    """Its path in the repository."""

    page: str
    name: str
    """The id of its article on the page."""

    proposed: ApprovedText


@dataclass(frozen=True)
class ReviewOutcome:
    """What became of an approval on GitHub."""

    approved: tuple[str, ...] = ()
    """The pages whose texts are approved now."""

    problems: tuple[str, ...] = ()
    """Why no text was approved."""


def approve_reviewed(
    top: Path, directory: str, job: Job, github: GitHub, *, four_eyes: bool = False
) -> ReviewOutcome:
    """Approve the proposed texts of a pull request, and push them to its branch.

    `top` is the repository, and `directory` the approved files in it. Raises ForgeError, also if
    somebody has pushed to the branch meanwhile; then nothing is approved.
    """
    pull_request = job.event.pull_request
    review = job.event.review
    if pull_request is None or review is None:
        raise ConfigurationError(
            "the event that started this job is no review; run it `on: pull_request_review`"
        )
    if review.state.lower() != "approved":
        return ReviewOutcome()
    current = _head(top, pull_request, github)
    texts, problems = _proposed_texts(top, directory, current)
    if not texts and not problems:
        return ReviewOutcome()
    reviewer = _Reviewer(top, current, review, github)
    problems += reviewer.problems(texts, four_eyes=four_eyes)
    if problems:
        put_answer(github, current.number, problems)
        return ReviewOutcome(problems=tuple(problems))
    account = github.account(review.user.login)
    for text in texts:
        reviewed = name_authors(text.proposed.text, top / text.path, top / directory)
        if _has_original_among(reviewed, texts):
            reviewed = of_approved_original(reviewed)
        _write(top, directory, text, reviewed, _name_of(account, review.user.login))
    _push(top, directory, current, account, review.user.login)
    return ReviewOutcome(approved=tuple(text.page for text in texts))


def _head(top: Path, pull_request: PullRequest, github: GitHub) -> PullRequest:
    """Return the pull request as it is now, if its head is checked out. Raises ForgeError."""
    current = github.pull_request(pull_request.number)
    if current.is_from_fork:
        raise ForgeError("the branch is in a fork, where nothing can be committed; approve here")
    if current.state != "open":
        raise ForgeError("the pull request is closed; nothing was approved")
    if (run_git(top, "rev-parse", "HEAD") or "").strip() != current.head.sha:
        raise ForgeError(
            "somebody has pushed since this job began, or another commit is checked out; nothing "
            "was approved; approve the pull request again"
        )
    return current


def _proposed_texts(
    top: Path, directory: str, pull_request: PullRequest
) -> tuple[list[ProposedText], list[str]]:
    """Return the proposed texts that a pull request brings, and the problems with others."""
    base = pull_request.base.sha
    head = pull_request.head.sha
    listed = run_git(
        top, "diff", "--name-only", "--no-renames", "-z", f"{base}...{head}", "--", directory
    )
    if listed is None:
        raise ForgeError("git does not have the base; check it out with `fetch-depth: 0`")
    texts: list[ProposedText] = []
    problems: list[str] = []
    for path in filter(None, listed.split("\0")):
        inside = PurePosixPath(path).relative_to(directory)
        if not (path.endswith(".html") and inside.parent.name.endswith(".md")):
            continue
        tree = run_git(top, "ls-tree", head, "--", f":(literal){path}") or ""
        if not tree:
            continue  # it was deleted
        try:
            is_file = tree.startswith("100")  # the mode: links and submodules have others
            found = read_in_repository(top, path, head) if is_file else None
            if found is None:
                raise ApprovalError(f"{path}: is no file with a text")
        except ApprovalError as error:
            problems.append(str(error))
            continue
        if found.approval is None:
            texts.append(ProposedText(path, inside.parent.as_posix(), inside.stem, found))
    return texts, problems


@dataclass(frozen=True)
class _Reviewer:
    """Who has approved a pull request, and what this person has reviewed of it."""

    top: Path
    """The directory of the repository."""

    pull_request: PullRequest
    review: Review
    github: GitHub

    @property
    def login(self) -> str:
        """The name of the account on GitHub."""
        return self.review.user.login

    def problems(self, texts: Sequence[ProposedText], *, four_eyes: bool) -> list[str]:
        """Return why the texts are not approved by the review.

        With `four_eyes`, nobody approves what no other person has committed.
        """
        problem = self._own_problem()
        if problem:
            return [problem]
        ticked = ticked_marks(find_own(self.github, self.pull_request.number))
        problems: list[str] = []
        for text in texts:
            if not self._has_reviewed(text):
                problems.append(
                    f"{text.page}: is not as it was in the commit that {self.login} reviewed"
                )
            if four_eyes and self._is_only_author(text):
                problems.append(
                    f"{text.page}: only {self.login} has committed it; another has to review"
                )
            problems += _unticked(text, ticked)
        return problems

    def _own_problem(self) -> str:
        """Return why this person may not approve with this review, or an empty string."""
        if self.review.user.type != "User":
            return f"{self.login} is no person"
        if not self.github.may_write(self.login):
            return f"{self.login} cannot write to this repository"
        review_now = self.github.review(self.pull_request.number, self.review.id)
        if review_now.state.upper() != "APPROVED":
            return f"the review of {self.login} was dismissed"
        return ""

    def _has_reviewed(self, text: ProposedText) -> bool:
        """Tell whether the file of a text is the one of the commit that was reviewed."""
        head = self.pull_request.head.sha
        if self.review.commit_id == head:
            return True
        reviewed = run_git(
            self.top, "rev-parse", "--verify", f"{self.review.commit_id}:{text.path}"
        )
        now = run_git(self.top, "rev-parse", "--verify", f"{head}:{text.path}")
        return reviewed is not None and reviewed == now

    def _is_only_author(self, text: ProposedText) -> bool:
        """Tell whether nobody else has committed to the file of a text in the pull request."""
        base = self.pull_request.base.sha
        authors = self.github.authors_of(text.path, base, self.pull_request.head.sha)
        return authors <= {self.login}


def _unticked(text: ProposedText, ticked: Collection[str]) -> list[str]:
    """Return a problem for each sentence with statements whose box nobody has ticked."""
    try:
        sentences = Document(text.proposed.text.html).marked_sentences()
    except UnsafeHTMLError as error:
        return [f"{text.page}: no build can show this text: {error}"]
    marks = sentence_marks(text.page, text.name, sentences)
    problems = []
    for sentence, mark in zip(sentences, marks, strict=True):
        if mark not in ticked:
            problems.append(f"{text.page}: not ticked: {sentence}")
    return problems


def _name_of(account: Account, login: str) -> str:
    """Return how an approved file names an account: with its login, which nobody can choose."""
    name = (account.name or "").strip()
    full = f"{name} ({login})"
    return login if not name or name_problem(full) else full


def _has_original_among(translation: Text, texts: Sequence[ProposedText]) -> bool:
    """Tell whether a text is a translation of one that is approved with it."""
    original = translation.original
    if original is None:
        return False
    for text in texts:
        is_its_original = count_changes(original, text.proposed.text.html) == 0
        if is_its_original:
            return True
    return False


def _write(top: Path, directory: str, text: ProposedText, reviewed: Text, by: str) -> None:
    """Write the approved file of a proposed text. Raises ApprovalError.

    `reviewed` is that text with the names of those who edited it.
    """
    path = top / text.path
    before = read_approved(path, top / directory)
    if before is None or before.file_digest != text.proposed.file_digest:
        raise ApprovalError(f"{text.path}: is not as it is in the commit that is checked out")
    document = document_of(reviewed.html)
    edits = reviewed.edits
    statements = document.statements()
    if statements:
        edits = with_confirmed(reviewed, statements)
    approved = structs.replace(reviewed, html=settled_html(document), edits=edits)
    header = text.proposed.header
    save_approved(
        path, top / directory, approve(approved, header.key, header.service, by), before=before
    )


def _push(
    top: Path, directory: str, pull_request: PullRequest, account: Account, login: str
) -> None:
    """Commit the approved files with the reviewer as the author, and push them."""
    name = " ".join(_NOT_IN_GIT_NAMES.sub(" ", account.name or "").split()) or login
    author = Person(name, f"{account.id}+{login}@users.noreply.github.com")
    change_repository(top, "add", "--", directory)
    change_repository(top, "commit", "-q", "-m", "Approve generated texts", author=author)
    reference = f"refs/heads/{pull_request.head.ref}"
    # Only if the branch is still what was reviewed.
    lease = f"--force-with-lease={reference}:{pull_request.head.sha}"
    change_repository(top, "push", "-q", lease, "origin", f"HEAD:{reference}")
