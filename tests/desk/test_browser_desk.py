"""The desk in a real browser: with the mouse, with keys alone, and with hostile pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Literal

import pytest
from browsing import audit, browser
from conftest import Project, wait_until
from desk_site import HTML, NEWS, WHEN, make_site, save
from playwright.sync_api import Browser, Page, expect

from mkdocs_contentgen.texts.approval import read
from mkdocs_contentgen.texts.store import StoredText

__all__ = ["browser"]  # the fixture

pytestmark = pytest.mark.system


class DeskProcess:
    """A running `contentgen review`."""

    def __init__(self, project: Project, port: int = 0) -> None:
        self.project = project
        log = project.root / "output.txt"
        log.unlink(missing_ok=True)
        self.process = project.start(
            "mkdocs_contentgen", "review", "--no-open", f"--port={port}", "--by", "Jo Doe"
        )
        wait_until(lambda: "Ctrl-C" in project.output or self.process.poll())
        self.address = re.findall(r"http://\S+", project.output)[-1]
        self.origin = self.address.partition("/_contentgen")[0]

    def end(self) -> None:
        """End it, as a kill does."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def desk(project: Project) -> Iterator[DeskProcess]:
    """Run the desk for a site with two drafts."""
    make_site(project.root)
    running = DeskProcess(project)
    yield running
    running.end()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page; an error of a script fails the test."""
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


def open_text(desk: DeskProcess, page: Page, title: str = "Builds take seconds") -> None:
    """Open a text from the list of texts."""
    page.goto(desk.address)
    page.get_by_role("link", name=title).click()
    expect(page.get_by_role("complementary", name="Review")).to_contain_text(title)


def approved(desk: DeskProcess, name: str = "report.md") -> str:
    """Return the approved file of a page, if there is one."""
    file = desk.project.root / f"contentgen/{name}/main.html"
    return file.read_text() if file.exists() else ""


def test_a_persons_whole_way(project: Project, page: Page) -> None:
    """Confirm, change, remove and approve with the mouse; the page and the file show it."""
    make_site(project.root, {"name": "material", "font": False})
    desk = DeskProcess(project)
    try:
        go_the_whole_way(desk, page)
    finally:
        desk.end()


def go_the_whole_way(desk: DeskProcess, page: Page) -> None:
    """Review a text from its first statement to its approval."""
    open_text(desk, page)
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_disabled()
    source = page.get_by_role("region", name="Plan › Speed")
    expect(source).to_have_text("A build takes 4 seconds, and took 12 before.")
    page.get_by_role("button", name="Confirm").first.click()
    expect(page.get_by_role("button", name="Confirm")).to_have_count(2)
    page.get_by_role("button", name="Remove", exact=True).first.click()
    expect(page.get_by_role("button", name="Confirm")).to_have_count(1)
    page.get_by_role("button", name="Edit", exact=True).first.click()
    page.get_by_role("textbox", name="Edit").fill("Costs **nothing**")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("No statement is left to check.")).to_be_visible()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Costs nothing")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("report.md/main.html").first).to_be_visible()
    directory = desk.project.root / "contentgen"
    file = read(directory / "report.md/main.html", directory)
    assert file is not None
    assert file.header.approved_by == "Jo Doe"
    assert file.header.edits is not None
    assert "Costs <strong>nothing</strong>" in file.html
    assert "<mark>" not in file.html
    assert "Thrown away" not in file.html
    expect(frame.get_by_text("reviewed by Jo Doe")).to_be_visible(timeout=30_000)
    assert desk.project.build("--strict").returncode == 0
    assert "contentgen-block" not in desk.project.html("report/index.html")


def test_a_site_of_zensical(project: Project, page: Page) -> None:
    """Its pages stand beside the desk too, and show what was changed and approved."""
    make_site(project.root)
    (project.root / "mkdocs.yml").unlink()
    project.write("zensical.toml", ZENSICAL)
    desk = DeskProcess(project)
    try:
        open_text(desk, page, "Ten habits")
        block = page.locator("details[data-block='1']")
        block.locator("summary").click()
        block.get_by_role("button", name=re.compile("Edit")).click()
        page.get_by_role("textbox", name="Edit").fill("A persons words")
        page.get_by_role("button", name="Save").click()
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("A persons words")).to_be_visible(timeout=60_000)
        page.get_by_role("button", name="Approve", exact=True).click()
        expect(frame.get_by_text("reviewed by Jo Doe")).to_be_visible(timeout=60_000)
        assert "A persons words" in approved(desk, "post.md")
    finally:
        desk.end()


ZENSICAL = """
[project]
site_name = "Site"
site_url = "https://docs.example/"
[project.plugins.contentgen]
base_url = "writer"
[project.plugins.contentgen.writer]
model = "m"
endpoint = "http://127.0.0.1:9/v1"
[project.markdown_extensions.contentgen]
"""


def test_with_keys_alone(desk: DeskProcess, page: Page) -> None:
    """Statements are selected, confirmed, removed and edited, and the text approved."""
    open_text(desk, page)
    page.keyboard.press("j")
    expect(page.locator('[aria-current="true"]')).to_contain_text("Jane Smith")
    page.keyboard.press("k")
    page.keyboard.press("c")
    expect(page.get_by_role("button", name="Confirm")).to_have_count(2)
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Confirm")).to_have_count(1)
    page.keyboard.press("e")
    editor = page.get_by_role("textbox", name="Edit")
    expect(editor).to_be_focused()
    editor.fill("Costs little")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("No statement is left to check.")).to_be_visible()
    page.keyboard.press("a")
    wait_until(lambda: "Costs little" in approved(desk))
    page.keyboard.press("n")
    expect(page).to_have_title(re.compile("Ten habits"))


def test_approve_anyway(desk: DeskProcess, page: Page) -> None:
    """It asks for a reason, without which nothing is written."""
    open_text(desk, page)
    page.get_by_role("button", name="Approve anyway").click()
    dialog = page.get_by_role("dialog", name="Approve anyway")
    dialog.get_by_role("button", name="Approve").click()
    assert approved(desk) == ""
    dialog.get_by_role("textbox").fill("The lawyer has read it")
    dialog.get_by_role("button", name="Approve").click()
    wait_until(lambda: "reason: The lawyer has read it" in approved(desk))


def test_blocks_and_undo(desk: DeskProcess, page: Page) -> None:
    """A block is added, moved and removed, compared, and each change taken back."""
    open_text(desk, page)
    first = page.locator("details[data-block='1']")
    first.locator("summary").click()
    first.get_by_role("button", name=re.compile("Add below")).click()
    dialog = page.get_by_role("dialog", name="Add below")
    dialog.get_by_role("textbox").fill("A new paragraph")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("details[data-block='2']")).to_contain_text("A new paragraph")
    expect(page.locator("details[data-block='2']")).to_contain_text("changed by Jo Doe")
    page.get_by_role("button", name="Compare").click()
    compared = page.get_by_role("dialog", name=re.compile("Compare"))
    expect(compared).to_contain_text("A new paragraph")
    compared.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("dialog", name=re.compile("Compare"))).to_contain_text("has changed")
    page.get_by_role("button", name="Close").click()
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_nothing_is_lost_when_it_is_killed(desk: DeskProcess, page: Page) -> None:
    """What was changed before is there when the desk runs again."""
    open_text(desk, page)
    page.get_by_role("button", name="Confirm").first.click()
    expect(page.get_by_role("button", name="Confirm")).to_have_count(2)
    desk.end()
    page.get_by_role("button", name="Confirm").first.click()
    expect(page.get_by_text("The desk does not answer").first).to_be_visible()
    again = DeskProcess(desk.project)
    try:
        open_text(again, page)
        expect(page.get_by_role("button", name="Confirm")).to_have_count(2)
    finally:
        again.end()


def test_two_tabs(desk: DeskProcess, page: Page) -> None:
    """The second one shows what was done in the first."""
    open_text(desk, page)
    other = page.context.new_page()
    other.goto(desk.origin + "/report/")
    expect(other.get_by_role("button", name="Confirm")).to_have_count(3)
    page.get_by_role("button", name="Confirm").first.click()
    for tab in (page, other):
        expect(tab.get_by_role("button", name="Confirm")).to_have_count(2)


HOSTILE = """<script>
window.tried = new Promise((done) => addEventListener("DOMContentLoaded", done)).then(async () => {
  const desk = document.querySelector("script[data-desk]").dataset.desk;
  const said = [];
  for (const path of ["/_contentgen/api/queue", "/_contentgen/api/texts"]) {
    try { said.push((await fetch(desk + path, {credentials: "include"})).status); }
    catch (error) { said.push("refused"); }
  }
  try { said.push(parent.document.title); } catch (error) { said.push("refused"); }
  for (const key of ["a", "c", "x"]) {
    parent.postMessage({type: "key", key}, "*");
    parent.postMessage({type: "approve", reason: "x"}, "*");
  }
  await fetch(desk + "/_contentgen/api/session", {method: "POST", mode: "no-cors", body: "{}"});
  return said;
});
</script>"""


def test_a_hostile_page_of_the_site(project: Project, page: Page) -> None:
    """Its script reads nothing of the desk, and approves and changes nothing."""
    make_site(project.root)
    with (project.root / "docs/report.md").open("a") as file:
        file.write(f"\nText.\n\n{HOSTILE}\n")
    payload = "&lt;img src=x onerror=parent.hacked=1&gt;<img src=x onerror=parent.hacked=1>"
    hostile = HTML.replace("It is fast.", f"It is fast. {payload}")
    save(
        project.root,
        {NEWS.key(sandbox=False): StoredText(hostile, WHEN, NEWS.record(), "m", {}, (payload,))},
    )
    desk = DeskProcess(project)
    try:
        open_text(desk, page)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("It is fast.").first).to_be_visible(timeout=30_000)
        inner = next(it for it in page.frames if it.url.endswith("/report/") and it.parent_frame)
        assert inner.evaluate("window.tried") == ["refused", "refused", "refused"]
        page.get_by_role("button", name="Compare").click()
        assert page.evaluate("window.hacked") is None
        assert approved(desk) == ""
        assert page.get_by_role("button", name="Confirm").count() == 3
    finally:
        desk.end()


def test_a_foreign_page(desk: DeskProcess, page: Page) -> None:
    """Another page in the same browser can neither frame the desk nor send it anything."""
    open_text(desk, page)
    other = page.context.new_page()
    other.route("**/evil", lambda route: route.fulfill(body="<p>evil", content_type="text/html"))
    other.goto("http://evil.example/evil")
    said = other.evaluate(
        """async (desk) => {
            const frame = document.createElement("iframe");
            frame.src = desk + "/report/";
            document.body.append(frame);
            await new Promise((done) => { frame.onload = done; setTimeout(done, 3000); });
            let read = "refused";
            const path = desk + "/_contentgen/api/texts";
            try { read = await (await fetch(path, {credentials: "include"})).text(); }
            catch {}
            return read;
        }""",
        desk.origin,
    )
    assert said == "refused"
    assert not any(it.get_by_role("complementary").count() for it in other.frames)


def test_everybody_can_use_it(desk: DeskProcess, browser: Browser) -> None:
    """Queue, panel and dialogs have no violation of axe, and no line is wider than the screen."""
    schemes: list[Literal["light", "dark"]] = ["light", "dark"]
    for width, scheme in product((360, 1300), schemes):
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        page.goto(desk.address)
        expect(page.get_by_role("link", name="Builds take seconds")).to_be_visible()
        for step in ("queue", "panel", "dialog"):
            if step == "panel":
                page.get_by_role("link", name="Builds take seconds").click()
                expect(page.get_by_role("button", name="Confirm")).to_have_count(3)
                page.locator("details summary").first.click()
            if step == "dialog":
                page.get_by_role("button", name="Approve anyway").click()
            assert audit(page) == [], (width, scheme, step)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()


def test_a_large_text(project: Project, page: Page) -> None:
    """300 statements in 10,000 words are there at once, and each can be confirmed."""
    make_site(project.root)
    paragraphs = "".join(
        f"<p>{'word ' * 32}<mark>{number} things</mark>.</p>" for number in range(300)
    )
    html = f"<article><h1>Builds take seconds</h1>{paragraphs}</article>"
    key = NEWS.key(sandbox=False)
    save(project.root, {key: StoredText(html, WHEN, NEWS.record(), "m")})
    desk = DeskProcess(project)
    try:
        open_text(desk, page)
        expect(page.get_by_role("button", name="Confirm")).to_have_count(300)
        page.get_by_role("button", name="Confirm").last.click()
        expect(page.get_by_role("button", name="Confirm")).to_have_count(299)
    finally:
        desk.end()


def test_a_page_without_a_request(project: Project) -> None:
    """It is an error of one line, before the desk is served."""
    make_site(project.root)
    ran = project.run_process("mkdocs_contentgen", "review", "no.md", "--port=0", "--by=Jo")
    assert ran.returncode == 1
    assert "no.md: is not a page that requests an article" in ran.stdout
