"""From the requests of a build to what its pages show, under the policy of the options.

Imported only by builds with a page that asks for something.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from xml.etree.ElementTree import Element

from mkdocs.config.defaults import MkDocsConfig

from .article import parse_article, placeholder
from .config import ContentgenConfig, OnMissing
from .errors import BudgetError, MissingError
from .generator import Generation, Outcome, check_budget, generate, look_up
from .pages import PageRequest


@dataclass
class Resolution:
    """What a build shows, and what there is to say about it, one line each."""

    articles: dict[str, dict[str, Callable[[], Element]]] = field(default_factory=dict)
    """Makers of elements by page (`src_uri`) and id, in the pages' order."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    summary: str = ""


def resolve(
    asked: Iterable[PageRequest], site: MkDocsConfig, options: ContentgenConfig
) -> Resolution:
    """Get the texts of all requests: from the cache, then, if the options let it, the service.

    Raises ConfigurationError and StoreError if the service cannot be asked; nothing was sent then.
    """
    started = time.monotonic()
    policy = options.missing_policy()
    sandbox = options.uses_sandbox()
    keys = [(entry.request.key(sandbox=sandbox), entry) for entry in asked]
    requests = {key: entry.request for key, entry in keys}

    store = options.store(site)
    try:
        outcomes, problems = look_up(requests, store, max_age=options.max_age)
        wanted = {key: request for key, request in requests.items() if outcomes[key].error}
        if policy == "generate" and wanted:
            check_budget(wanted, options.max_requests)
            generation = Generation(store, options.connect, options.limits())
            for key, outcome in generate(generation, wanted).items():
                outcomes[key] = (
                    outcome if outcome.text else _without_new_text(outcomes[key], outcome)
                )
            problems += generation.problems
    except BudgetError as error:
        places = [f"{entry.place}: would be asked for" for key, entry in keys if key in wanted]
        return Resolution(failures=[str(error), *places])
    finally:
        store.close()

    resolution = Resolution(warnings=problems)
    for key, entry in keys:
        maker = _report(outcomes[key], entry, policy, options, resolution)
        resolution.articles.setdefault(entry.page, {})[entry.request.id] = maker
    resolution.summary = _summary(outcomes.values(), time.monotonic() - started)
    return resolution


def _without_new_text(old: Outcome, new: Outcome) -> Outcome:
    """Return the outcome of a request that was sent in vain, though an old text may be there."""
    if old.text is None:
        return new
    return Outcome(
        old.source, old.text, MissingError(f"{old.error}, and no newer came: {new.error}")
    )


def _report(
    outcome: Outcome,
    entry: PageRequest,
    policy: OnMissing,
    options: ContentgenConfig,
    resolution: Resolution,
) -> Callable[[], Element]:
    """Return what makes the element for an outcome; what there is to say goes to `resolution`."""
    message = f"{entry.place}: {outcome.error}"
    if outcome.text:
        if outcome.error:
            resolution.warnings.append(f"{message}; the old text stays")
        return partial(parse_article, outcome.text.html, options.image_hosts)
    if isinstance(outcome.error, MissingError):
        message += (
            f", and on_missing is '{policy}'; `mkdocs build` with on_missing 'generate' asks for it"
        )
    tolerated = (
        policy if isinstance(outcome.error, MissingError) else options.on_error
    ) == "placeholder"
    (resolution.warnings if tolerated else resolution.failures).append(message)
    return partial(placeholder, str(outcome.error))


def _summary(outcomes: Iterable[Outcome], seconds: float) -> str:
    number = Counter(outcome.source for outcome in outcomes)
    return (
        f"{number.total()} texts: {number['cache']} from the cache, {number['service']} generated, "
        f"{number[None]} missing, in {seconds:.1f} s"
    )
