"""The site behind the desk: loaded again when its pages change, and asked for further texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

import click

from ..errors import EditError
from ..review import updating
from ..site.build import Build
from ..site.site import Site
from ..texts.articles import Article
from ..texts.policy import PageRequest, Policy
from .texts import Desk

Load = Callable[[], AbstractContextManager[Site]]


class DeskSite:
    """Opens the texts of a site. Used with `with`; `built` is called when there is a new text."""

    def __init__(
        self,
        load: Load,
        pages: Sequence[str],
        by: str,
        to_json: Callable[[Article], dict[str, object]],
        log: Callable[[str], None],
    ) -> None:
        self.to_json = to_json
        self.built: Callable[[], None] = lambda: None
        self._load = load
        self._pages = pages
        self._by = by
        self._log = log
        self._stack = ExitStack()
        self._desk: Desk | None = None
        self._changed_at: tuple[object, ...] = ()
        self._asking: dict[str, threading.Thread] = {}
        self._problems: dict[str, str] = {}

    def __enter__(self) -> DeskSite:
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        for thread in list(self._asking.values()):
            thread.join()
        self._stack.close()

    def open(self) -> Desk:
        """Return the texts as they are now. Raises ConfigurationError."""
        if self._desk is None or self._times(self._desk.site) != self._changed_at:
            stack = ExitStack()
            try:
                site = stack.enter_context(self._load())
            except (SystemExit, click.ClickException) as error:
                if self._desk is None:
                    raise
                raise EditError(f"the site cannot be loaded ({error})") from error
            self._stack.close()
            self._stack = stack
            undo = self._desk.undo_stack if self._desk else {}
            self._desk = Desk(site, self._by, self._pages, undo)
            self._changed_at = self._times(site)
        return self._desk

    def ask(
        self, article: Article, *, note: str = "", section: str = "", update: bool = False
    ) -> None:
        """Ask for another text in the background, and replace the draft by it.

        With `update`, or a `note`, only the blocks that have to change are written anew.
        """
        if self.asking(article) or self._desk is None:
            return
        self._problems.pop(article.key, None)
        site = self._desk.site
        wanted = [
            it
            for it in site.requests
            if it.page == article.page and it.request.id == article.request.id
        ]
        ask = partial(self._ask, site, wanted, article.key)
        if update or note:
            ask = partial(self._update, site, article, note, section)
        thread = threading.Thread(target=ask, daemon=True)
        self._asking[article.key] = thread
        thread.start()

    def asking(self, article: Article) -> bool:
        """Tell whether another text is being generated."""
        thread = self._asking.get(article.key)
        return thread is not None and thread.is_alive()

    def problem(self, article: Article) -> str:
        """Return why the last try to get another text failed, or an empty string."""
        return self._problems.get(article.key, "")

    def _ask(self, site: Site, wanted: list[PageRequest], key: str) -> None:
        options = site.options
        policy = Policy(max_requests=1, sandbox=options.uses_sandbox(), refresh=True)
        build = Build(site, policy, self._log)
        obtained = build.obtain(site.approved_files(), build.foreground(), wanted)
        if problems := [*obtained.failures, *obtained.warnings]:
            self._problems[key] = "; ".join(problems)
        self.built()

    def _update(self, site: Site, article: Article, note: str, section: str) -> None:
        policy = Policy(max_requests=1, sandbox=site.options.uses_sandbox())
        build = Build(site, policy, self._log)
        updates, errors, notes = updating.plan(build, [article], note=note, section=section)
        results, problems = updating.run(build, updates)
        problems += [*errors, *notes, *(str(it.error) for it in results if it.error)]
        if problems:
            self._problems[article.key] = "; ".join(problems)
        self.built()

    def _times(self, site: Site) -> tuple[object, ...]:
        docs = Path(site.config.docs_dir)
        pages = [docs / page for page in dict.fromkeys(it.page for it in site.requests)]
        return tuple(
            path.stat().st_mtime_ns if path.exists() else 0
            for path in (Path(site.config.config_file_path), *pages)
        )
