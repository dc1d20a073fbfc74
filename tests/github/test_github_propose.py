"""The command `github propose`: one pull request with the texts that are missing or changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Literal

import pytest
from github_double import (
    REPOSITORY,
    TOKEN,
    Fault,
    GitHubDouble,
    refuse_pushes,
)
from repository import commit, edit_file, git
from sandbox_site import Site, enter_site, make_site
from service_double import ServiceDouble, raw

from mkdocs_contentgen.text import Edits

pytestmark = pytest.mark.system

FILE = "contentgen/index.md/main.html"


@pytest.fixture(scope="module")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a site whose only text is missing, and the repository on GitHub."""
    folder = tmp_path_factory.mktemp("made")
    root = folder / "site"
    root.mkdir()
    with pytest.MonkeyPatch.context() as monkeypatch:
        site = make_site(root, monkeypatch)
        request = {"type": "blog", "topic": "Alpha", "owner": "jo-doe"}
        site.write("docs/index.md", f"---\ncontentgen: {json.dumps(request)}\n---\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(root / "no-such-file"))
        git(folder, "init", "-q", "--bare", "remote.git")
        git(root, "init", "-q", "-b", "main")
        git(root, "remote", "add", "origin", "../remote.git")
        commit(root)
        git(root, "push", "-q", "origin", "main")
    return folder


@pytest.fixture
def remote(made_site: Path, tmp_path: Path) -> Path:
    """Return a copy of the repository on GitHub, for one test, and make one of the site."""
    shutil.copytree(made_site, tmp_path, dirs_exist_ok=True)
    return tmp_path / "remote.git"


@pytest.fixture
def site(
    tmp_path: Path, remote: Path, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch
) -> Site:
    """Return the site in a scheduled job."""
    site = enter_site(tmp_path / "site", monkeypatch)
    git(site.root, "remote", "set-url", "origin", str(remote))
    variables = {"REPOSITORY": REPOSITORY, "API_URL": github.url, "TOKEN": TOKEN}
    for name, value in {**variables, "REF_NAME": "main", "REF_TYPE": "branch"}.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    github.remote = remote
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
    github.kind = "app"
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


def merge(github: GitHubDouble) -> None:
    """Merge the last pull request; its branch stays where it is."""
    github.pulls[-1].update(state="closed", merged_at="2026-11-28T10:00:00Z")


def change_request(site: Site, topic: str) -> None:
    """Change what the page asks for, on the base."""
    git(site.root, "checkout", "-q", "-f", "main")
    request = {"type": "blog", "topic": topic, "owner": "jo-doe"}
    site.write("docs/index.md", f"---\ncontentgen: {json.dumps(request)}\n---\n")
    commit(site.root)


def test_a_branch_that_was_merged(site: Site, remote: Path, github: GitHubDouble) -> None:
    """What is left of it is replaced."""
    propose(site)
    merge(github)
    propose(site)
    assert [it["state"] for it in github.pulls] == ["closed", "open"]
    subjects = git(remote, "log", "--format=%s", "main..contentgen/texts").splitlines()
    assert subjects == ["Propose generated texts", "Check that texts can be pushed"]


def test_commits_after_a_merge(site: Site, remote: Path, github: GitHubDouble) -> None:
    """Commits of people that came after the merge are gone on with."""
    propose(site)
    merge(github)
    site.write("docs/other.md", "# By a person\n")
    commit(site.root, name="Grace")
    git(site.root, "push", "-q", "origin", "HEAD:refs/heads/contentgen/texts")
    change_request(site, "Beta")
    propose(site)
    assert git(remote, "show", "contentgen/texts:docs/other.md") == "# By a person\n"
    assert len(github.pulls) == 2


@pytest.fixture
def paid(site: Site, service: ServiceDouble, monkeypatch: pytest.MonkeyPatch) -> ServiceDouble:
    """Let a service write the texts, which knows what it was asked for."""
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    site.configure(plugins=["contentgen"])
    commit(site.root)
    git(site.root, "push", "-q", "origin", "main")
    return service


def test_a_setting_that_forbids_pull_requests(
    site: Site, remote: Path, github: GitHubDouble, paid: ServiceDouble
) -> None:
    """The message names it; what was pushed is not paid for again, and is proposed once allowed."""
    github.may_open_pull_requests = False
    said = propose(site, code=1)
    assert '"Allow GitHub Actions to create and approve pull requests"' in said
    assert "the texts are on the branch contentgen/texts" in said
    before = git(remote, "rev-parse", "contentgen/texts")
    propose(site, code=1)
    assert git(remote, "rev-parse", "contentgen/texts") == before
    github.may_open_pull_requests = True
    said = propose(site)
    assert said.endswith(f"{github.pulls[0]['html_url']}\n")
    assert git(remote, "rev-parse", "contentgen/texts") == before
    assert paid.topics == ["Alpha"]
    assert github.requested == [{"reviewers": ["jo-doe"], "team_reviewers": []}]


@pytest.mark.parametrize("kind", ["app", "person"])
def test_tokens_that_the_setting_is_not_about(
    site: Site, github: GitHubDouble, kind: Literal["app", "person"]
) -> None:
    """The token of an app, or of a person, opens a pull request all the same."""
    github.may_open_pull_requests = False
    github.kind = kind
    propose(site)
    assert len(github.pulls) == 1


def test_a_rule_that_refuses_all_pushes(site: Site, remote: Path, paid: ServiceDouble) -> None:
    """Nothing is asked for, since no text could be kept."""
    refuse_pushes(remote, "refs/heads/contentgen/*", "Commits must have verified signatures.")
    said = propose(site, code=1)
    assert "Commits must have verified signatures" in said
    assert "nothing was asked for" in said
    assert paid.topics == []
    assert git(remote, "branch", "--list").split() == ["main"]


def test_a_rule_that_refuses_the_texts(
    site: Site,
    remote: Path,
    github: GitHubDouble,
    paid: ServiceDouble,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The summary has them, and the next run takes them from the cache that the job keeps."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(site.root / ".cache/summary.md"))
    refuse_pushes(remote, "*", "File paths are restricted.", files="contentgen")
    said = propose(site, code=1)
    assert "File paths are restricted" in said
    assert "the texts are in the summary, and in .cache/plugin/contentgen" in said
    shown = (site.root / ".cache/summary.md").read_text("utf-8")
    assert shown.startswith("**These texts could not be pushed:**")
    assert "<summary><b>index.md</b></summary>" in shown
    (remote / "hooks/pre-receive").unlink()
    git(site.root, "checkout", "-q", "-f", "main")
    said = site.run("github", "propose")
    assert paid.topics == ["Alpha"]
    assert said.endswith(f"{github.pulls[0]['html_url']}\n")
    assert "proposed: " in proposed(remote)
    edit_file(site.approved, "</h1>", " by a person</h1>")
    commit(site.root, name="Grace")
    git(site.root, "push", "-q", "origin", "HEAD:refs/heads/contentgen/texts")
    git(site.root, "checkout", "-q", "-f", "main")
    assert site.run("github", "propose") == "Nothing to propose.\n"
    assert " by a person</h1>" in proposed(remote), "what the cache has is older"


def test_texts_that_do_not_come(
    site: Site, remote: Path, github: GitHubDouble, paid: ServiceDouble
) -> None:
    """The empty commit that tried the push is taken back."""
    paid.answer = raw(b"{}", 400)
    propose(site, code=1)
    assert paid.topics == ["Alpha"]
    assert git(remote, "branch", "--list").split() == ["main"]
    assert github.pulls == []


def test_a_pull_request_that_a_person_has_closed(
    site: Site, remote: Path, github: GitHubDouble, paid: ServiceDouble
) -> None:
    """It stays closed, and nothing is asked for, until a request has changed."""
    propose(site)
    github.pulls[0]["state"] = "closed"
    before = git(remote, "rev-parse", "contentgen/texts")
    said = propose(site)
    assert f"{github.pulls[0]['html_url']} was closed without a merge" in said
    assert git(remote, "rev-parse", "contentgen/texts") == before
    git(remote, "branch", "-D", "contentgen/texts")
    assert "was closed without a merge" in propose(site)
    assert paid.topics == ["Alpha"]
    change_request(site, "Beta")
    propose(site)
    assert [it["state"] for it in github.pulls] == ["closed", "open"]
    assert paid.topics == ["Alpha", "Beta"]


def test_a_closed_pull_request_whose_commits_are_gone(
    site: Site, remote: Path, github: GitHubDouble
) -> None:
    """Nobody can tell what has changed then, so nothing is asked for."""
    propose(site)
    github.pulls[0]["state"] = "closed"
    git(remote, "branch", "-D", "contentgen/texts")
    git(remote, "update-ref", "-d", "refs/pull/7/head")
    assert "its texts are gone" in propose(site)
    assert len(github.pulls) == 1


def test_a_push_while_the_texts_are_written(site: Site, remote: Path) -> None:
    """Somebody else's commit stays, and the job says so."""
    hook = remote / "hooks/post-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\n"
        "commit=$(git -c user.name=Grace -c user.email=x commit-tree -p contentgen/texts -m Mine "
        "'contentgen/texts^{tree}')\n"
        "git update-ref refs/heads/contentgen/texts $commit\n"
    )
    hook.chmod(0o755)
    said = propose(site, code=1)
    assert "somebody has pushed to contentgen/texts while this job ran" in said
    assert git(remote, "log", "-1", "--format=%s", "contentgen/texts") == "Mine\n"


def test_a_folder_of_another_user(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, git refuses the repository; the message names the setting and the folder."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    said = site.run("github", "propose", code=1)
    assert f"`git config --global --add safe.directory {site.root}`" in said


def test_owners_who_are_managed_users(site: Site, github: GitHubDouble) -> None:
    """Their logins and organizations have underscores."""
    github.kind = "app"
    site.write("docs/a.md", "---\ncontentgen: {type: news, topic: A, owner: jo_acme}\n---\n")
    site.write("docs/b.md", "---\ncontentgen: {type: news, topic: B, owner: x_acme/docs}\n---\n")
    commit(site.root)
    propose(site)
    asked = [(*it["reviewers"], *it["team_reviewers"]) for it in github.requested]
    assert sorted(asked) == [("docs",), ("jo-doe",), ("jo_acme",)]


def test_no_branch_is_pushed_without_a_text(site: Site, remote: Path, github: GitHubDouble) -> None:
    """Where more is missing than may be paid for, nothing is sent, and the job fails."""
    said = propose(site, "--max-requests", "0", code=1)
    assert "1 request would be sent, and max_requests allows 0" in said
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
    assert "for which no texts can be proposed" in propose(site, code=1)
    assert github.received == []


PULL_REQUEST = {
    "number": 7,
    "head": {"sha": "1" * 40, "ref": "typo", "repo": None},
    "base": {"sha": "2" * 40, "ref": "main", "repo": None},
}
MERGE_GROUP = {"head_sha": "1" * 40, "base_sha": "2" * 40}


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("7/merge", {"pull_request": PULL_REQUEST}),
        ("main", {"pull_request": PULL_REQUEST}),
        ("gh-readonly-queue/main/pr-7-x", {"merge_group": MERGE_GROUP}),
        ("contentgen/texts", {}),
        ("", {}),
    ],
)
def test_events_of_other_modes(
    site: Site,
    github: GitHubDouble,
    paid: ServiceDouble,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    event: dict[str, object],
) -> None:
    """Only a job for a branch proposes, and not for the branch that it proposes on.

    Otherwise, GitHub would refuse the pull request once its texts are paid for.
    """
    monkeypatch.setenv("GITHUB_REF_NAME", name)
    site.write(".cache/event.json", json.dumps(event))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(site.root / ".cache/event.json"))
    assert "on: schedule" in propose(site, code=1)
    assert paid.topics == []
    assert github.received == []


def test_a_job_for_another_branch(
    site: Site,
    remote: Path,
    github: GitHubDouble,
    paid: ServiceDouble,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It does not bring the commits of its branch into the pull request for `main`."""
    propose(site)
    before = git(remote, "rev-parse", "contentgen/texts")
    change_request(site, "Beta")
    monkeypatch.setenv("GITHUB_REF_NAME", "feature")
    said = propose(site, code=1)
    assert f"{github.pulls[0]['html_url']} is for main, and this job for feature" in said
    assert "--branch" in said
    assert paid.topics == ["Alpha"]
    assert git(remote, "rev-parse", "contentgen/texts") == before
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    propose(site)
    assert paid.topics == ["Alpha", "Beta"]


def test_a_shallow_checkout(site: Site, remote: Path, github: GitHubDouble) -> None:
    """It has nothing in common with the branch; the message says how to check out."""
    propose(site)
    before = git(remote, "rev-parse", "contentgen/texts")
    change_request(site, "Beta")
    git(site.root, "push", "-q", "origin", "main")
    git(site.root.parent, "clone", "-q", "--depth", "1", remote.as_uri(), "shallow", "-b", "main")
    (site.root / ".git").rename(site.root.parent / "old")
    (site.root.parent / "shallow/.git").rename(site.root / ".git")
    assert "`fetch-depth: 0`" in propose(site, code=1)
    assert git(remote, "rev-parse", "contentgen/texts") == before


def test_a_source_that_changed_after_the_pull_request_was_closed(
    site: Site, github: GitHubDouble, paid: ServiceDouble
) -> None:
    """What a text is about has changed, so it is asked for again."""
    propose(site)
    github.pulls[0]["state"] = "closed"
    assert "was closed without a merge" in propose(site)
    git(site.root, "checkout", "-q", "-f", "main")
    site.write("docs/index.md", "---\ncontentgen: {type: news, topic: Alpha}\n---\n")
    commit(site.root)
    propose(site)
    assert len(paid.topics) == 2
    assert [it["state"] for it in github.pulls] == ["closed", "open"]


def test_a_new_text_that_does_not_come_after_the_pull_request_was_closed(
    site: Site, remote: Path, github: GitHubDouble, paid: ServiceDouble
) -> None:
    """What was said no to is not proposed once more as it was."""
    propose(site)
    github.pulls[0]["state"] = "closed"
    before = git(remote, "rev-parse", "contentgen/texts")
    change_request(site, "Beta")
    paid.answer = raw(b"{}", 400)
    said = propose(site, code=1)
    assert f"{github.pulls[0]['html_url']} was closed without a merge" in said
    assert "no text has changed since" in said
    assert len(github.pulls) == 1
    assert git(remote, "rev-parse", "contentgen/texts") == before


@pytest.mark.parametrize(("most", "asked"), [("1", 0), ("2", 2)])
def test_a_limit_of_requests(
    site: Site, remote: Path, paid: ServiceDouble, most: str, asked: int
) -> None:
    """All missing texts are asked for, or none."""
    site.write("docs/beta.md", "---\ncontentgen: {type: news, topic: Beta}\n---\n")
    commit(site.root)
    propose(site, "--max-requests", most, code=0 if asked else 1)
    assert len(paid.topics) == asked
    assert ("contentgen/texts" in git(remote, "branch", "--list")) is bool(asked)


def test_a_limit_when_owners_are_asked(site: Site, github: GitHubDouble) -> None:
    """The pull request is there; that nobody was asked is a warning."""
    github.faults.append(
        Fault("POST", "requested_reviewers", 403, "rate limit", {"Retry-After": "9999"})
    )
    assert "jo-doe was not asked for a review" in propose(site)
    assert len(github.pulls) == 1


def test_a_team_and_the_token_of_a_job(site: Site, github: GitHubDouble) -> None:
    """That token cannot ask a team; the warning says which one can."""
    site.write("docs/a.md", "---\ncontentgen: {type: news, topic: A, owner: octo/docs}\n---\n")
    commit(site.root)
    said = propose(site)
    assert "octo/docs was not asked for a review" in said
    assert "the token of a GitHub App that may read members" in said
