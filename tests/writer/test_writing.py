"""How a text is written: which calls are made, what they say, and what is kept of the answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import msgspec
import pytest
from drafts import TOPIC, request
from golden_file import cases
from model_writer import sentences
from msgspec import structs
from remarks import kinds, said

from mkdocs_contentgen.errors import (
    FailedTextError,
    RejectedError,
    UnknownOutcomeError,
    UnusableServiceError,
)
from mkdocs_contentgen.requests import Request
from mkdocs_contentgen.service.protocol import Attempt
from mkdocs_contentgen.writer.models.completion import Completion, Message, ModelCall
from mkdocs_contentgen.writer.models.settings import Words as WordsOption
from mkdocs_contentgen.writer.models.settings import WriterFields, WriterOptions
from mkdocs_contentgen.writer.models.usage import Usage
from mkdocs_contentgen.writer.sources.retrieval import Sources
from mkdocs_contentgen.writer.sources.sources import Location
from mkdocs_contentgen.writer.writing import FinishedText, estimate, find_passages, write

CASES = cases("writing")

DAY = date(2026, 2, 3)
FIELDS = WriterFields(model="m", words=WordsOption(60, 100, 300))
USAGE = Usage(1, 100, 10, 0.5)

SHORT = f"# {TOPIC}\n\n{sentences(50, 'a')}\n\n## A section\n\n{sentences(8, 'end')}\n"
PLAN = "# The title\n\n## One\nSays this.\n\n## Two: more\nSays that.\n\n## Three\nEnds it.\n"
SECTIONS = [
    f"{sentences(20, 'opening')}\n\n## One\n\n{sentences(79, 'first')}",
    f"## Two: more\n\n{sentences(98, 'second')}",
    f"## Three\n\n{sentences(80, 'third')}\n\n{sentences(20, 'closing')}",
]
LONG = request(length="long")
BLOG = request("blog")
POST = f"# T\n\n{sentences(30, 'a')}\n\n## A\n\n{sentences(20, 'b')}"


@dataclass
class Script:
    """A model with prepared answers; an exception among them is raised."""

    answers: list[str | Completion | Exception]
    asked: list[list[Message]] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    penalties: list[bool] = field(default_factory=list)

    async def ask(self, call: ModelCall) -> Completion:
        """Return the next answer, which is watched as a streamed one is."""
        self.asked.append(list(call.messages))
        self.limits.append(call.max_tokens)
        self.penalties.append(call.penalty)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = Completion(answer, usage=USAGE)
        if call.watch and (reason := call.watch(answer.text)):
            return structs.replace(answer, finish_reason=reason)
        return answer


def run(
    *answers: str | Completion | Exception,
    asked: Request | None = None,
    attempt: Attempt | None = None,
    **fields: object,
) -> tuple[FinishedText, Script]:
    """Write a text, for which each of the answers must be asked for."""
    script = Script(list(answers))
    options = WriterOptions(msgspec.structs.replace(FIELDS, **fields))
    attempt = attempt or Attempt()
    written = asyncio.run(
        write(asked or request(), options, script.ask, today=DAY, attempt=attempt)
    )
    assert script.answers == []
    return written, script


def failure(*answers: str | Completion, asked: Request | None = None) -> FailedTextError:
    """Return the error of a text that nobody can use."""
    with pytest.raises(FailedTextError) as caught:
        run(*answers, asked=asked)
    return caught.value


def last(script: Script, call: int) -> str:
    """Return the last message of a call."""
    message = script.asked[call][-1]
    assert message["role"] == "user"
    return message["content"]


def test_a_good_text_takes_one_call() -> None:
    """The prompt is the system's and the user's, and the limit leaves room for thinking."""
    written, script = run(SHORT)
    assert said(written.text) == ()
    assert written.text.html.startswith("<article>\n<h1")
    assert (written.words, written.repairs, written.usage) == (60, 0, USAGE)
    assert "<mark>" not in written.text.html
    assert [message["role"] for message in script.asked[0]] == ["system", "user"]
    assert last(script, 0).startswith(f"Topic: {TOPIC}\n\nLength: about 60 words")
    assert script.limits == [60 * 4 + 4000]
    assert script.penalties == [False]


def test_names_without_sources() -> None:
    """Only a source could vouch for a name: without any, all names would be marked."""
    written, _ = run(SHORT.replace(".", ", as Jane Smith and John Miller say.", 1))
    assert "as Jane Smith and John Miller say" in written.text.html
    assert "<mark>" not in written.text.html


def test_the_text_around_an_article_is_no_source(tmp_path: Path) -> None:
    """It is on the same page, so its number becomes no link and no entry of the list."""
    (tmp_path / "a.md").write_text("# Bees\n\nBees fly.\n")
    options = WriterOptions(FIELDS, sources=Sources([Location(tmp_path, tmp_path)]))
    sections = find_passages(request(), options, text_around="What the author says.")
    assert [section.is_own for section in sections] == [True] + [False] * (len(sections) - 1)
    script = Script([SHORT.replace(".", " [1].", 1)])
    written = asyncio.run(
        write(request(), options, script.ask, today=DAY, text_around="What the author says.")
    )
    assert "the text around the article" in last(script, 0)
    assert "the text around the article" not in written.text.html
    assert written.text.sources == {}


@pytest.mark.parametrize(("model", "name"), CASES["the_name_of_the_model"])
def test_the_name_of_the_model(model: str, name: str) -> None:
    """A path on this machine is not for readers."""
    assert run(SHORT, model=model)[0].text.model == name


class TestRemarks:
    """Texts that are not as requested, and are kept."""

    def test_pictures(self) -> None:
        """Nobody vouches for them, so they are taken out, and that is said."""
        written, _ = run(SHORT.replace(".", " `![b](b)` ![a bee](bee.png).", 1))
        assert said(written.text)[:1] == ("repaired: pictures were taken out",)
        assert "<img" not in written.text.html
        assert "<code>![b](b)</code>" in written.text.html

    def test_a_text_with_a_wrong_length(self) -> None:
        """Within the tolerance, no repair is bought."""
        written, _ = run(f"# T\n\n{sentences(35, 'a')}\n\n## A\n\n{sentences(10, 'b')}")
        assert said(written.text) == ("length: 46 words for about 60",)
        assert (written.repairs, written.usage) == (0, USAGE)

    def test_a_text_that_was_mended(self) -> None:
        """What code takes out is a remark, and costs no call."""
        written, _ = run(f"Sure! Here is the article.\n\n{SHORT.replace('## A', '## <b>A</b>')}")
        assert kinds(written.text.remarks) == ["repaired_html", "repaired_opening"]

    def test_a_loop(self) -> None:
        """What stands before it is a text."""
        written, script = run(f"{SHORT}\n\n{'And so it goes on and on. ' * 200}")
        assert "repaired: the text was cut where the model began to repeat itself" in said(
            written.text
        )
        assert "goes on and on" not in written.text.html.replace("And so it goes on and on.", "", 1)
        assert len(script.asked) == 1

    def test_a_text_that_is_far_too_long(self) -> None:
        """The model is stopped, and what is there is kept up to the end of a sentence."""
        written, _ = run(f"# T\n\n## A\n\n{sentences(200, 'a')} And the", repairs=0)
        assert said(written.text) == (
            "cut: the text was stopped after 201 words, far more than were asked for",
            "length: 201 words for about 60",
        )
        assert "And the" not in written.text.html

    def test_strict(self) -> None:
        """With `strict`, texts with remarks are refused."""
        text = f"# T\n\n{sentences(35, 'a')}\n\n## A\n\n{sentences(10, 'b')}"
        with pytest.raises(FailedTextError, match="length: 46 words for about 60") as caught:
            run(text, strict=True)
        assert caught.value.answer == text
        assert said(run(SHORT, strict=True)[0].text) == ()

    @pytest.mark.parametrize("prefix", ["writer.", ""])
    def test_the_name_of_strict(self, prefix: str) -> None:
        """A refused text names the option as the configuration has it."""
        text = f"# T\n\n{sentences(35, 'a')}\n\n## A\n\n{sentences(10, 'b')}"
        fields = msgspec.structs.replace(FIELDS, strict=True)
        options = WriterOptions(fields, prefix=prefix)
        with pytest.raises(FailedTextError, match=rf"remarks, and {prefix}strict is true: "):
            asyncio.run(write(request(), options, Script([text]).ask, today=DAY))


class TestUnusable:
    """Texts that nobody can use."""

    @pytest.mark.parametrize(("model", "first"), [("m", False), ("qwen3:0.6b", True)])
    def test_another_attempt(self, model: str, first: bool) -> None:
        """The model is asked anew, with a penalty, which small ones have from the start."""
        written, script = run("", SHORT, model=model)
        assert (said(written.text), written.repairs, written.usage.calls) == ((), 1, 2)
        assert script.asked[0] == script.asked[1]
        assert script.penalties == [first, True]

    def test_a_failure(self) -> None:
        """The error has the reason, the last answer, the model and the cost of all attempts."""
        error = failure("I'm sorry, but I can't help with that.", "I cannot write this text.")
        assert str(error).startswith("the text cannot be used: the answer is a refusal, ")
        assert error.answer in (
            "I'm sorry, but I can't help with that.",
            "I cannot write this text.",
        )
        assert (error.model, error.cost) == ("m", 1.0)

    def test_the_better_attempt_is_kept(self) -> None:
        """A second attempt that is worse does not count."""
        error = failure(Completion("A few words that were c", "length", usage=USAGE), "")
        assert "was cut off after" in str(error)
        assert error.answer == "A few words that were c"

    def test_no_further_attempt(self) -> None:
        """`repairs: 0` asks once."""
        with pytest.raises(FailedTextError):
            run("", repairs=0)

    def test_a_refusal_that_is_marked_as_such(self) -> None:
        """Its words are in the message, and the model is not asked again."""
        error = failure(Completion("Sorry,\n\x1b[1mnot that topic.", "refusal", USAGE))
        assert str(error).endswith("the model refuses to write it: Sorry, \\x1b[1mnot that topic.")
        assert error.answer.startswith("Sorry,")

    def test_a_lost_connection(self) -> None:
        """What has arrived is kept for reading, and nothing else is asked for."""
        lost = Completion("# T\n\nOne two", "lost", error=UnknownOutcomeError("gone"))
        error = failure(lost)
        assert "was cut off after 2 words" in str(error)
        assert error.answer == "# T\n\nOne two"

    def test_a_text_that_no_page_can_show(self) -> None:
        """What the sanitizer refuses is not kept as a text."""
        error = failure(f"{SHORT}\n```\n{'&' * 30_000}\n```\n")
        assert "more than" in str(error) or "too" in str(error)

    def test_an_error_of_the_model(self) -> None:
        """Errors of the server are raised as they are."""
        with pytest.raises(RejectedError, match="full"):
            run("", RejectedError("full"))


class TestCutTexts:
    """Texts whose end has not arrived."""

    START = f"# T\n\n{sentences(25, 'a')}\n\n## A"

    def test_the_servers_words(self) -> None:
        """The remark about a text that an error has ended says what the server said."""
        error = UnknownOutcomeError("gone")
        lost = Completion(f"{self.START}\n\nThe end", "lost", USAGE, error, "out of memory")
        written, _ = run(lost, repairs=0)
        assert said(written.text)[0].endswith(
            "words (finish_reason 'lost'); the server said: out of memory"
        )

    def cut(self, reason: str = "length") -> Completion:
        """Return a text that ends within a sentence."""
        return Completion(f"{self.START}\n\nThe next sent", reason, usage=USAGE)

    @pytest.mark.parametrize("reason", ["length", "max_tokens", "lost"])
    def test_the_model_goes_on(self, reason: str) -> None:
        """It gets the whole paragraphs and is asked for the rest, which the repair pays for."""
        written, script = run(self.cut(reason), f"{sentences(32, 'b')}\n\n- a list")
        assert script.asked[1][:2] == script.asked[0]
        assert script.asked[1][2] == {"role": "assistant", "content": self.START}
        assert "about 50 words" in last(script, 1)
        assert (said(written.text), written.repairs) == ((), 1)
        assert "The next sent" not in written.text.html

    def test_the_rest_that_says_all_again(self) -> None:
        """What stands there already is not put in a second time."""
        written, _ = run(self.cut(), f"Sure!\n\n{self.START}\n\n{sentences(38, 'b')}")
        assert said(written.text) == (
            "repaired: what the model said before the text was taken out",
        )
        assert written.words == 25 + 1 + 38

    def test_no_rest(self) -> None:
        """What is there ends with a whole sentence, and a remark says that it was cut off."""
        for rest in ("", "I'm sorry, but I can't help with that.", RejectedError("full")):
            written, _ = run(self.cut(), rest)
            assert said(written.text)[0].startswith("cut: the text was cut off after")
            assert written.text.html.count("<h2") == 0
            assert "The next sent" not in written.text.html

    def test_a_section(self) -> None:
        """A section that was cut off is gone on with, too."""
        cut = Completion(f"{SECTIONS[1]}\n\nThe next sent", "length", usage=USAGE)
        short = Completion(f"## Two: more\n\n{sentences(60, 'a')}\n\nThe n", "length", usage=USAGE)
        written, _ = run(PLAN, SECTIONS[0], short, sentences(40, "b"), SECTIONS[2], asked=LONG)
        assert said(written.text) == ()
        written, _ = run(PLAN, SECTIONS[0], cut, SECTIONS[2], asked=LONG)
        assert said(written.text) == ("cut: the section 'Two: more' was cut off",)


class TestRepairs:
    """Parts of a text that are asked for."""

    @pytest.mark.parametrize("end", ["- a list", "Tip: Rest."])
    def test_a_conclusion(self, end: str) -> None:
        """Only the conclusion is asked for, and put at the end."""
        text = f"{POST}\n\n{end}"
        written, script = run(text, "# T\n\nSo rest well.", asked=BLOG)
        assert (said(written.text), written.repairs) == ((), 1)
        assert "So rest well.</p>\n</article>" in written.text.html
        assert script.asked[1][:2] == script.asked[0]
        assert script.asked[1][2] == {"role": "assistant", "content": text}

    def test_more_words(self) -> None:
        """Further sections are put before the closing paragraph."""
        start = f"# T\n\n{sentences(10, 'a')}\n\n## A\n\n{sentences(9, 'b')}\n\nThe end."
        written, script = run(start, f"Sure!\n\n## B\n\n{sentences(38, 'c')}")
        assert said(written.text) == ()
        assert "50" in last(script, 1)
        assert written.text.html.index(">B</h2>") < written.text.html.index("The end.")
        assert "Sure!" not in written.text.html

    def test_missing_items(self) -> None:
        """Only the missing items of a list are asked for."""
        asked = request("blog", "4 ways to rest", format="listicle")
        items = [f"## {n}. X\n\n{sentences(12, n)}" for n in range(1, 5)]
        text = "\n\n".join(["# T", sentences(6, "a"), *items[:2], sentences(6, "z")])
        written, script = run(text, "\n\n".join(items[2:]), asked=asked)
        assert said(written.text) == ()
        assert "3" in last(script, 1) and "4" in last(script, 1)
        order = [written.text.html.index(f">{n}. X</h2>") for n in range(1, 5)]
        assert order == sorted(order)

    def test_a_text_that_is_too_long(self) -> None:
        """It is kept with a remark: making it shorter would cost a call, and lose words."""
        written, script = run(f"# T\n\n{sentences(20, 'a')}\n\n## A\n\n{sentences(80, 'b')}")
        assert len(script.asked) == 1
        assert said(written.text) == ("length: 101 words for about 60",)

    @pytest.mark.parametrize(
        "answer", ["", "I'm sorry, but I can't help with that.", UnusableServiceError("spent")]
    )
    def test_a_repair_that_fails(self, answer: str | Exception) -> None:
        """The text is kept as it was."""
        written, _ = run(f"{POST}\n\n- a list", answer, asked=BLOG)
        assert said(written.text) == ("closing: the text does not end with a paragraph",)

    def test_a_repair_that_makes_it_worse(self) -> None:
        """The better text is kept, not the later one."""
        start = f"# T\n\n{sentences(20, 'a')}\n\n## A\n\n{sentences(18, 'b')}"
        written, _ = run(start, f"## B\n\n{sentences(150, 'c')}")
        assert said(written.text) == ("length: 39 words for about 60",)

    def test_a_second_repair_sees_the_first(self) -> None:
        """Otherwise it would write the same again."""
        short = f"# T\n\n{sentences(20, 'a')}\n\n## A\n\n{sentences(8, 'b')}"
        more = f"## B\n\n{sentences(10, 'more')}"
        _, script = run(short, more, f"## C\n\n{sentences(20, 'c')}", repairs=2)
        assert sentences(10, "more") in script.asked[2][-2]["content"]

    def test_endless_thinking(self) -> None:
        """A model that only thinks is stopped, with a reason."""
        failed = failure(f"<think>{sentences(40_000, 'a')}", f"<think>{sentences(40_000, 'a')}")
        assert "thinking text only" in str(failed)
        watched: list[str] = []

        async def ask(call: ModelCall) -> Completion:
            assert call.watch
            watched.append(call.watch(f"<think>{sentences(40_000, 'a')}"))
            return Completion("")

        options = WriterOptions(msgspec.structs.replace(FIELDS, repairs=0))
        with pytest.raises(FailedTextError):
            asyncio.run(write(request(), options, ask, today=DAY))
        assert watched == ["too long"]

    def test_the_number_of_repairs(self) -> None:
        """`repairs` is for all faults together."""
        start = f"# T\n\n{sentences(20, 'a')}\n\n- a list"
        more = f"## B\n\n{sentences(40, 'c')}\n\n- more"
        one, _ = run(start, more, asked=BLOG)
        assert said(one.text) == ("closing: the text does not end with a paragraph",)
        two, _ = run(start, more, "The end.", asked=BLOG, repairs=2)
        assert said(two.text) == ()


class TestSections:
    """Texts with a plan, and a call for each section."""

    def test_the_calls(self) -> None:
        """Each section knows the plan, what is written so far, its place and its length."""
        written, script = run(PLAN, *SECTIONS, asked=LONG)
        assert said(written.text) == ()
        assert (written.words, written.repairs, written.usage.calls) == (301, 0, 4)
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
        assert ">The title</h1>" in written.text.html
        assert written.text.html.count("<h2") == 3

    def test_lengths(self) -> None:
        """The words that a section lacks are asked for in the next ones."""
        shorter = [
            f"{sentences(10, 'opening')}\n\n## One\n\n{sentences(77, 'first')}",
            f"## Two: more\n\n{sentences(97, 'second')}",
        ]
        _, script = run(PLAN, *shorter, SECTIONS[2], asked=LONG)
        assert "Write 106 words." in last(script, 2)
        assert "Write 113 words." in last(script, 3)

    def test_a_plan_of_another_size(self) -> None:
        """A plan with another number of sections is used."""
        two = PLAN.replace("## Three\nEnds it.\n", "")
        halves = [
            f"{sentences(20, 'o')}\n\n## One\n\n{sentences(129, 'a')}",
            f"## Two: more\n\n{sentences(149, 'b')}",
        ]
        written, _ = run(two, *halves, asked=LONG)
        assert written.text.html.count("<h2") == 2

    def test_no_plan(self) -> None:
        """After an answer without a plan, the text takes one call."""
        whole = "\n\n".join(["# T", *SECTIONS])
        written, script = run("I have no plan.", whole, asked=LONG)
        assert written.text.html.count("<h2") == 3
        assert [len(messages) for messages in script.asked] == [3, 2]

    def test_a_section_without_its_heading(self) -> None:
        """The heading is that of the plan, and further ones are below it."""
        bare = f"{sentences(40, 'b')}\n\n## Deeper\n\n{sentences(58, 'd')}"
        written, _ = run(PLAN, SECTIONS[0], bare, SECTIONS[2], asked=LONG)
        assert written.text.html.count("<h2") == 3 - 1 + 1
        assert ">Two: more</h2>" in written.text.html

    def test_a_section_that_goes_on(self) -> None:
        """What it writes of the next section is left out."""
        eager = f"{SECTIONS[1]}\n\n## Three\n\nAnd so on."
        written, _ = run(PLAN, SECTIONS[0], eager, SECTIONS[2], asked=LONG)
        assert written.text.html.count(">Three</h2>") == 1
        assert "And so on." not in written.text.html

    def test_a_section_that_loops(self) -> None:
        """The prompt of the next section has what stands before the loop only."""
        loop = f"{SECTIONS[1]}\n\n{'And so it goes on and on. ' * 200}"
        written, script = run(PLAN, SECTIONS[0], loop, SECTIONS[2], asked=LONG)
        assert SECTIONS[1] in last(script, 3)
        assert last(script, 3).count("on and on") <= 1
        assert written.text.html.count("<h2") == 3

    def test_a_section_that_fails(self) -> None:
        """After two attempts, the other sections are kept, with a remark."""
        written, _ = run(PLAN, SECTIONS[0], "", "", SECTIONS[2], asked=LONG)
        assert any(it.startswith("section: 'Two: more' is missing") for it in said(written.text))
        assert written.text.html.count("<h2") == 2

    def test_the_most_calls(self) -> None:
        """A plan of any size with a repair for each section takes no more than was estimated."""
        plan = "# T\n\n" + "\n".join(f"## Part {number}\nSays it.\n" for number in range(20))
        with pytest.raises(FailedTextError):
            run(plan, *[""] * 12, asked=LONG)
        assert estimate(LONG, WriterOptions(FIELDS)).most_calls == 1 + 12

    def test_a_section_that_was_written_before(self) -> None:
        """A text of equal sections is none that a person could review."""
        again = SECTIONS[0].replace("## One", "## Two: more")
        written, script = run(PLAN, SECTIONS[0], again, again, SECTIONS[2], asked=LONG)
        assert script.penalties == [False, False, False, True, False]
        assert (
            "section: 'Two: more' is missing, since the text says again what stands before it"
            in said(written.text)
        )

    def test_no_section(self) -> None:
        """A text without any section is a failure."""
        assert failure(PLAN, *[""] * 6, asked=LONG).answer == ""

    def test_titles(self) -> None:
        """A section that repeats the title does not add a heading, and a plan may have none."""
        sections = [SECTIONS[0], f"# The title\n\n{SECTIONS[1]}", SECTIONS[2]]
        plan = PLAN.replace("# The title\n", "")
        written, _ = run(plan, *sections, asked=LONG)
        assert "The title" not in written.text.html
        assert f">{TOPIC}</h1>" in written.text.html

    def test_a_listicle(self) -> None:
        """The plan has as many sections as the topic says."""
        asked = request("blog", "2 ways to rest", length="long", format="listicle")
        plan = "# 2 ways to rest\n\n## 1. Sleep\nDo.\n\n## 2. Walk\nGo.\n\n## 3. Run\nGo.\n"
        sections = [
            f"{sentences(20, 'o')}\n\n## 1. Sleep\n\n{sentences(128, 'a')}",
            f"## 2. Walk\n\n{sentences(120, 'b')}\n\n{sentences(28, 'closing')}",
        ]
        written, _ = run(plan, *sections, asked=asked)
        assert said(written.text) == ()

    def test_a_listicle_with_many_items_takes_one_call(self) -> None:
        """Items that are too short for calls of their own are written together."""
        asked = request("blog", "10 ways to rest", length="long", format="listicle")
        items = "\n\n".join(f"## {n}. X\n\n{sentences(26, f'w{n}')}" for n in range(1, 11))
        text = f"# T\n\n{sentences(15, 'a')}\n\n{items}\n\n{sentences(15, 'end')}"
        written, _ = run(text, asked=asked)
        assert (said(written.text), written.usage.calls) == ((), 1)

    @pytest.mark.parametrize(("model", "length", "sections", "calls"), CASES["the_option"])
    def test_the_option(self, model: str, length: str, sections: bool | str, calls: int) -> None:
        """`sections` is decided by the length, and by the size of the model."""
        fields = msgspec.structs.replace(FIELDS, model=model, sections=sections)
        assert estimate(request(length=length), WriterOptions(fields)).calls == calls


class TestInterruptions:
    """Texts of several calls, of which some were made in an earlier run."""

    def kept(self) -> Attempt:
        """Return an attempt that keeps what it saves."""
        saved = [b""]

        async def load() -> bytes:
            return saved[-1]

        async def save(parts: bytes) -> None:
            saved.append(parts)

        return Attempt(load=load, save=save)

    def test_it_goes_on(self) -> None:
        """What was written before an error is not asked for again, and its cost counts."""
        attempt = self.kept()
        with pytest.raises(UnusableServiceError):
            run(PLAN, SECTIONS[0], UnusableServiceError("spent"), asked=LONG, attempt=attempt)
        written, script = run(*SECTIONS[1:], asked=LONG, attempt=attempt)
        assert (said(written.text), written.usage.calls) == ((), 4)
        assert 'section 2 of 3 alone: "Two: more"' in last(script, 0)
        expected, _ = run(PLAN, *SECTIONS, asked=LONG)
        assert written.text.html == expected.text.html

    def test_a_lost_connection(self) -> None:
        """In a later call, it is an error that the next build goes on from."""
        lost = Completion("## Two", "lost", error=UnknownOutcomeError("gone"))
        with pytest.raises(UnknownOutcomeError, match="gone"):
            run(PLAN, SECTIONS[0], lost, asked=LONG)

    def test_an_answer_that_was_lost_is_asked_for_again(self) -> None:
        """A build that was killed after it keeps no half of a text in place of a whole one."""
        attempt = self.kept()
        half = f"# {TOPIC}\n\n{sentences(40, 'a')}"
        lost = Completion(half, "lost", error=UnknownOutcomeError("gone"))
        with pytest.raises(MemoryError):  # stands for the end of the process
            run(lost, MemoryError(), attempt=attempt)
        written, script = run(SHORT, attempt=attempt)
        assert last(script, 0).startswith(f"Topic: {TOPIC}")
        assert said(written.text) == ()

    def test_another_model(self) -> None:
        """It writes all of the text that its name stands below."""
        attempt = self.kept()
        run(PLAN, *SECTIONS, asked=LONG, attempt=attempt)
        _, script = run(PLAN, *SECTIONS, asked=LONG, model="n", attempt=attempt)
        assert len(script.asked) == 4

    @pytest.mark.parametrize("parts", [b"x", b"[]", b'{"a": 1}', b'{"a": ["t", 1, 2, 3]}', b"\xff"])
    def test_hostile_parts(self, parts: bytes) -> None:
        """What no run has saved counts as nothing."""

        async def load() -> bytes:
            return parts

        written, _ = run(SHORT, attempt=Attempt(load=load))
        assert said(written.text) == ()

    def test_a_text_of_one_call_saves_nothing(self) -> None:
        """A text that is finished at once is not written twice."""

        async def save(parts: bytes) -> None:
            raise AssertionError(parts)

        run(SHORT, attempt=Attempt(save=save))


def test_progress() -> None:
    """The words so far are reported with the target."""
    reports: list[tuple[int, int]] = []
    attempt = Attempt(report=lambda words, target: reports.append((words, target)))
    run(PLAN, *SECTIONS, asked=LONG, attempt=attempt)
    assert [target for _, target in reports] == [300] * 4
    assert [words for words, _ in reports][1:] == sorted(words for words, _ in reports[1:])


def test_news_has_the_date_of_writing() -> None:
    """The byline names no person, and its time is the given day."""
    text = f"# T\n\n{sentences(30, 'a')}\n\n{sentences(30, 'more')}"
    written, _ = run(text, asked=request("news"))
    assert 'AI-generated · <time datetime="2026-02-03">2026-02-03</time>' in written.text.html


def test_statements_are_counted() -> None:
    """The number of statements to check is known without the HTML."""
    written, _ = run(f"# T\n\n{sentences(50, 'a')}\n\n## A\n\nIn 2024, 5 % of it.\n")
    assert written.text.html.count("<mark>") == 2


@pytest.mark.parametrize(
    ("length", "calls", "most"), [("short", 1, 2), ("medium", 1, 2), ("long", 4, 13)]
)
def test_the_number_of_calls_is_known(length: str, calls: int, most: int) -> None:
    """An estimate says the calls without and with repairs, and tokens."""
    found = estimate(request(length=length), WriterOptions(FIELDS))
    assert (found.calls, found.most_calls) == (calls, most)
    assert found.input_tokens > found.calls * 100
    assert found.output_tokens > 60
    assert estimate(LONG, WriterOptions(WriterFields(model="m"))).calls == 7  # for 2,000 words
