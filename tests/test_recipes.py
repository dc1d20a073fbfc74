"""The recipes of the guide for CI: each runs, step by step, in a site of `contentgen init`."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from ci_jobs import OWN_ACTION, ROOT, Machine, Ran
from click.testing import CliRunner
from conftest import Project
from github_double import REPOSITORY, TOKEN, GitHubDouble, github_double
from model_double import ModelDouble
from model_writer import write, writing
from repository import git

from mkdocs_contentgen.cli.github import github as github_commands

CI = (ROOT / "example_site/docs/ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

BLOCK = re.compile(r'^    ```yaml title="([^"]+)"\n(.*?)^    ```$', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Recipe:
    """A file of the guide for GitHub or GitLab."""

    section: str
    file: str
    text: str

    @property
    def is_for_github(self) -> bool:
        """Whether it is a workflow of GitHub Actions."""
        return self.file.startswith(".github/")

    @property
    def job(self) -> dict[str, Any]:
        """The only job."""
        jobs = yaml.safe_load(self.text)
        if self.is_for_github:
            jobs = jobs["jobs"]
        [job] = jobs.values()
        return dict(job)

    def __str__(self) -> str:
        return f"{self.section.split()[0]}, {self.file}"


def recipes(section: str = "", name: str = "") -> list[Recipe]:
    """Return the recipes whose section and file begin and end so."""
    found = []
    for part in CI.split("\n## ")[1:]:
        title = part.splitlines()[0]
        for file, text in BLOCK.findall(part):
            if title.startswith(section) and file.endswith(name):
                found.append(Recipe(title, file, textwrap.dedent(text)))
    return found


def test_every_recipe_is_found() -> None:
    """No block of the page is written so that it would not be tried."""
    assert len(recipes()) == CI.count("```yaml") == 8


@pytest.mark.parametrize("kind", ["github-workflows", "gitlab-ci", "github-actions"])
def test_schemas(tmp_path: Path, kind: str) -> None:
    """The recipes, the workflows of this repository and the action are what the schemas allow."""
    files = []
    if kind == "github-actions":
        files.append(ROOT / "action.yml")
    if kind == "github-workflows":
        files += (ROOT / ".github/workflows").iterdir()
    for number, recipe in enumerate(recipes()):
        if kind == ("github-workflows" if recipe.is_for_github else "gitlab-ci"):
            file = tmp_path / f"recipe{number}.yml"
            file.write_text(recipe.text, encoding="utf-8")
            files.append(file)
    assert files
    options = ["--builtin-schema", f"vendor.{kind}"]
    ran = CliRunner().invoke(check_jsonschema, [*options, *map(str, files)])
    assert ran.exit_code == 0, ran.output


def test_the_action() -> None:
    """The recipes give it inputs that it has, and each mode of the command once."""
    modes = []
    for recipe in recipes("Reviews", "-texts.yml"):
        [step] = recipe.job["steps"]
        assert step["uses"] == f"{OWN_ACTION}@main"
        assert step["with"].keys() <= ACTION["inputs"].keys()
        assert step["with"]["requirements"] == ACTION["inputs"]["requirements"]["default"]
        modes.append(step["with"]["mode"])
    assert sorted(modes) == sorted(github_commands.commands)
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name) for name in used), "a tag can move"


def test_keys_of_caches() -> None:
    """No job takes the cache of another one, and each attempt of a run keeps its own."""
    keys = {}
    restored = {}
    steps = [("action", step) for step in ACTION["runs"]["steps"]]
    for recipe in recipes():
        if recipe.is_for_github:
            steps += [(str(recipe), step) for step in recipe.job["steps"]]
    for name, step in steps:
        given = step.get("with", {})
        if step.get("uses", "").startswith("actions/cache"):
            keys[given["key"]] = name
            if "restore-keys" in given:
                restored[given["restore-keys"]] = name
    assert len(restored) == 2
    for start, name in restored.items():
        assert {keys[key] for key in keys if key.startswith(start)} == {name}
    assert all(key.endswith("${{ github.run_attempt }}") for key in keys)


def test_one_propose_at_a_time() -> None:
    """A second job waits for the first one, so that it does not pay for the same texts."""
    [recipe] = recipes("Reviews", "propose-texts.yml")
    concurrency = yaml.safe_load(recipe.text)["concurrency"]
    assert concurrency["group"]
    assert concurrency["cancel-in-progress"] is False


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new environment, in which only `pip` is."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    pip = folder / "bin/pip"
    # Its own copy of pip would take as long as what the recipes install.
    pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {folder}/bin/python "$@"\n')
    pip.chmod(0o755)
    return folder


@pytest.fixture
def programs(environment: Path) -> Path:
    """Return the programs of the environment, in which this package is not, or no longer."""
    for installed in environment.glob("lib/*/site-packages/mkdocs_contentgen*"):
        shutil.rmtree(installed)
    (environment / "bin/contentgen").unlink(missing_ok=True)
    return environment / "bin"


@dataclass
class Site:
    """A site that `contentgen init` has made, in a repository with its jobs."""

    project: Project
    machine: Machine
    wheel: Path

    def make(self, *arguments: str) -> None:
        """Set it up as the README says, and let its packages come from the wheel."""
        self.project.ran("mkdocs_contentgen", "init", "--yes", *arguments)
        file = self.project.root / "requirements.txt"
        [own] = re.findall("^.*mkdocs-contentgen.*\n", file.read_text(), re.MULTILINE)
        line = f"mkdocs-contentgen @ {self.wheel.as_uri()}\n"
        file.write_text(file.read_text().replace(own, line))
        git(self.project.root, "init", "-q", "-b", "main")
        git(self.project.root, "remote", "add", "origin", str(self.machine.remote))
        self.push()

    def push(self, branch: str = "main") -> str:
        """Commit all files, push them, and return the commit, which the next jobs are for."""
        git(self.project.root, "add", "-A")
        git(self.project.root, "commit", "-q", "--allow-empty", "-m", "x")
        git(self.project.root, "push", "-q", "-f", "origin", f"HEAD:{branch}")
        sha = git(self.project.root, "rev-parse", "HEAD").strip()
        self.machine.contexts["github"]["sha"] = sha
        return sha

    def run(self, recipe: Recipe, **variables: str) -> Ran:
        """Run a recipe for the last commit."""
        if recipe.is_for_github:
            return self.machine.run_github(recipe.job)
        return self.machine.run_gitlab(recipe.job, variables)

    def succeed(self, recipe: Recipe, **variables: str) -> str:
        """Run a recipe, which has to succeed, and return what it printed."""
        ran = self.run(recipe, **variables)
        assert ran.code == 0, ran.output
        return ran.output

    def built(self, page: str) -> str:
        """Return a page that the last job has built."""
        return (self.machine.workspace / "site" / page).read_text(encoding="utf-8")

    def write_event(self, event: dict[str, Any]) -> None:
        """Let the next jobs be for an event of GitHub."""
        file = self.machine.root / "event.json"
        file.write_text(json.dumps(event))
        self.machine.contexts["github"]["event"] = event
        self.machine.environment["GITHUB_EVENT_PATH"] = str(file)


@pytest.fixture
def site(project: Project, programs: Path, wheel: Path, tmp_path: Path) -> Site:
    """Return an empty folder and a machine for its jobs."""
    for name in ("BASE_URL", "USER_ID", "TOKEN"):
        project.environment.pop(f"CONTENTGEN_{name}")
    (project.root / "mkdocs.yml").unlink(missing_ok=True)
    machines = tmp_path / "machines"
    machines.mkdir()
    git(tmp_path, "init", "-q", "--bare", "machines/remote.git")
    git(machines / "remote.git", "config", "uploadpack.allowAnySHA1InWant", "true")
    environment = {
        **project.environment,
        "GIT_CONFIG_GLOBAL": str(tmp_path / "no-such-file"),
        "PIP_NO_COMPILE": "1",  # most of what is installed is not imported
    }
    contexts: dict[str, dict[str, Any]] = {"github": {"token": TOKEN}, "secrets": {}}
    machine = Machine(machines, machines / "remote.git", programs, environment, contexts)
    return Site(project, machine, wheel)


@pytest.mark.system
@pytest.mark.parametrize("recipe", recipes("Approved texts only"), ids=str)
def test_approved_texts_only(site: Site, model: ModelDouble, recipe: Recipe) -> None:
    """It builds the site with its theme, without the model, until a text is not approved.

    That a cited page has changed since is no reason to fail.
    """
    model.answer = writing(lambda conversation: f"{write(conversation)}\n\nFour of them [1].")
    site.make("--endpoint", model.endpoint)
    with (site.project.root / "mkdocs.yml").open("a") as configuration:
        configuration.write("        sources: true\n      require_approval: true\n")
        configuration.write("site_url: https://docs.example/\n")
    site.project.page("first-text.md", {"type": "blog", "topic": "Alpha", "length": "short"})
    limits = site.project.write("docs/limits.md", "# Alpha\n\nFour.\n")
    site.project.ran("mkdocs_contentgen", "generate")
    site.project.ran("mkdocs_contentgen", "approve", "--all", "--by", "Jo", "--reason", "x")
    limits.write_text("# Alpha\n\nFour, without the typo.\n")
    site.push()
    calls = len(model.calls)
    printed = site.succeed(recipe)
    assert "1 from approved files" in printed
    assert "sources changed: limits" in printed
    assert 'class="md-content"' in site.built("first-text/index.html")
    assert "<article" in site.built("first-text/index.html")
    site.project.page("new.md", {"type": "blog", "topic": "Beta"})
    site.push()
    ran = site.run(recipe)
    assert (ran.code, "new.md" in ran.output) == (1, True), ran.output
    assert len(model.calls) == calls


@pytest.mark.system
@pytest.mark.parametrize("recipe", recipes("New texts in the build"), ids=str)
def test_new_texts(site: Site, model: ModelDouble, recipe: Recipe) -> None:
    """It asks the model with its key for a text, once, and the next job has it in the cache."""
    site.make("--endpoint", model.endpoint)
    site.machine.contexts["secrets"]["CONTENTGEN_MODEL_KEY"] = "sk-5ecret"
    assert "1 generated" in site.succeed(recipe, CONTENTGEN_MODEL_KEY="sk-5ecret")
    assert model.calls[-1].headers["authorization"] == "Bearer sk-5ecret"
    assert "1 from the cache, 0 generated" in site.succeed(recipe)


@pytest.mark.system
@pytest.mark.parametrize("recipe", recipes("New texts in the build"), ids=str)
def test_new_texts_of_a_build_that_fails(site: Site, model: ModelDouble, recipe: Recipe) -> None:
    """They are paid for, so the next job has them in the cache."""
    site.make("--endpoint", model.endpoint)
    broken = site.project.write("docs/broken.md", "[nowhere](nowhere.md)\n")
    site.push()
    ran = site.run(recipe, CONTENTGEN_MODEL_KEY="sk-5ecret")
    assert (ran.code, "1 generated" in ran.output) == (1, True), ran.output
    broken.unlink()
    site.push()
    assert "1 from the cache, 0 generated" in site.succeed(recipe)


@pytest.fixture
def github(site: Site) -> Iterator[GitHubDouble]:
    """Serve GitHub's API to the jobs."""
    with github_double() as double:
        site.machine.environment |= {
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_API_URL": double.url,
            "GITHUB_REF_NAME": "main",
            "GITHUB_REF_TYPE": "branch",
        }
        yield double


def pull_request(site: Site, base: str, head: str) -> dict[str, Any]:
    """Return an open pull request as it is in events."""
    repo = {"full_name": REPOSITORY}
    return {
        "number": 7,
        "head": {"sha": head, "ref": "texts", "repo": repo},
        "base": {"sha": base, "ref": "main", "repo": repo},
    }


@pytest.mark.system
def test_propose(site: Site, github: GitHubDouble, model: ModelDouble) -> None:
    """It asks the model with its key, and pushes the text to the branch of a pull request."""
    site.make("--endpoint", model.endpoint)
    site.machine.contexts["secrets"]["CONTENTGEN_MODEL_KEY"] = "sk-5ecret"
    [recipe] = recipes("Reviews", "propose-texts.yml")
    assert "first-text.md: proposed" in site.succeed(recipe)
    assert model.calls[-1].headers["authorization"] == "Bearer sk-5ecret"
    assert [pull["head"]["ref"] for pull in github.pulls] == ["contentgen/texts"]
    listed = git(site.machine.remote, "ls-tree", "-r", "--name-only", "contentgen/texts")
    assert "contentgen/first-text.md/main.html" in listed.split()


@pytest.mark.system
def test_check_and_approve(site: Site, github: GitHubDouble) -> None:
    """The one comments on a pull request with a text; the other installs nothing of it."""
    site.make()
    base = site.push()
    site.project.ran("mkdocs_contentgen", "generate")
    site.project.ran("mkdocs_contentgen", "propose", "--all")
    pull = pull_request(site, base, site.push("texts"))
    site.write_event({"action": "opened", "pull_request": pull})
    github.pulls = [{**pull, "state": "open"}]
    [check] = recipes("Reviews", "check-texts.yml")
    ran = site.run(check)
    assert (ran.code, "1 text to review" in ran.output) == (1, True), ran.output
    assert "1 text to review" in github.comments[-1]["body"]

    (site.project.root / "requirements.txt").write_text("-r of-an-attacker.txt\n")
    pull = pull_request(site, base, site.push("texts"))
    review = {"id": 1, "state": "commented", "user": {"login": "jo"}, "commit_id": "0" * 40}
    site.write_event({"action": "submitted", "pull_request": pull, "review": review})
    [approve] = recipes("Reviews", "approve-texts.yml")
    assert "There is no text to approve." in site.succeed(approve)


@pytest.mark.system
def test_a_report(site: Site) -> None:
    """It writes what there is to review since the base into the file that is uploaded."""
    site.make()
    base = site.push()
    site.project.ran("mkdocs_contentgen", "generate")
    site.project.ran("mkdocs_contentgen", "propose", "--all")
    site.push("texts")
    [recipe] = recipes("Reviews", ".gitlab-ci.yml")
    site.succeed(recipe, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    report = (site.machine.workspace / "report.md").read_text(encoding="utf-8")
    assert report.startswith("**1 text to review: ")
