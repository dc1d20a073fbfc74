"""Build the site behind the desk, again after each change, without a request for a text."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..files import locked
from ..reporting import Reporter
from ..site.options import ONLY_CACHED

PREFIX = "contentgen-desk-"
"""The start of the names of folders with built sites."""

_LAST_LINES = 5
"""How many lines of a failed build are shown."""


class Builder:
    """Builds in a thread of its own. Used with `with`.

    `command` gets the directory of the site as its last argument, one of two in turn under
    `folder`, so that the pages of the last build stay while the next one runs. Without a `folder`,
    the site is always built in `site_dir`. A build that nobody waits for begins when there was no
    change for `patience` seconds.
    """

    def __init__(
        self,
        command: Sequence[str],
        reporter: Reporter,
        *,
        folder: Path | None = None,
        site_dir: Path | None = None,
        patience: float = 2.0,
    ) -> None:
        self.site_dir: Path | None = None
        self.stamp = ""
        """The stamp of the pages that the site was last built from."""

        self.problem = ""
        """Why the last build failed, or an empty string."""

        self._command = command
        self._reporter = reporter
        self._folder = folder
        self._fixed_site_dir = site_dir
        self._patience = patience
        self._changed = threading.Condition()
        self._is_wanted = False
        self._next_stamp = ""
        self._next_is_urgent = False
        self._number = 0
        self._stopped = False
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Builder:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._stopped = True
        self.build("", is_urgent=True)  # wakes the thread, which ends then
        process = self._process  # which the thread may set to None meanwhile
        if process:
            with suppress(OSError):
                process.terminate()
        self._thread.join()

    def build(self, stamp: str, is_urgent: bool) -> None:
        """Build the site, and once more if a build is running.

        `stamp` names the state of its pages, and somebody waits for an urgent build.
        """
        with self._changed:
            # An urgent build that has not begun stays urgent.
            has_urgent = self._is_wanted and self._next_is_urgent
            self._next_is_urgent = is_urgent or has_urgent
            self._next_stamp = stamp
            self._is_wanted = True
            self._changed.notify_all()

    @property
    def is_building(self) -> bool:
        """Whether a build is running or about to begin."""
        return self._is_wanted or self._process is not None

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_wanted)
                while not self._next_is_urgent:
                    if not self._changed.wait(self._patience):
                        break  # there was no further change
                stamp = self._next_stamp
                self._is_wanted = False
            if self._stopped:
                return
            self._number += 1
            self._build_now(stamp)

    def _build_now(self, stamp: str) -> None:
        target = self._fixed_site_dir
        command = [sys.executable, "-m", *self._command]
        if self._folder:
            target = self._folder / str(self._number % 2)
            command += ["--site-dir", str(target)]
        with self._changed:
            if self._stopped:
                return
            self._process = subprocess.Popen(  # noqa: S603  the arguments are the user's own
                command,
                env={**os.environ, ONLY_CACHED: "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        printed, _ = self._process.communicate()
        status = self._process.returncode
        self._process = None
        if self._stopped:
            return
        self.problem = ""
        if status:
            self.problem = "\n".join(printed.strip().splitlines()[-_LAST_LINES:])
            self._reporter.log(f"the site cannot be built: {self.problem}")
        else:
            self.site_dir = target
            self.stamp = stamp


@contextmanager
def private_folder() -> Iterator[Path]:
    """Create a folder for a desk, and delete it in the end.

    A desk holds a lock on its folder. First, the folders of desks that were killed are deleted.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), locked(folder, wait=False):
            shutil.rmtree(folder, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f"new-{PREFIX}"))
    with locked(new):
        # Another desk that starts at this moment looks for the name, and must find the lock then.
        folder = new.rename(new.with_name(new.name.removeprefix("new-")))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
