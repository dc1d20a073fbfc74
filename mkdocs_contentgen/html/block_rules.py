"""What the rules of a Markdown parser need to read lines, and to push the block that they are."""

from __future__ import annotations

from markdown_it.rules_block import StateBlock


def line_at(state: StateBlock, number: int) -> str:
    """Return a line without the indentation and the markers of what it is in."""
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def push_block(state: StateBlock, kind: str, tag: str, text: str, lines: list[int]) -> None:
    """Push a block with a text: a `paragraph` or a `heading`.

    `lines` are the first line and the one after the last.
    """
    state.push(f"{kind}_open", tag, 1).map = lines
    inline = state.push("inline", "", 0)
    inline.content = text
    inline.map = lines
    inline.children = []
    state.push(f"{kind}_close", tag, -1)
