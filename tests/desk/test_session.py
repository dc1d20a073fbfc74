"""What the desk notices, undoes and keeps, and what it leaves on the machine."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import product
from pathlib import Path

import click
import pytest
import yaml
from commands import like_a_process, run_here
from conftest import Project, wait_until
from desk_site import BLOG, HTML, NEWS, WHEN, front_matter, make_site, save
from growth import LINEAR, growth
from model_double import Call, ModelDouble, ModelHandler, streamed, written
from msgspec import structs
from test_app import PAGES, TOKEN, Reviewer, assert_restored, cached, reviewer

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.cli.desk import _redirect, listen_for_desk, listen_for_pages
from mkdocs_contentgen.cli.output import article_to_json
from mkdocs_contentgen.desk.acts import (
    Change,
    Desk,
    FileEditedError,
    OutdatedError,
    digest_of,
    ref_of,
)
from mkdocs_contentgen.desk.app import DeskApp
from mkdocs_contentgen.desk.builder import PREFIX, Builder, private_folder
from mkdocs_contentgen.desk.describing import describe
from mkdocs_contentgen.desk.session import DeskSite
from mkdocs_contentgen.files import locked
from mkdocs_contentgen.remark import Remark, quotation_remarks
from mkdocs_contentgen.remark_words import sentences_of
from mkdocs_contentgen.review.approving import decide_approval, text_to_approve
from mkdocs_contentgen.site.progress import LineReporter
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.approved_writer import write_file
from mkdocs_contentgen.texts.store import DiskStore, Kept

__all__ = ["reviewer"]  # the fixture


def run(reviewer: Reviewer, *arguments: str) -> str:
    """Run `contentgen` beside the desk, and return what it printed."""
    ran = run_here(reviewer.root, {"HOME": str(reviewer.root)}, "mkdocs_contentgen", *arguments)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def at_desk(root: Path, texts: DeskSite) -> Reviewer:
    """Open another desk."""
    found = Reviewer(root, DeskApp(texts, Builder([], LineReporter(print)), (8767, 8768), TOKEN))
    found.log_in()
    return found


# --- What is approved is what was seen -----------------------------------------------------------


def test_a_command_and_an_editor_are_noticed(reviewer: Reviewer) -> None:
    """What was approved or edited beside the desk is what it answers next, in page and panel."""
    assert reviewer.text("post.md")["state"] == "draft"
    run(reviewer, "approve", "post.md", "--by", "Ann")
    text = reviewer.text("post.md")
    assert text["state"] == "approved"
    assert "reviewed by Ann" in text["in_page"]["article"]  # type: ignore[index]
    path = reviewer.root / "contentgen/post.md/main.html"
    path.write_text(path.read_text().replace("First.", "By hand."))
    edited = reviewer.text("post.md")
    assert edited["state"] == "changed"
    assert "By hand." in edited["in_page"]["article"]  # type: ignore[index]
    assert edited["version"] != text["version"]
    same = reviewer.call("text", ref=edited["ref"], version=edited["version"])
    assert same.json() == {"version": edited["version"]}


def test_approve_waits_for_the_page(reviewer: Reviewer) -> None:
    """It says why: an edited page, a broken build or configuration, another text in the page."""
    builder, texts = reviewer.app._builder, reviewer.app._site
    texts.build = lambda stamp, is_urgent: None
    page = reviewer.root / "docs/post.md"
    page.write_text(page.read_text() + "\nMore.\n")
    refused = reviewer.act("approve", "post.md")
    assert refused.status_code == 409
    assert "its pages have changed" in refused.text
    builder.problem = "a theme is missing"
    assert "a theme is missing" in reviewer.act("approve", "post.md").text
    builder.stamp = texts.stamp
    config = (reviewer.root / "mkdocs.yml").read_text()
    (reviewer.root / "mkdocs.yml").write_text(config + "nonsense: [\n")
    assert "cannot be loaded" in str(reviewer.text("post.md")["waits"])
    assert reviewer.act("approve", "post.md").status_code == 409
    (reviewer.root / "mkdocs.yml").write_text(config)
    text = reviewer.text("post.md")
    builder.stamp = texts.stamp
    body = {"ref": text["ref"], "seen": text["seen"], "shown": "another text"}
    refused = reviewer.call("approve", **body)
    assert refused.status_code == 409
    assert "does not show this text yet" in refused.text
    assert not (reviewer.root / "contentgen").exists()
    assert reviewer.act("approve", "post.md").status_code == 200


def test_what_is_wrong_with_a_request_is_said(reviewer: Reviewer) -> None:
    """Page and line of the first one, and what to do."""
    page = reviewer.root / "docs/post.md"
    page.write_text("---\ncontentgen: {translation_of: gone.md, language: de}\n---\n")
    (reviewer.root / "docs/report.md").write_text("---\ncontentgen: {type: x}\n---\n")
    problem = str(reviewer.call("queue").json()["problem"])
    assert problem.startswith("the site cannot be loaded (docs/")
    assert problem.count(".md:2: ") == 1


def test_a_file_with_the_time_of_another_is_noticed(reviewer: Reviewer) -> None:
    """`mv` and `touch -r` give a file an earlier time."""
    text = reviewer.text("post.md")
    path = reviewer.root / "docs/post.md"
    times = path.stat()
    path.write_text(path.read_text().replace("Ten habits", "New habits"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_size == times.st_size
    assert reviewer.text("post.md")["state"] == "missing"
    refused = reviewer.call("approve", ref=text["ref"], seen=text["seen"])
    assert refused.status_code == 409
    assert "does not show" in refused.text


def test_what_the_configuration_inherits_is_noticed(reviewer: Reviewer) -> None:
    """As the configuration itself is."""
    inherited, config = (reviewer.root / name for name in ("base.yml", "mkdocs.yml"))
    config.rename(inherited)
    config.write_text("INHERIT: 'base.yml' # of all sites\n")
    assert reviewer.text("post.md")["waits"] == ""
    inherited.write_text("nonsense: [\n")
    assert "cannot be loaded" in str(reviewer.text("post.md")["waits"])


def test_the_article_is_in_the_page_at_once(reviewer: Reviewer) -> None:
    """Each change comes with the page's new article, whose elements have the numbers of blocks."""
    text = reviewer.change("edit", 4, markdown="Needs *nothing*")
    assert isinstance(text, dict)
    article = text["in_page"]["article"]
    assert '<li data-contentgen-block="4">Needs <em>nothing</em></li>' in article
    assert text["in_page"]["title"].startswith("<h1")
    numbers = re.findall(r'block="(\d+)"', text["in_page"]["title"] + article)
    assert list(map(int, numbers)) == [it["number"] for it in text["blocks"]]


def described(text: dict[str, object]) -> list[str]:
    """Return the remarks on a text in words."""
    remarks = text["remarks"]
    assert isinstance(remarks, list)
    return [remark["words"] for remark in remarks]


def test_remarks_are_made_anew(reviewer: Reviewer) -> None:
    """Those on the form of a text follow each change; those on its sources stay."""
    key = NEWS.key(sandbox=False)
    remarks = (
        Remark("length", values={"words": 20, "target": 400}),
        *quotation_remarks(["Jane Smith"]),
    )
    save(reviewer.root, {key: Text(HTML, WHEN, NEWS.record(), "m", remarks=remarks)})
    words = re.findall("[A-Za-z]{2,}", (Path(__file__).parents[2] / "README.md").read_text())
    reviewer.change("insert", 6, kind="p", markdown=f"{' '.join(words[:370])}.")
    assert described(reviewer.text()) == ["quotation: this quotation is in no source: Jane Smith"]
    reviewer.act("undo")
    assert described(reviewer.text()) == sentences_of(remarks)
    text = reviewer.change("delete", 6)
    assert isinstance(text, dict)
    assert described(text) == [*sentences_of(remarks[1:]), "length: 24 words for about 400"]


def test_marks_of_anybody_are_statements(reviewer: Reviewer) -> None:
    """Those of a service and of a person are checked and go on approval, in loose text, too."""
    html = "<article><h1>T</h1>Loose <mark>one</mark> text.<p>A <MARK>two</MARK> and.</p></article>"
    save(reviewer.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record())})
    text = reviewer.text()
    assert text["marked"] == text["left"] == 2
    assert [it["text"] for it in text["statements"]] == ["one", "two"]  # type: ignore[attr-defined]
    assert reviewer.act("approve").status_code == 422
    reviewer.change("edit", 2, markdown="A ==three== and ==four==.")
    cards = reviewer.text()["statements"]
    assert isinstance(cards, list)
    assert cards[1]["statements"] == [0, 1]
    parts = [["A ", None], ["three", 0], [" and ", None], ["four", 1], [".", None]]
    assert cards[1]["parts"] == parts
    assert reviewer.act("approve", reason="read").status_code == 200
    assert "<mark" not in (reviewer.root / "contentgen/report.md/main.html").read_text()


def test_status_and_desk_count_the_same(reviewer: Reviewer) -> None:
    """Also marks within marks and across blocks, and those of a draft beside an approved text."""
    nested = "<p>It <mark>took <mark>42</mark> days</mark>.</p><mark><p>A.</p><p>B.</p></mark>"
    weak = '<p>At <mark class="same-words">5 pm</mark>, <mark> </mark>too.</p>'
    html = f"<article><h1>T</h1>{weak}{nested}</article>"
    key = NEWS.key(sandbox=False)
    save(reviewer.root, {key: Text(html, WHEN, NEWS.record())})
    text = reviewer.text()
    assert text["marked"] == text["left"] == 4
    assert text["reason"] == "not reviewed, 4 statements to check"
    cards = text["statements"]
    assert isinstance(cards, list)
    assert [card["text"] for card in cards] == ["took 42 days", "A.", "B.", "5 pm"]
    assert [card["is_weak"] for card in cards] == [False, False, False, True]
    assert reviewer.act("approve", reason="read").status_code == 200
    assert reviewer.text()["marked"] == reviewer.text()["left"] == 0
    newer = Text(html.replace("42", "43"), WHEN, NEWS.record(), edition=2)
    save(reviewer.root, {key: newer})
    text = reviewer.text()
    assert text["state"] == "approved"
    assert text["marked"] == text["left"] == 4


def test_compare_shows_all_that_differs(reviewer: Reviewer) -> None:
    """Addresses, titles and loose text; and what a page does not show is listed."""
    before = (
        '<article><h1>T</h1><p>See <a href="https://good.example/x">it</a> in '
        '<abbr title="one">A</abbr>.</p><ul>Loose one.<li>Item</li></ul></article>'
    )
    after = (
        before.replace("good", "evil").replace('"one"', '"two\u200b"').replace("Loose one", "L 2")
    )
    key = NEWS.key(sandbox=False)
    save(reviewer.root, {key: Text(before, WHEN, NEWS.record(), "m")})
    reviewer.act("approve")
    later = WHEN.replace(day=25)
    save(reviewer.root, {key: Text(after, later, NEWS.record(), "m")})
    text = reviewer.text()
    found = reviewer.call("compare", ref=text["ref"]).json()
    assert found["earlier"] == "approved"
    said = json.dumps(found["rows"])
    for word in ("good.example", "evil.example", "two", "L ", "Loose"):
        assert word in said
    assert "it → https://evil.example/x" in text["hidden"]  # type: ignore[operator]
    assert any(str(it).startswith("A: two") for it in text["hidden"])  # type: ignore[attr-defined]


def test_what_a_page_does_not_show_is_listed(reviewer: Reviewer) -> None:
    """Alternatives and addresses of pictures, and invisible characters; the rest is counted."""
    config = yaml.safe_load((reviewer.root / "mkdocs.yml").read_text())
    options = {"styles": "keep", "image_hosts": ["a.example"]}
    config["plugins"][0]["contentgen"].update(options)
    (reviewer.root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    html = (
        "<article><h1>T</h1><p>a\u200bb\u200b\u3164\ufe01</p><div style='background-color: #fff'>"
        "<p style='color: white'>Secret</p></div>"
        "<p><img src='https://a.example/b.png' alt='c\u200bd'> <time datetime='2020'>now</time></p>"
        "</article>"
    )
    save(reviewer.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    text = reviewer.text()
    assert text["hidden"] == [
        "img → https://a.example/b.png",
        "img: c\u200bd",
        "now: 2020",
        "3 U+200B ZERO WIDTH SPACE",
        "1 U+3164 HANGUL FILLER",
        "1 U+FE01 VARIATION SELECTOR-2",
    ]
    assert 'style="color: #000">Secret' in text["in_page"]["article"]  # type: ignore[index]
    links = "".join(f"<p><a href='https://a.example/{it}'>b</a></p>" for it in range(207))
    later = WHEN.replace(day=25)
    html = f"<article><h1>T</h1>{links}</article>"
    save(reviewer.root, {NEWS.key(sandbox=False): Text(html, later, NEWS.record(), "m")})
    hidden = reviewer.text()["hidden"]
    assert isinstance(hidden, list)
    assert hidden[199:] == ["b → https://a.example/199", "… 7"]


def ref_of_report(desk: Desk) -> str:
    """Return the reference of the text of report.md."""
    return next(ref for ref, it in desk.articles.items() if it.page == "report.md")


def add(desk: Desk, ref: str, words: str) -> None:
    """Add a paragraph to the text that a desk has read last."""
    article = desk.find(ref)
    assert article.newest is not None
    block = desk.read(article.newest.html).blocks()[0]
    change = Change(action="insert", block=0, digest=block.digest, markdown=words)
    desk.change(article, digest_of(article), [change])


def test_two_desks_change_a_text(project: Project) -> None:
    """In eight rounds, no word is lost: who is late is told so, and sees the other's text first."""
    make_site(project.root)
    with like_a_process(project.root, project.environment), open_site(None, drafts=True) as site:
        desks = [Desk(site, name) for name in ("Ann", "Bob")]
        ref = ref_of_report(desks[0])
        for number in range(8):
            first, second = desks if number % 2 else desks[::-1]
            for desk in desks:
                desk.refresh()
                desk.find(ref)
            add(first, ref, f"Word {number} of {first.by}.")
            with pytest.raises(OutdatedError):
                add(second, ref, f"Word {number} of {second.by}.")
            add(second, ref, f"Word {number} of {second.by}.")
        desks[0].refresh()
        html = str(desks[0].find(ref).newest)
    for number, name in product(range(8), ("Ann", "Bob")):
        assert f"<p>Word {number} of {name}.</p>" in html


@pytest.mark.parametrize("is_approved_first", [True, False])
def test_a_change_while_the_terminal_approves(project: Project, is_approved_first: bool) -> None:
    """What was changed after the terminal had read the text is a newer draft."""
    make_site(project.root)
    with like_a_process(project.root, project.environment), open_site(None, drafts=True) as site:
        desk = Desk(site, "Ann")
        ref = ref_of_report(desk)
        add(desk, ref, "One.")
        read = desk.find(ref)

        def approve() -> None:
            chosen = text_to_approve(read, site.options, lambda article: True)
            decided = decide_approval(chosen, "Tom", site.options, cited=(), reason="Seen.")
            write_file(decided.file, None)

        if is_approved_first:
            approve()
        add(desk, ref, "Two.")
        if not is_approved_first:
            approve()
        desk.refresh()
        now = desk.find(ref)
        assert now.has_newer_draft
        assert "Two." in str(now.newest)


def test_undo_on_one_of_two_pages_with_the_same_request(project: Project) -> None:
    """Their files are the same, and yet each gets back what it had itself."""
    make_site(project.root)
    project.write("docs/second.md", front_matter(BLOG.record()))
    with like_a_process(project.root, project.environment), open_site(None, drafts=True) as site:
        desk = Desk(site, "Ann")
        articles = {article.page: article for article in desk.queue()}
        files = {page: articles[page].own_path for page in ("post.md", "second.md")}

        def do(act: str, page: str) -> None:
            desk.refresh()
            article = desk.find(ref_of(articles[page]))
            getattr(desk, act)(article, digest_of(article))

        do("approve", "post.md")
        first = files["post.md"].read_text()
        draft = articles["post.md"].draft
        assert draft is not None
        newer = structs.replace(draft, html=draft.html.replace("First", "Newer"), edition=2)
        save(project.root, {articles["post.md"].key: newer})
        do("approve", "post.md")
        do("approve", "second.md")
        assert files["post.md"].read_text() == files["second.md"].read_text()
        do("undo", "post.md")
        assert files["post.md"].read_text() == first
        assert files["second.md"].exists()


@pytest.mark.parametrize("command", [("propose",), ("approve", "--by", "Tom")])
def test_a_file_that_a_command_has_overwritten_comes_back(
    reviewer: Reviewer, command: tuple[str, ...]
) -> None:
    """What somebody had written there is in the file again, although nobody has committed it."""
    run(reviewer, "propose", "post.md")
    path = reviewer.root / "contentgen/post.md/main.html"
    path.write_text(path.read_text().replace("First.", "By hand."))
    before = path.read_text()
    html = '<article class="blog-post"><h1>Ten habits</h1><p>Newer.</p></article>'
    save(
        reviewer.root,
        {BLOG.key(sandbox=False): Text(html, WHEN, BLOG.record(), "m", edition=2)},
    )
    run(reviewer, *command, "post.md", "--yes")
    assert "Newer." in path.read_text()
    undo = reviewer.text("post.md")["undo"]
    assert undo["deletes_file"] is False  # type: ignore[index]
    assert reviewer.act("undo", "post.md").status_code == 200
    assert path.read_text() == before


def test_an_approval_does_not_overwrite_another_order(project: Project) -> None:
    """Somebody has moved a paragraph in the file, and the draft has it where it was."""
    make_site(project.root)
    with like_a_process(project.root, project.environment), open_site(None, drafts=True) as site:
        desk = Desk(site, "Ann")
        [post] = desk.on_page("post.md")
        desk.approve(post, digest_of(post))
        path = post.own_path
        moved = path.read_text().replace("<p>First.</p>\n<p>Last.", "<p>Last.</p>\n<p>First.")
        path.write_text(moved)
        assert post.draft is not None
        newer = structs.replace(
            post.draft, html=post.draft.html.replace("<p>First", "<p>New.</p><p>First"), edition=2
        )
        save(project.root, {post.key: newer})
        desk.refresh()
        [post] = desk.on_page("post.md")
        with pytest.raises(FileEditedError) as raised:
            desk.approve(post, digest_of(post))
        message = "'somebody' has changed this in post.md/main.html: the order of the text"
        assert message in str(raised.value)
        assert path.read_text() == moved
        desk.refresh()
        [post] = desk.on_page("post.md")
        desk.approve(post, digest_of(post), overwrites=raised.value.file)
        assert "New." in path.read_text()


SHAPES = {
    "loose text": ("x<p>y</p>", "{}"),
    "statements": ("<p>a <mark>b</mark>.</p>", "{}"),
    "one sentence": ("<mark>b</mark> x ", "<p>{}</p>"),
    "sentences": ("Word <mark>5</mark> is it. ", "<p>{}</p>"),
    "links": ('<mark>b</mark> <a href="https://a.example/c">x</a> ', "<p>{}</p>"),
    "cells": ("<tr><td>b</td><td><mark>5</mark></td></tr>", "<table>{}</table>"),
    "cells of a row": ("<td><mark>5</mark></td>", "<table><tr>{}</tr></table>"),
    "rules": ("<hr>", "{}"),
    "brackets": ("![" * 10, "<p>{}</p>"),
    "colours": ("<div style='color: red'>" * 40 + "x" + "</div>" * 40, "{}"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_large_texts_take_linear_time(reviewer: Reviewer, shape: str) -> None:
    """What a text contains is described with its statements, and with what the page hides."""
    part, whole = SHAPES[shape]

    def make(tags: int) -> str:
        parts = part * (tags // max(1, part.count("<")))
        return f"<article><h1>T</h1>{whole.format(parts)}</article>"

    def show(html: str) -> None:
        save(reviewer.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
        desk = reviewer.app._site.open()
        desk.refresh()
        article = next(it for it in desk.articles.values() if it.page == "report.md")
        assert describe(desk, article, [article])["page_problem"] == ""

    assert growth(show, make, 2_400) < LINEAR


# --- Nothing is lost -----------------------------------------------------------------------------


def test_an_approval_is_undone(reviewer: Reviewer) -> None:
    """The file is gone again, or as it was; the change before is undone next."""
    before = cached(reviewer)
    reviewer.change("edit", 6, markdown="New end.")
    reviewer.act("approve", reason="read")
    path = reviewer.root / "contentgen/report.md/main.html"
    first = path.read_text()
    reviewer.change("edit", 6, markdown="Newer end.")
    reviewer.act("approve", reason="again")
    assert path.read_text() != first
    assert reviewer.act("undo").status_code == 200
    assert path.read_text() == first
    for _ in range(2):
        assert reviewer.act("undo").status_code == 200
    assert not path.exists()
    assert reviewer.act("undo").status_code == 200
    assert cached(reviewer).html == before.html
    assert "nothing to undo" in reviewer.act("undo").text


def test_undo_after_a_restart(reviewer: Reviewer) -> None:
    """What one desk changed, the next one undoes."""
    before = cached(reviewer)
    reviewer.change("delete", 6)
    desk = DeskSite(
        lambda: open_site(None, drafts=True), (), "Ann", article_to_json, LineReporter(print)
    )
    with desk as texts:
        again = at_desk(reviewer.root, texts)
        assert again.text()["undo"]
        assert again.act("undo").status_code == 200
    assert_restored(cached(reviewer), before)


def propose_and_change(reviewer: Reviewer) -> Path:
    """Propose the report, change the draft on the desk, and return the path of the file."""
    run(reviewer, "propose", "report.md")
    reviewer.change("edit", 6, markdown="My end.")
    return reviewer.root / "contentgen/report.md/main.html"


@pytest.mark.parametrize(
    ("before", "after"),
    [("Needs Python 3.11", "Needs Python 3.12"), ("<li>Needs Python 3.11</li>\n", "")],
)
def test_an_approval_overwrites_no_edit_of_the_file(
    reviewer: Reviewer, before: str, after: str
) -> None:
    """What somebody has just written into it, or taken out, is shown beside the text.

    Once the person has agreed, the approval is written, and Undo brings the file back.
    """
    path = propose_and_change(reviewer)
    edited = path.read_text().replace(before, after)
    path.write_text(edited)
    answer = reviewer.act("approve", reason="read")
    assert answer.status_code == 409
    found = answer.json()
    assert "your approval was not written" in found["error"]
    assert "report.md/main.html" in found["error"]
    assert found["conflicts"]
    if after:
        (conflict,) = found["conflicts"]
        assert conflict == {
            "by": "somebody",
            "theirs": "Needs Python 3.12",
            "yours": "Needs Python 3.11",
            "is_structure": False,
        }
        assert "'Needs Python 3.12'" in found["error"]
        assert "'Needs Python 3.11'" in found["error"]
    assert path.read_text() == edited
    assert reviewer.act("approve", reason="read", overwrites="0" * 64).status_code == 409
    assert reviewer.act("approve", reason="read", overwrites=found["file"]).status_code == 200
    assert "My end." in path.read_text()
    assert reviewer.act("undo").status_code == 200
    assert path.read_text() == edited


def test_a_text_that_was_made_over_the_edited_file(reviewer: Reviewer) -> None:
    """Whoever has changed on the desk what somebody wrote into the file has seen it."""
    run(reviewer, "propose", "report.md")
    path = reviewer.root / "contentgen/report.md/main.html"
    path.write_text(path.read_text().replace("Needs Python 3.11", "Needs Python 3.12"))
    blocks = reviewer.text()["blocks"]
    assert isinstance(blocks, list)
    [number] = [block["number"] for block in blocks if block["text"] == "Needs Python 3.12"]
    reviewer.change("edit", number, markdown="Needs Python 3.13")
    reviewer.change("edit", number, markdown="Needs Python 3.14")
    assert reviewer.act("approve", reason="read").status_code == 200
    assert "Needs Python 3.14" in path.read_text()


def test_undo_deletes_the_file_once_the_draft_is_there(reviewer: Reviewer) -> None:
    """An approved file may be all that has a text: first, its draft is put back."""
    before = cached(reviewer, BLOG.key(sandbox=False))
    reviewer.act("approve", "post.md")
    path = reviewer.root / "contentgen/post.md/main.html"
    with closing(sqlite3.connect(reviewer.root / ".cache/plugin/contentgen/cache.db")) as database:
        database.execute("DELETE FROM Cache WHERE key = ?", [BLOG.key(sandbox=False)])
        database.commit()
    assert reviewer.text("post.md")["undo"] == {"act": "approve", "by": "Jo", "deletes_file": True}
    refuse(reviewer.root, BLOG.key(sandbox=False))
    assert reviewer.act("undo", "post.md").status_code == 422
    assert path.exists()
    refuse(reviewer.root, "")
    assert reviewer.act("undo", "post.md").status_code == 200
    assert not path.exists()
    assert cached(reviewer, BLOG.key(sandbox=False)).html == before.html


def test_an_approval_that_was_never_written(reviewer: Reviewer) -> None:
    """What was kept for one, as before a kill, hides no earlier act from Undo."""
    reviewer.change("edit", 6, markdown="My end.")
    with closing(DiskStore(reviewer.root / ".cache/plugin/contentgen")) as store:
        store.keep(NEWS.key(sandbox=False), Kept("0" * 64, file="", act="approve", by="Jo"))
    assert reviewer.text()["undo"] == {"act": "edit", "by": "Jo", "deletes_file": False}
    assert reviewer.act("undo").status_code == 200
    assert "My end." not in cached(reviewer).html


def refuse(root: Path, keys: str) -> None:
    """Let the cache of a project write no rows whose keys match a pattern, as with a full disk."""
    with closing(sqlite3.connect(root / ".cache/plugin/contentgen/cache.db")) as database:
        database.execute("DROP TRIGGER IF EXISTS full")
        database.execute(
            f"CREATE TRIGGER full BEFORE INSERT ON Cache WHEN NEW.key GLOB '{keys}' "
            "BEGIN SELECT RAISE(ABORT, 'full'); END"
        )


def test_what_cannot_be_undone_is_not_done(reviewer: Reviewer) -> None:
    """Where the cache cannot keep what an approval replaces, no file is written."""
    refuse(reviewer.root, "kept:*")
    answer = reviewer.act("approve", "post.md")
    assert answer.status_code == 422
    assert not (reviewer.root / "contentgen/post.md/main.html").exists()


def test_prune_deletes_what_was_kept(reviewer: Reviewer) -> None:
    """That of texts that no page requests any more; that of others stays."""
    reviewer.change("delete", 6)
    reviewer.act("approve", "post.md")
    store = DiskStore(reviewer.root / ".cache/plugin/contentgen")
    assert store.keys_with_kept() == {NEWS.key(sandbox=False), BLOG.key(sandbox=False)}
    (reviewer.root / "docs/post.md").write_text("# No request any more\n")
    run(reviewer, "prune")
    assert store.keys_with_kept() == {NEWS.key(sandbox=False)}


@pytest.mark.parametrize("base_url", ["sandbox", "writer"])
def test_a_new_text_keeps_the_one_that_was_there(
    project: Project, model: ModelDouble, base_url: str
) -> None:
    """`Undo` and comparison have it; the cost is said before; other services work, too."""
    options = {"base_url": base_url, "writer": {"model": "m", "endpoint": model.endpoint}}
    make_site(project.root, plugins=[{"contentgen": options}])
    is_sandbox = base_url == "sandbox"
    key = NEWS.key(sandbox=is_sandbox)
    save(project.root, {key: Text(HTML, WHEN, NEWS.record(), "m")})
    with (
        like_a_process(project.root, project.environment),
        DeskSite(
            lambda: open_site(None, drafts=True), (), "Jo", article_to_json, LineReporter(print)
        ) as texts,
    ):
        desk = at_desk(project.root, texts)
        desk.change("edit", 6, markdown="My words.")
        mine = cached(desk, key)
        cost = desk.call("cost", ref=desk.text()["ref"]).json()
        assert bool(cost) is not is_sandbox
        assert desk.act("ask", replace=True).json()["asking"]["is_update"] is False
        texts.wait()
        text = desk.text()
        assert text["ask_problem"] == ""
        assert "My words." not in cached(desk, key).html
        rows = desk.call("compare", ref=text["ref"]).json()
        assert rows["earlier"] == "generated"
        assert "My words." in json.dumps(rows["rows"])
        assert desk.act("undo").status_code == 200
        assert_restored(cached(desk, key), mine)


def test_a_page_that_is_renamed_while_a_new_text_is_written(
    project: Project, model: ModelDouble
) -> None:
    """The words of a person that the new text has replaced come back under the new name."""
    writer = {"model": "m", "endpoint": model.endpoint}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    with (
        like_a_process(project.root, project.environment),
        DeskSite(
            lambda: open_site(None, drafts=True), (), "Jo", article_to_json, LineReporter(print)
        ) as texts,
    ):
        desk = at_desk(project.root, texts)
        desk.change("edit", 6, markdown="My words.")
        mine = cached(desk)
        text = model.answer

        def answer(call: Call, handler: ModelHandler) -> None:
            page = project.root / "docs/report.md"
            if page.exists():
                page.rename(page.with_name("renamed.md"))
            text(call, handler)

        model.answer = answer
        desk.act("ask", replace=True)
        texts.wait()
        assert "My words." not in cached(desk).html
        assert desk.text("renamed.md")["undo"]
        assert desk.act("undo", "renamed.md").status_code == 200
        assert_restored(cached(desk), mine)


@pytest.mark.parametrize("asked", [{"note": "shorter"}, {"replace": True}])
def test_what_somebody_writes_meanwhile_stays(
    project: Project, model: ModelDouble, asked: dict[str, object]
) -> None:
    """After a request in vain, `Undo` takes back one change of another desk, and not all."""
    writer = {"model": "m", "endpoint": model.endpoint}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])

    def open_desk(name: str) -> DeskSite:
        return DeskSite(
            lambda: open_site(None, drafts=True), (), name, article_to_json, LineReporter(print)
        )

    with (
        like_a_process(project.root, project.environment),
        open_desk("Ann") as others,
        open_desk("Jo") as texts,
    ):
        ann, jo = (at_desk(project.root, it) for it in (others, texts))

        update, text = written("BLOCK 6: Never.\nWHY: x"), model.answer

        def answer(call: Call, handler: ModelHandler) -> None:
            for words in ("Words of Ann", "Later words"):
                ann.change("insert", 4, markdown=words)
            (update if "note" in asked else text)(call, handler)

        model.answer = answer
        jo.act("ask", "report.md", **asked)
        texts.wait()
        assert "changed" in str(jo.text()["ask_problem"])
        assert "Words of Ann" in cached(jo).html
        assert jo.act("undo").status_code == 200
        assert "Words of Ann" in cached(jo).html
        assert "Later words" not in cached(jo).html


def test_a_text_in_progress_is_cancelled(project: Project, model: ModelDouble) -> None:
    """Nothing is changed then, and the desk says so."""
    writer = {"model": "m", "endpoint": model.endpoint}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    model.answer = streamed("BLOCK 6: Never.\nWHY: x", seconds=20)
    with (
        like_a_process(project.root, project.environment),
        DeskSite(
            lambda: open_site(None, drafts=True), (), "Jo", article_to_json, LineReporter(print)
        ) as texts,
    ):
        desk = at_desk(project.root, texts)
        before = cached(desk)
        desk.act("ask", note="shorter")
        wait_until(lambda: bool(model.calls))
        assert desk.act("ask", note="longer").status_code == 422  # nothing is asked for twice
        desk.act("cancel")
        texts.wait()
        assert "cancelled; nothing was changed" in str(desk.text()["ask_problem"])
        assert cached(desk) == before


# --- Nobody else ---------------------------------------------------------------------------------


def test_a_token_opens_one_session(reviewer: Reviewer) -> None:
    """Whoever finds the token later gets neither a key nor the pages."""
    again = reviewer.call("session", token=TOKEN, opener="another page")
    assert again.status_code == 403
    assert "opened before" in again.text
    assert reviewer.call("session", token="").status_code == 403


def test_a_page_that_is_loaded_again_while_the_session_opens(reviewer: Reviewer) -> None:
    """It gets the key again until that was used, and no other page does."""
    desk_app = DeskApp(reviewer.app._site, Builder([], LineReporter(print)), (8767, 8768), TOKEN)
    page = Reviewer(reviewer.root, desk_app)
    keys = [page.call("session", token=TOKEN, opener="a").json()["key"] for _ in range(2)]
    assert keys[0] == keys[1]
    assert page.call("session", token=TOKEN, opener="b").status_code == 403
    assert page.call("session", token=TOKEN).status_code == 403
    page.headers["X-Contentgen-Key"] = keys[0]
    assert page.call("queue").status_code == 200
    assert page.call("session", token=TOKEN, opener="a").status_code == 403


def test_pages_are_for_the_frame_of_the_desk(reviewer: Reviewer) -> None:
    """Others get no draft: other programs, pages of other sites and ports, and tabs."""
    allowed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}
    pages = reviewer.host_of("/report/")
    assert reviewer.send("/report/", origin=pages, **allowed).status_code == 200
    for site, into in (("cross-site", "script"), ("same-site", "script"), ("none", "document")):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": into}
        assert reviewer.send("/report/", origin=pages, **headers).status_code == 403
    tab = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"}
    moved = reviewer.send("/report/", origin=pages, **tab)
    assert moved.headers["location"] == "http://127.0.0.1:8767/report/"
    elsewhere = [PAGES, "http://127.0.0.1:8768", "http://localhost:8768"]
    for origin in [*elsewhere, pages.replace("8768", "8767"), pages.replace("//", "//x.")]:
        for path in ("/report/", "/secret.js", "/"):
            assert reviewer.send(path, origin=origin, **allowed).status_code == 403


def test_no_other_origin_embeds_anything(reviewer: Reviewer) -> None:
    """Each answer says so, errors and redirections included."""
    answers = [reviewer.send(path) for path in ("/", "/_contentgen/desk.js")]
    answers += [reviewer.call(action) for action in ("x", "queue", "session")]
    pages = reviewer.host_of("/report/")
    answers += [reviewer.send(path, origin=pages) for path in ("/report/", "/secret.js", "/no.css")]
    answers += [reviewer.send("/", Host="evil.example")]
    answers += [reviewer.send("/", origin=pages, **{"Sec-Fetch-Dest": "document"})]
    for answer in answers:
        assert answer.headers["cross-origin-resource-policy"] == "same-origin", answer.url


def test_nobody_else_answers_for_the_pages() -> None:
    """Browsers may try the IPv6 address of `*.localhost` first, so that is taken, too."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    listeners = listen_for_pages(0)
    try:
        [(first, port), (second, other_port, *_)] = (it.getsockname() for it in listeners)
        assert (first, second, port) == ("127.0.0.1", "::1", other_port)
        with pytest.raises(click.ClickException, match=f"127.0.0.1:{port} cannot be used"):
            listen_for_pages(port)
        listeners[0].close()
        with pytest.raises(click.ClickException, match=rf"\[::1\]:{port} cannot be used"):
            listen_for_pages(port)
    finally:
        for listener in listeners:
            listener.close()


def test_each_site_has_a_port(tmp_path: Path) -> None:
    """Browsers keep unsaved words for it; a second desk of the site gets another one."""
    one, other = tmp_path / "one", tmp_path / "other"
    with listen_for_desk(None, one) as first:
        port = first.getsockname()[1]
        with listen_for_desk(None, one) as second, listen_for_desk(None, other) as third:
            ports = {listener.getsockname()[1] for listener in (first, second, third)}
            assert len(ports) == 3
        with pytest.raises(click.ClickException, match=f"127.0.0.1:{port} cannot be used"):
            listen_for_desk(port, one)
    with listen_for_desk(None, one) as again:
        assert again.getsockname()[1] == port


def test_the_address_is_in_a_private_file(tmp_path: Path) -> None:
    """Only its owner reads it, and the browser's arguments have no token."""
    address = "http://127.0.0.1:1/_contentgen/#token=secret"
    link = _redirect(tmp_path, address)
    [file] = tmp_path.iterdir()
    assert link == file.as_uri()
    assert file.stat().st_mode & 0o777 == 0o600
    assert address in file.read_text()


def test_desks_that_start_together_keep_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None takes one that has just been made for that of a desk that was killed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def start(number: int) -> bool:
        with private_folder() as folder:
            (folder / "1").mkdir()
            with private_folder():
                return (folder / "1").is_dir()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # as often as processes take turns
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(start, range(200)))
    finally:
        sys.setswitchinterval(interval)


def test_folders_of_killed_desks_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of desks that run stay, and links are not followed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    for name in ("running", "killed"):
        (tmp_path / f"{PREFIX}{name}" / "0").mkdir(parents=True)
    (tmp_path / f"{PREFIX}link").symlink_to(other)
    with locked(tmp_path / f"{PREFIX}running"):
        with private_folder() as folder, private_folder() as second:
            names = {it.name.removeprefix(PREFIX) for it in tmp_path.iterdir()}
            assert {"running", "link", folder.name.removeprefix(PREFIX)} < names
            assert "killed" not in names
            assert second.is_dir()
        assert not folder.exists()
    assert (other / "kept").exists()


def test_a_build_that_nobody_waits_for(tmp_path: Path) -> None:
    """It begins when there was no change for a while; one that somebody waits for, at once."""
    (tmp_path / "count.py").write_text("open('count', 'a').write('x')\n")
    with like_a_process(tmp_path, {"PYTHONPATH": str(tmp_path)}):
        with Builder(["count"], LineReporter(print), folder=tmp_path, patience=0.3) as builder:
            for number in range(5):
                builder.build(f"{number}", False)
            wait_until(lambda: builder.stamp == "4")
            assert (tmp_path / "count").read_text() == "x"
            builder.build("5", True)
            wait_until(lambda: builder.stamp == "5")
        assert (tmp_path / "count").read_text() == "xx"
