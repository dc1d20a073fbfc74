"""The options of the writer: `writer:` of the plugin in `mkdocs.yml`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal, cast
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Meta

from ...display import escape_controls, quoted
from ...errors import ConfigurationError
from ...files import read_text, reason_of, refuse_links
from ...globs import Glob, is_glob
from ...requests import unknown_name_message
from ...text import model_name
from ...yaml_files import convert, credential
from ..sources.retrieval import Sources
from ..sources.sources import Location, PublishedPage, RepositoryFolder, SitePages
from .glossary import NO_GLOSSARY, Glossary, GlossaryError, read_glossary

OLLAMA_PORT = 11434
OLLAMA = f"http://127.0.0.1:{OLLAMA_PORT}/v1"
"""The default of `endpoint`."""

_RESERVED = ("model", "messages", "stream", "n", "tools")
"""The fields of a request to the model that `parameters` cannot have."""

_MAX_FILE = 64 * 1024
"""The maximum length of `instructions`, of `glossary` and of a prompt file, in characters."""

_Count = Annotated[int, Meta(ge=50, le=10_000)]
_Price = Annotated[float, Meta(ge=0, le=1e6)]


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of words of each length. A text is within 15 % of it."""

    short: _Count = 400
    medium: _Count = 900
    long: _Count = 2000


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The price of a million tokens, in the `currency` of your contract, such as `USD`."""

    input: _Price
    output: _Price
    currency: Annotated[
        str,
        Meta(
            pattern=r"^([A-Z]{3})?$(?!\n)", extra_json_schema={"description": "a code such as USD"}
        ),
    ] = ""

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of so many tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


class WriterFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options under `writer:` of the plugin."""

    model: str = ""
    """The name of the model, as its server knows it.

    Default: the environment variable `CONTENTGEN_MODEL`."""

    command: tuple[Annotated[str, Meta(min_length=1, pattern=r"^[^\x00]*\Z")], ...] = ()
    """A program in place of a server, with its arguments: `[claude, -p]`, `[codex, exec, -]`.

    It gets the prompt on its standard input, and writes the text to its standard output. `model` is
    then its name in the label, by default that of the program. Default: none."""

    endpoint: str = ""
    """The base address of the API, such as `https://models.example/v1`.

    Default: the environment variable `CONTENTGEN_MODEL_ENDPOINT`, or Ollama on this machine:
    `http://127.0.0.1:11434/v1`."""

    api_key: Annotated[str, Meta(extra=credential("CONTENTGEN_MODEL_KEY"))] = ""
    """The key of the model server. It is never printed or stored, and sent nowhere else.

    Default: the environment variable `CONTENTGEN_MODEL_KEY`, which is the place to keep it."""

    parameters: dict[str, object] = {}
    """Further fields of each request to the model: `{reasoning_effort: low}`.

    A low `temperature` can weaken a watermark that a provider puts into its texts. Default: `{}`.
    """

    instructions: str = ""
    """A text file with house rules, which the model gets with every request. Default: none.

    This path, as those of `glossary`, `prompts` and `sources`, is relative to the configuration. It
    may lead out of the project, but not through a symbolic link, except in the folders above both.
    """

    glossary: str = ""
    """A YAML file with terms for translations, such as `MkDocs: keep` and `build: {de: Build}`.

    `keep` leaves a term as it is. The languages are BCP 47 tags: `de` is for `de-AT`, too.
    Default: none."""

    prompts: str = ""
    """A directory with prompt files of your own: `article.md`, `blog.md` or `news.md`.

    The package's file is used where one is missing. Default: none."""

    sources: bool | list[str] = []
    """Folders and files (Markdown, text or code) that texts are grounded in and cite.

    `true` means the site's own pages. Of these, and of folders in `docs_dir`, only published pages
    are read, and of other folders no hidden files. Code in a folder is read for the requests that
    name it, or for all texts with a path or a glob of its own, such as `src/**/*.py`. Pages with a
    request and symbolic links are left out. Default: `[]`."""

    site_url: str = ""
    """The base of the links to sources. Default: the site's `site_url`."""

    words: Words = Words()
    """The number of words of each length. A text is within 15 % of it.

    Default: `{short: 400, medium: 900, long: 2000}`."""

    parallel: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """The maximum number of concurrent calls to the model. It replaces `concurrency`.

    Default: `4`, or 1 with `command`."""

    call_timeout: Annotated[float, Meta(gt=0, le=1e6)] = 60.0
    """The maximum number of seconds between two tokens of the model. It replaces `timeout`.

    The first token, and the answer of a server that cannot stream, may take 5 times as long.
    Default: `60`."""

    tolerance: Annotated[float, Meta(ge=0.05, le=1)] = 0.3
    """The share of its words that a text may lack before a repair is bought.

    Default: `0.3`."""

    repairs: Annotated[int, Meta(ge=0, le=5)] = 1
    """The maximum number of further calls for a text, or a section, that misses something.

    Default: `1`."""

    strict: bool = False
    """Whether texts with remarks are refused. Default: `false`."""

    sections: Literal["auto"] | bool = "auto"
    """Whether each section of a text has a call of its own, after one for a plan.

    `auto` means long texts, and those of medium length by a small model. A short text always takes
    one call. Default: `auto`."""

    price: Price | None = None
    """The price of a million tokens, to show the cost, such as `{input: 0.15, output: 0.60}`.

    With `currency: USD`, each cost that is shown has its currency. A cost that the server reports
    takes precedence. Default: none."""

    max_cost: _Price | None = None
    """The maximum cost of a build. Once it is reached, no more calls are made.

    It needs a `price`, unless the server reports what each call costs. Default: none."""

    @property
    def knows_cost(self) -> bool:
        """Whether `max_cost`, if it is set, can be kept whatever the server reports."""
        return self.max_cost is None or self.price is not None

    @property
    def currency(self) -> str:
        """The currency of all costs, or an empty string if it is not known."""
        return self.price.currency if self.price else ""

    @property
    def calls_at_once(self) -> int:
        """The maximum number of concurrent calls to the model."""
        return self.parallel or (1 if self.command else 4)

    @property
    def texts_at_once(self) -> int:
        """The maximum number of texts at once, so that no call waits for the checks of a text."""
        return self.calls_at_once + 2

    @property
    def first_token_timeout(self) -> float:
        """The maximum number of seconds for the first token: the model reads the prompt before."""
        return 5 * self.call_timeout


@dataclass(frozen=True)
class WriterOptions:
    """The validated options, with the content of the files that they name."""

    fields: WriterFields
    instructions: str = ""
    prompts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Own prompt files by type: the path to show in messages, and the content."""

    glossary: Glossary = NO_GLOSSARY
    sources: Sources = field(default_factory=Sources, compare=False)
    allow_http: bool = False
    prefix: str = "writer."
    """The prefix of option names in messages."""

    secrets: Sequence[str] = field(default=(), repr=False)
    """The credentials of the plugin or the server, which no program gets."""

    repository: RepositoryFolder | None = None
    """Where readers find the files of the project, or None if that is not known."""

    site_names: str = ""
    """The name of the site, and what its navigation names: no statements to check."""

    def target(self, length: str) -> int:
        """Return the number of words for a length such as `short`."""
        return int(getattr(self.fields.words, length))


def find_secrets(values: Iterable[object]) -> tuple[str, ...]:
    """Return the credentials in options: those that are set, and the passwords in addresses."""
    found = []
    for value in values:
        if isinstance(value, str) and value.strip():
            found.append(value.strip())
            with suppress(ValueError):  # an address that is none
                found.append(unquote(urlsplit(value.strip()).password or ""))
    return tuple(secret for secret in found if secret)


def option_problems(
    value: object, options_type: type[WriterFields] = WriterFields
) -> list[tuple[str, str]]:
    """Return the problems in the options, each as the name of the option and a message."""
    if not isinstance(value, dict):
        # Not quoted, since it could be the key.
        return [("", "expected a mapping of options, such as `{model: qwen3:8b}`")]
    kinds = {known.name: known.type for known in msgspec.structs.fields(options_type)}
    problems = []
    for name in value:
        if name not in kinds:
            message = unknown_name_message(name, "option", kinds)
            problems.append((str(name), f"{quoted(name)} {message}"))
    for name, kind in kinds.items():
        if value.get(name) is None:
            continue
        try:
            option = convert(value[name], kind)
            if name == "parameters":
                _check_parameters(cast(dict[str, object], option))
        except ValueError as error:
            hint = _list_hint(value[name]) if name == "command" else ""
            problems.append((name, f"{name}: {error}{hint}"))
    return problems


def _list_hint(command: object) -> str:
    """Return a command as the list that it has to be, if it is a text."""
    if not isinstance(command, str):
        return ""
    return f"; write [{', '.join(command.split())}]"


def _check_parameters(parameters: Mapping[str, object]) -> None:
    for reserved in _RESERVED:
        if reserved in parameters:
            raise ValueError(f"'{reserved}' is set by the writer; leave it out")
    try:
        json.dumps(parameters, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise ValueError(
            "contains a value that JSON does not have, such as a date or .nan; put it in quotes"
        ) from None


def read_writer_fields(value: Mapping[str, object]) -> WriterFields:
    """Return the options, with the defaults of those that have no value."""
    given = {}
    for name, option in value.items():
        if option is not None:
            given[name] = option
    return msgspec.convert(given, WriterFields)


def load_options(
    value: Mapping[str, object],
    directory: Path,
    *,
    allow_http: bool,
    example: str = "writer: {model: qwen3:8b}",
    prefix: str = "writer.",
    docs: Path | None = None,
    pages: Iterable[PublishedPage] = (),
) -> WriterOptions:
    """Return the options with environment variables and files read.

    `value` has passed option_problems(). `example` is for the message that no model is named.
    `prefix` begins the names of options in messages. Paths are relative to `directory`. `docs` is
    the folder of the site's pages, and `pages` are those that are published; without `docs`, the
    files in all folders of `sources` are pages. Raises ConfigurationError for a missing model, for
    files that cannot be used, and for symbolic links.
    """
    directory = Path(os.path.normpath(directory.absolute()))
    fields = read_writer_fields(value)
    if fields.command:
        fields = _of_program(fields, directory, prefix)
    else:
        fields = msgspec.structs.replace(
            fields,
            model=_setting(fields.model, "CONTENTGEN_MODEL"),
            endpoint=_setting(fields.endpoint, "CONTENTGEN_MODEL_ENDPOINT") or OLLAMA,
            api_key=_setting(fields.api_key, "CONTENTGEN_MODEL_KEY"),
        )
    if not model_name(fields.model):
        problem = "no model is named"
        if fields.model:
            problem = f"{quoted(fields.model)} cannot be the name of a model"
        place = f"{prefix.removesuffix('.')}: " if prefix else ""
        raise ConfigurationError(
            f"{place}{problem}; write `{example}`, or "
            "set CONTENTGEN_MODEL (with Ollama, `ollama list` shows the models that you have)"
        )
    return WriterOptions(
        fields,
        instructions=_load_instructions(fields.instructions, directory, f"{prefix}instructions"),
        glossary=_load_glossary(fields.glossary, directory, f"{prefix}glossary"),
        prompts=_load_prompts(fields.prompts, directory, f"{prefix}prompts"),
        sources=_load_sources(fields.sources, directory, docs, pages, f"{prefix}sources"),
        allow_http=allow_http,
        prefix=prefix,
    )


def public_name(model: str) -> str:
    """Return a model's name as readers see it: of a path on this machine, its last part."""
    is_path = re.match(r"[/~.]|[A-Za-z]:", model) or model.endswith(".gguf")
    if not is_path:
        return model
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1]


def _of_program(fields: WriterFields, directory: Path, prefix: str) -> WriterFields:
    """Return the options of a program, with its name and its path. Raises ConfigurationError."""
    for name in ("endpoint", "api_key", "parameters", "price", "max_cost"):
        if getattr(fields, name) not in (None, "", {}):
            raise ConfigurationError(
                f"{prefix}{name}: is for a model's server; a program ({prefix}command) has "
                "arguments instead, and does not say what a text costs; leave it out"
            )
    program, *arguments = fields.command
    if os.sep in program:  # it runs in a folder of its own
        program = str(directory / Path(program).expanduser())
    name = fields.model.strip() or Path(program).name
    return msgspec.structs.replace(fields, model=name, command=(program, *arguments))


def _load_sources(
    value: bool | list[str],
    directory: Path,
    docs: Path | None,
    pages: Iterable[PublishedPage],
    option: str,
) -> Sources:
    """Return the sources of texts. Raises ConfigurationError."""
    site = _locate_pages(docs, pages, directory, option) if docs else None
    if isinstance(value, list):
        paths = [_locate_source(name, directory, option) for name in value]
    elif not value:
        paths = []
    elif site:
        paths = [site.docs]
    else:
        raise ConfigurationError(
            f"{option}: a server has no pages of its own; name files and folders, such as [docs]"
        )
    for location in paths:
        with _naming(option, location.path):
            location.path.stat()
    return Sources(paths, site, option)


def _locate_pages(
    docs: Path, pages: Iterable[PublishedPage], directory: Path, option: str
) -> SitePages:
    """Return the location of the published pages, with what each has. Raises ConfigurationError."""
    # A folder outside the project is trusted: the configuration names it, or a plugin has made it.
    is_inside = docs.is_relative_to(directory)
    location = _locate(str(docs), directory if is_inside else docs, option)
    # Strings, since a site can have thousands of pages, and each path takes a moment.
    before = os.path.join(docs, "")  # noqa: PTH118
    addresses: dict[Path, str] = {}
    titles: dict[Path, str] = {}
    for page in pages:
        if not page.file.startswith(before):
            continue
        path = location.path / page.file.removeprefix(before)
        addresses[path] = page.address
        if page.title:
            titles[path] = page.title
    return SitePages(location, addresses, titles)


def _locate_source(value: str, directory: Path, option: str) -> Location:
    """Return the location of a file, a folder or a glob. Raises ConfigurationError."""
    # A file such as `[id].ts` is not a glob.
    if not is_glob(value) or os.path.lexists(directory / value):
        return _locate(value, directory, option)
    glob = Glob(Path(value).as_posix())
    folder = _locate(glob.folder, directory, option)
    below = glob.pattern.removeprefix(glob.folder).removeprefix("/")
    return replace(folder, glob=Glob(below))


def _setting(option: str, variable: str) -> str:
    """Return an option, or else an environment variable, without surrounding spaces."""
    return option.strip() or os.environ.get(variable, "").strip()


def _locate(value: str, directory: Path, option: str) -> Location:
    """Return the location of a path in an option. Raises ConfigurationError for a symbolic link.

    Only the folders that the path shares with `directory` may be links, such as a home directory.
    """
    expanded = os.path.expanduser(value)  # noqa: PTH111  Path.expanduser() can raise
    path = Path(os.path.normpath(directory / expanded))
    # The last of the folders, from the root on, in which `directory` is, too.
    shared_folder = Path(path.anchor)
    for folder in reversed((path, *path.parents)):
        if directory.is_relative_to(folder):
            shared_folder = folder
    with _naming(option, path):
        refuse_links(path, shared_folder)
    root = shared_folder.resolve()
    return Location(root / path.relative_to(shared_folder), root)


def _load_instructions(value: str, directory: Path, option: str) -> str:
    """Return the content of a file with house rules, or an empty string if there is none."""
    if not value:
        return ""
    return _read_text(_locate(value, directory, option), option)


def _load_prompts(value: str, directory: Path, option: str) -> dict[str, tuple[str, str]]:
    """Return the prompt files of a folder by type, each with its path; none without a folder."""
    if not value:
        return {}
    folder = _locate(value, directory, option)
    with _naming(option, folder.path):
        paths = sorted(path for path in folder.path.iterdir() if path.suffix == ".md")
    found = {}
    for path in paths:
        content = _read_text(Location(path, folder.root), option)
        found[path.stem] = (escape_controls(str(path)), content)
    return found


def _load_glossary(value: str, directory: Path, option: str) -> Glossary:
    """Return the glossary in a file, or an empty one if there is none."""
    if not value:
        return NO_GLOSSARY
    location = _locate(value, directory, option)
    try:
        return read_glossary(_read_text(location, option))
    except GlossaryError as error:
        path = escape_controls(str(location.path))
        raise ConfigurationError(f"{option}: {path}:{error.line}: {error}") from error


def _read_text(location: Location, option: str) -> str:
    with _naming(option, location.path):
        return read_text(location.path, location.root, _MAX_FILE).removeprefix("\ufeff")


@contextmanager
def _naming(option: str, path: Path) -> Iterator[None]:
    """Raise ConfigurationError with the option and the path for a file that cannot be read."""
    try:
        yield
    except (OSError, ValueError) as error:
        message = f"{option}: {path} cannot be read ({reason_of(error)})"
        raise ConfigurationError(escape_controls(message)) from error
