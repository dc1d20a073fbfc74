"""Lets `python -m mkdocs_contentgen` be the command `contentgen`."""

from .cli import main

main(prog_name="contentgen")
