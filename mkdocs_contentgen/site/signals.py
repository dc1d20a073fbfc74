"""Signals that end a server or a build."""

from __future__ import annotations

import signal
from types import FrameType

EXIT_SIGNALS = [signal.SIGTERM]
"""The signals that end a server: SIGTERM, and that of the end of a terminal."""

if hasattr(signal, "SIGHUP"):  # Windows has none
    EXIT_SIGNALS.append(signal.SIGHUP)


def exit_on_sigterm() -> None:
    """Let SIGTERM, and the end of a terminal, shut a server down as Ctrl-C does."""

    def exit_server(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for number in EXIT_SIGNALS:
        signal.signal(number, exit_server)
