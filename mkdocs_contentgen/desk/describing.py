"""What the desk shows of a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..errors import UnsafeHTMLError
from ..html.blocks import Block, finish
from ..review.updating import can_update
from ..site.site import Site
from ..text import Text
from ..texts.approval import to_lines
from ..texts.articles import Article, count_marks
from .comparing import compare
from .texts import Desk, ref_of


def describe(desk: Desk, article: Article, addresses: Mapping[str, str]) -> dict[str, object]:
    """Return all that the desk shows of a text. `addresses` has the path of each page."""
    request, version = article.request, desk.version(article)
    shown: dict[str, object] = {
        "ref": ref_of(article.page, request.id),
        "page": article.page,
        "id": request.id,
        "type": request.type,
        "topic": request.topic,
        "brief": request.brief,
        "url": addresses.get(article.page, ""),
        "state": article.state,
        "reason": article.reason,
        "model": article.model,
        "remarks": list(article.draft.remarks if article.draft else ()),
        "can_undo": desk.can_undo(article),
        "seen": "",
        "left": 0,
        "blocks": [],
        "statements": [],
        "sources": [],
        "generated_at": None,
        "title": request.topic,
    }
    if version is None:
        return shown
    text = version.text
    try:
        _, blocks = desk.read(text.html)
    except UnsafeHTMLError as error:
        return {**shown, "reason": f"no build can show this text: {error}"}
    changed_by = text.edits.changed_by if text.edits else {}
    sources = _sources(desk.site, text, blocks)
    return {
        **shown,
        "title": next((it.text for it in blocks if it.kind == "h1"), request.topic),
        "seen": version.digest,
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
                "markdown": it.markdown,
                "html": it.html,
                "changed_by": changed_by.get(it.digest, ""),
                **_neighbours(it, blocks),
            }
            for it in blocks
        ],
        "statements": list(_statements(blocks, text)),
        "sources": list(sources.values()),
    }


def describe_rows(desk: Desk, before: Text, after: Text) -> list[dict[str, object]]:
    """Return two versions of a text side by side, and the words that changed in them."""
    old, new = (desk.read(it.html)[1] for it in (before, after))
    return [
        {
            "kind": row.kind,
            "before": row.texts[0],
            "after": row.texts[1],
            "words": list(row.words()) if row.before and row.after else [],
        }
        for row in compare(old, new)
    ]


def differs(desk: Desk, before: Text, after: Text) -> bool:
    """Tell whether two versions of a text differ at all, also in what is no word."""
    one, other = (to_lines(finish(desk.read(it.html)[0])) for it in (before, after))
    return one != other


def _neighbours(block: Block, blocks: Sequence[Block]) -> dict[str, int | None]:
    """Return the blocks behind which a block comes when it is moved up or down, or None."""
    siblings = [it.number for it in blocks if it.parent is block.parent]
    place = siblings.index(block.number)
    if block.kind in ("td", "th"):
        return {"up": None, "down": None}
    up = None if place == 0 else -1 if place == 1 else siblings[place - 2]
    return {"up": up, "down": siblings[place + 1] if place + 1 < len(siblings) else None}


def _statements(blocks: Sequence[Block], text: Text) -> Iterator[dict[str, object]]:
    if not text.model:
        return
    for block in blocks:
        links = [link.get("href", "") for link in block.element.iter("a")]
        for number, statement in enumerate(block.statements):
            cited = (it for it in (*statement.cited, *links) if it in text.sources)
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
            "blocks": [
                it.number
                for it in blocks
                if any(link.get("href") == address for link in it.element.iter("a"))
            ],
            "state": "gone" if not parts else "same" if parts[0].digest == digest else "changed",
        }
    return found
