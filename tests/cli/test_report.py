"""The command `report`, which says what there is to review in GitHub's Markdown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from approved_headers import sign
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from remarks import in_words
from repository import commit, edit_file, git, made_repository, propose
from sandbox_site import Site, copy_site

from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.writer.sources.code_symbols import Symbol
from mkdocs_contentgen.writer.sources.python_code import read_python
from mkdocs_contentgen.writer.sources.sources import split_passages

RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")

DRAFT = (
    "<article><h1>Alpha</h1><p>In <mark>1999</mark>, it was slow.</p><p>Two cores.</p></article>"
)
REMARKS = in_words("length: 640 words for 900")


@pytest.fixture(scope="module")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a site with a page and its draft, in a repository whose first commit has no text."""
    root = tmp_path_factory.mktemp("made")
    with made_repository(root) as site:
        commit(root)
        git(root, "checkout", "-q", "-b", "texts")
        site.draft(DRAFT, remarks=REMARKS)
    return root


@pytest.fixture
def site(made_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a copy of the site, for one test."""
    for name in ("GITHUB_REPOSITORY", "GITHUB_SHA", "CI_PROJECT_URL", "CI_COMMIT_SHA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    return copy_site(made_site, tmp_path, monkeypatch)


def read(markdown: str) -> BeautifulSoup:
    """Return what a renderer makes of Markdown."""
    return BeautifulSoup(RENDERER.render(markdown), "html.parser")


def report(site: Site, *arguments: str) -> str:
    """Return what `report` says since the first commit."""
    return site.run("report", "--base", "main", *arguments)


def test_a_new_text(site: Site) -> None:
    """The first line is enough; a table and what is folded say more."""
    propose(site)
    said = report(site)
    assert said.splitlines()[0] == "**1 text to review: 1 statement left**"
    page = read(said)
    head, row = ([cell.get_text() for cell in line.find_all(["th", "td"])] for line in page("tr"))
    assert head == ["Page", "State", "Changed", "Statements left", "Remarks", "Owner"]
    assert row == ["index.md", "proposed", "new", "1", "1", ""]
    [details] = page.find_all("details")
    items = [item.get_text() for item in details.find_all("li")]
    assert items == [
        "In 1999, it was slow.",
        "length:\u200b 640 words for 900".replace("\u200b", ""),
    ]
    assert [mark.get_text() for mark in details.find_all("b")] == ["index.md", "1999"]


def test_words_that_changed(site: Site) -> None:
    """They are compared with the text of the base, whoever changed them."""
    propose(site)
    git(site.root, "branch", "-f", "main")
    edit_file(site.approved, "Two cores.", "Three cores.")
    commit(site.root, name="Grace")
    page = read(report(site))
    assert [word.get_text() for word in page.find_all("del")] == ["Two"]
    assert [word.get_text() for word in page.find_all("ins")] == ["Three"]
    assert page("tr")[1]("td")[2].get_text() == "1 block"


def test_only_what_has_changed(site: Site) -> None:
    """With a base, a text that is the same there is none of this pull request."""
    propose(site)
    git(site.root, "branch", "-f", "main")
    site.write("docs/other.md", "# Other\n")
    commit(site.root)
    assert report(site) == "**No text to review.**\n"
    assert "**1 text to review" in site.run("report")


def test_a_text_that_is_missing(site: Site) -> None:
    """A page that asks for a new text has something to review, though there is no text yet."""
    propose(site)
    git(site.root, "branch", "-f", "main")
    site.write("docs/index.md", "---\ncontentgen: {type: blog, topic: Beta}\n---\n")
    said = report(site)
    assert "**1 text to review: 0 statements left**" in said
    assert "outdated" in said


def test_a_damaged_file(site: Site) -> None:
    """Its reason stands in the report, which is not a failure of the command."""
    propose(site)
    site.approved.write_text("---\nformat: 9\n---\n<article></article>\n")
    said = report(site)
    assert "damaged" in said
    assert "main.html" in said


def test_whose_commit_an_approval_is(site: Site) -> None:
    """A new approval in the commit of another person is a warning; that of its own is none."""
    propose(site)
    site.run("approve", "index.md", "--by", "Jo Doe", "--reason", "I was there")
    commit(site.root, name="Jo Doe")
    said = report(site)
    assert "approved by Jo Doe" in said
    assert "Warning" not in said
    [text] = json.loads(report(site, "--json"))
    assert (text["approved_by"], text["doubts"]) == ("Jo Doe", [])
    git(site.root, "reset", "-q", "--soft", "HEAD~1")
    commit(site.root, name="Mallory @all")
    said = report(site)
    warning = "Warning: index.md says reviewed by Jo Doe; committed by Mallory @\u200ball"
    assert warning in read(said).get_text()


def test_an_approval_that_was_there(site: Site) -> None:
    """It is no new one, and a text with a newer draft is compared with it."""
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
    commit(site.root, name="Mallory")
    git(site.root, "branch", "-f", "main")
    assert report(site) == "**No text to review.**\n"
    site.draft(DRAFT.replace("Two", "Three"), day=2)
    page = read(site.run("report"))
    assert page("tr")[1]("td")[1].get_text() == "approved, and a newer draft"
    assert "Warning" not in page.get_text()
    assert [word.get_text() for word in page.find_all("ins")] == ["Three"]


HOSTILE = (
    "@all closes #1 </details> ``` ![x](https://evil.example/x.png) "
    "<img src=https://evil.example/x.png> \u200f | :octocat: octo/repo#2 https://github.com/a/b/issues/3"
)


def test_hostile_texts(site: Site) -> None:
    """Nothing in a text, a remark, an owner or a name mentions, closes, loads or unfolds."""
    said = HOSTILE.replace("<", "&lt;")
    html = f"<article><h1>Alpha</h1><p>In <mark>1999</mark> {said}.</p><p>{said}</p></article>"
    site.draft(html, remarks=in_words(HOSTILE[:200]))
    request = {"type": "blog", "topic": "Alpha", "owner": "@all </details>"}
    site.write("docs/index.md", f"---\ncontentgen: {json.dumps(request)}\n---\n")
    propose(site)
    git(site.root, "branch", "-f", "main")
    edit_file(site.approved, "1999", "2001")
    commit(site.root, name="@all </details> <img src=x>")
    page = read(report(site))
    text = page.get_text()
    for character in ("@all", "#1", "#2", ":octocat:", "https://"):
        assert character not in text
    assert not page.find_all(["img", "a", "pre", "code", "h1"])
    [details] = page.find_all("details")
    assert details.find_all("li")
    assert details.find_next_sibling() is None


def test_a_sentence_with_several_statements(site: Site) -> None:
    """The report counts what a person has to read, too."""
    site.draft(
        "<article><h1>Alpha</h1><p>In <mark>1999</mark> and <mark>2000</mark>.</p></article>"
    )
    propose(site)
    assert "**1 text to review: 2 statements left in 1 sentence**" in report(site)


def test_a_long_report(site: Site) -> None:
    """It has at most 60,000 characters, and names what it leaves out."""
    paragraphs = "".join(
        f"<p>In <mark>{year}</mark>, {'`*_' * 80}.</p>" for year in range(1000, 1200)
    )
    html = f"<article><h1>Alpha</h1>{paragraphs}</article>"
    site.draft(html)
    propose(site)
    said = report(site)
    assert len(said) <= 60_000
    assert "**1 text to review: 200 statements left**" in said
    assert "Left out, since the report would be too long: index.md." in read(said).get_text()


def test_a_long_report_of_an_approved_text(site: Site) -> None:
    """What does not fit is named, also where there is nothing left to check."""
    paragraphs = "".join(f"<p>Year {year}: {'`*_ ' * 300}.</p>\n" for year in range(1000, 1060))
    site.draft(f"<article><h1>Alpha</h1>{paragraphs}</article>")
    site.run("approve", "index.md", "--by", "Jo")
    commit(site.root)
    git(site.root, "branch", "-f", "main")
    site.approved.write_text(site.approved.read_text().replace("Year", "The year"))
    site.run("approve", "index.md", "--by", "Jo")
    commit(site.root)
    said = report(site)
    assert len(said) <= 60_000
    assert "Left out, since the report would be too long: index.md." in read(said).get_text()


def test_evidence_has_links(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a statement stand the passages of the sources, with file and line on the forge."""
    said = "In 1999, a build was slow on each machine."
    site.write("docs/limits.md", f"# Limits\n\n{said}\n")
    options = {"base_url": "writer", "writer": {"model": "any", "sources": ["docs"]}}
    site.configure(plugins=[{"contentgen": options}])
    site.draft(DRAFT, is_for_writer=True)
    propose(site)
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "octo/docs")
    monkeypatch.setenv("GITHUB_SHA", "0" * 40)
    page = read(report(site))
    [link] = page.find_all("a")
    assert link["href"] == f"https://github.example/octo/docs/blob/{'0' * 40}/docs/limits.md#L3"
    assert link.get_text().replace("\u200b", "").endswith("limits.md:3")
    assert said in page.get_text()
    [text] = json.loads(report(site, "--json"))
    [passage] = text["sentences"][0]["evidence"]
    assert (passage["file"], passage["line"]) == ("docs/limits.md", 3)


def test_what_is_due_again(site: Site) -> None:
    """Approved texts that are due are named with their owner, below what is to be reviewed."""
    site.run("approve", "index.md", "--by", "Jo", "--reason", "I was there")
    [line] = [it for it in site.approved.read_text().splitlines() if it.startswith("approved_at")]
    sign(site.approved, site.approved.read_text().replace(line, "approved_at: 2020-01-01"))
    commit(site.root, name="Jo")
    git(site.root, "branch", "-f", "main")
    options = {"base_url": "sandbox", "review_every": "30d", "defaults": {"owner": "@all"}}
    site.configure(plugins=[{"contentgen": options}])
    text = read(report(site)).get_text()
    assert "No text to review." in text
    assert "Due for another review:\n\nindex.md, since 2020-01-31, ask @\u200ball" in text


@pytest.mark.parametrize("base", ["nowhere", "--output=x", "HEAD:docs"])
def test_a_base_that_is_no_commit(site: Site, base: str) -> None:
    """It is a mistake in the command, with what to do in CI."""
    assert "is not a commit of this repository" in site.run("report", f"--base={base}", code=2)


URL = "https://docs.example/limits/"
CITING = (
    f'<article><h1>Alpha</h1><p>There are 10 builds a day. <a href="{URL}">[1]</a></p></article>'
)
LIMITS = "# Limits\n\nThere are 10 builds a day.\n"


@pytest.fixture
def citing(site: Site) -> Site:
    """Return a site whose first commit has an approved text that cites a page."""
    site.configure(site_url="https://docs.example/")
    site.write("docs/limits.md", LIMITS)
    (passage,) = split_passages(LIMITS, "limits.md", "limits/")
    site.draft(CITING, sources={URL: passage.digest}, passages={URL: passage.text})
    site.run("approve", "index.md", "--by", "Jo")
    git(site.root, "checkout", "-q", "main")
    commit(site.root)
    git(site.root, "checkout", "-q", "-B", "texts")
    shutil.rmtree(site.root / ".cache")
    return site


def test_a_change_that_makes_a_text_wrong(citing: Site) -> None:
    """A change of a page alone names the sentences of other texts, and can fail for them."""
    citing.write("docs/limits.md", LIMITS.replace("10", "20"))
    said = read(report(citing)).get_text()
    assert "This change makes 1 sentence in docs/index.md wrong, as it seems" in said
    assert "docs/index.md: 1 sentence may be wrong now: limits/" in said
    assert "There are 10 builds a day." in said
    citing.run("report", "--base", "main", "--fail-on", "wrong", code=1)
    (row,) = json.loads(report(citing, "--json"))
    assert row["stale"][0]["lost"] == ["10"]
    commit(citing.root)
    git(citing.root, "checkout", "-q", "-B", "main")
    assert "wrong" not in report(citing)  # it was so before


def test_a_page_that_a_change_deletes(citing: Site) -> None:
    """A source that is gone by the change is named."""
    (citing.root / "docs/limits.md").unlink()
    assert "source gone: limits/" in read(report(citing)).get_text()


def test_a_source_that_no_file_can_be(citing: Site) -> None:
    """An address in a file that somebody wrote by hand stops no report."""
    path = citing.root / "contentgen/index.md/main.html"
    path.write_text(path.read_text().replace(URL, "https://docs.example/%00/"))
    commit(citing.root)
    git(citing.root, "branch", "-f", "main")
    citing.write("docs/other.md", "# Other\n")
    assert report(citing) == "**No text to review.**\n"


def test_a_change_that_mends_the_text(citing: Site) -> None:
    """A pull request that repairs the sentence as well says so."""
    citing.write("docs/limits.md", LIMITS.replace("10", "20"))
    path = citing.root / "contentgen/index.md/main.html"
    path.write_text(path.read_text().replace("There are 10", "There are 20"))
    citing.run("approve", "index.md", "--by", "Jo")
    said = read(report(citing)).get_text()
    assert "repaired by this change: limits/" in said
    assert "may be wrong" not in said
    # The approval knows the source as it is now, and what changes after it.
    assert "limits/" not in citing.run("status", "--stale")
    citing.write("docs/limits.md", LIMITS.replace("10", "30"))
    assert "no longer there: 20" in citing.run("status", "--stale")


TOOL = 'def sync(tries=10):\n    """Copy the files."""\n'


@pytest.fixture
def citing_code(site: Site) -> Site:
    """Return a site whose first commit has an approved text that cites a program."""
    options = {"base_url": "writer", "writer": {"model": "m", "sources": ["src"]}}
    site.configure(plugins=[{"contentgen": options}])
    site.write("src/tool.py", TOOL)
    (symbol,) = read_python(TOOL) or [Symbol("", 1, "", "")]
    name = "file:src/tool.py#sync"
    said = "<p><code>sync</code> makes <code>tries=10</code> attempts. [1]</p>"
    listed = "<h2>Sources</h2><ol><li>src/tool.py › sync</li></ol>"
    site.draft(
        f"<article><h1>Alpha</h1>{said}{listed}</article>",
        sources={name: sha256(symbol.compared)},
        passages={name: symbol.text},
        is_for_writer=True,
    )
    site.run("approve", "index.md", "--by", "Jo")
    git(site.root, "checkout", "-q", "main")
    commit(site.root)
    git(site.root, "checkout", "-q", "-B", "texts")
    shutil.rmtree(site.root / ".cache")
    return site


def test_a_change_of_code_that_makes_a_text_wrong(citing_code: Site) -> None:
    """A change of a program names the sentences about it, but one of its body names none."""
    citing_code.write("src/tool.py", f"{TOOL}    run(tries)\n")
    assert "sync" not in report(citing_code)
    citing_code.write("src/tool.py", TOOL.replace("10", "20"))
    said = read(report(citing_code)).get_text()
    assert "docs/index.md: 1 sentence may be wrong now: src/tool.py" in said
    (citing_code.root / "src/tool.py").unlink()
    assert "source gone: src/tool.py" in read(report(citing_code)).get_text()
    commit(citing_code.root)
    git(citing_code.root, "checkout", "-q", "-B", "main")
    assert "src/tool.py" not in report(citing_code)  # it was so before


def test_what_is_stale_without_a_base(citing: Site) -> None:
    """All texts that may be wrong now are listed, whatever has changed their sources."""
    citing.write("docs/limits.md", LIMITS.replace("10", "20"))
    said = read(citing.run("report")).get_text()
    assert "docs/index.md: 1 sentence may be wrong now: limits/" in said
    assert "no longer there: 10" in said
    (row,) = json.loads(citing.run("report", "--json"))
    assert row["stale"][0]["level"] == "wrong"
