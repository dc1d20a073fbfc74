"""Programs of the virtual environment as processes, forked from one that has imported them.

Starting Python and importing a program takes most of the processor time of a short one. So each
worker of the tests has a process that imports the programs once, and forks whenever one is started.
A forked program has a pid, signals, an end and an exit status of its own, as any other process.

This file is also what that process runs. A child returns from `next_start()`, so that the
interpreter ends it as it ends every program.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

IMPORTED = (
    *("mkdocs.__main__", "mkdocs.commands.build", "mkdocs.commands.serve"),
    *("mkdocs_contentgen.cli.main", "mkdocs_contentgen.mkdocs.loading"),
    *("mkdocs_contentgen.desk.app", "mkdocs_contentgen.served.process"),
    *("uvicorn.protocols.http.h11_impl", "uvicorn.lifespan.off", "uvicorn.loops.auto"),
)
"""What the programs import anyway."""

MAX_START = 200_000
"""How many bytes a message with arguments and environment can have."""

NUMBER = 8
"""The bytes of a pid or an exit status in a report."""


STARTING = threading.Lock()
"""Held by a thread that starts a program."""


class Program:
    """A program that runs. It is used as `subprocess.Popen` is."""

    def __init__(self, report: int) -> None:
        self._report = report
        weakref.finalize(self, os.close, report)
        self._lock = threading.Lock()
        self.pid = self._next_number()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal, or None while the program runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status when there is one. Raises TimeoutExpired after seconds."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the program has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and self._has_reported(timeout):
            with self._lock:  # several threads can wait
                if self.returncode is None:
                    self.returncode = os.waitstatus_to_exitcode(self._next_number())
        return self.returncode

    def _has_reported(self, timeout: float | None) -> bool:
        return bool(select.select([self._report], [], [], timeout)[0])

    def _next_number(self) -> int:
        number = os.read(self._report, NUMBER)
        assert number, "the process that forks programs has ended"
        return int.from_bytes(number, "big")


def start(
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    stdout: int,
    stderr: int | None = None,
) -> Program:
    """Start a module with arguments. Its output goes to file descriptors, all to the first one."""
    report, report_end = os.pipe()
    is_deaf = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # which programs inherit
    message = json.dumps([command, str(directory), dict(environment), is_deaf]).encode()
    assert len(message) < MAX_START
    ends = [stdout, stdout if stderr is None else stderr, report_end]
    with STARTING:
        socket.send_fds(forking_process().requests, [message], ends)
    os.close(report_end)
    return Program(report)


class ForkingProcess(NamedTuple):
    """The process that forks programs, and what it takes them from."""

    process: subprocess.Popen[bytes]
    requests: socket.socket

    def end(self) -> None:
        """End it. What it has forked goes on."""
        self.requests.close()
        self.process.wait()


@cache
def forking_process() -> ForkingProcess:
    """Start the process that forks programs. It ends with the process of the tests."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen([sys.executable, __file__], stdin=theirs.fileno())
    forking = ForkingProcess(process, ours)
    atexit.register(forking.end)
    return forking


# --- In the process that forks --------------------------------------------------------------------


def next_start() -> str:
    """Return the module that a child is to run. In the parent, this ends with the tests."""
    requests = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests and for programs
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that report
    while True:
        message, ends, _, _ = socket.recv_fds(requests, MAX_START, 3)
        if not message:
            sys.exit()
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            report = ends.pop()
            report_child(report)
            os.close(report)
            return become(message, *ends)
        for end in ends:
            os.close(end)


def report_child(report: int) -> None:
    """Fork, and return in the child. The parent reports its pid and its exit status, and ends."""
    pid = os.fork()
    if pid == 0:
        return
    os.write(report, pid.to_bytes(NUMBER, "big"))
    _, status = os.waitpid(pid, 0)
    try:
        os.write(report, status.to_bytes(NUMBER, "big"))
    finally:
        os._exit(0)  # even if nobody wants to know any more


def become(message: bytes, stdout: int, stderr: int) -> str:
    """Give this process what a new one has, and return the module that it is to run."""
    (module, *arguments), directory, environment, is_deaf = json.loads(message)
    if not is_deaf:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDONLY)
    for given, descriptor in ((null, 0), (stdout, 1), (stderr, 2)):
        os.dup2(given, descriptor)
    for given in {null, stdout, stderr}:
        os.close(given)
    # What they write to has changed, such as from a file to a pipe.
    sys.stdout = os.fdopen(1, "w", newline="\n", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None  # so that TMPDIR is read again
    added = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [directory, *(path for path in added if path and path not in sys.path)]
    sys.argv[1:] = arguments
    return str(module)


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that collecting garbage copies no memory
    runpy.run_module(next_start(), run_name="__main__", alter_sys=True)
