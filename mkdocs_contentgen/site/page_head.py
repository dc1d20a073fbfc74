"""Write what the head of a page says about its language, and about its translations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from ..language.tags import is_right_to_left

_ALTERNATE = re.compile(
    r"""<link\s(?=[^<>]*\brel=["']?alternate\b)[^<>]*\bhreflang=["']?([\w-]+)[^<>]*>\s*"""
)
"""Matches a link to the page in another language, as themes write it from `extra.alternate`."""

_ROOT = re.compile(r"<html\b[^<>]*>", re.IGNORECASE)
_BODY = re.compile(r"<body\b[^<>]*>", re.IGNORECASE)


def with_alternates(output: str, addresses: Mapping[str, str]) -> str:
    """Return the HTML of a page with links to it in each language, also its own, in the head.

    `addresses` are those of the pages by their languages; the first is for everybody else
    (`x-default`). Links of the theme to these languages are replaced.
    """
    head, end, rest = output.partition("</head>")
    if not end:
        return output
    languages = {language.lower() for language in (*addresses, "x-default")}

    def without(link: re.Match[str]) -> str:
        return "" if link[1].lower() in languages else link[0]

    head = _ALTERNATE.sub(without, head)
    links = []
    for language, address in [*addresses.items(), ("x-default", next(iter(addresses.values())))]:
        links.append(
            f'<link rel="alternate" hreflang="{escape(language)}" href="{escape(address)}">'
        )
    return f"{head}{''.join(links)}{end}{rest}"


def with_language(output: str, language: str) -> str:
    """Return the HTML of a page that says its language, and the direction of that.

    A direction is only written where the language or the theme needs one.
    """
    direction = "rtl" if is_right_to_left(language) else "ltr"

    def with_both(tag: re.Match[str]) -> str:
        start = _with_attribute(tag[0], "lang", language)
        if direction == "rtl" or _has_attribute(start, "dir"):
            start = _with_attribute(start, "dir", direction)
        return start

    def with_direction(tag: re.Match[str]) -> str:  # Material's body has one
        if _has_attribute(tag[0], "dir"):
            return _with_attribute(tag[0], "dir", direction)
        return tag[0]

    output = _ROOT.sub(with_both, output, count=1)
    return _BODY.sub(with_direction, output, count=1)


def _has_attribute(tag: str, name: str) -> bool:
    return re.search(rf"\s{name}\s*=", tag) is not None


def _with_attribute(tag: str, name: str, value: str) -> str:
    """Return a start tag with the value of an attribute, in place of another, if there is one."""
    attribute = f' {name}="{escape(value)}"'
    old = rf"""\s{name}\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)"""
    if _has_attribute(tag, name):
        return re.sub(old, lambda _: attribute, tag, count=1)
    return f"{tag[:-1]}{attribute}>"
