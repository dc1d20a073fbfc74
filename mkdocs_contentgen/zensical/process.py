"""Run Zensical in a process of its own, which imports its modules while the texts are looked up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ..site.signals import exit_on_sigterm

MISSING_FILE = "_CONTENTGEN_MISSING"
"""The environment variable with the path of a JSON file that says why texts are missing.

`contentgen zensical` writes it: reasons by the keys of requests, empty while a text is generated.
"""

INTERRUPTED = 130
"""The exit status of shells for a program that Ctrl-C has ended."""


class Zensical(ExitStack):
    """Zensical with its command line. It starts to work when `run` is called."""

    missing_file: Path
    """What MISSING_FILE says."""

    def __init__(self, command: str, arguments: Sequence[str]) -> None:
        super().__init__()
        exit_on_sigterm()  # so that the folder is deleted
        folder = self.enter_context(TemporaryDirectory(prefix="contentgen-"))
        self.missing_file = Path(folder, "missing.json")
        # Inherited, so that Ctrl-C does not end the process before it has a handler.
        self._on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.process = subprocess.Popen(  # noqa: S603  the arguments are the user's own
                [sys.executable, "-m", __package__, command, *arguments],
                stdin=subprocess.PIPE,
                env={**os.environ, MISSING_FILE: str(self.missing_file)},
            )
        finally:
            signal.signal(signal.SIGINT, self._on_interrupt)
        self.push(self.process)

    def run(self) -> None:
        """Let Zensical start to work."""
        if self.process.stdin:
            with suppress(BrokenPipeError):  # its exit status says so
                is_background = self._on_interrupt == signal.SIG_IGN
                self.process.stdin.write(b"ignore Ctrl-C\n" if is_background else b"\n")
                self.process.stdin.close()

    def wait(self) -> int:
        """Wait for Zensical, and return its exit status.

        Ctrl-C reaches Zensical too. It then ends with status 0, which would mean that the site is
        complete, so INTERRUPTED is returned.
        """
        interrupted = False
        while True:
            try:
                status = self.process.wait()
            except KeyboardInterrupt:
                interrupted = True
            except BaseException:  # SIGTERM, which reaches this process only
                self.process.terminate()
                self.process.wait()
                raise
            else:
                if status < 0:  # as shells say that a signal has ended a program
                    status = 128 - status
                return INTERRUPTED if interrupted else status
