"""A program in place of a model's server: real programs that behave well and badly."""

from __future__ import annotations

import asyncio
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import wait_until
from model_writer import sentences
from writer_server import configure, serving

from mkdocs_contentgen.errors import (
    ConfigurationError,
    ProgramError,
    ServiceError,
    UnknownOutcomeError,
    UnusableServiceError,
)
from mkdocs_contentgen.writer.models.completion import Completion, ModelCall
from mkdocs_contentgen.writer.models.model import make_model
from mkdocs_contentgen.writer.models.settings import find_secrets, load_options
from mkdocs_contentgen.writer.models.usage import Spending

CALL = ModelCall(
    [{"role": "system", "content": "Rules"}, {"role": "user", "content": "Topic: Wörter"}], 1000
)


def options(command: list[str], **others: object) -> dict[str, object]:
    """Return the options of a program that has time."""
    return {"command": command, "call_timeout": 60, **others}


async def asked(
    value: dict[str, object], call: ModelCall = CALL, directory: Path = Path()
) -> Completion:
    """Return what a program answers."""
    loaded = load_options(value, directory, allow_http=False)
    async with make_model(loaded, Spending()) as model:
        return await model.ask(call)


def ask(script: str, call: ModelCall = CALL, **others: object) -> Completion:
    """Return what a Python script answers."""
    return asyncio.run(asked(options([sys.executable, "-c", script], **others), call))


def failure(script: str, call_timeout: float = 60) -> ServiceError:
    """Return the error of a script without a text."""
    with pytest.raises(ServiceError) as caught:
        ask(script, call_timeout=call_timeout)
    assert str(caught.value).isprintable()
    return caught.value


def has_ended(process: int) -> bool:
    """Tell whether a process has ended, also if nobody has asked for its status yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_a_program_that_echoes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the conversation on its input, an empty folder, and no credential of the plugin."""
    monkeypatch.setenv("CONTENTGEN_TOKEN", "tok-secret")
    monkeypatch.setenv("OTHER_KEY", "kept")
    script = (
        "import sys, os; sys.stdout.write(sys.stdin.read()); "
        "print('|', os.listdir(), os.environ.get('CONTENTGEN_TOKEN'), os.environ['OTHER_KEY'])"
    )
    completion = ask(script)
    assert completion.text == "Rules\n\nTopic: Wörter| [] None kept\n"
    assert not completion.is_cut
    assert completion.usage.cost is None


def test_what_it_wrote_before_is_in_the_prompt() -> None:
    """An earlier answer of the conversation is named as such."""
    call = ModelCall([*CALL.messages, {"role": "assistant", "content": "Text"}], 1000)
    text = ask("import sys; print(sys.stdin.read())", call).text
    assert text == "Rules\n\nTopic: Wörter\n\nYou have written this:\n\nText\n"


def test_a_text_that_streams() -> None:
    """The text is looked at while it is written, and stopped for a loop."""
    seen = []

    def watch(text: str) -> str:
        seen.append(len(text))
        return "loop" if len(text) > 200_000 else ""

    script = "import itertools\nfor i in itertools.count(): print('word ' * 50, flush=True)"
    completion = ask(script, ModelCall(CALL.messages, 1000, watch))
    assert completion.finish_reason == "loop"
    assert len(seen) > 1


def test_a_program_without_an_output() -> None:
    """One that hangs is ended after the time limit, which names the option."""
    error = failure("import time; time.sleep(60)", call_timeout=0.2)
    assert isinstance(error, UnknownOutcomeError)
    assert "wrote nothing for 1 s" in str(error)
    assert "writer.call_timeout" in str(error)


def test_a_program_that_fails_in_the_middle() -> None:
    """It has written no text: the error quotes both outputs, and has what was written."""
    script = (
        "import sys, os; print('A text that has only begun,\\nand then', flush=True); "
        "print('out of memory', file=sys.stderr, flush=True); os._exit(3)"
    )
    error = failure(script)
    assert isinstance(error, ProgramError)
    assert str(error).endswith(
        "ended with status 3: out of memory; A text that has only begun, and then"
    )
    assert error.answer == "A text that has only begun,\nand then\n"


def test_a_program_that_has_reached_its_limit() -> None:
    """A message on the standard output is quoted, and is not a text."""
    error = failure('print("You\'ve hit your limit · resets 3pm"); raise SystemExit(1)')
    assert isinstance(error, ProgramError)
    assert str(error).endswith("ended with status 1: You've hit your limit · resets 3pm")
    error = failure("print('Limit reached'); import os; os.kill(os.getpid(), 9)")
    assert str(error).endswith("was ended by signal 9: Limit reached")
    assert isinstance(error, ProgramError) and error.answer == ""


def test_a_program_that_writes_nothing() -> None:
    """It has failed, whatever its status says: its errors are quoted."""
    error = failure("import sys; print(); print('please log in', file=sys.stderr)")
    assert isinstance(error, ProgramError)
    assert str(error).endswith("(writer.command) wrote nothing: please log in")


def test_a_program_that_is_stopped_and_then_fails() -> None:
    """A text that the writer ends is one, whatever the program says of that."""
    script = (
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        "while True: print('word ' * 50, flush=True)"
    )
    call = ModelCall(CALL.messages, 1000, lambda text: "loop" if len(text) > 10**4 else "")
    assert ask(script, call).finish_reason == "loop"


def test_codes_for_a_terminal() -> None:
    """They are obeyed, and not taken for text."""
    assert ask(r"print('\x1b[?25l⠋ \x1b[2K\x1b[1GNot comm\x1b[4D\x1b[K\ncommit.')").text == (
        "Not commit.\n"
    )


@pytest.mark.system
def test_endless_errors() -> None:
    """They fill neither the disk nor the memory, and the program is ended after its time."""
    script = "import sys\nwhile True: sys.stderr.write('noise ' * 10_000)"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    free = shutil.disk_usage(tempfile.gettempdir()).free
    error = failure(script, call_timeout=0.4)
    assert isinstance(error, UnknownOutcomeError)
    assert free - shutil.disk_usage(tempfile.gettempdir()).free < 500 * 2**20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_credentials_that_the_options_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that holds a credential of the plugin does not reach the program."""
    monkeypatch.setenv("SITE_TOKEN", "tok/secret.value")
    monkeypatch.setenv("SITE_HEADER", "Bearer tok/secret.value")
    monkeypatch.setenv("CACHE_PASSWORD", "pass@word")
    monkeypatch.setenv("HARMLESS", "kept")
    options_ = load_options(
        options([sys.executable, "-c", "import os; print(os.environ)"]), Path(), allow_http=False
    )
    secrets = find_secrets(["tok/secret.value", "rediss://:pass%40word@cache.example", ""])

    async def run() -> str:
        async with make_model(replace(options_, secrets=secrets), Spending()) as program:
            return (await program.ask(CALL)).text

    text = asyncio.run(run())
    assert "HARMLESS" in text
    assert "SITE_" not in text
    assert "CACHE_PASSWORD" not in text


@pytest.mark.system
def test_many_programs_at_once(tmp_path: Path) -> None:
    """As many run as `parallel` allows: each waits here for all others."""
    script = (
        f"import os, time; os.chdir({str(tmp_path)!r}); open(str(os.getpid()), 'w')\n"
        "while len(os.listdir()) < 40: time.sleep(0.01)\nprint('Text')"
    )

    async def all_of_them() -> None:
        value = options([sys.executable, "-c", script], parallel=40)
        loaded = load_options(value, Path(), allow_http=False)
        async with make_model(loaded, Spending()) as it:
            texts = await asyncio.gather(*(it.ask(CALL) for _ in range(40)))
        assert {text.text for text in texts} == {"Text\n"}

    asyncio.run(all_of_them())


@pytest.mark.system
def test_both_outputs() -> None:
    """Errors are no text, and a failure quotes their last lines without terminal codes."""
    script = (
        "import sys\nfor i in range(99999): print('noise', i, file=sys.stderr)\n"
        "print('\\x1b[31mnot logged in\\x1b[0m', file=sys.stderr)\n"
    )
    assert ask(f"{script}\nprint('\\x1b[1mText\\x1b[0m')", call_timeout=60).text == "Text\n"
    error = failure(f"{script}\nsys.exit(1)", call_timeout=60)
    assert isinstance(error, ProgramError)
    assert str(error).endswith("ended with status 1: noise 99997 noise 99998 not logged in")


def test_a_program_that_wants_a_terminal() -> None:
    """It has none, so that it fails and does not wait for somebody."""
    error = failure("open('/dev/tty').read()")
    assert "ended with status 1" in str(error)


def test_ten_megabytes() -> None:
    """A huge output ends with the text's limit, without being read to its end."""
    call = ModelCall(CALL.messages, 1000, lambda text: "too long" if len(text) > 10**5 else "")
    started = time.monotonic()
    completion = ask("print('word ' * 2_000_000)", call)
    assert completion.finish_reason == "too long"
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("has_session", [False, True])
def test_what_it_started_is_ended(tmp_path: Path, has_session: bool) -> None:
    """A process that a program leaves behind neither delays the text nor stays."""
    file = tmp_path / "pid"
    script = (
        "import subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], "
        f"start_new_session={has_session}); "
        f"open({str(file)!r}, 'w').write(str(child.pid)); print('Text')"
    )
    assert ask(script).text == "Text\n"
    wait_until(lambda: has_ended(int(file.read_text())))


@pytest.mark.parametrize("pause", [0.01, 60])
def test_a_stopped_build_ends_it(tmp_path: Path, pause: float) -> None:
    """Cancelling a call ends its program at once, also while it writes."""
    file = tmp_path / "pid"
    script = (
        f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid()))\n"
        f"for i in range(6000): print('a', flush=True); time.sleep({pause})"
    )

    async def stop() -> None:
        value = options([sys.executable, "-c", script])
        task = asyncio.create_task(asked(value))
        while not (file.exists() and file.read_text()):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(stop())
    assert has_ended(int(file.read_text()))
    assert time.monotonic() - started < 30


def test_the_prompt_is_not_in_the_list_of_processes() -> None:
    """Nobody else on the machine can read the prompt."""
    script = (
        "import subprocess; print(subprocess.run(['ps', 'axww', '-o', 'args'], "
        "capture_output=True, text=True).stdout)"
    )
    assert "Wörter" not in ask(script).text


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"max_cost": 1}, "writer.max_cost: is for a model's server"),
        ({"endpoint": "http://x"}, "writer.endpoint: is for a model's server"),
    ],
)
def test_options_that_cannot_be(others: dict[str, object], message: str) -> None:
    """Options of servers are refused."""
    with pytest.raises(ConfigurationError, match=message):
        load_options({"command": ["sh"], **others}, Path(), allow_http=False)


def test_no_room_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a folder for the program, a message says so, and there is no traceback."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(UnusableServiceError, match="or make room for temporary files"):
        asyncio.run(asked(options(["sh"])))


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    """A path is relative to the configuration, and what cannot be started is named."""
    (tmp_path / "text").write_text("no program")
    for program in ("./text", "no-such-program"):
        with pytest.raises(UnusableServiceError, match="cannot be started"):
            asyncio.run(asked(options([program]), directory=tmp_path))


def test_names_and_calls_at_once() -> None:
    """The label has the program's name unless `model` says another; one runs at a time."""
    loaded = load_options({"command": ["sh", "-c", "x"]}, Path(), allow_http=False).fields
    assert (loaded.model, loaded.calls_at_once) == ("sh", 1)
    value = {"command": ["sh"], "model": "opus", "parallel": 3}
    loaded = load_options(value, Path(), allow_http=False).fields
    assert (loaded.model, loaded.calls_at_once) == ("opus", 3)


def test_a_program_that_reads_nothing() -> None:
    """A program need not read its input."""
    call = ModelCall([{"role": "user", "content": "x" * 10**6}], 1000)
    assert ask("import os; os.close(0); print('Text')", call).text == "Text\n"


def test_the_served_writer(tmp_path: Path) -> None:
    """A program writes for a team, and no message of the server has what the program says."""
    good = f"print({('# Bees' + chr(10) * 2 + sentences(400, 1))!r})"
    bad = "import sys; sys.exit('the topic is Bees')"
    for script, status in ((good, 200), (bad, 500)):
        configure(tmp_path, "", command=[sys.executable, "-c", script], model="mine")
        with serving(tmp_path) as writer:
            answer = writer.ask()
        assert answer.status_code == status
        assert ("Bees" in answer.text) == (status == 200)
