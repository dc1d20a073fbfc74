"""Read the style sheet of articles, and insert it into pages."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element


def read_stylesheet(*, adapted: bool) -> str:
    """Return the style sheet of articles, for adapted or other styles."""
    folder = Path(__file__).parents[1] / "html"
    content = (folder / "containment.css").read_text("utf-8")
    if adapted:
        content += "\n" + (folder / "contentgen.css").read_text("utf-8")
    return content


def insert_styles(root: Element, styles: Element) -> None:
    """Insert the style sheet before the first element that is or contains an article."""
    for index, child in enumerate(root):
        if child.tag == "article" or child.find(".//article") is not None:
            root.insert(index, styles)
            return
