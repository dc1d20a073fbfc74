"""Approved files that a stranger's pull request brings, read and written by real commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unicodedata
from datetime import UTC, datetime
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
from approved_headers import sign, signed
from approved_texts import approve, save_approved
from bs4 import BeautifulSoup
from conftest import Project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from repository import edit_file

from mkdocs_contentgen.errors import ApprovalError
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.approved_file import MAX_FILE, decode_file, digest, name_problem
from mkdocs_contentgen.texts.approved_writer import restore_file
from mkdocs_contentgen.texts.articles import Article

TEXT = "<article><h1>Alpha</h1><p>Approved words.</p></article>\n"
LINES = "<article>\n<h1>Alpha</h1>\n<p>Approved words.</p>\n</article>\n"
"""The text in the lines that `approve` writes."""

ASKED = {"type": "blog", "topic": "Alpha"}
APPROVED = "contentgen/index.md/main.html"
"""The approved file, from where the commands run."""

FIELDS = {
    "format": "1",
    "request": "{type: blog, topic: Alpha}",
    "key": "abc",
    "service": "content generation service",
    "generated_at": "2026-01-02 10:11:12+00:00",
    "approved_by": "Jo",
    "approved_at": "2026-01-02",
    "sha256": "f" * 64,
}
"""The header of an approved file, in YAML."""


def approved_text(text: str = TEXT, **fields: str) -> str:
    """Return an approved file with some fields of its header in other words."""
    header = "".join(f"{name}: {value}\n" for name, value in (FIELDS | fields).items())
    return f"---\n{header}---\n{text}"


FIELDS["sha256"] = signed(approved_text()).partition("sha256: ")[2][:64]


def write_approved(project: Project, content: str, page: str = "index.md") -> Path:
    """Write a page that asks for a text, and its approved file."""
    project.page(page, ASKED)
    return project.write(f"contentgen/{page}/main.html", content)


def run(project: Project, *arguments: str, code: int = 0) -> str:
    """Run a program of Python; return what it printed, which is no traceback."""
    ran = project.run(*arguments)
    assert ran.returncode == code, ran.stdout
    assert "Traceback" not in ran.stdout
    return ran.stdout


def contentgen(project: Project, *arguments: str, code: int = 0) -> str:
    """Run `contentgen`; return what it printed."""
    return run(project, "mkdocs_contentgen", *arguments, code=code)


MERGES = (
    "[&a {x: y}"
    + "".join(
        f", &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}"
        for before, name in pairwise("abcdefghi")
    )
    + "]"
)
"""A list of mappings, each made of nine of the one before."""


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"note": "&a [x]"}, ":10: is not valid YAML: it has an anchor"),
        ({"note": "*a"}, ":10: is not valid YAML: it has an anchor or an alias"),
        ({"note": MERGES}, ":10: is not valid YAML: it has an anchor"),
        ({"note": "!!timestamp x"}, ":10: is not valid YAML: it has a tag"),
        ({"note": "!!int ''"}, ":10: is not valid YAML: it has a tag"),
        ({"note": "[" * 3000 + "]" * 3000}, ":10: is not valid YAML: exceeded maximum nesting"),
        ({"note": "[" * 30 + "]" * 30}, ":10: is not valid YAML: it is nested"),
        ({"note": "[" + "x," * 40_000 + "]"}, ":10: is not valid YAML: it has more than 40,000"),
        (
            {"note": "\n" + "".join(f"{'  ' * n}- a:\n" for n in range(60))},
            "it is nested more than",
        ),
        ({"note": "a\x07b"}, ":10: is not valid YAML: "),
        ({"note": "0x" + "f" * 6000, "format": "0x" + "f" * 6000}, ":2: format: "),
        ({"note": "9" * 6000}, ": is not valid YAML: "),
        ({"note": ":".join(["1"] * 400) + ".5"}, ": is not valid YAML: "),
        ({"approved_by": "'" + "J" * 201 + "'"}, ":7: approved_by: has 201 characters"),
        (
            {"approved_by": '"Jo\\nDoe"'},
            ":7: approved_by: contains \\n, which is not allowed in a name",
        ),
        ({"approved_by": '"\\x02wzxhzdk:0\\x03"'}, ":7: approved_by: contains \\x02, which"),
        ({"approved_by": '"Jo \\e]52;c;eA==\\a"'}, ":7: approved_by: contains \\x1b, which"),
        ({"approved_by": '"Jo \\u202e"'}, ":7: approved_by: contains \\u202e, which"),
        ({"approved_by": '"\\ud800"'}, ":7: is not valid YAML: found invalid Unicode"),
        ({"approved_by": "' '"}, ":7: approved_by: is empty"),
        ({"declined": "0001-01-01T00:00:00+23:00"}, ":10: declined: is in the year 1"),
        ({"declined": "9999-12-31T23:59:59-23:00"}, ":10: declined: is in the year 9999"),
        ({"generated_at": "0001-01-01T00:00:00+23:00"}, ":6: generated_at: is in the year 1"),
        ({"edition": "0"}, ":10: edition: "),
        ({"edition": "1" + "0" * 30}, ":10: edition: "),
        (
            {"note": "x\napproved_by: Ann"},
            ":11: is not valid YAML: the key 'approved_by' is there twice, first in line 7",
        ),
    ],
    ids=lambda value: str(value)[:30].encode("unicode_escape").decode(),
)
def test_a_header_that_costs_or_deceives(
    project: Project, fields: dict[str, str], message: str
) -> None:
    """It is an error with file and line, soon and without much memory."""
    write_approved(project, approved_text(**fields))
    shown = contentgen(project, "status", code=1)
    assert f"index.md{os.sep}main.html" in shown
    assert message in shown
    assert len(shown) < 1000


@pytest.mark.parametrize(
    "request_fields",
    ["0x" + "f" * 6000, "[" * 7 + "]" * 7, '"' + "x" * 6000 + '"', "2026-01-02"],
)
def test_a_foreign_value_is_shown_short(project: Project, request_fields: str) -> None:
    """What an outdated text was asked for with is shown, however large or odd it is."""
    fields = f"{{type: blog, topic: {request_fields}, revision: {request_fields}}}"
    write_approved(project, approved_text(request=fields))
    shown = contentgen(project, "status", "--json")
    assert '"state": "outdated"' in shown
    assert "topic was " in shown
    assert len(shown) < 1500


def test_a_text_that_is_too_large(project: Project) -> None:
    """A text has a limit, and a file without end is not read to its end."""
    file = write_approved(project, approved_text("x" * (256 * 1024 + 1)))
    message = ":1: html: expected `str` of length <= 262144"
    assert message in contentgen(project, "status", code=1)
    os.truncate(file, 20 * 1024**3)
    message = f"{APPROVED}: cannot be read (it has more than 524,288 bytes)"
    assert message in contentgen(project, "status", code=1)


def test_a_file_that_is_no_file(project: Project) -> None:
    """A pipe or a folder in its place hangs nobody."""
    file = write_approved(project, "")
    file.unlink()
    os.mkfifo(file)
    for command in (["mkdocs_contentgen", "status"], ["mkdocs", "build"]):
        assert f"{APPROVED}: cannot be read (" in run(project, *command, code=1)
    file.unlink()
    file.mkdir()
    assert f"{APPROVED}: cannot be read (Is a directory)" in contentgen(project, "status", code=1)


@pytest.mark.parametrize("link", ["contentgen/index.md/main.html", "contentgen/index.md"])
def test_links_are_not_read(project: Project, tmp_path_factory: pytest.TempPathFactory,
                            link: str) -> None:  # fmt: skip
    """No part of the path below the folder of approved files may be a symbolic link."""
    write_approved(project, approved_text())
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "moved"
    path = project.root / link
    shutil.move(path, elsewhere)
    path.symlink_to(elsewhere)
    message = f"{APPROVED}: cannot be read ({link} "
    assert message in contentgen(project, "status", code=1)
    assert message in contentgen(project, "approve", "--all", "--by", "Jo", code=1)
    assert message in run(project, "mkdocs", "build", code=1)


@pytest.mark.parametrize("link", ["contentgen/index.md/main.html", "contentgen/index.md"])
def test_approve_writes_through_no_link(
    project: Project, tmp_path_factory: pytest.TempPathFactory, link: str
) -> None:
    """A link that leads to nothing yet, or to a folder, makes no file there."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    project.page("index.md", ASKED)
    contentgen(project, "generate")
    path = project.root / link
    path.parent.mkdir(parents=True)
    path.symlink_to(elsewhere / "new" if link.endswith("html") else elsewhere)
    shown = contentgen(project, "approve", "--all", "--by", "Jo", code=1)
    assert f"({link} " in shown
    assert list(elsewhere.iterdir()) == []


def test_approve_writes_into_no_file_that_waits_for_it(project: Project) -> None:
    """Nobody can foresee where an approved file is written before it gets its name."""
    secret = project.write("secret.txt", "untouched")
    project.page("index.md", ASKED)
    contentgen(project, "generate")
    folder = project.root / "contentgen/index.md"
    folder.mkdir(parents=True)
    for name in ("main.new", "main.tmp", "main.html.new", ".main.html"):
        (folder / name).symlink_to(secret)
    contentgen(project, "approve", "--all", "--by", "Jo")
    assert secret.read_text() == "untouched"
    approved = folder / "main.html"
    assert approved.is_file()
    assert not approved.is_symlink()
    assert len(list(folder.iterdir())) == 5, "nothing else is left there"
    mode = approved.stat().st_mode
    assert mode & 0o777 == secret.stat().st_mode & 0o777, "others can read what git can"


def test_eject_writes_through_no_link(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A page that is a link to elsewhere is left as it is."""
    page = project.page("index.md", ASKED)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "page.md"
    page.rename(elsewhere)
    page.symlink_to(elsewhere)
    before = elsewhere.read_text()
    contentgen(project, "generate")
    message = "index.md: cannot be written (docs/index.md "
    assert message in contentgen(project, "eject", "index.md", code=1)
    assert elsewhere.read_text() == before


@pytest.mark.parametrize("link", [".cache", ".cache/plugin", ".cache/plugin/contentgen"])
def test_a_linked_cache_directory_is_left_alone(
    project: Project, tmp_path_factory: pytest.TempPathFactory, link: str
) -> None:
    """Another program's database is not renamed because a link leads to it."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    rest = Path(".cache/plugin/contentgen").relative_to(link)
    database = elsewhere / rest / "cache.db"
    database.parent.mkdir(parents=True, exist_ok=True)
    database.write_bytes(b"another program's")
    project.page("index.md", ASKED)
    path = project.root / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(elsewhere)
    message = (
        f"cache_dir: {link} is a symbolic link, which is not followed; give the directory that it "
        "leads to as cache_dir, or put a directory in the place of the link"
    )
    assert message in run(project, "mkdocs", "build", code=1)
    for command in (["status"], ["generate"], ["prune"]):
        assert f"cache_dir: {link} " in contentgen(project, *command, code=1)
    assert [path.name for path in database.parent.iterdir()] == ["cache.db"]

    project.configure({"cache_dir": str(elsewhere / "other")})
    contentgen(project, "generate")
    assert (elsewhere / "other/cache.db").is_file(), "a directory of one's own choice is fine"


def test_a_linked_directory_of_approved_files(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is refused below the project; one elsewhere is the author's choice, and may be a link."""
    write_approved(project, approved_text())
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.move(project.root / "contentgen", elsewhere / "real")
    (project.root / "contentgen").symlink_to(elsewhere / "real")
    message = "approved_dir: contentgen "
    assert message in run(project, "mkdocs", "build", code=1)
    assert message in contentgen(project, "status", code=1)
    (elsewhere / "link").symlink_to(elsewhere / "real")
    project.configure({"approved_dir": str(elsewhere / "link")})
    assert "1 from approved files" in run(project, "mkdocs", "build")
    project.configure({"approved_dir": "contentgen/../contentgen"})
    assert message in contentgen(project, "status", code=1)


def test_approved_files_among_the_pages(project: Project) -> None:
    """They are not sanitized, so that the site must not publish them as they are."""
    project.page("page.md", ASKED)
    project.configure({"approved_dir": "docs/texts", "cache_dir": "docs/.cache"})
    message = "approved_dir: 'docs/texts' is in docs_dir, so that its files would be published as"
    assert message in run(project, "mkdocs", "build", code=1)
    assert "add `/texts/` to exclude_docs" in contentgen(project, "status", code=1)
    project.configure({"approved_dir": "docs/texts"}, exclude_docs="/texts/\n")
    contentgen(project, "generate")
    contentgen(project, "approve", "page.md", "--by", "Jo")
    assert "1 from approved files" in run(project, "mkdocs", "build")
    assert not (project.root / "site/texts").exists()


@pytest.mark.parametrize(
    ("options", "exclude", "problem"),
    [
        ({"approved_dir": "docs/texts"}, "/texts/*.html", "is in docs_dir"),
        ({"approved_dir": "docs/texts"}, "/texts/\n!main.html", "is in docs_dir"),
        ({"cache_dir": "docs/cache"}, "*.html", "is in docs_dir"),
        ({"cache_dir": "linked/cache"}, "", "is in docs_dir"),
        ({"approved_dir": "."}, "", "contains docs_dir"),
        ({"cache_dir": "docs"}, "", "contains docs_dir"),
        ({"approved_dir": "site/texts"}, "", "is in site_dir"),
    ],
)
def test_directories_that_are_published(
    project: Project, options: dict[str, str], exclude: str, problem: str
) -> None:
    """They are refused, also if no page requests a text."""
    project.write("docs/index.md", "# Home\n")
    if "linked/cache" in options.values():
        (project.root / "docs").rename(project.root / "linked")
        (project.root / "docs").symlink_to("linked")
    project.configure(options, exclude_docs=exclude)
    assert f"{problem}, " in run(project, "mkdocs", "build", code=1)
    assert not list((project.root / "site").glob("**/*.html"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(
            [*FIELDS, *"{}[],:?-#'\"|>&*!%@`=~<\\\n \t", ": ", "\n  - ", "\n  ", "<<: "]
        )
        | st.sampled_from(
            ["1:1.5", "0x", "1e999", "2026-01-02", "\x07", "\u2028", "yes", "\\ud800"]
        )
        | st.characters(exclude_categories=["Cs"]),
        max_size=30,
    ).map("".join),
    st.sampled_from([*FIELDS, "note"]),
)
def test_any_header_is_read_or_refused(tmp_path: Path, value: str, name: str) -> None:
    """Whatever a header holds, its text is there with a name to show, or the error is ours."""
    path = tmp_path / "main.html"
    path.write_text(approved_text(**{name: value}), encoding="utf-8")
    try:
        approved = read_approved(path, tmp_path)
    except ApprovalError as error:
        assert str(error).startswith(f"{path}:")
        return
    assert approved is not None
    assert approved.approval is not None
    assert name_problem(approved.approval.approved_by) == ""
    request = BlogRequest(topic="Alpha")
    article = Article(PageRequest(request), key="key", directory=tmp_path, approved=approved)
    assert article.state in ("approved", "changed", "outdated")
    assert len(article.reason) < 1000
    approve(approved.text, "key", "sandbox", "Jo")


def test_other_sources_are_another_request() -> None:
    """A text that was approved for some sources is outdated where its page names others."""
    request = BlogRequest(topic="Alpha", sources=("a.md",))
    text = Text("<article><p>One.</p></article>", datetime.now(UTC), request.record())
    approved = approve(text, "key", "writer", "Jo")
    assert approved.was_made_for(request)
    assert not approved.was_made_for(BlogRequest(topic="Alpha", sources=("b.md",)))
    assert not approved.was_made_for(BlogRequest(topic="Alpha"))


@pytest.mark.parametrize("name", ["Jo\x1b[31m", "Jo\u2066", "J" * 201, "Jo\nDoe", " "])
def test_names_that_no_page_should_show(project: Project, name: str) -> None:
    """Whoever approves has a name of one short line, whether `--by` or git says it."""
    project.page("index.md", ASKED)
    contentgen(project, "generate")
    shown = contentgen(project, "approve", "--all", "--by", name, code=2)
    assert "--by NAME" in shown
    assert "\x1b" not in shown
    project.environment |= {"HOME": str(project.root), "GIT_CONFIG_NOSYSTEM": "1"}
    project.environment["XDG_CONFIG_HOME"] = str(project.root)
    subprocess.run(
        ["git", "config", "--global", "user.name", name], env=project.environment, check=True
    )
    assert "--by NAME" in contentgen(project, "approve", "--all", code=2)
    assert not (project.root / "contentgen").exists()


@pytest.mark.parametrize(
    ("topic", "text", "by", "message"),
    [
        ("x", TEXT, "Jo\x02", "approved_by: contains \\x02, which is not allowed in a name"),
        ("x" * 263_000, TEXT, "Jo", "the header has 263,320 characters, 262,144 at most; make"),
        ("x", TEXT.replace("</article>", ""), "Jo", "</article> is missing"),
        ("x", f"{TEXT}<p>x</p>", "Jo", "<p> stands after </article>"),
        ("x", TEXT.replace("words", "\n=======\n"), "Jo", "merge conflict in line 19"),
        ("x", TEXT.replace("words", "a\r\nb"), "Jo", "html: would be another value"),
    ],
    ids=["name", "header", "open", "after", "conflict", "line-break"],
)
def test_nothing_is_written_that_cannot_be_read(
    tmp_path: Path, topic: str, text: str, by: str, message: str
) -> None:
    """It is refused with the reason, and what was there stays, also if it was nothing."""
    path = tmp_path / "main.html"
    now = datetime(2026, 1, 2, tzinfo=UTC)
    stored = Text(text, now, {**BlogRequest(topic="T").record(), "topic": topic})
    before = approve(Text(TEXT, now, BlogRequest(topic="T").record()), "key", "sandbox", "Jo")
    for is_new in (True, False):
        if not is_new:
            save_approved(path, tmp_path, before)
        there = [(it, it.read_bytes()) for it in tmp_path.iterdir()]
        with pytest.raises(ApprovalError) as error:
            save_approved(
                path,
                tmp_path,
                approve(stored, "key", "sandbox", by),
                before=None if is_new else read_approved(path, tmp_path),
            )
        assert f"{path}: cannot be written, since no build could read it ({message}" in str(
            error.value
        )
        assert [(it, it.read_bytes()) for it in tmp_path.iterdir()] == there


def test_what_is_just_allowed_is_written_and_read(tmp_path: Path) -> None:
    """Header, name and text may be as long as the limits say, and a text may have many authors."""
    path = tmp_path / "main.html"
    html = f"<article>\n<p>{'x' * 262_000}</p>\n</article>\n"
    changed_by = {f"{number:016x}": "Jo Doe" for number in range(4_900)}
    stored = Text(
        html,
        datetime(2026, 1, 2, tzinfo=UTC),
        BlogRequest(topic="x" * 19_000).record(),
        edits=Edits(changed_by=changed_by),
    )
    expected = approve(stored, "k", "sandbox", "J" * 200)
    save_approved(path, tmp_path, expected)
    approved = read_approved(path, tmp_path)
    assert approved is not None
    assert (approved.text, approved.approval) == (expected.text, expected.approval)


@pytest.mark.parametrize("name", ["Łukasz Żółć", "שרה כהן\u200f", "👩\u200d💻 Ada"])
def test_names_of_all_languages(project: Project, name: str) -> None:
    """A name of any script is approved with, read, shown, and printed as it is."""
    project.page("index.md", ASKED)
    contentgen(project, "generate")
    contentgen(project, "approve", "--all", "--by", name)
    assert f"{name} approved it" in contentgen(project, "status")
    assert project.build().returncode == 0
    shown = BeautifulSoup(project.html("index.html"), "html.parser").get_text()
    assert f"reviewed by {name} on" in shown


def test_a_file_that_is_refused_under_serve(project: Project) -> None:
    """A server shows why in the page, and goes on."""
    file = write_approved(project, "")
    file.unlink()
    os.mkfifo(file)
    project.page("other.md", {"type": "blog", "topic": "Other"})
    assert project.build_as_server().returncode == 0
    assert "cannot be read (" in project.html("index.html")


def test_a_renamed_page_keeps_its_approved_text(project: Project) -> None:
    """A file of a page that is gone is found by its request; build and status say where it is."""
    write_approved(project, approved_text())
    (project.root / "docs/index.md").rename(project.root / "docs/renamed.md")
    built = run(project, "mkdocs", "build")
    assert "Approved words." in project.html("renamed/index.html")
    assert (
        "docs/renamed.md:2: its approved text is still in the file of a page that is gone" in built
    )
    assert "its file is still at" in contentgen(project, "status")
    run(project, "mkdocs", "build", "--strict", code=1)
    (project.root / "contentgen/index.md").rename(project.root / "contentgen/renamed.md")
    assert "1 from approved files" in run(project, "mkdocs", "build", "--strict")


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_page_whose_letters_have_other_code_points(
    project: Project, forms: tuple[Literal["NFC", "NFD"], Literal["NFC", "NFD"]]
) -> None:
    """Its approved file is its own: nothing is moved, nothing is lost, and approving finds it."""
    before, after = (unicodedata.normalize(form, "docs/café.md") for form in forms)
    file = write_approved(project, approved_text(), before.removeprefix("docs/"))
    (project.root / before).rename(project.root / after)
    built = run(project, "mkdocs", "build", "--strict")
    assert "1 from approved files" in built
    assert "its file is still at" not in contentgen(project, "status")
    file.write_text(file.read_text().replace("Approved words.", "By hand."))
    contentgen(project, "approve", "--all", "--by", "Ann")
    assert "By hand." in file.read_text()
    assert "approved_by: Ann" in file.read_text()
    file.write_text("no header")
    assert "has no YAML header" in contentgen(project, "status", code=1)
    assert len(list((project.root / "contentgen").iterdir())) == 1


def test_an_unused_file_of_such_a_page_is_left_alone(project: Project) -> None:
    """A page that is there without a request in this build keeps its file without a message."""
    page = unicodedata.normalize("NFC", "café.md")
    write_approved(project, approved_text(), page)
    (project.root / "docs" / page).unlink()
    project.page(unicodedata.normalize("NFD", page), ASKED)
    project.configure({}, draft_docs="caf*")
    assert "no page requests" not in run(project, "mkdocs", "build")


def test_a_file_of_no_page_is_named(project: Project) -> None:
    """A text that no page asks for is named, but not that of a page that is not built."""
    project.configure({}, draft_docs="draft.md")
    for page in ("index.md", "gone.md", "draft.md", "plain.md"):
        write_approved(project, approved_text(request=f"{{type: blog, topic: {page}}}"), page)
        project.page(page, {"type": "blog", "topic": page})
    (project.root / "docs/gone.md").unlink()
    project.write("docs/plain.md", "Text.\n")
    built = run(project, "mkdocs", "build", "--strict", code=1)
    for output in (built, contentgen(project, "status")):
        for page, named in {"gone.md": 1, "plain.md": 1, "draft.md": 0, "index.md": 0}.items():
            lines = [line for line in output.splitlines() if "no page requests" in line]
            assert sum(page in line for line in lines) == named, (page, lines)


@pytest.mark.parametrize(
    "front", ["+++\n---\n{}---\n", "\n{}---\n", ""], ids=["broken", "open", "none"]
)
def test_the_file_of_the_only_request_is_named(project: Project, front: str) -> None:
    """A site that has lost its only request says so, in a build and in each command that lists."""
    path = write_approved(project, approved_text())
    assert "no page requests" not in run(project, "mkdocs", "build", "--strict")
    project.write("docs/index.md", front.format("contentgen: {type: blog, topic: Alpha}\n"))
    message = (
        f"{APPROVED}: no page requests this text; if its page should, correct the front matter "
        "there"
    )
    assert message in run(project, "mkdocs", "build", "--strict", code=1)
    assert message in contentgen(project, "status")
    path.unlink()
    assert "no page requests" not in run(project, "mkdocs", "build", "--strict")


def test_the_file_of_a_page_with_a_wrong_request_is_left_alone(project: Project) -> None:
    """Its page will ask for it again when that is corrected."""
    write_approved(project, approved_text())
    project.page("index.md", {"type": "blog", "topic": "Alpha", "lenght": "long"})
    built = run(project, "mkdocs", "build", code=1)
    assert "lenght" in built
    assert "no page requests" not in built


def test_no_page_takes_the_text_of_another(project: Project) -> None:
    """A file is found by its request only, and only while its own page does not ask for it."""
    write_approved(project, approved_text())
    project.page("second.md", ASKED)
    project.page("other.md", {"type": "blog", "topic": "Other"})
    listed = contentgen(project, "status", "--json")
    assert listed.count('"state": "approved"') == 1
    assert listed.count('"state": "missing"') == 2


def test_a_renamed_page_with_another_revision(project: Project) -> None:
    """It asks for a new text, so the approved one of its old name is not its own."""
    write_approved(project, approved_text())
    (project.root / "docs/index.md").unlink()
    page = project.page("new.md", ASKED)
    assert '"state": "approved"' in contentgen(project, "status", "--json")
    page.write_text(page.read_text().replace("topic:", "revision: 2\n  topic:"))
    assert '"state": "approved"' not in contentgen(project, "status", "--json")


def test_a_refused_draft_stays_refused(project: Project) -> None:
    """Only a draft that is newer still can take the place of an edited text."""
    path = write_approved(project, approved_text())
    contentgen(project, "generate", "--refresh")
    edit_file(path, "Approved words", "Approved hand-written words")
    contentgen(project, "approve", "index.md", "--by", "Jo")  # nobody there to say yes
    assert "declined: 20" in path.read_text()
    contentgen(project, "approve", "--all", "--by", "Jo")
    assert "hand-written words" in path.read_text()
    assert "1 from approved files" in run(project, "mkdocs", "build", "--strict")
    # The times are in seconds, of which the next draft needs none.
    sign(path, re.sub("declined: .*", "declined: 2026-01-03T12:00:00Z", path.read_text()))
    contentgen(project, "generate", "--refresh")
    contentgen(project, "approve", "--all", "--by", "Jo", "--yes")
    assert "hand-written words" not in path.read_text()


def test_a_file_that_does_not_say_what_was_written() -> None:
    """Without digests of its blocks, all of an edited text may be by a person."""
    edited = decode_file(approved_text(TEXT.replace("Approved", "My")).encode(), Path("main.html"))
    assert set(edited.text.changed_by.values()) == {"somebody"}
    assert len(edited.text.changed_by) == 2
    assert decode_file(approved_text().encode(), Path("main.html")).text.changed_by == {}


DAMAGES = {
    "conflict": (
        "Approved",
        "\n<<<<<<< HEAD\nApproved",
        12,
        "merge conflict in line 12; resolve it",
    ),
    "middle": ("</p>", "</p>\n=======\n", 12, "merge conflict in line 12; resolve it with git"),
    "end": ("</article>", "</article>\n>>>>>>> main", 12, "merge conflict in line 12; resolve"),
    "base": ("<p>", "\n||||||| 1a2b3c\n<p>", 12, "merge conflict in line 12; resolve it with git"),
    "indented": ("<p>", "\n  >>>>>>> main\n<p>", 12, "merge conflict in line 12; resolve it"),
    "joined": ("<p>", "<p>Old</p> <<<<<<< HEAD <p>", 11, "merge conflict in line 11; resolve it"),
    "long": ("<p>", "\n<<<<<<<<<< HEAD\n<p>", 12, "merge conflict in line 12; resolve it"),
    "Windows": ("<p>", "\r\n=======\r\n<p>", 12, "merge conflict in line 12; resolve it"),
    "header": ("key: abc", "=======\nkey: abc", 4, "merge conflict in line 4; resolve it"),
    "open": ("</article>", "", 11, "</article> is missing; add it, or restore the end"),
    "cut": ("words.</p></article>", "", 11, "</article> is missing; add it"),
    "after": (
        "</article>\n",
        "</article>\n\n\nMore <b>words</b>",
        14,
        "the text 'More' stands after",
    ),
    "block": ("</article>\n", "</article>\n<p>x</p>", 12, "<p> stands after </article>; move it"),
    "second": ("</article>\n", "</article>\n<article>x</article>", 12, "<article> stands after"),
    "closed": ("</article>\n", "</article>\n</article>", 12, "</article> stands after </article>"),
    "before": ("<article>", "\nA\n<article>", 12, "the text 'A' stands before <article>; move it"),
    "within": ("<article>", "<div><article>", 11, "<div> stands before <article>; move it into"),
    "nothing": (TEXT, "", 11, "there is no <article>"),
    "empty": (TEXT, "<article></article>", 11, "no build can show this text: the <article> has no"),
    "deep": ("words", "<div>" * 120, 11, "no build can show this text: the HTML is nested more"),
    "title": ("words", "the <title> element", 11, "<title> is not an element of a text, and"),
    "template": ("words", "\n<template>x</template>", 12, "<template> is not an element of a text"),
    "key": ("words", "Press <Enter>", 11, "<enter> is not an element of a text, and"),
    "comment": ("words", "\n<!-- words", 12, "'<!--' begins a comment that does not end; write"),
    "declaration": ("words", "<![x[", 11, "'<![' begins no tag; write '&lt;!['"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_text(tmp_path: Path, damage: str) -> None:
    """It is an error with file and line."""
    old, new, line, message = DAMAGES[damage]
    content = approved_text()
    assert old in content
    path = tmp_path / "main.html"
    path.write_text(content.replace(old, new))
    with pytest.raises(ApprovalError) as error:
        read_approved(path, tmp_path)
    assert str(error.value).startswith(f"{path}:{line}: {message}")


@pytest.mark.parametrize("damage", ["conflict", "middle", "end", "base", "open", "cut", "after"])
def test_a_damaged_text_with_the_right_sum(tmp_path: Path, damage: str) -> None:
    """Also a text whose SHA-256 somebody has computed anew is damaged."""
    old, new, line, message = DAMAGES[damage]
    header, _, text = approved_text().replace(old, new).rpartition("---\n")
    found = decode_file(approved_text().encode(), tmp_path)
    forged = digest(found.header, structs.replace(found.text, html=text))
    path = tmp_path / "main.html"
    path.write_text(f"{header.replace(FIELDS['sha256'], forged)}---\n{text}")
    with pytest.raises(ApprovalError) as error:
        read_approved(path, tmp_path)
    assert str(error.value).startswith(f"{path}:{line}: {message}")


@pytest.mark.parametrize("damage", ["middle", "base", "title", "comment", "cut", "after"])
def test_a_damaged_text_is_neither_published_nor_approved(project: Project, damage: str) -> None:
    """Build and commands name file and line and end with 1, and the file stays as it is."""
    old, new, line, message = DAMAGES[damage]
    path = write_approved(project, approved_text().replace(old, new))
    before = path.read_text()
    expected = f"contentgen/index.md/main.html:{line}: {message}"
    assert expected in run(project, "mkdocs", "build", code=1)
    assert expected in contentgen(project, "status", code=1)
    for pages in (["index.md"], ["--all"]):
        assert expected in contentgen(project, "approve", *pages, "--by", "Jo", code=1)
    assert path.read_text() == before


def test_signs_of_a_conflict_in_code(project: Project) -> None:
    """Code that is underlined, or is about git, can be approved, and is shown as it was."""
    code = "<<<<<<< HEAD\nTitle\n=======\nOther\n==========\n>>>>>>> main\n"
    html = f"<article><h1>Alpha</h1><pre><code>{escape(code)}</code></pre></article>"
    path = write_approved(project, approved_text(html))
    contentgen(project, "approve", "index.md", "--by", "Jo", code=1)
    path.write_text(path.read_text().replace("\n=======", "\n&#61;======"))
    contentgen(project, "approve", "index.md", "--by", "Jo")
    run(project, "mkdocs", "build", "--strict")
    assert escape(code.rstrip("\n")) in project.html("index.html")


HEADER = approved_text("")
SPREAD = {
    "an empty line below the header": f"{HEADER}\n{TEXT}",
    "an empty line above the header": f"\n{HEADER}{TEXT}",
    "an empty line at the end": f"{HEADER}{TEXT}\n",
    "no line break at the end": f"{HEADER}{TEXT.rstrip()}",
    "spaces after ---": f"{HEADER.replace('---', '---  ')}{TEXT}",
    "indented": f"{HEADER}<article>\n  <h1>Alpha</h1>\n\n  <p>\n    Approved\n    words.\n  </p>\n"
    "</article>",
    "a comment": f"{HEADER}<!-- prettier-ignore -->\n{TEXT}",
}


@pytest.mark.parametrize("content", SPREAD.values(), ids=SPREAD)
def test_what_formatters_do_is_no_change(tmp_path: Path, content: str) -> None:
    """The document is compared, not its spaces, and its lines are still known."""
    path = tmp_path / "main.html"
    path.write_text(content)
    approved = read_approved(path, tmp_path)
    assert approved is not None
    assert (approved.text.html, approved.is_changed) == (LINES, False)
    lines = content.splitlines()
    assert "---" in lines[approved.line - 2]
    path.write_text(path.read_text().replace("</p>", "<b>!</b></p>"))
    changed = read_approved(path, tmp_path)
    assert changed is not None
    assert changed.is_changed


def test_pictures_do_not_make_a_formatted_text_another(tmp_path: Path) -> None:
    """Which hosts pages show pictures of does not matter."""
    image = '<img alt="A" loading="lazy" src="https://Images.example/a.png">'
    html = f"<article>\n<p>Text {image}</p>\n</article>\n"
    stored = Text(html, datetime(2026, 1, 2, tzinfo=UTC), BlogRequest(topic="T").record())
    path = tmp_path / "main.html"
    save_approved(path, tmp_path, approve(stored, "key", "sandbox", "Jo"))
    path.write_text(path.read_text().replace("<p>", "\n  <p>").replace('.png"', '.png" /'))
    approved = read_approved(path, tmp_path)
    assert approved is not None
    assert (approved.text.html, approved.is_changed) == (html, False)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    """An editor that writes one changes neither the header nor the text."""
    path = tmp_path / "index.md/main.html"
    path.parent.mkdir()
    path.write_text(approved_text(), encoding="utf-8-sig")
    found = read_approved(path, tmp_path)
    assert found is not None
    assert (found.text.html, found.is_changed, found.line) == (LINES, False, 11)


def test_only_the_file_that_was_read_is_deleted(tmp_path: Path) -> None:
    """A file that was edited in the meantime stays, and its folder with files of others."""
    path = tmp_path / "index.md/main.html"
    path.parent.mkdir()
    path.write_text(approved_text())
    text = read_approved(path, tmp_path)
    assert text
    path.write_text(approved_text("<article>Edited.</article>"))
    with pytest.raises(ApprovalError, match="has just been edited"):
        restore_file(path, tmp_path, "", before=text)
    path.write_text(approved_text())
    other = path.with_name("other.html")
    other.touch()
    restore_file(path, tmp_path, "", before=text)
    assert list(path.parent.iterdir()) == [other]


def test_an_approved_sample(project: Project) -> None:
    """It stays when the site has a real service, and each build says what it is."""
    project.page("page.md", ASKED)
    project.configure({"base_url": "sandbox"})
    contentgen(project, "generate")
    contentgen(project, "approve", "page.md", "--by", "Jo")
    assert "a sample" not in run(project, "mkdocs", "build")
    project.configure()
    shown = run(project, "mkdocs", "build", "--strict", code=1)
    assert "docs/page.md:2: the text of its file is a sample of the sandbox; for a real" in shown


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ("sha256: D\n", {"sha256": range(2, 3)}),
        ('"sha256" :\n\n   D\n', {"sha256": range(2, 5)}),
        ("? sha256\n: D\n", {"sha256": range(2, 4)}),
        ("sha256: D\nedits:\n  reason: a\n    b\n", {"edits.reason": range(4, 6)}),
        ("sha256: D\nedits: {\nreason: |\n", None),
        ("sha256: D\nedits: {reason: a\n b, settled: 1}\n", {"edits.reason": range(3, 5)}),
        ("sha256: D\nnote: é😀\u2028 x\nedits:\n  reason: a\n", {"edits.reason": range(5, 6)}),
    ],
)
def test_the_lines_of_a_field(tmp_path: Path, header: str, lines: dict[str, range] | None) -> None:
    """They are those that git numbers, in whatever form of YAML the field is."""
    rest = "".join(f"{name}: {value}\n" for name, value in FIELDS.items() if name != "sha256")
    content = f"---\n{header.replace('D', FIELDS['sha256'])}{rest}---\n{TEXT}".encode()
    if lines is None:
        with pytest.raises(ApprovalError, match="is not valid YAML"):
            decode_file(content, tmp_path)
        return
    found = decode_file(content, tmp_path).field_lines
    assert {**found, **lines} == found


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_over_the_limit_is_damaged_wherever_it_is(tmp_path: Path, line_end: str) -> None:
    """A file of the limit is read; one of a byte more is not, whatever takes the place."""
    content = approved_text(note="").replace("\n", line_end).encode()
    euros, rest = divmod(MAX_FILE - len(content), len("€".encode()))
    content = content.replace(b"note: ", b"note: " + "€".encode() * euros + b"x" * rest)
    assert len(content) == MAX_FILE
    assert decode_file(content, tmp_path).text.request["topic"] == "Alpha"
    with pytest.raises(ApprovalError, match="has more than 524,288 bytes"):
        decode_file(content + b"\n", tmp_path)
