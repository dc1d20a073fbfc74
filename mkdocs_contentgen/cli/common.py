"""The options and the loading of a site that several commands share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..display import visible
from ..errors import ContentgenError
from .output import debug_printer, print_warnings

if TYPE_CHECKING:
    from ..pages.site import Site
    from ..texts.articles import Article

config_option = click.option(
    "-f",
    "--config-file",
    metavar="FILE",
    help="The MkDocs configuration, instead of mkdocs.yml in this directory.",
)


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
    from ..mkdocs.site import load_site

    try:
        with load_site(config_file, drafts=drafts) as site:
            yield site
    except ContentgenError as error:
        raise click.ClickException(visible(str(error))) from error


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
            debug(f"{article.asked.place}: {article.state}, {article.reason} ({where}){cited}")
    return articles


def load_undamaged(site: Site, page: str) -> list[Article]:
    """Return the articles of a page. Raises ApprovalError if an approved file is damaged."""
    articles = load_articles(site, [page])
    for article in articles:
        if article.damaged:
            raise article.damaged
    return articles
