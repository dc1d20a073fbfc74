"""Get the texts of a site, and let Zensical build or serve it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..errors import ConfigurationError
from ..site.build import Build, Resolution, resolve
from ..site.options import page_addresses
from ..site.typos import NAME
from .configuration import cache_problem
from .invocation import find_configuration, read_arguments
from .process import Zensical
from .records import digest_of, forget, link_warnings, put_back, read_record, set_aside
from .site import ZensicalSite, read_site


@dataclass(frozen=True)
class Terminal:
    """How a command prints. `debug` is for the lines of `--verbose`."""

    log: Callable[[str], None]
    debug: Callable[[str], None] | None
    report: Callable[[Sequence[str], Sequence[str]], None]
    """Prints warnings and failures, and ends the command if there are failures."""


def build(zensical: Zensical, arguments: Sequence[str], terminal: Terminal) -> int:
    """Request missing texts, let `zensical build` run, and return its exit status.

    Raises ConfigurationError and StoreError.
    """
    invocation = read_arguments(["build", *arguments])
    site = read_site(find_configuration(invocation.config_file, Path.cwd()), drafts=False)
    check(site)
    for note in site.notes:
        terminal.log(note)
    warnings = [*site.warnings]
    if problem := cache_problem(site.configuration):
        if invocation.clean:
            raise ConfigurationError(problem)
        warnings.append(problem)
    warnings += link_warnings(site.configuration.path.parent)
    problems = site.request_problems()
    if site.requests or problems:
        options = site.options
        policy = options.policy(max_requests=options.max_requests, warn_only=False)
        log, debug = terminal.log, terminal.debug
        run = Build(site.config, options, policy, site.requests, site.pages, log, debug)
        resolution = resolve(run, problems, site.approved_files(), run.foreground())
        warnings += resolution.warnings
        terminal.report(warnings, resolution.failures)
        terminal.log(resolution.summary)
    else:
        resolution = Resolution()
        terminal.report(warnings, [])
    root = site.configuration.path.parent
    rendered = records_of(site)
    digests = digests_of(site, resolution)
    put_back(root)
    forget(root, [page for page, digest in digests.items() if rendered.get(page) != digest])
    zensical.missing_file.write_text(json.dumps(resolution.missing), "utf-8")
    try:
        zensical.run()
        status = zensical.wait()
    finally:
        set_aside(root)
    marker_problems = [
        problem
        for file in site.pages
        if (record := read_record(root, file.src_uri))
        for problem in record.problems
    ]
    terminal.report(marker_problems, [])
    number = len(warnings) + len(marker_problems)
    if number and invocation.strict and not status:
        terminal.report([], [f"--strict: {number} {'warning' if number == 1 else 'warnings'}"])
    return status


def check(site: ZensicalSite) -> None:
    """Raise ConfigurationError if Zensical is not installed, or would leave the articles out."""
    if find_spec("zensical") is None:
        raise ConfigurationError(
            'Zensical is not installed; install it with: pip install "mkdocs-contentgen[zensical]"'
        )
    if NAME not in site.config.markdown_extensions:
        raise ConfigurationError(
            f"{site.configuration.path}: markdown_extensions has no '{NAME}', without which "
            f"Zensical leaves the articles out; add it there"
        )


def digests_of(site: ZensicalSite, resolution: Resolution) -> dict[str, str]:
    """Return a digest of what each page with an article shows."""
    addresses = page_addresses(site.files.values(), site.config.site_url)
    return {
        page: digest_of(contents, site.options, addresses)
        for page, contents in resolution.articles.items()
    }


def records_of(site: ZensicalSite) -> dict[str, str]:
    """Return the digests of what pages showed when Zensical rendered them last."""
    root = site.configuration.path.parent
    records = {page: read_record(root, page) for page in site.files}
    return {page: record.digest for page, record in records.items() if record}
