"""The command `contentgen sandbox`."""

from __future__ import annotations

import click

from .common import listen


@click.command()
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535))
def sandbox(port: int) -> None:
    """Serve the sandbox on this machine.

    It answers with sample texts, to any user and any token.
    """
    import uvicorn

    from ..service.sandbox import app

    # It says which option to change if the port cannot be used. uvicorn's own lines do not.
    listen(port).close()
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="info", use_colors=False)
