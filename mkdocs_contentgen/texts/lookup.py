"""What is there already for the requests of a build, and what is left to ask the service for.

A build that finds all its texts needs no more than this.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from ..errors import Absence, ContentgenError, NoText, UnsafeHTMLError
from ..html.article import parse_article
from ..html.sanitizer import MAX_CHARACTERS, MAX_TAGS
from ..requests import Request
from .store import Store, StoredText

NEVER_GENERATED = "the text was never generated"


@dataclass(frozen=True)
class Outcome:
    """What became of one request.

    Without a text, `error` says why. With a text and an error, the text is an old one that could
    not be replaced.
    """

    source: Literal["approved", "cache", "service"] | None = None
    text: StoredText | None = None
    error: ContentgenError | NoText | None = None

    def __str__(self) -> str:
        source = {
            "approved": "from its approved file",
            "cache": "from the cache",
            "service": "from the service, just now",
            None: "no text",
        }[self.source]
        return f"{source} ({self.error})" if self.error else source


def look_up(
    requests: Mapping[str, Request], store: Store, *, max_age: timedelta | None = None
) -> tuple[dict[str, Outcome], list[str]]:
    """Return an outcome for each request, by key, from what is in the store; and its problems.

    An outcome with an error is one to ask the service for. The store is closed afterwards.
    """
    texts, unusable, problems = load_usable(requests, store)
    if max_age is not None:
        # Another machine may have asked anew for what is too old here.
        limit = datetime.now(UTC) - max_age
        if old := [key for key, text in texts.items() if text.generated_at <= limit]:
            newer, _, more = load_usable(old, store, since=limit)
            texts |= newer
            problems += more
    problems += store.close()
    return {
        key: _found(texts.get(key), unusable.get(key, NEVER_GENERATED), max_age) for key in requests
    }, problems


def load_usable(
    keys: Collection[str], store: Store, *, since: datetime | None = None
) -> tuple[dict[str, StoredText], dict[str, str], list[str]]:
    """Return the texts in the store that hold an article, why others do not, and its problems.

    With `since`, only texts that were generated after it.
    """
    texts, problems = store.load(keys, since=since)
    unusable = {
        key: f"the cached text cannot be used ({reason})"
        for key, text in texts.items()
        if (reason := _why_no_article(text.html))
    }
    problems += [f"{reason}; {key[:12]}… counts as missing" for key, reason in unusable.items()]
    return {key: texts[key] for key in texts if key not in unusable}, unusable, problems


def _why_no_article(html: str) -> str | None:
    """Say why a text cannot be shown, as far as that can be told in a hundredth of the time.

    What looks as articles do is parsed when its page is made; only the rest is parsed here as well.
    """
    inside = html.partition("<article")[2].partition("</article>")[0]
    if (
        html.count("<article") == html.count("</article>") == 1
        and _TEXT.search(inside)
        and len(html) <= MAX_CHARACTERS
        and html.count("<") <= MAX_TAGS
    ):
        return None
    try:
        parse_article(html)
    except UnsafeHTMLError as error:
        return str(error)
    return None


_TEXT = re.compile(r">\s*[^\s<]")


def _found(text: StoredText | None, missing: str, max_age: timedelta | None) -> Outcome:
    if text is None:
        return Outcome(error=NoText(Absence.MISSING, missing))
    age = datetime.now(UTC) - text.generated_at
    if max_age is not None and age > max_age:
        old = NoText(Absence.MISSING, f"the text is {_in_words(age)} old")
        return Outcome("cache", text, old)
    return Outcome("cache", text)


def _in_words(age: timedelta) -> str:
    return f"{age.days} days" if age.days > 1 else f"{age.total_seconds() / 3600:.0f} hours"
