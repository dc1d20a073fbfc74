"""The commands for reviews in pull requests."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from .common import load_articles, open_site, pages_argument, site_options
from .output import print_errors, print_line


@click.command()
@site_options
@pages_argument
@click.option("--all", "everything", is_flag=True, help="Propose every draft of the site.")
@click.option("--yes", is_flag=True, help="Overwrite words of people that a draft does not have.")
def propose(config_file: str | None, pages: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Write the drafts of PAGES into their files, for review in a pull request.

    The page stays that of a draft until somebody approves the text. Whoever has the file can
    review it: on the desk, in an editor, or with the suggestions of GitHub or GitLab.
    """
    from ..errors import ApprovalError
    from ..review.proposing import has_proposal, propose_article

    if bool(pages) == everything:
        raise click.UsageError("name the pages to propose, or use --all")
    with open_site(config_file) as site:
        failures: list[str] = []
        written: set[Path] = set()
        articles = load_articles(site, pages)
        waiting = [article for article in articles if has_proposal(article)]
        for article in waiting if everything else articles:
            try:
                print_line(propose_article(article, site.options, overwrite=yes))
                if article in waiting:
                    written.add(article.directory)
            except ApprovalError as error:
                failures.append(str(error))
        if everything and not waiting:
            print_line("There is no draft to propose.")
    for directory in written:
        print_line(f"Next: git add {shlex.quote(os.path.relpath(directory))}", err=True)
    print_errors(failures)
