"""Read the sources that texts are grounded in, and split them into sections by heading.

Sources are not trusted: what a folder contains beyond regular text files below it is left out.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ...digest import sha256
from ...files import read_text

SUFFIXES = frozenset({".md", ".markdown", ".txt"})
"""The suffixes of the files in a folder that are read."""

MAX_FILE = 2 * 1024 * 1024
"""Characters of a file. Longer ones are left out."""

MAX_SECTION = 2000
"""Characters of a section. Longer ones are divided between paragraphs, or else anywhere."""

_MAX_FILES = 20_000
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*\n", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*")
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[^{}]*\}$")
_ID = re.compile(r"#([\w-]+)")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_REQUEST = re.compile(r"^contentgen[ \t]*:", re.MULTILINE)
_INLINE = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|[*`]|<[^<>]*>")


@dataclass(frozen=True)
class Section:
    """A part of a source below a heading."""

    file: str
    """The path of its file, to show to a person."""

    title: str
    """The title of the page and the heading, such as `Start › Install it`."""

    text: str
    link: str = ""
    """The path of the page in the site with the anchor, or an empty string for another file."""

    is_own: bool = False
    """Whether it is the text around an article on its page, which nobody needs a link to."""

    digest: str = ""
    """The SHA-256 of all the text below the heading, of which `text` can be a part."""


def read_sources(
    paths: list[Path], site_folders: frozenset[Path], *, directory_urls: bool = True
) -> Iterator[Section]:
    """Yield the sections of files and folders. The files below `site_folders` are pages.

    `directory_urls` is the option `use_directory_urls` of MkDocs.
    """
    for path in paths:
        root = path if path.is_dir() else path.parent
        for file in _files_below(path) if path.is_dir() else [path]:
            site = next((folder for folder in site_folders if file.is_relative_to(folder)), None)
            if site is None:
                yield from _sections_of(file, root, file.name, None)
            else:
                name = file.relative_to(site).as_posix()
                page = page_path(name, directory_urls=directory_urls)
                yield from _sections_of(file, root, name, page)


def changed_at(paths: list[Path]) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of all files, to compare whether one has changed."""
    files = [file for path in paths for file in (_files_below(path) if path.is_dir() else [path])]
    found = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        found.append((str(file), status.st_mtime_ns, status.st_size))
    return tuple(found)


def split_sections(markdown: str, file: str, page: str | None) -> Iterator[Section]:
    """Yield the sections of a Markdown text. `page` is the path of its page in the site."""
    front = _FRONT_MATTER.match(markdown)
    title = ""
    if front:
        found = _TITLE.search(front[1])
        title = found[1] if found else ""
        markdown = markdown[front.end() :]
    ids: set[str] = set()
    heading = anchor = ""
    lines: list[str] = []

    def section() -> Iterator[Section]:
        names = [name for name in (title, heading) if name]
        name = " › ".join(dict.fromkeys(names)) or Path(file).stem
        target = "" if page is None else f"{page}#{anchor}" if anchor else page
        text = "\n".join(lines).strip()
        for part in _divided(text):
            yield Section(file, name, part, target, digest=sha256(text))

    fence = ""
    for line in markdown.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence and line.strip().startswith(fence) else fence or mark[1]
        found = None if fence else _HEADING.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        yield from section()
        heading, anchor = _heading(found[2], ids)
        lines = []
        if len(found[1]) == 1:
            title, anchor = title or heading, ""
    yield from section()


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the text files below a folder in order, without following links."""
    number = 0
    for directory, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(directory, name)
            if path.suffix.lower() in SUFFIXES and not path.is_symlink() and number < _MAX_FILES:
                number += 1
                yield path


def _sections_of(file: Path, root: Path, name: str, page: str | None) -> Iterator[Section]:
    try:
        text = read_text(file, root, MAX_FILE).removeprefix("\ufeff")
    except (OSError, UnicodeError):
        return
    front = _FRONT_MATTER.match(text)
    # A generated text is no source of another one.
    if "\0" in text or (front and _REQUEST.search(front[1])):
        return
    yield from split_sections(text, name, page)


def _divided(text: str) -> Iterator[str]:
    """Yield parts of at most MAX_SECTION characters, divided between paragraphs if possible."""
    while len(text) > MAX_SECTION:
        end = text.rfind("\n\n", 0, MAX_SECTION)
        end = end if end > 0 else MAX_SECTION
        yield text[:end].strip()
        text = text[end:].strip()
    if text:
        yield text


def _heading(markdown: str, ids: set[str]) -> tuple[str, str]:
    """Return the text of a heading and its id, as Python-Markdown makes it, unique in `ids`."""
    attributes = _ATTRIBUTES.search(markdown)
    text = markdown[: attributes.start()] if attributes else markdown
    text = _INLINE.sub(lambda match: match[1] or "", text).strip()
    own = _ID.search(attributes[0]) if attributes else None
    slug = own[1] if own else _slug(text)
    anchor, number = slug, 0
    while anchor in ids or not anchor:
        number += 1
        anchor = f"{slug}_{number}"
    ids.add(anchor)
    return text, anchor


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)


def page_path(file: str, *, directory_urls: bool = True) -> str:
    """Return the path in the site of the page of a Markdown file, as MkDocs makes it."""
    path = quote(Path(file).with_suffix("").as_posix())
    folder, _, name = path.rpartition("/")
    if not directory_urls:
        return f"{folder}/index.html".lstrip("/") if name == "README" else f"{path}.html"
    if name in ("index", "README"):
        return f"{folder}/" if folder else ""
    return f"{path}/"
