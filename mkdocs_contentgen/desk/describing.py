"""What the desk shows of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import UnsafeHTMLError
from ..html.document import Block, Piece
from ..review.updating import can_update
from ..site.site import Site
from ..text import Text
from ..texts.articles import Article, count_marks
from .texts import Desk, digest_of


def describe(desk: Desk, article: Article) -> dict[str, object]:
    """Return what the desk shows of a text, beyond its row in the list of texts."""
    text = article.newest
    shown: dict[str, object] = {
        "brief": article.request.brief,
        "can_undo": desk.can_undo(article),
        "seen": "",
        "left": 0,
        "blocks": [],
        "statements": [],
        "sources": [],
    }
    if text is None:
        return shown
    try:
        blocks = desk.read(text.html).blocks()
    except UnsafeHTMLError as error:
        return {**shown, "reason": f"no build can show this text: {error}"}
    changed_by = text.edits.changed_by if text.edits else {}
    sources = _sources(desk.site, text, blocks)
    return {
        **shown,
        "title": next((it.text for it in blocks if it.kind == "h1"), article.request.topic),
        "seen": digest_of(article),
        "is_edited": text.edits is not None,
        "model": text.model,
        "can_update": can_update(desk.site.options),
        "replaces": article.approved is not None and text is article.draft,
        "updates": list(text.updates),
        "remarks": list(text.remarks),
        "left": count_marks(text),
        "generated_at": text.generated_at.isoformat(),
        "blocks": [
            {
                "number": it.number,
                "kind": it.kind,
                "digest": it.digest,
                "text": it.text,
                "markdown": it.to_markdown(),
                "html": it.html,
                "changed_by": changed_by.get(it.digest, ""),
            }
            for it in blocks
        ],
        "statements": list(_statements(blocks, text)),
        "sources": list(sources.values()),
    }


def describe_rows(desk: Desk, before: Text, after: Text) -> list[dict[str, object]]:
    """Return what differs between two versions of a text, with the words that changed."""
    return [
        {
            "number": number,
            "kind": row.kind,
            "before": _shown(row.before),
            "after": _shown(row.after),
            "words": row.words_to_read(),
            "can_take_back": row.can_be_taken_back,
        }
        for number, row in enumerate(desk.compare(before, after))
        if row.kind != "equal"
    ]


def _shown(pieces: Sequence[Piece]) -> str:
    """Return the plain text of pieces, or their tags if they have none."""
    text = " ".join(it.element.get_text() for it in pieces if it.part == "all")
    return " ".join(text.split()) or " ".join(it.html for it in pieces)


def _statements(blocks: Sequence[Block], text: Text) -> Iterator[dict[str, object]]:
    if not text.model:
        return
    for block in blocks:
        for number, statement in enumerate(block.statements):
            cited = (it for it in (*statement.cited, *block.links) if it in text.sources)
            yield {
                "block": block.number,
                "statement": number,
                "digest": block.digest,
                "text": statement.text,
                "sentence": statement.sentence,
                "source": next(cited, None),
            }


def _sources(site: Site, text: Text, blocks: Sequence[Block]) -> dict[str, dict[str, object]]:
    """Return the cited sections as they were and as they are, by address."""
    now = site.cited_sections()
    found: dict[str, dict[str, object]] = {}
    for address, digest in text.sources.items():
        parts = now.find(address) or []
        found[address] = {
            "address": address,
            "title": parts[0].title if parts else now.shown(address),
            "text": "\n\n".join(it.text for it in parts),
            "before": text.passages.get(address, ""),
            "blocks": [it.number for it in blocks if address in it.links],
            "state": "gone" if not parts else "same" if parts[0].digest == digest else "changed",
        }
    return found
