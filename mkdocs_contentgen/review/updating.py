"""Make drafts out of texts that are there: from changed sources, or with a note.

What an update changes within a text is in `block_updates`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import msgspec
from click import unstyle
from msgspec import structs

from ..citation import Citation
from ..display import escape_controls
from ..errors import (
    ContentgenError,
    EditedTextError,
    EditError,
    InvalidAnswerError,
    NoText,
    ServiceError,
    StoreError,
)
from ..files import sha256
from ..page_request import PageRequest
from ..service.protocol import Attempt, Client, ServiceRequest, Update, Updated
from ..site.build import Build
from ..site.site import Site
from ..text import Text
from ..texts.articles import Article
from ..texts.lookup import Outcome
from ..texts.obtain import message_for_pages
from ..texts.policy import AskForText
from ..texts.store import note_key

_TITLE = "Updated texts\n============="


@dataclass(frozen=True)
class TextUpdate:
    """An update of a text, and what became of it once it is made."""

    article: Article
    before: Text
    update: Update
    updated: Updated | None = None
    after: Text | None = None
    error: ContentgenError | NoText | None = None

    @property
    def stopped_by(self) -> ServiceError | None:
        """The failure of another update for which this one was not sent, or None."""
        return self.error.cause if isinstance(self.error, NoText) else None


def plan(
    build: Build,
    articles: Sequence[Article],
    *,
    note: str = "",
    section: str = "",
    is_named: bool = True,
) -> tuple[list[TextUpdate], list[str], list[str]]:
    """Return the updates to make: with a note of all articles, else of those with changed sources.

    The second and third value say why others are not made, as problems and as notes. Only a page
    that a person names (`is_named`) repeats an update that has failed.
    """
    cited = build.site.cited_sections()
    image_hosts = build.site.options.image_hosts
    updates: list[TextUpdate] = []
    problems: list[str] = []
    notes: list[str] = []
    keys = set()
    for article in articles:
        problem = _problem(article, is_named=is_named)
        if problem:
            problems.append(problem)
            continue
        text = article.newest
        if text is None or article.key in keys:
            continue
        sources = cited.citations(text)
        if not note and not any(source.has_changed for source in sources):
            if is_named:
                notes.append(
                    f"{article.page}: its sources have not changed; --note says what else to change"
                )
            continue
        reason = "" if is_named else _asked_before(article, text, sources)
        if reason:
            command = f"contentgen update {article.page_argument}"
            notes.append(f"{article.page}: {reason}; `{command}` asks (and pays) again")
            continue

        from .block_updates import plan_update  # mostly, no text needs it

        keys.add(article.key)
        try:
            update = plan_update(text, sources, note=note, section=section, image_hosts=image_hosts)
        except EditError as error:
            problems.append(f"{article.place}: {error}")
        else:
            updates.append(TextUpdate(article, text, update))
    return updates, problems, notes


def _problem(article: Article, *, is_named: bool) -> str:
    """Return why a text cannot be updated, or an empty string."""
    if article.damaged:
        return str(article.damaged)
    if article.newest is None and is_named:
        return (
            f"{article.place}: there is no text to update; "
            f"`contentgen generate {article.page_argument}` makes one"
        )
    return ""


def _asked_before(article: Article, text: Text, sources: Sequence[Citation]) -> str:
    """Return what became of an earlier update from the same sources, or an empty string."""
    if article.failed_update:
        return f"its update has failed before: {article.failed_update}"
    if all(text.sources[source.name] == source.digest for source in sources):
        return "an update has left what cites sections that are gone"
    return ""


def run(
    build: Build,
    planned: Sequence[TextUpdate],
    wrap: Callable[[AskForText], AskForText] = lambda ask: ask,
) -> tuple[list[TextUpdate], list[str]]:
    """Make the updates, and return them with what became of each, and the problems with the cache.

    A text that somebody changes meanwhile stays. `wrap` gets the function that asks for each.
    """
    if not planned:
        return [], []
    by_request = {planned_update.article.asked: planned_update for planned_update in planned}
    answers: dict[PageRequest, Updated] = {}

    async def ask(client: Client, asked: PageRequest, attempt: Attempt) -> Text:
        planned_update = by_request[asked]
        answer = await client.update(asked, planned_update.update, attempt)
        # In a thread, since it reads files and takes HTML apart, while other answers arrive.
        text = await asyncio.to_thread(_apply, build.site, planned_update, answer)
        answers[asked] = answer
        return text

    requests: dict[str, PageRequest] = {}
    operations: dict[str, str] = {}
    editions: dict[str, int] = {}
    for planned_update in planned:
        article = planned_update.article
        requests[article.key] = article.asked
        operations[article.key] = _operation(planned_update)
        editions[article.key] = article.edition
    source = replace(build.foreground(), ask=wrap(ask), operations=operations, editions=editions)
    outcomes, problems = source.get(requests, requests.keys())
    results = []
    for planned_update in planned:
        article = planned_update.article
        answer = answers.get(article.asked)
        results.append(_result(planned_update, outcomes[article.key], answer))
    problems += _keep_texts_before(build, results)
    return results, problems


def _apply(site: Site, planned: TextUpdate, updated: Updated) -> Text:
    """Return the updated text. Raises EditedTextError if somebody has changed it meanwhile."""
    from .block_updates import apply_update

    article = planned.article
    before = planned.before
    now = site.reread(article).newest
    if now is None or (now.html, now.edits) != (before.html, before.edits):
        raise EditedTextError(
            "somebody has changed this text meanwhile, so it stays; "
            f"`contentgen update {article.page_argument}` begins anew"
        )
    moment = datetime.now(UTC)
    hosts = site.options.image_hosts
    try:
        text = apply_update(before, planned.update, updated, moment.date(), hosts)
    except EditError as error:
        raise InvalidAnswerError(str(error)) from error
    return structs.replace(text, generated_at=moment, request=article.request.record())


def _result(planned: TextUpdate, outcome: Outcome, updated: Updated | None) -> TextUpdate:
    """Return an update with what became of it."""
    if outcome.is_kept:
        return replace(planned, updated=updated, after=outcome.text, error=outcome.error)
    full = StoreError("the cache cannot keep it; make room, then repeat this")
    return replace(planned, updated=updated, error=full)


def _keep_texts_before(build: Build, results: Sequence[TextUpdate]) -> list[str]:
    """Keep the texts as they were, with which the desk compares the drafts.

    Return the problems with the cache.
    """
    before: dict[str, Text] = {}
    for result in results:
        article = result.article
        if result.after and not article.newest_is_in_file:
            before[note_key("generated", article.key)] = result.before
    if not before:
        return []
    store = build.store()
    store.save(before)
    return store.close()


def failures(results: Sequence[TextUpdate]) -> list[str]:
    """Return a message for each reason why texts were not updated."""
    by_reason: dict[str, list[TextUpdate]] = {}
    for result in results:
        if result.after is None:
            by_reason.setdefault(str(result.stopped_by or result.error), []).append(result)
    messages = []
    for reason, texts in by_reason.items():
        pages = [result.article.source_path or result.article.page for result in texts]
        message = f"not updated: {reason}; the text stays as it is"
        if len(set(pages)) == 1:
            message = f"{texts[0].article.place}: {message}"
        stopped = sum(result.stopped_by is not None for result in texts)
        messages.append(message_for_pages(message, pages, stopped))
    return messages


def _operation(planned: TextUpdate) -> str:
    """Return what an Idempotency-Key belongs to: with another note, it is another request."""
    sent = ServiceRequest(planned.article.request, planned.update)
    return f"{sent.operation} {sha256(msgspec.json.encode(sent.body()))}"


def report(results: Sequence[TextUpdate]) -> str:
    """Return the text of a pull request with updates: what was changed in each text, and why.

    What models, sources and people wrote stands in code, where it is neither markup nor a mention.
    """
    from .approving import word_diff

    number = sum(result.after is not None for result in results)
    parts = [_TITLE, f"Drafts to review: {number}"]
    for result in results:
        lines = [f"{result.article.page}, article {result.article.request.id}", ""]
        if result.updated is None or result.after is None:
            lines.append(f"not updated: {result.error}")
        else:
            lines += [*result_lines(result.updated, result.after), ""]
            lines += unstyle(word_diff(result.before.html, result.after.html)).split("\n")
        text = "\n".join(map(escape_controls, lines))
        longest = max(map(len, re.findall("`+", text)), default=0)
        fence = "`" * max(3, 1 + longest)
        parts.append(f"{fence}text\n{text}\n{fence}")
    return "\n\n".join(parts) + "\n"


def result_lines(updated: Updated, text: Text) -> list[str]:
    """Return what an update has changed in a text and why, and the remarks of the update."""
    number = max(len(updated.changes), 1)  # one line says that nothing had to change
    remarks = [remark for remark in text.remarks if "update: " in remark]
    return [*text.updates[-number:], *remarks]
