"""Kinds of HTML elements."""

from __future__ import annotations

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

CELLS = frozenset({"td", "th", "caption", "figcaption"})
"""What has its place in a table or a figure."""

VOID = frozenset({"br", "hr", "img", "wbr"})
"""What has no content and no end tag."""

TEXT_BLOCKS = HEADINGS | CELLS | {"p", "summary", "li", "dt", "dd", "blockquote", "pre", "div"}
"""What is a block of text, unless it contains other blocks."""

GROUPS = frozenset(
    "article section header footer aside details figure ul ol dl table thead tbody tfoot tr".split()
)
"""What contains blocks, and no text of its own."""

BLOCK_LEVEL = TEXT_BLOCKS | GROUPS | {"hr"}

WEAK = "same-words"
"""The class of a `<mark>` where a source has the same in another form or elsewhere."""

TO_READ = "to-read"
"""The class of a `<span>` around a sentence that hardly shares a word with the sources."""

CHANGED = "contentgen-changed"
"""The class of a block of a translation whose original has changed, or is gone."""

THOUGHTS = "think thinking thought reasoning scratchpad".split()
"""The elements in which models put what they think before they answer."""

DROPPED = ["script", "style", "iframe", "template", "svg", "object", *THOUGHTS]
"""The elements of a model's HTML that are dropped with their text."""
