"""The options and the loading of a site that several commands share."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import click

from ..display import escape_controls
from .output import VERBOSE, debug_printer, print_warnings

if TYPE_CHECKING:
    from socket import socket

    from ..site.content import PageContent
    from ..site.site import MarkdownExtensions, PageProblem, Site
    from ..texts.articles import Article
    from ..writer.models.settings import WriterOptions

_P = ParamSpec("_P")

PROPERDOCS = ("properdocs.yml", "properdocs.yaml")
"""The configuration files of ProperDocs, which it prefers to those of MkDocs."""

config_option = click.option(
    "-f",
    "--config-file",
    metavar="FILE",
    help="The configuration, instead of mkdocs.yml, properdocs.yml or zensical.toml here.",
)

page_argument = click.argument("page", type=click.Path())
pages_argument = click.argument("pages", nargs=-1, type=click.Path())
"""Paths or globs of pages. The shell completes paths."""


def _set_verbose(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:  # with `contentgen -v status` as with `contentgen status -v`
        ctx.meta[VERBOSE] = True


verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_set_verbose,
    help="Print where each text is, and the outcome of each try to get one.",
)


def site_options(command: Callable[_P, None]) -> Callable[_P, None]:
    """Add the options of all commands for a site: its configuration, and `--verbose`."""
    return config_option(verbose_option(command))


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print a list of objects for scripts."
)


fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(("gone", "wrong", "changed")),
    help="Exit with 1 if that, or worse, is the case of a text whose sources have changed.",
)


@contextmanager
def open_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Load the site, and print warnings about it. Raises ClickException for what is wrong with it.

    With `drafts`, the site includes the pages that only `mkdocs serve` shows.
    """
    load_site, path = _find_loader(config_file)
    with load_site(path, drafts=drafts) as site:
        if site.generator == "zensical" and find_spec("zensical"):
            site = replace(
                site,
                render=partial(_render_with_zensical, site),
                extensions=partial(_read_extensions_of_zensical, site),
            )
        print_warnings(site.warnings)
        context = click.get_current_context(silent=True)
        if not (context and context.params.get("as_json")):  # notices are for people
            print_warnings(site.notices)
        if site.problems:
            raise click.ClickException("\nError: ".join(map(_message_of, site.problems)))
        yield site


def _message_of(problem: PageProblem) -> str:
    return " ".join(problem.message.splitlines())


def _render_with_zensical(site: Site, page: str, articles: Mapping[str, PageContent]) -> str:
    from ..zensical.rendering import render_with_zensical

    return render_with_zensical(site, page, articles)


def _read_extensions_of_zensical(site: Site) -> MarkdownExtensions:
    from ..zensical.rendering import read_extensions

    return read_extensions(site)


def load_writer_options(config_file: str | None) -> WriterOptions:
    """Return the options of the writer in a configuration, or else in the environment.

    Raises ConfigurationError, and the exceptions of MkDocs for its own options.
    """
    if config_file is None and find_config_file(None) is None:
        from ..writer.models.settings import load_options

        return load_options({}, Path(), allow_http=False)
    with open_site(config_file) as site:
        return site.writer_options()


def _find_loader(
    config_file: str | None,
) -> tuple[Callable[..., AbstractContextManager[Site]], str | None]:
    """Return what loads the site, and the path to give it, or None if it finds that itself.

    It is that of MkDocs, or of Zensical if only that can build it. Raises ConfigurationError.
    """
    from ..zensical.configuration import is_for_zensical

    path = find_config_file(config_file)
    if path is None and config_file is None:
        raise click.ClickException(_no_configuration_message())
    if path and is_for_zensical(path):
        from ..zensical.loading import load_zensical_site

        return load_zensical_site, config_file
    from ..mkdocs.loading import load_mkdocs_site  # it raises if there is no configuration

    if path and path.name in PROPERDOCS:
        return load_mkdocs_site, str(path)
    return load_mkdocs_site, config_file


def find_config_file(config_file: str | None) -> Path | None:
    """Return the given configuration or the one of this folder, if there is that file.

    Raises ClickException for what is not a file: reading a pipe would block.
    """
    names = [config_file] if config_file else _configuration_names()
    for name in names:
        path = Path(name)
        if path.is_file():
            return path
        if path.exists():
            raise click.ClickException(f"{path}: is not a file")
    return None


def _configuration_names() -> Sequence[str]:
    """Return the names of configuration files, in the order in which they are looked for."""
    from ..zensical.configuration import CONFIGURATIONS

    first, *others = CONFIGURATIONS
    return [first, *PROPERDOCS, *others]


def _no_configuration_message() -> str:
    """Return a message that names the configuration in a folder above or below this one."""
    here = Path.cwd()
    below = []
    for path in here.glob("*/"):
        if path.is_dir():
            below.append(path)
    for folder in [*here.parents, *sorted(below)]:
        for name in _configuration_names():
            if (folder / name).is_file():
                place = os.path.relpath(folder, here)
                return (
                    f"there is no {name} in this folder, but in {place}; go there with "
                    f"`cd {shlex.quote(place)}`, or add -f {shlex.quote(f'{place}/{name}')}"
                )
    return (
        "there is no mkdocs.yml, properdocs.yml or zensical.toml in this folder, nor in one above "
        "it; go to the folder of the site, or make one here with `contentgen init`"
    )


def program_for(configuration: Path) -> str:
    """Return the program of the MkDocs family that builds a site with a configuration file."""
    return "properdocs" if configuration.name in PROPERDOCS else "mkdocs"


def listen(port: int, host: str = "127.0.0.1") -> socket:
    """Return a socket that listens on a port of an address. Raises ClickException."""
    from socket import AF_INET, AF_INET6, IPPROTO_TCP, TCP_NODELAY, create_server, gaierror

    try:
        host.encode("idna")
        family = AF_INET6 if ":" in host else AF_INET
        listener = create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        # A name that cannot be encoded is the name of no host. For one that nobody knows, the
        # OSError is raised while the gaierror is handled.
        if isinstance(error, UnicodeError) or isinstance(error.__context__, gaierror):
            reason = "unknown host"
        else:
            reason = os.strerror(error.errno or 0)  # its message would name the address again
        options = "--port" if host in ("127.0.0.1", "::1") else "--host and --port"
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        raise click.ClickException(
            f"{address} cannot be used ({reason}); choose another one with {options}"
        ) from error
    # asyncio does it for sockets of its own. Otherwise, the body of an answer waits for 40 ms.
    listener.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return listener


def load_articles(site: Site, pages: Sequence[str] = ()) -> list[Article]:
    """Return the articles of the named pages, or of all, and print what is wrong with them.

    Articles with a damaged approved file are among them.
    """
    articles, problems = site.articles(pages)
    print_warnings(problems)
    debug = debug_printer()
    if debug:
        for article in articles:
            where = " and ".join(article.where) or "nowhere"
            cited = f"; cites {', '.join(article.sources)}" if article.sources else ""
            debug(f"{article.place}: {article.state}, {article.reason} ({where}){cited}")
    return articles


def load_undamaged(site: Site, page: str) -> list[Article]:
    """Return the articles of a page. Raises ApprovalError if an approved file is damaged."""
    articles = load_articles(site, [page])
    for article in articles:
        if article.damaged:
            raise article.damaged
    return articles


def ask_before_replacing(
    articles: Sequence[Article],
    cure: str = "approve them first, run this in a terminal, or name other pages",
) -> frozenset[str]:
    """End the command unless a person wants to replace the drafts that people have changed.

    Without a terminal, the message says what to do: `cure`. Returns the `version` of each draft
    that may be replaced. A draft that somebody changes after the question has another one.
    """
    from ..texts.human_edits import has_human_edits

    agreed = frozenset(article.draft.version for article in articles if article.draft)
    pages = set()
    for article in articles:
        is_changed = article.has_edited_draft
        if article.newest and article.newest_is_in_file:  # in a file that is not approved
            is_changed = is_changed or has_human_edits(article.newest)
        if is_changed and not article.newest_is_approved:
            pages.add(article.page)
    if not pages:
        return agreed
    drafts_of = f"the drafts of {escape_controls(', '.join(sorted(pages)))}"
    ask_before_losing(drafts_of, cure, "Replace their words by new texts?")
    return agreed


def ask_before_losing(what: str, cure: str, question: str) -> None:
    """End the command unless a person wants to lose what people have changed."""
    changed = f"people have changed {what}"
    if not sys.stdin.isatty():
        raise click.ClickException(f"{changed}; {cure}")
    click.confirm(f"{changed}. {question}", abort=True)
