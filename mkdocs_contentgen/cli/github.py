"""The commands that the action for GitHub calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar

import click

from ..stale import fails_on
from .common import fail_on_option, load_articles, open_site, site_options
from .output import make_reporter, print_errors, print_line, print_warnings

if TYPE_CHECKING:
    from ..github.api import GitHub
    from ..github.events import GitHubJob
    from ..stale import Level

_Command = TypeVar("_Command", bound=Callable[..., None])


def wait_option(command: _Command) -> _Command:
    """Give a command the option for limits of GitHub."""
    option = click.option(
        "--max-wait",
        type=click.IntRange(0, 360),
        default=10,
        show_default=True,
        metavar="MINUTES",
        help="How long to wait altogether until limits of GitHub have passed.",
    )
    return option(command)


def connect(job: GitHubJob, max_wait: int) -> GitHub:
    """Return the API for a job that waits for limits for some minutes."""
    from ..github.api import GitHub, Waiting

    return GitHub(job, Waiting(longest=60.0 * max_wait))


@click.group()
def github() -> None:
    """Review texts in pull requests on GitHub: what the action calls in a job."""


@github.command()
@site_options
@fail_on_option
@wait_option
def check(config_file: str | None, fail_on: Level | None, max_wait: int) -> None:
    """Show the report on a pull request as one comment and in the summary of the job.

    It ends with 1 while a text of the pull request is not approved. Texts whose sources the pull
    request changes are named, also if it touches no text.
    """
    from ..github.check import check as check_pull_request
    from ..github.events import read_job
    from ..review.report_markdown import sources_line

    job = read_job(os.environ)
    with open_site(config_file) as site, connect(job, max_wait) as api:
        checked = check_pull_request(site, load_articles(site), job, api, os.environ)
    print_warnings(checked.notes)
    print_line(checked.summary)
    if checked.changes:
        print_line(sources_line(checked.changes))
    is_failing = any(fails_on(fail_on, change.made_stale) for change in checked.changes)
    if is_failing or not checked.is_approved:
        raise SystemExit(1)


@github.command()
@site_options
@click.option("--max-requests", type=click.IntRange(0), help="Instead of the plugin's option.")
@click.option(
    "--branch", default="contentgen/texts", metavar="NAME", help="The branch to propose texts on."
)
@wait_option
def propose(config_file: str | None, max_requests: int | None, branch: str, max_wait: int) -> None:
    """Get missing texts, update changed ones, and propose them in a pull request.

    The pull request that is open already is updated; there is never a second one. The owners of
    the texts are asked for a review.
    """
    from ..github.events import read_job
    from ..github.propose import base_branch, propose_texts
    from ..github.texts_branch import start_branch

    job = read_job(os.environ)
    base = base_branch(os.environ, job.event, branch)
    with connect(job, max_wait) as api:
        start = start_branch(Path.cwd(), api, branch, base)
        with open_site(config_file) as site:
            proposed = propose_texts(site, start, base, job, api, make_reporter(), max_requests)
    print_warnings(proposed.notes)
    for page in proposed.pages:
        print_line(f"{page}: proposed")
    print_line(proposed.address or "Nothing to propose.")
    print_errors(proposed.problems)


@github.command()
@click.option(
    "--approved-dir",
    default="contentgen",
    metavar="DIR",
    help="The folder of approved files in the repository; the configuration is not read.",
)
@click.option(
    "--four-eyes", is_flag=True, help="Refuse the approval of whoever committed a text alone."
)
@wait_option
def approve(approved_dir: str, max_wait: int, *, four_eyes: bool) -> None:
    """Approve the proposed texts of a pull request that somebody has approved on GitHub.

    The texts have to be as they were reviewed, every statement has to be ticked in the comment, and
    the reviewer has to be able to write to the repository. The approval is a commit on the branch
    of the pull request, by the reviewer.
    """
    from ..github.approve import approve_reviewed
    from ..github.events import read_job
    from ..github.repository import job_repository

    top = job_repository(Path.cwd())
    folder = PurePosixPath(approved_dir)
    if folder.is_absolute() or ".." in folder.parts or not folder.parts:
        raise click.UsageError(
            "--approved-dir: name a folder of this repository, such as docs/contentgen"
        )
    job = read_job(os.environ)
    with connect(job, max_wait) as api:
        outcome = approve_reviewed(top, folder.as_posix(), job, api, four_eyes=four_eyes)
    print_warnings(outcome.notes)
    for page in outcome.approved:
        print_line(f"{page}: approved")
    if not outcome.approved and not outcome.problems:
        print_line("There is no text to approve.")
    print_errors(outcome.problems)
