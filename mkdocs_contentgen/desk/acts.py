"""What the desk does with a text: read it, change it, approve it, and undo that."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal

import msgspec
from msgspec import structs

from ..errors import ContentgenError, EditError, UnsafeHTMLError
from ..files import sha256
from ..html.block import Block, Kind
from ..html.differences import Row, compare
from ..html.document import Document, ReadText, document_of, document_or_none
from ..html.restoring import take_back
from ..page_request import PageRequest
from ..remark import Remark, without_repeated
from ..review.approving import (
    TextToApprove,
    decide_approval,
    reason_problem,
    shorten,
    unusable_text_error,
)
from ..review.earlier import approved_text, text_as_written
from ..review.importing import FormRemarks, changed_remarks
from ..review.quotations import MarkedText, marked_text, open_remarks
from ..review.replaced import last_act, text_before_request, was_made_over
from ..review.sentences_to_check import KnownEvidence
from ..review.text_links import open_links
from ..site.authors import name_authors
from ..site.site import Site
from ..text import Edits, Text, edition_after
from ..texts.approved_file import SOMEBODY, ApprovedText
from ..texts.approved_writer import restore_file, write_file
from ..texts.articles import Article, count_sentences, count_statements
from ..texts.file_to_write import FileChangedError
from ..texts.human_edits import HumanEdit, edits_lost_in
from ..texts.store import ChangedError, DiskStore, Kept, row_key
from .block_views import BlockViews

_CHANGED = "the text has changed since you opened it; look at it again"

_Authors = dict[tuple[str, str], str]
"""Who wrote each block, by its kind and its HTML; an empty string for no person."""

Earlier = Literal["approved", "generated"]
"""An earlier version of a text: the approved one, or the one before people changed it."""

EARLIER: tuple[Earlier, ...] = ("approved", "generated")


class Change(
    msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True, kw_only=True
):
    """A change of a text. `block` is the number of a block, and `statement` that within it.

    To take back a difference to an `earlier` version, `block` is the number of its row.
    """

    action: Literal[
        "confirm",
        "confirm_sentence",
        "remove",
        "edit",
        "insert",
        "paste",
        "delete",
        "reopen",
        "take_back",
    ]
    block: int
    digest: str
    """The SHA-256 of the text of the block, or of the row."""

    statement: int = 0
    markdown: str = ""
    """The new words, or the statement to reopen."""

    kind: Kind = "p"
    earlier: Earlier = "generated"


class OutdatedError(ContentgenError):
    """The text is no longer the one that the person has seen."""


class _Conflict(msgspec.Struct, frozen=True):
    """A block that somebody has written into a file, and what the person has in its place."""

    by: str
    theirs: str
    yours: str
    """The words of the text that was to be approved; empty if it has none in this place."""

    is_structure: bool = False
    """Whether it is not a block, but the order of the text or what is around its blocks."""

    def message(self, file: str) -> str:
        """Return a sentence that says what somebody did in a file, with both versions."""
        if self.is_structure:
            said = f"'{self.by}' has changed this in {file}: {self.theirs}"
        elif not self.theirs:
            said = f"'{self.by}' has taken this out of {file}"
        else:
            said = f"'{self.by}' has changed this paragraph in {file}: '{self.theirs}'"
        if self.yours:
            said += f"; the text to approve has: '{self.yours}'"
        return said


class FileEditedError(OutdatedError):
    """An approval would overwrite what somebody has written into the file of the text."""

    def __init__(self, message: str, conflicts: Sequence[_Conflict], file: str) -> None:
        super().__init__(message)
        self.conflicts = tuple(conflicts)
        self.file = file
        """The SHA-256 of the file, with which a person agrees to overwrite it."""


@dataclass(frozen=True)
class _Step:
    """One change of a text: its action, and the text before and after it."""

    act: str
    before: Text
    after: Text


@dataclass(frozen=True)
class _Undone:
    """An act that was taken back, which can be done again until the text changes."""

    act: str
    text: Text
    """The text with that act."""

    version: str
    """The version of the text without it."""


@dataclass
class Desk:
    """The texts of a site as they were read last. Used by one thread at a time."""

    site: Site
    by: str
    pages: Sequence[str] = ()
    """The names of the pages that are on the desk; none means all."""

    parsed: dict[str, Document] = field(default_factory=dict)
    """The document of the text that was described or changed last, by its HTML, since parsing a
    large one takes a while. read() takes it out, since whoever gets it may change it."""

    evidence: KnownEvidence = field(default_factory=dict)
    """That of the text that was described last. A site whose sources change has another desk."""

    views: BlockViews = field(default_factory=BlockViews)
    """Those of the blocks of the text that was described last."""

    _undone: dict[str, list[_Undone]] = field(default_factory=dict)
    """What was taken back of each text, the last at the end, by the key of its request."""

    _form_remarks: FormRemarks = field(default_factory=dict)
    """Those of the text that was changed last."""

    _known_authors: dict[str, _Authors] = field(default_factory=dict)
    """Those of the earlier text that was read last, by its version, since it stays the same."""

    described: dict[str, Any] = field(default_factory=dict)
    """What was computed about the articles, until they are read again."""

    _articles: dict[str, Article] = field(default_factory=dict)
    """All articles of the site by their references, as they were read last."""

    _outdated: set[str] = field(default_factory=set)
    """The references of articles that have to be read again before they are used."""

    @cached_property
    def addresses(self) -> dict[str, str]:
        """Return the path of each page in the built site, by its `src_uri`."""
        return {file.src_uri: f"/{file.url.removeprefix('./')}" for file in self.site.pages}

    @property
    def articles(self) -> dict[str, Article]:
        """All articles of the site by their references, as they are now."""
        if self._outdated or not self._articles:
            articles, _ = self.site.articles()
            self._articles = {ref_of(article): article for article in articles}
            self._outdated.clear()
        return self._articles

    @property
    def _even_outdated(self) -> dict[str, Article]:
        """All articles of the site by their references, as they were read last."""
        return self._articles or self.articles

    def refresh(self) -> None:
        """Read files and cache again when they are needed next."""
        self._outdated.update(self._articles)
        self.described.clear()

    def queue(self) -> list[Article]:
        """Return the articles of the pages that are on the desk."""
        if not self.pages:
            return list(self.articles.values())
        wanted = {ref_of(asked) for asked in self.site.select_requests(self.pages)}
        return [article for ref, article in self.articles.items() if ref in wanted]

    def find(self, ref: str) -> Article:
        """Return the article with this reference. Raises OutdatedError if it is gone."""
        known = self._even_outdated
        if ref not in known:
            raise OutdatedError("no page requests this text any more; open the list of texts again")
        return self._read_page(known[ref].page)[ref]

    def on_page(self, page: str) -> list[Article]:
        """Return the articles of a page as they are now."""
        return list(self._read_page(page).values())

    def _read_page(self, page: str) -> dict[str, Article]:
        """Return the articles of a page by their references, read again if they are outdated.

        Those of other pages, which can be a thousand, are not read for that.
        """
        known = self._even_outdated
        on_page = {ref: article for ref, article in known.items() if article.page == page}
        if not self._outdated.isdisjoint(on_page):
            reread = self.site.reread(list(on_page.values()))
            on_page = dict(zip(on_page, reread, strict=True))
            self._articles |= on_page
            self._outdated.difference_update(on_page)
        return on_page

    def look_for_newer(self, article: Article) -> bool:
        """Load what another machine may have saved in a shared cache.

        Returns whether the site has such a cache: then the text has to be read again.
        """
        if not self.site.options.cache_url:
            return False
        store = self.site.store()
        store.load([article.key], newest=True)
        store.close()
        return True

    def change(self, article: Article, seen_digest: str, changes: Sequence[Change]) -> None:
        """Change a text, and save it: all changes, in their order, or none of them.

        Each is undone by itself. `seen_digest` is what digest_of() returned for the text that the
        person has seen. Raises OutdatedError and EditError.
        """
        seen_text = _as_seen(article, seen_digest)
        text = _as_newest(article, seen_text)
        # With a time of its own, the new draft is not taken for one that somebody has declined.
        if article.newest_is_in_file:
            text = structs.replace(text, generated_at=datetime.now(UTC))
        # The first Undo puts back the text with its edition from before, not with the new one.
        text_to_put_back = article.draft or seen_text
        read = ReadText(text, self.read(text.html))
        steps: list[_Step] = []
        for change in changes:
            changed = self._changed(article, read, change)
            if (changed.text.html, changed.text.edits) != (text.html, text.edits):
                steps.append(_Step(change.action, text_to_put_back, changed.text))
                text = changed.text
                text_to_put_back = text
            read = ReadText(text, changed.document)
        self.parsed = {text.html: read.document}
        if steps:
            self._save_steps(article, steps)

    def _changed(self, article: Article, read: ReadText, change: Change) -> ReadText:
        """Return a text with a change. Raises OutdatedError and EditError."""
        if change.action == "take_back":
            changed = self._without_difference(article, read, change)
        else:
            changed = self._with_changed_block(article, read, change)
        remarks = self._open_remarks(article, read.text, changed, change)
        if any(remark.kind == "link" for remark in remarks):
            remarks = tuple(open_links(remarks, changed.document.blocks()))
        settled = _settled_sentences(read.text, changed.text)
        edits = structs.replace(changed.text.edits or Edits(), settled=settled)
        text = structs.replace(changed.text, remarks=remarks, edits=edits)
        return replace(changed, text=text)

    def _with_changed_block(self, article: Article, read: ReadText, change: Change) -> ReadText:
        """Return a text with a change of one of its blocks, whose document is changed in place.

        Raises OutdatedError and EditError.
        """
        text = read.text
        blocks = read.document.blocks()
        if not 0 <= change.block < len(blocks) or blocks[change.block].digest != change.digest:
            raise OutdatedError("this block has changed since; look at it again")
        block = blocks[change.block]
        edits = text.edits or Edits()
        if change.action in ("confirm", "confirm_sentence", "reopen"):
            confirmed = _settle_statement(block, change, edits.confirmed)
            edits = structs.replace(edits, confirmed=confirmed)
            return _written(structs.replace(text, edits=edits), read.document)
        authors = _authors(blocks, text)
        if change.action in ("edit", "insert", "paste"):
            # A block restored to its earlier wording keeps its earlier author.
            earlier = self.earlier(article, "generated")
            if earlier:
                authors |= self._authors_of_earlier(earlier)
        removed = _change_words(block, change)
        if removed:
            edits = structs.replace(edits, removed=(*edits.removed, shorten(removed)))
        return self._with_changed_words(article, text, read.document, edits, authors)

    def _authors_of_earlier(self, earlier: Text) -> _Authors:
        """Return who wrote each block of the text before people changed it."""
        version = earlier.version
        if version not in self._known_authors:
            authors = _authors(self.read(earlier.html).blocks(), earlier)
            self._known_authors = {version: authors}
        return self._known_authors[version]

    def _without_difference(self, article: Article, read: ReadText, change: Change) -> ReadText:
        """Return a text without one of its differences to an earlier version.

        Raises OutdatedError and EditError.
        """
        earlier = self.earlier(article, change.earlier)
        if earlier is None:
            raise OutdatedError("this version of the text is gone; compare again")
        before = self.read(earlier.html)
        after = read.document
        rows = compare(before, after, marks=False)
        if not 0 <= change.block < len(rows) or rows[change.block].digest != change.digest:
            raise OutdatedError("this difference has changed since; compare again")
        document = take_back(before, after, rows, change.block)
        blocks = after.blocks()
        blocks_left = document.blocks()
        edits = read.text.edits or Edits()
        if len(blocks_left) < len(blocks):
            words_left = {block.text for block in blocks_left}
            gone = [shorten(block.text) for block in blocks if block.text not in words_left]
            edits = structs.replace(edits, removed=(*edits.removed, *gone))
        authors = _authors(blocks, read.text) | _authors(before.blocks(), earlier)
        return self._with_changed_words(article, read.text, document, edits, authors)

    def undo(self, article: Article, seen_digest: str) -> None:
        """Take back what was done last with a text, also before the desk was started again.

        Raises OutdatedError, EditError, ApprovalError and StoreError.
        """
        text = _as_seen(article, seen_digest)
        last = last_act(self._kept(article), article)
        if last is None:
            raise EditError("there is nothing to undo")
        if last.file is not None:
            self._undo_approval(article, last, last.file)
        elif last.text:
            restored = _restored(article, last.text)
            self._save(article, restored, undone=last)
            undone = _Undone(last.act, text, restored.version)
            self._undone.setdefault(article.key, []).append(undone)
        self.refresh()

    def redo(self, article: Article, seen_digest: str) -> None:
        """Do again what was taken back last. Raises OutdatedError, EditError and StoreError."""
        before = _as_seen(article, seen_digest)
        undone = self._last_undone(article)
        if undone is None:
            raise EditError("there is nothing to redo")
        text = _as_newest(article, undone.text)
        kept = Kept(text.version, before, act=undone.act, by=self.by)
        self._save(article, text, kept=[kept])
        left = self._undone[article.key][:-1]
        if left:  # what was taken back before it is about the text that is there now
            left[-1] = replace(left[-1], version=text.version)
        self._undone[article.key] = left
        self.refresh()

    def redo_info(self, article: Article) -> dict[str, object] | None:
        """Return what `Redo` does again, or None."""
        undone = self._last_undone(article)
        return {"act": undone.act} if undone else None

    def _last_undone(self, article: Article) -> _Undone | None:
        """Return what was taken back last, unless the text has changed since."""
        undone = self._undone.get(article.key)
        newest = article.newest
        if not undone or newest is None or undone[-1].version != newest.version:
            return None
        return undone[-1]

    def _undo_approval(self, article: Article, last: Kept, content: str) -> None:
        """Put the file back as it was before an approval, or delete it if it was not there.

        First, the draft has to be there again, since the file may be all that has its words.
        """
        if last.text and article.draft is None:
            self._save(article, last.text)
        restore_file(article.path, article.directory, content, before=article.approved)
        store = self.site.store()
        store.forget(article.key, last)
        store.close()

    def undo_info(self, article: Article) -> dict[str, object] | None:
        """Return what `Undo` takes back, and whether that deletes the approved file, or None."""
        last = last_act(self._kept(article), article)
        if last is None:
            return None
        return {"act": last.act, "by": last.by, "deletes_file": last.file == ""}

    def note_request(self, article: Article, made: Text) -> None:
        """Keep how to undo a request for a text, if the cache had none that it has replaced.

        Then the text before is that of the file.
        """
        before = article.newest
        if article.draft is not None or before is None or before.html == made.html:
            return
        store = self.site.store()
        store.keep(article.key, Kept(made.version, before, act="ask", by=self.by))
        store.close()

    def _kept(self, article: Article) -> list[bytes]:
        """Return what was replaced of an article, the last at the end, see load_kept()."""
        store = self.site.store()
        kept = store.load_kept(article.key)
        store.close()
        return kept

    def approve(
        self, article: Article, seen_digest: str, reason: str = "", overwrites: str = ""
    ) -> None:
        """Write the approved file of a text.

        A text with statements to check needs a `reason`. `overwrites` is the SHA-256 of the file
        whose human edits the person has agreed to overwrite.

        Raises FileEditedError if the file has others, ApprovalError, OutdatedError, EditError and
        StoreError.
        """
        text = _as_seen(article, seen_digest)
        if not article.needs_approval:
            raise EditError("this text is approved already")
        reason = reason.strip()
        left = count_statements(text)
        if left and reason_problem(reason):
            raise EditError(f"statements left to check: {left}")
        is_in_file = article.newest_is_in_file
        try:
            document = self.read(text.html)
        except UnsafeHTMLError as error:
            raise unusable_text_error(article, error, is_in_file=is_in_file) from error
        agreed = self._agreed(article, text, overwrites)
        chosen = TextToApprove(
            text, document, article=article, is_in_file=is_in_file, agreed=agreed
        )
        store = self.site.store()
        try:
            decided = decide_approval(
                chosen,
                self.by,
                self.site.options,
                cited=self.site.cited_passages().of(text),
                reason=reason,
            )
            write_file(decided.file, store)
            document = decided.file.document
            self.parsed = {document.source: document}  # what is described next
        except FileChangedError as error:
            raise _file_edited_error(article, text, error) from error
        finally:
            store.close()
            self.refresh()

    def _agreed(self, article: Article, text: Text, overwrites: str) -> str:
        """Return the digest of the file if the person knows its human edits, or nothing."""
        if article.approved is None:
            return ""
        digest = article.approved.file_digest
        if overwrites == digest or was_made_over(self._kept(article), text, digest):
            return digest
        return ""

    def earlier(self, article: Article, name: Earlier) -> Text | None:
        """Return the approved text, or the text as it was before people changed it, or None."""
        if name == "approved":
            return approved_text(article)
        note = row_key("generated", article.key)
        store = self.site.store()
        notes, _ = store.load([note])
        before = notes.get(note)
        if before is None and article.draft and not article.newest_is_in_file:
            before = text_before_request(store.load_kept(article.key), article.draft)
        store.close()
        return before or _before_edits_of_the_file(article)

    def read(self, html: str) -> Document:
        """Return the document of a text, which the caller may change. Raises UnsafeHTMLError."""
        parsed = self.parsed.pop(html, None)
        if parsed is not None:
            return parsed
        return Document(html, self.site.options.image_hosts)

    def _with_changed_words(
        self, article: Article, text: Text, document: Document, edits: Edits, authors: _Authors
    ) -> ReadText:
        """Return a text with the words of a changed document. Raises EditError.

        Blocks that are not among those of `authors` are by the person at the desk.
        """
        # Read back, the HTML may have other blocks than the document that was changed.
        written = _written(text, document)
        edits = _edits_of_blocks(written.document.blocks(), edits, authors, self.by)
        changed = structs.replace(written.text, edits=edits)
        remarks = changed_remarks(self.site, article, text, changed, self._form_remarks)
        return replace(written, text=structs.replace(changed, remarks=remarks))

    def _open_remarks(
        self, article: Article, before: Text, after: ReadText, change: Change
    ) -> tuple[Remark, ...]:
        """Return the remarks on a changed text, without those on quotations that are settled now.

        A change can bring quotations back that the text had before people changed it.
        """
        earlier: Text | None = None
        if change.action in ("reopen", "take_back"):
            earlier = self.earlier(article, "generated")
        earlier_remarks = earlier.remarks if earlier else ()
        remarks = after.text.remarks
        if not any(remark.is_about_quotation for remark in (*remarks, *earlier_remarks)):
            return remarks  # as of most texts, and then no text is read for its marks
        marked = marked_text(after.document)
        remarks = open_remarks(remarks, self._marked_text(before), marked)
        if earlier:
            on_quotations = [remark for remark in earlier_remarks if remark.is_about_quotation]
            remarks += open_remarks(on_quotations, self._marked_text(earlier), marked)
        return tuple(without_repeated(remarks))

    def _marked_text(self, text: Text) -> MarkedText:
        return marked_text(Document(text.html, self.site.options.image_hosts))

    def _save_steps(self, article: Article, steps: Sequence[_Step]) -> None:
        """Save the text after the last step, and how to undo each. Raises OutdatedError."""
        made_over = ""
        if article.newest_is_in_file and article.approved:
            made_over = article.approved.file_digest
        kept = []
        for step in steps:
            kept.append(
                Kept(step.after.version, step.before, made_over=made_over, act=step.act, by=self.by)
            )
            made_over = ""
        self._save(article, steps[-1].after, kept=kept)
        self.refresh()

    def _save(
        self,
        article: Article,
        text: Text,
        *,
        kept: Sequence[Kept] = (),
        undone: Kept | None = None,
    ) -> None:
        """Save a text, unless somebody has changed it meanwhile. Raises OutdatedError.

        What it replaces is `kept` with it, or taken from what was kept if it is `undone`. The draft
        as it was before people changed it is kept beside it, for comparison.
        """
        key = article.key
        store: DiskStore = self.site.store()
        note = row_key("generated", key)
        notes, _ = store.load([note])
        saved = {key: text, **notes}  # saving a text deletes its notes
        draft = article.draft
        if draft and draft.edits is None and not notes:  # this is the first change
            saved[note] = draft
        try:
            store.save(
                saved,
                replacing={key: article.draft},
                agreed=True,  # the person has seen the text that is replaced
                kept={key: kept},
                undone={key: undone} if undone else None,
            )
        except ChangedError as error:
            self.refresh()
            raise OutdatedError(_CHANGED) from error
        finally:
            store.close()


def _written(text: Text, document: Document) -> ReadText:
    """Return a text with the HTML of a changed document, and what is read from that.

    Raises EditError for one that no page can show.
    """
    try:
        document = document.read_back(marks=True)
    except UnsafeHTMLError as error:
        raise EditError(
            f"nothing was changed: no page could show the text then ({error}); make it shorter"
        ) from error
    written = structs.replace(text, html=document.source)
    count_sentences(written, document)  # while its document is at hand
    return ReadText(written, document)


def _file_edited_error(article: Article, text: Text, error: FileChangedError) -> FileEditedError:
    """Return the error for an approval that would overwrite human edits of its file.

    It has what somebody wrote there, and what the text has in its place.
    """
    now = error.now
    edits = error.edits
    if now is not None:
        named = replace(now, text=name_authors(now.text, article.path, article.directory))
        edits = tuple(edits_lost_in(named, document_or_none(text.html)))
    conflicts = _conflicts(edits, now, text)
    file = f"{article.page}/{article.path.name}"
    changed = f"'{SOMEBODY}' has changed {file}"
    if conflicts:
        changed = conflicts[0].message(file)
    message = f"your approval was not written; {changed}"
    return FileEditedError(message, conflicts, now.file_digest if now else "")


def _conflicts(edits: Sequence[HumanEdit], now: ApprovedText | None, text: Text) -> list[_Conflict]:
    """Return human edits of a file, each with what a text has in its place."""
    rows: Sequence[Row] = ()
    if now is not None:
        with suppress(UnsafeHTMLError):
            rows = compare(document_of(now.text.html), document_of(text.html), marks=False)
    by_digest = {}
    for row in rows:
        if row.before and row.before.part == "all":
            by_digest[Block(0, row.before.element).content_digest] = row
    conflicts = []
    for edit in edits:
        if edit.is_removal:
            conflicts.append(_Conflict(edit.by, "", edit.words))
        elif edit.digest in by_digest:
            conflicts.append(_conflict_in_row(edit, by_digest[edit.digest]))
        else:
            is_structure = not edit.digest
            conflicts.append(_Conflict(edit.by, edit.words, "", is_structure))
    return conflicts


def _conflict_in_row(edit: HumanEdit, row: Row) -> _Conflict:
    """Return a human edit and what stands in its place, with the addresses that differ."""
    theirs = ""
    yours = ""
    for kind, words in row.plain_words():
        if kind != "new":
            theirs += words
        if kind != "old" and row.after:
            yours += words
    return _Conflict(edit.by, theirs.strip(), yours.strip())


def _authors(blocks: Sequence[Block], text: Text) -> _Authors:
    """Return who wrote each block of a text."""
    changed_by = text.changed_by
    return {(block.kind, block.html): changed_by.get(block.digest, "") for block in blocks}


def _before_edits_of_the_file(article: Article) -> Text | None:
    """Return the text of a file as it was before somebody edited it there, or None."""
    approved = article.approved
    if approved is None or not article.newest_is_in_file or not approved.is_changed:
        return None
    return text_as_written(article)


def _edits_of_blocks(blocks: Sequence[Block], edits: Edits, authors: _Authors, by: str) -> Edits:
    """Return what people did with a text of these blocks, where `by` wrote those without an author.

    Raises EditError if the text has lost its title.
    """
    had_title = any(kind == "h1" for kind, _ in authors)
    if had_title and not any(block.kind == "h1" for block in blocks):
        raise EditError("a text keeps its title")
    changed_by: dict[str, str] = {}
    for block in blocks:
        author = authors.get((block.kind, block.html), by)
        if author:
            changed_by[block.digest] = author
    said = "\n".join(block.text for block in blocks)
    # What was removed and stands there again was not removed.
    removed = tuple(sentence for sentence in edits.removed if sentence not in said)
    return structs.replace(edits, changed_by=changed_by, removed=removed)


def ref_of(article: Article | PageRequest) -> str:
    """Return the reference of an article in addresses of the desk."""
    return sha256(f"{article.page}\0{article.request.id}")[:20]


def digest_of(article: Article) -> str:
    """Return the SHA-256 of what a person sees of a text, and of what was done with it."""
    text = article.newest
    return sha256(f"{text.version}\0{article.state}" if text else article.state)


def _as_newest(article: Article, text: Text) -> Text:
    """Return a changed text with an edition after all others.

    Somebody can be approving the text as it was before, on another machine. With this edition, the
    changed one counts as a newer draft beside that approval, and is not lost.
    """
    return structs.replace(text, edition=edition_after(article.edition))


def _restored(article: Article, text: Text) -> Text:
    """Return the text that an Undo puts back.

    A draft that was newer than the text of the file gets a new edition, so that its page shows it
    once more. Any other text keeps its edition, so that its page still shows the file.
    """
    approved = article.approved
    if approved and text.edition <= approved.text.edition:
        return text
    return _as_newest(article, text)


def _as_seen(article: Article, seen_digest: str) -> Text:
    """Return the text that a person has seen. Raises OutdatedError if it has changed since."""
    if article.newest is None or digest_of(article) != seen_digest:
        raise OutdatedError(_CHANGED)
    return article.newest


def _settle_statement(block: Block, change: Change, confirmed: Sequence[str]) -> tuple[str, ...]:
    """Take the mark of a confirmed statement away, or put that of a reopened one there again.

    The block is changed in place. Returns the statements that are confirmed then. Raises EditError.
    """
    confirmed_now = list(confirmed)
    if change.action == "confirm_sentence":
        _statement(block, change)  # raises EditError if there is none
        for statement in block.confirm_sentence(change.statement):
            confirmed_now.append(shorten(statement))
    elif change.action == "confirm":
        statement = _statement(block, change)
        block.confirm_statement(change.statement)
        confirmed_now.append(shorten(statement))
    else:
        statement = shorten(change.markdown)
        if statement not in confirmed_now:
            raise EditError("this statement was not confirmed")
        block.mark_statement(change.markdown)
        confirmed_now.remove(statement)
    return tuple(confirmed_now)


def _settled_sentences(before: Text, after: Text) -> int:
    """Return how many sentences people have settled: one more for each that has no statement now.

    Words that a person adds can have further statements, and what is taken back has its own again.
    """
    settled = before.edits.settled if before.edits else 0
    return max(0, settled + count_sentences(before) - count_sentences(after))


def _change_words(block: Block, change: Change) -> str:
    """Change the words of a block, in place.

    Returns the sentence or the block that was removed, or an empty string. Raises EditError.
    """
    match change.action:
        case "remove":
            _statement(block, change)  # raises EditError if there is none
            return block.remove_sentence(change.statement)
        case "delete":
            words = block.text
            block.remove()
            return words
        case "insert":
            block.insert(change.kind, change.markdown)
        case "paste":
            block.insert_blocks(change.markdown)
        case "edit":
            block.set_markdown(change.markdown)
    return ""


def _statement(block: Block, change: Change) -> str:
    """Return the statement of a block that a change names. Raises EditError if there is none."""
    statements = block.statements
    if not 0 <= change.statement < len(statements):
        raise EditError("this block has no such statement")
    return statements[change.statement]
