"""Fill the variables of the plugin macros into requests, and find those that nothing fills in.

The plugin renders the Markdown of pages, but no front matter, and a model cannot know a variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mkdocs.config.defaults import MkDocsConfig

if TYPE_CHECKING:
    from ..requests import Request

FillIn = Callable[[str, Mapping[str, object]], str]
"""Returns a text of a page with its variables filled in. Raises ValueError."""

_TEMPLATE = re.compile(r"\{\{[^{}\n]{1,80}\}\}|\{%[^{}\n]{1,80}%\}")
_FIELDS = ("topic", "brief")


def variable_filler(config: MkDocsConfig) -> FillIn | None:
    """Return a function that fills in variables as the plugin macros does, or None without it."""
    macros: Any = config.plugins.get("macros") if config.plugins else None
    environment = getattr(macros, "env", None)
    if environment is None:
        return None

    def fill_in(text: str, meta: Mapping[str, object]) -> str:
        renders = meta.get("render_macros", macros.config.get("render_by_default", True))
        if not renders:
            return text
        try:
            filled = environment.from_string(text).render({**macros.variables, **meta})
        except Exception as error:  # macros are functions of the site
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"cannot be filled in by the plugin macros ({reason})") from error
        return str(filled)

    return fill_in


def filled_meta(
    meta: Mapping[str, object], fill_in: FillIn
) -> tuple[dict[str, object], list[tuple[tuple[str | int, ...], str]]]:
    """Return a front matter whose requests have their variables filled in.

    The second value has the path and the problem of each text for which that fails.
    """
    problems: list[tuple[tuple[str | int, ...], str]] = []

    def filled(value: object, *path: str | int) -> object:
        if not (isinstance(value, str) and _TEMPLATE.search(value)):
            return value
        try:
            return fill_in(value, meta)
        except ValueError as error:
            problems.append((path, str(error)))
            return value

    def filled_request(asked: object, *path: str | int) -> object:
        if not isinstance(asked, dict):
            return asked
        fields = {name: filled(asked[name], *path, name) for name in _FIELDS if name in asked}
        return {**asked, **fields}

    asked = meta["contentgen"]
    new_meta = dict(meta)
    if isinstance(asked, list):
        new_meta["contentgen"] = [
            filled_request(request, "contentgen", index) for index, request in enumerate(asked)
        ]
    else:
        new_meta["contentgen"] = filled_request(asked, "contentgen")
    if "title" in meta:
        new_meta["title"] = filled(meta["title"], "title")
    return new_meta, problems


def unfilled_variable_problem(request: Request, *, has_macros: bool) -> str:
    """Return a message about a variable that would go to the model as it stands, or nothing."""
    for name in _FIELDS:
        match = _TEMPLATE.search(getattr(request, name))
        if match:
            cure = "correct its name" if has_macros else "add the plugin macros"
            return (
                f"contentgen.{name}: nothing fills in '{match[0]}', which goes to the model as it "
                f"stands; write the words themselves, or {cure}"
            )
    return ""
