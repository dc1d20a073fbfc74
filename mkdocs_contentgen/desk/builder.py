"""Build the site behind the desk, again after each change, without a request for a text."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import count
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
        self.stamp = ""
        """What build() got for the last build that succeeded."""

        self.problem = ""
        """Why the last build failed, or an empty string."""

        self.is_building = False

        self._command = command
        self._log = log
        self._folder = folder
        self._own = site_dir
        self._wanted = threading.Event()
        self._next = ""
        self._stopped = False
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Builder:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped = True
        self._wanted.set()
        if process := self._process:
            process.terminate()
        self._thread.join()

    def build(self, stamp: str) -> None:
        """Build the site, and once more if a build is running. `stamp` names the state of pages."""
        self._next = stamp
        self._wanted.set()

    def _run(self) -> None:
        for number in count():
            self._wanted.wait()
            self._wanted.clear()
            if self._stopped:
                return
            self.is_building = True
            self._build_now(self._next, number)
            self.is_building = False

    def _build_now(self, stamp: str, number: int) -> None:
        target = self._own
        command = [sys.executable, "-m", *self._command]
        if self._folder:
            target = self._folder / str(number % 2)
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
        if self._stopped:  # after __exit__ has looked for a process
            self._process.terminate()
        said, _ = self._process.communicate()
        if self._stopped:
            return
        self.problem = ""
        if self._process.returncode:
            self.problem = "\n".join(said.strip().splitlines()[-_LAST_LINES:])
            self._log(f"the site cannot be built: {self.problem}")
        else:
            self.site_dir, self.stamp = target, stamp
