"""The completion of the shell, asked as bash does."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from mkdocs_contentgen.cli.main import main


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("gen", ["plain,generate"]),
        ("generate --re", ["plain,--refresh"]),
        *(
            (f"{command} docs/a", ["file,docs/a"])  # the shell completes the path
            for command in (
                "generate",
                "show",
                "diff",
                "approve",
                "approve b.md",
                "eject",
                "update",
            )
        ),
    ],
)
def test_what_is_completed(words: str, offered: list[str]) -> None:
    """Commands, options, and the paths of pages."""
    environment = {
        "_CONTENTGEN_COMPLETE": "bash_complete",
        "COMP_WORDS": f"contentgen {words}",
        "COMP_CWORD": str(len(words.split(" "))),
    }
    ran = CliRunner().invoke(main, prog_name="contentgen", env=environment)
    assert ran.stdout.splitlines() == offered
    assert ran.stderr == ""
