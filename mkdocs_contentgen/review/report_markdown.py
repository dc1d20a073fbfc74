"""Write the report on the texts of a pull request in the Markdown of GitHub and GitLab.

Its first line is enough for most readers; a table follows, and for each text what is folded until a
person opens it. All words in it are untrusted, so each goes through `untrusted_markdown`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from ..display import counted, first_names, shortened
from ..files import short_digest
from ..html.document import document_of
from ..remark_words import sentences_of
from ..stale import StaleSource
from ..texts.articles import (
    Article,
    count_sentences,
    count_statements,
    statements_in_sentences,
)
from ..writer.sources.evidence import PASSAGE_LENGTH
from .pull_requests import PlacedPassage, PlacedSentence, TextReport
from .source_changes import SourceChange
from .untrusted_markdown import MAX_COMMENT, changed_words, escaped, folded, link, table, with_bold
from .vouching import Doubt

_MAX_ROWS = 100
"""Texts in the table."""

_MAX_CHANGES = 40
"""Blocks with changes of a text."""

_MAX_BLOCK = 1500
"""Characters of the changed words of a block."""

_MAX_SENTENCE = 600
_MAX_CELL = 80
_MAX_SUMMARY = 500_000
"""Characters of texts in the summary of a job, of which GitHub shows a mebibyte."""

_RESERVE = 1500
"""Characters that are kept free for what names the texts that were left out."""

_HEAD = ("Page", "State", "Changed", "Statements left", "Remarks", "Owner")
"""The names of the columns of the table."""

_Item = TypeVar("_Item", str, tuple[str, ...])

LinkTo = Callable[[Path, int | None], str]
"""Returns the address of a file and a line in the web, or an empty string."""


@dataclass(frozen=True)
class ReportForm:
    """How a report is written."""

    link_to: LinkTo = lambda path, line: ""
    has_boxes: bool = False
    """Whether each sentence with statements has a box to tick, with an id that names it."""

    ticked: Collection[str] = ()
    """The ids of the sentences whose boxes are ticked."""


def repository_links(environment: Mapping[str, str], top: Path | None) -> LinkTo:
    """Return what links to files in the repository, on GitHub or GitLab.

    Elsewhere, it returns an empty string for each file.
    """
    base = ""
    if environment.get("GITHUB_REPOSITORY") and environment.get("GITHUB_SHA"):
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        base = f"{server}/{environment['GITHUB_REPOSITORY']}/blob/{environment['GITHUB_SHA']}/"
    elif environment.get("CI_PROJECT_URL") and environment.get("CI_COMMIT_SHA"):
        base = f"{environment['CI_PROJECT_URL']}/-/blob/{environment['CI_COMMIT_SHA']}/"

    def link_to(path: Path, line: int | None) -> str:
        if not base or top is None or not path.is_relative_to(top):
            return ""
        address = base + quote(path.relative_to(top).as_posix())
        return f"{address}#L{line}" if line else address

    return link_to


def summary_line(reports: Sequence[TextReport]) -> str:
    """Return the first line of a report: what is left to do."""
    waiting = [report for report in reports if report.is_to_review]
    if not waiting:
        return "No text to review."
    statements = sum(count_statements(report.article.newest) for report in waiting)
    sentences = sum(count_sentences(report.article.newest) for report in waiting)
    left = statements_in_sentences(statements, sentences, "left")
    return f"{counted(len(waiting), 'text')} to review: {left}"


def report_markdown(
    reports: Sequence[TextReport],
    form: ReportForm,
    *,
    articles: Sequence[Article] = (),
    changes: Sequence[SourceChange] = (),
    stale: Sequence[Article] = (),
) -> str:
    """Return a report of at most 60,000 characters. What was left out is named at its end.

    Of `articles`, it lists what is due for another review, and translations whose original has
    changed. `changes` say which texts are wrong now because of the pull request, and `stale` are
    those whose sources have changed, whatever did that.
    """
    parts = [f"**{summary_line(reports)}**"]
    parts += _warnings(reports, _room_of_list(parts))
    if changes:
        parts.append(_source_changes(changes, _room_of_list(parts)))
    if stale:
        parts.append(_stale(stale, _room_of_list(parts)))
    rows = _that_fit(_rows(reports), _room_of_list(parts))
    if rows:
        parts.append(table(_HEAD, rows))
    due = [article for article in articles if article.is_due]
    if due:
        parts.append(_due(due, _room_of_list(parts)))
    changed = [article for article in articles if article.original_changes]
    if changed:
        parts.append(_original_changed(changed, _room_of_list(parts)))
    sections, left_out = _sections(reports, form, MAX_COMMENT - _RESERVE - _size(parts))
    parts += sections
    if len(reports) > len(rows):
        parts.append(f"The table has the first {len(rows)} of {len(reports)} texts.")
    if left_out:
        names = escaped(first_names([shortened(page, _MAX_CELL) for page in left_out], 5))
        parts.append(f"Left out, since the report would be too long: {names}.")
    return "\n\n".join(parts) + "\n"


def texts_markdown(articles: Sequence[Article]) -> str:
    """Return the words of new texts, folded, for a job that can keep them nowhere else.

    What is longer than the summary of a job is named.
    """
    parts = ["**These texts could not be pushed:**"]
    left_out: list[str] = []
    for article in articles:
        if article.newest is None:
            continue
        lines = [
            escaped(block.to_markdown()) for block in document_of(article.newest.html).blocks()
        ]
        part = folded(f"<b>{_cell(_name(article))}</b>", "\n\n".join(lines))
        if _size([*parts, part]) > _MAX_SUMMARY:
            left_out.append(article.page)
        else:
            parts.append(part)
    if left_out:
        parts.append(
            f"Left out, since the summary would be too long: {escaped(', '.join(left_out))}."
        )
    return "\n\n".join(parts) + "\n"


def _room_of_list(parts: Sequence[str]) -> int:
    """Return how many characters a list after other parts has: half of those that are left."""
    return (MAX_COMMENT - _RESERVE - _size(parts)) // 2


def _that_fit(items: Sequence[_Item], room: int) -> list[_Item]:
    """Return the first items, or rows of cells, that fit into `room` characters."""
    found: list[_Item] = []
    for item in items[:_MAX_ROWS]:
        room -= _size([item] if isinstance(item, str) else item) + 2
        if room < 0:
            break
        found.append(item)
    return found


def _sections(
    reports: Sequence[TextReport], form: ReportForm, room: int
) -> tuple[list[str], list[str]]:
    """Return the sections of texts that fit into `room` characters, and the pages of the others.

    A section that is too long as a whole is shortened.
    """
    sections: list[str] = []
    left_out: list[str] = []
    for report in reports:
        section = _section(report, form)
        if not section:
            continue
        if _size([section]) > room:
            section = _section(report, form, is_short=True)
        if not section or _size([section]) > room:
            left_out.append(report.article.page)
        else:
            sections.append(section)
            room -= _size([section])
    return sections, left_out


def _size(parts: Sequence[str]) -> int:
    """Return the characters of the parts of a report, each with the blank line after it."""
    return sum(len(part) + 2 for part in parts)


def _cell(text: str) -> str:
    return escaped(shortened(text, _MAX_CELL))


def _warnings(reports: Sequence[TextReport], room: int) -> list[str]:
    """Return a warning for each new approval that git says something against."""
    found: list[str] = []
    for report in reports:
        if report.has_doubtful_approval:
            found.append(
                f"Warning: {_cell(report.article.page)} says reviewed by "
                f"{_cell(report.approved_by)}; {_doubts(report.doubts)}"
            )
    shown = _that_fit(found, room)
    more = len(found) - len(shown)
    if more:
        shown.append(f"Warning: {counted(more, 'more approval')} of which git says something else")
    return shown


def _doubts(doubts: Iterable[Doubt]) -> str:
    """Return what is doubtful about an approval, and the fields that each reason is about."""
    fields: dict[str, list[str]] = {}
    for doubt in doubts:
        fields.setdefault(doubt.reason, []).append(doubt.field or "file")
    return "; ".join(f"{_cell(reason)} ({', '.join(names)})" for reason, names in fields.items())


def _rows(reports: Sequence[TextReport]) -> list[tuple[str, ...]]:
    """Return the rows of the table, one for each text."""
    rows: list[tuple[str, ...]] = []
    for report in reports[:_MAX_ROWS]:
        article = report.article
        rows.append(
            (
                _cell(_name(report.article)),
                _cell(_state(report)),
                _cell(_changed(report)),
                str(count_statements(article.newest)),
                str(len(_remarks(report))),
                _cell(article.request.owner),
            )
        )
    return rows


def _name(article: Article) -> str:
    if article.request.id == "main":
        return article.page
    return f"{article.page} ({article.request.id})"


def _state(report: TextReport) -> str:
    state: str = report.article.state
    text = report.article.newest
    if text and text.written_by and not text.model:  # nobody is to become its author unnoticed
        state += f", as a {report.article.asked.noun} by {text.written_by}"
    if report.approved_by:
        return f"{state} by {report.approved_by}"
    if report.article.state == "approved" and report.article.has_newer_draft:
        return f"{state}, and a newer draft"
    return state


def _changed(report: TextReport) -> str:
    if report.problem:
        return ""
    if report.before is None:
        return "new"
    return counted(len(report.rows), "block") if report.rows else "nothing"


def _remarks(report: TextReport) -> list[str]:
    text = report.article.newest
    return sentences_of(text.remarks) if text and report.is_to_review else []


def _due(articles: Sequence[Article], room: int) -> str:
    items = []
    for article in articles[:_MAX_ROWS]:
        parts = [_cell(_name(article))]
        if article.due_since:
            parts.append(f"since {article.due_since}")
        if article.watched.changes:
            parts.append(_cell(article.watched.message))
        if article.request.owner:
            parts.append(f"ask {_cell(article.request.owner)}")
        items.append(", ".join(parts))
    return _list_of("Due for another review:", items, len(articles), room)


def _original_changed(articles: Sequence[Article], room: int) -> str:
    items = []
    for article in articles[:_MAX_ROWS]:
        blocks = counted(article.original_changes, "block")
        items.append(f"{_cell(_name(article))}: {blocks}")
    heading = "The original has changed; `contentgen update --all` translates that again:"
    return _list_of(heading, items, len(articles), room)


def _source_changes(changes: Sequence[SourceChange], room: int) -> str:
    """Return what the change does to texts through their sources, with the owners of these."""
    items = []
    for change in changes:
        items += _stale_items(change.article, change.made_stale)
        for source in change.repaired:
            name = _cell(change.article.source_path or _name(change.article))
            items.append(f"{name}: repaired by this change: {_cell(source.source)}")
    return _list_of(f"**{sources_line(changes)}**", items, len(items), room)


def _stale(articles: Sequence[Article], room: int) -> str:
    """Return what no longer holds of texts, with the owners of these."""
    items = []
    for article in articles:
        items += _stale_items(article, article.stale)
    heading = f"**The sources of {counted(len(articles), 'text')} have changed**"
    return _list_of(heading, items, len(items), room)


def _stale_items(article: Article, sources: Sequence[StaleSource]) -> list[str]:
    """Return an item for each source of a text that has changed."""
    owner = article.request.owner
    asked = f", ask {_cell(owner)}" if owner else ""
    name = _cell(article.source_path or _name(article))
    items = []
    for source in sources:
        message = escaped(shortened(source.message, _MAX_SENTENCE))
        lines = [f"{name}: {message}{asked}"]
        for line in source.lines():
            lines.append(f"    - {escaped(shortened(line, _MAX_SENTENCE))}")
        items.append("\n".join(lines))
    return items


def sources_line(changes: Sequence[SourceChange]) -> str:
    """Return in one line what a change does to texts through their sources."""
    wrong = 0
    pages: dict[str, None] = {}
    for change in changes:
        for source in change.made_stale:
            if source.level == "wrong":
                wrong += len(source.sentences)
                pages[change.article.source_path or change.article.page] = None
    if wrong:
        named = first_names(list(pages), 3)
        return (
            f"This change makes {counted(wrong, 'sentence')} in {_cell(named)} wrong, as it seems"
        )
    return "This change is about sources of texts"


def _list_of(heading: str, items: Sequence[str], number: int, room: int) -> str:
    """Return a list of the first items of a `number`, below a heading, in `room` characters.

    If the whole items do not fit, each has only its first line.
    """
    shown = _that_fit(items, room)
    if len(shown) < len(items):
        shown = _that_fit([item.partition("\n")[0] for item in items], room)
    lines = [heading, "", *(f"- {item}" for item in shown)]
    if number > len(shown):
        lines.append(f"- and {number - len(shown)} more")
    return "\n".join(lines)


def _section(report: TextReport, form: ReportForm, *, is_short: bool = False) -> str:
    """Return what is folded about a text, or an empty string if there is nothing.

    A short one has neither the changed words nor the evidence.
    """
    parts = []
    if report.problem:
        parts.append(escaped(shortened(report.problem, _MAX_SENTENCE)))
    if report.rows and not is_short:
        parts.append(_changes(report))
    if report.is_to_review:
        parts += _sentences(report, form, is_short=is_short)
    if _remarks(report):
        lines = [f"- {escaped(remark)}" for remark in _remarks(report)]
        parts.append("\n".join(["Not as requested:", "", *lines]))
    if not parts:
        return ""
    return folded(
        f"<b>{_cell(_name(report.article))}</b>: {_cell(_state(report))}", "\n\n".join(parts)
    )


def _changes(report: TextReport) -> str:
    lines = ["Changed:", ""]
    for row in report.rows[:_MAX_CHANGES]:
        parts = row.words_to_read()
        length = sum(len(text) for _, text in parts)
        shown = "a long block"
        if length <= _MAX_BLOCK:
            shown = changed_words(parts)
        lines.append(f"- {shown}")
    if len(report.rows) > _MAX_CHANGES:
        lines.append(f"- and {len(report.rows) - _MAX_CHANGES} more blocks")
    return "\n".join(lines)


def _sentences(report: TextReport, form: ReportForm, *, is_short: bool) -> list[str]:
    """Return the list of sentences to check and that of those to read, without empty ones."""
    to_check = []
    to_read = []
    for sentence in report.sentences:
        if sentence.has_statements:
            to_check.append(sentence)
        else:
            to_read.append(sentence)
    parts = []
    if to_check:
        lines = _sentence_lines(report.article, to_check, form, is_short=is_short)
        parts.append("\n".join(["To check:", "", *lines]))
    if to_read:
        lines = _sentence_lines(report.article, to_read, form, is_short=is_short)
        parts.append("\n".join(["To read beside the sources:", "", *lines]))
    return parts


def _sentence_lines(
    article: Article, sentences: Sequence[PlacedSentence], form: ReportForm, *, is_short: bool
) -> list[str]:
    """Return a line for each sentence, and below it the lines of its evidence."""
    texts = [sentence.text for sentence in sentences]
    ids = sentence_ids(article.page, article.request.id, texts)
    lines = []
    for sentence, sentence_id in zip(sentences, ids, strict=True):
        box = ""
        if form.has_boxes and sentence.has_statements:
            tick = "x" if sentence_id in form.ticked else " "
            box = f"[{tick}] <!-- contentgen:{sentence_id} --> "
        lines.append(f"- {box}{with_bold(shortened(sentence.text, _MAX_SENTENCE))}")
        if not is_short:
            lines += _evidence(sentence, form)
    return lines


def sentence_ids(page: str, name: str, sentences: Sequence[str]) -> list[str]:
    """Return what names each sentence of a text in a comment: other words have another id.

    Sentences that are the same are told apart by their order.
    """
    seen: Counter[str] = Counter()
    ids = []
    for sentence in sentences:
        seen[sentence] += 1
        ids.append(short_digest("\0".join([page, name, str(seen[sentence]), sentence])))
    return ids


_TICK = re.compile(r"^[ \t]*- \[[xX]\] <!-- contentgen:([0-9a-f]{16}) -->", re.MULTILINE)
"""A ticked box. No text of a report can look like this: its signs are character references."""


def ticked_ids(reports: Iterable[str]) -> frozenset[str]:
    """Return the ids of the sentences whose boxes people have ticked in reports."""
    ticked: set[str] = set()
    for report in reports:
        ticked.update(_TICK.findall(report))
    return frozenset(ticked)


def _evidence(sentence: PlacedSentence, form: ReportForm) -> list[str]:
    """Return the closest passages of the sources to a sentence, below it."""
    lines = [f"  - {_passage(passage, form)}" for passage in sentence.evidence]
    if sentence.has_sources and not lines:
        lines.append("  - no source says this")
    return lines


def _passage(passage: PlacedPassage, form: ReportForm) -> str:
    place = passage.file
    if passage.line is not None:
        place = f"{passage.file}:{passage.line}"
    address = form.link_to(passage.path, passage.line) if passage.path else ""
    if address:
        name = link(shortened(place, _MAX_CELL), address)
    else:
        name = _cell(place)
    said = escaped(shortened(" ".join(passage.text.split()), PASSAGE_LENGTH))
    return f"{name}, {_cell(passage.title)}: {said}"


def report_json(reports: Sequence[TextReport], top: Path | None) -> list[dict[str, object]]:
    """Return what a report says, as objects for scripts."""
    return [_text_to_json(report, top) for report in reports]


def _text_to_json(report: TextReport, top: Path | None) -> dict[str, object]:
    article = report.article
    sentences: list[dict[str, object]] = []
    if report.is_to_review:
        sentences = [_sentence_to_json(sentence, top) for sentence in report.sentences]
    return {
        "page": article.page,
        "id": article.request.id,
        "state": article.state,
        "reason": article.reason,
        "owner": article.request.owner or None,
        "is_new": report.before is None,
        "changes": [row.words_to_read() for row in report.rows],
        "statements": count_statements(article.newest),
        "sentences": sentences,
        "remarks": _remarks(report),
        "approved_by": report.approved_by or None,
        "has_doubtful_approval": report.has_doubtful_approval,
        "doubts": [{"line": doubt.line, "reason": str(doubt)} for doubt in report.doubts],
        "due_since": article.due_since.isoformat() if article.due_since else None,
        "watched": [{"file": name, "commits": number} for name, number in article.watched.changes],
        "translation_of": article.asked.original.name if article.asked.original else None,
        "original_changes": article.original_changes,
        "stale": [source.to_json() for source in article.stale],
    }


def _sentence_to_json(sentence: PlacedSentence, top: Path | None) -> dict[str, object]:
    evidence = []
    for passage in sentence.evidence:
        path = passage.path
        file = os.fspath(path) if path else passage.file
        if path and top and path.is_relative_to(top):
            file = path.relative_to(top).as_posix()
        evidence.append(
            {"file": file, "line": passage.line, "title": passage.title, "text": passage.text}
        )
    return {
        "text": sentence.text,
        "is_to_check": sentence.has_statements,
        "evidence": evidence,
    }
