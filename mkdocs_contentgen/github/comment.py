"""The one comment of a pull request: its text, and the boxes that people have ticked in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import GitHubError
from ..review.untrusted_markdown import escaped
from .api import Comment, GitHub

_MAX_BODY = 65_000
"""Characters: GitHub refuses comments of more than 65,536."""

HEADING = "<!-- contentgen:report -->"
"""The first line of the comment, by which the next run finds it."""

_ANSWER = "<!-- contentgen:answer -->"
"""The line above what became of an approval."""

_MAX_PROBLEMS = 30
"""How many problems an answer has."""

_MAX_PROBLEM = 600
"""The maximum length of a problem in an answer, in characters."""


def bodies(comments: Iterable[Comment]) -> list[str]:
    """Return the texts of comments."""
    return [comment.body or "" for comment in comments]


def put_answer(github: GitHub, number: int, heading: str, problems: Sequence[str]) -> None:
    """Say what became of an approval: below the report, or alone if there is no report.

    The next report replaces it.
    """
    lines = []
    for problem in problems[:_MAX_PROBLEMS]:
        lines.append(f"- {escaped(problem[:_MAX_PROBLEM])}")
    if len(problems) > _MAX_PROBLEMS:
        lines.append(f"- and {len(problems) - _MAX_PROBLEMS} more")
    said = "\n".join([_ANSWER, f"**{heading}**", "", *lines, ""])
    known = find_own(github, number)
    report = ""
    if known:
        report = _report_in(known[0])
    put_comment(github, number, known, f"{report}\n\n{said}".lstrip()[:_MAX_BODY])


def _report_in(comment: Comment) -> str:
    """Return the report in our comment, without an earlier answer below it."""
    text = (comment.body or "").removeprefix(HEADING)
    report, _, _ = text.partition(_ANSWER)
    return report.strip()


def find_own(github: GitHub, number: int) -> list[Comment]:
    """Return our comments on a pull request, the oldest first; others may copy the heading."""
    login = github.own_login()
    found = []
    for comment in github.comments(number):
        is_own = comment.user is not None and comment.user.login == login
        if is_own and (comment.body or "").startswith(HEADING):
            found.append(comment)
    return found


def put_comment(github: GitHub, number: int, known: Sequence[Comment], text: str) -> None:
    """Write the comment, or update the one that is there; without `text`, remove it.

    Two runs at once may both write one: the oldest stays, and the others go.
    """
    if not text:
        for comment in known:
            github.delete_comment(comment.id)
        return
    body = f"{HEADING}\n{text}"
    if not known:
        known = _write_first(github, number, body)
    elif known[0].body != body:
        known = _change(github, number, known, body)
    for comment in known[1:]:
        github.delete_comment(comment.id)


def _change(github: GitHub, number: int, known: Sequence[Comment], body: str) -> Sequence[Comment]:
    """Change the oldest of our comments, and return all of them."""
    try:
        github.change_comment(known[0].id, body)
    except GitHubError as error:
        if error.status != 404:
            raise
        return _write_first(github, number, body)  # somebody has deleted it meanwhile
    return known


def _write_first(github: GitHub, number: int, body: str) -> list[Comment]:
    """Write a comment, and return ours, among which there can be one of another run."""
    try:
        github.write_comment(number, body)
    except GitHubError as error:
        was_refused = bool(error.status) and error.status < 500
        written = [] if was_refused else find_own(github, number)
        if not written:
            raise
        return written  # GitHub has written it, although its answer was lost
    return find_own(github, number)
