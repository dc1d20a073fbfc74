"""The command `contentgen`, and its subcommands that need no module of their own."""

from __future__ import annotations

import atexit
import gc
import io
import sys
from functools import partial

import click

from ..display import escape_controls
from .common import complete_pages, config_option, load_articles, open_site, verbose_option
from .output import (
    debug_printer,
    print_articles_json,
    print_articles_table,
    print_cached_request,
    print_dry_run,
    print_errors,
    print_json,
    print_line,
    print_obtained,
    print_warnings,
)
from .review import approve, diff, eject
from .sandbox import sandbox
from .writer_server import writer
from .zensical import zensical


class _SafeGroup(click.Group):
    """A group that escapes control characters and CI commands in error messages."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            # MkDocs raises these exceptions too, some with several lines.
            lines = map(escape_controls, error.message.split("\n"))
            error.message = "\n".join(lines)  # type: ignore[misc]  # no other way to change it
            raise


@click.group(cls=_SafeGroup, context_settings={"help_option_names": ["-h", "--help"]})
@verbose_option
@click.version_option(package_name="mkdocs-contentgen")
def main() -> None:
    """Manage the generated articles of a site of MkDocs or Zensical."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # The encoding of the terminal may lack characters of a topic.
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
    # Looking for garbage would take a tenth of the time for 10,000 pages, and at the end once more.
    gc.disable()
    atexit.register(gc.freeze)
    with open_site(config_file) as site:
        articles = load_articles(site)
        ready = {"approved"} if site.options.require_approval else {"approved", "draft"}
    if as_json:
        print_articles_json(articles)
    else:
        print_articles_table(articles)
    print_errors([article.reason for article in articles if article.damaged])
    if check and any(article.state not in ready for article in articles):
        raise SystemExit(1)


@main.command()
@config_option
@verbose_option
@click.argument("pages", nargs=-1, shell_complete=complete_pages)
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

    PAGES are paths or globs. Approved texts are left alone unless --refresh asks for a new draft,
    which waits beside them for `contentgen approve`.
    """
    from ..pages.site import select_requests
    from ..texts.policy import Policy

    with open_site(config_file) as site:
        options = site.options
        page_requests = select_requests(site.requests, pages)
        policy = Policy(
            max_requests=options.max_requests if max_requests is None else max_requests,
            max_age=options.max_age,
            sandbox=options.uses_sandbox(),
            refresh=refresh,
        )
        log, debug = partial(print_line, err=True), debug_printer()
        build = site.build(policy, log, debug, page_requests=page_requests)
        source = None if dry_run else build.foreground()
        obtained = build.obtain(site.approved_files(), source)
        estimate = build.estimate_message(obtained.wanted) if dry_run else ""
    if dry_run:
        print_dry_run(obtained, policy.max_requests)
        if estimate:
            print_line(estimate)
    else:
        print_obtained(obtained)
    print_errors(obtained.failures)


@main.command()
@config_option
@verbose_option
@click.option("--dry-run", is_flag=True, help="List the texts, and delete none.")
def prune(config_file: str | None, dry_run: bool) -> None:
    """Delete the cached texts that no page asks for any more. Draft pages count as pages.

    A shared cache is left alone, since other branches and sites may need its texts.
    """
    with open_site(config_file, drafts=True) as site:
        needed = {
            entry.request.key(sandbox=sandbox)
            for entry in site.requests
            for sandbox in (True, False)
        }
        store = site.options.store(site.config)
        cached, problems = store.requests()
        print_warnings(problems)
        unneeded = {k: v for k, v in cached.items() if k not in needed}
        for request in unneeded.values():
            print_cached_request(request)
        if dry_run:
            print_line(f"texts to be dropped: {len(unneeded)}")
        else:
            store.delete(unneeded)
            print_line(f"texts dropped: {len(unneeded)}")
        store.close()


@main.command()
def schema() -> None:
    """Print the JSON Schema of the front matter, for editors."""
    from ..requests import front_matter_schema

    print_json(front_matter_schema())


for command in (diff, approve, eject, sandbox, writer, zensical):
    main.add_command(command)
