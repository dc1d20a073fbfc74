"""How well the marks and the evidence find what no source says, on a public set with human labels.

Usage: python tests/benchmarks/marks.py FOLDER

FOLDER is a copy of one of these repositories, which are not part of this one:

- vectara/FaithBench: summaries with spans that people found unfaithful;
- ParticleMedia/RAGTruth: answers from sources, with spans (the test split is measured);
- ryokamoi/wice: claims with the sentences that support them, for the evidence.

Each text is read and marked as an answer of a model is, so what counts is the sign on the page.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from time import perf_counter

from mkdocs_contentgen.language.sentences import sentence_ranges
from mkdocs_contentgen.language.words import count_words, split_words
from mkdocs_contentgen.writer.answers.markdown import read_markdown, to_html
from mkdocs_contentgen.writer.sources.evidence import Evidence, EvidenceFinder
from mkdocs_contentgen.writer.sources.sources import Passage

Span = tuple[int, int]


@dataclass(frozen=True)
class Labelled:
    """A text, its source, and the parts that people found unfaithful."""

    text: str
    source: str
    unfaithful: list[Span]


def main(folder: str) -> None:
    """Print the table of a set."""
    path = Path(folder)
    if (path / "data/entailment_retrieval").is_dir():
        print_evidence(path)
        return
    readers: dict[str, Callable[[Path], Iterator[Labelled]]] = {
        "data_for_release": read_faithbench,
        "dataset": read_ragtruth,
    }
    for name, reader in readers.items():
        if (path / name).is_dir():
            print_marks(list(reader(path)))
            return
    sys.exit(f"{folder}: is no copy of FaithBench, RAGTruth or WiCE")


def read_faithbench(folder: Path) -> Iterator[Labelled]:
    """Yield the summaries; what is `Unwanted` in one annotation is unfaithful."""
    for path in sorted(folder.glob("data_for_release/*.json")):
        for sample in json.loads(path.read_text(encoding="utf-8"))["samples"]:
            unfaithful = [
                (annotation["summary_start"], annotation["summary_end"])
                for annotation in sample["annotations"]
                if any(label.startswith("Unwanted") for label in annotation["label"])
            ]
            yield Labelled(sample["summary"], sample["source"], unfaithful)


def read_ragtruth(folder: Path) -> Iterator[Labelled]:
    """Yield the answers of the test split."""
    sources: dict[str, str] = {}
    for line in (folder / "dataset/source_info.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        source = row["source_info"]
        sources[row["source_id"]] = source if isinstance(source, str) else json.dumps(source)
    for line in (folder / "dataset/response.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        if row["split"] == "test" and row["quality"] == "good":
            unfaithful = [(label["start"], label["end"]) for label in row["labels"]]
            yield Labelled(row["response"], sources[row["source_id"]], unfaithful)


class _Page(HTMLParser):
    """The letters and figures of a page without its title, and which of them have a sign."""

    def __init__(self) -> None:
        super().__init__()
        self.letters: list[str] = []
        self.marks: list[Span] = []
        self.to_read: list[Span] = []
        self._opened: list[tuple[str, int]] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._in_title = self._in_title or tag == "h1"
        if tag == "mark" or ("class", "to-read") in attributes:
            self._opened.append((tag, len(self.letters)))

    def handle_endtag(self, tag: str) -> None:
        self._in_title = self._in_title and tag != "h1"
        if self._opened and self._opened[-1][0] == tag:
            _, start = self._opened.pop()
            signs = self.marks if tag == "mark" else self.to_read
            signs.append((start, len(self.letters)))

    def handle_data(self, data: str) -> None:
        if not self._in_title:
            self.letters += filter(str.isalnum, data.casefold())


def find_signs(labelled: Labelled) -> tuple[list[Span], list[Span]]:
    """Return which parts of a text its page marks, and which sentences it shows as to be read."""
    document = read_markdown(labelled.text, title="Summary")
    given = f"Summary\n\n\n{labelled.source}"
    page = _Page()
    page.feed(to_html(document, "article", given=given, day=date(2026, 1, 1), names=True))
    letters = "".join(page.letters)
    places = [place for place, sign in enumerate(labelled.text) if sign.isalnum()]
    text = "".join(labelled.text[place] for place in places).casefold()

    def in_text(sign: Span) -> Iterator[Span]:
        # Markdown takes little out of a text, so what is looked for stands near its place.
        start = text.find(letters[slice(*sign)], max(0, sign[0] - 60))
        end = start + sign[1] - sign[0]
        if 0 <= start < end <= len(places):
            yield places[start], places[end - 1] + 1

    marks = [found for sign in page.marks for found in in_text(sign)]
    to_read = [found for sign in page.to_read for found in in_text(sign)]
    return marks, to_read


def print_marks(texts: list[Labelled]) -> None:
    """Print which texts are found, how many marks are right, and how many signs there are.

    A text counts as found if an unfaithful sentence of it has a sign: one elsewhere is luck.
    """
    counts: Counter[str] = Counter()
    sentences: Counter[tuple[bool, bool, bool]] = Counter()
    with_mark: Counter[tuple[bool, bool]] = Counter()
    with_sign: Counter[tuple[bool, bool]] = Counter()
    started = perf_counter()
    for labelled in texts:
        marks, to_read = find_signs(labelled)
        is_unfaithful = bool(labelled.unfaithful)
        with_mark[is_unfaithful, bool(marks)] += 1
        with_sign[is_unfaithful, bool(marks or to_read)] += 1
        wrong_sentences: list[Span] = []
        for sentence in _sentences(labelled.text):
            is_wrong = _meets(sentence, labelled.unfaithful)
            if is_wrong:
                wrong_sentences.append(sentence)
            sentences[is_wrong, _meets(sentence, marks), _meets(sentence, to_read)] += 1
        _count_signs(counts, labelled, wrong_sentences, marks, to_read)
    seconds = perf_counter() - started
    print_rows(
        {
            "texts": f"{len(texts):,}",
            **_rows_of_texts(counts, with_mark, with_sign),
            **_rows_of_sentences(sentences),
            **_rows_of_signs(counts),
            "milliseconds for 120 words": f"{120_000 * seconds / counts['words']:.1f}",
        }
    )


def _count_signs(
    counts: Counter[str],
    labelled: Labelled,
    wrong_sentences: list[Span],
    marks: list[Span],
    to_read: list[Span],
) -> None:
    """Count the signs of a text, and those that are on an unfaithful sentence."""
    words = count_words(split_words(labelled.text))
    counts["words"] += words
    counts["marks"] += len(marks)
    counts["right marks"] += sum(_meets(mark, wrong_sentences) for mark in marks)
    if labelled.unfaithful:
        counts["unfaithful texts"] += 1
        counts["found by marks"] += _has_sign(wrong_sentences, marks)
        counts["found by signs"] += _has_sign(wrong_sentences, [*marks, *to_read])
    else:
        counts["faithful words"] += words
        counts["marks in faithful texts"] += len(marks)
        counts["to read in faithful texts"] += len(to_read)


def _has_sign(sentences: list[Span], signs: list[Span]) -> bool:
    return any(_meets(sentence, signs) for sentence in sentences)


def _rows_of_texts(
    counts: Counter[str],
    with_mark: Counter[tuple[bool, bool]],
    with_sign: Counter[tuple[bool, bool]],
) -> dict[str, str]:
    unfaithful = counts["unfaithful texts"]
    all_flagged = Counter({(True, True): unfaithful})
    all_flagged[False, True] = with_mark.total() - unfaithful
    found_by_marks = _percent(counts["found by marks"], unfaithful)
    found_by_signs = _percent(counts["found by signs"], unfaithful)
    return {
        "found by a mark where it is wrong": f"{found_by_marks:.1f} %",
        "found by any sign where it is wrong": f"{found_by_signs:.1f} %",
        "F1 of texts, by marks": f"{_f1(with_mark):.1f}",
        "F1 of texts, by any sign": f"{_f1(with_sign):.1f}",
        "F1 if all texts are flagged": f"{_f1(all_flagged):.1f}",
        "balanced accuracy of texts, by marks": f"{_balanced_accuracy(with_mark):.1f}",
    }


def _rows_of_sentences(sentences: Counter[tuple[bool, bool, bool]]) -> dict[str, str]:
    wrong = Counter[tuple[bool, bool]]()
    marked = 0
    for (is_wrong, has_mark, is_to_read), number in sentences.items():
        if is_wrong:
            wrong[has_mark, is_to_read] += number
        if has_mark:
            marked += number
    found = wrong[True, True] + wrong[True, False]
    without = wrong[False, False]
    return {
        "marked sentences that are unfaithful": f"{_percent(found, marked):.0f} %",
        "unfaithful sentences that are marked": f"{_percent(found, wrong.total()):.0f} %",
        "unfaithful sentences without any sign": f"{_percent(without, wrong.total()):.0f} %",
    }


def _rows_of_signs(counts: Counter[str]) -> dict[str, str]:
    """Return how many signs there are. A mark is right if its sentence is unfaithful."""
    faithful = counts["faithful words"]
    in_faithful = _percent(counts["marks in faithful texts"], faithful)
    to_read = _percent(counts["to read in faithful texts"], faithful)
    return {
        "right marks of 100": f"{_percent(counts['right marks'], counts['marks']):.0f}",
        "marks in 100 words": f"{_percent(counts['marks'], counts['words']):.2f}",
        "marks in 100 words of faithful texts": f"{in_faithful:.2f}",
        "sentences to read in 100 of their words": f"{to_read:.2f}",
    }


def print_evidence(folder: Path) -> None:
    """Print how often a passage with a supporting sentence is the first, or among three."""
    first = among = total = 0
    for path in sorted(folder.glob("data/entailment_retrieval/claim/*.jsonl")):
        for line in path.open(encoding="utf-8"):
            row = json.loads(line)
            groups = row["supporting_sentences"]
            wanted = {row["evidence"][number] for group in groups for number in group}
            if row["label"] != "supported" or not wanted:
                continue
            section = Passage("", "", "\n\n".join(row["evidence"]))
            found = _find_evidence(section, row["claim"])
            hits = [any(sentence in it.passage.text for sentence in wanted) for it in found]
            total += 1
            first += hits[:1] == [True]
            among += any(hits)
    rows = {
        "supported claims": f"{total:,}",
        "a supporting passage is the first": f"{_percent(first, total):.0f} %",
        "a supporting passage is among three": f"{_percent(among, total):.0f} %",
    }
    print_rows(rows)


def print_rows(rows: dict[str, str]) -> None:
    """Print names and values in two columns."""
    for name, value in rows.items():
        print(f"{name:45} {value:>8}")


def _find_evidence(section: Passage, claim: str) -> list[Evidence]:
    return EvidenceFinder(lambda sentence: [section]).evidence_for(claim)


def _sentences(text: str) -> Iterator[Span]:
    for sentence in sentence_ranges(text):
        if sentence.of(text).strip():
            yield sentence.start, sentence.end


def _meets(part: Span, others: list[Span]) -> bool:
    return any(part[0] < end and start < part[1] for start, end in others)


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _f1(counts: Counter[tuple[bool, bool]]) -> float:
    right = counts[True, True]
    return _percent(2 * right, 2 * right + counts[True, False] + counts[False, True])


def _balanced_accuracy(counts: Counter[tuple[bool, bool]]) -> float:
    recall = _percent(counts[True, True], counts[True, True] + counts[True, False])
    specificity = _percent(counts[False, False], counts[False, False] + counts[False, True])
    return (recall + specificity) / 2


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
