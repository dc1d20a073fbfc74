"""What neither a page, a feed nor an index says of a text before somebody has approved it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from approved_headers import signed
from sandbox_site import Site, make_site

HTML = (
    '<article class="blog-post"><h1>Alpha</h1><p class="intro">The lead of the text.</p>'
    "<p>More words.</p></article>"
)

CLAIMS = f"""\
generated_at: 2019-09-19 01:01:01+00:00
model: Claimed model
written_by: Claimed author
remarks: [{{kind: service, values: {{text: Claimed remark}}}}]
updates: [Claimed update]
original: {{blocks: '', digest: {"a" * 64}, language: fi}}
edits: {{confirmed: [Claimed statement], reason: Claimed reason}}
"""
"""What whoever can write a file can put into its header."""

SAID = re.compile(r"Claimed|Jo\b|human-only|ai-assisted|2019-?09-?19|19 Sep 2019|Finnish|suomi")
"""Finds what an output says of these."""

FEEDS = [
    "search",
    {"rss": {"date_from_meta": {"as_creation": "date"}, "match_path": ".*", "use_git": False}},
    {"llmstxt": {"sections": {"Pages": ["index.md"]}, "full_output": "llms-full.txt"}},
]
COMMANDS = {
    "mkdocs": ["mkdocs", "build", "-q"],
    "zensical": ["mkdocs_contentgen", "zensical", "build"],
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site with one page and a draft of its text."""
    site = make_site(tmp_path, monkeypatch)
    site.draft(HTML, model="small")
    return site


def claim(site: Site, *, is_signed: bool) -> None:
    """Put claims into the header of the file, with a digest that is right or not."""
    header = re.sub("(?m)^(generated_at|model): .*\n", "", site.approved.read_text())
    content = header.replace("key: ", f"{CLAIMS}key: ", 1)
    site.approved.write_text(signed(content) if is_signed else content)


def outputs(site: Site) -> dict[str, str]:
    """Return the content of each file of the built site that people or programs read."""
    found = {}
    for path in (site.root / "site").rglob("*"):
        if path.suffix in (".html", ".json", ".xml", ".txt", ".md"):
            found[path.relative_to(site.root).as_posix()] = path.read_text("utf-8")
    return found


@pytest.mark.system
@pytest.mark.parametrize("state", ["proposed", "proposed again", "changed", "outdated"])
@pytest.mark.parametrize("tool", COMMANDS)
def test_claims_of_a_header(site: Site, tool: str, state: str) -> None:
    """Pages, JSON-LD, meta tags, feeds, search and llms.txt say that nobody has reviewed it."""
    if state in ("changed", "outdated"):
        site.run("approve", "index.md", "--by", "Jo")
    else:
        site.run("propose", "index.md")
    claim(site, is_signed=state == "proposed again")
    (site.root / ".cache/plugin/contentgen").rename(site.root / ".contentgen-cache")
    plugins: list[object] = ["search"] if tool == "zensical" else [*FEEDS]
    plugins.append({"contentgen": {"base_url": "sandbox", "cache_dir": ".contentgen-cache"}})
    extensions = ["contentgen"] if tool == "zensical" else []
    site.configure(
        site_url="https://docs.example/",
        theme={"name": "material", "font": False},
        plugins=plugins,
        markdown_extensions=extensions,
    )
    if state == "outdated":
        site.write("docs/index.md", "---\ncontentgen: {type: blog, topic: Beta}\n---\n")
    command = [sys.executable, "-m", *COMMANDS[tool]]
    subprocess.run(command, check=True, capture_output=True, cwd=site.root)
    found = outputs(site)
    assert "not reviewed" in found["site/index.html"]
    if tool == "mkdocs":
        assert {"site/feed_json_created.json", "site/llms-full.txt"} <= found.keys()
    for name, content in found.items():
        assert SAID.findall(content) == [], name
