"""Notice what has changed in the files of a site."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from ..files import sha256
from .site import Site

_INHERIT = re.compile(r"""^INHERIT\s*[:=]\s*["']?([^"'#\n]+)""", re.MULTILINE)

_MAX_INHERITED = 10
"""The maximum number of configurations of which each inherits from the next."""


def stamp_of_pages(site: Site) -> str:
    """Return what changes with the files that decide how pages look, without the texts."""
    config = site.config
    sources = site.options.writer.get("sources")
    custom = getattr(site.theme, "custom_dir", None) or site.theme.get("custom_dir")
    named: list[object] = [config.docs_dir, site.docs_dir, custom]  # a plugin can set a docs_dir
    named += config.hooks or ()
    named += config.watch or ()
    if isinstance(sources, list):
        named += sources
    paths = list(_configurations(site.directory / config.config_file_path))
    for path in named:
        if path:
            paths.append(site.directory / str(path))
    # With `docs_dir: .`, which Zensical allows, the built site and the approved files are in it.
    return stamp_of(paths, without=[Path(config.site_dir), site.approved_directory()])


def stamp_of_texts(site: Site) -> str:
    """Return what changes with the approved files and the cache."""
    cache = site.cache_directory()
    # Where the cache keeps texts that its database could not take.
    unsaved = cache.parent / f"{cache.name}-unsaved"
    return stamp_of([site.approved_directory(), cache / "cache.db", unsaved])


def stamp_of(paths: Iterable[Path], without: Iterable[Path] = ()) -> str:
    """Return what changes when a file does: its name, its size or the time of its last change.

    In directories, what is hidden does not count, nor what is in the directories `without`.
    """
    left_out = {str(path.absolute()) for path in without}
    lines: list[str] = []
    for path in paths:
        name = str(path.absolute())
        if path.is_dir():
            lines += _entries(name, left_out)
        else:
            lines += _entry(name, path.stat)
    return sha256("\n".join(lines))


def _configurations(path: Path) -> Iterator[Path]:
    """Yield a configuration, and those that it inherits."""
    for _ in range(_MAX_INHERITED):
        yield path
        try:
            found = _INHERIT.search(path.read_text("utf-8", "replace"))
        except OSError:  # it is not there, which the build reports
            return
        if not found:
            return
        path = path.parent / found[1].strip()


def _entries(directory: str, without: Collection[str]) -> Iterator[str]:
    """Yield a line for each file in a directory, which changes with the file."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:  # it has just gone
        return
    for entry in entries:
        if entry.name.startswith((".", "__pycache__")) or entry.path in without:
            continue
        # os.scandir() tells directories without a call for each file.
        if entry.is_dir():
            yield from _entries(entry.path, without)
        else:
            yield from _entry(entry.path, entry.stat)


def _entry(path: str, stat: Callable[[], os.stat_result]) -> Iterator[str]:
    try:
        found = stat()
    except OSError:  # it is not there, or has just gone
        return
    # `touch -r` and `mv` keep the time of a change, but not that of its inode.
    yield f"{path} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size}"
