"""The commands `contentgen zensical build` and `serve`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import click

from ..display import escape_controls
from ..errors import ContentgenError
from .common import verbose_option
from .output import debug_printer, print_errors, print_line, print_warnings


@click.group()
def zensical() -> None:
    """Build or serve a site with Zensical.

    Texts that are missing are asked for, as in a build with MkDocs. Then Zensical renders the site,
    whose configuration needs `contentgen` in its markdown_extensions.
    """


_zensical_command = partial(zensical.command, context_settings={"ignore_unknown_options": True})
_arguments = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)


@_zensical_command()
@verbose_option
@_arguments
def build(arguments: tuple[str, ...]) -> None:
    """Get what is missing, and run `zensical build` with the ARGUMENTS.

    The exit status is that of Zensical, or 1 if a text is missing, or with --strict if there are
    warnings.
    """
    from ..zensical.building import build as build_site

    _run(build_site, arguments)


@_zensical_command()
@verbose_option
@_arguments
def serve(arguments: tuple[str, ...]) -> None:
    """Run `zensical serve` with the ARGUMENTS, and get missing texts beside it.

    A page shows its text as soon as it is there. Ctrl-C waits for texts that were asked for.
    """
    from ..zensical.serving import serve as serve_site

    _run(serve_site, arguments)


def _run(command: Callable[..., int], arguments: Sequence[str]) -> None:
    log, debug = partial(print_line, err=True), debug_printer()
    try:
        status = command(arguments, log, debug, _report)
    except ContentgenError as error:
        raise click.ClickException(escape_controls(str(error))) from error
    raise SystemExit(status)


def _report(warnings: Sequence[str], failures: Sequence[str]) -> None:
    """Print messages, and exit with status 1 if there are failures."""
    print_warnings(warnings)
    print_errors(failures)
