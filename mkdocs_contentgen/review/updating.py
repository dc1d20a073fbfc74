"""Make drafts out of texts that are there: from changed sources, or with a note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import unescape

import msgspec

from ..display import escape_controls
from ..errors import ContentgenError, EditError, NoText, RejectedError
from ..requests import Request
from ..service.protocol import Attempt, Client
from ..service.updates import Source, Update, Updated
from ..site.build import Build
from ..site.cited import CitedSections
from ..site.options import ContentgenConfig
from ..text import Text
from ..texts.articles import Article
from ..texts.notes import load_failures
from ..texts.store import note_key
from ..texts.updates import apply_update, plan_update


@dataclass(frozen=True)
class TextUpdate:
    """An update of a text, and what became of it once it is made."""

    article: Article
    before: Text
    update: Update
    updated: Updated | None = None
    after: Text | None = None
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
) -> tuple[list[TextUpdate], list[str], list[str]]:
    """Return the updates to make: with a note of all articles, else of those with changed sources.

    The second and third value say why others are not made, as problems and as notes. `failed` are
    the failures of earlier updates, by key, which only a named page repeats. `others` are the
    articles of the site, of which some can have the same request.
    """
    updates: list[TextUpdate] = []
    problems: list[str] = []
    notes: list[str] = []
    keys = set()
    twins: dict[str, dict[str, str]] = {}
    for it in others:
        twins.setdefault(it.key, {})[it.newest.html if it.newest else ""] = it.place
    for article in articles:
        text, page = article.newest, article.page
        sources = _sources(text, now) if text else []
        is_wanted = bool(note) or any(it.has_changed for it in sources)
        if problem := _problem(article, is_wanted=is_wanted, is_named=is_named):
            problems.append(problem)
        elif text is None or (not is_wanted and not is_named) or article.key in keys:
            continue
        elif not is_wanted:
            notes.append(f"{page}: its sources have not changed; --note says what else to change")
        elif len(twins.get(article.key, ())) > 1:
            places = ", ".join(twins[article.key].values())
            problems.append(
                f"{article.place}: {places} have different texts for the same request, and a draft "
                "is for all of them; change one of the requests first"
            )
        elif article.key in failed and not is_named:
            notes.append(
                f"{page}: its update has failed before: {failed[article.key]}; "
                f"`contentgen update {page}` asks (and pays) again"
            )
        else:
            keys.add(article.key)
            try:
                update = plan_update(
                    text, sources, note=note, section=section, image_hosts=image_hosts
                )
            except EditError as error:
                problems.append(f"{article.place}: {error}")
            else:
                updates.append(TextUpdate(article, text, update))
    return updates, problems, notes


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
    knows_updates = options.uses_writer() or options.uses_sandbox()
    return knows_updates or "update" in options.service_fields


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
    build: Build, planned: Sequence[TextUpdate], current: Callable[[Article], Article]
) -> tuple[list[TextUpdate], list[str]]:
    """Make the updates, and return them with what became of each, and the problems with the cache.

    `current` returns an article as it is now: a text that has changed meanwhile stays.
    """
    if not planned:
        return [], []
    by_request = {it.article.request: it for it in planned}
    done: dict[Request, Updated] = {}

    async def ask(client: Client, request: Request, attempt: Attempt) -> Text:
        what = by_request[request]
        updated = await client.update(request, what.update, attempt)
        now = current(what.article).newest
        if now is None or (now.html, now.edits) != (what.before.html, what.before.edits):
            raise RejectedError(
                "somebody has changed this text meanwhile, so it stays; "
                f"`contentgen update {what.article.page}` begins anew"
            )
        moment = datetime.now(UTC)
        hosts = build.site.options.image_hosts
        try:
            text = apply_update(what.before, what.update, updated, moment.date(), hosts)
        except EditError as error:
            raise RejectedError(str(error)) from error
        done[request] = updated
        return msgspec.structs.replace(text, generated_at=moment, request=request.record())

    requests = {it.article.key: it.article.request for it in planned}
    source = replace(build.foreground(), ask=ask)
    outcomes, problems = source.get(requests, requests.keys())
    results = []
    for it in planned:
        outcome = outcomes[it.article.key]
        updated = done.get(it.article.request)
        results.append(replace(it, updated=updated, after=outcome.text, error=outcome.error))
    # The text as it was is what the desk compares the draft with.
    before = {
        note_key("generated", it.article.key): it.before
        for it in results
        if it.after and it.article.draft is it.before
    }
    if before:
        store = build.store()
        store.save(before)
        problems += store.close()
    return results, problems


_MAX_SAID = 10_000
_TITLE = "Updated texts\n============="


def report(results: Sequence[TextUpdate]) -> str:
    """Return the text of a pull request with updates: what was changed in each text, and why.

    What models, sources and people wrote stands in code, where it is neither markup nor a mention.
    """
    parts = [_TITLE, f"Drafts to review: {sum(bool(it.after) for it in results)}"]
    for it in results:
        parts.append(f"## {_code(it.article.page)}, article {_code(it.article.request.id)}")
        if it.updated is None or it.after is None:
            parts.append(f"Not updated: {_code(str(it.error))}")
            continue
        texts = {block.number: block.text for block in it.update.blocks}
        lines = []
        for change in it.updated.changes:
            lines.append(f"# {change.action}: {change.reason}")
            lines += [f"- {texts.get(change.block, '')}"] if change.action != "insert" else []
            lines += [f"+ {_plain(change.html)}"] if change.html else []
        if not lines:
            lines.append(f"! nothing had to change: {it.updated.reason}")
        lines += [f"! {remark}" for remark in it.after.remarks]
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
