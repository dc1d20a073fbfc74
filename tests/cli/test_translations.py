"""The way of a translation through the commands, on a site of the sandbox."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import run_here
from sandbox_site import Site, make_site

APPROVED = "contentgen/index.md/main.html"
TRANSLATED = "contentgen/index.de.md/main.html"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site with a page and its translation, and change into its directory."""
    site = make_site(tmp_path, monkeypatch)
    translation = "---\ncontentgen: {translation_of: index.md, language: de}\n---\n"
    site.write("docs/index.de.md", translation)
    site.draft(
        "<article><h1>Alpha</h1><p>Run <code>make</code> once.</p><p>Then wait.</p></article>"
    )
    return site


def states(site: Site) -> dict[str, dict[str, object]]:
    """Return what `status` says of each page."""
    found = json.loads(site.run("status", "--json"))
    return {article["page"]: article for article in found}


def approve_both(site: Site) -> None:
    """Approve the original, and the translation that is made of it then."""
    site.run("approve", "index.md", "--by", "Jo")
    site.run("generate")
    site.run("approve", "index.de.md", "--by", "Ada")


def edit(site: Site, path: str, before: str, after: str) -> None:
    """Change words in an approved file, and approve it again."""
    file = site.root / path
    html = file.read_text(encoding="utf-8")
    assert html.count(before) == 1
    file.write_text(html.replace(before, after), encoding="utf-8")
    site.run("approve", file.parent.name, "--by", "Jo")


def html_of(site: Site, path: str) -> str:
    """Return the HTML of an approved file."""
    return (site.root / path).read_text(encoding="utf-8").split("---\n", 2)[2]


def test_from_the_draft_to_the_approval(site: Site) -> None:
    """Status and files say of what a text is the translation, and in which language it is."""
    assert states(site)["index.de.md"]["state"] == "missing"
    approve_both(site)

    found = states(site)["index.de.md"]
    assert found["state"] == "approved"
    assert found["translation_of"] == "index.md"
    assert found["language"] == "de"
    assert found["original_changes"] == 0
    assert "<p>[de] Run <code>make</code> once.</p>" in html_of(site, TRANSLATED)
    assert "→ de" in site.run("status")
    assert "nothing was sent" in site.run("update", "--all")


def test_one_changed_sentence_is_one_changed_block(site: Site) -> None:
    """An update translates what has changed, and leaves the rest as it is, byte for byte."""
    approve_both(site)
    edit(site, TRANSLATED, "[de] Then wait.", "Dann warten.")
    before = html_of(site, TRANSLATED)
    edit(site, APPROVED, "once.", "twice.")

    assert states(site)["index.de.md"]["original_changes"] == 1
    planned = site.run("update", "--all", "--dry-run")
    assert "1 block" in planned
    assert states(site)["index.de.md"]["newer_draft"] is False
    said = site.run("update", "--all")
    assert "index.de.md" in said
    site.run("approve", "index.de.md", "--by", "Ada")

    assert html_of(site, TRANSLATED) == before.replace("once.", "twice.")
    assert states(site)["index.de.md"]["original_changes"] == 0


def test_an_approved_translation_stays_approved_when_its_original_changes(site: Site) -> None:
    """No command counts it as one to review; each says what translates the changes."""
    approve_both(site)
    edit(site, APPROVED, "once.", "twice.")

    assert states(site)["index.de.md"]["state"] == "approved"
    listed = site.run("status")
    assert "the original has changed: 1 block;" in listed
    assert "1 translation of a text that has changed: contentgen update --all" in listed
    assert "contentgen review" not in listed
    reported = site.run("report")
    assert reported.startswith("**No text to review.**")
    assert "- index.de.md: 1 block" in reported
    [as_json] = json.loads(site.run("report", "--json"))
    assert (as_json["translation_of"], as_json["original_changes"]) == ("index.md", 1)


def test_a_build_names_a_changed_original_until_a_draft_follows_it(site: Site) -> None:
    """Readers of the translation see it, too. What is there to be reviewed is not asked for."""
    approve_both(site)
    edit(site, APPROVED, "once.", "twice.")
    said = "docs/index.de.md:2: the original has changed: 1 block"
    assert said in run_here(site.root, {}, "mkdocs", "build").stdout
    shown = (site.root / "site/index.de/index.html").read_text(encoding="utf-8")
    assert (
        '<p class="contentgen-disclosure contentgen-notice">'
        '<a href="../">Das Original hat sich seitdem geändert (Absätze: 1)</a></p>'
        '<p class="contentgen-changed">[de] Run <code>make</code> once.</p><p>[de] Then wait.</p>'
    ) in re.sub(r">\s+<", "><", shown)
    site.run("update", "index.de.md")
    assert said not in run_here(site.root, {}, "mkdocs", "build").stdout


def test_the_words_of_a_person_stay(site: Site) -> None:
    """A block that a person wrote stays when its original changes, with a remark about that."""
    approve_both(site)
    edit(site, TRANSLATED, "[de] Then wait.", "Dann warten.")
    edit(site, APPROVED, "Then wait.", "Then go.")

    said = site.run("update", "index.de.md")
    assert "its original has changed" in said
    assert "its original has changed" in site.run("approve", "index.de.md", "--by", "Ada")
    assert "<p>Dann warten.</p>" in html_of(site, TRANSLATED)


def test_what_nobody_approved_is_not_translated_again(site: Site) -> None:
    """Edits of an approved original wait for their approval, also where the page is named."""
    approve_both(site)
    file = site.root / APPROVED
    file.write_text(file.read_text().replace("Then wait.", "Then go."))

    refused = site.run("update", "index.de.md", code=1)
    assert "docs/index.de.md:2: " in refused
    assert "contentgen review index.md" in refused
    assert states(site)["index.de.md"]["newer_draft"] is False


def test_drafts_are_not_translated_again_where_approvals_are_required(site: Site) -> None:
    """A translation made of a draft, before the option was set, follows an approved text alone."""
    site.run("generate")
    site.draft("<article><h1>Alpha</h1><p>Then go.</p></article>", day=2)
    site.configure(plugins=[{"contentgen": {"base_url": "sandbox", "require_approval": True}}])

    assert "contentgen review index.md" in site.run("update", "--all")
    assert states(site)["index.de.md"]["original_changes"] == 2


def test_the_approval_of_an_original_ends_the_remark_on_its_draft(site: Site) -> None:
    """A translation of a draft is one of an approved text when that is approved as it was."""
    site.run("generate")
    assert "draft that nobody has approved" in site.run("status")
    site.run("approve", "index.md", "--by", "Jo")
    assert "draft that nobody has approved" not in site.run("status")
    assert "not as requested" not in site.run("approve", "index.de.md", "--by", "Ada")
    assert "draft" not in (site.root / TRANSLATED).read_text()


def test_the_approval_of_an_original_ends_the_remark_on_its_proposed_translation(
    site: Site,
) -> None:
    """The same goes for a translation in a file."""
    site.run("generate")
    site.run("propose", "index.de.md")
    site.run("approve", "index.md", "--by", "Jo")
    assert "draft that nobody has approved" not in site.run("status")
    assert "not as requested" not in site.run("approve", "index.de.md", "--by", "Ada")
    assert "draft" not in (site.root / TRANSLATED).read_text()


def test_originals_are_approved_before_their_translations(site: Site) -> None:
    """A translation of a draft is one of an approved text when both are approved at once."""
    site.run("generate")
    assert "not as requested" not in site.run("approve", "--all", "--by", "Jo")
    assert "draft" not in (site.root / TRANSLATED).read_text()


def test_a_note_is_not_for_a_translation(site: Site) -> None:
    """What a translation says is changed where it comes from."""
    approve_both(site)
    said = site.run("update", "index.de.md", "--note", "Make it shorter", code=1)
    assert "docs/index.de.md:2: " in said
    assert "contentgen review index.de.md" in said


def test_a_proposed_translation(site: Site) -> None:
    """It says of which text it is one; the block of the original is the evidence for its own."""
    site.run("approve", "index.md", "--by", "Jo")
    site.run("generate")
    said = site.run("show", "index.de.md")
    assert "; translation of index.md (→ de)" in said.splitlines()[0]

    site.run("propose", "index.de.md")
    file = site.root / TRANSLATED
    html = file.read_text(encoding="utf-8")
    file.write_text(html.replace("[de] Then wait.", "Dann <mark>1</mark> warten."), "utf-8")
    assert states(site)["index.de.md"]["state"] == "proposed"
    evidence = "docs/index.md, index.md: Then wait."
    assert f"to check: Dann ‹1› warten.\n  {evidence}" in site.run("show", "index.de.md")
    reported = site.run("report")
    assert f"- Dann <b>1</b> warten.\n  - {evidence}\n" in reported


def test_a_short_cell_is_no_evidence_for_a_sentence_with_its_words(site: Site) -> None:
    """The block that has the sentence is, whatever stands before it."""
    table = "".join(f"<tr><td>{word}</td><td>x</td></tr>" for word in ("Then", "wait", "a", "e"))
    site.draft(f"<article><h1>Alpha</h1><table>{table}</table><p>Then wait.</p></article>", day=2)
    site.run("generate")
    site.run("propose", "index.de.md")
    file = site.root / TRANSLATED
    html = file.read_text(encoding="utf-8")
    file.write_text(html.replace("[de] Then wait.", "[de] Then <mark>1</mark> wait."), "utf-8")
    assert "‹1› wait.\n  docs/index.md, index.md: Then wait.\n" in site.run("show", "index.de.md")


def test_an_update_is_compared_with_what_was_approved(site: Site) -> None:
    """The difference is the block that was translated again."""
    approve_both(site)
    edit(site, APPROVED, "once.", "twice.")
    site.run("update", "index.de.md")
    compared = site.run("diff", "index.de.md")
    assert "[-once.-]{+twice.+}\n[de] Then wait.\n" in compared


def test_an_original_is_ejected_last(site: Site) -> None:
    """A page whose text others translate keeps its request until they have none."""
    approve_both(site)
    refused = site.run("eject", "index.md", code=1)
    assert "contentgen eject index.de.md" in refused
    assert "contentgen:" in (site.root / "docs/index.md").read_text()

    ejected = site.run("eject", "index.de.md")
    assert "without its" not in ejected
    site.run("eject", "index.md")
    assert (site.root / "docs/index.md").read_text().startswith("# Alpha\n")


@pytest.mark.parametrize("front_matter", ["", "---\ntitle: No request\n---\n"])
def test_an_original_that_is_gone_for_good(site: Site, front_matter: str) -> None:
    """What a command says to write keeps the approved translation as a text of its own."""
    approve_both(site)
    site.approved.unlink()
    original = site.root / "docs/index.md"
    if front_matter:
        original.write_text(front_matter)
    else:
        original.unlink()

    said = site.run("eject", "index.de.md", code=1)
    kept = re.search(r"docs/index.de.md:2: .*gone for good, write (\{.*\}) here", said)
    assert kept
    site.write("docs/index.de.md", f"---\ncontentgen: {kept[1]}\n---\n")
    assert states(site)["index.de.md"]["state"] == "approved"
    assert "no request was needed" in site.run("generate")
    assert "contains its text now" in site.run("eject", "index.de.md")


def test_an_original_that_was_renamed(site: Site) -> None:
    """The page that asks for its text now is named."""
    approve_both(site)
    (site.root / "docs/index.md").rename(site.root / "docs/speed.md")
    said = site.run("status", code=1)
    assert said.endswith("no page 'index.md'; 'speed.md' asks for its text now, so name that\n")
    site.write(
        "docs/index.de.md", "---\ncontentgen: {translation_of: speed.md, language: de}\n---\n"
    )
    assert states(site)["index.de.md"]["state"] == "approved"


def test_a_long_request_of_an_original_that_is_gone(site: Site) -> None:
    """The message names the file that has it."""
    site.write("docs/index.md", f"---\ncontentgen: {{type: blog, topic: {'Alpha ' * 60}}}\n---\n")
    site.run("generate")
    site.run("approve", "index.de.md", "--by", "Ada")
    (site.root / "docs/index.md").unlink()
    said = site.run("status", code=1)
    kept = f"write what {TRANSLATED} has below `translation_of`, with `language: de`, here"
    assert kept in said


def test_the_draft_of_an_original_that_is_gone(site: Site) -> None:
    """A translation that nobody approved cannot stay without the text that it is made from."""
    site.run("generate")
    (site.root / "docs/index.md").unlink()
    said = site.run("status", code=1)
    assert said.endswith("there is no page 'index.md'; name the page of the original\n")


def test_a_translation_whose_page_asks_for_another_text(site: Site) -> None:
    """It is not kept for a request that differs from its original's, which is said."""
    approve_both(site)
    site.write(
        "docs/index.de.md", "---\ncontentgen: {type: blog, topic: Beta, language: de}\n---\n"
    )
    found = states(site)["index.de.md"]
    assert found["state"] == "outdated"
    assert "it was a translation and topic was 'Alpha'" in str(found["reason"])


def test_a_service_that_cannot_translate(site: Site) -> None:
    """It is said with page and line, before anything is sent."""
    site.configure(plugins=[{"contentgen": {"base_url": "https://service.invalid"}}])
    said = site.run("generate", "index.de.md", code=1)
    assert "docs/index.de.md:2: contentgen.translation_of: " in said
    assert "base_url: writer" in said
