"""Ports for servers that a test starts on a port that it knows before.

The system gives none of them to another program, as it does with a port that was free a moment ago.
"""

from __future__ import annotations

import errno
import os
import random
import socket
from itertools import cycle

FIRST, BLOCK = 11_000, 400
"""The first port, and how many each worker has: below those that systems give to programs,
and above all that browsers refuse."""

_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 20
_start = random.randrange(0, BLOCK, 2)  # another one for other tests on this machine
_ports = cycle(FIRST + BLOCK * _worker + (_start + step) % BLOCK for step in range(0, BLOCK, 2))


def free_port() -> int:
    """Return a port that is free, as is the next one, on both addresses of this machine."""
    return next(port for port in _ports if _is_free(port) and _is_free(port + 1))


def _is_free(port: int) -> bool:
    for host, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
        try:
            socket.create_server((host, port), family=family).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False  # any other error is that of a machine without IPv6
    return True
