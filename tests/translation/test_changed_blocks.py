"""The blocks of a translation whose originals have changed, as its readers see them."""

from __future__ import annotations

import re

import pytest
from edited_translations import text_of, translate

from mkdocs_contentgen.translation.changed_blocks import mark_changed_blocks

BEFORE = """
<article class="x" dir="ltr"><h1 class="title">one</h1><p>two <a href="https://a.example/">link</a></p>
<ul><li>three</li><li>four</li></ul><pre><code>code</code></pre></article>
"""


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        ("two", "two two", ["TWO LINK"]),
        ("one", "1", ["ONE"]),
        ("<li>three</li>", "", ["THREE"]),
        ("https://a.example/", "https://b.example/", ["TWO LINK"]),
        ("<li>four</li>", "<li>four</li><li>new</li>", []),
        ("two", "two", []),
    ],
)
def test_what_is_marked(before: str, after: str, marked: list[str]) -> None:
    """Blocks whose original says something else or is gone, and no others; all else stays."""
    original = text_of(BEFORE)
    translation = translate(original)
    changed = text_of(BEFORE.replace(before, after))
    html = mark_changed_blocks(translation.html, translation, changed)
    found = re.findall(r'<(\w+) class="(?:title )?contentgen-changed">(.*?)</\1>', html)
    assert [re.sub("<[^>]*>", "", inner) for _, inner in found] == marked
    assert re.sub(r' class="contentgen-changed"| contentgen-changed', "", html) == translation.html
