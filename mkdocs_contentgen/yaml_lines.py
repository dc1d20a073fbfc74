"""Find the lines of a YAML document that messages name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import yaml


def line_of(node: yaml.Node | None, path: Sequence[str | int], first_line: int = 1) -> int:
    """Return the line of the innermost part of `path` that exists below `node`.

    `first_line` is the number of the document's first line in its file. Without any part, it is 1.
    """
    line = 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            entries = _entries(node)
            if str(step) not in entries:
                break
            key, node = entries[str(step)]
            line = key.start_mark.line + first_line
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line + first_line
    return line


@lru_cache(maxsize=8)  # a mapping can have thousands of wrong keys
def _entries(node: yaml.MappingNode) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Return the nodes of each key and its value. The last of equal keys counts."""
    return {key.value: (key, value) for key, value in node.value if isinstance(key.value, str)}
