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
"""The fields of a request that can have variables."""

_Path = tuple[str | int, ...]
"""The path to a value in a front matter, such as `("contentgen", 1, "topic")`."""


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
) -> tuple[dict[str, object], list[tuple[_Path, str]]]:
    """Return a front matter whose requests have their variables filled in.

    The second value has the path and the problem of each text for which that fails.
    """
    filler = _MetaFiller(meta, fill_in)
    asked = meta["contentgen"]
    new_meta = dict(meta)
    if isinstance(asked, list):
        filled = []
        for index, request in enumerate(asked):
            filled.append(filler.request(request, ("contentgen", index)))
        new_meta["contentgen"] = filled
    else:
        new_meta["contentgen"] = filler.request(asked, ("contentgen",))
    if "title" in meta:
        new_meta["title"] = filler.text(meta["title"], ("title",))
    return new_meta, filler.problems


class _MetaFiller:
    """Fills in the variables in values of a front matter, and collects the problems."""

    def __init__(self, meta: Mapping[str, object], fill_in: FillIn) -> None:
        self.problems: list[tuple[_Path, str]] = []
        self._meta = meta
        self._fill_in = fill_in

    def request(self, asked: object, path: _Path) -> object:
        """Return an item of `contentgen` with its variables filled in."""
        if not isinstance(asked, dict):
            return asked
        filled = dict(asked)
        for name in _FIELDS:
            if name in asked:
                filled[name] = self.text(asked[name], (*path, name))
        return filled

    def text(self, value: object, path: _Path) -> object:
        """Return a value with its variables filled in, if it is a text with some."""
        if not (isinstance(value, str) and _TEMPLATE.search(value)):
            return value
        try:
            return self._fill_in(value, self._meta)
        except ValueError as error:
            self.problems.append((path, str(error)))
            return value


def unfilled_variable_problem(request: Request, *, has_macros: bool) -> str:
    """Return a message about a variable that nothing fills in, or an empty string."""
    for name in _FIELDS:
        match = _TEMPLATE.search(getattr(request, name))
        if match:
            cure = "correct its name" if has_macros else "add the plugin macros"
            return (
                f"contentgen.{name}: nothing fills in '{match[0]}', which goes to the model as it "
                f"stands; write the words themselves, or {cure}"
            )
    return ""
