"""Expected files: a new case is a new file, and UPDATE_GOLDEN=1 writes what is to be expected.

What it wrote is to be read before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

GOLDEN = Path(__file__).parent / "golden"


def expect(actual: str, path: Path) -> None:
    """Compare with the expected file, byte for byte; a file that is not there is an empty one."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_bytes(actual.encode())
        if not actual:
            path.unlink()
    expected = path.read_bytes().decode() if path.exists() else ""
    assert actual == expected, f"differs from {path.relative_to(GOLDEN.parent.parent)}"


def cases(module: str) -> dict[str, list[Any]]:
    """Return the cases of a module by the names of its tests, each a list of arguments."""
    path = GOLDEN / "cases" / f"{module}.yml"
    text = path.read_text(encoding="utf-8")
    # The faster loader, which is in C, takes no halves of characters.
    loader = yaml.SafeLoader if "\\ud" in text.casefold() else FastLoader
    found: dict[str, list[Any]] = yaml.load(text, loader)
    return found
