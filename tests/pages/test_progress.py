"""What is shown of a generation that runs."""

from __future__ import annotations

import queue

from mkdocs_contentgen.pages.progress import show_progress
from mkdocs_contentgen.texts.generation import Progress


def test_lines_without_a_terminal() -> None:
    """While nothing happens, lines still say how far a generation is."""
    lines: queue.Queue[str] = queue.Queue()
    with show_progress(lines.put, use_log=True, interval=0.01) as (show, _):
        show(Progress(total=1, done=0, failed=0, in_flight=1))
        for _ in range(2):
            assert lines.get(timeout=60) == "0 of 1 texts, 1 in flight, 0 failed"
