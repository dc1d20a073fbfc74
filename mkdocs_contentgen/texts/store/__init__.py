"""The cache: texts by the key of their request.

A text is paid for, so an entry is written at once and never evicted, and what cannot be used is
set aside, never deleted. Nothing that a cache holds is trusted: an entry counts only with its own
key and the SHA-256 of its text in it.

`disk` keeps texts in a directory of this machine, `shared` in Redis or Valkey as well. Nothing
outside this package imports diskcache or redis.
"""

from .database import DATABASE
from .disk import DiskStore
from .entry import LEASE, Cache, Coordinator, Store, StoredText
from .shared import SCHEMES, SharedStore, shown_address

__all__ = [
    "DATABASE",
    "LEASE",
    "SCHEMES",
    "Cache",
    "Coordinator",
    "DiskStore",
    "SharedStore",
    "Store",
    "StoredText",
    "shown_address",
]
