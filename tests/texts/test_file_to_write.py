"""Which files can be written in place of those that people have edited."""

from __future__ import annotations

from pathlib import Path

import pytest
from approved_texts import NEWER, PICTURE, approve, edited_file, propose, save_approved
from msgspec import structs

from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.texts.file_to_write import FileChangedError

ORDER = "the order of the text, or the lists, tables and quotations in it by somebody"

EDITS = {
    "words": ("One.", "By hand.", "'By hand.' by somebody"),
    "a picture": ("An image", "A red house", "`alt` 'A red house' by somebody"),
    "a paragraph that was taken out": ("<p>Two.</p>\n", "", "'Two.', which was removed"),
    "the order": (
        f"<p>One.</p>\n{PICTURE}<p>Two.</p>",
        f"<p>Two.</p>\n{PICTURE}<p>One.</p>",
        ORDER,
    ),
    "a quotation": ("<p>Two.</p>", "<blockquote>\n<p>Two.</p>\n</blockquote>", ORDER),
    "a line": ("<p>Two.</p>", "<hr>\n<p>Two.</p>", ORDER),
    "a paragraph twice": ("<p>Two.</p>", "<p>Two.</p>\n<p>Two.</p>", ORDER),
    "a language": ("<article>", '<article lang="de">', ORDER),
}
"""What somebody changes in a file, by what, and what names it."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of an approved file."""
    return tmp_path / "page.md/main.html"


@pytest.mark.parametrize("what", EDITS)
@pytest.mark.parametrize("make", [propose, approve])
def test_human_edits_are_not_overwritten(path: Path, what: str, make: object) -> None:
    """Neither a proposal nor an approval loses them, unless a person has agreed to that."""
    before, after, named = EDITS[what]
    now = edited_file(path, before, after)
    new = propose(NEWER, "key", "writer")
    if make is approve:
        new = approve(NEWER, "key", "writer", "Jo")
    content = path.read_bytes()
    with pytest.raises(FileChangedError) as raised:
        save_approved(path, path.parents[1], new, before=now)
    assert named in str(raised.value)
    assert path.read_bytes() == content
    with pytest.raises(FileChangedError):  # that was said of another file
        save_approved(path, path.parents[1], new, before=now, agreed=sha256("another"))
    save_approved(path, path.parents[1], new, before=now, agreed=now.file_digest)
    assert path.read_bytes() != content


@pytest.mark.parametrize("what", EDITS)
def test_a_text_that_has_the_edits_is_written(path: Path, what: str) -> None:
    """Then nothing is lost, and nobody has to agree."""
    before, after, _ = EDITS[what]
    now = edited_file(path, before, after)
    newer = structs.replace(NEWER, html=NEWER.html.replace(before, after))
    save_approved(path, path.parents[1], approve(newer, "key", "writer", "Jo"), before=now)
