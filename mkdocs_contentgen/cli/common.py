"""The options and the loading of a site that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..display import escape_controls
from ..errors import ContentgenError
from .output import debug_printer, print_errors, print_line, print_warnings

if TYPE_CHECKING:
    from ..pages.site import Site
    from ..service.writer.options import WriterOptions
    from ..texts.articles import Article

config_option = click.option(
    "-f",
    "--config-file",
    metavar="FILE",
    help="The configuration, instead of mkdocs.yml or zensical.toml in this directory.",
)


def complete_pages(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the paths of pages that begin with `incomplete`, for the completion of the shell.

    Neither plugins nor pages are loaded. Pages whose names a shell might execute are left out.
    """
    with suppress(Exception):  # the shell shows whatever is printed
        docs = _find_docs_dir(ctx.params.get("config_file"))
        names = (
            path.relative_to(docs).as_posix()
            for folder, _, files in os.walk(docs)
            for path in map(Path(folder).joinpath, files)
        )
        pages = sorted(names)
        here = Path(os.path.relpath(docs)).as_posix()
        begins = ["", "./"] if here == "." else [f"{here}/", "", f"./{here}/"]
        for begin in (*begins, f"{docs.absolute().as_posix()}/"):
            paths = [begin + page for page in pages if f"{begin}{page}".startswith(incomplete)]
            if found := [path for path in paths if _PLAIN_PAGE.fullmatch(path)]:
                return found
    return []


_PLAIN_PAGE = re.compile(r"(?!.*(?:^|/)\.[^./])[\w./@+,=%-]+\.md")


def _find_docs_dir(config_file: str | None) -> Path:
    """Return the directory of pages; `docs` if the configuration cannot be read."""
    from ..zensical.configuration import read_docs_dir

    path = _find_configuration(config_file)
    try:
        return read_docs_dir(path) if path else Path("docs")
    except Exception:  # noqa: BLE001  YAML makes values of any kind, which may fail
        return Path("docs")


def _set_verbose(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.find_root().obj = ctx.find_root().obj or value


verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_set_verbose,
    help="Print where each text is, and the outcome of each try to get one.",
)


@contextmanager
def open_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Load the site. Any ContentgenError becomes one line on stderr and exit status 1.

    With `drafts`, the site includes the pages that only `mkdocs serve` shows.
    """
    try:
        with _site_loader(config_file)(config_file, drafts=drafts) as site:
            print_notes(site)
            print_errors(site.problems)
            yield site
    except ContentgenError as error:
        raise click.ClickException(escape_controls(str(error))) from error


def print_notes(site: Site) -> None:
    """Print to stderr what was done when the site was loaded, and what is wrong with it."""
    for note in site.notes:
        print_line(note, err=True)
    print_warnings(site.warnings)


def _site_loader(config_file: str | None) -> Callable[..., AbstractContextManager[Site]]:
    """Return load_site() of the program that can build the site: MkDocs, or else Zensical."""
    if _is_for_zensical(config_file):
        from ..zensical.site import load_site as load_zensical_site

        return load_zensical_site
    from ..mkdocs.site import load_site

    return load_site


def load_writer_options(config_file: str | None) -> WriterOptions:
    """Return the options of the writer in a configuration, or else in the environment.

    Raises ConfigurationError, and the exceptions of MkDocs for its own options.
    """
    if _is_for_zensical(config_file):
        from ..zensical.site import load_writer_options as load_for_zensical

        return load_for_zensical(config_file)
    from ..mkdocs.site import load_writer_options as load_for_mkdocs

    return load_for_mkdocs(config_file)


def _is_for_zensical(config_file: str | None) -> bool:
    """Tell whether only Zensical can build the site. Raises ConfigurationError."""
    from ..zensical.configuration import is_for_zensical

    found = _find_configuration(config_file)
    return found is not None and is_for_zensical(found)  # else MkDocs says what is missing


def _find_configuration(config_file: str | None) -> Path | None:
    from ..zensical.invocation import CONFIGURATIONS

    names = [config_file] if config_file else CONFIGURATIONS
    return next((path for path in map(Path, names) if path.is_file()), None)


def load_articles(site: Site, pages: Sequence[str] = ()) -> list[Article]:
    """Return the articles of the named pages, or of all, and print what is wrong with them.

    Articles with a damaged approved file are among them.
    """
    articles, problems = site.articles(pages)
    print_warnings(problems)
    if debug := debug_printer():
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
