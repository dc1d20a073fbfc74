"""What a program prints for `--help`: a passage for each option."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_file import GOLDEN, expect
from growth import LINEAR, growth

from mkdocs_contentgen.writer.sources.help_texts import read_help
from mkdocs_contentgen.writer.sources.sources import Location, find_files, read_sources

CASES = sorted((GOLDEN / "help_texts").glob("*.help"))


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_options(case: Path) -> None:
    """Each command and option is shown with its name and its line, and what it says below."""
    shown = ""
    for symbol in read_help(case.read_text()) or ():
        shown += f"=== {symbol.name}, line {symbol.line}\n{symbol.text}\n"
    expect(shown, case.with_suffix(".txt"))


@pytest.mark.parametrize("text", ["", "Usage: it is a word.\n\nText.", "# A title\n\n  --flag\n"])
def test_other_texts(text: str) -> None:
    """A text without a usage or without options is prose."""
    assert read_help(text) is None


@pytest.mark.parametrize("piece", [" ", "usage: a\n", " -a\n", " * -", "-a, ", "\t", "│"])
def test_growth(piece: str) -> None:
    """It takes linear time."""
    assert growth(read_help, lambda size: f"usage: a\n -b c\n{piece * size}", 8000) < LINEAR


def test_a_saved_help_as_a_source(tmp_path: Path) -> None:
    """Each option is a passage, which is linked to its line; another text is read as prose."""
    saved = tmp_path / "help.txt"
    saved.write_text("usage: tool [-h]\n\noptions:\n  -h, --help  show this\n")
    notes = tmp_path / "notes.txt"
    notes.write_text("# Notes\n\nUse `--help`.\n")
    passages, left_out = read_sources(find_files([Location(tmp_path, tmp_path)]))
    assert not left_out
    places = [(passage.place, passage.line) for passage in passages]
    assert places == [
        ("help.txt#tool", 1),
        ("help.txt#tool --help", 4),
        ("notes.txt", None),
    ]
