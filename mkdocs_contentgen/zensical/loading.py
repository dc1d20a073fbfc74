"""Load a site that Zensical builds, for a command."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath

from mkdocs.structure.files import File, InclusionLevel, get_files, set_exclusions
from mkdocs.utils.meta import get_data

from ..errors import ConfigurationError
from ..files import find_link
from ..site.front_matter import read_requests, unbuilt_page_problem, unread_metadata_problems
from ..site.site import Site
from .configuration import find_configuration, load_zensical_configuration, plugin_options

# Zensical says nothing about a README.md beside an index.md, and a server would say it each time.
logging.getLogger("mkdocs.structure.files").setLevel(logging.ERROR)


@contextmanager
def load_zensical_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Read the configuration and the requests of all pages.

    With `drafts`, the site includes the pages that only `zensical serve` shows. Raises
    ConfigurationError and StoreError.
    """
    yield read_site(find_configuration(config_file, Path.cwd()), drafts=drafts)


def read_site(path: Path, *, drafts: bool) -> Site:
    """Return the site of a configuration file. Raises ConfigurationError and StoreError."""
    site = load_zensical_configuration(path)
    pages, names = find_pages(site, drafts=drafts)
    published = pages
    if drafts:
        published, _ = find_pages(site, drafts=False)
    files = {file.src_uri: file for file in pages}
    site = replace(
        site,
        pages=published,
        files=files,
        unread_files={name for name in names if name not in files},
    )
    site = read_requests(site, pages)
    unread = []
    unbuilt = []
    for name in sorted(site.unread_files):
        file = _file(site, name)
        unread.append(file)
        if file.is_documentation_page():
            unbuilt.append(file)
    notice = unbuilt_page_problem(site, unbuilt)
    metadata = unread_metadata_problems(site, _folder_metadata(site, unread))
    return replace(site, warnings=[*site.warnings, *metadata], notices=[notice] if notice else [])


def _folder_metadata(site: Site, files: Iterable[File]) -> list[File]:
    """Return the files whose keys the plugin `meta` adds to the pages of a folder."""
    names = set()
    for options in plugin_options(site, "meta"):
        if options.get("enabled", True):
            names.add(str(options.get("meta_file", ".meta.yml")))
    found = []
    for file in files:
        if PurePosixPath(file.src_uri).name in names:
            found.append(file)
    return found


def _file(site: Site, name: str) -> File:
    config = site.config
    return File(name, config.docs_dir, config.site_dir, config.use_directory_urls)


def find_pages(site: Site, *, drafts: bool) -> tuple[list[File], list[str]]:
    """Return the pages that Zensical builds, and the names of all files.

    With `drafts`, the pages include those that only `zensical serve` shows. Raises
    ConfigurationError.
    """
    files = get_files(site.config)
    set_exclusions(files, site.config)
    docs = Path(site.config.docs_dir)
    built_site = site.config.site_dir + os.sep

    @cache
    def is_linked(folder: str) -> bool:  # Zensical does not follow these links
        return find_link(Path(folder), docs) is not None

    built = InclusionLevel.is_in_serve if drafts else InclusionLevel.is_included
    pages = []
    for file in files.documentation_pages(inclusion=built):
        path = str(file.abs_src_path)
        if not file.src_uri.endswith(".md") or path.startswith(built_site):
            continue
        if _is_excluded(file.src_uri, site):
            continue
        if is_linked(os.path.dirname(path)):  # noqa: PTH120  Path takes longer, for each page
            continue
        if not _is_hidden_draft(file, site, drafts=drafts):
            pages.append(file)
    return pages, list(files.src_uris)


def _is_excluded(path: str, site: Site) -> bool:
    """Tell whether the plugin `exclude` leaves a page out. Raises ConfigurationError."""
    try:
        for options in plugin_options(site, "exclude"):
            if any(fnmatchcase(path, glob) for glob in _strings(options.get("glob"))):
                return True
            if any(re.match(regex, path) for regex in _strings(options.get("regex"))):
                return True
        return False
    except re.error as error:
        raise ConfigurationError(
            f"{site.config.config_file_path}: plugins.exclude.regex: "
            f"is not a regular expression ({error})"
        ) from error


def _strings(value: object) -> list[str]:
    """Return the texts of an option that is one text, or a list of them."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, Iterable):
        return [str(item) for item in value]
    return []


def _is_hidden_draft(file: File, site: Site, *, drafts: bool) -> bool:
    """Tell whether a page is a draft of a blog that does not show drafts."""
    for options in plugin_options(site, "blog"):
        folder = str(options.get("blog_dir", "blog"))
        posts = str(options.get("post_dir", "{blog}/posts")).replace("{blog}", folder)
        if not PurePosixPath(file.src_uri).is_relative_to(os.path.normpath(posts)):
            continue
        shows_in_server = drafts and options.get("draft_on_serve", True) is not False
        shows_drafts = shows_in_server or options.get("draft") is True
        return not shows_drafts and _is_draft(file)
    return False


def _is_draft(file: File) -> bool:
    try:
        return get_data(file.content_string)[1].get("draft") is True
    except (OSError, UnicodeError):
        return False  # reported when its request is read
