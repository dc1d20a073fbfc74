"""How often an alarm about changed sources is right, and how much it finds, on judged changes.

Usage: python tests/benchmarks/staleness.py FOLDER [PART]

FOLDER has a JSON file for each change of a section of a page, or of a symbol of code, in the
history of a real project. None is part of this project. A file has these fields:

- `file`: the path of the page or the program, whose ending tells what it is;
- `before` and `after`: the whole file at the two times;
- `section`: the anchor of the section, or the name of the symbol, that a text cites;
- `sentences`: objects with `text`, a sentence in Markdown that was written from the section as it
  was, and `wrong`, whether the change has made it wrong. That has to be judged before the program
  says anything;
- `pages`: the other pages of the site after the change, by their paths, if they are known;
- `part`: `seen` for changes that rules were made with, and `unseen` for the others.

With PART, only the changes with this part are counted, and each wrong alarm is listed, as is each
sentence that was not found. So look only at `seen` while you change a rule.

The sentences are the paragraphs of a text that cites the section. The text is approved before the
change.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import msgspec
from msgspec import structs

from mkdocs_contentgen.html.document import ReadText, document_of
from mkdocs_contentgen.stale import StaleSource
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.writer.answers.markdown import read_markdown, to_html
from mkdocs_contentgen.writer.sources.citations import citation_of, cite, sources_list
from mkdocs_contentgen.writer.sources.moved import find_moved_part, with_triples
from mkdocs_contentgen.writer.sources.sources import (
    Location,
    Passage,
    SourceFile,
    read_sources,
    split_passages,
)
from mkdocs_contentgen.writer.sources.staleness import (
    CitedPassage,
    find_stale,
    with_unsupported,
)

SITE = "https://docs.example/"


class Sentence(msgspec.Struct):
    """A sentence of a text, and whether the change has made it wrong."""

    text: str
    wrong: bool


class Change(msgspec.Struct):
    """A change of a section or a symbol, and the sentences of a text that cites it."""

    file: str
    section: str
    before: str
    after: str
    sentences: list[Sentence]
    pages: dict[str, str] = {}
    part: str = "unseen"

    @property
    def is_code(self) -> bool:
        """Whether the file is a program, and not a page."""
        return Path(self.file).suffix not in (".md", ".txt")


@dataclass(frozen=True)
class Judged:
    """A change with what was said of it."""

    name: str
    change: Change
    found: tuple[StaleSource, ...]
    seconds: float

    @property
    def matters(self) -> bool:
        """Whether a sentence is wrong now."""
        return any(sentence.wrong for sentence in self.change.sentences)

    @property
    def is_alarm(self) -> bool:
        """Whether the text may be wrong now, as was found."""
        return any(source.level == "wrong" for source in self.found)

    def is_named(self, sentence: Sentence) -> bool:
        """Tell whether a sentence is among those that may be wrong now."""
        said = _letters(sentence.text)
        return any(
            _letters(named.text) in said
            for source in self.found
            if source.level == "wrong"
            for named in source.sentences
        )


def main(folder: str, part: str = "") -> None:
    """Print the tables."""
    judged = []
    for path in sorted(Path(folder).glob("*.json")):
        change = msgspec.json.decode(path.read_bytes(), type=Change)
        if part in ("", change.part):
            judged.append(judge(path.stem, change))
    if not judged:
        sys.exit(f"{folder}: has no changes")
    if part:
        print_mistakes(judged)
    rows = counted(judged)
    for name, value in rows.items():
        print(f"{name:50} {value:>8}")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "staleness.json").write_text(json.dumps(rows, indent=2), encoding="utf-8")


def judge(name: str, change: Change) -> Judged:
    """Write the text, approve it, change its source, and see what is said of it."""
    before = passages_of(change, change.before)
    after = passages_of(change, change.after)
    cited = [passage for passage in before if _anchor(passage) == change.section]
    if not cited:
        sys.exit(f"{name}: there is no `{change.section}` before the change")
    text = write_text(change, cited)
    then = citation_of(cited[0], SITE)
    was = structs.replace(then, before=text.passages[then.name], now=_said(cited))
    shown = was.shown(SITE)
    read = ReadText(text, document_of(text.html))
    text = with_unsupported(read, [CitedPassage(was, shown, was.digest)]).text
    here = [passage for passage in after if _anchor(passage) == change.section]
    others = [passage for passage in after if _anchor(passage) != change.section]
    if here:
        now = was.as_found(here[0].title, _said(here), here[0].digest)
    else:
        now = was.as_gone(SITE)
    moved = None
    if not change.is_code:
        elsewhere: list[Passage] = []
        for page, content in change.pages.items():
            elsewhere += split_passages(content, page, f"{page}/")
        moved = find_moved_part(was.before, now.now, with_triples([*others, *elsewhere]))
    if moved:
        others.append(moved)
    other_sections = [f"{passage.title}\n{passage.text}" for passage in others]
    passage = CitedPassage(now, shown, was.digest, other_sections=partial(list, other_sections))
    started = process_time()
    found = find_stale(text, document_of(text.html), [passage])
    return Judged(name, change, found, process_time() - started)


def write_text(change: Change, cited: Sequence[Passage]) -> Text:
    """Return a text with the sentences of a change as paragraphs."""
    markdown = "\n\n".join(f"{sentence.text} [1]" for sentence in change.sentences)
    document = read_markdown(markdown, title="Notes")
    cite(document, cited[:1], SITE)
    html = to_html(
        document,
        "article",
        given=_said(cited),
        day=datetime.now(UTC).date(),
        names=True,
        after=sources_list(cited[:1], SITE),
    )
    name = citation_of(cited[0], SITE).name
    request: dict[str, object] = {"topic": "Notes"}
    return Text(
        html,
        datetime.now(UTC),
        request,
        sources={name: cited[0].digest},
        passages={name: _said(cited)[:2000]},
    )


def passages_of(change: Change, content: str) -> list[Passage]:
    """Return the passages of a version of a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, change.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        page = None if change.is_code else "page/"
        file = SourceFile(Location(path, Path(folder)), change.file, page)
        passages, left_out = read_sources([file])
    if left_out:
        sys.exit(f"{change.file}: is not read: {', '.join(left_out)}")
    return passages


def _anchor(passage: Passage) -> str:
    return (passage.place or passage.link).partition("#")[2]


def _said(passages: Sequence[Passage]) -> str:
    return "\n\n".join(passage.text for passage in passages)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def counted(judged: Sequence[Judged]) -> dict[str, str]:
    """Return the figures, by what they say."""
    alarms: Counter[tuple[bool, bool]] = Counter()
    sentences: Counter[tuple[bool, bool]] = Counter()
    for one in judged:
        alarms[one.matters, one.is_alarm] += 1
        for sentence in one.change.sentences:
            sentences[sentence.wrong, one.is_named(sentence)] += 1
    seconds = sum(one.seconds for one in judged)
    mattering = alarms[True, True] + alarms[True, False]
    return {
        "changes": f"{len(judged):,}",
        "of these, with a sentence that is wrong now": f"{mattering:,}",
        "alarms `may be wrong now` that matter": _share(alarms[True, True], alarms[False, True]),
        "changes that matter with this alarm": _share(alarms[True, True], alarms[True, False]),
        "sentences": f"{sentences.total():,}",
        "named sentences that are wrong": _share(sentences[True, True], sentences[False, True]),
        "wrong sentences that are named": _share(sentences[True, True], sentences[True, False]),
        "milliseconds for a text": f"{1000 * seconds / len(judged):.1f}",
    }


def _share(part: int, others: int) -> str:
    whole = part + others
    return f"{100 * part / whole:.0f} %" if whole else "-"


def print_mistakes(judged: Sequence[Judged]) -> None:
    """Print the sentences that were named without need, and those that were not found."""
    for one in judged:
        named = {
            _letters(sentence.text): sentence
            for source in one.found
            for sentence in source.sentences
        }
        for sentence in one.change.sentences:
            if one.is_named(sentence) != sentence.wrong:
                kind = "not found" if sentence.wrong else "false alarm"
                said = named.get(_letters(sentence.text))
                lost = ", ".join(said.lost) if said else ""
                print(f"{one.name} {kind}: {sentence.text}  {lost}")
    print()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
