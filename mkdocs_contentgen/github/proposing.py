"""Propose texts in a pull request of their own: get what is missing, update what has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import ApprovalError, ConfigurationError, GitHubError
from ..git import common_commit, run_git, top_level
from ..reporting import Reporter
from ..review.proposing import has_proposal, propose_article
from ..review.pull_requests import report_texts
from ..review.report_markdown import Form, report_markdown, repository_links
from ..review.updating import failures, plan, run
from ..site.build import Build
from ..site.options import ContentgenConfig
from ..site.site import Site
from ..texts.articles import Article
from .api import GitHub
from .events import PullRequest
from .repository import change_repository

TITLE = "Generated texts to review"

_LOGIN = re.compile(r"@?([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))")
_TEAM = re.compile(r"@?([A-Za-z0-9-]{1,39})/([A-Za-z0-9._-]{1,100})")


@dataclass(frozen=True)
class Start:
    """Where a pull request with texts begins."""

    branch: str
    remote_commit: str
    """What the branch is at on GitHub, or an empty string if it is not there."""

    pull_request: PullRequest | None = None
    """The open pull request of the branch, or None."""


@dataclass
class Proposed:
    """What was proposed."""

    pages: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What was not done, and why."""

    notes: list[str] = field(default_factory=list)
    """What else a person should know."""

    owners: list[str] = field(default_factory=list)
    address: str = ""
    """The address of the pull request, or an empty string if there was nothing to propose."""

    def add(self, article: Article, options: ContentgenConfig) -> None:
        """Propose the draft of an article, or note why that is not possible."""
        try:
            propose_article(article, options)
        except ApprovalError as error:
            self.problems.append(str(error))
            return
        self.pages.append(article.page)
        if article.request.owner:
            self.owners.append(article.request.owner)


def base_branch(environment: Mapping[str, str]) -> str:
    """Return the branch that a job runs for. Raises ConfigurationError for a tag."""
    branch = environment.get("GITHUB_REF_NAME", "")
    if not branch or environment.get("GITHUB_REF_TYPE", "branch") != "branch":
        raise ConfigurationError(
            "GITHUB_REF_NAME is no branch; run this job `on: schedule` or `workflow_dispatch`"
        )
    return branch


def propose_texts(
    site: Site,
    start: Start,
    base: str,
    github: GitHub,
    reporter: Reporter,
    max_requests: int | None,
) -> Proposed:
    """Get missing texts, update changed ones, and put both into the pull request of the branch.

    Without a new text, nothing is pushed. Raises GitHubError.
    """
    proposed = write_proposals(site, reporter, max_requests)
    if not push(site.directory, site.approved_directory(), start):
        return proposed
    articles, _ = site.articles()
    commit = common_commit(site.directory, f"origin/{base}") or ""
    reports = report_texts(site, articles, commit)
    links = repository_links(os.environ, top_level(site.directory))
    body = report_markdown(reports, Form(links))
    pull_request, notes = put_pull_request(github, start, base, body, proposed.owners)
    proposed.notes += notes
    proposed.address = pull_request.html_url
    return proposed


def start_branch(directory: Path, github: GitHub, branch: str) -> Start:
    """Check out the branch of the texts, and return where it begins.

    The branch of an open pull request is kept and brought up to date, since people may have changed
    texts there. Any other begins anew at the current commit. Raises GitHubError.
    """
    pull_request = github.open_pull_request(branch)
    reference = f"refs/heads/{branch}"
    listed = run_git(directory, "ls-remote", "origin", reference)
    if listed is None:
        raise GitHubError("git cannot read the remote 'origin'; check the repository out first")
    remote_commit = listed.partition("\t")[0].strip()
    if pull_request is None or not remote_commit:
        change_repository(directory, "checkout", "-q", "-B", branch)
        return Start(branch, remote_commit)
    current = change_repository(directory, "rev-parse", "HEAD").strip()
    change_repository(directory, "fetch", "-q", "origin", reference)
    change_repository(directory, "checkout", "-q", "-B", branch, remote_commit)
    try:
        change_repository(directory, "merge", "-q", "--no-edit", current)
    except GitHubError as error:
        run_git(directory, "merge", "--abort")
        raise GitHubError(
            f"the branch {branch} of {pull_request.html_url or 'the open pull request'} conflicts "
            "with the current one; merge them by hand"
        ) from error
    return Start(branch, remote_commit, pull_request)


def write_proposals(site: Site, reporter: Reporter, max_requests: int | None) -> Proposed:
    """Get missing texts, update those that are behind, and propose all drafts."""
    policy = site.options.command_policy()
    if max_requests is not None:
        policy = replace(policy, max_requests=max_requests)
    build = Build(site, policy, reporter)
    obtained = build.obtain(site.approved_files(), build.foreground())
    proposed = Proposed(problems=list(obtained.failures))
    if not obtained.failures:
        left = policy.max_requests - obtained.sent
        proposed.problems += _update(build, _updatable(site), left)
    articles, _ = site.articles()
    for article in articles:
        if has_proposal(article):
            proposed.add(article, site.options)
    return proposed


def _updatable(site: Site) -> list[Article]:
    """Return the articles whose texts or translations the service can update."""
    found = []
    articles, _ = site.articles()
    for article in articles:
        if site.options.service_can("translate" if article.original else "update"):
            found.append(article)
    return found


def _update(build: Build, articles: Sequence[Article], most: int) -> list[str]:
    """Update the texts whose sources or originals have changed, and return the problems."""
    planned = plan(build, articles, is_named=False)
    number = len(planned.updates)
    if number > most:
        return [
            *planned.problems,
            f"{number} updates would be sent, and max_requests allows {most} more; none was sent",
        ]
    results, more = run(build, planned.updates)
    return [*planned.problems, *more, *failures(results)]


def push(directory: Path, approved: Path, start: Start) -> bool:
    """Commit the proposed files and push them. Return whether there was anything to commit.

    Raises GitHubError if somebody has pushed to the branch meanwhile.
    """
    if not approved.exists():
        return False
    change_repository(directory, "add", "--", str(approved))
    # git ends with an error if there is a difference.
    is_unchanged = run_git(directory, "diff", "--cached", "--quiet") is not None
    if is_unchanged:
        return False
    change_repository(directory, "commit", "-q", "-m", "Propose generated texts")
    reference = f"refs/heads/{start.branch}"
    lease = f"--force-with-lease={reference}:{start.remote_commit}"
    change_repository(directory, "push", "-q", lease, "origin", f"HEAD:{reference}")
    return True


def put_pull_request(
    github: GitHub, start: Start, base: str, body: str, owners: Sequence[str]
) -> tuple[PullRequest, list[str]]:
    """Open the pull request, or update the one that is open, and ask the owners for a review.

    Return it, and what a person should know. Raises GitHubError.
    """
    pull_request = start.pull_request
    if pull_request is None:
        pull_request = github.create_pull_request(start.branch, base, TITLE, body)
    else:
        github.change_pull_request(pull_request.number, body)
    notes = []
    for owner in dict.fromkeys(owners):
        try:
            _ask(github, pull_request.number, owner)
        except GitHubError as error:
            if error.status not in (403, 404, 422):
                raise
            notes.append(f"{owner} was not asked for a review: {error}")
    return pull_request, notes


def _ask(github: GitHub, number: int, owner: str) -> None:
    """Ask an owner for a review, if it is a login or a team of GitHub."""
    login = _LOGIN.fullmatch(owner)
    team = _TEAM.fullmatch(owner)
    if login:
        github.request_review(number, login=login[1])
    elif team:
        github.request_review(number, team=team[2])
