"""How a text is written: which calls are made, what they say, and how faults are repaired."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import pytest
from drafts import TOPIC, request

from mkdocs_contentgen.errors import FailedTextError, RejectedError
from mkdocs_contentgen.requests import Request
from mkdocs_contentgen.service.writer.completion import Completion
from mkdocs_contentgen.service.writer.model import Message
from mkdocs_contentgen.service.writer.options import Words as WordsOption
from mkdocs_contentgen.service.writer.options import WriterFields, WriterOptions
from mkdocs_contentgen.service.writer.usage import Usage
from mkdocs_contentgen.service.writer.writing import (
    Written,
    estimate,
    raise_problems,
    write,
)

DAY = date(2026, 2, 3)
OPTIONS = WriterOptions(WriterFields(model="m", words=WordsOption(60, 100, 300)))
USAGE = Usage(1, 100, 10, 0.5)


def words(number: int, name: str = "word") -> str:
    """Return a paragraph with so many words."""
    return " ".join([name] * number) + "."


SHORT = f"# {TOPIC}\n\n{words(50)}\n\n## A section\n\n{words(5, 'end')}\n"
PLAN = "# The title\n\n## One\nSays this.\n\n## Two: more\nSays that.\n\n## Three\nEnds it.\n"
SECTIONS = [
    f"{words(20, 'opening')}\n\n## One\n\n{words(78, 'first')}",
    f"## Two: more\n\n{words(98, 'second')}",
    f"## Three\n\n{words(80, 'third')}\n\n{words(20, 'closing')}",
]


@dataclass
class Script:
    """A model with prepared answers; an exception among them is raised."""

    answers: list[str | Completion | Exception]
    asked: list[list[Message]] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)

    async def ask(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        """Return the next answer."""
        self.asked.append(list(messages))
        self.limits.append(max_tokens)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(answer, usage=USAGE)


def run(
    *answers: str | Completion | Exception, asked: Request | None = None
) -> tuple[Written, Script]:
    """Write a text, for which each of the answers must be asked for."""
    script = Script(list(answers))
    written = asyncio.run(write(asked or request(), OPTIONS, script.ask, today=DAY))
    assert script.answers == []
    return written, script


def last(script: Script, call: int) -> str:
    """Return the last message of a call."""
    message = script.asked[call][-1]
    assert message["role"] == "user"
    return message["content"]


def test_a_good_text_takes_one_call() -> None:
    """The prompt is the system's and the user's, and the limit leaves room for thinking."""
    written, script = run(SHORT)
    assert written.problems == []
    assert written.html.startswith("<article>\n<h1")
    assert (written.words, written.marked, written.repairs, written.usage) == (57, 0, 0, USAGE)
    assert [message["role"] for message in script.asked[0]] == ["system", "user"]
    assert last(script, 0).startswith(f"Topic: {TOPIC}\n\nLength: about 60 words")
    assert script.limits == [60 * 4 + 4000]


def test_the_first_problems_are_repaired() -> None:
    """The model gets its text and all faults once, and then the text is accepted."""
    written, script = run(f"<think>hm</think>{words(20)}", SHORT)
    assert (written.problems, written.repairs, written.usage.calls) == ([], 1, 2)
    assert script.asked[1][:2] == script.asked[0]
    assert script.asked[1][2] == {"role": "assistant", "content": words(20)}
    assert "- the text has 20 words; it needs 51 to 69: add substance\n" in last(script, 1)
    assert "- the text has 0 headings with '## '; it needs at least 1\n" in last(script, 1)


def test_a_text_that_is_too_large_is_repaired_once() -> None:
    """Nothing of it is read or checked, and what is kept is what is wrong."""
    written, script = run("a\n\n" * 3_000, "A-" * 60_000)
    assert last(script, 1).count("\n- ") == 1
    assert "- the text has 5,999 lines, 5,000 at most" in last(script, 1)
    assert [problem.check for problem in written.problems] == ["size"]
    assert "more than 32,768 characters, the most for 60 words" in written.problems[0].message


def test_an_empty_answer_is_repaired() -> None:
    """An assistant's message is never empty, which many servers refuse."""
    _, script = run("", SHORT)
    assert script.asked[1][2]["content"] == "(nothing)"


def test_a_text_is_repaired_only_once() -> None:
    """A text that fails again is returned with what is wrong, and its usage."""
    written, _ = run("Too short.", f"# T\n\n{words(20)}\n\n## A\n\nText.")
    assert written.html.startswith("<article>")
    assert [problem.check for problem in written.problems] == ["length"]
    assert (written.repairs, written.usage) == (1, Usage(2, 200, 20, 1.0))
    with pytest.raises(FailedTextError, match=r"length: the text has 22 words; it needs 51 to 69"):
        raise_problems(written)


def test_a_text_without_problems_raises_nothing() -> None:
    """Only problems are raised."""
    raise_problems(Written("<article>"))


def test_an_unfinished_text_is_repaired() -> None:
    """A text that was cut off is not looked at any further."""
    _, script = run(Completion(words(300), "length"), SHORT)
    assert last(script, 1).count("\n- ") == 1
    assert "was cut off" in last(script, 1)


def test_an_error_of_the_model_ends_it() -> None:
    """Errors of the server are raised as they are."""
    with pytest.raises(RejectedError, match="full"):
        run("Too short.", RejectedError("full"))


def test_a_long_text_takes_a_plan_and_a_call_for_each_section() -> None:
    """Each section knows the plan, what is written so far, its place and its length."""
    written, script = run(PLAN, *SECTIONS, asked=request(length="long"))
    assert written.problems == []
    assert (written.words, written.repairs, written.usage.calls) == (300, 0, 4)
    assert [len(messages) for messages in script.asked] == [3, 3, 3, 3]
    assert all(messages[:2] == script.asked[0][:2] for messages in script.asked)
    assert "exactly 3 sections" in last(script, 0)
    first, second, third = (last(script, call) for call in (1, 2, 3))
    assert all(PLAN.strip() in prompt for prompt in (first, second, third))
    assert 'section 1 of 3 alone: "One"' in first
    assert "so far:\n\n(nothing)" in first
    assert "Write 100 words." in first
    assert 'section 2 of 3 alone: "Two: more"' in second
    assert f"so far:\n\n{SECTIONS[0]}\n\nNow" in second
    assert f"{SECTIONS[0]}\n\n{SECTIONS[1]}\n\nNow" in third
    assert ["opens the whole text" in prompt for prompt in (first, second, third)] == [1, 0, 0]
    assert ["ends the whole text" in prompt for prompt in (first, second, third)] == [0, 0, 1]
    assert ">The title</h1>" in written.html
    assert written.html.count("<h2") == 3


def test_later_sections_make_up_for_the_length_of_earlier_ones() -> None:
    """The words that a section lacks are asked for in the next ones."""
    shorter = [
        f"{words(10, 'opening')}\n\n## One\n\n{words(76, 'first')}",
        f"## Two: more\n\n{words(98, 'second')}",
    ]
    _, script = run(PLAN, *shorter, SECTIONS[2], asked=request(length="long"))
    assert "Write 106 words." in last(script, 2)
    assert "Write 113 words." in last(script, 3)


def test_a_wrong_plan_is_repaired_once() -> None:
    """A plan with another number of sections is written again, and then the text fails."""
    bad = PLAN.replace("## Three\nEnds it.\n", "")
    written, script = run(bad, PLAN, *SECTIONS, asked=request(length="long"))
    assert (written.problems, written.repairs, written.usage.calls) == ([], 1, 5)
    assert "- the plan has 2 sections with '## '; it needs 3" in last(script, 1)
    written, _ = run(bad, bad, asked=request(length="long"))
    assert "plan" in [problem.check for problem in written.problems]
    assert written.repairs == 1


def test_each_section_is_repaired_once() -> None:
    """A section that repeats an earlier one is written again; a second time, the text fails."""
    again = SECTIONS[0].replace("## One", "## Two")
    written, script = run(
        PLAN, SECTIONS[0], again, SECTIONS[1], SECTIONS[2], asked=request(length="long")
    )
    assert (written.problems, written.repairs) == ([], 1)
    assert "a paragraph is repeated" in last(script, 3)
    assert script.asked[3][-2]["content"] == again
    written, _ = run(PLAN, SECTIONS[0], again, again, asked=request(length="long"))
    assert [problem.check for problem in written.problems] == ["repetition"]
    assert written.usage.calls == 4


def test_a_section_is_one_section() -> None:
    """A section without a heading, or with the next one, is written again."""
    bare = words(100, "bare")
    _, script = run(PLAN, bare, SECTIONS[0], *SECTIONS[1:], asked=request(length="long"))
    assert "the text has 0 headings with '## '; write this section alone" in last(script, 2)


def test_a_title_in_a_section_is_dropped() -> None:
    """A section that repeats the title does not add a heading."""
    sections = [SECTIONS[0], f"# The title\n\n{SECTIONS[1]}", SECTIONS[2]]
    written, _ = run(PLAN, *sections, asked=request(length="long"))
    assert written.html.count("The title") == 1


def test_a_long_listicle_has_a_section_for_each_item() -> None:
    """The plan has as many sections as the topic says, and their headings are numbered."""
    asked = request("blog", "2 ways to rest", length="long", format="listicle")
    plan = "# 2 ways to rest\n\n## 1. Sleep\nDo.\n\n## 2. Walk\nGo.\n"
    sections = [
        f"{words(20, 'opening')}\n\n## 1. Sleep\n\n{words(128, 'a')}",
        f"## 2. Walk\n\n{words(120, 'b')}\n\n{words(28, 'closing')}",
    ]
    written, script = run(plan.replace("2. W", "3. W"), plan, *sections, asked=asked)
    assert written.problems == []
    assert "'## 1. …', '## 2. …' and so on" in last(script, 1)


def test_a_long_listicle_with_many_items_takes_one_call() -> None:
    """Items that are too short for calls of their own are written together."""
    asked = request("blog", "10 ways to rest", length="long", format="listicle")
    items = "\n\n".join(f"## {n}. X\n\n{words(24, f'w{n}')}" for n in range(1, 11))
    written, _ = run(f"# T\n\n{words(15)}\n\n{items}\n\n{words(15, 'end')}", asked=asked)
    assert (written.problems, written.usage.calls) == ([], 1)
    assert estimate(asked, OPTIONS).calls == 1


def test_a_plan_without_a_title_has_the_topic_as_its_title() -> None:
    """The title is never missing."""
    plan = PLAN.replace("# The title\n", "")
    written, _ = run(plan, *SECTIONS, asked=request(length="long"))
    assert f">{TOPIC}</h1>" in written.html


def test_news_has_the_date_of_writing() -> None:
    """The byline names no person, and its time is the given day."""
    written, _ = run(f"# T\n\n{words(30)}\n\n{words(30, 'more')}", asked=request("news"))
    assert 'AI-generated · <time datetime="2026-02-03">2026-02-03</time>' in written.html


def test_statements_are_counted() -> None:
    """The number of statements to check is known without the HTML."""
    written, _ = run(f"# T\n\n{words(50)}\n\n## A\n\nIn 2024, 5 % of it.\n")
    assert written.marked == 2


def test_a_text_that_no_page_can_show_is_a_problem() -> None:
    """What the sanitizer refuses is not kept."""
    written, _ = run(f"{SHORT}\n```\n{'&' * 30_000}\n```\n")
    assert [problem.check for problem in written.problems] == ["shape"]
    assert written.html == ""


@pytest.mark.parametrize(
    ("length", "calls", "most"), [("short", 1, 2), ("medium", 1, 2), ("long", 4, 8)]
)
def test_the_number_of_calls_is_known(length: str, calls: int, most: int) -> None:
    """An estimate says the calls without and with repairs, and tokens."""
    found = estimate(request(length=length), OPTIONS)
    assert (found.calls, found.most_calls) == (calls, most)
    assert found.input_tokens > found.calls * 100
    assert found.output_tokens > 60


def test_the_default_lengths_have_six_sections() -> None:
    """A long text of 2,000 words has six sections."""
    assert estimate(request(length="long"), WriterOptions(WriterFields(model="m"))).calls == 7
