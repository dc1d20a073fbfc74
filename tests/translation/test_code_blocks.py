"""White space and labels of code are no change, and its translated comments stay."""

from __future__ import annotations

import pytest
from edited_translations import TODAY, imported_from, text_of, translated
from growth import LINEAR, growth
from msgspec.structs import replace

from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.html_reader import read_content
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.translation.code_blocks import take_comments
from mkdocs_contentgen.translation.first_translation import count_changes
from mkdocs_contentgen.translation.updated_translation import (
    apply_translation_update,
    plan_translation_update,
)

CODE = "x = 1  # first\n\ny = 2  # second\n"
OWN_CODE = "x = 1  # erstens\n\ny = 2  # zweitens\n"


def page(language: str, code: str, label: str = "py", more: str = "") -> Text:
    """Return a text with a block of code."""
    block = f'<pre><code class="language-{label}">{code}</code></pre>'
    return text_of(f'<article lang="{language}"><h1>T</h1>{more}{block}<p>Ok.</p></article>')


def updated(own_code: str, new: Text, by: str = "") -> Text:
    """Return the translation with this code once the original is the new one."""
    original = page("en", CODE)
    imported = imported_from(original, page("de", own_code).html, language="en")
    digests = [block.digest for block in imported.document.blocks()]
    translation = replace(
        original,
        html=imported.document.to_lines(),
        request={"type": "article", "language": "de"},
        original=imported.original,
        edits=Edits(changed_by=dict.fromkeys(digests, by)) if by else None,
    )
    asked = plan_translation_update(translation, new)
    return apply_translation_update(translation, new, asked, translated(asked), TODAY)


def code_of(text: Text) -> list[str]:
    """Return the code of a text, each with its label."""
    found = []
    for block in Document(text.html).article.find_all("code"):
        found.append(f"{block['class']}: {block.get_text()}")
    return found


@pytest.mark.parametrize("by", ["", "Ann"])
def test_white_space_and_labels_are_no_change(by: str) -> None:
    """The label follows the original, and comments and remarks are as they were."""
    new = page("en", "x  =  1  # first\ny = 2  # second", "python")
    after = updated(OWN_CODE, new, by)
    assert code_of(after) == [f"language-python: {OWN_CODE}"]
    assert after.remarks == ()
    imported = imported_from(page("en", CODE), page("de", OWN_CODE).html)
    assert imported.remarks == []
    assert count_changes(imported.original, new.html) == 0


@pytest.mark.parametrize("by", ["", "Ann"])
def test_similar_code_beside_it(by: str) -> None:
    """A new block of code does not take the place of the one that is translated."""
    similar = '<pre><code class="language-py">x = 1  # first\nz = 2\n</code></pre>'
    after = updated(OWN_CODE, page("en", CODE.replace("\n\n", "\n"), more=similar), by)
    assert code_of(after) == [
        "language-py: x = 1  # first\nz = 2\n",
        f"language-py: {OWN_CODE}",
    ]


def test_translated_comments_stay() -> None:
    """Those of lines that are still there stay, and a person is told to look at them."""
    after = updated(OWN_CODE, page("en", CODE.replace("y = 2", "y = 3") + "z = 4  # third\n"))
    expected = "x = 1  # erstens\n\ny = 3  # second\nz = 4  # third\n"
    assert code_of(after) == [f"language-py: {expected}"]
    assert [remark.kind for remark in after.remarks] == ["original_changed"]


def test_code_of_a_person_stays() -> None:
    """It is as it was, and a person is told that its original has changed."""
    after = updated(OWN_CODE, page("en", CODE.replace("y = 2", "y = 3")), "Ann")
    assert code_of(after) == [f"language-py: {OWN_CODE}"]
    assert [remark.kind for remark in after.remarks] == ["original_changed"]


def test_other_code_has_a_remark() -> None:
    """Other comments are a translation, and other code is named."""
    other = page("de", OWN_CODE.replace("y", "Y")).html
    assert [remark.kind for remark in imported_from(page("en", CODE), other).remarks] == [
        "other_code"
    ]


@pytest.mark.parametrize("piece", ["x # one\n", "# ", "#", "/", "-- a", " ;", "x\n", "\n"])
def test_taking_comments_takes_linear_time(piece: str) -> None:
    """Whoever writes the code cannot make it slow."""

    def take(code: str) -> None:
        take_comments(read_content(code), read_content(code.upper()))

    assert growth(take, lambda size: f"<code>{piece * size}</code>", 4_000) < LINEAR
