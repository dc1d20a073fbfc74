"""The checks of a model's text: what each refuses, with its message, and what it accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import pytest
from drafts import draft, request
from golden_file import cases
from model_writer import sentences

from mkdocs_contentgen.remark_words import SENTENCES, sentence_of
from mkdocs_contentgen.writer.answers.markdown import read_markdown, to_html
from mkdocs_contentgen.writer.checks import Candidate
from mkdocs_contentgen.writer.models.completion import Completion

DAY = date(2026, 2, 3)
WORDS = "one two three four five six seven eight nine ten"
LISTICLE = request("blog", "Ten ways to be lazy", format="listicle")
NEWS = request("news", 'Mayor: "We will rebuild all of it"')


CASES = cases("checks")
Make = Callable[[], Candidate]
UNUSABLE = ("size", "refused", "language")


def faults(found: Candidate, name: str) -> str:
    """Return why a text cannot be used, or its remark with this name, or nothing."""
    if name in UNUSABLE:
        return found.problem
    for remark in found.remarks:
        if SENTENCES[remark.kind][0] == name:
            return sentence_of(remark)
    return ""


def names(found: Candidate) -> list[str]:
    """Return the names of the remarks."""
    return [SENTENCES[remark.kind][0] for remark in found.remarks]


@pytest.mark.parametrize("reason", ["STOP", "eos_token", "end_turn", "COMPLETE", "done", "other"])
def test_a_finished_text_is_accepted(reason: str) -> None:
    """Servers have several names for the end of a text; another one is a remark."""
    found = replace(draft(sentences(300, "a")), completion=Completion("", reason))
    assert found.problem == ""
    assert ("cut" in names(found)) is (reason == "other")


@pytest.mark.parametrize(("reason", "part"), CASES["an_unfinished_text_is_refused"])
def test_an_unfinished_text_is_refused(reason: str, part: str) -> None:
    """Why a text ends is said, and no other check is made."""
    assert part in replace(draft(""), completion=Completion("", reason)).problem


def test_an_empty_text_is_refused() -> None:
    """A text without words is empty, or only thinking text was taken out of it."""
    assert "is empty or has thinking text only" in draft("# Title\n").problem


def test_a_text_of_headings_is_refused() -> None:
    """A part of a text can be a heading alone; a whole text cannot."""
    outline = draft(f"## {WORDS}\n\n## {WORDS}")
    assert outline.problem == "the text has headings only"
    assert replace(outline, is_part=True).problem == ""


def drafted(text: str, fields: dict[str, Any], **more: Any) -> Candidate:
    """Return a draft of a request with these fields, some of them for its words and its type.

    `more` is replaced in it.
    """
    own = dict(fields)
    words, kind = own.pop("words", None), own.pop("kind", "article")
    return replace(draft(text, request(kind, **own), words), **more)


REFUSED: list[tuple[str, Make, str]] = [
    *(
        (name, partial(drafted, text, own), part)
        for name, text, part, own in CASES["a_fault_is_found"]
    ),
    ("size", partial(draft, "Text.\n\n" * 2_501), "the text has 5,001 lines, 5,000 at most"),
    (
        "repetition",
        partial(drafted, f"## B\n\n{WORDS}", {}, earlier=read_markdown(f"## A\n\n{WORDS}").blocks),
        "is repeated",
    ),
    (
        "quotation",
        partial(drafted, '"So many words here," he said.', {}, sources="Other words."),
        "So many words",
    ),
]


@pytest.mark.parametrize(("check", "make", "part"), REFUSED)
def test_a_fault_is_found(check: str, make: Make, part: str) -> None:
    """Each check finds a fault, and says what is there."""
    assert part.casefold() in faults(make(), check).casefold()


ACCEPTED: list[tuple[str, Make]] = [
    *((name, partial(drafted, text, own)) for name, text, own in CASES["a_text_is_accepted"]),
    ("size", partial(draft, sentences(2_490, "size").replace(" ", "\n\n"))),
    ("refused", partial(draft, f"I cannot write about this without {sentences(200, 1)}")),
    (
        "quotation",
        partial(
            drafted, '"So many words here," he said.', {}, sources="He said so many words here."
        ),
    ),
]


@pytest.mark.parametrize(("check", "make"), ACCEPTED)
def test_a_text_is_accepted(check: str, make: Make) -> None:
    """A check gives no false alarm."""
    assert faults(make(), check) == ""


BRIEFS = {
    "English": ("It needs Python 3.11 and was made by Jane Smith.", "Python 3.11, Jane Smith"),
    "German": ("Es braucht 3,5 GB seit 20. Mai 2026.", "3,5 GB, 20. Mai 2026"),
    "French": ("Le 3 juin 2026, « nous avons tout réécrit hier ».", "le 3 juin 2026"),
    "Spanish": ("Cuesta 12 € desde enero 2026.", "12 € desde enero 2026"),
    "Russian": ("Версия 2.0 в 3 раза быстрее.", "2.0, 3 раза"),
    "Chinese": ("2026年11月20日发布，快3倍。", "2026年11月20日, 3倍"),
}


@pytest.mark.parametrize("language", BRIEFS)
def test_a_brief_is_given(language: str) -> None:
    """What it says is not marked, and what it does not say is."""
    brief, said = BRIEFS[language]
    asked = request("news", brief=brief)
    found = draft(f"# T\n\nLead: {said}. Not 77 %.", asked)
    html = to_html(found.document, "news", given=found.source_text, day=DAY, names=True)
    assert html.count("<mark>") == 1
    assert "<mark>77 %</mark>" in html
    listicle = draft("# T\n\nThere are 10 ways, not 11.", LISTICLE)  # `Ten ways` says 10
    html = to_html(listicle.document, "blog", given=listicle.source_text, day=DAY)
    assert "10 ways, not <mark>11</mark>" in html


def test_what_a_text_leaves_out_of_its_brief() -> None:
    """Figures, dates, quotations and names of the brief that the text has not are a remark."""
    brief = "Needs Python 3.11. Made by Jane Smith in 2026, 3 times faster, 12 % smaller."
    found = draft("Made in 2026.", request(brief=brief))
    assert faults(found, "brief") == (
        "brief: the text leaves out '3.11', 'Jane Smith', '3' and 1 more"
    )
    assert faults(draft(brief, request(brief=brief)), "brief") == ""


def test_good_texts_pass_all_checks() -> None:
    """Texts as a person would write them pass all checks."""
    assert names(draft(f"# T\n\n{WORDS}\n\n## A\n\nText.")) == []
    assert names(draft("# T\n\nLead. [not known: when]", NEWS)) == []


def test_a_message_is_short() -> None:
    """A word of a hostile model can be as long as its answer."""
    message = faults(draft(f"As an AI {'a' * 9_000}, I think so."), "self_reference")
    assert 0 < len(message) < 200
