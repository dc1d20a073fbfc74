"""Run Zensical as soon as there is a line on stdin. Its modules are imported before that.

Without a line, `contentgen` has ended before it needed Zensical.
"""

import runpy
import signal
import sys
from contextlib import suppress

with suppress(ImportError):
    import zensical.config
    import zensical.main  # noqa: F401
if line := sys.stdin.readline():
    if not line.strip():  # otherwise it is a job in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    runpy.run_module("zensical", run_name="__main__", alter_sys=True)
