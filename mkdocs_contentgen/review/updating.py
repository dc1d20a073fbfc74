"""Make drafts out of texts that are there: from changed sources, or with a note.

What an update changes within a text is in `block_updates`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from click import unstyle
from msgspec import structs

from ..citation import Citation
from ..display import escape_controls
from ..errors import (
    ContentgenError,
    EditedTextError,
    EditError,
    InvalidAnswerError,
    MissingReason,
    ServiceError,
    StoreError,
    UnsafeHTMLError,
    failure_behind,
)
from ..page_request import OriginalText, PageRequest
from ..remark_words import sentence_of
from ..service.protocol import MAX_DOUBTFUL, Attempt, Client
from ..site.build import Build
from ..site.cited_passages import CitedPassages
from ..site.options import ContentgenConfig
from ..site.site import Site
from ..stale import StaleSource, fails_on
from ..text import Text, edition_after
from ..texts.articles import Article
from ..texts.lookup import Outcome
from ..texts.obtain import message_for_pages
from ..texts.policy import AskForText
from ..texts.store import ChangedError, DiskStore
from .update_requests import ApplyAnswer, SourceUpdate, TranslationUpdate, WordlessUpdate

if TYPE_CHECKING:
    from ..writer.evaluation import TotalEstimate

CANNOT_UPDATE = (
    "only a writer can update texts: use `base_url: writer`, or set `service_fields: [update]` if "
    "your service is a served one; `contentgen generate --refresh` asks any service for a new text"
)

MADE_ELSEWHERE = "another run has just updated it"
"""What became of an update of which another run has the answer."""

_TITLE = "Updated texts\n============="


@dataclass(frozen=True)
class TextUpdate:
    """An update of a text, and what became of it once it is made."""

    article: Article
    before: Text
    task: SourceUpdate | TranslationUpdate | WordlessUpdate
    """Why the text is updated, and what a service is asked for, if it is asked."""

    stale: tuple[StaleSource, ...] = ()
    """What no longer holds in the text, as far as that is known without a model."""

    is_answered: bool = False
    """Whether this run has the answer: another one may have made the same update."""

    after: Text | None = None
    error: ContentgenError | MissingReason | None = None

    @property
    def stopped_by(self) -> ServiceError | None:
        """The failure of another update for which this one was not sent, or None."""
        return failure_behind(self.error)

    def lines(self) -> list[str]:
        """Return what was changed in the text and why, and the remarks of the update."""
        if self.after is None:
            return []
        known = set(self.before.updates)
        remarks = []
        for remark in self.after.remarks:
            if remark.is_of_update:
                remarks.append(sentence_of(remark))
        return [*(line for line in self.after.updates if line not in known), *remarks]


@dataclass(frozen=True)
class NotUpdated:
    """Why a text is not updated, in one message for each reason."""

    messages: Sequence[str]

    is_problem: bool
    """Whether something is wrong, or else the text may well stay as it is."""


@dataclass
class Plan:
    """The updates to make, and why others are not made, as problems and as notes."""

    updates: list[TextUpdate] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def has(self, article: Article) -> bool:
        """Tell whether the text of an article is updated, which other pages may have too."""
        return any(update.article.key == article.key for update in self.updates)

    def add(self, decided: TextUpdate | NotUpdated | None) -> None:
        """Add what was decided of a text; None is a text of which nothing is to be said."""
        if isinstance(decided, TextUpdate):
            self.updates.append(decided)
        elif decided is not None and decided.is_problem:
            self.problems += decided.messages
        elif decided is not None:
            self.notes += decided.messages


def plan(
    build: Build,
    articles: Sequence[Article],
    *,
    note: str = "",
    section: str = "",
    is_named: bool = True,
) -> Plan:
    """Return the updates to make.

    With a note, all articles are updated, else those whose sources or whose original have changed.
    Only a page that a person names (`is_named`) repeats an update that has failed.
    """
    planner = _Planner(build.site, build.site.cited_passages(), note, section, is_named)
    planned = Plan()
    for article in articles:
        text = article.newest
        if article.damaged:
            planned.problems.append(str(article.damaged))
        elif text is None and is_named:
            planned.add(_problem(article, f"there is no text to update; {article.how_to_get_text}"))
        elif text is not None and not planned.has(article):
            planned.add(planner.decide(article, text))
    planned.updates.sort(key=_may_be_right)  # a budget may not be enough for all
    return planned


def _may_be_right(update: TextUpdate) -> bool:
    """Tell whether no sentence of a text is known to be wrong; for sorting, wrong ones first."""
    return not fails_on("wrong", update.stale)


def _problem(article: Article, reason: str) -> NotUpdated:
    """Return what is wrong with a text that was to be updated."""
    return NotUpdated([f"{article.place}: {reason}"], is_problem=True)


def _note(article: Article, reason: str) -> NotUpdated:
    """Return why a text may stay as it is."""
    return NotUpdated([f"{article.page}: {reason}"], is_problem=False)


def _left_to_person(article: Article, reason: str) -> NotUpdated:
    """Return why a text stays as it is until a person names its page."""
    command = f"contentgen update {article.page_argument}"
    return _note(article, f"{reason}; `{command}` asks (and pays) again")


@dataclass(frozen=True)
class _Planner:
    """Decides whether a text is updated, and what for. Nothing is changed."""

    site: Site
    cited: CitedPassages
    note: str
    section: str
    is_named: bool
    """Whether a person names the pages, and so repeats what has failed."""

    def decide(self, article: Article, text: Text) -> TextUpdate | NotUpdated | None:
        """Return the update of the newest text of an article, or why it is not updated."""
        if article.original is None:
            sources = self.cited.citations(text)
            has_changed = any(source.has_changed for source in sources)
            if has_changed or self.note:
                return self._why_not(article, text, sources) or self._update(article, text, sources)
            reason = "its sources have not changed; --note says what else to change"
            return _note(article, reason) if self.is_named else None
        if self.note or self.section:
            return _problem(
                article,
                "a translation says what its original says; change that, or the translation with "
                f"`contentgen review {article.page_argument}`",
            )
        original = article.original.text_to_translate
        if original is None:
            return _problem(article, article.original.no_text_to_translate)
        if not article.original_changes and not self.is_named:
            return None
        waits = self._why_translation_waits(article, article.original, original, text)
        return waits or self._update_translation(article, original, text)

    def _why_not(
        self, article: Article, text: Text, sources: Sequence[Citation]
    ) -> NotUpdated | None:
        """Return why a text is not updated though its sources have changed, or there is a note."""
        reason = "" if self.is_named else _asked_before(article, text, sources)
        if reason:
            return _left_to_person(article, reason)
        if not self.site.options.service_can("update"):
            return _problem(article, CANNOT_UPDATE)
        return None

    def _update(
        self, article: Article, text: Text, sources: Sequence[Citation]
    ) -> TextUpdate | NotUpdated:
        """Return the update of a text from its sources, or with a note."""
        from .block_updates import plan_update, read_to_update  # mostly, no text needs it

        read = read_to_update(text)
        stale = self.cited.stale(text, read.document)
        try:
            update = plan_update(
                read, sources, doubtful=_doubtful(stale), note=self.note, section=self.section
            )
        except EditError as error:
            return _problem(article, str(error))
        return TextUpdate(article, text, SourceUpdate(update), stale)

    def _why_translation_waits(
        self, article: Article, original: Article, original_text: OriginalText, text: Text
    ) -> NotUpdated | None:
        """Return why a translation is not updated now, although its original may have changed."""
        if _waits_for_approval(original_text, text, self.site.options):
            reason = (
                "its original is not approved as it is now; "
                f"`contentgen review {original.page_argument}` comes first"
            )
            return _problem(article, reason) if self.is_named else _note(article, reason)
        if article.failed_update and not self.is_named:
            return _left_to_person(
                article, f"its update has failed before: {article.failed_update}"
            )
        return None

    def _update_translation(
        self, article: Article, original: OriginalText, text: Text
    ) -> TextUpdate | NotUpdated:
        """Return the update of a translation from the text of its original as it is now.

        For a page that a person names, blocks without a translation are asked for again. What needs
        no words needs no service either.
        """
        from ..translation.comparing import ComparedTranslation

        changes = article.original_changes
        try:
            compared = ComparedTranslation(text, original.text)
        except (EditError, UnsafeHTMLError) as error:
            return _problem(article, str(error))
        asked = compared.plan_update(repeats=self.is_named)
        if asked is None:
            is_filled = self.is_named and compared.lacks_what_needs_no_words()
            if changes or is_filled:
                task = WordlessUpdate(original, changes, self.is_named)
                return TextUpdate(article, text, task)
            return _note(article, "its original has not changed")
        problems = self.site.field_problems(article.asked)
        if problems:
            return NotUpdated(problems, is_problem=True)
        if not self.site.options.service_can("translate"):
            return _problem(article, CANNOT_UPDATE)
        return TextUpdate(article, text, TranslationUpdate(original, changes, self.is_named, asked))


def _doubtful(stale: Sequence[StaleSource]) -> list[str]:
    """Return the sentences that a model should look at first."""
    found: list[str] = []
    for source in stale:
        if source.level != "changed":
            found += [sentence.text for sentence in source.sentences]
    return found[:MAX_DOUBTFUL]


def _waits_for_approval(original: OriginalText, text: Text, options: ContentgenConfig) -> bool:
    """Tell whether somebody has to approve an original before its translation is updated."""
    was_approved = text.original is not None and not text.original.is_draft
    return original.is_draft and (was_approved or options.require_approval)


def estimate_of_updates(build: Build, updates: Sequence[TextUpdate]) -> TotalEstimate | None:
    """Return what the writer will take for updates, or None for a service."""
    if not (build.site.options.uses_writer() and updates):
        return None
    from ..writer import evaluation

    options = build.site.writer_options()
    estimates = [update.task.estimate(options) for update in updates]
    return evaluation.total_estimate(estimates, options)


def _asked_before(article: Article, text: Text, sources: Sequence[Citation]) -> str:
    """Return what became of an earlier update from the same sources, or an empty string."""
    if article.failed_update:
        return f"its update has failed before: {article.failed_update}"
    # An update keeps the new digests of the sources, so that they do not count as changed any more.
    # Only a source that is gone counts as changed again, though an update has seen that.
    are_as_before = all(text.sources[source.name] == source.digest for source in sources)
    if are_as_before:
        return "an update has left what cites sections that are gone"
    return ""


def run(
    build: Build,
    updates: Sequence[TextUpdate],
    wrap: Callable[[AskForText], AskForText] = lambda ask: ask,
) -> tuple[list[TextUpdate], list[str]]:
    """Make the updates, and return them with what became of each, and the problems with the cache.

    A text that somebody changes meanwhile stays. `wrap` gets the function that asks a service for
    each text, and returns the one to call in its place.
    """
    made, problems = _ask_client(build, updates, wrap)
    applied, more = _apply_without_words(build, updates)
    by_key = made | applied
    results = [by_key[update.article.key] for update in updates]
    return results, problems + more


def _ask_client(
    build: Build, updates: Sequence[TextUpdate], wrap: Callable[[AskForText], AskForText]
) -> tuple[dict[str, TextUpdate], list[str]]:
    """Make the updates that need new words, and return them by key, and the problems."""
    by_key: dict[str, TextUpdate] = {}
    requests: dict[str, PageRequest] = {}
    tasks: dict[PageRequest, SourceUpdate | TranslationUpdate] = {}
    operations: dict[str, str] = {}
    editions: dict[str, int] = {}
    for update in updates:
        article = update.article
        if isinstance(update.task, WordlessUpdate):
            continue
        by_key[article.key] = update
        requests[article.key] = article.asked
        tasks[article.asked] = update.task
        operations[article.key] = update.task.operation(article.request)
        editions[article.key] = article.edition
    if not requests:
        return {}, []
    by_request = {update.article.asked: update for update in by_key.values()}
    answered: set[PageRequest] = set()

    async def ask(client: Client, asked: PageRequest, attempt: Attempt) -> Text:
        apply_answer = await tasks[asked].ask(client, asked, attempt)
        # In a thread, since it reads files and takes HTML apart, while other answers arrive.
        text = await asyncio.to_thread(
            _apply_unless_changed, build.site, by_request[asked], apply_answer
        )
        answered.add(asked)
        return text

    source = replace(build.foreground(), ask=wrap(ask), operations=operations, editions=editions)
    outcomes, problems = source.get(requests, cached_keys=requests.keys())
    results = {}
    for key, update in by_key.items():
        results[key] = _result(update, outcomes[key], is_answered=requests[key] in answered)
    return results, problems


def _apply_without_words(
    build: Build, updates: Sequence[TextUpdate]
) -> tuple[dict[str, TextUpdate], list[str]]:
    """Make the updates that need no new words, and return them by key, and the problems."""
    wordless = []
    for update in updates:
        if isinstance(update.task, WordlessUpdate):
            wordless.append((update, update.task))
    if not wordless:
        return {}, []
    store = build.store()
    results = {}
    for update, task in wordless:
        try:
            text = _save_applied(build.site, store, update, task.apply)
        except (ServiceError, StoreError) as error:
            result = replace(update, error=error)
        else:
            result = replace(update, is_answered=True, after=text)
        results[update.article.key] = result
    return results, store.close()


def _save_applied(
    site: Site, store: DiskStore, update: TextUpdate, apply_answer: ApplyAnswer
) -> Text:
    """Save the updated text as the newest one, and return it. Raises ServiceError or StoreError."""
    article = update.article
    current = store.load([article.key], newest=True)[0].get(article.key)
    text = _apply_unless_changed(site, update, apply_answer)
    edition = edition_after(current.edition if current else 0, article.edition)
    text = structs.replace(text, edition=edition)
    try:
        store.save({article.key: text}, replacing={article.key: current})
    except ChangedError as error:
        raise _edited_meanwhile(article) from error
    return text


def _apply_unless_changed(site: Site, update: TextUpdate, apply_answer: ApplyAnswer) -> Text:
    """Return the updated text. Raises EditedTextError if somebody has changed it meanwhile."""
    article = update.article
    before = update.before
    now = site.reread([article])[0].newest
    if now is None or now.version != before.version:
        raise _edited_meanwhile(article)
    moment = datetime.now(UTC)
    try:
        text = apply_answer(before, moment.date())
    except (EditError, UnsafeHTMLError) as error:
        raise InvalidAnswerError(str(error)) from error
    return structs.replace(text, generated_at=moment, request=article.request.record())


def _edited_meanwhile(article: Article) -> EditedTextError:
    return EditedTextError(
        "somebody has changed this text meanwhile, so it stays; "
        f"`contentgen update {article.page_argument}` begins again"
    )


def _result(update: TextUpdate, outcome: Outcome, *, is_answered: bool) -> TextUpdate:
    """Return an update with what became of it."""
    if outcome.is_saved:
        return replace(update, is_answered=is_answered, after=outcome.text, error=outcome.error)
    error = StoreError("the cache cannot keep it; make room, then repeat this")
    return replace(update, is_answered=is_answered, error=error)


def failures(results: Sequence[TextUpdate]) -> list[str]:
    """Return a message for each reason why texts were not updated."""
    by_reason: dict[str, list[TextUpdate]] = {}
    for result in results:
        if result.after is None:
            # An update that was not sent because another one had failed is named with that one.
            failure = result.stopped_by or result.error
            by_reason.setdefault(str(failure), []).append(result)
    messages = []
    for reason, failed in by_reason.items():
        pages = [result.article.source_path or result.article.page for result in failed]
        message = f"not updated: {reason}; the text stays as it is"
        if len(set(pages)) == 1:
            message = f"{failed[0].article.place}: {message}"
        not_sent = sum(result.stopped_by is not None for result in failed)
        messages.append(message_for_pages(message, pages, not_sent))
    return messages


def report(results: Sequence[TextUpdate]) -> str:
    """Return the text of a pull request with updates: what was changed in each text, and why.

    What models, sources and people wrote stands in code, where it is neither markup nor a mention.
    """
    from .diffs import word_diff

    number = sum(result.after is not None for result in results)
    parts = [_TITLE, f"Drafts to review: {number}"]
    for result in results:
        lines = [f"{result.article.page}, article {result.article.request.id}", ""]
        if result.after is None:
            lines.append(f"not updated: {result.error}")
        elif not result.is_answered:
            lines.append(MADE_ELSEWHERE)
        else:
            lines += [*result.lines(), ""]
            lines += unstyle(word_diff(result.before.html, result.after.html)).split("\n")
        text = "\n".join(map(escape_controls, lines))
        longest = max(map(len, re.findall("`+", text)), default=0)
        fence = "`" * max(3, 1 + longest)
        parts.append(f"{fence}text\n{text}\n{fence}")
    return "\n\n".join(parts) + "\n"
