"""The command `contentgen init`."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import yaml

from ..files import reason_of, replace_text
from .common import PROPERDOCS, config_option, find_configuration
from .output import print_line, print_next

_FIRST_PAGE = "first-text.md"
_TOPIC = "Ten ways to speed up a docs build"
_IGNORED = (".cache", ".venv", "site")


@click.command()
@config_option
@click.option("--yes", is_flag=True, help="Ask nothing: take the first model, or the sandbox.")
@click.option("--endpoint", default="", metavar="URL", help="The API of a model server elsewhere.")
def init(config_file: str | None, *, yes: bool, endpoint: str) -> None:
    """Set a site up: find a source of texts, write the options and a first page.

    Finds Ollama, LM Studio and llama.cpp on this machine, and programs such as claude. The folder
    can be empty, or have a `mkdocs.yml`, to which the plugin is added.
    """
    found = find_configuration(config_file) or Path(config_file or "mkdocs.yml")
    path = Path(os.path.normpath(found))
    if path.suffix == ".toml":
        raise click.ClickException(
            f"{path}: this command writes YAML only; add the options by hand, as the page on "
            "Zensical of the guide shows"
        )
    try:
        text = _read(path)
        before = _nodes(text)
        if "contentgen" in _plugin_names(before.get("plugins")):
            raise click.ClickException(f"{path}: has the plugin already")
        options, topic = _ask(_find(endpoint), yes=yes)
        changed = add_plugin(_with_site(text, path), options)
        if changed is None:
            raise click.ClickException(
                f"{path}: the plugin cannot be added without touching other lines; add "
                f"`{_flow({'contentgen': options})}` to its `plugins` by hand"
            )
        _write_all(_files(path, before, topic) | {path: changed}, path.parent)
    except yaml.YAMLError as error:
        raise click.ClickException(f"{path}: is not valid YAML; correct it first") from error
    if "nav" in before:
        print_line(f"Add {_FIRST_PAGE} to `nav` in {path}")
    program = "properdocs" if path.name in PROPERDOCS else "mkdocs"
    print_next("contentgen generate")
    print_next("contentgen review", why="Then")
    print_next(f"{program} serve", why="Then")


def _read(path: Path) -> str:
    """Return a text whose last line has a line break, or an empty one without the file."""
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is not a file")
        text = path.read_bytes().decode() if path.exists() else ""
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{path}: cannot be changed ({reason_of(error)})") from error
    return text if text.endswith("\n") or not text else f"{text}\n"


def _files(path: Path, before: Mapping[str, yaml.Node], topic: str) -> dict[Path, str]:
    """Return the texts of the files to write beside the configuration."""
    named = before.get("docs_dir")
    name = named.value if isinstance(named, yaml.ScalarNode) else "docs"
    docs = Path(os.path.normpath(path.parent / name))
    request = {"type": "blog", "topic": topic, "format": "listicle", "length": "short"}
    front = yaml.safe_dump({"contentgen": request}, sort_keys=False, allow_unicode=True)
    first, ignore = docs / _FIRST_PAGE, path.parent / ".gitignore"
    files = {} if any(docs.glob("*.md")) else {docs / "index.md": "# Home\n"}
    if first.exists():
        print_line(f"{first} is there already; add a request to it")
    else:
        files[first] = f"---\n{front}---\n"
    ignored = _read(ignore)
    known = [line.strip("/ ") for line in ignored.splitlines()]
    if missing := [f"{it}/\n" for it in _IGNORED if it not in known]:
        files[ignore] = ignored + "".join(missing)
    return files


def _write_all(files: Mapping[Path, str], project: Path) -> None:
    """Write texts, or none of them. Raises ClickException."""
    written: dict[Path, bytes | None] = {}
    for path, text in files.items():
        # A pull request could have put links there.
        is_outside = os.path.relpath(path, project).startswith(os.pardir)
        try:
            before = path.read_bytes() if path.exists() else None
            replace_text(path, path.parent if is_outside else project, text)
        except (OSError, ValueError) as error:
            for other, former in written.items():
                other.unlink() if former is None else other.write_bytes(former)
            raise click.ClickException(
                f"{path}: cannot be written ({reason_of(error)}); nothing was changed"
            ) from error
        written[path] = before
    for path in files:
        print_line(f"Wrote {path}")


def _find(endpoint: str) -> dict[str, dict[str, object]]:
    """Return the options of what can write, by the names to show."""
    import asyncio

    from ..writer.discovery import find_models_elsewhere, find_writers

    if not endpoint:
        return asyncio.run(find_writers())
    key = os.environ.get("CONTENTGEN_MODEL_KEY", "")
    if models := asyncio.run(find_models_elsewhere(endpoint, key)):
        return models
    raise click.ClickException(
        f"{endpoint} lists no models; is it the address of an API such as https://host/v1, and "
        "is CONTENTGEN_MODEL_KEY set if it needs a key?"
    )


def _ask(writers: Mapping[str, object], *, yes: bool) -> tuple[Mapping[str, object], str]:
    """Return the options for the source of texts that the author chooses, and the first topic."""
    options: list[Mapping[str, object]] = [
        *({"base_url": "writer", "writer": it} for it in writers.values()),
        {"base_url": "sandbox"},
    ]
    names = [*writers, "sample texts, no model"]
    if yes:
        print_line(f"Texts are from: {names[0]}")
        return options[0], _TOPIC
    print_line("What can write the texts:")
    for number, name in enumerate(names, 1):
        print_line(f"{number}  {name}")
    try:
        chosen = click.prompt("Texts are from", default=1, type=click.IntRange(1, len(names)))
        topic = click.prompt("Topic of the first text", default=_TOPIC)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise click.ClickException(
            "nobody answers; use a terminal, or --yes to take the first"
        ) from None
    return options[chosen - 1], topic


def _with_site(text: str, path: Path) -> str:
    """Return a configuration, with the options of a new site if it has nothing but comments."""
    if any(line.lstrip()[:1] not in ("", "#") for line in text.splitlines()):
        return text
    name = path.absolute().parent.name.replace("-", " ").replace("_", " ").strip() or "docs"
    site: dict[str, object] = {"site_name": name.capitalize()}
    if importlib.util.find_spec("material"):
        site["theme"] = "material"
    return text + yaml.safe_dump(site, sort_keys=False, allow_unicode=True)


def add_plugin(text: str, options: Mapping[str, object]) -> str | None:
    """Return a configuration with the plugin, or None if other lines would have to change.

    All lines stay as they are, and the last one has a line break.
    """
    nodes = _nodes(text)
    plugin = {"contentgen": dict(options)}
    plugins = nodes.get("plugins")
    others = _plugin_names(plugins)
    if isinstance(plugins, yaml.CollectionNode):
        value = [plugin] if isinstance(plugins, yaml.SequenceNode) else plugin
        start = plugins.start_mark
        if plugins.flow_style:
            index, added = start.index + 1, _flow(value)[1:-1] + (", " if others else "")
        else:
            index, added = start.index - start.column, _block(value, " " * start.column)
    elif plugins or "INHERIT" in nodes:  # a new list would take the place of an inherited one
        return None
    else:
        # MkDocs has the plugin `search` only where no others are named.
        others = ["search"]
        index, added = len(text), "plugins:\n" + _block(["search", plugin], "  ")
    end = "\r\n" if "\r\n" in text else "\n"
    changed = text[:index] + added.replace("\n", end) + text[index:]
    try:
        names = _plugin_names(_nodes(changed).get("plugins"))
    except yaml.YAMLError:
        return None
    return changed if sorted(names) == sorted(["contentgen", *others]) else None


def _plugin_names(plugins: yaml.Node | None) -> list[str]:
    """Return the names in a list of plugins, or in a mapping."""
    names: list[yaml.Node] = []
    for item in plugins.value if isinstance(plugins, yaml.CollectionNode) else []:
        if isinstance(item, yaml.MappingNode):
            names += [key for key, _ in item.value]
        else:
            names.append(item[0] if isinstance(item, tuple) else item)
    return [str(name.value) for name in names]


def _nodes(text: str) -> dict[str, yaml.Node]:
    """Return the values at the top level, without looking at their tags. Raises YAMLError."""
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    items = root.value if isinstance(root, yaml.MappingNode) else []
    return {key.value: value for key, value in items if isinstance(key, yaml.ScalarNode)}


def _block(value: object, indent: str) -> str:
    block = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return "".join(f"{indent}{line}\n" for line in block.splitlines())


def _flow(value: object) -> str:
    flow = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000
    )
    return flow.strip()
