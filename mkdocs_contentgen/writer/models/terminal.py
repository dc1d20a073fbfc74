"""Read what a program writes for a terminal: the text that is left after all its codes.

Some programs take back what they wrote also where no terminal is: a spinner, and `ollama run` a
word that does not fit on the line, which it writes on the next one. All of them do so within a
line, so the last line is the only one that can change. Other codes are dropped.
"""

from __future__ import annotations

import re
import unicodedata

_MAX_COLUMN = 200
"""The cursor moves to this column at most, or up to the end of a line that is longer."""

_MAX_LINE = 64 * 1024
"""The number of cells of a line. The start of a longer one is final."""

_KEPT_CELLS = 1000
"""The number of cells at the end of such a line that are not final."""

_MAX_CODE = 4096
"""A longer code is none."""

_CODE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]P_^X][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # titles, links, pictures
    r"|\x1b[ -/]*[0-~]"
    r"|(?P<control>[\x00-\x08\x0a-\x1f\x7f-\x9f])"
)
"""A code: a command with its parameters, a text that is not shown, or a single character."""

_UNFINISHED = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*\Z|\x1b[\]P_^X][^\x07\x1b\x9c\n]*\x1b?\Z|\x1b[ -/]*\Z"
)
"""The start of a code at the end of a part of the output."""

_LINE_FEEDS = "\n\v\f\x85"


class ProgramOutput:
    """The text that is left of a program's output. Its last line can change."""

    def __init__(self) -> None:
        self._final: list[str] = []
        self._cells: list[str] = []
        """The last line, with a cell for each column: a wide character is followed by ''."""

        self._column = 0
        self._is_changed = False
        """Whether something in the line was overwritten or erased, so that spaces at its end mean
        nothing."""

        self._unread = ""
        """The start of a code whose end has not arrived yet."""

        self._went_back = False
        """Whether the last code moved the cursor to the left."""

        self._took_back = False
        """Whether the last codes took a word back, which goes on after a line feed."""

    def write(self, text: str, *, is_last: bool = False) -> None:
        """Add a part of the output. A code can begin in one part and end in the next."""
        text = self._unread + text
        self._unread = ""
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _MAX_CODE))
        if unfinished:
            text = text[: unfinished.start()]
            if not is_last:
                self._unread = unfinished[0]
        position = 0
        for code in _CODE.finditer(text):
            self._print(text[position : code.start()])
            self._obey(code)
            position = code.end()
        self._print(text[position:])

    def take(self) -> tuple[str, str]:
        """Return the text that became final since the last call, and the line that may change."""
        final = "".join(self._final)
        self._final.clear()
        return final, self._line()

    def _line(self) -> str:
        text = "".join(self._cells)
        return text.rstrip() if self._is_changed else text

    def _print(self, text: str) -> None:
        if not text:
            return
        self._went_back = False
        self._took_back = False
        self._cells += " " * (self._column - len(self._cells))
        cells = list(text) if text.isascii() else self._cells_of(text)
        end = self._column + len(cells)
        self._is_changed = self._is_changed or self._column < len(self._cells)
        self._cells[self._column : end] = cells
        self._column = end
        if len(self._cells) > _MAX_LINE:
            self._final.append("".join(self._cells[:-_KEPT_CELLS]))
            del self._cells[:-_KEPT_CELLS]
            self._column = min(self._column, len(self._cells))

    def _cells_of(self, text: str) -> list[str]:
        cells: list[str] = []
        for character in text:
            if unicodedata.east_asian_width(character) in "WF":
                cells += (character, "")
            elif unicodedata.category(character) not in ("Mn", "Me", "Cf"):
                cells.append(character)
            elif cells:
                _join(cells, len(cells) - 1, character)
            elif self._column:
                _join(self._cells, self._column - 1, character)
            else:
                cells.append(character)
        return cells

    def _obey(self, code: re.Match[str]) -> None:
        went_back = self._went_back
        took_back = self._took_back
        self._went_back = False
        self._took_back = False
        if code["control"]:
            self._obey_control(code["control"], took_back=took_back)
        elif code["final"] == "K":
            self._erase(code["parameters"], went_back=went_back)
        elif code["final"]:
            self._move(code["final"], code["parameters"])

    def _obey_control(self, character: str, *, took_back: bool) -> None:
        if character in _LINE_FEEDS and not took_back:
            self._final.append(f"{self._line()}\n")
            self._cells = []
            self._column = 0
            self._is_changed = False
        elif character == "\r" and took_back:
            self._took_back = True  # a line feed may follow it
        elif character == "\r":
            self._column = 0
        elif character == "\b":
            self._column = max(0, self._column - 1)
            self._went_back = True

    def _move(self, name: str, parameters: str) -> None:
        """Move the cursor within the line."""
        count = max(1, int(parameters[:5])) if parameters.isdecimal() else 1
        columns = {"C": self._column + count, "D": self._column - count, "G": count - 1}
        if name in columns:
            most = max(_MAX_COLUMN, len(self._cells))
            self._column = min(max(0, columns[name]), most)
        self._went_back = name == "D"

    def _erase(self, part: str, *, went_back: bool) -> None:
        """Erase what is after the cursor, before it (1), or the line (2)."""
        self._is_changed = True
        if part == "1":
            end = min(self._column + 1, len(self._cells))
            self._cells[:end] = " " * end
        elif part == "2":
            self._cells.clear()
        else:
            # Who goes back and erases takes a word back.
            self._took_back = went_back and self._column < len(self._cells)
            del self._cells[self._column :]


def shown_text(output: str) -> str:
    """Return the text that is left of a program's whole output."""
    shown = ProgramOutput()
    shown.write(output, is_last=True)
    return "".join(shown.take())


def _join(cells: list[str], index: int, character: str) -> None:
    """Add a character without a cell to the one before it, which can be a wide one."""
    while index > 0 and not cells[index]:
        index -= 1
    cells[index] += character
