"""The command `contentgen init`."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml

from ..files import reason_of, replace_text
from .common import PROPERDOCS, config_option, find_configuration
from .output import print_line

if TYPE_CHECKING:
    from ..writer.discovery import FoundServer

_FIRST_PAGE = "first-text.md"
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
def init(config_file: str | None, *, yes: bool, endpoint: str) -> None:
    """Set a site up: find a source of texts, write the options and a first page.

    Finds Ollama, LM Studio and llama.cpp on this machine, and programs such as claude. The folder
    can be empty, or have a `mkdocs.yml`, to which the plugin is added.
    """
    path = find_configuration(config_file) or Path(config_file or "mkdocs.yml")
    if path.suffix == ".toml":
        raise click.ClickException(
            f"{path}: this command writes YAML only; add the options by hand, as the page on "
            "Zensical of the guide shows"
        )
    try:
        raw = path.read_bytes().decode("utf-8") if path.exists() else ""
        text = raw.replace("\r\n", "\n") if raw.strip() else _new_site(path)
        before = _nodes(text)
        if _has_plugin(before.get("plugins")):
            raise click.ClickException(f"{path}: has the plugin already")
        options = _choose(_find(endpoint), yes=yes)
        changed = add_plugin(text, options)
        ends = set(re.findall(r"\r\n|\r|\n", raw)) or {"\n"}
        if changed is None or ends not in ({"\n"}, {"\r\n"}):
            raise click.ClickException(_by_hand(path, before, options))
        _write(path, path, changed.replace("\n", ends.pop()))
        _write_pages(path, before)
    except yaml.YAMLError as error:
        raise click.ClickException(f"{path}: is not valid YAML; correct it first") from error
    except (OSError, UnicodeError) as error:
        raise click.ClickException(f"{path}: cannot be changed ({reason_of(error)})") from error
    here = f" -f {shlex.quote(config_file)}" if config_file else ""
    program = "properdocs" if path.name in PROPERDOCS else "mkdocs"
    print_line(f"Next: contentgen generate{here}, and then {program} serve{here}")


def _write(path: Path, configuration: Path, text: str) -> None:
    # A pull request could have put links there.
    replace_text(path, configuration.parent, text)
    print_line(f"Wrote {path}")


def _write_pages(path: Path, before: Mapping[str, yaml.Node]) -> None:
    """Write the first page, and a home page if there is none. Raises OSError."""
    named = before.get("docs_dir")
    docs = path.parent / (named.value if isinstance(named, yaml.ScalarNode) else "docs")
    home = {} if any(docs.glob("*.md")) else {docs / "index.md": "# Home\n"}
    pages = home | {docs / _FIRST_PAGE: _PAGE}
    for file, content in pages.items():
        if file.exists():
            print_line(f"{file} is there already; add a request to it")
        else:
            _write(file, path, content)
    if "nav" in before:
        print_line(f"Add {_FIRST_PAGE} to `nav` in {path}")


def _by_hand(path: Path, before: Mapping[str, yaml.Node], options: Mapping[str, object]) -> str:
    """Return what to do where other lines would have to change."""
    plugin = {"contentgen": dict(options)}
    block = yaml.safe_dump(plugin, default_flow_style=True, sort_keys=False, width=1000)
    line = block.strip()
    if isinstance(before.get("plugins"), yaml.MappingNode):
        line = line.removeprefix("{").removesuffix("}")
    return (
        f"{path}: the plugin cannot be added without touching other lines; add `{line}` to its "
        "`plugins` by hand"
    )


def _find(endpoint: str) -> Sequence[FoundServer]:
    import asyncio

    from ..writer.discovery import find_server, find_servers

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
    from ..writer.discovery import find_programs

    found = [(server, model) for server in servers for model in server.models][:_MAX_SHOWN]
    writers: list[dict[str, object]] = [
        {"base_url": "writer", "writer": {"model": model, "endpoint": server.endpoint}}
        for server, model in found
    ]
    names = [f"{model} ({server.name})" for server, model in found]
    for command in find_programs():
        writers.append({"base_url": "writer", "writer": {"command": command}})
        names.append(f"the program {command[0]}")
    choices: list[dict[str, object]] = [*writers, {"base_url": "sandbox"}]
    names.append("sample texts, no model")
    if yes:
        print_line(f"Texts are from: {names[0]}")
        return choices[0]
    print_line("What can write the texts:")
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


def add_plugin(text: str, options: Mapping[str, object]) -> str | None:
    """Return a configuration with the plugin, or None if other lines would have to change.

    All lines stay as they are. MkDocs has the plugin `search` only where no others are named.
    """
    before = _nodes(text)
    plugins = before.get("plugins")
    text += "\n" if text and not text.endswith("\n") else ""
    if plugins is None:
        if "INHERIT" in before:  # this list would take the place of the inherited one
            return None
        added = f"plugins:\n  - search\n{_indented(options, '  ')}"
        return text + added
    is_block = isinstance(plugins, yaml.SequenceNode) and not plugins.flow_style and plugins.value
    if not is_block or _has_plugin(plugins):
        return None
    lines = text.splitlines(keepends=True)
    end = plugins.end_mark.line
    while lines[end - 1].lstrip()[:1] in ("", "#"):
        end -= 1
    added = _indented(options, " " * plugins.start_mark.column)
    changed = "".join([*lines[:end], added, *lines[end:]])
    try:
        is_right = Counter(_scalars(changed)) == Counter([*_scalars(text), *_scalars(added)])
    except yaml.YAMLError:
        return None
    return changed if is_right else None


def _has_plugin(plugins: yaml.Node | None) -> bool:
    """Tell whether the plugin is in a list, or in a mapping."""
    names: list[yaml.Node] = []
    for item in plugins.value if isinstance(plugins, yaml.CollectionNode) else []:
        if isinstance(item, yaml.MappingNode):
            names += [key for key, _ in item.value]
        else:
            names.append(item[0] if isinstance(item, tuple) else item)
    return any(name.value == "contentgen" for name in names)


def _indented(options: Mapping[str, object], indent: str) -> str:
    block = yaml.safe_dump([{"contentgen": dict(options)}], sort_keys=False, allow_unicode=True)
    return "".join(f"{indent}{line}\n" for line in block.splitlines())


def _nodes(text: str) -> dict[str, yaml.Node]:
    """Return the values at the top level, without looking at their tags. Raises YAMLError."""
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    items = root.value if isinstance(root, yaml.MappingNode) else []
    return {str(key.value): value for key, value in items}


def _scalars(text: str) -> Iterator[str]:
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.ScalarEvent):
            yield event.value
