"""Turning articles into Markdown in their pages, which then are written by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import yaml
from markdownify import markdownify

from .article import demote_headings, parse_article
from .config import project_directory
from .errors import ApprovalError
from .extension import MARKER
from .files import replace_text
from .site import Article, Site

_FRONT_MATTER = re.compile(r"(---[ \t]*\n)(.*?\n)((?:---|\.\.\.)[ \t]*\n)", re.DOTALL)
_FENCE = re.compile(r"\s*(```+|~~~+)(.*)")
_OWN_TITLE = re.compile(r"^# |^[^\n]+\n=+\s*$", re.MULTILINE)


def eject_articles(site: Site, articles: Sequence[Article]) -> str:
    """Write all articles of one page into it, and say what was done.

    Raises ApprovalError where a text is missing, or the page cannot be rewritten.
    """
    page = articles[0].entry.page
    docs = Path(site.config.docs_dir)
    path = docs / page
    if not path.is_file():
        raise ApprovalError(f"{page}: is made by a plugin, so there is no file to write into")
    source = path.read_text(encoding="utf-8-sig")
    match = _FRONT_MATTER.match(source)
    if not match:
        raise ApprovalError(f"{page}: asks in another place than its front matter")
    front = _without_request(match[2], page)
    text = source[match.end() :]
    has_title = bool(_OWN_TITLE.search(text))
    for article in articles:
        element = parse_article(_current_html(article), site.options.image_hosts)
        if has_title:
            demote_headings(element)
        has_title = has_title or element.find(".//h1") is not None
        text = _placed(text, article.entry.request.id, article is articles[0], _markdown(element))
    head = f"{match[1]}{front}{match[3]}" if front.strip() else ""
    project = project_directory(site.config)
    below = project if docs.is_relative_to(project) else docs
    try:
        replace_text(path, below, f"{head}{text if head else text.lstrip()}")
    except OSError as error:
        raise ApprovalError(f"{page}: cannot be written ({error.strerror})") from error
    files = ", ".join(str(article.path) for article in articles if article.approved)
    also = f"; {files} can be removed" if files else ""
    return f"{page}: holds its text now, and asks for none{also}"


def _current_html(article: Article) -> str:
    if article.approved and article.state in ("approved", "changed"):
        return article.approved.html
    if article.draft:
        return article.draft.html
    raise ApprovalError(
        f"{article.entry.place}: there is no text to write; "
        f"`contentgen generate {article.entry.page}` makes one"
    )


def _markdown(element: Element) -> str:
    for part in element.iter():
        part.attrib.pop("style", None)
    html = tostring(element, encoding="unicode", method="html")
    text: str = markdownify(html, heading_style="ATX", bullets="-", escape_misc=True)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _without_request(front: str, page: str) -> str:
    """Take the lines of the request out of a front matter, and touch no other line."""
    node = yaml.compose(front, yaml.SafeLoader)
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise ApprovalError(
            f"{page}:1: the front matter is not one key a line; take out `contentgen` by hand"
        )
    lines = front.splitlines(keepends=True)
    starts = [key.start_mark.line for key, _ in node.value] + [len(lines)]
    for number, (key, value) in enumerate(node.value):
        if key.value == "contentgen":
            first, last = starts[number], starts[number + 1]
            end = value.end_mark.line + (1 if value.end_mark.column else 0)
            return "".join(lines[:first] + lines[min(max(end, first + 1), last) :])
    raise ApprovalError(f"{page}:1: the front matter has no `contentgen`")


def _placed(text: str, name: str, is_first: bool, markdown: str) -> str:
    """Put Markdown in the place of its marker, or behind the text."""
    lines = text.split("\n")
    fence = ""
    for number, line in enumerate(lines):
        if match := _FENCE.match(line):
            ends = fence and match[1].startswith(fence) and not match[2].strip()
            fence = "" if ends else fence or match[1]
            continue
        marker = None if fence else MARKER.fullmatch(line.strip())
        if marker and (marker[1] == name or (marker[1] is None and is_first)):
            lines[number] = markdown
            return "\n".join(lines)
    return f"{text.rstrip()}\n\n{markdown}\n"
