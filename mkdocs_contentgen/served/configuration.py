"""The configuration of a served writer, `writer.yml`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import msgspec
from msgspec import Meta

from ..errors import ConfigurationError
from ..files import reason_of
from ..writer.models.settings import (
    WriterFields,
    WriterOptions,
    find_secrets,
    load_options,
    option_problems,
)
from ..yaml_files import NotYAMLError, read_yaml
from .databases import is_address
from .users import UserLimits


class ServerFields(WriterFields, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options in `writer.yml`: those of the writer, and these."""

    ledger: Annotated[
        str, Meta(pattern=r"^[^\0]+\Z", extra={"message": "name a file, or postgresql://host/name"})
    ] = "writer.db"
    """Where users, answers and usage are kept: a file, or `postgresql://…`.

    With PostgreSQL, any number of processes and machines write together. The path is relative to
    `writer.yml`. Default: the environment variable `CONTENTGEN_LEDGER`, or `writer.db`."""

    limits: UserLimits = UserLimits()
    """The limits of each user, unless `contentgen writer user set` gives one others.

    `cost_per_month` needs `price`. Default: `{requests_per_minute: 20, parallel: 4}`."""

    keep_answers: Annotated[float, Meta(gt=0, le=36500)] = 30
    """The days for which an answer is kept for its Idempotency-Key. Default: `30`."""

    queue: Annotated[int, Meta(ge=0, le=100_000)] = 100
    """The number of texts that can wait for the model. Further requests get status 503.

    If it is full, whoever has most of it gives a place to others. Default: `100`."""

    allow_http: bool = False
    """Allow plain http to a model server on another host than loopback. Default: `false`."""


def load_server_configuration(path: Path) -> tuple[ServerFields, WriterOptions]:
    """Return the options in a file, and those of its writer with all that they name.

    Raises ConfigurationError, which names all problems.
    Problems have the path of the file and a line each.
    """
    fields = read_server_fields(path)
    value = {}
    for name in WriterFields.__struct_fields__:
        # Here, `max_cost` is for a month of all users, so the ledger checks it.
        if name != "max_cost":
            value[name] = getattr(fields, name)
    try:
        options = load_options(
            value, path.parent, allow_http=fields.allow_http, example="model: qwen3:8b", prefix=""
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    check_prices(path, fields, "max_cost", fields.max_cost)
    check_prices(path, fields, "limits.cost_per_month", fields.limits.cost_per_month)
    # The address of a ledger can have a password, which no program of `command` gets.
    secrets: tuple[str, ...] = ()
    if is_address(fields.ledger):
        secrets = find_secrets([fields.ledger])
    return fields, replace(options, secrets=secrets)


def check_prices(path: Path, fields: ServerFields, name: str, limit: float | None) -> None:
    """Raise ConfigurationError for a limit on cost without a price."""
    if limit is not None and not fields.price:
        raise ConfigurationError(
            f"{path}: {name} needs the price of the model, by which a text is counted before it "
            "is written, and where the model server reports no cost; write "
            "`price: {input: 0.15, output: 0.60}`, with zeros for a model of your own"
        )


def read_server_fields(path: Path) -> ServerFields:
    """Return the fields in a file, without reading the files that it names."""
    try:
        document = read_yaml(path.read_text(encoding="utf-8-sig"), environment=True)
    except NotYAMLError as error:
        raise ConfigurationError(f"{path}:{error.line}: {error}") from None
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"{path}: cannot be read ({reason_of(error)}); name another with --config, or write "
            "one, for which `model: qwen3:8b` is enough"
        ) from None
    value = {} if document.value is None else document.value
    problems = []
    for name, text in option_problems(value, ServerFields):
        problems.append((document.line_of(name), text))
    for repeated in document.repeated_keys:
        name = ".".join(map(str, repeated.path))
        problems.append((repeated.line, f"{name}: {repeated.reason}"))
    if problems:
        raise ConfigurationError("; ".join(f"{path}:{line}: {text}" for line, text in problems))
    options = cast(dict[str, object], value)  # it is a mapping, since it has no problems
    given = {}
    for name, option in options.items():
        if option is not None:
            given[name] = option
    ledger = os.environ.get("CONTENTGEN_LEDGER")
    if ledger:
        given.setdefault("ledger", ledger)
    return msgspec.convert(given, ServerFields)
