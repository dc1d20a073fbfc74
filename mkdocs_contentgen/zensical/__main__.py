"""Run Zensical as soon as there is a line on stdin. Its modules are imported before that.

Without a line, `contentgen` has ended before it needed Zensical.
"""

import runpy
import signal
import sys
from contextlib import suppress

on_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
with suppress(ImportError):
    import zensical.config
    import zensical.main  # noqa: F401
if sys.stdin.readline():
    signal.signal(signal.SIGINT, on_interrupt)
    runpy.run_module("zensical", run_name="__main__", alter_sys=True)
