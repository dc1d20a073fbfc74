"""Render single pages with Zensical, which only this module and `__main__` import."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict, cast

from ..errors import ConfigurationError

Heading = tuple[int, str, str]
"""Level, id and title of a heading. The title is HTML."""


class _TocItem(TypedDict):
    title: str
    id: str
    level: int
    children: list[_TocItem]


def require_zensical() -> None:
    """Raise ConfigurationError if Zensical is not installed."""
    if find_spec("zensical") is None:
        raise ConfigurationError(
            'Zensical is not installed; install it with: pip install "mkdocs-contentgen[zensical]"'
        )


def render(
    config_file: Path, text: str, page: str, url: str, metadata: Mapping[str, object]
) -> tuple[str, list[Heading], Mapping[str, object]]:
    """Return the HTML of Markdown, its headings, and the metadata of the page afterwards.

    Raises ConfigurationError if Zensical is not installed.
    """
    require_zensical()
    from zensical.config import parse_config
    from zensical.markdown.render import render as render_markdown

    parse_config(str(config_file))
    rendered = render_markdown(text, page, url, json.dumps(metadata, default=str))
    headings = _headings(cast(Sequence[_TocItem], rendered["toc"]))
    return str(rendered["content"]), list(headings), cast(Mapping[str, object], rendered["meta"])


def _headings(items: Sequence[_TocItem]) -> Iterator[Heading]:
    for item in items:
        yield item["level"], item["id"], item["title"]
        yield from _headings(item["children"])
