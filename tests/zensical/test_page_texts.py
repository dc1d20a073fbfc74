"""What `zensical build` alone prints about the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkdocs_contentgen.zensical.configuration import load_zensical_configuration
from mkdocs_contentgen.zensical.page_texts import SiteTexts


@pytest.mark.parametrize("has_command", [False, True])
def test_warnings_about_the_configuration(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    has_command: bool,
) -> None:
    """An unknown option is reported once: by Zensical, or else by `contentgen zensical build`."""
    if has_command:
        monkeypatch.setenv("_CONTENTGEN_ZENSICAL", str(tmp_path))
    (tmp_path / "docs").mkdir()
    path = tmp_path / "zensical.toml"
    path.write_text("[project]\nsite_name = 'S'\n[project.plugins.contentgen]\nstyle = 'keep'\n")
    SiteTexts(load_zensical_configuration(path), serves=False)
    printed = capsys.readouterr().err
    assert ("contentgen.style: " in printed) is not has_command
