"""Make the pictures of the example site in README and guide, in light and dark.

Usage: python example_site/screenshots.py, with the example site built and Chromium on the PATH.
"""

from __future__ import annotations

import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PAGES = {"blog-post": "blog/2026/11/02/speed/", "news": "news/"}


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def main() -> None:
    """Write a picture of each page and colour scheme to `docs/pictures`."""
    handler = functools.partial(_QuietHandler, directory=str(HERE / "site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pictures = HERE / "docs" / "pictures"
    pictures.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
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
