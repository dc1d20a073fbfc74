"""The commands `contentgen writer try` and `evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from ..errors import FailedTextError
from ..remark_words import sentence_of
from ..requests import REQUEST_TYPES, choices
from . import output
from .common import json_option, load_writer_options, site_options

if TYPE_CHECKING:
    from ..requests import Request
    from ..writer.evaluation import Trial
    from ..writer.models.settings import WriterOptions


def _field_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each field that some type of request has, with its values."""
    values_of: dict[str, Sequence[str]] = {}
    for model in REQUEST_TYPES.values():
        values_of |= choices(model)
    for name, values in reversed(values_of.items()):
        command = click.option(f"--{name}", type=click.Choice(values))(command)
    return command


@click.group()
def writer() -> None:
    """Write texts with a language model: try one out, or serve it to a team.

    `try` and `evaluate` take the options of mkdocs.yml, the others those of writer.yml.
    """


@writer.command("try")
@site_options
@click.argument("kind", metavar="TYPE", type=click.Choice(list(REQUEST_TYPES)))
@click.argument("topic")
@_field_options
def try_(config_file: str | None, kind: str, topic: str, **fields: str | None) -> None:
    """Write a text about TOPIC, print it with its remarks and cost, and keep nothing.

    TYPE is article, blog or news. Statements that a person has to check are highlighted.
    """
    model = REQUEST_TYPES[kind]
    chosen = {}
    for name, value in fields.items():
        if value is not None:
            chosen[name] = value
    try:
        request = msgspec.convert({"type": kind, "topic": topic, **chosen}, model)
    except ValueError as error:
        known = ", ".join(f"--{field}" for field in choices(model))
        raise click.UsageError(f"{error}; {kind} has a topic and {known}") from error
    options = load_writer_options(config_file)
    [trial] = _run_trials(options, [request])
    if trial.written:
        output.print_article(trial.written.text.html)
        for remark in trial.written.text.remarks:
            output.print_line(sentence_of(remark))
    elif isinstance(trial.error, FailedTextError):
        for line in trial.error.answer.splitlines():
            output.print_text_line(line)
    output.print_trials([trial], options.fields.currency)
    output.print_errors([str(trial.error)] if trial.error else [])


@writer.command()
@site_options
@json_option
@click.option("--yes", is_flag=True, help="Begin without a question.")
def evaluate(config_file: str | None, *, as_json: bool, yes: bool) -> None:
    """Write a text for each value of each field, print how good they are, and keep nothing.

    These are 19 texts, which can take long and cost money with a provider. So this says how many
    calls they take, and what they cost where the price is known, and asks.
    """
    from ..writer.evaluation import requests_to_evaluate, summary, total_estimate
    from ..writer.writing import estimate

    def show(trial: Trial) -> None:
        if as_json:
            return
        output.print_line(f"{trial.name}: {trial.outcome} ({trial.seconds:.0f} s)", err=True)

    requests = list(requests_to_evaluate())
    options = load_writer_options(config_file)
    if not yes:
        estimates = (estimate(request, options) for request in requests)
        message = f"{len(requests)} texts; {total_estimate(estimates, options)}"
        output.print_line(message, err=True)
        _ask_before_spending()
    trials = _run_trials(options, requests, on_trial=show)
    if as_json:
        output.print_json([trial.to_json() for trial in trials])
    else:
        output.print_trials(trials, options.fields.currency)
        output.print_line(summary(trials))
    errors = []
    for trial in trials:
        if trial.error:
            errors.append(str(trial.error))
    output.print_errors(list(dict.fromkeys(errors)))  # each once


def _ask_before_spending() -> None:
    """End the command unless a person wants to begin."""
    if not sys.stdin.isatty():
        raise click.ClickException("nobody can be asked here; --yes begins")
    click.confirm("Begin?", abort=True, err=True)


def _run_trials(
    options: WriterOptions,
    requests: Iterable[Request],
    *,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> Sequence[Trial]:
    """Write a text for each request, and print warnings. `on_trial` gets each trial once done."""
    import asyncio  # it would take a tenth of the time of other commands

    return asyncio.run(_run_trials_async(options, requests, on_trial))


async def _run_trials_async(
    options: WriterOptions, requests: Iterable[Request], on_trial: Callable[[Trial], None]
) -> Sequence[Trial]:
    from ..writer.evaluation import try_out
    from ..writer.models.model import make_model
    from ..writer.models.usage import Spending

    async with make_model(options, Spending(), reporter=output.make_reporter()) as model:
        trials = await try_out(requests, options, model, on_trial=on_trial)
        output.print_warnings([*model.warnings, *options.sources.warnings])
        return trials
