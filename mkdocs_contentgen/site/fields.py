"""Check the fields of requests that not every service takes, and the sources that they name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..display import quoted
from ..requests import OPTIONAL_FIELDS
from ..texts.policy import PageRequest
from .site import Site


def field_check(site: Site) -> Callable[[PageRequest], list[str]]:
    """Return a function that returns messages about the fields that the service ignores.

    They are also about sources that cannot be used. The function raises ConfigurationError.
    """
    options = site.options
    sources = cache(site.sources)

    def check(it: PageRequest) -> list[str]:
        if options.uses_sandbox() or not any(getattr(it.request, name) for name in OPTIONAL_FIELDS):
            return []
        if not options.uses_writer():
            return [
                f"{it.place}: contentgen.{name}: {_cure(name)}"
                for name in OPTIONAL_FIELDS
                if getattr(it.request, name) and name not in options.service_fields
            ]
        return [
            f"{it.place}: contentgen.sources: {quoted(name)} {reason}"
            for name in it.request.sources
            if (reason := source_problem(name))
        ]

    @cache  # requests share sources, for example through the option `defaults`
    def source_problem(name: str) -> str:
        if any(other.page == name for other in site.requests):
            return "has a generated text, which is no source; name what that is written from"
        return sources().problem(name)

    return check


def _cure(name: str) -> str:
    if name == "sources":
        return "only the writer of this build reads sources; use `base_url: writer`"
    return (
        "the interface of the service has no such field; use `base_url: writer`, or set "
        f"`service_fields: [{name}]` if your service takes it"
    )
