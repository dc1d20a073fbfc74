"""Load a site for a command, with the same requests that a build would have."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel, get_files, set_exclusions
from mkdocs.structure.nav import get_navigation

from ..display import escape_controls
from ..errors import ConfigurationError
from ..page_request import PageRequest
from ..site.front_matter import unbuilt_page_problem
from ..site.site import PageProblem, Site
from .plugin import ContentgenPlugin


@contextmanager
def load_mkdocs_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Load a configuration, and run the events of a build up to `on_nav`.

    With `drafts`, the site includes the pages that only `mkdocs serve` shows. The site directory is
    not touched. Raises ConfigurationError, and the exceptions of MkDocs for its own options.
    """
    with TemporaryDirectory() as site_dir, _without_other_warnings():
        config = load_config(config_file, site_dir=site_dir)
        docs_dir = Path(config.docs_dir)
        plugin = _find_plugin(config)
        plugin.collect_only = True
        plugin.include_drafts = drafts
        config.plugins.on_startup(command="build", dirty=False)
        try:
            written, files = _load_files(config)
            builds = [plugin.site]
            for more_files in _other_languages(config):
                builds.append(plugin.site)  # which each further build replaces
                for file in more_files:
                    if file.src_uri not in files.src_uris:
                        files.append(file)
            site = _joined(builds)
            notice = unbuilt_page_problem(site, _unbuilt_pages(site, written, files))
            yield replace(
                site,
                notices=[notice] if notice else [],
                pages=files.documentation_pages(),
                files=files.src_uris,
                docs_dir=docs_dir,
                is_partial=False,
                render=partial(plugin.render, config, files),
            )
        finally:
            config.plugins.on_shutdown()
            # MkDocs keeps plugins with on_startup() for further builds in this process.
            plugin.collect_only = False
            plugin.include_drafts = False


def _joined(builds: Sequence[Site]) -> Site:
    """Return the site of all its builds: what any of them asks for, each once."""
    requests: dict[PageRequest, None] = {}
    problems: dict[PageProblem, None] = {}
    unread_files = set(builds[0].unread_files)
    for site in builds:
        requests |= dict.fromkeys(site.requests)
        problems |= dict.fromkeys(site.problems)
        unread_files &= set(site.unread_files)
    return replace(
        builds[0], requests=list(requests), problems=list(problems), unread_files=unread_files
    )


def _unbuilt_pages(site: Site, written: Files, built: Files) -> list[File]:
    """Return the pages in the docs directory that no build has."""
    unbuilt = []
    for file in written.documentation_pages(inclusion=InclusionLevel.all):
        if file.src_uri in site.unread_files or file.src_uri not in built.src_uris:
            unbuilt.append(file)
    return unbuilt


def _other_languages(config: MkDocsConfig) -> Iterator[Files]:
    """Build for each further language, as mkdocs-static-i18n does, and yield the files.

    While a caller has them, `site` of our plugin is that of the same build.
    """
    languages: Any = config.plugins.get("i18n")
    first = getattr(languages, "current_language", None)
    for language in getattr(languages, "build_languages", ()):
        if language != first:
            languages.current_language = language
            _, files = _load_files(config)
            yield files


@contextmanager
def _without_other_warnings() -> Iterator[None]:
    """Log only errors, and warnings about this plugin: a build logs those of MkDocs and others."""
    # What some packages print about the future of MkDocs.
    os.environ.setdefault("DISABLE_MKDOCS_2_WARNING", "true")
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "true")
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_OwnFormat())
    handler.addFilter(_is_ours)
    log = logging.getLogger("mkdocs")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR or "contentgen" in record.getMessage()


class _OwnFormat(logging.Formatter):
    """Formats a record as the command prints its own warnings."""

    def format(self, record: logging.LogRecord) -> str:
        kind = "Error" if record.levelno >= logging.ERROR else "Warning"
        return escape_controls(f"{kind}: {record.getMessage()}")


def _find_plugin(config: MkDocsConfig) -> ContentgenPlugin:
    for plugin in config.plugins.values():
        if isinstance(plugin, ContentgenPlugin):
            return plugin
    raise ConfigurationError(
        f"{config.config_file_path}: has no plugin 'contentgen'; `contentgen init` adds it"
    )


def _load_files(config: MkDocsConfig) -> tuple[Files, Files]:
    """Return the files in the docs directory, and those of a build after its plugins."""
    config = config.plugins.on_config(config)
    config.plugins.on_pre_build(config=config)
    files = get_files(config)
    written = Files(list(files))
    files.add_files_from_theme(config.theme.get_env(), config)
    files = config.plugins.on_files(files, config=config)
    set_exclusions(files, config)
    navigation = get_navigation(files, config)
    config.plugins.on_nav(navigation, config=config, files=files)
    return written, files
