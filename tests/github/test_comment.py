"""The comment of a pull request: which one it is, and what becomes of it between two requests."""

from __future__ import annotations

import pytest
from github_double import REPOSITORY, TOKEN, GitHubDouble

from mkdocs_contentgen.github.api import GitHub
from mkdocs_contentgen.github.comment import HEADING, find_own, put_answer, put_comment
from mkdocs_contentgen.github.events import GitHubJob


def connect(github: GitHubDouble) -> GitHub:
    """Return the API for a job."""
    return GitHub(
        GitHubJob(REPOSITORY, github.url, f"{github.url}/graphql", "https://x.example", TOKEN)
    )


def test_a_comment_that_is_deleted_meanwhile(github: GitHubDouble) -> None:
    """It is written again, and there is one."""
    with connect(github) as api:
        put_comment(api, 7, [], "before")
        known = find_own(api, 7)
        github.comments.clear()
        put_comment(api, 7, known, "after")
        assert [it["body"] for it in github.comments] == [f"{HEADING}\nafter"]
        put_comment(api, 7, known, "")
    assert len(github.comments) == 1, "that the old one is gone is no error"


@pytest.mark.parametrize(
    ("login", "body"),
    [
        ("dependabot[bot]", f"{HEADING}\nx"),
        ("github-actions", f"{HEADING}\nx"),
        ("GitHub-Actions[bot]", f"{HEADING}\nx"),
        ("jo-doe", f"{HEADING}\nx"),
        ("github-actions[bot]", f"> {HEADING}\nx"),
        ("github-actions[bot]", f" {HEADING}\nx"),
        ("github-actions[bot]", ""),
    ],
)
def test_comments_that_are_not_ours(github: GitHubDouble, login: str, body: str) -> None:
    """Another account, or another comment of our own account, such as one of another workflow."""
    github.add_comment(body, login)
    with connect(github) as api:
        assert find_own(api, 7) == []
        put_comment(api, 7, [], "ours")
    assert [it["body"] for it in github.comments] == [body, f"{HEADING}\nours"]


def test_an_answer_below_the_longest_report(github: GitHubDouble) -> None:
    """GitHub takes it, though both together are longer than a comment can be."""
    github.add_comment(f"{HEADING}\n{'x' * 60_000}")
    problems = ["<&@#" * 400] * 40
    with connect(github) as api:
        put_answer(api, 7, "No text was approved:", problems)
        put_answer(api, 7, "No text was approved:", ["again"])
    [comment] = github.comments
    assert comment["body"].count("No text was approved:") == 1
    assert comment["body"].endswith("- again\n")
