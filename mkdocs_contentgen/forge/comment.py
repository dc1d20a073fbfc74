"""The one comment of a pull request: its text, and the boxes that people have ticked in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import ForgeError
from .api import Comment, GitHub

HEADING = "<!-- contentgen:report -->"
"""The first line of the comment, by which the next run finds it."""

_TICK = re.compile(r"^\s*- \[[xX]\] <!-- contentgen:([0-9a-f]{16}) -->", re.MULTILINE)
"""A ticked box. No text of a report can look like this: its signs are character references."""


def ticked_marks(body: str) -> frozenset[str]:
    """Return the marks of the sentences whose boxes are ticked in a comment."""
    return frozenset(_TICK.findall(body))


def find_own(github: GitHub, number: int) -> list[Comment]:
    """Return our comments on a pull request, the oldest first; others may copy the heading."""
    login = github.own_login()
    return [
        comment
        for comment in github.comments(number)
        if comment.user and comment.user.login == login and (comment.body or "").startswith(HEADING)
    ]


def put_comment(github: GitHub, number: int, known: Sequence[Comment], text: str) -> None:
    """Write the comment, or update the one that is there; without `text`, remove it.

    Two runs at once may both write one: the oldest stays, and the others go.
    """
    if not text:
        for comment in known:
            github.delete_comment(comment.id)
        return
    body = f"{HEADING}\n{text}"
    if known:
        if known[0].body != body:
            github.change_comment(known[0].id, body)
    else:
        try:
            github.write_comment(number, body)
        except ForgeError as error:
            if error.status and error.status < 500:
                raise
            # It may have been written all the same.
            if not find_own(github, number):
                raise
        known = find_own(github, number)
    for comment in known[1:]:
        github.delete_comment(comment.id)
