"""The process of Zensical: when it starts to work, how it ends, and what stays of it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkdocs_contentgen.zensical.process import Zensical

pytestmark = pytest.mark.system


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in an empty folder, which Zensical cannot build, and keep the test's handlers."""
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_a_command_that_ends_before(capfd: pytest.CaptureFixture[str]) -> None:
    """Zensical has not started to work, says nothing, and leaves nothing."""
    with Zensical("build", []) as zensical:
        folder = zensical.missing_file.parent
        assert folder.is_dir()
    assert zensical.process.returncode == 0
    assert not folder.exists()
    assert capfd.readouterr() == ("", "")


def test_the_status_of_zensical(capfd: pytest.CaptureFixture[str]) -> None:
    """It is that of the command, and what Zensical says is printed."""
    with Zensical("build", []) as zensical:
        zensical.run()
        assert zensical.wait() == 1
    assert "No config file found" in capfd.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_status_after_a_signal(number: signal.Signals) -> None:
    """It is that which shells give, and not a negative one."""
    with Zensical("build", []) as zensical:
        zensical.process.send_signal(number)
        zensical.run()
        assert zensical.wait() == 128 + number


def test_ctrl_c_before_it_works(capfd: pytest.CaptureFixture[str]) -> None:
    """A process that waits takes no notice, and prints no traceback."""
    with Zensical("build", []) as zensical:
        zensical.process.send_signal(signal.SIGINT)
    assert zensical.process.returncode == 0
    assert "Traceback" not in capfd.readouterr().err
