"""Load a site that Zensical builds, for a command, and render its pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from ..errors import ApprovalError
from ..site.front_matter import CollectedRequests, PageProblem, hidden_requests, read_requests
from ..site.site import Site
from .configuration import Configuration, load_configuration
from .invocation import find_configuration
from .page_files import find_pages, read_folder_metadata

if TYPE_CHECKING:
    from jinja2 import Environment

    from ..writer.options import WriterOptions


@dataclass(frozen=True)
class ZensicalSite(Site):
    """A site that Zensical builds."""

    generator = "zensical"

    configuration: Configuration
    files: Mapping[str, File]
    collected: CollectedRequests

    def request_problems(self) -> list[PageProblem]:
        """Return the problems with requests, also those whose page would not show the article."""
        return self.collected.problems + hidden_requests(self.requests, self._load_templates)

    def _load_templates(self) -> Environment:
        from importlib.util import find_spec

        from jinja2 import Environment, FileSystemLoader

        custom = str(self.configuration.theme.get("custom_dir") or "")
        folders = [self.configuration.path.parent / custom] if custom else []
        if (found := find_spec("zensical")) and found.origin:
            folders.append(Path(found.origin).with_name("templates"))
        return Environment(loader=FileSystemLoader(folders))  # noqa: S701  nothing is rendered

    def theme(self) -> Mapping[str, object]:
        return self.configuration.theme

    def source_file(self, page: str) -> Path:
        path = self.files[page].abs_src_path
        if path is None:
            raise ApprovalError(f"{page}: has no file to edit")
        return Path(path)


@contextmanager
def load_site(config_file: str | None, *, drafts: bool = False) -> Iterator[ZensicalSite]:
    """Read the configuration and the requests of all pages.

    With `drafts`, the site includes the pages that only `zensical serve` shows. Raises
    ConfigurationError and StoreError.
    """
    yield read_site(find_configuration(config_file, Path.cwd()), drafts=drafts)


def read_site(path: Path, *, drafts: bool) -> ZensicalSite:
    """Return the site of a configuration file. Raises ConfigurationError and StoreError."""
    configuration = load_configuration(path)
    site, options = configuration.site, configuration.options
    moved, problems = options.move_cache(site)
    metadata = read_folder_metadata(configuration)
    pages, names = find_pages(configuration, metadata, drafts=drafts)
    collected = read_requests(pages, site, options.defaults, metadata, configuration.theme)
    published = find_pages(configuration, metadata, drafts=False)[0] if drafts else pages
    read = {file.src_uri for file in pages}
    return ZensicalSite(
        site,
        options,
        collected.requests,
        published,
        {name for name in names if name not in read},
        [problem.message for problem in collected.problems],
        configuration.warnings + problems + collected.warnings,
        moved,
        configuration,
        {file.src_uri: file for file in pages},
        collected,
    )


def load_writer_options(config_file: str | None) -> WriterOptions:
    """Return the options of the writer in a configuration. Raises ConfigurationError."""
    configuration = load_configuration(find_configuration(config_file, Path.cwd()))
    metadata = read_folder_metadata(configuration)
    pages, _ = find_pages(configuration, metadata, drafts=False)
    return configuration.options.writer_options(configuration.site, pages)
