"""Signals that end a server or a build."""

from __future__ import annotations

import signal
from types import FrameType


def exit_on_sigterm() -> None:
    """Let SIGTERM, and the end of a terminal, shut a server down as Ctrl-C does."""

    def exit_server(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, exit_server)
