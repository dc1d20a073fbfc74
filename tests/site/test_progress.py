"""What is shown of a generation that runs."""

from __future__ import annotations

import queue

from mkdocs_contentgen.site.progress import progress_message, show_progress
from mkdocs_contentgen.texts.generation import Progress


def test_lines_of_the_log() -> None:
    """While nothing happens, lines still say how far a generation is."""
    lines: queue.Queue[str] = queue.Queue()
    with show_progress(lines.put, interval=0.01) as (show, _):
        show(Progress(total=1, done=0, failed=0, in_flight=1))
        for _ in range(2):
            assert lines.get(timeout=60) == "0 of 1 texts, 1 in flight, 0 failed"


def test_the_words_of_the_texts_that_are_being_written() -> None:
    """Where a client tells how far its texts are, a line says it."""
    progress = Progress(total=4, done=1, failed=0, in_flight=2, words=1240, target=1800)
    line = "1 of 4 texts, 2 in flight, 0 failed, 1,240 of about 1,800 words"
    assert progress_message(progress) == line
