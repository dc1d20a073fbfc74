"""What the tests share: a service on loopback, and MkDocs projects that are really built."""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from commands import COMMANDS, run_here
from github_double import GitHubDouble, github_double
from hypothesis import settings
from model_double import ModelDouble, running_model
from model_writer import writing
from programs import Program, start
from service_double import ServiceDouble, running
from xdist.remote import Producer  # type: ignore[import-untyped]  # it has no types
from xdist.scheduler import (  # type: ignore[import-untyped]  # it has no types
    Scheduling,
    WorkStealingScheduling,
)

# A shell's background job is deaf to Ctrl-C, and so would be the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def leave_the_machine() -> None:
    """Give the tests an environment that is the same on each machine and for each person.

    Programs of the virtual environment are found; settings of a person, a proxy, a terminal, a
    language and a repository are not.
    """
    terminal = ("COLUMNS", "FORCE_COLOR", "LANGUAGE", "LINES", "NO_COLOR", "TTY_COMPATIBLE")
    for name in list(os.environ):
        own = name.startswith(("CONTENTGEN_", "GIT_", "LC_", "XDG_"))
        if own or name in terminal or name.lower().endswith("_proxy"):
            del os.environ[name]
    home = tempfile.mkdtemp(prefix="home-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    programs = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    os.environ |= {"HOME": home, "PATH": os.pathsep.join(programs)}
    os.environ |= {"LANG": "C.UTF-8", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1"}
    time.tzset()


leave_the_machine()

# Compiling this package takes a fifth of the time of a small build, of which there are hundreds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test may fail on a machine that has other things to do, or for what a change has not touched.
# More and new examples each time: `pytest --hypothesis-profile=search`.
settings.register_profile("search", deadline=None, max_examples=200)
settings.register_profile("patient", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("patient")

ROOT = Path(__file__).parent.parent

SYSTEM_FIXTURES = {"browser", "machines", "machine", "nginx", "postgres"}
"""What needs Chromium, Redis, nginx or PostgreSQL."""

SHARED_BUILDS = {
    *("test_browser.py", "test_browser_zensical.py", "test_ejection.py"),
    *("test_markup_outside.py", "test_same_output.py", "test_server_fuzz.py", "test_smollm2.py"),
    *("test_recipes.py", "test_wheel.py"),
}
"""The modules whose tests share long builds, a model or a server; one worker runs all of them."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return a worker for each core and more, since tests wait, most of all those of a browser.

    Each takes seconds to import all tests, and as many again where they are not compiled yet.
    """
    selected: str = config.option.markexpr
    return (os.cpu_count() or 1) + (2 if selected == "system" else 1)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Hand tests out in large parts where nearly all of them take milliseconds.

    With groups, each test is handed out by itself, for which its worker waits. The default tests of
    a group come one after the other, so that few workers make what they share.
    """
    if config.option.markexpr == "system":
        return None  # as the command line says
    return WorkStealingScheduling(config, log)


def pytest_collection(session: pytest.Session) -> None:
    """Look for no garbage while thousands of tests are found, which all stay."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Do not look at the tests again, and at what they import, whenever garbage is collected.

    Looking for garbage as often as Python does by itself takes a twelfth of the time of all tests.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Run the system tests, too, where modules or tests are named rather than directories."""
    named = [Path(argument.split("::")[0]) for argument in config.args]
    if config.option.markexpr == "not system" and all(path.is_file() for path in named):
        config.option.markexpr = ""


@pytest.hookimpl(tryfirst=True)  # before pytest reads the marks, and pytest-xdist the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark system tests, and those that share builds."""
    for item in items:
        if SYSTEM_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("system")
        if item.path.name in SHARED_BUILDS:
            item.add_marker(pytest.mark.xdist_group(item.path.name))


@pytest.fixture
def service() -> Iterator[ServiceDouble]:
    """Run a service; afterwards, every request must have been what the interface allows."""
    with running() as double:
        yield double
    assert double.violations == []


class Variable(str):
    """The name of an environment variable, which `mkdocs.yml` names with `!ENV`."""


yaml.SafeDumper.add_representer(
    Variable, lambda dumper, name: dumper.represent_scalar("!ENV", name)
)


@dataclass
class Project:
    """An MkDocs project in a directory of its own."""

    root: Path
    environment: dict[str, str]

    def write(self, path: str, content: str) -> Path:
        """Write a file below the project's directory."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return file

    def page(self, path: str, request: object, text: str = "", **meta: object) -> Path:
        """Write a page below `docs` that asks for `request`."""
        front = yaml.safe_dump({**meta, "contentgen": request}, sort_keys=False, allow_unicode=True)
        return self.write(f"docs/{path}", f"---\n{front}---\n{text}")

    def configure(self, options: object = None, **config: object) -> None:
        """Write `mkdocs.yml` with the plugin and these options of it."""
        merged = {"site_name": "Site", "plugins": [{"contentgen": options or {}}], **config}
        self.write("mkdocs.yml", yaml.safe_dump(merged, sort_keys=False))

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the virtual environment here; its output is all in `stdout`.

        It runs in the process of the test if it can.
        """
        if command[0] in COMMANDS:
            return run_here(self.root, self.environment, *command)
        return self.run_process(*command)

    def run_process(self, *command: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Run a program of the virtual environment here, as a process of its own."""
        return self.call(sys.executable, "-m", *command, timeout=timeout)

    def call(self, *command: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Run any program here; its output is all in `stdout`, and it is told nothing."""
        return subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *command: str) -> Program:
        """Start a program of the virtual environment here; its output goes to `output.txt`."""
        with (self.root / "output.txt").open("a") as output:
            return start(command, self.root, self.environment, output.fileno())

    @property
    def output(self) -> str:
        """What the programs that were started have printed."""
        return (self.root / "output.txt").read_text()

    def cached(self) -> set[str]:
        """Return the topics of the texts in the cache, read apart from the code under test."""
        database = self.root / ".cache/plugin/contentgen/cache.db"
        if not database.exists():
            return set()
        with closing(sqlite3.connect(database)) as connection:
            rows = connection.execute("SELECT value FROM Cache WHERE key NOT LIKE '%:%'")
            return {json.loads(value)["record"]["request"]["topic"] for (value,) in rows}

    def end_claims(self) -> None:
        """Remove the claims of killed builds, for whose end a test need not wait each time."""
        database = self.root / ".cache/plugin/contentgen/cache.db"
        with (
            suppress(sqlite3.OperationalError),  # the build was killed too early
            closing(sqlite3.connect(f"file:{database}?mode=rw", uri=True)) as connection,
            connection,
        ):
            connection.execute("DELETE FROM Cache WHERE key LIKE 'claim:%'")

    @contextmanager
    def killed_build(self, service: ServiceDouble, chance: random.Random) -> Iterator[None]:
        """Start a build, run the block at a random moment after its first request, and kill it."""
        before = len(service.received)
        build = self.start("mkdocs", "build")
        wait_until(lambda: len(service.received) > before or build.poll() is not None, 40)
        time.sleep(chance.uniform(0, 0.5))
        yield
        build.kill()
        build.wait()
        self.end_claims()

    def build(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `mkdocs build`."""
        return self.run("mkdocs", "build", *arguments)

    def ran(self, *command: str, code: int = 0) -> str:
        """Run a program, which must end with this status, and return its output."""
        ran = self.run(*command)
        assert ran.returncode == code, ran.stdout
        return ran.stdout

    def built(self, *arguments: str, code: int = 0) -> str:
        """Run `mkdocs build`, which must end with this status, and return its output."""
        return self.ran("mkdocs", "build", *arguments, code=code)

    def build_as_server(self) -> subprocess.CompletedProcess[str]:
        """Build once as `mkdocs serve` does, without waiting for readers."""
        self.write(
            "serve_once.py",
            "from mkdocs.commands.build import build\n"
            "from mkdocs.config import load_config\n"
            "config = load_config('mkdocs.yml', site_dir='site')\n"
            "config.plugins.on_startup(command='serve', dirty=False)\n"
            "build(config, serve_url='http://127.0.0.1:8000/')\n"
            "config.plugins.on_shutdown()\n",
        )
        return self.run_process("serve_once")

    def html(self, path: str) -> str:
        """Return a file of the built site."""
        return (self.root / "site" / path).read_text(encoding="utf-8")

    def soup(self, path: str) -> BeautifulSoup:
        """Return a page of the built site, parsed."""
        return BeautifulSoup(self.html(path), "html.parser")

    def files(self) -> dict[str, bytes]:
        """Return all files of the built site."""
        site = self.root / "site"
        return {
            path.relative_to(site).as_posix(): path.read_bytes()
            for path in sorted(site.rglob("*"))
            # It holds the time at which it was packed, with MkDocs before 1.6.1.
            if path.is_file() and path.name != "sitemap.xml.gz"
        }


@pytest.fixture
def project(tmp_path: Path, service: ServiceDouble) -> Project:
    """Return an empty project whose environment leads to the service."""
    environment = service.environment | {"SOURCE_DATE_EPOCH": "1700000000", "COLUMNS": "200"}
    project = Project(tmp_path, environment)
    (tmp_path / "docs").mkdir()
    project.configure()
    return project


@pytest.fixture
def model() -> Iterator[ModelDouble]:
    """Run a model server whose texts pass the checks."""
    with running_model() as double:
        double.answer = writing()
        yield double


@pytest.fixture
def server() -> Iterator[ModelDouble]:
    """Run a model server; afterwards, it must have got no request that its API does not have."""
    with running_model() as double:
        yield double
    assert double.strays == []


@pytest.fixture
def github() -> Iterator[GitHubDouble]:
    """Serve GitHub's API."""
    with github_double() as double:
        yield double


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel that was just built, or the one under test where the source was removed."""
    directory = ROOT / "dist"
    if (ROOT / "mkdocs_contentgen").exists():
        directory = tmp_path_factory.mktemp("dist")
        command = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(directory), str(ROOT)]
        subprocess.run([sys.executable, "-m", *command], check=True)
    (found,) = directory.glob("*.whl")
    return found


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Make a certificate for 127.0.0.1 that nobody trusts."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    subprocess.run(
        "openssl req -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
        "-keyout key.pem -out cert.pem -subj /CN=double -addext subjectAltName=IP:127.0.0.1 "
        "-addext keyUsage=critical,digitalSignature,keyCertSign".split(),
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    return tmp_path / "cert.pem"


def wait_until(condition: Callable[[], object], timeout: float = 60) -> None:
    """Wait until a condition holds, or fail after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        time.sleep(0.02)


async def until(condition: Callable[[], object], timeout: float = 60) -> None:
    """Wait in an event loop until a condition holds, or fail after `timeout` seconds."""
    async with asyncio.timeout(timeout):
        while not condition():
            await asyncio.sleep(0.01)
