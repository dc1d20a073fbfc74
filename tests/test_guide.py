"""README and guide: what they name exists, and what they tell people to run works."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
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
from click.testing import CliRunner
from conftest import Project, wait_until
from model_double import ModelDouble
from ports import free_port
from service_double import Received, ServiceDouble

from mkdocs_contentgen.cli.main import main
from mkdocs_contentgen.requests import (
    REQUEST_TYPES,
    TRANSLATION_KEY,
    Request,
    choices,
    parse_front_matter,
)
from mkdocs_contentgen.served.configuration import ServerFields, read_server_fields
from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.writer.models.settings import WriterFields

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "example_site/docs"
CI = (DOCS / "ci.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "deploy/README.md", *sorted(DOCS.rglob("*.md"))]

FENCE = re.compile(r'^( *)```([a-z]+)(?: title="([^"]+)")?\n(.*?)^\1```$', re.DOTALL | re.MULTILINE)

LEFT_OUT = {
    (
        "requests.md",
        r"(?s)\Aplugins:\n  - search\n  - contentgen:\n      service_fields.*\Z"
        r"|\A---\ncontentgen:\n  type: (?:news|blog)\n.*  (?:brief|language|sources): .*\Z",
    ): "the tests' service has no such fields; tests of the writer have them",
    ("", "^python3 -m venv .*|^git init\npython3 -m venv .*"): "the tests run in an environment",
    ("", "^git clone .*\n"): "the repository has no address yet",
    ("start.md", "^py -m venv .*"): "for Windows",
    ("start.md", "^contentgen zensical build .*"): "with Material, init makes a site of MkDocs",
    ("", "^pip install .*"): "the tests' environment has it all; .ci/run runs the README's",
    ("", "^contentgen review.*"): "does not end; test_browser_desk.py runs it",
    (
        "updates.md",
        r"(?s)^docs/setup\.md: 2 sentences .*\Z",
    ): "no source has changed; mkdocs/test_writer.py shows what is printed then",
    ("updates.md", "^contentgen update .*"): "no source has changed; test_update.py runs it",
    ("writer.md", "^(ollama|llama-server) .*"): "no model server is installed for the tests",
    (
        "ci.md",
        "(?s)^(on|docs|texts):.*|^mkdocs-material\nmkdocs-contentgen @.*",
    ): "test_recipes.py runs them",
    ("desk.md", "^ssh -L .*"): "needs another machine",
    ("zensical.md", "^contentgen zensical serve$"): "does not end",
    ("README.md", r"(?s)^cd deploy .*|^docker .*"): "test_deploy.py checks deploy/",
    ("README.md", "(?s)^useradd .*|^for port .*"): "changes the machine; test_deploy.py checks it",
}
"""What of the blocks is not tried, by page and pattern, each with the reason."""


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md"]
)
def test_links_of_the_repository(page: str) -> None:
    """What is linked is there; MkDocs looks after the links of the guide."""
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"""\]\(([^)#]+)|(?:src|srcset)="([^"]+)""", text)
    for path in ("".join(link) for link in links):
        assert path.startswith("https://") or ((ROOT / page).parent / path).exists(), path


RECIPES = re.findall(r"^## (Add .*)\n((?:.*\n)*?)(?=## )", CONTRIBUTING, re.MULTILINE)


@pytest.mark.parametrize(("recipe", "steps"), RECIPES, ids=[name for name, _ in RECIPES])
def test_the_files_of_a_recipe(recipe: str, steps: str) -> None:
    """Each file that a recipe for a change names is there, and has what is to be edited."""
    named = re.findall(r"((?:mkdocs_contentgen|example_site|tests)/[\w./]+\.\w+)", steps)
    assert named, recipe
    for path in named:
        assert (ROOT / path).is_file(), path
    for things, path in re.findall(r"((?:`[^`]+` and )?`[^`]+`)\s+in\s+`(\w+/[\w./]+)`", steps):
        text = (ROOT / path).read_text(encoding="utf-8")
        for thing in re.findall(r"`([^`]+)`", things):
            assert thing in text, f"{thing} is not in {path}"


def test_commands_within_sentences() -> None:
    """There is every command, with every option, that a sentence names."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for words in re.findall(r"(?<!`)`contentgen\s+([a-z][^`]*)`", text):
            assert set(re.findall(r"--[a-z-]+", words)) <= options_of(words.split()), page


def options_of(words: list[str]) -> set[str]:
    """Return the long options of a command."""
    command: click.Command = main
    for word in words:
        if isinstance(command, click.Group):
            command = command.commands[word]
    options = (option for parameter in command.params for option in parameter.opts)
    return {option for option in options if option.startswith("--")}


def test_variables_of_the_environment() -> None:
    """The code knows every variable that the guide names, or the configuration names it, too."""
    name = re.compile(r"\bCONTENTGEN_[A-Z_]+")
    files = [*(ROOT / "mkdocs_contentgen").rglob("*.py"), *(ROOT / "deploy").iterdir()]
    known = {found for file in files for found in name.findall(file.read_text(encoding="utf-8"))}
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        text = page.read_text(encoding="utf-8")
        assert {*name.findall(text)} <= known | {*re.findall(r"!ENV (\w+)", text)}, page


OTHERS = """
abstract_chars_count anchors description docs_dir draft_if_future_date exclude_docs extra_css
draft frequency_penalty outcome pool_mode post_excerpt reasoning_effort repeat_penalty slug
stop_grace_period title type validation
""".split()
"""Names with a value in sentences that are not contentgen's."""


def test_options_within_sentences() -> None:
    """There is every option and every field that a sentence names with a value."""
    known = {name for name, _ in ContentgenConfig._schema} | {*ServerFields.__struct_fields__}
    for model in REQUEST_TYPES.values():
        known |= {field.name for field in msgspec.structs.fields(model)}
    known.add(TRANSLATION_KEY)
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        named = re.findall(r"(?<!`)`(?:writer\.)?([a-z_]+): [^`\n]+`(?!`)", text)
        assert {*named} - known <= {*OTHERS}, page


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
    """It shows every value of every field of each type."""
    shown = set()
    for page in (DOCS / "gallery").glob("*.md"):
        _, front, _ = page.read_text(encoding="utf-8").split("---\n", 2)
        requests, problems = parse_front_matter(yaml.safe_load(front))
        assert not problems
        for asked in requests:
            assert isinstance(asked, Request)
            shown |= {(asked.type, *field) for field in asked.body().items()}
    for kind, model in REQUEST_TYPES.items():
        for name, values in choices(model).items():
            if name not in ("type", "length"):
                assert {(kind, name, value) for value in values} <= shown


def test_a_quiet_build_is_not_strict(project: Project) -> None:
    """The guide warns of `-q` in CI: MkDocs then counts no warnings, and nobody sees them."""
    assert "`mkdocs build -q --strict`" in CI
    project.page("index.md", {"type": "blog", "topic": "x"}, "<!-- contentgn -->\n")
    assert project.build("--strict").returncode == 1
    quiet = project.build("-q", "--strict")
    assert (quiet.returncode, quiet.stdout) == (0, "")


@pytest.mark.system
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
    built = project.built("--strict")
    assert "27 texts: 0 from approved files, 0 from the cache, 27 generated" in built
    options = {
        "configuration": [name for name, _ in ContentgenConfig._schema],
        "writer": WriterFields.__struct_fields__,
        "team": set(ServerFields.__struct_fields__) - set(WriterFields.__struct_fields__),
    }
    for page, names in options.items():
        headings = project.soup(f"{page}/index.html").select(".doc-heading > code")
        assert sorted(heading.text for heading in headings) == sorted(names)
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


def test_the_guide_is_short() -> None:
    """Nobody reads a long guide. Whoever adds something takes out what it replaces."""
    words = {page: len(page.read_text(encoding="utf-8").split()) for page in DOCS.rglob("*.md")}
    assert sum(words.values()) <= 16_000
    assert words[DOCS / "review.md"] <= 900


def test_the_first_request(tmp_path: Path) -> None:
    """A reader sees the request that init writes, and makes an environment before installing."""
    arguments = ["init", "--yes", "-f", str(tmp_path / "mkdocs.yml")]
    assert CliRunner(env={"PATH": ""}).invoke(main, arguments).exit_code == 0
    written = (tmp_path / "docs/first-text.md").read_text(encoding="utf-8")
    for page in (ROOT / "README.md", DOCS / "index.md", DOCS / "start.md"):
        text = page.read_text(encoding="utf-8")
        [shown] = [block for *_, block in FENCE.findall(text) if "type:" in block]
        assert re.sub(" #.*", "", shown) == written
        assert text.find("python3 -m venv") <= text.find("pip install")


def test_the_groups_of_pages() -> None:
    """Each page is in one of five groups, in the order in which they are needed."""
    navigation = (ROOT / "example_site/mkdocs.yml").read_text(encoding="utf-8").partition("nav:")[2]
    groups = re.findall(r"^  - (\w+):$", navigation, re.MULTILINE)
    assert groups == ["Start", "Write", "Review", "Publish", "Operate"]
    pages = re.findall(r": ([\w/-]+\.md)$", navigation, re.MULTILINE)
    written = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    assert sorted(pages) == sorted(page for page in written if not page.startswith("blog/posts/"))


def test_every_block_is_found() -> None:
    """No fence is written so that what stands in it would not be tried; exceptions are needed."""
    needed = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = FENCE.findall(text)
        assert len(re.findall(r"^[ >]*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(found), page
        for name, pattern in LEFT_OUT:
            commands = (textwrap.dedent(block[3]) for block in found if name in page.name)
            if any(re.search(pattern, block, re.MULTILINE) for block in commands):
                needed.add((name, pattern))
    assert needed == {*LEFT_OUT}


@pytest.mark.system
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
    port = free_port()
    todo = [replace(b, text=b.text.replace(WRITER, f"127.0.0.1:{port}")) for b in blocks(page)]
    said = ""
    with ExitStack() as servers:
        for block, after in zip(todo, [*todo[1:], None], strict=True):
            if block.file:
                path = project.write(block.file, completed(block, service, model))
                if "\n  - contentgen\nplugins:" in block.text:  # another site, for Zensical
                    shutil.rmtree(project.root / ".cache", ignore_errors=True)
                if block.file == "writer.yml":
                    read_server_fields(path)
                # A reader builds when the page says so, and otherwise to see what became of it.
                by_reader = after and after.language == "sh"
                said, status = run(project, "true" if by_reader else "mkdocs build --strict")
            elif block.text == "contentgen writer serve\n":
                said, status = servers.enter_context(writer_serving(project, port)), 0
            elif block.language == "sh":
                said, status = run(project, script_of(block, project, model))
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


def script_of(block: Block, project: Project, model: ModelDouble) -> str:
    """Return the commands of a block, less what needs a person."""
    if "contentgen init\n" not in block.text:
        # A server does not end by itself; test_serve.py runs one. Nobody can be asked here.
        text = block.text.replace("mkdocs serve", "mkdocs build --strict")
        return text.replace("writer evaluate\n", "writer evaluate --yes\n")
    (project.root / "mkdocs.yml").unlink()  # a reader begins in an empty folder
    # The sandbox, which is the last of the two, whatever this machine has.
    init = f"printf '2\\n\\n' | contentgen init --endpoint {model.endpoint}\n"
    return block.text.replace("contentgen init\n", init)


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
