"""What the command line of Zensical says."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.zensical.invocation import Invocation, read_arguments


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("build", Invocation("build", None, strict=False, clean=False)),
        ("build -f a.yml -s", Invocation("build", "a.yml", strict=True, clean=False)),
        ("build --config-file=a.yml --clean", Invocation("build", "a.yml", False, True)),
        ("build -fa.yml -cs", Invocation("build", "a.yml", True, True)),
        ("serve -so -a localhost:1", Invocation("serve", None, True, False)),
        ("serve -a localhost:1 -f a.yml", Invocation("serve", "a.yml", False, False)),
        ("build --no-such-option", Invocation("build", None, False, False)),
        ("build -sx", Invocation("build", None, False, False)),
        ("", Invocation("", None, False, False)),
    ],
)
def test_arguments_are_read_as_zensical_reads_them(arguments: str, expected: Invocation) -> None:
    """The command and the options that matter are found; wrong ones are left to Zensical."""
    assert read_arguments(arguments.split()) == expected
