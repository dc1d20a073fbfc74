"""Serve a site with Zensical, and request its missing texts in the background."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

from ..errors import ContentgenError
from ..site.background import Background
from ..site.build import Build, resolve
from ..site.content import PageContent
from ..site.site import Site
from ..site.watching import stamp_of, stamp_of_pages
from ..writer.models.usage import Spending
from .building import Terminal, prepare_site
from .configuration import find_configuration, read_arguments
from .loading import read_site
from .page_cache import delete_entries
from .process import Exchange, Zensical

CHECK_INTERVAL = 0.3
"""Seconds between two looks at what has changed, and whether Zensical still runs."""

SECOND_ANNOUNCEMENT = 1.0
"""Seconds after which Zensical is told again that a page has changed.

It misses a change while it renders the page, as after an edit that has asked for a text.
"""


def serve(zensical: Zensical, arguments: Sequence[str], terminal: Terminal) -> int:
    """Let `zensical serve` run, and return its exit status.

    Texts are generated in the background. At the end, the call waits for the requests in flight.
    Raises ConfigurationError and StoreError.
    """
    invocation = read_arguments(["serve", *arguments])
    path = find_configuration(invocation.config_file, Path.cwd())
    site = read_site(path, drafts=True)
    prepare_site(site)
    background = Background(site.options.max_requests, terminal.reporter)
    updates = _Updates(background, zensical.exchange, terminal)
    process: Popen[bytes] | None = None
    interrupted = False
    known = _stamp(site, background)
    try:
        updates.update(site)
        process = zensical.run()
        while process.poll() is None:
            now = _stamp(site, background)
            if now != known:
                known = now
                try:
                    site = read_site(path, drafts=True)
                    updates.update(site)
                except (ContentgenError, OSError) as error:
                    terminal.report([str(error)], [])
            updates.announce_again(site)
            time.sleep(CHECK_INTERVAL)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        if process and process.poll() is None:
            process.terminate()
        background.stop()
        status = zensical.wait() if process else 0
    return 0 if interrupted else status  # Ctrl-C is the way to end a server


def _stamp(site: Site, background: Background) -> tuple[str, ...]:
    """Return what changes with the pages, the approved files, or texts that arrive."""
    news = stamp_of([background.trigger_file])
    return stamp_of_pages(site), stamp_of([site.approved_directory()]), news


class _Updates:
    """Brings the pages that Zensical shows up to date."""

    def __init__(self, background: Background, exchange: Exchange, terminal: Terminal) -> None:
        self._exchange = exchange
        self._background = background
        self._terminal = terminal
        self._shown: dict[str, dict[str, PageContent]] | None = None
        self._to_announce_again: set[str] = set()
        self._last_announced = 0.0
        self._reported: set[str] = set()
        self._spending: Spending | None = None

    def update(self, site: Site) -> None:
        """Request what is missing, and let Zensical render the pages that changed.

        Raises ConfigurationError.
        """
        policy = replace(site.options.policy(), warn_only=True)
        build = Build(site, policy, self._terminal.reporter, self._spending)
        self._spending = build.spending  # `max_cost` is for all texts of a server
        self._background.build_started()
        try:
            source = self._background.source(build.foreground)
            resolution = resolve(build, site.approved_files(), source)
        finally:
            self._background.build_ended()
        messages = [*site.warnings, *resolution.warnings]
        new_messages = [message for message in messages if message not in self._reported]
        self._terminal.report(new_messages, [])
        # Without the seconds that it took, so that the same numbers are not said again.
        summary = resolution.summary.rpartition(", in ")[0]
        if summary and summary not in self._reported:
            self._terminal.reporter.log(summary)
        self._reported = {*messages, summary}
        self._exchange.set_missing(resolution.missing)
        shown = resolution.articles
        if self._shown is not None:  # otherwise, Zensical is about to render all of them
            changed = set()
            for page in shown:
                if self._shown.get(page) != shown[page]:
                    changed.add(page)
            self._to_announce_again |= changed
            self._announce(site, changed)
        self._shown = shown

    def announce_again(self, site: Site) -> None:
        """Announce changes a second time when it is time to."""
        is_time = time.monotonic() > self._last_announced + SECOND_ANNOUNCEMENT
        if self._to_announce_again and is_time:
            self._announce(site, self._to_announce_again)
            self._to_announce_again = set()

    def _announce(self, site: Site, pages: Collection[str]) -> None:
        """Let Zensical render pages again."""
        delete_entries(site.directory, pages)
        problems = []
        for page in pages:
            problem = _announce_problem(site, page)
            if problem:
                problems.append(problem)
        self._terminal.report(problems, [])
        self._last_announced = time.monotonic()


def _announce_problem(site: Site, page: str) -> str:
    """Make Zensical notice a page, and return why that is not possible, or an empty string.

    Its first byte is replaced by itself: a new time of change would not be noticed, and a new file
    could replace what somebody is writing.
    """
    source = site.files.get(page)
    if source is None:  # it was deleted meanwhile
        return ""
    try:
        with Path(str(source.abs_src_path)).open("r+b") as file:
            first = file.read(1)
            file.seek(0)
            file.write(first)
    except OSError as error:
        return (
            f"{page}: its new text is not shown ({error.strerror}); "
            "start `contentgen zensical serve` again to see it"
        )
    return ""
