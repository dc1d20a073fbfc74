"""Print lines, tables and JSON that are safe in terminals and in CI logs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import click

from ..display import escape_controls, quoted, without_commands

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from ..texts.articles import Article
    from ..texts.obtain import Obtained
    from ..writer.evaluation import Trial
    from ..writer.ledger.protocol import MonthlyUsage
    from ..writer.writing import FinishedText

STATE_COLOURS = {
    "approved": "green",
    "draft": "yellow",
    "changed": "magenta",
    "outdated": "magenta",
    "missing": "red",
    "failed": "red",
    "damaged": "red",
}

MAX_WIDTH = 1_000_000
"""Columns of a table that is not printed to a terminal: no line is ever folded."""

MAX_VALUE = 200
"""Characters of a cached value above which it is shortened."""


def print_line(line: str, *, err: bool = False) -> None:
    """Print a line, with control characters and CI commands escaped."""
    click.echo(escape_controls(line), err=err)


def debug_printer() -> Callable[[str], None] | None:
    """Return a function that prints a line to stderr, or None without `--verbose`."""
    is_verbose = click.get_current_context().find_root().obj
    return partial(print_line, err=True) if is_verbose else None


def print_warnings(problems: Sequence[str]) -> None:
    """Print warnings to stderr."""
    for problem in problems:
        print_line(f"Warning: {problem}", err=True)


def print_errors(errors: Sequence[str]) -> None:
    """Print errors to stderr, and exit with status 1 if there are any."""
    for error in errors:
        print_line(f"Error: {error}", err=True)
    if errors:
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
    from msgspec.structs import asdict

    approved = article.approved
    draft = article.draft if article.state in ("draft", "outdated") else None
    text = draft or (approved.text if approved else None)
    return {
        "page": article.page,
        "id": request.id,
        "type": request.type,
        "topic": request.topic,
        "state": article.state,
        "key": article.key,
        "reason": article.reason,
        "where": article.where,
        "model": article.model or None,
        "marked": article.marked,
        "remarks": article.remarks,
        "generated_at": text.generated_at.isoformat() if text else None,
        "approved_by": approved.approval.approved_by if approved else None,
        "newer_draft": bool(approved) and article.has_newer_draft,
        "edits": asdict(text.edits) if text and text.edits else None,
    }


def print_brief(article: Article) -> None:
    """Print what the author wants a text to say."""
    for line in article.request.brief.splitlines():
        print_line(f"brief: {line}")


def print_remarks(articles: Sequence[Article]) -> None:
    """Print what is not as requested in the drafts that pages show."""
    for article in articles:
        for remark in article.remarks:
            print_line(f"{article.place}: not as requested: {remark}")


def print_articles_table(articles: Sequence[Article]) -> None:
    """Print articles as a table, with one line for each if the output is no terminal.

    In a terminal, the columns behind the page become narrower to fit. Where that is not enough, the
    path of the page stands above its articles: no path is ever folded or shortened.
    """
    from rich.padding import Padding
    from rich.text import Text

    if not articles:
        print_line("No page requests an article.")
        return
    rows = [
        {
            "Page": Text(escape_controls(article.page)),
            "Id": Text(escape_controls(article.request.id)),
            "State": Text(article.state, style=STATE_COLOURS[article.state]),
            "Reason": Text(escape_controls(article.reason)),
            "Model": Text(escape_controls(article.model)),
            "Topic": Text(escape_controls(f"{article.request.type}: {article.request.topic}")),
        }
        for article in articles
    ]
    if all(article.request.id == "main" for article in articles):
        _drop_column("Id", rows)
    if not any(article.model for article in articles):
        _drop_column("Model", rows)
    room = _console().width
    if widths := _fit(rows, room):
        _print_rich(_table(rows, widths, has_header=True))
        return
    pages = [(page, list(group)) for page, group in groupby(rows, lambda row: row["Page"].plain)]
    _drop_column("Page", rows)
    widths = _fit(rows, room - 2) or {}
    for page, group in pages:
        click.echo(page)
        _print_rich(Padding(_table(group, widths, has_header=False), (0, 0, 0, 2)))


_LEAST_WIDTHS = {"Topic": 15, "Model": 12, "Reason": 24}
"""The columns of a table of articles that may become narrower, in this order."""


def _drop_column(heading: str, rows: Sequence[dict[str, Text]]) -> None:
    for row in rows:
        del row[heading]


def _fit(rows: Sequence[Mapping[str, Text]], room: int) -> dict[str, int] | None:
    """Return the widths of columns that fit into `room`, or None if there are none."""
    widths = {
        heading: max(len(heading), *(row[heading].cell_len for row in rows)) for heading in rows[0]
    }
    excess = sum(widths.values()) + 2 * (len(widths) - 1) - room
    for heading, least in _LEAST_WIDTHS.items():
        if heading in widths:
            saved = max(0, min(excess, widths[heading] - least))
            widths[heading] -= saved
            excess -= saved
    return widths if excess <= 0 else None


def _table(
    rows: Sequence[Mapping[str, Text]], widths: Mapping[str, int], *, has_header: bool = True
) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=has_header)
    for heading in rows[0]:
        table.add_column(
            heading,
            width=widths.get(heading),
            no_wrap=heading not in _FOLDED,
            overflow="fold" if heading in _FOLDED else "ellipsis",
            justify="right" if heading in _FIGURES else "left",
        )
    for row in rows:
        table.add_row(*row.values())
    return table


_FOLDED = ("Reason", "Text", "Words", "Checks", "Month", "User")
_FIGURES = ("Repairs", "To check", "Calls", "Tokens", "Cost", "Seconds", "Texts", "Failed")


def _console() -> Console:
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=MAX_WIDTH)


def _print_rich(*renderables: RenderableType) -> None:
    console = _console()
    with console.capture() as printed:
        for renderable in renderables:
            console.print(renderable)
    lines = [line.rstrip(" ") for line in printed.get().split("\n")]
    # A folded line may begin with any part of a cell. rich decides whether there are colours.
    click.echo(without_commands("\n".join(lines)), nl=False, color=True)


def print_failure(article: Article) -> None:
    """Print what was answered instead of a text, with control characters escaped."""
    from ..writer.usage import format_cost

    if (failure := article.failure) is None:
        return
    cost = "not known" if failure.cost is None else format_cost(failure.cost)
    print_line(f"model: {failure.model or 'not known'}; cost: {cost}")
    print_line(f"`contentgen generate {article.page}` asks (and pays) again. What was answered:")
    click.echo()
    for line in failure.answer.splitlines() or ["(nothing)"]:
        print_line(line)


def print_article(html: str) -> None:
    """Print an article as a page would show it, with statements to check highlighted."""
    from ..html.article import parse_article

    article = parse_article(html)
    for paragraph in article.iterfind(".//li/p"):
        paragraph.tag = "span"  # behind its bullet
    for items in article.iter("ol"):
        for number, item in enumerate(items, 1):
            item.tag, item.text = "div", f"{number}. {item.text or ''}"
    for row in article.iter("tr"):
        for cell in row[:-1]:
            cell.tail = " | "
    blocks = [block for block in article.iter() if block.tag in _BLOCK_PREFIXES]
    texts = [_block_text(block) for block in blocks]
    _print_rich(*(text for text in texts if text.plain.strip()))


def _block_text(block: Element) -> Text:
    from rich.text import Text

    text = Text(_BLOCK_PREFIXES[block.tag], style=_STYLES.get(block.tag, ""))
    if block.tag == "pre":
        text.append("\n".join(map(escape_controls, "".join(block.itertext()).splitlines())))
    else:
        text.append_text(_to_rich(block))
    text.append("\n")
    return text


_BLOCK_PREFIXES = {
    **dict.fromkeys("h1 h2 h3 h4 h5 h6 p blockquote pre div tr dt dd".split(), ""),
    **dict.fromkeys("article aside caption details figcaption figure footer section".split(), ""),
    "li": "• ",
}
_STYLES = {"h1": "bold underline", "h2": "bold", "h3": "bold", "h4": "bold"}
_NESTED = frozenset(_BLOCK_PREFIXES) | {"ul", "ol", "dl", "table", "header"}


def _to_rich(element: Element) -> Text:
    """Return the text of a block without that of blocks in it."""
    from rich.text import Text

    text = Text(_one_line(element.text))
    for child in element:
        if child.tag not in _NESTED:
            style = "black on yellow" if child.tag == "mark" else _INLINE_STYLES.get(child.tag, "")
            inner = _to_rich(child)
            inner.stylize(style)
            text.append_text(inner)
        text.append(_one_line(child.tail))
    return text


def _one_line(text: str | None) -> str:
    return escape_controls(re.sub(r"\s+", " ", text or ""))


_INLINE_STYLES = {"strong": "bold", "em": "italic", "code": "cyan"}


def print_trials(trials: Sequence[Trial]) -> None:
    """Print the figures of texts by a model as a table."""
    rows: list[dict[str, object]] = []
    for trial in trials:
        fields = trial.to_json()
        rows.append(
            {
                "Text": trial.name,
                "Words": f"{fields['words']} of {fields['target']}",
                "Outcome": trial.outcome,
                "Repairs": fields["repairs"],
                "To check": fields["marked"],
                "Calls": fields["calls"],
                "Tokens": fields["tokens"],
                "Cost": trial.cost,
                "Seconds": fields["seconds"],
            }
        )
    _print_figures(rows)


def _print_figures(rows: Iterable[Mapping[str, object]]) -> None:
    from rich.text import Text

    cells = [{name: Text(escape_controls(str(it))) for name, it in row.items()} for row in rows]
    _print_rich(_table(cells, {}))


def print_sources(written: FinishedText) -> None:
    """Print which sections of the sources the model got, and which of them it cited."""
    for section in written.sources:
        verb = "cited" if section in written.cited else "given"
        print_line(f"{verb}: {section.file}: {section.title}")
    if not written.sources:
        print_line("No section of the sources suits the topic, or writer.sources is not set")


def print_usage(rows: Sequence[MonthlyUsage]) -> None:
    """Print the usage of a served writer by month and user as a table."""
    from ..writer.usage import format_cost

    if not rows:
        print_line("No texts have been written", err=True)
        return
    cells = [
        {
            "Month": row.month,
            "User": row.user,
            "Texts": f"{row.texts:,}",
            "Failed": f"{row.failed:,}",
            "Calls": f"{row.usage.calls:,}",
            "Tokens": f"{row.usage.tokens:,}",
            "Cost": "unknown" if row.usage.cost is None else format_cost(row.usage.cost),
        }
        for row in rows
    ]
    _print_figures(cells)


def print_dry_run(obtained: Obtained, max_requests: int, estimate: str) -> None:
    """Print the requests that would be sent, and an estimate, which can be empty."""
    for article in obtained.articles:
        if article.key in obtained.wanted:
            print_line(f"{article.place}: {article.request.topic}")
    number = len(obtained.wanted)
    print_line(f"requests to be sent: {number}; max_requests allows {max_requests}")
    if estimate:
        print_line(estimate)
    print_failed(obtained)


def print_failed(obtained: Obtained) -> None:
    """Print how many texts failed before, and were not requested again."""
    failed = {a.key for a in obtained.articles if a.failure} - obtained.wanted.keys()
    if failed:
        print_line(
            f"texts that failed before: {len(failed)}, which were not requested again; "
            "`contentgen generate PAGE` asks (and pays) again"
        )


def print_obtained(obtained: Obtained) -> None:
    """Print warnings and counts; with `--verbose`, also the outcome of each article."""
    print_warnings(obtained.warnings)
    wanted = [article for article in obtained.articles if article.key in obtained.wanted]
    if debug := debug_printer():
        for article in obtained.articles:
            outcome = article.draft_outcome if article in wanted else article.outcome
            debug(f"{article.place}: {outcome}")
    if obtained.sent:
        failed = len({article.key for article in wanted if article.draft_outcome.error})
        print_line(f"texts generated: {obtained.sent - failed}; failed: {failed}")
    elif not obtained.failures:
        print_line("All texts are available; nothing was sent.")
    print_failed(obtained)


def print_cached_request(request: Mapping[str, object]) -> None:
    """Print the type and the topic of a cached text."""
    values = [request.get(name) for name in ("type", "topic")]
    shown = (it if isinstance(it, str) and len(it) <= MAX_VALUE else quoted(it) for it in values)
    print_line(": ".join(shown))
