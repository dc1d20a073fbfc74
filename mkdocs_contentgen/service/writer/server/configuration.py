"""The configuration of a served writer, `writer.yml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
import yaml

from ....display import quoted
from ....errors import ConfigurationError
from ....yaml_lines import line_of
from ..ledger import Limits
from ..options import WriterFields, WriterOptions, load_options, option_problems

_MAX_FILE = 256 * 1024
_DAY = 24 * 3600


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

    @property
    def keep_seconds(self) -> float:
        """The seconds for which an answer is kept."""
        return self.fields.keep_answers * _DAY


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
    text = _read(path)
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(
            f"{path}:{line}: is not valid YAML: {error.problem or error.context}"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ConfigurationError(f"{path}: is not valid YAML") from None
    if value is None:
        value, node = {}, None
    problems = [f"{path}:{line}: {problem}" for line, problem in _duplicates(node)]
    for name, problem in option_problems(value, ServerFields):
        problems.append(f"{path}:{line_of(node, [name])}: {problem}")
    if problems:
        raise ConfigurationError("; ".join(problems))
    return msgspec.convert(
        {name: option for name, option in value.items() if option is not None}, ServerFields
    )


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MAX_FILE + 1)
    except FileNotFoundError:
        raise ConfigurationError(
            f"{path}: there is no such file; write one with `model: qwen3:8b`, or name another "
            "with --config"
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigurationError(f"{path}: cannot be read ({reason})") from None
    except ValueError:
        raise ConfigurationError(f"{path}: is not text in UTF-8") from None
    if len(text) > _MAX_FILE:
        raise ConfigurationError(f"{path}: is larger than {_MAX_FILE // 1024} KiB")
    return text


def _duplicates(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """Yield line and problem of each option that is given twice, also within a mapping."""
    if not isinstance(node, yaml.MappingNode):
        return
    for mapping in (node, *(value for _, value in node.value)):
        seen: list[object] = []
        for key, _ in mapping.value if isinstance(mapping, yaml.MappingNode) else ():
            if key.value in seen:
                yield key.start_mark.line + 1, f"{quoted(key.value)} is given twice"
            seen.append(key.value)
