"""Run Zensical in a process of its own, and exchange with it what commands need to know."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from ..files import replace_text
from ..site.signals import exit_on_sigterm

_FOLDER = "_CONTENTGEN_ZENSICAL"
"""The environment variable with the folder of an Exchange."""

INTERRUPTED = 130
"""The exit status of shells for a program that Ctrl-C has ended."""


class Exchange:
    """What `contentgen zensical` and the extension in Zensical's process tell each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def set_missing(self, reasons: Mapping[str, str]) -> None:
        """Say why texts are missing, by the keys of requests; empty while one is generated."""
        text = msgspec.json.encode(reasons).decode()
        replace_text(self.folder / "missing.json", self.folder, text)

    def missing(self) -> dict[str, str]:
        """Return why texts are missing; nothing if it cannot be read, since it is only a help."""
        with suppress(OSError, msgspec.MsgspecError):
            content = (self.folder / "missing.json").read_bytes()
            return msgspec.json.decode(content, type=dict[str, str])
        return {}

    def add_problem(self, line: str) -> None:
        """Tell a problem with a page. The command prints it when Zensical has ended."""
        with (self.folder / "problems").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def problems(self) -> list[str]:
        """Return the problems with pages."""
        with suppress(OSError):
            return (self.folder / "problems").read_text("utf-8").splitlines()
        return []


def exchange_with_command() -> Exchange | None:
    """Return the exchange with the command that has started this process, if one has."""
    folder = os.environ.get(_FOLDER)
    return Exchange(Path(folder)) if folder else None


class Zensical(ExitStack):
    """Zensical with its command line. It is started when `run` is called."""

    def __init__(self, command: str, arguments: Sequence[str]) -> None:
        super().__init__()
        exit_on_sigterm()  # so that the folder is deleted
        folder = Path(self.enter_context(TemporaryDirectory(prefix="contentgen-")))
        self.exchange = Exchange(folder)
        self._command = [sys.executable, "-m", "zensical", command, *arguments]
        self._environment = {**os.environ, _FOLDER: str(folder)}

    def run(self) -> subprocess.Popen[bytes]:
        """Start Zensical."""
        self.process = subprocess.Popen(  # noqa: S603  the arguments are the user's own
            self._command, stdin=subprocess.DEVNULL, env=self._environment
        )
        self.push(self.process)
        return self.process

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
