"""What is shown of a generation that runs."""

from __future__ import annotations

import queue
from io import StringIO

from rich.console import Console

from mkdocs_contentgen.reporting import Progress
from mkdocs_contentgen.site.progress import LineReporter, progress_message, show_bar


def test_lines_without_a_terminal() -> None:
    """While nothing happens, lines still say how far a generation is."""
    lines: queue.Queue[str] = queue.Queue()
    with LineReporter(lines.put, always_lines=True, interval=0.01).generating() as reporter:
        reporter.show(Progress(total=1, done=0, failed=0, in_flight=1))
        for _ in range(2):
            assert lines.get(timeout=60) == "0 of 1 texts, 1 in flight, 0 failed"


def test_a_narrow_terminal_shows_all() -> None:
    """In 80 columns, neither the bar nor the time is cut off by the words of the texts."""
    shown = StringIO()
    console = Console(file=shown, force_terminal=True, width=80, color_system=None)
    with show_bar(console) as reporter:
        reporter.show(Progress(total=19, done=9, failed=0, in_flight=6, words=1240, target=12_000))
    line = [line for line in shown.getvalue().splitlines() if "texts" in line][-1]
    assert "━" in line
    assert "9 of 19 texts, 6 in flight, 0 failed, 1,240 of about 12,000 words" in line
    assert "0:00:00" in line


def test_a_line_above_the_bar_commands_nothing() -> None:
    """The words of a server or the name of a file have no power over the terminal."""
    shown = StringIO()
    console = Console(file=shown, force_terminal=True, width=80, color_system=None)
    with show_bar(console) as reporter:
        reporter.log("docs/\x1b]0;owned\x07.md: [bold]:bomb:")
    assert "\x1b]" not in shown.getvalue()
    assert r"docs/\x1b]0;owned\x07.md: [bold]:bomb:" in shown.getvalue()


def test_the_words_of_the_texts_that_are_being_written() -> None:
    """Where a client tells how far its texts are, a line says it."""
    progress = Progress(total=4, done=1, failed=0, in_flight=2, words=1240, target=1800)
    line = "1 of 4 texts, 2 in flight, 0 failed, 1,240 of about 1,800 words"
    assert progress_message(progress) == line
