"""The commands `contentgen zensical build`, `serve` and `templates`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..zensical.process import Zensical
from .common import verbose_option
from .output import make_reporter, print_errors, print_warnings

if TYPE_CHECKING:
    from ..zensical.building import Terminal


@click.group()
def zensical() -> None:
    """Build or serve a site with Zensical.

    Missing texts are requested, as in a build with MkDocs. Then Zensical renders the site, whose
    configuration needs `contentgen` in its markdown_extensions.
    """


_zensical_command = partial(zensical.command, context_settings={"ignore_unknown_options": True})
_arguments = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)


@_zensical_command()
@verbose_option
@_arguments
def build(arguments: tuple[str, ...]) -> None:
    """Request the missing texts, and run `zensical build` with the ARGUMENTS.

    The exit status is that of Zensical, or 1 if a text is missing, or with --strict if there are
    warnings.
    """
    with Zensical("build", arguments) as process:
        from ..zensical.building import build as build_site

        status = build_site(process, arguments, _terminal())
    raise SystemExit(status)


@_zensical_command()
@verbose_option
@_arguments
def serve(arguments: tuple[str, ...]) -> None:
    """Run `zensical serve` with the ARGUMENTS, and request missing texts in the background.

    A page shows its text as soon as it arrives. Ctrl-C waits for requests in flight.
    """
    with Zensical("serve", arguments) as process:
        from ..zensical.serving import serve as serve_site

        status = serve_site(process, arguments, _terminal(always_lines=True))
    raise SystemExit(status)


@zensical.command()
@click.argument("folder", type=click.Path(path_type=Path), default="overrides")
def templates(folder: Path) -> None:
    """Write the templates for a site in several languages into FOLDER, by default `overrides`.

    With them, Zensical shows the links of a page to its translations, its language switch, and
    labels in its language. Templates of your own are not overwritten.
    """
    from ..zensical.templates import write_templates

    for path in write_templates(folder):
        click.echo(path)
    click.echo(
        "Next: in the configuration, name the folder as `theme.custom_dir`, and set "
        "`extra.alternate` to `true`"
    )


def _terminal(*, always_lines: bool = False) -> Terminal:
    from ..zensical.building import Terminal

    return Terminal(make_reporter(always_lines=always_lines), _report)


def _report(warnings: Sequence[str], failures: Sequence[str]) -> None:
    print_warnings(warnings)
    print_errors(failures)
