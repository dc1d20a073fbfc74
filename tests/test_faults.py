"""What goes wrong around a build: kills, races, interrupts, full disks. All of it is real."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from conftest import Project, wait_until
from service_double import ServiceDouble, generated, hold, raw

from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.generation import WAITING_MESSAGE
from mkdocs_contentgen.texts.lookup import NEVER_GENERATED_REASON
from mkdocs_contentgen.texts.store import DiskStore

if TYPE_CHECKING:
    from service_double import Handler, Received

CACHE = ".cache/plugin/contentgen"


def write_pages(project: Project, number: int) -> list[str]:
    """Write pages that each ask for a text of their own; return their topics."""
    topics = [f"T{index}" for index in range(number)]
    for topic in topics:
        project.page(f"{topic.lower()}.md", {"type": "blog", "topic": topic})
    return topics


def keep_old_text(project: Project, topic: str, days: int) -> None:
    """Put a text into the cache that was generated so many days ago."""
    request = BlogRequest(topic=topic)
    store = DiskStore(project.root / CACHE)
    html = f"<article><h1>{topic}</h1><p>The old text.</p></article>"
    generated_at = datetime.now(UTC) - timedelta(days=days)
    store.save({request.key(sandbox=False): Text(html, generated_at, request.record())})
    store.close()


def warnings_in(output: str) -> list[str]:
    """Return the lines of MkDocs' output that count for `--strict`."""
    return [line for line in output.splitlines() if line.startswith(("WARNING", "ERROR"))]


@pytest.mark.system
def test_killed_builds_lose_nothing(project: Project, service: ServiceDouble) -> None:
    """SIGKILL at random moments: what the service answered is in the cache, but the last moment."""
    topics = write_pages(project, 16)
    project.configure({"concurrency": 4})
    service.answer = generated(delay=0.15)
    chance = random.Random(7)
    for _ in range(4):
        with project.killed_build(service, chance):
            answered = set(service.answered)
            wait_until(lambda: answered <= project.cached())  # noqa: B023
        assert answered <= project.cached()
        service.answered.clear()
    project.built("--strict")
    assert project.cached() == set(topics)


@pytest.mark.system
def test_a_claim_of_a_killed_build_ends(project: Project, service: ServiceDouble) -> None:
    """The next build waits for a dead one no longer than a claim lasts, and then asks itself."""
    write_pages(project, 1)
    service.answer = generated(delay=30)
    build = project.start("mkdocs", "build")
    wait_until(lambda: service.received)
    build.kill()
    build.wait()
    service.answer = generated()
    started = time.monotonic()
    project.built("--strict")
    assert time.monotonic() - started < 40


@pytest.mark.system
def test_three_builds_at_once_pay_once(project: Project, service: ServiceDouble) -> None:
    """Builds that race on one cache directory get every text, and each is paid for once."""
    topics = write_pages(project, 10)
    service.answer = generated(delay=0.3)
    builds = [
        project.start("mkdocs", "build", "--strict", "--site-dir", f"site{number}")
        for number in range(3)
    ]
    assert [build.wait(300) for build in builds] == [0, 0, 0], project.output
    assert sorted(service.topics) == sorted(topics)
    sites = [project.root / f"site{number}/t3/index.html" for number in range(3)]
    assert len({site.read_bytes() for site in sites}) == 1


@pytest.mark.system
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, {1, 130, -2}), (signal.SIGTERM, {143}), (signal.SIGHUP, {129})],
)
def test_an_interrupt_keeps_what_is_in_flight(
    project: Project, service: ServiceDouble, number: signal.Signals, code: set[int]
) -> None:
    """After Ctrl-C, SIGTERM or SIGHUP nothing more is sent, and what is in flight is kept."""
    write_pages(project, 6)
    project.configure({"concurrency": 2})
    release = hold(service)
    build = project.start("mkdocs", "build")
    wait_until(lambda: len(service.received) == 2)
    build.send_signal(number)
    wait_until(lambda: WAITING_MESSAGE in project.output)
    release.set()
    assert build.wait(60) in code
    assert len(service.received) == 2
    assert project.cached() == set(service.topics)
    assert "Traceback" not in project.output


@pytest.mark.system
def test_a_second_interrupt_gives_up(project: Project, service: ServiceDouble) -> None:
    """Whoever presses Ctrl-C twice does not wait for the service."""
    write_pages(project, 2)
    service.answer = generated(delay=60)
    build = project.start("mkdocs", "build")
    wait_until(lambda: len(service.received) == 2)
    build.send_signal(signal.SIGINT)
    wait_until(lambda: WAITING_MESSAGE in project.output)
    assert build.poll() is None
    build.send_signal(signal.SIGINT)
    build.wait(30)
    assert "Traceback" not in project.output


def test_a_budget_is_checked_first(project: Project, service: ServiceDouble) -> None:
    """Too many requests fail the build before the first, with their number."""
    write_pages(project, 3)
    project.configure({"max_requests": 2})
    built = project.built(code=1)
    assert re.search(r"ERROR .* 3 .*\bmax_requests\b.* 2\b", built)
    assert "`contentgen generate --dry-run` lists them" in built
    # In a page that only its author sees, the topic is followed by the error.
    project.configure({"max_requests": 0})
    assert project.build_as_server().returncode == 0
    assert re.search("“T0”: .*max_requests", project.html("t0/index.html"))
    assert service.received == []


def test_on_missing_fail_lists_all(project: Project, service: ServiceDouble) -> None:
    """In fail mode, here by the environment, nothing is sent and every missing page is listed."""
    write_pages(project, 2)
    keep_old_text(project, "T0", days=1)
    project.page("more.md", {"type": "news", "topic": "More"})
    project.environment["CONTENTGEN_ON_MISSING"] = "fail"
    built = project.built(code=1)
    assert f"contentgen: {NEVER_GENERATED_REASON}, " in built
    assert "; 2 pages: docs/more.md, docs/t1.md\n" in built
    assert "docs/t0.md" not in built
    assert service.received == []


def test_on_missing_placeholder_shows_and_warns(project: Project, service: ServiceDouble) -> None:
    """A placeholder is in the page, says what is missing, and is a warning."""
    write_pages(project, 1)
    project.configure({"on_missing": "placeholder"})
    built = project.built()
    assert f"docs/t0.md:2: {NEVER_GENERATED_REASON}" in warnings_in(built)[0]
    shown = project.soup("t0/index.html").find(class_="contentgen-missing")
    assert shown is not None
    assert "`contentgen generate t0.md`" in shown.get_text()
    assert project.build("--strict").returncode == 1
    assert service.received == []


def test_on_error_placeholder_shows_and_warns(project: Project, service: ServiceDouble) -> None:
    """A failed request becomes a placeholder and a warning, where the options say so.

    The page can be public, so it names neither the service nor a path, as the warning does.
    """
    project.page("a b.md", {"type": "blog", "topic": "<b>T</b> & \x7f *T*"})
    project.configure({"on_error": "placeholder"})
    service.answer = raw(b"{}", 500)
    built = project.built()
    assert "docs/a b.md:2: " in warnings_in(built)[0]
    shown = project.soup("a b/index.html").select_one(".contentgen-missing p:last-child")
    assert shown is not None
    assert shown.decode_contents() == (
        "“&lt;b&gt;T&lt;/b&gt; &amp; \\x7f *T*” is not generated yet; "
        "`contentgen generate 'a b.md'` generates it"
    )


def test_an_old_text_is_replaced(project: Project, service: ServiceDouble) -> None:
    """A text older than `max_age` is asked for anew; of one in the cache, nothing is said."""
    keep_old_text(project, "T0", days=40)
    keep_old_text(project, "T1", days=3)
    write_pages(project, 2)
    project.configure({"max_age": "30d"})
    built = project.build("--strict")
    assert built.returncode == 0, built.stdout
    assert service.topics == ["T0"]
    assert "The old text" not in project.html("t0/index.html")
    assert "The old text" in project.html("t1/index.html")
    built = project.build()
    assert warnings_in(built.stdout) == []
    assert "2 from the cache, 0 generated, 0 missing, in" in built.stdout


def test_an_old_text_outlives_a_failure(project: Project, service: ServiceDouble) -> None:
    """When a refresh fails, the old text stays, and a warning names page and reason."""
    keep_old_text(project, "T0", days=40)
    write_pages(project, 1)
    project.configure({"max_age": "30d"})
    service.answer = raw(b"{}", 500)
    built = project.built()
    (warning,) = warnings_in(built)
    assert re.search(r"docs/t0\.md:2: .*\bolder than max_age\b.*\b500\b", warning)
    assert "The old text" in project.html("t0/index.html")
    project.environment["CONTENTGEN_ON_MISSING"] = "fail"
    built = project.built()
    assert "older than max_age" in warnings_in(built)[0]


def in_namespace(project: Project, mount: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program with a mount of its own over the cache directory."""
    directory = project.root / CACHE
    directory.mkdir(parents=True, exist_ok=True)
    python = (sys.executable, "-m")
    script = f'{mount.format(directory)} && exec "$@"'
    namespace = ("unshare", "--map-root-user", "--mount")
    return project.call(*namespace, "sh", "-c", script, "sh", *python, *command)


@pytest.mark.system
@pytest.mark.skipif(not shutil.which("unshare"), reason="needs mount namespaces")
def test_a_full_disk_ends_no_build(project: Project, service: ServiceDouble) -> None:
    """When the cache is full, the build completes with what it has, and one warning."""

    def answer(request: Received, handler: Handler) -> None:
        html = f"<article><h1>{request.topic}</h1><p>{'word ' * 12000}</p></article>"
        generated(html)(request, handler)

    write_pages(project, 12)
    project.configure({"concurrency": 2})
    service.answer = answer
    built = in_namespace(project, "mount -t tmpfs -o size=400k tmpfs {0}", "mkdocs", "build")
    assert built.returncode == 0, built.stdout
    (warning,) = warnings_in(built.stdout)
    assert "cannot be written" in warning
    assert "-unsaved/" in warning
    shown = [
        f"t{number}" for number in range(12) if "word" in project.html(f"t{number}/index.html")
    ]
    assert len(shown) == len(service.answered) < 12


@pytest.mark.system
def test_a_text_that_nothing_can_keep(project: Project, service: ServiceDouble) -> None:
    """Where neither the cache nor a file beside it can be written, the message has the text."""

    def answer(request: Received, handler: Handler) -> None:
        folder = (project.root / CACHE).parent
        folder.rename(folder.with_name("gone"))
        folder.write_text("a file")
        generated("<article><h1>T</h1><p>Paid \x1b[2J words.</p></article>")(request, handler)

    write_pages(project, 1)
    service.answer = answer
    built = project.build()
    (warning,) = warnings_in(built.stdout)
    assert "the text is in this build only, and in this message: <article><h1>T</h1>" in warning
    assert "Paid \\x1b[2J words." in warning
    assert "Paid" in project.html("t0/index.html")
    folder = (project.root / CACHE).parent
    folder.unlink()
    folder.with_name("gone").rename(folder)
    ran = project.run("mkdocs_contentgen", "generate")
    assert (
        "Error: texts that are not in the cache: 1 of 1; make room, then repeat this" in ran.stdout
    )
    assert ran.returncode == 1


def test_a_half_restored_database(project: Project, service: ServiceDouble) -> None:
    """Nobody pays again for the texts of a truncated database, unless a person deletes it."""
    write_pages(project, 3)
    assert project.build().returncode == 0
    database = project.root / CACHE / "cache.db"
    with database.open("r+b") as file:
        file.truncate(4096)
    built = project.build()
    assert built.returncode == 1
    assert "; restore a copy of it, or delete it to pay for its texts again" in built.stdout
    assert len(service.received) == 3
    database.unlink()
    assert project.build("--strict").returncode == 0
    assert len(service.received) == 6


@pytest.mark.system
def test_a_bar_on_a_terminal(project: Project, service: ServiceDouble) -> None:
    """On a terminal, a bar shows how far a generation is."""
    write_pages(project, 3)
    release = hold(service)
    with (project.root / "output.txt").open("w") as output:
        build = subprocess.Popen(
            ["script", "-qec", f"{sys.executable} -m mkdocs build --strict", "/dev/null"],
            cwd=project.root,
            env=project.environment | {"TERM": "xterm-256color"},
            stdin=subprocess.DEVNULL,
            stdout=output,
        )
    wait_until(lambda: "3 in flight, 0 failed" in project.output)
    release.set()
    assert build.wait(60) == 0
    assert "3 of 3 texts" in project.output


def test_gh_deploy(project: Project, service: ServiceDouble) -> None:
    """`mkdocs gh-deploy` generates, and pushes the articles."""
    write_pages(project, 1)
    remote = project.root / "remote.git"
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (
        ["git", "init", "-q", "--bare", str(remote)],
        ["git", "init", "-q"],
        ["git", "remote", "add", "origin", str(remote)],
        ["git", *who, "commit", "-q", "--allow-empty", "-m", "Start"],
    ):
        subprocess.run(command, cwd=project.root, check=True)
    project.environment |= {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"))
    }
    project.ran("mkdocs", "gh-deploy", "--strict")
    page = subprocess.run(
        ["git", "-C", str(remote), "show", "gh-pages:t0/index.html"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Text number 1" in page.stdout
    assert json.dumps(service.topics) == '["T0"]'
