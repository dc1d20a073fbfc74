"""Which articles the pages of a site ask for."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.utils import meta as mkdocs_meta

from ..texts.policy import PageRequest
from .options import project_directory
from .typos import NAME, wrong_requests

if TYPE_CHECKING:
    from ..requests import Request


_FIRST_LINE = 2
"""The first line of a front matter, behind the line `---`. YAML counts from zero."""


@dataclass(frozen=True)
class PageProblem:
    """Something wrong in a page. `message` begins with its place."""

    page: str
    message: str


@dataclass
class Reading:
    """What the pages of a site ask for, all that is wrong with them, and what may be a mistake."""

    requests: list[PageRequest] = field(default_factory=list)
    problems: list[PageProblem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_requests(
    files: Iterable[File], site: MkDocsConfig, defaults: Mapping[str, object]
) -> Reading:
    """Return all articles that the pages `files` ask for, and all that is wrong with them.

    A page with which anything is wrong asks for nothing. `defaults` is the plugin option of that
    name; what the `.meta.yml` files of Material's meta plugin say comes before it, but makes no
    page ask that does not ask itself.
    """
    reading = Reading()
    folders = _folder_defaults(site, reading)
    docs = _shown_docs(site)
    for file in files:
        page = file.src_uri
        path = posixpath.join(docs, page)
        # Material's blog copies the page of a paginated view for each further page of it.
        if getattr(file, "generated_by", None) == "material/blog":
            continue
        try:
            source = file.content_string
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            reading.problems.append(PageProblem(page, f"{path}: cannot be read ({reason})"))
            continue
        wrong: list[tuple[int, str]] = []
        if NAME in source:
            own = [
                values for folder, values in folders if PurePosixPath(page).is_relative_to(folder)
            ]
            inherited = {key: value for values in own for key, value in values.items()}
            found, wrong, template = _read_page(source, defaults, inherited)
            reading.problems += [
                PageProblem(page, f"{path}:{line}: {message}") for line, message in wrong
            ]
            reading.requests += [
                PageRequest(request, page, f"{path}:{line}", template) for line, request in found
            ]
            if found:
                continue
        if not wrong:
            reading.warnings += [
                f"{path}:{line}: {message}" for line, message in wrong_requests(source)
            ]
    return reading


def unshown_requests(requests: Iterable[PageRequest], site: MkDocsConfig) -> list[PageProblem]:
    """Return the requests of pages whose templates surely show no text."""
    named = [asked for asked in requests if asked.template]
    if not named:
        return []
    from .templates import hides_content  # few sites need it

    environment = site.theme.get_env()
    hiding = {name for name in {a.template for a in named} if hides_content(environment, name)}
    return [
        PageProblem(
            asked.page,
            f"{asked.place}: the template '{asked.template}' does not show the text of its page, "
            "so the article would be paid for and never be seen; take the request out, or print "
            "page.content in the template",
        )
        for asked in named
        if asked.template in hiding
    ]


def place_of(file: File, site: MkDocsConfig, text: str) -> str:
    """Return where `text` first stands in a page, such as `docs/post.md:12`, for messages."""
    source = file.content_string
    line = source.count("\n", 0, max(source.find(text), 0)) + 1
    return f"{posixpath.join(_shown_docs(site), file.src_uri)}:{line}"


def _shown_docs(site: MkDocsConfig) -> str:
    return os.path.relpath(site.docs_dir, project_directory(site)).replace(os.sep, "/")


def _folder_defaults(
    site: MkDocsConfig, reading: Reading
) -> list[tuple[PurePosixPath, dict[str, object]]]:
    """Return the `contentgen` of all `.meta.yml` files with their folders, outer ones first."""
    read: Mapping[str, object] = getattr(site.plugins.get("material/meta"), "meta", {})
    folders: list[tuple[PurePosixPath, dict[str, object]]] = []
    for path, meta in read.items():
        if not isinstance(meta, dict) or NAME not in meta:
            continue
        # What a site without requests does not need is not imported.
        from ..requests import check_inherited

        page = PurePath(path).as_posix()
        if problems := check_inherited(meta[NAME]):
            node = yaml.compose(Path(site.docs_dir, path).read_text("utf-8-sig"), _SafeLoader)
            place = posixpath.join(_shown_docs(site), page)
            reading.problems += [
                PageProblem(page, f"{place}:{_line_of(node, problem.path, 1)}: {problem}")
                for problem in problems
            ]
        else:
            folders.append((PurePosixPath(page).parent, meta[NAME]))
    return sorted(folders, key=lambda folder: folder[0])


def _with_inherited(entry: object, inherited: dict[str, object]) -> object:
    """Return an entry of `contentgen` with what its folder has to add."""
    if not inherited or not (entry is None or isinstance(entry, dict)):
        return entry
    entry = entry or {}
    if "type" in inherited and entry.get("type", inherited["type"]) != inherited["type"]:
        inherited = {"length": inherited["length"]} if "length" in inherited else {}
    return {**inherited, **entry}


def _read_page(
    source: str, defaults: Mapping[str, object], inherited: dict[str, object]
) -> tuple[list[tuple[int, Request]], list[tuple[int, str]], str]:
    """Return a page's requests or what is wrong with them, each with its line; its template."""
    _, meta = mkdocs_meta.get_data(source)
    if "contentgen" not in meta:
        return [], _broken_front_matter(source), ""
    # What a site without requests does not need is not imported.
    from ..requests import parse_front_matter

    template = str(meta.get("template") or "")
    asked = meta["contentgen"]
    listed = isinstance(asked, list)
    meta["contentgen"] = (
        [_with_inherited(entry, inherited) for entry in asked]
        if listed
        else _with_inherited(asked, inherited)
    )
    requests, problems = parse_front_matter(meta, defaults)
    key = _KEY.search(source)
    if key and not problems and not listed:
        # Most pages have it so, and reading the YAML a second time takes longer than all else.
        line = source.count("\n", 0, key.start(1)) + 1
        return [(line, request) for request in requests], [], template
    match = mkdocs_meta.YAML_RE.match(source)
    node = yaml.compose(match[1], _SafeLoader) if match else None
    if problems:
        found = sorted((_line_of(node, problem.path), str(problem)) for problem in problems)
        return [], found, template
    placed = [
        (_line_of(node, ("contentgen", index) if listed else ("contentgen",)), request)
        for index, request in enumerate(requests)
    ]
    return placed, [], template


def _broken_front_matter(source: str) -> list[tuple[int, str]]:
    """Find a request in a front matter that MkDocs takes for text, as it cannot read it."""
    if match := mkdocs_meta.YAML_RE.match(source):
        try:
            yaml.load(match[1], _SafeLoader)  # noqa: S506  it is a safe one
        except Exception as error:  # noqa: BLE001  MkDocs ignores all that may go wrong here
            if _ASKS.search(match[1]):
                mark = getattr(error, "problem_mark", None)
                line = mark.line + _FIRST_LINE if mark else 1
                reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
                advice = ""
                if _NEEDS_QUOTES.match(reason):
                    advice = (
                        "; put a text that holds ': ' or a tab, or begins with a sign, in quotes"
                    )
                return [(line, f"the front matter is not valid YAML: {reason}{advice}")]
    elif source.startswith("---") and _ASKS.search(source.split("\n\n", 1)[0]):
        return [(1, "the front matter needs a line '---' at its end, and a line break after that")]
    return []


def _line_of(
    node: yaml.Node | None, path: tuple[str | int, ...], first_line: int = _FIRST_LINE
) -> int:
    """Return the line of the innermost part of `path` that the YAML really has."""
    line = 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            for key, value in reversed(node.value):  # of equal keys the last one counts
                if key.value == str(step):
                    node, line = value, key.start_mark.line + first_line
                    break
            else:
                break
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line + first_line
    return line


# libyaml's, where MkDocs found that.
_SafeLoader = mkdocs_meta.SafeLoader  # type: ignore[attr-defined]  # imported there, not defined
_NEEDS_QUOTES = re.compile("mapping values are not allowed|found character")
_ASKS = re.compile(r"""(?:^|[{,])[ \t]*["']?contentgen["']?[ \t]*:""", re.MULTILINE)
_KEY = re.compile(r"\A---[ \t]*\n(?:(?!---|\.\.\.).*\n)*(contentgen)[ \t]*:")
