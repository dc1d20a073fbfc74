"""Lets `python -m mkdocs_contentgen` be the command `contentgen`."""

from .cli.main import main

main(prog_name="contentgen")
