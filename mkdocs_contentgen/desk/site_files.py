"""Which files of the built site its pages get on the desk: what they are shown with, and no data.

Scripts of a page can read all that its host serves, and any file can have the text of a draft: a
feed, a search index, an export. So a list says what is served, and not what is refused.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import msgspec

PAGE = ".html"

_SCRIPTS = frozenset({".js", ".mjs"})

_ASSETS = _SCRIPTS | frozenset(
    [
        *(".css", ".wasm"),
        *(".woff", ".woff2", ".ttf", ".otf", ".eot"),
        *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".ico", ".bmp"),
        *(".mp4", ".webm", ".ogv", ".mp3", ".m4a", ".ogg", ".oga", ".wav", ".flac", ".vtt"),
    ]
)
"""The endings of files that a page is shown with."""

_INDEXES = ("search/search_index.json", "search.json")

_BRACKETS = "{["


def type_of(name: str) -> str:
    """Return the ending of a file's name, in lower case."""
    return PurePath(name).suffix.lower()


def is_index(path: str) -> bool:
    """Tell whether a file of a site is the index of its search: the words of all pages."""
    return path in _INDEXES


def emptied_index(index: str) -> str:
    """Return a search index without its pages. The scripts of themes fail where they get none."""
    try:
        found = msgspec.json.decode(index, type=dict[str, object])
    except ValueError:
        found = {}
    return json.dumps({"config": found.get("config", {}), "docs": [], "items": []})


def is_asset(file: str) -> bool:
    """Tell whether a page is shown with a file, which is read if it is a script."""
    ending = type_of(file)
    if ending in _SCRIPTS:
        return not _is_data(Path(file).read_text("utf-8", "replace"))
    return ending in _ASSETS


def _is_data(script: str) -> bool:
    """Tell whether most of a script is one JSON value, such as `var __index = {"docs": […]}`."""
    for bracket in _BRACKETS:
        start = script.find(bracket)
        if start < 0:
            continue
        try:
            _, end = json.JSONDecoder().raw_decode(script, start)
        except (ValueError, RecursionError):
            continue
        if end - start > len(script) / 2:
            return True
    return False
