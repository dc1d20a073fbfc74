"""The sections that texts cite, as they are now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from ..writer.retrieval import Sources
    from ..writer.sources import Section

_FILE = "file:"


class CitedSections:
    """Finds cited sections in the pages of a site, and in other sources of its writer.

    Only files that are cited are read. `sources` returns those of the writer; without it, cited
    files are on another machine.
    """

    def __init__(
        self, pages: Iterable[File], site_url: str, sources: Callable[[], Sources] | None
    ) -> None:
        self._pages = pages
        self._site_url = site_url
        self._sources = sources
        self._read_source = cache(self._sections_of_source)
        self._files: dict[str, File] | None = None
        self._read_page = cache(self._sections_of_page)

    def find(self, source: str) -> list[Section] | None:
        """Return the parts of a section, none if it is gone, or None if it is of another site."""
        if source.startswith(_FILE):
            if self._sources is None:
                return None  # it is on the machine of a served writer
            place = source.removeprefix(_FILE)
            return [it for it in self._read_source(place.partition("#")[0]) if it.place == place]
        if not self._site_url or not source.startswith(self._site_url):
            return None  # a served writer can cite another site
        link = source.removeprefix(self._site_url)
        return [it for it in self._read_page(link.partition("#")[0]) if it.link == link]

    def changed(self, sources: Mapping[str, str]) -> tuple[str, ...]:
        """Return the cited sections that have changed since, or are gone, by path in the site."""
        found = []
        for source, digest in sources.items():
            sections = self.find(source)
            if sections is not None and (not sections or sections[0].digest != digest):
                found.append(self.shown(source))
        return tuple(found)

    def shown(self, source: str) -> str:
        """Return a source as messages name it."""
        if source.startswith(_FILE):
            return source.removeprefix(_FILE)
        return source.removeprefix(self._site_url)

    def _sections_of_source(self, name: str) -> Sequence[Section]:
        return self._sources().sections(name) if self._sources else []

    def _sections_of_page(self, link: str) -> Sequence[Section]:
        from ..writer.sources import split_sections

        if self._files is None:
            self._files = {link_of(file): file for file in self._pages}
        file = self._files.get(link)
        return list(split_sections(file.content_string, file.src_uri, link)) if file else []


def link_of(page: File) -> str:
    """Return the path of a page in the site, as links to sources have it."""
    return "" if page.url in ("", ".", "./") else page.url
