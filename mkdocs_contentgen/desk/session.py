"""The site behind the desk: read again when something has changed, and asked for further texts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

import click

from ..errors import CancelledRequestError, ContentgenError
from ..page_request import PageRequest
from ..reporting import Reporter
from ..review import updating
from ..service.protocol import Attempt, Client
from ..site.build import Build
from ..site.site import Site
from ..site.watching import stamp_of_pages, stamp_of_texts
from ..text import Text
from ..texts.articles import Article
from ..texts.generation import ask_for_text
from ..texts.policy import AskForText
from .acts import Desk

Load = Callable[[], AbstractContextManager[Site]]


@dataclass
class TextJob:
    """Another text that is being generated, or why it has not arrived."""

    is_update: bool
    began: float = field(default_factory=time.time)
    problem: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread = field(default_factory=threading.Thread)

    @property
    def is_running(self) -> bool:
        """Whether the text has neither arrived nor failed yet."""
        return self.thread.is_alive()


class DeskSite:
    """Opens the texts of a site. Used with `with`."""

    def __init__(
        self,
        load: Load,
        pages: Sequence[str],
        by: str,
        to_json: Callable[[Article], dict[str, object]],
        reporter: Reporter,
    ) -> None:
        self.to_json = to_json
        self.build: Callable[[str, bool], None] = lambda stamp, is_urgent: None
        """Lets the site be built. Whoever has a builder sets it, which needs the open site.

        It is called with the stamp of the pages, and True if they have changed, or False if only
        the texts have.
        """

        self.lock = threading.Lock()
        """Held by whoever uses the texts."""

        self.problem = ""
        """Why the site cannot be loaded as it is now, or an empty string."""

        self.stamp = ""
        """Names the state of configuration and pages."""

        self._load = load
        self._pages = pages
        self._by = by
        self._reporter = reporter
        self._stack = ExitStack()
        self._desk: Desk | None = None
        self._stamp_of_texts = ""
        self._jobs: dict[str, TextJob] = {}

    def __enter__(self) -> DeskSite:
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        for job in self._jobs.values():
            job.cancelled.set()
        self.wait()
        self._stack.close()

    def open(self) -> Desk:
        """Return the texts as they are now. Raises ConfigurationError."""
        if self._desk is None or self.stamp != stamp_of_pages(self._desk.site):
            self._reload()
        return self.after_change()

    def after_change(self) -> Desk:
        """Return the texts after something that can have changed texts, but no page."""
        desk = self._desk
        assert desk is not None  # noqa: S101  for mypy
        texts = stamp_of_texts(desk.site)
        if texts != self._stamp_of_texts:
            if self._stamp_of_texts:  # the first time, the site is built in any case
                self.build(self.stamp, False)
            self._stamp_of_texts = texts
            desk.refresh()
        return desk

    def _reload(self) -> None:
        """Load the site again. If that fails, keep it as it was, and say why in `problem`."""
        stack = ExitStack()
        # Before loading, so that a change that comes meanwhile is noticed the next time.
        stamp_at_start = stamp_of_pages(self._desk.site) if self._desk else ""
        try:
            site = stack.enter_context(self._load())
        except (SystemExit, click.ClickException, ContentgenError) as error:
            if self._desk is None:
                raise
            self.stamp = stamp_at_start  # it is loaded again once the pages change
            first_line = str(error).partition("\n")[0]
            self.problem = f"the site cannot be loaded ({first_line})"
            return
        self._stack.close()
        self._stack = stack
        self.problem = ""
        self._desk = Desk(site, self._by, self._pages)
        self.stamp = stamp_at_start or stamp_of_pages(site)  # the latter for the first time
        self.build(self.stamp, True)

    def ask(self, article: Article, *, update: bool, note: str = "", section: str = "") -> None:
        """Ask for another text in the background, and replace the draft by it.

        With `update`, only the blocks that have to change are written again. The text that was
        there can be compared, and comes back with `Undo`.
        """
        job = TextJob(update)
        self._jobs[article.key] = job
        arguments = self.open().site, article, job, note, section
        job.thread = threading.Thread(target=self._ask, args=arguments, daemon=True)
        job.thread.start()

    def last_job(self, article: Article) -> TextJob | None:
        """Return the last job to get another text for an article, or None."""
        return self._jobs.get(article.key)

    def wait(self) -> None:
        """Wait for the texts that are being generated."""
        for job in list(self._jobs.values()):
            job.thread.join()

    def _ask(self, site: Site, article: Article, job: TextJob, note: str, section: str) -> None:
        policy = replace(site.options.command_policy(), max_requests=1, refresh=not job.is_update)
        try:
            build = Build(site, policy, self._reporter)
            cancellable = partial(_cancellable, cancelled=job.cancelled)
            if job.is_update:
                made, problems = _update(build, article, note, section, cancellable)
            else:
                made, problems = _generate(build, article, cancellable)
            job.problem = "; ".join(problems)
            if made is not None:
                with self.lock:
                    self.open().note_request(article, made)
        except ContentgenError as error:
            job.problem = str(error)


def _update(
    build: Build,
    article: Article,
    note: str,
    section: str,
    wrap: Callable[[AskForText], AskForText],
) -> tuple[Text | None, list[str]]:
    """Return the updated text of an article, or else why there is none."""
    planned = updating.plan(build, [article], note=note, section=section)
    results, problems = updating.run(build, planned.updates, wrap)
    problems += [*planned.problems, *planned.notes]
    problems += [str(result.error) for result in results if result.error]
    made = results[0].after if results else None
    return made, problems


def _generate(
    build: Build, article: Article, wrap: Callable[[AskForText], AskForText]
) -> tuple[Text | None, list[str]]:
    """Return a new text for an article, or else why there is none.

    None is returned for a text that people have already changed.
    """
    agreed = frozenset([article.draft.version] if article.draft else ())
    source = replace(build.foreground(), ask=wrap(ask_for_text), agreed=agreed)
    obtained = build.obtain(build.site.approved_files(), source, [article.asked])
    draft = obtained.articles[0].draft
    made = draft if draft and not draft.edits else None
    return made, [*obtained.failures, *obtained.warnings]


def _cancellable(ask: AskForText, cancelled: threading.Event) -> AskForText:
    """Return `ask`, so that its request ends when that is cancelled."""

    async def ask_unless_cancelled(client: Client, asked: PageRequest, attempt: Attempt) -> Text:
        task = asyncio.ensure_future(ask(client, asked, attempt))
        while not task.done():
            await asyncio.wait({task}, timeout=0.1)
            if cancelled.is_set():
                task.cancel()
                raise CancelledRequestError("cancelled; nothing was changed")
        return task.result()

    return ask_unless_cancelled
