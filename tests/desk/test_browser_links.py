"""A link that a model made is named on its card, and put back with one click."""

from __future__ import annotations

import pytest
from browsing import browser
from desk_site import HTML, NEWS, WHEN, save
from playwright.sync_api import Page, expect
from test_browser_desk import DeskProcess, desk, open_text, page

from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.text import Text

__all__ = ["browser", "desk", "page"]  # the fixtures

pytestmark = pytest.mark.system


def test_a_link_is_put_back(desk: DeskProcess, page: Page) -> None:
    """The card of its sentence has the address and a button, until the link is there. 3 s."""
    address = "https://a.example/builds"
    link = Remark("link", values={"words": "Jane Smith", "address": address})
    text = Text(HTML, WHEN, NEWS.record(), "m", remarks=(link,))
    save(desk.project.root, {NEWS.key(sandbox=False): text})
    open_text(desk, page)
    page.locator(".card", has_text="Jane Smith").click()
    said = page.get_by_text(f"The model linked “Jane Smith” to {address}.")
    expect(said).to_be_visible()
    page.get_by_role("button", name="Put the link back").click()
    expect(page.locator("iframe").content_frame.locator(f'a[href="{address}"]')).to_be_visible()
    expect(said).to_have_count(0)
