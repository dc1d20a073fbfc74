"""Translations by a model that is a double: what it is asked for, and what it cannot do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_double import ModelDouble
from model_writer import Conversation, writing
from sandbox_site import Site, make_site

ORIGINAL = (
    '<article lang="en"><h1>Fast builds</h1><p>Run <code>make</code> once for all pages.</p>'
    '<h2>Why</h2><ul><li>See <a href="https://x.example/why">the reasons</a>.</li></ul>'
    "<p>Then wait until it is done.</p></article>"
)
GERMAN = {
    "Fast builds": "Schnelle Builds",
    "Run `make` once for all pages.": "Führen Sie `make` einmal für alle Seiten aus.",
    "Why": "Warum",
    "See [the reasons](1).": "Sehen Sie [die Gründe](1).",
    "Then wait until it is done.": "Dann warten Sie, bis es fertig ist.",
}
FILE = "contentgen/index.de.md/main.html"


def in_german(conversation: Conversation) -> str:
    """Return a good answer to a request for blocks."""
    lines = []
    for number, text in asked_for(conversation):
        lines.append(f"[{number}] {GERMAN[text.removeprefix('## ')]}")
    return "\n\n".join(lines)


def asked_for(conversation: Conversation) -> list[tuple[str, str]]:
    """Return the numbers and texts of the blocks that are asked for."""
    return re.findall(r"^\[(\d+)\] (.*)$", conversation[-1]["content"], re.MULTILINE)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: ModelDouble) -> Site:
    """Return a site with an approved original and the request for its translation."""
    site = make_site(tmp_path, monkeypatch)
    writer = {"model": "large:8b", "endpoint": model.endpoint}
    site.configure(plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    translation = "---\ncontentgen: {translation_of: index.md, language: de}\n---\n"
    site.write("docs/index.de.md", translation)
    site.draft(ORIGINAL, is_for_writer=True)
    site.run("approve", "index.md", "--by", "Jo")
    model.answer = writing(in_german)
    return site


def test_another_structure_costs_nothing(site: Site, model: ModelDouble) -> None:
    """What is said before an update, and the calls, are as few as the words that it needs."""
    site.run("generate")
    site.run("approve", "index.de.md", "--by", "Ada")
    before = site.root.joinpath(FILE).read_text(encoding="utf-8").split("---\n", 2)[2]
    model.calls.clear()
    html = site.approved.read_text(encoding="utf-8")
    html = html.replace("<ul>", "<ol>").replace("</ul>", "</ol>").replace("h2>", "h3>")
    site.approved.write_text(html, encoding="utf-8")
    site.run("approve", "index.md", "--by", "Jo")

    assert "the original has changed: 2 blocks" in site.run("status", "index.de.md")
    assert "calls to the model: 0, or up to 0" in site.run("update", "--all", "--dry-run")
    said = site.run("update", "--all")
    assert "adapted 'Warum': its original has the same words in another form" in said
    site.run("approve", "index.de.md", "--by", "Ada")
    after = site.root.joinpath(FILE).read_text(encoding="utf-8").split("---\n", 2)[2]
    assert after == before.replace("ul>", "ol>").replace("h2>", "h3>")
    assert model.calls == []
    assert "the original has changed" not in site.run("status", "index.de.md")
