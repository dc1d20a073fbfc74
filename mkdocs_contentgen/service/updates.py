"""What is sent to update a text that is there, and what comes back.

The interface of the service has no such operation; the writer does, also a served one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from ..errors import InvalidAnswerError

OPERATION = "update-text"
"""The operation of a served writer."""

MAX_BLOCKS, MAX_BLOCK, MAX_NOTE = 2000, 20_000, 2000
"""The maximum number of blocks of a text, of the characters of one, and of those of a note."""

MAX_REASON = 250
"""The maximum length of a reason in characters. Longer ones are cut off."""

_Text = Annotated[str, msgspec.Meta(max_length=MAX_BLOCK)]


class TextBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A block of a text that may be changed, or is there to be read."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=100_000)]
    kind: Annotated[str, msgspec.Meta(pattern="^[a-z0-9]{1,20}$")]
    """Its tag, such as `p` or `li`."""

    text: _Text
    """Light Markdown, in which `[2]` cites the second of the sources."""

    checked: _Text = ""
    """The plain text without its statements to check: what it says need not be checked again."""

    is_persons: bool = False
    """Whether a person wrote it."""

    is_fixed: bool = False
    """Whether it stays in any case."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section that a text cites."""

    name: Annotated[str, msgspec.Meta(max_length=600)]
    """What names it in the text's record: its address, or its file and place."""

    title: Annotated[str, msgspec.Meta(max_length=1000)]
    now: Annotated[str, msgspec.Meta(max_length=10_000)]
    """What it says, or an empty string if it is gone."""

    before: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    """What it said, or an empty string if that is not known."""

    has_changed: bool = False
    digest: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] = "0" * 64
    """The SHA-256 of what it says."""


class Update(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be updated: a text because of its sources, or with a note."""

    blocks: Annotated[Sequence[TextBlock], msgspec.Meta(min_length=1, max_length=MAX_BLOCKS)]
    sources: Annotated[Sequence[Source], msgspec.Meta(max_length=50)] = ()
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE)] = ""


CITATION = "https://source.invalid"
"""The links of the new blocks to sources are below this address, each with its number."""


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

    remarks: Sequence[str] = ()
    cited: Mapping[int, Source] = {}
    """The sources that the new blocks cite, by the numbers in their links below CITATION."""

    model: str = ""

    def encode(self, **fields: object) -> bytes:
        """Return the body of the answer with the changes, and further fields."""
        return msgspec.json.encode({"success": True, **msgspec.structs.asdict(self), **fields})


def parse_updated(answer: bytes) -> Updated:
    """Return the changes in an answer. Raises InvalidAnswerError."""
    try:
        return msgspec.json.decode(answer, type=Updated)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError("the answer to the update is not one of a writer") from error
