"""The ledger of the served writer: users, Idempotency-Keys with their answers, and usage."""

from __future__ import annotations

from pathlib import Path

from .databases import PostgreSQL, SQLite
from .ledger import Ledger

__all__ = ["Ledger", "open_ledger"]


def open_ledger(value: str, directory: Path) -> Ledger:
    """Open the ledger that the option `ledger` names: an address, or a path below `directory`.

    Raises LedgerError or ConfigurationError.
    """
    # Also for a wrong or misspelled scheme: a path would be shown, with the password in it.
    if "://" in value or ("//" in value and "@" in value):
        return Ledger(PostgreSQL(value))
    return Ledger(SQLite(directory / value))
