"""The command `contentgen`."""

from __future__ import annotations

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mkdocs-contentgen")
def main() -> None:
    """Look after the generated articles of an MkDocs site."""


@main.command()
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535))
def sandbox(port: int) -> None:
    """Serve the sandbox on this machine, as the service would be served.

    It answers with sample texts, to any user and any token.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise click.ClickException(
            "the sandbox is served by uvicorn; "
            'install it with: pip install "mkdocs-contentgen[sandbox]"'
        ) from error
    from .sandbox import app

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="info")
