"""What git says of files, whatever a branch, a configuration or the environment brings."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from repository import commit, git

from mkdocs_contentgen.git import changed_files, committed_lines, file_at, top_level, user_name

FILE = "texts/page.md/main.html"


@pytest.fixture(scope="module")
def made_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with a file of two lines, the first by Ann and the second by Mallory."""
    top = tmp_path_factory.mktemp("made")
    git(top, "init", "-q", "-b", "main")
    write(top, FILE, "by Ann\n")
    commit(top, name="Ann")
    write(top, FILE, "by Ann\nby Mallory\n")
    commit(top, name="Mallory")
    return top


@pytest.fixture
def repository(made_repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the repository, for one test."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    return shutil.copytree(made_repository, tmp_path / "repository")


def write(top: Path, name: str, content: str) -> Path:
    """Write a file of the repository."""
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def program(path: Path, marker: Path) -> str:
    """Write a program that leaves a file, and return its path for a configuration."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {marker}\nexec cat\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def authors(top: Path) -> list[tuple[str, str]]:
    """Return each line of the file, and the author of its commit."""
    found = []
    for line in committed_lines(top / FILE):
        found.append((line.text, line.commit.author.name if line.commit else "?"))
    return found


TRUE = [("by Ann", "Ann"), ("by Mallory", "Mallory")]


def test_a_mailmap(repository: Path) -> None:
    """No map of names makes a commit one of another person, wherever it is."""
    line = "Ann <ann@example.org> Mallory <x@example.org>\n"
    write(repository, ".mailmap", line)
    other = write(repository, ".git/map", line)
    commit(repository, name="Mallory")
    git(repository, "config", "mailmap.file", str(other))
    git(repository, "config", "mailmap.blob", "HEAD:.mailmap")
    assert "author Ann" in git(repository, "blame", "--porcelain", "-L2,2", FILE)
    assert authors(repository) == TRUE


def test_commits_to_ignore(repository: Path) -> None:
    """A list of commits that blame ignores gives no line to the person before."""
    write(repository, FILE, "by Ann!\nby Mallory\n")
    commit(repository, name="Mallory")
    forged = git(repository, "rev-parse", "HEAD")
    write(repository, ".git-blame-ignore-revs", forged)
    git(repository, "config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
    assert "author Ann" in git(repository, "blame", "--porcelain", "-L1,1", FILE)
    assert authors(repository)[0] == ("by Ann!", "Mallory")


def test_objects_in_place_of_others(repository: Path) -> None:
    """A replaced commit and a graft change nothing."""
    forged = git(repository, "commit-tree", "-p", "HEAD~1", "-m", "x", "HEAD^{tree}", name="Ann")
    git(repository, "replace", "HEAD", forged.strip())
    assert "author Ann" in git(repository, "blame", "--porcelain", "-L2,2", FILE)
    assert authors(repository) == TRUE
    git(repository, "replace", "-d", "HEAD")
    first, last = git(repository, "rev-list", "--reverse", "HEAD").split()
    write(repository, ".git/info/grafts", f"{last}\n")
    assert authors(repository) == TRUE
    assert first != last


def test_attributes(repository: Path, tmp_path: Path) -> None:
    """Attributes neither run a program nor change what a commit has."""
    marker = tmp_path / "ran"
    command = program(tmp_path / "program", marker)
    for setting in ("diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.smudge"):
        git(repository, "config", setting, command)
    attributes = f"{FILE} diff=x filter=x ident eol=crlf working-tree-encoding=UTF-16\n"
    write(repository, ".gitattributes", attributes)
    git(repository, "-c", "filter.x.clean=", "add", ".gitattributes")
    git(repository, "commit", "-q", "-m", "x")
    marker.unlink(missing_ok=True)
    assert authors(repository) == TRUE
    assert file_at(repository / FILE, "HEAD", 100) == b"by Ann\nby Mallory\n"
    assert not marker.exists()


def test_programs_of_the_configuration(repository: Path, tmp_path: Path) -> None:
    """Neither a monitor of files nor a pager, a hook or another difference is run."""
    marker = tmp_path / "ran"
    command = program(tmp_path / "program", marker)
    for setting in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program"):
        git(repository, "config", setting, command)
    git(repository, "config", "log.showSignature", "true")
    program(repository / ".git/hooks/fsmonitor-watchman", marker)
    marker.unlink(missing_ok=True)
    write(repository, FILE, "changed\n")
    assert changed_files(repository, "HEAD") == {repository / FILE}
    assert authors(repository) == TRUE
    assert not marker.exists()


def test_variables(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of a hook or a shell name no other repository, and the person's own ones count."""
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    for name, value in (
        ("GIT_DIR", other / ".git"),
        ("GIT_WORK_TREE", other),
        ("GIT_INDEX_FILE", other / "index"),
        ("GIT_OBJECT_DIRECTORY", other / "objects"),
        ("GIT_LITERAL_PATHSPECS", 1),
    ):
        monkeypatch.setenv(name, str(value))
    assert authors(repository) == TRUE
    assert top_level(repository / "texts") == repository
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(write(other, "config", "[user]\nname = Kim\n")))
    assert user_name(repository) == "Kim"


def test_a_folder_that_a_branch_makes_a_repository(repository: Path, tmp_path: Path) -> None:
    """Git itself takes a folder with the files of a repository for one; here it is a folder."""
    marker = tmp_path / "ran"
    folder = (repository / FILE).parent
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "bare"))
    git(tmp_path / "bare", "config", "user.name", "Mallory")
    git(repository, "config", "user.name", "Kim")
    git(tmp_path / "bare", "config", "core.fsmonitor", program(tmp_path / "program", marker))
    for path in (tmp_path / "bare").iterdir():
        path.rename(folder / path.name)
    assert git(folder, "rev-parse", "--git-dir").strip() == "."
    assert top_level(folder) == repository
    assert user_name(folder) == "Kim"
    assert authors(repository) == TRUE
    assert not marker.exists()


def test_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    """The oldest commit that it has seems to have written all; whose lines they are is unknown."""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", str(clone))
    assert authors(clone) == [("by Ann", "?"), ("by Mallory", "?")]
    git(clone, "fetch", "-q", "--unshallow")
    assert authors(clone) == TRUE


def test_what_is_not_committed(repository: Path) -> None:
    """Only commits count, and without any there is no answer."""
    write(repository, FILE, "by nobody\n")
    assert authors(repository) == TRUE
    assert committed_lines(write(repository, "texts/new.html", "x\n")) == []
    assert committed_lines(repository / "nowhere/new.html") == []
    assert committed_lines(repository.parent / "x.html") == []


def test_a_file_above_the_limit(repository: Path) -> None:
    """It is refused by its size, and not read; at the limit, it is read."""
    size = len("by Ann\nby Mallory\n")
    assert len(file_at(repository / FILE, "HEAD", size) or b"") == size
    with pytest.raises(OSError, match="more than 17 bytes"):
        file_at(repository / FILE, "HEAD", size - 1)
    assert file_at(repository / FILE, "HEAD~1", 7) == b"by Ann\n"
    assert file_at(repository / FILE, "--output=x", 100) is None
    assert file_at(repository / "texts", "HEAD", 100) is None


def test_names_in_other_encodings(repository: Path) -> None:
    """A commit that says its encoding has a name of readable letters."""
    write(repository, FILE, "by Zoë\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "x", name="Zoë")
    commit_object = git(repository, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\nencoding X\n\n"
    )
    latin = commit_object.replace("encoding X", "encoding iso-8859-1").encode("latin-1")
    written = subprocess.run(
        ["git", "-C", str(repository), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=latin,
        capture_output=True,
        check=True,
    )
    git(repository, "reset", "-q", "--hard", written.stdout.decode().strip())
    assert authors(repository) == [("by Zoë", "Zoë")]


def test_paths_that_no_file_can_have(repository: Path) -> None:
    """An address that a text cites can make them: they are in no commit."""
    (repository / "loop").symlink_to("loop")
    for name in ("\0/index.md", "\0.md", "loop/index.md"):
        assert file_at(repository / name, "HEAD", 10) is None
