"""Whose commits vouch for an approval, with real commits, and with commits as data."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from approved_headers import sign, signed
from approved_texts import approve, propose, save_approved
from msgspec import structs
from repository import commit, edit_file, git, made_repository
from sandbox_site import Site, copy_site

from mkdocs_contentgen.git import Commit, CommittedLine, Person
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.review.vouching import JOBS_OF_GITHUB, find_doubts
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.approved_file import ApprovedText, decode_file

TODAY = date(2026, 11, 28)
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
TEXT = Text(
    "<article>\n<h1>Alpha</h1>\n<p>Two cores.</p>\n</article>\n",
    datetime(2026, 1, 2, tzinfo=UTC),
    BlogRequest(topic="Alpha").record(),
    written_by="Ann",
    edits=Edits(confirmed=("Two cores",), reason="I was there"),
)


def person(name: str) -> Person:
    """Return an author."""
    return Person(name, f"{name.lower()}@example.org")


def made(name: str, committer: Person | None = None) -> Commit:
    """Return a commit by a person."""
    return Commit(name, person(name), committer or person(name))


def file_by(name: str, day: date = TODAY) -> ApprovedText:
    """Return a file as a person has approved it on a day, read again."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "main.html")
        save_approved(
            path,
            Path(directory),
            approve(TEXT, "key", "sandbox", name, None, ("1999",)),
        )
        content = path.read_text()
    content = re.sub("approved_at: .*", f"approved_at: {day}", content)
    return decode_file(signed(content).encode(), path)


def doubts(
    file: ApprovedText,
    commit: Commit | None,
    others: Mapping[str, Commit | None] | None = None,
    versions: dict[str, ApprovedText] | None = None,
) -> dict[str, str]:
    """Return the reason for each doubt, by field, of a file by one commit but for some fields."""
    assert file.approval
    lines = [CommittedLine("", commit) for _ in range(file.line)]
    for field, other in (others or {}).items():
        for number in file.field_lines[field]:
            lines[number - 1] = CommittedLine("", other)
    found = find_doubts(file, file.approval, lines, versions or {}, NOW)
    return {doubt.field: doubt.reason for doubt in found}


FIELDS = (
    "approved_by",
    "sha256",
    "approved_at",
    "unchecked",
    "written_by",
    "edits.confirmed",
    "edits.reason",
)


def test_an_approval_by_its_person() -> None:
    """All lines are of the person named: nothing is doubtful."""
    assert doubts(file_by("Jo"), made("Jo")) == {}


@pytest.mark.parametrize("field", FIELDS)
def test_a_line_of_another_person(field: str) -> None:
    """Each line that makes up the approval counts, and no other."""
    file = file_by("Jo")
    assert doubts(file, made("Jo"), {field: made("Mallory")}) == {field: "committed by Mallory"}
    unknown = "from a commit that git does not know"
    assert doubts(file, made("Jo"), {field: None}) == {field: unknown}
    assert doubts(file, made("Jo"), {"generated_at": made("Mallory"), "blocks": None}) == {}


def test_all_lines_of_another_person() -> None:
    """Each field is named, once."""
    found = doubts(file_by("Jo"), made("Mallory"))
    assert found == dict.fromkeys(FIELDS, "committed by Mallory")
    nobody = Commit("x", Person("", "x@example.org"), person("Jo"))
    assert set(doubts(file_by("Jo"), nobody).values()) == {"from a commit without an author"}


def test_the_committer() -> None:
    """GitHub commits what people do there; another person commits in somebody's name."""
    file = file_by("Jo")
    for machine in (JOBS_OF_GITHUB, Person("GitHub", "noreply@github.com")):
        assert doubts(file, made("Jo", machine)) == {}
    for other in (person("Mallory"), Person("GitHub", "x@example.org")):
        reason = f"committed by {other.name} in the name of Jo"
        assert set(doubts(file, made("Jo", other)).values()) == {reason}


@pytest.mark.parametrize(
    ("name", "address", "is_known"),
    [
        ("Jo Doe", "7+jo@users.noreply.github.com", True),
        ("Jo Doe", "jo@users.noreply.github.com", True),
        ("Jo Doe (jo)", "x@example.org", True),
        ("Jo Doe", "7+mallory@users.noreply.github.com", False),
        ("Jo Doe", "jo@example.org", False),
        ("Mallory", "7+jo@users.noreply.github.com", False),
        ("", "7+jo@users.noreply.github.com", False),
    ],
)
def test_an_account_of_github(name: str, address: str, *, is_known: bool) -> None:
    """The login that an approval names has to be that of the address, which GitHub gives."""
    author = Person(name, address)
    found = doubts(file_by("Jo Doe (jo)"), Commit("x", author, JOBS_OF_GITHUB))
    assert (not found) == is_known


@pytest.mark.parametrize("name", ["Jo Doe Jr.", "Jo <3", "'Kim'", "Jo  Doe", "Zoë, Dr."])
def test_a_name_that_git_cannot_have(site: Site, name: str) -> None:
    """Git takes some characters out of it, which makes the person no other."""
    edit_file(site.approved, "approved_by: Jo", f"approved_by: {json.dumps(name)}")
    sign(site.approved, site.approved.read_text())
    git(site.root, "reset", "-q", "--soft", "HEAD~1")
    commit(site.root, name=name)
    assert reported(site) == []
    git(site.root, "commit", "-q", "--amend", "--reset-author", "--no-edit", name="Jo")
    assert "sha256" in reported(site)


@pytest.mark.parametrize(
    ("day", "made_on", "expected"),
    [
        (date(2026, 11, 28), NOW, {}),
        (date(2026, 11, 29), NOW, {"approved_at": "in the future"}),
        (date(2026, 11, 27), NOW, {"approved_at": "before the text was generated"}),
        (
            date(2026, 11, 28),
            NOW + timedelta(seconds=1),
            {"generated_at": "in the future"},
        ),
    ],
)
def test_dates(day: date, made_on: datetime, expected: dict[str, str]) -> None:
    """A text is approved on a day that was, and not before it was generated."""
    file = file_by("Jo", day)
    text = structs.replace(file.text, generated_at=made_on)
    assert doubts(replace(file, text=text), made("Jo")) == expected


def test_lines_of_an_earlier_approval() -> None:
    """What another person has approved before, or proposed, may stay; a forged approval may not."""
    file = file_by("Jo")
    kept = {field: made("Kim") for field in FIELDS[2:]}
    assert doubts(file, made("Jo"), kept, {"Kim": file_by("Kim")}) == {}
    reason = "committed by Kim"
    forged = dict.fromkeys(FIELDS[2:], reason)
    assert doubts(file, made("Jo"), kept, {"Kim": file_by("Jo")}) == forged
    changed = replace(file_by("Kim"), is_changed=True)
    assert doubts(file, made("Jo"), kept, {"Kim": changed}) == forged
    proposal = propose(TEXT, "key", "sandbox")
    in_proposal = doubts(file, made("Jo"), kept, {"Kim": proposal})
    assert in_proposal == dict.fromkeys(("approved_at", "unchecked", "edits.reason"), reason)
    anew = {field: made("Kim") for field in FIELDS[:2]}
    assert set(doubts(file, made("Jo"), anew, {"Kim": file_by("Kim")})) == {"approved_by", "sha256"}


@pytest.fixture(scope="module")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a site with a text that Jo has approved in a commit, on a branch."""
    root = tmp_path_factory.mktemp("made")
    with made_repository(root) as site:
        commit(root)
        git(root, "checkout", "-q", "-b", "texts")
        site.draft("<article><h1>Alpha</h1><p>In <mark>1999</mark>, it was slow.</p></article>")
        site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
        commit(root, name="Jo")
    shutil.rmtree(root / ".cache")
    return root


@pytest.fixture
def site(made_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a copy of the site, for one test."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    return copy_site(made_site, tmp_path, monkeypatch)


def reported(site: Site) -> list[str]:
    """Return the fields that `report` doubts, and check that each is said in the Markdown."""
    [row] = json.loads(site.run("report", "--base", "main", "--json"))
    found = []
    said = site.run("report", "--base", "main") if row["doubts"] else ""
    for doubt in row["doubts"]:
        field, _, reason = doubt["reason"].partition(": ")
        assert reason in said
        found.append(field)
    assert row["has_doubtful_approval"] == bool(found)
    return found


def quoted_key(header: str) -> str:
    """Return a header with the key in quotation marks."""
    return header.replace("\nsha256: ", '\n"sha256" : ')


def explicit_key(header: str) -> str:
    """Return a header with an explicit key."""
    return header.replace("\nsha256: ", "\n? sha256\n: ")


def value_below_its_key(header: str) -> str:
    """Return a header with the value on a later line."""
    return header.replace("\nsha256: ", "\n'sha256':\n\n  ")


def isoformat(day: date) -> str:
    """Return a date or a time as JSON has it."""
    return day.isoformat()


def flow_style(header: str) -> str:
    """Return a header with all fields in one line."""
    return f"{json.dumps(yaml.safe_load(header), default=isoformat)}\n"


def merged_keys(header: str) -> str:
    """Return a header whose fields are merged into it, as `<<` does."""
    return f"<<: {flow_style(header)}"


def flow_style_by_field(header: str) -> str:
    """Return a header with braces around all fields."""
    lines = []
    for name, value in yaml.safe_load(header).items():
        lines.append(json.dumps({name: value}, default=isoformat)[1:-1])
    return "{\n" + ",\n".join(lines) + "\n}\n"


@pytest.mark.parametrize(
    "form",
    [
        str,
        quoted_key,
        explicit_key,
        value_below_its_key,
        flow_style,
        merged_keys,
        flow_style_by_field,
    ],
)
def test_a_forged_approval_in_any_form(site: Site, form: Callable[[str], str]) -> None:
    """Another text below the approval of Jo is doubtful, in whatever form of YAML."""
    assert reported(site) == []
    _, header, text = site.approved.read_text().split("---\n")
    sign(site.approved, f"---\n{form(header)}---\n{text.replace('slow', 'fast')}")
    commit(site.root, name="Mallory")
    assert "sha256" in reported(site)


def test_what_a_changed_header_says(site: Site) -> None:
    """Whoever approves the file again is told which fields they vouch for then."""
    edit_file(site.approved, "edits:\n", "model: large\nwritten_by: Kim\nedits:\n")
    edit_file(site.approved, "reason: I was there", "reason: I know")
    said = site.run("diff", "index.md").split("only the header was changed; ")[1]
    assert said.strip() == "who wrote it, says: Kim; edits; model: large"


def test_two_keys_and_changed_fields(site: Site) -> None:
    """A second digest is damaged; what the header says is changed unless the digest is, too."""
    content = site.approved.read_text()
    for old, new in (
        ("approved_by: Jo", "approved_by: Kim"),
        ("edits:\n", "written_by: Kim\nedits:\n"),
        ("generated_at: 2026", "generated_at: 2025"),
        ("edits:\n", "model: large\nedits:\n"),
        ("reason: I was there", "reason: I know"),
        ("unchecked:\n", "ignored:\n"),
    ):
        assert old in content, content
        changed = content.replace(old, new, 1)
        assert decode_file(changed.encode(), site.approved).is_changed, old
        assert not decode_file(signed(changed).encode(), site.approved).is_changed
    sign(site.approved, changed)
    commit(site.root, name="Mallory")
    assert "sha256" in reported(site)
    edit_file(site.approved, "\nsha256:", "\n'sha256': x\nsha256:")
    assert "the key 'sha256' is there twice" in site.run("status", code=1)


def test_what_a_branch_brings(site: Site) -> None:
    """Neither a map of names, attributes, nor a name of an author hides who it was."""
    edit_file(site.approved, "slow", "fast")
    sign(site.approved, site.approved.read_text())
    site.write(".mailmap", "Jo <jo@example.org> Mallory <x@example.org>\n")
    site.write(".gitattributes", "*.html diff=x ident\n")
    git(site.root, "config", "blame.ignoreRevsFile", ".ignore")
    git(site.root, "add", ".mailmap")
    git(site.root, "add", "-f", "contentgen")
    git(site.root, "commit", "-q", "-m", "x", name="Mallory")
    site.write(".ignore", git(site.root, "rev-parse", "HEAD"))
    assert reported(site) == ["sha256"]
    author = "--author=Jo <jo@example.org>"
    git(site.root, "commit", "-q", "--amend", "--no-edit", author, name="Mallory")
    assert "committed by Mallory in the name of Jo" in site.run("report", "--base", "main")


def test_an_approval_that_is_not_committed(site: Site) -> None:
    """Nobody has committed what is in the folder, whoever has committed what was there."""
    edit_file(site.approved, "slow", "fast")
    sign(site.approved, site.approved.read_text())
    assert reported(site) == ["file"]
    commit(site.root, name="Jo")
    assert reported(site) == []


def test_a_second_approval_on_the_same_day(site: Site) -> None:
    """Lines that are as another person has approved them before are no doubt."""
    edit_file(site.approved, "slow", "fast")
    commit(site.root, name="Mallory")
    site.run("approve", "index.md", "--by", "Kim", "--reason", "I was there")
    commit(site.root, name="Kim")
    assert "approved_by: Kim" in site.approved.read_text()
    assert reported(site) == []


def test_a_submodule_in_place_of_the_folder(site: Site, tmp_path: Path) -> None:
    """Texts that come from another repository are reported, and what Jo has not made is doubted."""
    edit_file(site.approved, "slow", "fast")
    sign(site.approved, site.approved.read_text())
    folder = site.root / "contentgen"
    git(site.root, "rm", "-rq", "--cached", "contentgen")
    git(folder, "init", "-q")
    commit(folder, name="Mallory")
    site.run("report", "--base", "main")
    commit(site.root, name="Mallory")
    assert git(site.root, "ls-files", "--stage", "contentgen").startswith("160000")
    assert "sha256" in reported(site)


def test_a_merge_that_brings_another_text(site: Site) -> None:
    """What a merge writes itself is of whoever made the merge."""
    git(site.root, "checkout", "-q", "-b", "other", "main")
    site.write("docs/other.md", "# Other\n")
    commit(site.root, name="Mallory")
    git(site.root, "checkout", "-q", "texts")
    git(site.root, "merge", "-q", "--no-commit", "--no-ff", "other", name="Mallory")
    edit_file(site.approved, "slow", "fast")
    sign(site.approved, site.approved.read_text())
    commit(site.root, name="Mallory")
    assert reported(site) == ["sha256"]


def test_large_earlier_versions(site: Site) -> None:
    """A version above the limit is not read, and no reason to fail."""
    content = site.approved.read_text()
    site.approved.write_text(content + " " * 800_000)
    commit(site.root, name="Mallory")
    assert "more than 524,288 bytes" in site.run("report", "--base", "main")
    edit_file(site.approved, "slow", "fast")
    site.approved.write_text(site.approved.read_text().rstrip() + "\n")
    commit(site.root, name="Mallory")
    assert "slow" in site.run("diff", "index.md")
    assert "fast" in site.run("diff", "index.md")


def test_a_renamed_file(site: Site) -> None:
    """What was vouched for under the former name of a page is vouched for under the new one."""
    edit_file(site.approved, "slow", "fast")
    commit(site.root, name="Mallory")
    site.run("approve", "index.md", "--by", "Kim", "--reason", "I was there")
    commit(site.root, name="Kim")
    blamed = git(site.root, "blame", "HEAD", "contentgen/index.md/main.html").splitlines()
    assert any("(Jo " in line and "approved_at" in line for line in blamed)
    git(site.root, "mv", "docs/index.md", "docs/straße.md")
    git(site.root, "mv", "contentgen/index.md", "contentgen/straße.md")
    commit(site.root, name="Ada")
    assert reported(site) == []
    edit_file(site.root / "contentgen/straße.md/main.html", "approved_by: Kim", "approved_by: Jo")
    path = site.root / "contentgen/straße.md/main.html"
    sign(path, path.read_text())
    commit(site.root, name="Ada")
    assert reported(site) == ["approved_by", "sha256"]
