"""Tests for remarks: their kinds, their values and their sentences, in all languages."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import get_args

import msgspec
import pytest

import mkdocs_contentgen
from mkdocs_contentgen.remark import (
    MAX_LINE,
    VALUES,
    Kind,
    Line,
    Remark,
    clean_remarks,
    quotation_remarks,
    without_repeated,
)
from mkdocs_contentgen.remark_words import SENTENCES, sentence_of

CODE = Path(mkdocs_contentgen.__file__).parent
PLACE = re.compile(r"\{(\w+)(?::[^{}]*)?\}")


def numbers_of(kind: Kind) -> set[str]:
    """Return the values of a kind whose words depend on a number."""
    choices = re.findall(r"\{(\w+):[^{}]*\|[^{}]*\}", SENTENCES[kind][1])
    return {*choices, "words", "target", "more", "items", "wanted"}


def example(kind: Kind) -> Remark:
    """Return a remark of a kind."""
    values: dict[str, str | int] = {}
    for name in VALUES[kind]:
        values[name] = 1234 if name in numbers_of(kind) else f"<{name}>"
    block = str(values.pop("block", ""))
    return Remark(kind, block, values)


def test_each_kind_has_values_and_a_sentence() -> None:
    """No list has a kind that another one lacks."""
    assert {*get_args(Kind)} == {*VALUES} == {*SENTENCES}


@pytest.mark.parametrize("kind", VALUES)
def test_a_sentence_has_the_values_of_its_kind(kind: Kind) -> None:
    """It says all of them, and nothing is left to fill in."""
    _, sentence = SENTENCES[kind]
    places = {name for _, name, _, _ in Formatter().parse(sentence) if name}
    assert places == {*VALUES[kind]}
    remark = example(kind)
    words = sentence_of(remark)
    for value in (remark.block, *remark.values.values()):
        assert (f"{value:,}" if isinstance(value, int) else value) in words


@pytest.mark.parametrize("kind", VALUES)
def test_a_remark_is_read_as_it_was_written(kind: Kind) -> None:
    """The cache, a file and an answer have it as a record."""
    remark = example(kind)
    assert msgspec.json.decode(msgspec.json.encode(remark), type=Remark) == remark
    assert clean_remarks([msgspec.to_builtins(remark)]) == [remark]


def test_the_desk_has_sentences_in_its_languages() -> None:
    """Each says the same values as the English one."""
    sentences = json.loads((CODE / "desk/page/data/remarks.json").read_text("utf-8"))
    assert sentences.pop("languages") == ["de", "fr", "es", "ja", "zh"]
    assert {*sentences} == {*VALUES}
    for kind, translated in sentences.items():
        assert len(translated) == 5
        for sentence in translated:
            assert {*PLACE.findall(sentence)} == {*VALUES[kind]}, sentence


@pytest.mark.parametrize(
    ("remark", "sentence"),
    [
        (Remark("missing_more", values={"more": 1}), "1 more block of the original has no"),
        (Remark("missing_more", values={"more": 2}), "2 more blocks of the original have no"),
        (Remark("update_cut", values={"said": ""}), "update: the answer was cut off, so further"),
        (Remark("update_cut", values={"said": "full"}), "wrong; the server said: full"),
        (Remark("service", values={"text": "{words} {0}"}), "{words} {0}"),
    ],
)
def test_sentences(remark: Remark, sentence: str) -> None:
    """They have the right number, no gaps, and values as they are."""
    assert sentence in sentence_of(remark)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"kind": "unknown"},
        {"kind": "length"},
        {"kind": "length", "values": {"words": 1}},
        {"kind": "length", "values": {"words": 1, "target": 2, "more": 3}},
        {"kind": "length", "values": {"words": -1, "target": 2}},
        {"kind": "length", "values": {"words": True, "target": 2}},
        {"kind": "length", "values": {"words": 10**400, "target": 2}},
        {"kind": "closing", "block": "'One'"},
        {"kind": "missing", "block": ["x"]},
        {"kind": "missing", "values": {"block": "'One'"}},
        {"kind": "closing", "values": []},
        {"kind": ["closing"]},
        7,
        None,
        "",
    ],
)
def test_what_is_no_remark_is_dropped(value: object) -> None:
    """Others beside it stay."""
    assert clean_remarks([value, "as asked"]) == [Remark("service", values={"text": "as asked"})]
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, Remark)


def test_untrusted_remarks_are_lines() -> None:
    """Control characters are escaped, and what is too long is cut off."""
    hostile = "a\n b\x1b[2J" + "x" * 400
    for found in clean_remarks(
        [
            hostile,
            {"kind": "citation", "values": {"numbers": hostile}},
            {"kind": "missing", "block": hostile},
        ]
    ):
        words = found.block or str(next(iter(found.values.values())))
        assert words.startswith("a b\\x1b[2Jx")
        assert len(words) == MAX_LINE
        assert msgspec.convert(words, Line)


def test_quotations() -> None:
    """A long one is cut, so that nobody takes it for the whole; of many, the number is told."""
    remarks = quotation_remarks([*map(str, range(20)), "y" * 201, "“A\n b”", "0"])
    assert [remark.kind for remark in remarks] == [*["quotation"] * 20, "quotations_more"]
    [short, long] = quotation_remarks(["“A\n b”", "y" * 201])
    assert short.values == {"quotation": "“A b”"}
    assert (long.kind, long.values) == ("quotation_start", {"start": "y" * 200})


def strings_in(file: Path) -> Iterator[str]:
    """Yield the strings of a module that are no documentation."""
    tree = ast.parse(file.read_text("utf-8"))
    documentation: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            documentation.add(node.value)
    for node in ast.walk(tree):
        if node in documentation or not isinstance(node, ast.Constant):
            continue
        if isinstance(node.value, str):
            yield node.value


def test_remarks_that_are_repeated() -> None:
    """Each is there once, where it was first; another value makes another remark."""
    one = Remark("missing", "'One'")
    first, second = (Remark("untranslated_more", values={"more": more}) for more in (1, 2))
    assert without_repeated([first, one, first, second, one]) == [first, one, second]


def test_each_kind_is_made() -> None:
    """Code names each, beside the three lists of kinds, values and sentences."""
    named: Counter[str] = Counter()
    for file in CODE.rglob("*.py"):
        named.update(strings_in(file))
    assert [kind for kind in VALUES if named[kind] <= 3] == []


def test_sentences_are_in_one_place() -> None:
    """No other module has the words of a remark: code decides by kinds."""
    said = []
    for _, sentence in SENTENCES.values():
        said += re.split(r"\{[^{}]*\}", sentence)
    # A short part, such as `lacks`, is a word of other sentences, too.
    parts = [part.strip() for part in said if len(part) > 20]
    for file in CODE.rglob("*.py"):
        if file.name == "remark_words.py":
            continue
        for string in strings_in(file):
            assert not any(part in string for part in parts), (file, string)
