"""A model server in a process of its own, as real ones are."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Process, SimpleQueue
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_double import running_model
from model_writer import Conversation, write, writing


@contextmanager
def model_process(seconds: float) -> Iterator[str]:
    """Serve a model that takes so long for a call, and yield its address."""
    endpoints: SimpleQueue[str] = SimpleQueue()
    process = Process(target=_serve, args=(seconds, endpoints), daemon=True)
    process.start()
    try:
        yield endpoints.get()
    finally:
        process.terminate()
        process.join()


def _serve(seconds: float, endpoints: SimpleQueue[str]) -> None:
    texts: list[str] = []

    def slowly(conversation: Conversation) -> str:
        time.sleep(seconds)
        # Composing each text would take time of the same cores.
        if not texts:
            texts.append(write(conversation))
        return texts[0]

    with running_model() as double:
        double.answer = writing(slowly)
        endpoints.put(double.endpoint)
        threading.Event().wait()
