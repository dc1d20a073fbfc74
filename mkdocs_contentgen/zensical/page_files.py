"""Find the pages that Zensical builds, and the metadata of their folders."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath

from mkdocs.structure.files import File, InclusionLevel, get_files, set_exclusions
from mkdocs.utils.meta import get_data

from ..display import quoted
from ..errors import ConfigurationError
from ..files import find_link, read_text, reason_of
from ..yaml_files import NotYAMLError, read_yaml
from .configuration import Configuration

_MAX_METADATA = 1024 * 1024
"""The maximum size of a `.meta.yml`, in characters."""


# Zensical says nothing about a README.md beside an index.md, and a server would say it each time.
logging.getLogger("mkdocs.structure.files").setLevel(logging.ERROR)


def find_pages(
    configuration: Configuration, folder_metadata: Mapping[str, object], *, drafts: bool
) -> tuple[list[File], list[str]]:
    """Return the pages that Zensical builds, and the names of all files.

    `folder_metadata` is that of read_folder_metadata(). With `drafts`, the pages include those that
    only `zensical serve` shows. Raises ConfigurationError.
    """
    files = get_files(configuration.site)
    set_exclusions(files, configuration.site)
    docs, built_site = Path(configuration.site.docs_dir), configuration.site.site_dir + os.sep

    @cache
    def is_linked(folder: str) -> bool:  # Zensical does not follow these links
        return find_link(Path(folder), docs) is not None

    built = InclusionLevel.is_in_serve if drafts else InclusionLevel.is_included
    pages = [
        file
        for file in files.documentation_pages(inclusion=built)
        if file.src_uri.endswith(".md")
        and not str(file.abs_src_path).startswith(built_site)
        and not _is_excluded(file.src_uri, configuration)
        and not is_linked(os.path.dirname(str(file.abs_src_path)))  # noqa: PTH120  of each page
        and not _is_hidden_draft(file, configuration, folder_metadata, drafts=drafts)
    ]
    return pages, list(files.src_uris)


def read_folder_metadata(configuration: Configuration) -> dict[str, object]:
    """Return the contents of the `.meta.yml` files, by their paths, if the meta plugin is used."""
    used = configuration.plugin_options("meta")
    if not used:
        return {}
    docs = Path(configuration.site.docs_dir)
    file_name = used[-1].get("meta_file", ".meta.yml")
    if not isinstance(file_name, str) or Path(file_name).name != file_name or not file_name:
        raise ConfigurationError(
            f"{configuration.path}: plugins.meta.meta_file: expected the name of a file, "
            f"found {quoted(file_name)}"
        )
    found: dict[str, object] = {}
    for path in sorted(docs.rglob(file_name)):
        name = path.relative_to(docs).as_posix()
        try:
            text = read_text(path, docs, _MAX_METADATA)
            found[name] = read_yaml(text.removeprefix("\ufeff")).value
        except NotYAMLError as error:
            raise ConfigurationError(f"{path}:{error.line}: {error}") from error
        except (OSError, UnicodeError) as error:
            raise ConfigurationError(f"{path}: cannot be read ({reason_of(error)})") from error
    return found


def _is_excluded(path: str, configuration: Configuration) -> bool:
    try:
        return any(
            any(fnmatchcase(path, glob) for glob in _strings(options.get("glob")))
            or any(re.match(regex, path) for regex in _strings(options.get("regex")))
            for options in configuration.plugin_options("exclude")
        )
    except re.error as error:
        raise ConfigurationError(
            f"{configuration.path}: plugins.exclude.regex: is not a regular expression ({error})"
        ) from error


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [str(item) for item in value] if isinstance(value, Iterable) else []


def _is_hidden_draft(
    file: File, configuration: Configuration, folder_metadata: Mapping[str, object], *, drafts: bool
) -> bool:
    """Tell whether a page is a draft of a blog that does not show drafts."""
    for options in configuration.plugin_options("blog"):
        folder = str(options.get("blog_dir", "blog"))
        posts = str(options.get("post_dir", "{blog}/posts")).replace("{blog}", folder)
        if not PurePosixPath(file.src_uri).is_relative_to(os.path.normpath(posts)):
            continue
        shows_drafts = drafts and options.get("draft_on_serve", True) is not False
        return not (shows_drafts or options.get("draft") is True) and _is_draft(
            file, folder_metadata
        )
    return False


def _is_draft(file: File, folder_metadata: Mapping[str, object]) -> bool:
    metadata: dict[str, object] = {}
    for path, values in sorted(folder_metadata.items(), key=lambda item: item[0].count("/")):
        folder = PurePosixPath(path).parent
        if isinstance(values, dict) and PurePosixPath(file.src_uri).is_relative_to(folder):
            metadata |= values
    try:
        metadata |= get_data(file.content_string)[1]
    except (OSError, UnicodeError):
        return False  # reported when its request is read
    return metadata.get("draft") is True
