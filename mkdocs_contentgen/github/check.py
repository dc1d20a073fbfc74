"""Show the report on a pull request to those who review it: as a comment and in the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import GitHubError
from ..review.pull_requests import TextReport, report_texts
from ..review.report_markdown import (
    LinkTo,
    ReportForm,
    report_markdown,
    repository_links,
    summary_line,
    ticked_ids,
)
from ..review.source_changes import SourceChange, find_source_changes
from ..site.site import Site
from ..texts.articles import Article
from .api import GitHub
from .comment import bodies, find_own, put_comment
from .events import GitHubJob, PullRequest
from .repository import base_of, is_squashed, job_repository
from .summary import write_summary


@dataclass(frozen=True)
class Checked:
    """What a check has found."""

    summary: str
    is_approved: bool
    """Whether nothing is left to review, and no approval is doubtful."""

    notes: Sequence[str] = ()
    """What else a person should know who reads the log."""

    changes: Sequence[SourceChange] = ()
    """What the pull request does to texts through their sources."""


def check(
    site: Site,
    articles: Sequence[Article],
    job: GitHubJob,
    github: GitHub,
    environment: Mapping[str, str],
) -> Checked:
    """Write the report on a pull request to the summary, and to the comment of the pull request.

    A run for a fork has a token that only reads, and a merge queue has no pull request: then, the
    summary is all. Raises ConfigurationError for a job without a pull request or whose head is not
    checked out, and GitHubError.
    """
    change = job.event.change()
    top = job_repository(site.directory)
    base = base_of(site.directory, change)
    reports = report_texts(site, articles, base)
    links = repository_links(environment, top)
    changes = find_source_changes(site, articles, base)
    markdown = report_markdown(reports, ReportForm(links), articles=articles, changes=changes)
    notes = write_summary(job, markdown)
    pull_request = job.event.pull_request
    if pull_request is not None and pull_request.is_from_fork:
        notes.append("a pull request from a fork gets no comment; the summary has the report")
    elif pull_request is not None:
        notes += _comment(github, pull_request, reports, links, changes)
    elif is_squashed(site.directory, change.head):
        notes.append("whose commit each approval is was checked in the pull request")
        return Checked(summary_line(reports), not _are_to_review(reports), notes, changes)
    return Checked(summary_line(reports), _is_approved(reports), notes, changes)


def _is_approved(reports: Sequence[TextReport]) -> bool:
    """Tell whether nothing is left to review, and no approval is doubtful."""
    is_doubtful = any(report.has_doubtful_approval for report in reports)
    return not is_doubtful and not _are_to_review(reports)


def _are_to_review(reports: Sequence[TextReport]) -> bool:
    """Tell whether a text is left to review."""
    return any(report.is_to_review for report in reports)


def _comment(
    github: GitHub,
    pull_request: PullRequest,
    reports: Sequence[TextReport],
    links: LinkTo,
    changes: Sequence[SourceChange],
) -> list[str]:
    """Put the report into the comment, and return what a person should know."""
    number = pull_request.number
    try:
        if github.pull_request(number).head.sha != pull_request.head.sha:
            return ["somebody has pushed since; the comment is that of the newer job"]
        known = find_own(github, number)
        text = ""
        if changes or not _is_approved(reports):
            form = ReportForm(links, has_boxes=True, ticked=ticked_ids(bodies(known)))
            text = report_markdown(reports, form, changes=changes)
        put_comment(github, number, known, text)
    except GitHubError as error:
        if error.status not in (403, 429):  # forbidden, or limited for longer than a job waits
            raise
        return [f"{error}; the summary has the report"]
    return []
