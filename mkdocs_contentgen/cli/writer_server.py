"""The commands `contentgen writer serve`, `user` and `usage`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from ..files import sha256
from ..served.users import Token, User, UserLimits, check_name
from .common import json_option, listen
from .output import print_json, print_line, print_table
from .writer import writer

if TYPE_CHECKING:
    from ..served.ledger import Ledger

__all__ = ["writer"]

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
def serve(path: Path, host: str, port: int) -> None:
    """Serve the writer to a team, its CI and other programs.

    The log on stdout has a line of JSON for each request. SIGTERM ends the server when the texts in
    progress are finished.
    """
    try:
        from ..served.process import run
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"the package {error.name} is missing; "
            'install it with: pip install "mkdocs-contentgen[writer]"'
        ) from error
    run(path, partial(listen, port, host), partial(print_line, err=True))


@writer.group()
def user() -> None:
    """Manage the users of a served writer. All changes are in force at once."""


def _limit_options(command: Callable[..., None]) -> Callable[..., None]:
    for name in reversed(UserLimits.__struct_fields__):
        option = f"--{name.replace('_', '-')}"
        metavar = "COST" if name == "cost_per_month" else "NUMBER"
        text = f"The user's own `{name}`; `default` for that of writer.yml."
        command = click.option(option, metavar=metavar, help=text)(command)
    return command


_expires_option = click.option(
    "--expires",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day, in UTC, on which the token stops working.",
)


@user.command()
@config_option
@click.argument("name")
@_limit_options
@_expires_option
def add(path: Path, name: str, expires: datetime | None, **limits: str | None) -> None:
    """Add the user NAME, and print a token, which is shown only once."""
    secret, token = _new_token(expires)
    own = _own_limits(path, {}, limits)
    with _open_ledger(path) as ledger, ledger.changing_users() as users:
        if name in users:
            raise click.ClickException(
                f"there is a user {name} already; `contentgen writer user token add {name} TOKEN` "
                "adds a token"
            )
        users[name] = User(token.added, {"default": token}, own)
    _show_token(f"Added {name}", secret)


@user.command("set")
@config_option
@click.argument("name")
@_limit_options
def set_(path: Path, name: str, **limits: str | None) -> None:
    """Set limits of the user NAME in place of those of writer.yml, and print them."""
    with _changing(path, name) as users:
        users[name].limits = _own_limits(path, users[name].limits, limits)
        shown = users[name].shown_limits()
    print_line(f"{name}: {shown}" if shown else f"{name} has the limits of writer.yml")


@user.command("list")
@config_option
def list_(path: Path) -> None:
    """List the users, each with its limits and tokens."""
    with _open_ledger(path) as ledger:
        users = ledger.users()
    for name, found in users.items():
        print_line(f"{name}  added {found.added:%Y-%m-%d}  {found.shown_limits()}".rstrip())
        for label, token in found.tokens.items():
            verb = "expires" if token.is_valid() else "expired"
            end = "no expiry"
            if token.expires:
                end = f"{verb} {token.expires:%Y-%m-%d}"
            print_line(f"  {label}  added {token.added:%Y-%m-%d}  {end}")
    if not users:
        print_line("There are no users; add one with `contentgen writer user add NAME`", err=True)


@user.command()
@config_option
@click.argument("name")
def remove(path: Path, name: str) -> None:
    """Remove the user NAME. The tokens stop working at once; the usage stays."""
    with _changing(path, name) as users:
        del users[name]
    print_line(f"Removed {name}")


@user.group()
def token() -> None:
    """Manage the tokens of a user, such as one for each machine."""


@token.command("add")
@config_option
@click.argument("name")
@click.argument("label", metavar="TOKEN")
@_expires_option
def add_token(path: Path, name: str, label: str, expires: datetime | None) -> None:
    """Add a token named TOKEN for the user NAME, and print it, which happens only once.

    The other tokens go on working: revoke the old one when all machines have the new one.
    """
    secret, new = _new_token(expires)
    with _changing(path, name) as users:
        if check_name(label) in users[name].tokens:
            raise click.ClickException(
                f"there is a token {label} already; revoke it first, or name another"
            )
        users[name].tokens[label] = new
    _show_token(f"Added {label} for {name}", secret)


@token.command()
@config_option
@click.argument("name")
@click.argument("label", metavar="TOKEN")
def revoke(path: Path, name: str, label: str) -> None:
    """Revoke the token named TOKEN of the user NAME. It stops working at once."""
    with _changing(path, name) as users:
        if users[name].tokens.pop(label, None) is None:
            raise click.ClickException(
                f"there is no token {label}; `contentgen writer user list` shows them"
            )
    print_line(f"Revoked {label} of {name}")


@writer.command()
@config_option
@json_option
def usage(path: Path, as_json: bool) -> None:
    """Print texts, tokens and cost by month and user."""
    from ..served.configuration import read_server_fields

    with _open_ledger(path) as ledger:
        rows = []
        for row in ledger.usage():
            fields = asdict(row)
            usage_fields = fields.pop("usage")
            rows.append(fields | usage_fields)
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, read_server_fields(path).currency)
    else:
        print_line("No texts have been written", err=True)


def _open_ledger(path: Path) -> Ledger:
    from ..served.configuration import read_server_fields
    from ..served.ledger import open_ledger

    return open_ledger(read_server_fields(path).ledger, path.parent)


def _own_limits(
    path: Path, before: Mapping[str, object], given: Mapping[str, str | None]
) -> dict[str, int | float]:
    """Return the limits of a user. Raises UsageError and ConfigurationError."""
    from ..served.configuration import check_prices, read_server_fields

    wanted = dict(before)
    for name, limit in given.items():
        if limit == "default":
            wanted.pop(name, None)
        elif limit is not None:
            wanted[name] = limit
    try:
        limits = msgspec.convert(wanted, UserLimits, strict=False)
    except ValueError as error:
        raise click.UsageError(
            f"a limit is a number above 0, or `default`, and not too large ({error})"
        ) from error
    check_prices(path, read_server_fields(path), "a user's limit on cost", limits.cost_per_month)
    return {name: getattr(limits, name) for name in wanted}


@contextmanager
def _changing(path: Path, name: str) -> Iterator[dict[str, User]]:
    """Yield the users to be changed. Raises ClickException if there is none of this name."""
    with _open_ledger(path) as ledger, ledger.changing_users() as users:
        if name not in users:
            raise click.ClickException(
                f"there is no user {name}; `contentgen writer user list` shows them"
            )
        yield users


def _new_token(expires: datetime | None) -> tuple[str, Token]:
    """Return a secret token, and what is kept of it."""
    from secrets import token_urlsafe

    secret = token_urlsafe(32)
    until = expires.replace(tzinfo=UTC) if expires else None
    new = Token(sha256(secret), datetime.now(UTC), until)
    if not new.is_valid():
        raise click.UsageError("--expires: the day is not in the future")
    return secret, new


def _show_token(what: str, secret: str) -> None:
    print_line(f"{what}. The token is shown only now:", err=True)
    click.echo(secret)
