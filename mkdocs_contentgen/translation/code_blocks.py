"""Keep what people translate of code: its comments. All else of it is the original's."""

from __future__ import annotations

import re

from bs4 import Tag

from ..sequences import match_in_order

_COMMENT = re.compile(
    r"(?P<code>(?:.*?\s)?)(?P<opener>#+|//+|--+|;+|%+|/\*+|\*+|<!--|REM)(?P<comment>\s.*)"
)
"""A line with a comment, which has a space before it and after what opens it."""


def take_label(own: Tag, original: Tag) -> bool:
    """Give code the name of its language that the original has, and tell whether it had another."""
    code = own.find("code")
    code_of_original = original.find("code")
    if code is None or code_of_original is None or code.attrs == code_of_original.attrs:
        return False
    code.attrs = dict(code_of_original.attrs)
    return True


def take_comments(new: Tag, own: Tag) -> bool:
    """Put the comments of a translation into new code of its original, and tell whether it had any.

    They are those of lines that are the same but for the comment, in the order of both.
    """
    code = new.find("code")
    if code is None or code.find(True):
        return False
    text = code.get_text()
    with_comments = _with_comments(text, own.get_text())
    if with_comments == text:
        return False
    code.string = with_comments
    return True


def have_same_code(one: Tag, other: Tag) -> bool:
    """Tell whether two pieces of code differ in comments and white space at most."""
    keys = filter(None, _keys(one.get_text().split("\n")))
    return list(keys) == list(filter(None, _keys(other.get_text().split("\n"))))


def _with_comments(text: str, translated: str) -> str:
    lines = text.split("\n")
    own_lines = translated.split("\n")
    for number, own_number in match_in_order(_keys(lines), _keys(own_lines)).items():
        comment = _COMMENT.fullmatch(lines[number])
        own_comment = _COMMENT.fullmatch(own_lines[own_number])
        if comment and own_comment:
            lines[number] = comment["code"] + comment["opener"] + own_comment["comment"]
    return "\n".join(lines)


def _keys(lines: list[str]) -> list[str]:
    """Return lines as they are compared: without comments and spaces."""
    keys = []
    for line in lines:
        match = _COMMENT.fullmatch(line)
        kept = match["code"] + match["opener"] if match else line
        keys.append("".join(kept.split()))
    return keys
