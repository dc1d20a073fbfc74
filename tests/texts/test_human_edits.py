"""What people have written in a text, and what of it a replacement would lose."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mkdocs_contentgen.html.document import document_of
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.human_edits import lost_edits, named_edits

WHEN = datetime(2026, 11, 20, tzinfo=UTC)
IMAGE = '<img src="https://a.example/tea.png" alt="{}" title="{}">'
CODE = '<pre><code class="language-{}">if x:\n{}tea()</code></pre>'

CHANGES = {
    "words": ("<p>Tea is green.</p>", "<p>Tea is black.</p>"),
    "the text that a picture has in its place": (
        f"<p>Our tea {IMAGE.format('A red house', '')}</p>",
        f"<p>Our tea {IMAGE.format('An image', '')}</p>",
    ),
    "the title of a picture": (
        f"<p>Our tea {IMAGE.format('A', 'From Assam')}</p>",
        f"<p>Our tea {IMAGE.format('A', 'Tea')}</p>",
    ),
    "the title of a link": (
        '<p><a href="https://a.example/" title="Ours">tea</a></p>',
        '<p><a href="https://a.example/">tea</a></p>',
    ),
    "the address of a link": (
        '<p>See <a href="https://a.example/right">tea</a></p>',
        '<p>See <a href="https://a.example/wrong">tea</a></p>',
    ),
    "the label of code": (CODE.format("python", "    "), CODE.format("text", "    ")),
    "the indentation of code": (CODE.format("python", "    "), CODE.format("python", "")),
    "a heading that was a paragraph": ("<h2>Tea</h2>", "<p>Tea</p>"),
}


def text_of(html: str, *, by: str = "", edits: Edits | None = None, written_by: str = "") -> Text:
    """Return a text of a title and these blocks, which the person `by` has written."""
    html = f"<article><h1>T</h1>{html}</article>"
    if by:
        digests = [block.digest for block in document_of(html).blocks()[1:]]
        edits = Edits(changed_by=dict.fromkeys(digests, by))
    return Text(html, WHEN, {}, edits=edits, written_by=written_by)


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_person_wrote_is_lost(what: str) -> None:
    """Whatever of a block is another in the new text, it is the person's that is lost."""
    mine, other = CHANGES[what]
    lost = lost_edits(text_of(mine, by="Ann"), text_of(other))
    assert [edit.by for edit in lost] == ["Ann"]
    assert lost[0].name in named_edits(lost)


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_there_is_not_lost(what: str) -> None:
    """Marks, inline styles, other blocks and white space around it are no loss."""
    mine, _ = CHANGES[what]
    marked = mine.replace("Tea is green", '<mark style="color: red">Tea</mark> is green')
    assert lost_edits(text_of(mine, by="Ann"), text_of(f"<p>New.</p>\n {marked}")) == []


def test_what_a_model_wrote_is_no_loss() -> None:
    """Only what people wrote is guarded, in a text that has both."""
    before = text_of("<p>By Ann.</p>", by="Ann")
    before = Text(before.html.replace("<p>", "<p>By a model.</p><p>"), WHEN, {}, edits=before.edits)
    assert lost_edits(before, text_of("<p>By Ann.</p>")) == []
    assert [edit.by for edit in lost_edits(before, text_of("<p>By a model.</p>"))] == ["Ann"]


def test_a_text_of_a_person() -> None:
    """All of it is theirs, pictures between its blocks, too."""
    picture = f"<figure>{IMAGE.format('A red house', '')}<figcaption>Ours</figcaption></figure>"
    before = text_of(picture, written_by="Ann")
    after = text_of(picture.replace("A red house", "An image"))
    assert named_edits(lost_edits(before, after)) == "`alt` 'A red house' by Ann"


def test_words_that_were_removed() -> None:
    """A text that says again what a person took out loses that; one that never had it does not."""
    before = text_of("<p>Tea.</p>", edits=Edits(removed=("It cures all.",)))
    [edit] = lost_edits(before, text_of("<p>Tea. It cures all.</p>"))
    assert str(edit) == "'It cures all.', which was removed"
    assert lost_edits(before, text_of("<p>Tea. It is green.</p>")) == []


def test_unknown_is_a_loss() -> None:
    """Where nobody can read one of the texts, all that people wrote counts as lost."""
    mine = text_of("<p>By Ann.</p>", by="Ann")
    broken = Text("no article", WHEN, {})
    assert [edit.by for edit in lost_edits(mine, broken)] == ["Ann"]
    assert lost_edits(Text("no article", WHEN, {}, edits=Edits()), mine)
