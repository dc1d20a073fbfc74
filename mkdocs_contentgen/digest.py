"""Compute SHA-256 digests."""

from __future__ import annotations

import hashlib


def sha256(data: str | bytes) -> str:
    """Return the SHA-256 of bytes, or of a text in UTF-8, as 64 hex digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()
