"""Print where the fields of a text are found that a new line in its record has added.

Run as a process of its own: the record is read once, before the modules that use it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

AFTER = "    written_by:"
"""The field that the new ones stand before in the record."""

RECORD = {
    "confirmed": ["It is fast."],
    "removed": ["Gone."],
    "changed_by": {"2" * 16: "Jo"},
    "reason": "No time",
    "settled": 1,
}

VALUES: dict[str, tuple[str, object, object]] = {
    "temperature": ("float | None", None, 0),
    "seed": ("int", 1, 0),
    "is_streamed": ("bool", True, False),
    "finish_reason": ("str", "", "stop"),
    "attempts": ("tuple[int, ...]", (), [0, 1]),
    "scores": ("Mapping[str, float]", {}, {"length": 0.0}),
    "parts": ("Edits | None", None, RECORD),
}
"""The type, the default and a value of each new field. Most of these values are falsy."""


def load_record_with_new_fields() -> None:
    """Import `text` with the new fields, declared as CONTRIBUTING says."""
    spec = importlib.util.find_spec("mkdocs_contentgen.text")
    assert spec
    assert spec.origin
    lines = []
    for name, (kind, default, _) in VALUES.items():
        lines.append(f"    {name}: Annotated[{kind}, _ANSWERED, _IN_STATUS] = {default!r}\n")
    source = Path(spec.origin).read_text(encoding="utf-8")
    source = source.replace(AFTER, "".join(lines) + AFTER, 1)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    exec(compile(source, spec.origin, "exec"), module.__dict__)


def main() -> None:
    """Send a text with the new fields through answer, cache, approved file and status."""
    load_record_with_new_fields()
    import msgspec
    from approved_texts import approve, save_approved

    from mkdocs_contentgen.cli.output import fields_in_status
    from mkdocs_contentgen.requests import BlogRequest
    from mkdocs_contentgen.service.protocol import encode_answer, parse_answer
    from mkdocs_contentgen.text import Text
    from mkdocs_contentgen.texts.approved_dir import read_approved
    from mkdocs_contentgen.texts.store import DiskStore

    request = BlogRequest(topic="Speed")
    given: dict[str, object] = {
        "html": "<article><h1>Speed</h1><p>It is fast.</p></article>",
        "generated_at": datetime(2026, 1, 2, tzinfo=UTC),
        "request": request.record(),
    }
    for name, (_, _, value) in VALUES.items():
        given[name] = value
    text = msgspec.convert(given, Text)

    directory = Path(sys.argv[1])
    store = DiskStore(directory / "cache")
    store.save({"0" * 64: text})
    cached, _ = store.load(["0" * 64])
    store.close()
    path = directory / "approved/index.md/main.html"
    save_approved(path, directory, approve(text, "0" * 64, "sandbox", "Jo"))
    approved = read_approved(path, directory)
    assert approved
    found = {
        "answer": msgspec.to_builtins(parse_answer(encode_answer(text), request)),
        "cache": msgspec.to_builtins(cached["0" * 64]),
        "approved file": msgspec.to_builtins(approved.text),
        "status": fields_in_status(text),
    }
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main()
