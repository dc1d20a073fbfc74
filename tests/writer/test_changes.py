"""How a text is updated: what is asked for, in how many parts, and what is kept of the answers."""

from __future__ import annotations

import asyncio

import pytest
from drafts import request
from model_writer import sentences
from msgspec.structs import replace
from remarks import said
from shapes import OPTIONS, UPDATE, Model

from mkdocs_contentgen.errors import FailedTextError, UnknownOutcomeError
from mkdocs_contentgen.service.protocol import TextBlock, Update, Updated
from mkdocs_contentgen.writer.changes import estimate_update, find_changes
from mkdocs_contentgen.writer.models.completion import Completion
from mkdocs_contentgen.writer.models.usage import Usage

CHANGE = "[2] A cache keeps results for 20 minutes. [1]\nWHY: it does"
LONG = replace(
    UPDATE, blocks=[TextBlock(number, "p", sentences(400, number)) for number in range(6)]
)


def updated(update: Update, *answers: Completion | str) -> tuple[Updated, Model]:
    """Return an update, for which the model gives these answers."""
    model = Model([Completion(it) if isinstance(it, str) else it for it in answers])
    return asyncio.run(find_changes(request(), update, OPTIONS, model.ask))[0], model


def test_the_limit_follows_from_the_text() -> None:
    """A short text needs few tokens, besides those for thinking."""
    _, model = updated(UPDATE, CHANGE)
    assert [call.max_tokens for call in model.asked] == [200 * 4 + 4000]


def test_a_long_text_is_one_call() -> None:
    """Its answer may be as long as the text."""
    _, model = updated(LONG, "[5] Others.\nWHY: last")
    assert estimate_update(LONG, OPTIONS).calls == len(model.asked) == 1
    words = sum(len(it.text.split()) for it in LONG.blocks)
    assert model.asked[0].max_tokens == words * 4 + 4000


def test_an_answer_that_was_lost() -> None:
    """What is whole of it is used; without that, the error is raised."""
    error = UnknownOutcomeError("gone")
    found, model = updated(UPDATE, Completion(f"{CHANGE}\n\n[4] Pa", "lost", error=error))
    assert [it.block for it in found.changes] == [2]
    assert said(found) == ("update: the answer was cut off, so further blocks may still be wrong",)
    assert len(model.asked) == 1
    with pytest.raises(UnknownOutcomeError, match="gone"):
        updated(UPDATE, Completion("[2] A cache ke", "lost", error=error))


def test_an_answer_that_an_error_has_ended() -> None:
    """The remark says what the server said."""
    error = UnknownOutcomeError("gone")
    lost = Completion(f"{CHANGE}\n\n[4] Pa", "lost", Usage(), error, "out of memory")
    found, _ = updated(UPDATE, lost)
    assert said(found)[0].endswith("may still be wrong; the server said: out of memory")


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_off(reason: str) -> None:
    """Nothing of it is used if its only entry may not be whole."""
    cut = Completion("[2] A cache keeps results for 20 min", reason)
    with pytest.raises(FailedTextError, match="names no block"):
        updated(UPDATE, cut, cut)


@pytest.mark.parametrize(
    "rest",
    [
        "[4] Pages are kept. " + "The pages are kept again and again. " * 60,
        "\n\n".join(["[4] Pages are kept.\nWHY: they are"] * 60),
    ],
    ids=["a sentence", "a block"],
)
def test_an_answer_that_repeats_itself(rest: str) -> None:
    """The model is stopped while it writes, and what is whole before that is used."""
    found, model = updated(UPDATE, f"{CHANGE}\n\n{rest}")
    assert found.changes[0].block == 2
    assert said(found) == ("update: the answer was cut off, so further blocks may still be wrong",)
    watch = model.asked[0].watch
    assert watch is not None
    assert watch(CHANGE) == ""
    assert watch(f"{CHANGE}\n\n{rest}") == "loop"


def test_an_answer_in_the_frame() -> None:
    """What the model says outside of it names no block."""
    answer = f"[4] may be wrong, too.\n\n<article>\n{CHANGE}\n</article>\n\n[5] is fine."
    found, _ = updated(UPDATE, answer)
    assert [change.block for change in found.changes] == [2]


def test_no_answer() -> None:
    """What the model has written instead is kept for reading."""
    with pytest.raises(FailedTextError, match="names no block") as caught:
        updated(UPDATE, "Sure!", "Certainly!")
    assert caught.value.answer == "Certainly!"
