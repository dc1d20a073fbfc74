"""The commands `status`, `show`, `diff`, `approve` and `eject`, in the process of the test."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest
import yaml
from approved_headers import sign, signed
from click.testing import CliRunner
from golden_file import cases
from msgspec import structs
from remarks import in_words
from repository import edit_file
from sandbox_site import REQUEST, Site, make_site

from mkdocs_contentgen.cli.common import listen
from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.files import short_digest
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.remark import quotation_remarks
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.review.approving import check_lines
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.lookup import load_parts, save_parts
from mkdocs_contentgen.texts.store import DiskStore
from mkdocs_contentgen.writer.sources.sources import split_passages

CASES = cases("review")

NOTES = {"model": "any", "sources": ["notes.md"]}
APPROVED = "contentgen/index.md/main.html"
"""The approved file, from where the commands run."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site with one page, and change into its directory."""
    return make_site(tmp_path, monkeypatch)


def test_eject_on_a_site_with_hooks(site: Site) -> None:
    """A hook is a module among the plugins, without options."""
    site.write("hooks/dates.py", "def on_page_markdown(markdown, **kwargs):\n    return markdown\n")
    site.configure(hooks=["hooks/dates.py"])
    site.draft("<article><h1>Alpha</h1><p>Text.</p></article>")
    site.run("eject", "index.md")
    assert (site.root / "docs/index.md").read_text() == "# Alpha\n\nText.\n"


def article(*paragraphs: str) -> str:
    """Return an article, as approved files have it."""
    lines = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    return f"<article>\n<h1>Alpha</h1>\n{lines}</article>\n"


def approve(site: Site) -> None:
    """Approve a text of two words."""
    site.draft(article("One two."))
    site.run("approve", "index.md", "--by", "Jo")


def edit(site: Site) -> None:
    """Add a word to the approved text by hand."""
    site.approved.write_text(site.approved.read_text().replace("One two.", "One added two."))


EDIT = """\
index.md, article 'main': from the approved text to the edited file
Alpha
One {+added+} two.
"""


def test_diff_of_an_edited_text(site: Site) -> None:
    """An edit is compared with what was approved, so that an added word is shown as added."""
    approve(site)
    edit(site)
    assert site.run("diff", "index.md") == EDIT


def test_diff_shows_words(site: Site) -> None:
    """Of the HTML, it shows the tags that differ, without what the sanitizer added."""
    site.draft(article("See <a href='https://a.example/'>this</a>.", "Old."))
    site.run("approve", "index.md", "--by", "Jo")
    link = "<a href='https://b.example/'>this</a>"
    site.draft(article(f"See {link} &amp; more.", "Old.", f"New {link}."), day=2)
    assert site.run("diff", "index.md").splitlines()[1:] == [
        "Alpha",
        'See [-<a href="https://a.example/">-]{+<a href="https://b.example/">+}this '
        "[-.-]{+& more.+}",
        "Old.",
        '{+New <a href="https://b.example/">this</a>.+}',
    ]


def test_diff_of_an_edited_text_with_a_newer_draft(site: Site) -> None:
    """A line says how to see the edit, whose original the cache has no more."""
    approve(site)
    edit(site)
    site.draft(article("One in <mark>1999</mark>."), day=2, model="small")
    assert site.run("diff", "index.md") == (
        "index.md, article 'main': from the approved text to the edited file\n"
        "the approved text is neither in the cache nor in git; "
        f"`git log -p --word-diff {site.approved}` shows earlier versions\n"
        "index.md, article 'main': from the edited file to the draft\n"
        "Alpha\n"
        "One [-added two.-]{+in 1999.+}\n"
        "  to check: One in ‹1999›.\n"
    )


def test_approving_a_text_whose_sources_have_changed(site: Site) -> None:
    """Each cited section that has changed or is gone is named, and the text is approved."""
    site.configure(site_url="https://docs.example/")
    source = "# Limits\n\nTen a day.\n\n## Rates\n\nSlow.\n"
    site.write("docs/limits.md", source)
    sources = {
        f"https://docs.example/{section.link}": section.digest
        for section in split_passages(source, "limits.md", "limits/")
    }
    gone = "https://docs.example/gone/#all"
    site.draft(article("One."), sources={**sources, gone: "0" * 64})
    site.write("docs/limits.md", source.replace("Ten", "Nine"))
    printed = site.run("approve", "index.md", "--by", "Jo")
    warnings = [line for line in printed.splitlines() if "source" in line]
    assert warnings == ["  sources changed: limits/", "  source gone: gone/#all"]
    assert f"index.md: approved in {APPROVED}\n" in printed
    site.approved.write_text(site.approved.read_text().replace("One.", "Two."))
    site.draft(article("Three."), day=2)
    assert warnings[1] in site.run("approve", "index.md", "--by", "Jo")


@pytest.mark.parametrize(("html", "sentences"), CASES["the_sentences_to_check"])
def test_the_sentences_to_check(html: str, sentences: list[str]) -> None:
    """Of a paragraph, only the sentences with statements to check are printed, each once."""
    assert checks(article(html)) == sentences


def test_a_table_row_to_check() -> None:
    """The cells of a row are words of their own."""
    table = "<table><tr><th>Pages</th><td><mark>7</mark></td></tr></table>"
    assert checks(f"<article><h1>Alpha</h1>{table}</article>") == ["Pages ‹7›"]


def checks(html: str) -> list[str]:
    """Return what is to be checked in a draft of a model."""
    draft = Text(html, datetime(2026, 1, 1, tzinfo=UTC), REQUEST.record(), "small")
    lines = check_lines(draft.remarks, Document(draft.html))
    return [line.removeprefix("  to check: ") for line in lines]


def test_eject_keeps_the_approved_file(site: Site) -> None:
    """The approved file is named and stays."""
    approve(site)
    printed = site.run("eject", "index.md")
    assert printed.endswith(f"`git diff`\n{APPROVED}: can be deleted\n")
    assert site.approved.exists()


class Terminal(BytesIO):
    """The input of a person."""

    def isatty(self) -> bool:
        """Return that it is a terminal."""
        return True


@pytest.mark.parametrize(("answer", "approves"), [("", "edited"), ("n", "edited"), ("y", "draft")])
def test_approve_asks_before_it_replaces_an_edit(site: Site, answer: str, approves: str) -> None:
    """Nobody loses what they wrote by pressing Enter, and a draft is not declined in silence."""
    approve(site)
    edit(site)
    site.draft(article("Three four."), day=2)
    typed = Terminal(f"{answer}\n".encode())
    ran = CliRunner().invoke(main, ["approve", "index.md", "--by", "Jo"], input=typed)
    assert ran.exit_code == 0, ran.output
    assert "was edited by hand. Replace it by the newer draft? [y/N]" in ran.output
    expected = {"edited": "One added two.", "draft": "Three four."}[approves]
    assert expected in site.approved.read_text()
    assert ("the newer draft is declined" in ran.output) == (approves == "edited")


def test_approve_drops_no_words_of_people_where_nobody_is_asked(site: Site) -> None:
    """A draft that people have changed is not declined for a file that was edited by hand."""
    approve(site)
    edit(site)
    site.draft(article("Three four."), day=2, edits=Edits(removed=("One.",)))
    before = site.approved.read_text()
    refused = site.run("approve", "index.md", "--by", "Jo", code=1)
    assert "people have changed the newer draft, too" in refused
    assert site.approved.read_text() == before


KEPT = {
    "nothing": Edits(),
    "the reason of the approval": Edits(reason="a test"),
    "what was confirmed": Edits(reason="a test", confirmed=("3 days",), settled=1),
    "what was removed": Edits(removed=("It cures all.",)),
    "who wrote a block": Edits(changed_by={short_digest("One two."): "Ann"}),
}
"""What an update keeps of the text that it updates."""

CHANGED = {
    "confirmed": Edits(reason="a test", confirmed=("4 days",)),
    "removed": Edits(reason="a test", removed=("One.",)),
    "written": Edits(reason="a test", changed_by={short_digest("Three four."): "Ann"}),
    "settled": Edits(reason="a test", settled=1),
}
"""What people did with a draft, beside what was kept."""


@pytest.mark.parametrize("edits", KEPT.values(), ids=KEPT)
def test_what_an_update_keeps_is_no_change_of_the_draft(site: Site, edits: Edits) -> None:
    """So the file that was edited by hand is approved where nobody can be asked."""
    site.draft(article("One two."), edits=edits)
    site.run("approve", "index.md", "--by", "Jo", "--reason", "a test")
    edit(site)
    before = structs.replace(edits, reason="a test")
    site.draft(article("One two.", "Three four."), day=2, edits=before)
    assert "approved in" in site.run("approve", "index.md", "--by", "Jo")
    assert "One added two." in site.approved.read_text()


@pytest.mark.parametrize("edits", CHANGED.values(), ids=CHANGED)
def test_what_people_did_with_the_draft_is_not_declined(site: Site, edits: Edits) -> None:
    """It counts whatever an update has kept beside it."""
    site.draft(article("One two."))
    site.run("approve", "index.md", "--by", "Jo", "--reason", "a test")
    edit(site)
    site.draft(article("Three four."), day=2, edits=edits)
    refused = site.run("approve", "index.md", "--by", "Jo", code=1)
    assert "people have changed the newer draft, too" in refused
    assert "people have changed the newer draft" in site.run("eject", "index.md", code=1)


def test_a_draft_of_a_person_is_not_declined(site: Site) -> None:
    """All of it is theirs, also where nothing was changed on the desk."""
    approve(site)
    edit(site)
    site.draft(article("Three four."), day=2, written_by="Ann")
    refused = site.run("approve", "index.md", "--by", "Jo", code=1)
    assert "people have changed the newer draft, too" in refused
    assert "people have changed the newer draft" in site.run("eject", "index.md", code=1)


def test_no_question_about_a_draft_that_keeps_a_reason(site: Site) -> None:
    """A new draft loses nothing of it: the file has the reason."""
    site.draft(article("One two <mark>3 days</mark>."))
    site.run("approve", "index.md", "--by", "Jo", "--reason", "a test")
    site.draft(article("Three four."), day=2, edits=Edits(reason="a test"))
    assert "people have changed" not in site.run("generate", "index.md", "--refresh")


def test_approve_writes_the_normal_form_of_an_edit(site: Site) -> None:
    """So an update of one block leaves all other lines of the file as they are."""
    approve(site)
    lines = site.approved.read_text().replace("One", "Caf&eacute; <!-- ours --> one")
    site.approved.write_bytes(lines.replace("\n", "\r\n").encode())
    site.run("approve", "index.md", "--by", "Jo")
    html = site.approved.read_text().rpartition("---\n")[2]
    assert "Café" in html and "ours" not in html and "\r" not in html
    assert Document(html).to_lines() == html


REMARKS = in_words("length: 640 words for 900", "opening: begins with '\x1b[2J'")
REMARK_LINES = [
    "not as requested: length: 640 words for 900",
    r"not as requested: opening: begins with '\x1b[2J'",
]


def test_remarks_are_listed(site: Site) -> None:
    """`status` counts and lists what is not as requested; `diff` and `approve` name it."""
    site.draft(article("One two."), model="small", remarks=REMARKS)
    status = site.run("status")
    assert "not reviewed, 2 remarks" in status
    assert [line for line in status.splitlines() if "docs/index.md:2" in line] == [
        f"docs/index.md:2: {line}" for line in REMARK_LINES
    ]
    (listed,) = json.loads(site.run("status", "--json"))
    assert listed["remarks"] == [line.removeprefix("not as requested: ") for line in REMARK_LINES]
    lines = [f"  {line}" for line in REMARK_LINES]
    assert "there is nothing to compare" in (shown := site.run("diff", "index.md"))
    assert all(line in shown for line in REMARK_LINES)
    (site.root / ".git").mkdir()
    approved = site.run("approve", "index.md", "--by", "Jo").splitlines()
    assert approved[1:] == [*lines, "Next: git add contentgen"]
    assert "git add" not in site.run("approve", "index.md", "--by", "Jo")
    assert json.loads(site.run("status", "--json"))[0]["remarks"] == []
    site.draft(article("One three."), day=2, model="small", remarks=REMARKS)
    assert site.run("diff", "index.md").splitlines()[-2:] == lines
    assert "remark" not in site.run("status")


def test_an_invented_quotation_cannot_be_approved(site: Site) -> None:
    """A person asks for another draft, or takes it out of an approved file."""
    quoted = (*REMARKS[:1], *quotation_remarks(["It is new"]))
    site.draft(article("One."), model="small", remarks=quoted)
    assert site.run("approve", "index.md", "--by", "Jo", code=1) == (
        "Error: docs/index.md:2: this draft cannot be approved: quotation: this "
        "quotation is in no source: It is new; confirm, change or remove each statement with "
        "`contentgen review index.md`, "
        "or ask for another text with `contentgen generate --refresh index.md`\n"
    )
    assert not site.approved.exists()
    approve(site)
    edit(site)
    site.draft(article("One."), day=2, model="small", remarks=quoted)
    assert "approved in" in site.run("approve", "index.md", "--by", "Jo")
    assert "One added two." in site.approved.read_text()


def test_ejecting_what_nobody_approved(site: Site) -> None:
    """It is named with its remarks, and refused where no page may show it."""
    site.draft(article("One."), model="small", remarks=tuple(quotation_remarks(["It is new"])))
    assert "this draft cannot be approved: quotation" in site.run("eject", "index.md", code=1)
    site.draft(article("One in <mark>1999</mark>."), day=2, model="small", remarks=REMARKS)
    site.configure(plugins=[{"contentgen": STRICT}])
    assert "and require_approval is set; read and" in site.run("eject", "index.md", code=1)
    site.configure()
    assert site.run("eject", "index.md").splitlines()[1:] == [
        "index.md: nobody approved this text, and from now on, the page does not say how it "
        "came about",
        *(f"  {line}" for line in REMARK_LINES),
        "  to check: One in ‹1999›.",
    ]


def test_an_unapproved_text_is_ejected_with_its_marks(site: Site) -> None:
    """Whoever edits the page sees what nobody has checked, in code, too."""
    html = (
        "<mark><p>One.</p></mark><p>In <mark>1999</mark>, <code>run <mark>-x</mark></code>:</p>"
        "<pre><code>a <mark>/b</mark></code></pre>"
    )
    site.draft(f"<article><h1>Alpha</h1>{html}</article>")
    site.run("eject", "index.md")
    assert (site.root / "docs/index.md").read_text() == (
        "# Alpha\n\n<mark>One.</mark>\n\n"
        "In <mark>1999</mark>, <code>run <mark>-x</mark></code>:\n\n"
        "<pre><code>a <mark>/b</mark></code></pre>\n"
    )


STRICT = {"base_url": "sandbox", "require_approval": True}


def test_ejecting_an_edited_file(site: Site) -> None:
    """Nobody approved the text as it is now: it is said, and refused with `require_approval`."""
    approve(site)
    edit(site)
    site.configure(plugins=[{"contentgen": STRICT}])
    assert "docs/index.md:2: nobody approved this text" in site.run("eject", "index.md", code=1)
    assert "contentgen:" in (site.root / "docs/index.md").read_text()
    site.configure()
    assert site.run("eject", "index.md").splitlines()[1:] == [
        f"index.md: {APPROVED} was edited since Jo approved it; nobody approved the text as "
        "it is now, and from now on, the page does not say how it came about",
        f"{APPROVED}: can be deleted",
    ]
    assert "One added two." in (site.root / "docs/index.md").read_text()


def test_eject_asks_nothing_about_the_edits_of_the_approved_text(site: Site) -> None:
    """An update keeps them, such as the reason of the approval, so the file has them, too."""
    site.draft(article("One two <mark>3 days</mark>."))
    site.run("approve", "index.md", "--by", "Jo", "--reason", "a test")
    site.draft(article("Three four."), day=2, edits=Edits(reason="a test"))
    site.run("eject", "index.md")
    assert "3 days" in (site.root / "docs/index.md").read_text()


@pytest.mark.parametrize("change", [lambda site: None, edit], ids=["approved", "edited"])
def test_eject_asks_before_it_leaves_out_words(site: Site, change: Callable[[Site], None]) -> None:
    """A newer draft that a person has changed is named with the text that would be written."""
    approve(site)
    change(site)
    before = site.approved.read_text()
    site.draft(article("Three four."), day=2, edits=Edits(removed=("One.",)))
    refused = site.run("eject", "index.md", code=1)
    assert "people have changed the newer draft of index.md" in refused
    assert f"the text of {APPROVED}" in refused
    question = f"Write the text of {APPROVED}, without the words of the draft? [y/N]"
    ran = CliRunner().invoke(main, ["eject", "index.md"], input=Terminal(b"\n"))
    assert ran.exit_code == 1
    assert question in ran.output
    assert "contentgen:" in (site.root / "docs/index.md").read_text()
    ran = CliRunner().invoke(main, ["eject", "index.md"], input=Terminal(b"y\n"))
    assert ran.exit_code == 0
    assert "index.md: the newer draft was left out; `contentgen prune` drops it" in ran.output
    assert "Three" not in (site.root / "docs/index.md").read_text()
    assert site.approved.read_text() == before


def test_eject_names_a_newer_draft(site: Site) -> None:
    """A draft that nobody has touched is left out without a question, but not without a word."""
    approve(site)
    site.draft(article("Three four."), day=2)
    assert "the newer draft was left out" in site.run("eject", "index.md")


def test_ejecting_a_draft_beside_an_earlier_text(site: Site) -> None:
    """The approved file of an earlier request has a text of its own, which is not written."""
    approve(site)
    site.write("docs/index.md", "---\ncontentgen: {type: blog, topic: Beta}\n---\n")
    key = BlogRequest(topic="Beta").key(sandbox=True)
    store = DiskStore(site.root / ".cache/plugin/contentgen")
    text = Text(article("Of Beta."), datetime(2026, 1, 2, tzinfo=UTC), {"topic": "Beta"})
    store.save({key: text})
    store.close()
    printed = site.run("eject", "index.md")
    assert printed.endswith(
        f"{APPROVED}: has the text for an earlier request, which was not written\n"
    )


def test_of_many_remarks_the_first_are_listed(site: Site) -> None:
    """The others are there for whoever names the page."""
    remarks = in_words(*(f"length: {number} words" for number in range(8)))
    site.draft(article("One."), model="small", remarks=remarks)
    listed = site.run("status")
    assert listed.count("not as requested: ") == 5
    assert "docs/index.md:2: 3 more remarks, which `contentgen show index.md` prints\n" in listed
    for command in ("status", "show"):
        assert site.run(command, "index.md").count("not as requested: ") == 8


def test_approve_says_which_text_a_remark_is_about(site: Site) -> None:
    """Of several pages, each line stands below the page that it is about."""
    (site.root / ".git").mkdir()
    site.page("other.md")
    site.draft(article("One in <mark>1999</mark>."), model="small", remarks=REMARKS)
    reason = ("--reason", "read in print")
    *lines, last = site.run("approve", "--all", "--by", "Jo", *reason).splitlines()
    assert last == "Next: git add contentgen"
    notes = [*(f"  {line}" for line in REMARK_LINES), "  to check: One in ‹1999›."]
    pages = (
        f"{page}: approved in contentgen/{page}/main.html" for page in ("index.md", "other.md")
    )
    assert lines == [line for page in pages for line in (page, *notes)]


MARKED = article("One in <mark>1999</mark>, and <mark>five</mark> more.", "Two.")
LEFT = (
    "Error: docs/index.md:2: 2 statements are left to check ('1999', 'five'); settle them with "
    "`contentgen review index.md`, or say with --reason why you approve the text all the same\n"
)


def test_approving_statements_that_nobody_has_settled(site: Site) -> None:
    """It needs a reason, which the file keeps with the statements."""
    site.draft(MARKED, model="small")
    assert site.run("approve", "index.md", "--by", "Jo", code=1) == LEFT
    assert not site.approved.exists()
    site.run("approve", "index.md", "--by", "Jo", "--reason", " The lawyer said so ")
    header = yaml.safe_load(site.approved.read_text().split("---\n")[1])
    assert header["edits"] == {"reason": "The lawyer said so"}
    assert header["unchecked"] == ["1999", "five"]
    assert "<mark" not in site.approved.read_text()
    assert "already approved" in site.run("approve", "index.md", "--by", "Jo")


@pytest.mark.parametrize(
    ("reason", "problem"),
    [
        ("", "has no words"),
        (" \u200b.", "has no words"),
        ("a\nb", "contains \\n, which is not allowed in a reason"),
        ("a\x1b[2J", "contains \\x1b"),
        ("x" * 301, "has 301 characters; a reason has at most 300"),
    ],
)
def test_a_reason_that_is_none(site: Site, reason: str, problem: str) -> None:
    """It is a line with words in it."""
    site.draft(MARKED, model="small")
    shown = site.run("approve", "index.md", "--by", "Jo", "--reason", reason, code=2)
    assert f"--reason: the text {problem}" in shown
    assert not site.approved.exists()


def test_approve_all_leaves_out_what_nobody_has_settled(site: Site) -> None:
    """The others are approved, and those that are not are named."""
    site.draft(MARKED, model="small")
    other = "---\ncontentgen: {type: blog, topic: Beta}\n---\n"
    site.write("docs/other.md", other)
    site.run("generate", "other.md")
    (site.root / ".git").mkdir()
    printed = site.run("approve", "--all", "--by", "Jo", code=1)
    assert "other.md: approved in contentgen/other.md/main.html\n" in printed
    assert printed.endswith(f"Next: git add contentgen\n{LEFT}")
    assert not site.approved.exists()


def test_marks_in_an_edited_file_are_statements_to_check(site: Site) -> None:
    """Somebody who copies them into the file has not settled them."""
    approve(site)
    marked = site.approved.read_text().replace("One two.", "One <mark>two</mark>.")
    site.approved.write_text(marked)
    shown = site.run("approve", "index.md", "--by", "Jo", code=1)
    assert "docs/index.md:2: 1 statement is left to check ('two'); settle it with" in shown
    assert site.approved.read_text() == marked
    shown = site.run("approve", "index.md", "--by", "Jo", "--reason", "I know")
    assert "  to check: One ‹two›." in shown
    assert "unchecked:\n- two\n" in site.approved.read_text()


def test_what_was_approved_unchecked_is_known_later(site: Site) -> None:
    """It stays in the file, with the reason, until the text does not say it any more."""
    site.draft(MARKED, model="small")
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I know")
    for old, new, left in (
        ("Two.", "2.", "- '1999'\n- five\n"),
        (", and five more", "", "- '1999'\n"),
    ):
        site.approved.write_text(site.approved.read_text().replace(old, new))
        site.run("approve", "index.md", "--by", "Jo")
        content = site.approved.read_text()
        assert f"unchecked:\n{left}generated_at" in content
        assert "reason: I know" in content
    site.approved.write_text(site.approved.read_text().replace(" in 1999", ""))
    site.run("approve", "index.md", "--by", "Jo")
    assert "unchecked" not in site.approved.read_text()
    assert "reason" not in site.approved.read_text()


def test_many_statements_left_to_check(site: Site) -> None:
    """The file keeps as many as it has room for, and says how many more there were."""
    marks = "".join(f"<p><mark>{number} {'x' * 400}</mark></p>" for number in range(200))
    site.draft(f"<article><h1>Alpha</h1>{marks}</article>", model="small")
    shown = site.run("approve", "index.md", "--by", "Jo", code=1)
    assert " and 197 more); settle them with" in shown
    assert len(shown) < 500
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I know")
    content = site.approved.read_text()
    assert "- … and 167 more\n" in content
    assert "approved" in site.run("status", "--check")


def test_a_text_that_no_page_could_show(site: Site) -> None:
    """It is refused with the reason, and nothing is written."""
    site.draft(f"<article><h1>Alpha</h1><ul>{'<li>x' * 5_200}</article>")
    shown = site.run("approve", "index.md", "--by", "Jo", code=1)
    assert shown == (
        "Error: docs/index.md:2: no build can show this draft: the HTML is too large: 10,406 tags, "
        "10,000 at most; `contentgen generate --refresh index.md` requests another\n"
    )
    assert not site.approved.parent.exists()


def test_show_a_draft(site: Site) -> None:
    """The state, what to look at, and the text as a page has it, with nothing that is obeyed."""
    site.draft(
        "<article><h1>Alpha</h1><section><p>In <mark>1999</mark>.\u202e</p></section>"
        "<ol><li><p>One</p></li><li>Two</li></ol><dl><dt>Term</dt><dd>Words</dd></dl>"
        "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table></article>",
        model="small",
        remarks=REMARKS,
    )
    heading, *lines = site.run("show", "index.md").splitlines()
    assert heading == (
        "index.md, article 'main': draft, not reviewed, 1 statement to check, 2 remarks; "
        "generated on 2026-01-01 by small"
    )
    assert lines[:2] == [f"docs/index.md:2: {line}" for line in REMARK_LINES]
    assert [line for line in lines[2:] if line] == [
        *("# Alpha", "In ==1999==.\\u202e", "1. One", "2. Two", "**Term:** Words"),
        *("| A | B |", "| --- | --- |", "| 1 | 2 |", "to check: In ‹1999›.\\u202e"),
    ]


def test_show_evidence(site: Site) -> None:
    """What to check and to read stands with the closest passages, or that no source says it."""
    site.write("notes.md", "# Speed\n\nA build of the site takes four seconds with a cache.\n")
    site.configure(plugins=[{"contentgen": {"base_url": "writer", "writer": NOTES}}])
    read = '<span class="to-read">Elephants wander through dusty savannas.</span>'
    both = '<span class="to-read">Zebras graze <mark>nine</mark> meadows daily.</span>'
    html = article(f"A build takes <mark>5 seconds</mark> with a cache. {read} {both}")
    store = DiskStore(site.root / ".cache/plugin/contentgen")
    store.prepare()
    time = datetime(2026, 1, 1, tzinfo=UTC)
    store.save({REQUEST.key(sandbox=False): Text(html, time, REQUEST.record())})
    store.close()
    shown = site.run("show", "index.md")
    assert shown.endswith(
        "to check: A build takes ‹5 seconds› with a cache.\n"
        "  notes.md, Speed: A build of the site takes four seconds with a cache.\n"
        "\n"
        "to check: Zebras graze ‹nine› meadows daily.\n"
        "  no source says this\n"
        "\n"
        "to read: Elephants wander through dusty savannas.\n"
        "  no source says this\n"
    )
    [row] = json.loads(site.run("status", "--json"))
    assert (row["marked"], row["to_read"]) == (2, 2)


def test_show_names_a_page_as_the_navigation_does(site: Site) -> None:
    """A source without a title and a heading of its own has no better name for a reader."""
    site.write("docs/tp-2.md", "A build of the site takes four seconds with a cache.\n")
    site.configure(
        plugins=[
            {"contentgen": {"base_url": "writer", "writer": {"model": "any", "sources": True}}}
        ],
        nav=["index.md", {"Operate": [{"Speed of builds": "tp-2.md"}]}],
    )
    site.draft(article("A build takes <mark>5 seconds</mark> with a cache."), is_for_writer=True)
    assert "\n  tp-2.md, Speed of builds: A build of the site" in site.run("show", "index.md")


def test_show_compares_with_no_text_of_another_page(site: Site) -> None:
    """A text that another page requests is not the earlier text of this one."""
    site.draft(article("One."))
    other = "---\ncontentgen: {type: blog, topic: Beta}\n---\n"
    site.write("docs/other.md", other)
    assert "missing, never generated" in site.run("show", "other.md", code=1)


def test_show_an_approved_text(site: Site) -> None:
    """What the page has is shown, and not the draft beside it."""
    approve(site)
    edit(site)
    site.draft(article("Newer."), day=2)
    shown = site.run("show", "docs/index.md", "--id", "main")
    assert shown.startswith("index.md, article 'main': changed, edited since Jo approved it; ")
    assert "One added two." in shown
    assert "Newer" not in shown


@pytest.mark.parametrize(("cost", "shown"), [(0.0042, "0.0042"), (None, "not known")])
def test_show_a_failed_text(site: Site, cost: float | None, shown: str) -> None:
    """The reason, the model, the cost, and what was answered, of which nothing is obeyed."""
    site.fail("# Alpha\n\n::error::x\x1b[2J\u202e\rover", cost=cost)
    today = datetime.now(UTC).date()
    assert site.run("show", "index.md").splitlines() == [
        rf"index.md, article 'main': failed, looped\x1b[2J (on {today})",
        f"model: small; cost: {shown}",
        "`contentgen generate index.md` asks (and pays) again. What was answered:",
        "",
        "# Alpha",
        "",
        r"\x3a:error::x\x1b[2J\u202e",
        "over",
    ]


def test_show_without_a_text(site: Site) -> None:
    """Nothing to show is a failure, and says what to do; so is an id that the page has not."""
    assert site.run("show", "index.md", code=1) == (
        "Error: index.md, article 'main': missing, never generated; "
        "`contentgen generate index.md` makes one\n"
    )
    assert "index.md has no article 'two'; it has: main" in site.run(
        "show", "index.md", "--id", "two", code=2
    )


def test_prune_asks_for_what_was_replaced(site: Site) -> None:
    """Human edits are also in what the cache has kept of a text, or of its file."""
    edits = Edits(changed_by={"0" * 16: "Ann"})
    site.draft("<article><h1>Alpha</h1><p>By Ann.</p></article>", edits=edits)
    site.draft("<article><h1>Alpha</h1><p>New.</p></article>", edition=2)
    site.run("propose", "index.md")
    (site.root / "docs/index.md").write_text("# Alpha\n")
    assert "blog: Alpha, which people have changed\n" in site.run("prune", code=1)
    site.page()
    edit_file(site.approved, "New.", "By hand.")
    shutil.rmtree(site.root / ".cache")
    site.draft("<article><h1>Alpha</h1><p>Newer.</p></article>", edition=4)
    site.run("propose", "index.md", "--yes")
    (site.root / "docs/index.md").write_text("# Alpha\n")
    assert "blog: Alpha, which people have changed\n" in site.run("prune", code=1)


def test_prune_finds_failed_texts(site: Site) -> None:
    """What is known of a failed text goes with its request, and so do parts of a text."""
    site.fail("x")
    store = DiskStore(site.root / ".cache/plugin/contentgen")
    save_parts(store, "0" * 64, REQUEST, b"x")
    assert site.run("prune") == "texts dropped: 0\n"
    assert (len(store.requests("failed")[0]), load_parts(store, "0" * 64)) == (1, (b"", []))
    site.write("docs/index.md", "# Alpha\n")
    assert site.run("prune") == "blog: Alpha\ntexts dropped: 1\n"
    assert store.requests("failed") == ({}, [])
    store.close()


def test_generate_leaves_failed_texts_alone(site: Site) -> None:
    """Without a page, they are counted; with one, they are requested again."""
    site.fail("x")
    hint = (
        "1 text has failed before, and was not requested again; "
        "`contentgen generate PAGE` asks (and pays) again"
    )
    assert hint in site.run("generate", "--dry-run")
    assert hint in (shown := site.run("generate", code=1))
    assert "Error: docs/index.md:2: looped" in shown
    assert "failed" in site.run("status", "--check", code=1)
    assert "requests to be sent: 1;" in site.run("generate", "index.md", "--dry-run")
    assert "requests to be sent: 1;" in site.run("generate", "--refresh", "--dry-run")
    assert "texts generated: 1; failed: 0" in site.run("generate", "index.md")
    assert "draft" in site.run("status", "--check", code=1)
    site.run("approve", "index.md", "--by", "Jo")
    assert "approved" in site.run("status", "--check")


def test_answers_on_this_machine_do_not_wait() -> None:
    """The body of an answer follows its head at once, not after 40 ms."""
    with listen(0) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_approved_text_is_due_again(site: Site) -> None:
    """After `review_every`, it is named with its owner, and nothing fails; approving renews it."""
    approve(site)
    content = site.approved.read_text()
    day = datetime.now(UTC).date()
    old = content.replace(f"approved_at: {day}", f"approved_at: {day - timedelta(days=30)}")
    sign(site.approved, old)
    options = {"base_url": "sandbox", "review_every": "30d", "defaults": {"owner": "jo-doe"}}
    site.configure(plugins=[{"contentgen": options}])
    [row] = json.loads(site.run("status", "--json", "--check"))
    assert (row["state"], row["due_since"], row["owner"]) == ("approved", str(day), "jo-doe")
    assert row["reason"].endswith(f"; due for review since {day}, ask jo-doe")
    site.run("approve", "index.md", "--by", "Kim")
    [row] = json.loads(site.run("status", "--json"))
    assert (row["due_since"], row["approved_by"]) == (None, "Kim")
    assert site.approved.read_text() == signed(
        content.replace("approved_by: Jo", "approved_by: Kim")
    )
    assert "already approved" in site.run("approve", "index.md", "--by", "Jo")


@pytest.mark.parametrize("every", ["31d", "9999w"])
def test_an_approved_text_is_not_due_yet(site: Site, every: str) -> None:
    """Before that time, and for times that no calendar has."""
    approve(site)
    day = datetime.now(UTC).date()
    content = site.approved.read_text()
    site.approved.write_text(content.replace(str(day), str(day - timedelta(days=30))))
    site.configure(plugins=[{"contentgen": {"base_url": "sandbox", "review_every": every}}])
    [row] = json.loads(site.run("status", "--json"))
    assert row["due_since"] is None
