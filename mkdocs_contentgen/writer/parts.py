"""Keep the answers for a text until it is finished, so that an interrupted one is gone on with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import msgspec

from ..digest import sha256
from ..service.progress import TextInProgress
from .completion import Completion, Watch
from .model import Message
from .usage import Usage


class Ask(Protocol):
    """Asks the model, as Model.ask() does."""

    async def __call__(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        *,
        watch: Watch | None = None,
        penalty: bool = False,
    ) -> Completion:
        """Return the answer to a conversation."""


class _Part(msgspec.Struct, frozen=True, array_like=True):
    text: str
    finish_reason: str
    thought: bool
    usage: Usage


class KeptAnswers:
    """An Ask that answers from `progress` what an interrupted run has asked before.

    Answers are saved before the next call, so that a text of one call costs no writing.
    """

    def __init__(self, ask: Ask, progress: TextInProgress, model: str) -> None:
        self.usage = Usage()
        self._model = model
        self._ask = ask
        self._progress = progress
        self._parts: dict[str, _Part] | None = None
        self._is_saved = True
        self._times: Counter[str] = Counter()

    @property
    def has_parts(self) -> bool:
        """Whether there is an answer already."""
        return bool(self._parts)

    async def __call__(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        *,
        watch: Watch | None = None,
        penalty: bool = False,
    ) -> Completion:
        """Return the answer to a conversation."""
        if self._parts is None:
            self._parts = _decode(await self._progress.load())
        digest = sha256(msgspec.json.encode([self._model, messages]))
        self._times[digest] += 1  # a further attempt is not answered with the first one
        key = f"{digest}-{self._times[digest]}"
        if part := self._parts.get(key):
            completion = Completion(part.text, part.finish_reason, part.thought, part.usage)
        else:
            if not self._is_saved:
                await self._progress.save(msgspec.json.encode(self._parts))
                self._is_saved = True
            completion = await self._ask(messages, max_tokens, watch=watch, penalty=penalty)
            if completion.error is None:
                self._parts[key] = _Part(
                    completion.text,
                    completion.finish_reason,
                    completion.thought,
                    completion.usage,
                )
                self._is_saved = False
        self.usage += completion.usage
        return completion


def _decode(parts: bytes) -> dict[str, _Part]:
    """Return the kept answers. What cannot be read counts as none."""
    try:
        return msgspec.json.decode(parts or b"{}", type=dict[str, _Part])
    except ValueError:
        return {}
