"""Parse and validate requests in front matter (interface sections 2.1 and 4).

No function here reads files or sends anything.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, ClassVar, Literal, Self, get_args, get_origin

import msgspec
from msgspec import Meta

from .display import did_you_mean, nearest_name, quoted
from .files import sha256

KEY_FORMAT = 1
"""The version of the cache key. Changing it invalidates all cached texts, which cost money."""

MAX_TOPIC = 20_000
"""The maximum length in characters, so that the request of a text fits into its cache entry."""

MAX_BRIEF = 4_000
"""The maximum length of a brief in characters."""

MAX_SOURCES = 20
"""The maximum number of sources of a request."""

_MAX_PATH = 300
"""The maximum length of the path of a source or of watched files in characters."""

_WATCHED = r"^(?!/|.*[*?\[].*(?:^|/)\.\.(?:/|$))[^\x00-\x1f\x7f\\]+$(?!\n)"
"""Matches a relative path or a glob, of which only the start can lead to a folder above."""

EXTRA_FIELDS = ("brief", "language")
"""The fields of a body that the interface lacks. Only the writer and the sandbox know them."""

OPTIONAL_FIELDS = (*EXTRA_FIELDS, "sources")
"""The fields that are part of keys and records only where they are set."""

MAX_OWNER = 100
"""The maximum length of an owner in characters."""

COMMON_DEFAULTS = ("length", "language", "sources", "owner")
"""The fields that the option `defaults` can have for all types."""

_NOT_DEFAULTABLE = ("type", "topic", "id", "revision", "brief", "level")
"""The fields that the option `defaults` cannot have for a type."""

_TEXT_FIELDS = ("topic", "brief", "id", "language")
"""The fields that can have any text, also one that YAML takes for a number or a date."""

_ORDINALS = ("first", "second", "third", "fourth", "fifth")
"""The ids to suggest for the articles of a page."""

TRANSLATION_KEY = "translation_of"
"""The key of front matter that makes a request one for a translation."""

_OWN_FIELDS = ("id", "language", "revision", "owner")
"""The other keys that the request for a translation can have. All else is the original's."""

_MAX_ORIGINAL = 400
_ORIGINAL = re.compile(r"([^#\s][^#\x00-\x1f\x7f]*)(?:#([a-z0-9-]+))?")
"""Matches the page of an original, and the id of its article on it."""

_EXPECTED = {
    "topic": f"visible, valid text of at most {MAX_TOPIC:,} characters",
    "brief": f"valid text of at most {MAX_BRIEF:,} characters",
    "id": "only a-z, 0-9 and '-'",
    "revision": "a whole number from 1 to 1000000000",
    "language": "a BCP 47 tag such as de or pt-BR",
    "sources": f"a list of at most {MAX_SOURCES} paths, such as [changelog.md]",
    "level": "a whole number from 1 to 4, or none",
    "watch": f"a list of at most {MAX_SOURCES} relative paths or globs, such as [src/tool/**]",
    "owner": f"a name on one line, of at most {MAX_OWNER} characters",
}
"""What each field without a fixed set of values can be, in words."""

_STAND_IN_TOPIC = "-"
"""A valid topic, where the other fields of a request are checked without one."""

_EXAMPLE_HINT = "write for example {type: blog, topic: Ten ways to speed up a docs build}"

CANONICAL_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)

LANGUAGE = r"[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?"
LANGUAGE += r"(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
"""A BCP 47 tag of language, script, region and variants."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of all three operations (interface section 2.1), and those of the plugin.

    Raises ValueError if a value is invalid.
    """

    operation: ClassVar[str]
    """The last part of the URL (interface section 4)."""

    type: str
    topic: Annotated[
        str,
        Meta(
            # A visible character. Spaces that `\s` matches in Python, but not in JSON Schema, are
            # named one by one.
            pattern=r"[^\s\x1c-\x1f\x85\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]",
            max_length=MAX_TOPIC,
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
            pattern=r"^[a-z0-9-]+$(?!\n)",  # in Python, `$` also matches before a final line break
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

    brief: Annotated[
        str,
        Meta(
            max_length=MAX_BRIEF,
            description="What the text has to say, in your words. Its facts, figures, names and "
            "quotations are given.",
        ),
    ] = ""

    language: Annotated[
        str,
        Meta(
            pattern=rf"^(?:{LANGUAGE})?$(?!\n)",
            description="The language of the text, as a tag such as `de` or `pt-BR`.",
        ),
    ] = ""

    sources: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=_MAX_PATH)], ...],
        Meta(
            max_length=MAX_SOURCES,
            description="The pages and files of the site that the text is written from.",
        ),
    ] = ()

    watch: Annotated[
        tuple[Annotated[str, Meta(pattern=_WATCHED, max_length=_MAX_PATH)], ...],
        Meta(
            max_length=MAX_SOURCES,
            description="Files of the repository, or globs such as `src/tool/**`, relative to "
            "`mkdocs.yml`: after a change of one of them, the approved text is due for another "
            "review. They are not part of the request.",
        ),
    ] = ()

    level: Annotated[
        Annotated[int, Meta(ge=1, le=4)] | Literal["none"] | None,
        Meta(
            description="The level of the heading that the article begins with; without it, one "
            "below the heading that it stands under, but at most 3. With `none`, the title is "
            "left out, for themes that print the titles of pages themselves."
        ),
    ] = None

    owner: Annotated[
        str,
        Meta(
            max_length=MAX_OWNER,
            pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f]*$(?!\n)",
            description="Who to ask about the text: a name, or a login or ORG/TEAM of GitHub.",
        ),
    ] = ""

    def __post_init__(self) -> None:
        """Check the values, since msgspec does not check the arguments of a constructor."""
        msgspec.convert(self, _checked_fields(self.__class__), from_attributes=True)
        for name in ("topic", "brief", "owner"):
            text = unicodedata.normalize("NFC", getattr(self, name)).strip()
            text.encode()  # raises UnicodeEncodeError for unpaired surrogates
            msgspec.structs.force_setattr(self, name, text)
        if self.language:
            msgspec.structs.force_setattr(self, "language", _canonical_tag(self.language))
        "".join(self.watch).encode()  # raises it, too
        if self.sources:
            sources = dict.fromkeys(unicodedata.normalize("NFC", name) for name in self.sources)
            "".join(sources).encode()  # raises it, too
            msgspec.structs.force_setattr(self, "sources", tuple(sources))

    def body(self) -> dict[str, str]:
        """Return the JSON body of the HTTP request, with defaults filled in (interface 2.1).

        It has those of EXTRA_FIELDS that are set.
        """
        fields = self.record()
        not_sent = ("type", "revision", "sources")
        fields_sent = {}
        for name in fields:
            if name not in not_sent:
                fields_sent[name] = str(fields[name])
        return fields_sent

    def with_language(self, language: str) -> Self:
        """Return the request in a language (a BCP 47 tag), or in that of the topic if empty."""
        return msgspec.structs.replace(self, language=language)

    def record(self) -> dict[str, object]:
        """Return what the text depends on, as stored in caches and approved files."""
        fields = msgspec.structs.asdict(self) | {"sources": list(self.sources)}
        del fields["id"], fields["level"], fields["owner"], fields["watch"]
        # Requests without them have the keys and records that they always had.
        for name in OPTIONAL_FIELDS:
            if not fields[name]:
                del fields[name]
        return fields

    def answers_to(self, record: Mapping[str, object]) -> bool:
        """Tell whether a record is that of an equal request. Fields are compared, not keys.

        It can also be the record of a translation: its page now asks for a new text instead.
        """
        # A record without a type is not one of a request, but the default would fill the type in.
        fields = {"type": None, **without_original(record)}
        try:
            recorded = msgspec.convert(fields, type(self))
        except ValueError:  # also where it has another type
            return False
        return recorded.record() == self.record()

    def key(self, *, sandbox: bool) -> str:
        """Return the cache key, 64 hex digits, which is equal for requests that get the same text.

        It depends on the operation, the body, the revision and `sandbox`, but not on the page, the
        id or the credentials.
        """
        identity: dict[str, object] = {
            "format": KEY_FORMAT,
            "operation": self.operation,
            "body": self.body(),
            "revision": self.revision,
            "sandbox": sandbox,
        }
        if self.sources:
            identity["sources"] = self.sources
        return sha256(CANONICAL_JSON.encode(identity))


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

_ALL_FIELDS = frozenset().union(*(model.__struct_fields__ for model in REQUEST_TYPES.values()))
"""The fields of requests of all types."""


@dataclass(frozen=True)
class TranslationOf:
    """The front matter of a translation, before its original is found."""

    page: str
    """The path of the original's page in the directory of pages (`src_uri`)."""

    article: str
    """The id of the original on its page."""

    own: Request
    """A request whose _OWN_FIELDS are those of the translation; its other fields say nothing."""

    @property
    def id(self) -> str:
        """The id of the translation on its own page."""
        return self.own.id


def without_original(record: Mapping[str, object]) -> Mapping[str, object]:
    """Return the record of a request; that of a translation is turned into one for a new text.

    The new text is about what the original is about, in the language of the translation.
    """
    original = record.get(TRANSLATION_KEY)
    if not isinstance(original, dict):
        return record
    return {**original, "language": record.get("language"), "revision": record.get("revision")}


@cache
def choices(model: type[Request]) -> dict[str, tuple[str, ...]]:
    """Return the allowed values of those fields that have a fixed set of them."""
    found = {}
    for field in msgspec.structs.fields(model):
        kind = getattr(field.type, "__origin__", field.type)  # within `Annotated`
        if get_origin(kind) is Literal:
            found[field.name] = get_args(kind)
    return found


def expected_value(model: type[Request], name: str) -> str:
    """Return in words what a field can be."""
    known = choices(model).get(name)
    if known:
        return f"one of {', '.join(known)}"
    return _EXPECTED[name]


@cache
def _checked_fields(model: type[Request]) -> type[msgspec.Struct]:
    """Return a type with the fields of a request, for checking all of them in one step."""
    fields = [(field.name, field.type) for field in msgspec.structs.fields(model)]
    return msgspec.defstruct(model.__name__, fields)


def wrong_fields(model: type[Request], fields: Mapping[str, object]) -> list[str]:
    """Return the names of the fields that are missing or have an invalid value."""
    # Each field is tried by itself, in a request whose other fields are valid.
    valid: dict[str, object] = {"topic": _STAND_IN_TOPIC}
    if "type" in fields:
        valid["type"] = fields["type"]
    wrong = []
    for name in model.__struct_fields__:
        if name not in fields and name != "topic":
            continue
        try:
            msgspec.convert({**valid, name: fields.get(name)}, model)
        except ValueError:
            wrong.append(name)
    return wrong


_Path = tuple[str | int, ...]
"""The path to a value in YAML, such as `("contentgen", 1, "format")`."""


@dataclass(frozen=True)
class Problem:
    """An error in a front matter or in the option `defaults`."""

    path: _Path
    message: str

    def __str__(self) -> str:
        first, *rest = self.path
        path = str(first)
        for step in rest:
            path += f"[{step}]" if isinstance(step, int) else f".{step}"
        return f"{path}: {self.message}"


def parse_front_matter(
    meta: Mapping[str, object], defaults: Mapping[str, object] | None = None
) -> tuple[list[Request | TranslationOf], list[Problem]]:
    """Return the requests of a page, and all problems in them.

    Of a translation, the original is not found yet.

    `meta` is the whole front matter of the page, whose `title` replaces a missing `topic`.
    `defaults` is the plugin option of that name. A page without `contentgen` has no requests.
    """
    if "contentgen" not in meta:
        return [], []
    value = meta["contentgen"]
    if value == []:
        return [], [Problem(("contentgen",), f"{quoted(value)} asks for nothing; {_EXAMPLE_HINT}")]

    if value is None:
        named = [name for name in ("type", "topic", TRANSLATION_KEY) if name in meta]
        if named:
            message = (
                f"asks for nothing; indent `{named[0]}`, and what belongs to it, by two spaces"
            )
            return [], [Problem(("contentgen",), message)]

    requests: list[Request | TranslationOf] = []
    problems: list[Problem] = []
    ids: set[str] = set()
    for path, asked in _items(value):
        request: Request | TranslationOf | None
        if isinstance(asked, dict) and TRANSLATION_KEY in asked:
            request, found = _parse_translation(path, asked, defaults or {})
        else:
            request, found = _parse_item(path, asked, meta.get("title"), defaults or {})
        problems += found
        if request is None:
            continue
        if request.id in ids:
            problems.append(
                Problem((*path, "id"), _same_id_message(request.id, asked, len(requests)))
            )
        ids.add(request.id)
        requests.append(request)
    # An invalid title is a problem of each request without a topic.
    return requests, list(dict.fromkeys(problems))


def _items(value: object) -> list[tuple[_Path, object]]:
    """Return the items of `contentgen`, each with its path: those of a list, or only the value."""
    if isinstance(value, list):
        return [(("contentgen", index), item) for index, item in enumerate(value)]
    return [(("contentgen",), value)]


def _same_id_message(name: str, asked: object, index: int) -> str:
    """Return a message about an article that has the id of an article before it.

    `index` is its number on the page, from 0, from which an id to suggest is made.
    """
    if isinstance(asked, dict) and "id" in asked:
        return f"'{name}' is the id of two articles; give each one of its own"
    if index < len(_ORDINALS):
        suggested = _ORDINALS[index]
    else:
        suggested = f"article-{index + 1}"
    return f"two articles of this page have no id; add `id: {suggested}` to this one"


def check_defaults(defaults: Mapping[str, object]) -> list[Problem]:
    """Return the problems in the plugin option `defaults`."""
    path: _Path = ("defaults",)
    problems = _unknown_keys(path, defaults, "key", [*COMMON_DEFAULTS, *REQUEST_TYPES])
    common = {name: defaults[name] for name in COMMON_DEFAULTS if name in defaults}
    _, found = _validate(Request, {"type": "", "topic": _STAND_IN_TOPIC, **common}, path)
    problems += found
    for name, model in REQUEST_TYPES.items():
        path = ("defaults", name)
        value = defaults.get(name, {})
        if not isinstance(value, dict):
            problems.append(Problem(path, f"expected a mapping of fields, found {quoted(value)}"))
            continue
        allowed = [field for field in model.__struct_fields__ if field not in _NOT_DEFAULTABLE]
        problems += _unknown_keys(path, value, "key", allowed)
        fields = {key: value[key] for key in allowed if key in value}
        _, found = _validate(model, {"type": name, "topic": _STAND_IN_TOPIC, **fields}, path)
        problems += found
    return problems


def front_matter_schema() -> dict[str, object]:
    """Return the JSON Schema of front matter with `contentgen`; other keys are allowed."""
    _, models = msgspec.json.schema_components(REQUEST_TYPES.values())
    fields: dict[str, dict[str, object]] = {}
    for model in REQUEST_TYPES.values():
        fields |= models[model.__name__]["properties"]
        for name, values in choices(model).items():
            fields[name]["enum"] = list(values)  # in our order: msgspec sorts them
    fields["type"] = {"enum": list(REQUEST_TYPES), "description": "What the text is."}
    own: dict[str, object] = {name: fields[name] for name in _OWN_FIELDS}
    of_original = {
        TRANSLATION_KEY: {
            "type": "string",
            "description": "The page whose text is translated, such as guide/builds.md, or "
            "guide/builds.md#second for its article with that id.",
        }
    }
    request = {
        "if": {"required": [TRANSLATION_KEY]},
        "then": {"$ref": "#/$defs/translation"},
        "else": {"$ref": "#/$defs/request"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Front matter with a request for generated articles",
        "type": "object",
        "properties": {
            "contentgen": {
                "description": "A request for an article, or a list of them.",
                "if": {"type": "array"},
                "then": {"minItems": 1, "items": request},
                "else": request,
            }
        },
        "$defs": {
            "request": {"type": "object", "properties": fields, "additionalProperties": False},
            "translation": {
                "type": "object",
                "properties": of_original | own,
                "additionalProperties": False,
            },
        },
    }


def _canonical_tag(tag: str) -> str:
    """Return a language tag in the case that is usual, such as `zh-Hant-TW`."""
    language, *others = tag.lower().split("-")
    parts = [language]
    for part in others:
        if len(part) == 2:  # a region
            parts.append(part.upper())
        elif len(part) == 4:  # a script
            parts.append(part.title())
        else:
            parts.append(part)
    return "-".join(parts)


def _parse_item(
    path: _Path, asked: object, title: object, defaults: Mapping[str, object]
) -> tuple[Request | None, list[Problem]]:
    """Return the request of one item of `contentgen`, or None if it has problems, and these."""
    if not isinstance(asked, dict):
        return None, [Problem(path, f"expected a mapping, found {quoted(asked)}; {_EXAMPLE_HINT}")]

    kind = asked.get("type")
    if isinstance(kind, str) and kind in REQUEST_TYPES:
        model = REQUEST_TYPES[kind]
        problems = _unknown_keys(path, asked, f"key of type {kind}", model.__struct_fields__)
    else:
        # The fields that all types have are still checked.
        kind = ""
        model = Request
        problems = _problems_of_type(path, asked)
    given = _with_defaults(kind, asked, defaults)
    fields: dict[str, object] = {}
    for name in model.__struct_fields__:
        if name in given:
            fields[name] = given[name]
    fields["type"] = kind
    takes_title = "topic" not in asked and title is not None
    if takes_title:
        fields["topic"] = title
    request, found = _validate(model, fields, path)
    for problem in found:
        if takes_title and problem.path == (*path, "topic"):
            problem = replace(problem, path=("title",))
        # One cause has one message: whoever writes `topik` is told what that means.
        if problem.path == path and _means(asked, "topic", model):
            continue
        problems.append(problem)
    if problems:
        return None, problems
    return request, []


def _means(asked: Mapping[str, object], field: str, model: type[Request]) -> bool:
    """Tell whether a key of a request seems to be a misspelt name of a field."""
    return any(nearest_name(name, model.__struct_fields__) == field for name in asked)


def _parse_translation(
    path: _Path, asked: Mapping[str, object], defaults: Mapping[str, object]
) -> tuple[TranslationOf | None, list[Problem]]:
    """Return the request for a translation, or None if it has problems, and these."""
    known = (TRANSLATION_KEY, *_OWN_FIELDS)
    problems = []
    for name in asked:
        if name in known:
            continue
        if name in _ALL_FIELDS:
            message = "is the original's, of which this is a translation; leave it out"
        else:
            message = unknown_name_message(name, "key of a translation", known)
        problems.append(Problem((*path, _displayed_key(name)), message))
    given: dict[str, object] = {"type": "", "topic": _STAND_IN_TOPIC}
    if "owner" in defaults:
        given["owner"] = defaults["owner"]
    for name in _OWN_FIELDS:
        if name in asked:
            given[name] = asked[name]
    own, found = _validate(Request, given, path)
    problems += found
    try:
        page, article = _parse_original(asked[TRANSLATION_KEY])
    except ValueError as error:
        problems.append(Problem((*path, TRANSLATION_KEY), str(error)))
    if problems or own is None:
        return None, problems
    return TranslationOf(page, article, own), []


def _parse_original(value: object) -> tuple[str, str]:
    """Return the page and the id that a value of `translation_of` names. Raises ValueError."""
    match = None
    if isinstance(value, str):
        match = _ORIGINAL.fullmatch(value.strip())
    if match is None or len(match[0]) > _MAX_ORIGINAL:
        raise ValueError(
            "expected the path of a page, such as guide/builds.md, or guide/builds.md#second for "
            f"its article with the id 'second'; found {quoted(value)}"
        )
    return unicodedata.normalize("NFC", match[1]).removeprefix("./"), match[2] or "main"


def _problems_of_type(path: _Path, asked: Mapping[str, object]) -> list[Problem]:
    """Return the problems of a request with an invalid type: that, and keys that no type has."""
    known = sorted({*_ALL_FIELDS, TRANSLATION_KEY})
    unknown = _unknown_keys(path, asked, "key", known)
    if "type" in asked:
        kind = asked["type"]
        message = f"expected one of {', '.join(REQUEST_TYPES)}, found {quoted(kind)}"
        return [Problem((*path, "type"), message + did_you_mean(kind, REQUEST_TYPES)), *unknown]
    if any(nearest_name(name, known) == "type" for name in asked):
        return unknown
    message = f"'type' is missing; write one of {', '.join(REQUEST_TYPES)}"
    return [Problem(path, message), *unknown]


def _with_defaults(
    kind: str, asked: Mapping[str, object], defaults: Mapping[str, object]
) -> dict[str, object]:
    """Return the fields of a request, with those of `defaults` for all types and for its own.

    The caller leaves out what is not a field, such as the keys of `defaults` for other types.
    """
    of_type = defaults.get(kind)
    if not isinstance(of_type, dict):
        of_type = {}
    return {**defaults, **of_type, **asked}


def _unknown_keys(
    path: _Path, fields: Mapping[str, object], kind: str, known: Collection[str]
) -> list[Problem]:
    problems = []
    for name in fields:
        if name in known:
            continue
        other_type = _type_with(name)
        if other_type:
            message = f"is not a known {kind}; it is for type {other_type}"
        else:
            message = unknown_name_message(name, kind, known)
        problems.append(Problem((*path, _displayed_key(name)), message))
    return problems


def _type_with(name: object) -> str:
    """Return the type that has a field which not all types have, or an empty string."""
    if name in Request.__struct_fields__:
        return ""
    for type_, model in REQUEST_TYPES.items():
        if name in model.__struct_fields__:
            return type_
    return ""


def _validate(
    model: type[Request], fields: Mapping[str, object], path: _Path
) -> tuple[Request | None, list[Problem]]:
    """Return the request with these fields, or None if one is wrong, and the problems."""
    try:
        return msgspec.convert(fields, model), []
    except ValueError:
        wrong = wrong_fields(model, fields)
    problems = []
    for name in wrong:
        if name in fields:
            message = _invalid_value_message(model, name, fields[name])
            problems.append(Problem((*path, name), message))
        else:
            message = "'topic' is missing, and the page has no title to take its place"
            problems.append(Problem(path, message))
    return None, problems


def _invalid_value_message(model: type[Request], name: str, value: object) -> str:
    if name == "sources" and isinstance(value, str):
        hint = f"; write [{value}]"
    elif name in _TEXT_FIELDS and isinstance(value, list | dict):
        hint = "; write it as one text"
    elif name in _TEXT_FIELDS and not isinstance(value, str | None):
        hint = "; put it in quotes"
    else:
        hint = did_you_mean(value, choices(model).get(name, ()))
    return f"expected {expected_value(model, name)}, found {quoted(value)}{hint}"


def unknown_name_message(name: object, kind: str, known: Collection[str]) -> str:
    """Return a message about a name that is not `known`. `kind` is such as `option`."""
    cure = did_you_mean(name, known) or f"; known are {', '.join(known)}"
    return f"is not a known {kind}{cure}"


def _displayed_key(key: object) -> str:
    if isinstance(key, str) and key and key.isprintable():
        return key
    return quoted(key)
