"""Make all pictures of README and guide again, in light and dark, from the running software.

Usage: python example_site/screenshots.py, in the environment of the tests, with Chromium.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
OF_TESTS = ("tests/desk/test_browser_desk.py", "tests/github/test_report_pictures.py")
"""Tests that make pictures of the desk and of a report with UPDATE_GOLDEN=1."""

PAGES = {"blog-post": "blog/2026/11/02/speed/", "news": "news/"}


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def main() -> None:
    """Build the example site, and write all pictures to `docs/pictures`."""
    build = ["mkdocs", "build", "--quiet", "-f", "mkdocs.yml"]
    subprocess.run([sys.executable, "-m", *build], cwd=HERE, check=True)  # noqa: S603  a constant
    take_pictures_of_pages()
    tests = ["pytest", "-m", "system", "-k", "pictures", "-n", "0", *OF_TESTS]
    environment = {**os.environ, "UPDATE_GOLDEN": "1"}
    command = [sys.executable, "-m", *tests]
    subprocess.run(command, cwd=HERE.parent, check=True, env=environment)  # noqa: S603  a constant


def take_pictures_of_pages() -> None:
    """Write a picture of each page and colour scheme to `docs/pictures`."""
    handler = functools.partial(_QuietHandler, directory=str(HERE / "site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pictures = HERE / "docs" / "pictures"
    pictures.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-background-networking", "--hide-scrollbars"],
        )
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": 1220, "height": 720},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            for name, path in PAGES.items():
                page.goto(f"http://127.0.0.1:{server.server_address[1]}/{path}")
                page.screenshot(path=pictures / f"{name}-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
