"""The options in `mkdocs.yml` or `zensical.toml`, and the objects that are made from them."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import timedelta
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast, get_args
from urllib.parse import unquote, urlsplit

from mkdocs.config import config_options as c
from mkdocs.config.base import (
    BaseConfigOption,
    Config,
    ConfigErrors,
    ConfigWarnings,
    ValidationError,
)
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, set_exclusions

from ..display import did_you_mean, quoted
from ..errors import ConfigurationError
from ..files import find_link, reason_of
from ..html.disclosure import DISCLOSURE_LINES
from ..service import SANDBOX, WRITER
from ..texts.policy import Limits, OnError, OnMissing, Policy
from ..yaml_files import convert, credential

if TYPE_CHECKING:
    from ..html.presentation import Presentation
    from ..service.protocol import Client

Styles = Literal["adapt", "keep", "strip"]

ONLY_CACHED = "_CONTENTGEN_ONLY_CACHED"
"""The environment variable of builds that request no text, and show what there is."""

EXTENSION = "contentgen"
"""The Markdown extension of sites that Zensical builds."""

MKDOCS_CACHE = ".cache/plugin/contentgen"
"""The default directory of the cache of a site that MkDocs builds."""

ZENSICAL_CACHE = ".contentgen-cache"
"""The default directory of the cache of a site that Zensical builds."""

_T = TypeVar("_T")


class _Value(BaseConfigOption[_T]):
    """An option of a type, with the arguments of its `msgspec.Meta` as limits.

    `read` returns what is used in place of a value. It raises ValueError.
    """

    def __init__(
        self, kind: object, default: _T, read: Callable[[Any], _T] | None = None, **limits: Any
    ) -> None:
        super().__init__()
        self.default = default
        self._kind = kind
        self._read = read
        self._limits = limits

    @property
    def kind(self) -> object:
        """The type, annotated with its limits."""
        from msgspec import Meta

        return Annotated[self._kind, Meta(**self._limits)]

    def run_validation(self, value: object) -> _T:
        default = cast(_T, self.default)
        if value is None or value == default:
            return default
        try:
            converted = convert(value, self.kind)
            if self._read:
                return self._read(converted)
            return cast(_T, converted)
        except ValueError as error:
            raise ValidationError(str(error)) from error


class _Choice(c.Choice[_T]):
    """An option with a fixed set of values."""

    def run_validation(self, value: object) -> _T:
        if value in self.choices:
            return cast(_T, value)
        names = [str(choice) for choice in self.choices]
        hint = did_you_mean(value, names)
        known = ", ".join(names)
        raise ValidationError(f"expected one of {known}, found {quoted(value)}{hint}")


def _read_age(text: str) -> timedelta:
    unit = {"h": "hours", "d": "days", "w": "weeks"}[text[-1]]
    return timedelta(**{unit: int(text[:-1])})


def _read_cache_address(address: str) -> str:
    from ..texts.store.shared import SCHEMES, shown_address

    if address and not shown_address(address):
        raise ValueError(
            f"is not an address such as redis://host:6379; it begins with {', '.join(SCHEMES)}"
        )
    return address


def _read_disclosure(value: bool | dict[str, str]) -> Mapping[str, str] | None:
    if isinstance(value, bool):
        return {} if value else None
    return value


def _read_defaults(value: dict[str, object]) -> dict[str, object]:
    from ..requests import check_defaults

    problems = check_defaults(value)
    if problems:
        raise ValueError("; ".join(map(str, problems)))
    return value


def _read_writer(value: object) -> dict[str, object]:
    if value is None or value == {}:  # None is `writer:` without options
        return {}
    from ..writer.models.settings import option_problems

    problems = option_problems(value)
    if problems:
        raise ValueError("; ".join(problem for _, problem in problems))
    return cast(dict[str, object], value)


class Options(Config):
    # The texts below the options are what the guide and `contentgen schema --options` show.
    """The options under `plugins: - contentgen:` in `mkdocs.yml`."""

    base_url = _Value(str, "")
    """The service's address, such as `https://content.example/api`, or `writer`, or `sandbox`.

    With `writer`, a language model of your own writes the texts; see the option `writer`.

    Default: the environment variable `CONTENTGEN_BASE_URL`."""

    writer = _Value[dict[str, object]](object, {}, _read_writer)
    """The language model that writes with `base_url: writer`, such as `{model: qwen3:8b}`.

    All its options are below. Default: `{}`."""

    user_id = _Value(str, "", extra=credential("CONTENTGEN_USER_ID"))
    """The user identifier, sent as the query parameter `user_id`.

    It is from the service's dashboard, or the NAME of `contentgen writer user add`.
    Default: the environment variable `CONTENTGEN_USER_ID`."""

    token = _Value(str, "", extra=credential("CONTENTGEN_TOKEN"))
    """The bearer token from the service's dashboard, or from `contentgen writer user add`.

    It is never printed or stored.
    Default: the environment variable `CONTENTGEN_TOKEN`, which is the place to keep it."""

    allow_http = _Value(bool, False)
    """Allow plain `http` to other hosts than this machine. The token is then sent unencrypted.

    Default: `false`."""

    service_fields = c.ListOfItems(
        _Choice(("brief", "language", "update", "translate")), default=[]
    )
    """The fields and operations that your service takes beyond those of the interface.

    `[brief, language, update, translate]` is for a [writer for the team](team.md).
    Default: `[]`."""

    on_missing = _Choice(get_args(OnMissing), default="generate")
    """What to do about a text that is neither approved nor cached.

    `generate` asks the service for it, `placeholder` shows that it is missing, and `fail` fails
    the build. The last two never open a connection. The environment variable
    `CONTENTGEN_ON_MISSING` overrides this option. Default: `generate`."""

    on_error = _Choice(get_args(OnError), default="fail")
    """What to do about a request that failed: `fail` the build, or show a `placeholder` and warn.

    Default: `fail`."""

    require_approval = _Value(bool, False)
    """Fail, without sending requests, if any article is not approved. Default: `false`."""

    max_requests = _Value(int, 100, ge=0)
    """The maximum number of requests. A build that needs more fails before it sends the first.

    Default: `100`."""

    max_age = _Value[timedelta | None](
        str,
        None,
        _read_age,
        pattern=r"^[1-9][0-9]{0,3}\s*[hdw]$(?!\n)",
        description="a time such as 12h, 30d or 8w",
    )
    """The maximum age of a cached text, such as `30d`. An older text is requested again.

    When that fails, the old text stays, with a warning. Units are `h`, `d` and `w`.
    Default: none."""

    review_every = _Value[timedelta | None](
        str,
        None,
        _read_age,
        pattern=r"^[1-9][0-9]{0,3}\s*[hdw]$(?!\n)",
        description="a time such as 180d or 26w",
    )
    """The time after which an approved text is due for another review, such as `180d`.

    `contentgen status` and `contentgen report` name what is due, with its `owner`; nothing fails.
    Units are `h`, `d` and `w`. Default: none."""

    concurrency = _Value(int, 8, ge=1, le=1000)
    """The maximum number of concurrent requests. Default: `8`."""

    timeout = _Value(
        float, 120.0, gt=0, le=sys.float_info.max, description="a number of seconds above 0"
    )
    """The timeout of one request in seconds, including retries. Default: `120`."""

    retries = _Value(int, 2, ge=0)
    """The maximum number of retries, for requests that certainly did not run. Default: `2`."""

    defaults = _Value[dict[str, object]](dict, {}, _read_defaults)
    """Field values for all requests of the site that have none of their own.

    `length`, `language` and `sources` are for all types; other fields are set for each type, such
    as `{length: short, blog: {style: technical}}`. Default: `{}`."""

    cache_dir = _Value(str, "")
    """The directory of the cache, relative to `mkdocs.yml`; `~` is the home directory.

    Default: `.cache/plugin/contentgen`; for sites whose `markdown_extensions` have `contentgen`,
    `.contentgen-cache`, since `zensical build --clean` deletes all of `.cache`."""

    cache_url = _Value(str, "", _read_cache_address, extra=credential("an environment variable"))
    """A Redis or Valkey that many machines share as their cache, such as `rediss://host:6379`.

    The cache of each machine stays in front of it. A user and a password in the address are never
    printed; `!ENV` keeps them out of the file. Needs the extra `redis`. Default: none."""

    approved_dir = _Value(str, "contentgen")
    """The directory for approved articles, relative to `mkdocs.yml`. Commit its files.

    Default: `contentgen`."""

    styles = _Choice(get_args(Styles), default="adapt")
    """Inline styles of the service: `adapt` them to the theme, `keep` what is harmless, or `strip`.

    Default: `adapt`."""

    image_hosts = _Value[Sequence[str]](list[str], [])
    """Hosts whose https images may be shown in generated text; other images become links.

    Default: `[]`."""

    disclosure = _Value[Mapping[str, str] | None](
        # Only msgspec reads the names.
        bool | dict[Literal[*DISCLOSURE_LINES], str],  # type: ignore[valid-type]
        {},
        _read_disclosure,
        description=f"true, false or lines for {', '.join(DISCLOSURE_LINES)}",
        extra_json_schema={"propertyNames": {"enum": [*DISCLOSURE_LINES]}},
    )
    """The visible disclosure line of each article.

    `false` hides it (what machines read stays). A mapping says it in other words or in another
    language: `{draft: "…", approved: "… {name} … {date}", written: "… {author}", end: "…",
    responsibility: "… {name}"}`. `written` is for texts that a person wrote, and `end` is the line
    at the end of an article that the author's text follows. Translations have their own:
    `{translated: "… {language}", translated_approved: "… {language} … {name} … {date}",
    translated_by: "… {author} … {language}", translated_end: "…",
    original_changed: "… {language} … {count}"}`, by default in their language. Default: `true`."""

    translations = _Value[Mapping[str, bool]](
        dict[Literal["notice"], bool],
        {},
        description="{notice: true} or {notice: false}",
        extra_json_schema={"propertyNames": {"enum": ["notice"]}},
    )
    """What the readers of translations see.

    With `{notice: true}`, a translation whose original has changed since says so below its
    disclosure line, with a link to the original, and the paragraphs that are not up to date have a
    dotted line at their side. Default: `{notice: true}`."""

    editorial_responsibility = _Value(
        str,
        "",
        pattern=r"^[^\x00-\x1f\x7f]{0,200}$",
        description="a name of at most 200 characters on one line",
    )
    """Who has the editorial responsibility for approved articles, such as `Acme GmbH`.

    The disclosure line of each approved article names it, and its metadata has it as the
    publisher. Default: none."""


_MODEL_SERVERS = frozenset(
    "anthropic azure chatgpt claude codex deepseek gemini google gpt groq litellm llama llama.cpp "
    "lmstudio lm-studio localai mistral ollama openai openrouter vllm".split()
)
"""What people write as `base_url` for a language model of their own."""

_MIN_SECRET = 16
"""The minimum length of a secret in a file. A shorter one can be a word: `ollama`."""


def _is_written_out(secret: str) -> bool:
    """Tell whether a value is a secret that stands in the configuration itself.

    What `!ENV` puts there is a value of the environment. A value without a digit is a placeholder,
    such as `sk-no-key-required`.
    """
    if len(secret) < _MIN_SECRET or not any(map(str.isdigit, secret)):
        return False
    return secret not in os.environ.values()


def _has_password_written_out(address: str) -> bool:
    """Tell whether an address has a password that stands in the configuration itself."""
    try:
        password = unquote(urlsplit(address).password or "")
    except ValueError:
        return False
    values = os.environ.values()
    return bool(password) and password not in values and address not in values


def _unknown_hint(name: str, known: Collection[str]) -> str:
    """Return what is right in place of an option that is not known."""
    from ..writer.models.settings import WriterFields

    if name in WriterFields.__struct_fields__:
        return "; it belongs below `writer`"
    return did_you_mean(name, known)


class ContentgenConfig(Options):
    """The options, and what is made from them."""

    def validate(self) -> tuple[ConfigErrors, ConfigWarnings]:
        """Check the options. The warning about one that is unknown names the nearest one."""
        failed, warnings = super().validate()
        known = self._schema_keys
        hinted = []
        for name, message in warnings:
            hint = "" if name in known else _unknown_hint(name, known)
            hinted.append((name, f"{message}{hint}"))
        return failed, [*hinted, *self._warnings_of_secrets()]

    def _warnings_of_secrets(self) -> Iterator[tuple[str, str]]:
        """Yield a warning for each secret that stands in the configuration, without that."""
        writer = self.writer if isinstance(self.writer, dict) else {}
        secrets = [
            ("token", "", self.token, "CONTENTGEN_TOKEN"),
            ("writer", "api_key: ", writer.get("api_key"), "CONTENTGEN_MODEL_KEY"),
        ]
        for option, prefix, secret, variable in secrets:
            if isinstance(secret, str) and _is_written_out(secret):
                yield (
                    option,
                    f"{prefix}a secret in this file gets into git; take it out, set {variable} "
                    "instead, and make a new one if others could read the file",
                )
        if isinstance(self.cache_url, str) and _has_password_written_out(self.cache_url):
            yield (
                "cache_url",
                "a password in this file gets into git; write `!ENV` and the name of an "
                "environment variable with the address",
            )

    def presentation(self) -> Presentation:
        """Return the options for the appearance of articles."""
        from ..html.presentation import Presentation

        publisher = self.editorial_responsibility.strip()
        has_notice = self.translations.get("notice", True)
        return Presentation(
            self.styles, self.image_hosts, self.disclosure, publisher, has_notice=has_notice
        )

    def address(self) -> str:
        """Return the option `base_url`, or else the environment variable, or an empty string."""
        return (self.base_url or os.environ.get("CONTENTGEN_BASE_URL", "")).strip()

    def uses_sandbox(self) -> bool:
        """Tell whether `base_url` selects the sandbox."""
        return self.address() == SANDBOX

    def uses_writer(self) -> bool:
        """Tell whether `base_url` selects the writer."""
        return self.address() == WRITER

    def service_can(self, operation: Literal["update", "translate"]) -> bool:
        """Tell whether the service has an operation that the interface lacks."""
        has_both = self.uses_writer() or self.uses_sandbox()
        return has_both or operation in self.service_fields

    def currency(self) -> str:
        """Return the currency of what texts cost, or an empty string if it is not known."""
        if not self.writer:
            return ""
        from ..writer.models.settings import read_writer_fields

        return read_writer_fields(self.writer).currency

    def command_policy(self) -> Policy:
        """Return the options for requests of a command, which a person has started."""
        return Policy(
            max_requests=self.max_requests,
            max_age=self.max_age,
            sandbox=self.uses_sandbox(),
            translates_drafts=not self.require_approval,
        )

    def policy(self) -> Policy:
        """Return the options for requests and failures of a build.

        Raises ConfigurationError if CONTENTGEN_ON_MISSING has an unknown value.
        """
        if ONLY_CACHED in os.environ:
            return Policy(
                "placeholder", sandbox=self.uses_sandbox(), shows_drafts=True, warn_only=True
            )
        on_missing = os.environ.get("CONTENTGEN_ON_MISSING") or self.on_missing
        if on_missing not in get_args(OnMissing):
            known = ", ".join(get_args(OnMissing))
            raise ConfigurationError(
                f"CONTENTGEN_ON_MISSING: {quoted(on_missing)} is not one of {known}"
                f"{did_you_mean(on_missing, get_args(OnMissing))}"
            )
        return replace(
            self.command_policy(),
            on_missing=cast(OnMissing, on_missing),
            on_error=self.on_error,
            require_approval=self.require_approval,
        )

    def limits(self) -> Limits:
        """Return the options that limit requests."""
        if self.uses_writer():
            from ..writer.models.settings import read_writer_fields

            # Each call to the model has a timeout and retries of its own.
            return Limits(read_writer_fields(self.writer).texts_at_once, math.inf, 0)
        return Limits(self.concurrency, self.timeout, self.retries)

    def connect(self) -> AbstractAsyncContextManager[Client]:
        """Return a client of the service. Raises ConfigurationError."""
        if not self.address() and self.writer:
            raise ConfigurationError(
                f"base_url: is not set; write `base_url: {WRITER}`, so that the model of the "
                "option `writer` writes the texts"
            )
        if not self.address():
            raise ConfigurationError(
                "base_url: is not set; set CONTENTGEN_BASE_URL to the service's address, or "
                "`base_url: writer` for texts by a language model of your own, or "
                "`base_url: sandbox` to try things out with sample texts, or "
                "`on_missing: placeholder` to build without the missing texts"
            )
        from ..service.client import ServiceClient

        address = self.address()
        hint = ""
        if "://" not in address:
            hint = did_you_mean(address, (WRITER, SANDBOX))
        if address.lower() in _MODEL_SERVERS:
            hint = (
                f"; did you mean `{WRITER}`? The option `writer` then names the model, such as "
                "`writer: {model: qwen3:8b}`"
            )
        if hint:
            raise ConfigurationError(f"base_url: {quoted(address)} is not an address{hint}")
        return ServiceClient(
            address,
            self.user_id or os.environ.get("CONTENTGEN_USER_ID", ""),
            self.token or os.environ.get("CONTENTGEN_TOKEN", ""),
            allow_http=self.allow_http,
        )


def load_values(config: Config, values: Mapping[str, object], prefix: str) -> list[str]:
    """Set and check the values of a configuration, and return warnings.

    `prefix` begins each message. Raises ConfigurationError.
    """
    config.load_dict(dict(values))
    failed, warnings = config.validate()
    if failed:
        name, problem = failed[0]
        raise ConfigurationError(f"{prefix}{name}: {' '.join(str(problem).split())}")
    return [f"{prefix}{name}: {message}" for name, message in warnings]


def refuse_extension_options(extensions: Mapping[str, object], path: str) -> None:
    """Raise ConfigurationError if the Markdown extension has options: those are the plugin's."""
    if extensions.get(EXTENSION):
        raise ConfigurationError(
            f"{path}: markdown_extensions.{EXTENSION}: has options; write them under `plugins`"
        )


def project_directory(config: MkDocsConfig) -> Path:
    """Return the directory that the paths of options are relative to: that of `mkdocs.yml`."""
    if config.config_file_path:
        return Path(config.config_file_path).parent
    return Path.cwd()


def resolve_directory(option: str, value: str, config: MkDocsConfig) -> Path:
    """Return the path of a directory option.

    Raises ConfigurationError for a symbolic link, and if the files would be published or lost.
    """
    project = project_directory(config)
    expanded = os.path.expanduser(value)  # noqa: PTH111  Path.expanduser() raises RuntimeError
    directory = Path(os.path.normpath(project / expanded))
    try:
        if expanded.startswith("~"):
            raise FileNotFoundError(ENOENT, "there is no such home directory")
        link = find_link(directory, project)
        with suppress(FileNotFoundError, NotADirectoryError):
            directory.lstat()  # fails if this can be no path, as if it is too long
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{option}: {quoted(value[:80])} is not a path ({reason_of(error)})"
        ) from None
    if link:
        raise ConfigurationError(
            f"{option}: {link} is a symbolic link, which is not followed; give the directory that "
            f"it leads to as {option}, or put a directory in the place of the link"
        )
    problem = _publishing_problem(directory.resolve(), config)
    if problem:
        raise ConfigurationError(f"{option}: {quoted(value)} {problem}")
    return directory


def _publishing_problem(directory: Path, config: MkDocsConfig) -> str:
    """Return why the files of a directory would be published or lost, or an empty string."""
    docs = Path(config.docs_dir).resolve()
    built = Path(config.site_dir).resolve()
    if directory.is_relative_to(built):
        return "is in site_dir, which each build empties; choose another directory"
    if docs.is_relative_to(directory):
        return "contains docs_dir, so that pages and its files would mix; choose another directory"
    if not directory.is_relative_to(docs):
        return ""
    from ..texts.store import DATABASE

    name = directory.relative_to(docs).as_posix()
    # One of each kind of file that is kept in such a directory.
    kept = []
    for file in ("page.html", "folder/page.md/main.html", DATABASE, f"{DATABASE}-wal"):
        kept.append(
            File(f"{name}/{file}", config.docs_dir, config.site_dir, use_directory_urls=True)
        )
    set_exclusions(kept, config)
    if all(file.inclusion.is_excluded() for file in kept):
        return ""
    return (
        "is in docs_dir, so that its files would be published as they are, which is not safe; add "
        f"`/{name}/` to exclude_docs"
    )
