"""What the command line of Zensical says."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.zensical.configuration import Invocation, find_configuration, read_arguments


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


def test_the_configuration_is_the_one_that_zensical_takes(tmp_path: Path) -> None:
    """Where a site has several, Zensical's own goes before those of MkDocs."""
    names = ("zensical.toml", "mkdocs.yml", "mkdocs.yaml")
    for name in names:
        (tmp_path / name).touch()
    assert find_configuration("mkdocs.yaml", tmp_path) == tmp_path / "mkdocs.yaml"
    for name in names:
        assert find_configuration(None, tmp_path) == tmp_path / name
        (tmp_path / name).unlink()
    for named in (None, "mkdocs.yaml"):
        with pytest.raises(ConfigurationError, match="there is no"):
            find_configuration(named, tmp_path)
