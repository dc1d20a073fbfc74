"""Ask a program for texts, such as `claude -p`: the prompt is its input, the text its output."""

from __future__ import annotations

import asyncio
import codecs
import errno
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO
from uuid import uuid4

from ...display import quoted
from ...errors import ProgramError, ServiceError, UnknownOutcomeError, UnusableServiceError
from ...files import reason_of
from ...reporting import Reporter
from ...service.bodies import MAX_STREAM
from ...service.error_words import without_secret
from ...service.event_stream import StreamEvent
from .completion import AnswerReader, Completion, Message, ModelCall
from .settings import WriterOptions
from .terminal import ProgramOutput, shown_text
from .transport import Transport
from .usage import CHARACTERS_PER_TOKEN, Spending, Usage

_CHUNK = 64 * 1024
"""The number of bytes that are read at once."""

_MOST_ERRORS = 2000
"""The number of bytes at the end of a program's errors that are kept for a message."""

_MAX_READS = 16
"""The number of chunks of errors that are read at once. A program that writes more has to wait."""

_QUOTED_LINES = 3
"""How many lines at the end of each output a message quotes."""

_QUOTED_LENGTH = 200
"""How many characters of them, at most."""

_MOST_WORDS = 5
"""So few words of a program that failed are a message, and no part of a text."""

_MIN_SECRET = 8
"""The minimum length of a credential that is searched for within other values."""

_INTERVAL = 0.1
"""Seconds between two looks at what a program has written, and for its end."""

_CALL = "CONTENTGEN_CALL"
"""The variable by which the processes are found that a program has started."""

_MAX_ROUNDS = 5
"""How often processes are looked for, which can start others until they are ended."""


class Program(Transport):
    """The transport to a program that writes texts, in place of a model's server.

    It runs in an empty folder of its own, without a shell or a terminal, and with the user's
    environment except what is for the plugin and its credentials. What it costs is not known. If it
    ends with a status other than 0, there is no text.
    """

    def __init__(self, options: WriterOptions, *, reporter: Reporter, quotes: bool = True) -> None:
        super().__init__(options, reporter=reporter, quotes=quotes)
        # A function, since what shows an object shows the values of its attributes.
        self._secrets: Callable[[], Sequence[str]] = lambda: options.secrets
        self.label = f"the program {quoted(self._fields.command[0])} ({self._prefix}command)"

    async def close(self) -> None:
        """Do nothing: each call ends its program."""

    async def call(self, call: ModelCall, spending: Spending) -> Completion:
        """Return what the program writes."""
        reader = AnswerReader(call.watch)
        try:
            error = await self._run(prompt_text(call.messages), reader)
        except OSError as problem:
            raise UnusableServiceError(
                f"{self.label} cannot be started ({reason_of(problem)}); "
                f"{_start_hint(self._fields.command[0], problem)}"
            ) from None
        usage = Usage(
            calls=1,
            input_tokens=call.characters // CHARACTERS_PER_TOKEN,
            output_tokens=len(reader.text) // CHARACTERS_PER_TOKEN,
            cost=None,
        )
        spending.total += usage
        is_lost = isinstance(error, UnknownOutcomeError) and bool(reader.text.strip())
        if error and not is_lost:
            raise error
        self._reporter.debug(
            f"{quoted(self._fields.model)}: answered, about {usage.tokens:,} tokens"
        )
        reason = "stop"
        if error:
            reason = "lost"
        elif reader.was_stopped:
            reason = reader.reason
        return Completion(reader.text, reason, usage, error)

    async def _run(self, prompt: str, reader: AnswerReader) -> ServiceError | None:
        """Return an error of the program, once its text ends or has to. Raises OSError."""
        call_id = uuid4().hex
        with (
            TemporaryDirectory(prefix="contentgen-", ignore_cleanup_errors=True) as folder,
            TemporaryFile() as given,
        ):
            given.write(prompt.encode("utf-8", "replace"))
            given.seek(0)
            with subprocess.Popen(  # noqa: S603  the site's configuration names it
                self._fields.command,
                stdin=given,
                # Pipes hold back a program that writes faster than its output is read.
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=folder,
                env={**self._environment(), _CALL: call_id},
                start_new_session=True,  # without a terminal, and so that all of it can end
            ) as process:
                errors = _Tail(process.stderr)
                try:
                    problem = await self._read(process, errors, reader)
                    status = process.poll() or 0  # 0 while it runs, as when it has to stop
                    errors.read()
                finally:
                    _stop(process, call_id)
        if problem or reader.was_stopped:
            return problem
        has_text = status == 0 and bool(reader.text.strip())
        if has_text:
            return None
        return self._failure(status, reader.text, errors.text)

    def _environment(self) -> dict[str, str]:
        """Return the user's environment without the credentials of the plugin."""
        secrets = set(self._secrets()) - {""}
        long_ones = [secret for secret in secrets if len(secret) >= _MIN_SECRET]
        kept = {}
        for name, value in os.environ.items():
            is_ours = name.startswith("CONTENTGEN_")  # can be a token, or the ledger's password
            has_secret = value.strip() in secrets or any(secret in value for secret in long_ones)
            if not (is_ours or has_secret):
                kept[name] = value
        return kept

    async def _read(
        self, process: subprocess.Popen[bytes], errors: _Tail, reader: AnswerReader
    ) -> ServiceError | None:
        """Read the output until it ends or has to. Return an error after a time limit."""
        output = _Output(reader)
        limit = self._fields.first_token_timeout
        last_chunk_at = time.monotonic()
        while time.monotonic() - last_chunk_at < limit:
            # Asked before the pipe is read, so that nothing is written after what is read then.
            has_ended = process.poll() is not None
            errors.read()
            chunk = _read_now(process.stdout)
            if chunk:
                if output.read(chunk):
                    return None
                limit = self._fields.call_timeout
                last_chunk_at = time.monotonic()
                await asyncio.sleep(0)
            elif has_ended:
                output.read_end()
                return None
            else:
                await asyncio.sleep(_INTERVAL)
        return UnknownOutcomeError(
            f"{self.label} wrote nothing for {limit:g} s, so it was stopped; it may have cost "
            f"something; does it wait for a login? Otherwise raise {self._prefix}call_timeout"
        )

    def _failure(self, status: int, output: str, errors: str) -> ProgramError:
        """Return the error of a program without a text. Some write the reason as their text."""
        how = "wrote nothing"
        if status > 0:
            how = f"ended with status {status}"
        elif status < 0:
            how = f"was ended by signal {-status}"
        said = "; ".join(filter(None, [_last_lines(errors), _last_lines(output)]))
        if said and self._quotes:
            how = f"{how}: {said}"
        answer = output if len(output.split()) > _MOST_WORDS else ""
        return ProgramError(f"{self.label} {how}", answer)


def _start_hint(program: str, problem: OSError) -> str:
    """Return what to do about a program that cannot be started."""
    if os.sep not in program or not Path(program).is_file():
        return "install it, correct its name, or make room for temporary files"
    if problem.errno == errno.EACCES:
        return f"make it executable: chmod +x {shlex.quote(program)}"
    if problem.errno in (errno.ENOEXEC, errno.ENOENT):
        return "its first line has to name a program that runs it, such as #!/usr/bin/env python3"
    return "correct it, or make room for temporary files"


class _Output:
    """The output of a program, which `reader` gets as a terminal would show it."""

    def __init__(self, reader: AnswerReader) -> None:
        self._reader = reader
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shown = ProgramOutput()
        self._size = 0

    def read(self, chunk: bytes) -> bool:
        """Read the next part, and return whether the program has to stop."""
        self._shown.write(self._decoder.decode(chunk))
        self._size += len(chunk)
        is_too_long = self._size > MAX_STREAM  # such a text is none for people
        return self._pass_on() is StreamEvent.END or is_too_long

    def read_end(self) -> None:
        """Read what the last parts have left unfinished."""
        self._shown.write(self._decoder.decode(b"", final=True), is_last=True)
        self._pass_on()

    def _pass_on(self) -> StreamEvent:
        final, changeable = self._shown.take()
        return self._reader.read_text(final, changeable)


class _Tail:
    """The end of what a program writes to a pipe. The rest is read and forgotten."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._pipe = pipe
        self._data = b""

    def read(self) -> None:
        """Read what is there."""
        for _ in range(_MAX_READS):
            chunk = _read_now(self._pipe)
            if not chunk:
                break
            self._data = (self._data + chunk)[-_MOST_ERRORS:]

    @property
    def text(self) -> str:
        """What a terminal would show."""
        return shown_text(self._data.decode("utf-8", "replace"))


def prompt_text(messages: Sequence[Message]) -> str:
    """Return a conversation as one text."""
    parts = []
    for message in messages:
        if message["role"] == "assistant":
            parts.append("You have written this:")
        parts.append(message["content"])
    return "\n\n".join(parts)


def _read_now(pipe: IO[bytes] | None) -> bytes:
    """Return what is in a pipe, and nothing if it is empty or has ended."""
    if pipe is None:
        return b""
    os.set_blocking(pipe.fileno(), False)
    try:
        return os.read(pipe.fileno(), _CHUNK)
    except BlockingIOError:
        return b""


def _last_lines(text: str) -> str:
    """Return the last lines of an output, to quote them in a message."""
    lines = []
    for line in text.splitlines():
        if line.strip():
            lines.append(line.strip())
    end = " ".join(lines[-_QUOTED_LINES:])
    return without_secret(end[-_QUOTED_LENGTH:], "")


def _stop(process: subprocess.Popen[bytes], call_id: str) -> None:
    """End a program, and all that it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_INTERVAL)
    for _ in range(_MAX_ROUNDS):
        others = list(_processes_of(call_id))
        for other in others:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(other, signal.SIGKILL)
        if not others:
            break


def _processes_of(call_id: str) -> Iterator[int]:
    """Yield the processes of a call, on systems that show their environment (Linux).

    They can have a session of their own, and no parent any more.
    """
    setting = f"{_CALL}={call_id}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # of somebody else, or gone
            if setting in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
