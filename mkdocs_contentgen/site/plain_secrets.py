"""Find secrets that stand in the configuration file itself, and do not come from `!ENV`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from ..display import escape_controls

_LEAST_KEY = 16
"""A shorter key is a word such as `ollama`, for a model server that needs none."""

_VARIABLES = {"token": "CONTENTGEN_TOKEN", "api_key": "CONTENTGEN_MODEL_KEY"}


def plain_secret_warnings(options: Mapping[str, object], path: Path) -> Iterator[tuple[str, str]]:
    """Yield option and message for each secret that stands in a configuration file.

    `options` are valid ones of the plugin. No message contains a secret.
    """
    texts = dict(_read_files(path))
    for option, name, value in _secrets(options):
        for file, text in texts.items():
            # An alias or the default of `!ENV` stands elsewhere, and is long enough to be no other.
            is_value = re.search(rf"\b{name}\b\W*{re.escape(value)}", text)
            if is_value or (len(value) >= _LEAST_KEY and value in text):
                yield option, _plain_text_message(name, file)
                break


def _secrets(options: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Yield the option, the last part of its name, and its value."""
    if token := options["token"]:
        yield "token", "token", str(token)
    writer = options["writer"]
    key = str(writer.get("api_key") or "") if isinstance(writer, dict) else ""
    if len(key) >= _LEAST_KEY:
        yield "writer", "api_key", key
    url = str(options["cache_url"])
    parts = urlsplit(url)
    if parts.password or "password" in parse_qs(parts.query):
        yield "cache_url", "cache_url", url


def _read_files(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield a configuration file and those that it inherits from, each with its text."""
    files = [path]
    for file in files:
        with suppress(OSError, UnicodeError):
            text = file.read_text(encoding="utf-8")
            yield file, text
            for name in re.findall(r"""^INHERIT: *['"]?([^'"#\n]+)""", text, re.MULTILINE):
                base = Path(os.path.normpath(file.parent / name.strip()))
                files += [base] if base not in files else []


def _plain_text_message(name: str, file: Path) -> str:
    variable = _VARIABLES.get(name)
    hint = f"set {variable} instead, or use `!ENV`" if variable else "use `!ENV`"
    return (
        f"{name} is in plain text in {escape_controls(str(file))}, where others can read it; "
        f"{hint} in mkdocs.yml"
    )
