"""The commands for reviews in pull requests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..stale import fails_on
from .common import (
    fail_on_option,
    json_option,
    load_articles,
    open_site,
    pages_argument,
    site_options,
)
from .output import print_errors, print_git_add, print_json, print_line

if TYPE_CHECKING:
    from ..review.pull_requests import TextReport
    from ..stale import Level
    from ..texts.articles import Article


@click.command()
@site_options
@pages_argument
@click.option("--all", "everything", is_flag=True, help="Propose every draft of the site.")
@click.option("--yes", is_flag=True, help="Overwrite human edits that a draft does not have.")
def propose(config_file: str | None, pages: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Write the drafts of PAGES into their files, for review in a pull request.

    The page stays that of a draft until somebody approves the text. Whoever has the file can
    review it: on the desk, in an editor, or with the suggestions of GitHub or GitLab.
    """
    from ..errors import ApprovalError, StoreError
    from ..review.proposing import has_proposal, propose_article

    if bool(pages) == everything:
        raise click.UsageError("name the pages to propose, or use --all")
    with open_site(config_file) as site, closing(site.store()) as store:
        failures: list[str] = []
        written: set[Path] = set()
        articles = load_articles(site, pages)
        if everything:
            articles = [article for article in articles if has_proposal(article)]
            if not articles:
                print_line("There is no draft to propose.")
        for article in articles:
            has_draft = has_proposal(article)
            try:
                print_line(propose_article(article, site, store, overwrite=yes))
            except (ApprovalError, StoreError) as error:
                failures.append(str(error))
                continue
            if has_draft:
                written.add(article.directory)
    for directory in written:
        if not print_git_add(directory):
            print_line(
                "This folder is in no git repository, so no pull request can have the file. "
                "Whoever gets a copy of the folder can review it, with `contentgen review`",
                err=True,
            )
    print_errors(failures)


@click.command()
@site_options
@click.option(
    "--base", metavar="REV", default="", help="The commit or branch to compare with, in git."
)
@json_option
@fail_on_option
def report(config_file: str | None, base: str, *, as_json: bool, fail_on: Level | None) -> None:
    """Print what there is to review, in Markdown for a comment, a job summary or a file.

    With --base, it is about the texts that changed since then: their words, the statements that
    are left to check with the sources beside them, remarks, and whose commit an approval is.
    Without it, it is about all texts that are not approved. With --base, texts whose sources have
    changed since then are named, too, also if they are as they were.
    """
    from ..display import escape_controls
    from ..git import common_commit, repository_problem, top_level
    from ..review.pull_requests import report_texts
    from ..review.report_markdown import ReportForm, report_json, report_markdown, repository_links
    from ..review.source_changes import find_source_changes

    with open_site(config_file) as site:
        commit = ""
        if base:
            problem = repository_problem(site.directory)
            if problem:
                raise click.UsageError(f"--base: {escape_controls(problem)}")
            commit = common_commit(site.directory, base) or ""
            if not commit:
                raise click.UsageError(
                    f"--base: {base!r} is not a commit of this repository; in CI, fetch it first, "
                    "with `fetch-depth: 0` on GitHub or `GIT_DEPTH: 0` on GitLab"
                )
        articles = load_articles(site)
        reports = report_texts(site, articles, commit)
        top = top_level(site.directory)
        changes = find_source_changes(site, articles, commit) if commit else []
        stale = [] if commit else [article for article in articles if article.stale]
        if as_json:
            named = [*(change.article for change in changes), *stale]
            further = _further_reports(articles, reports, named)
            print_json(report_json([*reports, *further], top))
        else:
            form = ReportForm(repository_links(os.environ, top))
            markdown = report_markdown(
                reports, form, articles=articles, changes=changes, stale=stale
            )
            click.echo(markdown, nl=False)
    found = [change.made_stale for change in changes] + [article.stale for article in stale]
    if any(fails_on(fail_on, sources) for sources in found):
        raise SystemExit(1)


def _further_reports(
    articles: Sequence[Article],
    reports: Sequence[TextReport],
    stale: Iterable[Article],
) -> list[TextReport]:
    """Report the texts that are due, those that are stale, and translations that are behind.

    Those that `reports` contains are left out.
    """
    from ..review.pull_requests import TextReport

    known = {report.article.asked for report in reports}
    found = []
    changed = {article.asked for article in stale}
    for article in articles:
        is_due = article.is_due or article.original_changes or article.asked in changed
        if is_due and article.asked not in known:
            found.append(TextReport(article))
    return found
