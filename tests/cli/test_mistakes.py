"""What somebody new gets wrong: each message says what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Project
from model_double import ModelDouble, raw
from model_writer import sentences

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.service.client import ServiceClient

REQUEST = {"type": "blog", "topic": "Alpha", "length": "short"}
TEXT = f"# Alpha\n\n{sentences(60, 'one')}\n\n## Beta\n\n{sentences(60, 'two')}\n\nThree.\n"


def run(project: Project, *arguments: str, code: int = 0) -> str:
    """Run `contentgen`, and return what it printed."""
    return project.ran("mkdocs_contentgen", *arguments, code=code)


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ({"base_url": "sandbx"}, "base_url: 'sandbx' is not an address; did you mean `sandbox`?"),
        ({"base_url": "Writer"}, "base_url: 'Writer' is not an address; did you mean `writer`?"),
        ({"base_url": "127.0.0.1:9300"}, "did you mean `http://127.0.0.1:9300`?"),
        ({"base_url": "localhost:9300/api"}, "did you mean `http://localhost:9300/api`?"),
        ({"base_url": "docs.example/api"}, "did you mean `https://docs.example/api`?"),
        (
            {"base_url": "nonsense"},
            "expected 'https://…', 'writer' for a language model of your own",
        ),
        ({"on_missing": "placehoder"}, "found 'placehoder'; did you mean `placeholder`?"),
        ({"on_error": "placehoder"}, "found 'placehoder'; did you mean `placeholder`?"),
        ({"styles": "stripp"}, "expected one of adapt, keep, strip, found 'stripp'; did you mean"),
        ({"model": "qwen3"}, "Unrecognised configuration name: model; it belongs below `writer`"),
        (
            {"base_url": "writer", "writer": {"command": "claude -p"}},
            "found 'claude -p'; write [claude, -p]",
        ),
        ({"max_reqests": 4}, "max_reqests; did you mean `max_requests`?"),
        ({"defaults": {"lenght": "short"}}, "is not a known key; did you mean `length`?"),
        ({"base_url": "writer", "writer": {"modle": "m"}}, "option; did you mean `model`?"),
        (
            {"base_url": "writer", "writer": {"model": "m", "sections": "atuo"}},
            "found 'atuo'; did you mean `auto`?",
        ),
    ],
    ids=str,
)
def test_a_misspelt_option(project: Project, option: dict[str, object], hint: str) -> None:
    """The message names the nearest one, and what it has found."""
    project.configure(option)
    project.page("index.md", REQUEST)
    ran = project.run("mkdocs_contentgen", "generate")
    assert hint in ran.stdout


@pytest.mark.parametrize("value", ["s3cret-TOKEN-of-mine", "me:secret@docs.example", "sk-1234567"])
def test_what_can_be_a_secret_is_not_shown(value: str) -> None:
    """A token or a password in the place of the address is not printed."""
    with pytest.raises(ConfigurationError) as raised:
        ServiceClient(value, "u", "t")
    assert value not in str(raised.value)


def test_no_credentials(project: Project) -> None:
    """Both that are missing are named at once."""
    project.page("index.md", REQUEST)
    for name in ("USER_ID", "TOKEN"):
        del project.environment[f"CONTENTGEN_{name}"]
    ran = run(project, "generate", code=1)
    assert "Error: user_id and token: are not set" in ran
    assert "set CONTENTGEN_USER_ID and CONTENTGEN_TOKEN to those from the service's dash" in ran
    assert "write `base_url: writer`, and the address of its server as `writer.endpoint`" in ran


@pytest.mark.parametrize(
    ("first_line", "mode", "hint"),
    [
        ("#!/bin/sh", 0o644, "make it executable: chmod +x {}"),
        ("#!/no/such/shell", 0o755, "its first line has to name a program that runs it"),
        ("", 0o755, "its first line has to name a program that runs it"),
    ],
    ids=["no-run-bit", "no-interpreter", "no-first-line"],
)
def test_a_script_that_cannot_run(project: Project, first_line: str, mode: int, hint: str) -> None:
    """The message has the command or the line that is missing."""
    script = project.write("my script.sh", f"{first_line}\necho text\n")
    script.chmod(mode)
    project.configure({"base_url": "writer", "writer": {"command": ["./my script.sh"]}})
    project.page("index.md", REQUEST)
    ran = run(project, "generate", code=1)
    assert hint.format("'my script.sh'") in ran


def test_a_wrong_folder(project: Project) -> None:
    """The message says where the configuration is, above and below."""
    project.page("deep/page.md", REQUEST)
    docs = Project(project.root / "docs/deep", project.environment)
    ran = run(docs, "status", code=1)
    assert (
        "there is no mkdocs.yml in this folder, but in ../..; go there with `cd ../..`, or" in ran
    )
    assert "add -f ../../mkdocs.yml" in ran
    site = project.root / "a site"
    site.mkdir()
    (project.root / "mkdocs.yml").rename(site / "mkdocs.yml")
    ran = run(project, "generate", code=1)
    assert "but in a site; go there with `cd 'a site'`, or add -f 'a site/mkdocs.yml'" in ran


def test_no_folder(project: Project) -> None:
    """Without a site anywhere, the message names the command that makes one."""
    (project.root / "mkdocs.yml").unlink()
    assert "make one here with `contentgen init`" in run(project, "status", code=1)


def test_a_misspelt_page(project: Project) -> None:
    """The nearest page is named."""
    project.page("index.md", REQUEST)
    ran = run(project, "show", "docs/indx.md", code=1)
    assert "docs/indx.md: there is no such page; did you mean `docs/ind" in ran
    assert "; `contentgen status` lists those with" in run(project, "show", "other.md", code=1)


def test_no_all_clear_behind_a_warning(project: Project) -> None:
    """Whoever misspells the request is not told that all is well."""
    project.write("docs/index.md", "---\ncontent-gen: {type: blog, topic: A}\n---\n")
    ran = run(project, "generate")
    assert ran.endswith("No page asks for a text; see the warnings above\n")
    project.page("other.md", REQUEST)
    run(project, "generate")
    all_clear = "The text is there; no request was needed"
    assert f"{all_clear}; see the warnings above\n" in run(project, "generate")
    (project.root / "docs/index.md").unlink()
    assert f"{all_clear}.\n" in run(project, "generate")


def test_a_second_import(project: Project) -> None:
    """It says how to replace the first one without a terminal."""
    project.page("index.md", REQUEST)
    project.write("text.md", TEXT)
    run(project, "import", "index.md", "text.md", "--by", "Jo")
    project.write("text.md", TEXT.replace("Three", "Four"))
    ran = run(project, "import", "index.md", "text.md", "--by", "Jo", code=1)
    assert "; --yes replaces their words by those of this file" in ran
    run(project, "import", "index.md", "text.md", "--by", "Jo", "--yes")
    assert "Four." in run(project, "show", "index.md")


def test_a_missing_source(project: Project, model: ModelDouble) -> None:
    """The sandbox and the writer refuse it with the same message."""
    project.page("index.md", {**REQUEST, "sources": ["changelog.md"]})
    said = []
    writer = {"model": "m", "endpoint": model.endpoint}
    for options in ({"base_url": "sandbox"}, {"base_url": "writer", "writer": writer}):
        project.configure(options)
        said.append(run(project, "generate", code=1))
    assert said[0] == said[1]
    assert "docs/index.md:2: contentgen.sources: 'changelog.md' " in said[0]


def test_a_model_server_without_its_path(model: ModelDouble, project: Project) -> None:
    """`init --endpoint` tries `/v1`, and writes the address that has models."""
    (project.root / "mkdocs.yml").unlink()
    base = model.endpoint.removesuffix("/v1")
    models, right = model.models, model.endpoint
    model.models = lambda call, handler: (
        models(call, handler) if call.path == "/v1/models" else raw(b"", 404)(call, handler)
    )
    run(project, "init", "--yes", "--endpoint", base)
    assert f"endpoint: {right}\n" in (project.root / "mkdocs.yml").read_text()


def test_no_model_server(project: Project, tmp_path: Path) -> None:
    """`init --endpoint` says that there is no connection."""
    (project.root / "mkdocs.yml").unlink()
    ran = run(project, "init", "--yes", "--endpoint", "http://127.0.0.1:9/v1", code=1)
    assert "Error: no connection to the model server" in ran
    assert "; is the address right, and is the server running?" in ran
