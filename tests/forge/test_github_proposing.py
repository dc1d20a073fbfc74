"""The command `github propose`: one pull request with the texts that are missing or changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from github_double import REPOSITORY, TOKEN, Fault, GitHubDouble, github_double
from repository import commit, edit_file, git
from sandbox_site import Site, make_site

from mkdocs_contentgen.text import Edits

FILE = "contentgen/index.md/main.html"


@pytest.fixture
def github() -> Iterator[GitHubDouble]:
    """Serve GitHub's API."""
    with github_double() as double:
        yield double


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """Return the repository on GitHub."""
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    return tmp_path / "remote.git"


@pytest.fixture
def site(
    tmp_path: Path, remote: Path, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch
) -> Site:
    """Return a site whose only text is missing, in a scheduled job."""
    root = tmp_path / "site"
    root.mkdir()
    site = make_site(root, monkeypatch)
    request = {"type": "blog", "topic": "Alpha", "owner": "jo-doe"}
    site.write("docs/index.md", f"---\ncontentgen: {json.dumps(request)}\n---\n")
    variables = {"REPOSITORY": REPOSITORY, "API_URL": github.url, "TOKEN": TOKEN}
    for name, value in {**variables, "REF_NAME": "main", "REF_TYPE": "branch"}.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", str(remote))
    commit(root)
    git(root, "push", "-q", "origin", "main")
    return site


def propose(site: Site, *arguments: str, code: int = 0) -> str:
    """Run the command as a new job: at the head of `main`, without a cache."""
    git(site.root, "checkout", "-q", "-f", "main")
    for file in (site.root / ".cache").glob("plugin/contentgen/*"):
        file.unlink()
    return site.run("github", "propose", *arguments, code=code)


def proposed(remote: Path) -> str:
    """Return the file on the branch of the remote."""
    return git(remote, "show", f"contentgen/texts:{FILE}")


def test_a_missing_text(site: Site, remote: Path, github: GitHubDouble) -> None:
    """It is generated, proposed on a branch, and its owner is asked for a review."""
    said = propose(site)
    assert "index.md: proposed\n" in said
    [pull] = github.pulls
    assert said.endswith(f"{pull['html_url']}\n")
    assert (pull["head"]["ref"], pull["base"]["ref"]) == ("contentgen/texts", "main")
    assert pull["body"].startswith("**1 text to review: ")
    assert "proposed: " in proposed(remote)
    assert "approved_by" not in proposed(remote)
    assert github.requested == [{"reviewers": ["jo-doe"], "team_reviewers": []}]
    shown = git(remote, "log", "-1", "--format=%an|%s", "contentgen/texts").strip()
    assert shown == "github-actions[bot]|Propose generated texts"


def test_never_a_second_one(site: Site, remote: Path, github: GitHubDouble) -> None:
    """What is proposed in the open pull request is not asked for again, and nothing happens."""
    propose(site)
    before = git(remote, "rev-parse", "contentgen/texts")
    said = propose(site)
    assert said.endswith("Nothing to propose.\n")
    assert "texts generated" not in said
    assert git(remote, "rev-parse", "contentgen/texts") == before
    assert len(github.pulls) == 1
    site.write(
        "docs/beta.md", "---\ncontentgen: {type: news, topic: Beta, owner: octo/docs}\n---\n"
    )
    git(site.root, "checkout", "-q", "main")
    commit(site.root)
    propose(site)
    [pull] = github.pulls
    assert pull["body"].startswith("**2 texts to review: ")
    assert github.requested[-1] == {"reviewers": [], "team_reviewers": ["docs"]}
    listed = git(remote, "ls-tree", "-r", "--name-only", "contentgen/texts", "contentgen").split()
    assert listed == ["contentgen/beta.md/main.html", FILE]


def test_a_translation(site: Site, remote: Path, github: GitHubDouble) -> None:
    """It is proposed with its original, and what has changed there is proposed later."""
    site.write("docs/de.md", "---\ncontentgen: {translation_of: index.md, language: de}\n---\n")
    commit(site.root)
    said = propose(site)
    assert "de.md: proposed\n" in said
    site.run("approve", "--all", "--by", "Jo")
    edit_file(site.approved, "</h1>", " today</h1>")
    site.run("approve", "index.md", "--by", "Jo")
    commit(site.root)
    git(site.root, "push", "-q", "origin", "HEAD:main")
    git(site.root, "branch", "-q", "-f", "main")
    github.pulls.clear()

    assert "de.md: proposed\n" in propose(site)
    translation = git(remote, "show", "contentgen/texts:contentgen/de.md/main.html")
    assert " today</h1>" in translation
    assert "approved_by" in proposed(remote)
    [pull] = github.pulls
    assert "de.md" in pull["body"]


def test_words_of_people_on_the_branch_stay(site: Site, remote: Path, github: GitHubDouble) -> None:
    """What was changed in the open pull request is gone on with."""
    propose(site)
    heading = next(line for line in site.approved.read_text().splitlines() if "<h1" in line)
    edit_file(site.approved, heading, "<h1>By a person</h1>")
    commit(site.root, name="Grace")
    git(site.root, "push", "-q", "origin", "HEAD:refs/heads/contentgen/texts")
    site_page = "---\ncontentgen: {type: news, topic: Beta}\n---\n"
    git(site.root, "checkout", "-q", "main")
    site.write("docs/beta.md", site_page)
    commit(site.root)
    propose(site)
    assert "<h1>By a person</h1>" in proposed(remote)


def test_human_edits_on_the_branch_are_not_overwritten(
    site: Site, remote: Path, github: GitHubDouble
) -> None:
    """A newer draft that does not have them is named, and not proposed."""
    propose(site)
    heading = next(line for line in site.approved.read_text().splitlines() if "<h1" in line)
    edit_file(site.approved, heading, "<h1>By a person</h1>")
    commit(site.root, name="Grace")
    git(site.root, "push", "-q", "origin", "HEAD:refs/heads/contentgen/texts")
    git(site.root, "checkout", "-q", "main")
    newer = "<article><h1>Alpha</h1><p>Newer.</p></article>"
    site.draft(newer, edits=Edits(confirmed=("Newer.",)), edition=9)
    said = site.run("github", "propose", code=1)
    assert "has human edits that the new text does not have: 'By a person' by Grace" in said
    assert "<h1>By a person</h1>" in proposed(remote)


def test_a_branch_that_conflicts(site: Site, remote: Path, github: GitHubDouble) -> None:
    """It is an error that names the pull request, and nothing is pushed."""
    propose(site)
    before = git(remote, "rev-parse", "contentgen/texts")
    git(site.root, "checkout", "-q", "main")
    site.write(FILE, "another\n")
    commit(site.root)
    said = propose(site, code=1)
    assert f"the branch contentgen/texts of {github.pulls[0]['html_url']} conflicts" in said
    assert git(remote, "rev-parse", "contentgen/texts") == before


def test_a_branch_without_a_pull_request(site: Site, remote: Path, github: GitHubDouble) -> None:
    """What is left of a merged one is replaced."""
    propose(site)
    github.pulls[0]["state"] = "closed"
    propose(site)
    assert [it["state"] for it in github.pulls] == ["closed", "open"]
    assert git(remote, "rev-list", "--count", "main..contentgen/texts").strip() == "1"


def test_no_branch_is_pushed_without_a_text(site: Site, remote: Path, github: GitHubDouble) -> None:
    """Where more is missing than may be paid for, nothing is sent, and the job fails."""
    said = propose(site, "--max-requests", "0", code=1)
    assert "1 requests would be sent, and max_requests allows 0" in said
    assert github.pulls == []
    assert git(remote, "branch", "--list").split() == ["main"]


@pytest.mark.parametrize("was_processed", [False, True])
def test_an_answer_that_is_lost(site: Site, github: GitHubDouble, *, was_processed: bool) -> None:
    """A pull request that may have been opened is looked for."""
    github.faults.append(Fault("POST", "/pulls$", 502, "Bad", was_processed=was_processed))
    propose(site, code=0 if was_processed else 1)
    assert len(github.pulls) == int(was_processed)


def test_owners_that_are_no_accounts(site: Site, github: GitHubDouble) -> None:
    """A name asks nobody, and an account that cannot review is a warning."""
    site.write("docs/a.md", "---\ncontentgen: {type: news, topic: A, owner: Jo Doe}\n---\n")
    site.write("docs/b.md", "---\ncontentgen: {type: news, topic: B, owner: nobody}\n---\n")
    commit(site.root)
    said = propose(site)
    assert "nobody was not asked for a review: GitHub answered 422" in said
    assert github.requested == [{"reviewers": ["jo-doe"], "team_reviewers": []}]


def test_a_tag(site: Site, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job for a tag has no branch to propose texts for."""
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    assert "GITHUB_REF_NAME is no branch" in propose(site, code=1)
    assert github.received == []
