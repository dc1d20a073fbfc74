"""The commands `contentgen writer serve`, `user` and `usage`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..digest import sha256
from .common import json_option
from .output import print_json, print_line, print_usage, print_warnings
from .writer import writer

if TYPE_CHECKING:
    from ..service.writer.ledger.protocol import Ledger, MonthlyUsage

__all__ = ["writer"]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")

config_option = click.option(
    "--config",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=Path("writer.yml"),
    show_default=True,
    help="The configuration of the server.",
)


@writer.command()
@config_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8766, show_default=True, type=click.IntRange(0, 65535))
@click.option("--no-auth", is_flag=True, help="Answer any user and token. On loopback only.")
def serve(path: Path, host: str, port: int, no_auth: bool) -> None:
    """Serve the writer to a team, its CI and other programs.

    The log on stdout has a line of JSON for each request. SIGTERM ends the server when the texts in
    progress are finished.
    """
    if no_auth and host not in _LOOPBACK:
        raise click.UsageError(
            f"--no-auth would let everybody who reaches {host} spend your money; leave it out, or "
            "listen on 127.0.0.1"
        )
    import asyncio  # it and these would take a tenth of the time of other commands
    import socket

    try:
        from ..service.writer.ledger import open_ledger
        from ..service.writer.server.configuration import load_configuration
        from ..service.writer.server.process import listen
        from ..service.writer.server.process import serve as serve_until_signal
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"the package {error.name} is missing; "
            'install it with: pip install "mkdocs-contentgen[writer]"'
        ) from error
    configuration = load_configuration(path)
    name, directory = configuration.fields.ledger, configuration.directory
    with open_ledger(name, directory, serving=True) as ledger:
        print_warnings(ledger.problems())
        users = len(ledger.users())
        if not users and not no_auth:
            raise click.ClickException(
                "there are no users, so nobody could ask for a text; add one with "
                "`contentgen writer user add NAME`"
            )
        shown_host = f"[{host}]" if ":" in host else host
        try:
            listener = listen(host, port)
        except OSError as error:
            # The errno of gaierror is not one of the system. The message of other errors
            # contains the address.
            is_unknown = isinstance(error, socket.gaierror)
            reason = "unknown host" if is_unknown else os.strerror(error.errno or 0)
            raise click.ClickException(
                f"{shown_host}:{port} cannot be used ({reason}); choose another address with "
                "--host and --port"
            ) from error
        with listener:
            who = (
                "anybody, without authentication"
                if no_auth
                else f"{users} user{'s' if users > 1 else ''}"
            )
            address = f"{shown_host}:{listener.getsockname()[1]}"
            print_line(
                f"Writing with {configuration.options.fields.model} for {who} on "
                f"http://{address} (Ctrl-C ends it)",
                err=True,
            )
            asyncio.run(
                serve_until_signal(configuration, ledger, listener, authenticated=not no_auth)
            )


@writer.group()
def user() -> None:
    """Manage the users of a served writer."""


@user.command()
@config_option
@click.argument("name")
def add(path: Path, name: str) -> None:
    """Add the user NAME, and print a token, which is shown only once."""
    import secrets

    with _open_ledger(path) as ledger:
        token = secrets.token_urlsafe(32)
        if not ledger.add_user(name, sha256(token)):
            raise click.ClickException(
                f"there is a user {name} already; remove it first to make a new token"
            )
    print_line(f"Added {name}. The token is shown only now:", err=True)
    click.echo(token)


@user.command("list")
@config_option
@json_option
def list_(path: Path, as_json: bool) -> None:
    """List the users."""
    with _open_ledger(path) as ledger:
        users = ledger.users()
    if as_json:
        print_json([{"name": name, "added_at": at.isoformat()} for name, at in users.items()])
        return
    for name, added_at in users.items():
        print_line(f"{name}  added {added_at:%Y-%m-%d}")
    if not users:
        print_line("There are no users; add one with `contentgen writer user add NAME`", err=True)


@user.command()
@config_option
@click.argument("name")
def remove(path: Path, name: str) -> None:
    """Remove the user NAME. The token stops working at once; the usage stays."""
    with _open_ledger(path) as ledger:
        if not ledger.remove_user(name):
            raise click.ClickException(f"there is no user {name}")
    print_line(f"Removed {name}")


@writer.command()
@config_option
@json_option
def usage(path: Path, as_json: bool) -> None:
    """Print texts, tokens and cost by month and user."""
    with _open_ledger(path) as ledger:
        rows = ledger.usage()
    if as_json:
        print_json([_usage_fields(row) for row in rows])
    else:
        print_usage(rows)


def _usage_fields(row: MonthlyUsage) -> dict[str, object]:
    fields: dict[str, object] = asdict(row)
    del fields["usage"]
    return fields | asdict(row.usage)


def _open_ledger(path: Path) -> Ledger:
    from ..service.writer.ledger import open_ledger
    from ..service.writer.server.configuration import read_fields

    return open_ledger(read_fields(path).ledger, path.parent, serving=False)
