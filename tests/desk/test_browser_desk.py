"""The desk in a real browser: with the mouse, with keys alone, and with hostile pages."""

from __future__ import annotations

import os
import re
import signal
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
import yaml
from browsing import audit, browser
from conftest import Project, wait_until
from desk_site import BLOG, HTML, LINK, NEWS, PLAN, WHEN, make_site, save, save_stale
from golden_file import GOLDEN
from model_double import ModelDouble, written
from playwright.sync_api import Browser, Locator, Page, Request, Response, Route, expect
from ports import free_port
from remarks import in_words
from repository import git

from mkdocs_contentgen.html.markdown_reader import read_line
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.approved_dir import read_approved

__all__ = ["browser"]  # the fixture

pytestmark = pytest.mark.system

PATIENCE = 60_000
"""Milliseconds for whatever a test waits for: a busy machine takes its time to build a site."""

expect.set_options(timeout=PATIENCE)


class DeskProcess:
    """A running `contentgen review`."""

    def __init__(self, project: Project, port: int | None = None, by: str = "Jo Doe") -> None:
        self.project = project
        port = port or free_port()  # where the next desk of a test can listen, too
        log = project.root / "output.txt"
        log.unlink(missing_ok=True)
        self.process = project.start(
            "mkdocs_contentgen", "review", "--no-open", f"--port={port}", "--by", by
        )
        wait_until(lambda: "Ctrl-C" in project.output or self.process.poll() is not None)
        assert "Ctrl-C" in project.output, project.output
        self.address = re.findall(r"http://\S+", project.output)[-1]
        self.origin = self.address.partition("/_contentgen")[0]
        self.session: Any = None

    def __enter__(self) -> DeskProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """End it, as a kill does."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def desk(project: Project) -> Iterator[DeskProcess]:
    """Run the desk for a site with two drafts."""
    make_site(project.root)
    with DeskProcess(project) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page; an error of a script of the desk fails the test, unlike those of themes."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(f"{error.stack}"))
    yield page
    context.close()
    assert [it for it in errors if "/_contentgen/" in it] == []


def enter(desk: DeskProcess, browser: Browser, **options: Any) -> Page:
    """Open the list of texts in another window, in the session of the first one."""
    if not desk.session:
        context = browser.new_context()
        page = context.new_page()
        page.goto(desk.address)
        expect(page.get_by_role("heading", name="Texts to review")).to_be_visible()
        desk.session = context.storage_state()
        context.close()
    page = browser.new_context(storage_state=desk.session, **options).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{desk.origin}/_contentgen/")
    return page


def open_text(
    desk: DeskProcess,
    page: Page,
    title: str = "Builds take seconds",
    shown: str = "",
    group: str = "",
) -> None:
    """Open a text of a group from the list, which has another title than its topic if `shown`.

    Its page is the built one then: what is clicked while that takes the place of the plain one is
    lost. No line of a message is about to go any more, which would move what is pressed.
    """
    if desk.origin not in page.url:
        page.goto(desk.address)
    if group:
        page.get_by_role("button", name=re.compile(rf"^\d+ {group}$")).click()
    page.get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(shown or title)
    expect(page.get_by_role("complementary", name="Review")).to_be_visible()
    expect(built_blocks(page).first).to_be_attached()
    expect(page.get_by_text("its pages have changed")).to_have_count(0)
    settled(page)


def built_blocks(page: Page) -> Locator:
    """Return the blocks in the page beside the desk, once it is the built one."""
    built = page.frame_locator("iframe").locator("body:not(:has([data-contentgen-plain]))")
    return built.locator("[data-contentgen-block]")


def settled(page: Page) -> None:
    """Wait until the page beside the desk shows what was done, and the server has it."""
    expect(page.get_by_role("main")).to_have_attribute("aria-busy", "false")


def select_statement(page: Page, name: str, shown: str) -> None:
    """Click a statement in the panel, which is `shown` open then."""
    page.get_by_role("button", name=name).click()
    expect(page.locator('[aria-current="true"]')).to_contain_text(shown)


def hold(page: Page, action: str) -> list[Route]:
    """Hold the next request of an action, and return a list that gets it."""
    held: list[Route] = []
    page.route(f"**/api/{action}", lambda route: held.append(route), times=1)
    return held


def opens(request: Request) -> bool:
    """Return whether a request opens a text, and does not only look for changes."""
    return request.url.endswith("/api/text") and "version" not in (request.post_data_json or {})


def is_opened(response: Response) -> bool:
    """Return whether a text that is to be opened is there."""
    return opens(response.request)


def hold_opening(page: Page) -> list[Route]:
    """Hold the next request that opens a text, and return a list that gets it."""
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held or not opens(route.request):
            route.continue_()
        else:
            held.append(route)

    page.route("**/api/text", hold_the_first)
    return held


def held_in(page: Page, held: list[Route]) -> Route:
    """Wait until a request is held, and return it."""

    def is_held() -> bool:
        page.wait_for_timeout(20)
        return bool(held)

    wait_until(is_held)
    return held[0]


def requests_of(page: Page, action: str) -> list[dict[str, Any]]:
    """Return a list that gets the body of each request of an action from now on."""
    bodies: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.url.endswith(f"/api/{action}"):
            bodies.append(request.post_data_json or {})

    page.on("request", note)
    return bodies


def acts_in(bodies: list[dict[str, Any]]) -> list[str]:
    """Return what requests have changed, in their order."""
    return [change["action"] for body in bodies for change in body["changes"]]


def is_other_text(response: Response) -> bool:
    """Return whether the desk hears that its text has changed."""
    return response.url.endswith("/api/text") and '"blocks"' in response.text()


def left(page: Page, count: int) -> None:
    """Wait until so many statements are left to check."""
    expect(page.get_by_role("tab", name=f"Check ({count})", exact=True)).to_be_visible()


def edit_block(page: Page, words: str) -> Locator:
    """Click a block in the page beside its marks, and return the editor that it opens in."""
    block_with(page, words).first.click(position={"x": 2, "y": 2})
    editor = page.locator(".editor textarea")
    expect(editor).to_be_focused()
    return editor


def remove_block(page: Page, words: str) -> None:
    """Remove a block in the page."""
    edit_block(page, words)
    page.get_by_role("button", name="Remove block").click()


def choose(page: Page, name: str) -> None:
    """Choose what else the button that approves offers."""
    page.get_by_role("button", name="More choices").click()
    choice(page, name).click()


def choice(page: Page, name: str) -> Locator:
    """Return what else the button that approves offers, once its menu is open."""
    return page.locator(".choices").get_by_role("button", name=name)


def be_there(page: Page) -> None:
    """Move the mouse, and wait until keys can approve a text: the person has just come."""
    page.mouse.move(100, 100)
    page.mouse.move(120, 120)
    wait_until(lambda: bool(page.evaluate(IS_PRESENT)))


IS_PRESENT = """async () => (await import("/_contentgen/state/presence.js")).isPresent()"""


def open_tab(page: Page, name: str) -> Locator:
    """Open a tab of the panel, and return what is in it."""
    tab = page.get_by_role("tab", name=name)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    return page.get_by_role("tabpanel")


def block_with(page: Page, text: str) -> Locator:
    """Return the blocks with a text in the page beside the desk, once the page has marked them."""
    blocks = page.frame_locator("iframe").locator("[data-contentgen-block]")
    return blocks.filter(has_text=text)


def approved(desk: DeskProcess, name: str = "report.md") -> str:
    """Return the approved file of a page, if there is one."""
    try:
        return (desk.project.root / f"contentgen/{name}/main.html").read_text()
    except FileNotFoundError:  # also if it has just been deleted
        return ""


THEMES: dict[str, object] = {
    "mkdocs": "mkdocs",
    "readthedocs": "readthedocs",
    "material": {"name": "material", "font": False},
    "modern": 'variant = "modern"',
    "classic": 'variant = "classic"',
}


@pytest.mark.parametrize("theme", ["material", "modern", "readthedocs"])
def test_a_persons_whole_way(project: Project, page: Page, theme: str) -> None:
    """Confirm, remove, change in the page, and approve with the mouse; page and file show it.

    A theme costs 5 seconds; `test_rendering` compares the pages of all.
    """
    make_site(project.root, THEMES[theme])
    if theme == "modern":
        (project.root / "mkdocs.yml").unlink()
        project.write("zensical.toml", f"{ZENSICAL}[project.theme]\n{THEMES[theme]}\n")
        (project.root / ".cache/plugin/contentgen").rename(project.root / ".contentgen-cache")
    with DeskProcess(project) as desk:
        go_the_whole_way(desk, page)
        if theme != "readthedocs":  # one of each generator
            change_what_is_approved(page)
    if theme == "material":
        assert project.build("--strict").returncode == 0
        html = project.html("report/index.html")
        assert "contentgen-block" not in html
        assert "Unapproved words." not in html


def go_the_whole_way(desk: DeskProcess, page: Page) -> None:
    """Review a text from its first statement to its approval."""
    open_text(desk, page)
    expect(approve_button(page)).to_have_count(0)
    changes = requests_of(page, "change")
    source = page.get_by_role("region", name="Plan › Speed")
    expect(source).to_have_text("A build takes 4 seconds, and took 12 before.")
    page.get_by_role("button", name="Confirm").click()
    left(page, 2)
    page.get_by_role("button", name="Remove", exact=True).click()
    left(page, 1)
    settled(page)
    frame = page.frame_locator("iframe")
    edit_block(page, "Costs 5 EUR").fill("Costs **nothing**")
    page.get_by_role("button", name="Save").dblclick()
    expect(page.get_by_text("No sentence is left to check.")).to_be_visible()
    expect(frame.get_by_text("Costs nothing")).to_be_visible()
    expect(approve_button(page)).to_be_enabled()
    assert acts_in(changes) == ["confirm_sentence", "remove", "edit"]
    approve_button(page).click()
    expect(page.get_by_text("report.md/main.html").first).to_be_visible()
    directory = desk.project.root / "contentgen"
    file = read_approved(directory / "report.md/main.html", directory)
    assert file is not None
    assert file.approval is not None
    assert file.approval.approved_by == "Jo Doe"
    assert file.text.edits is not None
    assert "Costs <strong>nothing</strong>" in file.text.html
    assert "<mark>" not in file.text.html
    assert "Thrown away" not in file.text.html
    expect(frame.get_by_text("reviewed by Jo Doe")).to_be_visible()
    expect(frame.get_by_text("Costs nothing")).to_be_visible()


def change_what_is_approved(page: Page) -> None:
    """Change the approved text; the page says so at once."""
    frame = page.frame_locator("iframe")
    edit_block(page, "The end.").fill("Unapproved words.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("newer than the approved text")).to_be_visible()
    expect(frame.get_by_text("AI-generated, not reviewed")).to_be_visible()
    expect(frame.get_by_text("Unapproved words.")).to_be_visible()


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

FAILING = """
from pathlib import Path


def on_pre_build(config):
    if Path(config.config_file_path).with_name("stop").exists():
        raise SystemExit("stopped")
"""


def test_the_page_changes_at_once(project: Project, page: Page) -> None:
    """Blocks that are changed, added and removed are shown before a build has ended."""
    make_site(project.root, hooks=["hook.py"])
    project.write("hook.py", FAILING)
    with DeskProcess(project) as desk:
        open_text(desk, page)
        frame = page.frame_locator("iframe")
        expect(frame.locator("[data-contentgen-block]")).to_have_count(7)
        project.write("stop", "")
        shown = [
            "Builds take seconds",
            "A build takes 4 seconds now [1]. It is fast.",
            "What is new",
            "Thrown away, says Jane Smith.",
            "Needs Python 3.11",
            "Costs 5 EUR",
            "The end.",
        ]

        def act(number: int, name: str) -> None:
            frame.locator(f'[data-contentgen-block="{number}"]').click()
            expect(page.locator(".editor textarea")).to_be_focused()
            if name != "Edit":
                page.get_by_role("button", name=name).click()

        def write(name: str, text: str) -> None:
            page.get_by_role("textbox", name=name).fill(text)  # of the editor that is opening
            page.get_by_role("button", name="Save").click()

        act(4, "Edit")
        write("Edit", "Needs *nothing*")
        shown[4] = "Needs nothing"
        expect(frame.locator("[data-contentgen-block]")).to_have_text(shown)
        act(2, "Add below")
        write("Add below", "New <b>words</b>")
        shown.insert(3, "New words")
        expect(frame.locator("[data-contentgen-block]")).to_have_text(shown)
        act(4, "Remove block")
        del shown[4]
        expect(frame.locator("[data-contentgen-block]")).to_have_text(shown)


def test_with_keys_alone(desk: DeskProcess, page: Page) -> None:
    """Statements are selected, confirmed, removed and edited, and the text approved."""
    git(desk.project.root, "init", "-q")
    open_text(desk, page)
    approvals = requests_of(page, "approve")
    page.keyboard.press("j")
    expect(page.locator('[aria-current="true"]')).to_contain_text("Jane Smith")
    page.keyboard.press("k")
    page.keyboard.press("c")
    left(page, 2)
    page.keyboard.press("x")
    left(page, 1)
    expect(page.get_by_text("2 of 3 sentences checked")).to_be_visible()
    page.keyboard.press("e")
    editor = page.get_by_role("textbox", name="Edit")
    expect(editor).to_be_focused()
    editor.fill("Costs little")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("No sentence is left to check.")).to_be_visible()
    expect(page.get_by_role("button", name="1 remark: length")).to_be_visible()
    expect(approve_button(page)).to_be_enabled()
    be_there(page)
    page.keyboard.press("a")
    expect(approve_button(page)).to_be_focused()
    assert approvals == []
    page.keyboard.press("Enter")
    wait_until(lambda: "Costs little" in approved(desk))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy git command").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    file = "'contentgen/report.md/main.html'"
    assert copied == f"git add -- {file} && git commit -m 'Approve Builds take seconds' -- {file}"
    page.keyboard.press("n")  # it was the last one of the list
    expect(page.get_by_role("heading", level=1)).to_have_text("Texts to review")
    page.keyboard.press("n")
    expect(page).to_have_title(re.compile("Ten habits"))


def test_a_key_for_another_window_approves_nothing(desk: DeskProcess, page: Page) -> None:
    """Only a person who has come two seconds ago, and has moved since, approves by a key. 6 s."""
    open_text(desk, page, "Ten habits")
    page.reload()
    expect(approve_button(page)).to_be_enabled()
    page.evaluate(COME_BACK)
    approvals = requests_of(page, "approve")
    said = page.get_by_role("status")
    page.keyboard.press("a")
    expect(said).to_contain_text("Not approved: move the mouse, scroll or press another key first.")
    expect(approve_button(page)).not_to_be_focused()
    for key in ("Enter", "Space"):
        approve_button(page).focus()
        page.keyboard.press(key)
        expect(said).to_contain_text("Not approved")
    be_there(page)
    page.evaluate(COME_BACK)
    page.keyboard.press("Enter")
    expect(said).to_contain_text("Not approved")
    assert approvals == []
    be_there(page)
    page.keyboard.press("a")
    expect(approve_button(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(said).to_contain_text("Approved “Ten habits”")


COME_BACK = """() => {
    dispatchEvent(new Event("blur"));
    dispatchEvent(new Event("focus"));
}"""
"""Takes the focus of the window away, and gives it back, as another window does."""


def test_enter_goes_from_confirm_to_confirm(project: Project, page: Page) -> None:
    """The focus is on the next *Confirm*, and a key that is held acts once. 3 s."""
    make_sentences(project, 3)
    with DeskProcess(project) as desk:
        open_text(desk, page)
        confirm = page.get_by_role("button", name="Confirm", exact=True)
        page.get_by_role("button", name="Check 3 more").focus()
        page.keyboard.press("Enter")
        expect(confirm).to_be_focused()
        for key in ("Enter", "Enter", "Enter"):  # the key is held
            page.keyboard.down(key)
        page.keyboard.up("Enter")
        left(page, 2)
        expect(confirm).to_be_focused()
        settled(page)
        left(page, 2)
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Shift+Tab")
        expect(page.get_by_role("button", name="3 doors", exact=True)).to_be_focused()
        page.keyboard.press("Shift+Tab")
        expect(page.locator('[aria-current="true"]')).to_be_focused()
        for _ in range(3):
            page.keyboard.press("Tab")
        for count in (1, 0):
            expect(confirm).to_be_focused()
            page.keyboard.press("Enter")
            left(page, count)
        expect(page.get_by_text("No sentence is left to check.")).to_be_focused()


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus, from wherever it is."""
    expect(target).to_be_visible()
    for _ in range(100):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} cannot be reached")


def test_tab_and_enter_alone(project: Project, page: Page) -> None:
    """From the list to the approval: one Enter for each sentence. 5 s."""
    make_sentences(project, 4)
    with DeskProcess(project) as desk:
        page.goto(desk.address)
        tab_to(page, page.get_by_role("link", name="Builds take seconds"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        left(page, 4)
        tab_to(page, page.get_by_role("button", name="Check 4 more"))
        page.keyboard.press("Enter")
        for count in (3, 2, 1, 0):
            expect(page.get_by_role("button", name="Confirm", exact=True)).to_be_focused()
            page.keyboard.press("Enter")
            left(page, count)
        settled(page)
        expect(approve_button(page)).to_be_enabled()
        tab_to(page, approve_button(page))
        wait_until(lambda: bool(page.evaluate(IS_PRESENT)))
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Approved “Builds take seconds”")


def test_twelve_statements_take_nine_clicks(project: Project, page: Page) -> None:
    """Eight sentences have them: one click each, and one that approves. 4 s."""
    make_site(project.root)
    two = "<p>It has <mark>2 doors</mark> and <mark>{0} keys</mark>.</p>"
    one = "<p>It has <mark>{0} rooms</mark>.</p>"
    paragraphs = "".join((two + one).format(number) for number in range(3, 7))
    html = f"<article><h1>Builds take seconds</h1>{paragraphs}</article>"
    save(project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    with DeskProcess(project) as desk:
        open_text(desk, page)
        expect(block_with(page, "It has").locator("mark")).to_have_count(12)
        clicks = 0
        for count in range(7, -1, -1):
            page.get_by_role("button", name="Confirm", exact=True).click()
            left(page, count)
            clicks += 1
        settled(page)
        expect(approve_button(page)).not_to_have_attribute("aria-disabled", "true")
        approve_button(page).click()
        clicks += 1
        expect(page.get_by_role("status")).to_contain_text("Approved “Builds take seconds”")
        assert clicks == 9


def test_keys_of_an_input_method(desk: DeskProcess, page: Page) -> None:
    """Those that compose a character neither close the editor nor save half a word. 3 s."""
    open_text(desk, page)
    editor = edit_block(page, "The end.")
    editor.fill("Half")
    changes = requests_of(page, "change")
    for key, more in (("Escape", {}), ("Enter", {"ctrlKey": True})):
        event = {"key": key, "bubbles": True, "cancelable": True, "isComposing": True, **more}
        editor.dispatch_event("keydown", event)
    expect(editor).to_have_value("Half")
    assert changes == []
    page.keyboard.press("Escape")
    expect(editor).to_have_count(0)


def test_messages_of_one_text(desk: DeskProcess, page: Page) -> None:
    """An *Undo* stays with its text, and a damaged file is named before one approves. 4 s."""
    open_text(desk, page)
    page.keyboard.press("c")
    expect(page.get_by_role("status")).to_contain_text("Confirmed")
    page.keyboard.press("n")
    page.get_by_role("link", name="Ten habits").click()
    expect(page).to_have_title(re.compile("Ten habits"))
    expect(page.get_by_role("status")).not_to_contain_text("Confirmed")
    expect(approve_button(page)).not_to_have_attribute("aria-disabled", "true")
    approve_button(page).click()
    expect(page.get_by_role("status")).to_contain_text("Approved “Ten habits”")
    expect(page).to_have_title(re.compile("Builds take seconds"))  # the next text
    file = desk.project.root / "contentgen/post.md/main.html"
    file.write_text(file.read_text().replace("</article>", ""))
    page.go_back()
    expect(page.get_by_role("status")).to_contain_text("</article> is missing")
    expect(approve_button(page)).to_be_disabled()


def test_a_title_is_shown_as_it_is(project: Project, page: Page) -> None:
    """What looks like a pattern or a place in it changes no words of the desk."""
    title = "Pay $' now, $& {1} {0} $$"
    make_site(project.root)
    html = f"<article><h1>{title.replace('&', '&amp;')}</h1><p>First.</p></article>"
    save(project.root, {BLOG.key(sandbox=False): Text(html, WHEN, BLOG.record(), "m")})
    with DeskProcess(project) as desk:
        open_text(desk, page, title)
        expect(block_with(page, "First.")).to_be_visible()
        approve_button(page).click()
        expect(page.get_by_role("status")).to_contain_text(f"Approved “{title}”")


def test_a_desk_in_german(project: Project, page: Page) -> None:
    """The language is that of the theme, also for what the server says. 4 s."""
    make_site(project.root, {"name": "mkdocs", "locale": "de"}, hooks=["hook.py"])
    project.write("hook.py", HELD)
    project.page("new.md", {"type": "blog", "topic": "Neues"})
    hold_builds = project.write("hold", "")
    with DeskProcess(project) as desk:
        page.goto(desk.address)
        page.get_by_role("button", name="1 fehlen").click()
        page.get_by_role("button", name="Erzeugen…").click()
        dialog = page.get_by_role("dialog", name="Erzeugen…")
        expect(dialog).to_contain_text("Das braucht 1 Aufruf des Modells, höchstens ")
        dialog.get_by_role("button", name="Abbrechen").click()
        page.get_by_role("button", name="2 zu prüfen").click()
        page.get_by_role("link", name="Builds take seconds").click()
        said = page.get_by_role("status")
        expect(said).to_contain_text("Die Site wird gebaut, da sich ihre Seiten geändert haben")
        hold_builds.unlink()
        expect(said).to_have_text("")
        expect(built_blocks(page).first).to_be_attached()
        settled(page)
        panel = open_tab(page, "Über den Text")
        expect(panel).to_contain_text("Auftragtype: news · length: short")
        edit_block(page, "The end.").fill(" ")
        page.get_by_role("button", name="Speichern").click()
        expect(said).to_contain_text("Der Absatz wäre leer; entfernen Sie ihn stattdessen")
        for message, translated in GERMAN.items():
            assert page.evaluate(f"message => {WORDS}.translate(message))", message) == translated
        for kind, values, sentence in GERMAN_REMARKS:
            remark = {"kind": kind, "values": values, "words": "in English"}
            assert page.evaluate(f"remark => {WORDS}.remarkIn(remark))", remark) == sentence


WORDS = "import('/_contentgen/state/words.js').then((words) => words"
"""Reads a module of the desk."""

GERMAN_REMARKS: tuple[tuple[str, dict[str, str | int], str], ...] = (
    ("length", {"words": 1640, "target": 900}, "Länge: 1.640 Wörter statt etwa 900"),
    (
        "missing_more",
        {"more": 1},
        "Übersetzung: 1 weiterer Absatz des Originals hat keine Übersetzung",
    ),
    (
        "section_cut",
        {"heading": "{said} $&", "said": "full"},
        "Abgeschnitten: Der Abschnitt „{said} $&“ wurde abgeschnitten; der Server sagte: full",
    ),
    (
        "section_cut",
        {"heading": "A", "said": ""},
        "Abgeschnitten: Der Abschnitt „A“ wurde abgeschnitten",
    ),
    (
        "differs",
        {"block": "'A'", "because": "'5' of the original is missing"},
        "Übersetzung: 'A': '5' des Originals fehlt",
    ),
    ("newer", {}, "in English"),
)

GERMAN = {
    "the site cannot be loaded (a.md: {0} $&)": "Die Site kann nicht geladen werden (a.md: {0} $&)",
    "the text cannot be used: the text has headings only (on 2026-11-27)": (
        "Der Text ist nicht verwendbar: Der Text hat nur Überschriften (am 2026-11-27)"
    ),
    "a message: of another (kind)": "a message: of another (kind)",
    "docs/a.md/main.html:3: merge conflict in line 3; resolve it with git": (
        "docs/a.md/main.html:3: Merge-Konflikt in Zeile 3; lösen Sie ihn mit git"
    ),
    "a.md, article 'main': cannot be written (No space left on device)": (
        "a.md, article 'main': kann nicht geschrieben werden (kein Platz mehr auf dem Datenträger)"
    ),
    "the cache .cache/a/cache.db is locked by another program": (
        "Der Cache .cache/a/cache.db ist von einem anderen Programm gesperrt"
    ),
    "a text cannot have `style` in <p>; leave it out": (
        "Ein Text kann `style` in <p> nicht haben; lassen Sie es weg"
    ),
    "a text cannot have the address `x.md`; write a whole one, such as https://example.com/page": (
        "Ein Text kann die Adresse `x.md` nicht haben; schreiben Sie eine ganze, etwa "
        "https://example.com/page"
    ),
    "this service cannot update texts; see `service_fields`": (
        "Dieser Dienst kann Texte nicht aktualisieren; siehe `service_fields`"
    ),
}
"""Messages of the server, and what they are in German."""


def test_approve_anyway(desk: DeskProcess, page: Page) -> None:
    """It asks for a reason, without which nothing is written."""
    open_text(desk, page)
    expect(block_with(page, "The end.")).to_be_visible()
    approvals = requests_of(page, "approve")
    choose(page, "Approve with open sentences…")
    dialog = page.get_by_role("dialog", name="Approve with open sentences…")
    dialog.get_by_role("button", name="Approve").click()
    dialog.get_by_role("textbox").fill("The lawyer has read it")
    dialog.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("Approved “Builds take seconds”")
    assert "reason: The lawyer has read it" in approved(desk)
    assert [sent["reason"] for sent in approvals] == ["The lawyer has read it"]


def test_buttons_act_on_the_block_beside_them(desk: DeskProcess, page: Page) -> None:
    """Also when a statement is edited in the panel after another block was clicked. 4 s."""
    open_text(desk, page)
    editor = edit_block(page, "Costs 5 EUR")
    expect(editor).to_have_value(re.compile("^Costs"))
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(editor).to_have_value(re.compile("^A build takes"))


def test_blocks_and_undo(desk: DeskProcess, page: Page) -> None:
    """A block is added, compared in place, and each change taken back."""
    open_text(desk, page)
    edit_block(page, "A build takes")
    page.get_by_role("button", name="Add below").click()
    page.get_by_role("textbox", name="Add below").fill("A new paragraph")
    page.get_by_role("button", name="Save").click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("[data-contentgen-block='2']")).to_have_text("A new paragraph")
    panel = open_tab(page, "Changes")
    expect(panel).to_contain_text("A new paragraph changed by Jo Doe")
    page.get_by_role("banner").get_by_role("button", name="Compare").click()
    expect(frame.locator("ins")).to_have_text("A new paragraph")
    more = page.get_by_role("button", name="More choices")
    more.click()
    expect(choice(page, "Write again…")).to_be_visible()
    expect(choice(page, "Approve with open sentences…")).to_have_count(0)
    more.click()
    panel.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("status")).to_contain_text("Nothing has changed")
    page.get_by_role("banner").get_by_role("button", name="Compare").click()
    for done in ("the change that was taken back", "the added text"):
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status")).to_contain_text(f"Undone: {done}")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_nothing_is_lost_when_it_is_killed(desk: DeskProcess, page: Page) -> None:
    """What was changed before is there when the desk runs again."""
    open_text(desk, page)
    page.get_by_role("button", name="Confirm").click()
    left(page, 2)
    expect(page.frame_locator("iframe").locator("mark")).to_have_count(2)  # it is saved
    desk.end()
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("The desk does not answer").first).to_be_visible()
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/api/queue")):
        page.get_by_role("button", name="All texts").click()
    expect(page.get_by_role("heading", name="Builds take seconds")).to_be_visible()
    assert "/report/" in page.url
    with DeskProcess(desk.project) as again:
        open_text(again, page)
        left(page, 2)


HOSTILE = (GOLDEN / "desk/hostile.html").read_text(encoding="utf-8").strip()


def test_a_hostile_page_of_the_site(project: Project, page: Page) -> None:
    """Its script reads nothing of the desk, and approves and changes nothing."""
    make_site(project.root)
    with (project.root / "docs/report.md").open("a") as file:
        file.write(f"\nText.\n\n{HOSTILE}\n")
    (project.root / "docs/worker.js").write_text("onfetch = () => {};")
    payload = "&lt;img src=x onerror=parent.hacked=1&gt;<img src=x onerror=parent.hacked=1>"
    hostile = HTML.replace("It is fast.", f"It is fast. {payload}")
    save(
        project.root,
        {NEWS.key(sandbox=False): Text(hostile, WHEN, NEWS.record(), "m", {}, in_words(payload))},
    )
    with DeskProcess(project) as desk:
        open_text(desk, page)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("It is fast.").first).to_be_visible()
        expect(frame.get_by_text("Text.", exact=True)).to_be_visible()  # the site is built
        inner = next(it for it in page.frames if it.url.endswith("/report/") and it.parent_frame)
        assert inner.evaluate("window.tried") == [
            *["refused"] * 3,
            *("no way out", "no window", "no worker"),
        ]
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_role("status")).to_contain_text("Compared with: Text before")
        assert page.evaluate("window.hacked") is None
        assert approved(desk) == ""
        left(page, 3)


CURIOUS = """
<script>
window.tried = new Promise((done) => addEventListener("load", done)).then(async () => {
  const said = [location.host, document.cookie];
  for (const path of ["/post/", "/post/index.html", "/report/other/../../post/"]) {
    try { said.push(await fetch(path).then((answer) => answer.text())); }
    catch (error) { said.push("refused"); }
    const frame = document.createElement("iframe");
    frame.src = path;
    const ended = new Promise((done) => { frame.onload = done; setTimeout(done, 2000); });
    document.body.append(frame);
    await ended;
    try { said.push(frame.contentDocument?.body.textContent ?? "refused"); }
    catch (error) { said.push("refused"); }
  }
  return said;
});
</script>
"""


def test_a_page_is_alone_on_its_host(project: Project, page: Page) -> None:
    """Its scripts read no other page, and there is no cookie that other servers would get."""
    make_site(project.root)
    with (project.root / "docs/report.md").open("a") as file:
        file.write(f"\nText.\n\n{CURIOUS}\n")
    with DeskProcess(project) as desk:
        open_text(desk, page)
        frame = page.frame_locator("iframe").first
        expect(frame.get_by_text("Text.", exact=True)).to_be_visible()  # the site is built
        inner = next(it for it in page.frames if it.url.endswith("/report/") and it.parent_frame)
        host, cookie, *said = inner.evaluate("window.tried")
        assert re.fullmatch(r"[0-9a-f]{32}\.localhost:\d+", host)
        assert cookie == ""
        assert not any("Ten habits" in it or "First." in it for it in said), said
        assert page.context.cookies() == []
        name, _, port = host.partition(".localhost:")
        shell = httpx.get(desk.origin, timeout=60)
        assert name not in shell.text + str(shell.headers)
        address = f"http://127.0.0.1:{port}/report/"
        for asked in ("127.0.0.1", "localhost", f"x.{host}"):
            assert httpx.get(address, headers={"Host": asked}, timeout=60).status_code == 403
        # The name of the host is the key.
        assert httpx.get(address, headers={"Host": host}, timeout=60).status_code == 200


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
            const path = desk + "/_contentgen/api/queue";
            const options = {method: "POST", body: "{}", credentials: "include"};
            try { read = await (await fetch(path, options)).text(); }
            catch {}
            return read;
        }""",
        desk.origin,
    )
    assert said == "refused"
    assert not any(it.get_by_role("complementary").count() for it in other.frames)


def test_typing_on_another_page(desk: DeskProcess, page: Page) -> None:
    """What a person types while a page leads them to the desk acts on nothing. 4 s."""
    open_text(desk, page)
    address = page.url
    other = page.context.new_page()
    other.goto("about:blank")
    other.evaluate("address => { location = address; }", address)
    panel = other.get_by_role("complementary", name="Review")
    expect(other.get_by_role("heading", level=1)).to_have_text("Builds take seconds")
    other.wait_for_timeout(600)  # longer than the desk waits after any key
    other.keyboard.type("hahaha\nccxx", delay=20)
    other.wait_for_timeout(600)
    other.keyboard.type("x")
    expect(other.get_by_role("dialog")).to_have_count(0)
    left(other, 3)
    panel.focus()
    other.keyboard.type("x")
    left(other, 2)


def test_keys_act_after_a_load(desk: DeskProcess, page: Page) -> None:
    """At once, without a click, whether the address was opened or loaded again. 3 s."""
    open_text(desk, page)
    address = page.url
    page.reload()
    left(page, 3)
    page.keyboard.press("c")
    left(page, 2)
    settled(page)
    page.goto(address)
    left(page, 2)
    page.keyboard.press("c")
    left(page, 1)


def test_everybody_can_use_it(desk: DeskProcess, browser: Browser) -> None:
    """Queue, panel and dialogs have no violation of axe, and no line is wider than the screen."""
    looks: list[tuple[int, int, Literal["light", "dark"]]] = [
        (390, 844, "dark"),
        (1280, 800, "light"),
        (640, 400, "dark"),  # half of a usual screen: 200 % zoom
    ]
    for width, height, scheme in looks:
        page = enter(
            desk,
            browser,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            bypass_csp=True,
        )
        expect(page.get_by_role("link", name="Builds take seconds")).to_be_visible()
        for step in ("queue", "panel", "changes", "about", "edit", "compare", "dialog"):
            if step == "panel":
                page.get_by_role("link", name="Builds take seconds").click()
                page.get_by_role("button", name="Confirm").click()
                left(page, 2)
                expect(block_with(page, "The end.")).to_be_visible()
            if step in ("changes", "about"):
                open_tab(page, step.title())
            if step == "edit":
                page.locator("aside").focus()
                page.keyboard.press("e")
                expect(page.locator(".editor textarea")).to_be_focused()
            if step == "compare":
                page.keyboard.press("Escape")
                page.get_by_role("banner").get_by_role("button", name="Compare").click()
                expect(page.get_by_role("status")).to_contain_text("Nothing has changed")
            if step == "dialog":
                page.keyboard.press("d")
                choose(page, "Approve with open sentences…")
                expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
            # The menu is still there for a moment when its choice has opened a dialog.
            page.wait_for_function(f"document.documentElement.scrollWidth <= {width}")
            if width != 640:  # what stands there is that of a narrow screen
                assert audit(page) == [], (width, scheme, step)
            if step == "panel":
                header = page.get_by_role("banner").bounding_box()
                assert header is not None
                assert header["height"] <= height / 6
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        left(page, 3)
        page.context.close()


ARABIC = """<article lang="ar"><h1>الإصدار الجديد</h1>
<p>يستغرق البناء <mark>4 ثوان</mark> فقط.</p><p>النهاية.</p></article>"""


def test_right_to_left(project: Project, page: Page) -> None:
    """Texts stand as their language does, in panel, editor and comparison. 4 s."""
    make_site(project.root)
    key = NEWS.key(sandbox=False)
    save(project.root, {key: Text(ARABIC, WHEN, NEWS.record(), "m")})
    with DeskProcess(project) as desk:
        page.goto(desk.address)
        page.get_by_role("link", name="الإصدار الجديد").click()
        panel = page.get_by_role("complementary", name="Review")
        editor = page.get_by_role("textbox", name="Edit")
        panel.get_by_role("button", name="Edit", exact=True).first.click()
        parts = [page.get_by_role("heading", level=1), panel.locator(".sentence"), editor]
        for part in parts:
            expect(part.first).to_have_css("direction", "rtl")
        editor.fill("يستغرق البناء ساعة.")
        page.get_by_role("button", name="Save").click()
        expect(editor).to_have_count(0)
        page.get_by_role("banner").get_by_role("button", name="Compare").click()
        row = panel.locator(".cards .row [dir]").first
        expect(row).to_have_css("direction", "rtl")
        frame = page.frame_locator("iframe")
        expect(frame.locator("ins")).to_contain_text("ساعة")
        page.keyboard.press("d")
        expect(frame.get_by_text("يستغرق البناء ساعة.")).to_be_visible()


THIEF = (GOLDEN / "desk/thief.html").read_text(encoding="utf-8").strip()


def test_a_page_steals_neither_keys_nor_words(project: Project, page: Page) -> None:
    """What is typed there acts on nothing, and what is typed in an editor stays there. 4 s."""
    make_site(project.root)
    with (project.root / "docs/report.md").open("a") as file:
        file.write(f"\n{THIEF}\n")
    with DeskProcess(project) as desk:
        open_text(desk, page)
        field = page.frame_locator("iframe").locator("#field")
        field.click()
        page.keyboard.type("xxca", delay=30)
        typed = field.input_value()
        left(page, 3)
        page.get_by_role("button", name="Edit", exact=True).first.click()
        editor = page.get_by_role("textbox", name="Edit")
        inner = next(it for it in page.frames if it.url.endswith("/report/") and it.parent_frame)
        inner.evaluate("window.steals = true")
        editor.fill("")
        page.keyboard.type("My own words", delay=30)
        expect(editor).to_have_value("My own words")
        assert field.input_value() in (typed, "")  # also of a page that was built meanwhile
        left(page, 3)
        assert approved(desk) == ""


def test_words_are_not_lost(desk: DeskProcess, page: Page) -> None:
    """Neither when another act answers late, nor when the text changes beneath the editor."""
    open_text(desk, page)
    held = hold(page, "change")
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.press("e")
    editor = page.get_by_role("textbox", name="Edit")
    expect(editor).to_be_focused()
    page.keyboard.type("New words ")
    held_in(page, held).continue_()
    left(page, 2)
    assert "New words" in editor.input_value()
    settled(page)
    page.keyboard.press("Escape")
    edit_block(page, "The end.")
    expect(page.get_by_role("textbox", name="You have not saved")).to_have_value(
        re.compile("New words")
    )
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Continue").click()
    expect(editor).to_have_value(re.compile("New words"))
    html = HTML.replace("5 EUR", "6 EUR")
    save(desk.project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    expect(editor).to_have_count(0)
    lost = page.get_by_role("textbox", name="You have not saved these words")
    expect(lost).to_have_value(re.compile("New words"))
    expect(page.get_by_role("status")).not_to_contain_text("undefined")


def test_twins_and_other_articles(project: Project, page: Page) -> None:
    """A click acts on the block that was clicked, also if others are the same. 5 s."""
    make_site(project.root)
    twins = HTML.replace("<p>The end.</p>", "<p>Same.</p><p>Between.</p><p>Same.</p>")
    post = '<article class="blog-post"><h1>Ten habits</h1><p>Same.</p><p>Last.</p></article>'
    save(
        project.root,
        {
            NEWS.key(sandbox=False): Text(twins, WHEN, NEWS.record(), "m"),
            BLOG.key(sandbox=False): Text(post, WHEN, BLOG.record(), "m"),
        },
    )
    requests = [NEWS.record(), {**BLOG.record(), "id": "second"}]
    project.page("report.md", requests)
    (project.root / "docs/post.md").unlink()
    with DeskProcess(project) as desk:
        open_text(desk, page)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("Same.")).to_have_count(3)
        block_with(page, "Same.").nth(1).click()
        page.get_by_role("button", name="Remove block").click()
        blocks = frame.locator("[data-contentgen-block]")
        expect(blocks).to_have_count(8)
        assert blocks.all_text_contents()[-2:] == ["Same.", "Between."]
        page.goto(desk.origin + "/_contentgen/")
        page.get_by_role("link", name="Ten habits").click()
        expect(frame.locator("[data-contentgen-block]")).to_have_count(3)
        expect(frame.locator("[data-contentgen-block='1']")).to_have_text("Same.")
        expect(page.get_by_role("banner")).to_contain_text("report.md · second")
        articles = frame.locator("article.contentgen")
        expect(articles.nth(0)).to_have_css("opacity", "0.5")  # another text
        expect(articles.nth(1)).to_have_css("opacity", "1")


SHRINKING = """<!doctype html><html lang="en" style="overflow-anchor: none"><body>
<div id="tall" style="height: 5000px"></div>{{ page.content }}<div style="height: 5000px"></div>
<img src="slow.png" alt="">
<script>addEventListener("load", () => document.getElementById("tall").remove());</script>
</body></html>"""


def test_a_page_that_changes_its_height_as_it_loads(project: Project, page: Page) -> None:
    """Whoever opens a text sees where it begins. 3 s."""
    make_site(project.root)
    project.write("theme/main.html", SHRINKING)
    held: list[Route] = []
    page.route("**/slow.png", lambda route: held.append(route))
    with DeskProcess(project) as desk:
        open_text(desk, page, "Ten habits")
        expect(block_with(page, "Ten habits")).to_be_in_viewport()
        page.route("**/slow.png", lambda route: route.abort())
        held_in(page, held)
        for route in held:
            route.abort()
        expect(page.frame_locator("iframe").locator("#tall")).to_have_count(0)
        expect(block_with(page, "Ten habits")).to_be_in_viewport()


BELOW = """<!doctype html><html lang="en"><head><link rel="stylesheet" href="/v1/own.css"></head>
<body><a href="/v1/plan.html">Next</a>{{ page.content }}</body></html>"""


def test_a_site_below_a_path(project: Project, page: Page) -> None:
    """Addresses that begin with the path of the site lead to its files, as where it is served. 3 s.

    Its pages are files with a name of their own.
    """
    make_site(project.root, site_url="https://docs.example/v1/", use_directory_urls=False)
    project.write("theme/main.html", BELOW)
    project.write("docs/own.css", "p { color: rgb(1, 2, 3); }")
    with DeskProcess(project) as desk:
        open_text(desk, page)
        expect(block_with(page, "The end.")).to_have_css("color", "rgb(1, 2, 3)")
        page.frame_locator("iframe").get_by_role("link", name="Next").click()
        expect(page.get_by_text("The page beside it is another one now.")).to_be_visible()
        expect(page.frame_locator("iframe").get_by_role("heading", name="Speed")).to_be_visible()
        page.get_by_role("button", name="Back to the page of this text").click()
        expect(block_with(page, "The end.")).to_be_visible()


STRICT = """<!doctype html><html lang="en"><head><base href="https://docs.example/">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'nonce-a'; style-src 'nonce-a'"></head>
<body>{{ page.content }}</body></html>"""


def test_a_theme_that_allows_only_its_own(project: Project, page: Page) -> None:
    """Its pages have a policy, and an address to which their links lead. 3 s."""
    make_site(project.root)
    project.write("theme/main.html", STRICT)
    with DeskProcess(project) as desk:
        open_text(desk, page)
        mark = block_with(page, "A build takes").locator("mark")
        expect(mark).to_have_css("background-color", "rgb(255, 200, 61)")
        page.keyboard.press("c")
        left(page, 2)
        settled(page)
        expect(mark).to_have_count(0)


def test_an_article_in_a_tab_is_on_the_screen(project: Project, page: Page) -> None:
    """Whoever opens a text sees it, also in a later tab, in closed details and far below. 6 s."""
    extensions = ["pymdownx.details", {"pymdownx.tabbed": {"alternate_style": True}}]
    material = THEMES["material"]
    make_site(project.root, material, markdown_extensions=[*extensions, "pymdownx.superfences"])
    inner = "??? note\n\n    <!-- contentgen -->\n\n    Own words.\n"
    tabs = f'=== "One"\n\n    Own.\n\n=== "Two"\n\n{textwrap.indent(inner, "    ")}'
    project.page("post.md", BLOG.record(), "# Title\n\n" + "Own words.\n\n" * 60 + tabs)
    with DeskProcess(project) as desk:
        open_text(desk, page, "Ten habits")
        expect(page.frame_locator("iframe").get_by_role("heading", name="Title")).to_be_attached()
        expect(block_with(page, "Ten habits").first).to_be_in_viewport()
        remove_block(page, "Last.")
        expect(block_with(page, "Last.")).to_have_count(0)
        expect(block_with(page, "First.")).to_be_visible()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(project: Project, number: int) -> None:
    """Neither a folder nor a build; Ctrl-C is how the command ends. 2 s each."""
    make_site(project.root)
    project.write("hook.py", ENDLESS)
    config = yaml.safe_load((project.root / "mkdocs.yml").read_text())
    desk_folder = project.root / "temporary"
    desk_folder.mkdir()
    project.environment["TMPDIR"] = str(desk_folder)
    project.write("mkdocs.yml", yaml.safe_dump({**config, "hooks": []}))
    desk = DeskProcess(project)
    project.write("mkdocs.yml", yaml.safe_dump({**config, "hooks": ["hook.py"]}))
    wait_until((project.root / "build.pid").exists)
    assert any(desk_folder.iterdir())
    build = int((project.root / "build.pid").read_text())
    desk.process.send_signal(number)
    assert desk.process.wait(timeout=60) == 0
    assert list(desk_folder.iterdir()) == []
    assert not Path(f"/proc/{build}").exists()


ENDLESS = """
import os
import time
from pathlib import Path


def on_pre_build(config):
    folder = Path(config.config_file_path).parent
    (folder / "new.pid").write_text(str(os.getpid()))
    (folder / "new.pid").rename(folder / "build.pid")
    time.sleep(600)
"""


def test_updates(project: Project, page: Page, model: ModelDouble) -> None:
    """Changed sources are shown as they were and are; an update changes what rests on them. 5 s."""
    writer = {"model": "m", "endpoint": model.endpoint}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    text = Text(HTML, WHEN, NEWS.record(), "m", {LINK: "0" * 64}, passages={LINK: "4 s."})
    save(project.root, {NEWS.key(sandbox=False): text})
    model.answer = written("BLOCK 1: A build takes an hour now [1].\nWHY: it got slow")
    with DeskProcess(project) as desk:
        open_text(desk, page)
        open_tab(page, "Changes")
        expect(page.get_by_role("region", name="Before: Plan › Speed")).to_contain_text("4 s")
        after = page.get_by_role("region", name="After: Plan › Speed")
        expect(after).to_contain_text("A build takes 4 seconds, and took 12 before.")
        page.get_by_role("button", name="Update").click()
        expect(page.get_by_text("it got slow")).to_be_visible()
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("A build takes an hour now")).to_be_visible()
        expect(after).to_have_count(0)
        model.answer = written("BLOCK 6: Short.\nWHY: asked\n\nBLOCK 1: No.\nWHY: x")
        choose(page, "Ask the model to change…")
        dialog = page.get_by_role("dialog", name="Ask the model to change…")
        dialog.get_by_role("textbox").fill("shorter")
        dialog.get_by_role("combobox").select_option("What is new")
        dialog.get_by_role("button", name="Send").click()
        expect(frame.get_by_text("Short.")).to_be_visible()
        expect(frame.get_by_text("A build takes an hour now")).to_be_visible()


def test_what_may_be_wrong_now(project: Project, page: Page) -> None:
    """The list names such a text, and *Check* the sentence beside its source then and now. 4 s."""
    make_site(project.root)
    save_stale(project.root)
    project.ran("mkdocs_contentgen", "approve", "report.md", "--by", "Ann")
    with DeskProcess(project) as desk:
        open_text(desk, page, group="with a changed source")
        expect(page.get_by_role("banner")).to_contain_text("Approved, may be wrong now")
        panel = page.get_by_role("complementary", name="Review")
        expect(panel).to_contain_text("1 sentence may be wrong now: plan/#speed")
        expect(panel).to_contain_text("No longer there: 40 seconds")
        expect(panel).to_contain_text("There now: ")
        before = panel.get_by_role("region", name="Before: Plan › Speed")
        expect(before).to_contain_text("40 seconds")
        panel.get_by_role("button", name="A build takes 40 seconds").click()
        editor = page.locator(".editor textarea")
        expect(editor).to_have_value(re.compile("^A build takes 40 seconds"))


def make_translation(project: Project) -> None:
    """Write a site of the sandbox with a post, and an approved translation that a person edits."""
    make_drafts(project)
    project.ran("mkdocs_contentgen", "approve", "post.md", "post.de.md", "--by", "Ada")
    file = project.root / "contentgen/post.de.md/main.html"
    html = file.read_text(encoding="utf-8")
    file.write_text(html.replace("2019", "<mark>2020</mark>"), encoding="utf-8")


def make_drafts(project: Project) -> None:
    """Write a site of the sandbox with the drafts of a post and of its translation."""
    make_site(project.root, plugins=[{"contentgen": {"base_url": "sandbox"}}])
    translation = "---\ncontentgen: {translation_of: post.md, language: de}\n---\n"
    (project.root / "docs/post.de.md").write_text(translation, encoding="utf-8")
    write_original(project, "It took 9 days in 2019.")
    ran = project.run_process("mkdocs_contentgen", "generate", "post.de.md")
    assert ran.returncode == 0, ran.stdout


def write_original(project: Project, words: str, edition: int = 1) -> None:
    """Put a version of the original into the cache."""
    html = f'<article lang="en"><h1>Ten habits</h1><p>{words}</p><p>Last.</p></article>'
    text = Text(html, WHEN, BLOG.record(), edition=edition)
    save(project.root, {BLOG.key(sandbox=True): text})


def test_a_translation(project: Project, page: Page) -> None:
    """The original stands beside each block; what has changed in it is translated, if one asks."""
    make_translation(project)
    with DeskProcess(project) as desk:
        open_text(desk, page, "Ten habits", "[de] Ten habits")
        card = page.get_by_role("region", name="2020")
        expect(card).to_contain_text("The original does not say this.")
        expect(card).to_contain_text("Original: post.md")
        expect(card).to_contain_text("It took 9 days in 2019.")
        page.frame_locator("iframe").get_by_text("[de] Last.").hover()
        panel = page.get_by_role("complementary", name="Review")
        expect(panel.locator(".source", has_text="Last.")).to_be_visible()
        open_tab(page, "About")
        expect(panel).to_contain_text("post.md (en → de)")
        page.get_by_role("button", name="More choices").click()
        expect(choice(page, "Write again…")).to_be_visible()
        expect(page.get_by_role("button", name="Ask the model to change…")).to_have_count(0)
        expect(page.get_by_role("button", name="Translate what has changed…")).to_have_count(0)

        path = project.root / "contentgen/post.md/main.html"
        path.write_text(path.read_text(encoding="utf-8").replace("Last.", "The end."), "utf-8")
        approve = ("approve", "post.md", "post.de.md", "--by", "Ada", "--reason", "It is so")
        project.ran("mkdocs_contentgen", *approve)
        expect(panel).to_contain_text("1 block changed in the original")
        page.goto(f"{desk.origin}/_contentgen/")
        group = "with a changed source"
        open_text(desk, page, "Ten habits", "[de] Ten habits", group=group)
        page.get_by_role("button", name="Translate what has changed…").click()
        dialog = page.get_by_role("dialog", name="Translate what has changed…")
        expect(dialog).to_contain_text("It costs nothing")
        dialog.get_by_role("button", name="Send").click()
        expect(page.frame_locator("iframe").get_by_text("[de] The end.")).to_be_visible()
        expect(panel).not_to_contain_text("changed in the original")


def test_an_original_is_reviewed_before_its_translation(project: Project, page: Page) -> None:
    """It is above it in the list as long as nobody has approved it. 3 s."""
    make_drafts(project)
    with DeskProcess(project) as desk:
        page.goto(desk.address)
        rows = page.get_by_role("listitem")
        expect(rows).to_have_text([re.compile("^Ten habits"), re.compile(r"^\[de\] Ten habits")])
        page.get_by_role("button", name="Review next").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Ten habits")


def approve_button(page: Page) -> Locator:
    """Return the button that approves, whose name has the text's."""
    return page.get_by_role("button", name=re.compile("^Approve"))


HELD = """
import time
from pathlib import Path


def on_post_build(config):
    while Path(config.config_file_path).with_name("hold").exists():
        time.sleep(0.05)
"""


def test_what_others_change_is_shown(project: Project, page: Page) -> None:
    """A command's and an editor's changes are in page and panel, where it asks each second. 10 s.

    An edited page makes *Approve* wait until it is built.
    """
    make_site(project.root, hooks=["hook.py"])
    project.write("hook.py", HELD)
    with DeskProcess(project) as desk:
        see_the_changes_of_others(desk, page)


def see_the_changes_of_others(desk: DeskProcess, page: Page) -> None:
    """Open a text, and change it and its page elsewhere."""
    open_text(desk, page, "Ten habits")
    frame = page.frame_locator("iframe")
    expect(approve_button(page)).to_be_enabled()
    desk.project.ran("mkdocs_contentgen", "approve", "post.md", "--by", "Ann")
    expect(frame.get_by_text("reviewed by Ann")).to_be_visible()
    file = desk.project.root / "contentgen/post.md/main.html"
    file.write_text(file.read_text().replace("First.", "By hand."))
    expect(frame.get_by_text("By hand.")).to_be_visible()
    expect(approve_button(page)).to_be_enabled()
    hold_builds = desk.project.write("hold", "")
    source = desk.project.root / "docs/post.md"
    source.write_text(f"{source.read_text()}\nThe author's own words.\n")
    expect(approve_button(page)).to_be_disabled()
    expect(page.get_by_text("its pages have changed")).to_be_visible()
    hold_builds.unlink()
    expect(frame.get_by_text("The author's own words.")).to_be_visible()
    expect(approve_button(page)).to_be_enabled()


def test_a_draft_beside_an_edited_file(desk: DeskProcess, page: Page) -> None:
    """Who is about to approve it is told that the edits of the file would go. 4 s."""
    desk.project.ran("mkdocs_contentgen", "approve", "post.md", "--by", "Ann")
    open_text(desk, page, "Ten habits", group="approved")
    edit_block(page, "Last.").fill("Words on the desk.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("newer than the approved text")).to_be_visible()
    file = desk.project.root / "contentgen/post.md/main.html"
    file.write_text(file.read_text().replace("First.", "By hand."))
    warning = page.get_by_text("The approved file was edited. Its edits go when you approve")
    expect(warning).to_be_visible()


def test_approving_is_deliberate(desk: DeskProcess, page: Page) -> None:
    """Neither a click within half a second approves anything, nor one key. 3 s.

    Who was too quick is told so.
    """
    open_text(desk, page, "Ten habits")
    expect(approve_button(page)).to_be_enabled()
    approvals = requests_of(page, "approve")
    edit_block(page, "Last.")
    # As soon as it is drawn: until the next frame, a loaded machine may need half a second.
    page.evaluate(
        """() => {
            window.waited = new Promise((done) => {
                const said = document.querySelector("[role=status]");
                const look = (changes, observer) => {
                    if (!said.textContent.includes("Removed one paragraph")) return;
                    observer.disconnect();
                    const button = document.querySelector("[data-approve]");
                    button.click();
                    done(button.ariaDisabled);
                };
                const watched = {subtree: true, childList: true, characterData: true};
                new MutationObserver(look).observe(said, watched);
            });
        }""",
    )
    page.get_by_role("button", name="Remove block").click()
    assert page.evaluate("window.waited") == "true"
    said = page.get_by_role("status")
    expect(said).to_contain_text("That was too quick. Look at the text, and press again.")
    expect(said).to_contain_text("Removed one paragraph")
    expect(approve_button(page)).to_be_enabled()
    page.keyboard.press("a")
    page.keyboard.press("a")
    assert approvals == []
    approve_button(page).click()
    wait_until(lambda: "First." in approved(desk, "post.md"))
    expect(said).to_contain_text("Approved “Ten habits”")
    expect(said).not_to_contain_text("too quick")
    assert len(approvals) == 1
    page.keyboard.press("Control+z")
    dialog = page.get_by_role("dialog", name="Undo")
    expect(dialog).to_contain_text("deletes the approved file contentgen/post.md/main.html")
    assert "First." in approved(desk, "post.md")
    dialog.get_by_role("button", name="Undo").click()
    wait_until(lambda: approved(desk, "post.md") == "")
    expect(approve_button(page)).to_be_enabled()
    held = hold(page, "approve")
    approve_button(page).click()
    first = held_in(page, held)
    page.evaluate(APPROVE_ELSEWHERE)
    first.continue_()
    expect(said).to_contain_text("Jo Doe has just approved “Ten habits”.")


APPROVE_ELSEWHERE = """async () => {
    const { call } = await import("/_contentgen/parts/api.js");
    const { frame } = await import("/_contentgen/parts/frame.js");
    const { state } = await import("/_contentgen/state/state.js");
    await call("approve", { ref: state.ref, seen: state.text.seen, shown: frame.shown });
}"""
"""Approves the text as another person would."""


def test_words_outlive_the_desk(project: Project, page: Page) -> None:
    """The next one on its port offers them, in the tab that was open, too. 7 s.

    Another tab neither takes them unasked nor overwrites them.
    """
    make_site(project.root)
    with DeskProcess(project) as desk:
        open_text(desk, page)
        page.get_by_role("button", name="Edit", exact=True).click()
        editor = page.get_by_role("textbox", name="Edit")
        editor.fill("My own words")
        page.evaluate("localStorage.setItem('edits of others', '[{}]')")
    running = page.get_by_text("Is `contentgen review` still running?")
    expect(running).to_have_count(1)
    page.get_by_role("button", name="Save").click()
    expect(editor).to_be_focused()  # again
    expect(running).to_have_count(1)
    with DeskProcess(project, int(desk.origin.rpartition(":")[2])) as desk:
        other = page.context.new_page()
        open_text(desk, other)
        lost = other.get_by_role("textbox", name="You have not saved these words")
        expect(lost).to_have_value("My own words")
        assert other.evaluate("localStorage.getItem('edits of others')") is None
        other.get_by_role("button", name="Edit", exact=True).click()
        other_editor = other.get_by_role("textbox", name="Edit")
        expect(other_editor).to_have_value(re.compile("^A build takes ==4 seconds=="))
        other_editor.fill("Other words")
        expect(lost).to_have_value("My own words")
        go_on = other.get_by_role("button", name="Continue")
        expect(go_on).to_have_count(0)
        other.locator(".editor").get_by_role("button", name="Discard").click()
        other.get_by_role("button", name="Edit", exact=True).click()
        go_on.click()
        expect(other_editor).to_have_value("My own words")
        expect(lost).to_have_count(0)
        open_tab(page, "About")  # which draws the first tab again
        expect(editor).to_have_value("My own words")


def test_a_tab_goes_on_with_the_next_desk(project: Project, page: Page) -> None:
    """Once it is loaded again, as it says; the session was opened in another tab. 4 s."""
    make_site(project.root)
    with DeskProcess(project) as desk:
        open_text(desk, page, "Ten habits")
    edit_block(page, "Last.").fill("Last words.")
    page.get_by_role("button", name="Save").click()
    said = page.get_by_role("status")
    expect(said).to_contain_text("The desk does not answer")
    page.get_by_role("button", name="Discard").click()
    with DeskProcess(project, int(desk.origin.rpartition(":")[2])) as desk:
        expect(said).to_contain_text("Open the address that `contentgen review` has printed.")
        expect(said).not_to_contain_text("does not answer")
        page.context.new_page().goto(desk.address)
        page.get_by_role("button", name="Load again").click()
        expect(approve_button(page)).to_be_enabled()
        approve_button(page).click()
        expect(page.get_by_role("status")).to_contain_text("Approved “Ten habits”")


def test_a_desk_that_does_not_answer_at_first(desk: DeskProcess, page: Page) -> None:
    """The page says so, and can be loaded again there. 2 s."""
    page.route("**/api/queue", lambda route: route.abort(), times=1)
    page.goto(desk.address)
    expect(page.get_by_role("alert")).to_contain_text("The desk does not answer.")
    page.get_by_role("button", name="Load again").click()
    expect(page.get_by_role("heading", name="Texts to review")).to_be_visible()


def test_notes_of_two_tabs(desk: DeskProcess, page: Page) -> None:
    """Each tab keeps its own note for the model; that of a closed one is offered to others. 4 s."""
    open_text(desk, page)
    page.context.storage_state()
    other = page.context.new_page()
    other.goto(page.url)
    for tab, words in ((page, "Shorter"), (other, "Longer")):
        write_note(tab).fill(words)
    for tab, words in ((page, "Shorter"), (other, "Longer")):
        tab.reload()
        expect(write_note(tab)).to_have_value(words)
    page.close()
    third = other.context.new_page()
    third.goto(other.url)
    expect(write_note(third)).to_have_value("Shorter")
    other.reload()
    expect(write_note(other)).to_have_value("Longer")


def write_note(page: Page) -> Locator:
    """Open the dialog that asks the model, and return its field."""
    choose(page, "Ask the model to change…")
    field = page.get_by_role("dialog").get_by_role("textbox")
    expect(field).to_be_focused()
    return field


BLOCKED = """
const refuse = { configurable: true, get() { throw new DOMException("", "SecurityError"); } };
for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, refuse);
LockManager.prototype.request = async () => { throw new DOMException("", "SecurityError"); };
LockManager.prototype.query = LockManager.prototype.request;
"""
"""Blocks what a browser keeps for a page, as its settings can."""

FULL = """
Storage.prototype.setItem = function set() { throw new DOMException("", "QuotaExceededError"); };
"""


@pytest.mark.parametrize("storage", [BLOCKED, FULL], ids=["blocked", "full"])
def test_a_browser_that_keeps_nothing(desk: DeskProcess, page: Page, storage: str) -> None:
    """Words stay in the page, which says so, and asks before it is closed. 3 s each."""
    page.add_init_script(storage)
    open_text(desk, page)
    edit_block(page, "The end.").fill("My own end.")
    said = page.get_by_role("status")
    expect(said).to_contain_text("Save them before you close this page.")
    page.keyboard.press("Escape")
    expect(said.get_by_role("textbox")).to_have_value("My own end.")
    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.reload())")
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Save").click()
    expect(block_with(page, "My own end.")).to_be_visible()
    settled(page)
    expect(said).not_to_contain_text("before you close")
    write_note(page).fill("Shorter")
    page.keyboard.press("Escape")
    expect(write_note(page)).to_have_value("Shorter")


def test_words_that_are_the_same_in_two_blocks(desk: DeskProcess, page: Page) -> None:
    """Saving those of one block leaves those of the other. 3 s."""
    open_text(desk, page)
    for block in ("The end.", "Needs Python 3.11"):
        edit_block(page, block).fill("See below.")
        page.keyboard.press("Escape")
    edit_block(page, "The end.").press("Control+Enter")
    expect(block_with(page, "See below.")).to_be_visible()
    settled(page)
    lost = page.get_by_role("textbox", name="You have not saved these words")
    expect(lost).to_have_value("See below.")
    expect(edit_block(page, "Needs Python 3.11")).to_have_value("See below.")


def test_nothing_is_typed_beneath_words_that_are_being_saved(desk: DeskProcess, page: Page) -> None:
    """It would not be saved with them; what is typed after they were refused stays. 3 s."""
    open_text(desk, page)
    held = hold(page, "change")
    editor = edit_block(page, "The end.")
    editor.fill("Only | the server | can read this.")
    editor.press("Control+Enter")
    request = held_in(page, held)
    page.keyboard.type(" More")
    expect(editor).to_have_value("Only | the server | can read this.")
    request.fulfill(status=422, json={"error": "No."})
    expect(page.get_by_role("status")).to_contain_text("No.")
    expect(editor).to_be_editable()
    page.keyboard.type(" More")
    expect(editor).to_have_value("Only | the server | can read this. More")


def test_a_block_that_is_edited_again_while_it_is_saved(desk: DeskProcess, page: Page) -> None:
    """What is typed then belongs to the block as it was saved, in the editor that is open. 3 s."""
    open_text(desk, page)
    held = hold(page, "change")
    editor = edit_block(page, "The end.")
    editor.fill("My own end.")
    editor.press("Control+Enter")
    request = held_in(page, held)
    edit_block(page, "My own end.").press("End")
    page.keyboard.type(" And")
    request.continue_()
    expect(page.get_by_role("main")).to_have_attribute("aria-busy", "false")
    expect(editor).to_be_focused()
    page.keyboard.type(" more.")
    expect(editor).to_have_value("My own end. And more.")
    expect(page.get_by_text("You have not saved")).to_have_count(0)
    page.keyboard.press("Escape")
    page.reload()
    page.get_by_role("button", name="Continue").click()
    expect(editor).to_have_value("My own end. And more.")
    held = hold(page, "change")
    editor.press("Control+Enter")
    request = held_in(page, held)
    edit_block(page, "And more.").fill("My very last words.")
    editor.press("Control+Enter")
    edit_block(page, "My very last words.")
    request.continue_()
    settled(page)
    expect(editor).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_contain_text("Saved the paragraph")
    expect(page.get_by_text("You have not saved")).to_have_count(0)
    page.reload()
    expect(block_with(page, "My very last words.")).to_be_visible()


PRESS_ONCE_CLOSED = """() => {
    window.pressed = new Promise((done) => {
        const look = (changes, observer) => {
            if (document.querySelector(".editor")) return;
            observer.disconnect();
            for (const key of ["x", "c"]) {
                const event = new KeyboardEvent("keydown", { key, bubbles: true });
                document.activeElement.dispatchEvent(event);
            }
            done();
        };
        new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
    });
}"""
"""Presses keys as soon as the editor is closed."""


def test_an_editor_that_another_person_closes(desk: DeskProcess, page: Page) -> None:
    """What is typed into the block that is gone acts on nothing else. 3 s."""
    open_text(desk, page)
    edit_block(page, "The end.").fill("My own words")
    page.evaluate(PRESS_ONCE_CLOSED)
    ref = page.url.partition("text=")[2]
    page.evaluate(CHANGE_ELSEWHERE, [ref, {"action": "delete"}])
    page.evaluate("window.pressed")
    lost = page.get_by_role("textbox", name="You have not saved these words")
    expect(lost).to_have_value("My own words")
    settled(page)
    left(page, 3)


def test_a_reload_while_the_session_opens(project: Project, page: Page) -> None:
    """The desk opens all the same, and words of an earlier one on its port are still there. 4 s."""
    make_site(project.root)
    with DeskProcess(project) as desk:
        open_text(desk, page)
        edit_block(page, "The end.").fill("My own words")
    with DeskProcess(project, int(desk.origin.rpartition(":")[2])) as desk:
        held = hold(page, "session")
        page.goto("about:blank")
        page.goto(desk.address)
        held_in(page, held).fetch()  # the server has answered, and nobody hears that
        page.evaluate("localStorage.clear()")  # as the answer asks for
        page.reload()
        expect(page.get_by_role("heading", name="Texts to review")).to_be_visible()
        expect(page).to_have_url(f"{desk.origin}/_contentgen/")
        open_text(desk, page)
        lost = page.get_by_role("textbox", name="You have not saved these words")
        expect(lost).to_have_value("My own words")


def test_a_duplicated_tab(desk: DeskProcess, page: Page) -> None:
    """Its words are its own, although a browser copies what the tab has stored. 3 s."""
    open_text(desk, page)
    editor = edit_block(page, "The end.")
    editor.fill("Words of the first tab")
    with page.expect_popup() as opened:
        page.evaluate("() => { window.open(location.href); }")
    other = opened.value
    lost = other.get_by_role("textbox", name="You have not saved these words")
    expect(lost).to_have_value("Words of the first tab")
    other_editor = edit_block(other, "The end.")
    expect(other_editor).to_have_value("The end.")
    other_editor.fill("Words of the second tab")
    expect(lost).to_have_value("Words of the first tab")
    expect(editor).to_have_value("Words of the first tab")
    page.reload()
    page.get_by_role("button", name="Continue").first.click()
    expect(editor).to_have_value("Words of the first tab")


def test_edit_selects_the_statement(desk: DeskProcess, page: Page) -> None:
    """The one that is open, so that what is typed takes the place of no other. 3 s.

    One that was just confirmed is none any more.
    """
    open_text(desk, page)
    select_statement(page, "5 EUR Costs", "Costs 5 EUR")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_role("textbox", name="Edit").fill("Costs ==4 EUR== or ==6 EUR==")
    page.keyboard.press("Control+Enter")
    select_statement(page, "4 EUR, 6 EUR Costs", "4 EUR")
    page.get_by_role("button", name="4 EUR", exact=True).click()
    page.get_by_role("button", name="Edit", exact=True).click()
    editor = page.get_by_role("textbox", name="Edit")
    expect(editor).to_be_focused()
    page.keyboard.type("7 EUR")
    expect(editor).to_have_value("Costs 4 EUR or 7 EUR")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    settled(page)
    page.route("**/api/change", lambda route: None)  # it is never answered
    page.get_by_role("button", name="6 EUR", exact=True).click()
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(editor).to_have_value("Costs ==4 EUR== or 6 EUR")


def test_an_edit_is_kept_when_one_leaves(desk: DeskProcess, page: Page) -> None:
    """It is offered when one returns, and Save leaves the focus where it was. 3 s."""
    open_text(desk, page)
    select_statement(page, "5 EUR Costs", "Costs 5 EUR")
    edit = page.get_by_role("button", name="Edit", exact=True)
    edit.click()
    editor = page.get_by_role("textbox", name="Edit")
    expect(editor).to_be_focused()
    assert (
        editor.evaluate("it => it.value.slice(it.selectionStart, it.selectionEnd)") == "==5 EUR=="
    )
    editor.fill("Costs half")
    page.goto(desk.origin + "/_contentgen/")
    open_text(desk, page)
    kept = page.get_by_role("textbox", name="You have not saved these words")
    expect(kept).to_have_value("Costs half")
    page.get_by_role("button", name="Continue").click()
    expect(editor).to_have_value("Costs half")
    page.keyboard.press("Control+Enter")
    expect(page.frame_locator("iframe").get_by_text("Costs half")).to_be_visible()
    expect(page.get_by_text("You have not saved")).to_have_count(0)
    left(page, 2)
    edit.click()
    expect(editor).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(editor).to_have_count(0)
    expect(edit).to_be_focused()


def test_keys_after_a_click_in_the_page(desk: DeskProcess, page: Page) -> None:
    """The clicked statement is the current one, and keys act on it; blocks are edited there."""
    open_text(desk, page)
    mark = block_with(page, "Costs 5 EUR").locator("mark")
    mark.click()
    expect(mark).to_have_attribute("data-contentgen-current", "")
    card = page.locator('[aria-current="true"]')
    expect(card).to_contain_text("Costs 5 EUR")
    page.wait_for_timeout(600)  # nobody has pressed too early
    page.keyboard.press("c")
    left(page, 2)
    page.keyboard.press("Control+z")
    left(page, 3)
    settled(page)
    edit_block(page, "The end.")
    wait_until(lambda: abs(top_of(page.locator(".editor")) - top_of(block_with(page, "end"))) < 120)


def top_of(element: Locator) -> float:
    """Return where an element begins, in pixels from the top of the screen."""
    box = element.bounding_box()
    assert box is not None
    return box["y"]


def test_another_page_in_the_frame(desk: DeskProcess, page: Page) -> None:
    """Who follows a link beside the desk is told so, and comes back. 3 s."""
    open_text(desk, page)
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="[1]").click()
    expect(page.get_by_text("The page beside it is another one now.")).to_be_visible()
    page.get_by_role("button", name="Back to the page of this text").click()
    expect(frame.get_by_text("Thrown away")).to_be_visible()


def test_the_pictures_of_the_guide(project: Project, browser: Browser) -> None:
    """They show a text about a page of the guide; UPDATE_GOLDEN=1 takes them again. 8 s."""
    import_the_pictured_text(project)
    with DeskProcess(project) as desk:
        schemes: list[Literal["light", "dark"]] = ["light", "dark"]
        for scheme in schemes if os.environ.get("UPDATE_GOLDEN") else schemes[:1]:
            # In a column of 690 px, its letters are nearly as large as those of the guide.
            size = {"width": 920, "height": 570}
            page = enter(desk, browser, viewport=size, color_scheme=scheme)
            open_text(desk, page, PICTURED.topic)
            expect(page.frame_locator("iframe").get_by_text("Made with")).to_be_attached()  # built
            mark = block_with(page, "44 %").locator("mark").first
            expect(mark).to_have_attribute("data-contentgen-current", "")
            row = page.locator(".card .source").get_by_text(re.compile(r"\d+ % of marks"))
            expect(row.first).to_be_visible()
            picture = page.screenshot()
            file = PICTURES / f"desk-{scheme}.png"
            if os.environ.get("UPDATE_GOLDEN"):
                file.write_bytes(picture)
            # Letters differ from machine to machine; width and height are in bytes 16 to 24.
            assert file.read_bytes()[16:24] == picture[16:24]
            page.context.close()


def import_the_pictured_text(project: Project) -> None:
    """Make a draft about the page of the guide on marks, with that page as its source."""
    writer = {"model": "m", "endpoint": "http://127.0.0.1:9/v1", "sources": ["docs/marks.md"]}
    make_site(
        project.root,
        {"name": "material", "font": False, "palette": PALETTE},
        site_name="mkdocs-contentgen",
        plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}],
        nav=[{"Overview": "index.md"}, {"Trust in marks": "trust.md"}],
    )
    project.write("docs/marks.md", (GUIDE / "docs/marks.md").read_text(encoding="utf-8"))
    (project.root / "docs/report.md").rename(project.root / "docs/trust.md")
    project.page("trust.md", PICTURED.record())
    imported = ("import", "trust.md", f"{GUIDE / 'desk-picture.md'}", "--model=qwen3-32b")
    project.ran("mkdocs_contentgen", *imported)


PICTURED = BlogRequest(topic="How far to trust the marks in a draft", length="short")

GUIDE = Path(__file__).parents[2] / "example_site"
PICTURES = GUIDE / "docs/pictures"
PALETTE = [
    {"media": "(prefers-color-scheme: light)", "scheme": "default"},
    {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
]


def test_the_sheet_of_a_small_screen_hides_no_statement(project: Project, browser: Browser) -> None:
    """The current one is above it, and so is the end of the page when one scrolls there. 4 s."""
    make_site(project.root, THEMES["material"])
    paragraphs = "".join(
        f"<p>{'word ' * 60}<mark>{number} things</mark>.</p>" for number in range(4)
    )
    html = f"<article><h1>Builds take seconds</h1>{paragraphs}<p>The end.</p></article>"
    key = NEWS.key(sandbox=False)
    save(project.root, {key: Text(html, WHEN, NEWS.record(), "m")})
    with DeskProcess(project) as desk:
        page = enter(desk, browser, viewport={"width": 390, "height": 844})
        open_text(desk, page)
        sheet = page.get_by_role("complementary", name="Review")
        for number in (1, 2, 3):
            page.get_by_role("button", name="Check 4 more").press("j")
            mark = block_with(page, f"{number} things").locator("mark")
            expect(mark).to_have_attribute("data-contentgen-current", "")
            wait_until(lambda mark=mark: top_of(mark) + 20 < top_of(sheet))  # type: ignore[misc]
        end = block_with(page, "The end.")
        end.evaluate("element => scrollTo(0, document.documentElement.scrollHeight)")
        wait_until(lambda: top_of(end) + 20 < top_of(sheet))
        page.context.close()


def test_the_theme_of_the_page_in_the_dark(project: Project, browser: Browser) -> None:
    """A theme that keeps its palette in the browser follows the system, where storage is refused.

    Windows of tests refuse it as private windows do.
    """
    make_site(project.root, {"name": "material", "font": False, "palette": PALETTE})
    with DeskProcess(project) as desk:
        page = enter(desk, browser, color_scheme="dark")
        open_text(desk, page)
        body = page.frame_locator("iframe").locator("body")
        expect(body).to_have_attribute("data-md-color-scheme", "slate")
        page.context.close()


def test_a_large_text(project: Project, page: Page) -> None:
    """150 statements in 5,000 words are there at once, and each can be confirmed."""
    make_site(project.root)
    paragraphs = "".join(
        f"<p>{'word ' * 32}<mark>{number} things</mark>.</p>" for number in range(150)
    )
    html = f"<article><h1>Builds take seconds</h1>{paragraphs}</article>"
    key = NEWS.key(sandbox=False)
    save(project.root, {key: Text(html, WHEN, NEWS.record(), "m")})
    with DeskProcess(project) as desk:
        open_text(desk, page)
        left(page, 150)
        select_statement(page, "149 things", "149 things")
        page.get_by_role("button", name="Confirm", exact=True).click()
        left(page, 149)
        expect(block_with(page, "149 things").locator("mark")).to_have_count(0)


def test_all_words_of_a_text_can_be_read(project: Project, page: Page) -> None:
    """Also those in ruby, and in <details> within others, which readers have to open."""
    make_site(project.root)
    html = (
        "<article><h1>Builds take seconds<rp>really</rp></h1><details><summary>More</summary>"
        "<p>Secret one.</p><details><summary>Even more</summary>Secret two.</details></details>"
        "<p>a<ruby>b<rp>run curl</rp><rt>c</rt></ruby></p></article>"
    )
    save(project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    with DeskProcess(project) as desk:
        open_text(desk, page)
        for words in ("really", "Secret one.", "Secret two.", "run curl"):
            expect(page.frame_locator("iframe").get_by_text(words)).to_be_visible()


def test_differences_are_taken_back(desk: DeskProcess, page: Page) -> None:
    """The lead, which has a class, and a list that is gone come back, and nothing is left.

    A comparison that is older than the last change is made again.
    """
    open_text(desk, page)
    held = hold(page, "compare")
    for words in ("It is fast", "Needs Python"):
        remove_block(page, words)
        expect(block_with(page, words)).to_have_count(0)
    page.get_by_role("banner").get_by_role("button", name="Compare").click()
    older = held_in(page, held).fetch()
    remove_block(page, "Costs 5 EUR")
    expect(block_with(page, "Costs 5 EUR")).to_have_count(0)
    held[0].fulfill(response=older)
    compared = page.get_by_role("tabpanel")
    for number in (3, 2):
        expect(compared.get_by_role("button", name="Take back")).to_have_count(number)
        compared.get_by_role("button", name="Take back").first.click()
    expect(page.get_by_role("status")).to_contain_text("Nothing has changed.")
    page.keyboard.press("d")
    expect(page.frame_locator("iframe").locator("p.lead")).to_contain_text("It is fast")
    expect(page.frame_locator("iframe").locator("ul > li")).to_have_count(2)


def test_a_page_without_a_request(project: Project) -> None:
    """It is an error of one line, before the desk is served."""
    make_site(project.root)
    said = project.ran("mkdocs_contentgen", "review", "no.md", "--port=0", "--by=Jo", code=1)
    assert "no.md: there is no such page" in said


def test_what_is_pressed_stays_there(desk: DeskProcess, page: Page) -> None:
    """A click acts on what was pressed, although the text changes meanwhile; twice is once. 3 s."""
    open_text(desk, page)
    changes = requests_of(page, "change")
    remove = page.get_by_role("button", name="Remove", exact=True)
    select_statement(page, "Jane Smith Thrown", "Thrown away")
    remove.hover()
    with page.expect_response(is_other_text):
        page.mouse.down()
        html = HTML.replace("The end.", "Another end.")
        save(desk.project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    page.evaluate("new Promise((done) => setTimeout(done))")  # what has arrived is handled
    page.mouse.up()
    left(page, 2)
    expect(block_with(page, "Another end.")).to_be_visible()
    expect(block_with(page, "Thrown away")).to_have_count(0)
    confirm = page.get_by_role("button", name="Confirm")
    confirm.evaluate("it => { it.click(); it.click(); }")
    left(page, 1)
    settled(page)
    assert confirm.evaluate(PRESS_TWICE)
    confirm.click()
    expect(page.get_by_text("No sentence is left to check.")).to_be_visible()
    settled(page)
    assert acts_in(changes) == ["remove", "confirm_sentence", "confirm_sentence"]
    block_with(page, "Another end.").hover(position={"x": 2, "y": 2})
    with page.expect_response(is_other_text):
        page.mouse.down()
        html = html.replace("It is fast.", "It is slow.")
        save(desk.project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    left(page, 3)
    expect(block_with(page, "It is fast.")).to_be_visible()
    page.mouse.up()
    expect(block_with(page, "It is slow.")).to_be_visible()
    expect(page.locator(".editor textarea")).to_have_value("Another end.")


def test_double_clicks(desk: DeskProcess, page: Page) -> None:
    """The second click acts on nothing that has taken the place of the first. 3 s.

    Nor does a key that is held.
    """
    open_text(desk, page)
    for name, count in (("Confirm", 2), ("Remove", 1), ("Undo", 2)):
        button = page.get_by_role("button", name=name, exact=True)
        button.click()
        left(page, count)
        settled(page)
        button.dispatch_event("click", {"detail": 2})
        expect(page.get_by_role("status")).to_contain_text("That was too quick.")
        settled(page)
        left(page, count)
    page.keyboard.press("c")
    left(page, 1)
    settled(page)
    for key in ("Control", "z", "z", "z"):  # the key is held
        page.keyboard.down(key)
    for key in ("z", "Control"):
        page.keyboard.up(key)
    left(page, 2)
    settled(page)
    left(page, 2)
    for _ in range(2):
        page.get_by_role("button", name="Edit", exact=True).click()
    editor = page.get_by_role("textbox", name="Edit")
    expect(editor).to_be_focused()


PRESS_TWICE = """async (button) => {
    const { isPressed } = await import("/_contentgen/state/pressing.js");
    const send = (name) => button.dispatchEvent(new PointerEvent(name, {bubbles: true}));
    for (const name of ["pointerdown", "pointerup", "pointerdown"]) send(name);
    await new Promise((done) => setTimeout(done, 20));
    const isStill = isPressed();
    send("pointerup");
    return isStill;
}"""
"""Presses a button again before what follows the first press, and returns whether that is noted."""


def test_it_looks_for_changes_while_a_button_is_pressed(desk: DeskProcess, page: Page) -> None:
    """Also after an answer that arrives in the meantime and has nothing new. 2 s."""
    open_text(desk, page)
    page.get_by_role("button", name="Remove", exact=True).hover()
    look = held_in(page, hold(page, "text"))
    page.mouse.down()
    with page.expect_request("**/api/text"):
        look.continue_()
    page.mouse.up()
    left(page, 2)


LATE = """
(() => {
  if (window === top) return;
  const listen = window.addEventListener;
  window.late = null; // the messages that arrive while it is a list
  window.addEventListener = (name, hear, ...more) => {
    if (name !== "message") return listen(name, hear, ...more);
    return listen(name, (event) => window.late ? window.late.push(event) : hear(event), ...more);
  };
})();
"""


def test_a_click_is_about_what_the_page_shows(desk: DeskProcess, page: Page) -> None:
    """It acts on the block that was clicked, where the desk has a newer version already. 2 s."""
    page.add_init_script(LATE)
    open_text(desk, page)
    inner = next(it for it in page.frames if it.url.endswith("/report/") and it.parent_frame)
    inner.evaluate("window.late = []")
    select_statement(page, "Jane Smith Thrown", "Thrown away")
    with page.expect_response("**/api/change"):
        page.get_by_role("button", name="Remove", exact=True).click()
    page.evaluate("new Promise((done) => setTimeout(done))")  # what has arrived is handled
    expect(block_with(page, "Thrown away")).to_be_visible()  # it is shown late
    expect(page.locator('[aria-current="true"]')).to_contain_text("Costs 5 EUR")  # and stays it
    select_statement(page, "4 seconds A build", "A build takes")
    block_with(page, "Costs 5 EUR").locator("mark").click()
    expect(page.locator('[aria-current="true"]')).to_contain_text("Costs 5 EUR")
    editor = edit_block(page, "Costs 5 EUR")
    expect(editor).to_have_value("Costs ==5 EUR==")


def test_an_edit_outlives_other_acts(desk: DeskProcess, page: Page) -> None:
    """`Undo` leaves the editor alone, *Approve* waits for it, and *Add* keeps its words, too. 4 s.

    A block that another tab changed otherwise than in its words is not overwritten.
    """
    open_text(desk, page, "Ten habits")
    remove_block(page, "First.")
    expect(block_with(page, "First.")).to_have_count(0)
    editor = edit_block(page, "Last.")
    editor.fill("My last words.")
    expect(approve_button(page)).to_be_enabled()
    approve_button(page).click()
    expect(page.get_by_text("Save or discard your words first.")).to_be_visible()
    assert approved(desk, "post.md") == ""
    page.get_by_role("button", name="Undo").click()
    expect(block_with(page, "First.")).to_be_visible()
    expect(editor).to_have_value("My last words.")
    key = BLOG.key(sandbox=False)
    html = '<article><h1>Ten habits</h1><p><a href="https://a.example/b">Last.</a></p></article>'
    save(desk.project.root, {key: Text(html, WHEN, BLOG.record(), "m")})
    lost = page.get_by_role("textbox", name="You have not saved these words")
    expect(lost).to_have_value("My last words.")
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)
    settled(page)
    added = page.get_by_role("textbox", name="Add below")

    def add() -> None:
        block_with(page, "Last.").click(position={"x": 300, "y": 5})
        expect(editor).to_be_focused()
        page.get_by_role("button", name="Add below").click()

    add()
    added.fill("One more.")
    page.keyboard.press("Escape")
    expect(added).to_have_count(0)
    add()
    expect(added).to_have_value("One more.")
    page.get_by_role("button", name="Save").click()
    expect(block_with(page, "One more.")).to_be_visible()


def test_no_key_acts_beneath_a_dialog(desk: DeskProcess, page: Page) -> None:
    """Nor does the block that is edited become another one when the text changes. 3 s."""
    open_text(desk, page)
    open_tab(page, "About")
    page.get_by_role("button", name="Keys").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("li").first.click()
    for key in ("c", "x"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    left(page, 3)
    editor = edit_block(page, "The end.")
    html = HTML.replace("<h2>What is new</h2>", "").replace("It is fast.", "It is slow.")
    save(desk.project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    expect(block_with(page, "It is slow.")).to_be_visible()
    left(page, 3)
    expect(editor).to_have_value("The end.")
    editor.fill("The very end.")
    page.get_by_role("button", name="Save").click()
    expect(block_with(page, "The very end.")).to_be_visible()


def make_sentences(project: Project, count: int) -> None:
    """Write a site whose report has so many sentences with two statements each."""
    make_site(project.root)
    sentence = "<p>It has <mark>{0} doors</mark> and <mark>{0} windows</mark>.</p>"
    paragraphs = "".join(sentence.format(number) for number in range(2, count + 2))
    html = f"<article><h1>Builds take seconds</h1>{paragraphs}</article>"
    save(project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})


def test_quick_hands(project: Project, page: Page) -> None:
    """Eight presses of a key within half a second confirm eight sentences, and no other.

    All that are pressed while the desk waits for an answer are sent at once.
    """
    make_sentences(project, 10)
    with DeskProcess(project) as desk:
        open_text(desk, page)
        left(page, 10)
        expect(block_with(page, "It has")).to_have_count(10)
        held = hold(page, "change")
        bodies = requests_of(page, "change")
        page.keyboard.press("c")
        first = held_in(page, held)
        page.keyboard.type("ccccccc")
        left(page, 2)
        first.continue_()
        expect(page.get_by_text("8 of 10 sentences checked")).to_be_visible()
        expect(page.frame_locator("iframe").locator("mark")).to_have_count(4)
        assert [len(body["changes"]) for body in bodies] == [1, 7]
        page.reload()
        left(page, 2)
        page.get_by_role("button", name="Confirm", exact=True).click()
        left(page, 1)
        expect(page.frame_locator("iframe").locator("mark")).to_have_count(2)


def test_a_card_is_a_sentence(project: Project, page: Page) -> None:
    """Its statements are confirmed together or one by one, and one *Undo* takes back an act. 4 s.

    What is said of several statements is said once.
    """
    make_sentences(project, 3)
    with DeskProcess(project) as desk:
        open_text(desk, page)
        expect(page.get_by_text("0 of 3 sentences checked")).to_be_visible()
        card = page.locator('[aria-current="true"]')
        expect(page.locator(".card")).to_have_count(3)
        expect(card.get_by_text("This is in no source.")).to_have_count(1)
        expect(card.get_by_text("No source is cited")).to_have_count(0)
        frame = page.frame_locator("iframe")
        expect(frame.locator("mark[data-contentgen-current]")).to_have_count(2)
        changes = requests_of(page, "change")
        card.get_by_role("button", name="2 doors").click()
        expect(card.get_by_role("button", name="2 doors")).to_have_count(0)
        expect(card).to_contain_text("It has 2 doors and 2 windows.")
        left(page, 3)
        expect(frame.locator("mark")).to_have_count(5)
        card.get_by_role("button", name="2 windows").press("Enter")
        left(page, 2)
        expect(page.get_by_text("1 of 3 sentences checked")).to_be_visible()
        expect(card).to_contain_text("It has 3 doors")
        page.keyboard.press("c")
        left(page, 1)
        settled(page)
        assert acts_in(changes) == ["confirm", "confirm", "confirm_sentence"]
        page.keyboard.press("Control+z")
        left(page, 2)
        expect(card).to_contain_text("It has 3 doors and 3 windows.")
        expect(card.get_by_role("button", name="3 doors")).to_be_visible()
        settled(page)
        page.keyboard.press("c")
        left(page, 1)
        settled(page)
        page.get_by_role("button", name="✓ 3 doors, 3 windows").click()
        left(page, 2)
        expect(frame.locator("mark")).to_have_count(4)
        expect(page.get_by_text("1 of 3 sentences checked")).to_be_visible()


def test_a_wrong_figure_of_a_cell(project: Project, page: Page) -> None:
    """The line of the source that says otherwise is beside it, also if the cell cites nothing.

    Of a long source that is cited, that line is in sight.
    """
    writer = {"model": "m", "endpoint": "http://127.0.0.1:9/v1", "sources": True}
    make_site(project.root, plugins=[{"contentgen": {"base_url": "writer", "writer": writer}}])
    line = "Company · 190 EUR · 400 users"
    head = "| Plan | Price | Users |\n|---|---|---|"
    project.write("docs/prices.md", f"# Prices\n\n{head}\n| Team | 29 EUR | 25 users |\n{line}\n")
    html = (
        "<article><h1>Builds take seconds</h1><table><thead><tr><th>Plan</th><th>Price</th></tr>"
        "</thead><tbody><tr><td>Team</td><td>29 EUR</td></tr><tr><td>Company</td>"
        "<td><mark>180 EUR</mark></td></tr></tbody></table>"
        "<p>The price for <mark>25 users</mark> of a Team is 29 EUR.</p>"
        f"<p>A build takes <mark>40 seconds</mark> <a href='{LINK}'>[1]</a>.</p></article>"
    )
    project.write(
        "docs/plan.md", PLAN.replace("A build", "\n".join(["Other words."] * 60 + ["A build"]))
    )
    text = Text(html, WHEN, NEWS.record(), "m", {LINK: "0" * 64})
    save(project.root, {NEWS.key(sandbox=False): text})
    with DeskProcess(project) as desk:
        open_text(desk, page)
        card = page.locator('[aria-current="true"]')
        expect(card).to_contain_text("Price · Company")
        expect(card.locator(".source b")).to_have_text(line)
        expect(card).to_contain_text("This is in no source.")
        page.keyboard.press("j")
        expect(card).to_contain_text("A source has these words: see whether it says this.")
        expect(page.get_by_role("button", name="180 EUR")).to_have_text("180 EUR Price · Company")
        said = page.get_by_role("status")
        page.keyboard.press("k")
        remove = card.get_by_role("button", name="Remove")
        expect(remove).to_have_attribute("title", "x · Empties this cell")
        remove.click()
        expect(said).to_contain_text("Emptied the cell")
        left(page, 2)
        page.keyboard.press("Control+z")
        expect(said).to_contain_text("Undone: ")
        left(page, 3)
        settled(page)
        edit_block(page, "29 EUR")
        page.get_by_role("button", name="Empty the cell").click()
        expect(block_with(page, "29 EUR").nth(1)).to_have_count(0)
        expect(said).to_contain_text("Emptied the cell")
        settled(page)
        select_statement(page, "25 users The price", "25 users")
        page.keyboard.press("j")
        closest = card.get_by_role("region").locator("b")
        expect(closest).to_contain_text("A build takes 4 seconds")
        expect(closest).to_be_in_viewport(ratio=1)


def test_own_changes_are_shown_at_once(project: Project, page: Page) -> None:
    """Before the server has answered, also in a theme that has colours of its own.

    Who leaves before is asked first.
    """
    make_site(project.root, THEMES["material"])
    with DeskProcess(project) as desk:
        open_text(desk, page)
        held = hold(page, "change")
        page.get_by_role("button", name="Confirm", exact=True).click()
        mark = block_with(page, "It is fast.").locator("mark")
        expect(mark).to_have_css("background-color", "rgba(0, 0, 0, 0)")
        expect(page.get_by_role("status")).to_contain_text("Saving what you did (1 change left)")
        expect(page.get_by_role("main")).to_have_attribute("aria-busy", "true")
        with page.expect_event("dialog") as asked:
            page.evaluate("setTimeout(() => location.reload())")
        assert asked.value.type == "beforeunload"
        asked.value.dismiss()
        held_in(page, held).continue_()
        expect(mark).to_have_count(0)
        settled(page)
        expect(page.get_by_role("status")).not_to_contain_text("Saving")


def test_a_statement_is_selected_and_checked_again(desk: DeskProcess, page: Page) -> None:
    """A click on a mark selects that one, and a click on a checked one takes its tick off. 3 s."""
    open_text(desk, page)
    block_with(page, "Thrown away").locator("mark").click()
    card = page.locator('[aria-current="true"]')
    expect(card).to_contain_text("Thrown away, says Jane Smith.")
    expect(page.locator(".editor")).to_have_count(0)
    card.get_by_role("button", name="Confirm").click()
    left(page, 2)
    expect(block_with(page, "Thrown away").locator("mark")).to_have_count(0)
    page.get_by_role("button", name="✓ Jane Smith").click()
    left(page, 3)
    expect(block_with(page, "Thrown away").locator("mark")).to_have_count(1)


def test_another_person_was_faster(desk: DeskProcess, browser: Browser, page: Page) -> None:
    """Who saves a paragraph that somebody else has just changed is told so, with the words. 6 s.

    A statement that another person has confirmed is confirmed, and its sentence is not removed.
    """
    open_text(desk, page)
    edit_block(page, "The end.").fill("My own end.")
    state = page.context.storage_state()
    other = browser.new_context(storage_state=state).new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(page.url)
    edit_block(other, "The end.").fill("Their end.")
    page.get_by_role("button", name="Save").hover()
    with page.expect_response(is_other_text):
        page.mouse.down()
        other.get_by_role("button", name="Save").click()
    page.evaluate("new Promise((done) => setTimeout(done))")  # what has arrived is handled
    page.mouse.up()
    message = "Jo Doe changed this paragraph a moment ago. Your change was not saved; here it is: "
    expect(page.get_by_role("status")).to_contain_text(f"{message}My own end.")
    expect(block_with(page, "Their end.")).to_be_visible()
    lost = page.get_by_role("textbox", name="You have not saved these words")
    expect(lost).to_have_value("My own end.")
    lost.locator("..").get_by_role("button", name="Discard").click()
    settle_at_once(page, other, "Confirm")
    expect(page.get_by_role("status")).to_contain_text("Confirmed “4 seconds”")
    expect(page.get_by_role("button", name="✓ 4 seconds")).to_be_visible()
    settle_at_once(page, other, "Remove")
    message = "Somebody has just confirmed “Jane Smith”. The sentence was not removed."
    expect(page.get_by_role("status")).to_contain_text(message)
    expect(page.get_by_text("2 of 3 sentences checked")).to_be_visible()
    other.context.close()


def settle_at_once(page: Page, other: Page, name: str) -> None:
    """Press a button of the current statement while another person confirms it."""
    held = hold(page, "change")
    page.get_by_role("button", name=name, exact=True).click()
    request = held_in(page, held)
    with other.expect_response("**/api/change"):
        other.get_by_role("button", name="Confirm", exact=True).click()
    marks = page.frame_locator("iframe").locator("mark")
    count = marks.count()
    request.continue_()
    expect(marks).to_have_count(count - 1)  # what both have done is shown


def test_undo_says_what_it_takes_back(desk: DeskProcess, page: Page) -> None:
    """Also when another person has done something with the text since. 4 s."""
    open_text(desk, page, "Ten habits")
    said = page.get_by_role("status")
    edit_block(page, "First.").fill("My own words.")
    page.get_by_role("button", name="Save").click()
    expect(said).to_contain_text("Saved the paragraph")
    settled(page)
    ref = page.url.partition("text=")[2]
    page.evaluate(CHANGE_ELSEWHERE, [ref, {"action": "delete"}])
    expect(said).to_contain_text("Done last: the removed paragraph")
    expect(approve_button(page)).to_be_enabled()
    approve_button(page).click()
    gone = page.get_by_role("dialog", name="Removed since you last saw it")
    expect(gone).to_be_visible()
    page.wait_for_timeout(600)  # as a person needs to read it
    gone.get_by_role("button", name="Close").click()
    approve_button(page).click()
    expect(page).to_have_title(re.compile("Builds take seconds"))
    page.evaluate(CHANGE_ELSEWHERE, [ref, {"action": "edit", "markdown": "Their words."}])
    page.get_by_role("button", name="Undo").click()
    expect(page).to_have_title(re.compile("Ten habits"))
    expect(said).to_contain_text("Done last: the edit")
    expect(block_with(page, "Their words.")).to_be_visible()
    assert "My own words." in approved(desk, "post.md")


def test_undo_is_shown_at_once(desk: DeskProcess, page: Page) -> None:
    """Before the server has answered; with nothing left, quick hands are no error. 3 s.

    What is open again is the statement to check.
    """
    open_text(desk, page)
    said = page.get_by_role("status")
    card = page.locator('[aria-current="true"]')
    page.keyboard.press("c")
    left(page, 2)
    settled(page)
    page.keyboard.press("j")
    expect(card).to_contain_text("Costs 5 EUR")
    held = hold(page, "undo")
    page.keyboard.press("Control+z")
    request = held_in(page, held)
    left(page, 3)
    expect(block_with(page, "It is fast.").locator("mark")).to_have_count(1)
    request.continue_()
    expect(said).to_contain_text("Undone: the confirmation")
    expect(card).to_contain_text("A build takes 4 seconds")
    settled(page)
    page.keyboard.press("c")
    for _ in range(4):
        page.keyboard.press("Control+z")
    left(page, 3)
    settled(page)
    expect(said).to_contain_text("Undone: the confirmation")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    held = hold(page, "undo")
    page.keyboard.press("c")
    page.keyboard.press("Control+z")
    held_in(page, held).fulfill(status=409, json={"error": "No."})
    expect(said).to_contain_text("No.")
    left(page, 2)
    settled(page)


def test_undo_where_two_texts_are_the_same(project: Project, page: Page) -> None:
    """What *Undo* shows at once is the text that is open, and not its twin. 3 s."""
    make_site(project.root)
    twin = BlogRequest(topic="Ten twins")
    project.page("twin.md", twin.record())
    html = "<article><h1>Same title</h1><p>It has <mark>10 parts</mark>.</p></article>"
    for request in (BLOG, twin):
        key = request.key(sandbox=False)
        save(project.root, {key: Text(html, WHEN, request.record(), "m")})
    with DeskProcess(project) as desk:
        page.goto(desk.address)
        expect(page.get_by_role("heading", name="Texts to review")).to_be_visible()
        for name in ("twin.md", "post.md"):
            # What was done with the first one is known to the server alone.
            page.goto(f"{desk.origin}/_contentgen/")
            page.get_by_role("listitem").filter(has_text=name).get_by_role("link").click()
            left(page, 1)
            page.keyboard.press("c")
            left(page, 0)
            settled(page)
        page.get_by_role("button", name="All texts").click()
        page.get_by_role("listitem").filter(has_text="twin.md").get_by_role("link").click()
        expect(page.get_by_role("banner")).to_contain_text("twin.md")
        left(page, 0)
        settled(page)
        held = hold(page, "undo")
        page.keyboard.press("Control+z")
        undo = held_in(page, held)
        expect(page.get_by_role("banner")).to_contain_text("twin.md")
        undo.continue_()
        left(page, 1)
        expect(page.get_by_role("banner")).to_contain_text("twin.md")


def test_undo_while_the_desk_looks_for_changes(desk: DeskProcess, page: Page) -> None:
    """An answer that has nothing new leaves the text alone that Undo shows already. 2 s."""
    open_text(desk, page)
    held = hold(page, "change")
    page.keyboard.press("c")
    request = held_in(page, held)
    page.keyboard.press("Control+z")
    look = """async () => {
        const { inTurn, look } = await import("/_contentgen/parts/acts.js");
        inTurn(look);
    }"""
    page.evaluate(look)
    request.continue_()
    expect(page.get_by_role("status")).to_contain_text("Undone: the confirmation")
    left(page, 3)
    settled(page)


def test_undo_of_what_another_person_has_done(project: Project, browser: Browser) -> None:
    """It says whose it is, and asks before it takes that back. 5 s."""
    make_site(project.root)
    with DeskProcess(project) as desk, DeskProcess(project, by="Ann Li") as other_desk:
        page = enter(desk, browser)
        open_text(desk, page)
        undone = requests_of(page, "undo")
        other = enter(other_desk, browser)
        open_text(other_desk, other)
        other.keyboard.press("c")
        left(page, 2)
        said = page.get_by_role("status")
        expect(said).to_contain_text("Done last: the confirmation (Ann Li)")
        expect(other.get_by_role("status")).not_to_contain_text("Ann Li")
        page.keyboard.press("Control+z")
        dialog = page.get_by_role("dialog", name="Undo")
        expect(dialog).to_contain_text("This takes back what Ann Li has done: the confirmation.")
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
        left(page, 2)
        page.keyboard.press("Control+z")
        dialog.get_by_role("button", name="Undo").click()
        left(page, 3)
        assert len(undone) == 1
        left(other, 3)
        select_statement(other, "4 seconds A build", "A build takes")
        settle_at_once(page, other, "Remove")
        message = "Ann Li has just confirmed “4 seconds”. The sentence was not removed."
        expect(said).to_contain_text(message)
        other.context.close()
        page.context.close()


def test_the_list_tells_what_became_of_an_approval(desk: DeskProcess, page: Page) -> None:
    """Also if it was opened before the answer; the approval can be undone there. 3 s."""
    open_text(desk, page, "Ten habits")
    expect(approve_button(page)).to_be_enabled()
    held = hold(page, "approve")
    approve_button(page).click()
    request = held_in(page, held)
    page.get_by_role("button", name="All texts").click()
    request.continue_()
    expect(page.get_by_role("heading", name="Texts to review")).to_be_visible()
    said = page.get_by_role("status")
    expect(said).to_contain_text("Approved “Ten habits”")
    said.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog", name="Undo").get_by_role("button", name="Undo").click()
    expect(page).to_have_title(re.compile("Ten habits"))
    expect(said).to_contain_text("Undone: the approval")
    assert approved(desk, "post.md") == ""


def test_an_approval_that_is_taken_back_at_once(desk: DeskProcess, page: Page) -> None:
    """The person stays with its text, although the next one was about to be opened. 3 s."""
    open_text(desk, page, "Ten habits")
    expect(approve_button(page)).to_be_enabled()
    held = hold_opening(page)
    approve_button(page).click()
    opening = held_in(page, held)
    said = page.get_by_role("status")
    expect(said).to_contain_text("Approved “Ten habits”")
    page.keyboard.press("Control+z")
    page.get_by_role("dialog", name="Undo").get_by_role("button", name="Undo").click()
    expect(said).to_contain_text("Undone: the approval")
    with page.expect_response(is_opened):
        opening.continue_()
    page.evaluate("new Promise((done) => setTimeout(done))")  # what has arrived is handled
    expect(page).to_have_title(re.compile("Ten habits"))
    expect(page).to_have_url(re.compile("/post/"))
    expect(approve_button(page)).to_be_enabled()
    assert approved(desk, "post.md") == ""


def test_an_answer_that_is_lost(desk: DeskProcess, page: Page) -> None:
    """The person is told to look, and words that were saved are not called unsaved. 3 s."""
    open_text(desk, page)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/api/change", lose, times=1)
    edit_block(page, "The end.").fill("My own end.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("See whether it has your last change.")
    expect(block_with(page, "My own end.")).to_be_visible()
    expect(page.get_by_text("You have not saved")).to_have_count(0)
    page.keyboard.press("c")
    left(page, 2)


CHANGE_ELSEWHERE = """async ([ref, change]) => {
    const { call } = await import("/_contentgen/parts/api.js");
    const { blocks, seen } = await call("text", { ref });
    const { number, digest } = blocks.at(-1);
    await call("change", { ref, seen, changes: [{ ...change, block: number, digest }] });
}"""
"""Changes the last block of a text as another person would."""


LINES = {
    "**Two words**, *one* (`a_b = 1`) and ==4 s== now [[1]](<https://a.example/x_y>).": True,
    "Of a file [2], [not known: when].": True,
    "[1](<https://a.example/x>) and [a][b]": False,
    r"A snake\_case, ~~5~~ 6 and 2\*3.": True,
    "*It* is 5*3*2": False,
    "Spaces ** around ** it": False,
    "**one*two*three**": False,
    "<sup>2</sup>": False,
    "![a](<https://a.example/x>)": False,
    "- an item": False,
    "See www.example.com": False,
}
"""Lines of light Markdown, and whether the page can show them before the server has them."""


def html_of(parts: list[list[str]]) -> str:
    """Return the HTML that the page makes of parts."""
    html = ""
    for tag, text, address in parts:
        link = f' href="{address}"' if address else ""
        html += f"<{tag}{link}>{text}</{tag}>" if tag else text
    return html


def test_plain_words_are_shown_at_once(desk: DeskProcess, page: Page) -> None:
    """Before the server has them; where it refuses them, they are in the editor again. 2 s."""
    open_text(desk, page)
    held = hold(page, "change")
    editor = edit_block(page, "The end.")
    editor.fill("My **own** end.")
    page.get_by_role("button", name="Save").click()
    expect(block_with(page, "My own end.").locator("strong")).to_have_text("own")
    expect(editor).to_have_count(0)
    expect(page.get_by_text("You have not saved")).to_have_count(0)
    held_in(page, held).fulfill(status=422, json={"error": "No."})
    expect(editor).to_have_value("My **own** end.")
    expect(block_with(page, "The end.")).to_be_attached()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved the paragraph")
    page.reload()
    expect(block_with(page, "My own end.")).to_be_visible()
    read = """async (lines) => {
      const { partsOf } = await import("/_contentgen/state/light.js");
      return lines.map(partsOf);
    }"""
    for (line, is_known), parts in zip(LINES.items(), page.evaluate(read, [*LINES]), strict=True):
        assert (parts is not None) == is_known, line
        if parts is not None:
            assert html_of(parts) == read_line(line)


def test_markdown_between_blocks(desk: DeskProcess, page: Page) -> None:
    """The + at the edge of a block takes lists and tables; *Undo* says what it takes back. 3 s."""
    open_text(desk, page)
    block_with(page, "The end.").hover(position={"x": 2, "y": 2})
    page.get_by_role("main").get_by_role("button", name="Add below").click()
    area = page.get_by_role("textbox", name="Add below")
    expect(area).to_be_focused()
    area.fill("Words.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c | d |\n")
    page.get_by_role("button", name="Save").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("cell", name="d", exact=True)).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Added the text")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone: the added text")
    expect(frame.get_by_role("cell")).to_have_count(0)


def test_formatted_text_becomes_markdown(desk: DeskProcess, page: Page) -> None:
    """Where it is pasted; *Close* and *Discard* say which keeps the words. 3 s."""
    open_text(desk, page)
    editor = edit_block(page, "The end.")
    editor.evaluate(PASTE, "<p>Some <b>bold</b> and <a href='https://a.example/'>a link</a></p>")
    expect(editor).to_have_value("Some **bold** and [a link](https://a.example/)")
    buttons = page.locator(".editor").get_by_role("button")
    labels = ["Save", "Close (words stay)", "Discard words", "Add below", "Remove block"]
    expect(buttons).to_have_text(labels)
    page.keyboard.press("Control+z")  # that of the field
    expect(editor).to_have_value("The end.")


PASTE = """(area, html) => {
    area.select();
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/html", html);
    area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
}"""
"""Pastes formatted text in place of all words of a field."""


def test_redo(desk: DeskProcess, page: Page) -> None:
    """What *Undo* has taken back is done again, with the key and with the button. 3 s."""
    open_text(desk, page)
    said = page.get_by_role("status")
    expect(said).to_be_empty()
    for key in ("c", "x"):
        page.keyboard.press(key)
    left(page, 1)
    settled(page)
    page.keyboard.press("Control+z")
    expect(said).to_contain_text("Undone: the removed sentence")
    expect(said).to_contain_text("The change before: the confirmation")
    page.keyboard.press("Control+z")
    left(page, 3)
    settled(page)
    page.keyboard.press("Control+Shift+z")
    left(page, 2)
    expect(said).to_contain_text("Done again: the confirmation")
    settled(page)
    said.get_by_role("button", name="Redo").click()
    left(page, 1)
    expect(said).to_contain_text("Done again: the removed sentence")
    expect(said.get_by_role("button", name="Redo")).to_have_count(0)


def test_the_model_is_asked_beside_a_sentence(desk: DeskProcess, page: Page) -> None:
    """For the part that it stands in; what it takes is one sentence. 3 s."""
    open_text(desk, page)
    card = page.locator('[aria-current="true"]')
    select_statement(page, "5 EUR Costs", "Costs 5 EUR")
    card.get_by_role("button", name="Ask the model to change…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("combobox")).to_have_value("What is new")
    expect(dialog).to_contain_text("This takes 1 call to the model, at most ")
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Write again…").click()
    expect(dialog.get_by_role("button", name="Write again", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    choose(page, "Approve with open sentences…")
    sentences = dialog.get_by_role("listitem")
    expect(sentences).to_have_count(3)
    expect(sentences.first).to_contain_text("A build takes 4 seconds now [1].")


def test_the_list_shows_what_the_bar_shows(project: Project, page: Page) -> None:
    """Titles and remarks, and what waits for one click alone first. 3 s."""
    make_site(project.root)
    html = HTML.replace("Builds take seconds</h1>", "Seconds, not minutes</h1>")
    remarks = in_words("length: too short")
    key = NEWS.key(sandbox=False)
    save(project.root, {key: Text(html, WHEN, NEWS.record(), "m", remarks=remarks)})
    with DeskProcess(project) as desk:
        page.goto(desk.address)
        rows = page.get_by_role("list").get_by_role("listitem")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Ten habits")
        expect(rows.nth(1)).to_contain_text("Seconds, not minutes")
        expect(rows.nth(1)).to_contain_text("report.md · 1 remark: length")
        expect(rows.nth(1)).to_contain_text("0 of 3 sentences checked")
        expect(page.get_by_text("2 texts to review, 3 sentences to check")).to_be_visible()


@pytest.mark.parametrize("theme", ["mkdocs", "material"])
def test_no_page_shows_a_search_that_finds_nothing(
    project: Project, page: Page, theme: str
) -> None:
    """Its index has the words of all pages; and no script of the theme fails. 4 s each."""
    make_site(project.root, THEMES[theme], plugins=["search", PLUGIN])
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(f"{error.stack}"))
    with DeskProcess(project) as desk:
        with page.expect_response(re.compile("search_index.json")):
            open_text(desk, page)
        frame = page.frame_locator("iframe")
        expect(frame.locator("[role=search], .md-search").first).to_be_hidden()
        expect(frame.get_by_text("Search", exact=True).first).to_be_hidden()
    assert [error for error in errors if "search" in error] == []


PLUGIN = {
    "contentgen": {
        "base_url": "writer",
        "writer": {"model": "m", "endpoint": "http://127.0.0.1:9/v1"},
    }
}


def test_save_is_in_sight(project: Project, browser: Browser) -> None:
    """However long the words are, and at the lower end of the page, too. 3 s."""
    make_site(project.root)
    html = f"<article><h1>Builds take seconds</h1><p>{'More words. ' * 300}</p></article>"
    save(project.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    with DeskProcess(project) as desk:
        for width, height in ((1280, 720), (390, 844)):
            page = enter(desk, browser, viewport={"width": width, "height": height})
            open_text(desk, page)
            block_with(page, "More words.").evaluate("it => it.scrollIntoView({block: 'end'})")
            page.locator("aside").press("+")
            area = page.get_by_role("textbox", name="Add below")
            expect(area).to_be_focused()
            area.fill("A line.\n\n" * 40)
            expect(page.get_by_role("button", name="Save")).to_be_in_viewport(ratio=1)
            page.get_by_role("button", name="Discard").click()
            page.locator("aside").press("Escape")
            edit_block(page, "More words.")
            expect(page.get_by_role("button", name="Save")).to_be_in_viewport(ratio=1)
            page.context.close()


def test_the_list_and_the_address(desk: DeskProcess, page: Page) -> None:
    """The address opens the list again, and the list says when everything is approved. 5 s."""
    both = ("report.md", "post.md", "--by=Ann", "--reason=Checked")
    desk.project.ran("mkdocs_contentgen", "approve", *both)
    git(desk.project.root, "init", "-q")
    desk.project.page("new.md", {"type": "blog", "topic": "A new one"})
    page.goto(desk.address)
    expect(page.get_by_role("button", name="1 missing")).to_be_visible()
    page.goto(desk.address)  # its token was used before
    expect(page).to_have_url(f"{desk.origin}/_contentgen/")
    expect(page.get_by_role("button", name="2 approved")).to_be_visible()
    expect(page.get_by_text("git add -- 'contentgen' && git commit")).to_be_visible()
    expect(page.get_by_role("button", name="Review next")).to_be_disabled()
    page.keyboard.press("n")
    page.get_by_role("button", name="1 missing").click()
    held = hold(page, "cost")
    generate = page.get_by_role("button", name="Generate…")
    generate.click()
    dialog = page.get_by_role("dialog", name="Generate…")
    expect(dialog).to_be_visible()  # before it has its fields
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    with page.expect_response("**/api/cost"):
        held_in(page, held).continue_()
    page.evaluate("new Promise((done) => setTimeout(done))")  # what has arrived is handled
    expect(dialog).to_have_count(0)
    generate.click()
    expect(dialog).to_contain_text("A new one")
    expect(dialog.get_by_role("button", name="Generate")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="2 approved").click()
    page.get_by_role("searchbox").fill("habits")
    page.get_by_role("link", name="Ten habits").click()
    page.get_by_role("button", name="Next text").click()
    expect(page.get_by_text("No text waits for a review; some are missing.")).to_be_visible()


@pytest.mark.parametrize("key", ["n", "Enter"])
def test_keys_in_the_list(desk: DeskProcess, page: Page, key: str) -> None:
    """They open what needs a person first; Enter on something else does what that does. 2 s."""
    page.goto(desk.address)
    approved_texts = page.get_by_role("button", name="0 approved")
    approved_texts.press("Enter")
    expect(approved_texts).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.get_by_role("button", name="Review next")).to_be_enabled()
    page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Ten habits")


def test_the_focus_when_its_button_is_gone(desk: DeskProcess, page: Page) -> None:
    """The heading of what is opened has it, so that one hears where one is. 3 s."""
    page.goto(desk.address)
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("link", name="Ten habits").press("Enter")
    expect(heading).to_have_text("Ten habits")
    expect(heading).to_be_focused()
    expect(approve_button(page)).to_be_enabled()
    be_there(page)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    expect(heading).to_have_text("Builds take seconds")
    expect(heading).to_be_focused()
    left(page, 3)
    page.get_by_role("button", name="All texts").press("Enter")
    expect(heading).to_have_text("Texts to review")
    expect(heading).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading).to_have_text("Builds take seconds")


def test_changes_of_people_are_taken_back(desk: DeskProcess, page: Page) -> None:
    """Each where it is listed. 3 s."""
    open_text(desk, page)
    edit_block(page, "The end.").fill(f"My own end {'is far away ' * 7}from here.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved the paragraph")
    panel = open_tab(page, "Changes")
    expect(panel).to_contain_text("My own end is far away")
    expect(panel).to_contain_text("is far away is far… changed by Jo Doe")
    panel.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("status")).to_contain_text("Took back one change")
    expect(block_with(page, "The end.")).to_be_visible()
    expect(panel).to_contain_text("Nobody has changed this text.")


def test_nothing_of_a_comparison_stays(project: Project, page: Page) -> None:
    """What was removed below a title that the theme moved is on the page only while one compares.

    2 s.
    """
    make_site(project.root, THEMES["readthedocs"])
    with DeskProcess(project) as desk:
        open_text(desk, page)
        remove_block(page, "A build takes")
        expect(block_with(page, "A build takes")).to_have_count(0)
        page.keyboard.press("d")
        frame = page.frame_locator("iframe")
        expect(frame.locator("del")).to_contain_text("A build takes")
        page.keyboard.press("d")
        settled(page)
        expect(frame.locator("body")).not_to_contain_text("A build takes")


def test_the_progress_of_a_long_text(project: Project, browser: Browser) -> None:
    """Two digits on both sides are no wider than the row of the text in the list. 3 s."""
    make_site(project.root)
    sentences = "".join(f"<p>It takes <mark>{number} days</mark>.</p>" for number in range(120))
    text = f'<article class="news-article"><h1>Builds take seconds</h1>{sentences}</article>'
    save(project.root, {NEWS.key(sandbox=False): Text(text, WHEN, NEWS.record(), "m")})
    with DeskProcess(project) as desk:
        page = enter(desk, browser, viewport={"width": 1280, "height": 800})
        row = page.get_by_role("listitem").filter(has_text="0 of 120 sentences checked")
        expect(row).to_be_visible()
        assert row.evaluate("row => row.scrollWidth <= row.clientWidth")
        page.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_menu_can_be_read(desk: DeskProcess, browser: Browser, width: int) -> None:
    """All choices beside the button are on the screen, in buttons that hold their words. 2 s."""
    page = enter(desk, browser, viewport={"width": width, "height": 800})
    open_text(desk, page)
    page.get_by_role("button", name="More choices").click()
    for name in ("Approve with open sentences…", "Ask the model to change…", "Write again…"):
        button = choice(page, name)
        expect(button).to_be_in_viewport(ratio=1)
        assert button.evaluate("it => it.scrollWidth <= it.clientWidth")
    page.context.close()


def test_a_comparison_says_why_nothing_can_be_approved(desk: DeskProcess, page: Page) -> None:
    """The button that is grey meanwhile has a reason, which is also on the screen. 2 s."""
    open_text(desk, page, "Ten habits")
    expect(approve_button(page)).to_be_enabled()
    page.get_by_role("button", name="Compare").click()
    expect(approve_button(page)).to_be_disabled()
    why = "You approve the text itself, not a comparison. Close Compare first."
    expect(approve_button(page)).to_have_accessible_description(f"a · {why}")
    expect(page.get_by_role("status")).to_contain_text(why)
    page.get_by_role("button", name="Compare").click()
    expect(approve_button(page)).to_be_enabled()
    expect(page.get_by_role("status")).not_to_contain_text(why)


def test_compare_without_an_earlier_text(desk: DeskProcess, page: Page) -> None:
    """It says so, and not that nothing has changed. 2 s."""
    open_text(desk, page)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("no approved text to compare with")
    expect(page.get_by_text("Nothing has changed")).to_have_count(0)


def test_back_while_a_text_is_loading(desk: DeskProcess, page: Page) -> None:
    """The desk stays with the text that the person went back to. 2 s."""
    open_text(desk, page, "Ten habits")
    held = hold_opening(page)
    page.keyboard.press("n")
    loading = held_in(page, held)
    with page.expect_response(is_opened):
        page.go_back()
    with page.expect_response(is_opened):
        loading.continue_()
    page.evaluate("new Promise((done) => setTimeout(done))")  # what has arrived is handled
    expect(page.get_by_role("heading", level=1)).to_have_text("Ten habits")


def test_a_page_that_comes_after_its_build(project: Project, page: Page) -> None:
    """What was asked for before a build, and comes after it, is loaded again. 3 s."""
    make_site(project.root, hooks=["hook.py"])
    project.write("hook.py", HELD)
    hold_builds = project.write("hold", "")
    with DeskProcess(project) as desk:
        held: list[Route] = []
        page.route(re.compile(r"localhost:\d+/report/"), lambda route: held.append(route), times=1)
        page.goto(desk.address)
        page.get_by_role("link", name="Builds take seconds").click()
        address = httpx.URL(held_in(page, held).request.url)
        host = f"{address.host}:{address.port}"
        plain = httpx.get(address.copy_with(host="127.0.0.1"), headers={"Host": host}, timeout=60)
        expect(page.get_by_text("its pages have changed")).to_be_visible()
        hold_builds.unlink()
        expect(page.get_by_text("its pages have changed")).to_have_count(0)
        held[0].fulfill(headers=dict(plain.headers), body=plain.content)
        expect(built_blocks(page)).to_have_count(7)
