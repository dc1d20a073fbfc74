"""Read the requests for articles from the pages of a site, and find what only looks like one.

MkDocs says nothing about front matter that it cannot read, and builds the page without it: a typo
would leave a page without its text unnoticed. So the source of a page is read here too, where it
might have a request, and with the lines that messages name.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.utils import meta as mkdocs_meta

from ..display import escape_controls, first_names, paths_from_here
from ..errors import ApprovalError
from ..files import normal_form, reason_of
from ..page_request import PageRequest
from ..yaml_files import NotYAMLError, YAMLDocument, read_yaml
from .options import project_directory
from .site import PageProblem, Site
from .variables import FillIn, filled_meta, unfilled_variable_problem, variable_filler

if TYPE_CHECKING:
    from ..requests import Request, TranslationOf
    from .originals import FoundTranslation, KeptTranslation

NAME = "contentgen"

MAYBE_REQUEST = re.compile(
    r"contentgen|^[ \t{\[\"']*[Cc][\w -]{7,12}[\]\"']*[ \t]*[:=.\]]", re.MULTILINE
)
"""Found in each source that request_typo_problems() has to read; most pages need not be read."""

_MOST_NAMED = 3
"""The number of pages that a message names."""

_KEY = re.compile(r"""(?:^|[{,])[ \t]*["']?contentgen["']?[ \t]*:""", re.MULTILINE)
"""Matches the key of a request, also in front matter that is not valid."""

_QUOTES = "[\"'“”„‘’\u00a0\u00ad\u200b-\u200f\u2060\ufeff]{0,3}"
"""Matches what stands around a key, also what editors and keyboards put there, which YAML does not
read: curly quotation marks, and characters nobody sees."""

_KEY_LIKE = re.compile(
    rf"(?:^|[{{,\[])[ \t]*({_QUOTES})([A-Za-z][\w -]{{7,12}}?)({_QUOTES})[ \t]*([:：=.\]])"
)
"""Matches what may be the key of a request in YAML, TOML or JSON. The groups are the quotation mark
before it, the key, the quotation mark after it, and the separator between key and value."""

_VALID_QUOTES = ("", '"', "'")

_CONFLICT = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?: |$)")
"""Matches a line that git writes into a file that it cannot merge."""

_CONFLICT_MESSAGE = "the front matter has a merge conflict; resolve it with git"
_NO_END_MESSAGE = "the front matter needs a line '---' at its end, and a line break after that"

_ENDS = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}
"""The lines that end a front matter in YAML, TOML and JSON, by what it begins with."""

_COMMENT = re.compile(r"<!--\s*([A-Za-z][\w-]{7,12})\b([^<]*?)-->")
"""Matches what may be a misspelled marker."""


def read_requests(site: Site, files: Iterable[File]) -> Site:
    """Return the site with the requests of the pages `files`, all problems, and further warnings.

    Pages with a problem have no requests.
    """
    reader = _PageReader(site)
    found: list[PageRequest | FoundTranslation] = []
    for file in files:
        if file.generated_by == "material/blog":  # a copy of a view, for its pagination
            continue
        found += reader.read(file)
    requests = _with_originals(found, reader)
    return replace(
        site,
        requests=requests,
        problems=reader.problems,
        warnings=[*site.warnings, *reader.warnings],
    )


class _PageReader:
    """Reads the requests of pages, and collects the problems and warnings of all of them."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._paths = _SourcePaths(site.config)
        self._fill_in = variable_filler(site.config)
        self.problems: list[PageProblem] = []
        self.warnings: list[str] = []

    def read(
        self, file: File, *, is_of_other_build: bool = False
    ) -> list[PageRequest | FoundTranslation]:
        """Return the requests of a page, none if it has problems.

        A plugin for several languages builds a site once for each of them, and each build has its
        own theme. So the language of the theme is not that of a page of another build.
        """
        page = file.src_uri
        path = self._paths.of(file)
        try:
            source = file.content_string
        except (OSError, UnicodeError) as error:
            message = f"{path}: cannot be read ({reason_of(error)})"
            self.problems.append(PageProblem(page, message))
            return []
        asked = _read_page(source, self._site.options.defaults, self._fill_in)
        for line, message in asked.problems:
            self.problems.append(PageProblem(page, f"{path}:{line}: {message}"))
        if MAYBE_REQUEST.search(source):
            for line, message in request_typo_problems(source, is_read=asked.has_request):
                self.warnings.append(f"{path}:{line}: {message}")
        if not asked.requests:
            return []
        if is_of_other_build:
            language = _language_of_other_build(page, self._site.config)
            language = language or language_tag(asked.language)
        else:
            language = _language(file, asked.language, self._site.theme)
        found = []
        for line, request in asked.requests:
            found.append(self._with_place(request, page, f"{path}:{line}", language))
        return found

    def _with_place(
        self, request: Request | TranslationOf, page: str, place: str, language: str
    ) -> PageRequest | FoundTranslation:
        """Return a request with where it was found."""
        from ..requests import Request

        if not isinstance(request, Request):
            from .originals import FoundTranslation

            return FoundTranslation(request, page, place, language)
        problem = unfilled_variable_problem(request, has_macros=self._fill_in is not None)
        if problem:
            self.warnings.append(f"{place}: {problem}")
        return PageRequest(request, page, place, language)

    def read_other(self, page: str) -> list[PageRequest | FoundTranslation] | None:
        """Return the requests of a page that this run does not build, or None if there is none.

        The original of a translation is on such a page if another build has its language.
        """
        docs = self._docs_dir
        is_inside = not PurePosixPath(page).is_absolute() and ".." not in PurePosixPath(page).parts
        if not is_inside:
            return None
        if not (docs / page).is_file():
            same = self._find_by_normal_form(page)
            if same is None:
                return None
            page = same
        file = File(page, str(docs), self._site.config.site_dir, use_directory_urls=True)
        return self.read(file, is_of_other_build=True)

    def _find_by_normal_form(self, page: str) -> str | None:
        """Return the page whose name looks the same, but has other code points, or None."""
        for path in self._docs_dir.rglob("*.md"):
            name = path.relative_to(self._docs_dir).as_posix()
            if normal_form(name) == page:
                return name
        return None

    @property
    def _docs_dir(self) -> Path:
        return self._site.docs_dir or Path(self._site.config.docs_dir)

    def find_in_other_folders(self, page: str) -> list[str]:
        """Return the pages with the file name of `page` that request a text of their own.

        The name may have the tag of a language: `builds.en.md` is found for `builds.md`.
        """
        from ..requests import Request

        docs = self._docs_dir
        name = PurePosixPath(page).name
        found = []
        for path in sorted(docs.rglob("*.md")):
            path_name = normal_form(path.name)
            without_language = re.sub(r"\.[A-Za-z-]+(?=\.md$)", "", path_name)
            if name not in (path_name, without_language):
                continue
            with suppress(OSError, UnicodeError):
                source = path.read_text(encoding="utf-8-sig")
                read = _read_page(source, self._site.options.defaults, self._fill_in)
                if any(isinstance(request, Request) for _, request in read.requests):
                    found.append(path.relative_to(docs).as_posix())
        return found

    def read_kept(self, found: FoundTranslation) -> KeptTranslation | None:
        """Return the text of a translation in its file, or None if there is none."""
        from ..texts.approved_dir import approved_path, read_approved
        from .originals import KeptTranslation

        directory = self._site.approved_directory()
        path = approved_path(directory, found.page, found.translation_of.id)
        text = None
        with suppress(ApprovalError):  # which is reported when the page has a request again
            text = read_approved(path, directory)
        if text is None:
            return None
        return KeptTranslation(str(path), text.text.request)


def _with_originals(
    found: Sequence[PageRequest | FoundTranslation], reader: _PageReader
) -> list[PageRequest]:
    """Return requests, those of translations with their originals.

    What is wrong with the name of an original is a problem of the translation's page.
    """
    no_translations = []
    for asked in found:
        if isinstance(asked, PageRequest):
            no_translations.append(asked)
    if len(no_translations) == len(found):  # as on most sites
        return no_translations
    from .originals import Originals

    with_problems = {problem.page for problem in reader.problems}
    originals = Originals(
        found, with_problems, reader.read_other, reader.read_kept, reader.find_in_other_folders
    )
    requests = []
    for asked in found:
        if isinstance(asked, PageRequest):
            requests.append(asked)
            continue
        request, problem = originals.resolve(asked)
        if request:
            requests.append(request)
        else:
            reader.problems.append(PageProblem(asked.page, f"{asked.place}: {problem}"))
    with_problems = {problem.page for problem in reader.problems}
    return [request for request in requests if request.page not in with_problems]


def unread_metadata_problems(site: Site, files: Iterable[File]) -> list[str]:
    """Return a message for each of the `files` that asks for texts of all pages in its folder.

    `files` are the `.meta.yml` files of the plugin `meta`, which adds their keys to the pages of
    their folders, but only when these are rendered.
    """
    paths = _SourcePaths(site.config)
    found = []
    for file in files:
        folder = posixpath.dirname(file.src_uri)
        try:
            document = read_yaml(file.content_string)
        except (OSError, ValueError):  # which the plugin reports
            continue
        below = f"{folder}/" if folder else ""
        pages = []
        for page in site.pages:
            if page.src_uri.startswith(below):
                pages.append(paths.of(page))
        if pages and isinstance(document.value, dict) and NAME in document.value:
            found.append(
                f"{paths.of(file)}:{document.line_of(NAME)}: '{NAME}' is only read in pages, so "
                f"{first_names(pages, _MOST_NAMED)} get nothing of it; write it into each page, "
                "and what is common to all pages of the site into the option `defaults`"
            )
    return found


def unbuilt_page_problem(site: Site, files: Iterable[File]) -> str:
    """Return a message about those of the pages `files` that ask for a text, or an empty string.

    `files` are pages that no build has.
    """
    paths = _SourcePaths(site.config)
    asking = []
    for file in files:
        if "/." in f"/{file.src_uri}":  # hidden, such as a virtual environment
            continue
        try:
            source = file.content_string
        except (OSError, UnicodeError):  # no build reads it either
            continue
        if _read_page(source, site.options.defaults).has_request:
            asking.append(paths.of(file))
    if not asking:
        return ""
    what = "asks for a text, but this build has no such page"
    if len(asking) > 1:
        what = "ask for texts, but this build has no such pages"
    named = first_names(sorted(asking), _MOST_NAMED)
    return f"{named} {what} (excluded, a draft, or left out by a plugin)"


def _language(file: File, own_language: object, theme: Mapping[str, object]) -> str:
    """Return the language that the site gives a page, or an empty string.

    It is that of mkdocs-static-i18n, or else what the page has as `lang`, or else that of the
    theme, unless that is the `en` of all themes.
    """
    language = language_tag(getattr(file, "locale", None)) or language_tag(own_language)
    if language:
        return language
    of_theme = language_tag(theme.get("language") or theme.get("locale"))  # of MkDocs' themes
    return "" if of_theme == "en" else of_theme


def language_tag(value: object) -> str:
    """Return a value as a BCP 47 tag, or an empty string if it is not a tag."""
    from ..requests import LANGUAGE

    tag = str(value or "").replace("_", "-")
    return tag if re.fullmatch(LANGUAGE, tag) else ""


def _language_of_other_build(page: str, config: MkDocsConfig) -> str:
    """Return the language that mkdocs-static-i18n gives a page that it builds another time.

    Returns an empty string where that is not known.
    """
    options = getattr(config.plugins.get("i18n"), "config", None)
    path = PurePosixPath(page)
    suffixes = [suffix.removeprefix(".") for suffix in path.suffixes]
    default = ""
    for language in getattr(options, "languages", ()):
        locale = str(language.locale)
        if locale == path.parts[0] or locale in suffixes:
            return locale.replace("_", "-")
        if language.default:
            default = locale.replace("_", "-")
    return default


def place_of(file: File, config: MkDocsConfig, text: str) -> str:
    """Return file and line of the first occurrence of `text`, such as `docs/post.md:12`."""
    source = file.content_string
    line = source.count("\n", 0, max(source.find(text), 0)) + 1
    return f"{_SourcePaths(config).of(file)}:{line}"


class _SourcePaths:
    """Finds the paths of pages in the project, as authors know them.

    From a folder above the project, they begin with the path to it. mkdocs-monorepo-plugin copies
    the pages of several folders into a temporary one.
    """

    def __init__(self, config: MkDocsConfig) -> None:
        self._project = str(project_directory(config).absolute()) + os.sep
        self._from_here = paths_from_here(self._project).replace(os.sep, "/")
        # paths_from_here() leaves the path absolute if the current folder is not above the project.
        if Path(self._from_here).is_absolute():
            self._from_here = ""
        self._copied_from: dict[str, str] = {}
        docs = config.docs_dir
        plugins: Mapping[str, object] = config.plugins or {}
        for plugin in plugins.values():
            copied_from = getattr(plugin, "files_source_dir", None)
            if isinstance(copied_from, dict) and copied_from:
                self._copied_from |= copied_from
                docs = getattr(plugin, "originalDocsDir", None) or docs
        self._docs = os.path.relpath(docs, self._project).replace(os.sep, "/")

    def of(self, file: File) -> str:
        """Return the path of the file that a page or its plugin has, such as `docs/post.md`."""
        return self._from_here + self._in_project(file)

    def _in_project(self, file: File) -> str:
        path = str(file.abs_src_path or "")
        path = self._copied_from.get(path, path)
        if path.startswith(self._project):
            return path.removeprefix(self._project).replace(os.sep, "/")
        if self._docs == ".":
            return file.src_uri
        return posixpath.join(self._docs, file.src_uri)


@dataclass(frozen=True)
class _ReadPage:
    """What a page asks for, or why that is not valid."""

    requests: Sequence[tuple[int, Request | TranslationOf]] = ()
    """The requests, each with its line; none if there are problems."""

    problems: Sequence[tuple[int, str]] = ()
    """The problems, each with its line."""

    language: object = None
    """What the front matter has as `lang`, if it has that."""

    @property
    def has_request(self) -> bool:
        """Whether the page asks for something, though it may not be valid."""
        return bool(self.requests or self.problems)


def _read_page(
    source: str, defaults: Mapping[str, object], fill_in: FillIn | None = None
) -> _ReadPage:
    """Return the requests in the source of a page."""
    if NAME not in source:  # as in most pages
        return _ReadPage()
    front_matter = mkdocs_meta.YAML_RE.match(source)
    if front_matter is None:
        return _read_multimarkdown(source, defaults, fill_in)
    text = front_matter[1]
    try:
        document = read_yaml(text, first_line=2)
    except NotYAMLError as error:  # which MkDocs ignores
        return _ReadPage(problems=_problems_of_invalid_yaml(text, error))
    meta = document.value
    if not isinstance(meta, dict) or NAME not in meta:
        return _ReadPage()
    return _parse_requests(meta, document, defaults, fill_in)


def _read_multimarkdown(
    source: str, defaults: Mapping[str, object], fill_in: FillIn | None
) -> _ReadPage:
    """Return the requests of a page without YAML between lines '---'.

    MkDocs also reads MultiMarkdown, which is `key: value` without these lines.
    """
    _, meta = mkdocs_meta.get_data(source)
    if NAME in meta:
        no_lines = read_yaml("")
        return _parse_requests(meta, no_lines, defaults, fill_in)
    if _has_open_request(source):
        return _ReadPage(problems=[(1, _NO_END_MESSAGE)])
    return _ReadPage()


def _parse_requests(
    meta: dict[str, object],
    document: YAMLDocument,
    defaults: Mapping[str, object],
    fill_in: FillIn | None,
) -> _ReadPage:
    """Return the requests in the metadata of a page."""
    from ..requests import Problem, parse_front_matter

    problems: list[Problem] = []
    if fill_in:
        meta, unfilled = filled_meta(meta, fill_in)
        problems += [Problem(path, message) for path, message in unfilled]
    requests, invalid = parse_front_matter(meta, defaults)
    problems += invalid
    messages = []
    for problem in problems:
        messages.append((document.line_of(*problem.path), str(problem)))
    messages += _repeated_keys(document, meta[NAME])
    if messages:
        return _ReadPage(problems=sorted(messages))
    with_lines = []
    for index, request in enumerate(requests):
        # Of a single request, which is not a list, this is the line of the key.
        with_lines.append((document.line_of(NAME, index), request))
    return _ReadPage(with_lines, language=meta.get("lang"))


def _problems_of_invalid_yaml(text: str, error: NotYAMLError) -> list[tuple[int, str]]:
    """Return what is wrong with a front matter that is not YAML, if it seems to have a request."""
    if not _KEY.search(text):
        return []
    for number, line in enumerate(text.split("\n"), 2):
        if _CONFLICT.match(line):
            return [(number, _CONFLICT_MESSAGE)]
    return [(error.line, str(error))]


def _has_open_request(source: str) -> bool:
    """Tell whether a page begins with a front matter that has a request, and no end."""
    first_part, _, _ = source.partition("\n\n")
    return source.startswith("---") and _KEY.search(first_part) is not None


def _repeated_keys(document: YAMLDocument, asked: object) -> list[tuple[int, str]]:
    """Return a message for each key of a page that would take the place of another in a request."""
    from ..requests import TRANSLATION_KEY, Problem

    uses_title = False
    requests = asked if isinstance(asked, list) else [asked]
    for request in requests:
        if not isinstance(request, dict) or TRANSLATION_KEY in request:
            continue
        if "topic" not in request:
            uses_title = True
    found = []
    for repeated in document.repeated_keys:
        if repeated.path[0] == NAME or (uses_title and repeated.path == ("title",)):
            message = str(Problem(repeated.path, repeated.reason))
            found.append((repeated.line, escape_controls(message)))
    return found


@dataclass(frozen=True)
class _FrontMatter:
    """What looks like front matter before the text of a page."""

    first_line: int
    lines: Sequence[str]
    is_read: bool
    """Whether MkDocs reads it: it is YAML, and nothing stands before it."""


def request_typo_problems(source: str, *, is_read: bool = False) -> list[tuple[int, str]]:
    """Return the line and the problem of everything that looks like a request but is not one.

    With `is_read`, the page has a request or problems in the front matter that MkDocs reads.
    """
    found = []
    for front_matter in _leading_front_matter(source):
        if front_matter.is_read and is_read:
            continue
        for number, line in enumerate(front_matter.lines, front_matter.first_line):
            for match in _KEY_LIKE.finditer(line):
                if _looks_like_request(match, is_read=front_matter.is_read):
                    found.append((number, _no_request_message(match[2])))
    return found


def _looks_like_request(match: re.Match[str], *, is_read: bool) -> bool:
    """Tell whether a key may be meant as that of a request.

    In a front matter that is read, YAML has read a key that is spelled right, somewhere else.
    """
    before, key, after, separator = match.groups()
    is_quoted_right = before == after and before in _VALID_QUOTES
    is_spelled_right = key == NAME and is_quoted_right and separator == ":"
    return not (is_read and is_spelled_right) and _resembles_name(key)


def _no_request_message(key: str) -> str:
    hint = "" if key == NAME else f" (did you mean '{NAME}'?)"
    return (
        f"the word '{key}' stands here{hint}, but no request was read; a page begins with its "
        f"request: a line '---', then '{NAME}: {{type: blog, topic: …}}', then a line '---'"
    )


def _leading_front_matter(source: str) -> Iterator[_FrontMatter]:
    """Yield what looks like front matter before the text of a page, in order."""
    lines = source.lstrip("\ufeff").splitlines()
    start = 0
    while start < len(lines):
        line = lines[start].rstrip()
        end = start
        if line.startswith("<!--"):
            end = _end_of_comment(lines, start)
        elif line and not _CONFLICT.match(line):
            last_line = _last_line_of_front_matter(lines, start)
            if last_line is None:  # the text of the page begins here
                return
            end = last_line
            is_read = source.startswith("---") and start == 0
            yield _FrontMatter(start + 1, lines[start : end + 1], is_read)
        start = end + 1


def _end_of_comment(lines: Sequence[str], start: int) -> int:
    """Return the index of the line that ends a comment, or the number of lines without one."""
    for number in range(start, len(lines)):
        if "-->" in lines[number]:
            return number
    return len(lines)


def _last_line_of_front_matter(lines: Sequence[str], start: int) -> int | None:
    """Return the index of the line that ends the front matter that begins at `start`, or None."""
    first = lines[start].strip()
    ends = _ENDS.get("{" if first.startswith("{") else first, ())
    for number in range(start + 1, len(lines)):
        if lines[number].rstrip() in ends:
            return number
    return None


def marker_typo_problem(html: str) -> str:
    """Return what is wrong with a comment that looks like a marker, or an empty string."""
    match = _COMMENT.search(html)
    if match is None or not _resembles_name(match[1]):
        return ""
    found = " ".join(match[0].split())[:80]
    return (
        f"'{found}' is not a marker; write '<!-- {NAME} -->', or '<!-- {NAME} ID level=2 -->' "
        "with a level from 1 to 4"
    )


def _resembles_name(word: str) -> bool:
    word = re.sub(r"[\W_]", "", word).lower()
    if not word.startswith("c"):
        return False
    import difflib  # importing it takes 5 ms

    return difflib.SequenceMatcher(None, word, NAME).ratio() >= 0.85
