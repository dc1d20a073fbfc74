"""Ask a program for texts, such as `claude -p`: the prompt is its input, the text its output."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory, TemporaryFile

from ..display import quoted
from ..errors import ProgramError, ServiceError, UnknownOutcomeError, UnusableServiceError
from ..files import reason_of
from ..service.connection import MAX_STREAM, StreamEvent, without_secret
from .completion import AnswerReader, Completion, Message, ModelCall
from .model import Model
from .settings import WriterOptions
from .usage import CHARACTERS_PER_TOKEN, Spending, Usage

_CHUNK = 64 * 1024
_MOST_ERRORS = 2000
"""The number of bytes at the end of a program's errors that are kept for a message."""

_INTERVAL = 0.1
"""Seconds between two looks at what a program has written, and for its end."""

_TERMINAL_CODE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\^_])")


class Program(Model):
    """A program that writes texts, in place of a model's server.

    It runs in an empty folder of its own, without a shell or a terminal, and with the user's
    environment except what is for the plugin. What it costs is not known. A text that ends early is
    no error. Without `quotes`, no message has what it says.
    """

    def _connect(self, *, allow_http: bool) -> None:
        self._called = f"the program {quoted(self._fields.command[0])} ({self._prefix}command)"

    async def __aexit__(self, *error: object) -> None:
        """Do nothing: each call ends its program."""

    async def _call(self, call: ModelCall, spending: Spending) -> Completion:
        reader = AnswerReader(call.watch)
        try:
            error = await self._run(prompt_text(call.messages), reader)
        except OSError as problem:
            raise UnusableServiceError(
                f"{self._called} cannot be started ({reason_of(problem)}); install it, correct "
                "its name, or make room for temporary files"
            ) from None
        given, written = call.characters, len(reader.text)
        usage = Usage(1, given // CHARACTERS_PER_TOKEN, written // CHARACTERS_PER_TOKEN, None)
        spending.total += usage
        if error and not (reader.was_stopped or reader.text.strip()):
            raise error
        self._debug(f"{quoted(self.name)}: answered, about {usage.tokens:,} tokens")
        lost = UnknownOutcomeError(str(error)) if error and not reader.was_stopped else None
        reason = reader.reason if reader.was_stopped else "lost" if lost else "stop"
        return Completion(reader.text, reason, usage, lost)

    async def _run(self, prompt: str, reader: AnswerReader) -> ServiceError | None:
        """Return an error of the program, once its text ends or has to. Raises OSError."""
        # Ours can have a token, or the password of the ledger.
        others = (it for it in os.environ.items() if not it[0].startswith("CONTENTGEN_"))
        with (
            TemporaryDirectory(prefix="contentgen-", ignore_cleanup_errors=True) as folder,
            TemporaryFile() as given,
            TemporaryFile() as output,
            TemporaryFile() as errors,
        ):
            given.write(prompt.encode("utf-8", "replace"))
            given.seek(0)
            with subprocess.Popen(  # noqa: S603  the site's configuration names it
                self._fields.command,
                stdin=given,
                stdout=output,
                stderr=errors,
                cwd=folder,
                env=dict(others),
                start_new_session=True,  # without a terminal, and so that all of it can end
            ) as process:
                try:
                    problem = await self._read(process, output.fileno(), reader)
                    status = process.poll() or 0
                finally:
                    _stop(process)
            errors.seek(0, os.SEEK_END)
            errors.seek(max(0, errors.tell() - _MOST_ERRORS))
            return problem or self._failure(status, errors.read())

    async def _read(
        self, process: subprocess.Popen[bytes], output: int, reader: AnswerReader
    ) -> ServiceError | None:
        """Read the output until it ends or has to. Return an error after a time limit."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        limit, start, position = self._fields.first_token_timeout, time.monotonic(), 0
        while time.monotonic() - start < limit:
            has_ended = process.poll() is not None
            chunk = os.pread(output, _CHUNK, position)
            if chunk or has_ended:
                limit, start = self._fields.call_timeout, time.monotonic()
                position += len(chunk)
                text = _TERMINAL_CODE.sub("", decoder.decode(chunk, final=not chunk))
                is_over = not chunk or position > MAX_STREAM  # such a text is none for people
                if reader.read_text(text) is StreamEvent.END or is_over:
                    return None
            await asyncio.sleep(0 if chunk else _INTERVAL)
        return UnknownOutcomeError(
            f"{self._called} wrote nothing for {limit:g} s, so it was stopped; it may have cost "
            f"something; does it wait for a login? Otherwise raise {self._prefix}call_timeout"
        )

    def _failure(self, status: int, errors: bytes) -> ServiceError | None:
        """Return the error of a program that has failed."""
        if not status:
            return None
        how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
        lines = errors.decode("utf-8", "replace").strip().splitlines()[-3:]
        said = without_secret(_TERMINAL_CODE.sub("", " ".join(lines)), "") if self._quotes else ""
        return ProgramError(f"{self._called} {how}{f': {said}' if said else ''}")


def model_type(options: WriterOptions) -> type[Model]:
    """Return what writes: the program of the option `command`, or else a model on a server."""
    return Program if options.fields.command else Model


def prompt_text(messages: Sequence[Message]) -> str:
    """Return a conversation as one text."""
    return "\n\n".join(
        f"You have written this:\n\n{message['content']}"
        if message["role"] == "assistant"
        else message["content"]
        for message in messages
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program, and all that it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_INTERVAL)
