"""Run jobs of GitHub Actions and GitLab on this machine, as far as the recipes of the guide go.

Commands are run as they stand, by bash. Actions of GitHub are replaced by what they do for a job: a
checkout is a clone, a cache is a folder that outlives the job. Our own action is run from its file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
OWN_ACTION = "OWNER/mkdocs-contentgen"

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*')|(?P<name>[a-z_]\w*(?:\.\w+)+)"
    r"|(?P<status>(?:always|success)\(\))|(?P<sign>&&|\|\||==|!=))"
)
_SIGNS = {"&&": " and ", "||": " or ", "==": " == ", "!=": " != "}

Step = Mapping[str, Any]
"""A step of a job as it stands in a file."""


@dataclass
class Ran:
    """What became of a job."""

    code: int = 0
    output: str = ""


@dataclass
class Machine:
    """Runs jobs for a repository, each in a folder of its own, with the programs of an environment.

    `contexts` has what expressions such as `${{ secrets.KEY }}` can name.
    """

    root: Path
    remote: Path
    programs: Path
    environment: dict[str, str]
    contexts: dict[str, dict[str, Any]] = field(default_factory=dict)
    workspace: Path = Path()
    _jobs: int = 0
    _caches: list[str] = field(default_factory=list)

    def run_github(self, job: Mapping[str, Any]) -> Ran:
        """Run the steps of a job on GitHub until one fails."""
        ran = self._start()
        environment = self._expand_all(job.get("env", {}), self.contexts)
        self._run_steps(job["steps"], environment, self.contexts, ran)
        if ran.code == 0:
            self._save(self._caches)
        return ran

    def run_gitlab(self, job: Mapping[str, Any], variables: Mapping[str, str]) -> Ran:
        """Run the script of a job on GitLab, whose project has these variables."""
        ran = self._start()
        settings = {
            **variables,
            **{key: str(value) for key, value in job.get("variables", {}).items()},
        }
        depth = settings.get("GIT_DEPTH", "20")
        self._clone([] if depth == "0" else ["--depth", depth])
        cache = job.get("cache", {})
        paths = cache.get("paths", [])
        self._restore(paths)
        self._run_bash("\n".join(job["script"]), settings, ran)
        if ran.code == 0 or cache.get("when") == "always":
            self._save(paths)
        for path in job.get("artifacts", {}).get("paths", []):
            assert (self.workspace / path).exists(), f"{path} is to be uploaded"
        return ran

    def _start(self) -> Ran:
        self._jobs += 1
        self.workspace = self.root / f"job{self._jobs}"
        self.workspace.mkdir(parents=True)
        self._caches = []
        return Ran()

    def _run_steps(
        self,
        steps: Iterable[Step],
        environment: Mapping[str, str],
        contexts: Mapping[str, Mapping[str, Any]],
        ran: Ran,
    ) -> None:
        for step in steps:
            condition = str(step.get("if", "success()"))
            if ran.code and "always()" not in condition:
                continue
            if not _value_of(condition, contexts):
                continue
            own = {**environment, **self._expand_all(step.get("env", {}), contexts)}
            given = self._expand_all(step.get("with", {}), contexts)
            if "run" in step:
                self._run_bash(_expand(step["run"], contexts), own, ran)
            elif step["uses"].startswith(f"{OWN_ACTION}@"):
                self._run_own_action(given, own, contexts, ran)
            else:
                self._use(step["uses"].partition("@")[0], given)

    def _run_own_action(
        self,
        given: Mapping[str, str],
        environment: Mapping[str, str],
        contexts: Mapping[str, Mapping[str, Any]],
        ran: Ran,
    ) -> None:
        action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        inputs = {}
        for name, declared in action["inputs"].items():
            inputs[name] = given.get(name, _expand(str(declared.get("default", "")), contexts))
        assert given.keys() <= inputs.keys(), "the action has no such input"
        # An action does not see the secrets of the workflow.
        own = {"github": contexts["github"], "inputs": inputs}
        self._run_steps(action["runs"]["steps"], environment, own, ran)

    def _use(self, action: str, given: Mapping[str, str]) -> None:
        """Do what an action of GitHub does for the steps after it."""
        match action:
            case "actions/checkout":
                depth = given.get("fetch-depth", "1")
                self._clone([] if depth == "0" else ["--depth", depth], given.get("ref", ""))
            case "actions/cache":
                self._restore([given["path"]])
                self._caches = [given["path"]]  # saved at the end of a job that succeeds
            case "actions/cache/restore":
                self._restore([given["path"]])
            case "actions/cache/save":
                self._save([given["path"]])
            case "actions/setup-python":
                pass  # the environment has it
            case _:
                raise AssertionError(f"what does {action} do?")

    def _clone(self, options: list[str], ref: str = "") -> None:
        """Make the workspace a clone of the repository, at a commit or at its current branch."""
        shutil.rmtree(self.workspace)
        # Without file://, git ignores the depth.
        _git(self.root, "clone", "-q", *options, self.remote.as_uri(), str(self.workspace))
        commit = ref or self.contexts["github"]["sha"]
        _git(self.workspace, "fetch", "-q", *options, "origin", commit)
        _git(self.workspace, "checkout", "-q", "--detach", "FETCH_HEAD")

    def _restore(self, paths: Iterable[str]) -> None:
        for path in paths:
            kept = self.root / "caches" / path
            if kept.exists():
                shutil.copytree(kept, self.workspace / path)

    def _save(self, paths: Iterable[str]) -> None:
        for path in paths:
            made = self.workspace / path
            if made.exists():
                shutil.copytree(made, self.root / "caches" / path, dirs_exist_ok=True)

    def _run_bash(self, script: str, environment: Mapping[str, str], ran: Ran) -> None:
        path = os.pathsep.join([str(self.programs), "/usr/bin", "/bin"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.workspace,
            env={**self.environment, **environment, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        ran.code = ran.code or done.returncode
        ran.output += done.stdout

    def _expand_all(
        self, values: Mapping[str, Any], contexts: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, str]:
        return {name: _expand(str(value), contexts) for name, value in values.items()}


def _expand(text: str, contexts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a text with the values of its expressions."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: _value_of(found[1], contexts), text)


def _value_of(expression: str, contexts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the value of an expression of GitHub Actions; what is not there is empty."""
    python = ""
    values: list[str] = []
    rest = expression.strip()
    while rest:
        found = _TOKEN.match(rest)
        assert found, f"what does {rest!r} mean?"
        rest = rest[found.end() :]
        if found["sign"]:
            python += _SIGNS[found["sign"]]
            continue
        python += f"values[{len(values)}]"
        if found["text"]:
            values.append(found["text"][1:-1])
        elif found["status"]:  # the caller knows whether a step has failed
            values.append("true")
        else:
            values.append(_look_up(found["name"], contexts))
    # Both languages have the same precedence, and `and` and `or` return one of their operands.
    value = eval(python, {"values": values})
    return str(value) if isinstance(value, str) else "true" * bool(value)


def _look_up(name: str, contexts: Mapping[str, Mapping[str, Any]]) -> str:
    first, *rest = name.split(".")
    value: Any = contexts[first]
    for part in rest:
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return str(value)


def _git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(directory), *arguments], check=True, capture_output=True)
