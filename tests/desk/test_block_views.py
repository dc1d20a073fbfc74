"""What the desk keeps of blocks."""

from __future__ import annotations

from mkdocs_contentgen.desk.block_views import BlockViews
from mkdocs_contentgen.html.document import Document

PARTS = ["<p>It takes <mark>4 s</mark>.</p>", "<p>Or *not*.</p>", "<ul><li>b</li></ul>"]


def blocks_of(*parts: str, language: str = "en") -> Document:
    """Return a text with some parts."""
    return Document(f'<article lang="{language}"><h1>T</h1>{"".join(parts)}</article>')


def test_unchanged_blocks_keep_their_views() -> None:
    """The others are found anew, and those of the text before are forgotten."""
    views = BlockViews()
    before = views.of(blocks_of(*PARTS).blocks())
    after = views.of(blocks_of(PARTS[0], "<p>New.</p>", PARTS[2]).blocks())
    kept = [one is other for one, other in zip(before, after, strict=True)]
    assert kept == [True, True, False, True]
    again = views.of(blocks_of(*PARTS).blocks())
    assert again == before
    assert again[2] is not before[2]


def test_a_view_is_that_of_the_block() -> None:
    """Also where the same words are of another kind, or of another language."""
    views = BlockViews()
    for language in ("en", "de"):
        for part in ("<p>Am 3. Mai <mark>5</mark>.</p>", "<h2>Am 3. Mai <mark>5</mark>.</h2>"):
            blocks = blocks_of(part, language=language).blocks()
            assert views.of(blocks) == BlockViews().of(blocks)
            view = views.of(blocks)[1]
            assert (view.kind, view.digest) == (blocks[1].kind, blocks[1].digest)
            assert (view.text, view.markdown) == (blocks[1].text, blocks[1].to_markdown())


def test_a_mark_that_is_taken_off_changes_the_view() -> None:
    """The words are the same, and the statements are not."""
    views = BlockViews()
    document = blocks_of(*PARTS)
    assert len(views.of(document.blocks())[1].sentences) == 1
    document.blocks()[1].confirm_statement(0)
    assert views.of(document.blocks())[1].sentences == []
