"""Keep the answers to the calls of an unfinished text, so that nobody pays for them twice."""

from __future__ import annotations

from collections import Counter

import msgspec

from ...files import sha256
from ...service.protocol import Attempt
from .completion import Ask, Completion, ModelCall
from .usage import Usage


class KeptAnswers:
    """An Ask that answers from `attempt` what an interrupted run has asked before.

    Answers are saved only before a further call, so those of a text of one call never are.
    """

    def __init__(self, ask: Ask, attempt: Attempt, model: str) -> None:
        self.usage = Usage()
        self._model = model
        self._ask = ask
        self._attempt = attempt
        self._answers: dict[str, Completion] = {}
        """The answers so far, by the digest of the conversation and the number of its call."""

        self._is_loaded = False
        """Whether the answers have those of an earlier run."""

        self._has_unsaved = False
        """Whether the answers have some that `attempt` has not."""

        self._times_asked: Counter[str] = Counter()

    @property
    def has_answers(self) -> bool:
        """Whether a call was answered in this run or, as far as is loaded, before."""
        return bool(self._answers)

    async def __call__(self, call: ModelCall) -> Completion:
        """Return the answer to a conversation."""
        if not self._is_loaded:
            self._answers = await self._load()
            self._is_loaded = True
        digest = sha256(msgspec.json.encode([self._model, call.messages]))
        # A second call with the same conversation is not answered with the first answer.
        self._times_asked[digest] += 1
        key = f"{digest}-{self._times_asked[digest]}"
        completion = self._answers.get(key)
        if completion is None:
            completion = await self._ask_model(key, call)
        self.usage += completion.usage
        return completion

    async def _load(self) -> dict[str, Completion]:
        saved = await self._attempt.load()
        if not saved:
            return {}
        try:
            return msgspec.json.decode(saved, type=dict[str, Completion])
        except ValueError:  # of another version
            return {}

    async def _ask_model(self, key: str, call: ModelCall) -> Completion:
        if self._has_unsaved:
            await self._attempt.save(msgspec.json.encode(self._answers))
            self._has_unsaved = False
        completion = await self._ask(call)
        if completion.error is None:
            self._answers[key] = completion
            self._has_unsaved = True
        return completion
