"""The parsers of Markdown lines, whatever they have to read."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth

from mkdocs_contentgen.html.markdown_parser import block_parser, inline_parser, link_addresses


@pytest.mark.parametrize("is_persons", [False, True])
@pytest.mark.parametrize("part", ["![", "<sup>", "<sub>a", "== ", "==a", "[a](", "`", "`a"])
def test_twice_the_text_takes_twice_the_time_to_read(part: str, is_persons: bool) -> None:
    """Starts without an end are each looked at once."""
    parser = inline_parser(is_persons=is_persons)
    assert growth(parser.renderInline, lambda size: part * (size // len(part)), 8_000) < LINEAR


@pytest.mark.parametrize("part", ["<!--", "<?", "<![CDATA[", "[a]: b\n", "_a", "**a** "])
def test_twice_the_blocks_take_twice_the_time(part: str) -> None:
    """What a person pastes may be anything, and so may an answer that is imported."""

    def read(text: str) -> None:
        block_parser().parse(text)
        link_addresses(text)

    assert growth(read, lambda size: part * (size // len(part)), 24_000, factor=4) < LINEAR


def test_addresses_of_links() -> None:
    """Those of Markdown and of HTML, each once, and none of code or of a picture."""
    text = (
        "[a](/b) <a href='c.md'>d</a> <https://e.example> `[f](g)` ![h](i)\n\n"
        "    [j](k)\n\n<div><a href='l'>m</a></div>\n\n[a](/b) [n]\n\n[n]: o\n"
    )
    assert link_addresses(text) == ["/b", "https://e.example", "o", "c.md", "l"]
