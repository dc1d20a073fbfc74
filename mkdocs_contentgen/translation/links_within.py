"""Let links within a translation lead to its own headings.

A link such as `#why-it-is-slow` is that of the original, whose heading has other words here. What a
translation remembers says which heading stands for it, whatever people have changed since.
"""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote

from ..errors import UnsafeHTMLError
from ..html.article import letters_of
from ..html.elements import HEADINGS
from ..text import Text
from .alignment import align_texts

_LINK = re.compile(r'(<a\b[^<>]*?\shref="#)([^"<>]*)"')
_MAX_NAME = 200
"""The maximum length of what a link within a text names, in characters."""


def link_to_own_headings(translation: Text, original: Text) -> str:
    """Return the HTML of a translation whose links lead to its own headings.

    A link that leads to none of the original stays as it is.
    """
    if translation.original is None or not _LINK.search(translation.html):
        return translation.html
    try:
        own = _own_headings(translation, original)
    except UnsafeHTMLError:  # which is said of the page that shows the text
        return translation.html

    def to_own(match: re.Match[str]) -> str:
        start, name = match.groups()
        letters = letters_of(unquote(unescape(name)))
        return f'{start}{own.get(letters, name)}"'

    return _LINK.sub(to_own, translation.html)


def _own_headings(translation: Text, original: Text) -> dict[str, str]:
    """Return the name with which a link leads to a heading here, for each heading of the original.

    The keys are the letters of the original's headings.
    """
    aligned = align_texts(translation, original)
    found: dict[str, str] = {}
    for pair in aligned.alignment.pairs:
        if pair.original is None or pair.own is None:
            continue
        heading = aligned.leaves[pair.original]
        name = letters_of(aligned.own_leaves[pair.own].text)
        if heading.kind in HEADINGS and 0 < len(name) <= _MAX_NAME:
            found.setdefault(letters_of(heading.text), name)
    return found
