"""Read, write and delete untrusted files safely, such as those of a pull request.

Symbolic links below a given directory are not followed, so nothing outside of it is read, written
or deleted. Only regular files are read, so reading does not block. This does not protect against
programs that change the directory at the same time. Contents are told apart by their SHA-256.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

# O_NONBLOCK, since opening a pipe would block. Windows has neither flag.
_READ_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def find_link(path: Path, root: Path) -> Path | None:
    """Return the first symbolic link below `root` on the way to `path`, which may be one itself.

    Returns None if there is none, or if `path` is not below `root`. A link above does not count.
    """
    current = os.fspath(root)
    for name in _relative_parts(path, root) or ():
        current = os.path.join(current, name)  # noqa: PTH118  Path takes three times as long
        try:
            if stat.S_ISLNK(os.lstat(current).st_mode):
                return Path(current)
        except OSError:
            return None
    return None


def refuse_links(path: Path, root: Path) -> None:
    """Raise OSError if there is a symbolic link on the way from `root` to `path`."""
    if _relative_parts(path, root) is None:
        raise OSError(errno.EINVAL, f"it is not below {root}")
    link = find_link(path, root)
    if link:
        raise OSError(errno.ELOOP, f"{link} is a symbolic link, which is not followed")


def read_text(path: Path, root: Path, limit: int) -> str:
    r"""Return the text of a UTF-8 file below the directory `root`, with `\n` as line breaks.

    Raises UnicodeError, or OSError, also if the file is not a regular file, if there is a symbolic
    link on the way from `root` to it, or if it has more than `limit` characters.
    """
    refuse_links(path, root)
    with open(path, encoding="utf-8", opener=_open_for_reading) as file:
        _refuse_other_than_file(file.fileno())
        text = file.read(limit + 1)
    if len(text) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit} characters")
    return text


def read_bytes(path: Path, root: Path, limit: int) -> bytes:
    """Return the content of a file below the directory `root`.

    Raises ValueError for a path that no file can have, or OSError, also if the file is not a
    regular file, if there is a symbolic link on the way from `root` to it, or if it has more than
    `limit` bytes.
    """
    refuse_links(path, root)
    with open(path, "rb", opener=_open_for_reading) as file:
        _refuse_other_than_file(file.fileno())
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes")
    return content


def replace_text(path: Path, root: Path, text: str) -> None:
    """Write a UTF-8 file atomically, and create its parent directories.

    An existing file keeps its mode. Raises OSError, also if the file would not be below the
    directory `root`, or if there is a symbolic link on the way from `root` to it.
    """
    refuse_links(path, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A random name, so that no link can be prepared in its place.
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


@contextmanager
def locked(directory: Path, *, wait: bool = True) -> Iterator[None]:
    """Let one program at a time change the files in a directory. Raises OSError.

    The directory is created. Without `wait`, it is an OSError if another program holds the lock.
    Windows has no such lock: with `wait`, nothing is locked there, and without, it is an OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if find_spec("fcntl") is None:
        if not wait:
            raise OSError(errno.ENOTSUP, "nobody knows who changes it")
        yield
        return
    import fcntl

    operation = fcntl.LOCK_EX
    if not wait:
        operation |= fcntl.LOCK_NB
    descriptor = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, operation)
        yield
    finally:
        os.close(descriptor)


def reason_of(error: OSError | ValueError) -> str:
    """Return why a file cannot be read or written, without its path."""
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    return getattr(error, "strerror", None) or "its path is not valid"


_CURES = {
    errno.EACCES: "give yourself the right to write there",
    errno.EPERM: "give yourself the right to write there",
    errno.EROFS: "write to another folder, since this file system is read-only",
    errno.ENOSPC: "make room",
    errno.ENOTDIR: "a file is in the place of a folder: move it away",
    errno.EEXIST: "a file is in the place of a folder: move it away",
    errno.EISDIR: "a folder is in the place of a file: move it away",
}
"""What to do where a file cannot be written, by the number of the error."""


def cure_of(error: Exception) -> str:
    """Return the end of a message about a file that cannot be used: what to do, or nothing."""
    cure = _CURES.get(getattr(error, "errno", None) or 0)
    return f"; {cure}" if cure else ""


def normal_form(path: str | Path) -> str:
    """Return a path in NFC, in which paths that look the same are the same.

    Keyboards and Git for macOS write NFC, and some file systems and archives keep NFD.
    """
    return unicodedata.normalize("NFC", os.fspath(path))


def sha256(data: str | bytes) -> str:
    """Return the SHA-256 of bytes, or of a text in UTF-8, as 64 hex digits.

    A text may have unpaired surrogates, which an escape in a source can make.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def short_digest(text: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of a text: enough for the blocks of a text.

    It is too short for what somebody could gain from forging.
    """
    return sha256(text)[:16]


def _open_for_reading(path: str, flags: int) -> int:
    return os.open(path, flags | _READ_FLAGS)


def _refuse_other_than_file(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "it is not a file")


def _relative_parts(path: Path, root: Path) -> tuple[str, ...] | None:
    """Return the parts of `path` below `root`, or None if it is not below `root`."""
    # Path.relative_to() takes ten times as long, and builds call this for each page.
    depth = len(root.parts)
    parts = path.parts[depth:]
    if path.parts[:depth] != root.parts or ".." in parts:
        return None
    return parts
