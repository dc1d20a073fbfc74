"""The options of the plugin, as MkDocs and Zensical read them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from mkdocs.config import load_config

from mkdocs_contentgen.zensical.configuration import load_zensical_configuration


def test_an_unknown_option(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A warning names it, whichever program reads the file."""
    (tmp_path / "docs").mkdir()
    site = {"site_name": "Site", "plugins": [{"contentgen": {"base_ur": "sandbox"}}]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(site))
    load_config(str(tmp_path / "mkdocs.yml"))
    toml = "[project]\nsite_name = 'S'\n[project.plugins.contentgen]\nbase_ur = 'sandbox'\n"
    (tmp_path / "zensical.toml").write_text(toml)
    warnings = [*caplog.messages]
    for name in ("mkdocs.yml", "zensical.toml"):
        warnings += load_zensical_configuration(tmp_path / name).warnings
    assert len(warnings) == 3
    assert all("base_ur" in warning for warning in warnings)
