"""Texts that are generated in the background of a server."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from mkdocs_contentgen.pages.background import Background
from mkdocs_contentgen.requests import BlogRequest, Request
from mkdocs_contentgen.service.answer import GeneratedText
from mkdocs_contentgen.service.progress import UNOBSERVED, TextInProgress
from mkdocs_contentgen.texts.generation import Generation
from mkdocs_contentgen.texts.policy import Limits
from mkdocs_contentgen.texts.store import DiskStore


class Slow:
    """Writes a text until it is told to end."""

    warnings: Sequence[str] = ()

    def __init__(self) -> None:
        self.end = threading.Event()

    async def send(
        self,
        request: Request,
        *,
        idempotency_key: str,
        timeout: float,
        progress: TextInProgress = UNOBSERVED,
    ) -> bytes:
        """Tell how far the text is."""
        progress.report(340, 900)
        await asyncio.to_thread(self.end.wait, 60)
        return b"<article><p>Text.</p></article>"

    def read(self, answer: bytes) -> GeneratedText:
        """Return the text."""
        return GeneratedText(answer.decode())


def test_a_server_says_how_far_its_texts_are(tmp_path: Path) -> None:
    """While texts are written, lines of the log say how many words there are."""
    lines: queue.Queue[str] = queue.Queue()
    background, client = Background(10, lines.put, log_interval=0), Slow()
    store = DiskStore(tmp_path)
    background.build_started()
    background.source(
        lambda show: Generation(store, lambda: nullcontext(client), Limits(), on_progress=show)
    ).get({"a": BlogRequest(topic="A")}, (), refresh=False)
    background.build_ended()
    while "words" not in (line := lines.get(timeout=60)):
        pass
    client.end.set()
    background.stop(lines.put)
    assert line == "0 of 1 texts, 1 in flight, 0 failed, 340 of about 900 words"
