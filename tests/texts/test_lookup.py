"""What is there already, and what may be asked for."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import Project
from service_double import ServiceDouble

from mkdocs_contentgen.errors import NoText
from mkdocs_contentgen.html.sanitizer import MAX_TAGS
from mkdocs_contentgen.requests import BlogRequest, Request
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.lookup import load_usable, look_up
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


NO_ARTICLES = {
    "": "expected one <article>, found none",
    "  \n": "expected one <article>, found none",
    "Words without any markup": "expected one <article>, found none",
    "<html><body><h1>Sign in</h1></body></html>": "expected one <article>, found none",
    "<div>Text</article>": "expected one <article>, found none",
    "<article>One</article><article>Two</article>": "expected one <article>, found 2",
    "<article></article>": "the <article> has no text",
    "<article> <h1> </h1>\n<p></p></article>": "the <article> has no text",
    f"<article>{'<b>x</b>' * MAX_TAGS}</article>": "too complex",
    f"<article>{'<div>' * 200}Text</article><article>": "nested more than 100 deep",
}


@pytest.mark.parametrize("html", NO_ARTICLES, ids=lambda html: html[:30])
def test_a_text_that_is_no_article(tmp_path: Path, html: str) -> None:
    """What no page could show counts as missing, and the reason is said."""
    store = DiskStore(tmp_path)
    store.save({"a" * 64: Text(html, datetime.now(UTC), {})})
    outcomes, [problem] = look_up({"a" * 64: BlogRequest(topic="T")}, store)
    outcome = outcomes["a" * 64]
    assert outcome.text is None
    assert isinstance(outcome.error, NoText)
    assert "the cached text cannot be used (" in str(outcome.error)
    assert NO_ARTICLES[html] in str(outcome.error)
    assert problem == f"{outcome.error}; aaaaaaaaaaaa… counts as missing"


@pytest.mark.parametrize(
    "html",
    [
        "<article>Text</article>",
        '<article class="blog-post">\n<h1>\nTitle</h1></article>',
        "<ARTICLE><P>Text</P></ARTICLE>",
        "<p>Before</p><article><p>Text</article><p>After</p>",
        "<article>Outer<article>Inner</article></article>",
        "<article><p>Text never ends",
        f"<article>{'<b>x</b>' * (MAX_TAGS // 2 - 1)}</article>",
    ],
    ids=lambda html: html[:30],
)
def test_a_text_that_is_an_article(tmp_path: Path, html: str) -> None:
    """What a page can show counts, however it is written."""
    store = DiskStore(tmp_path)
    kept = {"a" * 64: Text(html, datetime.now(UTC), {})}
    store.save(kept)
    assert load_usable(kept, store) == (kept, {}, [])
    store.close()


@pytest.mark.parametrize("policy", ["generate", "placeholder"])
def test_a_build_with_a_text_that_is_no_article(
    project: Project, service: ServiceDouble, policy: str
) -> None:
    """It is asked for anew and replaced, or its page says why it is missing."""
    project.configure({"on_missing": policy})
    project.page("page.md", {"type": "blog", "topic": "Tides"})
    request = BlogRequest(topic="Tides")
    key = request.key(sandbox=False)
    store = DiskStore(project.root / ".cache/plugin/contentgen")
    store.save({key: Text("<p>Sign in</p>", datetime.now(UTC), request.record())})
    store.close()
    reason = "the cached text cannot be used (expected one <article>, found none)"
    status = project.run("mkdocs_contentgen", "status").stdout
    assert "missing" in status
    assert "the cached text cannot be used" in status
    built = project.build()
    assert built.returncode == 0, built.stdout
    assert f"{reason}; {key[:12]}… counts as missing" in built.stdout
    if policy == "placeholder":
        assert f"docs/page.md:2: {reason}, and on_missing is 'placeholder'" in built.stdout
        return
    assert service.topics == ["Tides"]
    again = project.build("--strict")
    assert again.returncode == 0, again.stdout
    assert "1 from the cache" in again.stdout
    assert service.topics == ["Tides"]
