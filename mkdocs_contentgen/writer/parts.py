"""Keep the answers for a text until it is finished, so that an interrupted one is gone on with."""

from __future__ import annotations

from collections import Counter

import msgspec

from ..files import sha256
from ..service.protocol import Attempt
from .completion import Ask, Completion, ModelCall
from .usage import Usage


class _KeptAnswer(msgspec.Struct, frozen=True, array_like=True):
    text: str
    finish_reason: str
    thought: bool
    usage: Usage


class KeptAnswers:
    """An Ask that answers from `attempt` what an interrupted run has asked before.

    Answers are saved before the next call, so that a text of one call costs no writing.
    """

    def __init__(self, ask: Ask, attempt: Attempt, model: str) -> None:
        self.usage = Usage()
        self._model = model
        self._ask = ask
        self._attempt = attempt
        self._parts: dict[str, _KeptAnswer] | None = None
        self._is_saved = True
        self._times: Counter[str] = Counter()

    @property
    def has_parts(self) -> bool:
        """Whether there is an answer already."""
        return bool(self._parts)

    async def __call__(self, call: ModelCall) -> Completion:
        """Return the answer to a conversation."""
        if self._parts is None:
            self._parts = _decode(await self._attempt.load())
        digest = sha256(msgspec.json.encode([self._model, call.messages]))
        self._times[digest] += 1  # a further attempt is not answered with the first one
        key = f"{digest}-{self._times[digest]}"
        if part := self._parts.get(key):
            completion = Completion(part.text, part.finish_reason, part.thought, part.usage)
        else:
            if not self._is_saved:
                await self._attempt.save(msgspec.json.encode(self._parts))
                self._is_saved = True
            completion = await self._ask(call)
            if completion.error is None:
                self._parts[key] = _KeptAnswer(
                    completion.text,
                    completion.finish_reason,
                    completion.thought,
                    completion.usage,
                )
                self._is_saved = False
        self.usage += completion.usage
        return completion


def _decode(parts: bytes) -> dict[str, _KeptAnswer]:
    """Return the kept answers. What cannot be read counts as none."""
    try:
        return msgspec.json.decode(parts or b"{}", type=dict[str, _KeptAnswer])
    except ValueError:
        return {}
