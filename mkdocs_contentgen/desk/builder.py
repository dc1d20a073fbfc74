"""Build the site behind the desk, again after each change, without a request for a text."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ..site.options import ONLY_CACHED

_LAST_LINES = 5


class Builder:
    """Builds in a thread of its own. Used with `with`.

    `command` gets the directory of the site as its last argument, one of two in turn under
    `folder`, so that the pages of the last build stay while the next one runs. Without a `folder`,
    the site is always built in `site_dir`.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Callable[[str], None],
        *,
        folder: Path | None = None,
        site_dir: Path | None = None,
    ) -> None:
        self.site_dir: Path | None = None
        self.finished = 0
        """How many builds have ended."""

        self.problem = ""
        """Why the last build failed, or an empty string."""

        self._command = command
        self._log = log
        self._folder = folder
        self._own = site_dir
        self._wanted = threading.Event()
        self._stopped = False
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Builder:
        self.build()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped = True
        self._wanted.set()
        if self._process:
            with suppress(OSError):
                self._process.terminate()
        self._thread.join()

    def build(self) -> None:
        """Build the site soon, and once more if a build is running."""
        self._wanted.set()

    @property
    def is_building(self) -> bool:
        """Whether the pages are older than the texts."""
        return self._wanted.is_set() or self._process is not None

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            if self._stopped:
                return
            self._wanted.clear()
            target = self._own
            command = [sys.executable, "-m", *self._command]
            if self._folder:
                target = self._folder / str(self.finished % 2)
                command += ["--site-dir", str(target)]
            self._process = subprocess.Popen(  # noqa: S603  the arguments are the user's own
                command,
                env={**os.environ, ONLY_CACHED: "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            said, _ = self._process.communicate()
            status, self._process = self._process.returncode, None
            if self._stopped:
                return
            self.problem = ""
            if status:
                self.problem = "\n".join(said.strip().splitlines()[-_LAST_LINES:])
                self._log(f"the site cannot be built: {self.problem}")
            else:
                self.site_dir = target
            self.finished += 1
