"""Read what a program writes for a terminal: the text that is left after all its codes.

Some programs move the cursor and erase also where no terminal is: a spinner takes itself back, and
`ollama run` takes back a word that does not fit on the line, and writes it on the next one.

This is no emulator of a terminal, such as pyte. Emulators have a width, at which they would break
the lines of a text, and take 14 s for 1 MB.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from itertools import islice

_HEIGHT = 100
"""The number of rows that can still change. What stands above has left the screen."""

_MAX_COLUMN = 200
"""The cursor moves to this column at most, or up to the end of a row that is longer."""

_MAX_ROW = 64 * 1024
"""The number of cells of a row. The start of a longer one is final."""

_KEPT_CELLS = 1000
"""The number of cells at the end of such a row that are not final."""

_MAX_CODE = 4096
"""A longer code is none."""

_CODE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]P_^X][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # titles, links, pictures
    r"|\x1b[ -/]*(?P<escape>[0-~])"
    r"|(?P<control>[\x00-\x08\x0a-\x1f\x7f-\x9f])"
)
"""A code: a command with its parameters, a text that is not shown, or a single character."""

_UNFINISHED = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*\Z|\x1b[\]P_^X][^\x07\x1b\x9c\n]*\x1b?\Z|\x1b[ -/]*\Z"
)
"""The start of a code at the end of a part of the output."""

_STEPS = {"A": (-1, 0), "B": (1, 0), "C": (0, 1), "a": (0, 1), "D": (0, -1)}
"""The rows and columns by which codes move the cursor."""

_JUMPS = "EFG`dHfsu"
"""The names of codes that move the cursor to a place, or save its place."""

_OTHER_SCREENS = ("?47", "?1047", "?1049")
"""What begins (`h`) and ends (`l`) the screen of menus and editors, which is gone after them."""

_LINE_FEEDS = "\n\v\f\x85"


class _Last(Enum):
    """What the last code has done, to know a word that a program takes back and writes again."""

    WENT_BACK = "it moved the cursor to the left"
    TOOK_BACK = "then, what stood there was erased"
    OTHER = "something else, or something was written since"


class _Row:
    """A row of the screen, with a cell for each column: a wide character is followed by ''."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.is_changed = False
        """Whether something was overwritten or erased, so that spaces at its end mean nothing."""

    @property
    def text(self) -> str:
        text = "".join(self.cells)
        return text.rstrip() if self.is_changed else text


class Screen:
    """The text that a terminal of any width would show."""

    def __init__(self) -> None:
        self._final: list[str] = []
        self._rows = [_Row()]
        self._row = 0
        self._column = 0
        self._saved = (0, 0)
        self._main_screen: tuple[list[_Row], int, int] | None = None
        """The rows and the cursor of the main screen, while there is the other one."""

        self._unread = ""
        """The start of a code whose end has not arrived yet."""

        self._last = _Last.OTHER

    def write(self, text: str, *, is_last: bool = False) -> None:
        """Add a part of a program's output. A code can begin in one part and end in the next."""
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
        """Return the text that became final since the last call, and the text that may change."""
        final = "".join(self._final)
        self._final.clear()
        return final, "\n".join(row.text for row in self._rows)

    def _print(self, text: str) -> None:
        if not text:
            return
        self._last = _Last.OTHER
        row = self._rows[self._row]
        self._fill(row)
        cells = list(text) if text.isascii() else self._cells_of(text, row)
        end = self._column + len(cells)
        row.is_changed = row.is_changed or self._column < len(row.cells)
        row.cells[self._column : end] = cells
        self._column = end
        if len(row.cells) > _MAX_ROW:
            self._end_rows(self._row)  # the rows above stand before what is final now
            self._final.append("".join(row.cells[:-_KEPT_CELLS]))
            del row.cells[:-_KEPT_CELLS]
            self._column = min(self._column, len(row.cells))

    def _fill(self, row: _Row) -> None:
        """Fill a row with spaces up to the cursor."""
        missing = self._column - len(row.cells)
        if missing > 0:
            row.cells += " " * missing

    def _cells_of(self, text: str, row: _Row) -> list[str]:
        cells: list[str] = []
        for character in text:
            if unicodedata.east_asian_width(character) in "WF":
                cells += (character, "")
            elif not _is_zero_wide(character):
                cells.append(character)
            elif cells:
                _join(cells, len(cells) - 1, character)
            elif self._column:
                _join(row.cells, self._column - 1, character)
            else:
                cells.append(character)
        return cells

    def _obey(self, code: re.Match[str]) -> None:
        last = self._last
        self._last = _Last.OTHER
        if code["control"]:
            self._obey_control(code["control"], last)
        elif code["escape"]:
            self._obey_escape(code["escape"])
        elif code["final"]:
            self._obey_sequence(code["final"], code["parameters"], last)

    def _obey_control(self, character: str, last: _Last) -> None:
        """Obey a control character."""
        if last is _Last.TOOK_BACK and character == "\r":
            self._last = _Last.TOOK_BACK  # a line feed may follow it
        elif last is _Last.TOOK_BACK and character in _LINE_FEEDS:
            pass  # the word goes on in the next row, which is the same line of text
        elif character in _LINE_FEEDS:
            self._line_feed()
        elif character == "\r":
            self._column = 0
        elif character == "\b":
            self._move(column=self._column - 1)
            self._last = _Last.WENT_BACK

    def _obey_sequence(self, name: str, parameters: str, last: _Last) -> None:
        """Switch the screen, or obey a command whose parameters are numbers."""
        if parameters in _OTHER_SCREENS:
            self._switch(is_other=name == "h")
        elif not parameters.startswith(("?", ">", "<", "=")):  # which are private to terminals
            numbers = [int(part[:5]) for part in re.findall(r"[0-9]+", parameters)]
            self._obey_with_numbers(name, numbers, last)

    def _obey_escape(self, name: str) -> None:
        match name:
            case "7":
                self._saved = (self._row, self._column)
            case "8":
                self._move(*self._saved)
            case "M":
                self._move(self._row - 1)
            case "D" | "E":
                self._line_feed()
            case "c":
                self._clear()

    def _obey_with_numbers(self, name: str, numbers: list[int], last: _Last) -> None:
        r"""Obey a code such as `\x1b[4D`, which has a name and numbers."""
        number = 0
        if numbers:
            number = numbers[0]
        count = max(1, number)
        if name in _STEPS:
            self._step(name, count)
        elif name in _JUMPS:
            self._jump(name, numbers, count)
        else:
            self._change(name, number, last)

    def _jump(self, name: str, numbers: list[int], count: int) -> None:
        """Move the cursor to the start of a row, to a place, or to one that was saved."""
        match name:
            case "E":
                self._move(self._row + count, 0)
            case "F":
                self._move(self._row - count, 0)
            case "G" | "`" | "d" | "H" | "f":
                self._go_to(name, [max(1, part) for part in numbers])
            case "s":
                self._saved = (self._row, self._column)
            case "u":
                self._move(*self._saved)

    def _change(self, name: str, number: int, last: _Last) -> None:
        """Erase, insert or delete something, for a code that does so."""
        count = max(1, number)
        match name:
            case "J":
                self._erase_rows(number)
            case "K":
                self._erase_line(number, last)
            case "P" | "X" | "@":
                self._change_cells(name, min(count, _MAX_COLUMN))
            case "L" | "M":
                self._change_rows(name, min(count, _HEIGHT))

    def _step(self, name: str, count: int) -> None:
        """Move the cursor by so many rows or columns."""
        rows, columns = _STEPS[name]
        self._move(self._row + rows * count, self._column + columns * count)
        if name == "D":
            self._last = _Last.WENT_BACK

    def _erase_line(self, part: int, last: _Last) -> None:
        """Erase in the cursor's row, as _erase_rows() does, and see whether that takes a word back.

        It does if the cursor went back to the start of the word, and all behind that is erased.
        """
        has_text_behind = self._column < len(self._rows[self._row].cells)
        self._erase_in_row(part)
        if last is _Last.WENT_BACK and has_text_behind and part == 0:
            self._last = _Last.TOOK_BACK

    def _go_to(self, name: str, numbers: list[int]) -> None:
        """Move the cursor to a column, a row, or both, which are counted from 1."""
        first, second = [*numbers, 1, 1][:2]  # what is not given is 1
        if name in "G`":
            self._move(column=first - 1)
        elif name == "d":
            self._move(self._reached(first - 1))
        else:
            self._move(self._reached(first - 1), second - 1)

    def _move(self, row: int | None = None, column: int | None = None) -> None:
        if row is not None:
            self._row = min(max(0, row), len(self._rows) - 1)
        if column is not None:
            width = max(_MAX_COLUMN, len(self._rows[self._row].cells))
            self._column = min(max(0, column), width)

    def _reached(self, row: int) -> int:
        """Return a row of the screen, which is made if it is not there yet."""
        row = min(row, _HEIGHT - 1)
        while len(self._rows) <= row:
            self._rows.append(_Row())
        return row

    def _line_feed(self) -> None:
        self._row += 1
        self._column = 0
        if self._row == len(self._rows):
            self._rows.append(_Row())
        self._end_rows(len(self._rows) - _HEIGHT)

    def _end_rows(self, count: int) -> None:
        """Make so many rows at the top final."""
        if count <= 0:
            return
        self._final += (f"{row.text}\n" for row in islice(self._rows, count))
        del self._rows[:count]
        self._row -= count

    def _switch(self, *, is_other: bool) -> None:
        """Begin the other screen, or go back to the first one, which is as it was left."""
        if is_other and self._main_screen is None:
            self._main_screen = (self._rows, self._row, self._column)
            self._clear()
        elif not is_other and self._main_screen:
            self._rows, self._row, self._column = self._main_screen
            self._main_screen = None

    def _clear(self) -> None:
        self._rows = [_Row()]
        self._row = 0
        self._column = 0

    def _erase_rows(self, part: int) -> None:
        """Erase what is behind the cursor (0), before it (1), or all of the screen (2)."""
        if part == 2:
            for row in self._rows:
                row.cells.clear()
            del self._rows[self._row + 1 :]
        elif part == 1:
            self._erase_in_row(1)
            for row in self._rows[: self._row]:
                row.cells.clear()
        elif part == 0:
            self._erase_in_row(0)
            del self._rows[self._row + 1 :]

    def _erase_in_row(self, part: int) -> None:
        """Erase in the cursor's row, as _erase_rows() does."""
        row = self._rows[self._row]
        row.is_changed = True
        if part == 1:
            end = min(self._column + 1, len(row.cells))
            row.cells[:end] = " " * end
        elif part == 2:
            row.cells.clear()
        else:
            del row.cells[self._column :]

    def _change_cells(self, name: str, count: int) -> None:
        """Delete, erase or insert cells at the cursor."""
        row = self._rows[self._row]
        row.is_changed = True
        end = min(self._column + count, len(row.cells))
        if name == "P":
            del row.cells[self._column : end]
        elif name == "X":
            row.cells[self._column : end] = " " * max(0, end - self._column)
        elif self._column < len(row.cells) <= _MAX_ROW:
            row.cells[self._column : self._column] = " " * count

    def _change_rows(self, name: str, count: int) -> None:
        """Insert or delete rows at the cursor."""
        if name == "M":
            del self._rows[self._row : self._row + count]
            if self._row == len(self._rows):
                self._rows.append(_Row())
        else:
            self._rows[self._row : self._row] = [_Row() for _ in range(count)]
            del self._rows[_HEIGHT:]
        self._column = 0


def shown_text(output: str) -> str:
    """Return what a terminal would show of a program's whole output."""
    screen = Screen()
    screen.write(output, is_last=True)
    return "".join(screen.take())


def _is_zero_wide(character: str) -> bool:
    """Tell whether a character has no cell: combining marks, joiners and selectors."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf")


def _join(cells: list[str], index: int, character: str) -> None:
    """Add a character without a cell to the one before it, which can be a wide one."""
    while index > 0 and not cells[index]:
        index -= 1
    cells[index] += character
