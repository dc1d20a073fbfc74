"""Match paths with globs, in which `**` stands for any number of folders.

Patterns come from pages, so a pattern may be made to take long. Each part of a path is matched by
`fnmatch`, whose expressions do not go back, and the parts one after the other, without trying them
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property

_WILDCARD = re.compile(r"[*?\[]")

_ANY_FOLDERS = "**"


def is_glob(path: str) -> bool:
    """Tell whether a path has wildcards."""
    return _WILDCARD.search(path) is not None


@dataclass(frozen=True)
class Glob:
    """A path with wildcards, such as `src/**/*.py`. Upper and lower case differ."""

    pattern: str

    @property
    def folder(self) -> str:
        """The folder that all matches are in: the part before the first wildcard, or empty."""
        parts = self.pattern.split("/")
        for index, part in enumerate(parts):
            if is_glob(part):
                return "/".join(parts[:index])
        return "/".join(parts[:-1])

    def matches(self, path: str) -> bool:
        """Tell whether a path matches, such as `src/tool/cli.py`."""
        # The numbers of the parts of the pattern that the next part of the path may match.
        open_parts = self._after([0])
        for name in path.split("/"):
            reached = []
            for index in open_parts:
                if index == len(self._parts):
                    continue
                part = self._parts[index]
                if part is None:
                    reached.append(index)
                elif part.match(name):
                    reached.append(index + 1)
            open_parts = self._after(reached)
            if not open_parts:
                return False
        return len(self._parts) in open_parts

    def _after(self, indexes: Iterable[int]) -> set[int]:
        """Return indexes of parts with those that follow a `**`, which may match no folder."""
        found = set()
        for index in indexes:
            found.add(index)
            while index < len(self._parts) and self._parts[index] is None:
                index += 1
                found.add(index)
        return found

    @cached_property
    def _parts(self) -> Sequence[re.Pattern[str] | None]:
        """The expression of each part of the pattern, or None for `**`."""
        parts: list[re.Pattern[str] | None] = []
        for part in self.pattern.split("/"):
            parts.append(None if part == _ANY_FOLDERS else re.compile(translate(part)))
        return parts
