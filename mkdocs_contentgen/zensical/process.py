"""Run Zensical in a process of its own, which imports its modules while the texts are looked up."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

MISSING_FILE = "_CONTENTGEN_MISSING"
"""The environment variable with the path of a JSON file that says why texts are missing.

`contentgen zensical` writes it: reasons by the keys of requests, empty while a text is generated.
"""

INTERRUPTED = 130
"""The exit status of shells for a program that Ctrl-C has ended."""


class Zensical:
    """Zensical with its command line. It starts to work when `run` is called."""

    missing_file: Path
    """What MISSING_FILE says."""

    def __init__(self, command: str, arguments: Sequence[str]) -> None:
        self._folder = TemporaryDirectory(prefix="contentgen-")
        self.missing_file = Path(self._folder.name, "missing.json")
        self.process = subprocess.Popen(  # noqa: S603  the arguments are the user's own
            [sys.executable, "-m", __package__, command, *arguments],
            stdin=subprocess.PIPE,
            env={**os.environ, MISSING_FILE: str(self.missing_file)},
        )

    def __enter__(self) -> Zensical:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.__exit__(kind, error, traceback)
        self._folder.cleanup()

    def run(self) -> None:
        """Let Zensical start to work."""
        if self.process.stdin:
            with suppress(BrokenPipeError):  # its exit status says so
                self.process.stdin.write(b"\n")
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
                return status or (INTERRUPTED if interrupted else 0)
