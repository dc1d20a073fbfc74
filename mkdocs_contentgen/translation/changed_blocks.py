"""Mark the blocks of a translation whose originals have changed since, for its readers."""

from __future__ import annotations

from ..html.document import Document, image_hosts_of
from ..html.elements import CHANGED
from ..text import Text
from .alignment import align_texts


def mark_changed_blocks(html: str, translation: Text, original: Text) -> str:
    """Return the HTML of a translation with a class at each block whose original has changed.

    `html` is that of the translation, which may have other links. Raises UnsafeHTMLError.
    """
    document = Document(html, image_hosts_of(html))
    for tag in document.article.find_all(class_=CHANGED):  # a text cannot say this of itself
        del tag["class"]
    leaves = document.leaves()
    for pair in align_texts(translation, original).alignment.pairs:
        has_changed = pair.original is None or pair.has_changed or pair.has_new_content
        if pair.own is not None and has_changed:
            element = leaves[pair.own].element
            element["class"] = f"{element.get('class') or ''} {CHANGED}".strip()
    return document.to_lines()
