"""Check the fields of requests that not every service takes, and the sources that they name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File

from ..display import quoted
from ..texts.policy import PageRequest
from .front_matter import PageProblem
from .options import ContentgenConfig, project_directory


def field_problems(
    requests: Sequence[PageRequest],
    options: ContentgenConfig,
    site: MkDocsConfig,
    pages: Iterable[File],
) -> list[PageProblem]:
    """Return a problem for each field that the source of texts does not take.

    `pages` are those of the built site, which can be sources.
    """
    if not options.address() or options.uses_sandbox():
        return []
    if options.uses_writer():
        sources = [(it, name) for it in requests for name in it.request.sources]
        if not sources:
            return []
        published = {file.src_uri for file in pages}
        generated = {it.page for it in requests}
        named = options.writer.get("sources")
        folders = named if isinstance(named, list) else []
        root = project_directory(site)
        return [
            PageProblem(it.page, f"{it.place}: contentgen.sources: {quoted(name)} {reason}")
            for it, name in sources
            if (reason := _source_problem(name, published, generated, folders, root))
        ]
    from ..requests import OPTIONAL_FIELDS

    unknown = [name for name in OPTIONAL_FIELDS if name not in options.service_fields]
    return [
        PageProblem(it.page, f"{it.place}: contentgen.{name}: {_cure(name)}")
        for it in requests
        for name in unknown
        if getattr(it.request, name)
    ]


def _cure(name: str) -> str:
    if name == "sources":
        return "only the writer of this build reads sources; use `base_url: writer`"
    return (
        "the interface of the service has no such field; use `base_url: writer`, or set "
        f"`service_fields: [{name}]` if your service takes it"
    )


def _source_problem(
    name: str,
    published: Collection[str],
    generated: Collection[str],
    folders: Sequence[object],
    root: Path,
) -> str:
    """Return why a text cannot be written from a page or a file, or an empty string."""
    if name in generated:
        return "has a generated text, which is no source; name what that is written from"
    if name in published:
        return ""
    path = PurePosixPath(name)
    is_hidden = any(part.startswith(".") for part in path.parts)
    if (
        not is_hidden
        and any(path.is_relative_to(str(folder)) for folder in folders)
        and (root / path).is_file()
    ):
        return ""
    return (
        "is no source; name a page that the site publishes, by its path in docs_dir, or a file "
        "that writer.sources names or has in a folder"
    )
