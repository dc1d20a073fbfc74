"""Run the command `contentgen` with `python -m mkdocs_contentgen`."""

from .cli.main import main

main(prog_name="contentgen")
