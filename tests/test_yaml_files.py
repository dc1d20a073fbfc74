"""Reading YAML, with the lines of what messages name."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.yaml_files import NotYAMLError, read_yaml

TEXT = "a: 1\nb:\n- c: 2\n- d: 3\n  d: 4\n"


@pytest.mark.parametrize(
    ("path", "line"),
    [((), 1), (("a",), 3), (("b", 0), 5), (("b", 1, "d"), 7), (("b", 0, "x"), 5), (("x",), 1)],
)
def test_the_innermost_part_has_the_line(path: tuple[str | int, ...], line: int) -> None:
    """What does not exist is in the line of what would hold it; the last of equal keys counts."""
    assert read_yaml(TEXT, first_line=3).line_of(*path) == line


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: }", 4, "is not valid YAML: "),
        ("b: 1\na: b: c", 5, "in quotes"),
        ("a: 1\nb: \x01", 5, "#x0001"),
        ("a: sk-secret\nb: 2026-02-30", 1, "is not valid YAML: it has an impossible date, "),
        pytest.param("a: " + "9" * 6000, 1, "an impossible date, number or tag", id="long"),
    ],
)
def test_what_is_not_yaml(text: str, line: int, message: str, *, plain: bool) -> None:
    """The error has the line, and the same message for all files."""
    with pytest.raises(NotYAMLError) as error:
        read_yaml(text, first_line=4, plain=plain)
    assert error.value.line == line
    assert message in str(error.value)


def test_many_lines_in_linear_time() -> None:
    """A mapping with thousands of wrong keys, each of which has a message, is read once."""

    def find_all(text: str) -> None:
        document = read_yaml(text)
        for number in range(text.count("\n")):
            assert {document.line_of(f"key{number}") for _ in range(4)} == {number + 1}

    def make(size: int) -> str:
        return "".join(f"key{number}: a\n" for number in range(size))

    assert growth(find_all, make, 1_000) < LINEAR


def test_repeated_keys_have_their_places() -> None:
    """In each mapping; a merged key, and one of another type, is another key."""
    text = (
        "a: &a {x: 1, x: 2}\nb:\n- {<<: *a, x: 3}\n- {<<: *a, <<: *a}\nc: *a\n1: y\n'1': z\na: 4\n"
    )
    found = read_yaml(text, first_line=2).repeated_keys
    assert [(it.path, it.line, it.first_line) for it in found] == [
        (("a",), 9, 2),
        (("c", "x"), 2, 2),
    ]
    [merged] = read_yaml("a: &a {x: 1, x: 2}\nb: {<<: *a}\n").repeated_keys
    assert merged.path == ("b", "x")
    with pytest.raises(NotYAMLError, match="the key 'a' is there twice, first in line 2") as error:
        read_yaml(text, first_line=2, unique_keys=True)
    assert error.value.line == 9


def test_repeated_keys_in_linear_time() -> None:
    """Aliases of aliases are not followed again and again, and deep nesting is walked once."""

    def make(size: int) -> str:
        levels = "".join(f"b{n}: &b{n} [*b{n - 1}, *b{n - 1}]\n" for n in range(1, size))
        return f"b0: &b0 [x, x]\n{levels}"

    assert growth(read_yaml, make, 500) < LINEAR
