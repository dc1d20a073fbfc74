"""Record what Zensical has rendered, since it does not notice that a text has changed.

The records are in `.cache`, next to Zensical's own cache, so that both are deleted together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import MsgspecError, Struct, json

from ..errors import StoreError
from ..files import delete_file, find_link, read_text, replace_text, sha256
from ..site.options import ContentgenConfig

if TYPE_CHECKING:
    from ..site.content import PageContent

_VERSION = version("mkdocs-contentgen")
_CACHE = ".cache"
_ASIDE = f"{_CACHE}/contentgen/pages"
_MAX_RECORD = 1024 * 1024
_ENTRY_START = 8 * 1024


class Record(Struct, frozen=True):
    """What a page showed when it was rendered last, as a digest, and problems with its markers."""

    digest: str
    problems: list[str]


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
    path = _record_path(root, page)
    if record.digest:
        replace_text(path, root, json.encode(record).decode())
    else:
        delete_file(path, root)


def read_record(root: Path, page: str) -> Record | None:
    """Return what a page showed when it was rendered last, or None if that is not known."""
    with suppress(OSError, ValueError, MsgspecError):
        text = read_text(_record_path(root, page), root, _MAX_RECORD)
        return json.decode(text, type=Record)
    return None


def changed_pages(root: Path, digests: Mapping[str, str]) -> list[str]:
    """Return the pages that showed something else when they were rendered last."""
    records = {page: read_record(root, page) for page in digests}
    return [
        page for page, record in records.items() if not record or record.digest != digests[page]
    ]


def forget(root: Path, pages: Collection[str]) -> None:
    """Delete pages from Zensical's cache, with their records, so that it renders them again.

    Raises StoreError.
    """
    delete_entries(root, pages)
    for page in pages:
        if read_record(root, page):
            delete_file(_record_path(root, page), root)


def delete_entries(root: Path, pages: Collection[str]) -> None:
    """Delete pages from Zensical's cache; of one that has another form, all. Raises StoreError."""
    entries = _pages_by_entry(root) if pages else {}
    is_known = any(entries.values())
    for path, page in entries.items():
        if page in pages or not is_known:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{path} cannot be deleted ({error.strerror}), so Zensical would show old texts"
                ) from error


def set_aside(root: Path) -> None:
    """Move recorded pages out of Zensical's cache, so that `zensical build` renders them again.

    By itself, it does not notice that a text has changed. Raises StoreError.
    """
    aside = root / _ASIDE
    if find_link(aside, root) or not aside.parent.is_dir():
        return
    recorded = {path.name for path in aside.parent.glob("*.json")}
    entries = _pages_by_entry(root)
    found = [path for path, page in entries.items() if _record_path(root, page).name in recorded]
    # If the cache has another form than expected, all of it.
    for path in found or (entries if recorded else ()):
        _move(path, aside)


def put_back(root: Path) -> None:
    """Move what was set aside back into Zensical's cache. Raises StoreError."""
    for path in _entries(root, root / _ASIDE):
        _move(path, root / _CACHE)


def _move(entry: Path, folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
        entry.replace(folder / entry.name)
    except FileNotFoundError:  # another build was first
        pass
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written ({error.strerror})") from error


def _pages_by_entry(root: Path) -> dict[Path, str]:
    return {path: _page_of(path) for path in _entries(root, root / _CACHE)}


def link_warnings(root: Path) -> list[str]:
    """Return a warning if pages cannot be rendered anew, since Zensical's cache is a link."""
    link = find_link(root / _CACHE, root)
    if link is None:
        return []
    return [
        f"{link} is a symbolic link, which is not followed, so pages keep their old texts; "
        "put a directory in its place, or use --clean"
    ]


def _entries(root: Path, directory: Path) -> list[Path]:
    """Return the files of Zensical's cache in a directory. Their names are numbers."""
    if find_link(directory, root) or not directory.is_dir():
        return []
    return [it for it in directory.iterdir() if it.name.isdigit() and it.is_file()]


def _page_of(entry: Path) -> str:
    """Return the page that an entry of Zensical's cache belongs to, or an empty string.

    Only the start is read: entries contain the navigation of the site.
    """
    try:
        with entry.open("rb") as file:
            match = _ROUTE.search(file.read(_ENTRY_START))
        return json.decode(match[1], type=str) if match else ""
    except (OSError, ValueError, MsgspecError):
        return ""


_ROUTE = re.compile(rb'"route":\s*\{\s*"source":\s*("(?:[^"\\]|\\.)*")')


def _record_path(root: Path, page: str) -> Path:
    return root / _CACHE / "contentgen" / f"{sha256(page)[:32]}.json"
