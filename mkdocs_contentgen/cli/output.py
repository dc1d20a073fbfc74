"""Print what commands print: the table of `status`, remarks, next steps and JSON.

All of it is safe in terminals and in CI logs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ..display import counted, escape_controls, paths_from_here, without_commands
from ..remark_words import sentence_of, sentences_of

if TYPE_CHECKING:
    from ..site.progress import LineReporter
    from ..text import Text
    from ..texts.articles import Article
    from ..texts.obtain import Obtained
    from ..writer.evaluation import Trial

_COLOURS = {"approved": "green", "draft": "yellow", "proposed": "yellow"}
"""The colours of states; all others are red."""

NO_REQUEST = "No page asks for a text"

VERBOSE = "mkdocs_contentgen.verbose"
"""The key in the metadata of click's context that says whether details are printed."""

_NARROW = 70
"""Columns of a terminal in which there is no room for models and topics."""

_TRIAL_FIGURES = (
    "text",
    "words",
    "target",
    "outcome",
    "repairs",
    "marked",
    "calls",
    "tokens",
    "cost",
    "seconds",
)
"""The columns of the table of trials."""


def print_line(line: str, *, err: bool = False, bold: bool = False) -> None:
    """Print a message on one line, with paths that are relative to the current directory."""
    print_text_line(paths_from_here(line), err=err, bold=bold)


def print_text_line(line: str, *, err: bool = False, bold: bool = False) -> None:
    """Print a line of a text, with control characters and CI commands escaped."""
    click.secho(escape_controls(line), err=err, bold=bold or None)


def make_reporter(*, always_lines: bool = False) -> LineReporter:
    """Return what prints the lines of a run to stderr, with details for `--verbose`."""
    from ..site.progress import LineReporter

    log = partial(print_line, err=True)
    return LineReporter(log, debug_printer(), always_lines=always_lines)


def debug_printer() -> Callable[[str], None] | None:
    """Return a function that prints a line to stderr, or None without `--verbose`."""
    is_verbose = click.get_current_context().meta.get(VERBOSE, False)
    return partial(print_line, err=True) if is_verbose else None


def print_warnings(problems: Sequence[str]) -> None:
    """Print warnings to stderr."""
    for problem in problems:
        print_line(f"Warning: {problem}", err=True)


def print_errors(errors: Sequence[str], *, then: Sequence[str] = ()) -> None:
    """Print errors to stderr, and exit with status 1 if there are any.

    The lines of `then` follow them.
    """
    for error in errors:
        print_line(f"Error: {error}", err=True)
    if errors:
        for line in then:
            print_line(line, err=True)
        raise SystemExit(1)


def print_json(value: object) -> None:
    """Print a value as JSON."""
    import msgspec

    # Azure Pipelines looks for `##vso[` within a line too.
    lines = msgspec.json.format(json.dumps(value), indent=2)
    click.echo(re.sub("#(?=#)", r"\\u0023", lines))


def article_to_json(article: Article) -> dict[str, object]:
    """Return an article with its state and review as an object for scripts."""
    request = article.request
    approval = article.approval
    text = article.approved.text if article.approved else None
    if article.draft and article.state in ("draft", "outdated"):
        text = article.draft
    return {
        **fields_in_status(text),
        "page": article.page,
        "id": request.id,
        "type": request.type,
        "topic": request.topic,
        "state": article.state,
        "key": article.key,
        "reason": article.reason,
        "where": article.where,
        "model": article.model or None,
        "marked": article.statement_count,
        "marked_sentences": article.sentence_count,
        "to_read": article.to_read_count,
        "remarks": sentences_of(article.remarks),
        "generated_at": text.generated_at.isoformat() if text else None,
        "approved_by": approval.approved_by if approval else None,
        "newer_draft": article.approved is not None and article.has_newer_draft,
        "owner": request.owner or None,
        "language": article.text_language or None,
        "translation_of": article.asked.original.name if article.asked.original else None,
        "original_changes": article.original_changes,
        "stale": [source.to_json() for source in article.stale],
        "due_since": article.due_since.isoformat() if article.due_since else None,
        "watched": [{"file": name, "commits": number} for name, number in article.watched.changes],
    }


def fields_in_status(text: Text | None) -> dict[str, object]:
    """Return the fields of a text that scripts can read, each None where it has its default."""
    import msgspec

    from ..text import STATUS_FIELDS

    shown: dict[str, object] = dict.fromkeys(STATUS_FIELDS)
    given = msgspec.to_builtins(text) if text else {}  # without those that have their defaults
    for name in STATUS_FIELDS:
        if name in given:
            value = getattr(text, name)
            is_record = isinstance(value, msgspec.Struct)
            shown[name] = msgspec.structs.asdict(value) if is_record else value
    return shown


def print_brief(article: Article) -> None:
    """Print what the author wants a text to say."""
    for line in article.request.brief.splitlines():
        print_line(f"brief: {line}")


def print_remarks(article: Article, *, most: int | None = None) -> None:
    """Print what is not as requested in the draft that a page shows, at `most` so many remarks."""
    for remark in article.remarks[:most]:
        print_line(f"{article.place}: not as requested: {sentence_of(remark)}")
    if most and len(article.remarks) > most:
        others = counted(len(article.remarks) - most, "more remark")
        command = f"contentgen show {article.page_argument}"
        print_line(f"{article.place}: {others}, which `{command}` prints")


def print_next(command: str, *, why: str = "Next") -> None:
    """Print a command that comes next to stderr, with the configuration of this one."""
    config_file = click.get_current_context().params.get("config_file")
    here = ""
    if config_file:
        here = f" -f {shlex.quote(config_file)}"
    print_line(f"{why}: {command}{here}", err=True)


def print_git_add(directory: Path) -> bool:
    """Print the command that adds a folder to git, and tell whether it is in a repository."""
    from ..git import top_level

    is_in_repository = top_level(directory) is not None
    if is_in_repository:
        print_line(f"Next: git add {shlex.quote(os.path.relpath(directory))}", err=True)
    return is_in_repository


def print_next_steps(articles: Sequence[Article]) -> None:
    """Print the commands for what articles still need."""
    drafts = 0
    behind = 0
    waiting = 0
    states: Counter[str] = Counter()
    """The states of the texts without a newer draft."""

    for article in articles:
        if article.has_newer_draft:
            drafts += 1
        elif article.is_waiting:
            waiting += 1
        else:
            states[article.state] += 1
        if article.original_changes:
            behind += 1
    missing = states["missing"] + states["outdated"]
    _print_step(drafts, "draft", "contentgen review")
    _print_step(states["proposed"], "proposed text", "contentgen review")
    _print_step(states["changed"], "edited text", "contentgen review")
    _print_step(missing, "missing text", "contentgen generate")
    _print_step(
        waiting,
        "translation waits for the approval of its original",
        "contentgen review",
        nouns="translations wait for the approval of their originals",
    )
    _print_step(states["failed"], "failed text", "contentgen show PAGE")
    _print_step(
        behind,
        "translation of a text that has changed",
        "contentgen update --all",
        nouns="translations of texts that have changed",
    )


def _print_step(number: int, noun: str, command: str, *, nouns: str = "") -> None:
    """Print the command for a number of texts, if there are any."""
    if number:
        print_next(command, why=counted(number, noun, nouns))


def still_missing(articles: Sequence[Article], errors: Sequence[str]) -> list[str]:
    """Return a line with the number of texts that are missing, if no error says it."""
    missing = {article.key for article in articles if article.outcome.text is None}
    if len(missing) == 1 and len(errors) == 1:
        return []
    if not missing:
        return []
    return [f"{counted(len(missing), 'text is', 'texts are')} still missing"]


def print_articles_table(articles: Sequence[Article]) -> None:
    """Print articles as a table, with one line for each if the output is not a terminal."""
    if not articles:
        print_line(f"{NO_REQUEST}.")
        return
    hidden = set()
    if all(article.request.id == "main" for article in articles):
        hidden.add("id")
    if not any(article.model for article in articles):
        hidden.add("model")
    if _is_narrow():
        hidden |= {"model", "topic"}
    rows = []
    for article in articles:
        cells = {
            "page": article.page,
            "id": article.request.id,
            "state": article.state,
            "reason": article.reason,
            "model": article.model,
            "topic": _topic(article),
        }
        for name in hidden:
            del cells[name]
        rows.append(cells)
    print_table(rows)


def print_stale(articles: Sequence[Article]) -> None:
    """Print what no longer holds in texts, with the sentences to look at."""
    if not articles:
        print_line("The cited sections of all texts say what they said.")
    for article in articles:
        name = article.source_path or article.page
        for source in article.stale:
            print_line(f"{name}: {source.message}")
            for line in source.lines():
                print_line(f"  {line}")


def _topic(article: Article) -> str:
    """Return what a text is about, and for a translation into which language."""
    topic = f"{article.request.type}: {article.request.topic}"
    if article.asked.original:
        return f"{topic} → {article.request.language}"
    return topic


def print_table(rows: Sequence[Mapping[str, object]], currency: str = "") -> None:
    """Print rows as a table, with the names of their fields as headings.

    If the output is not a terminal, a tab stands between the cells of a line.
    """
    headings = [name.replace("_", " ").capitalize() for name in rows[0]]
    cells: list[list[str]] = []
    for row in rows:
        texts = [_cell(name, value, currency) for name, value in row.items()]
        cells.append([escape_controls(text) for text in texts])
    if sys.stdout.isatty():
        _print_aligned(rows[0], headings, cells)
        return
    for row_of_cells in (headings, *cells):
        line = "\t".join(cell.replace("\t", " ") for cell in row_of_cells)
        click.echo(without_commands(line))


def _print_aligned(
    first: Mapping[str, object], headings: Sequence[str], cells: Sequence[Sequence[str]]
) -> None:
    """Print the cells of a table in columns.

    The values of the `first` row say by their types and names what kinds of columns these are.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(box=None, pad_edge=False)
    for heading, (name, value) in zip(headings, first.items(), strict=True):
        justify: Literal["left", "right"] = "right" if isinstance(value, int | float) else "left"
        table.add_column(heading, overflow="fold", justify=justify)
        if name in ("model", "topic"):  # of which the beginning is enough
            column = table.columns[-1]
            column.no_wrap = True
            column.overflow = "ellipsis"
            column.max_width = console.width // 5
    state = None
    if "state" in first:
        state = list(first).index("state")
    for row in cells:
        texts = [Text(cell) for cell in row]
        if state is not None:
            texts[state].stylize(_COLOURS.get(row[state], "red"))
        table.add_row(*texts)
    with console.capture() as printed:
        console.print(table)
    lines = []
    for line in printed.get().split("\n"):
        lines.append(line.rstrip(" "))
    # A folded line may begin with any part of a cell.
    click.echo(without_commands("\n".join(lines)), nl=False)


def _cell(name: str, value: object, currency: str) -> str:
    if name == "cost":
        from ..writer.models.usage import format_cost

        if not isinstance(value, float):
            return "not known"
        return format_cost(value, currency)
    if isinstance(value, int):
        return f"{value:,}"
    return paths_from_here(str(value))


def _is_narrow() -> bool:
    from rich.console import Console

    return sys.stdout.isatty() and Console().width < _NARROW


def print_failure(article: Article, currency: str = "") -> None:
    """Print what was answered instead of a text, with control characters escaped."""
    failure = article.failure
    if failure is None:
        return
    cost = _cell("cost", failure.cost, currency)
    print_line(f"model: {failure.model or 'not known'}; cost: {cost}")
    command = "update" if article.failed_update else "generate"
    print_line(f"`contentgen {command} {article.page}` asks (and pays) again. What was answered:")
    click.echo()
    for line in failure.answer.splitlines() or ["(nothing)"]:
        print_text_line(line)


def print_article(html: str) -> None:
    """Print an article as Markdown, with `==statements to check==`. Raises UnsafeHTMLError."""
    from ..html.document import Document
    from ..html.plain_markdown import to_readable_markdown

    for line in to_readable_markdown(Document(html).to_lines()).splitlines():
        print_text_line(line.rstrip(), bold=line.startswith("#"))


def print_trials(trials: Sequence[Trial], currency: str = "") -> None:
    """Print the figures of texts by a model as a table."""
    named = [{"text": trial.name, **trial.to_json()} for trial in trials]
    print_table([{name: row[name] for name in _TRIAL_FIGURES} for row in named], currency)


def print_dry_run(obtained: Obtained, max_requests: int, estimate: str) -> None:
    """Print the requests that would be sent, and an estimate, which can be empty."""
    for article in obtained.articles:
        if article.key in obtained.wanted:
            print_line(f"{article.place}: {article.request.topic}")
        elif article.is_waiting:
            print_line(f"{article.place}: {article.reason}")
    number = len(obtained.wanted)
    print_line(f"requests to be sent: {number}; max_requests allows {max_requests}")
    if estimate:
        print_line(estimate)
    print_failed(obtained)


def print_failed(obtained: Obtained) -> None:
    """Print how many texts failed before, and were not requested again."""
    failed = {article.key for article in obtained.articles if article.failure}
    failed -= obtained.wanted.keys()
    if failed:
        texts = counted(
            len(failed), "text has failed before, and was", "texts have failed before, and were"
        )
        print_line(f"{texts} not requested again; `contentgen generate PAGE` asks (and pays) again")


def print_obtained(obtained: Obtained, *, has_warnings: bool) -> None:
    """Print warnings and counts; with `--verbose`, also the outcome of each article.

    With `has_warnings`, warnings about the pages were printed before: one may be about a request
    that was not found. The last line then refers to them.
    """
    print_warnings(obtained.warnings)
    debug = debug_printer()
    if debug:
        for article in obtained.articles:
            is_wanted = article.key in obtained.wanted
            outcome = article.draft_outcome if is_wanted else article.outcome
            debug(f"{article.place}: {outcome}")
    if obtained.sent:
        _print_counts(obtained)
    elif not obtained.failures:
        end = "; see the warnings above" if has_warnings else "."
        print_line(f"{_why_nothing_was_sent(obtained)}{end}")
    print_failed(obtained)


def _print_counts(obtained: Obtained) -> None:
    """Print how many texts of a run were generated, have failed, and were not requested."""
    stopped = set()
    failed = set()
    for article in obtained.articles:
        if article.key not in obtained.wanted:
            continue
        if article.draft_outcome.stopped_by:
            stopped.add(article.key)
        elif article.draft_outcome.error:  # also a translation whose original has failed
            failed.add(article.key)
    generated = len(obtained.wanted) - len(failed) - len(stopped)
    counts = f"texts generated: {generated}; failed: {len(failed)}"
    if stopped:
        counts += f"; not requested: {len(stopped)}"
    print_line(counts)


def _why_nothing_was_sent(obtained: Obtained) -> str:
    """Return that no text was missing, or how many are, without a full stop."""
    missing = {article.key for article in obtained.articles if article.outcome.text is None}
    number = len({article.key for article in obtained.articles})
    if not number:
        return NO_REQUEST
    if missing:
        texts = counted(len(missing), "text is", "texts are")
        return f"No request was sent; {texts} still missing"
    texts = "The text is" if number == 1 else f"All {number} texts are"
    return f"{texts} there; no request was needed"
