"""The command `propose`, and what other commands do with a proposed text, without its cache."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from conftest import Project
from repository import commit, edit_file, git, made_repository, propose
from sandbox_site import REQUEST, Site, copy_site
from service_double import ServiceDouble

from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.remark_words import sentences_of
from mkdocs_contentgen.text import Edits
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.approved_file import ApprovedText
from mkdocs_contentgen.texts.store import DiskStore, decode_kept

DRAFT = (
    "<article><h1>Alpha</h1><p>In <mark>1999</mark>, it was slow.</p>"
    "<p>Two cores are enough.</p></article>"
)
REMARKS = (Remark("length", values={"words": 640, "target": 900}),)


@pytest.fixture(scope="module")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a site in a git repository, with a draft of its page."""
    root = tmp_path_factory.mktemp("made")
    with made_repository(root) as site:
        site.draft(DRAFT, model="large:8b", remarks=REMARKS)
        commit(root)
    return root


@pytest.fixture
def site(made_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a copy of the site, for one test."""
    for variable in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{variable}_NAME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    return copy_site(made_site, tmp_path, monkeypatch)


def status(site: Site) -> dict[str, object]:
    """Return the only object of `status --json`."""
    [row] = json.loads(site.run("status", "--json"))
    assert isinstance(row, dict)
    return row


def in_file(site: Site) -> ApprovedText:
    """Return the file of the text."""
    approved = read_approved(site.approved, site.root / "contentgen")
    assert approved is not None
    return approved


def test_a_proposed_file(site: Site) -> None:
    """It has the marks and remarks of the draft, a digest of each block, and no approval."""
    said = site.run("propose", "index.md")
    assert said.startswith(
        "index.md: proposed in contentgen/index.md/main.html\nNext: git add contentgen"
    )
    header, _, html = site.approved.read_text().removeprefix("---\n").partition("---\n")
    assert "approved" not in header
    assert "sha256" not in header
    assert "- kind: length\n  values:\n    words: 640\n    target: 900\n" in header
    assert html == (
        "<article>\n<h1>Alpha</h1>\n<p>In <mark>1999</mark>, it was slow.</p>\n"
        "<p>Two cores are enough.</p>\n</article>\n"
    )
    assert header.splitlines()[-1].startswith("blocks: ")
    assert len(header.splitlines()[-1].split()) == 1 + 3


def test_a_proposed_text_is_nobodys_approval(site: Site) -> None:
    """Its page is that of a draft, and what needs an approval refuses it."""
    propose(site)
    row = status(site)
    assert row["state"] == "proposed"
    assert row["reason"] == "not reviewed, 1 statement to check, 1 remark"
    assert row["where"] == ["proposed file"]
    assert (row["marked"], row["remarks"], row["model"]) == (1, sentences_of(REMARKS), "large:8b")
    assert row["approved_by"] is None
    site.run("status", "--check", code=1)


def test_no_build_asks_again(site: Site) -> None:
    """A text that is proposed is there, also without a cache."""
    propose(site)
    assert "no request was needed" in site.run("generate")
    assert "requests to be sent: 0" in site.run("generate", "--dry-run")


def test_a_proposed_text_is_shown_and_approved(site: Site) -> None:
    """Whoever has the file can read it, with what is to check, and approve it for a reason."""
    propose(site)
    shown = site.run("show", "index.md")
    assert "In ==1999==, it was slow." in shown
    assert "to check: In ‹1999›, it was slow." in shown
    assert "1 statement is left to check" in site.run("approve", "index.md", "--by", "Jo", code=1)
    assert "proposed" in site.approved.read_text()
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
    approved = in_file(site)
    assert approved.approval is not None
    assert approved.approval.approved_by == "Jo"
    assert approved.approval.unchecked == ("1999",)
    assert "<mark>" not in approved.text.html
    assert status(site)["state"] == "approved"


def test_statements_that_are_settled_in_an_editor(site: Site) -> None:
    """A mark that was taken out of the file is a statement that somebody has settled."""
    propose(site)
    edit_file(site.approved, "<mark>1999</mark>", "1999")
    assert status(site)["marked"] == 0
    site.run("approve", "index.md", "--by", "Jo")
    text = in_file(site).text
    assert text.edits is None, "who takes out a mark has written no block"


def test_a_proposed_text_is_ejected(site: Site) -> None:
    """It becomes the author's own Markdown."""
    propose(site)
    said = site.run("eject", "index.md")
    assert "contentgen/index.md/main.html: can be deleted" in said
    assert "nobody approved this text" in said
    assert "In <mark>1999</mark>, it was slow." in (site.root / "docs/index.md").read_text()


def test_an_edited_block_is_a_persons(site: Site) -> None:
    """The author of the line in git is the author of the block; nothing else has one."""
    propose(site)
    edit_file(site.approved, "Two cores are enough.", "Two cores &amp; a disk are enough.")
    commit(site.root, name="Grace Hopper")
    edits = status(site)["edits"]
    assert isinstance(edits, dict)
    assert [*edits["changed_by"].values()] == ["Grace Hopper"]
    assert "edited in its file" in str(status(site)["reason"])
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
    text = in_file(site).text
    assert text.edits is not None
    assert [*text.edits.changed_by.values()] == ["Grace Hopper"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("", "somebody"), ("Evil \x1b[2J", "somebody"), ("x" * 400, "x" * 300)],
    ids=["none", "hostile", "long"],
)
def test_a_name_that_cannot_be_kept(site: Site, name: str, shown: str) -> None:
    """Where git knows no name that can stand in a file, it was somebody."""
    propose(site)
    edit_file(site.approved, "Two cores are enough.", "One core is enough.")
    if name:
        commit(site.root, name=name)
    edits = status(site)["edits"]
    assert isinstance(edits, dict)
    assert [*edits["changed_by"].values()] == [shown]


def test_a_block_of_an_approved_file_is_a_persons(site: Site) -> None:
    """What is edited after the approval is known as well, here in a file of a long block."""
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
    commit(site.root)
    edit_file(site.approved, "Two cores are enough.", "Many cores,\n  and a disk, are enough.")
    commit(site.root, name="Grace")
    row = status(site)
    assert row["state"] == "changed"
    assert isinstance(row["edits"], dict)
    assert [*row["edits"]["changed_by"].values()] == ["Grace"]


def test_formatters_change_nothing(site: Site) -> None:
    """Other line endings, indents and end tags are the same document, whoever committed them."""
    propose(site)
    edit_file(
        site.approved,
        "<p>Two cores are enough.</p>\n",
        "  <p>\n    Two cores\n    are enough.\n  </p>\n",
    )
    site.approved.write_bytes(site.approved.read_bytes().replace(b"\n", b"\r\n"))
    commit(site.root, name="A formatter")
    row = status(site)
    assert row["edits"] is None
    assert row["reason"] == "not reviewed, 1 statement to check, 1 remark"


def test_words_of_people_are_not_overwritten(site: Site) -> None:
    """A draft that does not have them is proposed only with --yes."""
    propose(site)
    edit_file(site.approved, "Two cores are enough.", "One core is enough.")
    commit(site.root)
    site.draft("<article><h1>Alpha</h1><p>Newer.</p></article>", day=2)
    before = site.approved.read_bytes()
    said = site.run("propose", "index.md", code=1)
    assert "has human edits that the new text does not have: 'One core is enough.' by Ada" in said
    assert "contentgen diff index.md" in said
    assert site.approved.read_bytes() == before
    site.run("propose", "--all", "--yes")
    assert "Newer." in site.approved.read_text()


@pytest.mark.parametrize("command", [("propose",), ("approve", "--by", "Jo")])
def test_a_file_that_is_overwritten_is_kept(site: Site, command: tuple[str, ...]) -> None:
    """What somebody has written there and nobody has committed is in the cache then."""
    propose(site)
    edit_file(site.approved, "Two cores are enough.", "One core is enough.")
    before = site.approved.read_text()
    site.draft("<article><h1>Alpha</h1><p>Newer.</p></article>", day=2)
    site.run(*command, "index.md", "--yes")
    now = site.approved.read_text()
    assert "Newer." in now
    store = DiskStore(site.root / ".cache/plugin/contentgen")
    kept = decode_kept(store.load_kept(REQUEST.key(sandbox=True))[-1])
    assert kept is not None
    assert (kept.file, kept.after) == (before, sha256(now))


def test_nothing_is_overwritten_that_cannot_be_kept(site: Site) -> None:
    """Where the cache cannot be written, the file stays as it is, and the message says why."""
    propose(site)
    site.draft("<article><h1>Alpha</h1><p>Newer.</p></article>", day=2)
    edit_file(site.approved, "Two cores are enough.", "One core is enough.")
    before = site.approved.read_text()
    database = sqlite3.connect(site.root / ".cache/plugin/contentgen/cache.db")
    database.execute(
        "CREATE TRIGGER full BEFORE INSERT ON Cache BEGIN SELECT RAISE(FAIL, 'x'); END"
    )
    database.commit()
    database.close()
    for command in (("propose",), ("approve", "--by", "Jo")):
        assert "cannot be written" in site.run(*command, "index.md", "--yes", code=1)
        assert site.approved.read_text() == before


PICTURES = (
    "<article><h1>Alpha</h1><figure><img src='https://a.example/t.png' alt='{0}'></figure>"
    "<p>Two cores <img src='https://a.example/i.png' alt='{1}'> are enough.</p></article>"
)


@pytest.mark.parametrize("texts", [("A red house", "x"), ("x", "A red house")])
@pytest.mark.parametrize("command", ["propose", "approve"])
def test_an_alternative_text_is_not_overwritten(
    site: Site, texts: tuple[str, str], command: str
) -> None:
    """A person has said what is in a picture, beside words or within them."""
    plugin = {"base_url": "sandbox", "image_hosts": ["a.example"]}
    site.configure(plugins=[{"contentgen": plugin}])
    site.draft(PICTURES.format("x", "x"))
    propose(site)
    path = site.approved
    for number, text in enumerate(texts):
        place = "i.png" if number else "t.png"
        picture = next(line for line in path.read_text().splitlines() if place in line)
        edit_file(path, picture, picture.replace('alt="x"', f'alt="{text}"'))
    commit(site.root)
    site.draft(PICTURES.format("x", "x"), day=2)
    before = site.approved.read_bytes()
    if command == "propose":
        said = site.run("propose", "index.md", code=1)
        assert "`alt` 'A red house' by" in said
        assert site.approved.read_bytes() == before
    else:  # without a terminal, the words of a person are what is approved
        site.run("approve", "index.md", "--by", "Jo")
        assert "A red house" in site.approved.read_text()


def test_who_wrote_beside_a_picture(site: Site) -> None:
    """Git names the person, also where the site shows no pictures of that host."""
    plugin = {"base_url": "sandbox", "image_hosts": ["a.example"]}
    site.configure(plugins=[{"contentgen": plugin}])
    site.draft(PICTURES.format("x", "x"))
    propose(site)
    edit_file(site.approved, "Two cores", "Four cores")
    commit(site.root)
    for hosts in (["a.example"], []):
        site.configure(plugins=[{"contentgen": plugin | {"image_hosts": hosts}}])
        edits = status(site)["edits"]
        assert isinstance(edits, dict)
        assert list(edits["changed_by"].values()) == ["Ada"]


def test_approve_yes_takes_the_newer_draft(site: Site) -> None:
    """Also over an approved text of a person, which is never overwritten without it."""
    site.run("approve", "index.md", "--by", "Jo", "--reason", "read")
    edit_file(site.approved, "Two cores are enough.", "One core is enough.")
    site.run("approve", "index.md", "--by", "Jo")
    commit(site.root)
    site.draft("<article><h1>Alpha</h1><p>Newer.</p></article>", day=2)
    before = site.approved.read_bytes()
    said = site.run("approve", "index.md", "--by", "Jo", code=1)
    assert "'One core is enough.' by Ada" in said
    assert "approve the draft with --yes" in said
    assert site.approved.read_bytes() == before
    site.run("approve", "index.md", "--by", "Jo", "--yes")
    assert "Newer." in site.approved.read_text()


def test_an_approved_text_that_is_not_committed(site: Site) -> None:
    """A newer draft is approved in its place, if no human edits are lost."""
    site.run("approve", "index.md", "--by", "Jo", "--reason", "read")
    site.draft("<article><h1>Alpha</h1><p>Newer.</p></article>", day=2)
    assert "not committed" in site.run("propose", "index.md", code=1)
    site.run("approve", "index.md", "--by", "Jo")
    assert "Newer." in site.approved.read_text()


def test_a_draft_with_the_words_of_people_is_proposed(site: Site) -> None:
    """Where the draft has all their words, nothing is lost, and nobody is asked."""
    propose(site)
    edit_file(site.approved, "Two cores are enough.", "One core is enough.")
    commit(site.root)
    site.draft("<article><h1>Alpha</h1><p>One core is enough.</p></article>", day=2)
    assert "proposed in" in site.run("propose", "--all")


def test_an_approved_text_stays_in_git(site: Site) -> None:
    """A draft takes its place in the file only once it is committed; `diff` compares with it."""
    site.draft("<article><h1>Alpha</h1><p>Approved.</p></article>", day=1)
    site.run("approve", "index.md", "--by", "Jo")
    site.draft("<article><h1>Alpha</h1><p>Newer.</p></article>", day=2)
    assert "is not committed; commit it first" in site.run("propose", "index.md", code=1)
    commit(site.root)
    site.run("propose", "index.md")
    assert site.run("diff", "index.md").splitlines()[:3] == [
        "index.md, article 'main': from the approved text to the proposed file",
        "Alpha",
        "[-Approved.-]{+Newer.+}",
    ]
    assert status(site)["state"] == "proposed"


def test_diff_of_an_edited_proposal(site: Site) -> None:
    """It is compared with the text as it was proposed, out of git."""
    propose(site)
    edit_file(site.approved, "Two cores", "Three cores")
    commit(site.root)
    assert site.run("diff", "index.md").splitlines() == [
        "index.md, article 'main': from the proposed text to the edited file",
        "… 2 lines the same …",
        "[-Two-] {+Three+} cores are enough.",
    ]


def test_diff_of_an_approved_file_that_was_edited_elsewhere(site: Site) -> None:
    """Without a cache, git has the text that was approved."""
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
    commit(site.root)
    shutil.rmtree(site.root / ".cache")
    edit_file(site.approved, "Two cores", "Three cores")
    assert "[-Two-] {+Three+} cores are enough." in site.run("diff", "index.md")


def test_nothing_to_propose(site: Site) -> None:
    """What is proposed, approved or missing already is said."""
    propose(site)
    assert "nothing to propose: proposed, not reviewed" in site.run("propose", "index.md")
    assert site.run("propose", "--all") == "There is no draft to propose.\n"
    site.approved.unlink()
    assert "there is no draft to propose; `contentgen generate" in site.run(
        "propose", "index.md", code=1
    )
    site.run("propose", code=2)


def test_a_newer_draft_is_approved_if_it_has_all_words(site: Site) -> None:
    """What was changed on the desk since the proposal is newer; words in the file are kept."""
    propose(site)
    newer = "<article><h1>Alpha</h1><p>Newer.</p></article>"
    site.draft(newer, day=2)
    assert "a newer draft is in the cache" in str(status(site)["reason"])
    edit_file(site.approved, "Two cores are enough.", "One core is enough.")
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
    assert "One core is enough." in in_file(site).text.html
    site.approved.write_text(git(site.root, "show", "HEAD:contentgen/index.md/main.html"))
    site.run("approve", "index.md", "--by", "Jo")
    assert "Newer." in in_file(site).text.html


@pytest.mark.parametrize("name", ["approved_by", "approved_at", "sha256"])
def test_an_approval_that_was_written_by_hand(site: Site, name: str) -> None:
    """A proposed file with a part of an approval is damaged: nobody becomes a reviewer this way."""
    propose(site)
    edit_file(site.approved, "format: 1\n", f"format: 1\n{name}: '2026-01-02'\n")
    assert f"main.html:3: {name}: a proposed text has no approval" in site.run("status", code=1)


def test_a_proposal_that_was_renamed_to_an_approval(site: Site) -> None:
    """The digest of a proposal is not that of an approval."""
    propose(site)
    edit_file(site.approved, "\nproposed: ", "\napproved_by: Jo\napproved_at: 2026-01-02\nsha256: ")
    assert status(site)["state"] == "changed"
    site.run("status", "--check", code=1)


def test_two_proposals_that_git_cannot_merge(site: Site) -> None:
    """The markers of the conflict are named with their line, and nothing is shown."""
    git(site.root, "checkout", "-q", "-b", "one")
    site.run("propose", "index.md")
    commit(site.root)
    git(site.root, "checkout", "-q", "main")
    site.draft("<article><h1>Alpha</h1><p>Another.</p></article>", day=2)
    site.run("propose", "index.md")
    commit(site.root)
    with pytest.raises(subprocess.CalledProcessError):
        git(site.root, "merge", "-q", "one")
    assert "merge conflict in line " in site.run("status", code=1)


def test_words_on_the_desk_come_along(site: Site) -> None:
    """A draft that people have changed keeps their names in the file."""
    site.draft(DRAFT, day=2, edits=Edits(confirmed=("x",), changed_by={"0" * 16: "Jo"}))
    site.run("propose", "index.md")
    edits = in_file(site).text.edits
    assert edits is not None
    assert dict(edits.changed_by) == {"0" * 16: "Jo"}


@pytest.mark.parametrize("command", [("mkdocs", "build"), ("zensical", "build")])
def test_a_build_of_a_proposed_text(
    project: Project, service: ServiceDouble, command: tuple[str, str]
) -> None:
    """Without the cache, both generators show the page of a draft, and ask for nothing."""
    project.configure(theme="material", markdown_extensions=["contentgen"])
    project.page("index.md", {"type": "blog", "topic": "One"})
    project.ran("mkdocs_contentgen", "generate")
    project.ran("mkdocs_contentgen", "propose", "--all")
    for cache in (".cache", ".contentgen-cache"):
        shutil.rmtree(project.root / cache, ignore_errors=True)
    sent = len(service.received)
    project.ran(*command)
    page = project.html("index.html")
    assert "Text number 1" in page
    assert "AI-generated, not reviewed" in page
    assert 'ai-disclosure="ai-autonomous"' in page
    assert "ai-assisted" not in page
    assert len(service.received) == sent
    project.configure(
        {"require_approval": True}, theme="material", markdown_extensions=["contentgen"]
    )
    refused = project.ran(*command, code=1)
    said = "docs/index.md:2: nobody approved this text; read and approve it with `contentgen review"
    assert said in refused
