"""Write what the head of a page says about its language, and about its translations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from ..language.languages import primary_tag
from ..language.tags import is_right_to_left

_ALTERNATE = re.compile(
    r"""<link\s(?=[^<>]*\brel=["']?alternate\b)[^<>]*\bhreflang=["']?([\w-]+)[^<>]*>\s*"""
)
"""Matches a link to the page in another language, as themes write it from `extra.alternate`."""

_ROOT = re.compile(r"<html\b[^<>]*>", re.IGNORECASE)
_BODY = re.compile(r"<body\b[^<>]*>", re.IGNORECASE)


def alternates(addresses: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return language and address of each link to the languages of a page.

    `addresses` are those of the pages by their languages; the first is for everybody else, too
    (`x-default`).
    """
    return [*addresses.items(), ("x-default", next(iter(addresses.values())))]


def with_alternates(output: str, addresses: Mapping[str, str]) -> str:
    """Return the HTML of a page with links to it in each language, also its own, in the head.

    `addresses` are as for alternates(). Links of the theme to these languages are replaced.
    """
    head, end, rest = output.partition("</head>")
    if not end:
        return output
    languages = {language.lower() for language in (*addresses, "x-default")}

    def without(link: re.Match[str]) -> str:
        return "" if link[1].lower() in languages else link[0]

    head = _ALTERNATE.sub(without, head)
    links = []
    for language, address in alternates(addresses):
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


def find_theme_texts(folders: Iterable[str], language: str) -> str:
    """Return the language of the texts that a theme has for a page, or an empty string.

    `folders` are those of the templates of a theme that has texts in many languages, as Material.
    """
    for tag in (language, primary_tag(language)):
        for folder in folders:
            if Path(folder, "partials/languages", f"{tag}.html").is_file():
                return tag
    return ""
