"""The record of a text: its limits, and the way of its fields through cache and approved file."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from approved_texts import approve, save_approved
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace
from remarks import in_words
from text_with_more_fields import VALUES

from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.review.block_updates import apply_update, plan_update, read_to_update
from mkdocs_contentgen.service.protocol import BlockChange, Updated, encode_answer, parse_answer
from mkdocs_contentgen.text import ANSWER_FIELDS, Edits, Original, Text, clean_fields, within_limits
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.store import DiskStore

ADDRESS = "https://docs.example/speed/#build"
REQUEST = BlogRequest(topic="Speed", brief="Say: it is fast.")
FULL = Text(
    html="<article><h1>Speed</h1><p>It is fast.</p></article>",
    generated_at=datetime(2026, 1, 2, 10, 11, 12, tzinfo=UTC),
    request=REQUEST.record(),
    model="qwen3:8b",
    sources={ADDRESS: "0" * 64, "file:src/server.py#Server.start": "1" * 64},
    remarks=(
        Remark("length", values={"words": 640, "target": 900}),
        Remark("missing", "'It is fast.'"),
    ),
    edits=Edits(("It is fast.",), ("Gone.",), {"2" * 16: "Łukasz"}, "No time", 1),
    updates=("2026-01-03, qwen3:8b: changed “Speed”: it is faster",),
    passages={ADDRESS: "A build takes 4 seconds.\n\n\tOn two cores."},
    written_by="Łukasz",
    unsupported=("5 GB",),
    original=Original(
        " ".join(["0123abcd:4567cdef:89abcdef:12:01234567"] * 2),
        "2" * 64,
        "pt-BR",
        is_draft=True,
        additions="76543210 fedcba98",
    ),
)
"""A text with a value in every field."""

HOSTILE, SHOWN = "a\x1b[2J\u202eb\n::error::c", "a\\x1b[2J\\u202eb \\x3a:error::c"


def test_the_sample_has_all_fields() -> None:
    """So that the tests below show the way of a field that is added."""
    assert all(asdict(FULL).values())
    assert all(asdict(FULL.edits or Edits()).values())
    assert FULL.original
    assert all(asdict(FULL.original).values())


@pytest.mark.parametrize("name", Text.__struct_fields__)
def test_the_way_of_a_field(tmp_path: Path, name: str) -> None:
    """Each field comes unchanged through answer, cache, approved file and update."""
    answered = parse_answer(encode_answer(FULL), REQUEST)
    if name in (*ANSWER_FIELDS, "html", "request"):
        assert getattr(answered, name) == getattr(FULL, name)

    store = DiskStore(tmp_path / "cache")
    store.save({"0" * 64: FULL})
    texts, problems = store.load(["0" * 64])
    assert (getattr(texts["0" * 64], name), problems) == (getattr(FULL, name), [])
    store.close()

    path = tmp_path / "approved/index.md/main.html"
    save_approved(path, tmp_path, approve(FULL, "0" * 64, "sandbox", "Jo"))
    approved = read_approved(path, tmp_path)
    assert approved is not None
    # A text is approved in spite of its remarks, so that they are not kept.
    expected = () if name == "remarks" else getattr(FULL, name)
    assert getattr(approved.text, name) == expected

    changes = [BlockChange(0, "change", "Other", "it is wrong")]
    what = plan_update(read_to_update(FULL), [], note="Change the title")
    updated = apply_update(FULL, what, Updated(changes, model="m"), date(2026, 1, 4))
    # An update cites its sources as they are now, so `unsupported` is looked for anew.
    if name not in ("html", "updates", "edits", "written_by", "unsupported"):
        assert getattr(updated, name) == getattr(FULL, name)


def test_a_field_of_each_type_that_is_added(tmp_path: Path) -> None:
    """A field that is declared in the record alone is in answer, cache, file and status."""
    program = Path(__file__).with_name("text_with_more_fields.py")
    command = [sys.executable, str(program), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    found = json.loads(ran.stdout)
    assert set(found) == {"answer", "cache", "approved file", "status"}
    for place, fields in found.items():
        for name, (_, _, value) in VALUES.items():
            assert (place, name, fields.get(name)) == (place, name, value)


@given(
    st.recursive(
        st.none()
        | st.integers()
        | st.text(st.characters(exclude_categories=[]))
        | st.just(ADDRESS),
        lambda values: st.lists(values) | st.dictionaries(st.text() | st.just(ADDRESS), values),
    ),
    st.sampled_from(Text.__struct_fields__[3:]),
)
def test_any_value_is_mended(value: object, name: str) -> None:
    """What is repaired is within its limits, and comes back from a cache as it was."""
    fields = clean_fields({name: value}, Text.__struct_fields__)
    text = Text("", FULL.generated_at, {}, **fields)
    assert within_limits(text) == text


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("model", " 模型 ", "模型"),
        ("model", "x" * 101, None),
        ("model", "a\x1b[31m", None),
        ("remarks", ["640 words\n for 900", 7, "", HOSTILE], in_words("640 words for 900", SHOWN)),
        ("remarks", ["x" * 299 + " y"], in_words("x" * 299)),
        ("remarks", [str(number) for number in range(60)], in_words(*map(str, range(50)))),
        ("passages", {ADDRESS: "a\r\n b\x07 \n\n"}, {ADDRESS: "a\n b\\x07"}),
        ("passages", {ADDRESS: "x" * 2001}, {ADDRESS: "x" * 2000}),
        (
            "passages",
            {f"{ADDRESS}{n}": "x" * 3000 for n in range(6)},
            {f"{ADDRESS}{n}": "x" * 1333 for n in range(6)},
        ),
        (
            "sources",
            {f"https://x/{n}/": "0" * 64 for n in range(1000)},
            {f"https://x/{n}/": "0" * 64 for n in range(20)},
        ),
    ],
    ids=str,
)
def test_untrusted_values(name: str, value: object, expected: object) -> None:
    """Control characters are escaped, and what is too long is cut off or dropped."""
    assert clean_fields({name: value}, [name]).get(name) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"a/": "0" * 64},
        {"https://x/a b": "0" * 64},
        {"https://x/": "0" * 63},
        {"https://x/": 1},
        {1: "0" * 64},
        {"https://x/<script>": "0" * 64},
        {"https://x/\x1b[31m": "0" * 64},
        {"https://x/" + "x" * 301: "0" * 64},
        {"https://x/::error": "0" * 64},
    ],
)
def test_hostile_sources(value: object) -> None:
    """Addresses and digests that cannot be such are dropped."""
    assert not clean_fields({"sources": value}).get("sources")


def test_what_only_the_package_says(tmp_path: Path) -> None:
    """A service cannot claim what people or updates did, or when it was asked for what."""
    fields = {name: value for name, value in asdict(FULL).items() if name not in ("html",)}
    answer = encode_answer(replace(FULL, model=""), **fields)
    text = parse_answer(answer, BlogRequest(topic="Other"))
    assert (text.edits, text.updates) == (None, ())
    assert text.request == BlogRequest(topic="Other").record()
    assert text.generated_at > FULL.generated_at
