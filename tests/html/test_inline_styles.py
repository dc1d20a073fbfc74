"""Inline styles: `golden/inline_styles.txt` has a line `style => what is left of it` for each case.

UPDATE_GOLDEN=1 rewrites what stands behind the arrows.
"""

from __future__ import annotations

import pytest
from golden_file import GOLDEN, expect
from harmless import PROPERTIES, wrong_with_style
from hypothesis import example, given
from hypothesis import strategies as st

from mkdocs_contentgen.html.inline_styles import adapted_classes, sanitize_style, visible_style

CASES = GOLDEN / "inline_styles.txt"


def test_what_is_left_of_a_style_is_as_expected() -> None:
    """Each case leaves what its line says, and that is harmless and stays the same."""
    result = ""
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("# "):
            result += f"{line}\n"
            continue
        style = line.partition(" =>")[0]
        left = sanitize_style(style)
        result += f"{style} => {left}".rstrip() + "\n"
        assert sanitize_style(left) == left
        assert not left or list(wrong_with_style(left)) == [], style
    expect(result, CASES)


@pytest.mark.parametrize(
    ("style", "classes"),
    [
        ("border: 1px solid rgba(0, 0, 0, 0.05)", "cg-box"),
        ("border: 1px solid rgba(0, 0, 0, 0.06)", "cg-box cg-line-grey"),
        ("border: 1px none red", ""),
        ("border: 0 solid red", ""),
        ("border-left: 4px solid #3498db", "cg-bar cg-line-240"),
        ("background: rgba(1, 2, 3, 0.05)", ""),
        ("background: rgba(1, 2, 3, 0.06)", "cg-fill cg-fill-grey"),
        ("background: #fcfcfc", ""),
        ("background: #fafafa", "cg-fill cg-fill-grey"),
        ("background: linear-gradient(red, blue)", "cg-fill cg-gradient cg-fill-30 cg-to-270"),
        ("background: linear-gradient(red, #e11)", "cg-fill cg-fill-30"),
        ("color: #e11", "cg-ink cg-ink-30"),
        ("color: #777", "cg-muted"),
        ("color: #333", ""),
        ("font-weight: 600", "cg-bold"),
        ("font-weight: 599", ""),
    ],
)
def test_the_classes_of_a_style(style: str, classes: str) -> None:
    """Colours that can hardly be seen, and those of plain text, have no class."""
    assert " ".join(adapted_classes("p", style)) == classes


@pytest.mark.parametrize(
    ("style", "behind", "visible"),
    [
        ("color: #fff", [], ""),
        ("color: #ccc", [], ""),
        ("color: #888", [], "color: #888"),
        ("color: rgba(0, 0, 0, 0.6)", [], ""),
        ("color: rgba(0, 0, 0, 0.7)", [], "color: rgba(0, 0, 0, 0.7)"),
        ("color: #fff", [0.1], "color: #fff"),
        ("color: #000", [0.1], "color: #fff"),
        ("color: #fff", [0.1, 0.9], "color: #fff"),
        ("color: #fff", [0.9, 0.9], "color: #000"),
        ("padding: 1px", [0.1], "padding: 1px"),
        ("background: #000", [], "background: #000; color: #fff"),
        ("background: #000; color: #111", [], "background: #000; color: #fff"),
        ("background: #fff; color: #111", [0.1], "background: #fff; color: #111"),
        ("background: rgba(0, 0, 0, 0.05)", [0.1], "background: rgba(0, 0, 0, 0.05)"),
    ],
)
def test_text_is_visible(style: str, behind: list[float], visible: str) -> None:
    """A text as light as what is behind it has the colour of a text on that."""
    assert visible_style(style, behind)[0] == visible


words = st.sampled_from(
    [
        *"red #fff #12 auto 1px -1px 101px 1.5.5 1e9 50% 101% 1vw 0 .5em +2rem 1turn".split(),
        *"-90deg calc(1px) var(--x) url(x) rgba(1,2,3,.5) expression(1) attr(x) !important".split(),
        *("URL( 'x' )", "hsl(1deg 2% 3% / 4)", "linear-gradient(1deg, red 5%, rgb(1 2 3))"),
        *("linear-gradient(red, url(x))", "image-set('x' 1x)", "\\75rl(x)", "\\3b ", "r\\65 d"),
        *"'x' \" ' ( ) { } [ ] , / /* */ <!-- --> \\ @x u+26 --x räd ; :".split(),
        *"\n\t\0\x02",
    ]
)
names = st.sampled_from(
    [*sorted(PROPERTIES), *"position --x font-family behavior COLOR".split(), "b\\61 ckground", ""]
)
styles = st.lists(
    st.builds(
        "{}{}{}".format,
        names,
        st.sampled_from([":", ": ", " : ", "", "/**/:"]),
        st.lists(words | st.text(max_size=3), max_size=4).map(" ".join),
    ),
    max_size=4,
).map(";".join)


@given(style=styles | st.text(max_size=40))
@example(style="background: 0%0")
def test_whatever_comes_the_style_is_harmless_and_stays_the_same(style: str) -> None:
    """A second pass changes nothing, and a check by regular expressions finds nothing wrong."""
    left = sanitize_style(style)
    assert sanitize_style(left) == left
    assert not left or list(wrong_with_style(left)) == []


colours = st.sampled_from(["red", "#abc", "rgba(1, 2, 3, 0.5)", "hsl(120deg 50% 50% / 0.5)"])
harmless = st.one_of(
    st.builds("color: {}".format, colours),
    st.builds("background: linear-gradient(45deg, {} 0%, {} 100%)".format, colours, colours),
    st.builds(
        "border-{}: {}px solid {}".format,
        st.sampled_from(["left", "top"]),
        st.integers(0, 100),
        colours,
    ),
    st.builds(
        "{}: {}px {}em".format,
        st.sampled_from(["margin", "padding"]),
        st.integers(0, 100),
        st.integers(0, 6),
    ),
    st.builds("font-size: {}%".format, st.integers(50, 600)),
    st.builds("line-height: {}".format, st.integers(1, 6)),
)


@given(declarations=st.lists(harmless, max_size=5))
def test_a_harmless_style_stays_as_it_is(declarations: list[str]) -> None:
    """Nothing is lost of what the service is likely to send."""
    style = "; ".join(declarations)
    assert sanitize_style(style) == style
