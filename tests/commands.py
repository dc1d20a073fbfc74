"""Commands of click, run in the process of the test, since starting one takes most of its time."""

from __future__ import annotations

import atexit
import gc
import io
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import CodeType
from typing import Any
from unittest.mock import patch

import mkdocs.plugins
import mkdocs.utils
from click.testing import CliRunner
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from mkdocs.__main__ import cli as mkdocs_command
from mkdocs.config.config_options import Plugins
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.theme import Theme
from pymdownx import emoji1_db  # type: ignore[import-untyped]  # it has no types
from zensical.main import cli as zensical

from mkdocs_contentgen.cli.main import main as contentgen

COMMANDS = {"mkdocs": mkdocs_command, "mkdocs_contentgen": contentgen, "zensical": zensical}


class CompiledTemplates(BytecodeCache):
    """Keeps the templates of themes, since compiling them takes half of a small build."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take a template that was compiled before."""
        bucket.code = self._codes.get(self._key(bucket))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template."""
        assert bucket.code
        self._codes[self._key(bucket)] = bucket.code

    def _key(self, bucket: Bucket) -> tuple[str, str, str]:
        return bucket.key, bucket.checksum, str(sorted(bucket.environment.extensions))


TEMPLATES = CompiledTemplates()
get_environment = Theme.get_env


def environment_with_templates(theme: Theme) -> Environment:
    """Return the environment of a theme, in which templates are compiled once for all builds."""
    made = get_environment(theme)
    made.bytecode_cache = TEMPLATES
    return made


find_theme_files = Files.add_files_from_theme
THEME_FILES: dict[tuple[str, ...], list[tuple[str, str]]] = {}
"""The path and the directory of each file of a theme, by its directories and templates."""


def add_theme_files(self: Files, env: Environment, config: MkDocsConfig) -> None:
    """Add the files of a theme to those of a site; those of installed themes are found once."""
    theme = config.theme
    if not all(directory.startswith(sys.prefix) for directory in theme.dirs):
        find_theme_files(self, env, config)
        return
    key = *theme.dirs, *sorted(theme.static_templates)
    if key not in THEME_FILES:
        found = Files([])
        find_theme_files(found, env, config)
        THEME_FILES[key] = [(file.src_uri, str(file.src_dir)) for file in found]
    for path, directory in THEME_FILES[key]:
        if self.get_file_from_path(path) is None:
            self.append(File(path, directory, config.site_dir, config.use_directory_urls))


# What is installed does not change while tests run; looking for it takes half of a small command.
installed = cache(entry_points)
setattr(mkdocs.plugins, "entry_points", installed)  # noqa: B010  mypy knows of no such name
mkdocs.utils.get_themes = cache(mkdocs.utils.get_themes)
Files.add_files_from_theme = add_theme_files  # type: ignore[method-assign]


class Table(dict[str, object]):
    """A table that nobody changes, and that is copied by being handed on."""

    def __deepcopy__(self, memo: object) -> Table:
        return self


# The extension copies both for each page, which takes longer than the rest of rendering it.
emoji1_db.emoji, emoji1_db.aliases = Table(emoji1_db.emoji), Table(emoji1_db.aliases)


class ZensicalHere:
    """Takes the place of the process in which `contentgen` runs Zensical: it runs when awaited."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self._arguments = command[3:]
        self._environment = environment

    def wait(self) -> int:
        """Run Zensical, and return its exit status."""
        with (
            patch.dict(os.environ, self._environment, clear=True),
            patch.object(sys, "argv", ["zensical", *self._arguments]),
            patch.object(sys, "excepthook", sys.__excepthook__),
        ):
            try:
                zensical.main(self._arguments, "zensical")
            except SystemExit as end:
                return int(end.code or 0)
            except Exception as error:  # noqa: BLE001  as at the end of a program
                sys.excepthook(type(error), error, error.__traceback__)
            return 1

    def __exit__(self, *error: object) -> None:
        """Do nothing: there is no process."""


Popen = subprocess.Popen


# Any: the options are handed on, and decide what kind of process it is.
def start_here(command: list[str], **options: Any) -> Popen[Any] | ZensicalHere:
    """Start a program, as `subprocess.Popen` does, unless it is Zensical."""
    if command[1:4] == ["-m", "zensical", "build"]:
        return ZensicalHere(command, options["env"])
    return Popen(command, **options)


@contextmanager
def like_a_process(root: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Give a block what a new process has: directory, environment, modules, loggers, warnings."""
    before = Path.cwd()
    log, build_log = logging.getLogger("mkdocs"), logging.getLogger("mkdocs.commands.build")
    state = log.level, log.propagate, log.handlers[:], build_log.filters[:]
    files_log = logging.getLogger("mkdocs.structure.files")  # which Zensical's side makes quiet
    # MkDocs keeps the instances of plugins for the builds of one server.
    plugins = dict(MkDocsConfig._schema)["plugins"]
    assert isinstance(plugins, Plugins)
    os.chdir(root)
    imported = set(sys.modules)
    register, at_exit = atexit.register, list[Callable[[], object]]()

    def register_here(function: Callable[[], object], *arguments: object) -> object:
        """Keep a function of ours for the end of the block; others are for that of the tests."""
        if function.__module__.startswith("mkdocs_contentgen."):
            at_exit.append(function)
            return function
        return register(function, *arguments)

    try:
        with (
            patch.object(atexit, "register", register_here),
            patch.dict(os.environ, environment, clear=True),
            patch.object(sys, "path", [str(root), *sys.path]),
            patch.object(plugins, "plugin_cache", {}),
            patch.object(Theme, "get_env", environment_with_templates),
            patch.object(sys, "excepthook", sys.__excepthook__),
            patch.object(logging.root, "handlers", []),  # pytest's would keep what is printed
            warnings.catch_warnings(),
        ):
            yield
            for function in at_exit:
                function()
    finally:
        os.chdir(before)
        log.level, log.propagate, log.handlers[:], build_log.filters[:] = state
        files_log.setLevel(logging.NOTSET)
        gc.enable()
        for name in sys.modules.keys() - imported:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(f"{root}/"):
                del sys.modules[name]
        sys.path_importer_cache.pop(str(root), None)


def run_here(
    root: Path, environment: Mapping[str, str], program: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run one of the `COMMANDS`; all that Python prints is in `stdout`."""
    with (
        like_a_process(root, environment),
        patch.object(sys, "argv", [program, *arguments]),
        patch.object(subprocess, "Popen", start_here),
    ):
        result = CliRunner().invoke(COMMANDS[program], arguments, prog_name=program)
        output = result.output
        if result.exc_info and not isinstance(result.exception, SystemExit | None):
            with redirect_stderr(io.StringIO()) as printed:
                sys.excepthook(*result.exc_info)
            output += printed.getvalue()
    return subprocess.CompletedProcess([program, *arguments], result.exit_code, output)
