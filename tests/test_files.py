"""Files that a stranger may have prepared."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from mkdocs_contentgen.files import find_link, read_text, replace_text


def refused(path: Path, below: Path) -> str:
    """Return why a path is neither read nor written."""
    with pytest.raises(OSError, match=r"\w") as reading:
        read_text(path, below, 100)
    with pytest.raises(OSError, match=r"\w") as writing:
        replace_text(path, below, "new")
    assert reading.value.strerror == writing.value.strerror
    return str(reading.value.strerror)


def test_writing_and_reading(tmp_path: Path) -> None:
    """What is written is read, in UTF-8 and with the line breaks of any system."""
    path = tmp_path / "a/b/c.txt"
    replace_text(path, tmp_path, "ä\nb\n")
    assert path.read_bytes() == b"\xc3\xa4\nb\n"
    path.write_bytes(b"a\r\nb\rc\n")
    assert read_text(path, tmp_path, 6) == "a\nb\nc\n"
    with pytest.raises(OSError, match="more than 5 characters"):
        read_text(path, tmp_path, 5)
    path.write_bytes(b"\xff")
    with pytest.raises(UnicodeError):
        read_text(path, tmp_path, 5)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "a/none", tmp_path, 5)


def test_only_what_is_below(tmp_path: Path) -> None:
    """No path leads out of the directory."""
    inside = tmp_path / "inside"
    inside.mkdir()
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    for path in (outside, inside / "../outside.txt", inside / "a/../../outside.txt"):
        assert refused(path, inside) == f"it is not below {inside}"
    assert outside.read_text() == "secret"


def test_links(tmp_path: Path) -> None:
    """No link on the way is followed, whether it leads to something or not; one above is."""
    real = tmp_path / "real"
    (real / "folder").mkdir(parents=True)
    (real / "file").write_text("text")
    top = tmp_path / "top"
    top.symlink_to(real)
    for name, target in (("one", real / "file"), ("two", real / "folder"), ("three", "nothing"),
                         ("four", "four"), ("five", "/dev/zero")):  # fmt: skip
        (top / name).symlink_to(target)
        for path in (top / name, top / name / "file"):
            assert find_link(path, top) == top / name
            assert refused(path, top) == f"{top / name} is a symbolic link, which is not followed"
    assert read_text(top / "file", top, 100) == "text"
    assert find_link(top / "file", top) is None
    assert sorted(path.name for path in (real / "folder").iterdir()) == []


def test_what_is_no_file(tmp_path: Path) -> None:
    """Pipes, sockets, devices and folders are not read, at once."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        directory = os.open(tmp_path, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{directory}/socket")
        os.close(directory)
        started = time.monotonic()
        for name in ("pipe", "folder", "socket"):
            with pytest.raises(OSError, match=r"\w"):
                read_text(tmp_path / name, tmp_path, 100)
        with pytest.raises(OSError, match="not a file"):
            read_text(Path("/dev/zero"), Path("/dev"), 100)
    assert time.monotonic() - started < 30


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    """Where a file cannot be replaced, nothing is changed, and nothing is left behind."""
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(UnicodeError):
        replace_text(path, tmp_path, "\ud800")
    assert path.read_text() == "before"
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"\w"):
        replace_text(tmp_path / "folder", tmp_path, "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_nobody_reads_half_a_file(tmp_path: Path) -> None:
    """While a file is replaced again and again, each reader finds one whole version."""
    path = tmp_path / "file"
    texts = {character * 200_000 for character in "ab"}
    replace_text(path, tmp_path, min(texts))
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            for text in texts:
                replace_text(path, tmp_path, text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {read_text(path, tmp_path, 200_000) for _ in range(300)} <= texts
    finally:
        done.set()
        writer.join()


def test_modes(tmp_path: Path) -> None:
    """A new file can be read by whom the system lets; one that was there keeps its mode."""
    path = tmp_path / "file"
    plain = tmp_path / "plain"
    plain.touch()
    replace_text(path, tmp_path, "x")
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o600)
    replace_text(path, tmp_path, "y")
    assert path.stat().st_mode & 0o777 == 0o600
