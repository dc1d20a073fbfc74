"""Read the sources that texts are grounded in, and split them into sections by heading.

Sources are not trusted: a repository may have links to other files of the machine in it, and files
that were made to take long. What is not read is left out, and named in a warning.
"""

from __future__ import annotations

import errno
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..display import escape_controls
from ..files import read_text, reason_of, sha256

_MARKDOWN = frozenset({".md", ".markdown"})
_SUFFIXES = _MARKDOWN | {".txt"}
"""The suffixes of the files in a folder that are read."""

_HASH_COMMENTS = frozenset(".pl .py .rb .sh .toml .yaml .yml".split())
"""The suffixes of files in which `# …` is a comment and no heading."""

MAX_FILE = 2 * 1024 * 1024
"""Characters of a file. That is enough for the `llms-full.txt` of most products."""

_MAX_PAGE = 256 * 1024
"""Characters of a page whose text around an article is read."""

MAX_SECTION = 2000
"""Characters of a section. Longer ones are divided between paragraphs, or else anywhere."""

MAX_HEADING = 300
"""Characters of a heading, which each section has. Longer lines are text."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*\n", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^title:(.*)$", re.MULTILINE)
_FENCE_OR_HEADING = re.compile(
    r"^(?:[ \t]*(?P<fence>```+|~~~+)|(?P<level>#{1,6})[ \t]+(?P<heading>\S.*))", re.MULTILINE
)
_CLOSING_HASHES = re.compile(r"(?<=[ \t])#+$")
_ATTRIBUTES = re.compile(r"\{:?[^{}]*\}$")
_ID = re.compile(r"#([\w-]+)")
_NO_SOURCE = re.compile(r"^(?:contentgen|password)[ \t]*:", re.MULTILINE)
"""Marks a page with a generated text, or one that a plugin encrypts."""
_INLINE = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|[*`]|<[^<>]*>")


@dataclass(frozen=True)
class Location:
    """A file or folder. No symbolic link is followed on the way to it from the folder `root`."""

    path: Path
    root: Path


@dataclass(frozen=True)
class SitePages:
    """The pages that a site publishes."""

    docs: Location
    """The directory of pages."""

    addresses: Mapping[Path, str]
    """The path in the site of each page, by its file in that directory."""

    def files(self) -> Iterator[SourceFile]:
        """Yield the files of the pages."""
        for path, address in self.addresses.items():
            name = path.relative_to(self.docs.path).as_posix()
            yield SourceFile(Location(path, self.docs.root), name, address)


@dataclass(frozen=True)
class SourceFile:
    """A file to be read."""

    location: Location
    name: str
    """The path to show to a person."""

    page: str | None = None
    """The path of its page in the site, or None if it is no page."""


@dataclass(frozen=True)
class Section:
    """A part of a source below a heading."""

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
    """The SHA-256 of all the text below the heading, of which `text` can be a part."""

    place: str = ""
    """The path of a file that is no page, as a request names it, with the place after `#`."""


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


def find_files(paths: Iterable[Location], site: SitePages | None = None) -> list[SourceFile]:
    """Return the files in `paths` and in the folders there, each once.

    In the directory of `site`, those are the published pages. Without a site, the Markdown files in
    folders count as pages.
    """
    found: dict[Path, SourceFile] = {}
    for location in paths:
        for file in _files_of(location, site):
            found.setdefault(file.location.path, file)
    return list(found.values())


def changed_at(files: Iterable[SourceFile]) -> tuple[tuple[Path, int, int], ...]:
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


def read_sources(files: Iterable[SourceFile]) -> tuple[list[Section], list[str]]:
    """Return the sections of files, and those that are left out, each with the reason."""
    sections: list[Section] = []
    left_out = []
    for file in files:
        path = escape_controls(str(file.location.path))
        try:
            sections += _sections_of(file)
        except (OSError, UnicodeError) as error:
            left_out.append(f"{path} ({escape_controls(reason_of(error))})")
    return sections, left_out


def split_sections(markdown: str, file: str, page: str | None, path: str = "") -> Iterator[Section]:
    """Yield the sections of a Markdown text. `page` is the path of its page in the site.

    `path` is that of its file, as a request names it.
    """
    title, markdown = _split_front_matter(markdown)
    names = [title]
    anchor = ""
    start = 0
    for heading in _headings(markdown):
        text = markdown[start : heading.start]
        yield from _sections_below(names, anchor, text, file, page, path or file)
        if heading.level == 1:
            # The address of the page leads to it, with or without an anchor.
            anchor = ""
            title = title or heading.text
        else:
            anchor = heading.anchor
        names = [title, heading.text]
        start = heading.end
    yield from _sections_below(names, anchor, markdown[start:], file, page, path or file)


def _sections_below(
    names: Sequence[str], anchor: str, text: str, file: str, page: str | None, path: str
) -> Iterator[Section]:
    """Yield the sections with the text below one heading. Only a long text has several.

    `names` are the title of the page and the heading. Each can be empty.
    """
    different_names = dict.fromkeys(name for name in names if name)
    title = " › ".join(different_names) or Path(file).stem
    fragment = f"#{anchor}" if anchor else ""
    if page is None:
        link = ""
        place = f"{path}{fragment}"
    else:
        link = f"{page}{fragment}"
        place = ""
    text = text.strip()
    digest = sha256(text)
    for part in _divided(text):
        yield Section(file, title, part, link, digest=digest, place=place)


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
    title = found[1].strip().strip("\"'")[:MAX_HEADING] if found else ""
    return title, markdown[front.end() :]


def _headings(markdown: str) -> Iterator[Heading]:
    ids: dict[str, int] = {}
    fence = ""
    for mark in _FENCE_OR_HEADING.finditer(markdown):
        if mark["fence"]:
            if not fence:
                fence = mark["fence"]
            elif mark["fence"].startswith(fence):
                fence = ""
        elif not fence and len(mark["heading"]) <= MAX_HEADING:
            text, anchor = _heading(mark["heading"], ids)
            yield Heading(len(mark["level"]), text, anchor, mark.start(), mark.end())


def page_path(file: str) -> str:
    """Return the path in the site of the page of a Markdown file, as MkDocs makes it."""
    path = quote(Path(file).with_suffix("").as_posix(), errors="replace")
    folder, _, name = path.rpartition("/")
    if name in ("index", "README"):
        return f"{folder}/" if folder else ""
    return f"{path}/"


def _files_of(location: Location, site: SitePages | None) -> Iterator[SourceFile]:
    path = location.path
    if not path.is_dir():
        yield SourceFile(location, path.name, site.addresses.get(path) if site else None)
        return
    for file in _files_below(path, site.docs.path if site else None):
        name = file.relative_to(path).as_posix()
        is_page = site is None and file.suffix.lower() in _MARKDOWN
        yield SourceFile(Location(file, location.root), name, page_path(name) if is_page else None)
    if site is not None:
        for page in site.files():
            if page.location.path.is_relative_to(path):
                yield page


def _files_below(folder: Path, docs: Path | None) -> Iterator[Path]:
    """Yield the Markdown and text files below a folder in order.

    Hidden ones and those below `docs` are left out. Links are among them, so that they are named
    when they are not read.
    """
    if docs and folder.is_relative_to(docs):
        return
    for directory, folders, files in os.walk(folder):
        paths = [Path(directory, name) for name in sorted(folders) if not name.startswith(".")]
        # os.walk() goes on with what is left in this list.
        folders[:] = [path.name for path in paths if path != docs]
        for path in paths:
            if path.is_symlink():
                yield path
        for name in sorted(files):
            path = Path(directory, name)
            if path.suffix.lower() in _SUFFIXES and not name.startswith("."):
                yield path


def _sections_of(file: SourceFile) -> list[Section]:
    """Return the sections of a file. Raises OSError and UnicodeError."""
    file.name.encode()  # a name that is not UTF-8 cannot be sent
    path = file.location.path
    text = read_text(path, file.location.root, MAX_FILE).removeprefix("\ufeff")
    if "\0" in text:
        raise OSError(errno.EINVAL, "it is not text")
    place = path.relative_to(file.location.root).as_posix()
    if path.suffix.lower() in _HASH_COMMENTS:
        digest = sha256(text)
        return [
            Section(file.name, file.name, part, digest=digest, place=place)
            for part in _divided(text)
        ]
    front = _FRONT_MATTER.match(text)
    if front and _NO_SOURCE.search(front[1]):
        return []
    return list(split_sections(text, file.name, file.page, place))


def _divided(text: str) -> Iterator[str]:
    """Yield parts of at most MAX_SECTION characters, divided between paragraphs if possible."""
    start = 0
    while start < len(text):
        end = start + MAX_SECTION
        if end < len(text):
            paragraph = text.rfind("\n\n", start + 1, end)
            end = paragraph if paragraph > 0 else end
        part = text[start:end].strip()
        if part:
            yield part
        start = end


def _heading(markdown: str, ids: dict[str, int]) -> tuple[str, str]:
    """Return the text of a heading and its id, as Python-Markdown makes it.

    `ids` has the ids so far, each with the last number that made one unique which begins with it.
    """
    markdown = _CLOSING_HASHES.sub("", markdown.rstrip(" \t")).rstrip(" \t")
    attributes = _ATTRIBUTES.search(markdown)
    text = markdown[: attributes.start()] if attributes else markdown
    text = _INLINE.sub(lambda match: match[1] or "", text).strip()
    own_id = _ID.search(attributes[0]) if attributes else None
    slug = own_id[1] if own_id else _slug(text)
    anchor = slug
    number = ids.get(slug, 0)
    while anchor in ids or not anchor:
        number += 1
        anchor = f"{slug}_{number}"
    ids[anchor] = 0
    ids[slug] = number
    return text, anchor


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)
