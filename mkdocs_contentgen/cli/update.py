"""The command `contentgen update`."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ..display import counted
from ..files import find_link, reason_of
from .common import load_articles, open_site, pages_argument, site_options
from .output import make_reporter, print_errors, print_line, print_next, print_warnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..review.updating import TextUpdate
    from ..site.build import Build


@click.command()
@site_options
@pages_argument
@click.option("--note", default="", help="What to change, in words; else what is wrong now.")
@click.option("--section", default="", metavar="HEADING", help="Change this part of a text only.")
@click.option("--all", "everything", is_flag=True, help="Every text whose sources have changed.")
@click.option("--dry-run", is_flag=True, help="List the updates, and send no request.")
@click.option(
    "--report", type=click.Path(dir_okay=False), help="Write what was changed, and why, to a file."
)
def update(
    config_file: str | None,
    pages: tuple[str, ...],
    note: str,
    section: str,
    everything: bool,
    dry_run: bool,
    report: str | None,
) -> None:
    """Make drafts out of the texts of PAGES: the blocks that are wrong now are written again.

    Without --note, a text is updated if a section that it cites has changed. What a person wrote
    stays. The approved text stays, too, until somebody approves the draft.
    """
    from ..review import updating
    from ..site.build import Build

    _check_arguments(pages, note, section, everything=everything)
    with open_site(config_file, drafts=True) as site:
        articles = load_articles(site, pages)
        policy = site.options.command_policy()
        build = Build(site, policy, make_reporter())
        planned = updating.plan(
            build, articles, note=note.strip(), section=section, is_named=bool(pages)
        )
        updates = planned.updates
        errors = list(planned.problems)
        for line in planned.notes:
            print_line(line)
        has_found = bool(updates or planned.problems or planned.notes)
        if everything and not has_found:
            print_line("The sources and originals of all texts are as they were; nothing was sent.")
        number = len(updates)
        if dry_run:
            _print_plan(build, updates)
        elif number > policy.max_requests:
            errors.append(
                f"{counted(number, 'update')} would be sent, and max_requests allows "
                f"{policy.max_requests}; "
                "nothing was sent; to pay for them, raise max_requests"
            )
        else:
            errors += _make_updates(build, updates, report)
    print_errors(errors)


def _make_updates(build: Build, updates: Sequence[TextUpdate], report: str | None) -> list[str]:
    """Make updates, print what became of each, write the report, and return the errors."""
    from ..review import updating

    if report:
        _write_report(report, "a", "")  # so that it fails before anything is paid for
    results, problems = updating.run(build, updates)
    print_warnings(problems)
    for result in results:
        _print_result(result)
    if report:
        _write_report(report, "w", updating.report(results))
    return updating.failures(results)


def _check_arguments(pages: Sequence[str], note: str, section: str, *, everything: bool) -> None:
    """Raise UsageError for arguments that do not go together."""
    from ..service.protocol import MAX_NOTE

    if bool(pages) == everything:
        raise click.UsageError("name the pages to update, or use --all")
    if (note or section) and not pages:
        raise click.UsageError("--note and --section are for the pages that you name")
    if len(note) > MAX_NOTE:
        raise click.UsageError(f"--note has {len(note)} characters, {MAX_NOTE} at most")


def _write_report(report: str, mode: Literal["a", "w"], text: str) -> None:
    """Add a text to a file, or replace what it has. Raises ClickException."""
    path = Path.cwd() / os.path.normpath(report)
    try:
        # A pull request could have put a link there.
        link = find_link(path, Path.cwd())
        if link:
            raise OSError(errno.ELOOP, f"{link} is a symbolic link, which is not followed")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise click.ClickException(f"{report}: cannot be written ({reason_of(error)})") from error


def _print_plan(build: Build, updates: Sequence[TextUpdate]) -> None:
    """Print the updates that would be sent, each with its reason, and an estimate."""
    from ..review import updating

    for update in updates:
        print_line(f"{update.article.place}: {update.task.why}")
        for source in update.stale:
            print_line(f"  {source.message}")
            for line in source.lines():
                print_line(f"    {line}")
    print_line(
        f"updates to be sent: {len(updates)}; max_requests allows {build.policy.max_requests}"
    )
    estimate = updating.estimate_of_updates(build, updates)
    if estimate:
        print_line(str(estimate))


def _print_result(result: TextUpdate) -> None:
    """Print what was changed in a text, if there is a new draft."""
    from ..review.updating import MADE_ELSEWHERE

    article = result.article
    if result.after is None:
        return
    if not result.is_answered:
        print_line(f"{article.page}: {MADE_ELSEWHERE}")
        return
    print_line(f"{article.page}: a draft", bold=True)
    for line in result.lines():
        print_line(f"  {line}")
    print_next(f"contentgen review {article.page_argument}")
