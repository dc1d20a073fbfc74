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
    return load_text(folder, yaml.safe_dump(site), caplog)


def load_text(folder: Path, text: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Load a site with this `mkdocs.yml` with MkDocs, and return its warnings."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "mkdocs.yml").write_text(text)
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


SECRET = "Tk-5ecret.very~long/token+value="


@pytest.fixture
def _variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", SECRET)


@pytest.mark.usefixtures("_variable")
@pytest.mark.parametrize("options", CASES["a_secret_in_the_file"])
def test_a_secret_in_the_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, options: str
) -> None:
    """A warning names the option, not the secret, which the environment has too."""
    text = f"site_name: Site\nplugins:\n- contentgen:\n    {options}\n"
    (warning,) = load_text(tmp_path, text, caplog)
    assert "is in plain text" in warning
    assert "5ecret" not in warning


@pytest.mark.usefixtures("_variable")
@pytest.mark.parametrize("options", CASES["no_secret_in_the_file"])
def test_no_secret_in_the_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, options: str
) -> None:
    """Values of the environment, and such as are no secrets, are no reason for a warning."""
    text = f"site_name: Site\nplugins:\n- contentgen:\n    {options}\n"
    assert load_text(tmp_path, text, caplog) == []


def test_a_secret_in_zensical_toml(tmp_path: Path) -> None:
    """A `zensical.toml`, which has no `!ENV`, gets the same warning."""
    (tmp_path / "docs").mkdir()
    path = tmp_path / "zensical.toml"
    path.write_text(
        f"[project]\nsite_name = 'S'\n[project.plugins.contentgen]\ntoken = '{SECRET}'\n"
    )
    (warning,) = load_configuration(path).warnings
    assert warning.startswith(f"{path}: plugins.contentgen.token: token is in plain text")
    assert SECRET not in warning
