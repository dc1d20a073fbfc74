"""The wheel: it has all that it needs, and says on the package index what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest
from readme_renderer.markdown import render

import mkdocs_contentgen

pytestmark = pytest.mark.system

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif("CI" not in os.environ, reason="developers test what they edit")
def test_what_is_tested_is_installed() -> None:
    """In CI, the tests run against an installed wheel, not against the source beside them."""
    assert not Path(mkdocs_contentgen.__file__).is_relative_to(ROOT)


def test_the_wheel_works_alone(wheel: Path, tmp_path: Path) -> None:
    """Installed with nothing but what it declares, it builds the README's example, as in an image.

    There, nobody has a home or a language, and no package of the tests is there.
    """
    venv.create(tmp_path / "venv")
    programs = tmp_path / "venv/bin"
    page = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)[0]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(page)
    options = "plugins: [search, {contentgen: {base_url: sandbox}}]"
    (tmp_path / "mkdocs.yml").write_text(f"site_name: Docs\n{options}\n")

    def run(*command: object) -> str:
        ran = subprocess.run(
            [str(part) for part in command],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout
        return ran.stdout

    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    subprocess.run([*pip, "install", "--quiet", "--no-compile", wheel], check=True)
    assert "1 generated" in run(programs / "mkdocs", "build", "--strict")
    assert "Ten ways to speed up a docs build" in (tmp_path / "site/index.html").read_text()
    assert "draft" in run(programs / "contentgen", "status")


def test_the_wheel_is_typed_and_described(wheel: Path) -> None:
    """Its types can be used, and on the package index no picture is missing and no link broken."""
    with ZipFile(wheel) as files:
        names = files.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        described = message_from_bytes(files.read(metadata))
    assert "mkdocs_contentgen/py.typed" in names
    page = render(str(described.get_payload()))
    assert page is not None
    assert "In your site" in page
    links = re.findall(r'(?:href|src|srcset)="([^"]*)"', page)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
