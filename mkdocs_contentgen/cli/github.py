"""The commands that the action for GitHub calls."""

from __future__ import annotations

import os

import click

from .common import load_articles, open_site, site_options
from .output import print_line, print_warnings


@click.group()
def github() -> None:
    """Review texts in pull requests on GitHub: what the action calls in a job."""


@github.command()
@site_options
def check(config_file: str | None) -> None:
    """Show the report on a pull request as one comment and in the summary of the job.

    It ends with 1 while a text of the pull request is not approved.
    """
    from ..forge.api import GitHub
    from ..forge.checking import check
    from ..forge.events import read_job

    job = read_job(os.environ)
    with open_site(config_file) as site, GitHub(job) as api:
        checked = check(site, load_articles(site), job, api, os.environ)
    print_warnings(checked.notes)
    print_line(checked.summary)
    if not checked.is_approved:
        raise SystemExit(1)
