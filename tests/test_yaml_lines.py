"""The lines of a YAML document that messages name."""

from __future__ import annotations

import pytest
import yaml
from growth import growth

from mkdocs_contentgen.yaml_lines import line_of

NODE = yaml.compose("a: 1\nb:\n- c: 2\n- d: 3\n  d: 4\n", yaml.SafeLoader)


@pytest.mark.parametrize(
    ("path", "line"),
    [((), 1), (("a",), 3), (("b", 0), 5), (("b", 1, "d"), 7), (("b", 0, "x"), 5), (("x",), 1)],
)
def test_the_innermost_part_has_the_line(path: tuple[str | int, ...], line: int) -> None:
    """What does not exist is in the line of what would hold it; the last of equal keys counts."""
    assert line_of(NODE, path, 3) == line


def test_many_lines_in_linear_time() -> None:
    """A mapping with thousands of wrong keys, each of which has a message, is read once."""

    def find_all(text: str) -> None:
        node = yaml.compose(text, yaml.SafeLoader)
        for number in range(text.count("\n")):
            assert {line_of(node, [f"key{number}"]) for _ in range(4)} == {number + 1}

    def make(size: int) -> str:
        return "".join(f"key{number}: a\n" for number in range(size))

    assert growth(find_all, make, 2_000) < 3.2
