"""The checks of a model's text: what each refuses, with its message, and what it accepts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from drafts import draft, request

from mkdocs_contentgen.service.writer import checks
from mkdocs_contentgen.service.writer.checks import ALL_CHECKS, Check, Draft, failed_checks
from mkdocs_contentgen.service.writer.completion import Completion
from mkdocs_contentgen.service.writer.markdown import read_markdown

WORDS = "one two three four five six seven eight nine ten"
HOWTO = request("blog", format="howto")
LISTICLE = request("blog", "Ten ways to be lazy", format="listicle")
BLOG = request("blog")
NEWS = request("news", 'Mayor: "We will rebuild all of it"')


def names(found: Draft) -> list[str]:
    """Return the names of the failed checks."""
    return [problem.check for problem in failed_checks(found, ALL_CHECKS)]


@pytest.mark.parametrize("reason", ["stop", "eos", "end_turn"])
def test_a_finished_text_is_accepted(reason: str) -> None:
    """Servers have several names for the end of a text."""
    assert checks.finish_problem(replace(draft("Text."), completion=Completion("", reason))) is None


@pytest.mark.parametrize(
    ("reason", "part"),
    [
        ("length", "was cut off"),
        ("content_filter", "content filter"),
        ("tool_calls", "not finished (finish_reason 'tool_calls')"),
    ],
)
def test_an_unfinished_text_is_refused(reason: str, part: str) -> None:
    """Why a text ends is said, and no other check is made."""
    found = replace(draft(""), completion=Completion("", reason))
    (problem,) = failed_checks(found, ALL_CHECKS)
    assert problem.check == "finish"
    assert part in problem.message


def test_an_empty_text_is_refused() -> None:
    """A text without words is empty; if the model only thought, the message says so."""
    assert checks.empty_problem(draft("# Title\n")) == "the answer is empty; write the text"
    for completion in (Completion("<think>hm"), Completion("", thought=True)):
        found = replace(draft(""), completion=completion)
        assert "thinking text only" in str(checks.empty_problem(found))


REFUSED: list[tuple[Check, Draft, str]] = [
    (checks.size_problem, draft("Text.\n\n" * 2_501), "the text has 5,001 lines, 5,000 at most"),
    (checks.thinking_problem, draft("Text <think>hm"), "thinking text"),
    (checks.refusal_problem, draft("I'm sorry, but I can't help with that."), "refusal"),
    (checks.refusal_problem, draft("I cannot write about this topic."), "refusal"),
    (checks.refusal_problem, draft("I apologize, but I must decline."), "refusal"),
    (checks.self_reference_problem, draft("Certainly! I'll write it."), "Certainly"),
    (checks.refusal_problem, draft("I am unable to assist with it."), "refusal"),
    (checks.refusal_problem, draft("Unfortunately, I won’t provide this."), "refusal"),
    (checks.refusal_problem, draft("Es tut mir leid, aber ich kann das nicht."), "refusal"),
    (checks.refusal_problem, draft("Leider kann ich dabei nicht helfen."), "refusal"),
    (checks.refusal_problem, draft("抱歉，我无法提供这样的内容。"), "refusal"),
    (checks.refusal_problem, draft("Je suis désolé, mais je ne peux pas."), "refusal"),
    (checks.html_problem, draft("A <div class='x'>text</div>."), "\"<div class='x'>\""),
    (checks.html_problem, draft("A line<br/>more."), "'<br/>'"),
    (checks.headings_problem, draft("Text."), "0 headings with '## '; it needs at least 1"),
    (checks.headings_problem, draft("## A\n\n## B", request(length="long")), "at least 3"),
    (checks.headings_problem, draft("## 1. A\n\n## 2. B", LISTICLE), "topic asks for 10"),
    (checks.headings_problem, draft("## 1. A\n\n## 3. B", LISTICLE), "'## 1. …', '## 2. …'"),
    (checks.headings_problem, draft("## A\n\n## B", LISTICLE), "need headings in order"),
    (checks.section_problem, draft("Text."), "0 headings"),
    (checks.section_problem, draft("## A\n\nText.\n\n## B"), "2 headings"),
    (checks.steps_problem, draft("## A\n\nText.", HOWTO), "no numbered list"),
    (checks.opening_problem, draft("## A\n\nText.", BLOG), "not begin with a paragraph"),
    (checks.opening_problem, draft("> Text.\n\nText.", NEWS), "not begin with a paragraph"),
    (checks.closing_problem, draft("Text.\n\nTip: more.", BLOG), "write a conclusion"),
    (checks.closing_problem, draft("Text.", BLOG), "write a conclusion"),
    (checks.length_problem, draft(WORDS, words=13), "10 words; it needs 11 to 15"),
    (checks.length_problem, draft(f"{WORDS} {WORDS}", words=10), "8 to 12: shorten it"),
    (checks.repetition_problem, draft(f"{WORDS}\n\nText.\n\n{WORDS.upper()}!"), "'ONE TWO three"),
    (
        checks.repetition_problem,
        draft("把耗时操作的结果保存。\n\n把耗时操作的结果保存。"),
        "把耗时",
    ),
    (checks.self_reference_problem, draft("As an AI, I know."), "('As an AI, I')"),
    (checks.self_reference_problem, draft("Sure, here you go."), "Sure, here"),
    (checks.self_reference_problem, draft("Here is your article about it:\n\nText."), "Here is"),
    (checks.self_reference_problem, draft("Text. In this blog post, we will see."), "('In this"),
    (checks.self_reference_problem, draft("This article explores it."), "explores"),
    (checks.self_reference_problem, draft("Text.\n\nI hope this helps!"), "I hope this"),
    (checks.self_reference_problem, draft("Text.\n\n(Word count: 400)"), "Word count"),
    (checks.self_reference_problem, draft("Als KI kann ich das."), "Als KI"),
    (checks.self_reference_problem, draft("In diesem Artikel erfahren Sie mehr."), "In diesem"),
    (checks.self_reference_problem, draft("作为一个AI助手，我不知道。"), "作为一个AI"),
    (checks.self_reference_problem, draft("以下是一篇关于缓存的文章：\n\n缓存"), "以下是"),
    (checks.language_problem, draft("Text.", request(topic="缓存")), "topic in Chinese"),
    (checks.language_problem, draft("缓存的工作原理"), "Chinese or Japanese script"),
    (checks.language_problem, draft("Текст.", request(topic="Ein Text")), "in Cyrillic script"),
    (checks.language_problem, draft("1 2 3"), "in no script"),
    (checks.quotation_problem, draft('"So many words here," he said.', NEWS), "So many words"),
    (checks.quotation_problem, draft("> So many words here", NEWS), "So many words"),
    (
        checks.quotation_problem,
        replace(draft('"So many words here," he said.'), sources="Other words."),
        "So many words",
    ),
    (checks.quotation_problem, draft("- > So many words here\n- x", NEWS), "So many words"),
    (checks.quotation_problem, draft("> **Mayor Jane Smith:** So many words", NEWS), "Mayor Jane"),
]


@pytest.mark.parametrize(("check", "found", "part"), REFUSED)
def test_a_text_is_refused(check: Check, found: Draft, part: str) -> None:
    """Each check refuses a text, with a message that says what to change."""
    message = check(found)
    assert message is not None
    assert part.casefold() in message.casefold()


ACCEPTED: list[tuple[Check, Draft]] = [
    (checks.size_problem, draft("Text.\n\n" * 2_499)),
    (checks.thinking_problem, draft("The tag `<think>` is left out.")),
    (checks.refusal_problem, draft("I cannot stress this enough: measure first.")),
    (checks.refusal_problem, draft("We can't always help it. Unfortunately, caches fail.")),
    (checks.refusal_problem, draft("Sorry states have causes. I will not list them.")),
    (checks.refusal_problem, draft("Leider ist ein Cache nie ganz frisch.")),
    (checks.refusal_problem, draft("我们不能没有缓存。")),
    (checks.refusal_problem, draft("I can’t help but smile.")),
    (checks.refusal_problem, draft(f"I cannot write about this without {WORDS * 20}")),
    (checks.refusal_problem, draft("I must write this down, she said.")),
    (checks.self_reference_problem, draft("Of course I know that caches fail.")),
    (checks.html_problem, draft("The element `<div>` and a < b > c, List<Text>.")),
    (checks.html_problem, draft("```html\n<div>x</div>\n```\n\nText.")),
    (checks.headings_problem, draft("Text.", request("blog"))),
    (checks.headings_problem, draft("Text.", request("news", length="long"))),
    (checks.headings_problem, draft("## A\n\n## B", request(length="medium"))),
    (checks.section_problem, draft("Text.\n\n## A\n\n### B\n\nText.")),
    (checks.steps_problem, draft("1. a\n2. b", HOWTO)),
    (checks.steps_problem, draft("- a\n  1. b\n", HOWTO)),
    (checks.steps_problem, draft("## Step 1: A\n\n## Step 2: B", HOWTO)),
    (checks.steps_problem, draft("## Schritt 1: A\n\n## Schritt 2: B", HOWTO)),
    (checks.steps_problem, draft("Text.", BLOG)),
    (checks.opening_problem, draft("## A\n\n- b")),
    (checks.closing_problem, draft("## A\n\n- b")),
    (checks.opening_problem, draft("Text.\n\n- a", BLOG)),
    (checks.closing_problem, draft("Text.\n\n- a\n\nText.", BLOG)),
    (checks.closing_problem, draft("Text.\n\n- a", NEWS)),
    (checks.length_problem, draft(WORDS, words=9)),
    (checks.repetition_problem, draft("Short.\n\nText.\n\nShort.")),
    (checks.self_reference_problem, draft("Copilot works as an AI pair programmer.")),
    (checks.self_reference_problem, draft("Of course, not every cache is fast.")),
    (checks.self_reference_problem, draft("**Note:** Restart the server.")),
    (checks.self_reference_problem, draft("**Hinweis:** Starten Sie den Server neu.")),
    (checks.self_reference_problem, draft("Here is what a cache does: it keeps results.")),
    (checks.self_reference_problem, draft("Text.\n\nHere is a guide that others wrote: it.")),
    (checks.self_reference_problem, draft("This report was published by the city.")),
    (checks.self_reference_problem, draft("I hope you like caches.")),
    (checks.language_problem, draft("使用缓存。", request(topic="Kubernetes 入门"))),
    (checks.language_problem, draft("Text.", request(topic="What does 你好 mean?"))),
    (checks.language_problem, draft("Text.", request(topic="2 + 2"))),
    (checks.language_problem, draft("キャッシュのしくみ", request(topic="缓存の仕組み"))),
    (checks.quotation_problem, draft("“We will rebuild all of it”, a “term”.", NEWS)),
    (checks.quotation_problem, draft("> **Note:** So many words here.", NEWS)),
    (checks.quotation_problem, draft('"So many words here," he said.')),
    (
        checks.quotation_problem,
        replace(draft('"So many words here," he said.'), sources="He said so many words here."),
    ),
]


@pytest.mark.parametrize(("check", "found"), ACCEPTED)
def test_a_text_is_accepted(check: Check, found: Draft) -> None:
    """A check gives no false alarm."""
    assert check(found) is None


def test_a_section_does_not_repeat_an_earlier_one() -> None:
    """A paragraph that stands in the text so far is a repeated one."""
    earlier = read_markdown(f"## A\n\n{WORDS}").blocks
    found = replace(draft(f"## B\n\n{WORDS}"), earlier=earlier)
    assert "is repeated" in str(checks.repetition_problem(found))


def test_good_texts_pass_all_checks() -> None:
    """Texts as a person would write them pass all checks."""
    assert names(draft(f"# T\n\n{WORDS}\n\n## A\n\nText.")) == []
    assert names(draft(f"# T\n\n{WORDS}\n\n## A\n\nText.", HOWTO)) == ["steps"]
    assert names(draft("# T\n\nLead. [not known: when]", NEWS)) == []


def test_each_check_is_tested() -> None:
    """No check is without a text that it refuses and one that it accepts."""
    special = {checks.finish_problem, checks.empty_problem}
    every = {*ALL_CHECKS, *checks.SECTION_CHECKS}
    assert {check for check, *_ in REFUSED} == every - special
    assert {check for check, *_ in ACCEPTED} == every - special


def test_a_message_is_short() -> None:
    """A word of a hostile model can be as long as its answer."""
    message = checks.self_reference_problem(draft(f"As an AI {'a' * 9_000}, I think so."))
    assert message is not None
    assert len(message) < 200
