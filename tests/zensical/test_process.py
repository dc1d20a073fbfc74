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


def test_what_both_tell_each_other(tmp_path: Path) -> None:
    """It is in a folder that goes with the command; what cannot be read is not said."""
    with Zensical("build", []) as zensical:
        exchange = zensical.exchange
        assert (exchange.missing(), exchange.problems()) == ({}, [])
        exchange.set_missing({"key": "why"})
        exchange.add_problem("a.md:1: wrong")
        assert (exchange.missing(), exchange.problems()) == ({"key": "why"}, ["a.md:1: wrong"])
        (exchange.folder / "missing.json").write_text("[")
        assert exchange.missing() == {}
    assert not exchange.folder.exists()


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
        zensical.run().send_signal(number)
        assert zensical.wait() == 128 + number
