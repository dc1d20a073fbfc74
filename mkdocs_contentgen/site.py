"""A site as the command line sees it: exactly the requests that a build would see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import get_files, set_exclusions
from mkdocs.structure.nav import get_navigation

from .approval import ApprovedText, State, approved_path, read, state_of
from .config import ContentgenConfig
from .errors import ConfigurationError
from .lookup import load_usable
from .pages import PageRequest
from .plugin import ContentgenPlugin
from .store import StoredText


@dataclass(frozen=True)
class Article:
    """One article of a site with all that is known of it."""

    entry: PageRequest
    key: str
    path: Path
    approved: ApprovedText | None
    draft: StoredText | None
    state: State
    reason: str
    where: list[str]
    """Where its text is: `approved file`, `cache`, `shared cache`."""


@dataclass(frozen=True)
class Site:
    """A MkDocs configuration, the plugin's options in it, and what its pages ask for."""

    config: MkDocsConfig
    options: ContentgenConfig
    asked: list[PageRequest]

    def articles(self) -> tuple[list[Article], list[str]]:
        """Return all articles, and what is wrong with the cache. Raises ApprovalError."""
        sandbox = self.options.uses_sandbox()
        keys = {entry: entry.request.key(sandbox=sandbox) for entry in self.asked}
        store = self.options.store(self.config)
        shared = store.shared(keys.values())
        texts, unusable, problems = load_usable(keys.values(), store)
        unused: list[Mapping[str, object]] = []
        if texts.keys() < set(keys.values()):
            cached, more = store.requests()
            unused = [asked for key, asked in cached.items() if key not in texts]
            problems += [problem for problem in more if problem not in problems]
        problems += store.close()
        directory = self.options.approved_directory(self.config)
        articles = []
        for entry, key in keys.items():
            path = approved_path(directory, entry.page, entry.request.id)
            approved = read(path)
            state, reason = state_of(entry.request, approved, has_draft=key in texts, unused=unused)
            if state == "missing":
                reason = unusable.get(key, reason)
            places = {
                "approved file": approved,
                "cache": key in texts,
                "shared cache": key in shared,
            }
            where = [place for place, there in places.items() if there]
            articles.append(
                Article(entry, key, path, approved, texts.get(key), state, reason, where)
            )
        return articles, problems


@contextmanager
def opened_site(config_file: str | None, *, drafts: bool = False) -> Iterator[Site]:
    """Read a configuration and let its plugins make the pages, as `mkdocs build` does.

    With `drafts`, pages count that only `mkdocs serve` shows. Nothing is rendered, and the site
    directory is not touched. Raises ConfigurationError, and what MkDocs raises for its own.
    """
    with TemporaryDirectory() as nowhere:
        config = load_config(config_file, site_dir=nowhere)
        plugin = next((p for p in config.plugins.values() if isinstance(p, ContentgenPlugin)), None)
        if plugin is None:
            raise ConfigurationError(
                f"{config.config_file_path}: has no plugin 'contentgen'; add it under `plugins`"
            )
        plugin.only_reads = True
        plugin.reads_drafts = drafts
        config.plugins.on_startup(command="build", dirty=False)
        try:
            config = config.plugins.on_config(config)
            config.plugins.on_pre_build(config=config)
            files = get_files(config)
            files.add_files_from_theme(config.theme.get_env(), config)
            files = config.plugins.on_files(files, config=config)
            set_exclusions(files, config)
            navigation = get_navigation(files, config)
            config.plugins.on_nav(navigation, config=config, files=files)
            yield Site(config, plugin.config, plugin.asked)
        finally:
            config.plugins.on_shutdown()


def chosen(articles: Sequence[Article], pages: Sequence[str]) -> list[Article]:
    """Return the articles of the named pages: paths from where one stands, in the docs, or globs.

    Raises ConfigurationError for a name that fits no page with a request.
    """
    if not pages:
        return list(articles)
    selected: dict[PageRequest, Article] = {}
    for name in pages:
        found = {a.entry: a for a in articles if _fits(a.entry, name)}
        if not found:
            raise ConfigurationError(
                f"{name}: is not a page that asks for an article; "
                "`contentgen status` lists those that do"
            )
        selected |= found
    return list(selected.values())


def _fits(entry: PageRequest, name: str) -> bool:
    shown = entry.place.rpartition(":")[0]
    tail = Path(name).as_posix().removeprefix("./")
    return tail.endswith(f"/{shown}") or any(fnmatchcase(p, tail) for p in (entry.page, shown))
