"""The options of the writer: what is wrong with them, and what they are read from."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from golden_file import cases

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.served.configuration import load_server_configuration
from mkdocs_contentgen.writer.models.settings import (
    OLLAMA,
    Price,
    Words,
    WriterOptions,
    load_options,
    option_problems,
)

CASES = cases("settings")

KEY = "sk-5ecret.very~long/key+value="


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONTENTGEN_MODEL", "CONTENTGEN_MODEL_ENDPOINT", "CONTENTGEN_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)


def load(value: dict[str, Any], directory: Path = Path()) -> WriterOptions:
    """Return options that are valid, as a build reads them."""
    assert option_problems(value) == []
    return load_options(value, directory, allow_http=False)


def failure(value: dict[str, Any], directory: Path = Path()) -> str:
    """Return the message about options that are well-formed but cannot be used."""
    with pytest.raises(ConfigurationError) as caught:
        load({"model": "m", **value}, directory)
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.parametrize(("text", "start"), CASES["a_wrong_option"])
def test_a_wrong_option(text: str, start: str) -> None:
    """A message has the option's name, what would be right and what was found, on one line."""
    ((_, problem),) = option_problems(yaml.safe_load(text))
    assert problem.startswith(start)
    assert problem.isprintable()


def test_two_wrong_options() -> None:
    """Each wrong option has a message of its own."""
    assert len(option_problems({"modle": "x", "parallel": 0, "call_timeout": 0})) == 3


@pytest.mark.parametrize("value", [12345, 1.5, [KEY], {"key": KEY}, date(2024, 1, 1), True])
def test_a_key_that_is_no_text(value: object) -> None:
    """A key that YAML reads as something else is not quoted."""
    ((_, problem),) = option_problems({"api_key": value})
    assert problem == (
        "api_key: is not a text to YAML; put it in quotes, or set CONTENTGEN_MODEL_KEY instead"
    )


@pytest.mark.parametrize("value", [KEY, 3, [KEY], True])
def test_options_that_are_no_mapping(value: object) -> None:
    """What stands in place of the options could be the key, and is not quoted."""
    assert option_problems(value) == [
        ("", "expected a mapping of options, such as `{model: qwen3:8b}`")
    ]


def test_an_option_without_a_value() -> None:
    """An option without a value, as `!ENV` makes it, has its default."""
    names = "model endpoint api_key parameters instructions prompts words parallel price max_cost"
    value: dict[str, Any] = {**dict.fromkeys(names.split()), "call_timeout": None}
    assert load({**value, "model": "m"}) == load({"model": "m"})


def test_the_defaults() -> None:
    """The defaults are those of the documentation."""
    options = load({"model": "m"})
    assert options.fields.endpoint == OLLAMA
    assert options.fields.words == Words(400, 900, 2000)
    assert (options.fields.calls_at_once, options.fields.call_timeout) == (4, 60)
    assert (options.instructions, options.prompts, options.fields.api_key) == ("", {}, "")
    assert (options.fields.price, options.fields.max_cost, options.fields.parameters) == (
        None,
        None,
        {},
    )


def test_options_that_are_right() -> None:
    """Whole numbers count as numbers, and all that JSON has can be a parameter."""
    value = yaml.safe_load(
        "{model: m, words: {short: 60}, price: {input: 1, output: 0}, max_cost: 2, "
        "call_timeout: 9, parameters: {temperature: 0, stop: [a], x: {y: null, z: ü}}}"
    )
    fields = load(value).fields
    assert fields.words == Words(60, 900, 2000)
    assert fields.price == Price(1.0, 0.0)
    assert fields.parameters == {"temperature": 0, "stop": ["a"], "x": {"y": None, "z": "ü"}}


# --- the environment -----------------------------------------------------------------------------


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the options lack comes from the environment, without surrounding spaces."""
    monkeypatch.setenv("CONTENTGEN_MODEL", " m1 ")
    monkeypatch.setenv("CONTENTGEN_MODEL_ENDPOINT", "https://models.example/v1\n")
    monkeypatch.setenv("CONTENTGEN_MODEL_KEY", f"{KEY}\n")
    fields = load({}).fields
    assert (fields.model, fields.endpoint, fields.api_key) == (
        "m1",
        "https://models.example/v1",
        KEY,
    )
    fields = load({"model": "m2", "endpoint": "https://h", "api_key": "k"}).fields
    assert (fields.model, fields.endpoint, fields.api_key) == ("m2", "https://h", "k")
    assert load({"model": "  "}).fields.model == "m1"


@pytest.mark.parametrize("value", [{"model": ""}, {"model": " \n"}, {"model": None}])
def test_no_model(value: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a model's name, the message says where to write it."""
    monkeypatch.setenv("CONTENTGEN_MODEL", " ")
    assert failure(value).startswith("writer: no model is named; write `writer: {model: qwen3:8b}`")


@pytest.mark.parametrize("model", ["a\nb", "a\x1b[2Jb", "x" * 101, "a\u202eb"])
def test_a_model_that_cannot_be_one(model: str) -> None:
    """A name that no page could show is refused."""
    assert " cannot be the name of a model; write `writer: {mod" in failure({"model": model})


# --- files ---------------------------------------------------------------------------------------


def test_the_files(tmp_path: Path) -> None:
    """The paths are relative to the project, and files may begin with a byte order mark."""
    (tmp_path / "rules.txt").write_bytes(b"\xef\xbb\xbfSay you.\r\n")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/blog.md").write_text("Write ü.", encoding="utf-8")
    (tmp_path / "prompts/notes.txt").write_text("Not read.")
    options = load({"model": "m", "instructions": "rules.txt", "prompts": "prompts"}, tmp_path)
    assert options.instructions == "Say you.\n"
    assert options.prompts == {"blog": (str(tmp_path / "prompts/blog.md"), "Write ü.")}


@pytest.mark.parametrize("option", ["instructions", "prompts", "sources"])
@pytest.mark.parametrize(
    "path", ["link", "link/blog.md", "folder/link", "../other/link", "{}/link"]
)
def test_links(tmp_path: Path, option: str, path: str) -> None:
    """A link in the place of what is named, or on the way to it, is not followed."""
    project = tmp_path / "project"
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "blog.md").write_text("Say you.")
    for folder in (project, project / "folder", tmp_path / "other"):
        folder.mkdir()
        (folder / "link").symlink_to(rules)
    path = path.format(tmp_path / "other")
    message = failure({option: [path] if option == "sources" else path}, project)
    assert message.startswith(f"writer.{option}: {tmp_path}")
    assert message.endswith("/link is a symbolic link, which is not followed)")


def test_a_link_to_a_prompt_file(tmp_path: Path) -> None:
    """A link in the folder of prompt files is named too."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "netrc").write_text("machine x password y")
    link = tmp_path / "prompts/blog.md"
    link.symlink_to("../netrc")
    assert f"blog.md cannot be read ({link} " in failure({"prompts": "prompts"}, tmp_path)


def test_links_above_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that a path shares with the project may be links, such as a home directory."""
    (tmp_path / "real/project").mkdir(parents=True)
    (tmp_path / "home").symlink_to("real")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("rules.txt", "project/rules.txt"):
        (tmp_path / "real" / name).write_text("Say you.")
    for path in ("~/rules.txt", "../rules.txt", "rules.txt"):
        options = load({"model": "m", "instructions": path}, tmp_path / "home/project")
        assert options.instructions == "Say you."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "cannot be read (it is not UTF-8)"),
        (b"caf\xe9", "cannot be read (it is not UTF-8)"),
        (b"x" * 65_537, "cannot be read (it has more than 65536 characters)"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, content: bytes, words: str) -> None:
    """The message names the option and the file."""
    (tmp_path / "prompts").mkdir()
    for path in ("rules.txt", "prompts/news.md"):
        (tmp_path / path).write_bytes(content)
    message = failure({"instructions": "rules.txt"}, tmp_path)
    assert message.startswith("writer.instructions: ") and message.endswith(words)
    assert str(tmp_path / "rules.txt") in message
    message = failure({"prompts": "prompts"}, tmp_path)
    assert message.startswith("writer.prompts: ") and message.endswith(words)
    assert "news.md" in message


def test_the_longest_file(tmp_path: Path) -> None:
    """The limit of a file is exactly where it is said to be."""
    (tmp_path / "rules.txt").write_text("x" * 65_536)
    assert len(load({"model": "m", "instructions": "rules.txt"}, tmp_path).instructions) == 65_536


@pytest.mark.parametrize(
    ("option", "path", "words"),
    [
        ("instructions", "missing.txt", "cannot be read (No such file or directory)"),
        ("instructions", "folder", "cannot be read (Is a directory)"),
        ("instructions", "pipe", "pipe cannot be read ("),
        ("instructions", "loop", "/loop "),
        ("instructions", "a\0b", "cannot be read (its path is not valid)"),
        ("instructions", "x" * 300, "cannot be read (File name too long)"),
        ("prompts", "missing", "cannot be read (No such file or directory)"),
        ("prompts", "file.txt", "cannot be read (Not a directory)"),
        ("prompts", "odd", "article.md cannot be read (Is a directory)"),
        ("prompts", "a\0b", "cannot be read (its path is not valid)"),
        ("sources", "a\0b", "cannot be read (its path is not valid)"),
        ("sources", "missing", "missing cannot be read (No such file or directory)"),
    ],
)
def test_a_path_that_leads_nowhere(tmp_path: Path, option: str, path: str, words: str) -> None:
    """What is not a file or directory is one line, and a pipe is not waited for."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "odd/article.md").mkdir(parents=True)
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    message = failure({option: [path] if option == "sources" else path}, tmp_path)
    assert message.startswith(f"writer.{option}: ")
    assert words in message


# --- names of options ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"instructions": "no.md"}, "instructions"),
        ({"prompts": "no"}, "prompts"),
        ({"sources": ["no"]}, "sources"),
        ({"command": ["x"], "price": {"input": 0, "output": 0}}, "price"),
        ({"command": ["x"], "endpoint": "http://127.0.0.1:1/v1"}, "endpoint"),
    ],
)
def test_names_of_options(tmp_path: Path, options: dict[str, Any], name: str) -> None:
    """A message names an option as it stands in `mkdocs.yml`, or in `writer.yml`."""
    assert failure(options, tmp_path).startswith(f"writer.{name}: ")
    said = failure_in_file(tmp_path, {"model": "m", **options})
    assert said.startswith(f"{tmp_path / 'writer.yml'}: {name}: ")
    assert "writer." not in said.replace("writer.yml", "")


def test_no_model_in_a_file(tmp_path: Path) -> None:
    """The example is for that file, and no option of the plugin is named."""
    said = failure_in_file(tmp_path, {"words": {}})
    assert said.startswith(f"{tmp_path / 'writer.yml'}: no model is named; write `model: qwen3:8b`")
    said = failure_in_file(tmp_path, {"model": "m", "sources": True})
    assert said.startswith(f"{tmp_path / 'writer.yml'}: sources: a server has no pages of its own")


def failure_in_file(directory: Path, value: dict[str, Any]) -> str:
    """Return the message about a `writer.yml`."""
    path = directory / "writer.yml"
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        load_server_configuration(path)
    return str(caught.value)


@pytest.mark.parametrize("prefix", ["writer.", ""])
def test_names_of_options_while_texts_are_written(tmp_path: Path, prefix: str) -> None:
    """Warnings and reasons that come later name the options in the same way."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/latin.md").write_bytes(b"\xe4")
    value = {"model": "m", "sources": ["notes"]}
    options = load_options(value, tmp_path, allow_http=False, prefix=prefix)
    assert options.prefix == prefix
    options.sources.search("Topic")
    (warning,) = options.sources.warnings
    assert warning.startswith(f"{prefix}sources: files left out: 1, such as ")
    assert f"add the file to {prefix}sources" in options.sources.problem("no.md")


def test_a_glossary(tmp_path: Path) -> None:
    """It is read from its file, and a mistake in it has the file and the line."""
    (tmp_path / "terms.yml").write_text("MkDocs: keep\n", encoding="utf-8")
    options = load({"model": "m", "glossary": "terms.yml"}, tmp_path)
    assert options.glossary.terms == {"MkDocs": None}
    (tmp_path / "terms.yml").write_text("a: keep\nbuild: Build\n", encoding="utf-8")
    said = failure({"glossary": "terms.yml"}, tmp_path)
    assert said.startswith(f"writer.glossary: {tmp_path / 'terms.yml'}:2: 'build': expected `keep`")
    assert failure({"glossary": "no.yml"}, tmp_path).startswith("writer.glossary: ")
