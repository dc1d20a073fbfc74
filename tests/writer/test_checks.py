"""The checks of a model's text: what each refuses, with its message, and what it accepts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from drafts import draft, request
from model_writer import sentences

from mkdocs_contentgen.writer.checks import Draft
from mkdocs_contentgen.writer.completion import Completion
from mkdocs_contentgen.writer.markdown import read_markdown, to_html

DAY = date(2026, 2, 3)
WORDS = "one two three four five six seven eight nine ten"
HOWTO = request("blog", format="howto")
LISTICLE = request("blog", "Ten ways to be lazy", format="listicle")
BLOG = request("blog")
NEWS = request("news", 'Mayor: "We will rebuild all of it"')


UNUSABLE = ("size", "refused", "language")


def faults(found: Draft, name: str) -> str:
    """Return why a text cannot be used, or its remark with this name, or nothing."""
    if name in UNUSABLE:
        return found.unusable
    remarks = (remark for remark in found.remarks if remark.startswith(f"{name}: "))
    return next(remarks, "")


def names(found: Draft) -> list[str]:
    """Return the names of the remarks."""
    return [remark.partition(":")[0] for remark in found.remarks]


@pytest.mark.parametrize("reason", ["STOP", "eos_token", "end_turn", "COMPLETE", "done", "other"])
def test_a_finished_text_is_accepted(reason: str) -> None:
    """Servers have several names for the end of a text; another one is a remark."""
    found = replace(draft(sentences(300, "a")), completion=Completion("", reason))
    assert found.unusable == ""
    assert ("cut" in names(found)) is (reason == "other")


@pytest.mark.parametrize(
    ("reason", "part"),
    [
        ("length", "was cut off"),
        ("lost", "was cut off after 0 words"),
        ("content_filter", "content filter"),
        ("tool_calls", "not finished (finish_reason 'tool_calls')"),
    ],
)
def test_an_unfinished_text_is_refused(reason: str, part: str) -> None:
    """Why a text ends is said, and no other check is made."""
    assert part in replace(draft(""), completion=Completion("", reason)).unusable


def test_an_empty_text_is_refused() -> None:
    """A text without words is empty; if the model only thought, the message says so."""
    assert draft("# Title\n").unusable == "the answer is empty"
    for completion in (Completion("<think>hm"), Completion("", thought=True)):
        found = replace(draft(""), completion=completion)
        assert "thinking text only" in found.unusable


REFUSED: list[tuple[str, Draft, str]] = [
    ("size", draft("Text.\n\n" * 2_501), "the text has 5,001 lines, 5,000 at most"),
    ("thinking", draft("Text <think>hm"), "thinking text"),
    *(
        ("refused", draft(text), "refusal")
        for text in (
            "I'm sorry, but I can't help with that.",
            "I cannot write about this topic.",
            "I apologize, but I must decline.",
            "I am unable to assist with it.",
            "Unfortunately, I won’t provide this.",
            "Es tut mir leid, aber ich kann das nicht.",
            "Leider kann ich dabei nicht helfen.",
            "抱歉，我无法提供这样的内容。",
            "Je suis désolé, mais je ne peux pas.",
        )
    ),
    ("self_reference", draft("Certainly! I'll write it."), "Certainly"),
    ("headings", draft("Text."), "the text has 0 sections, and 1 or more were expected"),
    ("headings", draft("## A\n\n## B", request(length="long")), "2 sections, and 3 or more"),
    ("headings", draft("## 1. A\n\n## 2. B", LISTICLE), "topic asks for 10"),
    ("headings", draft("## 1. A\n\n## 3. B", LISTICLE), "no headings with numbers in order"),
    ("headings", draft("## A\n\n## B", LISTICLE), "no headings with numbers in order"),
    ("steps", draft("## A\n\nText.", HOWTO), "no numbered list"),
    ("opening", draft("## A\n\nText.", BLOG), "not begin with a paragraph"),
    ("opening", draft("> Text.\n\nText.", NEWS), "not begin with a paragraph"),
    ("closing", draft("Text.\n\nTip: more.", BLOG), "does not end with a paragraph"),
    ("closing", draft("Text.", BLOG), "does not end with a paragraph"),
    ("length", draft(WORDS, words=13), "10 words for about 13"),
    ("length", draft(f"{WORDS} {WORDS}", words=10), "20 words for about 10"),
    ("repetition", draft(f"{WORDS}\n\nText.\n\n{WORDS.upper()}!"), "'ONE TWO three"),
    ("repetition", draft("把耗时操作的结果保存。\n\n把耗时操作的结果保存。"), "把耗时"),
    (
        "repetition",
        replace(draft(f"## B\n\n{WORDS}"), earlier=read_markdown(f"## A\n\n{WORDS}").blocks),
        "is repeated",
    ),
    ("self_reference", draft("As an AI, I know."), "('As an AI, I')"),
    ("self_reference", draft("Sure, here you go."), "Sure, here"),
    ("self_reference", draft("Text. In this blog post, we will see."), "('In this"),
    ("self_reference", draft("This article explores it."), "explores"),
    ("self_reference", draft("Als KI kann ich das."), "Als KI"),
    ("self_reference", draft("In diesem Artikel erfahren Sie mehr."), "In diesem"),
    ("self_reference", draft("作为一个AI助手，我不知道。"), "作为一个AI"),
    ("language", draft("Text.", request(topic="缓存")), "topic in Chinese"),
    ("language", draft("缓存的工作原理"), "Chinese or Japanese script"),
    ("language", draft("Текст.", request(topic="Ein Text")), "in Cyrillic script"),
    ("language", draft("1 2 3"), "in no script"),
    ("quotation", draft('"So many words here," he said.', NEWS), "So many words"),
    ("quotation", draft("> So many words here", NEWS), "So many words"),
    (
        "quotation",
        replace(draft('"So many words here," he said.'), sources="Other words."),
        "So many words",
    ),
    ("quotation", draft("- > So many words here\n- x", NEWS), "So many words"),
    ("quotation", draft("> **Mayor Jane Smith:** So many words", NEWS), "Mayor Jane"),
]


@pytest.mark.parametrize(("check", "found", "part"), REFUSED)
def test_a_fault_is_found(check: str, found: Draft, part: str) -> None:
    """Each check finds a fault, and says what is there."""
    assert part.casefold() in faults(found, check).casefold()


ACCEPTED: list[tuple[str, Draft]] = [
    ("size", draft(sentences(2_490, "size").replace(" ", "\n\n"))),
    ("thinking", draft("The tag `<think>` is left out.")),
    ("refused", draft("I cannot stress this enough: measure first.")),
    ("refused", draft("We can't always help it. Unfortunately, caches fail.")),
    ("refused", draft("Sorry states have causes. I will not list them.")),
    ("refused", draft("Leider ist ein Cache nie ganz frisch.")),
    ("refused", draft("我们不能没有缓存。", request(topic="缓存"))),
    ("refused", draft("I can’t help but smile.")),
    ("refused", draft(f"I cannot write about this without {sentences(200, 1)}")),
    ("refused", draft("I must write this down, she said.")),
    ("self_reference", draft("Of course I know that caches fail.")),
    ("headings", draft("Text.", request("blog"))),
    ("headings", draft("Text.", request("news", length="long"))),
    ("headings", draft("## A\n\n## B", request(length="medium"))),
    ("steps", draft("1. a\n2. b", HOWTO)),
    ("steps", draft("- a\n  1. b\n", HOWTO)),
    ("steps", draft("## Step 1: A\n\n## Step 2: B", HOWTO)),
    ("steps", draft("## Schritt 1: A\n\n## Schritt 2: B", HOWTO)),
    ("steps", draft("Text.", BLOG)),
    ("opening", draft("## A\n\n- b")),
    ("closing", draft("## A\n\n- b")),
    ("opening", draft("Text.\n\n- a", BLOG)),
    ("closing", draft("Text.\n\n- a\n\nText.", BLOG)),
    ("closing", draft("Text.\n\n- a", NEWS)),
    ("length", draft(WORDS, words=9)),
    ("repetition", draft("Short.\n\nText.\n\nShort.")),
    ("self_reference", draft("Copilot works as an AI pair programmer.")),
    ("self_reference", draft("Of course, not every cache is fast.")),
    ("self_reference", draft("**Note:** Restart the server.")),
    ("self_reference", draft("**Hinweis:** Starten Sie den Server neu.")),
    ("self_reference", draft("Here is what a cache does: it keeps results.")),
    ("self_reference", draft("Text.\n\nHere is a guide that others wrote: it.")),
    ("self_reference", draft("This report was published by the city.")),
    ("self_reference", draft("I hope you like caches.")),
    ("language", draft("使用缓存。", request(topic="Kubernetes 入门"))),
    ("language", draft("Text.", request(topic="What does 你好 mean?"))),
    ("language", draft("Text.", request(topic="2 + 2"))),
    ("language", draft("キャッシュのしくみ", request(topic="缓存の仕組み"))),
    ("quotation", draft("“We will rebuild all of it”, a “term”.", NEWS)),
    ("quotation", draft("> **Note:** So many words here.", NEWS)),
    ("quotation", draft('"So many words here," he said.')),
    (
        "quotation",
        replace(draft('"So many words here," he said.'), sources="He said so many words here."),
    ),
]


@pytest.mark.parametrize(("check", "found"), ACCEPTED)
def test_a_text_is_accepted(check: str, found: Draft) -> None:
    """A check gives no false alarm."""
    assert faults(found, check) == ""


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
    assert names(draft(f"# T\n\n{WORDS}\n\n## A\n\nText.", HOWTO)) == ["steps"]
    assert names(draft("# T\n\nLead. [not known: when]", NEWS)) == []


def test_a_message_is_short() -> None:
    """A word of a hostile model can be as long as its answer."""
    message = faults(draft(f"As an AI {'a' * 9_000}, I think so."), "self_reference")
    assert 0 < len(message) < 200
