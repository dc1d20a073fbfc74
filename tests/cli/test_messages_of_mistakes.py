"""What people get wrong, and what they are told, as golden files.

Each `golden/mistakes/NAME.yml` is a list of mistakes, and `NAME.txt` has what is said of each of
them; UPDATE_GOLDEN=1 rewrites that. `Mistake` says what an entry can have.
"""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import msgspec
import pytest
import yaml
from conftest import Project
from golden_file import GOLDEN, FastLoader, expect
from model_double import KEY, ModelDouble
from model_double import raw as answer_of_model
from service_double import TOKEN, ServiceDouble
from service_double import raw as answer_of_service

REQUEST = {"type": "blog", "topic": "Alpha", "length": "short"}

FILES = sorted((GOLDEN / "mistakes").glob("*.yml"))

# One worker runs them all, since they share files: two would rewrite one.
pytestmark = pytest.mark.xdist_group("mistakes")


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What a server answers to each request. A body is JSON, unless it is a text."""

    status: int = 200
    body: object = ""
    headers: dict[str, str] = {}

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body).encode()


class Mistake(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A mistake: a site, what is run there, and what servers answer.

    In options, arguments and files, `ENDPOINT` stands for the address of the model server, and
    `KEY` and `TOKEN` for secrets.
    """

    mistake: str
    """What is wrong, in a few words."""

    run: list[str]
    """Commands without `contentgen`; `build` and `serve` are those of MkDocs."""

    before: list[str] = []
    """Commands whose output does not matter."""

    options: dict[str, object] = msgspec.field(default_factory=lambda: {"base_url": "sandbox"})
    config: dict[str, object] | str = {}
    """Further values of `mkdocs.yml`, or all of it as a text."""

    pages: dict[str, object] = msgspec.field(default_factory=lambda: {"index.md": REQUEST})
    """What each page asks for, or all of the page as a text."""

    files: dict[str, str] = {}
    after: dict[str, str] = {}
    """Files that are written after `before`."""

    edits: dict[str, tuple[str, str]] = {}
    """Words that are replaced in files after `before`."""

    environment: dict[str, str | None] = {}
    service: Answer | None = None
    model: Answer | None = None
    models: Answer | None = None


@cache
def mistakes_in(path: Path) -> dict[str, Mistake]:
    """Return the mistakes in a file by their titles."""
    found = yaml.load(path.read_text(encoding="utf-8"), FastLoader)
    by_title = {}
    for mistake in msgspec.convert(found, list[Mistake]):
        assert mistake.mistake not in by_title, "two mistakes have one title"
        by_title[mistake.mistake] = mistake
    return by_title


def messages_in(path: Path) -> dict[str, str]:
    """Return the expected messages in a file by the titles of the mistakes."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = {}
    for case in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        title, _, messages = case.partition("\n")
        found[title] = messages
    return found


def make_site(project: Project, mistake: Mistake) -> None:
    """Write the files of a site with a mistake."""
    if isinstance(mistake.config, str):
        project.write("mkdocs.yml", mistake.config)
    else:
        project.configure(mistake.options, **mistake.config)
    for page, asked in mistake.pages.items():
        if isinstance(asked, str):
            project.write(f"docs/{page}", asked)
        else:
            project.page(page, asked)
    write_files(project, mistake.files)


def write_files(project: Project, files: dict[str, str]) -> None:
    """Write files; what ends with a slash is a folder."""
    for path, content in files.items():
        if path.endswith("/"):
            (project.root / path).mkdir(parents=True)
        else:
            project.write(path, content)


def run(project: Project, command: str) -> str:
    """Run a command, and return it with what it printed."""
    arguments = shlex.split(command)
    if arguments[0] in ("build", "serve"):
        ran = project.build(*arguments[1:])
    else:
        ran = project.run("mkdocs_contentgen", *arguments)
    end = "" if ran.returncode == 0 else f"(exit status {ran.returncode})\n"
    return f"$ {command}\n{ran.stdout}{end}"


def made_the_same(said: str, project: Project) -> str:
    """Return what was said without what differs from one run to the next."""
    said = said.replace(f"{project.root}/", "").replace(str(project.root), "/home/jo/site")
    said = re.sub(r"(127\.0\.0\.1|localhost):[1-9]\d{4}\b", r"\1:PORT", said)
    said = said.replace(f"{datetime.now(UTC).date()}", "TODAY")
    said = re.sub(r"(?m)^INFO +-  (?!Doc file|.*contentgen).*\n", "", said)
    said = re.sub(r"\b[\d,]+ tokens\b", "N tokens", said)  # which change with the prompts
    said = re.sub(r"\b\d+\.\d+ s(econds)?\b", "SECONDS", said)
    return re.sub(r"(?m) +$", "", said)


def all_cases() -> list[tuple[Path, str]]:
    """Return each mistake as its file and its title."""
    found = []
    for path in FILES:
        for title in mistakes_in(path):
            found.append((path, title))
    return found


@pytest.mark.parametrize(
    ("path", "title"), all_cases(), ids=[f"{path.stem}-{title}" for path, title in all_cases()]
)
def test_what_is_said(
    project: Project, service: ServiceDouble, model: ModelDouble, path: Path, title: str
) -> None:
    """Each mistake has its messages, which never have a secret or a traceback."""
    mistake = mistakes_in(path)[title]
    filled = filled_in(mistake, model)
    if filled.service:
        service.answer = answer_of_service(
            filled.service.content, filled.service.status, filled.service.headers
        )
    if filled.model:
        model.answer = answer_of_model(
            filled.model.content, filled.model.status, filled.model.headers
        )
    if filled.models:
        model.models = answer_of_model(filled.models.content, filled.models.status)
    for name, value in filled.environment.items():
        if value is None:
            project.environment.pop(name, None)
        else:
            project.environment[name] = value
    make_site(project, filled)
    for command in filled.before:
        run(project, command)
    write_files(project, filled.after)
    for name, (old, new) in filled.edits.items():
        text = (project.root / name).read_text(encoding="utf-8")
        assert old in text
        project.write(name, text.replace(old, new))
    said = "".join(run(project, command) for command in filled.run)

    assert TOKEN not in said
    assert KEY not in said
    assert "Traceback" not in said
    messages_path = path.with_suffix(".txt")
    messages = messages_in(messages_path)
    messages[title] = f"{made_the_same(said, project)}\n"
    in_order = [f"=== {name}\n{messages.get(name, '')}" for name in mistakes_in(path)]
    expect("".join(in_order), messages_path)


def filled_in(mistake: Mistake, model: ModelDouble) -> Mistake:
    """Return a mistake with the address of the model server, and the secrets."""
    text = msgspec.json.encode(mistake).decode()
    base = model.endpoint.removesuffix("/v1")
    for name, value in {"ENDPOINT": base, "KEY": KEY, "TOKEN": TOKEN}.items():
        text = re.sub(rf"\b{name}\b", value, text)
    return msgspec.json.decode(text, type=Mistake)


def test_there_are_a_hundred() -> None:
    """They cover what a person meets in the first hours, each with messages."""
    assert len(all_cases()) >= 100
    for path in FILES:
        assert list(messages_in(path.with_suffix(".txt"))) == list(mistakes_in(path))
