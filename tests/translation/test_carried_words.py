"""Words of a translation go into a block with the same words, or it is said that this is unsure."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.translation.carried_words import carry_words, have_same_parts
from mkdocs_contentgen.translation.translatable import words_of

HOSTS = ["img.example"]
SHORT = {
    "[A]": '<a href="https://a.example/#a">[1]</a>',
    "[B]": '<a href="https://a.example/#b">[2]</a>',
    "[A9]": '<a href="https://a.example/#a">[9]</a>',
    "<x>": '<a href="https://x.example">',
    "<y>": '<a href="https://y.example">',
    "<z>": '<a href="https://z.example">',
    "<x siehe>": '<a href="https://x.example" title="siehe">',
    "<y see>": '<a href="https://y.example" title="see">',
    "<y siehe>": '<a href="https://y.example" title="siehe">',
    "</x>": "</a>",
    "<cat>": '<img src="https://img.example/b.png" alt="cat">',
    "<Katze>": '<img src="https://img.example/b.png" alt="Katze">',
    "<link>": '<a href="https://b.example"><img src="https://img.example/b" alt="c"></a>',
    "<Verweis>": ('<a href="https://b.example"><img src="https://img.example/b" alt="K"></a>'),
    "<img>": '<img src="https://img.example/a.png" alt="">',
}


def block(html: str) -> Block:
    """Return the block that has this content, with long forms for short ones."""
    for name, long in SHORT.items():
        html = html.replace(name, long)
    return Document(f"<article><h1>T</h1><p>{html}</p></article>", HOSTS).blocks()[1]


CARRIED = [
    ("Fast [A9].", "Schnell [A].", "Schnell [A9]."),
    ("Fast.", "Schnell [A].", "Schnell."),
    ("[A] Fast", "[A] Schnell", "[A] Schnell"),
    ("Fast [A]. Slow.", "Schnell. Langsam.", "Schnell [A]. Langsam."),
    ("Fast. [A] Slow.", "Schnell! Langsam.", "Schnell! [A] Langsam."),
    ("Fast (very) [A].", "<mark>Sehr</mark> (schnell).", "<mark>Sehr</mark> (schnell) [A]."),
    ("Fast [A].", "<strong>Schnell.</strong>", "<strong>Schnell [A].</strong>"),
    ("It is fast [A]. So.", "速いです。だから。", "速いです [A]。だから。"),
    ("Is it [A]?", "هل هو؟", "هل هو [A]؟"),
    ("Fast [B] [A], and", "Und schnell [B].", "Und schnell [B] [A]."),
    ("Fast [B][A].", "Schnell [A].", "Schnell [B][A]."),
    ("In <y>docs</x>.", "In den <x>Seiten</x>.", "In den <y>Seiten</x>."),
    (
        "<x>One</x> in <z>two</x>.",
        "In <y>zwei</x> <x>eins</x>.",
        "In <z>zwei</x> <x>eins</x>.",
    ),
    ("Run <code>x</code> [A9]", "[A] <code>x</code> starten", "[A9] <code>x</code> starten"),
    ("A title [A]", "Ein Titel", "Ein Titel [A]"),
    ("A <cat> [A]", "Eine <Katze>", "Eine <Katze> [A]"),
    ("A <link>[A]", "Eine <Verweis>", "Eine <Verweis>[A]"),
    ("<y see>One</x>", "<x siehe>Eins</x>", "<y siehe>Eins</x>"),
]


@pytest.mark.parametrize(("original", "own", "expected"), CARRIED)
def test_words_that_are_carried_over(original: str, own: str, expected: str) -> None:
    """All but words is as in the original, and its citations stand where it has them."""
    new = block(original)
    carry_words(block(own), new, "", "en")
    assert new.html == block(expected).html


@pytest.mark.parametrize(
    ("original", "own"),
    [
        ("Fast [A] and slow.", "Schnell und langsam."),
        ("Fast [A]. Slow.", "Schnell und langsam."),
        ("<y>One</x> in <z>two</x>.", "In <x>zwei</x> <x>eins</x>."),
        ("<x>One</x>.", "Eins."),
        ("One.", "<x>Eins</x>."),
        ("One <img>.", "Eins."),
        ("A <cat> [A]", "Eine <img>"),
        ("One<br>two", "Eins zwei"),
        ("Press <kbd>A</kbd>", "Drücke <kbd>B</kbd>"),
        ("One <code>x</code>", "Eins"),
        ("The sign ⟦ [A]", "Das Zeichen ⟦ [B]"),
        (f"Fast {'[A] ' * 21}", "Schnell"),
    ],
)
def test_words_that_are_not(original: str, own: str) -> None:
    """Where it is not certain what is what, the block stays, so that somebody can be asked."""
    new = block(original)
    before = new.html
    with pytest.raises(EditError):
        carry_words(block(own), new, "de", "en")
    assert new.html == before


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Fast [A].", "Fast.", True),
        ("<x>Fast</x>, [B] so", "Fast,  so", True),
        ("Fast<br>on", "Fast on", True),
        ("A <cat>", "A <Katze>", False),
        ("Fast [1].", "Fast [2].", False),
        ("Fast.", "Fast?", False),
        ("Now here", "Nowhere", False),
        ("Fast", "<em>Fast</em>", False),
        ("Run <code>a</code>", "Run <code>b</code>", False),
        ("4 s", "5 s", False),
    ],
)
def test_the_same_words(one: str, other: str, is_same: bool) -> None:
    """Links, citations and pictures are not words, but what they are described with is.

    So are code, formatting and figures, and what is cited without an address.
    """
    assert (words_of(block(one)) == words_of(block(other))) is is_same


def test_blocks_without_words() -> None:
    """They have none, so that they are compared as a whole."""
    assert [words_of(block(html)) for html in ("12", "<code>run</code>", "[A] 1")] == ["", "", ""]


def test_the_same_parts() -> None:
    """Their order does not count, nor do the numbers of citations."""
    assert have_same_parts(block("One [A], <x>two</x>."), block("<x>Zwei</x>, eins [A9]"))
    assert not have_same_parts(block("One [A]."), block("Eins [B]"))
