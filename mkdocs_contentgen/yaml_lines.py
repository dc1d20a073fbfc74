"""Find the lines of a YAML document that messages name."""

from __future__ import annotations

from collections.abc import Sequence

import yaml


def line_of(node: yaml.Node | None, path: Sequence[str | int], first_line: int = 1) -> int:
    """Return the line of the innermost part of `path` that exists below `node`.

    `first_line` is the number of the document's first line in its file. Without any part, it is 1.
    """
    line = 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            for key, value in reversed(node.value):  # the last of equal keys counts
                if key.value == str(step):
                    node, line = value, key.start_mark.line + first_line
                    break
            else:
                break
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line + first_line
    return line
