"""Headers of approved files that a test changes, as if they had been approved like that."""

from __future__ import annotations

from pathlib import Path

import yaml
from msgspec import convert, structs

from mkdocs_contentgen.text import Edits
from mkdocs_contentgen.texts.approved_file import decode_file, digest


def signed(content: str) -> str:
    """Return an approved or proposed file with the digest of all that it says."""
    found = decode_file(content.encode(), Path("main.html"))
    # Without those who have edited the text, which the reader adds.
    edits = yaml.safe_load(content.split("---\n")[1]).get("edits")
    text = structs.replace(found.text, edits=convert(edits, Edits | None))
    return content.replace(found.header.written_digest, digest(found.header, text))


def sign(path: Path, content: str) -> None:
    """Write an approved or proposed file with the digest of all that it says."""
    path.write_text(signed(content), "utf-8")
