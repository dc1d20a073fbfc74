"""The options of the plugin, as MkDocs and Zensical read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from golden_file import cases
from mkdocs.config import load_config

from mkdocs_contentgen.zensical.configuration import load_configuration

CASES = cases("plugin_options")


def load(folder: Path, options: object, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Load a site with these options with MkDocs, and return its warnings."""
    site = {"site_name": "Site", "plugins": [{"contentgen": options}]}
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(site))
    load_config(str(folder / "mkdocs.yml"))
    return caplog.messages


@pytest.mark.parametrize(("name", "problem"), CASES["an_unknown_option"])
def test_an_unknown_option(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str | int, problem: str
) -> None:
    """A warning suggests the option with the nearest name, whichever program reads the file."""
    (warning,) = load(tmp_path, {name: "sandbox"}, caplog)
    assert f"Plugin 'contentgen' option '{name}': {problem}" in warning
    path = tmp_path / "mkdocs.yml"
    (warning,) = load_configuration(path).warnings
    assert warning.startswith(f"{path}: plugins.contentgen.{name}: {problem}")
    path = tmp_path / "zensical.toml"
    option = f"{json.dumps(str(name))} = 'sandbox'"
    path.write_text(f"[project]\nsite_name = 'S'\n[project.plugins.contentgen]\n{option}\n")
    (warning,) = load_configuration(path).warnings
    assert warning.startswith(f"{path}: plugins.contentgen.{name}: {problem}")


def test_an_unknown_option_is_escaped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A name with control characters, or a command for GitHub's log, is shown escaped."""
    (warning,) = load(tmp_path, {"x\n::error::\x1b[2J": 1}, caplog)
    assert "\n" not in warning
    assert "\x1b" not in warning
