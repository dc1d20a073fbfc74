"""Ask git about files: who wrote their lines, and what they said in earlier commits.

This is the only module that runs git. It asks in a way that nothing that a branch brings can change
the answer, nor run a program: commits are read as they are, without `.mailmap`, `.gitattributes`,
replaced objects and lists of commits to ignore. Where there is no git, no repository or no commit,
there is no answer, and no error.

Git itself proves nothing: whoever can commit can write any name into a commit.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

_TIMEOUT = 60  # seconds: a repository on a network drive is slow, and nobody waits for ever

_NETWORK_TIMEOUT = 300  # seconds, for a push over a slow network

_SETTINGS = (
    f"core.attributesFile={os.devnull}",
    "core.fsmonitor=false",  # a program that git would run
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    "log.mailmap=false",
    "mailmap.blob=",
    "mailmap.file=",
)
"""The settings with which git is asked, whatever the configuration of the repository says."""

_SETTINGS_OF_CHANGES = (f"core.hooksPath={os.devnull}",)
"""The settings with which git changes a repository. The others are those of its owner."""

_KEPT_VARIABLES = (
    "GIT_ASKPASS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_VALUE_",
    "GIT_EXEC_PATH",
    "GIT_HTTP_",
    "GIT_PROXY_",
    "GIT_SSH",
    "GIT_SSL_",
    "GIT_TEST_ASSUME_DIFFERENT_OWNER",
)
"""The beginnings of the variables of git that it gets: the person's own configuration and network.

Others name another repository, index or history than that of the directory."""

_NO_LOCKS = {"GIT_OPTIONAL_LOCKS": "0"}
"""The variable with which a question writes nothing into the repository."""

_COMMIT_FIELDS = "%H%x00%an%x00%ae%x00%cn%x00%ce"
"""What git prints of a commit. Unlike `%aN`, `%an` is the name as the commit has it."""


@dataclass(frozen=True)
class Person:
    """Name and address of an author or a committer, as a commit has them."""

    name: str
    address: str


@dataclass(frozen=True)
class Commit:
    """A commit, and who made it."""

    id: str
    author: Person
    """Who wrote what it changes."""

    committer: Person
    """Who committed it, such as a person who has rebased it, or GitHub."""


@dataclass(frozen=True)
class CommittedLine:
    """A line of a file in the last commit."""

    text: str
    commit: Commit | None
    """The commit that the line is from; None if the clone is too shallow to know it."""

    name: str = ""
    """The path of the file in the repository in that commit, which may have another name now."""


@dataclass(frozen=True)
class ChangingCommit:
    """A commit that changes files that were asked for."""

    id: str
    parents: Sequence[str]
    """The next older commits that change such files, or join lines of history that do."""

    names: Sequence[str]
    """The paths in the repository of what it changes of these files; of a merge, none."""


class GitFailedError(Exception):
    """Git could not change a repository. `printed` is what it said, in English, or empty."""

    def __init__(self, reason: str, printed: str = "") -> None:
        super().__init__(reason)
        self.printed = printed


def run_git(directory: Path, *arguments: str, lines: Iterable[str] = ()) -> str | None:
    """Return what git prints, run in a directory, or None if it fails or is not there.

    `lines` is what it reads from its standard input.
    """
    printed = _ask(directory, *arguments, lines=lines)
    return None if printed is None else printed.decode("utf-8", "replace")


def change_repository(directory: Path, *arguments: str, author: Person, committer: Person) -> str:
    """Run git in a directory, and return what it prints. Raises GitFailedError.

    The hooks of the repository do not run, and git asks nobody for a password.
    """
    people = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.address,
        "GIT_COMMITTER_NAME": committer.name,
        "GIT_COMMITTER_EMAIL": committer.address,
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    try:
        ran = _run(directory, arguments, _SETTINGS_OF_CHANGES, people, timeout=_NETWORK_TIMEOUT)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise GitFailedError(f"cannot be run ({type(error).__name__})") from error
    if ran.returncode:
        raise GitFailedError("failed", ran.stderr.decode("utf-8", "replace"))
    return ran.stdout.decode("utf-8", "replace")


def _ask(directory: Path, *arguments: str, lines: Iterable[str] = ()) -> bytes | None:
    """Return the bytes that git prints, or None if it fails or is not there."""
    given = "".join(f"{line}\n" for line in lines).encode()
    try:
        ran = _run(directory, arguments, _SETTINGS, _NO_LOCKS, timeout=_TIMEOUT, given=given)
    except (OSError, ValueError, subprocess.TimeoutExpired):  # ValueError: a NUL in an argument
        return None
    return ran.stdout if ran.returncode == 0 else None


def _run(
    directory: Path,
    arguments: Sequence[str],
    settings: Iterable[str],
    variables: Mapping[str, str],
    *,
    timeout: float,
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run git. Raises OSError, ValueError and TimeoutExpired."""
    command = ["git", "-C", os.fspath(directory), "--no-pager", "--no-replace-objects"]
    for setting in settings:
        command += ["-c", setting]
    kept = {"GIT_GRAFT_FILE": os.devnull}
    for name, value in os.environ.items():
        if not name.startswith("GIT_") or name.startswith(_KEPT_VARIABLES):
            kept[name] = value
    return subprocess.run(  # noqa: S603
        [*command, *arguments],
        capture_output=True,
        check=False,
        env={**kept, **variables},
        input=given,
        timeout=timeout,
    )


_SAFE_DIRECTORY = re.compile(r"safe\.directory '?([^'\s]+)")
"""What git suggests for a repository that belongs to another user."""


def repository_problem(directory: Path) -> str:
    """Return why git cannot use the repository of a directory, or an empty string."""
    english = {"LC_ALL": "C"}
    try:
        ran = _run(directory, ["rev-parse", "--git-dir"], _SETTINGS, english, timeout=_TIMEOUT)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"git cannot be run ({type(error).__name__})"
    if ran.returncode == 0:
        return ""
    said = " ".join(ran.stderr.decode("utf-8", "replace").split())
    folder = _SAFE_DIRECTORY.search(said)
    if folder:
        return (
            f"git refuses the repository {folder[1]}, since it belongs to another user, as in a "
            f"container; run `git config --global --add safe.directory {folder[1]}` first"
        )
    return f"git cannot use the repository: {said}"


def user_name(directory: Path = Path()) -> str:
    """Return the name of the person who works here, or an empty string."""
    return (run_git(top_level(directory) or directory, "config", "user.name") or "").strip()


def top_level(directory: Path) -> Path | None:
    """Return the directory of the repository that a directory is in, or None.

    That is the nearest one with a `.git`, which no branch can bring. Git itself would also take a
    directory for a repository that a branch has filled with files such as `HEAD` and `config`.
    """
    resolved = directory.resolve()
    for parent in (resolved, *resolved.parents):
        if (parent / ".git").exists():
            return parent
    return None


def _in_repository(path: Path) -> tuple[Path, str] | None:
    """Return the directory of the repository of a file, and the name of the file in it, or None.

    It is None also for a path that no file can have: a text can cite one.
    """
    try:
        directory = path.parent.resolve()
    except (ValueError, RuntimeError):  # a NUL, or a loop of links
        return None
    top = top_level(directory)
    if top is None:
        return None
    return top, (directory / path.name).relative_to(top).as_posix()


def committed_lines(path: Path) -> list[CommittedLine]:
    """Return the lines of a file as the last commit has them; none if git cannot tell.

    The file itself is not read, so that no filter or encoding of `.gitattributes` is applied.
    """
    found = _in_repository(path)
    if found is None:
        return []
    top, name = found
    # The empty file clears the list of the configuration, which the setting itself does not.
    options = ("--porcelain", "--no-textconv", "--ignore-revs-file=")
    printed = run_git(top, "blame", *options, "HEAD", "--", name)
    parsed, names, boundaries = _parse_blame(printed or "")
    commits = _commits(top, names)
    # In a shallow clone, the oldest commit seems to have written all.
    is_shallow = run_git(top, "rev-parse", "--is-shallow-repository") != "false\n"
    if is_shallow:
        for commit in boundaries:
            commits.pop(commit, None)
    lines = []
    for text, commit in parsed:
        lines.append(CommittedLine(text, commits.get(commit), names[commit]))
    return lines


def _parse_blame(printed: str) -> tuple[list[tuple[str, str]], dict[str, str], set[str]]:
    """Return each line that `git blame` prints with its commit.

    With them, return the name of the file in each commit, and the commits without parents. For each
    line, git prints its commit, then fields such as `author`, then a tab and the line.
    """
    lines = []
    names: dict[str, str] = {}
    boundaries = set()
    commit = ""
    is_first = True
    for printed_line in printed.split("\n"):
        if printed_line.startswith("\t"):
            lines.append((printed_line[1:], commit))
            is_first = True
        elif is_first:
            commit, _, _ = printed_line.partition(" ")
            names.setdefault(commit, "")
            is_first = False
        elif printed_line.startswith("filename "):
            names[commit] = printed_line.removeprefix("filename ")
        elif printed_line == "boundary":
            boundaries.add(commit)
    return lines, names, boundaries


def _commits(top: Path, ids: Collection[str]) -> dict[str, Commit]:
    """Return the commits with these ids."""
    arguments = ("rev-list", "--no-walk=unsorted", f"--format={_COMMIT_FIELDS}", "--stdin")
    printed = run_git(top, *arguments, lines=ids) if ids else ""
    commits = {}
    for line in (printed or "").split("\n"):
        fields = line.split("\0")
        if len(fields) == 5:
            author = Person(fields[1].strip(), fields[2])
            committer = Person(fields[3].strip(), fields[4])
            commits[fields[0]] = Commit(fields[0], author, committer)
    return commits


def file_at(path: Path, revision: str, limit: int) -> bytes | None:
    """Return the content of a file in a commit, or None if it was not there.

    Raises OSError, before git reads the file, if it has more than `limit` bytes.
    """
    found = _in_repository(path)
    if found is None:
        return None
    return content_at(*found, revision, limit)


def content_at(top: Path, name: str, revision: str, limit: int) -> bytes | None:
    """Return the content of a file in a commit, as file_at(), by its path in the repository."""
    # A revision that begins as an option does is none.
    if revision.startswith("-"):
        return None
    size = run_git(top, "cat-file", "-s", f"{revision}:{name}")
    if size is None:
        return None
    if int(size) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes")
    return _ask(top, "cat-file", "blob", f"{revision}:{name}")


def commits_of(path: Path, limit: int) -> list[str]:
    """Return the last commits that changed a file, the newest first."""
    found = _in_repository(path)
    if found is None:
        return []
    top, name = found
    arguments = ("rev-list", f"--max-count={limit}", "HEAD", "--", f":(literal){name}")
    return (run_git(top, *arguments) or "").split()


def common_commit(directory: Path, revision: str) -> str | None:
    """Return the last commit that a revision and the current one have in common.

    That is the commit of the revision itself if they have none in common, and None if the revision
    is not a commit of the repository.
    """
    top = top_level(directory)
    if top is None or revision.startswith("-"):
        return None
    commit = run_git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if commit is None:
        return None
    common = run_git(top, "merge-base", commit.strip(), "HEAD")
    return (common or commit).strip()


def changed_files(directory: Path, commit: str) -> set[Path]:
    """Return the files of a repository that are not as they were in a commit, new ones included."""
    top = top_level(directory)
    if top is None:
        return set()
    changed = run_git(
        top, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", commit, "--"
    )
    new = run_git(top, "ls-files", "--others", "--exclude-standard", "-z")
    names = f"{changed or ''}{new or ''}".split("\0")
    return {top / name for name in names if name}


def changing_commits(
    top: Path, names: Iterable[str], *, since: date | None = None, without: str = ""
) -> list[ChangingCommit]:
    """Return the commits before the current one that change files, the newest first.

    `names` are paths of files and folders in the repository `top`, where an empty one stands for
    all. Commits of the time before `since` are left out, and those that led to the commit
    `without`. In a shallow clone, the oldest commit, which seems to have written all, is left out.
    """
    arguments = ["log", "--topo-order", "--parents", "--name-only", "--no-renames", "-z"]
    arguments += ["--no-show-signature", "--no-diff-merges", "--format=%x02%H %P"]
    if since:
        # A day earlier, for the zones of time, and for clocks that are wrong.
        arguments.append(f"--since={since - timedelta(days=1)}T00:00:00Z")
    arguments.append("HEAD")
    if without:
        arguments.append(f"^{without}")
    printed = run_git(top, *arguments, "--", *_pathspecs(names)) or ""
    oldest = _shallow_commits(top)
    commits = []
    for entry in printed.split("\x02")[1:]:
        head, *changed = entry.split("\0")
        commit, *parents = head.split()
        if commit not in oldest:
            names_changed = [name.lstrip("\n") for name in changed if name.strip("\n")]
            commits.append(ChangingCommit(commit, parents, names_changed))
    return commits


def _pathspecs(names: Iterable[str]) -> list[str]:
    """Return the arguments that stand for files and folders, whatever their names are."""
    return [f":(top,literal){name}" for name in names]


def _shallow_commits(top: Path) -> set[str]:
    """Return the commits whose parents a shallow clone does not have."""
    if run_git(top, "rev-parse", "--is-shallow-repository") == "false\n":
        return set()
    return set((run_git(top, "rev-list", "--max-parents=0", "HEAD") or "").split())


def common_ancestor(top: Path, commits: Sequence[str]) -> str:
    """Return the last commit that led to all of these, or an empty string if there is none."""
    if len(commits) == 1:
        return commits[0]
    return (run_git(top, "merge-base", "--octopus", *commits) or "").strip()


def uncommitted_files(top: Path, names: Iterable[str]) -> set[str]:
    """Return which of these files and folders differ from the current commit, by path."""
    arguments = ("status", "--porcelain", "--no-renames", "--untracked-files=all", "-z")
    printed = run_git(top, *arguments, "--", *_pathspecs(names)) or ""
    return {entry[3:] for entry in printed.split("\0") if entry}


def has_uncommitted(path: Path) -> bool:
    """Tell whether a file or a folder, in a repository, differs from the current commit."""
    found = _in_repository(path)
    if found is None:
        return False
    top, name = found
    return bool(uncommitted_files(top, [name]))


def tracked_files(top: Path, names: Iterable[str]) -> list[str]:
    """Return the paths of the files that git tracks among these files and folders."""
    printed = run_git(top, "ls-files", "-z", "--", *_pathspecs(names)) or ""
    return [name for name in printed.split("\0") if name]
