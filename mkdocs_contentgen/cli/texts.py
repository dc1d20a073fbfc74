"""The commands that read, compare, import, approve and eject texts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from ..display import counted, escape_controls, paths_from_here
from ..files import reason_of
from ..git import user_name
from ..remark_words import sentence_of
from .common import (
    ask_before_losing,
    ask_before_replacing,
    load_articles,
    load_undamaged,
    open_site,
    page_argument,
    pages_argument,
    site_options,
)
from .output import (
    print_article,
    print_brief,
    print_errors,
    print_failure,
    print_git_add,
    print_line,
    print_next,
    print_remarks,
    print_text_line,
)

if TYPE_CHECKING:
    from ..review.approving import DecidedApproval
    from ..review.sentences_to_check import SentenceToCheck
    from ..site.site import Site
    from ..text import Text
    from ..texts.articles import Article

id_option = click.option(
    "--id", "name", metavar="ID", help="The article of the page with this id, only."
)


@click.command()
@site_options
@page_argument
@id_option
@click.option("--answer", is_flag=True, help="Print only what was answered, of a text that failed.")
def show(config_file: str | None, page: str, name: str | None, *, answer: bool) -> None:
    """Print the texts of PAGE, or its drafts, as they would stand in the page.

    For a text that failed, print why, and what was answered.
    """
    with open_site(config_file) as site:
        articles = _named(load_undamaged(site, page), page, name)
        if answer:
            _print_answers(articles)
            return
        missing: list[str] = []
        for article in articles:
            heading = f"{article.page}, article '{article.request.id}'"
            heading += f": {article.state}, {article.reason}"
            text = article.outcome.text
            if text:
                _print_text(site, article, text, heading)
                if article.failed_update:
                    print_failure(article, site.options.currency())
            elif article.failure:
                print_line(heading, bold=True)
                print_failure(article, site.options.currency())
            else:
                missing.append(_no_text_message(article, heading))
    print_errors(missing)


def _no_text_message(article: Article, heading: str) -> str:
    """Return that an article has no text, and what to do, once if its reason says that."""
    if article.reason.endswith(article.how_to_get_text):
        return heading
    return f"{heading}; {article.how_to_get_text}"


def _print_text(site: Site, article: Article, text: Text, heading: str) -> None:
    """Print the text that a page shows; of a draft also what to check and to read."""
    from ..review.sentences_to_check import sentences_to_check

    heading += f"; generated on {text.generated_at.date()}"
    if text.model:
        heading += f" by {text.model}"
    if article.asked.original:
        languages = f"→ {article.text_language}"
        if text.original and text.original.language:
            languages = f"{text.original.language} {languages}"
        heading += f"; translation of {article.asked.original.name} ({languages})"
    print_line(heading, bold=True)
    print_brief(article)
    print_remarks(article)
    click.echo()
    print_article(text.html)
    if not article.shows_approved_file:
        _print_sentences(sentences_to_check(site, article, text))


def _print_sentences(sentences: Iterable[SentenceToCheck]) -> None:
    """Print what to check and to read in a draft, with the passages that come closest."""
    for sentence in sentences:
        click.echo()
        label = "to check" if sentence.has_statements else "to read"
        print_line(f"{label}: {sentence.text}", bold=True)
        for evidence in sentence.evidence:
            passage = " ".join(evidence.passage.text.split())
            print_line(f"  {evidence.passage.file}, {evidence.passage.title}: {passage}")
        if sentence.has_sources and not sentence.evidence:
            print_line("  no source says this")


def _named(articles: Sequence[Article], page: str, name: str | None) -> Sequence[Article]:
    """Return the articles of a page with an id, or all. Raises UsageError if there is none."""
    if name is None:
        return articles
    found = [article for article in articles if article.request.id == name]
    if not found:
        names = ", ".join(sorted({article.request.id for article in articles}))
        raise click.UsageError(f"{page} has no article '{name}'; it has: {names}")
    return found


def _print_answers(articles: Sequence[Article]) -> None:
    """Print what was answered in place of texts. Raises UsageError if no text has failed."""
    without_text = []
    for article in articles:
        if article.failure or article.answer:
            without_text.append(article)
    if not without_text:
        raise click.UsageError("no answer of this page is remembered as one that nobody can use")
    for article in without_text:
        for line in article.answer.splitlines():
            print_text_line(line)


@click.command()
@site_options
@page_argument
def diff(config_file: str | None, page: str) -> None:
    """Compare the approved text of PAGE with its newest draft, word by word.

    If the approved file was edited since, compare what was approved with the edited text.
    """
    from ..review.diffs import compare_versions

    with open_site(config_file) as site:
        for article in load_undamaged(site, page):
            name = f"{article.page}, article '{article.request.id}'"
            compared = list(compare_versions(article, site.options))
            print_brief(article)
            for heading, changes in compared:
                print_line(f"{name}: {heading}", bold=True)
                click.echo(changes)
            if not compared:
                print_line(
                    f"{name}: {article.state}, {article.reason}; there is nothing to compare"
                )
                print_remarks(article)


@click.command()
@site_options
@pages_argument
@click.option("--all", "everything", is_flag=True, help="Approve every article of the site.")
@click.option("--by", metavar="NAME", help="Who is responsible for the text; else git's user.name.")
@click.option(
    "--reason", metavar="TEXT", help="Why you approve a text with statements left to check."
)
@click.option("--yes", is_flag=True, help="Overwrite human edits that the newer draft has not.")
def approve(
    config_file: str | None,
    pages: tuple[str, ...],
    everything: bool,
    by: str | None,
    reason: str | None,
    *,
    yes: bool,
) -> None:
    """Write the texts of PAGES to approved files: you have read them and are responsible for them.

    It approves the newest draft. If an approved file was edited by hand, it approves the edited
    text, unless you choose a newer draft when asked, or with --yes; without a terminal, it approves
    neither if people have changed that draft, too. A text with statements to check is only approved
    with --reason, which its file keeps with the statements.
    """
    from ..errors import ApprovalError, StoreError
    from ..review.approving import decide_approval, reason_problem, text_to_approve
    from ..texts.approved_writer import write_file

    if bool(pages) == everything:
        raise click.UsageError("name the pages to approve, or use --all")
    name = reviewer(by)
    if reason is not None:
        reason = reason.strip()
        problem = reason_problem(reason)
        if problem:
            raise click.UsageError(f"--reason: the text {problem}")

    def agree(article: Article) -> bool:
        return True

    with open_site(config_file) as site, closing(site.store()) as store:
        failures: list[str] = []
        approved: set[Path] = set()
        cited = site.cited_passages()
        for article in _originals_first(site, load_articles(site, pages)):
            if not article.needs_approval:
                print_line(f"{article.page}: already approved: {article.reason}")
                continue
            try:
                options = site.options
                chosen = text_to_approve(article, options, agree if yes else _confirm_draft)
                decided = decide_approval(
                    chosen,
                    name,
                    options,
                    cited=cited.of(chosen.text),
                    reason=reason or "",
                )
                write_file(decided.file, store)
            except (ApprovalError, StoreError) as error:
                failures.append(str(error))
            else:
                _print_approval(decided)
                approved.add(article.directory)
    for directory in approved:
        print_git_add(directory)
    print_errors(failures)


def _confirm_draft(article: Article) -> bool:
    """Ask whether to approve the newer draft, and not the file that was edited by hand.

    Raises ApprovalError where nobody can be asked, and human edits would be lost.
    """
    from ..errors import ApprovalError

    path = escape_controls(paths_from_here(str(article.path)))
    if sys.stdin.isatty():
        question = f"{path} was edited by hand. Replace it by the newer draft?"
        return click.confirm(question, default=False)
    if article.has_edited_draft:
        raise ApprovalError(
            f"{path}: was edited by hand, and people have changed the newer draft, too; run this "
            "in a terminal to choose one of them"
        )
    return False


def _originals_first(site: Site, articles: Sequence[Article]) -> Iterator[Article]:
    """Yield the articles that are not translations, and then those that are.

    The translations are read again when it is their turn: if their originals were approved before
    that, their drafts are translations of approved texts now.
    """
    translations = []
    for article in articles:
        if article.asked.original:
            translations.append(article)
        else:
            yield article
    if translations:
        yield from site.reread(translations)


def _print_approval(decided: DecidedApproval) -> None:
    """Print that a text was approved, and what a person should know of it."""
    article = decided.article
    line = f"{article.page}: approved in {article.path}"
    author = decided.file.approved.text.written_by
    if author:
        line += f", as a {article.asked.noun} by {author}"
    print_line(line)
    for check_line in decided.check_lines:
        print_line(check_line)


@click.command("import")
@site_options
@page_argument
@click.argument("file", type=click.File(encoding="utf-8-sig"), default="-")
@id_option
@click.option("--model", default="", metavar="NAME", help="The model that wrote it.")
@click.option("--by", default="", metavar="NAME", help="The person who wrote it, without a model.")
@click.option("--yes", is_flag=True, help="Replace a draft that people have written or changed.")
def import_(
    config_file: str | None,
    page: str,
    file: TextIO,
    name: str | None,
    model: str,
    by: str,
    *,
    yes: bool,
) -> None:
    """Make a draft for PAGE out of FILE, Markdown or HTML; `-` is the standard input.

    It is read, checked and reviewed as an answer of a model. With --by, the page names who wrote
    it, and says nothing of AI.
    """
    from ..review.importing import import_text

    _check_author(model, by)
    with open_site(config_file) as site:
        if site.options.uses_sandbox():
            raise click.UsageError(
                "the sandbox has sample texts of its own; first take `base_url: sandbox` out of "
                "the configuration"
            )
        article = _only_one(_named(load_undamaged(site, page), page, name), page)
        answer = _read_answer(file)

        def ask() -> None:
            if not yes:
                ask_before_replacing([article], "--yes replaces their words by those of this file")

        text = import_text(site, article, answer, model=model, by=by, ask_before_replacing=ask)
    remarks = "no remarks"
    if text.remarks:
        remarks = counted(len(text.remarks), "remark")
    print_line(f"{article.place}: the text is a draft, {remarks}")
    for remark in text.remarks:
        print_line(f"{article.place}: not as requested: {sentence_of(remark)}")
    known = article.newest.updates if article.newest else ()
    for line in text.updates:
        if line not in known:
            print_line(f"{article.place}: {line}")
    print_next(f"contentgen review {article.page_argument}")


def _only_one(articles: Sequence[Article], page: str) -> Article:
    """Return the only article of a page. Raises UsageError if there are several."""
    if len(articles) > 1:
        arguments = [f"{article.page} --id {article.request.id}" for article in articles]
        names = ", ".join(arguments)
        raise click.UsageError(f"{page} has several articles; name one of: {names}")
    return articles[0]


def _read_answer(file: TextIO) -> str:
    """Return what a file has. Raises UsageError for one that cannot be imported."""
    from ..review.importing import MAX_IMPORT

    try:
        answer = file.read(MAX_IMPORT + 1)
    except (OSError, UnicodeError) as error:
        raise click.UsageError(f"{file.name}: cannot be read ({reason_of(error)})") from error
    if len(answer) > MAX_IMPORT:
        raise click.UsageError(f"{file.name}: has more than {MAX_IMPORT:,} characters")
    if not answer.strip():
        raise click.UsageError(f"{file.name}: is empty; write the text into it first")
    return answer


def _check_author(model: str, by: str) -> None:
    """Raise UsageError unless one of both is the name of who wrote a text, or none is given."""
    from ..text import model_name
    from ..texts.approved_file import name_problem

    if model and by:
        raise click.UsageError("--by is for a text without a model; leave --model or --by out")
    if model and not model_name(model):
        raise click.UsageError("--model: is not the name of a model on one line")
    problem = name_problem(by) if by else ""
    if problem:
        raise click.UsageError(f"--by: the name {problem}")


@click.command()
@site_options
@page_argument
@id_option
def prompt(config_file: str | None, page: str, name: str | None) -> None:
    """Print what a model is asked for the texts of PAGE, with the sources to cite.

    A long translation takes several prompts, and `contentgen import` their answers in one file.
    """
    from ..review.importing import prompts_for

    with open_site(config_file) as site:
        for article in _named(load_undamaged(site, page), page, name):
            prompts = prompts_for(site, article)
            for number, text in enumerate(prompts, start=1):
                if len(prompts) > 1:
                    print_text_line(f"----- prompt {number} of {len(prompts)} -----", bold=True)
                for line in text.splitlines():
                    print_text_line(line)
            if len(prompts) > 1:
                print_next(
                    f"contentgen import {article.page_argument} FILE",
                    why=f"Ask for each of these {len(prompts)} prompts in a chat of its own, and "
                    "put the answers into one file, one below the other. Next",
                )


@click.command()
@site_options
@page_argument
def eject(config_file: str | None, page: str) -> None:
    """Write the articles of PAGE into its file as Markdown, and remove the requests.

    From then on, you edit the page by hand, and the plugin ignores it. Its approved files are not
    needed any more.
    """
    from ..review.ejection import check_before_ejection, eject_articles

    with open_site(config_file) as site:
        articles = load_undamaged(site, page)
        pages = {article.page for article in articles}
        if len(pages) > 1:
            raise click.UsageError(f"{page} matches {len(pages)} pages; name one")
        notes: list[str] = []
        for article in articles:
            notes += check_before_ejection(article, site.options)
        _ask_before_leaving_out(articles)
        print_line(eject_articles(site, articles))
        for note in notes:
            print_line(note, err=True)
        for article in articles:
            if article.shows_file:
                print_line(f"{article.path}: can be deleted")
            elif article.approved:
                print_line(
                    f"{article.path}: has the text for an earlier request, which was not written"
                )


def _ask_before_leaving_out(articles: Sequence[Article]) -> None:
    """End the command unless a person wants to leave out newer drafts that people have changed."""
    for article in articles:
        is_left_out = article.shows_approved_file and article.has_newer_draft
        if is_left_out and article.has_edited_draft:
            text = f"the text of {escape_controls(paths_from_here(str(article.path)))}"
            page = escape_controls(article.page)
            ask_before_losing(
                f"the newer draft of {page}",
                f"approve it first, or run this in a terminal to write {text} without their words",
                f"Write {text}, without the words of the draft?",
            )


def reviewer(by: str | None) -> str:
    """Return the name of the person who approves: `by`, or else git's. Raises UsageError."""
    from ..texts.approved_file import name_problem

    name = by or user_name()
    if not name:
        raise click.UsageError("git knows no user.name; say who approves with --by NAME")
    problem = name_problem(name)
    if problem:
        raise click.UsageError(f"the name {problem}; say who approves with --by NAME")
    return name
