"""What the desk does with a text: read it, change it, approve it, ask for another."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Literal
from xml.etree.ElementTree import Element

import msgspec

from ..digest import sha256
from ..display import escape_controls, hidden_character
from ..errors import ContentgenError, EditError, UnsafeHTMLError
from ..pages.review import approve_article, is_newer_draft
from ..pages.site import Site
from ..service.writer.sources import split_sections
from ..texts.approval import to_lines
from ..texts.articles import Article, count_marks
from ..texts.store import MAX_EDIT, Cache, Edits, StoredText, note_key
from .blocks import (
    Block,
    Kind,
    Statement,
    confirm_statement,
    insert_block,
    move_block,
    read_blocks,
    remove_block,
    remove_sentence,
    set_markdown,
)

MAX_REASON = MAX_EDIT
"""The maximum length of the reason for `Approve anyway`, in characters."""

_MAX_UNDO = 100
_MAX_HISTORY = 20_000
"""The maximum number of characters in an approved file of what was confirmed and removed."""


class Change(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a text. `block` is the number of a block, and `statement` that within it."""

    action: Literal["confirm", "remove", "edit", "insert", "delete", "move"]
    block: int
    digest: str
    """The SHA-256 of the text of the block."""

    statement: int = 0
    markdown: str = ""
    kind: Kind = "p"
    target: int = 0
    """The number of the block behind which it is moved, or -1."""


class OutdatedError(ContentgenError):
    """The text is no longer the one that the person has seen."""


@dataclass(frozen=True)
class Version:
    """A text to review: the newest draft, or else the approved text."""

    article: Article
    text: StoredText

    @property
    def digest(self) -> str:
        """The SHA-256 of what a person sees, and of what was done with it."""
        return sha256(f"{_identity(self.text)}\0{self.article.state}")


@dataclass
class Desk:
    """The texts of a site. Used by one thread at a time."""

    site: Site
    by: str
    pages: Sequence[str] = ()
    """The names of the pages that are on the desk; none means all."""

    undo_stack: dict[str, list[tuple[StoredText, str]]] = field(default_factory=dict)
    """Earlier versions of the texts that were changed, by key, each with what came after it."""

    def addresses(self) -> dict[str, str]:
        """Return the path of each page in the built site, by its `src_uri`."""
        return {file.src_uri: f"/{file.url.removeprefix('./')}" for file in self.site.pages}

    def articles(self, pages: Sequence[str] = ()) -> list[Article]:
        """Return the articles of the named pages, or of all."""
        return self.site.articles(pages)[0]

    def find(self, ref: str) -> Article:
        """Return the article with this reference. Raises OutdatedError if it is gone."""
        for it in self.site.requests:
            if ref_of(it.page, it.request.id) == ref:
                found = self.articles([it.place.rpartition(":")[0]])
                return next(a for a in found if a.request.id == it.request.id and a.page == it.page)
        raise OutdatedError("no page requests this text any more; open the list of texts again")

    def version(self, article: Article) -> Version | None:
        """Return what there is to review of an article, or None."""
        approved, draft = article.approved, article.draft
        if draft and (article.state == "outdated" or is_newer_draft(article)):
            return Version(article, draft)
        if approved and article.has_approval:
            return Version(article, approved.text)
        return Version(article, draft) if draft else None

    def change(self, ref: str, seen: str, change: Change) -> None:
        """Change a text, and keep it. Raises OutdatedError and EditError."""
        version = self._seen(ref, seen)
        text = version.text
        article, blocks = read_blocks(text.html)
        if not 0 <= change.block < len(blocks) or blocks[change.block].digest != change.digest:
            raise OutdatedError("this block has changed since; look at it again")
        edits = _apply(article, blocks, change, text.edits or Edits(), self.by)
        self._keep(version, replace(text, html=to_lines(article), edits=edits))

    def undo(self, ref: str, seen: str) -> None:
        """Take the last change of a text back. Raises OutdatedError and EditError."""
        version = self._seen(ref, seen)
        if not self.can_undo(version.article):
            raise EditError("there is nothing to undo")
        before, _ = self.undo_stack[version.article.key].pop()
        self._save(version.article, before)

    def can_undo(self, article: Article) -> bool:
        """Tell whether a change of a text can be taken back."""
        stack, version = self.undo_stack.get(article.key), self.version(article)
        # Another text may have taken its place.
        return bool(stack and version and stack[-1][1] == _identity(version.text))

    def approve(self, ref: str, seen: str, reason: str = "") -> str:
        """Write the approved file of a text, and return its path.

        A text with statements to check needs a `reason`. Raises ApprovalError, OutdatedError and
        EditError.
        """
        version = self._seen(ref, seen)
        article, text = version.article, version.text
        left = count_marks(text)
        if left and not reason.strip():
            raise EditError(f"statements left to check: {left}")
        if len(reason) > MAX_REASON or hidden_character(reason):
            raise EditError(f"a reason is one line of at most {MAX_REASON} characters")
        if reason.strip() or text.edits:
            edits = _bounded(replace(text.edits or Edits(), reason=reason.strip()))
            text = replace(text, edits=edits)
        if article.state == "changed" and text.html == version.text.html:
            text = replace(text, generated_at=datetime.now(UTC))  # as a draft of the edited file
        if text is not article.draft or article.state == "approved":
            outcome = replace(article.draft_outcome, text=text, error=None)
            article = replace(article, draft_outcome=outcome)
        if article.state == "approved" and not is_newer_draft(article):
            raise EditError("this text is approved already")
        approve_article(
            article, self.site.options, self.by, lambda it: True, self.site.changed_sources()
        )
        self.undo_stack.pop(article.key, None)
        return str(article.path)

    def generated(self, article: Article) -> StoredText | None:
        """Return a text as it was generated, before people changed it, or None if it is lost."""
        store = self.site.options.store(self.site.config)
        notes, _ = store.load([note_key("generated", article.key)])
        store.close()
        return next(iter(notes.values()), None)

    def _seen(self, ref: str, seen: str) -> Version:
        version = self.version(self.find(ref))
        if version is None or version.digest != seen:
            raise OutdatedError("the text has changed since you opened it; look at it again")
        return version

    def _keep(self, version: Version, text: StoredText) -> None:
        article = version.article
        if text.html == version.text.html and text.edits == version.text.edits:
            return
        if version.article.draft is None or version.text is not version.article.draft:
            # A draft is only shown beside an approved text if it is newer.
            text = replace(text, generated_at=datetime.now(UTC))
        self.undo_stack.setdefault(article.key, []).append((version.text, _identity(text)))
        del self.undo_stack[article.key][:-_MAX_UNDO]
        self._save(article, text)

    def _save(self, article: Article, text: StoredText) -> None:
        store: Cache = self.site.options.store(self.site.config)
        name = note_key("generated", article.key)
        notes, _ = store.load([name])
        is_own = article.draft is not None and article.draft.edits is None
        original = next(iter(notes.values()), article.draft if is_own else None)
        store.prepare()
        store.save({article.key: text} | ({name: original} if original else {}))
        store.close()


def ref_of(page: str, name: str) -> str:
    """Return the reference of an article in addresses of the desk."""
    return sha256(f"{page}\0{name}")[:20]


def _identity(text: StoredText) -> str:
    edits = asdict(text.edits) if text.edits else None
    return sha256(f"{text.html}\0{edits}")


def _bounded(edits: Edits) -> Edits:
    """Return edits that fit into an approved file."""
    left = _MAX_HISTORY
    kept = []
    for items in (edits.confirmed, edits.removed):
        sizes = list(accumulate(map(len, items)))
        number = bisect_right(sizes, left)
        more = len(items) - number
        kept.append((*items[:number], *([f"… and {more} more"] if more else [])))
        left -= sizes[number - 1] if number else 0
    return replace(edits, confirmed=kept[0], removed=kept[1])


def _apply(
    article: Element, blocks: Sequence[Block], change: Change, edits: Edits, by: str
) -> Edits:
    """Change a text in place, and return what people have done. Raises EditError."""
    before = {it.digest for it in blocks}
    if change.action == "confirm":
        statement = _statement(blocks[change.block], change).text
        confirm_statement(blocks[change.block], change.statement)
        return replace(edits, confirmed=(*edits.confirmed, _short(statement)))
    if removed := _change_blocks(article, blocks, change):
        edits = replace(edits, removed=(*edits.removed, _short(removed)))
    try:
        _, now = read_blocks(to_lines(article))
    except UnsafeHTMLError as error:
        raise EditError(f"the text cannot be shown: {error}") from error
    if not any(it.kind == "h1" for it in now) and any(it.kind == "h1" for it in blocks):
        raise EditError("a text keeps its title")
    digests = [it.digest for it in now]
    kept = {name: who for name, who in edits.changed_by.items() if name in digests}
    new = {name: by for name in digests if name not in before}
    return replace(edits, changed_by=kept | new)


def _change_blocks(article: Element, blocks: Sequence[Block], change: Change) -> str:
    """Change blocks in place, and return the text that is removed. Raises EditError."""
    block = blocks[change.block]
    match change.action:
        case "remove":
            _statement(block, change)
            return remove_sentence(article, block, change.statement)
        case "delete":
            text = block.text
            remove_block(article, block)
            return text
        case "insert":
            insert_block(block, change.kind, change.markdown)
        case "move":
            if not -1 <= change.target < len(blocks):
                raise EditError("there is no such block to move it behind")
            move_block(blocks, change.block, change.target)
        case _:
            set_markdown(block, change.markdown)
    return ""


def _statement(block: Block, change: Change) -> Statement:
    if not 0 <= change.statement < len(block.statements):
        raise EditError("this block has no such statement")
    return block.statements[change.statement]


def _short(text: str) -> str:
    text = escape_controls(text)
    return text if len(text) <= MAX_EDIT else f"{text[: MAX_EDIT - 1]}…"


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
        _, blocks = read_blocks(text.html)
    except UnsafeHTMLError as error:
        return {**shown, "reason": f"no build can show this text: {error}"}
    changed_by = text.edits.changed_by if text.edits else {}
    sources = _sources(desk.site, text.sources)
    return {
        **shown,
        "title": next((it.text for it in blocks if it.kind == "h1"), request.topic),
        "seen": version.digest,
        "is_edited": text.edits is not None,
        "left": count_marks(text),
        "generated_at": text.generated_at.isoformat(),
        "blocks": [
            {
                "number": it.number,
                "kind": it.kind,
                "digest": it.digest,
                "text": it.text,
                "markdown": it.markdown,
                "changed_by": changed_by.get(it.digest, ""),
                **_neighbours(it, blocks),
            }
            for it in blocks
        ],
        "statements": list(_statements(blocks, text)),
        "sources": list(sources.values()),
    }


def _neighbours(block: Block, blocks: Sequence[Block]) -> dict[str, int | None]:
    """Return the blocks behind which a block comes when it is moved up or down, or None."""
    siblings = [it.number for it in blocks if it.parent is block.parent]
    place = siblings.index(block.number)
    if block.kind in ("td", "th"):
        return {"up": None, "down": None}
    up = None if place == 0 else -1 if place == 1 else siblings[place - 2]
    return {"up": up, "down": siblings[place + 1] if place + 1 < len(siblings) else None}


def _statements(blocks: Sequence[Block], text: StoredText) -> Iterator[dict[str, object]]:
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


def _sources(site: Site, cited: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """Return the cited sections as they are now, by address."""
    from ..pages.options import link_of

    site_url = site.config.site_url or ""
    pages = {link_of(file): file for file in site.pages} if cited else {}
    found: dict[str, dict[str, object]] = {}
    for address, digest in cited.items():
        link = address.removeprefix(site_url) if site_url else address
        path = link.partition("#")[0]
        file = pages.get(path)
        sections = split_sections(file.content_string, file.src_uri, path) if file else ()
        parts = [it for it in sections if it.link == link]
        found[address] = {
            "address": address,
            "title": parts[0].title if parts else link,
            "text": "\n\n".join(it.text for it in parts),
            "state": "gone" if not parts else "same" if parts[0].digest == digest else "changed",
        }
    return found


def compare(before: StoredText, after: StoredText) -> list[dict[str, object]]:
    """Return the blocks of two versions side by side, with words that are equal, old and new."""
    old, new = (read_blocks(it.html)[1] for it in (before, after))
    texts = [[it.text for it in blocks] for blocks in (old, new)]
    rows: list[dict[str, object]] = []
    gone: list[Block] = []
    matcher = difflib.SequenceMatcher(a=texts[0], b=texts[1], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            rows += [_row("equal", x, y) for x, y in zip(old[a:b], new[c:d], strict=True)]
            continue
        left = old[a:b]
        for block in new[c:d]:
            similar = next((it for it in left if _is_similar(it.text, block.text)), None)
            if similar:
                skipped = left[: left.index(similar)]
                rows += [_row("removed", it, None) for it in skipped]
                gone += skipped
                left = left[len(skipped) + 1 :]
            rows.append(_row("changed" if similar else "added", similar, block))
        rows += [_row("removed", it, None) for it in left]
        gone += left
    moved = {it.text for it in gone} & {str(row["after"]) for row in rows if row["kind"] == "added"}
    for row in rows:
        if row["kind"] in ("added", "removed") and (row["after"] or row["before"]) in moved:
            row["kind"] = f"moved {'here' if row['kind'] == 'added' else 'away'}"
    return rows


def _is_similar(before: str, after: str) -> bool:
    """Tell whether a block is a change of another one: a third of its words is the same."""
    one, other = (re.findall(r"\w+", text)[:_MAX_WORDS] for text in (before, after))
    same = sum((Counter(one) & Counter(other)).values())
    return 3 * same >= max(len(one), len(other))


def _row(kind: str, before: Block | None, after: Block | None) -> dict[str, object]:
    one, other = (it.text if it else "" for it in (before, after))
    return {
        "kind": kind,
        "before": one,
        "after": other,
        "words": list(_words(one, other)) if kind == "changed" else [],
        "markdown": before.markdown if before else "",
        "block": after.number if after else None,
        "digest": after.digest if after else "",
    }


def _words(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield parts of two texts, each as `equal`, `old` or `new`."""
    one, other = (re.findall(r"\w+\s*|\W", text)[:_MAX_WORDS] for text in (before, after))
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "equal", "".join(one[a:b])
            continue
        if a < b:
            yield "old", "".join(one[a:b])
        if c < d:
            yield "new", "".join(other[c:d])


_MAX_WORDS = 2_000
