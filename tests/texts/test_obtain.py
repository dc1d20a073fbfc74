"""From what pages ask for to texts: real files, a real cache, and the sandbox."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from approved_texts import approve, save_approved

from mkdocs_contentgen.errors import FailedTextError
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest, Request
from mkdocs_contentgen.service.client import ServiceClient
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.approved_dir import approved_path, read_all
from mkdocs_contentgen.texts.lookup import Outcome, save_failure
from mkdocs_contentgen.texts.obtain import Foreground, Obtained, obtain
from mkdocs_contentgen.texts.policy import Policy
from mkdocs_contentgen.texts.store import DiskStore

ARTICLE = "<article><h1>Old</h1><p>Text.</p></article>\n"
OLD = datetime(2026, 1, 2, tzinfo=UTC)
A, B, C = (BlogRequest(topic=topic) for topic in ("Alpha", "Beta", "Gamma"))
POLICY = Policy(sandbox=True)


def connect() -> ServiceClient:
    """Return a client of the sandbox."""
    return ServiceClient("sandbox")


def connect_to_nobody() -> ServiceClient:
    """Return a client of a service that is down."""
    return ServiceClient("http://127.0.0.1:9", "u", "t")


@dataclass(frozen=True)
class Noting(Foreground):
    """A source that notes the topics that it is asked for."""

    asked: list[list[str]] = field(default_factory=list)

    def get(
        self,
        wanted: Mapping[str, PageRequest],
        cached_keys: Collection[str],
        *,
        refresh: bool = False,
    ) -> tuple[dict[str, Outcome], list[str]]:
        """Note the topics, and generate the texts."""
        self.asked.append([asked.request.topic for asked in wanted.values()])
        return super().get(wanted, cached_keys, refresh=refresh)


class Site:
    """Pages that ask for something, with a cache and approved files."""

    def __init__(self, root: Path) -> None:
        self.store = DiskStore(root / "cache")
        self.directory = root / "contentgen"
        self.asked: list[list[str]] = []

    def cache(self, request: Request) -> None:
        """Keep an old text for a request."""
        self.store.prepare()
        text = Text(ARTICLE, OLD, request.record())
        self.store.save({request.key(sandbox=True): text})
        self.store.close()

    def approve(self, page: str, request: Request) -> Path:
        """Approve a text for a request of a page; return its file."""
        path = approved_path(self.directory, page, request.id)
        text = Text(ARTICLE, OLD, request.record())
        save_approved(
            path,
            self.directory,
            approve(text, request.key(sandbox=True), "sandbox", "Jo"),
        )
        return path

    def obtain(self, pages: Mapping[str, Request], policy: Policy = POLICY) -> Obtained:
        """Return what the pages get."""
        entries = [PageRequest(it, page, f"docs/{page}:2") for page, it in pages.items()]
        files = read_all(entries, self.directory)
        is_up = policy.max_age is None
        source = Noting(self.store, connect if is_up else connect_to_nobody)
        obtained = obtain(entries, self.store, policy, source, files=files)
        self.asked += source.asked
        return obtained


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Return a site without a text."""
    return Site(tmp_path)


def test_each_source(site: Site) -> None:
    """What is approved or cached is not asked for, and equal requests are one."""
    site.approve("a.md", A)
    site.cache(B)
    obtained = site.obtain({"a.md": A, "b.md": B, "c.md": C, "d.md": C})
    sources = [article.outcome.origin for article in obtained.articles]
    assert sources == ["approved", "cache", "service", "service"]
    assert site.asked == [["Gamma"]]
    assert (obtained.sent, obtained.failures, obtained.warnings) == (1, [], [])
    assert [article.state for article in obtained.articles] == ["approved", *["draft"] * 3]
    again = site.obtain({"c.md": C})
    assert again.articles[0].outcome.origin == "cache"
    assert len(site.asked) == 1


def test_more_than_is_allowed(site: Site) -> None:
    """As many requests as allowed pass; with one more, nothing is sent."""
    pages = {"a.md": A, "b.md": B}
    refused = site.obtain(pages, Policy(sandbox=True, max_requests=1))
    assert refused.failures[0].startswith("2 requests would be sent, and max_requests allows 1;")
    assert (site.asked, refused.sent) == ([], 0)
    assert site.obtain(pages, Policy(sandbox=True, max_requests=2)).failures == []


def test_a_text_that_failed(site: Site) -> None:
    """Only a person who names its page or asks for new texts pays for it again."""
    error = FailedTextError("looped", "a a a", model="m")
    save_failure(site.store, A.key(sandbox=True), A, error)
    site.store.close()
    today = datetime.now(UTC).date()
    message = (
        f"docs/a.md:2: looped (on {today}); `contentgen show a.md` prints what was answered, and "
        "`contentgen generate a.md` asks (and pays) again"
    )
    for policy in (POLICY, Policy(sandbox=True, on_missing="fail")):
        refused = site.obtain({"a.md": A}, policy)
        assert (refused.failures, refused.wanted) == ([message], {})
    for policy in (
        Policy(sandbox=True, on_error="placeholder", on_missing="fail"),
        Policy(sandbox=True, warn_only=True),
    ):
        shown = site.obtain({"a.md": A}, policy)
        assert (shown.failures, shown.warnings) == ([], [message])
    article = shown.articles[0]
    assert (article.state, article.reason, article.model) == ("failed", f"looped (on {today})", "m")
    assert site.asked == []
    changed = msgspec.structs.replace(A, revision=2)
    assert site.obtain({"a.md": changed}).failures == []
    assert site.obtain({"a.md": A}, Policy(sandbox=True, retry_failed=True)).failures == []
    assert site.asked == [["Alpha"], ["Alpha"]]
    assert site.obtain({"a.md": A}).articles[0].state == "draft"


def test_an_old_text_whose_refresh_failed(site: Site) -> None:
    """It stays, with a warning, and nobody is asked again."""
    site.cache(A)
    save_failure(site.store, A.key(sandbox=True), A, FailedTextError("looped"))
    site.store.close()
    obtained = site.obtain({"a.md": A}, Policy(sandbox=True, max_age=timedelta(days=1)))
    assert (site.asked, obtained.failures) == ([], [])
    (warning,) = obtained.warnings
    assert warning.startswith("docs/a.md:2: looped (on ")
    assert warning.endswith("; the old text stays")
    assert obtained.articles[0].state == "draft"


def test_a_required_approval(site: Site) -> None:
    """With an approval missing, nothing is sent, and what to do about each text is said."""
    site.cache(B)
    obtained = site.obtain({"a.md": A, "b.md": B}, Policy(sandbox=True, require_approval=True))
    assert site.asked == []
    assert "`contentgen generate a.md`" in obtained.failures[0]
    assert "`contentgen review b.md`" in obtained.failures[1]


def test_a_wrong_request(site: Site) -> None:
    """A request that is refused sends nothing, and hides no text whose request has changed."""
    site.approve("a.md", A)
    pages = [PageRequest(B, "a.md", "docs/a.md:2"), PageRequest(C, "c.md", "docs/c.md:2")]

    def check(page_request: PageRequest) -> list[str]:
        return ["no such source"] if page_request.page == "c.md" else []

    source = Noting(site.store, connect)
    files = read_all(pages, site.directory)
    obtained = obtain(pages, site.store, POLICY, source, files=files, check=check)
    assert source.asked == []
    assert obtained.failures == ["no such source"]
    assert "docs/a.md:2: outdated" in obtained.warnings[0]


def test_a_damaged_file(site: Site) -> None:
    """With a damaged approved file, nothing is sent; a lenient policy goes on with the rest."""
    site.approve("a.md", A).write_text("no header")
    refused = site.obtain({"a.md": A, "b.md": B})
    assert site.asked == []
    assert "main.html:1: " in refused.failures[0]
    lenient = site.obtain({"a.md": A, "b.md": B}, Policy(sandbox=True, warn_only=True))
    assert lenient.failures == []
    assert site.asked == [["Beta"]]
    assert [article.outcome.text is None for article in lenient.articles] == [True, False]


def test_a_refresh(site: Site) -> None:
    """A refresh asks for all, and leaves the approved text where it is."""
    site.approve("a.md", A)
    site.cache(A)
    site.cache(B)
    obtained = site.obtain({"a.md": A, "b.md": B}, Policy(sandbox=True, refresh=True))
    assert site.asked == [["Alpha", "Beta"]]
    approved, other = obtained.articles
    assert approved.outcome.origin == "approved"
    assert approved.draft
    assert approved.draft.generated_at > OLD
    assert other.outcome.origin == "service"


def test_the_page_in_a_command_is_quoted(site: Site) -> None:
    """A name of a page is no command for a shell into which somebody copies a message."""
    site.cache(B)
    page = "a $(touch x).md"
    [message] = site.obtain({page: B}, Policy(sandbox=True, require_approval=True)).failures
    assert message.endswith("`contentgen review 'a $(touch x).md'`")
