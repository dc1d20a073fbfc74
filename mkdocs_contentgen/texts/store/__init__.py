"""The cache, which stores texts by the key of their request.

Since texts cost money, they are written at once and never evicted, and nothing is sent while a
database is damaged. Each entry has the SHA-256 of its key and its text, which is checked.

`disk` stores texts in a local directory, `shared` in Redis or Valkey as well. `entries` says what a
row has.
"""

from .disk import (
    DATABASE,
    LEASE,
    REFRESH,
    ChangedError,
    DiskStore,
    EditsAtRiskError,
    Kept,
    decode_kept,
)
from .entries import Failure, NoteKind, Parts, UnreadableTextError, row_key

__all__ = [
    "DATABASE",
    "LEASE",
    "REFRESH",
    "ChangedError",
    "DiskStore",
    "EditsAtRiskError",
    "Failure",
    "Kept",
    "NoteKind",
    "Parts",
    "UnreadableTextError",
    "decode_kept",
    "row_key",
]
