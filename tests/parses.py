"""Counts how often a text is read into a document, which takes most of the time of many acts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from mkdocs_contentgen.html.document import Document


@dataclass
class Parses:
    """How many documents were read."""

    count: int = 0


@contextmanager
def counted_parses() -> Iterator[Parses]:
    """Count the documents that this thread reads within the block."""
    parses = Parses()
    read_document = Document.__init__.__code__

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is read_document:
            parses.count += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield parses
    finally:
        sys.setprofile(before)
