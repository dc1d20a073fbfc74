"""Where options put files: within the project, and never where a site would publish them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, set_exclusions

from ..display import quoted
from ..errors import ConfigurationError
from ..files import find_link, reason_of


def project_directory(config: MkDocsConfig) -> Path:
    """Return the directory that the paths of options are relative to: that of `mkdocs.yml`."""
    return Path(config.config_file_path).parent if config.config_file_path else Path.cwd()


def resolve_directory(option: str, value: str, config: MkDocsConfig) -> Path:
    """Return the path of a directory option.

    Raises ConfigurationError for a symbolic link, and if the files would be published or lost.
    """
    project = project_directory(config)
    expanded = os.path.expanduser(value)  # noqa: PTH111  Path.expanduser() raises RuntimeError
    if expanded.startswith("~"):
        raise ConfigurationError(
            f"{option}: {quoted(value)} names a home directory that is not known; "
            "write the whole path"
        )
    directory = Path(os.path.normpath(project / expanded))
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            directory.lstat()
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{option}: {quoted(value[:80])} is not a path ({reason_of(error)})"
        ) from None
    if link := find_link(directory, project):
        raise ConfigurationError(
            f"{option}: {link} is a symbolic link, which is not followed; give the directory that "
            f"it leads to as {option}, or put a directory in the place of the link"
        )
    if problem := _publishing_problem(directory.resolve(), config):
        raise ConfigurationError(f"{option}: {quoted(value)} {problem}")
    return directory


def _publishing_problem(directory: Path, config: MkDocsConfig) -> str:
    """Return why the files of a directory would be published or lost, or an empty string."""
    docs, built = Path(config.docs_dir).resolve(), Path(config.site_dir).resolve()
    if directory.is_relative_to(built):
        return "is in site_dir, which each build empties; choose another directory"
    if docs.is_relative_to(directory):
        return "contains docs_dir, so that pages and its files would mix; choose another directory"
    if not directory.is_relative_to(docs):
        return ""
    from ..texts.store import DATABASE

    name = directory.relative_to(docs).as_posix()
    kept = [
        File(f"{name}/{file}", config.docs_dir, config.site_dir, use_directory_urls=True)
        for file in ("page.html", "folder/page.md/main.html", DATABASE, f"{DATABASE}-wal")
    ]
    set_exclusions(kept, config)
    if all(file.inclusion.is_excluded() for file in kept):
        return ""
    return (
        "is in docs_dir, so that its files would be published as they are, which is not safe; add "
        f"`/{name}/` to exclude_docs"
    )
