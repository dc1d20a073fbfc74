"""What is there already, and what may be asked for."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from conftest import Project
from service_double import ServiceDouble

from mkdocs_contentgen.errors import NoText
from mkdocs_contentgen.requests import BlogRequest, Request
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.lookup import look_up
from mkdocs_contentgen.texts.store import DiskStore


def requests(*topics: str) -> dict[str, Request]:
    """Return blog requests about topics, by topic: any text may be a key here."""
    return {topic: BlogRequest(topic=topic) for topic in topics}


def test_look_up_says_what_to_ask_for(tmp_path: Path) -> None:
    """A text that is missing or older than `max_age` is to be asked for; others are not."""
    store = DiskStore(tmp_path)
    for topic, days in (("old", 40), ("new", 1), ("future", -400)):
        written = datetime.now(UTC) - timedelta(days=days)
        store.save({topic: Text("<article>Text</article>", written, {})})
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
    assert isinstance(outcomes["none"].error, NoText)


class WithAnotherMachine(DiskStore):
    """A cache that looks for newer texts in the one of another machine, too."""

    def load(
        self, keys: Collection[str], *, since: datetime | None = None
    ) -> tuple[dict[str, Text], list[str]]:
        """Return the texts of the other machine where newer ones are wanted."""
        if since is None:
            return super().load(keys)
        written = datetime.now(UTC) - timedelta(days=1)
        return {"a": Text("<article>Newer</article>", written, {})}, ["a note"]


def test_a_newer_text_replaces_the_older(tmp_path: Path) -> None:
    """What another machine wrote in the meantime costs no request."""
    store = WithAnotherMachine(tmp_path)
    written = datetime.now(UTC) - timedelta(days=40)
    store.save({topic: Text("<article>Old</article>", written, {}) for topic in "ab"})
    outcomes, problems = look_up(requests(*"ab"), store, max_age=timedelta(days=30))
    texts = {topic: outcome.text.html for topic, outcome in outcomes.items() if outcome.text}
    assert texts == {"a": "<article>Newer</article>", "b": "<article>Old</article>"}
    assert [topic for topic, outcome in outcomes.items() if outcome.error] == ["b"]
    assert problems == ["a note"]


def test_a_build_with_a_text_that_is_no_article(project: Project, service: ServiceDouble) -> None:
    """A warning says why it is not shown, and no other text is asked for."""
    project.page("page.md", {"type": "blog", "topic": "Tides"})
    request = BlogRequest(topic="Tides")
    key = request.key(sandbox=False)
    store = DiskStore(project.root / ".cache/plugin/contentgen")
    store.save({key: Text("<p>Sign in</p>", datetime.now(UTC), request.record())})
    store.close()
    built = project.build("--strict")
    assert built.returncode == 1
    assert "the article 'main' cannot be shown: expected one <article>, found none" in built.stdout
    assert service.topics == []
