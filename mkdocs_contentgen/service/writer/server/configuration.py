"""The configuration of a served writer, `writer.yml`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, cast

import msgspec

from ....display import quoted
from ....errors import ConfigurationError
from ....files import reason_of
from ....yaml_files import NotYAMLError, read_yaml
from ..ledger.protocol import Limits
from ..options import WriterFields, WriterOptions, load_options, option_problems

_MAX_FILE = 256 * 1024


class ServerFields(WriterFields, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options in `writer.yml`: those of the writer, and these."""

    ledger: str = "writer.db"
    """Where users, answers and usage are kept: a file, or `redis://…` for several processes.

    The path is relative to `writer.yml`. Default: `writer.db`."""

    limits: Limits = Limits()
    """The limits of each user.

    Default: `{requests_per_minute: 20, parallel: 4, cost_per_month: none}`."""

    keep_answers: Annotated[float, msgspec.Meta(gt=0, le=36500)] = 30
    """The days for which an answer is kept for its Idempotency-Key. Default: `30`."""

    queue: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 100
    """The number of texts that can wait for the model. Further requests get status 503.

    Default: `100`."""

    allow_http: bool = False
    """Allow plain http to a model server on another host than loopback. Default: `false`."""


@dataclass(frozen=True)
class Configuration:
    """The validated configuration. `directory` is that of the file."""

    fields: ServerFields
    options: WriterOptions
    directory: Path


def load_configuration(path: Path) -> Configuration:
    """Return the configuration in a file. Raises ConfigurationError, which names all problems.

    Problems have the path of the file and a line each.
    """
    fields = read_fields(path)
    value = {
        name: getattr(fields, name)
        for name in WriterFields.__struct_fields__
        # The ledger limits the cost of a month.
        if name != "max_cost"
    }
    options = load_options(
        value,
        path.parent,
        allow_http=fields.allow_http,
        place=f"{path}: ",
        example="model: qwen3:8b",
    )
    return Configuration(fields, replace(options, prefix=""), path.parent)


def read_fields(path: Path) -> ServerFields:
    """Return the fields in a file, without reading the files that it names."""
    try:
        document = read_yaml(_read(path))
    except NotYAMLError as error:
        raise ConfigurationError(f"{path}:{error.line}: {error}") from None
    value = {} if document.value is None else document.value
    problems = [
        *((line, f"{quoted(key)} is given twice") for line, key in document.repeated_keys()),
        *((document.line_of(name), text) for name, text in option_problems(value, ServerFields)),
    ]
    if problems:
        raise ConfigurationError("; ".join(f"{path}:{line}: {text}" for line, text in problems))
    options = cast(dict[str, object], value).items()
    return msgspec.convert({name: it for name, it in options if it is not None}, ServerFields)


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MAX_FILE + 1)
    except FileNotFoundError:
        raise ConfigurationError(
            f"{path}: there is no such file; write one with `model: qwen3:8b`, or name another "
            "with --config"
        ) from None
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({reason_of(error)})") from None
    if len(text) > _MAX_FILE:
        raise ConfigurationError(f"{path}: is larger than {_MAX_FILE // 1024} KiB")
    return text
