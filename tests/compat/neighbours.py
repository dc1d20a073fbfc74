"""What contentgen was tried with: the rows of `neighbours.yml`.

`python tests/compat/neighbours.py` prints them as the guide's table, with what is installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Neighbour:
    """A plugin, a feature or a program that contentgen has to get along with."""

    name: str
    checked: str
    package: str = ""
    needs: tuple[str, ...] = ()
    command: str = "mkdocs"
    repeats: tuple[str, ...] = ()
    # Any: it is whatever a mkdocs.yml can hold.
    config: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def version(self) -> str:
        """Return the version that is installed. Raises PackageNotFoundError."""
        return version(self.package or self.name)

    def missing(self) -> list[str]:
        """Return the packages that are not installed."""

        def is_missing(package: str) -> bool:
            try:
                version(package)
            except PackageNotFoundError:
                return True
            return False

        return [
            package for package in (self.package or self.name, *self.needs) if is_missing(package)
        ]


def read_neighbours() -> dict[str, Neighbour]:
    """Return all rows by their ids."""
    rows = yaml.safe_load((Path(__file__).with_name("neighbours.yml")).read_text(encoding="utf-8"))
    return {
        id_: Neighbour(
            **{"name": id_, **row} | {key: tuple(row.get(key, ())) for key in ("needs", "repeats")}
        )
        for id_, row in rows.items()
    }


def table() -> str:
    """Return the guide's table, in Markdown."""
    rows = [("Neighbour", "Tried with", "What is checked"), ("---", "---", "---")]
    rows += [(row.name, row.version(), row.checked) for row in read_neighbours().values()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    print(table(), end="")
