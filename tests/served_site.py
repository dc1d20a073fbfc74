"""A site that is served by a program of its own, as `mkdocs serve` does it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from urllib.request import urlopen

from conftest import Project
from ports import free_port
from programs import Program


@dataclass
class ServedSite:
    """A running server."""

    url: str
    process: Program

    def page(self, path: str = "") -> str:
        """Return a page as a browser gets it, or nothing while there is no server."""
        try:
            with urlopen(self.url + path, timeout=10) as response:
                return str(response.read().decode())
        except (OSError, HTTPException):  # also while Zensical starts again
            return ""


@contextmanager
def serving(project: Project, *command: str) -> Iterator[ServedSite]:
    """Serve the project on a free port until the block ends."""
    port = free_port()
    process = project.start(*command, "-a", f"127.0.0.1:{port}")
    try:
        yield ServedSite(f"http://127.0.0.1:{port}/", process)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
