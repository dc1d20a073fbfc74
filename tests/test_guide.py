"""README and guide: what they name exists, and what they tell people to run works."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import shutil
import signal
import socket
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec
import pytest
import tinycss2
import yaml
from conftest import Project, wait_until
from model_double import ModelDouble
from service_double import Received, ServiceDouble

from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.requests import REQUEST_TYPES, choices, parse_front_matter
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.writer.server.configuration import read_fields

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "example_site/docs"
CI = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("ci.md", "zensical.md"))
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

LEFT_OUT = {
    (
        "requests.md",
        r"(?s)\Aplugins:\n  - search\n  - contentgen:\n      service_fields.*\Z"
        r"|\A---\ncontentgen:\n  type: (?:news|blog)\n.*  (?:brief|language|sources): .*\Z",
    ): "the tests' service has no such fields; tests of the writer have them",
    ("", "^python3 -m venv .*|^git init\npython3 -m venv .*"): "the tests run in an environment",
    ("", "^pip install .*"): "the tests' environment has it all; .ci/run runs the README's",
    ("review.md", "^contentgen review .*"): "does not end; test_browser_desk.py runs it",
    ("review.md", "^contentgen update .*"): "no source has changed; test_update.py runs it",
    ("writer.md", "(?s)^contentgen init .*"): "test_init.py runs it",
    ("writer.md", "^(ollama|llama-server|vllm) .*"): "no model server is installed for the tests",
    (
        "ci.md",
        "(?s)^(on|docs|articles|drafts|updates):.*",
    ): "test_recipes_of_the_guide runs its commands",
    ("zensical.md", "(?s)^(on|docs):.*"): "test_recipes_of_the_guide runs its commands",
    ("zensical.md", "^contentgen zensical serve$"): "does not end",
    ("scale.md", "^python tests/benchmarks/.*"): "takes minutes",
    ("team.md", r"(?s)^cd deploy .*|^docker .*"): "test_deploy.py checks deploy/",
    ("team.md", "(?s)^useradd .*|^for port .*"): "changes the machine; test_deploy.py checks it",
}
"""What of the blocks is not tried, by page and pattern, each with the reason."""


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_of_the_repository(page: str) -> None:
    """What is linked is there; MkDocs looks after the links of the guide."""
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"""\]\(([^)#]+)|(?:src|srcset)="([^"]+)""", text)
    for path in ("".join(link) for link in links):
        assert path.startswith("https://") or (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_within_sentences(page: Path) -> None:
    """There is every command, with every option, that a sentence names."""
    text = page.read_text(encoding="utf-8")
    for words in re.findall(r"(?<!`)`contentgen\s+([a-z][^`]*)`", text):
        assert set(re.findall(r"--[a-z-]+", words)) <= options_of(words.split())


def options_of(words: list[str]) -> set[str]:
    """Return the long options of a command."""
    command: click.Command = main
    for word in words:
        if isinstance(command, click.Group):
            command = command.commands[word]
    options = (option for parameter in command.params for option in parameter.opts)
    return {option for option in options if option.startswith("--")}


def test_the_table_of_fields() -> None:
    """It has every field with its types, and all values, the default first."""
    text = (DOCS / "requests.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (\w+) \|$", text, re.MULTILINE)
    expected: dict[str, set[str]] = {}
    for kind, model in REQUEST_TYPES.items():
        for field in msgspec.structs.fields(model):
            name = field.name
            expected.setdefault(name, set()).add(kind)
            (said,) = (values for row, values, _ in rows if row == name)
            if (known := set(choices(model).get(name, ()))) and name != "type":
                values = re.findall(r"`(\w+)`", said)
                assert set(values) == known
                assert values[0] == field.default
    types = {name: set(REQUEST_TYPES) if kind == "all" else {kind} for name, _, kind in rows}
    assert types == expected


def test_the_gallery_is_complete() -> None:
    """It shows each kind with all combinations of its own fields, and each length."""
    shown = []
    for page in sorted((DOCS / "gallery").glob("*.md")):
        _, front, _ = page.read_text(encoding="utf-8").split("---\n", 2)
        requests, problems = parse_front_matter(yaml.safe_load(front))
        assert not problems
        shown += [tuple(sorted({**r.body(), "topic": r.type}.items())) for r in requests]
    expected = []
    for kind, model in REQUEST_TYPES.items():
        own = {n: v for n, v in choices(model).items() if n not in ("type", "length")}
        for values in itertools.product(*own.values()):
            fields = {"topic": kind, "length": "short", **dict(zip(own, values, strict=True))}
            expected.append(tuple(sorted(fields.items())))
    assert set(expected) <= set(shown)
    assert {dict(fields)["length"] for fields in shown} == {"short", "medium", "long"}


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
    secret = title.startswith(("Drafts", "Regeneration", "Build in CI"))
    extensions = ["contentgen"] if "zensical" in " ".join(commands) else []
    options: dict[str, object] = (
        {"service_fields": ["update"]} if title.startswith("Updates") else {}
    )
    options |= {"require_approval": not secret}
    project.configure(options, markdown_extensions=extensions)
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    if not secret:
        for command in ("generate", "approve --all --by Jo"):
            project.run("mkdocs_contentgen", *command.split())
        for name in ("BASE_URL", "USER_ID", "TOKEN"):
            del project.environment[f"CONTENTGEN_{name}"]
    for command in commands:
        said, status = run(project, command)
        assert status == 0, said
    assert service.topics == ["Alpha"]
    if title.startswith("Drafts"):
        assert (project.root / "contentgen/index.md/main.html").exists()
    if "Approved" in title or "check" in title:
        project.page("new.md", {"type": "blog", "topic": "Beta"})
        assert run(project, commands[-1])[1] != 0


def test_a_quiet_build_is_not_strict(project: Project) -> None:
    """The guide warns of `-q` in CI: MkDocs then counts no warnings, and nobody sees them."""
    assert "`mkdocs build -q --strict`" in CI
    project.page("index.md", {"type": "blog", "topic": "x"}, "<!-- contentgn -->\n")
    assert project.build("--strict").returncode == 1
    quiet = project.build("-q", "--strict")
    assert (quiet.returncode, quiet.stdout) == (0, "")


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
    assert "27 texts: 0 from approved files, 0 from the cache, 27 generated" in built.stdout
    headings = project.soup("configuration/index.html").select("h3[id*=Options]")
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


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, less what is left out; a title is the name of a file."""

    language: str
    title: str
    text: str

    @property
    def file(self) -> str:
        """The file that a reader would put the text into, if into any."""
        if self.title or self.language not in ("yaml", "markdown"):
            return self.title
        return "docs/page.md" if self.text.startswith("---\n") else "mkdocs.yml"


FENCE = re.compile(r'^( *)```([a-z]+)(?: title="([^"]+)")?\n(.*?)^\1```$', re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page from which something is left to try."""
    found = []
    for _, language, title, text in FENCE.findall(page.read_text(encoding="utf-8")):
        text = textwrap.dedent(text)
        for name, pattern in LEFT_OUT:
            if name in page.name:
                text = re.sub(pattern, "", text, flags=re.MULTILINE)
        if text.strip():
            found.append(Block(language, title, text))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_found(page: Path) -> None:
    """No fence is written so that what stands in it would not be tried."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^[ >]*(?:```|~~~)", text, re.MULTILINE)
    assert len(fences) == 2 * len(FENCE.findall(text))


def test_what_is_left_out_is_there() -> None:
    """Each exception is still needed."""
    for name, pattern in LEFT_OUT:
        texts = [
            textwrap.dedent(block[3])
            for page in PAGES
            if name in page.name
            for block in FENCE.findall(page.read_text(encoding="utf-8"))
        ]
        assert any(re.search(pattern, text, re.MULTILINE) for text in texts), pattern


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name
)
def test_the_blocks_of_a_page(
    project: Project, service: ServiceDouble, model: ModelDouble, page: Path
) -> None:
    """Whoever does what a page says, block by block, sees what it says."""
    project.environment["CONTENTGEN_MODEL_ENDPOINT"] = model.endpoint
    project.environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **{f"GIT_{who}_NAME": "Jo Doe" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "jo@docs.example" for who in ("AUTHOR", "COMMITTER")},
    }
    run(project, "git init -q")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    todo = [replace(b, text=b.text.replace(WRITER, f"127.0.0.1:{port}")) for b in blocks(page)]
    said = ""
    with ExitStack() as servers:
        for block, after in zip(todo, [*todo[1:], None], strict=True):
            if block.file:
                path = project.write(block.file, completed(block, service, model))
                if "\n  - contentgen\nplugins:" in block.text:  # another site, for Zensical
                    shutil.rmtree(project.root / ".cache", ignore_errors=True)
                if block.file == "writer.yml":
                    read_fields(path)
                # A reader builds when the page says so, and otherwise to see what became of it.
                by_reader = after and after.language == "sh"
                said, status = run(project, "true" if by_reader else "mkdocs build --strict")
            elif block.text == "contentgen writer serve\n":
                said, status = servers.enter_context(writer_serving(project, port)), 0
            elif block.language == "sh":
                # A server does not end by itself; test_serve.py runs one.
                script = block.text.replace("mkdocs serve", "mkdocs build --strict")
                said, status = run(project, script)
                if "writer user add alice" in block.text:
                    token = said.split()[-1]
                    project.environment |= {
                        "CONTENTGEN_USER_ID": "alice",
                        "CONTENTGEN_TOKEN": token,
                    }
            elif block.language == "http":
                said, status = as_sent(service.received[-1]), 0
                assert sorted(re.findall(r"^[\w-]+(?=:)", block.text, re.MULTILINE)) == sorted(
                    re.findall(r"^[\w-]+(?=:)", said, re.MULTILINE)
                )
                assert_shown(block.text, said)
            elif block.language == "json":
                assert_shown(block.text, project.output)
                continue
            else:
                assert block.language == "text", f"what is to be done with {block}?"
                assert_shown(block.text, said)
                continue
            # What fails has to say so in the block that comes next.
            assert status == 0 or (after and after.language == "text"), said


WRITER = "127.0.0.1:8766"
"""The address of a served writer in the guide."""


@contextmanager
def writer_serving(project: Project, port: int) -> Iterator[str]:
    """Serve the writer until the block ends; return what it has said when it listens."""
    process = project.start("mkdocs_contentgen", "writer", "serve", "--port", str(port))
    try:
        wait_until(lambda: "Ctrl-C" in project.output or process.poll() is not None)
        yield project.output
        process.terminate()
        assert process.wait(60) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()


def completed(block: Block, service: ServiceDouble, model: ModelDouble) -> str:
    """Return the text of a file that a reader would have, where the page shows a part."""
    if block.file.endswith(".json"):
        json.loads(block.text)
    elif block.file.endswith(".css"):
        assert all(rule.type != "error" for rule in tinycss2.parse_stylesheet(block.text))
    elif block.file == "mkdocs.yml":
        rest = {"site_name": "Site", "plugins": "[contentgen]"}
        lines = (f"{k}: {v}\n" for k, v in rest.items() if not re.search(f"(?m)^{k}:", block.text))
        whole = "".join(lines) + block.text
        whole = re.sub(r"(endpoint: \"?)https?://[\w.:]+/v1", rf"\1{model.endpoint}", whole)
        return whole.replace("https://content.example/api", service.base_url)
    return block.text


def run(project: Project, script: str) -> tuple[str, int]:
    """Run a script of the shell that ends with its first failure; return what it says.

    Commands without anything of the shell run in the process of the tests, but not those of
    Zensical, which prints past Python.
    """
    lines = script.replace("\\\n", "").splitlines()
    if not all(
        re.fullmatch(r"(mkdocs|contentgen) (?!zensical)[\w ./=#\"'-]+|", line) for line in lines
    ):
        ran = project.call("bash", "-euo", "pipefail", "-c", script)
        return ran.stdout, ran.returncode
    said = ""
    for program, *arguments in filter(None, (shlex.split(line, True) for line in lines)):
        ran = project.run("mkdocs" if program == "mkdocs" else "mkdocs_contentgen", *arguments)
        said += ran.stdout
        if ran.returncode:
            return said, ran.returncode
    return said, 0


def as_sent(request: Received) -> str:
    """Return a request as it went over the wire, less its version of HTTP."""
    query = "&".join(f"{name}={value}" for name, value in request.query)
    headers = "".join(f"{name.title()}: {value}\n" for name, value in request.headers.items())
    return f"{request.method} {request.path}?{query}\n{headers}\n{json.dumps(request.body)}\n"


def assert_shown(expected: str, said: str) -> None:
    """Find each line in what was said, with anything for `…`, and any time for a time."""
    for line in filter(None, map(str.split, expected.splitlines())):
        pattern = r"\s+".join(map(re.escape, line)).replace("…", ".*")
        pattern = re.sub(r"\d\\.\d", r"[0-9.]+", pattern)
        assert re.search(pattern, said), f"{' '.join(line)!r} is not in:\n{said}"
