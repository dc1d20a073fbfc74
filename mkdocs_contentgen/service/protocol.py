"""What a service, the writer and the sandbox are asked for, and what they answer.

The interface of the service has neither updates nor translations. The writer has both, within a
build and served.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, Protocol

import msgspec

from ..citation import Citation
from ..errors import FailedTextError, InvalidAnswerError, UnsafeHTMLError
from ..html.sanitizer import parse_article
from ..page_request import PageRequest
from ..remark import Remark, clean_remarks
from ..requests import LANGUAGE, Request
from ..text import ANSWER_FIELDS, MAX_BLOCK, Text, clean_fields, model_name

UPDATE_OPERATION = "update-text"
"""The operation of updates."""

TRANSLATE_OPERATION = "translate-text"
"""The operation of translations."""

MAX_BLOCKS = 2000
"""The maximum number of blocks of a text."""

MAX_TEXT_BODY = 8 * 2**20
"""The maximum size of the body of an update or a translation in bytes.

A text has at most 256 K characters, of up to four bytes. Its words are in the body twice, beside
those of at most 50 sources.
"""

MAX_DOUBTFUL = 50
"""The maximum number of sentences that an update names."""

MAX_NOTE = 2000
"""The maximum length of a note in characters."""

REQUEST_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
"""What the header `X-Request-Id` can be, for a served writer and for those who ask it."""

CITED_ADDRESS = "https://source.invalid"
"""The links of the new blocks to sources are below this address, each with its number."""

MAX_REASON = 250
"""The maximum length of a reason in characters. Longer ones are cut off."""

_MAX_COST = 10**9
"""Reported costs of this size or larger are errors of the service."""

_MAX_DIGITS = 18
"""The maximum number of digits of a whole number that is read as one."""

_Text = Annotated[str, msgspec.Meta(max_length=MAX_BLOCK)]


class TextBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A block of a text that may be changed, or is there to be read."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=100_000)]
    kind: Annotated[str, msgspec.Meta(pattern="^[a-z0-9]{1,20}$")]
    """Its tag, such as `p` or `li`."""

    text: _Text
    """Light Markdown, in which `[2]` cites the second of the sources."""

    checked: _Text = ""
    """The plain text without its statements to check.

    Its words count as checked, so they are not marked where a changed block repeats them."""

    is_persons: bool = False
    """Whether a person wrote it."""

    is_fixed: bool = False
    """Whether it stays in any case."""


class Update(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be updated: a text because of its sources, or with a note."""

    blocks: Annotated[Sequence[TextBlock], msgspec.Meta(min_length=1, max_length=MAX_BLOCKS)]
    sources: Annotated[Sequence[Citation], msgspec.Meta(max_length=50)] = ()
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE)] = ""
    doubtful: Annotated[
        Sequence[_Text],
        msgspec.Meta(max_length=MAX_DOUBTFUL),
    ] = ()
    """The sentences that are likely to be wrong now."""


class BlockChange(msgspec.Struct, frozen=True):
    """A change of a block. `html` is its new content, or empty where it is removed."""

    block: int
    action: Literal["change", "insert", "remove"]
    html: str = ""
    reason: str = ""


class Updated(msgspec.Struct, frozen=True):
    """The changes of a text, and what a reviewer should know of them."""

    changes: Sequence[BlockChange]
    doubts: Sequence[BlockChange] = ()
    """Changes that were not made, since a person wrote the block."""

    reason: str = ""
    """Why nothing has to change."""

    remarks: Sequence[Remark] = ()
    cited: Mapping[int, Citation] = {}
    """The sources that the new blocks cite, by the numbers in their links below CITED_ADDRESS."""

    model: str = ""

    def encode(self, **fields: object) -> bytes:
        """Return the body of the answer with the changes, and further fields."""
        return _encode_success({**msgspec.structs.asdict(self), **fields})


class OriginalBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A block of a text that is to be translated, or is there to be read."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=100_000)]
    kind: Annotated[str, msgspec.Meta(pattern="^[a-z0-9]{1,20}$")]
    """Its tag, such as `p` or `li`, or the attribute, such as `alt`, of which it is the value."""

    text: _Text
    """The words, as `html.translatable` writes them."""

    translation: _Text = ""
    """Its translation, if it has one already, which stays: it is there to be read."""


class Translation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be translated of a text: those of its blocks that have no translation yet."""

    language: Annotated[str, msgspec.Meta(max_length=100, pattern=rf"^{LANGUAGE}$(?!\n)")]
    """The language to translate into, as a BCP 47 tag."""

    blocks: Annotated[Sequence[OriginalBlock], msgspec.Meta(min_length=1, max_length=MAX_BLOCKS)]
    """All blocks with words, in the order of the text."""

    from_language: Annotated[
        str, msgspec.Meta(max_length=100, pattern=rf"^(?:{LANGUAGE})?$(?!\n)")
    ] = ""
    """The language of the original as a BCP 47 tag, or an empty string if it is not known."""

    def __post_init__(self) -> None:
        """Raise ValueError if two blocks have the same number: an answer names blocks by it."""
        if len({block.number for block in self.blocks}) < len(self.blocks):
            raise ValueError("each block needs a number of its own")


class TranslatedBlock(msgspec.Struct, frozen=True):
    """What a model says of a block: its words in the other language, or why it has none."""

    block: int
    text: str = ""
    """As the original's, with `==statements to check==`, or empty if it stays as it is."""

    remark: str = ""
    """What a person should know of it, such as why it stays in the original's language."""


class Translated(msgspec.Struct, frozen=True):
    """The translated blocks of a text, and what a reviewer should know of them."""

    blocks: Sequence[TranslatedBlock]
    remarks: Sequence[Remark] = ()
    """What a reviewer should know of the translation as a whole."""

    model: str = ""

    def encode(self, **fields: object) -> bytes:
        """Return the body of the answer with the blocks, and further fields."""
        return _encode_success({**msgspec.structs.asdict(self), **fields})


def _encode_success(fields: Mapping[str, object]) -> bytes:
    """Return the body of an answer to a request that has succeeded."""
    return msgspec.json.encode({"success": True, **fields})


@dataclass(frozen=True)
class ServiceRequest:
    """What a client asks of a writer: a new text, or an update or a translation of one."""

    request: Request
    """The request for the new or changed text, or for the translation."""

    of_text: Update | Translation | None = None
    """The text that is there and what is to become of it, or None for a new one."""

    @property
    def operation(self) -> str:
        """The last part of the URL."""
        match self.of_text:
            case Update():
                return UPDATE_OPERATION
            case Translation():
                return TRANSLATE_OPERATION
        return self.request.operation

    def body(self) -> dict[str, object]:
        """Return the JSON body of the HTTP request."""
        body: dict[str, object] = {**self.request.body()}
        match self.of_text:
            case Update() as update:
                body |= {"type": self.request.type, "update": msgspec.to_builtins(update)}
            case Translation() as translation:
                fields = msgspec.to_builtins(translation)
                body |= {"type": self.request.type, "translation": fields}
        return body


async def _keep_nothing(parts: bytes = b"") -> bytes:
    return b""


@dataclass(frozen=True)
class Attempt:
    """What a client has to know of one try, and what is kept and shown of the text meanwhile."""

    idempotency_key: str = ""
    timeout: float = math.inf
    """Seconds from the start of the connection to the last byte of the answer."""

    load: Callable[[], Awaitable[bytes]] = _keep_nothing
    """Returns the parts that an earlier, interrupted try has saved, or nothing."""

    save: Callable[[bytes], Awaitable[object]] = _keep_nothing
    """Saves the parts that are written, in place of earlier ones."""

    report: Callable[[int, int], None] = lambda words, target: None
    """Gets the number of words so far, and the target."""

    is_stopped: Callable[[], bool] = lambda: False
    """Tells whether the run was stopped, so that no call to a model may begin any more."""


UNOBSERVED = Attempt()
"""Neither keeps nor shows anything."""


class Client(Protocol):
    """Gives new texts, and changes and translations of texts that are there."""

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Return a new text for a request. Raises ServiceError."""

    async def update(self, asked: PageRequest, update: Update, attempt: Attempt) -> Updated:
        """Return the changes of the text for a request. Raises ServiceError."""

    async def translate(
        self, asked: PageRequest, translation: Translation, attempt: Attempt
    ) -> Translated:
        """Return the translated blocks of a text. Raises ServiceError."""

    @property
    def warnings(self) -> Sequence[str]:
        """Messages about all requests."""


def encode_answer(text: Text, **fields: object) -> bytes:
    """Return the body of the answer with a text (interface section 2.2), and further fields."""
    written = msgspec.to_builtins(text)  # without the fields that have their defaults
    answered = {name: written[name] for name in ANSWER_FIELDS if name in written}
    return _encode_success({"content": text.html, **answered, **fields})


def parse_answer(answer: bytes, request: Request) -> Text:
    """Return the text in an answer (interface section 2.2), generated now for `request`.

    The writer adds further fields. Raises FailedTextError if the service reports success, but sent
    no article, and InvalidAnswerError for other answers: they may be from another program than the
    service.
    """
    try:
        fields = json.loads(answer.decode("utf-8-sig"), parse_int=_parse_number)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError("the answer is not JSON in UTF-8; is base_url right?") from error
    if not isinstance(fields, dict) or fields.get("success") is not True:
        raise InvalidAnswerError("the service reports a failure (`success` is not true)")
    content = fields.get("content")
    if not isinstance(content, str):
        raise failed_text("the answer has no text in `content`", answer.decode(), fields)
    try:
        parse_article(content, is_used_again=True)  # when its page is built
        content.encode()
    except (UnsafeHTMLError, UnicodeEncodeError) as error:
        message = f"the answer's `content` cannot be used: {error}"
        raise failed_text(message, content, fields) from error
    return Text(content, datetime.now(UTC), request.record(), **clean_fields(fields))


def _parse_number(digits: str) -> int | float:
    """Return a number of any length. Python refuses whole ones of more than 4,300 digits."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def failed_text(message: str, answer: str, fields: Mapping[str, object]) -> FailedTextError:
    """Return the error for an unusable text, with the model and the cost in the answer's fields."""
    usage = fields.get("usage")
    cost = None
    if isinstance(usage, dict):
        cost = reported_cost(usage.get("cost"))
    return FailedTextError(message, answer, model=model_name(fields.get("model")), cost=cost)


def reported_cost(value: object) -> float | None:
    """Return a cost that a server reports, or None if it is not plausible."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < _MAX_COST else None


def parse_updated(answer: bytes) -> Updated:
    """Return the changes in an answer. Raises InvalidAnswerError."""
    try:
        return msgspec.convert(_decoded(answer), Updated, str_keys=True)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError("the answer to the update is not one of a writer") from error


def parse_translated(answer: bytes) -> Translated:
    """Return the translated blocks in an answer. Raises InvalidAnswerError."""
    try:
        return msgspec.convert(_decoded(answer), Translated, str_keys=True)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError("the answer is not a translation of a writer") from error


def _decoded(answer: bytes) -> dict[str, object]:
    """Return the fields of an answer with usable remarks. Raises ValueError."""
    fields = msgspec.json.decode(answer, type=dict[str, object])
    if "remarks" in fields:
        fields["remarks"] = clean_remarks(fields["remarks"])
    return fields
