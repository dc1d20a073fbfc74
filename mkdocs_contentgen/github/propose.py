"""Propose texts in a pull request of their own: get what is missing, update what has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..display import counted
from ..errors import ApprovalError, ConfigurationError, GitHubError, StoreError
from ..git import top_level
from ..reporting import Reporter
from ..review.proposing import has_proposal, propose_article
from ..review.pull_requests import report_texts
from ..review.report_markdown import ReportForm, report_markdown, repository_links, texts_markdown
from ..review.updating import failures, plan, run
from ..site.build import Build
from ..site.site import Site
from ..texts.articles import Article
from ..texts.store import DiskStore
from .api import GitHub
from .events import LOGIN, GitHubJob, JobEvent, PullRequest
from .repository import push_branch
from .summary import write_summary
from .texts_branch import (
    Start,
    brings_texts,
    commit_texts,
    give_back,
    rejected_again_message,
    rejected_message,
    reserve_branch,
)

TITLE = "Generated texts to review"

_LOGIN = re.compile(rf"@?({LOGIN})")
_TEAM = re.compile(rf"@?({LOGIN})/([A-Za-z0-9._-]{{1,100}})")


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

    def add(self, article: Article, site: Site, store: DiskStore) -> None:
        """Propose the draft of an article, or note why that is not possible."""
        try:
            propose_article(article, site, store)
        except (ApprovalError, StoreError) as error:
            self.problems.append(str(error))
            return
        self.pages.append(article.page)
        if article.request.owner:
            self.owners.append(article.request.owner)


def base_branch(environment: Mapping[str, str], event: JobEvent, branch: str) -> str:
    """Return the branch that a job runs for, which its pull request is for.

    `branch` is where it proposes texts. Raises ConfigurationError for that one, a tag, a pull
    request and a merge queue: GitHub would refuse the pull request once its texts are paid for.
    """
    base = environment.get("GITHUB_REF_NAME", "")
    is_branch = base not in ("", branch) and environment.get("GITHUB_REF_TYPE") != "tag"
    if not is_branch or event.pull_request is not None or event.merge_group is not None:
        raise ConfigurationError(
            f"this job runs for {base!r}, for which no texts can be proposed; run it "
            "`on: schedule`, `workflow_dispatch` or `push`, for a branch"
        )
    return base


def propose_texts(
    site: Site,
    start: Start,
    base: str,
    job: GitHubJob,
    github: GitHub,
    reporter: Reporter,
    max_requests: int | None,
) -> Proposed:
    """Get missing texts, update changed ones, and put both into the pull request of the branch.

    `base` is the branch that the pull request is for. Without a new text, nothing is pushed; texts
    that the branch has already without a pull request get one. Raises GitHubError. What was paid
    for is in the cache then, or on the branch.
    """
    policy = site.options.command_policy()
    if max_requests is not None:
        policy = replace(policy, max_requests=max_requests)
    build = Build(site, policy, reporter)
    need = _find_need(build)
    if start.rejected and (need.is_nothing or start.rejected_texts_are_gone):
        return Proposed(notes=[rejected_message(start)])
    reserved = start
    if need.may_be_sent:
        reserved = reserve_branch(site.directory, start)
    proposed = _write_proposals(build)
    approved = site.approved_directory()
    has_new_texts = commit_texts(site.directory, approved)
    if not has_new_texts:
        proposed.notes += _notes_without_texts(site.directory, start, reserved)
        if start.is_answered or not brings_texts(site.directory, approved, start):
            return proposed
    articles, _ = site.articles()
    reports = report_texts(site, articles, start.base)
    links = repository_links(os.environ, top_level(site.directory))
    body = report_markdown(reports, ReportForm(links))
    if has_new_texts:
        _push_texts(site, reserved, job, [report.article for report in reports])
    owners = proposed.owners
    if start.pull_request is None:  # nobody has been asked yet, also for texts of earlier jobs
        owners = [report.article.request.owner for report in reports]
    pull_request, notes = put_pull_request(github, start, base, body, owners)
    proposed.notes += notes
    proposed.address = pull_request.html_url
    return proposed


def _notes_without_texts(directory: Path, start: Start, reserved: Start) -> list[str]:
    """Take the reserved place on the branch back, and return what to say of a job without texts."""
    notes = []
    if reserved is not start:
        notes += give_back(directory, start, reserved)
    if start.rejected:
        notes.append(rejected_again_message(start.rejected))
    return notes


@dataclass(frozen=True)
class _Need:
    """How many requests a job would send."""

    missing: int
    updates: int
    most: int
    """The largest number that may be sent."""

    @property
    def is_nothing(self) -> bool:
        return not self.missing and not self.updates

    @property
    def may_be_sent(self) -> bool:
        """Whether anything will be sent."""
        if self.missing:
            return self.missing <= self.most
        return 0 < self.updates <= self.most


def _find_need(build: Build) -> _Need:
    """Count the requests that a job would send, without sending any."""
    wanted = build.obtain(build.site.approved_files(), None).wanted
    updates = plan(build, _updatable(build.site), is_named=False).updates
    return _Need(len(wanted), len(updates), build.policy.max_requests)


def _write_proposals(build: Build) -> Proposed:
    """Get missing texts, update those whose original has changed, and propose all drafts."""
    site = build.site
    obtained = build.obtain(site.approved_files(), build.foreground())
    proposed = Proposed(problems=list(obtained.failures))
    if not obtained.failures:
        left = build.policy.max_requests - obtained.sent
        proposed.problems += _update(build, _updatable(site), left)
    articles, _ = site.articles()
    with closing(site.store()) as store:
        for article in articles:
            if has_proposal(article):
                proposed.add(article, site, store)
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
            f"{counted(number, 'update')} would be sent, and max_requests allows {most} more; none "
            "was sent",
        ]
    results, more = run(build, planned.updates)
    return [*planned.problems, *more, *failures(results)]


def _push_texts(site: Site, start: Start, job: GitHubJob, articles: Sequence[Article]) -> None:
    """Push the texts. Raises GitHubError; then, the summary has them, and so has the cache."""
    try:
        push_branch(site.directory, start.branch, start.remote_commit)
    except GitHubError as error:
        notes = write_summary(job, texts_markdown(articles))
        kept = os.path.relpath(site.cache_directory(), site.directory)
        found = (
            f"the texts are in the summary, and in {kept}: the next run takes them from there if "
            "the job keeps that folder, as the action does"
        )
        raise GitHubError("; ".join([str(error), *notes, found])) from error


def put_pull_request(
    github: GitHub, start: Start, base: str, body: str, owners: Sequence[str]
) -> tuple[PullRequest, list[str]]:
    """Open the pull request, or update the one that is open, and ask the owners for a review.

    Return it, and what a person should know. Raises GitHubError.
    """
    pull_request = start.pull_request
    if pull_request is None:
        try:
            pull_request = github.create_pull_request(start.branch, base, TITLE, body)
        except GitHubError as error:
            raise GitHubError(
                f"{error}; the texts are on the branch {start.branch}, for which the next run "
                "opens the pull request"
            ) from error
    else:
        github.change_pull_request(pull_request.number, body)
    notes = []
    for owner in dict.fromkeys(owners):
        try:
            _ask(github, pull_request.number, owner)
        except GitHubError as error:
            if error.status not in (403, 404, 422, 429):
                raise
            cure = ""
            if _TEAM.fullmatch(owner):
                cure = "; a team can be asked with the token of a GitHub App that may read members"
            notes.append(f"{owner} was not asked for a review: {error}{cure}")
    return pull_request, notes


def _ask(github: GitHub, number: int, owner: str) -> None:
    """Ask an owner for a review, if it is a login or a team of GitHub."""
    login = _LOGIN.fullmatch(owner)
    team = _TEAM.fullmatch(owner)
    if login:
        github.request_review(number, login=login[1])
    elif team:
        github.request_review(number, team=team[2])
