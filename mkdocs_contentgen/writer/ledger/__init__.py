"""The ledger of the served writer: users, Idempotency-Keys with their answers, and usage.

`sqlite` keeps it in a file for one process, `shared` in Redis or Valkey for many.
"""

from __future__ import annotations

from pathlib import Path

from .protocol import Ledger
from .shared import SharedLedger
from .sqlite import SQLiteLedger

__all__ = ["Ledger", "SQLiteLedger", "SharedLedger", "open_ledger"]


def open_ledger(value: str, directory: Path, *, serving: bool) -> Ledger:
    """Open the ledger that the option `ledger` names: an address, or a path below `directory`.

    With `serving`, this process writes texts, so no other one may use the same file for that.
    Raises LedgerError or ConfigurationError. Nothing is sent to Redis before the first call.
    """
    # Also for a wrong or misspelled scheme: a path would be shown, with the password in it.
    if "://" in value or ("//" in value and "@" in value):
        return SharedLedger(value)
    return SQLiteLedger(directory / value, serving=serving)
