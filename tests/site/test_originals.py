"""Translations and their originals, as golden files: `NAME.yml` has the pages of a site.

`NAME.txt` is what is read from it. `others` are pages that the build does not have, as those of
another language, and `theme` are settings of the theme. UPDATE_GOLDEN=1 rewrites `NAME.txt`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import yaml
from golden_file import GOLDEN, expect
from mkdocs.config import load_config
from mkdocs.structure.files import get_files

from mkdocs_contentgen.site.front_matter import read_requests
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.site.site import Site

CASES = sorted((GOLDEN / "originals").glob("*.yml"))


def read_case(case: dict[str, object], root: Path) -> Site:
    """Return the site of a case with what its pages ask for."""
    assert isinstance(case["docs"], dict)
    for name, source in case["docs"].items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    config_file = root / "mkdocs.yml"
    config_file.write_text("site_name: Site\ntheme: {name: null, custom_dir: .}\nplugins: []\n")
    config = load_config(str(config_file))
    others = case.get("others", [])
    theme = case.get("theme", {})
    assert isinstance(others, list)
    assert isinstance(theme, dict)
    pages = [page for page in get_files(config).documentation_pages() if page.src_uri not in others]
    pages.sort(key=lambda page: page.src_uri)
    return read_requests(Site(config=config, options=ContentgenConfig(), theme=theme), pages)


@pytest.mark.parametrize("path", CASES, ids=[case.stem for case in CASES])
def test_translations_find_their_originals(path: Path, tmp_path: Path) -> None:
    """A translation has the request of its original, or a problem that names page and line."""
    site = read_case(yaml.safe_load(path.read_text(encoding="utf-8")), tmp_path)

    def lines() -> Iterator[str]:
        for asked in site.requests:
            yield f"{asked.place} {asked.request.id}"
            if asked.original is None:
                continue
            request = asked.request
            yield f"  of {asked.original.place}, into {request.language}, level {request.level}"
            yield f"  {json.dumps(request.record(), ensure_ascii=False)}"
        yield from (problem.message for problem in site.problems)
        yield from (f"warning: {warning}" for warning in site.warnings)

    expect("".join(f"{line}\n" for line in lines()), path.with_suffix(".txt"))


def test_the_key_is_of_the_originals_request_and_the_language(tmp_path: Path) -> None:
    """Another topic, language or revision is another text, and another page or id is none."""

    def key(original: str, translation: str, page: str = "builds") -> str:
        docs = {
            f"{page}.md": f"---\ncontentgen: {{type: blog, {original}}}\n---\n",
            "new.md": f"---\ncontentgen: {{translation_of: {page}.md, {translation}}}\n---\n",
        }
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        root.mkdir()
        requests = read_case({"docs": docs}, root).requests
        (found,) = [asked.request for asked in requests if asked.original]
        stored = msgspec.json.decode(msgspec.json.encode(found.record()))
        assert found.answers_to(stored)
        return found.key(sandbox=False)

    first = key("topic: One", "language: de")
    assert key("topic: One", "language: de, id: other", page="moved") == first
    others = {
        key("topic: Two", "language: de"),
        key("topic: One", "language: fr"),
        key("topic: One", "language: de, revision: 2"),
        key("topic: One, revision: 2", "language: de"),
        key("topic: One, language: en", "language: de"),
    }
    assert len(others) == 5
    assert first not in others
