"""Read the command line of Zensical, and the configuration of a site that it builds.

Neither Zensical nor the theme and the plugins of the site are needed for that.
"""

from __future__ import annotations

import tomllib
from argparse import ArgumentError, ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkdocs.config import config_options as c
from mkdocs.config.base import BaseConfigOption
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import MkDocsException
from mkdocs.utils.meta import SafeLoader  # type: ignore[attr-defined]  # libyaml's, if there is one
from mkdocs.utils.yaml import get_yaml_loader, yaml_load

from ..display import quoted
from ..errors import ConfigurationError
from ..site.front_matter import NAME
from ..site.options import ContentgenConfig, load_values, refuse_extension_options
from ..site.site import Site

CONFIGURATIONS = ("zensical.toml", "mkdocs.yml", "mkdocs.yaml")
"""The configuration files that Zensical looks for, in this order."""

_SETTINGS = (
    "site_name",
    "site_url",
    "docs_dir",
    "site_dir",
    "use_directory_urls",
    "exclude_docs",
    "draft_docs",
)
"""The settings that Zensical shares with MkDocs, and that are needed here."""

_DIRECTORIES: Mapping[str, BaseConfigOption[Any]] = {  # as a schema of MkDocs has them
    "docs_dir": c.Dir(default="docs", exists=True),
    "site_dir": c.Dir(default="site"),
}
"""Unlike those of MkDocs, they can contain the configuration and each other."""


def plugin_options(site: Site, name: str) -> list[Mapping[str, object]]:
    """Return the options of a plugin of Material, for each time that it is enabled."""
    found = []
    for plugin, options in site.plugins:
        is_enabled = options.get("enabled", True) is not False
        if is_enabled and plugin in (name, f"material/{name}"):
            found.append(options)
    return found


def load_zensical_configuration(path: Path) -> Site:
    """Return the site of a configuration file, without its pages. Raises ConfigurationError."""
    values = _read(path)
    plugins = _named(values.get("plugins"))
    extensions = dict(_named(values.get("markdown_extensions")))
    config = MkDocsConfig(str(path))
    # Validating the others would import their extensions and themes, though nothing needs them.
    needed = []
    for name, option in config._schema:
        if name in _SETTINGS or name == "plugins":
            needed.append((name, _DIRECTORIES.get(name, option)))
    config._schema = tuple(needed)
    settings: dict[str, object] = {"plugins": []}
    for name in _SETTINGS:
        if values.get(name) is not None:
            settings[name] = values[name]
    warnings = load_values(config, settings, f"{path}: ")
    config.markdown_extensions = list(extensions)
    config.nav = values.get("nav")
    options = ContentgenConfig(str(path))
    own = dict(plugins).get(NAME, {})
    warnings += load_values(options, own, f"{path}: plugins.{NAME}.")
    refuse_extension_options(extensions, str(path))
    theme = values.get("theme")
    return Site(
        config=config,
        options=options,
        generator="zensical",
        theme=theme if isinstance(theme, dict) else {},
        plugins=plugins,
        warnings=warnings,
    )


def is_for_zensical(path: Path) -> bool:
    """Tell whether only Zensical can build a site.

    MkDocs lacks its theme or one of its plugins, cannot run an extension of Zensical, or takes no
    pages from beside the configuration. Raises ConfigurationError if the file cannot be read.
    """
    if path.suffix == ".toml":
        return True
    values = _read(path)
    extensions = dict(_named(values.get("markdown_extensions")))
    if NAME not in extensions:
        return False
    docs = path.parent / str(values.get("docs_dir") or "docs")
    if docs.resolve() == path.parent.resolve():
        return True
    if any(name.startswith("zensical.") for name in extensions):
        return True
    return _has_unknown_theme_or_plugin(values)


def _has_unknown_theme_or_plugin(values: Mapping[str, object]) -> bool:
    """Tell whether a configuration names a theme or a plugin that MkDocs does not find here."""
    from mkdocs.plugins import get_plugins
    from mkdocs.utils import get_theme_names

    theme = values.get("theme") or "mkdocs"
    if isinstance(theme, dict):
        theme = theme.get("name", "mkdocs")
    if theme is not None and str(theme) not in get_theme_names():
        return True
    installed = get_plugins()
    for plugin, _ in _named(values.get("plugins")):
        if plugin not in installed and f"{theme}/{plugin}" not in installed:
            return True
    return False


class _Loader(get_yaml_loader(SafeLoader)):  # type: ignore[misc]  # made by a function
    """Reads what MkDocs reads, without the Python objects that tags name: None takes their place.

    They belong to extensions, and some to packages that Zensical does not need.
    """


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)


def _read(path: Path) -> Mapping[str, object]:
    try:
        if path.suffix == ".toml":
            with path.open("rb") as file:
                values = tomllib.load(file)
            values = values.get("project", values)
        else:
            with path.open("rb") as file:
                values = yaml_load(file, _Loader)
    except RecursionError as error:
        raise ConfigurationError(f"{path}: cannot be read (INHERIT leads back to it)") from error
    except (OSError, UnicodeError, tomllib.TOMLDecodeError, MkDocsException) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ConfigurationError(f"{path}: cannot be read ({reason})") from error
    if not isinstance(values, dict):
        raise ConfigurationError(f"{path}: is not a mapping of settings")
    return values


def _named(listed: object) -> list[tuple[str, Mapping[str, object]]]:
    """Return name and options of plugins or extensions, which are a list or a mapping.

    Raises ConfigurationError if those of this plugin are not a mapping.
    """
    named: list[tuple[str, Mapping[str, object]]] = []
    for name, options in _pairs(listed):
        if isinstance(options, dict):
            named.append((str(name), options))
        elif name == NAME and options is not None:
            raise ConfigurationError(
                f"plugins.{NAME}: expected a mapping of options, found {quoted(options)}"
            )
        else:
            named.append((str(name), {}))
    return named


def _pairs(listed: object) -> Iterator[tuple[object, object]]:
    """Yield names and what is given for them, which is None for a mere name."""
    if isinstance(listed, dict):
        yield from listed.items()
    elif isinstance(listed, list):
        for item in listed:
            if isinstance(item, dict):
                yield from item.items()
            else:
                yield item, None


@dataclass
class Invocation:
    """How Zensical was started."""

    command: str = ""
    config_file: str | None = None
    """The value of `--config-file`."""

    strict: bool = False
    clean: bool = False


def read_arguments(arguments: Sequence[str]) -> Invocation:
    """Return what arguments of Zensical, such as `build -f docs.yml`, say."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("command", nargs="?", default="")
    parser.add_argument("-f", "--config-file", nargs="?")
    parser.add_argument("-a", "--dev-addr", nargs="?")
    for option in ("open", "strict", "clean"):
        parser.add_argument(f"-{option[0]}", f"--{option}", action="store_true")
    invocation = Invocation()
    with suppress(ArgumentError):  # Zensical says what is wrong
        parser.parse_known_args(arguments, invocation)
    return invocation


def find_configuration(named: str | None, directory: Path) -> Path:
    """Return the configuration file: the one that is named, or else one in the directory.

    Raises ConfigurationError if there is none.
    """
    names = [named] if named else CONFIGURATIONS
    for name in names:
        path = directory / name
        if path.is_file():
            return path.absolute()
    if named:
        raise ConfigurationError(f"{quoted(named)}: there is no such configuration file")
    raise ConfigurationError(
        f"there is no {' or '.join(CONFIGURATIONS[:2])} here; "
        "go to the directory of the site, or name its configuration with -f FILE"
    )
