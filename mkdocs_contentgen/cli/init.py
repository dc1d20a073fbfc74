"""The command `contentgen init`."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import yaml

from ..files import reason_of, replace_text
from .common import config_option, find_config_file, program_for
from .output import print_line, print_next
from .site_packages import (
    OWN_LINE,
    OWN_NAME,
    canonical_name,
    find_site_packages,
    names_in,
    own_requirement,
)
from .yaml_edits import add_plugin, change_writer, flow, plugin_names, read_nodes

_FIRST_PAGE = "first-text.md"
_REQUIREMENTS = "requirements.txt"
_TOPIC = "Ten ways to speed up a docs build"
_IGNORED = (".cache", ".venv", "site")
"""Folders that nobody commits."""

_ZENSICAL_EXTENSIONS = (
    "admonition",
    "attr_list",
    "contentgen",
    "def_list",
    "footnotes",
    "md_in_html",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.superfences",
)
"""The Markdown extensions of a new site, which replace those that Zensical has by default."""

AGENTS = """\
Texts of this site are requested in front matter (`contentgen:`). To write those that are missing:
1. `contentgen status --json`: take each page whose `state` is `missing`.
2. `contentgen prompt PAGE`: follow it, cite its sources as `[1]`, and write Markdown to a file.
3. `contentgen import PAGE FILE --model YOUR-NAME`: correct what it reports, at most twice.
Never approve a text, and never edit files in `contentgen/`: a person reviews them with
`contentgen review`.
"""


@click.command()
@config_option
@click.option("--yes", is_flag=True, help="Ask nothing: take the first model, or the sandbox.")
@click.option("--endpoint", default="", metavar="URL", help="The API of a model server elsewhere.")
@click.option("--agents", is_flag=True, help="Say in AGENTS.md how coding agents write texts.")
def init(config_file: str | None, *, yes: bool, endpoint: str, agents: bool) -> None:
    """Set a site up: find a source of texts, write the options and a first page.

    Finds Ollama, LM Studio and llama.cpp on this machine, and programs such as claude. The folder
    can be empty, or have a `mkdocs.yml`, to which the plugin is added. The packages of the site go
    to `requirements.txt`, which CI installs. If the site has the plugin already, this changes who
    writes. A new site is one of Zensical if that is installed and the theme Material is not.
    """
    found = find_config_file(config_file) or Path(config_file or "mkdocs.yml")
    path = Path(os.path.normpath(found))
    if path.suffix == ".toml":
        raise click.ClickException(
            f"{path}: this command writes YAML only; add the options by hand, as the page on "
            "Zensical of the guide shows"
        )
    try:
        text = _read(path)
        before = read_nodes(text)
        has_plugin = "contentgen" in plugin_names(before.get("plugins"))
        options = _ask_who_writes(_find_writers(endpoint), yes=yes)
        site = _with_site(text, path)
        zensical = "contentgen" in plugin_names(read_nodes(site).get("markdown_extensions"))
        if has_plugin:
            files: dict[Path, str] = {}
            changed = change_writer(text, options)
        else:
            files = _first_files(path, before, _ask_topic(yes=yes))
            files |= _ignore_file(path.parent)
            changed = add_plugin(site, options)
        if changed is None:
            raise click.ClickException(_by_hand(path, options, has_plugin=has_plugin))
        steps: list[str] = []
        if not has_plugin:
            requirements, steps = _requirements_file(path, changed, zensical=zensical)
            files |= requirements
        files |= _agents_file(path.parent, agents=agents, yes=yes)
        _write_all(files | {path: changed}, path.parent)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if mark:
            place = f"{path}:{mark.line + 1}"
        else:
            place = str(path)
        raise click.ClickException(f"{place}: is not valid YAML; correct it first") from error
    for step in steps:
        print_line(step)
    if "nav" in before and not has_plugin:
        print_line(f"Add {_FIRST_PAGE} to `nav` in {path}")
    print_next("contentgen generate")
    print_next("contentgen review", why="Then")
    program = "contentgen zensical" if zensical else program_for(path)
    print_next(f"{program} serve", why="Then")


def _by_hand(path: Path, options: Mapping[str, object], *, has_plugin: bool) -> str:
    """Return what the author is to write. What a plugin has already is not to be lost."""
    if has_plugin:
        lines = f"`{flow(options)}` into the options of `contentgen`, and keep the others,"
    else:
        lines = f"`{flow({'contentgen': options})}` into its `plugins`"
    return f"{path}: this cannot be done without touching other lines; write {lines} by hand"


def _read(path: Path) -> str:
    """Return a text whose last line has a line break, or an empty one without the file."""
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is not a file")
        text = ""
        if path.exists():
            text = path.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{path}: cannot be changed ({reason_of(error)})") from error
    if text and not text.endswith("\n"):
        text += "\n"
    return text


def _first_files(path: Path, before: Mapping[str, yaml.Node], topic: str) -> dict[Path, str]:
    """Return the texts of the files to write beside the configuration at `path`.

    `before` has the values in the configuration as it is.
    """
    named = before.get("docs_dir")
    name = named.value if isinstance(named, yaml.ScalarNode) else "docs"
    docs = Path(os.path.normpath(path.parent / name))
    request = {"type": "blog", "topic": topic, "format": "listicle", "length": "short"}
    front = yaml.safe_dump({"contentgen": request}, sort_keys=False, allow_unicode=True)
    files = {}
    if not any(docs.glob("*.md")):
        files[docs / "index.md"] = "# Home\n"
    page = docs / _FIRST_PAGE
    if page.exists():
        print_line(f"{page} is there already; add a request to it")
    else:
        files[page] = f"---\n{front}---\n"
    return files


def _ignore_file(project: Path) -> dict[Path, str]:
    """Return the text of .gitignore with the folders that nobody commits, if some are missing."""
    path = project / ".gitignore"
    text = _read(path)
    known = [line.strip("/ ") for line in text.splitlines()]
    missing = []
    for folder in _IGNORED:
        if folder not in known:
            missing.append(f"{folder}/\n")
    if not missing:
        return {}
    return {path: text + "".join(missing)}


def _requirements_file(
    path: Path, text: str, *, zensical: bool
) -> tuple[dict[Path, str], list[str]]:
    """Return the text of requirements.txt, which CI installs, and what the author is to do.

    A file that is there already is left to the author. `text` is the new configuration at `path`.
    """
    packages = find_site_packages(read_nodes(text), program_for(path))
    file = path.parent / _REQUIREMENTS
    known = names_in(_read(file))
    own = own_requirement()
    to_complete = OWN_LINE
    if zensical:
        own = _with_zensical(own)
        to_complete = _with_zensical(OWN_LINE)
    files = {}
    steps = []
    if file.exists():
        for package in packages.names:
            if canonical_name(package) not in known:
                steps.append(f"Add to {file}: {package}")
        if OWN_NAME not in known:
            steps.append(f"Add to {file}: {own or to_complete}")
    else:
        lines = [*packages.names, own or f"# {to_complete}"]
        files[file] = "".join(f"{line}\n" for line in lines)
        for name in packages.unknown:
            steps.append(f"Add to {file}: the package of {name}, which is not known here")
    if not own and OWN_NAME not in known:
        steps.append(
            f"Complete the line `{to_complete}` in {file}: what is installed here is on this "
            "machine only, and CI needs the address of a repository"
        )
    return files, steps


def _with_zensical(requirement: str) -> str:
    """Return a line for this package that installs Zensical as well."""
    return requirement.replace(OWN_NAME, f"{OWN_NAME}[zensical]", 1)


def _write_all(files: Mapping[Path, str], project: Path) -> None:
    """Write texts, or none of them. Raises ClickException."""
    written: dict[Path, bytes | None] = {}  # with what was there before
    for path, text in files.items():
        # A pull request could have put links there.
        is_outside = os.path.relpath(path, project).startswith(os.pardir)
        try:
            before = path.read_bytes() if path.exists() else None
            replace_text(path, path.parent if is_outside else project, text)
        except (OSError, ValueError) as error:
            _restore(written)
            raise click.ClickException(
                f"{path}: cannot be written ({reason_of(error)}); nothing was changed"
            ) from error
        written[path] = before
    for path in files:
        print_line(f"Wrote {path}")


def _restore(files: Mapping[Path, bytes | None]) -> None:
    """Give files the contents that they had, and delete those that were not there."""
    for path, content in files.items():
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)


def _find_writers(endpoint: str) -> dict[str, dict[str, object]]:
    """Return the options of what can write, by the names to show."""
    import asyncio

    from ..writer.models.discovery import find_models_elsewhere, find_writers

    if not endpoint:
        return asyncio.run(find_writers())
    key = os.environ.get("CONTENTGEN_MODEL_KEY", "")
    return asyncio.run(find_models_elsewhere(endpoint, key))


def _ask_who_writes(writers: Mapping[str, object], *, yes: bool) -> Mapping[str, object]:
    """Return the options for the source of texts that the author chooses."""
    options: list[Mapping[str, object]] = []
    for writer in writers.values():
        options.append({"base_url": "writer", "writer": writer})
    options.append({"base_url": "sandbox"})
    names = [*writers, "sample texts, no model"]
    if yes:
        print_line(f"Texts are from: {names[0]}")
        return options[0]
    print_line("What can write the texts:")
    for number, name in enumerate(names, 1):
        print_line(f"{number}  {name}")
    with _explaining_no_answer():
        chosen = click.prompt("Texts are from", default=1, type=click.IntRange(1, len(names)))
    return options[chosen - 1]


def _ask_topic(*, yes: bool) -> str:
    """Return the topic of the first text that the author chooses."""
    if yes:
        return _TOPIC
    with _explaining_no_answer():
        topic: str = click.prompt("Topic of the first text", default=_TOPIC)
    return topic


@contextmanager
def _explaining_no_answer() -> Iterator[None]:
    """Say what to do if a question cannot be answered."""
    try:
        yield
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise click.ClickException(
            "nobody answers; use a terminal, or --yes to take the first"
        ) from None


def _agents_file(project: Path, *, agents: bool, yes: bool) -> dict[Path, str]:
    """Return the text of AGENTS.md with the paragraph for coding agents, if it is wanted."""
    path = project / "AGENTS.md"
    text = _read(path)
    if "contentgen prompt" in text:
        return {}
    if not (agents or yes) and sys.stdin.isatty():
        agents = click.confirm(f"Say in {path} how coding agents write texts?", default=False)
    if not agents:
        return {}
    return {path: f"{text}\n{AGENTS}" if text else AGENTS}


def _with_site(text: str, path: Path) -> str:
    """Return a configuration, with the options of a new site if it has nothing but comments.

    Without the theme Material, the new site is one of Zensical, if that is installed.
    """
    if any(line.lstrip()[:1] not in ("", "#") for line in text.splitlines()):
        return text
    name = path.absolute().parent.name.replace("-", " ").replace("_", " ").strip() or "docs"
    site = new_site(
        name.capitalize(),
        has_material=importlib.util.find_spec("material") is not None,
        has_zensical=importlib.util.find_spec("zensical") is not None,
    )
    return text + yaml.safe_dump(site, sort_keys=False, allow_unicode=True)


def new_site(name: str, *, has_material: bool, has_zensical: bool) -> dict[str, object]:
    """Return the options of a new site, by what is installed."""
    site: dict[str, object] = {"site_name": name}
    if has_material:
        site["theme"] = "material"
    elif has_zensical:
        site["markdown_extensions"] = [*_ZENSICAL_EXTENSIONS]
    return site
