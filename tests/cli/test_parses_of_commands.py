"""How often the commands read a text into a document."""

from __future__ import annotations

from pathlib import Path

import pytest
from parses import counted_parses
from sandbox_site import Site, make_site

MARKED = """\
<article>
<h1>Alpha</h1>
<p>It costs <mark>5 EUR</mark>.</p>
</article>
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site with one page, and change into its directory."""
    return make_site(tmp_path, monkeypatch)


def approve(site: Site, *arguments: str) -> int:
    """Approve the text of the page; return how many documents that reads."""
    with counted_parses() as parses:
        site.run("approve", "index.md", "--by", "Jo", *arguments)
    return parses.count


def test_an_approval(site: Site) -> None:
    """A draft is read once to decide, and once as it is written, with marks or without."""
    site.draft(MARKED)
    assert approve(site, "--reason", "I know it") == 2
    site.approved.unlink()
    site.draft(MARKED.replace("<mark>5 EUR</mark>", "a lot"), edition=2, day=2)
    assert approve(site) == 2


def test_an_approval_of_a_text_that_cites(site: Site) -> None:
    """What it cites is judged from its document: its HTML is parsed as often as any other."""
    passages = {"file:docs/plan.md": "It costs 4 EUR."}
    site.draft(MARKED, sources={"file:docs/plan.md": "0" * 64}, passages=passages)
    with counted_parses() as parses:
        site.run("approve", "index.md", "--by", "Jo", "--reason", "I know it")
    assert "5 EUR" in site.approved.read_text().partition("unsupported:")[2]
    assert (parses.count, parses.of_html) == (2, 2)


def test_an_approval_in_place_of_human_edits(site: Site) -> None:
    """An edited file is read once to say who edited it, before its text or a draft is approved."""
    site.draft(MARKED.replace("<mark>5 EUR</mark>", "a lot"))
    approve(site)
    edited = site.approved.read_text().replace("a lot", "nothing")
    site.approved.write_text(edited)
    assert approve(site) == 3
    site.approved.write_text(edited.replace("nothing", "little"))
    site.draft(MARKED, edition=2, day=2)
    assert approve(site, "--reason", "I know it", "--yes") == 3
