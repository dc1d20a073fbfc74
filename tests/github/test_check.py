"""The command `github check`: one comment and a summary for a pull request."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Literal

import pytest
from github_double import BOT, REPOSITORY, TOKEN, Fault, GitHubDouble
from repository import commit, edit_file, git, made_repository
from sandbox_site import Site, copy_site

from mkdocs_contentgen.github.comment import HEADING
from mkdocs_contentgen.writer.sources.sources import split_passages

pytestmark = pytest.mark.system

DRAFT = (
    "<article><h1>Alpha</h1><p>In <mark>1999</mark>, it was slow.</p>"
    "<p>It has <mark>2</mark> cores.</p></article>"
)


@pytest.fixture(scope="module")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a site on a branch with a proposed text."""
    root = tmp_path_factory.mktemp("made")
    with made_repository(root) as site:
        commit(root)
        git(root, "checkout", "-q", "-b", "texts")
        site.draft(DRAFT)
        site.run("propose", "index.md")
        commit(root)
    return root


@pytest.fixture
def site(
    made_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, github: GitHubDouble
) -> Site:
    """Return a copy of the site in a job for a pull request, for one test."""
    site = copy_site(made_site, tmp_path, monkeypatch)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    variables = {
        "REPOSITORY": REPOSITORY,
        "API_URL": github.url,
        "SERVER_URL": "https://github.example",
        "TOKEN": TOKEN,
        "SHA": "0" * 40,
        "EVENT_PATH": str(tmp_path / ".cache/event.json"),
        "STEP_SUMMARY": str(tmp_path / ".cache/summary.md"),
    }
    for name, value in variables.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    start(site, github)
    return site


def revision(site: Site, name: str) -> str:
    """Return a commit of the repository."""
    return git(site.root, "rev-parse", name).strip()


def start(
    site: Site,
    github: GitHubDouble,
    repository: str = REPOSITORY,
    *,
    head: str = "HEAD",
    base: str = "",
) -> None:
    """Start a new job, for a branch of a repository whose pull request is at the same commit."""
    (site.root / ".cache/summary.md").unlink(missing_ok=True)
    base = base or revision(site, "main")
    pull_request = {
        "number": 7,
        "state": "open",
        "head": {"sha": revision(site, head), "ref": "texts", "repo": {"full_name": repository}},
        "base": {"sha": base, "ref": "main", "repo": {"full_name": REPOSITORY}},
    }
    github.pulls = [pull_request]
    event = {"action": "synchronize", "pull_request": pull_request}
    site.write(".cache/event.json", json.dumps(event))


def check(site: Site, code: int = 1) -> str:
    """Run the command, and return what it printed."""
    return site.run("github", "check", code=code)


def summary(site: Site) -> str:
    """Return the summary of the job."""
    return (site.root / ".cache/summary.md").read_text()


def boxes(github: GitHubDouble) -> list[str]:
    """Return the boxes of the only comment."""
    [comment] = github.comments
    found: list[str] = re.findall(r"- \[([ x])\] <!-- contentgen:\w{16} -->", comment["body"])
    return found


def tick(github: GitHubDouble, number: int = 0) -> None:
    """Tick a box of the only comment, as GitHub does when a person clicks it."""
    [comment] = github.comments
    starts = [found.start() for found in re.finditer(r"\[[ x]\] <!--", comment["body"])]
    start = starts[number]
    comment["body"] = f"{comment['body'][:start]}[x]{comment['body'][start + 3 :]}"


def test_a_comment_and_a_summary(site: Site, github: GitHubDouble) -> None:
    """Both have the report; the comment has a box for each statement, and the job fails."""
    said = check(site)
    assert said == "1 text to review: 2 statements left\n"
    [comment] = github.comments
    assert comment["body"].startswith(f"{HEADING}\n**1 text to review: 2 statements left**\n")
    assert boxes(github) == [" ", " "]
    assert summary(site).startswith("**1 text to review: 2 statements left**\n")
    assert "[ ]" not in summary(site)


def test_the_comment_is_updated_and_removed(site: Site, github: GitHubDouble) -> None:
    """There is never a second one: ticks stay for the same words, and it goes when all is done."""
    check(site)
    tick(github)
    [before] = github.comments
    edit_file(site.approved, "It has <mark>2</mark> cores.", "It has <mark>4</mark> cores.")
    commit(site.root)
    start(site, github)
    check(site)
    assert [it["id"] for it in github.comments] == [before["id"]]
    assert boxes(github) == ["x", " "]
    tick(github, 1)
    edit_file(site.approved, "In <mark>1999</mark>,", "In <mark>2001</mark>,")
    start(site, github)
    check(site)
    assert boxes(github) == [" ", "x"], "other words are another statement"
    site.run("approve", "index.md", "--by", "Ada", "--reason", "I was there")
    commit(site.root, name="Ada")
    start(site, github)
    assert check(site, code=0) == "No text to review.\n"
    assert github.comments == []


def test_nothing_new_is_not_written(site: Site, github: GitHubDouble) -> None:
    """The same report changes no comment, so that nobody gets a message."""
    check(site)
    start(site, github)
    check(site)
    assert not [it for it in github.received if it[0] == "PATCH"]


def test_a_doubtful_approval_is_no_approval(site: Site, github: GitHubDouble) -> None:
    """The job fails, and the comment says why, where the commit is somebody else's."""
    site.run("approve", "index.md", "--by", "Jo Doe", "--reason", "I was there")
    commit(site.root, name="Mallory")
    assert check(site) == "No text to review.\n"
    [comment] = github.comments
    assert "index.md says reviewed by Jo Doe; committed by Mallory" in comment["body"]


def test_a_fork(site: Site, github: GitHubDouble) -> None:
    """Its token only reads: the summary has the report, and nothing is an error."""
    start(site, github, "mallory/docs")
    said = check(site)
    assert "a pull request from a fork gets no comment" in said
    assert "1 text to review" in summary(site)
    assert github.received == []


def test_a_token_that_only_reads(site: Site, github: GitHubDouble) -> None:
    """As for a fork, also where the event does not say so."""
    github.may_write = False
    said = check(site)
    assert "look at `permissions` of the workflow; the summary has the report" in said
    assert "1 text to review" in summary(site)


def test_a_token_that_has_expired(site: Site, github: GitHubDouble) -> None:
    """It is an error that names the cure, and not the token."""
    github.token = "another"
    said = check(site)
    assert "401" in said
    assert "the token has expired or is wrong; run the job again" in said
    assert TOKEN not in said


def test_comments_of_others(site: Site, github: GitHubDouble) -> None:
    """Whoever copies the heading has no comment that is changed, and no box that counts."""
    check(site)
    tick(github)
    [own] = github.comments
    for number in range(150):
        github.add_comment(own["body"] if number == 3 else "Nice", login="mallory")
    github.comments = [*github.comments[1:], own]
    copied = github.comments[3]["body"]
    start(site, github)
    own["body"] = own["body"].replace("[x]", "[ ]")
    check(site)
    assert "[x]" not in own["body"]
    assert github.comments[3]["body"] == copied


@pytest.mark.parametrize(
    ("kind", "login"), [("job", BOT), ("app", "docs-app[bot]"), ("person", "jo-doe")]
)
def test_whose_comment_it_is(
    site: Site, github: GitHubDouble, kind: Literal["job", "app", "person"], login: str
) -> None:
    """Each token finds the comment of its own account again, and reads no other one."""
    others = {BOT, "docs-app[bot]", "jo-doe", "docs-app"} - {login}
    github.kind = kind
    github.login = login
    check(site)
    tick(github)
    [own] = github.comments
    for other in sorted(others):
        github.add_comment(own["body"].replace("[ ]", "[x]"), other)
    github.comments.append({"id": 99, "user": None, "body": own["body"].replace("[ ]", "[x]")})
    start(site, github)
    check(site)
    assert len(github.comments) == 5
    found = re.findall(r"- \[([ x])\] <!--", own["body"])
    assert found == ["x", " "]


def test_a_token_that_nobody_knows(site: Site, github: GitHubDouble) -> None:
    """Without an answer to who it is, no comment is read, written or removed."""
    check(site)
    before = deepcopy(github.comments)
    github.faults.append(Fault("POST", "graphql", 403, "Resource not accessible by integration"))
    start(site, github)
    assert "the summary has the report" in check(site)
    assert github.comments == before


def test_a_comment_that_was_edited_in_a_browser(site: Site, github: GitHubDouble) -> None:
    """Its lines end otherwise then; it is the same comment, and its ticks count."""
    check(site)
    tick(github)
    [own] = github.comments
    own["body"] = own["body"].replace("\n", "\r\n")
    start(site, github)
    check(site)
    assert boxes(github) == ["x", " "]


def test_a_base_that_has_moved(site: Site, github: GitHubDouble) -> None:
    """What somebody else proposes on the base is not of this pull request.

    GitHub checks out the merge commit, and its event has the base of an earlier time.
    """
    earlier = revision(site, "main")
    git(site.root, "checkout", "-q", "main")
    git(site.root, "merge", "-q", "--ff-only", "texts")
    git(site.root, "checkout", "-q", "-b", "typo", earlier)
    site.write("docs/other.md", "# Other\n")
    commit(site.root)
    git(site.root, "checkout", "-q", "--detach", "main")
    git(site.root, "merge", "-q", "--no-edit", "typo")
    start(site, github, head="typo", base=earlier)
    assert check(site, code=0) == "No text to review.\n"
    assert github.comments == []


def test_a_head_that_is_checked_out_itself(site: Site, github: GitHubDouble) -> None:
    """Where the branch was brought up to date, the base is the newest common commit."""
    earlier = revision(site, "main")
    git(site.root, "checkout", "-q", "main")
    git(site.root, "merge", "-q", "--ff-only", "texts")
    git(site.root, "checkout", "-q", "-b", "typo")
    git(site.root, "update-ref", "refs/remotes/origin/main", "main")
    start(site, github, head="typo", base=earlier)
    assert check(site, code=0) == "No text to review.\n"


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target"])
def test_a_head_that_is_not_checked_out(
    site: Site, github: GitHubDouble, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job refuses, and touches no comment."""
    check(site)
    before = deepcopy(github.comments)
    monkeypatch.setenv("GITHUB_EVENT_NAME", event)
    git(site.root, "checkout", "-q", "main")
    start(site, github, head="texts")
    said = check(site)
    assert "of the pull request is not checked out" in said
    assert "`on: pull_request`" in said
    assert github.comments == before


def queue(site: Site) -> None:
    """Start a job for the commit that is checked out, as the only one in a merge queue."""
    group = {
        "head_sha": revision(site, "HEAD"),
        "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-x",
        "base_sha": revision(site, "main"),
        "base_ref": "refs/heads/main",
    }
    site.write(".cache/event.json", json.dumps({"merge_group": group}))


@pytest.mark.parametrize(
    ("by", "code"), [("", 1), ("Ada", 0), ("Mallory", 1)], ids=["nobody", "author", "another"]
)
def test_a_merge_queue(site: Site, github: GitHubDouble, by: str, code: int) -> None:
    """The queued commit is judged as it would be in the pull request, without a comment."""
    if by:
        site.run("approve", "index.md", "--by", by, "--reason", "I was there")
        commit(site.root, name="Ada")
    queue(site)
    said = check(site, code=code)
    assert said.startswith("No text" if by else "1 text")
    assert summary(site).startswith(f"**{said.strip()}**")
    assert github.received == []


@pytest.mark.parametrize("by", ["", "Jo Doe"])
def test_a_merge_queue_that_squashes(site: Site, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one commit of GitHub hides who has approved, which the pull request has shown."""
    if by:
        site.run("approve", "index.md", "--by", by, "--reason", "I was there")
    git(site.root, "reset", "-q", "--soft", "main")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "noreply@github.com")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "GitHub")
    commit(site.root, name="github-actions[bot]")
    queue(site)
    said = check(site, code=0 if by else 1)
    assert "was checked in the pull request" in said


def test_a_folder_of_another_user(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, git refuses the repository; the message names the setting and the folder."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert f"`git config --global --add safe.directory {site.root}`" in check(site)


def test_an_organization_of_managed_users(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner of a repository may have an underscore."""
    monkeypatch.setenv("GITHUB_REPOSITORY", "jo-doe_acme/docs")
    assert "is not set to OWNER/NAME" not in check(site)


def test_a_push_while_the_job_runs(site: Site, github: GitHubDouble) -> None:
    """The newer job has another report, which an older one does not replace."""
    check(site)
    before = deepcopy(github.comments)
    edit_file(site.approved, "It has <mark>2</mark> cores.", "It has <mark>4</mark> cores.")
    github.pulls = [{**github.pulls[0], "head": {**github.pulls[0]["head"], "sha": "c" * 40}}]
    said = check(site)
    assert "somebody has pushed since; the comment is that of the newer job" in said
    assert github.comments == before


def test_two_runs_at_once(site: Site, github: GitHubDouble) -> None:
    """Where another run wrote a comment at the same time, the oldest is the one that stays."""
    check(site)
    body = github.comments[0]["body"]
    github.add_comment(body)
    start(site, github)
    check(site)
    assert [it["id"] for it in github.comments] == [1]


@pytest.mark.parametrize("was_processed", [False, True])
def test_an_answer_that_is_lost(site: Site, github: GitHubDouble, *, was_processed: bool) -> None:
    """A comment that may have been written is looked for, and is never written twice."""
    fault = Fault("POST", "comments", 502, "Bad gateway", was_processed=was_processed)
    github.faults.append(fault)
    said = check(site)
    assert len(github.comments) == int(was_processed)
    assert ("GitHub answered 502" in said) is not was_processed


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_while_the_comment_is_written(
    site: Site, github: GitHubDouble, status: int
) -> None:
    """Whether the texts are approved does not depend on it; the summary has the report."""
    site.run("approve", "index.md", "--by", "Ada", "--reason", "I was there")
    commit(site.root, name="Ada")
    start(site, github)
    headers = {"Retry-After": "9999"}
    github.faults.append(Fault("GET", "comments", status, "rate limit", headers))
    said = check(site, code=0)
    assert "its limit passes in 167 minutes" in said
    assert "the summary has the report" in said


@pytest.mark.parametrize("event", ["schedule", "push", "tag"])
def test_events_of_other_modes(
    site: Site, github: GitHubDouble, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a change to judge, nothing is judged, and the message names the events."""
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag" if event == "tag" else "branch")
    site.write(".cache/event.json", json.dumps({"after": "1" * 40} if event != "schedule" else {}))
    assert "`on: merge_group`" in check(site)
    assert github.received == []


def test_a_merge_queue_with_two_pull_requests(site: Site, github: GitHubDouble) -> None:
    """The second one is judged by what it adds to the first one, which is queued before it."""
    first = revision(site, "HEAD")
    site.write("docs/other.md", "# Other\n")
    commit(site.root)
    group = {"head_sha": revision(site, "HEAD"), "base_sha": first}
    site.write(".cache/event.json", json.dumps({"merge_group": group}))
    assert check(site, code=0) == "No text to review.\n"
    group["base_sha"] = revision(site, "main")
    site.write(".cache/event.json", json.dumps({"merge_group": group}))
    assert check(site).startswith("1 text to review")
    assert github.received == []


def test_comments_on_further_pages(site: Site, github: GitHubDouble) -> None:
    """Our comment is found behind those of a long discussion."""
    for number in range(70):
        github.add_comment(f"Nice {number}", "someone", "User")
    check(site)
    start(site, github)
    check(site)
    assert len(github.comments) == 71


def test_limits_of_requests(site: Site, github: GitHubDouble) -> None:
    """After a secondary limit and faults of the server, requests that do no harm are repeated."""
    message = "You have exceeded a secondary rate limit"
    github.faults += [
        Fault("POST", "comments", 403, message, {"Retry-After": "0"}),
        Fault("GET", "comments", 429, message, {"Retry-After": "0"}),
    ]
    check(site)
    assert len(github.comments) == 1


def test_a_limit_that_takes_too_long(site: Site, github: GitHubDouble) -> None:
    """A job does not wait for an hour; the summary is there all the same."""
    message = "API rate limit exceeded"
    github.faults.append(Fault("GET", "comments", 429, message, {"Retry-After": "3600"}))
    assert "GitHub answered 429" in check(site)
    assert "1 text to review" in summary(site)


@pytest.mark.parametrize("name", ["REPOSITORY", "TOKEN", "EVENT_PATH"])
def test_outside_of_a_job(
    site: Site, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What is missing is named, and what to do."""
    monkeypatch.delenv(f"GITHUB_{name}")
    assert ("on: pull_request" if name == "EVENT_PATH" else f"GITHUB_{name}") in check(site)
    assert github.received == []


def test_a_token_for_another_place(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not sent without encryption."""
    monkeypatch.setenv("GITHUB_API_URL", "http://github.example")
    assert "GITHUB_API_URL: is not an https address" in check(site)


def test_an_event_that_is_none(site: Site) -> None:
    """A file that is not an event is an error with its name."""
    site.write(".cache/event.json", '{"pull_request": {"number": "x"}}')
    assert "is not an event of GitHub" in check(site)


def test_a_pull_request_that_makes_another_text_wrong(site: Site, github: GitHubDouble) -> None:
    """Texts whose sources it changes are named in the comment, although it touches none."""
    site.configure(site_url="https://docs.example/")
    said = "# Limits\n\nThere are 10 builds a day.\n"
    site.write("docs/limits.md", said)
    (passage,) = split_passages(said, "limits.md", "limits/")
    address = "https://docs.example/limits/"
    html = f'<article><h1>A</h1><p>There are 10 a day. <a href="{address}">[1]</a></p></article>'
    site.draft(html, day=2, sources={address: passage.digest}, passages={address: passage.text})
    site.run("approve", "index.md", "--by", "Jo", "--yes")
    commit(site.root)
    git(site.root, "branch", "-f", "main")
    site.write("docs/limits.md", said.replace("10", "20"))
    commit(site.root)
    start(site, github)
    line = "This change makes 1 sentence in docs/index.md wrong, as it seems"
    assert line in site.run("github", "check")
    (comment,) = github.comments
    assert line in str(comment["body"])
    site.run("github", "check", "--fail-on", "wrong", code=1)
