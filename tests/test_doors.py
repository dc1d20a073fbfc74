"""Whatever writes a text goes through the guard of human edits; a new door has to be named here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import mkdocs_contentgen

PACKAGE = Path(mkdocs_contentgen.__file__).parent

AGREED = {
    "cli/main.py generate": "asks in the terminal, for the draft as it is shown",
    "desk/acts.py approve": "the person has agreed to this file, or made the text out of it",
    "desk/acts.py _save": "the person has changed the text that is replaced",
    "desk/session.py _generate": "the desk asks before it sends, for the text that was seen",
    "review/approving.py _choose_text": "asks in the terminal, or --yes",
    "review/approving.py decide_approval": "as its caller says",
    "review/importing.py import_text": "asks in the terminal, or --yes, for the draft as it was",
    "review/importing.py _keep": "as its caller says",
    "review/proposing.py propose_article": "--yes",
    "texts/generation.py _save_unless_edited": "the text is one that a person has agreed to lose",
    "texts/store/shared.py save": "as its caller says",
}
"""Who says that a person has agreed to lose human edits, and why that is true."""

WRITERS_OF_APPROVED_FILES = {
    "file_to_write": {"review/proposed_texts.py", "review/approving.py", "review/proposing.py"},
    "write_file": {
        "cli/texts.py",
        "desk/acts.py",
        "review/proposed_texts.py",
        "review/proposing.py",
    },
    "restore_file": {"desk/acts.py"},
}
"""Who imports what writes files of `approved_dir`."""

KEPT_ELSEWHERE = {"review/proposed_texts.py _write": "the commit that is checked out has it"}
"""Who replaces an approved file and keeps nothing of it, and where it still is."""

WRITERS_OF_FILES = {
    "files.py": "what the others write with",
    "cli/desk.py": "a page that opens the desk in a browser",
    "cli/init.py": "a configuration and a page",
    "review/ejection.py": "a page in place of its request, which is not a text any more",
    "site/background.py": "what tells a server that a text has arrived",
    "texts/approved_writer.py": "approved files, behind the guard",
    "texts/store/disk.py": "a text that the cache cannot keep, beside it",
    "zensical/process.py": "which pages lack a text",
    "zensical/templates.py": "templates for the folder that a person names",
}
"""Who writes files with a function for that, and what."""

_WRITING = {"replace_text", "write_text", "write_bytes"}
_WRITING_ROWS = {"_save_copies", "_write_entries", "open_database"}


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """Return the name and the tree of each module."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        found.append((path.relative_to(PACKAGE).as_posix(), tree))
    return found


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the name and the tree of each function of a module, without those within others."""
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        for member in members:
            if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                yield member.name, member


def is_call_of(name: str, node: ast.AST) -> bool:
    """Tell whether a node calls a function by this name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def test_who_agrees_to_lose_human_edits() -> None:
    """A call with `agreed` is a door without the guard, unless a person was asked."""
    found = set()
    for module, tree in modules():
        for name, function in functions(tree):
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    keywords = {keyword.arg for keyword in node.keywords}
                    if "agreed" in keywords:
                        found.add(f"{module} {name}")
    assert found == set(AGREED)


def test_who_writes_approved_files() -> None:
    """They are written by one module, which asks the guard, and by nobody else."""
    found: dict[str, set[str]] = {name: set() for name in WRITERS_OF_APPROVED_FILES}
    for module, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name in found:
                        found[alias.name].add(module)
    assert found == WRITERS_OF_APPROVED_FILES


def test_who_makes_files_to_write() -> None:
    """The function that asks the guard of human edits is the only one that makes the record."""
    found = set()
    for module, tree in modules():
        for name, function in functions(tree):
            for node in ast.walk(function):
                if is_call_of("FileToWrite", node):
                    found.add(f"{module} {name}")
    assert found == {"texts/file_to_write.py file_to_write"}


def test_who_keeps_what_an_approved_file_had() -> None:
    """Whoever replaces one hands in the cache, which keeps that before it is replaced."""
    without = set()
    for module, tree in modules():
        for name, function in functions(tree):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and is_call_of("write_file", node):
                    [_, store] = node.args
                    if isinstance(store, ast.Constant):
                        without.add(f"{module} {name}")
    assert without == set(KEPT_ELSEWHERE)


def names_used(tree: ast.Module) -> Iterator[str]:
    """Yield the names of functions and methods that a module uses or defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def test_who_writes_files() -> None:
    """A new module that writes files has to be named above, with what it writes."""
    found = set()
    for module, tree in modules():
        if not _WRITING.isdisjoint(names_used(tree)):
            found.add(module)
    assert found == set(WRITERS_OF_FILES)


def test_who_writes_texts_into_the_cache() -> None:
    """Its rows are written within `texts/store`, whose `save()` asks the guard for each text."""
    found = set()
    for module, tree in modules():
        if not _WRITING_ROWS.isdisjoint(names_used(tree)):
            found.add(module)
    assert {"texts/store/disk.py", "texts/store/shared.py"} <= found
    assert found <= {
        "texts/store/disk.py",
        "texts/store/shared.py",
        "texts/store/database.py",
    }
