"""What an approval writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from repository import edit_file
from sandbox_site import Site, make_site

from mkdocs_contentgen.errors import ApprovalError
from mkdocs_contentgen.mkdocs.loading import load_mkdocs_site
from mkdocs_contentgen.remark import quotation_remarks
from mkdocs_contentgen.review.approving import decide_approval, read_to_approve
from mkdocs_contentgen.text import Edits
from mkdocs_contentgen.texts.approved_writer import write_file
from mkdocs_contentgen.texts.articles import Article

ARTICLE = "<article><h1>Alpha</h1><p>It is old. {}</p></article>"
[INVENTED] = quotation_remarks(["It is new"])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site with one page that asks for a text."""
    return make_site(tmp_path, monkeypatch)


def article_of(site: Site) -> Article:
    """Return the article of the page as it is now."""
    with load_mkdocs_site(str(site.root / "mkdocs.yml")) as loaded:
        (article,), _ = loaded.articles()
    return article


def approve(site: Site, *, reason: str = "") -> Article:
    """Approve the text of the file, or else the draft, and return the article as it is then."""
    article = article_of(site)
    text = article.approved.text if article.approved else article.draft
    assert text
    with load_mkdocs_site(str(site.root / "mkdocs.yml")) as loaded:
        is_in_file = article.approved is not None
        chosen = read_to_approve(article, text, loaded.options, is_in_file=is_in_file)
        decided = decide_approval(chosen, "Ada", loaded.options, cited=(), reason=reason)
        write_file(decided.file, None)
    return article_of(site)


def test_an_invented_quotation_that_a_person_has_taken_out(site: Site) -> None:
    """A proposed text without marks is as its editor wants it, also if nothing else was edited."""
    quotation = "<p><mark>‘It is new’</mark>, he said.</p>"
    site.draft(ARTICLE.format(f"</p>{quotation}<p>Yes."), remarks=(INVENTED,))
    site.run("propose", "index.md")
    edit_file(site.approved, "Yes.", "No.")
    with pytest.raises(ApprovalError, match="It is new"):
        approve(site, reason="I know it")
    edit_file(site.approved, "No.", "Yes.")
    edit_file(site.approved, f"{quotation}\n", "")
    approved = approve(site).approved
    assert approved
    assert approved.approval
    assert "It is new" not in approved.text.html


@pytest.mark.parametrize("edits", [None, Edits(removed=("He said it.",))])
def test_an_invented_quotation_without_a_mark(site: Site, edits: Edits | None) -> None:
    """Where nobody has edited a text, it may still have the quotation, with a mark or without."""
    site.draft(ARTICLE.format("Yes."), remarks=(INVENTED,), edits=edits)
    if edits:
        assert approve(site).approval
        return
    with pytest.raises(ApprovalError, match="It is new"):
        approve(site)
    site.run("propose", "index.md")
    with pytest.raises(ApprovalError, match="It is new"):
        approve(site)


def test_an_invented_quotation_of_an_update(site: Site) -> None:
    """What people did with the text of the file says nothing of a quotation in a newer draft."""
    site.draft(ARTICLE.format("It costs <mark>5 EUR</mark>."))
    approved = approve(site, reason="I was there").approved
    assert approved
    site.draft(ARTICLE.format("Yes."), remarks=(INVENTED,), edits=approved.text.edits, edition=2)
    article = article_of(site)
    assert article.draft
    assert article.has_newer_draft
    with load_mkdocs_site(str(site.root / "mkdocs.yml")) as loaded:
        chosen = read_to_approve(article, article.draft, loaded.options, is_in_file=False)
        with pytest.raises(ApprovalError, match="It is new"):
            decide_approval(chosen, "Ada", loaded.options, cited=())


def test_how_long_a_reason_holds(site: Site) -> None:
    """It is that of the first approval as long as a statement is left that nobody has checked."""
    site.draft(ARTICLE.format("It costs <mark>5 EUR</mark>."))
    with pytest.raises(ApprovalError, match="1 statement is left to check"):
        approve(site)
    said = []
    for before, after, reason in (
        ("", "", "I was there"),
        ("It is old.", "It is new.", ""),
        ("It is new.", "It is old.", "I asked"),
        ("It costs 5 EUR.", "It is cheap.", ""),
    ):
        if before:
            edit_file(site.approved, before, after)
        article = approve(site, reason=reason)
        assert article.approved
        assert article.approval
        edits = article.approved.text.edits
        said.append((edits.reason if edits else "", article.approval.unchecked))
    assert said == [
        ("I was there", ("5 EUR",)),
        ("I was there", ("5 EUR",)),
        ("I asked", ("5 EUR",)),
        ("", ()),
    ]


def test_what_an_approval_keeps_of_edits(site: Site) -> None:
    """It is no more than a file may have."""
    confirmed = tuple(f"{number} {'x' * 90}" for number in range(200))
    site.draft(ARTICLE.format(""), edits=Edits(confirmed=confirmed, changed_by={"0" * 16: "Jo"}))
    approved = approve(site).approved
    assert approved
    edits = approved.text.edits
    assert edits
    assert edits.changed_by == {"0" * 16: "Jo"}
    assert edits.confirmed[:2] == confirmed[:2]
    assert edits.confirmed[-1] == f"… and {201 - len(edits.confirmed)} more"
    assert sum(map(len, edits.confirmed[:-1])) <= 10_000


def test_an_approval_of_what_nobody_changed(site: Site) -> None:
    """Its file says nothing of edits."""
    site.draft(ARTICLE.format("Yes."))
    approved = approve(site).approved
    assert approved
    assert approved.text.edits is None
