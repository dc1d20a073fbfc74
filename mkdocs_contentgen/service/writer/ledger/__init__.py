"""The ledger of the served writer: users, Idempotency-Keys with their answers, and usage.

`sqlite` keeps it in a file for one process, `shared` in Redis or Valkey for many.
"""

from __future__ import annotations

from pathlib import Path

from .entry import (
    BEAT,
    GRACE,
    NAME,
    Answered,
    Beginning,
    Begun,
    Entry,
    Ledger,
    Limited,
    Limits,
    MonthlyUsage,
    OtherBody,
    Running,
    check_name,
)
from .sqlite import SQLiteLedger

__all__ = [
    "BEAT",
    "GRACE",
    "NAME",
    "Answered",
    "Beginning",
    "Begun",
    "Entry",
    "Ledger",
    "Limited",
    "Limits",
    "MonthlyUsage",
    "OtherBody",
    "Running",
    "SQLiteLedger",
    "check_name",
    "open_ledger",
]


def open_ledger(value: str, directory: Path, *, serving: bool) -> Ledger:
    """Open the ledger that the option `ledger` names. Paths are relative to `directory`.

    With `serving`, this process writes texts, and not only commands such as `usage` use the ledger.
    Raises LedgerError.
    """
    return SQLiteLedger(directory / value, serving=serving)
