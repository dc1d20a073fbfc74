"""How long a reviewer waits on the desk: for a change on the page, and for an approval.

Usage: python tests/benchmarks/desk.py [ROUNDS] [TEXTS]

A real desk and a real browser review a text of 3,000 words with 60 statements, on a site with as
many texts, and on one with this text alone. The pages of the site are the sources of its writer.
Times are those of the browser's clock, from a click until the page of the site shows a change, or
the desk an approval. `quick hands` is the time from the last of all the confirmations that are left
until the text can be approved: half a second of it is for looking at the page.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from sites import report

from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.store import DiskStore

TEMPLATE = '<!doctype html><html lang="en"><head></head><body>{{ page.content }}</body></html>'
WHEN = datetime(2026, 11, 20, tzinfo=UTC)
TITLE = "Topic 0"

CHANGE = 0.1
"""The most seconds that a change may take."""

APPROVAL = 0.5
"""The most seconds that an approval may take."""

READY = 3.0
"""The most seconds between the last of many confirmations and the approval."""

GOALS = {"approval": APPROVAL, "quick hands": READY}
"""The goals of what is not a change."""

SEEN = """
(condition) => {
  const isThere = new Function(`return ${condition}`);
  window.seen = new Promise((done) => {
    const look = () => isThere() ? done(performance.timeOrigin + performance.now())
      : requestAnimationFrame(look);
    look();
  });
}
"""
"""In the page: notes when a condition holds there."""

ACT = """
(act) => {
  const began = performance.timeOrigin + performance.now();
  new Function(act)();
  return began;
}
"""

SAVED = """
async () => {
  const { state } = await import("/_contentgen/state/state.js");
  while (state.pending.length) await new Promise((done) => setTimeout(done, 5));
}
"""

CONFIRM = """document.querySelector('[aria-current="true"] button.main').click()"""
SAVE = 'document.querySelector(".editor button.main").click()'
UNDO = 'document.querySelector(".messages [title^=Ctrl]").click()'
OPEN_MARKS = 'document.querySelectorAll("mark:not([data-contentgen-settled])").length'

CONFIRM_ALL = """
async () => {
  const frame = () => new Promise(requestAnimationFrame);
  let button;
  while (button = document.querySelector('[aria-current="true"] button.main')) {
    button.click();
    await frame();
  }
  const began = performance.now();
  while (!document.querySelector("[data-approve]:enabled:not([aria-disabled])")) await frame();
  return (performance.now() - began) / 1000;
}
"""

APPROVE = """
() => new Promise((done) => {
  const began = performance.now();
  document.querySelector("[data-approve]").click();
  const look = () => {
    if (document.querySelector("[data-approve]")) return requestAnimationFrame(look);
    done((performance.now() - began) / 1000);
  };
  look();
})
"""


def main(rounds: int = 5, texts: int = 1_000) -> None:
    """Measure a small and a large site."""
    rows: dict[str, tuple[float, float | None]] = {}
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium")
        for number in (1, texts):
            root = Path(directory, str(number))
            write_site(root, number)
            with desk_of(root) as address:
                measured = review(browser, address, rounds)
            for name, times in measured.items():
                goal = GOALS.get(name, CHANGE)
                rows[f"{name}, s, {number:,} texts"] = (statistics.median(times), goal)
        browser.close()
    report("desk", rows)


def write_site(root: Path, number: int) -> None:
    """Write a site with a long text to review, and others of 700 words."""
    (root / "docs").mkdir(parents=True)
    (root / "theme").mkdir()
    (root / "theme/main.html").write_text(TEMPLATE)
    writer = {"model": "m", "endpoint": "http://127.0.0.1:9/v1", "sources": True}
    options = {"base_url": "writer", "writer": writer}
    config = {
        "site_name": "Site",
        "site_url": "https://docs.example/",
        "theme": {"name": None, "custom_dir": "theme"},
        "plugins": [{"contentgen": options}],
    }
    (root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    texts = {}
    for index in range(number):
        request = BlogRequest(topic=f"Topic {index}")
        front_matter = yaml.safe_dump({"contentgen": request.record()})
        (root / f"docs/p{index}.md").write_text(f"---\n{front_matter}---\n\n{source(index)}")
        html = text_html(request.topic, paragraphs=60 if index == 0 else 14)
        texts[request.key(sandbox=False)] = Text(html, WHEN, request.record(), "m")
    store = DiskStore(root / ".cache/plugin/contentgen")
    store.save(texts)
    store.close()


def source(number: int) -> str:
    """Return the words of a page, in which something of a text is said."""
    sections = [
        f"## Part {part}\n\nPart {part} of a build takes {part + number} seconds.\n"
        for part in range(8)
    ]
    return "\n".join(sections)


def text_html(title: str, paragraphs: int) -> str:
    """Return a text whose paragraphs have 50 words and a statement each."""
    parts = [f"<h1>{title}</h1>"]
    for number in range(paragraphs):
        words = f"The build of part {number} reads {number + 3} pages and keeps what it has. " * 4
        parts.append(f"<p>{words}The build takes <mark>{number + 2} seconds</mark>.</p>")
    return f"<article>{''.join(parts)}</article>"


@contextmanager
def desk_of(root: Path) -> Iterator[str]:
    """Run the desk of a site, and return its address."""
    command = [sys.executable, "-m", "mkdocs_contentgen", "review", "--no-open", "--by=Jo"]
    process = subprocess.Popen(
        [*command, "--port=0"], cwd=root, stderr=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stderr is not None
    lines = chain.from_iterable(repeat(process.stderr))
    yield next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
    process.terminate()
    process.wait()


def review(browser: Browser, address: str, rounds: int) -> dict[str, list[float]]:
    """Confirm, edit and approve the long text, and return the seconds of each."""
    page = browser.new_page()
    page.set_default_timeout(600_000)
    page.goto(address)
    page.get_by_role("link", name=TITLE, exact=True).click()
    built = page.frame_locator("iframe").locator("body:not(:has([data-contentgen-plain]))")
    built.locator("[data-contentgen-block]").first.wait_for()
    inner = next(frame for frame in page.frames if frame.parent_frame)
    names = ("confirmation", "edit", "edit with Markdown", "undo", "quick hands", "approval")
    times: dict[str, list[float]] = {name: [] for name in names}

    def act(name: str, script: str, condition: str) -> None:
        """Note the seconds from an act in the desk until a condition holds in the page."""
        inner.evaluate(SEEN, condition)
        began = page.evaluate(ACT, script)
        times[name].append((inner.evaluate("window.seen") - began) / 1000)
        wait_until_saved(page)

    for number in range(rounds):
        marks = inner.evaluate(OPEN_MARKS)
        act("confirmation", CONFIRM, f"{OPEN_MARKS} < {marks}")
        for name, sign in (("edit", ""), ("edit with Markdown", "**")):
            words = f"{name} {number}"
            built.locator("[data-contentgen-block='1']").click(position={"x": 2, "y": 2})
            page.locator(".editor textarea").fill(f"Now {sign}{words}{sign} has no statement.")
            act(name, SAVE, f'document.body.textContent.includes("{words} has")')
        act("undo", UNDO, f'!document.body.textContent.includes("{words} has")')
    times["quick hands"].append(page.evaluate(CONFIRM_ALL))
    times["approval"].append(page.evaluate(APPROVE))
    page.close()
    return times


def wait_until_saved(page: Page) -> None:
    """Wait until the desk has an answer to each change: the next one is not measured with it."""
    page.evaluate(SAVED)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
