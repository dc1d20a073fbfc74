"""How often the desk reads a text into a document."""

from __future__ import annotations

from collections.abc import Callable

from conftest import Project
from desk_site import make_site
from parses import counted_parses

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.desk.acts import Change, Desk, digest_of, ref_of
from mkdocs_contentgen.desk.describing import describe
from mkdocs_contentgen.html.document import document_of
from mkdocs_contentgen.texts.articles import Article


def test_changes(project: Project) -> None:
    """What was described is not read again, each change is read back once, and nothing after."""
    make_site(project.root)
    with open_site(str(project.root / "mkdocs.yml"), drafts=True) as site:
        desk = Desk(site, "Ann")
        (article,) = [found for found in desk.queue() if found.page == "report.md"]
        assert article.newest is not None
        digests = [block.digest for block in document_of(article.newest.html).blocks()]
        changes = []
        for block in (1, 3):
            changes.append(Change(action="confirm", block=block, digest=digests[block]))
        describe(desk, article, desk.on_page(article.page))
        with counted_parses() as parses:
            desk.change(article, digest_of(article), changes)
            article = desk.find(ref_of(article))
            describe(desk, article, desk.on_page(article.page))
    assert parses.count == len(changes)


def test_from_the_draft_to_the_approved_text(project: Project) -> None:
    """The draft is read when it is described, and then only what was written is read back."""
    make_site(project.root)
    counts = {}
    with open_site(str(project.root / "mkdocs.yml"), drafts=True) as site:
        desk = Desk(site, "Ann")

        def report() -> Article:
            (article,) = [found for found in desk.queue() if found.page == "report.md"]
            return desk.find(ref_of(article))

        def describe_report() -> dict[str, object]:
            article = report()
            return describe(desk, article, desk.on_page(article.page))

        def count(name: str, act: Callable[[], object]) -> None:
            with counted_parses() as parses:
                act()
            counts[name] = parses.count

        count("describe", describe_report)
        count("describe again", describe_report)
        count("approve", lambda: desk.approve(report(), digest_of(report()), "I know it"))
        assert report().state == "approved"
        count("describe the approved text", describe_report)
    assert counts == {
        "describe": 1,
        "describe again": 0,
        "approve": 1,
        "describe the approved text": 0,
    }
