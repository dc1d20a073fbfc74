"""Get the texts of a site, and let Zensical build or serve it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..display import counted
from ..errors import ConfigurationError
from ..reporting import Reporter
from ..site.build import Build, Resolution, resolve
from ..site.front_matter import NAME
from ..site.site import Site
from .configuration import find_configuration, read_arguments
from .loading import read_site
from .page_cache import delete_entries
from .process import Zensical


@dataclass(frozen=True)
class Terminal:
    """How a command prints."""

    reporter: Reporter
    report: Callable[[Sequence[str], Sequence[str]], None]
    """Prints warnings and failures, and ends the command if there are failures."""


def build(zensical: Zensical, arguments: Sequence[str], terminal: Terminal) -> int:
    """Request missing texts, let `zensical build` run, and return its exit status.

    Raises ConfigurationError and StoreError.
    """
    invocation = read_arguments(["build", *arguments])
    site = read_site(find_configuration(invocation.config_file, Path.cwd()), drafts=False)
    prepare_site(site)
    warnings = [*site.warnings]
    problem = _cache_problem(site)
    if problem:
        if invocation.clean:
            raise ConfigurationError(problem)
        warnings.append(problem)
    if site.requests or site.problems:
        policy = site.options.policy()
        run = Build(site, policy, terminal.reporter)
        resolution = resolve(run, site.approved_files(), run.foreground())
        warnings += resolution.warnings
        terminal.report(warnings, resolution.failures)
        terminal.reporter.log(resolution.summary)
    else:
        resolution = Resolution()
        warnings += site.orphan_warnings()
        terminal.report(warnings, [])
    zensical.exchange.set_missing(resolution.missing)
    zensical.run()
    status = zensical.wait()
    marker_problems = zensical.exchange.problems()
    terminal.report(marker_problems, [])
    number = len(warnings) + len(marker_problems)
    if number and invocation.strict and not status:
        terminal.report([], [f"--strict: {counted(number, 'warning')}"])
    return status


def _cache_problem(site: Site) -> str:
    """Return what is wrong with the place of the cache, or an empty string."""
    directory = site.cache_directory()
    if not directory.is_relative_to(site.directory / ".cache"):
        return ""
    return (
        f"cache_dir: {directory} is in the directory that `zensical build --clean` deletes, with "
        "all texts that nobody has approved; name another, or leave cache_dir out"
    )


def prepare_site(site: Site) -> None:
    """Delete pages that a killed build has left in Zensical's cache.

    Raises ConfigurationError if Zensical is not installed, or would leave the articles out, and
    StoreError.
    """
    if find_spec("zensical") is None:
        raise ConfigurationError(
            'Zensical is not installed; install it with: pip install "mkdocs-contentgen[zensical]"'
        )
    if NAME not in site.config.markdown_extensions:
        raise ConfigurationError(
            f"{site.config.config_file_path}: markdown_extensions has no '{NAME}', without which "
            f"Zensical leaves the articles out; add it there"
        )
    delete_entries(site.directory, {page_request.page for page_request in site.requests})
