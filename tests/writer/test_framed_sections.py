"""The frame that prompts ask for, in streamed sections of a long text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import date

from drafts import request
from model_double import Answer, ModelDouble, running_model, sequence, streamed
from model_writer import sentences
from remarks import kinds

from mkdocs_contentgen.service.protocol import Attempt
from mkdocs_contentgen.writer.models.model import make_model
from mkdocs_contentgen.writer.models.settings import Words, WriterFields, WriterOptions
from mkdocs_contentgen.writer.models.usage import Spending
from mkdocs_contentgen.writer.writing import FinishedText, write

BEFORE = sentences(30, "before")
AFTER = sentences(60, "after")
"""What only the frame tells apart from a section."""

PLAN = "# The title\n\n## One\nSays this.\n\n## Two\nSays that.\n\n## Three\nEnds it.\n"
SECTIONS = [
    f"{sentences(20, 'opening')}\n\n## One\n\n{sentences(79, 'first')}",
    f"## Two\n\n{sentences(50, 'second')}\n\n{sentences(48, 'more')}",
    f"## Three\n\n{sentences(80, 'third')}\n\n{sentences(20, 'closing')}",
]


def framed(text: str) -> str:
    """Return an answer with talk around the frame."""
    return f"{BEFORE}\n\n<article>\n\n{text}\n\n</article>\n\n{AFTER}"


FRAMED = [streamed(framed(text)) for text in SECTIONS]


def written_by(
    answers: Sequence[Answer], attempt: Attempt | None = None
) -> tuple[FinishedText, ModelDouble]:
    """Write a long text with a server that answers so, each of them once."""

    async def run(model: ModelDouble) -> FinishedText:
        fields = WriterFields(model="m", endpoint=model.endpoint, words=Words(60, 100, 300))
        options = WriterOptions(fields)
        asked = request(length="long")
        async with make_model(options, Spending(), retries=0) as client:
            return await write(
                asked, options, client.ask, today=date(2026, 2, 3), attempt=attempt or Attempt()
            )

    with running_model() as double:
        double.answer = sequence(answers)
        text = asyncio.run(run(double))
    assert len(double.calls) == len(answers)
    return text, double


def words_of(text: FinishedText) -> str:
    """Return the words of a text, without tags."""
    return re.sub(r"<[^>]+>", "", text.text.html)


def asked_last(double: ModelDouble, call: int) -> str:
    """Return the last message of a call."""
    return str(double.calls[call].body["messages"][-1]["content"])


def test_only_what_is_within_the_frame_is_a_section() -> None:
    """What a model says around it is in no section, in no prompt, and counts as no progress."""
    progress: list[int] = []
    attempt = Attempt(report=lambda words, target: progress.append(words))
    framed_text, double = written_by([streamed(framed(PLAN)), *FRAMED], attempt)
    plain_text, _ = written_by([streamed(text) for text in (PLAN, *SECTIONS)])
    assert words_of(framed_text) == words_of(plain_text)
    assert kinds(framed_text.text.remarks) == ["repaired_opening", "repaired_closing"]
    assert SECTIONS[0] in asked_last(double, 2)
    assert not any(AFTER in asked_last(double, call) for call in range(4))
    assert max(progress) <= framed_text.words


def test_a_section_that_is_cut_within_its_frame_is_gone_on_with() -> None:
    """The model sees what is within the frame, and its rest is read out of a frame, too."""
    start, _, rest = SECTIONS[1].rpartition("\n\n")
    cut = f"{BEFORE}\n\n<article>\n\n{start}\n\n{rest[:40]}"
    answers = [
        *[streamed(framed(PLAN)), FRAMED[0], streamed(cut, finish_reason="length")],
        *[streamed(framed(rest)), FRAMED[2]],
    ]
    text, double = written_by(answers)
    assert double.calls[3].body["messages"][-2] == {"role": "assistant", "content": start}
    plain_text, _ = written_by([streamed(part) for part in (PLAN, *SECTIONS)])
    assert words_of(text) == words_of(plain_text)


def test_a_loop_within_the_frame_is_cut() -> None:
    """The answer is stopped, and what stands in the frame before the loop is the section."""
    loop = f"{BEFORE}\n\n<article>\n\n{SECTIONS[1]}\n\n{'And so it goes on and on. ' * 200}"
    text, double = written_by([streamed(framed(PLAN)), FRAMED[0], streamed(loop), FRAMED[2]])
    assert sentences(48, "more") in words_of(text)
    assert words_of(text).count("on and on") <= 1
    assert BEFORE not in words_of(text)
    assert SECTIONS[1] in asked_last(double, 3)
    assert "repaired_loop" in kinds(text.text.remarks)


def test_half_a_frame_is_no_frame() -> None:
    """Its line goes, and talk around the section is known by its words alone."""
    without_start = f"Certainly! Here is the section:\n\n{SECTIONS[1]}\n\n</article>"
    text, _ = written_by([streamed(framed(PLAN)), FRAMED[0], streamed(without_start), FRAMED[2]])
    plain_text, _ = written_by([streamed(part) for part in (PLAN, *SECTIONS)])
    assert words_of(text) == words_of(plain_text)
