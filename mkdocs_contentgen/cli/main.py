"""The command `contentgen`. Each command reads the site, calls the core, and prints."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from ..display import shown, visible, without_commands
from ..errors import ContentgenError

# What a command does not need is imported by those that do: `--help` and completion are fast.
if TYPE_CHECKING:
    from ..mkdocs.site import Site
    from ..texts.articles import Article
    from ..texts.obtain import Obtained

COLOURS = {
    "approved": "green",
    "draft": "yellow",
    "changed": "magenta",
    "outdated": "magenta",
    "missing": "red",
}

UNBROKEN = 1_000_000
"""Columns that are enough for any table."""

config_option = click.option(
    "-f",
    "--config-file",
    metavar="FILE",
    help="The MkDocs configuration, instead of mkdocs.yml in this directory.",
)


def _be_verbose(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.find_root().obj = ctx.find_root().obj or value


verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_be_verbose,
    help="Say where each text is, and what happens in each try to get one.",
)


class _Commands(click.Group):
    """Commands whose errors quote nothing that a terminal or a log of CI would obey."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            # Those of MkDocs are among them, some with several lines.
            lines = map(visible, error.message.split("\n"))
            error.message = "\n".join(lines)  # type: ignore[misc]  # no other way to change it
            raise


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@verbose_option
@click.version_option(package_name="mkdocs-contentgen")
def main() -> None:
    """Look after the generated articles of an MkDocs site."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What a terminal cannot show is no reason to end.
            stream.reconfigure(errors="backslashreplace")


@main.command()
@config_option
@verbose_option
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects for scripts.")
@click.option("--check", is_flag=True, help="Exit with 1 unless all articles are ready.")
def status(config_file: str | None, as_json: bool, check: bool) -> None:
    """List every article with its state.

    Ready is what a build publishes without a request: approved texts, and drafts where
    require_approval is off.
    """
    with _opened(config_file) as site:
        articles = _all_articles(site)
        ready = {"approved"} if site.options.require_approval else {"approved", "draft"}
    if as_json:
        _print_json([_as_object(article) for article in articles])
    else:
        _print_table(articles)
    _print_errors([article.reason for article in articles if article.damaged])
    if check and any(article.state not in ready for article in articles):
        raise SystemExit(1)


@main.command()
@config_option
@verbose_option
@click.argument("pages", nargs=-1)
@click.option(
    "--refresh", is_flag=True, help="Ask anew; the old text stays until the new is there."
)
@click.option("--dry-run", is_flag=True, help="Say what would be sent, and send nothing.")
@click.option("--max-requests", type=click.IntRange(0), help="Instead of the plugin's option.")
def generate(
    config_file: str | None,
    pages: tuple[str, ...],
    refresh: bool,
    dry_run: bool,
    max_requests: int | None,
) -> None:
    """Fill the cache with the texts of all PAGES, or of the site.

    PAGES are paths or globs. Approved texts are left alone unless --refresh asks for a new draft,
    which waits beside them for `contentgen approve`.
    """
    from ..mkdocs.resolution import asking_visibly
    from ..mkdocs.site import chosen
    from ..texts.obtain import obtain

    with _opened(config_file) as site:
        options = site.options
        asked = chosen(site.asked, pages)
        files = site.approved_files()
        store = options.store(site.config)
        policy = replace(
            options.policy(budget=max_requests, refresh=refresh),
            on_missing="generate",
            on_error="fail",
            require_approval=False,
        )
        ask = asking_visibly(store, options, partial(_say, err=True), _debugger())
        obtained = obtain(asked, files, store, policy, None if dry_run else ask)
    if dry_run:
        for article in obtained.articles:
            if article.key in obtained.wanted:
                _say(f"{article.asked.place}: {article.asked.request.topic}")
        number = len(obtained.wanted)
        _say(f"requests to be sent: {number}; max_requests allows {policy.max_requests}")
    else:
        _print_obtained(obtained)
    _print_errors(obtained.failures)


def _print_obtained(obtained: Obtained) -> None:
    _warn(obtained.warnings)
    wanted = [article for article in obtained.articles if article.key in obtained.wanted]
    if debug := _debugger():
        for article in obtained.articles:
            outcome = article.found if article in wanted else article.outcome
            debug(f"{article.asked.place}: {outcome}")
    if obtained.sent:
        failed = len({article.key for article in wanted if article.found.error})
        _say(f"texts generated: {obtained.sent - failed}; failed: {failed}")
    elif not obtained.failures:
        _say("All texts are there; nothing was sent.")


@main.command()
@config_option
@verbose_option
@click.argument("page")
def diff(config_file: str | None, page: str) -> None:
    """Show what the newest draft of PAGE says otherwise than the approved text, word by word."""
    from ..mkdocs.review import draft_lines, word_diff

    with _opened(config_file) as site:
        for article in _articles(site, page):
            name = f"{article.asked.page}, article '{article.asked.request.id}'"
            if article.approved is None or article.draft is None:
                _say(f"{name}: {article.state}, {article.reason}; there are no two to compare")
                continue
            click.echo(click.style(visible(name), bold=True))
            click.echo(word_diff(article.approved.html, draft_lines(article.draft, site.options)))


@main.command()
@config_option
@verbose_option
@click.argument("pages", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Approve every article of the site.")
@click.option("--by", metavar="NAME", help="Who answers for the text; else git's user.name.")
def approve(
    config_file: str | None, pages: tuple[str, ...], everything: bool, by: str | None
) -> None:
    """Write the texts of PAGES to approved files: you have read them and answer for them.

    Approved is the newest draft. Where an approved file was edited by hand, that text is
    approved, unless you choose a newer draft when asked.
    """
    from ..errors import ApprovalError
    from ..mkdocs.review import approve_article
    from ..texts.approval import name_problem

    if pages and everything:
        raise click.UsageError(
            "--all approves every article of the site; "
            f"leave it out to approve {' '.join(pages)} alone"
        )
    if not (pages or everything):
        raise click.UsageError("name the pages to approve, or use --all")
    name = by or _git_user()
    if problem := name_problem(name):
        raise click.UsageError(f"the name {problem}; say who approves with --by NAME")

    def prefer_draft(article: Article) -> bool:
        question = f"{article.path} was edited by hand. Replace it by the newer draft?"
        return sys.stdin.isatty() and click.confirm(visible(question), default=False)

    with _opened(config_file) as site:
        failures: list[str] = []
        for article in _all_articles(site, pages):
            try:
                _say(approve_article(article, site.options, name, prefer_draft))
            except ApprovalError as error:
                failures.append(str(error))
    _print_errors(failures)


@main.command()
@config_option
@verbose_option
@click.argument("page")
def eject(config_file: str | None, page: str) -> None:
    """Write the articles of PAGE into it as Markdown, and take the requests out.

    From then on the page is written by hand, and the plugin leaves it alone.
    """
    from ..mkdocs.ejection import eject_articles

    with _opened(config_file) as site:
        articles = _articles(site, page)
        pages = {article.asked.page for article in articles}
        if len(pages) > 1:
            raise click.UsageError(f"{page} fits {len(pages)} pages; name one")
        _say(eject_articles(site, articles))


@main.command()
@config_option
@verbose_option
@click.option("--dry-run", is_flag=True, help="Say what would be dropped, and drop nothing.")
def prune(config_file: str | None, dry_run: bool) -> None:
    """Drop the cached texts that no page asks for any more, drafts of pages included.

    A shared cache is left alone, since other branches and sites may ask for them.
    """
    with _opened(config_file, drafts=True) as site:
        needed = {
            entry.request.key(sandbox=sandbox) for entry in site.asked for sandbox in (True, False)
        }
        store = site.options.store(site.config)
        cached, problems = store.requests()
        _warn(problems)
        unneeded = {k: v for k, v in cached.items() if k not in needed}
        for request in unneeded.values():
            _say(": ".join(_short(request.get(name)) for name in ("type", "topic")))
        if dry_run:
            _say(f"texts to be dropped: {len(unneeded)}")
        else:
            store.delete(unneeded)
            _say(f"texts dropped: {len(unneeded)}")
        store.close()


@main.command()
def schema() -> None:
    """Print the JSON Schema of the front matter, for editors."""
    from ..requests import front_matter_schema

    _print_json(front_matter_schema())


@main.command()
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535))
def sandbox(port: int) -> None:
    """Serve the sandbox on this machine, as the service would be served.

    It answers with sample texts, to any user and any token.
    """
    import socket

    try:
        import uvicorn
    except ImportError as error:
        raise click.ClickException(
            "the sandbox is served by uvicorn; "
            'install it with: pip install "mkdocs-contentgen[sandbox]"'
        ) from error
    from ..service.sandbox import app

    try:
        # uvicorn logs several lines, of which none names the option.
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        reason = os.strerror(error.errno or 0)  # its own quotes the address
        raise click.ClickException(
            f"port {port} cannot be used ({reason}); choose another one with --port"
        ) from error
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="info")


@contextmanager
def _opened(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Open the site; an error of the core becomes one line and exit status 1."""
    from ..mkdocs.site import opened_site

    try:
        with opened_site(config_file, drafts=drafts) as site:
            yield site
    except ContentgenError as error:
        raise click.ClickException(visible(str(error))) from error


def _articles(site: Site, page: str) -> list[Article]:
    """Return the articles of a page. Raises ApprovalError where an approved file is damaged."""
    articles = _all_articles(site, [page])
    for article in articles:
        if article.damaged:
            raise article.damaged
    return articles


def _all_articles(site: Site, pages: Sequence[str] = ()) -> list[Article]:
    """Return the articles of the named pages or of all, also those whose file is damaged."""
    articles, problems = site.articles(pages)
    _warn(problems)
    if debug := _debugger():
        for article in articles:
            where = " and ".join(article.where) or "nowhere"
            debug(f"{article.asked.place}: {article.state}, {article.reason} ({where})")
    return articles


def _say(line: str, *, err: bool = False) -> None:
    """Print a line in which nothing is obeyed by a terminal or a log of CI."""
    click.echo(visible(line), err=err)


def _debugger() -> Callable[[str], None] | None:
    """Return what prints what only `-v` asks for."""
    is_verbose = click.get_current_context().find_root().obj
    return partial(_say, err=True) if is_verbose else None


def _print_json(value: object) -> None:
    # Azure looks for `##vso[` within a line too.
    click.echo(re.sub("#(?=#)", r"\\u0023", json.dumps(value, indent=2)))


def _short(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= 200 else shown(value)


def _warn(problems: list[str]) -> None:
    for problem in problems:
        _say(f"Warning: {problem}", err=True)


def _as_object(article: Article) -> dict[str, object]:
    request = article.asked.request
    header = article.approved.header if article.approved else None
    draft = article.draft if article.state in ("draft", "outdated") else None
    text = draft or header
    return {
        "page": article.asked.page,
        "id": request.id,
        "type": request.type,
        "topic": request.topic,
        "state": article.state,
        "key": article.key,
        "reason": article.reason,
        "where": article.where,
        "generated_at": text.generated_at.isoformat() if text else None,
        "approved_by": header.approved_by if header else None,
    }


def _print_table(articles: list[Article]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not articles:
        _say("No page asks for an article.")
        return

    def cell(text: str) -> Text:
        return Text(visible(text))

    table = Table(box=None, pad_edge=False)
    for heading in ("Page", "Id", "Type", "Topic", "State", "Where", "Reason"):
        table.add_column(heading, overflow="fold")
    for article in articles:
        request = article.asked.request
        state = Text(article.state, style=COLOURS[article.state])
        before = (article.asked.page, request.id, request.type, request.topic)
        behind = (", ".join(article.where), article.reason)
        table.add_row(*map(cell, before), state, *map(cell, behind))
    # Where a script reads it, no path or topic may be broken.
    console = Console() if sys.stdout.isatty() else Console(width=UNBROKEN)
    with console.capture() as printed:
        console.print(table)
    # A line that was folded may begin with any part of a cell. Colours are rich's to decide.
    click.echo(without_commands(printed.get()), nl=False, color=True)


def _print_errors(errors: Sequence[str]) -> None:
    """Print errors that did not keep a command from doing the rest, and end it with 1."""
    for error in errors:
        _say(f"Error: {error}", err=True)
    if errors:
        raise SystemExit(1)


def _git_user() -> str:
    command = ["git", "config", "user.name"]  # git is where the user has it
    with suppress(OSError):
        ran = subprocess.run(  # noqa: S603
            command, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False
        )
        if name := ran.stdout.strip():
            return name
    raise click.UsageError("git knows no user.name; say who approves with --by NAME")
