"""Show the report on a pull request to those who review it: as a comment and in the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import ConfigurationError, GitHubError
from ..files import reason_of
from ..git import common_commit, top_level
from ..review.pull_requests import TextReport, report_texts
from ..review.report_markdown import Form, LinkTo, report_markdown, repository_links, summary_line
from ..site.site import Site
from ..texts.articles import Article
from .api import GitHub
from .comment import find_own, put_comment, ticked_marks
from .events import Job, PullRequest


@dataclass(frozen=True)
class Checked:
    """What a check has found."""

    summary: str
    is_approved: bool
    """Whether nothing is left to review, and no approval is doubtful."""

    notes: Sequence[str] = ()
    """What else a person should know who reads the log."""


def check(
    site: Site,
    articles: Sequence[Article],
    job: Job,
    github: GitHub,
    environment: Mapping[str, str],
) -> Checked:
    """Write the report on a pull request to the summary, and to the comment of the pull request.

    A run for a fork has a token that only reads: then, the summary is all. Raises
    ConfigurationError for a job without a pull request, and GitHubError.
    """
    pull_request = job.event.pull_request
    if pull_request is None:
        raise ConfigurationError(
            "the event that started this job has no pull request; run it `on: pull_request`"
        )
    base = common_commit(site.directory, pull_request.base.sha)
    if base is None:
        raise ConfigurationError(
            f"the commit {pull_request.base.sha[:12]} that the pull request is based on is not "
            "here; check the repository out with `fetch-depth: 0`"
        )
    reports = report_texts(site, articles, base)
    links = repository_links(environment, top_level(site.directory))
    notes = _write_summary(job, report_markdown(reports, Form(links), articles=articles))
    if pull_request.is_from_fork:
        notes.append("a pull request from a fork gets no comment; the summary has the report")
    else:
        notes += _comment(github, pull_request, reports, links)
    return Checked(summary_line(reports), _is_approved(reports), notes)


def _is_approved(reports: Sequence[TextReport]) -> bool:
    """Tell whether nothing is left to review, and no approval is doubtful."""
    return not any(report.is_to_review or report.has_doubtful_approval for report in reports)


def _write_summary(job: Job, text: str) -> list[str]:
    """Add a text to the summary of a job, and return what a person should know."""
    if job.summary is None:
        return ["GITHUB_STEP_SUMMARY is not set, so there is no summary"]
    try:
        with job.summary.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        return [f"the summary cannot be written ({reason_of(error)})"]
    return []


def _comment(
    github: GitHub, pull_request: PullRequest, reports: Sequence[TextReport], links: LinkTo
) -> list[str]:
    """Put the report into the comment, and return what a person should know."""
    number = pull_request.number
    try:
        known = find_own(github, number)
        text = ""
        if not _is_approved(reports):
            form = Form(links, has_boxes=True, ticked=ticked_marks(known))
            text = report_markdown(reports, form)
        put_comment(github, number, known, text)
    except GitHubError as error:
        if error.status != 403:
            raise
        return [f"{error}; the summary has the report"]
    return []
