"""Find the articles in the HTML of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

GENERATED = re.compile("ai-disclosure=")
"""Found in the start tag of each generated article."""

_TAG = re.compile(r"<(?P<end>/?)article\b[^<>]*>")


def article_spans(
    content: str, start_tag: re.Pattern[str] = GENERATED
) -> Iterator[tuple[int, int]]:
    """Yield start and end of each article whose start tag has what `start_tag` matches.

    An article within another one is a part of that.
    """
    start = 0
    depth = 0  # of articles within each other
    for tag in _TAG.finditer(content):
        is_end = bool(tag["end"])
        if depth == 0:
            if not is_end and start_tag.search(tag[0]):
                start = tag.start()
                depth = 1
        elif not is_end:
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                yield start, tag.end()
