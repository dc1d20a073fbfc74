"""The cache, which stores texts by the key of their request.

Since texts cost money, they are written at once and never evicted, and a database that cannot be
used is renamed, not deleted. Contents are not trusted: each entry contains its own key and the
SHA-256 of its text, which are checked.

`disk` stores texts in a local directory, `shared` in Redis or Valkey as well. Only this package
imports diskcache.
"""

from .database import DATABASE
from .disk import DiskStore
from .entry import LEASE, Cache, NoteKind, note_key
from .shared import Outage, SharedStore

__all__ = [
    "DATABASE",
    "LEASE",
    "Cache",
    "DiskStore",
    "NoteKind",
    "Outage",
    "SharedStore",
    "note_key",
]
