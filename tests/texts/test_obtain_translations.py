"""Translations are asked for after their originals: real files, a real cache, and the sandbox."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from approved_texts import approve, save_approved
from remarks import said

from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest, Request, TranslationOf
from mkdocs_contentgen.service.client import ServiceClient
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.approved_dir import approved_path, read_all, read_approved
from mkdocs_contentgen.texts.approved_file import ApprovedText
from mkdocs_contentgen.texts.articles import Article
from mkdocs_contentgen.texts.obtain import Foreground, Obtained, obtain
from mkdocs_contentgen.texts.policy import Policy
from mkdocs_contentgen.texts.store import DiskStore
from mkdocs_contentgen.translation_request import translation_request

MADE = datetime(2026, 1, 2, tzinfo=UTC)
ORIGINAL = BlogRequest(topic="Faster builds", language="en")
HTML = (
    "<article><h1>Faster builds</h1><p>Run <code>make</code> in 5 minutes.</p>"
    "<p>It helps.</p></article>\n"
)
PAGE = "builds.md"
POLICY = Policy(sandbox=True, all_drafts=True)


def german(original: PageRequest) -> PageRequest:
    """Return the request of a page for a translation into German."""
    own = Request(type="", topic="-", language="de")
    request = translation_request(TranslationOf(PAGE, "main", own), original.request, "de")
    return PageRequest(request, "builds.de.md", "docs/builds.de.md:2", "de", original)


class Site:
    """A page, and another with its translation."""

    def __init__(self, root: Path) -> None:
        self.store = DiskStore(root / "cache")
        self.directory = root / "contentgen"
        self.original = PageRequest(ORIGINAL, PAGE, "docs/builds.md:2", "en")
        self.translation = german(self.original)
        self.connections = 0

    def connect(self) -> ServiceClient:
        """Return a client of the sandbox."""
        self.connections += 1
        return ServiceClient("sandbox")

    def approve(self, html: str, before: ApprovedText | None = None) -> None:
        """Approve a text of the original."""
        text = Text(html, MADE, ORIGINAL.record(), model="m")
        approved = approve(text, ORIGINAL.key(sandbox=True), "sandbox", "Jo")
        path = approved_path(self.directory, PAGE, "main")
        save_approved(path, self.directory, approved, before=before)

    def approve_another(self, html: str) -> None:
        """Approve another text in place of the approved one."""
        path = approved_path(self.directory, PAGE, "main")
        self.approve(html, read_approved(path, self.directory))

    def draft(self, html: str, edition: int = 1) -> None:
        """Keep a draft of the original in the cache."""
        self.store.prepare()
        text = Text(html, MADE, ORIGINAL.record(), edition=edition)
        self.store.save({ORIGINAL.key(sandbox=True): text})
        self.store.close()

    def obtain(self, policy: Policy = POLICY, *asked: PageRequest) -> Obtained:
        """Return what pages get, by default both."""
        requests = asked or (self.original, self.translation)
        files = read_all([self.original, self.translation], self.directory)
        source = Foreground(self.store, self.connect)
        return obtain(requests, self.store, policy, source, files=files)

    def translated(self, policy: Policy = POLICY) -> Article:
        """Return the translation, after what is missing was asked for."""
        obtained = self.obtain(policy)
        assert obtained.failures == []
        return obtained.articles[-1]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Return a site without a text."""
    return Site(tmp_path)


def test_both_are_missing(site: Site) -> None:
    """The original comes first, and its translation says that it is one of a draft."""
    obtained = site.obtain()

    original, translation = obtained.articles
    assert obtained.failures == []
    assert obtained.sent == 2
    assert site.connections == 2
    assert original.draft
    assert translation.draft
    assert ">[de] Faster builds</h1>" in translation.draft.html
    assert translation.draft.html.count("<p") == original.draft.html.count("<p")
    assert translation.draft.original
    assert translation.draft.original.is_draft
    assert any("draft" in remark for remark in said(translation))
    assert translation.text_language == "de"

    again = site.obtain()
    assert (again.sent, again.failures, site.connections) == (0, [], 2)


def test_the_original_is_on_a_page_of_another_build(site: Site) -> None:
    """It is asked for if it has no text, as in a build of the language that comes first."""
    source = Foreground(site.store, site.connect)
    requests = [site.translation]
    obtained = obtain(requests, site.store, POLICY, source, adds_originals=True)
    (translation,) = obtained.articles
    assert (obtained.sent, obtained.failures) == (2, [])
    assert translation.draft
    assert ">[de] Faster builds</h1>" in translation.draft.html
    again = obtain([site.original], site.store, POLICY, source)
    assert (again.sent, again.failures) == (0, [])


def test_the_approved_text_is_translated(site: Site) -> None:
    """Words, and nothing else, are not the approved original's, whatever newer draft there is."""
    site.approve(HTML)
    site.draft(HTML.replace("5 minutes", "9 minutes"), edition=2)

    translation = site.translated()

    assert translation.draft
    assert "[de] Run <code>make</code> in 5 minutes." in translation.draft.html
    assert translation.draft.original
    assert not translation.draft.original.is_draft
    assert said(translation.draft) == ()


def test_a_text_that_nobody_approved_waits_where_it_has_to_be(site: Site) -> None:
    """Where texts have to be approved, the translation waits, which is not a failure."""
    policy = replace(POLICY, translates_drafts=False)
    waiting = site.obtain(policy)

    assert waiting.failures == []
    assert waiting.articles[0].draft
    assert waiting.articles[1].draft is None
    assert "contentgen review builds.md" in waiting.articles[1].reason
    assert len(waiting.warnings) == 1
    assert site.connections == 1

    site.approve(HTML)
    assert site.translated(policy).draft


def test_the_original_is_not_asked_for_with_its_translation(site: Site) -> None:
    """Who asks for a translation alone pays for nothing else, and learns what comes first."""
    alone = site.obtain(POLICY, site.translation)

    assert site.connections == 0
    (failure,) = alone.failures
    assert failure.startswith("docs/builds.de.md:2: ")
    assert "contentgen generate builds.md" in failure

    site.draft(HTML)
    obtained = site.obtain(POLICY, site.translation)
    assert (obtained.failures, site.connections) == ([], 1)
    assert [article.page for article in obtained.articles] == ["builds.de.md"]


def test_both_count_for_the_budget(site: Site) -> None:
    """Nothing is sent if the original and its translation are more than is allowed."""
    obtained = site.obtain(replace(POLICY, max_requests=1))
    assert "2 requests" in obtained.failures[0]
    assert site.connections == 0


def test_an_original_that_fails(site: Site) -> None:
    """The translation of a text that could not be had is not asked for."""
    source = Foreground(site.store, lambda: ServiceClient("http://127.0.0.1:9", "u", "t"))
    requests = [site.original, site.translation]
    obtained = obtain(requests, site.store, POLICY, source, files=read_all([], site.directory))
    assert [article.draft for article in obtained.articles] == [None, None]
    assert len(obtained.failures) == 2

    lenient = replace(POLICY, on_error="placeholder")
    obtained = obtain(requests, site.store, lenient, source, files=read_all([], site.directory))
    assert obtained.failures == []
    assert len(obtained.warnings) == 2


def test_an_original_that_has_changed(site: Site) -> None:
    """Each block that is new or other than before counts; a draft of the original does not."""
    site.approve(HTML)
    assert site.translated().original_changes == 0

    site.draft("<article><h1>Other</h1></article>", edition=2)
    assert site.translated().original_changes == 0

    other = HTML.replace("5 minutes", "9 minutes").replace("</article>", "<p>New.</p></article>")
    site.approve_another(other)
    translation = site.translated()
    assert translation.original_changes == 2
    assert "2 blocks" in translation.reason
    assert "contentgen update builds.de.md" in translation.reason
    assert site.connections == 1

    path = approved_path(site.directory, PAGE, "main")
    path.write_text(path.read_text().replace("9 minutes", "7 minutes"))
    assert site.translated().original_changes == 0
    path.unlink()
    assert site.translated().original_changes == 0


def test_what_an_approval_takes_off_is_no_change(site: Site) -> None:
    """Marks of what is to be checked, and styles, are not part of what a draft says."""
    marked = HTML.replace("5 minutes", "<mark>5 minutes</mark>")
    site.draft(marked.replace("<p>It", "<p style='color: red'>It"))
    translation = site.translated()
    assert translation.draft
    assert "<mark>" not in translation.draft.html

    site.approve(HTML)
    assert site.translated().original_changes == 0


def test_another_request_of_the_original_is_another_translation(site: Site) -> None:
    """An approved translation is outdated when the original asks for another text."""
    site.approve(HTML)
    text = site.translated().draft
    assert text
    approved = approve(text, site.translated().key, "sandbox", "Jo")
    path = approved_path(site.directory, "builds.de.md", "main")
    save_approved(path, site.directory, approved)
    assert site.translated().state == "approved"

    asked = replace(site.original, request=BlogRequest(topic="Slower builds", language="en"))
    site.original, site.translation = asked, german(asked)
    article = site.obtain(replace(POLICY, on_missing="placeholder")).articles[-1]
    assert article.state == "outdated"
    assert "topic was 'Faster builds'" in article.reason
