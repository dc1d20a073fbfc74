"""What of a text no longer holds, since a passage that it cites has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from msgspec import structs

from mkdocs_contentgen.citation import Citation
from mkdocs_contentgen.html.document import ReadText, document_of
from mkdocs_contentgen.stale import StaleSource, fails_on
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.writer.sources.passage_words import digest_of_words
from mkdocs_contentgen.writer.sources.staleness import (
    CitedPassage,
    find_stale,
    with_unsupported,
)

URL = "https://docs.example/guide/#install"
BEFORE = "Run `tool sync --frozen` in CI.\n\nIt is tried 2 times. Jane Smith wrote it."
HTML = (
    "<article><h1>Title</h1>"
    f'<p>Run <code>tool sync --frozen</code> each time. <a href="{URL}">[1]</a></p>'
    f'<p>A download is tried 2 times. It cost 900 dollars. <a href="{URL}">[1]</a></p>'
    f'<h2>Sources</h2><ol><li><a href="{URL}">Guide › Install</a></li></ol></article>'
)


def text(html: str = HTML, before: str = BEFORE) -> Text:
    """Return a text that cites one passage."""
    made = datetime(2026, 11, 1, tzinfo=UTC)
    request: dict[str, object] = {"topic": "Title"}
    return Text(html, made, request, sources={URL: digest_of_words(before)}, passages={URL: before})


def passage(now: str, before: str = BEFORE, *, others: tuple[str, ...] = ()) -> CitedPassage:
    """Return that passage as it is now."""
    digest = digest_of_words(before)
    citation = Citation(URL, "Guide › Install", "", before=before, digest=digest)
    found = citation.as_found("Guide › Install", now, digest_of_words(now))
    return CitedPassage(found, "guide/#install", digest, other_sections=lambda: others)


def approved(html: str = HTML, before: str = BEFORE) -> Text:
    """Return a text with what an approval keeps."""
    whole = text(html, before)
    read = ReadText(whole, document_of(html))
    unsupported = with_unsupported(read, [passage(before, before)]).text.unsupported
    return structs.replace(whole, unsupported=unsupported)


def found_stale(of: Text, passages: Sequence[CitedPassage]) -> tuple[StaleSource, ...]:
    """Return what is said of passages that a text cites."""
    return find_stale(of, document_of(of.html), passages)


def stale(now: str, of: Text | None = None, others: tuple[str, ...] = ()) -> StaleSource:
    """Return what is said of that passage."""
    (found,) = found_stale(of or approved(), [passage(now, others=others)])
    return found


def test_an_approval_keeps_the_statements_without_support() -> None:
    """Only what the passage does not say is kept: these statements cannot be lost."""
    assert approved().unsupported == ("900 dollars",)


def test_same_words_are_no_alarm() -> None:
    """A passage with the same words has not changed, so nothing is said of it."""
    now = "Run **`tool  sync --frozen`** in [CI](https://ci.example).\n\n"
    now += "It is tried 2 times.\nJane Smith wrote it."
    assert found_stale(approved(), [passage(now)]) == ()


@pytest.mark.parametrize("of", [approved(), text()], ids=["approved", "draft"])
def test_lost_statements(of: Text) -> None:
    """A flag that is gone and a figure that is another one are named with their sentences.

    A statement that never had support is not, whether or not somebody has approved the text.
    """
    found = stale(
        "Run `tool sync --locked` in CI.\n\nIt is tried 3 times. Jane Smith wrote it.", of
    )
    assert found.level == "wrong"
    assert found.lost == ("--frozen", "2")
    assert [sentence.text for sentence in found.sentences] == [
        "Run `tool sync --frozen` each time.",
        "A download is tried 2 times.",
    ]
    assert found.message == "2 sentences may be wrong now: guide/#install"


def test_what_stands_there_now() -> None:
    """Beside a lost figure stands the new sentence that is about the same."""
    before = "A download is tried 2 times."
    words = f'Each download is tried 2 times. <a href="{URL}">[1]</a>'
    html = f"<article><h1>T</h1><p>{words}</p></article>"
    now = passage("Before that, log in.\n\nA download is tried 3 times.", before)
    (found,) = found_stale(approved(html, before), [now])
    (line,) = found.lines()
    assert line == (
        '"Each download is tried 2 times."   no longer there: 2; '
        "there now: 'A download is tried 3 times.'"
    )


def test_unpaired_surrogates() -> None:
    """An escape in a source makes halves of characters, which are compared as any other sign."""
    html = HTML.replace("A download", "A \ud800 download")
    before = BEFORE.replace("It is", "It \udfff is")
    found = stale(before.replace("2 times", "3 times"), approved(html, before))
    assert [sentence.lost for sentence in found.sentences] == [("2",)]


def test_another_section_supports_a_sentence() -> None:
    """What has only moved to another section of the page is to be read, and is not wrong."""
    now = "It is tried 2 times. Jane Smith wrote it."
    other = "Each time, run `tool sync --frozen` as the first step."
    found = stale(now, others=(other,))
    assert found.level == "changed"
    assert "--frozen" in found.lost


def test_another_section_about_something_else() -> None:
    """A section that has the same figure by chance supports nothing."""
    found = stale(BEFORE.replace("2 times", "3 times"), others=("Wait 2 times as long.",))
    assert (found.level, found.lost) == ("wrong", ("2",))


def test_added_sentences() -> None:
    """A new requirement is named, although no statement of the text is lost."""
    found = stale(f"{BEFORE}\n\nNever run it as root.")
    assert (found.level, found.sentences) == ("changed", ())
    assert found.added == ("Never run it as root.",)
    assert list(found.lines()) == ["new there: Never run it as root."]


def test_a_reworded_sentence_is_to_be_read() -> None:
    """The sentence of the text whose closest source sentence changed is named."""
    before = "The download of packages is parallel."
    html = (
        "<article><h1>T</h1><p>Packages have a parallel download. It is quick. "
        f'<a href="{URL}">[1]</a></p></article>'
    )
    now = passage("The download of packages is not parallel.", before)
    (found,) = found_stale(approved(html, before), [now])
    assert found.message == "sources changed: guide/#install (1 sentence to read)"


def test_a_source_is_gone() -> None:
    """A passage that stands nowhere is gone, whatever the sentences say."""
    digest = digest_of_words(BEFORE)
    citation = Citation(URL, "", "", before=BEFORE, digest=digest).as_gone("https://docs.example/")
    (found,) = found_stale(approved(), [CitedPassage(citation, "guide/#install", digest)])
    assert found.message == "source gone: guide/#install"


def test_a_paragraph_that_cites_something_else() -> None:
    """Only the paragraphs that cite the changed passage are judged."""
    other = replace(passage(BEFORE), shown="guide/#other")
    other_url = URL.replace("install", "other")
    other = replace(other, citation=structs.replace(other.citation, name=other_url))
    html = HTML.replace(
        f'times. It cost 900 dollars. <a href="{URL}">', f'times. <a href="{other_url}">'
    )
    of = structs.replace(approved(html), sources={URL: "0" * 64, other_url: other.digest_before})
    (found,) = found_stale(of, [passage("Nothing is left."), other])
    assert [sentence.text for sentence in found.sentences] == [
        "Run `tool sync --frozen` each time."
    ]


def test_levels_to_fail_on() -> None:
    """A command that fails on a level fails on what is worse, too."""
    wrong = [StaleSource("guide/", "wrong")]
    failing = [level for level in ("gone", "wrong", "changed") if fails_on(level, wrong)]
    assert failing == ["wrong", "changed"]
    assert not fails_on(None, wrong)


def test_code_that_is_another_one_as_a_whole() -> None:
    """Code of several words is lost where each word still stands somewhere."""
    before = "Its schema has `encrypted = true`."
    html = (
        "<article><h1>T</h1><p>It is safe, as <code>encrypted = true</code> and "
        f'<code>stored = it</code> say. <a href="{URL}">[1]</a></p></article>'
    )
    now = passage("Its schema has `encrypt_fields`, so it is stored encrypted: true.", before)
    (found,) = found_stale(approved(html, before), [now])
    assert (found.level, found.lost) == ("wrong", ("encrypted = true",))


@pytest.mark.parametrize(
    ("said", "before", "now", "lost"),
    [
        ("The feature is experimental.", "This experimental feature is new.", "It is new.", True),
        ("The feature is experimental.", "Still experimental!", "It is Experimental.", False),
        ("Give it <code>null</code>.", "It takes `null`.", "It takes nothing.", True),
        ("Give it <code>null</code>.", "It takes nothing.", "It takes none.", False),
    ],
)
def test_words_for_states(said: str, before: str, now: str, *, lost: bool) -> None:
    """A word such as `experimental`, and a literal in code, is lost where a source had it."""
    html = f'<article><h1>T</h1><p>{said} <a href="{URL}">[1]</a></p></article>'
    (found,) = found_stale(approved(html, before), [passage(now, before)])
    assert (found.level == "wrong") is lost
