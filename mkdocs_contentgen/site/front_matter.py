"""Read the requests for articles from the pages of a site."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.utils import meta as mkdocs_meta

from ..files import reason_of
from ..texts.policy import PageRequest
from ..yaml_files import NotYAMLError, read_yaml
from .directories import project_directory
from .typos import MAYBE_REQUEST, NAME, request_typo_problems

if TYPE_CHECKING:
    from jinja2 import Environment

    from ..requests import Request


@dataclass(frozen=True)
class PageProblem:
    """A problem in a page. `message` begins with file and line."""

    page: str
    message: str


@dataclass
class CollectedRequests:
    """The requests of all pages, the problems with them, and warnings about probable typos."""

    requests: list[PageRequest] = field(default_factory=list)
    problems: list[PageProblem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Reading:
    """The requests of a page or their problems, each with its line; and the page's template."""

    requests: Sequence[tuple[int, Request]] = ()
    problems: Sequence[tuple[int, str]] = ()
    template: str = ""


def read_requests(
    files: Iterable[File],
    site: MkDocsConfig,
    defaults: Mapping[str, object],
    folder_metadata: Mapping[str, object] | None = None,
    theme: Mapping[str, object] | None = None,
) -> CollectedRequests:
    """Return the requests of the pages `files`, and all problems with them.

    Pages with a problem have no requests. `defaults` is the option of that name. Values from
    `folder_metadata`, the contents of the `.meta.yml` files of the meta plugin by their paths, take
    precedence over it, but a page without `contentgen` of its own has no request. `theme` has
    the settings of the theme, such as its language.
    """
    collected = CollectedRequests()
    folders = _folder_defaults(folder_metadata, site, collected) if folder_metadata else []
    docs = _relative_docs_dir(site)
    for file in files:
        page = file.src_uri
        path = posixpath.join(docs, page)
        try:
            source = file.content_string
        except (OSError, UnicodeError) as error:
            message = f"{path}: cannot be read ({reason_of(error)})"
            collected.problems.append(PageProblem(page, message))
            continue
        inherited: dict[str, object] = {}
        for folder, values in folders:
            if PurePosixPath(page).is_relative_to(folder):
                inherited |= values
        found = _read_page(source, defaults, inherited) if NAME in source else _Reading()
        language = _language(file, theme) if found.requests else ""
        for line, request in found.requests:
            place = f"{path}:{line}"
            collected.requests.append(PageRequest(request, page, place, found.template, language))
        for line, message in found.problems:
            collected.problems.append(PageProblem(page, f"{path}:{line}: {message}"))
        if not (found.requests or found.problems) and MAYBE_REQUEST.search(source):
            for line, message in request_typo_problems(source):
                collected.warnings.append(f"{path}:{line}: {message}")
    return collected


def _language(file: File, theme: Mapping[str, object] | None) -> str:
    """Return the language that the site gives a page, or an empty string.

    It is that of mkdocs-static-i18n, or else of the theme, unless that is the `en` of all themes.
    """
    from ..requests import LANGUAGE

    theme = theme or {}
    of_theme = str(theme.get("language") or theme.get("locale") or "")  # as MkDocs' themes call it
    of_page = getattr(file, "locale", None)
    tag = str(of_page or (of_theme if of_theme != "en" else "")).replace("_", "-")
    return tag if re.fullmatch(LANGUAGE, tag) else ""


def hidden_requests(
    requests: Iterable[PageRequest], load_templates: Callable[[], Environment]
) -> list[PageProblem]:
    """Return a problem for each request whose page has a template that shows no text."""
    named = [it for it in requests if it.template]
    if not named:
        return []
    from .templates import hides_content

    environment = load_templates()
    hiding = {name for name in {it.template for it in named} if hides_content(environment, name)}
    return [
        PageProblem(
            it.page,
            f"{it.place}: the template '{it.template}' does not show the text of its page, "
            "so nobody would see the article that you pay for; remove the request, or print "
            "page.content in the template",
        )
        for it in named
        if it.template in hiding
    ]


def place_of(file: File, site: MkDocsConfig, text: str) -> str:
    """Return file and line of the first occurrence of `text`, such as `docs/post.md:12`."""
    source = file.content_string
    line = source.count("\n", 0, max(source.find(text), 0)) + 1
    return f"{posixpath.join(_relative_docs_dir(site), file.src_uri)}:{line}"


def _relative_docs_dir(site: MkDocsConfig) -> str:
    """Return the part of a path from the project to its pages, or an empty string for none."""
    docs = os.path.relpath(site.docs_dir, project_directory(site)).replace(os.sep, "/")
    return "" if docs == "." else docs


def _folder_defaults(
    folder_metadata: Mapping[str, object], site: MkDocsConfig, collected: CollectedRequests
) -> list[tuple[PurePosixPath, dict[str, object]]]:
    """Return the `contentgen` of all `.meta.yml` files by folder, outer folders first."""
    folders: list[tuple[PurePosixPath, dict[str, object]]] = []
    for path, meta in folder_metadata.items():
        if not isinstance(meta, dict) or NAME not in meta:
            continue
        from ..requests import check_inherited

        page = PurePath(path).as_posix()
        if problems := check_inherited(meta[NAME]):
            document = read_yaml(Path(site.docs_dir, path).read_text("utf-8-sig"))
            place = posixpath.join(_relative_docs_dir(site), page)
            collected.problems += [
                PageProblem(page, f"{place}:{document.line_of(*problem.path)}: {problem}")
                for problem in problems
            ]
        else:
            folders.append((PurePosixPath(page).parent, meta[NAME]))
    return sorted(folders, key=lambda folder: folder[0])


def _merge_inherited(asked: object, inherited: dict[str, object]) -> object:
    """Return a request as it is in the front matter, completed with the values of its folder."""
    if not (asked is None or isinstance(asked, dict)):
        return asked
    asked = asked or {}
    if "type" in inherited and asked.get("type", inherited["type"]) != inherited["type"]:
        from ..requests import COMMON_DEFAULTS

        inherited = {name: inherited[name] for name in COMMON_DEFAULTS if name in inherited}
    return {**inherited, **asked}


def _read_page(
    source: str, defaults: Mapping[str, object], inherited: dict[str, object]
) -> _Reading:
    match = mkdocs_meta.YAML_RE.match(source)
    text = match[1] if match else ""
    try:
        document = read_yaml(text, first_line=2)
    except NotYAMLError as error:  # which MkDocs ignores
        return _Reading(problems=[(error.line, str(error))] if _KEY.search(text) else [])
    meta = document.value if match else mkdocs_meta.get_data(source)[1]
    if not isinstance(meta, dict) or NAME not in meta:
        is_open = not match and source.startswith("---") and _KEY.search(source.split("\n\n", 1)[0])
        return _Reading(problems=[(1, _NO_END_MESSAGE)] if is_open else [])
    from ..requests import parse_front_matter

    asked = meta[NAME]
    if inherited and isinstance(asked, list):
        meta[NAME] = [_merge_inherited(item, inherited) for item in asked]
    elif inherited:
        meta[NAME] = _merge_inherited(asked, inherited)
    requests, problems = parse_front_matter(meta, defaults)
    if problems:
        found = [(document.line_of(*it.path), str(it)) for it in problems]
        return _Reading(problems=sorted(found))
    lines = [
        document.line_of(NAME, index) if isinstance(asked, list) else document.line_of(NAME)
        for index in range(len(requests))
    ]
    placed = list(zip(lines, requests, strict=True))
    return _Reading(placed, template=str(meta.get("template") or ""))


_NO_END_MESSAGE = "the front matter needs a line '---' at its end, and a line break after that"
_KEY = re.compile(r"""(?:^|[{,])[ \t]*["']?contentgen["']?[ \t]*:""", re.MULTILINE)
