"""The repository keeps to its own rules: public names, imports, versions, workflows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())

PUBLIC = {
    "approval": "ApprovedFiles ApprovedText Header MAX_HEADER MAX_NAME State approve approved_path"
    " name_problem read read_all state_of to_lines write",
    "article": "being_generated close_heading_gaps limit_nesting parse_article placeholder"
    " set_title_level",
    "background": "Background LONGEST_REBUILD_PAUSE REBUILD_PAUSE TICK UNCHANGED exit_on_sigterm",
    "disclosure": "LINES Provenance Review json_ld_script",
    "display": "hidden_character shown visible without_commands",
    "errors": "AccessDeniedError ApprovalError BudgetError ConfigurationError ContentgenError"
    " InvalidAnswerError MissingError NotSentError PendingError RejectedError ServiceError"
    " StoppedError StoreError UnknownOutcomeError UnreachableError UnsafeHTMLError",
    "files": "find_link read_text replace_text",
    "generator": "Client Clock Connect FIRST_BACKOFF Generation LONGEST_POLL LOOK Limits POLL"
    " Progress REFUSALS SPACING WAITING generate",
    "lookup": "Outcome check_budget load_usable look_up",
    "plaintext": "LONGEST plain_text",
    "presentation": "Facts Presentation present",
    "progress": "LOG_PAUSE shown_progress",
    "request": "ArticleRequest BlogRequest KEY_FORMAT NewsRequest Problem REQUEST_TYPES Request"
    " check_defaults check_inherited choices field_types front_matter_schema parse_front_matter"
    " wrong_fields",
    "sandbox": "LABEL MAX_BODY Message Receive Send app write_article",
    "sanitizer": "CLASSES MAX_CHARACTERS MAX_COPIES MAX_DEPTH MAX_ENTITIES MAX_TAGS VOID_TAGS"
    " sanitize",
    "service": "MAX_ANSWER MAY_BE_PAID SANDBOX ServiceClient",
    "store": "DATABASE DiskStore LEASE SCHEMES SharedStore Store StoredText shown_address",
    "stylesheet": "Colour adapted_classes harmless_style without_relative_size",
    "typos": "NAME wrong_marker wrong_requests",
}
"""What each module of the core offers to programs that use it without MkDocs."""


def public_names(module: str) -> list[str]:
    """Return what `module` defines without a leading underscore, or lists in its `__all__`."""
    spec = find_spec(f"mkdocs_contentgen.{module}")
    assert spec is not None
    assert spec.origin is not None
    names = set()
    for statement in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name("__all__")], value=value):
                return sorted(ast.literal_eval(value))
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.AsyncFunctionDef(name=name) | ast.AnnAssign(target=ast.Name(name)):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return sorted(name for name in names if not name.startswith("_"))


def test_the_public_names() -> None:
    """Adding a name to the core, or removing one, is a decision that shows in this file."""
    assert {module: public_names(module) for module in PUBLIC} == {
        module: names.split() for module, names in PUBLIC.items()
    }


def test_the_core_has_public_names() -> None:
    """The modules of that list are those that must work without MkDocs."""
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    (core,) = [c for c in contracts if c["name"] == "The core works without MkDocs"]
    assert core["source_modules"] == [f"mkdocs_contentgen.{module}" for module in sorted(PUBLIC)]


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


def test_the_order_of_the_modules() -> None:
    """CONTRIBUTING has each module once, and each below all that it imports."""
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
    order = [name for row in rows for name in re.findall(r"\w+", row)]
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    (layers,) = [c["layers"] for c in contracts if c["type"] == "layers"]
    level = {name: -i for i, layer in enumerate(layers) for name in layer.split(" | ")}
    assert set(order) == level.keys() - {"__main__"}
    assert [level[name] for name in order] == sorted(level[name] for name in order)


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


def test_only_publishing_has_an_identity() -> None:
    """One job may ask for a token that publishes, and a person has to let it."""
    (release,) = [path for path in WORKFLOWS if "id-token" in path.read_text(encoding="utf-8")]
    jobs = yaml.safe_load(release.read_text(encoding="utf-8"))["jobs"].values()
    (job,) = [job for job in jobs if "id-token" in job.get("permissions", {})]
    assert job["permissions"] == {"id-token": "write"}
    assert job["environment"] == "release"
    assert not any("run" in step for step in job["steps"])


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


def test_the_changelog() -> None:
    """It is in the form of Keep a Changelog, newest first, and has a place for this version."""
    dated = r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d"
    titles = re.findall(r"^## (.*)", CHANGELOG, re.MULTILINE)
    released = [re.fullmatch(dated, title) for title in titles if title != "[Unreleased]"]
    assert all(released)
    assert titles.count("[Unreleased]") <= 1
    assert "[Unreleased]" not in titles[1:]
    versions = [tuple(map(int, match[1].split("."))) for match in released if match]
    assert versions == sorted(set(versions), reverse=True)
    version = PYPROJECT["project"]["version"]
    assert f"## [{version}] - " in CHANGELOG or "## [Unreleased]" in CHANGELOG
    kinds = set(re.findall(r"^### (.*)", CHANGELOG, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
