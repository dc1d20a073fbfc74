"""The command `contentgen`, and its subcommands `status`, `generate`, `prune` and `schema`."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..display import escape_controls, paths_from_here
from ..errors import ContentgenError
from ..stale import fails_on
from . import output
from .common import (
    ask_before_losing,
    ask_before_replacing,
    fail_on_option,
    json_option,
    load_articles,
    open_site,
    pages_argument,
    site_options,
    verbose_option,
)
from .desk import review
from .github import github
from .init import init
from .pull_requests import propose, report
from .sandbox import sandbox
from .texts import approve, diff, eject, import_, prompt, show
from .update import update
from .writer_server import writer
from .zensical import zensical

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..site.site import Site
    from ..stale import Level
    from ..texts.articles import Article
    from ..texts.lookup import Outcome
    from ..texts.obtain import Obtained
    from ..texts.store import DiskStore


_MOST_REMARKS = 5
"""How many remarks about a text are printed with those about all others."""


class _SafeGroup(click.Group):
    """A group that ends with one line for a ContentgenError, and escapes error messages."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ContentgenError as error:
            raise click.ClickException(escape_controls(paths_from_here(str(error)))) from error
        except click.ClickException as error:
            # MkDocs raises these exceptions too, some with several lines.
            lines = map(escape_controls, paths_from_here(error.message).split("\n"))
            error.message = "\n".join(lines)  # type: ignore[misc]  # no other way to change it
            raise
        except OSError as error:
            # What is wrong with files of the site is a ContentgenError: this is the output.
            if error.errno != errno.ENOSPC:
                raise
            raise click.ClickException(f"the output is not complete: {error.strerror}") from error


@click.group(cls=_SafeGroup, context_settings={"help_option_names": ["-h", "--help"]})
@verbose_option
@click.version_option(package_name="mkdocs-contentgen")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Manage the generated articles of a site of MkDocs or Zensical."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # The encoding of the terminal may lack characters of a topic.
            stream.reconfigure(errors="backslashreplace")


@main.command()
@site_options
@pages_argument
@json_option
@click.option("--check", is_flag=True, help="Exit with 1 unless all articles are approved.")
@click.option(
    "--stale", "only_stale", is_flag=True, help="List what no longer holds, and nothing else."
)
@fail_on_option
def status(
    config_file: str | None,
    pages: tuple[str, ...],
    *,
    as_json: bool,
    check: bool,
    only_stale: bool,
    fail_on: Level | None,
) -> None:
    """List the articles of PAGES, or of the site, with their states.

    Below the table are the remarks: what is not as requested in a draft. Of each text, these are
    the first ones, unless PAGES are named.
    """
    with open_site(config_file) as site:
        articles = load_articles(site, pages)
        _warn_about_fields_of_missing_texts(site, articles)
    if only_stale:
        articles = [article for article in articles if article.stale]
    if as_json:
        output.print_json([output.article_to_json(article) for article in articles])
    elif only_stale:
        output.print_stale(articles)
    else:
        _print_states(articles, most_remarks=None if pages else _MOST_REMARKS)
    output.print_errors([article.reason for article in articles if article.damaged])
    for article in articles:
        is_unapproved = check and article.state != "approved"
        if is_unapproved or fails_on(fail_on, article.stale):
            raise SystemExit(1)


def _warn_about_fields_of_missing_texts(site: Site, articles: Sequence[Article]) -> None:
    for article in articles:
        if article.state == "missing":
            output.print_warnings(site.field_problems(article.asked))


def _print_states(articles: Sequence[Article], *, most_remarks: int | None) -> None:
    """Print the table of states, the remarks below it, and what to do next."""
    output.print_articles_table(articles)
    for article in articles:
        output.print_remarks(article, most=most_remarks)
    output.print_next_steps(articles)


@main.command()
@site_options
@pages_argument
@click.option(
    "--refresh", is_flag=True, help="Request new texts; an old one stays until the new one arrives."
)
@click.option("--dry-run", is_flag=True, help="List the requests, and send none.")
@click.option("--max-requests", type=click.IntRange(0), help="Instead of the plugin's option.")
def generate(
    config_file: str | None,
    pages: tuple[str, ...],
    refresh: bool,
    dry_run: bool,
    max_requests: int | None,
) -> None:
    """Fill the cache with the texts of all PAGES, or of the site.

    PAGES are paths or globs. A text that failed before is only requested again for a page in PAGES,
    or with --refresh. Approved texts are left alone unless --refresh asks for a new draft, which
    waits beside them for `contentgen review`.
    """
    from ..site.build import Build

    with open_site(config_file) as site:
        requests = site.select_requests(pages)
        policy = replace(site.options.command_policy(), refresh=refresh, retry_failed=bool(pages))
        if max_requests is not None:
            policy = replace(policy, max_requests=max_requests)
        agreed: frozenset[str] = frozenset()
        if refresh and not dry_run:
            agreed = ask_before_replacing(load_articles(site, pages))
        build = Build(site, policy, output.make_reporter())
        source = None  # nothing is sent without one
        if not dry_run:
            source = replace(build.foreground(), agreed=agreed)
        obtained = build.obtain(site.approved_files(), source, requests)
        last_lines: list[str] = []
        if dry_run:
            estimate = build.estimate(obtained.wanted)
            output.print_dry_run(obtained, policy.max_requests, str(estimate or ""))
            errors = obtained.failures
        else:
            output.print_obtained(obtained, has_warnings=bool(site.warnings))
            errors = obtained.failures or _lost_texts(obtained) or _old_texts(obtained)
            last_lines = output.still_missing(obtained.articles, errors)
            if not errors:
                output.print_next_steps(obtained.articles)
    output.print_errors(errors, then=last_lines)


def _lost_texts(obtained: Obtained) -> list[str]:
    """Return the error where the cache could not keep a requested text, as with a full disk."""
    outcomes = _requested_outcomes(obtained)
    if all(outcome.is_saved for outcome in outcomes):  # True also for most failed ones
        return []
    # Once a text was lost, the message counts all that is missing, also what has failed.
    lost = sum(outcome.error is not None or not outcome.is_saved for outcome in outcomes)
    numbers = f"{lost} of {len(outcomes)}"
    return [f"texts that are not in the cache: {numbers}; make room, then repeat this"]


def _old_texts(obtained: Obtained) -> list[str]:
    """Return the error where requested texts did not arrive, and older ones stay."""
    if not obtained.sent:
        return []
    outcomes = _requested_outcomes(obtained)
    old = sum(outcome.error is not None and outcome.text is not None for outcome in outcomes)
    if not old:
        return []
    return [f"new texts that did not arrive: {old} of {len(outcomes)}; the old ones stay"]


def _requested_outcomes(obtained: Obtained) -> Collection[Outcome]:
    """Return what became of each request, once also if several articles have it."""
    outcomes = {}
    for article in obtained.articles:
        if article.key in obtained.wanted:
            outcomes[article.key] = article.draft_outcome
    return outcomes.values()


@main.command()
@site_options
@click.option("--dry-run", is_flag=True, help="List the texts, and delete none.")
def prune(config_file: str | None, dry_run: bool) -> None:
    """Delete the cached texts that no page requests any more, and what is known of failed ones.

    Draft pages count as pages. A shared cache is left alone, since other branches and sites may
    need its texts.
    """
    from ..review.replaced import texts_with_human_edits
    from ..texts.human_edits import has_human_edits

    with open_site(config_file, drafts=True) as site, closing(site.store()) as store:
        needed = _needed_keys(site)
        unneeded = _unneeded_requests(store, needed)
        texts, _ = store.load(unneeded.keys())
        edited = {key for key, text in texts.items() if has_human_edits(text)}
        kept_keys = store.keys_with_kept() - needed
        for key in kept_keys:
            for text in texts_with_human_edits(store.load_kept(key)):
                edited.add(key)
                unneeded.setdefault(key, text.request)
        for key, request in unneeded.items():
            by_people = ", which people have changed" if key in edited else ""
            output.print_line(f"{request.get('type')}: {request.get('topic')}{by_people}")
        if dry_run:
            output.print_line(f"texts to be dropped: {len(unneeded)}")
            return
        if edited:
            cure = "run this in a terminal to drop them"
            ask_before_losing("some of these texts", cure, "Drop their words?")
        parts, _ = store.requests("parts")  # of unfinished texts
        store.delete([*unneeded, *parts.keys() - needed, *kept_keys])
        output.print_line(f"texts dropped: {len(unneeded)}")


def _needed_keys(site: Site) -> set[str]:
    """Return the keys of the texts that pages ask for, from the sandbox and from a service."""
    keys = set()
    for page_request in site.requests:
        keys.add(page_request.request.key(sandbox=True))
        keys.add(page_request.request.key(sandbox=False))
    return keys


def _unneeded_requests(
    store: DiskStore, needed: Collection[str]
) -> dict[str, Mapping[str, object]]:
    """Return the requests of the texts in the cache, and of failed ones, without needed keys."""
    cached, problems = store.requests()
    failed, more = store.requests("failed")
    output.print_warnings(problems + more)
    unneeded: dict[str, Mapping[str, object]] = {}
    for key, request in (failed | cached).items():
        if key not in needed:
            unneeded[key] = request
    return unneeded


@main.command()
@click.option("--options", "of_options", is_flag=True, help="The one of mkdocs.yml instead.")
def schema(*, of_options: bool) -> None:
    """Print the JSON Schema of the front matter, or of the options, for editors."""
    if of_options:
        from ..site.options_schema import options_schema

        output.print_json(options_schema())
        return
    from ..requests import front_matter_schema

    output.print_json(front_matter_schema())


_COMMANDS_OF_MODULES = (
    init,
    show,
    import_,
    prompt,
    diff,
    propose,
    report,
    approve,
    update,
    eject,
    review,
    github,
    sandbox,
    writer,
    zensical,
)

for _command in _COMMANDS_OF_MODULES:
    main.add_command(_command)
