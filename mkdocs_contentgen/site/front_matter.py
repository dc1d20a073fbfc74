"""Read the requests for articles from the pages of a site, and find what only looks like one."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.utils import meta as mkdocs_meta

from ..display import escape_controls
from ..files import reason_of
from ..texts.policy import PageRequest
from ..yaml_files import NotYAMLError, YAMLDocument, read_yaml
from .options import project_directory
from .site import PageProblem, Site

if TYPE_CHECKING:
    from ..requests import Request

NAME = "contentgen"

MAYBE_REQUEST = re.compile(r"^[\"']?[Cc][\w -]{7,12}[\"']?[ \t]*:", re.MULTILINE)
"""Found in each source that request_typo_problems() has to read; most pages need not be read."""


def read_requests(site: Site, files: Iterable[File]) -> Site:
    """Return the site with the requests of the pages `files`, all problems, and further warnings.

    Pages with a problem have no requests.
    """
    found: list[PageRequest] = []
    all_problems: list[PageProblem] = []
    warnings = [*site.warnings]
    docs = _relative_docs_dir(site.config)
    for file in files:
        if file.generated_by == "material/blog":  # a copy of a view, for its pagination
            continue
        page = file.src_uri
        path = posixpath.join(docs, page)
        try:
            source = file.content_string
        except (OSError, UnicodeError) as error:
            message = f"{path}: cannot be read ({reason_of(error)})"
            all_problems.append(PageProblem(page, message))
            continue
        requests, problems = (
            _read_page(source, site.options.defaults) if NAME in source else ([], [])
        )
        language = _language(file, site.theme) if requests else ""
        for line, request in requests:
            found.append(PageRequest(request, page, f"{path}:{line}", language))
        for line, message in problems:
            all_problems.append(PageProblem(page, f"{path}:{line}: {message}"))
        if not (requests or problems) and MAYBE_REQUEST.search(source):
            for line, message in request_typo_problems(source):
                warnings.append(f"{path}:{line}: {message}")
    return replace(site, requests=found, problems=all_problems, warnings=warnings)


def _language(file: File, theme: Mapping[str, object]) -> str:
    """Return the language that the site gives a page, or an empty string.

    It is that of mkdocs-static-i18n, or else of the theme, unless that is the `en` of all themes.
    """
    from ..requests import LANGUAGE

    of_theme = str(theme.get("language") or theme.get("locale") or "")  # as MkDocs' themes call it
    of_page = getattr(file, "locale", None)
    tag = str(of_page or (of_theme if of_theme != "en" else "")).replace("_", "-")
    return tag if re.fullmatch(LANGUAGE, tag) else ""


def place_of(file: File, config: MkDocsConfig, text: str) -> str:
    """Return file and line of the first occurrence of `text`, such as `docs/post.md:12`."""
    source = file.content_string
    line = source.count("\n", 0, max(source.find(text), 0)) + 1
    return f"{posixpath.join(_relative_docs_dir(config), file.src_uri)}:{line}"


def _relative_docs_dir(config: MkDocsConfig) -> str:
    """Return the part of a path from the project to its pages, or an empty string for none."""
    docs = os.path.relpath(config.docs_dir, project_directory(config)).replace(os.sep, "/")
    return "" if docs == "." else docs


def _read_page(
    source: str, defaults: Mapping[str, object]
) -> tuple[list[tuple[int, Request]], list[tuple[int, str]]]:
    """Return the requests of a page or their problems, each with its line."""
    match = mkdocs_meta.YAML_RE.match(source)
    text = match[1] if match else ""
    try:
        document = read_yaml(text, first_line=2)
    except NotYAMLError as error:  # which MkDocs ignores
        return [], [(error.line, str(error))] if _KEY.search(text) else []
    meta = document.value if match else mkdocs_meta.get_data(source)[1]
    if not isinstance(meta, dict) or NAME not in meta:
        is_open = not match and source.startswith("---") and _KEY.search(source.split("\n\n", 1)[0])
        return [], [(1, _NO_END_MESSAGE)] if is_open else []
    from ..requests import parse_front_matter

    requests, problems = parse_front_matter(meta, defaults)
    found = [(document.line_of(*problem.path), str(problem)) for problem in problems]
    found += _repeated_keys(document, meta[NAME])
    if found:
        return [], sorted(found)
    lines = [
        document.line_of(NAME, index) if isinstance(meta[NAME], list) else document.line_of(NAME)
        for index in range(len(requests))
    ]
    return list(zip(lines, requests, strict=True)), []


def _repeated_keys(document: YAMLDocument, asked: object) -> list[tuple[int, str]]:
    """Return a message for each key of a page that would take the place of another in a request."""
    from ..requests import Problem

    requests = asked if isinstance(asked, list) else [asked]
    uses_title = any(isinstance(it, dict) and "topic" not in it for it in requests)
    found = []
    for repeated in document.repeated_keys:
        if repeated.path[0] == NAME or (uses_title and repeated.path == ("title",)):
            message = str(Problem(repeated.path, repeated.reason))
            found.append((repeated.line, escape_controls(message)))
    return found


_NO_END_MESSAGE = "the front matter needs a line '---' at its end, and a line break after that"
_KEY = re.compile(r"""(?:^|[{,])[ \t]*["']?contentgen["']?[ \t]*:""", re.MULTILINE)


_BEFORE_FRONT_MATTER = re.compile(r"\A\ufeff?(?:[ \t]*\n)*[ \t]*(?=---[ \t]*\n)")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEYS = re.compile(r"^[\"']?([A-Za-z][\w -]{7,12})[\"']?[ \t]*:", re.MULTILINE)
_COMMENT = re.compile(r"<!--\s*([A-Za-z][\w-]{7,12})\b([^<]*?)-->")


def request_typo_problems(source: str) -> list[tuple[int, str]]:
    """Return the line and the problem of everything that looks like a request but is not one."""
    before = _BEFORE_FRONT_MATTER.match(source)
    start = before.end() if before else 0
    front_matter = _FRONT_MATTER.match(source, start)
    if not front_matter:
        return []
    keys = {
        source.count("\n", 0, match.start()) + 1: match[1]
        for match in _KEYS.finditer(source, *front_matter.span(1))
        if _resembles_name(match[1])
    }
    if keys and source[:start].lstrip("\ufeff"):
        problem = (
            "the front matter is not read, since there are blank lines or spaces before its "
            "first line '---'; remove them"
        )
        return [(source.count("\n", 0, start) + 1, problem)]
    return [
        (line, f"'{key}' is not a known key; did you mean '{NAME}'?")
        for line, key in keys.items()
        if key != NAME
    ]


def marker_typo_problem(html: str) -> str | None:
    """Return what is wrong with a comment that looks like a marker but is not one, or None."""
    match = _COMMENT.search(html)
    if match is None or not _resembles_name(match[1]):
        return None
    found = " ".join(match[0].split())[:80]
    return (
        f"'{found}' is no marker; write '<!-- {NAME} -->', or '<!-- {NAME} ID level=2 -->' with a "
        "level from 1 to 4"
    )


def _resembles_name(word: str) -> bool:
    word = re.sub(r"[\W_]", "", word).lower()
    if not word.startswith("c"):
        return False
    import difflib  # importing it takes 5 ms

    return difflib.SequenceMatcher(None, word, NAME).ratio() >= 0.85
