"""A site with one page and the sandbox, whose commands run in the process of the test."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.errors import FailedTextError
from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.lookup import save_failure
from mkdocs_contentgen.texts.store import DiskStore

REQUEST = BlogRequest(topic="Alpha")


@dataclass
class Site:
    """A site in a directory of its own, whose commands run in this process."""

    root: Path

    def write(self, path: str, content: str) -> Path:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return file

    def configure(self, **config: object) -> None:
        """Write `mkdocs.yml`."""
        plugins = [{"contentgen": {"base_url": "sandbox"}}]
        settings = {"site_name": "Site", "plugins": plugins, **config}
        self.write("mkdocs.yml", yaml.safe_dump(settings, sort_keys=False))

    def page(self, path: str = "index.md") -> Path:
        """Write a page that asks for an article."""
        return self.write(f"docs/{path}", "---\ncontentgen: {type: blog, topic: Alpha}\n---\n")

    def draft(
        self,
        html: str,
        *,
        day: int = 1,
        model: str = "",
        sources: Mapping[str, str] | None = None,
        passages: Mapping[str, str] | None = None,
        remarks: tuple[Remark, ...] = (),
        edits: Edits | None = None,
        edition: int = 1,
        is_for_writer: bool = False,
        written_by: str = "",
    ) -> None:
        """Put a draft of the article into the cache that was generated on a day of a January."""
        store = DiskStore(self.root / ".cache/plugin/contentgen")
        store.prepare()
        time = datetime(2026, 1, day, tzinfo=UTC)
        text = Text(
            html,
            time,
            REQUEST.record(),
            model,
            sources or {},
            remarks,
            edits,
            written_by=written_by,
            passages=passages or {},
            edition=edition,
        )
        store.save({REQUEST.key(sandbox=not is_for_writer): text})
        store.close()

    def fail(self, answer: str, *, cost: float | None = None) -> None:
        """Note in the cache that the text of the article failed."""
        store = DiskStore(self.root / ".cache/plugin/contentgen")
        error = FailedTextError("looped\x1b[2J", answer, model="small", cost=cost)
        save_failure(store, REQUEST.key(sandbox=True), REQUEST, error)
        store.close()

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run `contentgen`, and return what it printed."""
        ran = CliRunner().invoke(main, arguments)
        assert ran.exit_code == code, ran.output
        return ran.output

    @property
    def approved(self) -> Path:
        """The approved file of `index.md`."""
        return self.root / "contentgen/index.md/main.html"


def make_site(root: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site with one page, and change into its directory."""
    site = enter_site(root, monkeypatch)
    site.configure()
    site.page()
    return site


def copy_site(made_site: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a copy of a site in another directory, and change into it."""
    shutil.copytree(made_site, root, dirs_exist_ok=True)
    return enter_site(root, monkeypatch)


def enter_site(root: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return the site in a directory, and change into it."""
    monkeypatch.chdir(root)
    for name in ("BASE_URL", "USER_ID", "TOKEN", "ON_MISSING"):
        monkeypatch.delenv(f"CONTENTGEN_{name}", raising=False)
    return Site(root)
