"""The repository keeps to its own rules: public names, imports, versions, workflows."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

PUBLIC = {
    "approval": "ApprovedText Header State approve approved_path difference read state_of to_lines"
    " write",
    "article": "close_heading_gaps demote_headings parse_article placeholder",
    "background": "Background REBUILD_PAUSE exit_on_sigterm",
    "disclosure": "LINES Provenance Review json_ld_script",
    "errors": "AccessDeniedError ApprovalError BudgetError ConfigurationError ContentgenError"
    " InvalidAnswerError MissingError NotSentError PendingError RejectedError ServiceError"
    " StoppedError StoreError UnknownOutcomeError UnreachableError UnsafeHTMLError",
    "generator": "Arguments Client Clock Connect FIRST_BACKOFF Generation Limits Outcome POLL"
    " Progress REFUSALS Result SPREAD check_budget generate look_up",
    "presentation": "Facts Presentation present",
    "progress": "LOG_PAUSE shown_progress",
    "request": "ArticleRequest BlogRequest KEY_FORMAT NewsRequest Problem REQUEST_TYPES Request"
    " Topic check_defaults front_matter_schema parse_front_matter",
    "sandbox": "LABEL MAX_BODY Message Receive Send app write_article",
    "sanitizer": "CLASSES MAX_CHARACTERS MAX_COPIES MAX_DEPTH MAX_TAGS VOID_TAGS sanitize",
    "service": "MAX_ANSWER MAY_BE_PAID SANDBOX ServiceClient",
    "store": "DATABASE DiskStore LEASE SCHEMES SharedStore Store StoredText shown_address",
    "stylesheet": "Colour adapted_classes harmless_style",
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
