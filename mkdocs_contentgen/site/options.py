"""The options in `mkdocs.yml` or `zensical.toml`, and the objects that are made from them."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, cast, get_args
from unicodedata import category

from mkdocs.config import config_options as c
from mkdocs.config.base import Config, ConfigErrors, ConfigWarnings, ValidationError, get_schema

from ..display import escape_controls, quoted
from ..errors import ConfigurationError
from ..html.disclosure import LINES
from ..redis_connection import SCHEMES, shown_address
from ..service import SANDBOX, WRITER
from ..texts.policy import Limits, OnError, OnMissing, Policy

if TYPE_CHECKING:
    from ..html.presentation import Presentation
    from ..service.protocol import Client

Styles = Literal["adapt", "keep", "strip"]

ONLY_CACHED = "_CONTENTGEN_ONLY_CACHED"
"""The environment variable of builds that request no text, and show what there is."""

EXTENSION = "contentgen"
"""The Markdown extension of sites that Zensical builds."""

MKDOCS_CACHE, ZENSICAL_CACHE = ".cache/plugin/contentgen", ".contentgen-cache"
"""The default directories of the cache."""


_DURATION = r"^([1-9][0-9]{0,3})\s*([hdw])$(?!\n)"


TWO_PLACES = (
    "the options of contentgen are in `plugins` and in `markdown_extensions`; keep one of them"
)


class _Integer(c.OptionallyRequired[int]):
    def __init__(self, *, least: int, default: int) -> None:
        super().__init__(default=default)
        self._least = least
        self.json_schema: Mapping[str, object] = {"type": "integer", "minimum": least}

    def run_validation(self, value: object) -> int:
        if type(value) is not int or value < self._least:
            raise ValidationError(
                f"expected a whole number from {self._least} up, found {quoted(value)}"
            )
        return value


class _Seconds(c.OptionallyRequired[float]):
    json_schema: ClassVar[Mapping[str, object]] = {"type": "number", "exclusiveMinimum": 0}

    def run_validation(self, value: object) -> float:
        number = cast(float, value) if type(value) in (int, float) else 0
        if 0 < number <= sys.float_info.max:
            return float(number)
        raise ValidationError(f"expected a number of seconds above 0, found {quoted(value)}")


class _Age(c.OptionallyRequired[timedelta]):
    """A duration such as `12h`, `30d` or `8w`."""

    json_schema: ClassVar[Mapping[str, object]] = {"type": "string", "pattern": _DURATION}

    def run_validation(self, value: object) -> timedelta:
        text = value if isinstance(value, str) else ""
        match = re.match(_DURATION, text)
        if not match:
            raise ValidationError(f"expected a time such as 12h, 30d or 8w, found {quoted(value)}")
        unit = {"h": "hours", "d": "days", "w": "weeks"}[match[2]]
        return timedelta(**{unit: int(match[1])})


class _Secret(c.OptionallyRequired[str]):
    """A string that no message shows."""

    json_schema: ClassVar[Mapping[str, object]] = {"type": "string"}

    def run_validation(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValidationError(
                "is not a text to YAML; put it in quotes, or set the environment variable instead"
            )
        return value


class _CacheAddress(_Secret):
    """The address of a shared cache. It is a secret, since it may contain a password."""

    def run_validation(self, value: object) -> str:
        address = super().run_validation(value)
        if address and not shown_address(address):
            raise ValidationError(
                f"is not an address such as redis://host:6379; it begins with {', '.join(SCHEMES)}"
            )
        return address


class _Disclosure(c.OptionallyRequired[Mapping[str, str] | None]):
    """`true`, `false`, or a mapping that replaces disclosure lines."""

    json_schema: ClassVar[Mapping[str, object]] = {
        "anyOf": [
            {"type": "boolean"},
            {
                "type": "object",
                "properties": {line: {"type": "string"} for line in LINES},
                "additionalProperties": False,
            },
        ]
    }

    def run_validation(self, value: object) -> Mapping[str, str] | None:
        if isinstance(value, bool):
            return LINES if value else None
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise ValidationError(
                f"expected true, false or a mapping of lines, found {quoted(value)}"
            )
        for key, line in value.items():
            if key not in LINES:
                from ..requests import unknown_name_message

                raise ValidationError(f"{quoted(key)} {unknown_name_message('key', key, LINES)}")
            # Python-Markdown uses control characters as placeholders.
            if controls := [c for c in line if category(c) in ("Cc", "Cs") and not c.isspace()]:
                raise ValidationError(
                    f"the line {quoted(key)} contains {quoted(controls[0])}, a control character; "
                    "remove it"
                )
        return {**LINES, **value}


class _Name(c.OptionallyRequired[str]):
    json_schema: ClassVar[Mapping[str, object]] = {"type": "string", "maxLength": 200}

    def run_validation(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
            raise ValidationError(
                f"expected a name of at most 200 characters, found {quoted(value)}"
            )
        return value


class _Writer(c.Type[dict[str, object]]):
    def __init__(self) -> None:
        super().__init__(dict, default={})

    def run_validation(self, value: object) -> dict[str, object]:
        if value is None or value == {}:  # None is `writer:` without options
            return {}
        from ..writer.options import option_problems

        if problems := option_problems(value):
            raise ValidationError("; ".join(problem for _, problem in problems))
        return cast(dict[str, object], value)


class ContentgenConfig(Config):
    """The options under `plugins: - contentgen:` in `mkdocs.yml`."""

    base_url = c.Type(str, default="")
    """The service's address, such as `https://content.example/api`, or `writer`, or `sandbox`.

    With `writer`, a language model of your own writes the texts; see the option `writer`.

    Default: the environment variable `CONTENTGEN_BASE_URL`."""

    writer = _Writer()
    """The language model that writes with `base_url: writer`, such as `{model: qwen3:8b}`.

    All its options are below. Default: `{}`."""

    user_id = _Secret(default="")
    """The user identifier, sent as the query parameter `user_id`.

    It is from the service's dashboard, or the NAME of `contentgen writer user add`.
    Default: the environment variable `CONTENTGEN_USER_ID`."""

    token = _Secret(default="")
    """The bearer token from the service's dashboard, or from `contentgen writer user add`.

    It is never printed or stored.
    Default: the environment variable `CONTENTGEN_TOKEN`, which is the place to keep it."""

    allow_http = c.Type(bool, default=False)
    """Allow plain `http` to other hosts than this machine. The token is then sent unencrypted.

    Default: `false`."""

    cache_dir = c.Type(str, default="")
    """The directory of the cache, relative to `mkdocs.yml`; `~` is the home directory.

    Default: `.cache/plugin/contentgen`; for sites whose `markdown_extensions` have `contentgen`,
    `.contentgen-cache`, since `zensical build --clean` deletes all of `.cache`."""

    cache_url = _CacheAddress(default="")
    """A Redis or Valkey that many machines share as their cache, such as `rediss://host:6379`.

    The cache of each machine stays in front of it. A user and a password in the address are never
    printed; `!ENV` keeps them out of the file. Needs the extra `redis`. Default: none."""

    approved_dir = c.Type(str, default="contentgen")
    """The directory for approved articles, relative to `mkdocs.yml`. Commit its files.

    Default: `contentgen`."""

    require_approval = c.Type(bool, default=False)
    """Fail, without sending requests, if any article is not approved. Default: `false`."""

    on_missing = c.Choice(get_args(OnMissing), default="generate")
    """What to do about a text that is neither approved nor cached.

    `generate` asks the service for it, `placeholder` shows that it is missing, and `fail` fails
    the build. The last two never open a connection. The environment variable
    `CONTENTGEN_ON_MISSING` overrides this option. Default: `generate`."""

    on_error = c.Choice(get_args(OnError), default="fail")
    """What to do about a request that failed: `fail` the build, or show a `placeholder` and warn.

    Default: `fail`."""

    max_requests = _Integer(least=0, default=100)
    """The maximum number of requests. A build that needs more fails before it sends the first.

    Default: `100`."""

    max_age = c.Optional(_Age())
    """The maximum age of a cached text, such as `30d`. An older text is requested again.

    When that fails, the old text stays, with a warning. Units are `h`, `d` and `w`.
    Default: none."""

    concurrency = _Integer(least=1, default=8)
    """The maximum number of concurrent requests. Default: `8`."""

    timeout = _Seconds(default=120.0)
    """The timeout of one request in seconds, including retries. Default: `120`."""

    retries = _Integer(least=0, default=2)
    """The maximum number of retries, for requests that certainly did not run. Default: `2`."""

    defaults = c.Type(dict, default={})
    """Field values for all requests of the site that have none of their own.

    `length`, `language` and `sources` are for all types; other fields are set for each type, such
    as `{length: short, blog: {style: technical}}`. Default: `{}`."""

    service_fields = c.ListOfItems(c.Choice(("brief", "language", "update")), default=[])
    """Fields of requests that your service takes although the interface has none of them.

    `[brief, language, update]` is for a [writer for the team](team.md). Default: `[]`."""

    image_hosts = c.ListOfItems(c.Type(str), default=[])
    """Hosts whose https images may be shown in generated text; other images become links.

    Default: `[]`."""

    styles = c.Choice(get_args(Styles), default="adapt")
    """Inline styles of the service: `adapt` them to the theme, `keep` what is harmless, or `strip`.

    Default: `adapt`."""

    disclosure = _Disclosure(default=True)
    """The visible disclosure line of each article.

    `false` hides it (what machines read stays). A mapping says it in other words or in another
    language: `{draft: "…", approved: "… {name} … {date}", end: "…", responsibility: "… {name}"}`.
    `end` is the line at the end of an article that the author's text follows. Default: `true`."""

    editorial_responsibility = _Name(default="")
    """Who has the editorial responsibility for approved articles, such as `Acme GmbH`.

    The disclosure line of each approved article names it, and its metadata has it as the
    publisher. Default: none."""

    def validate(self) -> tuple[ConfigErrors, ConfigWarnings]:
        """Return errors and warnings by option: also about secrets in the file itself."""
        failed, warnings = super().validate()
        known = dict(get_schema(type(self)))
        warnings = [(name, message) for name, message in warnings if name in known]
        for name in (name for name in self if name not in known):
            from ..requests import unknown_name_message

            warnings.append(
                (escape_controls(str(name)), unknown_name_message("option", name, known))
            )
        if not failed and (self.token or self.writer or self.cache_url):
            from .plain_secrets import plain_secret_warnings

            warnings += plain_secret_warnings(self, Path(self.config_file_path))
        return failed, warnings

    def load_extension_options(self, given: Mapping[str, object] | None) -> list[str]:
        """Take the options of the Markdown extension, and return warnings about them.

        Raises ConfigurationError if they are wrong, or if the plugin has options too.
        """
        if not given:
            return []
        if any(self.user_configs):
            raise ConfigurationError(TWO_PLACES)
        self.load_dict(dict(given))
        failed, warnings = self.validate()
        place = f"markdown_extensions.{EXTENSION}."
        if failed:
            raise ConfigurationError(f"{place}{failed[0][0]}: {failed[0][1]}")
        return [f"{place}{name}: {message}" for name, message in warnings]

    def presentation(self) -> Presentation:
        """Return the options for the appearance of articles."""
        from ..html.presentation import Presentation

        publisher = self.editorial_responsibility.strip()
        return Presentation(self.styles, self.image_hosts, self.disclosure, publisher)

    def end_line(self) -> str:
        """Return the line that ends an article, or an empty string if disclosure lines are off."""
        return self.disclosure["end"] if self.disclosure else ""

    def address(self) -> str:
        """Return the option `base_url`, or else the environment variable, or an empty string."""
        return (self.base_url or os.environ.get("CONTENTGEN_BASE_URL", "")).strip()

    def uses_sandbox(self) -> bool:
        """Tell whether `base_url` selects the sandbox."""
        return self.address() == SANDBOX

    def uses_writer(self) -> bool:
        """Tell whether `base_url` selects the writer."""
        return self.address() == WRITER

    def policy(self, *, max_requests: int, warn_only: bool) -> Policy:
        """Return the options for requests and failures, with another `max_requests`.

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
            )
        return Policy(
            on_missing=cast(OnMissing, on_missing),
            on_error=self.on_error,
            require_approval=self.require_approval,
            max_requests=max_requests,
            max_age=self.max_age,
            sandbox=self.uses_sandbox(),
            warn_only=warn_only,
        )

    def limits(self) -> Limits:
        """Return the options that limit requests."""
        if self.uses_writer():
            from ..writer.options import WriterFields, texts_at_once

            # Each call to the model has a timeout and retries of its own.
            parallel = self.writer.get("parallel") or WriterFields().parallel
            return Limits(texts_at_once(cast(int, parallel)), math.inf, 0)
        return Limits(self.concurrency, self.timeout, self.retries)

    def connect(self) -> AbstractAsyncContextManager[Client]:
        """Return a client of the service. Raises ConfigurationError."""
        if not self.address():
            raise ConfigurationError(
                "base_url: is not set; set CONTENTGEN_BASE_URL to the service's address, or "
                "`base_url: writer` for texts by a language model of your own, or "
                "`base_url: sandbox` to try things out with sample texts, or "
                "`on_missing: placeholder` to build without the missing texts"
            )
        from ..service.client import ServiceClient

        return ServiceClient(
            self.address(),
            self.user_id or os.environ.get("CONTENTGEN_USER_ID", ""),
            self.token or os.environ.get("CONTENTGEN_TOKEN", ""),
            allow_http=self.allow_http,
        )
