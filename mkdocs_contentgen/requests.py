"""The requests that a page's front matter can hold (interface sections 2.1 and 4).

Nothing here reads files or asks anybody: front matter values go in, requests and problems come
out.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, ClassVar, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from .display import shown

KEY_FORMAT = 1
"""Raised when the same request must get a new key; every text would have to be paid for anew."""


_MAX_TOPIC = 20_000
"""Characters. What a cache reads back has a limit, and a text that it refuses is paid for again."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all three operations share (interface section 2.1), and the plugin's own two keys.

    Raises ValueError for a value that its field cannot have.
    """

    operation: ClassVar[str]
    """The last part of the address (interface section 4)."""

    type: str
    topic: Annotated[
        str,
        Meta(
            pattern=r"\S",
            max_length=_MAX_TOPIC,
            description="What to write about: the main topic or title, for news the headline. "
            "May be left out where the front matter has a title.",
        ),
    ]
    length: Annotated[
        Literal["short", "medium", "long"], Meta(description="How long the text is to be.")
    ] = "medium"
    id: Annotated[
        str,
        Meta(
            pattern=r"^[a-z0-9-]+$(?!\n)",  # to Python, `$` is also in front of a last line break
            description="Names the article on its page; needed from the second one on.",
        ),
    ] = "main"
    revision: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000_000,
            description="Raise it to ask for a new text for the same request.",
        ),
    ] = 1

    def __post_init__(self) -> None:
        """Check the values, which msgspec does not where a request is made by its class."""
        for name, kind in field_types(self.__class__).items():
            _check(getattr(self, name), kind)
        topic = unicodedata.normalize("NFC", self.topic).strip()
        msgspec.structs.force_setattr(self, "topic", topic)

    def body(self) -> dict[str, str]:
        """Return the JSON body of the HTTP request, defaults filled in (interface 2.1)."""
        fields = msgspec.structs.asdict(self)
        return {name: fields[name] for name in fields if name not in ("type", "id", "revision")}

    def record(self) -> dict[str, object]:
        """Return what caches and approved files keep of the request: all fields but the id."""
        fields = msgspec.structs.asdict(self)
        del fields["id"]
        return fields

    def key(self, *, sandbox: bool) -> str:
        """Return the cache key, 64 hex digits: equal for requests that get the same text.

        It depends on what is asked for and on whether the sandbox or the service is asked,
        never on who asks, how, or where the answer stands.
        """
        identity = {
            "format": KEY_FORMAT,
            "operation": self.operation,
            "body": self.body(),
            "revision": self.revision,
            "sandbox": sandbox,
        }
        return hashlib.sha256(_CANONICAL.encode(identity).encode()).hexdigest()


class ArticleRequest(Request, frozen=True, kw_only=True):
    """A research-style or analytical article (interface section 4, Generate Article)."""

    operation = "generate-article"
    type: Literal["article"] = "article"
    focus: Annotated[
        Literal["research", "analysis", "review"],
        Meta(description="What the article does with its topic."),
    ] = "analysis"
    audience: Annotated[
        Literal["general", "academic", "expert"],
        Meta(description="Whom the article is written for."),
    ] = "general"


class BlogRequest(Request, frozen=True, kw_only=True):
    """A blog post (interface section 4, Generate Blog Post)."""

    operation = "generate-blog"
    type: Literal["blog"] = "blog"
    style: Annotated[
        Literal["casual", "professional", "technical"], Meta(description="The voice of the post.")
    ] = "professional"
    format: Annotated[
        Literal["howto", "listicle", "narrative"], Meta(description="The shape of the post.")
    ] = "narrative"


class NewsRequest(Request, frozen=True, kw_only=True):
    """A news article (interface section 4, Generate News Article)."""

    operation = "generate-news"
    type: Literal["news"] = "news"
    tone: Annotated[
        Literal["neutral", "investigative", "editorial"],
        Meta(description="The stance of the report."),
    ] = "neutral"


REQUEST_TYPES: dict[str, type[Request]] = {
    "article": ArticleRequest,
    "blog": BlogRequest,
    "news": NewsRequest,
}


@cache
def field_types(model: type[Request]) -> dict[str, object]:
    """Return the types of a request's fields, in their order."""
    hints = get_type_hints(model, include_extras=True)
    return {name: hints[name] for name in model.__struct_fields__}


@cache
def choices(model: type[Request]) -> dict[str, tuple[str, ...]]:
    """Return the values of those fields that have a few to choose from."""
    types = {name: getattr(kind, "__origin__", kind) for name, kind in field_types(model).items()}
    return {name: get_args(kind) for name, kind in types.items() if get_args(kind)}


def wrong_fields(model: type[Request], fields: Mapping[str, object]) -> list[str]:
    """Return the names of the fields that are missing, or have a value that they cannot have."""
    wrong = []
    for name, kind in field_types(model).items():
        try:
            if name in fields:
                _check(fields[name], kind)
            elif name == "topic":
                wrong.append(name)
        except ValueError:
            wrong.append(name)
    return wrong


def _check(value: object, kind: object) -> None:
    """Raise ValueError for a value that a field of the type `kind` cannot have."""
    msgspec.convert(value, kind)
    str(value).encode()  # half a character cannot be sent


@dataclass(frozen=True)
class Problem:
    """Something wrong in a front matter or in the option `defaults`.

    `path` leads to the value, such as `("contentgen", 1, "format")`.
    """

    path: tuple[str | int, ...]
    message: str

    def __str__(self) -> str:
        first, *rest = self.path
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in rest)
        return f"{first}{''.join(steps)}: {self.message}"


def parse_front_matter(
    meta: Mapping[str, object], defaults: Mapping[str, object] | None = None
) -> tuple[list[Request], list[Problem]]:
    """Return the requests of a page and everything that is wrong with them.

    `meta` is the page's whole front matter, since its `title` stands in for a missing `topic`;
    `defaults` is the plugin option of that name. A page without `contentgen` has no requests.
    """
    if "contentgen" not in meta:
        return [], []
    value = meta["contentgen"]
    entries: list[tuple[tuple[str | int, ...], object]] = (
        [(("contentgen", index), entry) for index, entry in enumerate(value)]
        if isinstance(value, list)
        else [(("contentgen",), value)]
    )
    if not entries:
        return [], [Problem(("contentgen",), f"{shown(value)} asks for nothing; {_EXAMPLE}")]

    requests: list[Request] = []
    problems: list[Problem] = []
    owners: dict[str, tuple[str | int, ...]] = {}
    for path, entry in entries:
        request, found = _parse_entry(path, entry, meta.get("title"), defaults or {})
        problems += found
        if request is None:
            continue
        owner = owners.setdefault(request.id, path)
        if owner != path:
            message = (
                f"'{request.id}' is the id of contentgen[{owner[-1]}] too; "
                "give each article of a page an id of its own"
            )
            problems.append(Problem((*path, "id"), message))
        requests.append(request)
    # A title that is no topic is one for each article.
    return requests, list(dict.fromkeys(problems))


def check_defaults(defaults: Mapping[str, object]) -> list[Problem]:
    """Return what is wrong with the plugin option `defaults`."""
    problems: list[Problem] = []
    for name, value in defaults.items():
        path = ("defaults", _key_shown(name))
        if name == "length":
            problems += _validate(Request, {"type": "", "topic": "-", name: value}, path[:1])[1]
        elif (model := REQUEST_TYPES.get(name)) is None:
            problems.append(Problem(path, _unknown(name, ["length", *REQUEST_TYPES])))
        elif not isinstance(value, dict):
            problems.append(Problem(path, f"expected a mapping of fields, found {shown(value)}"))
        else:
            allowed = [n for n in field_types(model) if n not in _PERSONAL]
            problems += [
                Problem((*path, _key_shown(key)), _unknown(key, allowed))
                for key in value
                if key not in allowed
            ]
            fields = {key: value[key] for key in allowed if key in value}
            problems += _validate(model, {"type": name, "topic": "-", **fields}, path)[1]
    return problems


def check_inherited(value: object) -> list[Problem]:
    """Return what is wrong with a folder's `contentgen`, which may lack what its pages say."""
    if not isinstance(value, dict):
        return [Problem(("contentgen",), f"expected a mapping of fields, found {shown(value)}")]
    _, problems = _parse_entry(("contentgen",), {"topic": "-", **value}, None, {})
    return [problem for problem in problems if problem.path[1:]]  # the others miss a field


def front_matter_schema() -> dict[str, object]:
    """Return the JSON Schema of a page's front matter, in which `contentgen` is one key of many."""
    _, models = msgspec.json.schema_components(REQUEST_TYPES.values())
    kinds = []
    for name, model in REQUEST_TYPES.items():
        kind = models[model.__name__]
        for field, values in choices(model).items():
            kind["properties"][field]["enum"] = values  # in our order: msgspec sorts them
        kind["properties"]["type"] = {"const": name, "description": model.__doc__}
        # The title of the page can stand in for the topic, which a schema cannot say.
        kind["required"] = ["type"]
        kinds.append(kind)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Front matter with a request for generated articles",
        "type": "object",
        "properties": {
            "contentgen": {
                "description": "A request for an article, or a list of them.",
                "anyOf": [
                    {"$ref": "#/$defs/request"},
                    {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/request"}},
                ],
            }
        },
        "$defs": {"request": {"oneOf": kinds}},
    }


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_EXAMPLE = "write for example {type: blog, topic: Ten ways to speed up a docs build}"
_PERSONAL = ("type", "topic", "id", "revision")


def _parse_entry(
    path: tuple[str | int, ...], entry: object, title: object, defaults: Mapping[str, object]
) -> tuple[Request | None, list[Problem]]:
    if not isinstance(entry, dict):
        return None, [Problem(path, f"expected a mapping, found {shown(entry)}; {_EXAMPLE}")]

    kind = entry.get("type")
    model = REQUEST_TYPES.get(kind) if isinstance(kind, str) else None
    problems: list[Problem] = []
    if "type" not in entry:
        names = ", ".join(REQUEST_TYPES)
        problems.append(Problem(path, f"'type' is missing; it is one of {names}"))
    elif model is None:
        problems.append(Problem((*path, "type"), _not_one_of(kind, REQUEST_TYPES)))

    known = {name for other in REQUEST_TYPES.values() for name in field_types(other)}
    allowed = list(field_types(model)) if model else sorted(known)
    for name in entry:
        if name not in allowed:
            message = (
                f"is not a key of type {kind}, which has {', '.join(allowed)}"
                if name in known
                else _unknown(name, allowed)
            )
            problems.append(Problem((*path, _key_shown(name)), message))

    fields: dict[str, object] = {}
    specific = defaults.get(kind) if isinstance(kind, str) else None
    # A wrong type still leaves the keys to check that every type has.
    shape = model or Request
    for source in (defaults, specific if isinstance(specific, dict) else {}, entry):
        fields |= {name: source[name] for name in field_types(shape) if name in source}
    if "topic" not in entry and title is not None:
        fields["topic"] = title
    fields["type"] = kind if model else ""
    request, found = _validate(shape, fields, path)
    if "topic" not in entry:
        of_topic = (*path, "topic")
        found = [replace(p, path=("title",)) if p.path == of_topic else p for p in found]
    problems += found
    return (request if model and not problems else None), problems


def _validate(
    model: type[Request], fields: Mapping[str, object], path: tuple[str | int, ...]
) -> tuple[Request | None, list[Problem]]:
    if wrong := wrong_fields(model, fields):
        return None, [
            Problem((*path, name), _explain(model, name, fields[name]))
            if name in fields
            else Problem(path, "'topic' is missing, and the page has no title to take its place")
            for name in wrong
        ]
    return msgspec.convert(fields, model), []


def _explain(model: type[Request], name: str, value: object) -> str:
    if name in choices(model):
        return _not_one_of(value, choices(model)[name])
    if name == "revision":
        return f"{shown(value)} is not a whole number from 1 to 1000000000"
    if name == "id" and isinstance(value, str):
        return f"{shown(value)} is not made of a-z, 0-9 and '-' alone"
    if value is not None and not isinstance(value, str):
        return f"{shown(value)} is not a text; put it in quotes"
    if name == "topic" and value and len(value) > _MAX_TOPIC:
        return f"is too long: {len(value):,} characters, {_MAX_TOPIC:,} at most"
    if value and value.strip():
        return f"{shown(value)} holds half a character, which no text can"
    return "is empty; write what the text is to be about" if name == "topic" else "is empty"


def _not_one_of(value: object, known: Collection[str]) -> str:
    return f"{shown(value)} is not one of {', '.join(known)}{_did_you_mean(value, known)}"


def _unknown(name: object, known: Collection[str]) -> str:
    return f"is not a known key{_did_you_mean(name, known) or '; known are ' + ', '.join(known)}"


def _did_you_mean(found: object, known: Collection[str]) -> str:
    close = difflib.get_close_matches(found.lower(), known, n=1) if type(found) is str else []
    return f"; did you mean '{close[0]}'?" if close else ""


def _key_shown(key: object) -> str:
    return key if isinstance(key, str) and key and key.isprintable() else shown(key)
