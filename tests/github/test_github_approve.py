"""The command `github approve`: what a review on GitHub approves, and what it never does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Literal

import pytest
from github_double import (
    REPOSITORY,
    TOKEN,
    Fault,
    GitHubDouble,
    github_double,
    refuse_pushes,
)
from repository import commit, edit_file, git
from sandbox_site import Site, enter_site, make_site

from mkdocs_contentgen.github.comment import HEADING
from mkdocs_contentgen.texts.approved_dir import read_approved

pytestmark = pytest.mark.system

DRAFT = (
    "<article><h1>Alpha</h1><p>In <mark>1999</mark>, it was slow.</p>"
    "<p>It has <mark>2</mark> cores.</p></article>"
)


@dataclass
class Job:
    """A job for a review of a pull request with a proposed text, whose remote is a folder."""

    site: Site
    github: GitHubDouble
    remote: Path

    def head(self) -> str:
        """Return the commit that is checked out."""
        return git(self.site.root, "rev-parse", "HEAD").strip()

    def pushed(self) -> str:
        """Return the commit of the branch on the remote."""
        return git(self.remote, "rev-parse", "texts").strip()

    def push(self, name: str = "Ada") -> None:
        """Commit what there is, and push it; the pull request is at this commit then."""
        commit(self.site.root, name=name)
        git(self.site.root, "push", "-q", "-f", "origin", "HEAD:refs/heads/texts")
        self.github.pulls[0]["head"]["sha"] = self.head()

    def check(self) -> None:
        """Write the comment, as the job does that runs for each push."""
        self.start()
        self.site.run("github", "check", code=1)

    def tick_all(self) -> None:
        """Tick all boxes of the comment."""
        [comment] = self.github.comments
        comment["body"] = comment["body"].replace("[ ] <!--", "[x] <!--")

    def review(
        self, login: str = "jo-doe", at: str = "", state: str = "approved", account: str = "User"
    ) -> None:
        """Start the job of a review."""
        review = self.github.add_review(state.upper(), at or self.head(), login, account)
        self.start(review={**review, "state": state})

    def start(self, **event: object) -> None:
        """Start a job for the pull request."""
        pull = self.github.pulls[0]
        self.site.write(".cache/event.json", json.dumps({"pull_request": pull, **event}))

    def approve(self, *arguments: str, code: int = 0) -> str:
        """Run the command, and return what it printed."""
        return self.site.run("github", "approve", *arguments, code=code)

    def approved_by(self) -> str:
        """Return who approved the text on the branch of the remote, or an empty string."""
        shown = git(self.remote, "show", "texts:contentgen/index.md/main.html")
        found = re.search("^approved_by: (.*)$", shown, re.MULTILINE)
        return found[1] if found else ""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, GitHubDouble]:
    """Open a pull request with a proposed text, whose comment is there.

    Returns the folder of the site and its remote, which each test has a copy of, and the API.
    """
    folder = tmp_path_factory.mktemp("opened")
    root = folder / "site"
    root.mkdir()
    with pytest.MonkeyPatch.context() as monkeypatch, github_double() as github:
        site = make_site(root, monkeypatch)
        enter_job(folder, monkeypatch, github)
        git(folder, "init", "-q", "--bare", "--template=", "remote.git")
        git(root, "init", "-q", "--template=", "-b", "main")
        git(root, "remote", "add", "origin", "../remote.git")
        commit(root)
        base = git(root, "rev-parse", "HEAD").strip()
        git(root, "push", "-q", "origin", "main")
        git(root, "checkout", "-q", "-b", "texts")
        site.draft(DRAFT)
        site.run("propose", "index.md")
        github.add_pull("texts", "main")["base"]["sha"] = base
        job = Job(site, github, folder / "remote.git")
        job.push()
        job.check()
    return folder, github


def enter_job(folder: Path, monkeypatch: pytest.MonkeyPatch, github: GitHubDouble) -> None:
    """Set the variables of a job."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / "no-such-file"))
    variables = {"REPOSITORY": REPOSITORY, "API_URL": github.url, "TOKEN": TOKEN}
    for name, value in variables.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(folder / "site/.cache/event.json"))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def job(
    opened: tuple[Path, GitHubDouble], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Job]:
    """Return the job of a pull request whose text is proposed, and whose comment is there."""
    folder, before = opened
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    site = enter_site(tmp_path / "site", monkeypatch)
    with github_double() as github:
        enter_job(tmp_path, monkeypatch, github)
        github.permissions["jo-doe"] = "write"
        github.names["jo-doe"] = "Jo Doe"
        github.remote = tmp_path / "remote.git"
        github.pulls, github.comments = deepcopy((before.pulls, before.comments))
        github.next_id = before.next_id
        yield Job(site, github, tmp_path / "remote.git")


def test_a_review_approves(job: Job) -> None:
    """The text is approved in the name of the account, in a commit of which it is the author."""
    job.tick_all()
    job.review()
    before = job.head()
    assert job.approve() == "index.md: approved\n"
    assert job.approved_by() == "Jo Doe (jo-doe)"
    shown = git(job.remote, "log", "-1", "--format=%an|%ae|%cn|%s|%P", "texts").strip()
    author = "Jo Doe|42+jo-doe@users.noreply.github.com|github-actions[bot]"
    assert shown == f"{author}|Approve generated texts|{before}"
    file = read_approved(job.site.approved, job.site.root / "contentgen")
    assert file is not None
    assert not file.is_changed
    assert "<mark" not in file.text.html
    assert file.text.edits is not None
    assert file.text.edits.confirmed == ("1999", "2")
    job.github.pulls[0]["head"]["sha"] = job.head()
    job.site.run("status", "--check")
    assert "Warning" not in job.site.run("report", "--base", "main")


def test_a_translation_is_approved_with_its_original(job: Job) -> None:
    """It is the translation of an approved text then, and each of its statements had to be ticked.

    The evidence in the comment is the block of the original.
    """
    site = job.site
    request = "contentgen: {translation_of: index.md, language: de}"
    site.write("docs/index.de.md", f"---\n{request}\n---\n")
    site.run("generate")
    site.run("propose", "index.de.md")
    file = site.root / "contentgen/index.de.md/main.html"
    edit_file(file, "[de] In 1999, it", "Im Jahr <mark>1998</mark>")
    job.push()
    job.check()
    [comment] = job.github.comments
    assert "Im Jahr <b>1998</b> was slow." in comment["body"]
    assert "docs/index.md, index.md: In 1999, it was slow." in comment["body"]
    assert "the original is a draft" in comment["body"]
    job.review()
    assert "index.de.md: not ticked: " in job.approve(code=1)

    job.tick_all()
    job.review()
    assert job.approve() == "index.de.md: approved\nindex.md: approved\n"
    assert "is_draft" not in file.read_text(encoding="utf-8")
    assert "translation of a text that has changed" not in site.run("status", "--check")


def test_an_account_without_a_name(job: Job) -> None:
    """Its login stands for it, also where the name cannot be kept."""
    job.tick_all()
    job.github.names["jo-doe"] = "Jo\u202e <evil>"
    job.review()
    job.approve()
    assert job.approved_by() == "jo-doe"


def refused(job: Job, message: str, *arguments: str) -> None:
    """Run the command, and check that it approved nothing and said why."""
    before = job.pushed()
    assert message in job.approve(*arguments, code=1)
    assert job.pushed() == before
    assert job.approved_by() == ""


def test_statements_that_nobody_ticked(job: Job) -> None:
    """They are named in the comment, and in the log; the next report takes the sentence away."""
    [comment] = job.github.comments
    comment["body"] = comment["body"].replace("[ ] <!--", "[x] <!--", 1)
    job.review()
    refused(job, "index.md: not ticked: It has ‹2› cores.")
    [comment] = job.github.comments
    *_, answer = comment["body"].partition("**No text was approved:**")
    assert unescape(answer).strip() == "- index.md: not ticked: It has ‹2› cores."
    assert comment["body"].count("[x] <!--") == 1, "the ticks stay"
    refused(job, "not ticked")
    assert comment["body"].count("No text was approved") == 1
    job.check()
    assert "No text was approved" not in job.github.comments[0]["body"]


def test_ticks_of_nobody(job: Job) -> None:
    """A comment of somebody else with ticked boxes ticks nothing."""
    copied = job.github.comments[0]["body"].replace("[ ] <!--", "[x] <!--")
    job.github.add_comment(copied, login="mallory")
    job.review()
    refused(job, "not ticked: In ‹1999›, it was slow.")


def test_no_comment(job: Job) -> None:
    """Where the comment was deleted, its boxes are not ticked."""
    job.github.comments.clear()
    job.review()
    refused(job, "not ticked")
    assert job.github.comments[0]["body"].startswith(HEADING)


def test_a_review_of_an_older_commit(job: Job) -> None:
    """A file that has changed since is not approved; one that has not is."""
    job.tick_all()
    reviewed = job.head()
    job.site.write("docs/other.md", "# Other\n")
    job.push()
    edit_file(job.site.approved, "it was slow.", "it was very slow.")
    job.push()
    job.check()
    job.tick_all()
    job.review(at=reviewed)
    refused(job, "index.md: is not as it was in the commit that jo-doe reviewed")
    git(job.site.root, "revert", "--no-edit", "HEAD")
    job.push()
    job.check()
    job.tick_all()
    job.review(at=reviewed)
    assert job.approve() == "index.md: approved\n"


def test_a_commit_that_nobody_has(job: Job) -> None:
    """After a force push, the commit that was reviewed may be gone."""
    job.tick_all()
    job.review(at="a" * 40)
    refused(job, "is not as it was in the commit that jo-doe reviewed")


def test_a_push_between_review_and_run(job: Job) -> None:
    """Another head than the one that is checked out is not approved."""
    job.tick_all()
    job.review()
    commit(job.site.root, name="Somebody")
    git(job.site.root, "push", "-q", "origin", "HEAD:refs/heads/texts")
    git(job.site.root, "reset", "-q", "--hard", "HEAD~1")
    refused(job, "somebody has pushed since this job began")
    assert "somebody has pushed" in job.github.comments[0]["body"]


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_file_that_is_not_as_in_its_commit(job: Job, *, is_deleted: bool) -> None:
    """What an earlier step of the job has made of the file in the folder is not approved."""
    job.tick_all()
    job.review()
    if is_deleted:
        job.site.approved.unlink()
    else:
        edit_file(job.site.approved, "it was slow", "it was fast")
    refused(job, "is not as it is in the commit that is checked out")


def test_a_force_push_while_it_runs(job: Job) -> None:
    """Nothing is pushed over a branch that has moved, also not back."""
    job.tick_all()
    job.review()
    job.github.remote = None  # the API is asked before the push
    git(job.remote, "update-ref", "refs/heads/texts", "main")
    before = job.pushed()
    assert "somebody has pushed to texts while this job ran" in job.approve(code=1)
    assert job.pushed() == before
    assert "pushed to texts while this job ran" in job.github.comments[0]["body"]


@pytest.mark.parametrize("state", ["open", "closed"])
def test_a_job_that_is_run_again(job: Job, state: str) -> None:
    """The text is approved already, also once the pull request is merged; the comment stays."""
    job.tick_all()
    job.review()
    reviewed = job.head()
    job.approve()
    job.github.pulls[0]["head"]["sha"] = job.pushed()
    job.github.pulls[0]["state"] = state
    before = deepcopy(job.github.comments)
    forget(job, reviewed)
    said = job.approve()
    assert said.endswith("There is no text to approve.\n")
    assert "no text waits for an approval any more" in said
    assert job.github.comments == before
    job.review()
    assert job.approve() == "There is no text to approve.\n"


def forget(job: Job, commit: str) -> None:
    """Check out a commit as a job does that knows no later one."""
    git(job.site.root, "checkout", "-q", "--detach", commit)
    git(job.site.root, "branch", "-q", "-D", "texts")
    git(job.site.root, "update-ref", "-d", "refs/remotes/origin/texts")
    git(job.site.root, "reflog", "expire", "--expire=now", "--all")
    git(job.site.root, "gc", "-q", "--prune=now")


def test_a_job_that_is_run_again_after_another_push(job: Job) -> None:
    """A text that came with it waits for an approval; the comment says why this one is none."""
    job.tick_all()
    job.review()
    reviewed = job.head()
    job.approve()
    other = job.site.root / "contentgen/other.md/main.html"
    other.parent.mkdir(parents=True)
    other.write_text(git(job.site.root, "show", f"{reviewed}:contentgen/index.md/main.html"))
    job.push()
    forget(job, reviewed)
    assert "somebody has pushed since this job began" in job.approve(code=1)
    assert "somebody has pushed" in job.github.comments[0]["body"]


@pytest.mark.parametrize("event", ["pull_request", "merge_group", "schedule"])
def test_events_of_other_modes(job: Job, event: str) -> None:
    """Only a review approves; the message names its event, and no comment is touched."""
    job.tick_all()
    before = deepcopy(job.github.comments)
    job.start()
    if event == "merge_group":
        group = {"head_sha": job.head(), "base_sha": "2" * 40}
        job.site.write(".cache/event.json", json.dumps({"merge_group": group}))
    elif event == "schedule":
        job.site.write(".cache/event.json", json.dumps({"schedule": "0 5 * * 1"}))
    assert "run it `on: pull_request_review`" in job.approve(code=1)
    assert job.github.comments == before
    assert job.github.received == []


@pytest.mark.parametrize("permission", ["read", "none", ""])
def test_whoever_cannot_write(job: Job, permission: str) -> None:
    """On a public repository, anybody can approve a pull request."""
    job.tick_all()
    job.github.permissions = {"jo-doe": permission} if permission else {}
    job.review()
    refused(job, "jo-doe cannot write to this repository")


def test_an_app_is_no_person(job: Job) -> None:
    """The approval of a bot is no review."""
    job.tick_all()
    job.review(account="Bot")
    refused(job, "jo-doe is not a person")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("DISMISSED", "the review of jo-doe was dismissed"),
        ("CHANGES_REQUESTED", "the latest review of jo-doe requests changes"),
    ],
)
def test_what_counts_is_the_latest_opinion(job: Job, state: str, message: str) -> None:
    """An approval that another review followed keeps its state, and approves nothing any more."""
    job.tick_all()
    job.review()
    for _ in range(40):  # on a second page
        job.github.add_review("COMMENTED", job.head(), "someone")
    job.github.add_review(state, job.head())
    refused(job, message)
    job.github.add_review("COMMENTED", job.head())
    refused(job, message)
    job.github.add_review("CHANGES_REQUESTED", job.head(), None)
    job.github.add_review("CHANGES_REQUESTED", job.head(), "someone")
    job.github.add_review("APPROVED", job.head())
    assert job.approve() == "index.md: approved\n"


def test_a_review_that_is_not_listed_yet(job: Job) -> None:
    """GitHub may list a review a moment later; it is read by its number too."""
    job.tick_all()
    job.review()
    job.github.faults.append(Fault("GET", "/reviews\\?", 404, "Not Found"))
    assert job.approve() == "index.md: approved\n"


def test_a_reviewed_commit_that_is_null(job: Job) -> None:
    """What is not known is not the text that is there."""
    job.tick_all()
    job.review()
    job.github.reviews[0]["commit_id"] = None
    refused(job, "is not as it was in the commit that jo-doe reviewed")


def test_a_reviewer_whose_account_is_gone(job: Job) -> None:
    """Nobody approves in the name of a deleted account."""
    job.tick_all()
    job.start(review={"id": 1, "state": "approved", "user": None, "commit_id": job.head()})
    refused(job, "the account of the reviewer is gone")


@pytest.mark.parametrize("state", ["commented", "changes_requested", "dismissed"])
def test_other_reviews(job: Job, state: str) -> None:
    """They approve nothing, and are no error."""
    job.tick_all()
    job.review(state=state)
    assert job.approve() == "There is no text to approve.\n"
    assert job.approved_by() == ""


def test_four_eyes(job: Job) -> None:
    """With the option, whoever committed a text alone cannot approve it; two people can."""
    job.tick_all()
    job.github.addresses["x@example.org"] = "jo-doe"
    job.review()
    refused(job, "index.md: only jo-doe, or nobody known", "--four-eyes")
    job.github.addresses["x@example.org"] = "ada"
    job.approve("--four-eyes")
    assert job.approved_by() == "Jo Doe (jo-doe)"


def test_four_eyes_and_an_address_of_nobody(job: Job) -> None:
    """A commit whose author has no account may be the reviewer's own."""
    job.tick_all()
    job.review()
    refused(job, "index.md: only jo-doe, or nobody known", "--four-eyes")


def test_four_eyes_on_a_long_branch(job: Job) -> None:
    """All commits count: the text of another is found behind pages of one's own."""
    job.github.addresses["x@example.org"] = "jo-doe"
    other = "--author=Ada <1+ada@users.noreply.github.com>"
    job.site.approved.write_text(f"{job.site.approved.read_text()}\n")
    git(job.site.root, "commit", "-q", "-a", "-m", "by another", other)
    content = job.site.approved.read_text()
    stream = f"reset refs/heads/texts\nfrom {job.head()}\n"
    for number in range(260):
        changed = content + "\n" * (number % 2)
        stream += (
            "commit refs/heads/texts\ncommitter Jo <x@example.org> 1700000000 +0000\ndata 1\nx\n"
            "M 100644 inline contentgen/index.md/main.html\n"
            f"data {len(changed.encode())}\n{changed}\n"
        )
    command = ["git", "-C", str(job.site.root), "fast-import", "--quiet", "--force"]
    subprocess.run(command, input=stream, text=True, check=True)
    git(job.site.root, "reset", "-q", "--hard", "texts")
    job.push()
    job.check()
    job.tick_all()
    job.review()
    assert job.approve("--four-eyes") == "index.md: approved\n"


def test_a_base_that_moved(job: Job) -> None:
    """What somebody else proposes on the base is not of this pull request, whatever its event says.

    The event has the base as it was when the pull request was opened.
    """
    job.tick_all()
    git(job.site.root, "checkout", "-q", "main")
    other = job.site.root / "contentgen/other.md/main.html"
    other.parent.mkdir(parents=True)
    other.write_text(git(job.site.root, "show", "texts:contentgen/index.md/main.html"))
    commit(job.site.root, name="Somebody")
    git(job.site.root, "push", "-q", "origin", "main")
    git(job.site.root, "checkout", "-q", "texts")
    git(job.site.root, "merge", "-q", "--no-edit", "main")
    job.push()
    job.review()
    assert job.approve() == "index.md: approved\n"


@pytest.mark.parametrize("what", ["fork", "closed", "pushed"])
def test_a_review_of_a_pull_request_without_texts(job: Job, what: str) -> None:
    """It is nothing to do, wherever the pull request comes from, and no comment says anything."""
    git(job.site.root, "rm", "-q", "-r", "contentgen")
    job.push()
    job.review()
    job.github.comments.clear()
    pull = job.github.pulls[0]
    if what == "fork":
        pull["head"]["repo"] = {"full_name": "mallory/docs"}
    elif what == "closed":
        pull["state"] = "closed"
    else:
        git(job.remote, "update-ref", "refs/heads/texts", "main")
    assert job.approve() == "There is no text to approve.\n"
    assert job.github.comments == []


def test_a_rule_that_refuses_the_push(job: Job) -> None:
    """The log and the comment say which; nothing is approved."""
    job.tick_all()
    refuse_pushes(job.remote, "refs/heads/texts", "Commits must have verified signatures.")
    job.review()
    refused(job, "Commits must have verified signatures.")
    body = unescape(job.github.comments[0]["body"])
    assert "No text was approved" in body
    assert "verified signatures" in body
    assert str(job.remote) not in body


def test_a_refusal_without_a_comment(job: Job) -> None:
    """Where the token may not comment, the log says why no text was approved all the same."""
    job.github.may_write = False
    job.review()
    refused(job, "not ticked: In ‹1999›, it was slow.")
    assert "the comment does not say why" in job.approve(code=1)


def test_an_approval_that_its_own_commit_dismisses(job: Job) -> None:
    """The reviewer is asked once more, and the second approval is nothing to do."""
    job.tick_all()
    job.github.dismisses_stale_approvals = True
    job.review()
    said = job.approve()
    assert said.endswith("index.md: approved\n")
    assert "jo-doe has to approve the pull request once more" in said
    assert job.approved_by() == "Jo Doe (jo-doe)"
    assert job.github.requested == [{"reviewers": ["jo-doe"], "team_reviewers": []}]
    body = unescape(job.github.comments[0]["body"])
    assert "The texts are approved." in body
    assert "jo-doe, please approve the pull request once more" in body
    job.review()
    assert job.approve() == "There is no text to approve.\n"
    assert job.github.reviews[-1]["state"] == "APPROVED"


@pytest.mark.parametrize("name", ["dismiss_stale_reviews_on_push", "require_last_push_approval"])
def test_a_ruleset_that_will_dismiss_the_approval(job: Job, name: str) -> None:
    """GitHub may dismiss it a moment later; the rules say that it will."""
    job.tick_all()
    job.github.rules = [
        {"type": "required_signatures"},
        {"type": "pull_request", "parameters": {name: True, "required_approving_review_count": 1}},
    ]
    job.review()
    assert "once more" in job.approve()
    assert job.github.requested == [{"reviewers": ["jo-doe"], "team_reviewers": []}]


@pytest.mark.parametrize(
    "name",
    [
        ".",
        "'",
        "\\",
        '.,:;"',
        "   ",
        "\n",
        "\N{NO-BREAK SPACE}",
        "\u202eoJ",
        "\N{GRINNING FACE}" * 300,
    ],
)
def test_names_that_git_or_a_file_refuses(job: Job, name: str) -> None:
    """The login stands for them."""
    job.tick_all()
    job.github.names["jo-doe"] = name
    job.review()
    job.approve()
    assert job.approved_by() == "jo-doe"
    assert git(job.remote, "log", "-1", "--format=%an", "texts") == "jo-doe\n"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Sammy Davis Jr.", "Sammy Davis Jr"),
        ("\N{GRINNING FACE}" * 100, "\N{GRINNING FACE}" * 100),
        ("Jo <jo@example.org>", "Jo jo@example.org"),
    ],
)
def test_names_that_file_and_commit_share(job: Job, name: str, kept: str) -> None:
    """What git takes away from a name is not in the file either: no approval is doubtful."""
    job.tick_all()
    job.github.names["jo-doe"] = name
    job.review()
    job.approve()
    assert job.approved_by() == f"{kept} (jo-doe)"
    assert git(job.remote, "log", "-1", "--format=%an", "texts") == f"{kept}\n"
    assert "Warning" not in job.site.run("report", "--base", "main")


def test_a_managed_user(job: Job) -> None:
    """Its login has an underscore."""
    job.tick_all()
    job.github.permissions["jo-doe_acme"] = "write"
    job.review(login="jo-doe_acme")
    job.approve()
    assert job.approved_by() == "jo-doe_acme"


@pytest.mark.parametrize(("kind", "login"), [("app", "docs-app[bot]"), ("person", "jo-bot")])
def test_other_tokens(job: Job, kind: Literal["app", "person"], login: str) -> None:
    """The comment is that of the account of the token; the ticks in another one do not count."""
    job.tick_all()
    job.github.kind = kind
    job.github.login = login
    job.review()
    refused(job, "not ticked")
    job.github.comments = [it for it in job.github.comments if it["user"]["login"] == login]
    job.check()
    job.tick_all()
    job.review()
    assert job.approve() == "index.md: approved\n"


def test_a_fork(job: Job) -> None:
    """Nothing can be committed there."""
    job.tick_all()
    job.github.pulls[0]["head"]["repo"] = {"full_name": "mallory/docs"}
    job.review()
    refused(job, "the branch is in a fork")


def test_a_closed_pull_request(job: Job) -> None:
    """It was closed or merged before the job ran."""
    job.tick_all()
    job.github.pulls[0]["state"] = "closed"
    job.review()
    refused(job, "the pull request is closed")


def test_an_approval_that_was_written_by_hand(job: Job) -> None:
    """A proposed file with parts of an approval is a problem of the whole pull request."""
    edit_file(job.site.approved, "format: 1\n", "format: 1\napproved_by: Mallory\n")
    job.push(name="Mallory")
    job.tick_all()
    job.review()
    before = job.pushed()
    assert "approved_by: a proposed text has no approval" in job.approve(code=1)
    assert job.pushed() == before


def test_links_and_other_files(job: Job) -> None:
    """A link is not a text, and a file outside of the folder is left alone, whatever it has."""
    job.tick_all()
    content = job.site.approved.read_text()
    job.site.write("elsewhere/index.md/main.html", content)
    job.site.write("contentgen/notes.html", content)
    link = job.site.root / "contentgen/other.md/main.html"
    link.parent.mkdir()
    link.symlink_to(job.site.approved)
    job.push()
    job.review()
    refused(job, "contentgen/other.md/main.html: is not a file with a text")
    link.unlink()
    job.push()
    job.review()
    job.approve()
    changed = git(job.remote, "diff", "--name-only", "texts~1", "texts").split()
    assert changed == ["contentgen/index.md/main.html"]


def test_the_configuration_is_not_run(job: Job) -> None:
    """A pull request that brings a hook runs nothing in the job that approves."""
    job.tick_all()
    job.site.configure(hooks=["evil.py"])
    job.site.write("evil.py", "raise SystemExit('ran')\n")
    job.push()
    job.review()
    assert job.approve() == "index.md: approved\n"


def test_hooks_of_git_do_not_run(job: Job) -> None:
    """Nor do those of the repository."""
    hook = job.site.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    job.tick_all()
    job.review()
    job.approve()
    assert job.approved_by() == "Jo Doe (jo-doe)"


def test_an_edited_text_names_its_author(job: Job) -> None:
    """Who changed a block in the pull request stands in the approved file."""
    edit_file(job.site.approved, "it was slow.", "it was very slow.")
    job.push(name="Grace Hopper")
    job.check()
    job.tick_all()
    job.review()
    job.approve()
    file = read_approved(job.site.approved, job.site.root / "contentgen")
    assert file is not None
    assert file.text.edits is not None
    assert [*file.text.edits.changed_by.values()] == ["Grace Hopper"]


def test_a_renamed_page(job: Job) -> None:
    """Its file is approved where it is now, and needs ticks of its own."""
    job.tick_all()
    renamed = job.site.root / "contentgen/new.md/main.html"
    renamed.parent.mkdir()
    job.site.approved.rename(renamed)
    (job.site.root / "docs/index.md").rename(job.site.root / "docs/new.md")
    job.push()
    job.review()
    assert "new.md: not ticked" in job.approve(code=1)
    job.check()
    job.tick_all()
    job.review()
    assert job.approve() == "new.md: approved\n"


def test_a_token_that_has_expired(job: Job) -> None:
    """Nothing is approved without it."""
    job.tick_all()
    job.review()
    job.github.token = "another"
    refused(job, "the token has expired or is wrong")


@pytest.mark.parametrize("folder", ["/etc", "../x", ".", "a/../../b"])
def test_other_folders(job: Job, folder: str) -> None:
    """The folder of approved files is one of the repository."""
    job.review()
    job.approve("--approved-dir", folder, code=2)


def test_a_conflict_of_two_proposals(job: Job) -> None:
    """A file with the markers of git is a problem, and no text."""
    content = job.site.approved.read_text()
    job.site.approved.write_text(content.replace("<p>It has", "<<<<<<< HEAD\n<p>It has"))
    job.push()
    job.tick_all()
    job.review()
    refused(job, "merge conflict in line ")


def test_a_missing_base(job: Job) -> None:
    """A shallow checkout does not have the base; the message says what to do."""
    job.tick_all()
    job.github.pulls[0]["base"]["sha"] = "c" * 40
    git(job.site.root, "update-ref", "-d", "refs/remotes/origin/main")
    job.review()
    refused(job, "`fetch-depth: 0`")


def test_another_program_than_git(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of an account or a branch is never an option of git."""
    job.tick_all()
    job.github.names["jo-doe"] = "--upload-pack=touch evil"
    job.github.pulls[0]["head"]["ref"] = "--mirror"
    job.review()
    with pytest.raises(subprocess.CalledProcessError):
        git(job.remote, "rev-parse", "--verify", "refs/heads/--mirror")
    job.approve(code=1)
    assert not (job.site.root / "evil").exists()
