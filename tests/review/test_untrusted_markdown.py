"""Untrusted texts in GitHub's Markdown: read by a renderer, they are text and nothing else."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mkdocs_contentgen.review.untrusted_markdown import (
    changed_words,
    escaped,
    folded,
    link,
    table,
    with_bold,
)

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

HOSTILE = [
    "@all",
    "@octo/team, @jo-doe",
    "mail jo@example.org",
    "</details></summary>",
    "</p><img src=https://evil.example/x.png>",
    "![picture](https://evil.example/x.png)",
    "closes #1",
    "Fixes octo/repo#12 and GH-3",
    "closes https://github.com/octo/repo/issues/1",
    "www.evil.example",
    "``` ```js",
    "`code` and ``more``",
    "<!-- contentgen:",
    "-->",
    "| a | b |",
    "$x$ and $$y$$",
    ":octocat: :+1:",
    "- [x] ticked",
    "1. one",
    "1) one",
    "# Heading",
    "> quote",
    "---",
    "===",
    "[x]: https://evil.example",
    "[^1]: note",
    "&lt;b&gt; &amp;lt; &#64;all",
    "\\@all \\# \\",
    "\u202eabc\u2066 \u200f",
    "::error::x ##vso[task]",
    "~~gone~~ ==mark== ^up^ __b__ **b**",
    "a\n\n# b\n</details>",
    "!12 ~label %milestone &epic $5",
]

REFERENCES = re.compile(r"@\w|#\d|GH-\d|https?://|www\.\w|:[\w+-]+:|[!~%&$]\w", re.IGNORECASE)
"""What GitHub and GitLab look for in the text of a page."""


def read(markdown: str) -> BeautifulSoup:
    """Return what a renderer makes of Markdown."""
    return BeautifulSoup(RENDERER.render(markdown), "html.parser")


def check_harmless(text: str) -> None:
    """Check that a text is shown as it is, and that nothing in it is markup or a reference."""
    page = read(f"Before {escaped(text)}")
    assert [tag.name for tag in page.find_all(True)] == ["p"]
    assert not REFERENCES.search(page.get_text())
    page = read(escaped(text))
    assert {tag.name for tag in page.find_all(True)} <= {"p"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts(text: str) -> None:
    """No text mentions anybody, closes an issue, loads a picture or ends what it stands in."""
    check_harmless(text)


@pytest.mark.parametrize("text", HOSTILE[:-14] + HOSTILE[-8:-6])
def test_the_words_stay(text: str) -> None:
    """What a reader sees are the words of the text."""
    shown = read(f"x {escaped(text)}").get_text().replace("\u200b", "").strip()
    assert shown == f"x {' '.join(text.split())}"


@given(st.lists(st.sampled_from([*HOSTILE, " ", "\n", "a", "1", "‹", "›"]), max_size=6))
def test_hostile_texts_together(texts: list[str]) -> None:
    """Nor do several of them, one behind the other."""
    check_harmless("".join(texts))
    page = read(f"Before {with_bold(''.join(texts))}")
    assert {tag.name for tag in page.find_all(True)} <= {"p", "b"}


@given(
    st.text(alphabet=st.sampled_from("@#:!`*_[]()<>&|~$\\-+=1a /.\n\t\"'{}^%;x\u202e"), max_size=40)
)
def test_any_text(text: str) -> None:
    """No combination of signs is markup."""
    check_harmless(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_folded_text(text: str) -> None:
    """What is folded stays folded, with its table, its words and its links."""
    rows = [[escaped(text), changed_words([("equal", "a "), ("old", text), ("new", f"{text} b ")])]]
    content = f"{table(['one', 'two'], rows)}\n\n- {with_bold(f'‹{text}› c')}\n- {link(text, 'https://a.example/x#L1')}"
    page = read(f"{folded(escaped(text), content)}\n\nBehind")
    [details] = page.find_all("details")
    assert len(page.find_all("summary")) == 1
    assert len(details.find_all("td")) == 2
    assert len(details.find_all("li")) == 2
    assert {tag.name for tag in page.find_all(True)} <= set(
        "details summary table thead tbody tr th td ul li a b ins del p".split()
    )
    assert [it["href"] for it in page.find_all("a")] == ["https://a.example/x#L1"]
    behind = page.find_all("p")[-1]
    assert behind.get_text() == "Behind"
    assert behind.find_parent("details") is None


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "https://a.example/\"onclick='x'", "//x", "https://a.example"],
)
def test_other_addresses(address: str) -> None:
    """Only an address of the web becomes a link."""
    assert link("x", address) == "x"


def test_statements_are_bold() -> None:
    """Between the signs for statements, and only if each has an end."""
    assert with_bold("In ‹1999›, it was *slow*.") == "In <b>1999</b>, it was &#42;slow&#42;."
    assert with_bold("In ‹1999, it was slow.") == "In ‹1999, it was slow."


def test_words_that_changed() -> None:
    """Old words are struck through, new ones underlined, and spaces stay outside."""
    parts = [("equal", "One "), ("old", "big "), ("new", "small "), ("equal", "word.")]
    assert changed_words(parts) == "One <del>big</del> <ins>small</ins> word."


def test_words_that_are_next_to_each_other() -> None:
    """Parts of a text are no mention together."""
    shown = read(
        changed_words([("equal", "@"), ("old", ""), ("equal", "all"), ("new", "@"), ("new", "all")])
    )
    assert not REFERENCES.search(shown.get_text("|"))
