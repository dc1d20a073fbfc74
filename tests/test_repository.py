"""The repository keeps to its own rules: public names, imports, versions, workflows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import mkdocs_contentgen

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())


PUBLIC = """
Article ArticleRequest BlogRequest ContentgenError DiskStore Foreground Limits NewsRequest Obtained
PageRequest Policy Presentation Problem Provenance Review ServiceClient SharedStore Text
obtain parse_front_matter present read_all
"""
"""What programs may use. Another name here is a promise, and one less breaks a promise."""


READERS = {"approved_dir.py", "file_to_write.py"}
"""The modules that decode approved files: the one that reads them, and the one that tries what is
to be written."""


def test_one_module_reads_approved_files() -> None:
    """Whoever wants the text of an approved file asks `approved_dir`, which knows the limits."""
    found = set()
    for path in (ROOT / "mkdocs_contentgen").rglob("*.py"):
        source = path.read_text("utf-8")
        for imported in re.findall(r"approved_file import (\([^)]*\)|.*)", source):
            if re.search(r"\b(decode|decode_file|check_whole)\b", imported):
                found.add(path.name)
    assert found == READERS


def test_one_module_runs_git() -> None:
    """Only there is it certain that a branch cannot change the answer."""
    found = []
    for path in (ROOT / "mkdocs_contentgen").rglob("*.py"):
        if re.search(r"[\[(]\"git\"[,\]]", path.read_text("utf-8")):
            found.append(path.relative_to(ROOT).as_posix())
    assert found == ["mkdocs_contentgen/git.py"]


def test_the_public_names() -> None:
    """The package offers what it promises, each name from where it is defined."""
    assert mkdocs_contentgen.__all__ == PUBLIC.split()
    for name in PUBLIC.split():
        assert getattr(mkdocs_contentgen, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mkdocs_contentgen.nothing  # noqa: B018


def test_imports() -> None:
    """Imports keep to the contracts in pyproject.toml."""
    ran = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_rooms_are_described() -> None:
    """CONTRIBUTING names each room once."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    package = ROOT / "mkdocs_contentgen"
    rooms = {f"{path.parent.relative_to(package)}/" for path in package.glob("*/**/__init__.py")}
    assert sorted(re.findall(r"^\| `([\w/]+/)` \|", text, re.MULTILINE)) == sorted(rooms)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows(path: Path) -> None:
    """Each says what it may do and for how long, and no tag that moves can change what it runs."""
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert "timeout-minutes" in job or "uses" in job
    for action in re.findall(r"uses: (.*)", text):
        pinned = re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
        assert pinned or action.startswith("./.github/workflows/"), action


EXTRAS = re.compile(r"(?:mkdocs-contentgen|\.whl\)|-e \"?\.)\[([\w,-]+)\]")
"""The extras in a command that installs the package."""


def test_extras_exist() -> None:
    """Whatever is told to be installed can be: pip only warns about an extra that is not there."""
    known = set(PYPROJECT["project"]["optional-dependencies"])
    named = dict[str, set[str]]()
    for pattern in (
        "*.md",
        ".ci/*",
        ".github/workflows/*",
        "deploy/**/*",
        "example_site/docs/*.md",
    ):
        for path in filter(Path.is_file, ROOT.glob(pattern)):
            for extras in EXTRAS.findall(path.read_text(encoding="utf-8")):
                named.setdefault(path.name, set()).update(extras.split(","))
    for path in (ROOT / "mkdocs_contentgen").rglob("*.py"):
        for extras in EXTRAS.findall(path.read_text(encoding="utf-8")):
            named.setdefault(path.name, set()).update(extras.split(","))
    assert {name: extras - known for name, extras in named.items() if extras - known} == {}
    # The list of what users get is complete.
    assert named["release.yml"] == known - {"example", "test"}


def test_only_publishing_has_an_identity() -> None:
    """One job may ask for a token that publishes, and a person has to let it."""
    (release,) = [path for path in WORKFLOWS if "id-token" in path.read_text(encoding="utf-8")]
    jobs = yaml.safe_load(release.read_text(encoding="utf-8"))["jobs"].values()
    (job,) = [job for job in jobs if "id-token" in job.get("permissions", {})]
    assert job["permissions"] == {"id-token": "write"}
    assert job["environment"] == "release"
    assert not any("run" in step for step in job["steps"])


def test_a_release_is_checked_and_described(tmp_path: Path) -> None:
    """Only the tag of this version passes, once the changelog has it; its section is the notes."""
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    version = PYPROJECT["project"]["version"]
    check = [step["run"] for step in jobs["version"]["steps"] if "run" in step]
    (notes,) = (it["run"] for it in jobs["announce"]["steps"] if "CHANGELOG.md" in str(it))

    def passes(tag: str, command: str) -> bool:
        environment = {**os.environ, "GITHUB_REF_NAME": tag}
        ran = subprocess.run(["bash", "-ec", command], cwd=tmp_path, env=environment, check=False)
        return ran.returncode == 0

    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\n- New\n\n## [0.0.1] - 2026-01-01\n")
    assert [passes(f"v{version}", it) for it in check] == [True, False]
    dated = f"## [Unreleased]\n\n## [{version}] - 2026-12-01\n\n- New\n\n## [0.0.1] - 2026-01-01\n"
    (tmp_path / "CHANGELOG.md").write_text(dated)
    assert all(passes(f"v{version}", it) for it in [*check, notes])
    assert (tmp_path / "notes.md").read_text().strip() == "- New"
    assert [passes("v9.9.9", it) for it in check] == [False, False]


def test_python_versions() -> None:
    """What is promised is tested: classifiers, matrix and `requires-python` are the same."""
    classifiers = " ".join(PYPROJECT["project"]["classifiers"])
    promised = re.findall(r"Python :: (3\.\d+)", classifiers)
    tests = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    matrix = tests["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert matrix["include"] == [{"python": promised[0], "resolution": "lowest-direct"}]
    assert PYPROJECT["project"]["requires-python"] == f">={promised[0]}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{promised[0].replace('.', '')}"
