"""Record what Zensical has rendered, since it does not notice that a text has changed.

The records are in `.cache`, next to Zensical's own cache, so that both are deleted together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ..digest import sha256
from ..errors import StoreError
from ..files import delete_file, find_link, read_text, replace_text
from ..pages.options import ContentgenConfig

if TYPE_CHECKING:
    from ..pages.build import PageContent

_VERSION = version("mkdocs-contentgen")
_CACHE = ".cache"
_MAX_RECORD = 1024 * 1024
_ENTRY_START = 8 * 1024


@dataclass(frozen=True)
class Record:
    """What a page showed when it was rendered last, as a digest, and problems with its markers."""

    digest: str
    problems: list[str]
    made: float = field(default=0.0, compare=False)
    """When the page was rendered, in seconds since 1970."""


def digest_of(
    contents: Mapping[str, PageContent], options: ContentgenConfig, pages: Mapping[str, str]
) -> str:
    """Return a digest of all that decides how the articles of a page look.

    `pages` maps the address of each page to its `src_uri`.
    """
    parts = [_VERSION, repr(options.presentation())]
    for name, content in contents.items():
        parts += [name, repr(content.provenance), sha256(content.source)]
        parts += [pages.get(address.partition("#")[0], "") for address in content.cited]
    return sha256("\n".join(parts))


def write_record(root: Path, page: str, record: Record) -> None:
    """Record what a page shows; a record without a digest is deleted. Raises OSError."""
    if not record.digest:
        delete_file(_record_path(root, page), root)
        return
    value = {"page": page, "digest": record.digest, "problems": record.problems}
    replace_text(_record_path(root, page), root, json.dumps(value))


def read_record(root: Path, page: str) -> Record | None:
    """Return what a page showed when it was rendered last, or None if that is not known."""
    path = _record_path(root, page)
    try:
        match json.loads(read_text(path, root, _MAX_RECORD)):
            case {"page": named, "digest": str(digest), "problems": list(problems)}:
                made = path.stat().st_mtime
                return Record(digest, list(map(str, problems)), made) if named == page else None
    except (OSError, ValueError, RecursionError):
        pass
    return None


def forget(root: Path, pages: Collection[str]) -> None:
    """Delete pages from Zensical's cache, so that it renders them again.

    If the cache has another form than expected, all of it is deleted. Raises StoreError.
    """
    if not pages:
        return
    entries = {path: _page_of(path) for path in _entries(root)}
    rendered = {page for page in pages if read_record(root, page)}
    is_known = rendered <= set(entries.values())
    for path, page in entries.items():
        if page in pages or not is_known:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{path} cannot be deleted ({error.strerror}), so Zensical would show old texts"
                ) from error
    for page in rendered:
        delete_file(_record_path(root, page), root)


def cache_link(root: Path) -> Path | None:
    """Return the symbolic link on the way to Zensical's cache, or None. It is not followed."""
    return find_link(root / _CACHE, root)


def _entries(root: Path) -> Iterator[Path]:
    """Yield the files of Zensical's cache, whose names are numbers."""
    directory = root / _CACHE
    if cache_link(root) is None and directory.is_dir():
        yield from (path for path in directory.iterdir() if path.name.isdigit() and path.is_file())


def _page_of(entry: Path) -> str:
    """Return the page that an entry of Zensical's cache belongs to, or an empty string.

    Only the start is read: entries contain the navigation of the site.
    """
    try:
        with entry.open(encoding="utf-8", errors="replace") as file:
            match = _ROUTE.search(file.read(_ENTRY_START))
        return str(json.loads(match[1])) if match else ""
    except (OSError, ValueError):
        return ""


_ROUTE = re.compile(r'"route":\s*\{\s*"source":\s*("(?:[^"\\]|\\.)*")')


def _record_path(root: Path, page: str) -> Path:
    return root / _CACHE / "contentgen" / f"{sha256(page)[:32]}.json"
