"""The packages that a site needs, as lines of a `requirements.txt` that other machines can use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, entry_points, packages_distributions
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

import msgspec
import yaml

from ..git import run_git, top_level
from .yaml_edits import plugin_names

OWN_NAME = "mkdocs-contentgen"

OWN_LINE = f"{OWN_NAME} @ git+ADDRESS"
"""The line that a person completes where no other machine can use what is installed here."""

_NEEDED_ANYWAY = (OWN_NAME, "mkdocs", "markdown")
"""What a line for this package installs."""


class _VersionControl(msgspec.Struct, frozen=True):
    """From which commit a package was installed."""

    vcs: str
    commit_id: str


class DirectUrl(msgspec.Struct, frozen=True):
    """What `direct_url.json` says: from where a package was installed, if not from an index."""

    url: str
    vcs_info: _VersionControl | None = None
    dir_info: dict[str, object] | None = None


@dataclass(frozen=True)
class SitePackages:
    """The packages of a site's theme, plugins and Markdown extensions."""

    names: list[str]
    unknown: list[str]
    """What else the site has, such as a plugin that no package in this environment has."""


def find_site_packages(nodes: Mapping[str, yaml.Node], program: str) -> SitePackages:
    """Return the packages that a configuration needs, as installed in this environment.

    This package and MkDocs are left out. `program` is what builds the site.
    """
    theme = _theme_name(nodes.get("theme"))
    found = {program}
    unknown = []
    if "INHERIT" in nodes:
        unknown.append("the configuration that is inherited")
    for name in plugin_names(nodes.get("plugins")):
        # A theme can have plugins of its own, such as `material/search`.
        packages = _packages("mkdocs.plugins", {name, f"{theme}/{name}"})
        if not packages:
            unknown.append(f"plugin '{name}'")
        found |= packages
    for name in plugin_names(nodes.get("markdown_extensions")):
        packages = _packages("markdown.extensions", {name}) or _packages_of_module(name)
        if not packages:
            unknown.append(f"Markdown extension '{name}'")
        found |= packages
    if theme:
        packages = _packages("mkdocs.themes", {theme})
        if not packages:
            unknown.append(f"theme '{theme}'")
        found |= packages
    names = []
    for package in sorted(found):
        if canonical_name(package) not in _NEEDED_ANYWAY:
            names.append(package)
    return SitePackages(names, unknown)


def _theme_name(theme: yaml.Node | None) -> str:
    """Return the name of the theme, or an empty string for MkDocs' own or one in a folder."""
    if isinstance(theme, yaml.MappingNode):
        for key, value in theme.value:
            if key.value == "name":
                return _theme_name(value)
    if isinstance(theme, yaml.ScalarNode) and theme.tag == "tag:yaml.org,2002:str":
        return str(theme.value)
    return ""


def _packages(group: str, names: Iterable[str]) -> set[str]:
    """Return the packages that register one of the names in a group of entry points."""
    found = set()
    for entry in entry_points(group=group):
        if entry.name in names and entry.dist:
            found.add(entry.dist.name)
    return found


def _packages_of_module(name: str) -> set[str]:
    """Return the packages that have a module, such as `pymdownx.superfences`."""
    top, _, _ = name.partition(".")
    return set(packages_distributions().get(top, ()))


def own_requirement(installed: Distribution | None = None) -> str:
    """Return the line that installs this package elsewhere as it was installed here.

    An empty string if it was installed from what only this machine has.
    """
    found = installed or distribution(OWN_NAME)
    said = found.read_text("direct_url.json")
    if not said:
        return OWN_NAME
    direct = msgspec.json.decode(said, type=DirectUrl)
    parts = urlsplit(direct.url)
    clone = ""
    if parts.scheme == "file" and direct.dir_info is not None:
        clone = _clone_address(Path(url2pathname(parts.path)))
    return requirement_from(direct, clone)


def _clone_address(folder: Path) -> str:
    """Return the address that a folder was cloned from, or an empty string."""
    top = top_level(folder)
    # Whatever else the folder is in is not the repository of this package.
    if top is None or top.resolve() != folder.resolve():
        return ""
    return (run_git(folder, "remote", "get-url", "origin") or "").strip()


def requirement_from(direct: DirectUrl, clone: str) -> str:
    """Return the line that installs this package as `direct` says, or an empty string.

    `clone` is the address that the folder was cloned from if it was installed from a folder. Only
    an address with https can be reached from elsewhere, and no password gets into the line.
    """
    if direct.vcs_info:
        address = _public_address(direct.url)
        source = f"{direct.vcs_info.vcs}+{address}@{direct.vcs_info.commit_id}"
    elif direct.dir_info is not None:
        address = _public_address(clone)
        source = f"git+{address}"
    else:
        address = _public_address(direct.url)
        source = address
    return f"{OWN_NAME} @ {source}" if address else ""


def _public_address(url: str) -> str:
    """Return an address with https without a password, or an empty string for any other."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme != "https" or not parts.hostname or re.search(r"\s", url):
        return ""
    _, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=host, query="", fragment=""))


def names_in(requirements: str) -> set[str]:
    """Return the packages that a `requirements.txt` names, in their canonical form."""
    found = re.findall(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirements, re.MULTILINE)
    return {canonical_name(name) for name in found}


def canonical_name(package: str) -> str:
    """Return the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", package).lower()
