"""Human edits that an approval or a new text would lose, with a desk in a process of its own."""

from __future__ import annotations

import re

import httpx
import pytest
from browsing import browser
from conftest import Project, wait_until
from desk_site import BLOG, HTML, NEWS, WHEN, make_site, save
from model_double import ModelDouble
from msgspec import structs
from playwright.sync_api import Page, expect
from test_browser_desk import DeskProcess, approve_button, desk, open_text, page

from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DiskStore

__all__ = ["browser", "desk", "page"]  # the fixtures

pytestmark = pytest.mark.system


def test_an_edit_of_the_file_is_shown_before_an_approval(desk: DeskProcess, page: Page) -> None:
    """Both are in the question; *Cancel* leaves the file, and *Approve* overwrites it. 4 s."""
    root = desk.project.root
    desk.project.run("mkdocs_contentgen", "propose", "post.md")
    html = '<article class="blog-post"><h1>Ten habits</h1><p>First one.</p><p>New.</p></article>'
    save(root, {BLOG.key(sandbox=False): Text(html, WHEN, BLOG.record(), "m", edition=2)})
    file = root / "contentgen/post.md/main.html"
    edited = file.read_text().replace("First.", "First by hand.")
    file.write_text(edited)
    open_text(desk, page, "Ten habits")
    expect(approve_button(page)).to_be_enabled()
    approve_button(page).click()
    dialog = page.get_by_role("dialog", name="Approve")
    expect(dialog).to_contain_text("'First by hand.'")
    expect(dialog).to_contain_text("'First one.'")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert file.read_text() == edited
    expect(approve_button(page)).to_be_enabled()
    approve_button(page).click()
    dialog.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("Approved “Ten habits”")
    assert "New." in file.read_text()


class Caller:
    """Sends to a desk what its page sends."""

    def __init__(self, desk: DeskProcess) -> None:
        self._address = f"{desk.origin}/_contentgen/api/"
        self._headers = {"Sec-Fetch-Site": "same-origin"}
        token = re.sub(".*token=", "", desk.address)
        self._headers["X-Contentgen-Key"] = self.call("session", token=token)["key"]

    def call(self, action: str, **body: object) -> dict[str, str]:
        """Return the answer to an action."""
        answer = httpx.post(f"{self._address}{action}", json=body, headers=self._headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, str] = answer.json()
        return found

    def report(self) -> dict[str, str]:
        """Return the text of the report."""
        queue: list[dict[str, str]] = list(self.call("queue")["queue"])  # type: ignore[arg-type]
        [ref] = [row["ref"] for row in queue if row["page"] == "report.md"]
        return self.call("text", ref=ref)


def test_a_kill_while_a_new_text_is_saved(project: Project, model: ModelDouble) -> None:
    """Six times, the desk is killed once the new text is there: *Undo* brings the words back."""
    writer = {"model": "m", "endpoint": model.endpoint}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    key = NEWS.key(sandbox=False)
    store = DiskStore(project.root / ".cache/plugin/contentgen")
    for number in range(6):
        words = f"Words of Ann {number}."
        mine = Text(HTML.replace("The end.", words), WHEN, NEWS.record(), written_by="Ann")
        save(project.root, {key: structs.replace(mine, edition=2 * number + 2)})
        with DeskProcess(project) as running:
            caller = Caller(running)
            text = caller.report()
            caller.call("ask", ref=text["ref"], seen=text["seen"], replace=True)
            wait_until(lambda: words not in store.load([key])[0][key].html)  # noqa: B023
        with DeskProcess(project) as running:
            caller = Caller(running)
            text = caller.report()
            assert text["undo"]
            caller.call("undo", ref=text["ref"], seen=text["seen"])
        assert words in store.load([key])[0][key].html
    store.close()
