"""Inline styles of the service (interface section 1): what of them is harmless.

A property's name alone says little: `background` can hold an address to fetch, and a margin can be
negative. So each value is parsed, and a declaration stays only when every token of it is known to
be harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import tinycss2
from tinycss2.ast import (
    DimensionToken,
    FunctionBlock,
    HashToken,
    IdentToken,
    LiteralToken,
    Node,
    NumberToken,
    PercentageToken,
    WhitespaceToken,
)

_SIDES = r"(?:-(?:top|right|bottom|left))?"
_PROPERTIES = re.compile(
    r"color|background(?:-color|-image)?"
    rf"|border{_SIDES}(?:-(?:color|style|width))?|border-radius|border-collapse"
    rf"|margin{_SIDES}|padding{_SIDES}"
    r"|font-(?:size|style|variant|weight)|letter-spacing|line-height|list-style-type"
    r"|text-(?:align|decoration(?:-(?:color|line|style))?|indent|transform)|vertical-align"
)
_FUNCTIONS = re.compile(r"(?:rgb|hsl)a?|(?:repeating-)?(?:linear|radial|conic)-gradient")
_KEYWORD = re.compile(r"[A-Za-z][A-Za-z-]*")
_COLOUR = re.compile(r"[0-9A-Fa-f]{3,8}")

# How far a length may reach, so that no article lies over the page or pushes it away.
_LONGEST = {"px": 100, "pt": 75, "em": 6, "rem": 6, "ex": 12, "ch": 12}
_ANGLES = {"deg", "grad", "rad", "turn"}
_OF_FONT = {"font-size", "line-height", "vertical-align"}
"""Where 100 % is the size of a letter; elsewhere it can be the width of the page."""


@lru_cache(maxsize=4096)
def harmless_style(style: str) -> str:
    """Return the declarations of a `style` attribute that can do no harm, in canonical form.

    What stays are colours, backgrounds without addresses, borders, spacing and text styles.
    The same few styles recur all over a site, hence the cache.
    """
    return "; ".join(
        f"{node.lower_name}: {tinycss2.serialize(node.value).strip()}"
        for node in tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
        if node.type == "declaration"
        and not node.important
        and _PROPERTIES.fullmatch(node.lower_name)
        and _all_harmless(node.lower_name, node.value)
    )


def _all_harmless(name: str, tokens: Iterable[Node]) -> bool:
    tokens = [token for token in tokens if not isinstance(token, WhitespaceToken)]
    return bool(tokens) and all(_harmless(name, token) for token in tokens)


def _harmless(name: str, token: Node) -> bool:
    match token:
        case IdentToken():
            return bool(_KEYWORD.fullmatch(token.value))
        case HashToken():
            return bool(_COLOUR.fullmatch(token.value))
        case LiteralToken():
            return token.value in (",", "/")
        case NumberToken() | PercentageToken() | DimensionToken():
            return _moderate(name, token)
        case FunctionBlock():
            # Inside a function a number is a colour or a place in a gradient.
            return bool(_FUNCTIONS.fullmatch(token.lower_name)) and _all_harmless(
                token.lower_name, token.arguments
            )
    return False


def _moderate(name: str, token: NumberToken | PercentageToken | DimensionToken) -> bool:
    value: float = token.value
    smallest = {"line-height": 1, "font-size": 0.5}.get(name, 0)
    if isinstance(token, DimensionToken):
        if token.lower_unit in _ANGLES:
            return True
        longest = _LONGEST.get(token.lower_unit, -1)
    elif isinstance(token, PercentageToken):
        smallest *= 100
        longest = 100 * _LONGEST["em"] if name in _OF_FONT else 100
    else:
        longest = _LONGEST["em"] if name == "line-height" else 1000
    return smallest <= value <= longest
