"""What changed since a person saw it, and what no page shows, comes before *Approve* acts."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import browser
from conftest import Project, wait_until
from desk_site import BLOG, TEMPLATE, WHEN, make_site, save
from playwright.sync_api import Browser, Page, Response, expect
from test_browser_desk import (
    PATIENCE,
    DeskProcess,
    approve_button,
    approved,
    be_there,
    block_with,
    desk,
    edit_block,
    enter,
    open_tab,
    open_text,
    page,
    settled,
)

from mkdocs_contentgen.text import Text

__all__ = ["browser", "desk", "page"]  # the fixtures

pytestmark = pytest.mark.system

TITLE = "Ten habits"


def write_text(root: Path, blocks: str) -> None:
    """Replace the draft without statements to check by another one."""
    html = f'<article class="blog-post"><h1>{TITLE}</h1>{blocks}</article>'
    save(root, {BLOG.key(sandbox=False): Text(html, WHEN, BLOG.record(), "m")})


def paragraphs(count: int) -> str:
    """Return so many paragraphs, each of several lines."""
    return "".join(f"<p>Paragraph {number}. {'word ' * 60}</p>" for number in range(count))


CHANGE_ELSEWHERE = """async (change) => {
    const { call } = await import("/_contentgen/parts/api.js");
    const { state } = await import("/_contentgen/state/state.js");
    const { ref, text: { seen, blocks } } = state;
    const { digest } = blocks[change.block];
    await call("change", { ref, seen, changes: [{ digest, ...change }] });
}"""
"""Changes a block of the open text as another desk would."""


def change_elsewhere(page: Page, block: int, **change: str) -> None:
    """Change a block as another desk would, and wait until the page shows the text then."""
    version = page.evaluate(
        "async () => (await import('/_contentgen/state/state.js')).state.text.version"
    )

    def is_other(response: Response) -> bool:
        return response.url.endswith("/api/text") and response.json()["version"] != version

    with page.expect_response(is_other):
        page.evaluate(CHANGE_ELSEWHERE, {"block": block, **change})
    settled(page)


def scroll_to_end(page: Page) -> None:
    """Scroll the page beside the desk to its end."""
    body = page.frame_locator("iframe").locator("body")
    body.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")


def approve_soon(page: Page) -> None:
    """Press the button that approves, as soon as it is not too quick."""
    expect(approve_button(page)).not_to_have_attribute("aria-disabled", "true")
    approve_button(page).click()


def test_what_changed_above_the_screen_is_shown_first(project: Project, page: Page) -> None:
    """A paragraph far above that another desk changes is in sight before it is approved. 4 s."""
    make_site(project.root)
    write_text(project.root, paragraphs(30))
    with DeskProcess(project) as desk:
        open_text(desk, page, TITLE)
        scroll_to_end(page)
        expect(block_with(page, "Paragraph 29.")).to_be_in_viewport()
        change_elsewhere(page, 2, action="edit", markdown="Other words.")
        expect(approve_button(page)).not_to_have_attribute("aria-disabled", "true")
        be_there(page)
        approve_button(page).focus()
        for _ in range(8):
            page.keyboard.down("Enter")  # which is held
            page.wait_for_timeout(100)
        page.keyboard.up("Enter")
        said = page.get_by_role("status")
        expect(said).to_contain_text("You have not seen this as it is now.")
        assert approved(desk, "post.md") == ""
        expect(block_with(page, "Other words.")).to_be_in_viewport()
        expect(said).not_to_contain_text("Changed since you last saw it")
        approve_soon(page)
        expect(said).to_contain_text("Approved “Ten habits”")


def test_what_changed_is_listed_with_a_button(project: Project, page: Page) -> None:
    """Each place that changed or went is named, also once the text was loaded again. 7 s."""
    make_site(project.root)
    write_text(project.root, paragraphs(30))
    with DeskProcess(project) as desk:
        open_text(desk, page, TITLE)
        scroll_to_end(page)
        change_elsewhere(page, 16, action="edit", markdown="Other words.")
        change_elsewhere(page, 12, action="delete")
        said = page.get_by_role("status")
        expect(said).to_contain_text("Changed since you last saw it (1): Other words.")
        expect(said).to_contain_text("Removed since you last saw it (1): Paragraph 11. word")
        page.get_by_role("button", name="All texts").click()
        page.get_by_role("link", name=TITLE).click()
        changed = page.locator(".note", has_text="Changed since")
        expect(changed).to_be_visible()
        page.reload()
        changed.get_by_role("button", name="Show").click()
        expect(block_with(page, "Other words.")).to_be_in_viewport()
        expect(changed).to_have_count(0)
        approve_soon(page)
        dialog = page.get_by_role("dialog", name="Removed since you last saw it")
        expect(dialog.locator("del")).to_contain_text("Paragraph 11.")
        assert approved(desk, "post.md") == ""
        page.wait_for_timeout(600)  # as a person needs to read them
        dialog.get_by_role("button", name="Close").click()
        approve_soon(page)
        expect(said).to_contain_text("Approved “Ten habits”")


def test_what_is_on_the_screen_is_approved_as_before(project: Project, page: Page) -> None:
    """No press more: a change in sight, one's own out of sight, and a text nobody changed. 5 s."""
    make_site(project.root)
    write_text(project.root, paragraphs(30))
    with DeskProcess(project) as desk:
        open_text(desk, page, TITLE)
        approve_soon(page)  # without scrolling through it
        said = page.get_by_role("status")
        expect(said).to_contain_text("Approved “Ten habits”")
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("dialog").get_by_role("button", name="Undo").click()
        expect(said).to_contain_text("Undone: the approval")
        settled(page)
        edit_block(page, "Paragraph 0.").fill("My own words.")
        scroll_to_end(page)
        page.get_by_role("button", name="Save").click()
        expect(block_with(page, "My own words.")).to_be_attached()
        settled(page)
        change_elsewhere(page, 30, action="edit", markdown="Words at the end.")
        expect(block_with(page, "Words at the end.")).to_be_in_viewport()
        page.evaluate(WAIT_UNTIL_SEEN, [30, PATIENCE])
        approve_soon(page)
        expect(said).to_contain_text("Approved “Ten habits”")


WAIT_UNTIL_SEEN = """async ([block, patience]) => {
    const { state } = await import("/_contentgen/state/state.js");
    await new Promise((done, fail) => {
        setTimeout(() => fail(new Error("it was not seen")), patience);
        addEventListener("message", ({ data }) => {
            const isNewest = data.digest === state.text.in_page.digest;
            if (data.type === "sight" && isNewest && data.seen.includes(block)) done();
        });
    });
}"""
"""Waits until the page reports that a block was on the screen, as a person needs to read it."""

HIDING = {
    "Not drawn.": "display: none",
    "Invisible.": "visibility: hidden",
    "Transparent.": "opacity: 0",
    "Without a size.": "height: 0; overflow: hidden",
    "Far left.": "position: absolute; left: -9999px",
    "For screen readers.": "position: absolute; width: 1px; height: 1px; overflow: hidden",
    "Shrunk.": "transform: scale(0)",
    "Without letters.": "font-size: 0; line-height: 0",
}


def test_what_no_page_shows_is_named(project: Project, page: Page) -> None:
    """Whichever way a style hides a paragraph, the desk names and shows it. 4 s."""
    make_site(project.root)
    write_text(project.root, "<p>In sight.</p>" + "".join(f"<p>{words}</p>" for words in HIDING))
    # Before them are the disclosure and the first paragraph.
    rules = "".join(
        f"article p:nth-of-type({number}) {{ {style} }} "
        for number, style in enumerate(
            HIDING.values(), 3
        )  # after the disclosure and the first paragraph
    )
    style = f"<style>@media screen {{ {rules} }}</style>"
    project.write("theme/main.html", TEMPLATE.replace("<body>", f"<body>{style}"))
    with DeskProcess(project) as desk:
        open_text(desk, page, TITLE)
        note = page.locator(".note", has_text="Not visible on the page")
        expect(note).to_contain_text(f"({len(HIDING)}): Not drawn.")
        approve_soon(page)
        dialog = page.get_by_role("dialog", name="Not visible on the page")
        expect(dialog.locator("p")).to_have_text(list(HIDING))
        assert approved(desk, "post.md") == ""
        page.wait_for_timeout(600)  # as a person needs to read them
        dialog.get_by_role("button", name="Close").click()
        expect(note).to_have_count(0)
        approve_soon(page)
        expect(page.get_by_role("status")).to_contain_text("Approved “Ten habits”")


AROUND = {
    "dialog": "<dialog>{}</dialog>",
    "hidden": "<div hidden>{}</div>",
    "skipped": '<div style="content-visibility: hidden">{}</div>',
    "cut": '<div style="height: 40px; overflow: hidden">{}</div>',
    "no scrolling": "<style>body { overflow: hidden }</style>{}",
}


@pytest.mark.parametrize("around", AROUND.values(), ids=list(AROUND))
def test_an_article_that_nobody_can_come_to(project: Project, page: Page, around: str) -> None:
    """All of it is named, such as in a dialog that nobody has opened. 3 s each."""
    make_site(project.root)
    write_text(project.root, f"{paragraphs(30)}<p>Last.</p>")
    content = "{{ page.content }}"
    project.write("theme/main.html", TEMPLATE.replace(content, around.replace("{}", content)))
    with DeskProcess(project) as desk:
        open_text(desk, page, TITLE)
        note = page.locator(".note", has_text="Not visible on the page")
        expect(note).to_contain_text("(")
        approve_soon(page)
        expect(page.get_by_role("dialog")).to_contain_text("Last.")
        assert approved(desk, "post.md") == ""


def test_an_article_in_an_element_that_scrolls(project: Project, page: Page) -> None:
    """What can be scrolled to is not hidden; what changed there has to be scrolled to. 4 s."""
    make_site(project.root)
    write_text(project.root, paragraphs(30))
    content = "{{ page.content }}"
    box = f'<div style="height: 300px; overflow: auto">{content}</div>'
    project.write("theme/main.html", TEMPLATE.replace(content, box))
    with DeskProcess(project) as desk:
        open_text(desk, page, TITLE)
        change_elsewhere(page, 30, action="edit", markdown="Words at the end.")
        note = page.locator(".note", has_text="Changed since you last saw it")
        expect(note).to_contain_text("Words at the end.")
        expect(page.get_by_role("status")).not_to_contain_text("Not visible")
        note.get_by_role("button", name="Show").click()
        expect(note).to_have_count(0)


def test_a_block_that_is_higher_than_the_screen(project: Project, page: Page) -> None:
    """It was seen once all of it was on the screen, and not before. 4 s."""
    make_site(project.root)
    write_text(project.root, f"<p>Short.</p>{paragraphs(20)}")
    with DeskProcess(project) as desk:
        open_text(desk, page, TITLE)
        scroll_to_end(page)
        change_elsewhere(page, 1, action="edit", markdown="Long. " + "other words " * 1500)
        note = page.locator(".note", has_text="Changed since you last saw it")
        note.get_by_role("button", name="Show").click()
        long = block_with(page, "Long.")
        expect(long).to_be_in_viewport()
        page.wait_for_timeout(1000)
        expect(note).to_have_count(1)
        height = long.evaluate("element => element.getBoundingClientRect().height")

        def is_read() -> bool:
            """Scroll through it, and return whether that was slow enough for this machine."""
            for top in range(0, int(height) + 400, 400):
                long.evaluate("(element, top) => scrollTo(0, top)", top)
                page.wait_for_timeout(500)
            return note.count() == 0

        wait_until(is_read)


ALIGNED = [
    ("abc", "abc", [0, 1, 2]),
    ("abc", "aXc", [0, -1, 2]),
    ("abc", "ac", [0, 2]),
    ("abc", "aXbc", [0, -1, 1, 2]),
    ("57", "75", [-1, 0]),  # two cells that have changed places
    ("aab", "aaab", [0, 1, -1, 2]),
    ("", "ab", [-1, -1]),
    ("ab", "", []),
]


def test_blocks_are_found_in_another_version(desk: DeskProcess, page: Page) -> None:
    """Those that stay in their order; one that has changed places counts as new. 2 s."""
    page.goto(f"{desk.origin}/_contentgen/")
    for before, after, expected in ALIGNED:
        found = page.evaluate(
            """async (keys) => (await import("/_contentgen/state/alignment.js")).align(...keys)""",
            [list(before), list(after)],
        )
        assert found == expected, (before, after)


SIZES = [(320, 480), (640, 320), (1280, 300), (1280, 720)]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_page_has_room(project: Project, browser: Browser, width: int, height: int) -> None:
    """On a small window, too, a third of it shows the page, and *Show* shows what changed. 4 s."""
    make_site(project.root)
    write_text(project.root, paragraphs(30))
    with DeskProcess(project) as desk:
        page = enter(desk, browser, viewport={"width": width, "height": height})
        open_text(desk, page, TITLE)
        scroll_to_end(page)
        change_elsewhere(page, 1, action="edit", markdown="Other words.")
        note = page.locator(".note", has_text="Changed since you last saw it")
        expect(note).to_be_visible()
        assert room_of(page) >= height / 3
        note.get_by_role("button", name="Show").click()
        expect(note).to_have_count(0)
        assert room_of(page) >= height / 3
        open_tab(page, "About")
        page.context.close()


def room_of(page: Page) -> float:
    """Return the height of the page beside the desk that nothing covers, in pixels."""
    return float(
        page.evaluate(
            """() => {
                const frame = document.querySelector("iframe").getBoundingClientRect();
                const sheet = document.querySelector("aside").getBoundingClientRect();
                const isOver = sheet.left < frame.right;
                const bottom = Math.min(frame.bottom, isOver ? sheet.top : innerHeight);
                return bottom - Math.max(frame.top, 0);
            }"""
        )
    )
