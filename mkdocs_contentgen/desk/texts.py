"""What the desk does with a text: read it, change it, approve it, ask for another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Literal

import msgspec
from msgspec import structs

from ..display import escape_controls, hidden_character
from ..errors import ContentgenError, EditError, UnsafeHTMLError
from ..files import sha256
from ..html.differences import Row, compare, take_back
from ..html.document import Block, Document, Kind, Statement
from ..review.approving import approve_article
from ..site.site import Site
from ..text import MAX_EDIT, Edits, Text
from ..texts.articles import Article, count_marks
from ..texts.store import Cache, note_key

MAX_REASON = MAX_EDIT
"""The maximum length of the reason for `Approve anyway`, in characters."""

_MAX_UNDO = 100
_MAX_HISTORY = 20_000
"""The maximum number of characters in an approved file of what was confirmed and removed."""


class Change(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a text. `block` is the number of a block, and `statement` that within it."""

    action: Literal["confirm", "remove", "edit", "insert", "delete"]
    block: int
    digest: str
    """The SHA-256 of the text of the block."""

    statement: int = 0
    markdown: str = ""
    kind: Kind = "p"


class OutdatedError(ContentgenError):
    """The text is no longer the one that the person has seen."""


@dataclass
class Desk:
    """The texts of a site. Used by one thread at a time."""

    site: Site
    by: str
    pages: Sequence[str] = ()
    """The names of the pages that are on the desk; none means all."""

    undo_stack: dict[str, list[tuple[Text, str]]] = field(default_factory=dict)
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
                return self.site.article(it)
        raise OutdatedError("no page requests this text any more; open the list of texts again")

    def change(self, ref: str, seen: str, change: Change) -> None:
        """Change a text, and keep it. Raises OutdatedError and EditError."""
        article, text = self._seen(ref, seen)
        document = self.read(text.html)
        blocks = document.blocks()
        if not 0 <= change.block < len(blocks) or blocks[change.block].digest != change.digest:
            raise OutdatedError("this block has changed since; look at it again")
        authors = _authors(blocks, text)
        edits = _apply(blocks[change.block], change, text.edits or Edits())
        if change.action == "confirm":
            self._keep(article, structs.replace(text, html=document.to_lines(), edits=edits))
        else:
            self._keep(article, self._changed(text, document, edits, authors))

    def compare(self, before: Text, after: Text) -> list[Row]:
        """Return two versions of a text side by side. Raises UnsafeHTMLError."""
        return compare(self.read(before.html), self.read(after.html), marks=not after.model)

    def take_back(self, ref: str, seen: str, earlier: Text, number: int) -> None:
        """Take back one difference to an earlier version. Raises OutdatedError and EditError."""
        article, text = self._seen(ref, seen)
        document, before = self.read(text.html), self.read(earlier.html)
        # What is as in the earlier version is by whom it was there.
        authors = _authors(document.blocks(), text) | _authors(before.blocks(), earlier)
        rows = compare(before, document, marks=not text.model)
        if not 0 <= number < len(rows):
            raise EditError("there is no such difference")
        restored = take_back(document, rows, number)
        edits = text.edits or Edits()
        if restored:
            said, marks = restored.text, {it.text for it in restored.statements}
            edits = structs.replace(
                edits,
                removed=tuple(it for it in edits.removed if it not in said and it != _short(said)),
                confirmed=tuple(it for it in edits.confirmed if it not in marks),
            )
        self._keep(article, self._changed(text, document, edits, authors))

    def undo(self, ref: str, seen: str) -> None:
        """Take the last change of a text back. Raises OutdatedError and EditError."""
        article, _ = self._seen(ref, seen)
        if not self.can_undo(article):
            raise EditError("there is nothing to undo")
        before, _ = self.undo_stack[article.key].pop()
        self._save(article, before)

    def can_undo(self, article: Article) -> bool:
        """Tell whether a change of a text can be taken back."""
        stack, text = self.undo_stack.get(article.key), article.newest
        # Another text may have taken its place.
        return bool(stack and text and stack[-1][1] == _identity(text))

    def approve(self, ref: str, seen: str, reason: str = "") -> str:
        """Write the approved file of a text, and return its path.

        A text with statements to check needs a `reason`. Raises ApprovalError, OutdatedError and
        EditError.
        """
        article, text = self._seen(ref, seen)
        left = count_marks(text)
        if left and not reason.strip():
            raise EditError(f"statements left to check: {left}")
        if len(reason) > MAX_REASON or hidden_character(reason):
            raise EditError(f"a reason is one line of at most {MAX_REASON} characters")
        if reason.strip() or text.edits:
            edits = _bounded(structs.replace(text.edits or Edits(), reason=reason.strip()))
            text = structs.replace(text, edits=edits)
        if article.state == "changed":
            # As a draft of the edited file.
            text = structs.replace(text, generated_at=datetime.now(UTC))
        if text is not article.draft or article.state == "approved":
            outcome = replace(article.draft_outcome, text=text, error=None)
            article = replace(article, draft_outcome=outcome)
        if article.state == "approved" and not article.has_newer_draft:
            raise EditError("this text is approved already")
        approve_article(
            article, self.site.options, self.by, lambda it: True, self.site.cited_sections().changed
        )
        self.undo_stack.pop(article.key, None)
        return str(article.path)

    def earlier(self, article: Article, name: Literal["generated", "approved"]) -> Text | None:
        """Return the approved text, or the text as it was before people changed it, or None."""
        if name == "approved":
            return article.approved.text if article.approved else None
        store = self.site.store()
        notes, _ = store.load([note_key("generated", article.key)])
        store.close()
        return next(iter(notes.values()), None)

    def read(self, html: str) -> Document:
        """Return the document of a text. Raises UnsafeHTMLError."""
        return Document(html, self.site.options.image_hosts)

    def _changed(self, text: Text, document: Document, edits: Edits, authors: _Authors) -> Text:
        """Return a text with a changed document. Raises EditError.

        Blocks that are not among those of `authors` are by the person at the desk.
        """
        try:
            changed = self.read(document.to_lines())
        except UnsafeHTMLError as error:
            raise EditError(f"the text cannot be shown: {error}") from error
        now = changed.blocks()
        if not any(it.kind == "h1" for it in now) and any(kind == "h1" for kind, _ in authors):
            raise EditError("a text keeps its title")
        written = {it.digest: authors.get((it.kind, it.html), self.by) for it in now}
        changed_by = {digest: by for digest, by in written.items() if by}
        edits = structs.replace(edits, changed_by=changed_by)
        return structs.replace(text, html=changed.to_lines(), edits=edits)

    def _seen(self, ref: str, seen: str) -> tuple[Article, Text]:
        article = self.find(ref)
        if article.newest is None or digest_of(article) != seen:
            raise OutdatedError("the text has changed since you opened it; look at it again")
        return article, article.newest

    def _keep(self, article: Article, text: Text) -> None:
        before = article.newest
        if before is None or (text.html, text.edits) == (before.html, before.edits):
            return
        if before is not article.draft:
            # A draft is only shown beside an approved text if it is newer, whatever the clock says.
            after = before.generated_at + timedelta(seconds=1)
            text = structs.replace(text, generated_at=max(datetime.now(UTC), after))
        self.undo_stack.setdefault(article.key, []).append((before, _identity(text)))
        del self.undo_stack[article.key][:-_MAX_UNDO]
        self._save(article, text)

    def _save(self, article: Article, text: Text) -> None:
        store: Cache = self.site.store()
        name = note_key("generated", article.key)
        notes, _ = store.load([name])
        is_own = article.draft is not None and article.draft.edits is None
        original = next(iter(notes.values()), article.draft if is_own else None)
        store.prepare()
        store.save({article.key: text} | ({name: original} if original else {}))
        store.close()


_Authors = dict[tuple[str, str], str]
"""Who wrote each block, by its kind and its HTML; an empty string for no person."""


def _authors(blocks: Sequence[Block], text: Text) -> _Authors:
    by = text.edits.changed_by if text.edits else {}
    return {(it.kind, it.html): by.get(it.digest, "") for it in blocks}


def ref_of(page: str, name: str) -> str:
    """Return the reference of an article in addresses of the desk."""
    return sha256(f"{page}\0{name}")[:20]


def digest_of(article: Article) -> str:
    """Return the SHA-256 of what a person sees of a text, and of what was done with it."""
    return sha256(f"{_identity(article.newest) if article.newest else ''}\0{article.state}")


def _identity(text: Text) -> str:
    return sha256(f"{text.html}\0{text.edits}")


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
    return structs.replace(edits, confirmed=kept[0], removed=kept[1])


def _apply(block: Block, change: Change, edits: Edits) -> Edits:
    """Change a block in place, and return what people have done. Raises EditError."""
    removed = ""
    match change.action:
        case "confirm":
            statement = _statement(block, change).text
            block.confirm_statement(change.statement)
            return structs.replace(edits, confirmed=(*edits.confirmed, _short(statement)))
        case "remove":
            _statement(block, change)
            removed = block.remove_sentence(change.statement)
        case "delete":
            removed = block.text
            block.remove()
        case "insert":
            block.insert(change.kind, change.markdown)
        case "edit":
            block.set_markdown(change.markdown)
    return structs.replace(edits, removed=(*edits.removed, _short(removed))) if removed else edits


def _statement(block: Block, change: Change) -> Statement:
    statements = block.statements
    if not 0 <= change.statement < len(statements):
        raise EditError("this block has no such statement")
    return statements[change.statement]


def _short(text: str) -> str:
    text = escape_controls(text)
    return text if len(text) <= MAX_EDIT else f"{text[: MAX_EDIT - 1]}…"
