"""Reading and writing files that may come from a stranger, such as those of a pull request.

No symbolic link is followed below a given directory, so that nothing outside it is read or written,
and only regular files are read, so that nothing hangs. What is guarded against is what lies in the
directory beforehand, not a program that changes it meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

# Opening a pipe would wait for somebody to write into it. Windows has neither of the two.
_READ_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def find_link(path: Path, below: Path) -> Path | None:
    """Return the first symbolic link on the way from `below`, which may be one itself, to `path`.

    None if there is none, or if `path` does not lie below `below`.
    """
    place = os.fspath(below)
    for name in _steps(path, below) or ():
        place = os.path.join(place, name)  # noqa: PTH118  a Path takes three times as long
        try:
            if stat.S_ISLNK(os.lstat(place).st_mode):
                return Path(place)
        except OSError:
            return None
    return None


def read_text(path: Path, below: Path, limit: int) -> str:
    """Return the text of a UTF-8 file below the directory `below`, with the line breaks of Python.

    Raises UnicodeError, and OSError also where there is no regular file, where a symbolic link is
    on the way from `below` to it, and where it has more than `limit` characters.
    """
    _refuse_links(path, below)
    with open(path, encoding="utf-8", opener=_open_for_reading) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a file")
        text = file.read(limit + 1)
    if len(text) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit} characters")
    return text


def replace_text(path: Path, below: Path, text: str) -> None:
    """Write a file in UTF-8, with its folders; another program never sees it half written.

    A file that was there keeps its mode. Raises OSError also where a symbolic link is on the way
    from the directory `below` to it, or it would not be below that.
    """
    _refuse_links(path, below)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Nobody can put a link there beforehand.
    temporary = path.with_name(f".{os.urandom(16).hex()}")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(path.lstat().st_mode))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _open_for_reading(path: str, flags: int) -> int:
    return os.open(path, flags | _READ_FLAGS)


def _steps(path: Path, below: Path) -> tuple[str, ...] | None:
    """Return what leads from `below` to `path`, or None where that does not lie below."""
    # Path.relative_to() takes ten times as long, and builds look for the files of all pages.
    above, steps = path.parts[: len(below.parts)], path.parts[len(below.parts) :]
    return steps if above == below.parts and ".." not in steps else None


def _refuse_links(path: Path, below: Path) -> None:
    if _steps(path, below) is None:
        raise OSError(errno.EINVAL, f"it is not below {below}")
    if link := find_link(path, below):
        raise OSError(errno.ELOOP, f"{link} is a symbolic link, which is not followed")
