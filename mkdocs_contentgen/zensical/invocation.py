"""Read the command line of Zensical: its command and options, and the configuration file."""

from __future__ import annotations

from argparse import ArgumentError, ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..display import quoted
from ..errors import ConfigurationError

CONFIGURATIONS = ("zensical.toml", "mkdocs.yml", "mkdocs.yaml")
"""The configuration files that Zensical looks for, in this order."""


@dataclass(frozen=True)
class Invocation:
    """How Zensical was started."""

    command: str
    config_file: str | None
    """The value of `--config-file`."""

    strict: bool
    clean: bool


def read_arguments(arguments: Sequence[str]) -> Invocation:
    """Return what arguments of Zensical, such as `build -f docs.yml`, say."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("command", nargs="?", default="")
    parser.add_argument("-f", "--config-file", nargs="?")
    parser.add_argument("-a", "--dev-addr", nargs="?")
    parser.add_argument("-o", "--open", action="store_true")
    parser.add_argument("-s", "--strict", action="store_true")
    parser.add_argument("-c", "--clean", action="store_true")
    try:
        known, _ = parser.parse_known_args(arguments)
    except ArgumentError:  # Zensical says what is wrong
        return Invocation("".join(arguments[:1]), None, strict=False, clean=False)
    return Invocation(known.command, known.config_file, known.strict, known.clean)


def find_configuration(named: str | None, directory: Path) -> Path:
    """Return the configuration file: the one that is named, or else one in the directory.

    Raises ConfigurationError if there is none.
    """
    for name in [named] if named else CONFIGURATIONS:
        if (path := directory / name).is_file():
            return path.absolute()
    if named:
        raise ConfigurationError(f"{quoted(named)}: there is no such configuration file")
    raise ConfigurationError(
        f"there is no {' or '.join(CONFIGURATIONS[:2])} here; "
        "go to the directory of the site, or name its configuration with -f FILE"
    )
