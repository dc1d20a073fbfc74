"""The passages of the sources that come closest to a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.writer.sources.evidence import EvidenceFinder
from mkdocs_contentgen.writer.sources.sources import Passage, RepositoryFolder

SECTIONS = [
    Passage("a.md", "Cache", "The cache keeps pages between builds. It is a folder.", "a/"),
    Passage("b.md", "Deploy", "A deployment takes seven minutes.\n\nNobody waits for it.", "b/"),
    Passage("c.md", "Long", "Gardens need water. " * 40 + "The build of a site needs a cache."),
]


def finder(sections: list[Passage]) -> EvidenceFinder:
    """Return what finds passages in all of the sections."""
    return EvidenceFinder(lambda sentence: sections)


def test_the_closest_passage_is_first() -> None:
    """It has its section, and the words that it shares, without short ones.

    What shares far fewer of them is about something else.
    """
    first, *others = finder(SECTIONS).evidence_for("A build keeps pages in the cache.")
    assert first.passage.file == "a.md"
    assert first.words == ("cache", "keeps", "pages")
    assert others == []


def test_a_passage_is_short() -> None:
    """Of a long section, it has the sentences that come closest alone."""
    [first, *_] = finder(SECTIONS[2:]).evidence_for("The build needs a cache.")
    assert first.passage.text.endswith("needs a cache.")
    assert len(first.passage.text) <= 400


LONG = {
    "list": "- a build and its cache\n" * 60,
    "line": "build cache " * 200,
    "word": f"build cache {'x' * 900}",
    "Chinese": "缓存 build cache " * 99,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_passage_without_sentences_is_short(text: str) -> None:
    """Lists, tables and lines without an end are divided between words."""
    found = finder([Passage("d.md", "List", text)]).evidence_for("A build has a cache.")
    assert found
    for evidence in found:
        assert len(evidence.passage.text) <= 400
        assert evidence.passage.text in text


def test_no_source_says_it() -> None:
    """Neither a sentence of other words nor one without sources has a passage."""
    assert finder(SECTIONS).evidence_for("Elephants wander through savannas.") == []
    assert (
        EvidenceFinder(lambda sentence: [], has_sources=False).evidence_for(
            "The cache keeps pages."
        )
        == []
    )
    assert finder(SECTIONS).evidence_for("12 %") == []


def test_unpaired_surrogates() -> None:
    """A sentence and a passage with halves of characters, as an escape makes them, are compared."""
    passage = Passage("Title", "", "The \ud800 cache is encrypted on the disk.")
    (found,) = EvidenceFinder(lambda sentence: [passage]).evidence_for("An \udfff encrypted cache.")
    assert found.passage == passage


def test_the_place_of_code() -> None:
    """A symbol has its language, and the address of its line in the repository, if it has one."""
    path = Path("/project/src/tool.py")
    symbol = Passage("src/tool.py", "sync", "def sync(tries=3) Copies files.", line=7, path=path)
    repository = RepositoryFolder(Path("/project"), "https://forge.example/tool/blob/main/")
    [found] = EvidenceFinder(lambda sentence: [symbol], repository=repository).evidence_for(
        "The function sync copies files."
    )
    assert found.passage.language == "python"
    assert found.address == "https://forge.example/tool/blob/main/src/tool.py#L7"
    [without] = EvidenceFinder(lambda sentence: [symbol]).evidence_for("sync copies files.")
    assert without.address == ""
