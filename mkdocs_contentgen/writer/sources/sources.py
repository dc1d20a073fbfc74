"""Read the sources that texts are grounded in, and split them into passages.

A passage of prose is the text below a heading, and one of code a symbol, such as a function.

Sources are not trusted: a repository may have links to other files of the machine in it, and files
that were made to take long. What is not read is left out, and named in a warning.
"""

from __future__ import annotations

import errno
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import quote, unquote, urljoin

from ...display import escape_controls
from ...files import read_text, reason_of, sha256
from ...globs import Glob
from .code_symbols import Symbol, language_of_code
from .help_texts import read_help
from .passage_words import digest_of_words

_MARKDOWN = frozenset({".md", ".markdown"})
"""The suffixes of Markdown."""

_TEXT = ".txt"
"""The suffix of text, which can be what a program prints for `--help`."""

_SUFFIXES = _MARKDOWN | {_TEXT}
"""The suffixes of prose: of the files in a folder that are searched for all texts."""

_PYTHON = frozenset({".py", ".pyi"})
"""The suffixes of Python."""

_DATA = frozenset({".json", ".yaml", ".yml"})
"""The suffixes of what can be an OpenAPI document or a JSON Schema."""

_CODE = (
    _PYTHON
    | _DATA
    | frozenset(".cjs .cs .go .java .js .jsx .mjs .pl .rb .rs .sh .toml .ts .tsx".split())
)
"""The suffixes of code: of the files in a folder that are read where a request names them.

No line in them is a heading.
"""

_FOLDERS_OF_OTHERS = frozenset({"__pycache__", "node_modules", "site-packages"})
"""The names of folders with what programs have put there."""

MAX_FILE = 2 * 1024 * 1024
"""Characters of a file. That is enough for the `llms-full.txt` of most products."""

_MAX_PAGE = 256 * 1024
"""Characters of a page whose text around an article is read."""

PASSAGE_LENGTH = 2000
"""Characters of a passage. What is longer is divided between paragraphs, or else anywhere."""

MAX_HEADING = 300
"""Characters of a heading, which each passage has. Longer lines are text."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*\n", re.DOTALL | re.MULTILINE)
"""Front matter, with its lines as group 1."""

_TITLE = re.compile(r"^title:(.*)$", re.MULTILINE)
"""The title in front matter, as group 1."""

_FENCE_OR_HEADING = re.compile(
    r"^(?:[ \t]*(?P<fence>```+|~~~+)|(?P<level>#{1,6})[ \t]+(?P<heading>\S.*))", re.MULTILINE
)
_CLOSING_HASHES = re.compile(r"(?<=[ \t])#+$")
"""The signs that may close a heading: `## Start ##`."""

_ATTRIBUTES = re.compile(r"\{:?[^{}]*\}$")
"""The attributes after a heading: `{#start .wide}`."""

_ID = re.compile(r"#([\w-]+)")
"""An id in attributes, as group 1."""

_NO_SOURCE = re.compile(r"^(?:contentgen|password)[ \t]*:", re.MULTILINE)
"""Marks a page with a generated text, or one that a plugin encrypts."""
_INLINE = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|[*`]|<[^<>]*>")
"""The marks of links, images, emphasis, code and tags in a heading; group 1 is the text."""


@dataclass(frozen=True)
class Location:
    """A file or folder. No symbolic link is followed on the way to it from the folder `root`."""

    path: Path
    root: Path

    glob: Glob | None = None
    """What the paths of files in this folder, from the folder on, have to match."""

    def has(self, name: PurePath) -> bool:
        """Tell whether a file belongs to it, by its path from this folder on."""
        return self.glob is None or self.glob.matches(name.as_posix())


@dataclass(frozen=True)
class RepositoryFolder:
    """Where readers find the files of a folder on the web."""

    path: Path
    """The folder on this machine."""

    address: str
    """Its address, which ends with a slash."""

    def address_of(self, path: Path, line: int) -> str:
        """Return the address of a line of a file, which may be beside the folder."""
        relative = Path(os.path.relpath(path, self.path)).as_posix()
        return f"{urljoin(self.address, quote(relative))}#L{line}"


@dataclass(frozen=True)
class PublishedPage:
    """A page of a site, as its configuration knows it."""

    file: str
    address: str
    """Its path in the site."""

    title: str = ""
    """Its title in the navigation, if it has one there."""


@dataclass(frozen=True)
class SitePages:
    """The pages that a site publishes."""

    docs: Location
    """The directory of pages."""

    addresses: Mapping[Path, str]
    """The path in the site of each page, by its file in that directory."""

    titles: Mapping[Path, str] = field(default_factory=dict)
    """The titles that the navigation of the site gives to pages, by their files."""

    def files(self) -> Iterator[SourceFile]:
        """Yield the files of the pages."""
        for path in self.addresses:
            name = path.relative_to(self.docs.path).as_posix()
            yield self.file_at(Location(path, self.docs.root), name)

    def file_at(self, location: Location, name: str) -> SourceFile:
        """Return the file at a location, which can be a page, with a `name` for a person."""
        path = location.path
        return SourceFile(location, name, self.addresses.get(path), title=self.titles.get(path, ""))


@dataclass(frozen=True)
class SourceFile:
    """A file to be read."""

    location: Location
    name: str
    """The path to show to a person."""

    page: str | None = None
    """The path of its page in the site, or None if it is not a page."""

    is_searched: bool = True
    """Whether it is searched for all texts, or else only read where a request names it."""

    title: str = ""
    """Its title in the navigation of the site, if it has one there."""

    @property
    def place(self) -> str:
        """Its path as a request names it, if it is not a page of a site."""
        return self.location.path.relative_to(self.location.root).as_posix()


@dataclass(frozen=True)
class Passage:
    """The text of a source below a heading, a symbol of code, or a part of a long one."""

    file: str
    """The path of its file, to show to a person."""

    title: str
    """The title of the page and the heading, such as `Start › Install it`."""

    text: str
    link: str = ""
    """The path of the page in the site with the anchor, empty for the home page and for files."""

    is_own: bool = False
    """Whether it is the text around an article on its page, which nobody needs a link to."""

    digest: str = ""
    """The SHA-256 of the words of all the text below the heading, of which `text` can be a part."""

    place: str = ""
    """For a file that is not a page: its path as a request names it, and the anchor after a `#`.

    The anchor of a symbol is its name.
    """

    line: int | None = None
    """For code: the line of the definition of its symbol, from 1."""

    path: Path | None = None
    """For code: its file."""

    @property
    def language(self) -> str:
        """For code: the name of its language, as highlighters know it; else an empty string."""
        return language_of_code(self.path) if self.path else ""

    def address_in(self, repository: RepositoryFolder | None) -> str:
        """For code: the address of its line in the repository; else an empty string."""
        if repository and self.path and self.line:
            return repository.address_of(self.path, self.line)
        return ""


@dataclass(frozen=True)
class _Origin:
    """The file that passages come from."""

    file: str
    """Its path, to show to a person."""

    page: str | None
    """The path of its page in the site, or None if it is not a page."""

    name_in_requests: str
    """Its path as a request names it."""

    def passages(self, title: str, anchor: str, text: str) -> Iterator[Passage]:
        """Yield the passages with the text below one heading. Only a long text has several."""
        fragment = f"#{anchor}" if anchor else ""
        link = ""
        place = ""
        if self.page is None:
            place = f"{self.name_in_requests}{fragment}"
        else:
            link = f"{self.page}{fragment}"
        text = text.strip()
        digest = digest_of_words(text)
        for part in _divided(text):
            yield Passage(self.file, title, part, link, digest=digest, place=place)


@dataclass(frozen=True)
class Heading:
    """A heading in Markdown."""

    level: int
    text: str

    anchor: str
    """The id that Python-Markdown gives it by default, which names its section in addresses.

    A site can make ids in another way: see site/anchors.py.
    """

    start: int
    end: int
    """Where its line starts and ends in the Markdown."""


def file_at_place(paths: Iterable[Location], place: str) -> SourceFile | None:
    """Return the file that a request can name so, or None if it is in none of these paths.

    The file need not be there any more. It is not a page of a site.
    """
    if ".." in PurePosixPath(place).parts:
        return None
    for location in paths:
        path = location.root / place
        inner = None
        if path.is_relative_to(location.path):
            inner = path.relative_to(location.path)
        if inner is not None and (path == location.path or location.has(inner)):
            return SourceFile(Location(path, location.root), path.name)
    return None


def find_files(paths: Iterable[Location], site: SitePages | None = None) -> list[SourceFile]:
    """Return the files in `paths` and in the folders there, each once.

    In the directory of `site`, those are the published pages. Without a site, the Markdown files in
    folders count as pages. Code in a folder is searched only if a path or a glob names it.
    """
    found: dict[Path, SourceFile] = {}
    for location in paths:
        for file in _files_of(location, site):
            known = found.get(file.location.path)
            if known is None or (file.is_searched and not known.is_searched):
                found[file.location.path] = file
    return list(found.values())


def file_states(files: Iterable[SourceFile]) -> tuple[tuple[Path, int, int], ...]:
    """Return path, time and size of the files, to compare whether one has changed."""
    found = []
    for file in files:
        with suppress(OSError):
            status = file.location.path.lstat()
            found.append((file.location.path, status.st_mtime_ns, status.st_size))
    return tuple(found)


def read_around(docs: Location, page: str) -> str:
    """Return the Markdown of a page in `docs` without front matter and comments.

    It is empty if the page has no file that can be read.
    """
    try:
        source = read_text(docs.path / page, docs.root, _MAX_PAGE).removeprefix("\ufeff")
    except (OSError, UnicodeError):
        return ""
    first, *others = _FRONT_MATTER.sub("", source).split("<!--")
    return first + "".join(other.partition("-->")[2] for other in others)


def read_sources(files: Iterable[SourceFile]) -> tuple[list[Passage], list[str]]:
    """Return the passages of files, and those that are left out, each with the reason."""
    passages: list[Passage] = []
    left_out = []
    for file in files:
        path = escape_controls(str(file.location.path))
        try:
            passages += _passages_of(file)
        except (OSError, UnicodeError) as error:
            left_out.append(f"{path} ({escape_controls(reason_of(error))})")
    return passages, left_out


def split_passages(
    markdown: str, file: str, page: str | None, path: str = "", nav_title: str = ""
) -> Iterator[Passage]:
    """Yield the passages of a Markdown text. `page` is the path of its page in the site.

    `path` is that of its file, as a request names it. `nav_title` is what the navigation of the
    site calls it. What has no title above it is called by the first heading, or else so, or else by
    the name of the file.
    """
    origin = _Origin(file, page, path or file)
    page_title, markdown = _split_front_matter(markdown)
    name = nav_title or Path(file).stem
    title = page_title or name
    anchor = ""
    start = 0
    for heading in _headings(markdown):
        if start == 0:
            title = page_title or heading.text or name
        yield from origin.passages(title, anchor, markdown[start : heading.start])
        anchor = heading.anchor
        if heading.level == 1:
            anchor = ""  # the address of the page leads to it, with or without an anchor
            page_title = page_title or heading.text
        title = _title_of_passage(page_title, heading.text) or name
        start = heading.end
    yield from origin.passages(title, anchor, markdown[start:])


def _title_of_passage(page_title: str, heading: str) -> str:
    """Return the title of what stands below a heading, such as `Start › Install it`.

    The title of the page and the heading can be empty, or the same.
    """
    names = dict.fromkeys(name for name in (page_title, heading) if name)
    return " › ".join(names)


def find_headings(markdown: str) -> list[Heading]:
    """Return the headings of a page in their order."""
    _, body = _split_front_matter(markdown)
    return list(_headings(body))


def _split_front_matter(markdown: str) -> tuple[str, str]:
    """Return the title in the front matter of a page, if any, and the Markdown below."""
    front = _FRONT_MATTER.match(markdown)
    if not front:
        return "", markdown
    found = _TITLE.search(front[1])
    title = ""
    if found:
        title = found[1].strip().strip("\"'")[:MAX_HEADING]
    return title, markdown[front.end() :]


def _headings(markdown: str) -> Iterator[Heading]:
    numbers: dict[str, int] = {}
    """The ids so far, for _unique_anchor()."""

    fence = ""
    for match in _FENCE_OR_HEADING.finditer(markdown):
        if match["fence"]:
            if not fence:
                fence = match["fence"]
            elif match["fence"].startswith(fence):
                fence = ""
        elif not fence and len(match["heading"]) <= MAX_HEADING:
            text, slug = _text_and_slug(match["heading"])
            anchor = _unique_anchor(slug, numbers)
            yield Heading(len(match["level"]), text, anchor, match.start(), match.end())


def page_path(file: str) -> str:
    """Return the path in the site of the page of a Markdown file, as MkDocs makes it."""
    path = quote(Path(file).with_suffix("").as_posix(), errors="replace")
    folder, _, name = path.rpartition("/")
    if name in ("index", "README"):
        return f"{folder}/" if folder else ""
    return f"{path}/"


def page_files(path: str) -> list[str]:
    """Return the files that can have the page with this path in the site, as MkDocs names them."""
    name = unquote(path.removesuffix("/"))
    if not name:  # the home page
        return ["index.md", "README.md"]
    return [f"{name}.md", f"{name}/index.md", f"{name}/README.md"]


def _files_of(location: Location, site: SitePages | None) -> Iterator[SourceFile]:
    """Yield the files of a location: those that are on the disk, then the pages of the site."""
    path = location.path
    if not path.is_dir():
        yield site.file_at(location, path.name) if site else SourceFile(location, path.name)
        return
    yield from _files_on_disk(location, site)
    if site is None:
        return
    for page in site.files():
        page_file = page.location.path
        if page_file.is_relative_to(path) and location.has(page_file.relative_to(path)):
            yield page


def _files_on_disk(location: Location, site: SitePages | None) -> Iterator[SourceFile]:
    """Yield the files below the folder of a location that are read, and links to folders."""
    is_named = location.glob is not None
    docs = None
    if site is not None:
        docs = site.docs.path
    for file in _files_below(location.path, docs):
        name = file.relative_to(location.path)
        suffix = file.suffix.lower()
        is_text = is_named or suffix in _SUFFIXES or suffix in _CODE
        is_read = is_text and location.has(name)
        if not is_read and not file.is_dir():  # only links to folders are among them
            continue
        page = None
        if site is None and suffix in _MARKDOWN:
            page = page_path(name.as_posix())
        yield SourceFile(
            Location(file, location.root),
            name.as_posix(),
            page,
            is_searched=is_named or suffix not in _CODE,
        )


def _files_below(folder: Path, docs: Path | None) -> Iterator[Path]:
    """Yield the files below a folder in order.

    Hidden ones and those below `docs` are left out. Links to folders are among them, so that they
    are named when they are not read.
    """
    if docs and folder.is_relative_to(docs):
        return
    for directory, folder_names, file_names in os.walk(folder):
        inner_folders = _visible(directory, folder_names)
        # os.walk() goes on with what is left in this list.
        folder_names[:] = [inner.name for inner in inner_folders if inner != docs]
        for inner in inner_folders:
            if inner.is_symlink():
                yield inner
        yield from _visible(directory, file_names)


def _visible(directory: str, names: Iterable[str]) -> list[Path]:
    """Return the paths of those names in a folder that people have put there, in order."""
    paths = []
    for name in sorted(names):
        if not name.startswith(".") and name not in _FOLDERS_OF_OTHERS:
            paths.append(Path(directory, name))
    return paths


def _passages_of(file: SourceFile) -> list[Passage]:
    """Return the passages of a file. Raises OSError and UnicodeError."""
    file.name.encode()  # a name that is not UTF-8 cannot be sent
    text = read_text(file.location.path, file.location.root, MAX_FILE)
    return passages_in(file, text)


def passages_in(file: SourceFile, text: str) -> list[Passage]:
    """Return the passages of a file with this text, such as an earlier one. Raises OSError."""
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise OSError(errno.EINVAL, "it is not text")
    if file.location.path.suffix.lower() in _CODE:
        return _passages_of_code(file, text)
    if file.location.path.suffix.lower() == _TEXT:
        options = _passages_of_symbols(file, read_help(text) or ())
        if options:
            return options
    front = _FRONT_MATTER.match(text)
    if front and _NO_SOURCE.search(front[1]):
        return []
    return list(split_passages(text, file.name, file.page, file.place, file.title))


def _passages_of_code(file: SourceFile, text: str) -> list[Passage]:
    """Return the passages of a file of code: its symbols, or else all of it in blocks."""
    symbols = _symbols_of(text, file.location.path.suffix.lower())
    return _passages_of_symbols(file, symbols or [Symbol("", 1, text, text)])


def _passages_of_symbols(file: SourceFile, symbols: Iterable[Symbol]) -> list[Passage]:
    """Return the passages of the symbols of a file."""
    place = file.place
    path = file.location.path
    passages = []
    for symbol in symbols:
        title = place
        anchored = place
        if symbol.name:
            title = f"{place} › {symbol.name}"
            anchored = f"{place}#{symbol.name}"
        digest = sha256(symbol.compared)
        for part in _divided(symbol.text):
            passages.append(
                Passage(
                    place, title, part, digest=digest, place=anchored, line=symbol.line, path=path
                )
            )
    return passages


def _symbols_of(text: str, suffix: str) -> list[Symbol] | None:
    """Return the symbols of a file of code, or None if it cannot be parsed."""
    if suffix in _PYTHON:
        from .python_code import read_python

        return read_python(text)
    if suffix in _DATA:
        from .api_schemas import read_api_schema

        return read_api_schema(text)
    if suffix in _CODE:
        from .tree_sitter_code import read_program

        return read_program(text, suffix)
    return None


def _divided(text: str) -> Iterator[str]:
    """Yield parts of at most PASSAGE_LENGTH characters, divided between paragraphs if possible."""
    start = 0
    while start < len(text):
        end = start + PASSAGE_LENGTH
        if end < len(text):
            paragraph_end = text.rfind("\n\n", start + 1, end)
            if paragraph_end > 0:
                end = paragraph_end
        part = text[start:end].strip()
        if part:
            yield part
        start = end


def _text_and_slug(markdown: str) -> tuple[str, str]:
    """Return the text of a heading, and the id that it would have if it were the only one."""
    markdown = _CLOSING_HASHES.sub("", markdown.rstrip(" \t")).rstrip(" \t")
    attributes = _ATTRIBUTES.search(markdown)
    text = markdown[: attributes.start()] if attributes else markdown
    text = _INLINE.sub(lambda match: match[1] or "", text).strip()
    own_id = _ID.search(attributes[0]) if attributes else None
    return text, own_id[1] if own_id else _slug(text)


def _unique_anchor(slug: str, numbers: dict[str, int]) -> str:
    """Return the id of a heading, as Python-Markdown makes it: `cache`, then `cache_1`.

    `numbers` has each id so far, with the last number that was put after it for others, or 0. The
    new id is added.
    """
    anchor = slug
    number = numbers.get(slug, 0)
    while anchor in numbers or not anchor:
        number += 1
        anchor = f"{slug}_{number}"
    numbers[anchor] = 0
    numbers[slug] = number
    return anchor


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)
