"""What is known of an article: where the text that its page shows is from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from approved_texts import approve, propose

from mkdocs_contentgen.html.disclosure import Provenance
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest, Request, TranslationOf
from mkdocs_contentgen.text import Edits, Original, Text
from mkdocs_contentgen.texts.articles import Article
from mkdocs_contentgen.texts.lookup import Outcome
from mkdocs_contentgen.translation_request import translation_request

MADE = datetime(2026, 1, 2, tzinfo=UTC)
ASKED = PageRequest(BlogRequest(topic="Faster builds"), "builds.md", language="en-GB")
GERMAN = PageRequest(
    translation_request(
        TranslationOf("builds.md", "main", Request(type="", topic="-", language="de")),
        ASKED.request,
        "de",
    ),
    "builds.de.md",
    original=ASKED,
)
TITLE = "<h1>Builds &amp; <code>make</code></h1>"
BY_MODEL = Text(f"<article>{TITLE}<p>x</p></article>", MADE, {}, model="m")
BY_PERSON = msgspec.structs.replace(BY_MODEL, model="", written_by="Jo")
REMEMBERED = Original(blocks="", digest="0" * 64, language="en-US")


def article(asked: PageRequest, text: Text | None, original: Article | None = None) -> Article:
    """Return the article of a page with a draft."""
    outcome = Outcome("cache", text) if text else Outcome()
    return Article(
        asked,
        key="0" * 64,
        directory=Path("contentgen"),
        draft_outcome=outcome,
        original=original,
    )


def provenance(text: Text, of_original: Text | None = BY_MODEL) -> Provenance:
    """Return the provenance of a translation into German."""
    found = article(GERMAN, text, article(ASKED, of_original)).provenance
    assert found
    return found


def test_what_is_no_translation() -> None:
    """It has no original."""
    found = article(ASKED, BY_MODEL).provenance
    assert found
    assert found.translated_from is None
    assert found.original_title == ""


def test_the_language_of_the_original() -> None:
    """It is what the text remembers, or else that of the original's request or page."""
    remembers = msgspec.structs.replace(BY_MODEL, original=REMEMBERED)
    assert provenance(remembers).translated_from == "en-US"
    assert provenance(BY_MODEL).translated_from == "en-GB"
    assert provenance(BY_MODEL).language == "de"
    unknown = replace(GERMAN, original=replace(ASKED, language=""))
    found = article(unknown, BY_MODEL).provenance
    assert found
    assert found.translated_from == ""


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<article lang="de-AT"><h1>A</h1></article>', "de-AT"),
        ('<article><h1 lang="de">A</h1></article>', "fr"),
    ],
)
def test_the_language_of_a_text(html: str, language: str) -> None:
    """It is what the text says of itself as a whole, or else that of its request."""
    asked = PageRequest(BlogRequest(topic="Faster builds", language="fr"), "builds.md")
    text = msgspec.structs.replace(BY_MODEL, html=html)
    assert article(asked, text).text_language == language


def test_the_sentences_to_read() -> None:
    """They are those of the newest text; without a text, there are none."""
    sentence = '<span class="to-read">x</span>'
    text = msgspec.structs.replace(BY_MODEL, html=f"<p>{sentence * 2}<mark>y</mark></p>")
    assert article(ASKED, text).to_read_count == 2
    assert article(ASKED, None).to_read_count == 0


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<h1>Builds &amp; <code>make</code></h1><p>x</p>", "Builds & make"),
        ("<H1 style='color: red'>\n A\n B </H1\n><h1>C</h1>", "A B"),
        ("<p>x</p>", "Faster builds"),
        ("<h1>x", "Faster builds"),
        ("<h1></h1>", "Faster builds"),
        ("</h1><h1x>y</h1>", "Faster builds"),
        ("", "Faster builds"),
    ],
)
def test_the_title_of_the_original(html: str, title: str) -> None:
    """It is that of the original's text, or else its topic."""
    of_original = msgspec.structs.replace(BY_MODEL, html=html) if html else None
    assert provenance(BY_MODEL, of_original).original_title == title


def test_a_title_of_many_starts() -> None:
    """Reading the title of a hostile text takes linear time."""
    hostile = msgspec.structs.replace(BY_MODEL, html="<h1>" * 60_000)
    assert provenance(BY_MODEL, hostile).original_title == "Faster builds"
    open_tags = msgspec.structs.replace(BY_MODEL, html=f"<h1>{'<' * 240_000}</h1>")
    assert provenance(BY_MODEL, open_tags).original_title.startswith("<<<")


@pytest.mark.parametrize(
    ("text", "of_original", "attribute"),
    [
        (BY_PERSON, BY_PERSON, "human-only"),
        (BY_PERSON, BY_MODEL, "ai-assisted"),
        (BY_PERSON, None, "ai-assisted"),
        (BY_MODEL, BY_PERSON, "ai-autonomous"),
        (BY_MODEL, BY_MODEL, "ai-autonomous"),
    ],
)
def test_who_wrote_a_translation_and_its_original(
    text: Text, of_original: Text | None, attribute: str
) -> None:
    """Only a person's approved translation of a person's approved text is that of people alone."""
    original = in_file(ASKED, of_original) if of_original else article(ASKED, None)
    found = in_file(GERMAN, text, original).provenance
    assert found
    expected = attribute
    if text is BY_MODEL:  # which a person has reviewed
        expected = "ai-assisted"
    assert found.attribute() == expected
    assert provenance(text, of_original).attribute() == "ai-autonomous"


def in_file(
    asked: PageRequest, text: Text, original: Article | None = None, kind: str = "approved"
) -> Article:
    """Return the article of a page with a file: an `approved`, `changed` or `proposed` one."""
    text = msgspec.structs.replace(text, request=asked.request.record())
    file = propose(text, "key", "sandbox")
    if kind != "proposed":
        file = approve(text, "key", "sandbox", "Ann")
    file = replace(file, is_changed=kind == "changed")
    return replace(article(asked, None, original), approved=file)


CLAIMS = msgspec.structs.replace(
    BY_PERSON,
    edits=Edits(changed_by={"0" * 16: "Jo"}),
    original=msgspec.structs.replace(REMEMBERED, language="ja"),
)
"""A text with all that a header can claim of people."""


@pytest.mark.parametrize("kind", ["proposed", "changed"])
@pytest.mark.parametrize("text", [CLAIMS, msgspec.structs.replace(CLAIMS, model="m")])
def test_a_file_that_nobody_has_approved(text: Text, kind: str) -> None:
    """Whatever its header says, its page says what it says of any draft of the page."""
    found = in_file(GERMAN, text, in_file(ASKED, BY_PERSON, kind=kind), kind).provenance
    draft = article(GERMAN, BY_MODEL, article(ASKED, BY_MODEL)).provenance
    assert found
    assert draft
    assert found == replace(draft, model="", generated_at=None)
    assert found.attribute() == "ai-autonomous"
    assert found.json_ld("T", "") == {
        "@context": "https://schema.org",
        "@type": "BlogPosting",
        "headline": "T",
        "digitalSourceType": "https://schema.org/TrainedAlgorithmicMediaDigitalSource",
        "inLanguage": "de",
        "translationOfWork": {
            "@type": "BlogPosting",
            "inLanguage": "en-GB",
            "name": "Builds & make",
        },
    }


def test_a_draft_of_the_own_cache() -> None:
    """It has its model and time; who wrote it is said when somebody has approved it."""
    found = article(ASKED, msgspec.structs.replace(CLAIMS, model="m", original=None)).provenance
    assert found == Provenance("blog", MADE, model="m", translated_from=None)
