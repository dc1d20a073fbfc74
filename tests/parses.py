"""Counts how often a text is read into a document, which takes most of the time of many acts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.sanitizer import parse_article


@dataclass
class Parses:
    """How often HTML was read."""

    count: int = 0
    """How many documents were read."""

    of_html: int = 0
    """How often HTML was parsed, for a document or for anything else."""


@contextmanager
def counted_parses() -> Iterator[Parses]:
    """Count what this thread reads within the block."""
    parses = Parses()
    read_document = Document.__init__.__code__
    parse_html = parse_article.__code__

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is read_document:
            parses.count += 1
        elif event == "call" and frame.f_code is parse_html:
            parses.of_html += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield parses
    finally:
        sys.setprofile(before)
