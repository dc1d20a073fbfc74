"""The command `contentgen review`."""

from __future__ import annotations

import errno
import signal
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files import sha256
from .common import listen, open_site, pages_argument, program_for, site_options
from .output import article_to_json, print_line
from .texts import reviewer

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from ..desk.app import DeskApp
    from ..desk.builder import Builder
    from ..reporting import Reporter
    from ..site.site import Site

_PORTS = range(20_000, 30_000)
"""The ports of sites: systems give none of them to other programs unasked."""

_TRIES = 10
"""How many random ports are tried for one that is free at both addresses of this machine."""

_NO_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""The errors of a machine without IPv6."""


@click.command()
@site_options
@pages_argument
@click.option(
    "--port", type=click.IntRange(0, 65534), help="Instead of that of the site; 0 is a random one."
)
@click.option("--by", metavar="NAME", help="Who is responsible for the text; else git's user.name.")
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
def review(
    config_file: str | None,
    pages: tuple[str, ...],
    port: int | None,
    by: str | None,
    *,
    no_open: bool,
) -> None:
    """Read, check, change and approve the texts of PAGES, or of the site, in the browser.

    The site is built and served on this machine only: the desk on a port of 127.0.0.1, and the
    pages of the site on another one, with --port the next, of hosts such as 5f3a.localhost. Ctrl-C
    ends the command.
    """
    import secrets
    import webbrowser
    from urllib.parse import urlsplit

    from ..desk.app import DeskApp
    from ..desk.builder import private_folder
    from ..desk.session import DeskSite
    from ..site.progress import LineReporter
    from ..site.signals import exit_on_sigterm

    name = reviewer(by)
    exit_on_sigterm()  # so that the folder is deleted
    reporter = LineReporter(partial(print_line, err=True))
    with ExitStack() as stack:
        load = partial(open_site, config_file, drafts=True)
        desk_site = stack.enter_context(DeskSite(load, pages, name, article_to_json, reporter))
        site = desk_site.open().site
        site.select_requests(pages)  # says which name is wrong
        desk_listener = stack.enter_context(listen_for_desk(port, site.directory))
        page_listeners = listen_for_pages(port + 1 if port else 0)
        for listener in page_listeners:
            stack.enter_context(listener)
        ports = desk_listener.getsockname()[1], page_listeners[0].getsockname()[1]
        folder = stack.enter_context(private_folder())
        builder = _make_builder(site, reporter, folder)
        builder.build(desk_site.stamp, is_urgent=True)  # which begins when the thread starts
        stack.enter_context(builder)
        desk_site.build = builder.build
        language = str(site.theme.get("language") or site.theme.get("locale") or "")
        base = urlsplit(site.config.site_url or "").path.strip("/")
        base = f"{base}/" if base else ""
        app = DeskApp(desk_site, builder, ports, secrets.token_urlsafe(32), language, base)

        def announce() -> None:
            print_line(f"You review as {name} on {app.address} (Ctrl-C ends it)", err=True)
            if not no_open:
                webbrowser.open(_redirect(folder, app.address))

        _serve(app, [desk_listener, *page_listeners], announce)


def _serve(app: DeskApp, listeners: list[socket], announce: Callable[[], None]) -> None:
    """Serve the desk until a signal ends it. `announce` says where it is."""
    import uvicorn

    from ..site.signals import EXIT_SIGNALS

    settings = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", server_header=False
    )
    server = uvicorn.Server(settings)
    # Before anybody knows the address: a signal that comes while the server starts counts, too.
    for number in EXIT_SIGNALS:
        signal.signal(number, server.handle_exit)
    # Ctrl-C can come as soon as the address is there; uvicorn raises it after it has ended.
    with suppress(KeyboardInterrupt):
        announce()
        server.run(listeners)


def _make_builder(site: Site, reporter: Reporter, folder: Path) -> Builder:
    """Return what builds a site with its generator, with MkDocs into a `folder` of the desk."""
    from ..desk.builder import Builder

    configuration = ["--config-file", site.config.config_file_path]
    if site.generator == "zensical":
        command = ["mkdocs_contentgen", "zensical", "build", *configuration]
        return Builder(command, reporter, site_dir=Path(site.config.site_dir))
    program = program_for(Path(site.config.config_file_path))
    return Builder([program, "build", "--quiet", *configuration], reporter, folder=folder)


def listen_for_desk(port: int | None, directory: Path) -> socket:
    """Return a socket that listens on a port, by default on that of the site in a directory.

    The browser keeps unsaved words for that port. While it is taken, such as by another desk of the
    site, a random one is used. Raises ClickException.
    """
    if port is not None:
        return listen(port)
    number = int(sha256(str(directory.resolve()))[:8], 16)
    try:
        return listen(_PORTS[number % len(_PORTS)])
    except click.ClickException:
        return listen(0)


def listen_for_pages(port: int) -> list[socket]:
    """Return sockets that listen on a port, by default a random one, for all of `*.localhost`.

    These names have an IPv4 and an IPv6 address. A browser may try either first, so nobody else may
    answer there. Raises ClickException.
    """
    for _ in range(_TRIES):
        listener = listen(port)
        number = listener.getsockname()[1]
        try:
            return [listener, listen(number, "::1")]
        except click.ClickException as error:
            cause = error.__cause__
            has_no_ipv6 = isinstance(cause, OSError) and cause.errno in _NO_IPV6
            if has_no_ipv6:
                return [listener]
            listener.close()  # the port is taken at the other address
            if port:
                raise
    raise click.ClickException("no port is free for the pages; choose one with --port")


def _redirect(folder: Path, address: str) -> str:
    """Return the address of a file that only this user can read, and that leads to an address.

    The browser gets it in place of that address: its arguments can be read by each user.
    """
    file = folder / "open.html"
    file.touch(mode=0o600)
    file.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">')
    return file.as_uri()
