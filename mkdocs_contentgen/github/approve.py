"""Approve the proposed texts of a pull request in the name of whoever has approved it on GitHub.

The texts are read at the commit that was reviewed. Either all proposed texts of the pull request
are approved, or none is, and the comment says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ApprovalError, ConfigurationError, GitHubError
from ..git import Person, run_git
from ..review.proposed_texts import ProposedText, approve_texts, proposed_texts, unticked
from ..review.report_markdown import ticked_ids
from ..texts.approved_file import name_problem
from .api import Account, GitHub
from .comment import bodies, find_own, put_answer
from .events import GitHubJob, PullRequest, PullRequestReview, change_of
from .repository import change_repository, common_base, push_branch

_NOT_IN_GIT_NAMES = re.compile(r"[<>\x00-\x1f\x7f]")
"""What git takes out of the name of an author, or refuses."""

_NOT_AROUND_GIT_NAMES = " .,:;\"\\'"
"""What git takes away at both ends of a name. It refuses a name without anything else."""

_NO_OPINIONS = frozenset({"COMMENTED", "PENDING"})
"""States of reviews that neither approve nor refuse."""

_MOVED = (
    "somebody has pushed since this job began, or another commit is checked out; approve the pull "
    "request again"
)


@dataclass(frozen=True)
class ReviewOutcome:
    """What became of an approval on GitHub."""

    approved: tuple[str, ...] = ()
    """The pages whose texts are approved now."""

    problems: tuple[str, ...] = ()
    """Why no text was approved."""

    notes: tuple[str, ...] = ()
    """What else a person should know."""


def approve_reviewed(
    top: Path, directory: str, job: GitHubJob, github: GitHub, *, four_eyes: bool = False
) -> ReviewOutcome:
    """Approve the proposed texts of a pull request, and push them to its branch.

    `top` is the repository, and `directory` the approved files in it. Raises GitHubError for an API
    that cannot be used, and ConfigurationError for a job that is not about a review.
    """
    pull_request = job.event.pull_request
    review = job.event.review
    if pull_request is None or review is None:
        raise ConfigurationError(
            "the event that started this job is not a review; run it `on: pull_request_review`"
        )
    if review.state.lower() != "approved":
        return ReviewOutcome()
    base = common_base(top, change_of(pull_request))
    texts, problems = proposed_texts(top, directory, base, pull_request.head.sha)
    if not texts and not problems:
        return ReviewOutcome()
    current = github.pull_request(pull_request.number)
    if current.is_from_fork:  # the token of its jobs cannot write a comment either
        return ReviewOutcome(
            problems=("the branch is in a fork, where nothing can be committed; approve here",)
        )
    if not _may_have_texts(top, directory, base, current.head.sha):
        return ReviewOutcome(notes=("no text waits for an approval any more",))
    checked_out = (run_git(top, "rev-parse", "HEAD") or "").strip()
    problem = _problem_of_head(current, {pull_request.head.sha, checked_out})
    if problem:
        return _refuse(github, current, [problem])
    reviewer = _Reviewer(top, base, current, review, github)
    problems += reviewer.problems(texts, four_eyes=four_eyes)
    if problems:
        return _refuse(github, current, problems)
    try:
        account = github.account(reviewer.login)
        name, author = person_of(account, reviewer.login)
        approve_texts(top, directory, texts, name)
        change_repository(top, "add", "--", directory)
        change_repository(top, "commit", "-q", "-m", "Approve generated texts", author=author)
        push_branch(top, current.head.ref, current.head.sha)
    except (ApprovalError, GitHubError) as error:
        return _refuse(github, current, [str(error)])
    notes = _ask_again(github, current, review, reviewer.login)
    return ReviewOutcome(tuple(text.page for text in texts), notes=tuple(notes))


def _may_have_texts(top: Path, directory: str, base: str, head: str) -> bool:
    """Tell whether a pull request has proposed texts at its head, as far as that is known.

    A job that is run again has not fetched what came after its event, such as its own approval.
    """
    if run_git(top, "cat-file", "-e", head) is None:
        try:
            change_repository(top, "fetch", "-q", "origin", head)
        except GitHubError:
            return True  # nobody knows
    texts, problems = proposed_texts(top, directory, base, head)
    return bool(texts or problems)


def _problem_of_head(current: PullRequest, seen: set[str]) -> str:
    """Return why a pull request cannot be approved now, or an empty string.

    `seen` are the commits that were reviewed and that are checked out, which have to be its head.
    """
    if current.state != "open":
        return "the pull request is closed"
    if seen != {current.head.sha}:
        return _MOVED
    return ""


def _refuse(github: GitHub, pull_request: PullRequest, problems: Sequence[str]) -> ReviewOutcome:
    """Say in the comment why no text was approved; the log has it too."""
    notes = []
    try:
        put_answer(github, pull_request.number, "No text was approved:", problems)
    except GitHubError as error:
        notes.append(f"the comment does not say why no text was approved: {error}")
    return ReviewOutcome(problems=tuple(problems), notes=tuple(notes))


@dataclass(frozen=True)
class _Reviewer:
    """Who has approved a pull request, and what this person has reviewed of it."""

    top: Path
    """The directory of the repository."""

    base: str
    """The commit that the pull request is based on."""

    pull_request: PullRequest
    review: PullRequestReview
    """The review that started the job."""

    github: GitHub

    @property
    def login(self) -> str:
        """The name of the account on GitHub, or an empty string for a deleted one."""
        return self.review.user.login if self.review.user else ""

    def problems(self, texts: Sequence[ProposedText], *, four_eyes: bool) -> list[str]:
        """Return why the texts are not approved by the review.

        With `four_eyes`, nobody approves what no other person has committed.
        """
        problem = self._problem_of_account()
        if problem:
            return [problem]
        reviews = self.github.reviews(self.pull_request.number, self.review.id)
        opinion = latest_opinion(reviews, self.login)
        problem = problem_of_opinion(opinion, self.login)
        if opinion is None or problem:
            return [problem]
        ticked = ticked_ids(bodies(find_own(self.github, self.pull_request.number)))
        problems: list[str] = []
        for text in texts:
            if not self._has_reviewed(text, opinion.commit_id):
                problems.append(
                    f"{text.page}: is not as it was in the commit that {self.login} reviewed"
                )
            if four_eyes and self._is_only_author(text):
                problems.append(
                    f"{text.page}: only {self.login}, or nobody known to GitHub, has committed it; "
                    "another has to review"
                )
            problems += unticked(text, ticked)
        return problems

    def _problem_of_account(self) -> str:
        """Return why this account may not approve anything, or an empty string."""
        if self.review.user is None:
            return "the account of the reviewer is gone"
        if self.review.user.type != "User":
            return f"{self.login} is not a person"
        if not self.github.may_write(self.login):
            return f"{self.login} cannot write to this repository"
        return ""

    def _has_reviewed(self, text: ProposedText, commit: str | None) -> bool:
        """Tell whether the file of a text is as it was in the commit that was reviewed.

        A commit that is not known any more, which is None, is not the one that is there now.
        """
        head = self.pull_request.head.sha
        if commit == head:
            return True
        if commit is None:
            return False
        reviewed = run_git(self.top, "rev-parse", "--verify", f"{commit}:{text.path}")
        now = run_git(self.top, "rev-parse", "--verify", f"{head}:{text.path}")
        return reviewed is not None and reviewed == now

    def _is_only_author(self, text: ProposedText) -> bool:
        """Tell whether nobody else is known to have committed to the file of a text."""
        head = self.pull_request.head.sha
        # git has all commits, of which GitHub compares only 250.
        listed = run_git(self.top, "rev-list", f"{self.base}..{head}", "--", text.path)
        authors = self.github.authors_of(text.path, head, (listed or "").split())
        return authors <= {self.login, ""}


def latest_opinion(reviews: Sequence[PullRequestReview], login: str) -> PullRequestReview | None:
    """Return the last review of an account that is more than a comment, or None.

    `reviews` are all of a pull request, the oldest first. One that was followed by another keeps
    its state, so that it does not say what the person thinks now.
    """
    latest = None
    for review in reviews:
        is_by_account = review.user is not None and review.user.login == login
        if is_by_account and review.state.upper() not in _NO_OPINIONS:
            latest = review
    return latest


def problem_of_opinion(opinion: PullRequestReview | None, login: str) -> str:
    """Return why the latest opinion of an account is not an approval, or an empty string."""
    if opinion is None:
        return f"GitHub has no review of {login}"
    state = opinion.state.upper()
    if state == "APPROVED":
        return ""
    if state == "DISMISSED":
        return f"the review of {login} was dismissed"
    return f"the latest review of {login} requests changes"


def person_of(account: Account, login: str) -> tuple[str, Person]:
    """Return how an approved file names an account, and how a commit names it as its author.

    The file has the login too, which nobody can choose. A name that git or the file would not keep
    as it is gives way to the login.
    """
    name = " ".join(_NOT_IN_GIT_NAMES.sub(" ", account.name or "").split())
    name = name.strip(_NOT_AROUND_GIT_NAMES)
    address = f"{account.id}+{login}@users.noreply.github.com"
    full = f"{name} ({login})"
    if not name or name_problem(full):
        return login, Person(login, address)
    return full, Person(name, address)


def _ask_again(
    github: GitHub, pull_request: PullRequest, review: PullRequestReview, login: str
) -> list[str]:
    """Ask for another approval if GitHub has dismissed this one, or will, since the commit came.

    Return what a person should know. The texts are approved already, so no error is raised.
    """
    number = pull_request.number
    try:
        opinion = latest_opinion(github.reviews(number, review.id), login)
        is_dismissed = problem_of_opinion(opinion, login) != ""
        if not is_dismissed and not github.dismisses_approvals(pull_request.base.ref):
            return []
        github.request_review(number, login=login)
        put_answer(
            github,
            number,
            "The texts are approved.",
            [
                f"{login}, please approve the pull request once more: the settings of this "
                "repository dismiss an approval when a commit follows. The new commit has your "
                "approval in the headers of the files, and nothing is left to tick."
            ],
        )
    except GitHubError as error:
        return [f"{login} was not asked to approve the pull request once more: {error}"]
    return [f"{login} has to approve the pull request once more, since a commit followed"]
