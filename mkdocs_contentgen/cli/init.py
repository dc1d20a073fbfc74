"""The command `contentgen init`."""

from __future__ import annotations

import importlib.util
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
import yaml

from .common import config_option, find_configuration
from .output import print_line

if TYPE_CHECKING:
    from ..service.writer.discovery import FoundServer

_PAGE = """---
contentgen:
  type: blog
  topic: Ten ways to speed up a docs build
  format: listicle
  length: short
---
"""
_MAX_SHOWN = 20


@click.command()
@config_option
@click.option("--yes", is_flag=True, help="Ask nothing: take the first model, or the sandbox.")
@click.option("--endpoint", default="", metavar="URL", help="The API of a model server elsewhere.")
@click.option(
    "--page",
    default="first-text.md",
    show_default=True,
    metavar="PAGE",
    help="The page with the first request.",
)
def init(config_file: str | None, *, yes: bool, endpoint: str, page: str) -> None:
    """Set a site up: find a source of texts, write the options and a first page.

    Finds Ollama, LM Studio and llama.cpp on this machine. The folder can be empty, or have a
    `mkdocs.yml`, to which the plugin is added.
    """
    path = find_configuration(config_file) or Path(config_file or "mkdocs.yml")
    if path.suffix == ".toml":
        raise click.ClickException(
            f"{path}: this command writes YAML only; add the options by hand, as the page on "
            "Zensical of the guide shows"
        )
    text = path.read_text(encoding="utf-8") if path.is_file() else _new_site(path)
    try:
        docs = path.parent / _docs_dir(text)
    except yaml.YAMLError as error:
        raise click.ClickException(f"{path}: is not valid YAML; correct it first") from error
    if Path(page).is_absolute() or ".." in Path(page).parts or not page.endswith(".md"):
        raise click.UsageError("--page: name a Markdown file in the folder of the pages")
    options = _choose(_find(endpoint), yes=yes)
    changed = add_plugin(text, options)
    if changed is None:
        block = _indented(options, "  ")
        raise click.ClickException(
            f"{path} cannot be changed without touching other lines, or has the plugin already; "
            f"add this to its `plugins` by hand:\n\n{block}"
        )
    path.write_text(changed, encoding="utf-8")
    print_line(f"Wrote the plugin into {path}")
    home = docs / "index.md"
    pages = {docs / page: _PAGE} | ({} if any(docs.glob("*.md")) else {home: "# Home\n"})
    for file, content in pages.items():
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
            print_line(f"Wrote {file}")
    here = f" -f {shlex.quote(config_file)}" if config_file else ""
    print_line(f"Next: contentgen generate{here}, and then mkdocs serve{here}")


def _find(endpoint: str) -> Sequence[FoundServer]:
    import asyncio

    from ..service.writer.discovery import find_server, find_servers

    if not endpoint:
        return asyncio.run(find_servers())
    key = os.environ.get("CONTENTGEN_MODEL_KEY", "")
    server = asyncio.run(find_server(endpoint, key=key))
    if server is None:
        raise click.ClickException(
            f"{endpoint} lists no models; is it the address of an API such as https://host/v1, and "
            "is CONTENTGEN_MODEL_KEY set if it needs a key?"
        )
    return [server]


def _choose(servers: Sequence[FoundServer], *, yes: bool) -> dict[str, object]:
    """Return the options of the plugin for the source of texts that the author chooses."""
    found = [(server, model) for server in servers for model in server.models][:_MAX_SHOWN]
    writers: list[dict[str, object]] = [
        {"base_url": "writer", "writer": {"model": model, "endpoint": server.endpoint}}
        for server, model in found
    ]
    choices: list[dict[str, object]] = [*writers, {"base_url": "sandbox"}]
    names = [*(f"{model} ({server.name})" for server, model in found), "sample texts, no model"]
    if yes:
        print_line(f"Texts are from: {names[0]}")
        return choices[0]
    for number, name in enumerate(names, 1):
        print_line(f"{number}  {name}")
    chosen = click.prompt("Texts are from", default=1, type=click.IntRange(1, len(names)))
    return choices[chosen - 1]


def _new_site(path: Path) -> str:
    name = path.absolute().parent.name.replace("-", " ").replace("_", " ").strip() or "docs"
    site: dict[str, object] = {"site_name": name.capitalize()}
    if importlib.util.find_spec("material"):
        site["theme"] = "material"
    return yaml.safe_dump(site, sort_keys=False, allow_unicode=True)


def _docs_dir(text: str) -> Path:
    docs = _values(text).get("docs_dir", "docs")
    return Path(docs if isinstance(docs, str) else "docs")


def add_plugin(text: str, options: Mapping[str, object]) -> str | None:
    """Return a configuration with the plugin, or None if other lines would have to change.

    All lines stay as they are. MkDocs has the plugin `search` only where no others are named.
    """
    before = _values(text)
    plugins = before.get("plugins")
    if "plugins" not in before:
        gap = "" if not text or text.endswith("\n") else "\n"
        changed = f"{text}{gap}plugins:\n  - search\n{_indented(options, '  ')}"
        plugins = ["search"]
    elif isinstance(plugins, list) and plugins and not _has_plugin(plugins):
        node = _node(text, "plugins")
        lines = text.splitlines(keepends=True)
        end = max(it.end_mark.line for it in _scalars(node)) + 1
        if not lines[end - 1].endswith("\n"):
            lines[end - 1] += "\n"
        lines.insert(end, _indented(options, " " * node.start_mark.column))
        changed = "".join(lines)
    else:
        return None
    try:
        after = _values(changed)
    except yaml.YAMLError:
        return None
    (ours,) = cast(list[object], _plain(yaml.compose(_indented(options, ""), yaml.SafeLoader)))
    return changed if after == {**before, "plugins": [*plugins, ours]} else None


def _has_plugin(plugins: Iterable[object]) -> bool:
    names = [it[0][0] if isinstance(it, tuple) and it else it for it in plugins]
    return "contentgen" in names


def _indented(options: Mapping[str, object], indent: str) -> str:
    block = yaml.safe_dump([{"contentgen": dict(options)}], sort_keys=False, allow_unicode=True)
    return "".join(f"{indent}{line}\n" for line in block.splitlines())


def _node(text: str, key: str) -> yaml.Node:
    """Return the value of a key at the top level."""
    root = cast(yaml.MappingNode, yaml.compose(text, yaml.SafeLoader))
    found: yaml.Node = next(value for name, value in root.value if name.value == key)
    return found


def _values(text: str) -> dict[object, object]:
    """Return the values of a configuration as they are written. Raises YAMLError."""
    found = _plain(yaml.compose(text, yaml.SafeLoader))
    return dict(found) if isinstance(found, tuple) else {}


def _plain(node: yaml.Node | None) -> object:
    """Return what a node holds, with values as they are written, whatever their tags."""
    match node:
        case yaml.MappingNode():
            return tuple((_plain(key), _plain(value)) for key, value in node.value)
        case yaml.SequenceNode():
            return [_plain(it) for it in node.value]
        case yaml.ScalarNode():
            return node.value
    return None


def _scalars(node: yaml.Node) -> Iterable[yaml.Node]:
    if isinstance(node, yaml.ScalarNode):
        yield node
        return
    for it in node.value:
        for child in it if isinstance(it, tuple) else (it,):
            yield from _scalars(child)
