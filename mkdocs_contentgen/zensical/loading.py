"""Load a site that Zensical builds, for a command."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mkdocs.structure.files import File

from ..site.front_matter import hidden_requests, read_requests
from ..site.site import Site
from .configuration import Configuration, load_configuration
from .invocation import find_configuration
from .page_files import find_pages

if TYPE_CHECKING:
    from jinja2 import Environment

    from ..site.content import PageContent
    from ..writer.settings import WriterOptions


@contextmanager
def load_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Read the configuration and the requests of all pages.

    With `drafts`, the site includes the pages that only `zensical serve` shows. Raises
    ConfigurationError and StoreError.
    """
    yield read_site(find_configuration(config_file, Path.cwd()), drafts=drafts)


def read_site(path: Path, *, drafts: bool) -> Site:
    """Return the site of a configuration file. Raises ConfigurationError and StoreError."""
    configuration = load_configuration(path)
    options, config = configuration.options, configuration.config
    pages, names = find_pages(configuration, drafts=drafts)
    collected = read_requests(pages, config, options.defaults, configuration.theme)
    files = {file.src_uri: file for file in pages}
    load_templates = partial(_load_templates, configuration)
    return Site(
        config=config,
        options=options,
        generator="zensical",
        theme=configuration.theme,
        requests=collected.requests,
        pages=find_pages(configuration, drafts=False)[0] if drafts else pages,
        files=files,
        others={name for name in names if name not in files},
        problems=collected.problems + hidden_requests(collected.requests, load_templates),
        warnings=configuration.warnings + collected.warnings,
        render=partial(_render, path, files) if find_spec("zensical") else None,
    )


def _render(
    path: Path, files: Mapping[str, File], page: str, articles: Mapping[str, PageContent]
) -> str:
    """Return the HTML that Zensical makes of the Markdown of a page with these articles."""
    from mkdocs.utils import get_relative_url
    from mkdocs.utils.meta import get_data
    from zensical.config import parse_config
    from zensical.markdown.render import render

    from .page_texts import SiteTexts, use_texts

    config = parse_config(str(path))
    configuration = load_configuration(path)
    use_texts(config, SiteTexts(configuration, serves=True, given={page: dict(articles)}))
    markdown, meta = get_data(files[page].content_string)
    rendered = render(markdown, page, files[page].url, json.dumps(meta, default=str))

    def link(match: re.Match[str]) -> str:
        """Link to the address of a page, as Zensical does outside of Python."""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(match[1])))
        found = files.get(target)
        return f'href="{get_relative_url(found.url, files[page].url)}' if found else match[0]

    return re.sub(r'(?<=\s)href="([^":#?]+\.md)(?=["#?])', link, str(rendered["content"]))


def _load_templates(configuration: Configuration) -> Environment:
    from jinja2 import Environment, FileSystemLoader

    custom = str(configuration.theme.get("custom_dir") or "")
    folders = [configuration.path.parent / custom] if custom else []
    if (found := find_spec("zensical")) and found.origin:
        folders.append(Path(found.origin).with_name("templates"))
    return Environment(loader=FileSystemLoader(folders))  # noqa: S701  nothing is rendered


def load_writer_options(config_file: str | None) -> WriterOptions:
    """Return the options of the writer in a configuration. Raises ConfigurationError."""
    return read_site(find_configuration(config_file, Path.cwd()), drafts=False).writer_options()
