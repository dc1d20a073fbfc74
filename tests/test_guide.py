"""README and guide: what they name exists, and what they tell people to run works."""

from __future__ import annotations

import re
import shlex
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from conftest import Project
from service_double import ServiceDouble

from mkdocs_contentgen.cli import main
from mkdocs_contentgen.config import ContentgenConfig

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = (ROOT / "example_site/docs/ci.md").read_text(encoding="utf-8")


def test_the_readme_has_every_option() -> None:
    """The table of options is complete, and has nothing else."""
    table = README.split("### Options")[1].split("###")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(named) == sorted(name for name, _ in ContentgenConfig._schema)


def test_the_readme_has_every_command() -> None:
    """The table of commands is complete, and so are its options."""
    named = dict(re.findall(r"^\| `contentgen (\w+)([^`]*)`", README, re.MULTILINE))
    assert sorted(named) == sorted(main.commands)
    for name, command in main.commands.items():
        options = {option for parameter in command.params for option in parameter.opts}
        expected = {o for o in options if o.startswith("--") and o != "--config-file"}
        assert set(re.findall(r"--[a-z-]+", named[name])) == expected


def recipes() -> Iterator[tuple[str, list[str]]]:
    """Return the commands of each recipe, less what prepares the machine or talks to a forge."""
    for section in CI.split("\n## ")[1:]:
        title = section.splitlines()[0]
        for block in re.findall(r"    ```yaml\n(.*?)    ```", section, re.DOTALL):
            recipe = yaml.safe_load(textwrap.dedent(block))
            job = next(iter(recipe.get("jobs", recipe).values()))
            steps = job["script"] if "script" in job else [s.get("run") for s in job["steps"]]
            commands = [s for s in steps if s and shlex.split(s)[0] in ("contentgen", "mkdocs")]
            yield f"{title}, {'GitHub' if 'jobs' in recipe else 'GitLab'}", commands


@pytest.mark.parametrize(("title", "commands"), list(recipes()), ids=lambda value: str(value)[:24])
def test_recipes_of_the_guide(
    project: Project, service: ServiceDouble, title: str, commands: list[str]
) -> None:
    """Each recipe's commands do what the guide says, for GitHub and GitLab alike."""
    assert commands
    secret = title.startswith(("Drafts", "Regeneration"))
    project.configure({"require_approval": not secret})
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    if not secret:
        for command in ("generate", "approve --all --by Jo"):
            project.run("mkdocs_contentgen", *command.split())
        for name in ("BASE_URL", "USER_ID", "TOKEN"):
            del project.environment[f"CONTENTGEN_{name}"]
    for command in commands:
        subprocess.run(
            shlex.split(command), cwd=project.root, env=project.environment, check=True, timeout=60
        )
    assert service.topics == ["Alpha"]
    if title.startswith("Drafts"):
        assert (project.root / "contentgen/index.md/main.html").exists()
    if "Approved" in title or "check" in title:
        project.page("new.md", {"type": "blog", "topic": "Beta"})
        assert subprocess.run(
            shlex.split(commands[-1]), cwd=project.root, env=project.environment, check=False
        ).returncode


def test_the_example_site(project: Project) -> None:
    """It builds strictly in a copy of its own, with no account and no token."""
    for name in ("BASE_URL", "USER_ID", "TOKEN"):
        del project.environment[f"CONTENTGEN_{name}"]
    site = project.root / "site"
    cache = project.root / "cache"
    config = yaml.safe_load((ROOT / "example_site/mkdocs.yml").read_text())
    config["docs_dir"] = str(ROOT / "example_site/docs")
    config["site_dir"] = str(site)
    config["plugins"][-1]["contentgen"]["cache_dir"] = str(cache)
    project.write("mkdocs.yml", yaml.safe_dump(config, sort_keys=False))
    built = project.build("--strict")
    assert built.returncode == 0, built.stdout
    assert "26 texts: 0 from approved files, 0 from the cache, 26 generated" in built.stdout
    headings = project.soup("configuration/index.html").select("h3[id*=ContentgenConfig]")
    assert sorted(h.code.text for h in headings if h.code) == sorted(
        name for name, _ in ContentgenConfig._schema
    )
    commands = project.soup("commands/index.html").select("h3[id^=contentgen-]")
    assert [heading["id"] for heading in commands] == [
        f"contentgen-{c}" for c in sorted(main.commands)
    ]
    index = project.soup("blog/index.html")
    assert index.select_one(".md-post__content article.blog-post p.intro") is not None
    assert index.select_one("nav.md-post__action a") is not None
