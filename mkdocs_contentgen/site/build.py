"""One build of a site: the texts for its requests, or placeholders for those that are missing."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from operator import attrgetter
from threading import Event
from typing import TYPE_CHECKING

from ..display import counted
from ..errors import PENDING, MissingReason
from ..html.presentation import ArticleMetadata, Presentation
from ..page_request import PageRequest
from ..reporting import SILENT, Reporter
from ..service import SANDBOX
from ..texts.approved_dir import ApprovedFiles
from ..texts.articles import Article
from ..texts.lookup import Outcome
from ..texts.obtain import Foreground, Obtained, TextSource, obtain
from ..texts.policy import Policy
from ..texts.store import DiskStore
from .content import PageContent
from .site import PageProblem, Site

if TYPE_CHECKING:
    from ..service.protocol import Client
    from ..stale import StaleSource
    from ..writer.evaluation import TotalEstimate
    from ..writer.models.settings import WriterOptions
    from ..writer.models.usage import Spending, Usage
    from ..writer.writing import Estimate


def page_json_ld(
    contents: Mapping[str, PageContent], metadata: Mapping[str, ArticleMetadata], title: str
) -> str:
    """Return the `<script>` with the JSON-LD of a page's articles, which are given by their ids.

    `title` is that of the page, for articles without one.
    """
    from ..html.disclosure import json_ld_script

    found = []
    for name, article in metadata.items():
        provenance = contents[name].provenance
        if provenance:
            found.append(provenance.json_ld(article.title or title, article.published))
    return json_ld_script(found)


@dataclass
class Resolution:
    """The articles of a build, and its messages, each on one line."""

    articles: dict[str, dict[str, PageContent]] = field(default_factory=dict)
    """The articles by page (`src_uri`) and id, in the order of the front matter."""

    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    summary: str = ""

    sent: int = 0

    missing: dict[str, str] = field(default_factory=dict)
    """Why there is no text, by the key of its request. The reason is empty for a text that is being
    generated."""

    def add_problems(self, problems: Iterable[PageProblem], *, warn_only: bool) -> None:
        """Add the problems of pages, each once, and a placeholder for each."""
        for problem in problems:
            messages = self.warnings if warn_only else self.failures
            if problem.message not in messages:
                messages.append(problem.message)
            stand_in = PageContent(problem.message.encode())
            self.articles.setdefault(problem.page, {})["main"] = stand_in

    def add_article(
        self, article: Article, presentation: Presentation, *, show_errors: bool
    ) -> None:
        """Add what the page of an article shows, and why its text is missing, if it is."""
        if _is_pending(article.outcome):
            self.missing[article.key] = ""
        elif article.outcome.text is None:
            self.missing[article.key] = str(article.outcome.error)
        content = page_content(article, presentation, show_errors=show_errors)
        self.articles.setdefault(article.page, {})[article.request.id] = content


@dataclass
class Build:
    """One run over a site: its requests, and what its parts share."""

    site: Site
    policy: Policy
    reporter: Reporter = SILENT
    spending: Spending | None = None
    """The usage of all calls to the model of the writer, of earlier builds too."""

    _outage: Event = field(default_factory=Event)
    """Set once the shared cache cannot be reached, so that no store of this run waits for that."""

    def __post_init__(self) -> None:
        if self.spending is None and self.site.options.uses_writer():
            from ..writer.models.usage import Spending

            self.spending = Spending()

    def store(self) -> DiskStore:
        """Return the cache. Raises ConfigurationError."""
        return self.site.store(self._outage)

    def connect(self) -> AbstractAsyncContextManager[Client]:
        """Return a client of the service or the writer. Raises ConfigurationError."""
        options = self.site.options
        if options.uses_writer():
            from .writer_client import WriterClient

            return WriterClient(
                self.site.writer_options(),
                self.spending,
                retries=options.retries,
                reporter=self.reporter,
            )
        return options.connect()

    def foreground(self) -> Foreground:
        """Return a source that generates texts now, and shows its progress."""
        limits = self.site.options.limits()
        return Foreground(self.store(), self.connect, limits, self.reporter)

    def obtain(
        self,
        files: ApprovedFiles,
        source: TextSource | None,
        requests: Sequence[PageRequest] | None = None,
    ) -> Obtained:
        """Return the texts of all requests, or some, and log what a foreground source took."""
        obtained = obtain(
            self.site.requests if requests is None else requests,
            self.store(),
            self.policy,
            source,
            files=files,
            find_stale=self.site.cited_passages().stale,
            check=self.site.field_problems,
            adds_originals=requests is None,
        )
        if isinstance(source, Foreground) and obtained.sent and self.spending:
            self._log_usage(obtained, self.spending.total)
        number = 0
        for article in obtained.articles:
            if article.remarks:
                number += 1
        if source and number:
            texts = counted(number, "text has", "texts have")
            self.reporter.log(f"{texts} remarks; `contentgen status` lists them")
        return obtained

    def _log_usage(self, obtained: Obtained, spent: Usage) -> None:
        """Log how many texts the model has written, and what they took."""
        if spent.calls:
            outcomes = {article.key: article.draft_outcome for article in obtained.articles}
            currency = self.site.options.currency()
            self.reporter.log(_usage_message(outcomes.values(), spent.message(currency)))

    def estimate(self, wanted: Mapping[str, PageRequest]) -> TotalEstimate | None:
        """Return what the writer will take for requests, or None for a service."""
        if not (self.site.options.uses_writer() and wanted):
            return None
        from ..writer import evaluation

        options = self.site.writer_options()
        estimates = (_estimate(asked, options) for asked in wanted.values())
        return evaluation.total_estimate(estimates, options)


def _estimate(asked: PageRequest, options: WriterOptions) -> Estimate:
    """Estimate the calls and the usage of a text or a translation."""
    from ..writer.writing import estimate

    if asked.original is None:
        return estimate(asked.request, options)
    from ..service.protocol import OriginalBlock, Translation
    from ..translation.asking import estimate_translation
    from ..translation.first_translation import plan_translation

    language = asked.request.language
    if asked.original_text:
        planned = plan_translation(asked.original_text.text, language)
    else:
        # The original is written first, in about as many words as it is to have.
        words = " ".join(["words"] * options.target(asked.request.length))
        planned = Translation(language, [OriginalBlock(0, "p", words)])
    return estimate_translation(planned, options)


def resolve(build: Build, files: ApprovedFiles, source: TextSource) -> Resolution:
    """Return the articles of all requests: from approved `files`, the cache or `source`.

    Nothing is sent if there are problems with pages or damaged approved files. If the policy only
    warns, placeholders take the place of failures. Raises ConfigurationError for invalid options.
    """
    started = time.monotonic()
    resolution = Resolution()
    warn_only = build.policy.warn_only
    site = build.site
    resolution.add_problems(site.problems, warn_only=warn_only)
    resolution.warnings += site.orphan_warnings(files)
    obtained = build.obtain(files, None if resolution.failures else source)
    resolution.failures += obtained.failures
    resolution.warnings += obtained.warnings
    if resolution.failures:
        return resolution
    resolution.sent = obtained.sent
    presentation = site.options.presentation()
    drafts = sum(map(_shows_draft, obtained.articles))
    if drafts and presentation.disclosure is None:
        resolution.warnings.append(
            f"disclosure: is false, and texts that nobody has reviewed are shown: {drafts}; "
            "article 50 of the EU's AI Act demands that readers can tell; approve them, or leave "
            "the option out"
        )
    outcomes = []
    for article in obtained.articles:
        resolution.warnings += _warnings(article, sandbox=build.policy.sandbox)
        resolution.add_article(article, presentation, show_errors=warn_only)
        outcomes.append(article.outcome)
    _log_states(build, obtained.articles)
    seconds = time.monotonic() - started
    # Only a server and the build of the desk only warn. There, somebody can review drafts.
    resolution.summary = _summary_message(outcomes, drafts if warn_only else 0, seconds)
    return resolution


def _log_states(build: Build, articles: Sequence[Article]) -> None:
    """Log what has changed since texts were made. A warning would end a build with `--strict`."""
    watching = []
    outdated = []
    for article in articles:
        for source in article.stale:
            _log_stale(build, article, source)
        if build.reporter.is_verbose:
            build.reporter.debug(f"{article.place}: {article.outcome}")
        if article.request.watch:
            watching.append(article)
        if article.original and article.original_changes:
            outdated.append(article)
    if watching:
        _log_watched(build, watching)
    if outdated:
        _log_outdated(build, outdated)


def _log_watched(build: Build, articles: Sequence[Article]) -> None:
    """Log what has changed of the files that requests watch."""
    from .watched_files import with_watched_files

    for article in with_watched_files(articles, build.site.directory):
        if article.watched.message:
            build.reporter.log(f"{article.place}: {article.watched.message}")


def _log_outdated(build: Build, translations: Sequence[Article]) -> None:
    """Log that the originals of translations have changed, unless a draft follows that already.

    They are read again, since a build does not look up the drafts of texts that it has from files.
    """
    for article in build.site.reread(translations):
        if article.original_changes:
            build.reporter.log(f"{article.place}: {article.original_changes_message}")


def _log_stale(build: Build, article: Article, source: StaleSource) -> None:
    """Log what no longer holds in a text, with the sentences that may be wrong now."""
    build.reporter.log(
        f"{article.place}: {source.message}; check the text, or run `contentgen update "
        f"{article.page_argument}`"
    )
    if source.level == "wrong":
        for line in source.lines():
            build.reporter.log(f"  {line}")


def _shows_draft(article: Article) -> bool:
    """Tell whether a page shows a text that nobody has reviewed."""
    provenance = article.provenance
    return provenance is not None and provenance.review is None


def _warnings(article: Article, *, sandbox: bool) -> list[str]:
    """Return the warnings about a text in another language than its page, or from the sandbox."""
    found = []
    # The key of a text does not have the language of its page, so pages in two languages can share
    # one text.
    of_text = article.text_language
    of_page = article.asked.language
    are_known = bool(of_text and of_page)
    differ = are_known and _primary(of_text) != _primary(of_page)
    if differ and not article.request.language:
        found.append(
            f"{article.place}: its text is in '{of_text}' and the page in '{of_page}'; for a text "
            f"of its own, set `language: {of_page}`"
        )
    if not sandbox and article.approved and article.approved.header.service == SANDBOX:
        found.append(
            f"{article.place}: the text of its file is a sample of the sandbox; for a real one, "
            f"delete {article.path}"
        )
    return found


def _primary(language: str) -> str:
    return language.partition("-")[0].lower()


def _usage_message(outcomes: Iterable[Outcome], usage: str) -> str:
    """Return how many texts a model has written, and what they took."""
    models = []
    for outcome in outcomes:
        if outcome.origin == "service" and outcome.text:
            models.append(outcome.text.model)
    by = f" by {models[0]}" if models else ""
    return f"{counted(len(models), 'text')} generated{by}, {usage}"


def page_content(article: Article, presentation: Presentation, *, show_errors: bool) -> PageContent:
    """Return what a page shows of an article, or a placeholder, which may say what is wrong."""
    request = article.request
    if _is_pending(article.outcome):
        # Only the topic is shown.
        return PageContent(b"pending", pending_topic=request.topic)
    text = article.outcome.text
    provenance = article.provenance
    if text is None or provenance is None:
        return PageContent(_missing_message(article, show_errors=show_errors).encode())
    # Compressed, since all texts are in memory until the last page is built.
    html = article.html_to_show(text, has_notice=presentation.has_notice)
    packed = zlib.compress(html.encode(), level=1)
    provenance = provenance.published_by(presentation.publisher)
    return PageContent(packed, provenance, presentation, tuple(article.sources), request.level)


def _is_pending(outcome: Outcome) -> bool:
    return outcome.text is None and outcome.error == PENDING


def _missing_message(article: Article, *, show_errors: bool) -> str:
    """Return the message that a page shows in place of a text.

    The pages of a build can be public, so only those of a server show errors, which
    can contain paths and addresses.
    """
    topic = article.request.topic
    error = article.outcome.error
    if article.is_waiting:
        return f"“{topic}” is not translated yet; {error}"
    if show_errors and not (isinstance(error, MissingReason) and error.absence == "missing"):
        return f"“{topic}”: {error}"
    command = f"contentgen generate {article.page_argument}"
    if article.asked.original:
        return f"“{topic}” is not translated yet; `{command}` translates it"
    return f"“{topic}” is not generated yet; `{command}` generates it"


def _summary_message(outcomes: Sequence[Outcome], drafts: int, seconds: float) -> str:
    """Return how many texts a build has, by where they are from. `drafts` are to be reviewed."""
    number_from = Counter(map(attrgetter("origin"), outcomes))
    pending = sum(map(_is_pending, outcomes))
    without_text = number_from[None]
    parts = [f"{number_from['approved']} from approved files"]
    if number_from["proposed"]:
        parts.append(f"{number_from['proposed']} proposed")
    parts.append(f"{number_from['cache']} from the cache")
    parts.append(f"{number_from['service']} generated")
    if pending:
        parts.append(f"{pending} being generated")
    parts.append(f"{without_text - pending} missing")
    if drafts:
        parts.append(f"{drafts} to review with `contentgen review`")
    parts.append(f"in {seconds:.1f} s")
    return f"{counted(len(outcomes), 'text')}: {', '.join(parts)}"
