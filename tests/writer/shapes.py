"""Answers as models give them, with what becomes of each: the files of `golden/writer/shapes`.

A file is a family of cases, for a text or, where its name begins with `update`, for an update:

    @@ NAME: INTENT; FIELD=VALUE …
    the answer, in which {text} stands for the ordinary text and {U+200B} for a character
    @@@ FIELD=VALUE …
    a further answer; the last one is given again as often as the model is asked
    @@@ -> what becomes of it, which UPDATE_GOLDEN=1 writes

INTENT is what a person expects: `the text`, which is what {text} alone becomes, `the change` of
block 2, `nothing` to change, `kept` or `refused`. FIELD is one of the request, `words` for the
length, `finish` for the reason of an answer, or what the result `has` or `lacks`. As a program, it
prints for each family how many cases are kept, repaired and refused:

    python tests/writer/shapes.py
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path

from msgspec import structs
from remarks import said

from mkdocs_contentgen.citation import Citation
from mkdocs_contentgen.errors import FailedTextError
from mkdocs_contentgen.requests import REQUEST_TYPES, Request
from mkdocs_contentgen.service.protocol import TextBlock, Update
from mkdocs_contentgen.writer.changes import find_changes
from mkdocs_contentgen.writer.models.completion import Completion, ModelCall
from mkdocs_contentgen.writer.models.settings import Words, WriterFields, WriterOptions
from mkdocs_contentgen.writer.writing import write

FOLDER = Path(__file__).parents[1] / "golden" / "writer" / "shapes"
TOPIC = "How a cache works"
OPTIONS = WriterOptions(WriterFields(model="m", words=Words(70, 140, 350)))

TEXT = (FOLDER / "text.md").read_text(encoding="utf-8")
CODE = (FOLDER / "code.md").read_text(encoding="utf-8")
HTML = (FOLDER / "text.html").read_text(encoding="utf-8")
BODY = TEXT.partition("\n\n")[2]
VALUES = {
    "text": TEXT.strip(),
    "code": CODE.strip(),
    "html": HTML.strip(),
    "body": BODY.strip(),
    "indented": "\n".join(f"    {line}".rstrip() for line in TEXT.strip().split("\n")),
    "json": json.dumps(TEXT.strip()),
    "json body": json.dumps(BODY.strip()),
    "json html": json.dumps(HTML.strip()),
    "half": TEXT[: TEXT.index(" Two kinds")].strip(),
    "rest": TEXT[TEXT.index("Two kinds") :].strip(),
}
"""What stands for names in braces."""

UPDATE = Update(
    [
        TextBlock(1, "h1", "How a cache works"),
        TextBlock(2, "p", "A cache keeps results for 10 minutes. [1]"),
        TextBlock(3, "h2", "Where it helps"),
        TextBlock(4, "p", "Pages that many people read are built once and kept."),
        TextBlock(5, "li", "pages that take long to build"),
        TextBlock(6, "li", "pages that seldom change"),
        TextBlock(7, "p", "We like caches.", is_persons=True, is_fixed=True),
        TextBlock(8, "td", "10 minutes"),
        TextBlock(9, "h2", "Sources", is_fixed=True),
    ],
    [
        Citation(
            "https://site.example/cache/",
            "Cache",
            now="A cache keeps results for 20 minutes.",
            before="A cache keeps results for 10 minutes.",
            has_changed=True,
        )
    ],
)


@dataclass(frozen=True)
class Case:
    """An answer, and what a person expects of it."""

    name: str
    intent: str
    fields: dict[str, str]
    answers: list[Completion]
    source: str
    """The case as the file has it, without what becomes of it."""


@dataclass
class Result:
    """What becomes of a case."""

    outcome: str
    """`kept`, `repaired` or `refused`."""

    calls: int
    lines: list[str]
    intent: str = "kept"
    """The most exact one that this fits."""

    def __str__(self) -> str:
        """Return the result as the file has it."""
        noun = "call" if self.calls == 1 else "calls"
        return "\n".join([f"@@@ -> {self.outcome}, {self.calls} {noun}", *self.lines])

    def is_as(self, case: Case) -> bool:
        """Tell whether this is what was expected."""
        text = str(self)
        if case.fields.get("has", "") not in text or case.fields.get("lacks", "\0") in text:
            return False
        return case.intent in (self.intent, "refused" if self.outcome == "refused" else "kept")


@dataclass
class Model:
    """Gives the answers of a case, and counts the calls."""

    answers: Sequence[Completion]
    asked: list[ModelCall] = field(default_factory=list)

    async def ask(self, call: ModelCall) -> Completion:
        """Return the next answer."""
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(call)
        reason = call.watch(answer.text) if call.watch else ""
        return structs.replace(answer, finish_reason=reason or answer.finish_reason)


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    parts = re.split(r"^@@ ", path.read_bytes().decode(), flags=re.MULTILINE)[1:]
    return [_read_case(part) for part in parts]


def _read_case(part: str) -> Case:
    source = part.partition("@@@ ->")[0]
    head, _, rest = source.partition("\n")
    name, _, details = head.partition(": ")
    intent, *fields = details.split("; ")
    first, *more = re.split(r"^@@@ ?(.*)\n", rest, flags=re.MULTILINE)
    own = dict(it.split("=", 1) for it in fields)
    answers = [Completion(_fill(first), own.pop("finish", "stop"))]
    for reason, text in zip(more[::2], more[1::2], strict=True):
        answers.append(Completion(_fill(text), reason.removeprefix("finish=") or "stop"))
    return Case(name, intent, own, answers, f"@@ {source}")


def _fill(text: str) -> str:
    text = re.sub(r"\{U\+([0-9A-F]+)\}", lambda it: chr(int(it[1], 16)), text)
    for name, value in VALUES.items():
        text = text.replace(f"{{{name}}}", value)
    return text.removesuffix("\n")


def run(case: Case, *, is_update: bool) -> Result:
    """Return what becomes of a case."""
    model = Model(case.answers)
    try:
        return (_update if is_update else _write)(case, model)
    except FailedTextError as error:
        return Result("refused", len(model.asked), [str(error)], "refused")


def _write(case: Case, model: Model) -> Result:
    fields = {name: it for name, it in case.fields.items() if name not in ("has", "lacks")}
    words = int(fields.pop("words", 70))
    options = WriterOptions(WriterFields(model="m", words=Words(words, 2 * words, 5 * words)))
    asked = _request(fields)
    written = asyncio.run(write(asked, options, model.ask, today=date(2026, 2, 3)))
    html = re.sub(r' style="[^"]*"', "", written.text.html)
    intent = "the text" if html in (_expected(TEXT), _expected(CODE)) else "kept"
    outcome = "repaired" if said(written.text) or len(model.asked) > 1 else "kept"
    lines = [f"! {remark}" for remark in said(written.text)]
    lines += ["the text"] if intent == "the text" else html.split("\n")
    return Result(outcome, len(model.asked), lines, intent)


def _request(fields: dict[str, str]) -> Request:
    kind = fields.pop("type", "article")
    return REQUEST_TYPES[kind](**{"topic": TOPIC, "length": "short", **fields})  # type: ignore[arg-type]


@cache
def _expected(text: str) -> str:
    written = asyncio.run(
        write(_request({}), OPTIONS, Model([Completion(text)]).ask, today=date(2026, 2, 3))
    )
    assert not said(written.text)
    return re.sub(r' style="[^"]*"', "", written.text.html)


def _update(case: Case, model: Model) -> Result:
    what = Update(UPDATE.blocks, UPDATE.sources, case.fields.get("note", ""))
    updated, _ = asyncio.run(find_changes(_request({}), what, OPTIONS, model.ask))
    lines = [f"! {remark}" for remark in said(updated)]
    for name, changes in (("", updated.changes), ("doubt: ", updated.doubts)):
        lines += [
            f"{name}{it.action} {it.block}: {it.html} ({it.reason})".replace(": (", " (")
            for it in changes
        ]
    lines += [f"nothing: {updated.reason}"] if updated.reason else []
    made = [(it.action, it.block, "20 minutes" in it.html) for it in updated.changes]
    intent = "nothing" if updated.reason else "kept"
    intent = "the change" if made == [("change", 2, True)] else intent
    outcome = "repaired" if said(updated) or len(model.asked) > 1 else "kept"
    return Result(outcome, len(model.asked), lines, intent)


def families() -> list[Path]:
    """Return the files with cases."""
    return sorted(FOLDER.glob("*.txt"))


def results(path: Path) -> list[tuple[Case, Result]]:
    """Return the cases of a file, and what becomes of each."""
    is_update = path.name.startswith("update")
    return [(case, run(case, is_update=is_update)) for case in read_cases(path)]


def main(show: Callable[[str], None] = print) -> None:
    """Print the table, and which cases do not become what is expected."""
    total: Counter[str] = Counter()
    show(f"{'family':<24}{'cases':>6}{'kept':>6}{'repaired':>10}{'refused':>9}{'calls':>7}")
    for path in families():
        found = results(path)
        counts = Counter({"cases": len(found), "calls": sum(it.calls for _, it in found)})
        counts.update(it.outcome for _, it in found)
        total += counts
        show(_row(path.stem, counts))
        for case, result in found:
            if not result.is_as(case):
                show(f"    {case.name}: {case.intent} was expected, and is {result.outcome}")
    show(_row("all", total))


def _row(name: str, counts: Counter[str]) -> str:
    return (
        f"{name:<24}{counts['cases']:>6}{counts['kept']:>6}{counts['repaired']:>10}"
        f"{counts['refused']:>9}{counts['calls']:>7}"
    )


if __name__ == "__main__":
    main()
