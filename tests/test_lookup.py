"""What is there already, and what may be asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mkdocs_contentgen.errors import BudgetError, MissingError
from mkdocs_contentgen.lookup import check_budget, look_up
from mkdocs_contentgen.request import BlogRequest, Request
from mkdocs_contentgen.store import DiskStore, StoredText


def requests(*topics: str) -> dict[str, Request]:
    """Return blog requests about topics, by topic: any text may be a key here."""
    return {topic: BlogRequest(topic=topic) for topic in topics}


def test_look_up_says_what_to_ask_for(tmp_path: Path) -> None:
    """A text that is missing or older than `max_age` is to be asked for; others are not."""
    store = DiskStore(tmp_path)
    for topic, days in (("old", 40), ("new", 1), ("future", -400)):
        written = datetime.now(UTC) - timedelta(days=days)
        store.save({topic: StoredText("<article></article>", written, {})})
    asked = requests("old", "new", "future", "none")
    outcomes, problems = look_up(asked, store, max_age=timedelta(days=30))
    assert problems == []
    assert {topic: str(outcome.error) for topic, outcome in outcomes.items() if outcome.error} == {
        "old": "the text is 40 days old",
        "none": "the text was never generated",
    }
    assert outcomes["old"].text
    outcomes, _ = look_up(asked, store)
    assert [topic for topic, outcome in outcomes.items() if outcome.error] == ["none"]
    assert isinstance(outcomes["none"].error, MissingError)


def test_budget() -> None:
    """As many requests as allowed pass, one more does not."""
    check_budget(requests("a", "b"), 2)
    with pytest.raises(BudgetError, match="2 requests would be sent, and max_requests allows 1"):
        check_budget(requests("a", "b"), 1)
