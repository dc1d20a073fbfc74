"""The tree of exceptions."""

from __future__ import annotations

import inspect
import re

from mkdocs_contentgen import errors


def test_the_tree_in_the_docstring() -> None:
    """The docstring draws the classes as they are, and names those that drop a request's key."""
    drawn: dict[str, tuple[str, bool]] = {}
    parents: list[str] = []
    for indent, name, words in re.findall(
        r"(?m)^([│├└─ ]*)([A-Z][A-Za-z]+Error)\b *(.*)$", inspect.getdoc(errors) or ""
    ):
        depth = len(indent) // 4
        parents[depth:] = [name]
        drawn[name] = (parents[depth - 1] if depth else "Exception", words.startswith("final:"))
    classes = {
        name: (kind.__bases__[0].__name__, getattr(kind, "is_final", False))
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert drawn == classes
