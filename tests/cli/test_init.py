"""`contentgen init`: from an empty folder, or an existing site, to a first page."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from conftest import Project
from golden_file import cases
from model_double import ModelDouble, raw
from model_writer import writing

from mkdocs_contentgen.cli.init import AGENTS, new_site
from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.cli.yaml_edits import add_plugin, change_writer
from mkdocs_contentgen.writer.models.discovery import find_models, find_writers

CASES = cases("init")

SANDBOX = {"base_url": "sandbox"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in an empty folder."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, answer: str = "") -> Result:
    """Run the command in the current folder, with no program on the path, such as `claude`."""
    return CliRunner(env={"PATH": ""}).invoke(main, ["init", *arguments], input=answer)


def choose_sandbox(model: ModelDouble, *arguments: str) -> Result:
    """Run the command with a server that lists a model, and choose the sandbox."""
    return run("--endpoint", model.endpoint, *arguments, answer="2\n\n")


def test_three_commands(project: Project, model: ModelDouble) -> None:
    """From an empty folder to a page with a text of the model that was found."""
    model.answer = writing()
    (project.root / "mkdocs.yml").unlink(missing_ok=True)
    ran = project.ran("mkdocs_contentgen", "init", "--yes", "--endpoint", model.endpoint)
    assert "Texts are from: qwen3:8b (the model server)" in ran
    assert "Next: contentgen generate" in ran
    assert "generated: 1" in project.run("mkdocs_contentgen", "generate").stdout
    assert project.build("--strict").returncode == 0
    assert project.soup("first-text/index.html").select_one("article.contentgen")
    before = (project.root / "mkdocs.yml").read_text()
    project.ran("mkdocs_contentgen", "init", "--yes", "--endpoint", model.endpoint)
    assert (project.root / "mkdocs.yml").read_text() == before


def test_it_asks(tmp_path: Path, model: ModelDouble) -> None:
    """Without `--yes`, the author chooses among models and the sandbox."""
    ran = run("--endpoint", model.endpoint, answer="7\n2\nOur new office\n")
    assert ran.exit_code == 0, ran.output
    assert "1  qwen3:8b (the model server)\n2  sample texts, no model\n" in ran.stdout
    site = yaml.safe_load((tmp_path / "mkdocs.yml").read_text())
    assert site["plugins"] == ["search", {"contentgen": SANDBOX}]
    assert (tmp_path / "docs/index.md").read_text() == "# Home\n"
    assert "topic: Our new office\n" in (tmp_path / "docs/first-text.md").read_text()
    assert (tmp_path / ".gitignore").read_text() == ".cache/\n.venv/\nsite/\n"
    packages = (tmp_path / "requirements.txt").read_text()
    assert packages.startswith("mkdocs-material\n")
    assert "mkdocs-contentgen" in packages
    assert str(Path.cwd().parent) not in packages


@pytest.mark.system
def test_a_site_of_zensical(tmp_path: Path, model: ModelDouble) -> None:
    """It gets the extension where Material is not installed, and its own packages."""
    site = new_site("Docs", has_material=False, has_zensical=True)
    extensions = site["markdown_extensions"]
    assert isinstance(extensions, list)
    assert "contentgen" in extensions
    assert "theme" not in site
    for has_zensical in (False, True):
        material = new_site("Docs", has_material=True, has_zensical=has_zensical)
        assert material == {"site_name": "Docs", "theme": "material"}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(site))
    ran = choose_sandbox(model)
    assert ran.exit_code == 0, ran.output
    assert "Then: contentgen zensical serve" in ran.stderr
    assert "mkdocs-contentgen[zensical]" in (tmp_path / "requirements.txt").read_text()


def test_nobody_answers(tmp_path: Path, model: ModelDouble) -> None:
    """Without a terminal, the message names the option that asks nothing."""
    ran = run("--endpoint", model.endpoint)
    assert (ran.exit_code, "--yes" in ran.stderr, list(tmp_path.iterdir())) == (1, True, [])


def test_a_site_elsewhere(tmp_path: Path, model: ModelDouble) -> None:
    """With `-f`, the page goes beside that configuration, and the next command names it."""
    (tmp_path / "my site").mkdir()
    ran = choose_sandbox(model, "-f", "my site/mkdocs.yml")
    assert ran.exit_code == 0, ran.output
    steps = "Next: contentgen generate -f 'my site/mkdocs.yml'\nThen: contentgen review -f"
    assert ran.stderr.startswith(steps)
    site = yaml.safe_load((tmp_path / "my site/mkdocs.yml").read_text())
    assert site["site_name"] == "My site"
    assert (tmp_path / "my site/docs/first-text.md").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--endpoint", "http://127.0.0.1:9/v1"], "no connection to the model server"),
        (["--endpoint", "nonsense"], "is not an https address"),
    ],
)
def test_wrong_options(tmp_path: Path, arguments: list[str], message: str) -> None:
    """They are refused on one line, and nothing is written."""
    ran = run("--yes", *arguments)
    assert ran.exit_code > 0
    assert message in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("zensical.toml", "", "this command writes YAML only"),
        ("mkdocs.yml", "a: [", "is not valid YAML; correct it first"),
        ("mkdocs.yml", "plugins:\n", "write `{contentgen: {base_url: sandbox}}` into its `plug"),
        (
            "mkdocs.yml",
            "plugins:\n- contentgen: {base_url: writer, writer: {sources: [src]}}\n",
            "write `{base_url: sandbox}` into the options of `contentgen`, and keep the others, by",
        ),
        ("mkdocs.yml", "- a\n", "cannot be done without touching other lines"),
        ("mkdocs.yml", "site_name: A\n...\n", "cannot be done without touching other lines"),
        ("mkdocs.yml", "? &a [b, *a]\n: c\n...\n", "cannot be done without touching other"),
        ("mkdocs.yml", 'docs_dir: "a\\0b"\n', "cannot be written (its path is not valid); "),
        ("mkdocs.yml", "INHERIT: base.yml\nsite_name: A\n", "cannot be done without touching"),
        ("mkdocs.yml", "site_name: caf\xe9\n", "mkdocs.yml: cannot be changed (it is not UTF-8"),
        ("mkdocs.yml", "x: " + "[" * 5000, "is not valid YAML; correct it first"),
    ],
)
def test_what_it_leaves_alone(
    tmp_path: Path, model: ModelDouble, name: str, text: str, message: str
) -> None:
    """The author gets the lines to add, and the file stays as it is."""
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    ran = choose_sandbox(model)
    assert (ran.exit_code, message in ran.stderr) == (1, True), ran.output
    assert (tmp_path / name).read_bytes() == text.encode("latin-1")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("link", "reason"), CASES["links_are_not_followed"])
def test_links_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: ModelDouble, link: str, reason: str
) -> None:
    """A pull request can have put one in the place of a file. Then nothing is written."""
    (tmp_path / link).parent.mkdir(parents=True)
    (tmp_path / link).symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "site")
    ran = choose_sandbox(model)
    assert (ran.exit_code, reason in ran.stderr) == (1, True), ran.output
    assert ran.stderr.endswith("; nothing was changed\n")
    assert [it for it in tmp_path.rglob("*") if not it.is_dir()] == [tmp_path / link]


@pytest.mark.parametrize("name", ["mkdocs.yml", "zensical.toml", ".gitignore", "requirements.txt"])
def test_pipes_are_not_read(tmp_path: Path, model: ModelDouble, name: str) -> None:
    """They would block, and are refused on one line."""
    os.mkfifo(name)
    ran = choose_sandbox(model)
    assert (ran.exit_code, f"{name}: " in ran.stderr, "not a file" in ran.stderr) == (
        1,
        True,
        True,
    ), ran.output
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_pages_in_a_folder_beside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: ModelDouble
) -> None:
    """`docs_dir` can lead out of it. What git ignores already is not named again."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.chdir(site)
    Path("mkdocs.yml").write_text("site_name: A\ndocs_dir: ../pages")
    Path(".gitignore").write_text("/site\n.venv")
    assert choose_sandbox(model).exit_code == 0
    assert {it.name for it in (tmp_path / "pages").iterdir()} == {"first-text.md", "index.md"}
    assert Path(".gitignore").read_text() == "/site\n.venv\n.cache/\n"


def test_what_is_there_already(tmp_path: Path, model: ModelDouble) -> None:
    """Line ends stay, and what only the author can do is named."""
    (tmp_path / "properdocs.yml").write_bytes(b"site_name: A\r\nnav: [index.md]\r\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/first-text.md").write_text("Mine\n")
    ran = choose_sandbox(model)
    assert ran.exit_code == 0, ran.output
    content = (tmp_path / "properdocs.yml").read_bytes()
    assert content.count(b"\n") == content.count(b"\r\n") == 6
    assert "docs/first-text.md is there already; add a request to it" in ran.stdout
    assert "Add first-text.md to `nav` in properdocs.yml" in ran.stdout
    steps = "Next: contentgen generate\nThen: contentgen review\nThen: properdocs serve\n"
    assert ran.stderr == steps


def test_a_list_of_packages_that_is_there(tmp_path: Path, model: ModelDouble) -> None:
    """It stays as it is, and the lines that it lacks are printed."""
    Path("mkdocs.yml").write_text("site_name: A\ntheme: terminal\nplugins:\n- search\n- macros\n")
    listed = "# ours\nMkDocs_Terminal >= 4 ; python_version > '3'\n-r more.txt\n"
    Path("requirements.txt").write_text(listed)
    ran = choose_sandbox(model)
    assert ran.exit_code == 0, ran.output
    assert Path("requirements.txt").read_text() == listed
    lines = [line for line in ran.stdout.splitlines() if line.startswith("Add to requirements.txt")]
    assert lines[0] == "Add to requirements.txt: mkdocs-macros-plugin"
    assert lines[1].startswith("Add to requirements.txt: mkdocs-contentgen")


def test_a_plugin_of_an_unknown_package(tmp_path: Path, model: ModelDouble) -> None:
    """The author is told to add what this environment does not have."""
    Path("mkdocs.yml").write_text("site_name: A\nplugins:\n  - search\n  - nosuch\n")
    ran = choose_sandbox(model)
    assert ran.exit_code == 0, ran.output
    assert "Add to requirements.txt: the package of plugin 'nosuch', which is not" in ran.stdout


@pytest.mark.parametrize(("before", "indent", "end"), CASES["where_the_plugin_goes"])
def test_where_the_plugin_goes(before: str, indent: str, end: str) -> None:
    """Behind `search` or the last one, at its indentation, and no other line changes."""
    ours = f"{indent}- contentgen:\n{indent}    base_url: sandbox\n"
    assert add_plugin(before + end, SANDBOX) == before + ours + end


@pytest.mark.parametrize("before", CASES["left_to_the_author"])
def test_a_list_that_only_its_author_changes(
    tmp_path: Path, model: ModelDouble, before: str
) -> None:
    """A list on one line, and a mapping, stay as they are; what to add is printed."""
    (tmp_path / "mkdocs.yml").write_text(before)
    ran = choose_sandbox(model)
    assert ran.exit_code == 1
    assert "write `{contentgen: {base_url: sandbox}}` into its `plugins` by hand" in ran.stderr
    assert (tmp_path / "mkdocs.yml").read_text() == before


@pytest.mark.parametrize(("before", "after"), CASES["who_writes"])
def test_who_writes(before: str, after: str) -> None:
    """The source of texts is another one, and all else stays, comments and options as well."""
    new = {"base_url": "writer", "writer": {"model": "new"}}
    assert change_writer(before, new) == after
    end = before.replace("\n", "\r\n")
    assert change_writer(end, new) == after.replace("\n", "\r\n")


@pytest.mark.parametrize("before", CASES["changed_by_the_author"])
def test_options_that_only_their_author_changes(before: str) -> None:
    """Options on one line are not taken apart, and those of another writer may not fit."""
    assert change_writer(before, {"base_url": "writer", "writer": {"model": "new"}}) is None


def test_a_second_time(tmp_path: Path, model: ModelDouble) -> None:
    """It changes who writes, and asks for no topic; other files stay."""
    assert choose_sandbox(model).exit_code == 0
    page = (tmp_path / "docs/first-text.md").read_bytes()
    ran = run("--endpoint", model.endpoint, answer="1\n")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.endswith("Wrote mkdocs.yml\n")
    options = yaml.safe_load((tmp_path / "mkdocs.yml").read_text())["plugins"][1]["contentgen"]
    writer = {"model": "qwen3:8b", "endpoint": model.endpoint}
    assert options == {"base_url": "writer", "writer": writer}
    assert run("--endpoint", model.endpoint, answer="2\n").exit_code == 0
    options = yaml.safe_load((tmp_path / "mkdocs.yml").read_text())["plugins"][1]["contentgen"]
    assert options == {"base_url": "sandbox", "writer": writer}
    assert (tmp_path / "docs/first-text.md").read_bytes() == page


def test_the_paragraph_for_agents(tmp_path: Path, model: ModelDouble) -> None:
    """With `--agents`, it follows what AGENTS.md has, once, and is what the guide shows."""
    (tmp_path / "AGENTS.md").write_text("Be kind.\n")
    for _ in range(2):
        assert choose_sandbox(model, "--agents").exit_code == 0
    assert (tmp_path / "AGENTS.md").read_text() == f"Be kind.\n\n{AGENTS}"
    guide = Path(__file__).parents[2] / "example_site/docs/agents.md"
    assert f'```markdown title="AGENTS.md"\n{AGENTS}```' in guide.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["", "# Mine\n", "# Mine\n\n  # and more"])
def test_a_file_without_options(tmp_path: Path, model: ModelDouble, text: str) -> None:
    """It gets those of a new site behind its comments."""
    Path("mkdocs.yml").write_text(text)
    assert choose_sandbox(model).exit_code == 0
    assert Path("mkdocs.yml").read_text().startswith(text)
    assert list(yaml.safe_load(Path("mkdocs.yml").read_text()))[0::2] == ["site_name", "plugins"]


@pytest.mark.parametrize(("models", "found"), CASES["the_models_of_a_server"])
def test_the_models_of_a_server(model: ModelDouble, models: object, found: list[str]) -> None:
    """Those that can write and can be shown; a server without one is none."""
    model.models = raw(json.dumps({"data": models}).encode())
    assert asyncio.run(find_models(model.endpoint)) == {
        f"{name} (the model server)": {"model": name, "endpoint": model.endpoint} for name in found
    }


def test_servers_of_this_machine(model: ModelDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    """What listens on their usual ports is asked; what does not answer as they do is none."""
    port = int(model.endpoint.split(":")[2].partition("/")[0])
    monkeypatch.setenv("PATH", "")
    found = asyncio.run(find_writers({port: "Ollama", 9: "LM Studio"}))
    assert found == {"qwen3:8b (Ollama)": {"model": "qwen3:8b", "endpoint": model.endpoint}}
