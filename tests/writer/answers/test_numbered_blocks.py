"""The blocks in answers of models: both readers know the same forms."""

from __future__ import annotations

import pytest

from mkdocs_contentgen.writer.answers.numbered_blocks import Entry, read_changes, read_texts

FORMS = [
    *("[{}] {}", "**[{}]** {}", "**[{}] {}**", "- [{}] {}", "\\[{}\\] {}", "[{}]: {}"),
    *("BLOCK {}: {}", "Block {}: {}", "**Block {}:** {}", "**Block {}**: {}", "BLOCK #{}: {}"),
    *("[BLOCK {}]: {}", "BLOCK [{}]: {}", "BLOCK {} - {}", "Block {}. {}", "### BLOCK {}\n{}"),
    *("<p>[{}] {}</p>", "[{}] <p>{}</p>", "[{}]\n{}", "> BLOCK {}: {}", "Bloque {}: {}"),
]
WORDS = {2: "It keeps **pages**", 4: "for (about) 20 minutes."}
ENTRIES = [Entry("change", number, text) for number, text in WORDS.items()]


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    """An update and a translation are read in whatever form a model gives them."""
    answer = "\n".join(form.format(number, text) for number, text in WORDS.items())
    for shown in (answer, f"Here it is:\n\n{answer}\n\nLet me know if you need more!"):
        assert read_texts(shown) == ENTRIES
        assert read_changes(shown) == ENTRIES


@pytest.mark.parametrize(
    "answer",
    [
        '{"2": "It keeps **pages**", "[4]": "for (about) 20 minutes."}',
        '{"blocks": [{"block": 2, "text": "It keeps **pages**"},'
        ' {"block": 4, "text": "for (about) 20 minutes."}, {"text": "without a number"}]}',
    ],
)
def test_json(answer: str) -> None:
    """Objects by numbers, and lists of objects, are read as well."""
    assert read_texts(answer) == ENTRIES
    assert read_changes(f"```json\n{answer}\n```") == ENTRIES


def test_numbers_alone() -> None:
    """They are blocks where each block is asked for; an update is not a list of anything."""
    answer = "2. It keeps **pages**\n4. for (about) 20 minutes."
    assert read_texts(answer) == ENTRIES
    assert read_changes(answer) == []


def test_what_is_said_of_all_blocks() -> None:
    """A translation can say `nothing`, and an update then says that nothing changes."""
    answer = "[2] It keeps\nNothing: no pages"
    assert read_texts(answer) == [Entry("change", 2, "It keeps Nothing: no pages")]
    assert read_changes("NOTHING: it is right.") == [Entry("nothing", reason="it is right")]


def test_thoughts() -> None:
    """Blocks in small letters count where none are in capitals or brackets."""
    thoughts = "Block 4: it may be wrong.\nBlock 2: it is wrong.\n"
    for change in ("[2] New.\nWHY: it does", "BLOCK 2: New.\nWHY: it does"):
        assert read_changes(f"{thoughts}\n{change}") == [Entry("change", 2, "New.", "it does")]
    assert [entry.number for entry in read_changes(thoughts)] == [4, 2]


def test_an_answer_that_was_cut_off() -> None:
    """A last block may not be whole, unless a reason follows it."""
    answer = "[2] New.\nWHY: it does\n[4] Ol"
    assert [entry.number for entry in read_changes(answer, is_cut=True)] == [2]
    assert [entry.number for entry in read_texts(answer, is_cut=True)] == [2]
    assert [entry.number for entry in read_changes(answer[:20], is_cut=True)] == [2]
    assert read_texts(answer[:8], is_cut=True) == []
