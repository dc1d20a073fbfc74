"""Keep pages with articles out of Zensical's cache: it does not notice that a text has changed."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from msgspec import MsgspecError, json

from ..errors import StoreError
from ..files import find_link

_CACHE = ".cache"
"""The directory of Zensical's cache in a site."""

_ENTRY_START = 8 * 1024
"""The bytes of an entry in which the page is named."""

_ROUTE = re.compile(rb'"route":\s*\{\s*"source":\s*("(?:[^"\\]|\\.)*")')
"""Matches the name of the page in an entry; the group is that as JSON."""


def delete_entries(root: Path, pages: Collection[str]) -> None:
    """Delete pages from Zensical's cache. Raises StoreError.

    All are deleted where no entry says which page it belongs to, as in a cache of another version.
    """
    if not pages:
        return
    entries = {path: _page_of(path) for path in _entries(root)}
    names_pages = any(entries.values())
    for path, page in entries.items():
        if page in pages or not names_pages:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{path} cannot be deleted ({error.strerror}), so Zensical would show old texts"
                ) from error


def _entries(root: Path) -> list[Path]:
    """Return the files of Zensical's cache. Their names are numbers. Raises StoreError."""
    cache = root / _CACHE
    link = find_link(cache, root)
    if link:
        raise StoreError(
            f"{link} is a symbolic link, which is not followed, so Zensical would show old texts; "
            "put a directory in its place"
        )
    if not cache.is_dir():
        return []
    files = []
    for path in cache.iterdir():
        if path.name.isdigit() and path.is_file():
            files.append(path)
    return files


def _page_of(entry: Path) -> str:
    """Return the page that an entry of Zensical's cache belongs to, or an empty string.

    Only the start is read: entries contain the navigation of the site.
    """
    try:
        with entry.open("rb") as file:
            match = _ROUTE.search(file.read(_ENTRY_START))
        if not match:
            return ""
        return json.decode(match[1], type=str)
    except (OSError, ValueError, MsgspecError):
        return ""
