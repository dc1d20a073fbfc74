"""The HTML of generated texts: root elements, classes and inline styles (interface section 2.2).

The sandbox and the writer share it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from datetime import date

STYLES = {
    "h1": "color: #2c3e50; border-bottom: 2px solid #3498db; padding-bottom: 10px;",
    "h2": "color: #34495e; margin-top: 30px;",
    "p": "color: #333; line-height: 1.6;",
    "ol": "color: #333; line-height: 1.6; padding-left: 25px;",
    "blockquote": (
        "color: #555; background-color: #f8f9fa; "
        "border-left: 4px solid #3498db; padding: 15px; font-style: italic;"
    ),
    "table": "border-collapse: collapse; width: 100%; background-color: #ffffff;",
    "th": "background-color: #2c3e50; color: white; padding: 8px; text-align: left;",
    "td": "color: #333; border: 1px solid #dee2e6; padding: 8px;",
    "pre": "background-color: #f4f4f4; color: #222; padding: 15px; border-radius: 5px;",
    "header": "background-color: #f8f9fa; padding: 20px;",
    "label": "background-color: #fff3cd; color: #856404; padding: 8px 12px; font-size: 0.9em;",
    "intro": "font-size: 1.15em; color: #555; line-height: 1.6;",
    "pro-tip": (
        "background: linear-gradient(135deg, #667eea 0%, #764ba2 100%); color: white; "
        "padding: 20px; border-radius: 8px;"
    ),
    "conclusion": "background-color: #e8f4f8; color: #2c3e50; padding: 15px;",
    "byline": "color: #7f8c8d; font-size: 0.9em;",
    "lead": "font-size: 1.2em; font-weight: bold; color: #2c3e50;",
}
"""The inline styles of elements, by class or else by tag."""

_ROOT_CLASSES = {"blog": "blog-post", "news": "news-article"}


def root(kind: str, content: Iterable[str], language: str = "") -> str:
    """Return the `<article>` of a text of type `kind`. `language` is a BCP 47 tag or empty."""
    start = _start_tag("article", {"class": _ROOT_CLASSES.get(kind), "lang": language})
    return "\n".join([start, *content, "</article>"])


def tag(name: str, content: str, class_name: str = "", *, style_name: str = "") -> str:
    """Return an element with its style. `content` is HTML."""
    style = STYLES.get(style_name or class_name or name)
    return f"{_start_tag(name, {'class': class_name, 'style': style})}{content}</{name}>"


def _start_tag(name: str, attributes: Mapping[str, str | None]) -> str:
    start = f"<{name}"
    for key, value in attributes.items():
        if value:
            start += f' {key}="{html.escape(value)}"'
    return f"{start}>"


def byline(text: str, day: date, displayed: str) -> str:
    """Return the content of a news article's byline. `text` and `displayed` are plain text."""
    time = f'<time datetime="{day.isoformat()}">{html.escape(displayed)}</time>'
    return f"{html.escape(text)} · {time}"
