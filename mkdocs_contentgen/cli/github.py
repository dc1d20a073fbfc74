"""The commands that the action for GitHub calls."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import click

from .common import load_articles, open_site, site_options
from .output import make_reporter, print_errors, print_line, print_warnings


@click.group()
def github() -> None:
    """Review texts in pull requests on GitHub: what the action calls in a job."""


@github.command()
@site_options
def check(config_file: str | None) -> None:
    """Show the report on a pull request as one comment and in the summary of the job.

    It ends with 1 while a text of the pull request is not approved.
    """
    from ..github.api import GitHub
    from ..github.checking import check as check_pull_request
    from ..github.events import read_job

    job = read_job(os.environ)
    with open_site(config_file) as site, GitHub(job) as api:
        checked = check_pull_request(site, load_articles(site), job, api, os.environ)
    print_warnings(checked.notes)
    print_line(checked.summary)
    if not checked.is_approved:
        raise SystemExit(1)


@github.command()
@site_options
@click.option("--max-requests", type=click.IntRange(0), help="Instead of the plugin's option.")
@click.option(
    "--branch", default="contentgen/texts", metavar="NAME", help="The branch to propose texts on."
)
def propose(config_file: str | None, max_requests: int | None, branch: str) -> None:
    """Get missing texts, update changed ones, and propose them in a pull request.

    The pull request that is open already is updated; there is never a second one. The owners of
    the texts are asked for a review.
    """
    from ..github.api import GitHub
    from ..github.events import read_job
    from ..github.proposing import base_branch, propose_texts, start_branch

    job = read_job(os.environ)
    base = base_branch(os.environ)
    with GitHub(job) as api:
        start = start_branch(Path.cwd(), api, branch)
        with open_site(config_file) as site:
            proposed = propose_texts(site, start, base, api, make_reporter(), max_requests)
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
def approve(approved_dir: str, *, four_eyes: bool) -> None:
    """Approve the proposed texts of a pull request that somebody has approved on GitHub.

    The texts have to be as they were reviewed, every statement has to be ticked in the comment, and
    the reviewer has to be able to write to the repository. The approval is a commit on the branch
    of the pull request, by the reviewer.
    """
    from ..git import top_level
    from ..github.api import GitHub
    from ..github.approving import approve_reviewed
    from ..github.events import read_job

    top = top_level(Path.cwd())
    folder = PurePosixPath(approved_dir)
    if top is None or folder.is_absolute() or ".." in folder.parts or not folder.parts:
        raise click.UsageError(
            "--approved-dir: name a folder of this repository, such as docs/contentgen"
        )
    job = read_job(os.environ)
    with GitHub(job) as api:
        outcome = approve_reviewed(top, folder.as_posix(), job, api, four_eyes=four_eyes)
    for page in outcome.approved:
        print_line(f"{page}: approved")
    if not outcome.approved and not outcome.problems:
        print_line("There is no text to approve.")
    print_errors(outcome.problems)
