"""Inline styles of the service (interface section 1): what of them is harmless, and what they mean.

A property's name alone says little: `background` can hold an address to fetch, and a margin can be
negative. So each value is parsed, and a declaration stays only when every token of it is known to
be harmless.

Colours were chosen for a white page that is not there. What they mean is kept: a hue, a muted text,
a filled box, a bar at its side. Each meaning is a class of `contentgen.css`, which knows for light
and dark how it looks, and whose texts have contrast on all of its fills.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import atan2, cbrt, degrees, hypot

import tinycss2
from tinycss2 import color4
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

# A colour in a gradient is two deep, and parsing takes time that grows with the depth.
_MAX_CHARACTERS = 1000
_MAX_DEPTH = 2

# How far a length may reach, so that no article lies over the page or pushes it away.
_LONGEST: dict[str, float] = {"px": 100, "pt": 75, "em": 6, "rem": 6, "ex": 12, "ch": 12}
_SMALLEST_FONT = {"px": 8, "pt": 6, "em": 0.5, "rem": 0.5, "ex": 1, "ch": 1, "%": 50}
_ANGLES = {"deg", "grad", "rad", "turn"}
# Of these, 100 % is the size of a letter or line, and of those the width of the page.
_OF_FONT = {"font-size", "vertical-align"}
_OF_PAGE = ("margin", "padding", "text-indent")


@lru_cache(maxsize=4096)
def harmless_style(style: str) -> str:
    """Return the declarations of a `style` attribute that can do no harm, in canonical form.

    What stays are colours, backgrounds without addresses, borders, spacing and text styles;
    nothing of more than 1,000 characters. The same few styles recur all over a site, hence the
    cache.
    """
    if len(style) > _MAX_CHARACTERS:
        return ""
    harmless = "; ".join(
        f"{node.lower_name}: {tinycss2.serialize(node.value).strip()}"
        for node in tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
        if node.type == "declaration"
        and not node.important
        and _PROPERTIES.fullmatch(node.lower_name)
        and _all_harmless(node.lower_name, node.value)
    )
    return harmless if len(harmless) <= _MAX_CHARACTERS else ""


def _all_harmless(name: str, tokens: Iterable[Node], depth: int = 0) -> bool:
    tokens = [token for token in tokens if not isinstance(token, WhitespaceToken)]
    return bool(tokens) and all(_harmless(name, token, depth) for token in tokens)


def _harmless(name: str, token: Node, depth: int) -> bool:
    match token:
        case IdentToken():
            return bool(_KEYWORD.fullmatch(token.value))
        case HashToken():
            return bool(_COLOUR.fullmatch(token.value))
        case LiteralToken():
            return token.value in (",", "/")
        case NumberToken():
            # A line height without a unit grows with the letters: they stay within their lines.
            smallest, longest = {"line-height": (1, 6), "font-size": (1, 0)}.get(name, (0, 1000))
            return bool(smallest <= token.value <= longest)
        case PercentageToken() | DimensionToken():
            return _moderate(name, token)
        case FunctionBlock():
            # Inside a function a number is a colour or a place in a gradient.
            return (
                depth < _MAX_DEPTH
                and bool(_FUNCTIONS.fullmatch(token.lower_name))
                and _all_harmless(token.lower_name, token.arguments, depth + 1)
            )
    return False


def _moderate(name: str, token: PercentageToken | DimensionToken) -> bool:
    unit = token.lower_unit if isinstance(token, DimensionToken) else "%"
    if unit in _ANGLES:
        return True
    if unit == "%":
        longest = 600.0 if name in _OF_FONT else 25 if name.startswith(_OF_PAGE) else 100
    else:
        longest = _LONGEST.get(unit, -1)
    if name == "line-height":
        longest = -1
    elif name.startswith("text-decoration"):
        longest /= 10
    smallest = _SMALLEST_FONT.get(unit, 0) if name == "font-size" else 0
    return bool(smallest <= token.value <= longest)


# What stands in a harmless style has no quotes, so that no value holds a semicolon.
_RELATIVE_SIZE = re.compile(
    r"font-size: (?!([0-9.+]+(px|pt|rem)|(x{0,2}-)?(small|large)|medium)(; |$))[^;]*(; |$)", re.I
)


def without_relative_size(style: str) -> str:
    """Return a harmless style without a font size that is relative to the one around it."""
    return _RELATIVE_SIZE.sub("", style).removesuffix("; ")


@lru_cache(maxsize=4096)
def adapted_classes(tag: str, style: str) -> tuple[str, ...]:
    """Return the classes of `contentgen.css` that say on any theme what a harmless style says.

    Spacing and type sizes are the theme's own, as are the lines of tables and all of a code
    block's look.
    """
    if tag in ("pre", "code", "kbd", "samp", "var"):
        return ()
    values = {
        node.lower_name: [t for t in node.value if not isinstance(t, WhitespaceToken)]
        for node in tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
        if node.type == "declaration"
    }
    classes = [
        *_ink(_colours(values.get("color", []))),
        *_fill(_colours(value for name in _BACKGROUNDS for value in values.get(name, []))),
        *([] if tag in _TABLES else _lines(values)),
    ]
    for name, value in values.items():
        words = {token.lower_value for token in value if isinstance(token, IdentToken)}
        classes += [class_ for word in words if (class_ := _WORDS.get((name, word)))]
    if any(isinstance(t, NumberToken) and t.value >= 600 for t in values.get("font-weight", [])):
        classes.append("cg-bold")
    if tag not in _HEADINGS:
        classes += _size(values.get("font-size", []))
    return tuple(dict.fromkeys(classes))


Colour = tuple[float, float, float]
"""Lightness (0 to 1), chroma and hue (degrees) in OKLCH, where equal lightness looks equal."""

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_TABLES = frozenset(("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"))
_BACKGROUNDS = ("background", "background-color", "background-image")
_WORDS = {
    ("font-weight", "bold"): "cg-bold",
    ("font-weight", "bolder"): "cg-bold",
    ("font-style", "italic"): "cg-italic",
    ("text-decoration", "underline"): "cg-underline",
    ("text-decoration", "line-through"): "cg-strike",
    ("text-transform", "uppercase"): "cg-upper",
    ("text-align", "center"): "cg-center",
    ("text-align", "right"): "cg-right",
}
_PIXELS = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "%": 0.16}


def _ink(colours: list[Colour]) -> list[str]:
    """Text that is nearly black or white was only to be readable, which it is without a class."""
    if not colours:
        return []
    lightness, chroma, hue = colours[0]
    if chroma >= 0.07:
        return ["cg-ink", f"cg-ink-{_step(hue)}"]
    return ["cg-muted"] if 0.45 <= lightness <= 0.8 else []


def _fill(colours: list[Colour]) -> list[str]:
    if not colours or all(lightness > 0.99 for lightness, _, _ in colours):
        return []
    steps = [_step(hue) if chroma >= 0.01 else "grey" for _, chroma, hue in colours]
    if len(steps) > 1 and steps[0] != steps[-1]:
        return ["cg-fill", "cg-gradient", f"cg-fill-{steps[0]}", f"cg-to-{steps[-1]}"]
    return ["cg-fill", f"cg-fill-{steps[0]}"]


def _lines(values: Mapping[str, list[Node]]) -> list[str]:
    classes = []
    for name, class_ in _LINES.items():
        value = values.get(name, [])
        nothing = any(getattr(token, "lower_value", "") in ("none", "hidden") for token in value)
        if value and not nothing and getattr(value[0], "value", 1) != 0:
            classes.append(class_)
            for _, chroma, hue in _colours(value)[:1]:
                classes += [f"cg-line-{_step(hue)}"] if chroma >= 0.05 else []
    return classes


_LINES = {
    "border": "cg-box",
    "border-left": "cg-bar",
    "border-bottom": "cg-rule",
    "border-top": "cg-rule-above",
}


def _size(value: list[Node]) -> list[str]:
    for token in value:
        unit = token.lower_unit if isinstance(token, DimensionToken) else "%"
        if isinstance(token, (DimensionToken, PercentageToken)) and unit in _PIXELS:
            pixels = token.value * _PIXELS[unit]
            return ["cg-small"] if pixels < 15 else ["cg-large"] if pixels > 17 else []
    return []


def _step(hue: float) -> str:
    """Return the nearest of the twelve hues that the style sheet has."""
    return str(round(hue / 30) % 12 * 30)


def _colours(tokens: Iterable[Node]) -> list[Colour]:
    colours: list[Colour] = []
    for token in tokens:
        colour = color4.parse_color(token)  # type: ignore[arg-type]  # the stub forgets single nodes
        if isinstance(colour, color4.Color):
            *srgb, alpha = (number or 0.0 for number in colour.to("srgb"))
            if alpha > 0.05:
                colours.append(_oklch(*srgb))
        elif isinstance(token, FunctionBlock):
            colours += _colours(token.arguments)
    return colours


def _oklch(*srgb: float) -> Colour:
    """Convert from sRGB, as in https://bottosson.github.io/posts/oklab/."""
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in srgb
    )
    long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    return lightness, hypot(a, b), degrees(atan2(b, a)) % 360
