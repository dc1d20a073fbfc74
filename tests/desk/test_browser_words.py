"""What a person has typed stays until it is done, and belongs to its text, whatever its page is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browsing import browser
from conftest import Project, wait_until
from desk_site import NEWS, front_matter, make_site
from model_double import ModelDouble, raw, written
from playwright.sync_api import Page, expect
from test_browser_desk import (
    DeskProcess,
    approved,
    block_with,
    choose,
    desk,
    edit_block,
    open_text,
    page,
    settled,
    write_note,
)
from test_browser_seen import change_elsewhere

__all__ = ["browser", "desk", "page"]  # the fixtures

pytestmark = pytest.mark.system

LOST = "You have not saved these words"


def test_a_note_stays_until_the_text_is_changed(
    project: Project, page: Page, model: ModelDouble
) -> None:
    """A note that failed with the model's server is there again, and goes once it is done. 5 s."""
    writer = {"model": "m", "endpoint": model.endpoint}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    model.answer = raw(b"no answer of a model")
    with DeskProcess(project) as desk:
        open_text(desk, page)
        write_note(page).fill("Shorter, please")
        send_note(page)
        expect(page.locator(".note.red")).to_be_visible()
        page.reload()
        expect(write_note(page)).to_have_value("Shorter, please")
        model.answer = written("BLOCK 6: Short.\nWHY: asked")
        send_note(page)
        expect(block_with(page, "Short.")).to_be_visible()
        settled(page)
        expect(write_note(page)).to_have_value("")


def send_note(page: Page) -> None:
    """Send the note of the dialog that is open."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_have_count(0)


def test_a_reason_stays_until_the_text_is_approved(desk: DeskProcess, page: Page) -> None:
    """It is there again when the text changed meanwhile, and gone once it was given. 3 s."""
    open_text(desk, page)
    choose(page, "Approve with open sentences…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("Checked with the author")
    change_elsewhere(page, 6, action="edit", markdown="Another end.")

    def is_refused() -> bool:
        """Press again, as long as that is too quick after the change."""
        dialog.get_by_role("button", name="Approve").click()
        expect(dialog.get_by_role("alert")).not_to_have_text("")
        return "too quick" not in (dialog.get_by_role("alert").text_content() or "")

    wait_until(is_refused)
    expect(dialog.get_by_role("alert")).to_contain_text("has changed since you opened it")
    dialog.get_by_role("button", name="Cancel").click()
    page.reload()
    expect(block_with(page, "Another end.")).to_be_visible()
    choose(page, "Approve with open sentences…")
    expect(dialog.get_by_role("textbox")).to_have_value("Checked with the author")
    dialog.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("Approved “Builds take seconds”")
    assert "Checked with the author" in approved(desk)
    kept = page.evaluate("Object.keys(localStorage).filter((place) => place.includes(' '))")
    assert kept == []


def test_words_follow_a_text_whose_page_is_renamed(desk: DeskProcess, page: Page) -> None:
    """The text of the new page offers them; before, the desk says why it cannot save. 5 s."""
    open_text(desk, page)
    edit_block(page, "The end.").fill("My own end.")
    docs = desk.project.root / "docs"
    (docs / "report.md").rename(docs / "news.md")
    page.get_by_role("button", name="Save").click()
    said = page.get_by_role("status")
    expect(said).to_contain_text("no page requests this text any more")
    expect(said).not_to_contain_text("changed this paragraph")
    page.get_by_role("button", name="All texts").click()
    open_text(desk, page)
    expect(page.get_by_role("textbox", name=LOST)).to_have_value("My own end.")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Save").click()
    expect(block_with(page, "My own end.")).to_be_visible()
    settled(page)
    expect(page.get_by_text(LOST)).to_have_count(0)


def test_words_for_a_text_that_is_gone(desk: DeskProcess, page: Page) -> None:
    """The list has them, to copy or to discard, and a text of the same page does not. 5 s."""
    open_text(desk, page)
    edit_block(page, "The end.").fill("My own end.")
    page.keyboard.press("Escape")
    write_note(page).fill("Shorter, please")
    (desk.project.root / "docs/report.md").write_text("# No request\n")
    page.goto(f"{desk.origin}/_contentgen/")
    gone = page.get_by_role("region", name="Your words for texts that are not here")
    fields = gone.get_by_role("textbox")
    expect(fields).to_have_count(2)
    expect(gone).to_contain_text("Builds take seconds")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    words = {field.input_value() for field in fields.all()}
    assert words == {"My own end.", "Shorter, please"}
    gone.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("status")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") in words
    gone.get_by_role("button", name="Discard").first.click()
    expect(fields).to_have_count(1)
    gone.get_by_role("button", name="Discard").click()
    expect(gone).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="Texts to review")).to_be_visible()
    expect(gone).to_have_count(0)


def test_another_text_on_the_page_of_the_first(desk: DeskProcess, page: Page) -> None:
    """Words stay with their text when its page has another name and another text has that. 5 s."""
    open_text(desk, page)
    edit_block(page, "The end.").fill("My own end.")
    docs = desk.project.root / "docs"
    (docs / "report.md").rename(docs / "news.md")
    other = {**NEWS.record(), "topic": "Another topic"}
    Path(docs / "report.md").write_text(front_matter(other))
    page.goto(f"{desk.origin}/_contentgen/")
    page.get_by_role("link", name=re.compile("Builds take seconds")).click()
    expect(page.get_by_role("textbox", name=LOST)).to_have_value("My own end.")
    page.get_by_role("button", name="All texts").click()
    page.get_by_role("button", name=re.compile(r"^\d+ missing$")).click()
    page.get_by_role("link", name="Another topic").click()
    expect(page.get_by_role("complementary", name="Review")).to_be_visible()
    expect(page.get_by_text(LOST)).to_have_count(0)
