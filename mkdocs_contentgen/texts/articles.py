"""The articles of a site, with their texts and states."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element

from ..display import counted, escape_controls, quoted
from ..errors import (
    ApprovalError,
    ContentgenError,
    FailedTextError,
    MissingReason,
    UnsafeHTMLError,
)
from ..files import normal_form, sha256
from ..html import presentation
from ..html.disclosure import Provenance, Review
from ..html.elements import TO_READ
from ..html.presentation import ArticleMetadata, Presentation
from ..page_request import OriginalText, PageRequest
from ..remark import Remark
from ..requests import LANGUAGE, OPTIONAL_FIELDS, TRANSLATION_KEY, Request, without_original
from ..stale import StaleSource
from ..text import Text
from .approved_dir import approved_path
from .approved_file import Approval, ApprovedText
from .human_edits import has_edits_of_its_own
from .lookup import NEVER_GENERATED_REASON, Outcome

if TYPE_CHECKING:
    from ..html.document import Document

_ROOT_LANGUAGE = re.compile(rf'\s*<article(?:\s[^<>]*)?\slang="({LANGUAGE})"')
"""Matches the start of a text whose writer says what language it is in."""

_TITLE_START = re.compile(r"<h1(?:\s[^<>]*)?>", re.IGNORECASE)
_TITLE_END = re.compile(r"</h1\s*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")

_MARK = re.compile(r"<mark[\s/>]", re.IGNORECASE)

_MAX_WATCHED_SHOWN = 3
"""Changed files that a message names."""

_MAX_COUNTED = 100_000
"""For how many texts the number of statements is kept, which takes 25 MB at most."""


@dataclass(frozen=True)
class _Counts:
    """What there is to check in a text."""

    statements: int = 0
    sentences: int = 0


_counts: dict[str, _Counts] = {}
"""What there is to check in texts that were read, by the SHA-256 of their HTML."""

State = Literal[
    "missing", "failed", "draft", "proposed", "approved", "changed", "outdated", "damaged"
]


@dataclass(frozen=True)
class WatchedFiles:
    """What has changed of the files that a request watches, since its text was approved."""

    changes: tuple[tuple[str, int], ...] = ()
    """The path in the repository of each changed file, and the number of commits that did it."""

    problem: str = ""
    """Why changes may be missing here, or an empty string."""

    @property
    def message(self) -> str:
        """What has changed, and what is not known; empty if nothing has."""
        parts = []
        if self.changes:
            shown = []
            for name, number in self.changes[:_MAX_WATCHED_SHOWN]:
                shown.append(f"{escape_controls(name)} ({counted(number, 'commit')})")
            others = len(self.changes) - len(shown)
            if others:
                shown.append(f"and {counted(others, 'more file', 'more files')}")
            parts.append(f"watched files changed: {', '.join(shown)}")
        if self.problem:
            parts.append(f"watched files are not known: {escape_controls(self.problem)}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Article:
    """One article of a site, with its approved text and its draft.

    It can have two texts: that of its file in the directory of approved files, and a draft in the
    cache. The state says what the file is, and so which of them its page shows, and which there is
    to review:

    | state | its file has | its page shows | to review (`newest`) |
    |---|---|---|---|
    | missing, failed | there is none | no text | nothing |
    | draft | there is none | the draft | the draft |
    | proposed | a text that nobody has approved | the file | a newer draft, or else the file |
    | approved | a text as somebody approved it | the file | a newer draft, or else the file |
    | changed | a text that was edited since | the file | a newer draft, or else the file |
    | outdated | the text for another request | the draft, if any | the draft, if any |
    | damaged | what cannot be read | no text | the draft, if any |

    With `may_show_draft`, a page shows a newer draft in place of its file.
    """

    asked: PageRequest
    """The request that its page has."""

    _: KW_ONLY
    key: str
    directory: Path
    """The directory of approved files."""

    moved_from: Path | None = None
    """The path of its approved file if that is not `own_path`, or None."""

    approved: ApprovedText | None = None
    """The text of its file in `approved_dir`, also of a proposed one, which has no `approval`."""

    damaged: ApprovalError | None = None
    """Why the approved file cannot be read."""

    draft_outcome: Outcome = field(default_factory=Outcome)
    """The outcome for the draft, from the cache or the service; empty if it was not looked up."""

    stale: tuple[StaleSource, ...] = ()
    """The cited passages that have changed since, or are gone, and what that means."""

    original: Article | None = None
    """The article that this is a translation of, or None for any other."""

    due_since: date | None = None
    """The day since which its approved text is due for another review, or None."""

    watched: WatchedFiles = WatchedFiles()
    """What has changed of the files that the request watches, if it was looked up."""

    may_show_draft: bool = False
    """Whether its page shows the draft in place of the text of the file, if the draft is newer."""

    @property
    def request(self) -> Request:
        """What is asked for."""
        return self.asked.request

    @property
    def page(self) -> str:
        """The path of its page in the directory of pages (`src_uri`)."""
        return self.asked.page

    @property
    def page_argument(self) -> str:
        """The page as an argument of a command that somebody copies into a shell."""
        return shlex.quote(self.page)

    @property
    def place(self) -> str:
        """The file and the line of its request, such as `docs/post.md:2`."""
        return self.asked.place

    @property
    def source_path(self) -> str:
        """The path of the file of its page in the project, such as `docs/post.md`."""
        return self.asked.source_path

    @property
    def own_path(self) -> Path:
        """The path of its approved file, whether or not that exists."""
        return approved_path(self.directory, self.page, self.request.id)

    @property
    def path(self) -> Path:
        """The path of its approved file, under the former name of the page if it is there."""
        return self.moved_from or self.own_path

    @property
    def has_moved(self) -> bool:
        """Whether its approved file is under a former name of the page, which looks different."""
        return bool(self.moved_from) and normal_form(self.path) != normal_form(self.own_path)

    @property
    def draft(self) -> Text | None:
        """The newest text from the cache or the service, or None."""
        return self.draft_outcome.text

    @property
    def approval(self) -> Approval | None:
        """The approval in its file, also of an outdated or edited text, or None."""
        return self.approved.approval if self.approved else None

    @property
    def failure(self) -> FailedTextError | None:
        """Why the request has no text, or no newer one, although one was paid for; or None."""
        error = self.draft_outcome.error
        return error if isinstance(error, FailedTextError) else None

    @property
    def answer(self) -> str:
        """What was answered in place of a text, or written of one that is missing; or empty."""
        error = self.draft_outcome.error
        if not isinstance(error, FailedTextError | MissingReason):
            return ""
        return error.answer

    @property
    def failed_update(self) -> FailedTextError | None:
        """Why its newest text could not be updated or replaced, or None."""
        if self.failure is None:
            return None
        if self.failure.failed_at is None:  # a failure of this run, which is reported as such
            return None
        has_text = self.draft is not None or self.approved is not None
        if not has_text or self.failure.edition < self.edition:
            return None
        return self.failure

    @property
    def edition(self) -> int:
        """The edition of the newest text, approved or not, or 0 if there is none."""
        editions = [0]
        if self.draft:
            editions.append(self.draft.edition)
        if self.approved:
            editions.append(self.approved.text.edition)
        return max(editions)

    @cached_property
    def state(self) -> State:
        """The state of the article."""
        if self.damaged:
            return "damaged"
        if self.approved is None:
            if self.draft:
                return "draft"
            return "failed" if self.failure else "missing"
        if not self.approved.was_made_for(self.request):
            return "outdated"
        if self.approved.approval is None:
            return "proposed"
        return "changed" if self.approved.is_changed else "approved"

    @cached_property
    def reason(self) -> str:
        """The reason for the state, as a message."""
        if self.damaged:
            return str(self.damaged)
        if self.approved:
            reason = self._approval_reason(self.approved)
        else:
            reason = self._draft_reason()
        if self.stale:
            reason += (
                f"; {self.stale_message}; update with `contentgen update {self.page_argument}`"
            )
        if self.original_changes:
            reason += f"; {self.original_changes_message}"
        if self.failed_update:
            reason += f"; its update has failed: {self.failed_update}"
        if self.has_moved:
            reason += f"; its file is still at {self.moved_from}"
        if self.due_since:
            reason += f"; due for review since {self.due_since}"
        if self.watched.message:
            reason += f"; {self.watched.message}"
        if self.is_due and self.request.owner:
            reason += f", ask {self.request.owner}"
        return reason

    @property
    def stale_message(self) -> str:
        """What no longer holds, in one line."""
        return "; ".join(source.message for source in self.stale)

    @property
    def shows_file(self) -> bool:
        """Whether the page shows its file, even a damaged one, and needs no request."""
        if self.may_show_draft and self.has_newer_draft:
            return False
        return self.state in ("approved", "changed", "damaged", "proposed")

    @property
    def shows_approved_file(self) -> bool:
        """Whether the page shows its file, and that is not a proposed one.

        It is the file of an approved text, which may have been edited since, or be damaged.
        """
        return self.shows_file and self.state != "proposed"

    @property
    def has_newer_draft(self) -> bool:
        """Whether the draft is newer than the text of the file, if any, and was not declined."""
        approved = self.approved
        draft = self.draft
        if draft is None:
            return False
        if approved is None:
            return True
        if not approved.was_made_for(self.request):
            return True
        if self._has_declined_draft:
            return False
        if draft.edition != approved.text.edition:
            return draft.edition > approved.text.edition
        # Two machines made them without knowing of each other, or they are the same.
        return _made(draft) > _made(approved.text)

    @property
    def has_edited_draft(self) -> bool:
        """Whether people have worked on the draft, beside what they did with the text of the file.

        Where it cannot be known, they have.
        """
        if self.draft is None:
            return False
        return has_edits_of_its_own(self.draft, self.approved.text if self.approved else None)

    @property
    def _has_declined_draft(self) -> bool:
        """Whether the reviewer declined this draft, which its generation time identifies."""
        if self.draft is None or self.approval is None:
            return False
        return self.draft.generated_at == self.approval.declined

    @property
    def newest(self) -> Text | None:
        """What there is to review, or None.

        That is the text of the file, unless there is a newer draft, or the request has changed
        since the file was made. Otherwise it is the draft, if there is one.
        """
        if self.approved and self.newest_is_in_file:
            return self.approved.text
        return self.draft

    @property
    def newest_is_in_file(self) -> bool:
        """Whether `newest` is the text of the file, and not the draft."""
        return self.approved is not None and self.shows_file and not self.has_newer_draft

    @property
    def newest_is_approved(self) -> bool:
        """Whether `newest` is a text as somebody approved it."""
        return self.state == "approved" and not self.has_newer_draft

    @property
    def needs_approval(self) -> bool:
        """Whether nobody has approved `newest` as it is, or it is due for another review."""
        return not self.newest_is_approved or self.is_due

    @property
    def is_due(self) -> bool:
        """Whether its approved text is due for another review."""
        return self.due_since is not None or bool(self.watched.changes)

    @property
    def text_to_translate(self) -> OriginalText | None:
        """The text that translations of it are made from: the approved one if there is one."""
        if self.approved and self.state == "approved":
            text: Text | None = self.approved.text
            is_draft = False
        else:
            text = None if self.damaged else self.newest
            is_draft = True
        if text is None:
            return None
        language = _language_of(text) or self.request.language or self.asked.language
        return OriginalText(text, language, is_draft)

    @property
    def no_text_to_translate(self) -> str:
        """What to say of a translation of it if there is no text."""
        return f"its original, {self.page}, has no text; {self.how_to_get_text}"

    @property
    def is_waiting(self) -> bool:
        """Whether it is a translation without a text until somebody approves its original."""
        error = self.draft_outcome.error
        return isinstance(error, MissingReason) and error.absence == "waiting"

    @property
    def how_to_get_text(self) -> str:
        """What to do to get a text where there is none, as the end of a message."""
        if self.damaged:
            return str(self.damaged)
        error = self.draft_outcome.error
        if isinstance(error, MissingReason) and error.absence in ("no_original", "waiting"):
            return error.message
        if self.failure:
            return how_to_ask_again(self.page_argument)
        return f"`contentgen generate {self.page_argument}` makes one"

    @property
    def original_text(self) -> OriginalText | None:
        """The text that this is translated from; None if that is missing, or for no translation."""
        return self.original.text_to_translate if self.original else None

    @property
    def asked_now(self) -> PageRequest:
        """The request, that of a translation with the text of its original as it is now."""
        if self.original is None:
            return self.asked
        return replace(self.asked, original_text=self.original_text)

    @cached_property
    def original_changes(self) -> int:
        """The number of blocks of the original that are not as they were translated.

        What was edited in the file of an approved original does not count before somebody approves
        it again.
        """
        return self._changes_since(self.newest) if self.newest else 0

    def _changes_since(self, text: Text) -> int:
        """Return the number of blocks of the original that have changed since a translation."""
        original = self.original_text
        if text.original is None or original is None:
            return 0
        if original.is_draft and not text.original.is_draft:
            return 0
        if sha256(original.text.html) == text.original.digest:
            return 0
        from ..translation.first_translation import count_changes

        try:
            return count_changes(text.original, original.text.html)
        except UnsafeHTMLError:  # its page says so
            return 0

    @property
    def original_changes_message(self) -> str:
        """What the author should know of an original that has changed."""
        blocks = counted(self.original_changes, "block")
        command = f"contentgen update {self.page_argument}"
        return f"the original has changed: {blocks}; translate that again with `{command}`"

    @cached_property
    def outcome(self) -> Outcome:
        """The outcome for the text that the page shows."""
        if self.damaged:
            return Outcome(error=self.damaged)
        if self.approved is None or not self.shows_file:
            return self.draft_outcome
        origin: Literal["approved", "proposed"] = "approved"
        if self.state == "proposed":
            origin = "proposed"
        return Outcome(origin, self.approved.text)

    @property
    def provenance(self) -> Provenance | None:
        """The provenance of the text that the page shows, or None without a text.

        Page, metadata and feeds say only what somebody vouches for. Who wrote a text, wholly or in
        part, is said when somebody has approved it as it is. Its model, time and remarks are those
        of an approval, or of the own cache: whoever can write a file that nobody has approved can
        write any header.
        """
        text = self.outcome.text
        if text is None:
            return None
        provenance = Provenance(
            type=self.request.type,
            remarks=self.remarks if self._vouches_for_header else (),
            language=self.text_language,
        )
        if self.asked.original or text.original:
            provenance = replace(
                provenance,
                translated_from=self.translated_from,
                original_title=self._original_title,
                original_by_person=self._is_original_by_person,
                original_page=self.original.page if self.original else "",
                original_changes=self._changes_since(text),
            )
        if self._vouches_for_header:
            provenance = replace(provenance, generated_at=text.generated_at, model=text.model)
        approval = self.approval
        if approval and self._shows_approved_text:
            provenance = replace(
                provenance,
                review=Review(approval.approved_by, approval.approved_at),
                is_edited=bool(text.changed_by),
                author=_author_of(text),
            )
        return provenance

    @property
    def _shows_approved_text(self) -> bool:
        """Whether the page shows a text as somebody approved it."""
        return self.state == "approved" and self.shows_file

    @property
    def _vouches_for_header(self) -> bool:
        """Whether the page shows a text as somebody approved it, or one of the own cache."""
        return self._shows_approved_text or not self.shows_file

    @property
    def translated_from(self) -> str | None:
        """The language of the original of a translation as a BCP 47 tag, or None for any other.

        It is empty if it is not known.
        """
        text = self.outcome.text
        language = None
        if text and text.original and self._vouches_for_header:
            language = text.original.language
        original = self.asked.original
        if original and not language:  # the text does not say so
            return original.request.language or original.language
        return language

    @property
    def _original_title(self) -> str:
        """The title of the original of a translation, or else its topic."""
        if self.translated_from is None:
            return ""
        original = self.original_text
        title = _title_of(original.text) if original else ""
        return title or self.request.topic

    @property
    def _is_original_by_person(self) -> bool:
        """Whether this is a translation of what a person wrote."""
        original = self.original_text
        if original is None or original.is_draft:
            return False
        return bool(_author_of(original.text))

    def present(self, how: Presentation) -> tuple[Element, ArticleMetadata]:
        """Return the element to insert into a page, and its metadata.

        Raises ContentgenError if there is no text, and UnsafeHTMLError if it cannot be shown.
        """
        provenance = self.provenance
        text = self.outcome.text
        if provenance is None or text is None:
            raise ContentgenError(str(self.outcome.error or NEVER_GENERATED_REASON))
        html = self.html_to_show(text, has_notice=how.has_notice)
        return presentation.present(html, provenance, how)

    def html_to_show(self, text: Text, *, has_notice: bool = False) -> str:
        """Return the HTML of a text of the article as a page shows it.

        The links within a translation are those of its original. Here, they lead to its headings.
        With `has_notice`, the blocks whose originals have changed have a class.
        """
        original = self.original_text
        if original is None:
            return text.html
        from ..translation.links_within import link_to_own_headings  # most sites have one language

        html = link_to_own_headings(text, original.text)
        if not has_notice or not self._changes_since(text):
            return html
        from ..translation.changed_blocks import mark_changed_blocks

        return mark_changed_blocks(html, text, original.text)

    @property
    def model(self) -> str:
        """The model of the text that the page shows, or else of an outdated or a failed one."""
        if self.outcome.text:
            return self.outcome.text.model
        if self.approved:
            return self.approved.text.model
        return self.failure.model if self.failure else ""

    @property
    def text_language(self) -> str:
        """The language that the text of the page says it is in, or else that of its request."""
        text = self.outcome.text
        of_text = _language_of(text) if text else ""
        return of_text or self.request.language

    @property
    def sources(self) -> Mapping[str, str]:
        """The SHA-256 of each section that the text of the page cites, by its address."""
        return self.outcome.text.sources if self.outcome.text else {}

    @property
    def title(self) -> str:
        """The title of the text that there is to review, or else its topic."""
        title = _title_of(self.newest) if self.newest else ""
        return title or self.request.topic

    @property
    def statement_count(self) -> int:
        """The number of statements to check in the text that there is to review."""
        return count_statements(self.newest)

    @property
    def sentence_count(self) -> int:
        """The number of sentences that have these statements."""
        return count_sentences(self.newest)

    @property
    def to_read_count(self) -> int:
        """The number of sentences to read in the text that there is to review."""
        if not self.newest:
            return 0
        return self.newest.html.count(f'class="{TO_READ}"')

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What is not as requested in the text that the page shows, if it waits for review."""
        text = self.outcome.text
        if text is None or self.shows_approved_file:
            return ()
        return text.remarks

    @property
    def where(self) -> list[str]:
        """The places that have its text: `approved file` or `proposed file`, and `cache`."""
        places = []
        if self.approved:
            places.append("approved file" if self.approval else "proposed file")
        if self.draft:
            places.append("cache")
        return places

    def _approval_reason(self, approved: ApprovedText) -> str:
        if self.state == "outdated":
            changes = _request_changes(approved.text.request, self.request.record())
            shown = " and ".join(changes) or "the request was different"
            return f"{shown}; {self._state_of_new_text()}"
        if approved.approval is None:
            return self._proposal_reason(approved)
        reason = f"{approved.approval.approved_by} approved it"
        if self.state == "changed":
            return f"edited since {reason}"
        reason += f" on {approved.approval.approved_at}"
        if self.has_newer_draft:
            reason += "; a newer draft waits for review"
        elif self._has_conflicting_draft(approved):
            reason += (
                "; there is another draft, which was made elsewhere: "
                f"`contentgen diff {self.page_argument}` compares both"
            )
        return reason

    def _has_conflicting_draft(self, approved: ApprovedText) -> bool:
        """Tell whether the draft is another text of the same edition, which nobody declined.

        It was made on another machine, and is no newer.
        """
        draft = self.draft
        if draft is None or draft.edition != approved.text.edition:
            return False
        return not self._has_declined_draft and _made(draft) != _made(approved.text)

    def _proposal_reason(self, proposed: ApprovedText) -> str:
        reason = _reason_not_reviewed(proposed.text)
        if proposed.is_changed:
            reason += ", edited in its file"
        if self.has_newer_draft:
            command = f"contentgen propose {self.page_argument}"
            reason += f"; a newer draft is in the cache, and `{command}` takes it"
        return reason

    def _state_of_new_text(self) -> str:
        """Return what became of the text for the request as it is now."""
        if self.draft:
            return "the new text is a draft"
        return "the new text has failed" if self.failure else "the new text is missing"

    def _draft_reason(self) -> str:
        draft = self.draft
        if draft is None:
            return str(self.draft_outcome.error or NEVER_GENERATED_REASON)
        return _reason_not_reviewed(draft)


def _reason_not_reviewed(text: Text) -> str:
    """Return that a text is not reviewed, with the number of its statements and remarks."""
    reason = "not reviewed"
    statements = count_statements(text)
    if statements:
        sentences = count_sentences(text)
        reason += f", {statements_in_sentences(statements, sentences, 'to check')}"
    if text.remarks:
        reason += f", {counted(len(text.remarks), 'remark')}"
    return reason


def statements_in_sentences(statements: int, sentences: int, what: str) -> str:
    """Return how many statements are left, such as `3 statements to check in 2 sentences`.

    A sentence with several of them is one thing to read, so their number is named where it
    differs.
    """
    said = f"{counted(statements, 'statement')} {what}"
    if sentences == statements:
        return said
    return f"{said} in {counted(sentences, 'sentence')}"


def _author_of(text: Text) -> str:
    """Return the person who wrote a text, or an empty string.

    What a model has updated is not the person's alone.
    """
    return "" if text.model else text.written_by


def _title_of(text: Text) -> str:
    """Return the title of a text without its markup, or an empty string.

    The text is not read as HTML, which takes ten milliseconds.
    """
    start = _TITLE_START.search(text.html)
    end = None
    if start:
        end = _TITLE_END.search(text.html, start.end())
    if start is None or end is None:
        return ""
    title = unescape(_TAG.sub("", text.html[start.end() : end.start()]))
    return " ".join(title.split())


def _language_of(text: Text) -> str:
    """Return the language that a text says it is in, as a BCP 47 tag, or an empty string."""
    said = _ROOT_LANGUAGE.match(text.html)
    return said[1] if said else ""


def _made(text: Text) -> datetime:
    """Return when a text was made, in whole seconds as the header of an approved file has it."""
    return text.generated_at.replace(microsecond=0)


def _request_changes(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return what is not as it was in the record of a request, such as `topic was 'Speed'`."""
    original_before = before.get(TRANSLATION_KEY)
    original_now = now.get(TRANSLATION_KEY)
    if original_before is None and original_now is not None:
        return ["it was not a translation"]
    if original_before is not None and original_now is None:
        return ["it was a translation", *_field_changes(without_original(before), now)]
    changes = _field_changes(before, now)
    if isinstance(original_before, dict) and isinstance(original_now, dict):
        # A translation has the topic of its original, so it can be in both records.
        already_named = _changed_fields(before, now)
        for name in _changed_fields(original_before, original_now):
            if name not in already_named:
                changes.append(f"the original's {name} was {quoted(original_before.get(name))}")
    return changes


def _field_changes(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return what each changed field of a request was, but for the original of a translation."""
    changes = []
    for name in _changed_fields(before, now):
        if name != TRANSLATION_KEY:
            changes.append(f"{name} was {quoted(before.get(name))}")
    return changes


def _changed_fields(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return the names of the fields of a request that are not as they were.

    A request that was recorded before a field was introduced does not have it: that is not a
    change. A missing optional field is one, since these are only there where somebody has set them.
    """
    changed = []
    for name in now:
        if name in before and before[name] != now[name]:
            changed.append(name)
    for name in OPTIONAL_FIELDS:
        if name not in changed and before.get(name) != now.get(name):
            changed.append(name)
    return changed


def how_to_ask_again(page: str) -> str:
    """Return what to do about a text that has failed, as the end of a message.

    `page` is the page as an argument of a command.
    """
    return (
        f"`contentgen show {page}` prints what was answered, and `contentgen generate {page}` asks "
        "(and pays) again"
    )


def has_marks(text: Text) -> bool:
    """Tell whether a text may have statements to check, whoever marked them."""
    return _MARK.search(text.html) is not None


def count_statements(text: Text | None, document: Document | None = None) -> int:
    """Return the number of statements to check in a text, none in one that cannot be shown.

    `document` is that of the text, if it is at hand.
    """
    return _count(text, document).statements


def count_sentences(text: Text | None, document: Document | None = None) -> int:
    """Return the number of sentences that have these statements: what a person has to read."""
    return _count(text, document).sentences


def _count(text: Text | None, document: Document | None) -> _Counts:
    """Count once for each text: reading it takes ten milliseconds, and the desk asks for all."""
    if text is None or not has_marks(text):
        return _Counts()
    digest = sha256(text.html)
    if digest not in _counts:
        if len(_counts) >= _MAX_COUNTED:
            _counts.clear()
        document = document or _read(text.html)
        counts = _Counts()
        if document:
            counts = _Counts(document.count_statements(), document.count_sentences())
        _counts[digest] = counts
    return _counts[digest]


def _read(html: str) -> Document | None:
    from ..html.document import Document

    try:
        return Document(html)
    except UnsafeHTMLError:
        return None
