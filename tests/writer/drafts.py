"""What the tests of the writer share: requests and drafts."""

from __future__ import annotations

from mkdocs_contentgen.requests import REQUEST_TYPES, Request
from mkdocs_contentgen.writer.answers.answers import read_answer
from mkdocs_contentgen.writer.answers.markdown import read_markdown
from mkdocs_contentgen.writer.answers.reading import mend_answer
from mkdocs_contentgen.writer.checks import Candidate
from mkdocs_contentgen.writer.models.completion import Completion

TOPIC = "How a cache works"


def request(kind: str = "article", topic: str = TOPIC, **fields: object) -> Request:
    """Return a request for a short text."""
    return REQUEST_TYPES[kind](topic=topic, **{"length": "short", **fields})  # type: ignore[arg-type]


def draft(answer: str, asked: Request | None = None, words: int | None = None) -> Candidate:
    """Return the draft in an answer, by default of the right length."""
    asked = asked or request()
    plain, found, _ = read_answer(answer)
    text, remarks = mend_answer(plain)
    document = read_markdown(text, title=asked.topic)
    target = document.words if words is None else words
    repaired = (*found, *remarks, *document.remarks)
    return Candidate(asked, Completion(answer), document, target, repaired)
