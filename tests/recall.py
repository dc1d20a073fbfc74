"""How often the right page is found: each first sentence of a section is looked for in the rest."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from mkdocs_contentgen.writer.sources.retrieval import Index
from mkdocs_contentgen.writer.sources.sources import Passage

_FIRST = re.compile(r"([A-Z][^.\n#|>]{30,}?[.!?])(?=\s+\S.{40,})", re.DOTALL)


def recall(sections: Sequence[Passage]) -> tuple[int, float]:
    """Return the number of queries, and the share whose page is among the first five sections."""
    asked = [(n, match[1]) for n, it in enumerate(sections) if (match := _FIRST.match(it.text))]
    asked = random.Random(1).sample(asked, min(400, len(asked)))
    rest = list(sections)
    for number, sentence in asked:
        text = sections[number].text.replace(sentence, "", 1)
        rest[number] = replace(sections[number], text=text)
    index = Index(rest)
    right = [
        sections[number].file in [it.file for it in index.search(sentence)[:5]]
        for number, sentence in asked
    ]
    return len(right), sum(right) / len(right)
