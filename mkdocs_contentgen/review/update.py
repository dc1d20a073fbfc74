"""Make drafts out of texts that are there: from changed sources, or with a note."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html import unescape

import msgspec

from ..display import escape_controls
from ..errors import ContentgenError, EditError, NoText, RejectedError
from ..requests import Request
from ..service.progress import TextInProgress
from ..service.updates import Source, Update, Updated
from ..site.build import Build
from ..site.cited import CitedSections
from ..site.options import ContentgenConfig
from ..text import Text
from ..texts.articles import Article
from ..texts.generation import Client, UpdatingClient
from ..texts.notes import load_failures
from ..texts.obtain import Foreground
from ..texts.store import note_key
from ..texts.updates import apply_update, plan_update


@dataclass(frozen=True)
class PlannedUpdate:
    """A text that is to be updated."""

    article: Article
    text: Text
    what: Update


@dataclass
class UpdatePlan:
    """The updates to make, and why others are not made, each on one line."""

    updates: list[PlannedUpdate] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class UpdateResult:
    """What became of an update: the new text with the changes, or an error."""

    planned: PlannedUpdate
    updated: Updated | None = None
    text: Text | None = None
    error: ContentgenError | NoText | None = None


def plan(
    articles: Iterable[Article],
    now: CitedSections,
    *,
    note: str = "",
    section: str = "",
    failed: Mapping[str, ContentgenError],
    is_named: bool,
    others: Iterable[Article] = (),
    image_hosts: Sequence[str] = (),
) -> UpdatePlan:
    """Return what is to be updated: with a note all articles, else those with changed sources.

    `failed` are the failures of earlier updates, by key, which only a named page repeats. `others`
    are the articles of the site, of which some can have the same request.
    """
    found = UpdatePlan()
    keys = set()
    twins: dict[str, dict[str, str]] = {}
    for it in others:
        twins.setdefault(it.key, {})[it.newest.html if it.newest else ""] = it.place
    for article in articles:
        text, page = article.newest, article.page
        sources = _sources(text, now) if text else []
        is_wanted = bool(note) or any(it.has_changed for it in sources)
        if problem := _problem(article, is_wanted=is_wanted, is_named=is_named):
            found.problems.append(problem)
        elif text is None or (not is_wanted and not is_named) or article.key in keys:
            continue
        elif not is_wanted:
            found.notes.append(
                f"{page}: its sources have not changed; --note says what else to change"
            )
        elif len(twins.get(article.key, ())) > 1:
            places = ", ".join(twins[article.key].values())
            found.problems.append(
                f"{article.place}: {places} have different texts for the same request, and a draft "
                "is for all of them; change one of the requests first"
            )
        elif article.key in failed and not is_named:
            found.notes.append(
                f"{page}: its update has failed before: {failed[article.key]}; "
                f"`contentgen update {page}` asks (and pays) again"
            )
        else:
            keys.add(article.key)
            try:
                what = plan_update(
                    text, sources, note=note, section=section, image_hosts=image_hosts
                )
            except EditError as error:
                found.problems.append(f"{article.place}: {error}")
            else:
                found.updates.append(PlannedUpdate(article, text, what))
    return found


def _problem(article: Article, *, is_wanted: bool, is_named: bool) -> str:
    """Return why a text cannot be updated, or an empty string."""
    if article.damaged:
        return str(article.damaged)
    if article.newest is None and is_named:
        return (
            f"{article.place}: there is no text to update; "
            f"`contentgen generate {article.page}` makes one"
        )
    if article.state == "changed" and is_wanted:
        return (
            f"{article.place}: {article.path} was edited since its approval; approve it first "
            f"with `contentgen approve {article.page}`"
        )
    return ""


def can_update(options: ContentgenConfig) -> bool:
    """Tell whether the service of a site can update texts: the interface has no such operation."""
    return options.uses_writer() or "update" in options.service_fields


def earlier_failures(build: Build, articles: Iterable[Article]) -> dict[str, ContentgenError]:
    """Return the failures of updates after the newest text of each article, by key."""
    store = build.store()
    newest = {it.key: it.newest for it in articles}
    failures, _ = load_failures(newest, store)
    store.close()
    return {
        key: failure
        for key, failure in failures.items()
        if (text := newest[key]) and failure.failed_at and failure.failed_at > text.generated_at
    }


def run(
    build: Build, planned: Sequence[PlannedUpdate], current: Callable[[Article], Article]
) -> tuple[list[UpdateResult], list[str]]:
    """Make the updates, and return what became of each, and the problems with the cache.

    `current` returns an article as it is now: a text that has changed meanwhile stays.
    """
    if not planned:
        return [], []
    by_key = {it.article.key: it for it in planned}
    done: dict[str, Updated] = {}
    store = build.store()

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        async with build.connect() as client:
            yield _UpdateClient(
                client, by_key, done, current, build.policy.sandbox, build.site.options.image_hosts
            )

    source: Foreground = replace(build.foreground(), connect=connect)
    requests = {key: it.article.request for key, it in by_key.items()}
    outcomes, problems = source.get(requests, requests.keys())
    results = []
    for key, it in by_key.items():
        outcome = outcomes[key]
        results.append(UpdateResult(it, done.get(key), outcome.text, outcome.error))
    # The text as it was is what the desk compares the draft with.
    before = {
        note_key("generated", key): it.text
        for key, it in by_key.items()
        if outcomes[key].text and it.article.draft is it.text
    }
    if before:
        store.save(before)
    problems += store.close()
    return results, problems


_MAX_SAID = 10_000
_TITLE = "Updated texts\n============="


def report(results: Sequence[UpdateResult]) -> str:
    """Return the text of a pull request with updates: what was changed in each text, and why.

    What models, sources and people wrote stands in code, where it is neither markup nor a mention.
    """
    parts = [_TITLE, f"Drafts to review: {sum(bool(it.text) for it in results)}"]
    for result in results:
        article, updated, text = result.planned.article, result.updated, result.text
        parts.append(f"## {_code(article.page)}, article {_code(article.request.id)}")
        if updated is None or text is None:
            parts.append(f"Not updated: {_code(str(result.error))}")
            continue
        before = {it.number: it.text for it in result.planned.what.blocks}
        lines = [
            line
            for change in updated.changes
            for line in (
                f"# {change.action}: {change.reason}",
                *([f"- {before.get(change.block, '')}"] if change.action != "insert" else []),
                *([f"+ {_plain(change.html)}"] if change.html else []),
            )
        ]
        lines += [f"! nothing had to change: {updated.reason}"] if not updated.changes else []
        lines += [f"! {remark}" for remark in text.remarks]
        parts.append(_fenced(lines, "diff"))
    return "\n\n".join(parts) + "\n"


def _plain(html: str) -> str:
    return unescape(re.sub("<[^<>]*>", "", html))


def _fenced(lines: Iterable[str], language: str) -> str:
    text = "\n".join(escape_controls(line) for line in lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    text = escape_controls(text)
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if len(ticks) > 1 else f"`{text}`"


class _UpdateClient:
    """A client whose answer to a request is the text that is there, updated."""

    def __init__(
        self,
        client: UpdatingClient,
        planned: Mapping[str, PlannedUpdate],
        done: dict[str, Updated],
        current: Callable[[Article], Article],
        sandbox: bool,
        image_hosts: Sequence[str],
    ) -> None:
        self._client = client
        self._planned = planned
        self._done = done
        self._current = current
        self._sandbox = sandbox
        self._image_hosts = image_hosts

    @property
    def warnings(self) -> Sequence[str]:
        return self._client.warnings

    async def send(
        self, request: Request, *, idempotency_key: str, timeout: float, progress: TextInProgress
    ) -> bytes:
        """Return the changes of the text for a request."""
        key = request.key(sandbox=self._sandbox)
        updated = await self._client.update(
            request,
            self._planned[key].what,
            idempotency_key=idempotency_key,
            timeout=timeout,
            progress=progress,
        )
        return msgspec.json.encode((key, updated))

    def read(self, answer: bytes, request: Request) -> Text:
        """Return the text with the changes in it. Raises ServiceError."""
        key, updated = msgspec.json.decode(answer, type=tuple[str, Updated])
        planned = self._planned[key]
        now = self._current(planned.article).newest
        if now is None or (now.html, now.edits) != (planned.text.html, planned.text.edits):
            raise RejectedError(
                "somebody has changed this text meanwhile, so it stays; "
                f"`contentgen update {planned.article.page}` begins anew"
            )
        try:
            today = datetime.now(UTC).date()
            text = apply_update(planned.text, planned.what, updated, today, self._image_hosts)
        except EditError as error:
            raise RejectedError(str(error)) from error
        self._done[key] = updated
        return msgspec.structs.replace(
            text, generated_at=datetime.now(UTC), request=request.record()
        )


def _sources(text: Text, now: CitedSections) -> list[Source]:
    """Return the sections that a text cites, as they were and as they are."""
    found = []
    for name, digest in text.sources.items():
        sections = now.find(name)
        if sections is None:
            continue
        is_same = bool(sections) and sections[0].digest == digest
        said = "\n\n".join(it.text for it in sections)
        found.append(
            Source(
                name,
                sections[0].title if sections else now.shown(name),
                said[:_MAX_SAID],
                text.passages.get(name, ""),
                not is_same,
                sections[0].digest if sections else digest,
            )
        )
    return found
