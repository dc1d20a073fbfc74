"""Sanitize inline styles (interface section 1), and replace them by classes of `contentgen.css`.

An allowlist of properties is not enough: `background` can contain a URL to fetch, and a margin can
be negative. So each value is parsed, and a declaration is kept only if all its tokens are allowed.

The service chooses colours for a white page. The classes keep their meaning (a hue, muted text, a
filled box, a bar at the side), and `contentgen.css` defines them for light and dark themes, with
enough contrast between each text colour and each background.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

_MAX_STYLE = 1000
"""The maximum length of an inline style in characters."""

_MAX_DEPTH = 2
"""How many functions may be within each other: a colour in a gradient. More make parsing slow."""

# Limits for lengths, so that an article cannot cover or displace the page.
_MAX_LENGTHS: dict[str, float] = {"px": 100, "pt": 75, "em": 6, "rem": 6, "ex": 12, "ch": 12}
_MIN_FONT_SIZES = {"px": 8, "pt": 6, "em": 0.5, "rem": 0.5, "ex": 1, "ch": 1, "%": 50}
_MAX_NUMBER = 1000
_ANGLES = {"deg", "grad", "rad", "turn"}

_RELATIVE_TO_FONT = {"font-size", "vertical-align"}
"""The properties whose percentages are relative to the font size or the line height."""

_RELATIVE_TO_WIDTH = ("margin", "padding", "text-indent")
"""The beginnings of those whose percentages are relative to the width of the page."""

_WHITE = 1.0
"""The lightness of white."""

_LEAST_DIFFERENCE = 0.25
"""The least difference in lightness between a text and what is behind it."""

_LEAST_ALPHA_OF_TEXT = 0.6
"""A text whose alpha is not larger is too transparent to be read."""

_BORDERS = {
    "border": "cg-box",
    "border-left": "cg-bar",
    "border-bottom": "cg-rule",
    "border-top": "cg-rule-above",
}


_LEFT_TO_THEME = frozenset("pre code kbd samp var hr details summary".split())

_TABLE_TAGS = frozenset(("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"))

_BACKGROUNDS = ("background", "background-color", "background-image")

_KEYWORD_CLASSES = {
    ("font-weight", "bold"): "cg-bold",
    ("font-weight", "bolder"): "cg-bold",
    ("font-style", "italic"): "cg-italic",
    ("text-decoration", "underline"): "cg-underline",
    ("text-decoration", "line-through"): "cg-strike",
    ("text-transform", "uppercase"): "cg-upper",
    ("text-align", "center"): "cg-center",
    ("text-align", "right"): "cg-right",
}


@lru_cache(maxsize=4096)
def sanitize_style(style: str) -> str:
    """Return the allowed declarations of a `style` attribute, in canonical form.

    Allowed are colours, backgrounds without URLs, borders, spacing and text styles. A style of more
    than 1,000 characters is dropped. The result is cached, since a site repeats a few styles.
    """
    if len(style) > _MAX_STYLE:
        return ""
    declarations = []
    for name, value in _declarations(style):
        if _PROPERTIES.fullmatch(name) and _all_safe(name, value):
            declarations.append(_serialized(name, value))
    safe = "; ".join(declarations)
    return safe if len(safe) <= _MAX_STYLE else ""


def _declarations(style: str) -> Iterator[tuple[str, list[Node]]]:
    """Yield name and value of each declaration that is not `!important`."""
    for node in tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True):
        if node.type == "declaration" and not node.important:
            yield node.lower_name, node.value


def _serialized(name: str, value: Sequence[Node]) -> str:
    return f"{name}: {tinycss2.serialize(value).strip()}"


def _all_safe(name: str, tokens: Sequence[Node], depth: int = 0) -> bool:
    """Tell whether a value is not empty, and all in it is allowed.

    `name` is that of the property, or of the function that has these arguments, and `depth` the
    number of functions around them.
    """
    if not tinycss2.serialize(tokens).strip():
        return False
    return all(_is_safe(name, token, depth) for token in tokens)


def _is_safe(name: str, token: Node, depth: int) -> bool:
    """Tell whether a part of a value is allowed, as in _all_safe()."""
    match token:
        case WhitespaceToken():
            return True
        case IdentToken():
            return bool(_KEYWORD.fullmatch(token.value))
        case HashToken():
            return bool(_COLOUR.fullmatch(token.value))
        case LiteralToken():
            return token.value in (",", "/")
        case NumberToken():
            return _is_safe_number(name, token.value)
        case PercentageToken() | DimensionToken():
            return _is_within_limits(name, token)
        case FunctionBlock():
            return (
                depth < _MAX_DEPTH
                and bool(_FUNCTIONS.fullmatch(token.lower_name))
                and _all_safe(token.lower_name, token.arguments, depth + 1)
            )
    return False


def _is_safe_number(name: str, number: float) -> bool:
    """Tell whether a property may have a number without a unit."""
    if name == "font-size":  # a size has a unit
        return False
    if name == "line-height":  # it scales with the font size, so that lines cannot overlap
        return 1 <= number <= 6
    return 0 <= number <= _MAX_NUMBER


def _is_within_limits(name: str, token: PercentageToken | DimensionToken) -> bool:
    """Tell whether a property, or a function, may have a percentage or a length of this size."""
    unit = token.lower_unit if isinstance(token, DimensionToken) else "%"
    if unit in _ANGLES:
        return True
    if name == "line-height":  # only without a unit, so that lines cannot overlap
        return False
    if unit != "%" and unit not in _MAX_LENGTHS:
        return False
    if unit == "%":
        maximum = _max_percentage(name)
    else:
        maximum = _MAX_LENGTHS[unit]
    if name.startswith("text-decoration"):
        maximum /= 10
    minimum = _MIN_FONT_SIZES.get(unit, 0) if name == "font-size" else 0
    return bool(minimum <= token.value <= maximum)


def _max_percentage(name: str) -> float:
    """Return the largest percentage that a property, or an argument of a function, may have."""
    if name in _RELATIVE_TO_FONT:
        return 600
    return 25 if name.startswith(_RELATIVE_TO_WIDTH) else 100


# A sanitized style has no quotes, so no value contains a semicolon.
_RELATIVE_SIZE = re.compile(
    r"font-size: (?!([0-9.+]+(px|pt|rem)|(x{0,2}-)?(small|large)|medium)(; |$))[^;]*(; |$)", re.I
)


def without_relative_size(style: str) -> str:
    """Return a sanitized style without relative font sizes."""
    return _RELATIVE_SIZE.sub("", style).removesuffix("; ")


def visible_style(style: str, behind: Sequence[float]) -> tuple[str, Sequence[float]]:
    """Return a sanitized style without invisible text, and the lightness of its background.

    `behind` is the lightness of the background around it: several values for a gradient, and none
    for the background of the page, which is taken for white.
    """
    values = dict(_declarations(style))
    own_background: list[float] = []
    for name in _BACKGROUNDS:
        for colour in _colours(values.get(name, [])):
            own_background.append(colour.lightness)
    background = own_background or behind
    if not own_background and "color" not in values:
        return style, background
    colours = _colours(values.get("color", []), least_alpha=_LEAST_ALPHA_OF_TEXT)
    if colours and _stands_out(colours[0].lightness, background or [_WHITE]):
        return style, background
    values.pop("color", None)
    kept = [_serialized(name, value) for name, value in values.items()]
    if background:
        is_light = sum(background) / len(background) > 0.6
        kept.append(f"color: {'#000' if is_light else '#fff'}")
    return "; ".join(kept), background


def _stands_out(lightness: float, background: Sequence[float]) -> bool:
    """Tell whether a text of this lightness can be read on each colour of a background."""
    return all(abs(lightness - behind) >= _LEAST_DIFFERENCE for behind in background)


@lru_cache(maxsize=4096)
def adapted_classes(tag: str, style: str) -> tuple[str, ...]:
    """Return the classes of `contentgen.css` that correspond to a sanitized style.

    Spacing, font sizes, table borders and the appearance of code, rules and details are left
    to the theme.
    """
    if tag in _LEFT_TO_THEME:
        return ()
    values = dict(_declarations(style))
    backgrounds = []
    for name in _BACKGROUNDS:
        backgrounds += values.get(name, [])
    classes = _text_classes(_colours(values.get("color", [])))
    classes += _background_classes(_colours(backgrounds))
    if tag not in _TABLE_TAGS:
        classes += _border_classes(values)
    for name, tokens in values.items():
        for token in tokens:
            if isinstance(token, IdentToken) and (name, token.lower_value) in _KEYWORD_CLASSES:
                classes.append(_KEYWORD_CLASSES[name, token.lower_value])
            elif isinstance(token, NumberToken) and name == "font-weight" and token.value >= 600:
                classes.append("cg-bold")
    return tuple(dict.fromkeys(classes))


@dataclass(frozen=True)
class _Colour:
    """A colour in OKLCH, a perceptually uniform colour space."""

    lightness: float
    """A number from 0 to 1."""

    chroma: float
    hue: float
    """The hue in degrees."""

    def step(self, least_chroma: float) -> str:
        """Return the name in the style sheet: the nearest of its twelve hues, in degrees.

        It is `grey` for less chroma.
        """
        if self.chroma < least_chroma:
            return "grey"
        return str(round(self.hue / 30) % 12 * 30)


def _text_classes(colours: list[_Colour]) -> list[str]:
    """Return the classes for a text colour: none for nearly black and white."""
    if not colours:
        return []
    step = colours[0].step(least_chroma=0.07)
    if step != "grey":
        return ["cg-ink", f"cg-ink-{step}"]
    return ["cg-muted"] if 0.45 <= colours[0].lightness <= 0.8 else []


def _background_classes(colours: list[_Colour]) -> list[str]:
    """Return the classes for a colour, or for the colours of a gradient."""
    if all(colour.lightness > 0.99 for colour in colours):  # none, or nearly white
        return []
    first = colours[0].step(least_chroma=0.01)
    last = colours[-1].step(least_chroma=0.01)
    if first != last:
        return ["cg-fill", "cg-gradient", f"cg-fill-{first}", f"cg-to-{last}"]
    return ["cg-fill", f"cg-fill-{first}"]


def _border_classes(values: Mapping[str, list[Node]]) -> list[str]:
    """Return the classes for the borders of an element, and their colours."""
    classes = []
    for name, class_ in _BORDERS.items():
        tokens = values.get(name, [])
        if not tokens:
            continue
        if any(_is_without_border(token) for token in tokens):
            continue
        classes.append(class_)
        colours = _colours(tokens)
        if colours:
            classes.append(f"cg-line-{colours[0].step(least_chroma=0.05)}")
    return classes


def _is_without_border(token: Node) -> bool:
    """Tell whether a part of a border's value says that there is none."""
    match token:
        case IdentToken():
            return token.lower_value in ("none", "hidden")
        case NumberToken() | PercentageToken() | DimensionToken():
            return bool(token.value == 0)
    return False


def _colours(tokens: Sequence[Node], least_alpha: float = 0.05) -> list[_Colour]:
    """Return the colours in a value that are opaque enough, also those in its functions."""
    colours: list[_Colour] = []
    for token in tokens:
        colour = color4.parse_color(token)  # type: ignore[arg-type]  # the stub lacks single nodes
        if isinstance(colour, color4.Color):
            *srgb, alpha = [number or 0.0 for number in colour.to("srgb")]
            if alpha > least_alpha:
                colours.append(_oklch(*srgb))
        elif isinstance(token, FunctionBlock):
            colours += _colours(token.arguments, least_alpha)
    return colours


def _oklch(*srgb: float) -> _Colour:
    """Convert from sRGB, as in https://bottosson.github.io/posts/oklab/."""
    red, green, blue = map(_linear, srgb)
    long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    return _Colour(lightness, hypot(a, b), degrees(atan2(b, a)) % 360)


def _linear(channel: float) -> float:
    """Return the intensity of the light for the value of a channel of sRGB."""
    if channel <= 0.04045:
        return channel / 12.92
    return float(((channel + 0.055) / 1.055) ** 2.4)
