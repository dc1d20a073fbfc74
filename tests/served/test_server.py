"""The served writer: its application, and as a process of its own over real sockets."""

from __future__ import annotations

import json
import re
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Project, wait_until
from golden_file import cases
from model_double import Answer, Call, ModelDouble, ModelHandler, raw, sequence, written
from model_writer import Conversation, sentences, translate, writing
from model_writer import write as compose
from postgres_server import postgres_running
from writer_server import (
    ServedWriter,
    WriterServer,
    add_user,
    configure,
    encode,
    run,
    serving,
    writer_running,
)

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.html.sanitizer import parse_article
from mkdocs_contentgen.requests import REQUEST_TYPES, choices
from mkdocs_contentgen.served.configuration import read_server_fields
from mkdocs_contentgen.served.databases import SQLite
from mkdocs_contentgen.served.ledger import KeyedRequest, Ledger, open_ledger
from mkdocs_contentgen.served.process import MAX_CONNECTIONS
from mkdocs_contentgen.served.users import NAME, Token, User
from mkdocs_contentgen.service.application import MAX_IDEMPOTENCY_KEY, OPERATIONS, TEXT_OPERATIONS
from mkdocs_contentgen.writer.models.usage import Usage

CASES = cases("server")
TEXTS_AT_ONCE = 3
"""With `parallel: 1`."""

Serve = Callable[..., AbstractContextManager[ServedWriter]]


@pytest.fixture
def serve(tmp_path: Path, model: ModelDouble) -> Serve:
    """Return what serves a writer with options, as long as a block runs."""

    def start(**options: object) -> AbstractContextManager[ServedWriter]:
        configure(tmp_path, model.endpoint, **options)
        return serving(tmp_path)

    return start


@pytest.fixture
def server(tmp_path: Path, model: ModelDouble) -> Iterator[ServedWriter]:
    """Serve a writer with one user."""
    limits = {"requests_per_minute": 1000, "parallel": 100}
    configure(tmp_path, model.endpoint, limits=limits, price={"input": 1, "output": 2})
    with serving(tmp_path) as running:
        yield running


@pytest.fixture
def process(tmp_path: Path, model: ModelDouble) -> Iterator[WriterServer]:
    """Serve a writer with one user, as a process of its own."""
    configure(tmp_path, model.endpoint)
    with writer_running(tmp_path) as running:
        yield running


class Gate:
    """A model that writes when it is told to."""

    def __init__(self) -> None:
        self.is_open = threading.Event()
        self.waiting = 0
        self.compose = compose

    def write(self, conversation: Conversation) -> str:
        """Write a text once the gate is open."""
        self.waiting += 1
        assert self.is_open.wait(60)
        return self.compose(conversation)


class CountingLedger(Ledger):
    """Counts how often a text was to be kept."""

    tries = 0

    def finish(
        self, request: KeyedRequest, body: bytes | None, usage: Usage, *, keeps_parts: bool = False
    ) -> bytes | None:
        """Keep it."""
        self.tries += 1
        return super().finish(request, body, usage, keeps_parts=keeps_parts)


class SilentLedger(Ledger):
    """Answers no beat unless `answers` is set."""

    answers = threading.Event()
    answers.set()

    def beat(self) -> None:
        """Wait, and beat."""
        assert self.answers.wait(60)
        super().beat()


@pytest.fixture
def gate(model: ModelDouble) -> Iterator[Gate]:
    """Let the model wait until the gate is opened."""
    gate = Gate()
    model.answer = writing(gate.write)
    yield gate
    gate.is_open.set()


def hang_up(call: Call, handler: ModelHandler) -> None:
    """Answer nothing, as a model server that is restarted."""
    handler.close_connection = True


def begun_in(directory: Path) -> int:
    """Return the number of texts that the ledger knows to be in progress."""
    with closing(sqlite3.connect(directory / "writer.db")) as ledger:
        rows = ledger.execute("SELECT count(*) FROM contentgen_requests WHERE lease > 0")
        (number,) = rows.fetchone()
    return int(number)


def usage_of(directory: Path) -> list[dict[str, Any]]:
    """Return what `contentgen writer usage` prints."""
    ran = run(directory, "usage", "--json")
    assert ran.exit_code == 0, ran.stderr
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    return found


def refusal(directory: Path) -> str:
    """Return why the server does not start. Its address is none, so it never does."""
    ran = run(directory, "serve", "--host", "a..b")
    assert isinstance(ran.exception, SystemExit), ran.exc_info
    assert ran.exit_code == 1
    return ran.stderr


def use_writer(project: Project, writer: WriterServer) -> None:
    """Let the builds of a project ask a served writer."""
    project.environment["CONTENTGEN_BASE_URL"] = writer.url
    project.environment["CONTENTGEN_USER_ID"] = "alice"
    project.environment["CONTENTGEN_TOKEN"] = writer.token
    project.configure({"service_fields": ["update", "translate"]})


class TestTexts:
    """What a client of the interface document gets."""

    @pytest.mark.parametrize("kind", REQUEST_TYPES)
    def test_each_operation(self, server: ServedWriter, kind: str) -> None:
        """Each operation answers with a text of section 2.2, its model and its usage."""
        answer = server.ask("Bees", REQUEST_TYPES[kind].operation)
        assert answer.status_code == 200
        fields = answer.json()
        assert fields["success"] is True
        assert fields["model"] == "double"
        assert fields["usage"]["cost"] > 0
        assert parse_article(fields["content"]).find(".//h1") is not None

    @pytest.mark.system
    def test_plugin(self, process: WriterServer, project: Project, model: ModelDouble) -> None:
        """The plugin on another machine gets texts, updates and translations."""
        use_writer(project, process)
        project.page("index.md", {"type": "blog", "topic": "Bees", "length": "short"})
        project.built("--strict")
        assert "AI-generated" in project.html("index.html")
        (row,) = json.loads(project.run("mkdocs_contentgen", "status", "--json").stdout)
        assert row["model"] == "double"
        model.answer = written("BLOCK 1: All new.\nWHY: the note")
        ran = project.ran("mkdocs_contentgen", "update", "index.md", "--note", "shorter")
        assert "the note" in ran
        assert "All new." in project.run("mkdocs_contentgen", "show", "index.md").stdout
        assert process.log[-1]["operation"] == "update-text"
        model.answer = writing(translate)
        project.page("de.md", {"translation_of": "index.md", "language": "de"})
        project.built()
        assert process.log[-1]["operation"] == "translate-text"
        article = project.soup("de/index.html").find("article", class_="contentgen")
        assert article is not None
        assert article["lang"] == "de"
        assert "new. All" in article.text

    def test_sources(self, serve: Serve, tmp_path: Path, model: ModelDouble) -> None:
        """The server has sources of its own, and a changed file counts from the next text on.

        What is left out stands in the log once.
        """
        docs = tmp_path / "docs"
        docs.mkdir()
        (docs / "bees.md").write_text("# Bees\n\nBees make honey.")
        (docs / "link.md").symlink_to(tmp_path / "writer.yml")
        (tmp_path / "CHANGELOG.md").write_text("Bees are new.")
        model.answer = writing(lambda it: f"{compose(it)}\n\nThey make honey [1].")
        sources = ["docs", "CHANGELOG.md"]
        with serve(sources=sources, site_url="https://docs.example/") as server:
            assert 'href="https://docs.example/bees/"' in server.ask().json()["content"]
            (docs / "bees.md").write_text("# Bees\n\nBees make wax.")
            server.ask()
        prompt = model.calls[-1].body["messages"][-1]["content"]
        assert "Bees make wax." in prompt
        assert "Bees are new." in prompt
        (warning,) = server.warnings
        assert warning.startswith(f"sources: files left out: 1, such as {docs}/link.md (")
        configure(tmp_path, model.endpoint, sources=True)
        assert "a server has no pages of its own" in refusal(tmp_path)

    def test_an_unusable_text(self, server: ServedWriter, model: ModelDouble) -> None:
        """The client gets the reason and what was answered, and can ask again."""
        model.answer = writing(lambda conversation: "I cannot write about bees.")
        answer = server.ask(key="k")
        assert answer.status_code == 500
        assert "the answer is a refusal" in answer.json()["error"]
        assert answer.json()["answer"] == "I cannot write about bees."
        assert answer.json()["model"] == "double"
        assert "cannot write" not in json.dumps(server.log)
        model.answer = writing()
        assert server.ask(key="k").status_code == 200
        (row,) = usage_of(server.directory)
        assert (row["texts"], row["failed"], row["calls"]) == (1, 1, 3)

    def test_a_long_text_that_was_interrupted(
        self, server: ServedWriter, model: ModelDouble
    ) -> None:
        """The same request goes on from what is written, and its cost counts."""
        answers = [writing(), writing(), raw(b"{}", 401)]
        model.answer = lambda call, handler: (answers.pop(0) if answers else writing())(
            call, handler
        )
        assert server.ask(key="k", length="long").status_code == 502
        assert server.ask(key="k", length="long").status_code == 200
        assert len(model.calls) == 7 + 1  # the plan, six sections, and the call that failed
        ledger = sqlite3.connect(server.directory / "writer.db")
        with closing(ledger):
            rows = ledger.execute("SELECT parts FROM contentgen_requests").fetchall()
            assert rows == [(None,)]

    def test_a_brief(self, server: ServedWriter, model: ModelDouble) -> None:
        """It is one of the fields, goes to the model, and is not in the log."""
        path, headers, body = encode(server.token, key="k")
        body = json.dumps({**json.loads(body), "brief": "Bees sleep at noon."})
        answer = server.portal.call(server._post, path, headers, body)
        assert answer.status_code == 200
        assert "Bees sleep at noon." in model.calls[0].body["messages"][1]["content"]
        assert "noon" not in json.dumps(server.log)
        too_long = json.dumps({"topic": "Bees", "brief": "x" * 4001})
        answer = server.portal.call(server._post, path, headers, too_long)
        assert answer.status_code == 422
        assert "brief must be valid text" in answer.json()["error"]

    def test_a_language(self, server: ServedWriter, model: ModelDouble) -> None:
        """It is one of the fields, and sources are none. A client without it gets what it got."""
        path, headers, body = encode(server.token, key="k")
        for fields, status in (
            ({}, 200),
            ({"language": "pt-br"}, 200),
            ({"language": "Portuguese"}, 422),
            ({"sources": ["a.md"]}, 422),
        ):
            content = json.dumps({**json.loads(body), **fields})
            own = {**headers, "Idempotency-Key": str(fields)}
            answer = server.portal.call(server._post, path, own, content)
            assert answer.status_code == status, answer.text
        plain, portuguese = (call.body["messages"][0]["content"] for call in model.calls)
        assert "- Write in the language of the topic." in plain
        assert "- Write in Portuguese (pt-BR)." in portuguese

    @pytest.mark.system
    def test_model_unreachable(self, tmp_path: Path) -> None:
        """Without a model server nothing is written, which 503 with Retry-After says."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        configure(tmp_path, f"http://127.0.0.1:{port}/v1")
        with serving(tmp_path) as server:
            answer = server.ask(key="k")
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) > 0
            assert str(port) not in answer.text
            assert str(port) in server.log[-1]["error"]


class TestOnce:
    """No text is written twice."""

    def test_same_key(self, server: ServedWriter, model: ModelDouble) -> None:
        """The same key and body get the same answer, with one call to the model.

        Without a key, each request is a new one.
        """
        first, second = server.ask(key="k"), server.ask(key="k")
        assert first.content == second.content
        assert len(model.calls) == 1
        assert [record["outcome"] for record in server.log] == ["written", "kept"]
        assert server.log[1]["tokens"] == 0
        server.ask()
        server.ask()
        assert len(model.calls) == 3

    def test_other_body(self, server: ServedWriter, model: ModelDouble) -> None:
        """The same key with another body or operation is refused, and nothing is written."""
        server.ask(key="k")
        assert server.ask("Wasps", key="k").status_code == 422
        assert server.ask("Bees", "generate-news", key="k").status_code == 422
        assert len(model.calls) == 1

    def test_joined(self, server: ServedWriter, model: ModelDouble, gate: Gate) -> None:
        """Requests with a key whose text is being written wait for that text."""
        asked = [server.begin(key="k") for _ in range(4)]
        wait_until(lambda: gate.waiting)
        assert server.ask("Wasps", key="k").status_code == 422
        gate.is_open.set()
        assert len({answer.result(60).content for answer in asked}) == 1
        assert len(model.calls) == 1
        assert usage_of(server.directory)[0]["texts"] == 1

    def test_client_goes_away(self, server: ServedWriter, model: ModelDouble, gate: Gate) -> None:
        """A text is finished and kept although its client has gone."""
        asked = server.begin(key="k")
        wait_until(lambda: gate.waiting)
        asked.cancel()
        gate.is_open.set()
        assert server.ask(key="k").status_code == 200
        assert len(model.calls) == 1


UPDATE = {
    "type": "article",
    "topic": "Bees",
    "update": {
        "blocks": [{"number": 1, "kind": "p", "text": "Bees fly at 4 km/h."}],
        "sources": [{"name": "x", "title": "Speed", "now": "5 km/h", "has_changed": True}],
    },
}


class TestUpdates:
    """POST /update-text."""

    @staticmethod
    def send(server: ServedWriter, body: Mapping[str, object]) -> httpx.Response:
        """Send an update."""
        return server.begin_for_text("update-text", body).result(60)

    def test_once(self, server: ServedWriter, model: ModelDouble) -> None:
        """The answer names the blocks that change; a repeated key gets the same answer."""
        model.answer = written("BLOCK 1: Bees fly at 5 km/h [1].\nWHY: measured again")
        answers = [self.send(server, UPDATE) for _ in range(2)]
        assert answers[0].content == answers[1].content
        assert len(model.calls) == 1
        body = answers[0].json()
        assert [it["action"] for it in body["changes"]] == ["change"]
        assert body["changes"][0]["reason"] == "measured again"
        assert body["cited"]["1"]["name"] == "x"
        assert body["usage"]["cost"] > 0
        other = {**UPDATE, "update": {**UPDATE["update"], "note": "shorter"}}  # type: ignore[dict-item]
        assert self.send(server, other).status_code == 422
        assert server.log[-1]["operation"] == "update-text"

    @pytest.mark.parametrize(
        "change",
        [
            {"type": "poem"},
            {"update": None},
            {"update": {"blocks": []}},
            {"update": {"blocks": [{"number": "1"}]}},
            {"update": {**UPDATE["update"], "note": "x" * 3000}},  # type: ignore[dict-item]
            {"update": {**UPDATE["update"], "other": 1}},  # type: ignore[dict-item]
            {"topic": ""},
            {"other": 1},
        ],
    )
    def test_wrong(
        self, server: ServedWriter, model: ModelDouble, change: dict[str, object]
    ) -> None:
        """What is not valid is refused before the model is asked."""
        answer = self.send(server, {**UPDATE, **change})
        assert answer.status_code == 422, answer.text
        assert model.calls == []


def translation(
    *texts: str, language: str = "de", translations: Mapping[int, str] | None = None
) -> dict[str, object]:
    """Return the body that asks for the translation of a text with these paragraphs.

    `translations` are what is there of it already, by the numbers of the paragraphs.
    """
    blocks: list[dict[str, object]] = []
    for number, text in enumerate(texts):
        done = (translations or {}).get(number, "")
        blocks.append({"number": number, "kind": "p", "text": text, "translation": done})
    asked = {"language": language, "from_language": "en", "blocks": blocks}
    return {"type": "article", "topic": "Bees", "translation": asked}


LONG_TEXT = [sentences(300, number) for number in range(20)]
"""The paragraphs of a text that is translated in two calls."""


class TestTranslations:
    """POST /translate-text."""

    @pytest.fixture(autouse=True)
    def translating(self, model: ModelDouble) -> None:
        """Let the model translate."""
        model.answer = writing(translate)

    @staticmethod
    def send(server: ServedWriter, body: dict[str, object], key: str = "k") -> httpx.Response:
        """Ask for a translation."""
        return server.begin_for_text("translate-text", body, key).result(60)

    def test_once(self, server: ServedWriter, model: ModelDouble) -> None:
        """The answer has the translated blocks; a repeated key gets the same answer."""
        asked = translation("Bees fly far.", "Bees sleep.", translations={1: "Bienen schlafen."})
        answers = [self.send(server, asked) for _ in range(2)]
        assert answers[0].content == answers[1].content
        body = answers[0].json()
        assert body["success"] is True
        assert body["blocks"] == [{"block": 0, "text": "far. fly Bees", "remark": ""}]
        assert body["model"] == "double"
        assert body["usage"]["cost"] > 0
        assert self.send(server, translation("Bees fly far.", language="fr")).status_code == 422
        assert self.send(server, translation("Bees sleep.")).status_code == 422
        assert len(model.calls) == 1

    def test_log_and_metrics(self, server: ServedWriter) -> None:
        """They name the operation and what it took, and nothing of the text."""
        self.send(server, translation("Bees fly far."))
        self.send(server, {"type": "article", "topic": "Bees", "translation": "Bees"}, "other")
        done, refused = server.log
        assert (done["operation"], done["outcome"]) == ("translate-text", "written")
        assert done["tokens"] > 0
        assert done["cost"] > 0
        assert (refused["operation"], refused["outcome"]) == ("translate-text", "refused")
        shown = json.dumps(server.log)
        assert "Bees" not in shown
        assert "far" not in shown
        metrics = server.get("/metrics").text
        assert 'texts_total{operation="translate-text",outcome="written"} 1.0' in metrics
        assert 'requests_total{operation="translate-text",status="422"} 1.0' in metrics
        (row,) = usage_of(server.directory)
        assert (row["texts"], row["calls"]) == (1, 1)

    def test_joined(self, server: ServedWriter, model: ModelDouble, gate: Gate) -> None:
        """A text that is being translated is joined, and finished though its client has gone."""
        gate.compose = translate
        asked = [
            server.begin_for_text("translate-text", translation("Bees fly far.")) for _ in range(3)
        ]
        wait_until(lambda: gate.waiting)
        asked[0].cancel()
        gate.is_open.set()
        assert len({answer.result(60).content for answer in asked[1:]}) == 1
        assert self.send(server, translation("Bees fly far.")).status_code == 200
        assert len(model.calls) == 1
        assert usage_of(server.directory)[0]["texts"] == 1

    @pytest.mark.system
    def test_interrupted(self, server: ServedWriter, model: ModelDouble) -> None:
        """A long text goes on from what is translated, and all of it counts."""
        answers = [writing(translate), raw(b"{}", 401), writing(translate)]
        model.answer = sequence(answers)
        asked = translation(*LONG_TEXT)
        assert self.send(server, asked).status_code == 502
        body = self.send(server, asked).json()
        assert [block["block"] for block in body["blocks"]] == list(range(len(LONG_TEXT)))
        assert all(block["text"] for block in body["blocks"])
        first, failed, second = (str(call.body["messages"]) for call in model.calls)
        assert failed == second != first
        (row,) = usage_of(server.directory)
        assert (row["texts"], row["calls"]) == (1, 2)  # the one that failed costs nothing

    @pytest.mark.system
    def test_kills(self, tmp_path: Path, project: Project, model: ModelDouble, gate: Gate) -> None:
        """Of a build and a writer that are killed, nothing is lost but the call in progress."""
        gate.compose = translate
        model.answer = sequence([writing(translate), writing(gate.write)])
        project.page("index.md", {"type": "blog", "topic": "Bees"})
        project.page("de.md", {"translation_of": "index.md", "language": "de"})
        (tmp_path / "bees.md").write_text("\n\n".join(["# Bees", *LONG_TEXT]))
        project.ran("mkdocs_contentgen", "import", "index.md", "bees.md")
        with postgres_running() as postgres:
            configure(tmp_path, model.endpoint, ledger=postgres.url)
            token = add_user(tmp_path)
            with writer_running(tmp_path, token=token) as first:
                use_writer(project, first)
                build = project.start("mkdocs", "build")
                wait_until(lambda: gate.waiting)
                build.kill()
                build.wait()
            gate.is_open.set()
            project.end_claims()
            with writer_running(tmp_path, token=token) as second:
                use_writer(project, second)
                project.built()
                assert second.log[-1]["outcome"] == "written"
            (row,) = usage_of(tmp_path)
        first_part, lost, again = (call.body["messages"] for call in model.calls)
        assert lost == again != first_part
        assert (row["texts"], row["calls"]) == (1, 2)
        article = project.soup("de/index.html").find("article", class_="contentgen")
        assert article is not None
        for text in LONG_TEXT:
            assert " ".join(reversed(text.split())) in article.text

    def test_an_answer_that_is_no_translation(
        self, server: ServedWriter, model: ModelDouble
    ) -> None:
        """The client gets the reason and what was answered, and can ask again."""
        model.answer = written("I cannot translate about bees.")
        answer = self.send(server, translation("Bees fly far."))
        assert answer.status_code == 500
        assert "names no block" in answer.json()["error"]
        assert answer.json()["answer"] == "I cannot translate about bees."
        assert "cannot translate" not in json.dumps(server.log)
        model.answer = writing(translate)
        assert self.send(server, translation("Bees fly far.")).status_code == 200

    @pytest.mark.parametrize("limit", ["max_cost", "cost_per_month"])
    def test_budget(self, tmp_path: Path, model: ModelDouble, limit: str) -> None:
        """What is asked at once passes no limit: the estimates of all translations count."""
        costs = {"cost_per_month": 1} if limit == "cost_per_month" else {}
        limits = {"requests_per_minute": 100, "parallel": 100, **costs}
        options = {"max_cost": 1} if limit == "max_cost" else {}
        price = {"input": 100, "output": 100}
        configure(tmp_path, model.endpoint, parallel=1, limits=limits, price=price, **options)
        model.answer = writing(translate, cost=0.15)
        with serving(tmp_path) as server:
            asked = [
                server.begin_for_text("translate-text", translation(LONG_TEXT[0]), str(number))
                for number in range(12)
            ]
            statuses = [answer.result(60).status_code for answer in asked]
        assert 0 < 0.15 * len(model.calls) < 1
        assert set(statuses) == {200, 503 if options else 429}
        assert statuses.count(200) == len(model.calls)

    def test_nothing_to_translate(self, serve: Serve, model: ModelDouble) -> None:
        """A text whose blocks all have a translation costs nothing."""
        with serve(limits={"cost_per_month": 1}, price={"input": 1, "output": 1}) as server:
            answer = self.send(server, translation("Bees.", translations={0: "Bienen."}))
        assert (answer.status_code, answer.json()["blocks"]) == (200, [])
        assert model.calls == []

    @pytest.mark.parametrize(
        "change",
        [
            {"type": "poem"},
            {"topic": ""},
            {"other": 1},
            {"update": {}},
            {"translation": None},
            {"translation": {"language": "de", "blocks": []}},
            {"translation": {"language": "German, please", "blocks": [{"number": 1}]}},
        ],
    )
    def test_wrong(
        self, server: ServedWriter, model: ModelDouble, change: dict[str, object]
    ) -> None:
        """What is not valid is refused before the model is asked."""
        answer = self.send(server, {**translation("Bees."), **change})
        assert answer.status_code == 422, answer.text
        assert model.calls == []


class TestUsers:
    """Who may ask."""

    def test_refused(self, server: ServedWriter, model: ModelDouble) -> None:
        """A wrong token, an unknown user and another user's token get the same answer."""
        token = add_user(server.directory, "bob")
        answers = [
            server.ask(token="wrong"),
            server.ask(user="nobody"),
            server.ask(user="nobody\x00"),
            server.ask(user="alice", token=token),
            server.ask(user="bob"),
        ]
        assert {answer.status_code for answer in answers} == {403}
        assert len({answer.content for answer in answers}) == 1
        assert not model.calls

    def test_no_token(self, server: ServedWriter) -> None:
        """A request without a bearer token gets 401 before anything else is looked at."""
        answer = server.portal.call(server.client.post, "/generate-blog")
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"

    def test_a_name_that_is_used_again(self, server: ServedWriter, model: ModelDouble) -> None:
        """Who has it now does not get the answers of who had it before, and both are logged."""
        assert server.ask(key="k").status_code == 200
        assert run(server.directory, "user", "remove", "alice").exit_code == 0
        assert server.ask().status_code == 403
        server.portal.call(server.server.jobs.report_users)
        token = add_user(server.directory)
        assert server.ask(key="k", token=token).status_code == 200
        assert len(model.calls) == 2
        server.portal.call(server.server.jobs.report_users)
        changes = [(it["user"], it["change"]) for it in server.log if "change" in it]
        assert changes == [("alice", "removed"), ("alice", "added")]

    def test_commands(self, tmp_path: Path) -> None:
        """Users are added once, listed and removed; only the hash of a token is kept."""
        configure(tmp_path, "http://127.0.0.1:1/v1")
        token = add_user(tmp_path)
        assert len(token) > 40
        again = run(tmp_path, "user", "add", "alice")
        assert again.exit_code == 1
        assert "already" in again.stderr
        assert run(tmp_path, "user", "add", "a b").exit_code == 1
        assert "alice" in run(tmp_path, "user", "list").stdout
        assert run(tmp_path, "user", "remove", "bob").exit_code == 1
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert token.encode() not in kept
        assert run(tmp_path, "user", "remove", "alice").exit_code == 0

    def test_own_limits(self, server: ServedWriter) -> None:
        """They are in force at once, and the server's are there again with `default`."""
        ran = run(server.directory, "user", "set", "alice", "--requests-per-minute", "1")
        assert ran.stdout == "alice: requests_per_minute 1\n"
        assert [server.ask().status_code for _ in range(2)] == [200, 429]
        ran = run(server.directory, "user", "set", "alice", "--requests-per-minute", "default")
        assert ran.stdout == "alice has the limits of writer.yml\n"
        assert server.ask().status_code == 200

    @pytest.mark.parametrize(("arguments", "status", "message"), CASES["wrong_commands"])
    def test_wrong_commands(
        self, server: ServedWriter, arguments: list[str], status: int, message: str
    ) -> None:
        """Each is refused on one line, and changes nothing."""
        ran = run(server.directory, "user", *arguments)
        assert (ran.exit_code, message in ran.stderr) == (status, True), ran.stderr
        assert "Traceback" not in ran.output

    def test_a_token_is_replaced(self, server: ServedWriter) -> None:
        """Both work until the old one is revoked, so that no build fails meanwhile."""
        new = run(server.directory, "user", "token", "add", "alice", "ci").stdout.strip()
        for token in (server.token, new):
            assert server.ask(token=token).status_code == 200
        assert [record["token"] for record in server.log] == ["default", "ci"]
        run(server.directory, "user", "token", "revoke", "alice", "default")
        assert server.ask().status_code == 403
        assert server.ask(token=new).status_code == 200
        listed = run(server.directory, "user", "list").stdout
        assert ("ci" in listed, "default" in listed) == (True, False)

    def test_a_token_that_has_expired(self, tmp_path: Path, model: ModelDouble) -> None:
        """It is refused from its day on."""
        configure(tmp_path, model.endpoint)
        now = datetime.now(UTC)
        ends = {"old": now - timedelta(seconds=1), "new": now + timedelta(seconds=60)}
        tokens = {name: Token(sha256(name), now, end) for name, end in ends.items()}
        with open_ledger("writer.db", tmp_path) as ledger, ledger.changing_users() as users:
            users["bob"] = User(now, tokens)
        with serving(tmp_path) as server:
            assert server.ask(user="bob", token="old").status_code == 403
            assert server.log[-1]["reason"] == "the token old has expired"
            assert server.ask(user="eve", token="old").status_code == 403
            assert server.log[-1]["reason"] == "unknown user"
            assert server.ask(user="bob", token="new").status_code == 200
        assert "expired" in run(tmp_path, "user", "list").stdout

    def test_nobody(self, tmp_path: Path, model: ModelDouble) -> None:
        """Without users there is no service, and the error says how to add one."""
        configure(tmp_path, model.endpoint)
        problem = refusal(tmp_path)
        assert f"the ledger {tmp_path}/writer.db has no users" in problem
        assert "contentgen writer user add" in problem


class TestLimits:
    """What is refused, and when it can be asked for again."""

    def test_parallel(self, serve: Serve, tmp_path: Path, gate: Gate) -> None:
        """A text too many at once gets 429, and each user has a number of texts."""
        with serve(limits={"parallel": 1}) as server:
            token = add_user(tmp_path, "bob")
            asked = server.begin(key="k")
            wait_until(lambda: gate.waiting)
            refused = server.ask("Wasps")
            assert refused.status_code == 429
            assert 1 <= int(refused.headers["Retry-After"]) <= 60
            other = server.begin("Wasps", user="bob", token=token)
            wait_until(lambda: gate.waiting == 2)
            gate.is_open.set()
            assert asked.result(60).status_code == other.result(60).status_code == 200
            assert server.ask("Wasps").status_code == 200

    @pytest.mark.parametrize(
        ("options", "status"),
        [({"limits": {"cost_per_month": 0.05}}, 429), ({"max_cost": 0.05}, 503)],
    )
    def test_cost(
        self, tmp_path: Path, model: ModelDouble, options: dict[str, object], status: int
    ) -> None:
        """A month that has cost enough gets no more texts, but kept ones; it survives restarts."""
        price = {"input": 10, "output": 10}
        configure(tmp_path, model.endpoint, price=price, **options)
        model.answer = writing(cost=0.04)
        with serving(tmp_path) as server:
            assert server.ask(key="k").status_code == 200
        with serving(tmp_path) as server:
            refused = server.ask("Wasps")
            assert refused.status_code == status
            assert 0 < int(refused.headers["Retry-After"]) <= 31 * 24 * 3600
            assert server.ask(key="k").status_code == 200

    @pytest.mark.parametrize("limit", ["max_cost", "cost_per_month"])
    def test_cost_at_once(self, tmp_path: Path, model: ModelDouble, limit: str) -> None:
        """What is asked at once passes no limit: the estimates of all texts count."""
        costs = {"cost_per_month": 1} if limit == "cost_per_month" else {}
        limits = {"requests_per_minute": 100, "parallel": 100, **costs}
        options = {"max_cost": 1} if limit == "max_cost" else {}
        price = {"input": 100, "output": 100}
        configure(tmp_path, model.endpoint, parallel=1, limits=limits, price=price, **options)
        model.answer = writing(cost=0.15)
        with serving(tmp_path) as server:
            asked = [server.begin(key=str(number)) for number in range(12)]
            answers = [answer.result(60) for answer in asked]
        assert 0 < 0.15 * len(model.calls) < 1
        refused = [answer for answer in answers if answer.status_code != 200]
        assert {answer.status_code for answer in refused} == {503 if options else 429}
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in refused)
        assert sum(row["texts"] for row in usage_of(tmp_path)) == len(model.calls)

    def test_a_budget_that_is_nearly_spent(self, tmp_path: Path, model: ModelDouble) -> None:
        """From 80 % on, the log and the metrics say so, also if there was no price before."""
        configure(tmp_path, model.endpoint)
        with serving(tmp_path) as server:
            assert server.ask("Of unknown cost").status_code == 200
        limits = {"cost_per_month": 1, "requests_per_minute": 100}
        configure(tmp_path, model.endpoint, limits=limits, price={"input": 10, "output": 10})
        model.answer = writing(cost=0.15)
        with serving(tmp_path) as server:
            for number in range(6):
                assert server.ask(str(number)).status_code == 200
            server.portal.call(server.server.jobs.report_users)
            warnings = server.warnings
            assert "90% of cost_per_month of user alice is spent" in warnings
            share = 'contentgen_budget_used_ratio{user="alice"} 0.9'
            assert share in server.get("/metrics").text
            # By its estimate, one more fits.
            assert [server.ask(str(n)).status_code for n in (6, 7)] == [200, 429]
            share = 'contentgen_budget_used_ratio{user="alice"} 1.05'
        with serving(tmp_path) as server:  # before anybody asks
            wait_until(lambda: share in server.get("/metrics").text)

    @pytest.mark.parametrize("options", [{"limits": {"cost_per_month": 1}}, {"max_cost": 1}])
    def test_a_budget_without_a_price(
        self, tmp_path: Path, model: ModelDouble, options: dict[str, object]
    ) -> None:
        """The server does not start, since nobody could tell whether it is kept."""
        configure(tmp_path, model.endpoint, **options)
        add_user(tmp_path)
        assert "needs the price of the model" in refusal(tmp_path)

    def test_a_price_that_goes(self, tmp_path: Path, model: ModelDouble) -> None:
        """A user's budget is not forgotten if `price` is taken away: nothing is written."""
        price = {"input": 1, "output": 1}
        configure(tmp_path, model.endpoint, price=price)
        add_user(tmp_path, "bob")
        assert run(tmp_path, "user", "set", "bob", "--cost-per-month", "5").exit_code == 0
        configure(tmp_path, model.endpoint)
        assert "a user's limit needs the price of the model" in refusal(tmp_path)
        ran = run(tmp_path, "user", "set", "bob", "--cost-per-month", "6")
        assert (ran.exit_code, "needs the price of the model" in ran.stderr) == (1, True)
        with serving(tmp_path) as server:
            token = run(tmp_path, "user", "token", "add", "bob", "ci").stdout.strip()
            assert server.ask(user="bob", token=token).status_code == 503
            assert server.ask().status_code == 200
        assert len(model.calls) == 1

    def test_usage_that_is_not_reported(self, tmp_path: Path, model: ModelDouble) -> None:
        """It is estimated, and counts for the budget."""
        price = {"input": 10, "output": 10}
        configure(tmp_path, model.endpoint, price=price, limits={"cost_per_month": 0.05})
        model.answer = writing(reports=False)
        with serving(tmp_path) as server:
            statuses = [server.ask(str(number)).status_code for number in range(8)]
            assert statuses[0] == 200
            assert statuses[-1] == 429

    def test_requests_per_minute(self, serve: Serve, model: ModelDouble) -> None:
        """A client learns how many requests are left and for how long, and 429 says when."""
        with serve(limits={"requests_per_minute": 2}) as server:
            first, second, third = (server.ask() for _ in range(3))
            assert server.log[-1]["outcome"] == "refused"
        assert [it.status_code for it in (first, second, third)] == [200, 200, 429]
        assert first.headers["RateLimit"] == '"requests_per_minute";r=1;t=60'
        for answer in (second, third):
            assert answer.headers["RateLimit"].startswith('"requests_per_minute";r=0;t=')
        assert 50 < int(third.headers["Retry-After"]) <= 60
        assert len(model.calls) == 2

    def test_turns(self, serve: Serve, tmp_path: Path, model: ModelDouble, gate: Gate) -> None:
        """Whoever has the fewest texts in progress is next, however many another one waits for."""
        limits = {"requests_per_minute": 100, "parallel": 100}
        with serve(parallel=1, limits=limits) as server:
            token = add_user(tmp_path, "bob")
            many = [server.begin(str(number)) for number in range(20)]
            wait_until(lambda: "contentgen_queue 17.0" in server.get("/metrics").text)
            one = server.begin("Wasps", user="bob", token=token)
            wait_until(lambda: "contentgen_queue 18.0" in server.get("/metrics").text)
            gate.is_open.set()
            assert one.result(60).status_code == 200
            assert {it.result(60).status_code for it in many} == {200}
        topics = [str(call.body["messages"]) for call in model.calls]
        assert ["Wasps" in it for it in topics].index(True) <= TEXTS_AT_ONCE

    def test_a_full_queue_and_a_users_limit(self, serve: Serve, tmp_path: Path, gate: Gate) -> None:
        """The limit is told, and what is refused for the queue counts for no limit.

        Those in progress can be joined.
        """
        limits = {"requests_per_minute": 5, "parallel": 2}
        with serve(parallel=1, queue=1, limits=limits) as server:
            token = add_user(tmp_path, "bob")
            asked = [server.begin(key=str(number)) for number in range(2)]
            wait_until(lambda: begun_in(tmp_path) == 2)
            assert server.ask("3").status_code == 429
            for _ in range(9):
                assert server.ask("4", user="bob", token=token).status_code == 503
            asked.append(server.begin(key="0"))
            wait_until(lambda: gate.waiting)
            gate.is_open.set()
            assert {it.result(60).status_code for it in asked} == {200}
            assert server.ask("4", user="bob", token=token).status_code == 200

    def test_a_greedy_user(
        self, serve: Serve, tmp_path: Path, model: ModelDouble, gate: Gate
    ) -> None:
        """If the queue is full, whoever has most of it gives a place to others."""
        limits = {"requests_per_minute": 100, "parallel": 100}
        with serve(parallel=1, queue=8, limits=limits) as server:
            token = add_user(tmp_path, "bob")
            greedy = [server.begin(str(number)) for number in range(9)]
            wait_until(lambda: "contentgen_queue 6.0" in server.get("/metrics").text)
            assert server.ask("one too many").status_code == 503
            polite = [server.begin(f"b{n}", user="bob", token=token) for n in range(3)]
            wait_until(lambda: sum(it.done() for it in greedy) == 3)
            # Now both have as much of the queue.
            assert server.ask("b4", user="bob", token=token).status_code == 503
            gate.is_open.set()
            assert {it.result(60).status_code for it in polite} == {200}
            assert sorted(it.result(60).status_code for it in greedy) == [*[200] * 6, *[503] * 3]
            assert 'contentgen_refusals_total{reason="queue"} 5.0' in server.get("/metrics").text
        assert len(model.calls) == 9
        assert {row["failed"] for row in usage_of(tmp_path)} == {0}


class TestModels:
    """What the answers of the model server mean."""

    @pytest.mark.parametrize(("status", "words"), CASES["what_lasts"])
    def test_what_lasts(
        self, server: ServedWriter, model: ModelDouble, status: int, words: str
    ) -> None:
        """It is 502, and the log says why."""
        model.answer = raw(b"", status)
        assert [server.ask(str(number)).status_code for number in range(3)] == [502] * 3
        assert all(words in record["error"] for record in server.log)
        model.answer = writing()
        assert server.ask().status_code == 200
        assert usage_of(server.directory)[0]["failed"] == 0

    def test_a_model_that_asks_to_wait_for_no_time(
        self, tmp_path: Path, model: ModelDouble
    ) -> None:
        """It gets a second all the same."""
        configure(tmp_path, model.endpoint, call_timeout=0.5)
        model.answer = raw(b"", 429, {"Retry-After": "0"})
        with serving(tmp_path) as server:
            assert server.ask().status_code == 503
        assert len(model.calls) <= 3

    @pytest.mark.parametrize(
        "answer", [hang_up, raw(b"", 502), raw(b"", 504)], ids=["cut", "bad gateway", "timeout"]
    )
    def test_a_server_that_is_restarted(
        self, server: ServedWriter, model: ModelDouble, answer: Answer
    ) -> None:
        """If it has sent nothing, a client can ask again, with the same key."""
        model.answer = answer
        refused = server.ask(key="k")
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) > 0
        model.answer = writing()
        assert server.ask(key="k").status_code == 200

    def test_a_server_that_stops_in_a_text(self, server: ServedWriter, model: ModelDouble) -> None:
        """Part of a text was paid for: asking again is the choice of a person."""
        model.answer = sequence([writing(), hang_up])
        assert server.ask(key="k", length="long").status_code == 500

    def test_what_passes_too_late(self, tmp_path: Path, model: ModelDouble) -> None:
        """After that time it is 503, with the time that the model server asks for."""
        for seconds, headers, expected in ((10, {"Retry-After": "90"}, "90"), (0.1, {}, "30")):
            configure(tmp_path, model.endpoint, call_timeout=seconds)
            model.answer = raw(b"", 429, headers)
            with serving(tmp_path) as server:
                refused = server.ask(key="k")
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, expected)
        assert usage_of(tmp_path) == []


class TestOperation:
    """What operators see."""

    @pytest.mark.system
    def test_ipv6(self, tmp_path: Path, model: ModelDouble) -> None:
        """It listens on an address of IPv6, and prints it as it stands in a URL."""
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            pytest.skip("needs IPv6")
        configure(tmp_path, model.endpoint)
        with writer_running(tmp_path, "--host", "::1") as server:
            assert server.url.startswith("http://[::1]:")
            assert server.ask().status_code == 200

    @pytest.mark.system
    def test_readiness_without_room(self, tmp_path: Path, model: ModelDouble) -> None:
        """A server in whose ledger no request can begin is not ready, and the hint says why."""
        configure(tmp_path, model.endpoint)
        ledger = Ledger(SQLite(tmp_path / "writer.db", timeout=0.05))
        with (
            serving(tmp_path, ledger=ledger) as server,
            closing(sqlite3.connect(tmp_path / "writer.db", isolation_level=None)) as other,
        ):
            assert server.get("/readyz").status_code == 200
            other.execute("BEGIN EXCLUSIVE")
            wait_until(lambda: server.get("/readyz").status_code == 503)
            text = server.get("/readyz").text
            assert text == "the ledger cannot be used: database is locked\n"
            assert server.ask(key="k").status_code == 503
            other.execute("ROLLBACK")
            wait_until(lambda: server.get("/readyz").status_code == 200)
            assert server.ask(key="k").status_code == 200

    @pytest.mark.system
    @pytest.mark.parametrize("is_new", [True, False], ids=["replaced", "removed"])
    def test_a_ledger_that_was_replaced(
        self, tmp_path: Path, model: ModelDouble, is_new: bool
    ) -> None:
        """No user writes on into a file that is gone, and the server says so."""
        configure(tmp_path, model.endpoint)
        with serving(tmp_path) as server:
            assert server.ask(key="k").status_code == 200
            path = tmp_path / "writer.db"
            path.rename(tmp_path / "old.db")
            if is_new:
                with open_ledger("writer.db", tmp_path):
                    assert path.exists()
            assert server.ask(key="l").status_code == 503
            wait_until(lambda: server.get("/readyz").status_code == 503)
            words = "the ledger cannot be used: its file was removed or replaced\n"
            assert server.get("/readyz").text == words
        assert path.exists() == is_new
        assert len(model.calls) == 1

    def test_a_text_is_answered_though_its_ledger_is_gone(
        self, tmp_path: Path, model: ModelDouble, gate: Gate
    ) -> None:
        """What was paid for goes to its client, and is waited for no longer than that."""
        configure(tmp_path, model.endpoint)
        with serving(tmp_path) as server, ThreadPoolExecutor(1) as pool:
            asked = pool.submit(server.ask, key="k")
            wait_until(lambda: gate.waiting)
            (tmp_path / "writer.db").unlink()
            gate.is_open.set()
            assert asked.result(60).status_code == 200

    @pytest.mark.system
    def test_a_server_ends_without_its_ledger(self, tmp_path: Path, model: ModelDouble) -> None:
        """Whoever supervises the server starts it again, with the file that is there now."""
        configure(tmp_path, model.endpoint)
        with writer_running(tmp_path) as server:
            (tmp_path / "writer.db").rename(tmp_path / "old.db")
            assert server.wait() == 1
        assert "its file was removed or replaced while the server was running" in server.errors[-1]
        assert "Traceback" not in "".join(server.errors)

    def test_readiness_without_an_answer(
        self, tmp_path: Path, model: ModelDouble, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server whose database is silent, as one on a disk that hangs, is not ready."""
        monkeypatch.setattr("mkdocs_contentgen.served.jobs.BEAT", 0.01)
        monkeypatch.setattr("mkdocs_contentgen.served.jobs.LEASE", 0.5)
        configure(tmp_path, model.endpoint)
        ledger = SilentLedger(SQLite(tmp_path / "writer.db"))
        with serving(tmp_path, ledger=ledger) as server:
            ledger.answers.clear()
            wait_until(lambda: server.get("/readyz").status_code == 503)
            assert server.get("/readyz").text == "the ledger cannot be used: it does not answer\n"
            ledger.answers.set()
            wait_until(lambda: server.get("/readyz").status_code == 200)

    def test_a_ledger_from_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its address can have a password, which need not stand in the file."""
        monkeypatch.setenv("CONTENTGEN_LEDGER", str(tmp_path / "one.db"))
        monkeypatch.setenv("LEDGER_OF_MINE", str(tmp_path / "two.db"))
        path = configure(tmp_path, "http://127.0.0.1:1/v1")
        assert read_server_fields(path).ledger == str(tmp_path / "one.db")
        path.write_text("model: x\nledger: !ENV LEDGER_OF_MINE\n")
        assert read_server_fields(path).ledger == str(tmp_path / "two.db")

    def test_health(self, server: ServedWriter, model: ModelDouble) -> None:
        """Health and readiness ask no model and need no token."""
        assert server.get("/healthz").text == server.get("/readyz").text == "ok\n"
        assert not model.calls
        assert not model.lists
        assert server.log == []

    @pytest.mark.system
    def test_many_connections(self, process: WriterServer) -> None:
        """With more than it takes, the server answers 503, until some of them have gone."""
        address = ("127.0.0.1", httpx.URL(process.url).port or 0)
        with ExitStack() as stack:
            for _ in range(MAX_CONNECTIONS):
                stack.enter_context(socket.create_connection(address))
            wait_until(lambda: process.get("/healthz").status_code == 503)
        wait_until(lambda: process.get("/healthz").status_code == 200)

    def test_metrics(self, server: ServedWriter) -> None:
        """The metrics count requests, texts, tokens and cost."""
        server.ask(key="k")
        server.ask(key="k")
        server.ask(token="wrong")
        metrics = server.get("/metrics").text
        for line in (
            'contentgen_requests_total{operation="generate-blog",status="200"} 2.0',
            'contentgen_requests_total{operation="generate-blog",status="403"} 1.0',
            'contentgen_texts_total{operation="generate-blog",outcome="written"} 1',
            'contentgen_texts_total{operation="generate-blog",outcome="kept"} 1.0',
            'contentgen_refusals_total{reason="token"} 1.0',
            "contentgen_ledger_seconds_count",
            "contentgen_ledger_errors_total 0.0",
            "contentgen_model_calls_total 1.0",
            "contentgen_in_progress 0.0",
        ):
            assert line in metrics
        assert re.search(r"contentgen_cost_total 0\.00\d", metrics)
        # A proxy that hides the metrics takes this for another address.
        assert server.get("/metrics%0A").status_code == 404

    def test_openapi(self, server: ServedWriter) -> None:
        """The OpenAPI document is valid, and has the fields and values of the models."""
        document = server.get("/openapi.json").json()
        from openapi_spec_validator import (
            validate,
        )  # importing it takes a tenth of finding all tests

        validate(document)
        assert document["paths"].keys() == {*OPERATIONS, *TEXT_OPERATIONS}
        user, key = document["components"]["parameters"].values()
        assert user["schema"]["pattern"] == f"^{NAME.pattern}$"
        assert key["schema"]["maxLength"] == MAX_IDEMPOTENCY_KEY
        schemas = document["components"]["schemas"]
        updates = dict(zip(REQUEST_TYPES, schemas["update-text"]["oneOf"], strict=True))
        translations = dict(zip(REQUEST_TYPES, schemas["translate-text"]["oneOf"], strict=True))
        for kind, model in REQUEST_TYPES.items():
            assert updates[kind]["required"] == ["type", "topic", "update"]
            assert translations[kind]["required"] == ["type", "topic", "translation"]
            for schema in (schemas[model.operation], updates[kind], translations[kind]):
                values = {
                    name: sorted(p["enum"])
                    for name, p in schema["properties"].items()
                    if "enum" in p
                }
                assert values == {n: sorted(v) for n, v in choices(model).items() if n != "type"}

    def test_log(self, server: ServedWriter) -> None:
        """A record has user, operation, status, tokens, cost, seconds and the hash of the key."""
        server.ask("A secret topic", key="a-secret-key")
        server.ask("A secret topic", token="a-secret-token")
        written, refused = server.log
        assert set(written) == {
            *("time", "operation", "status", "user", "key", "outcome", "tokens", "cost"),
            *("waited", "seconds", "request", "address", "token", "model"),
        }
        assert (written["user"], written["status"]) == ("alice", 200)
        assert written["tokens"] > 0
        assert written["cost"] > 0
        assert refused["status"] == 403
        assert (refused["user"], refused["outcome"]) == ("alice", "refused")
        assert refused["error"] == "the token is not that of user_id, or has expired; check both"
        assert ("token" in refused, refused["reason"]) == (False, "wrong token")
        assert "secret" not in json.dumps(server.log)
        assert server.token not in json.dumps(server.log)

    @pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/openapi.json"])
    def test_wrong_methods(self, server: ServedWriter, path: str) -> None:
        """What has no record in the log is answered all the same."""
        answer = server.portal.call(server.client.post, path)
        assert (answer.status_code, answer.json()["success"]) == (405, False)

    @pytest.mark.system
    def test_who_asked(
        self, tmp_path: Path, model: ModelDouble, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The address is that of the client, where a trusted proxy says so."""
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.0/8,10.0.0.1")
        configure(tmp_path, model.endpoint)
        with writer_running(tmp_path) as server:
            path, headers, body = encode(server.token)
            chain = "6.6.6.6, 203.0.113.7, 10.0.0.1"
            headers |= {"X-Forwarded-For": chain, "X-Request-Id": "proxy-1"}
            answer = httpx.post(f"{server.url}{path}", headers=headers, content=body, timeout=60)
            wait_until(lambda: server.log)
            assert server.log[-1]["address"] == "203.0.113.7"
            assert answer.headers["X-Request-Id"] == server.log[-1]["request"] == "proxy-1"

    def test_a_request_id_that_is_none(self, server: ServedWriter) -> None:
        """The log has one of the server's own."""
        answer = server.ask(**{"X-Request-Id": "\x1b[31m"})
        assert re.fullmatch("[0-9a-f]{16}", answer.headers["X-Request-Id"])

    def test_log_of_a_wait(self, serve: Serve, gate: Gate) -> None:
        """The time for which a request waits for others is not its own. 1 s."""
        with serve(parallel=1) as server:
            asked = [server.begin(key=str(number)) for number in range(2)]
            wait_until(lambda: gate.waiting == 1)
            until = time.monotonic() + 1
            wait_until(lambda: time.monotonic() > until)
            gate.is_open.set()
            assert {answer.result(60).status_code for answer in asked} == {200}
            first, last = sorted(record["waited"] for record in server.log)
        assert first < 0.5 < last

    def test_usage(self, server: ServedWriter) -> None:
        """The usage is a table by month and user, also while the server runs."""
        server.ask()
        ran = run(server.directory, "usage")
        assert re.search(r"alice\t20\d\d-\d\d\t1\t0\t1\t\d+\t\d+\t0\.00", ran.stdout), ran.stdout

    @pytest.mark.system
    def test_drain(self, tmp_path: Path, model: ModelDouble, gate: Gate) -> None:
        """SIGTERM finishes the texts that have begun, and refuses others with 503 meanwhile."""
        configure(tmp_path, model.endpoint)
        with writer_running(tmp_path) as server, ThreadPoolExecutor(1) as pool:
            asked = pool.submit(server.ask, key="k")
            wait_until(lambda: gate.waiting)
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: server.get("/readyz").status_code == 503)
            assert server.ask("Wasps").status_code == 503
            wait_until(
                lambda: (
                    [it.get("outcome") or it["warning"] for it in server.log]
                    == ["the server stops; requests that are answered first: 1", "refused"]
                )
            )
            assert server.process.poll() is None
            gate.is_open.set()
            assert asked.result().status_code == 200
            assert server.wait() == 0
        (row,) = usage_of(tmp_path)
        assert (row["texts"], row["failed"]) == (1, 0)
        assert "Traceback" not in "".join(server.errors)

    @pytest.mark.system
    def test_drain_without_ledger(self, tmp_path: Path, model: ModelDouble, gate: Gate) -> None:
        """A text that cannot be kept does not keep the server for longer than that."""
        configure(tmp_path, model.endpoint, call_timeout=1)  # 5 s until the gate has to be open
        with writer_running(tmp_path) as server, ThreadPoolExecutor(1) as pool:
            asked = pool.submit(server.ask, key="k")
            wait_until(lambda: gate.waiting)
            other = sqlite3.connect(tmp_path / "writer.db", isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
            gate.is_open.set()
            server.process.send_signal(signal.SIGTERM)
            server.wait()
            other.close()
            assert asked.result().status_code == 409
            assert "same Idempotency-Key" in asked.result().json()["error"]
            assert "Traceback" not in "".join(server.errors)

    @pytest.mark.system
    def test_second_signal(self, tmp_path: Path, model: ModelDouble, gate: Gate) -> None:
        """A second Ctrl-C ends the server at once."""
        configure(tmp_path, model.endpoint)
        with writer_running(tmp_path) as server, ThreadPoolExecutor(1) as pool:
            asked = pool.submit(server.ask, key="k")
            wait_until(lambda: gate.waiting)
            server.process.send_signal(signal.SIGINT)
            wait_until(lambda: server.get("/readyz").status_code == 503)
            server.process.send_signal(signal.SIGINT)
            server.wait()
            assert asked.exception() or asked.result().status_code == 409
        assert "Traceback" not in "".join(server.errors)


class TestBadInput:
    """Each mistake gets a clear answer."""

    def test_configuration(self, tmp_path: Path) -> None:
        """All mistakes in writer.yml are named at once, each with its line."""
        path = tmp_path / "writer.yml"
        path.write_text(
            "model: [x]\nledgr: a.db\nparallel: 4\nparallel: 0\nlimits: {parallel: -1}\n"
            "queue: many\nprice: 3\napi_key: 5\n"
        )
        problems = refusal(tmp_path)
        for line, name in enumerate(
            ["model", "ledgr", "parallel", "parallel", "limits", "queue", "price", "api_key"], 1
        ):
            if line != 3:
                assert re.search(rf"writer\.yml:{line}: '?{name}", problems), problems
        assert "writer.yml:4: parallel: is there twice, first in line 3" in problems

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (None, "writer.yml: cannot be read (No such file or directory)"),
            (b"", "model"),
            (b"- a\n", "expected a mapping"),
            (b"a: [", "not valid YAML"),
            (b"\xff\xfe", "cannot be read (it is not UTF-8)"),
            (b"a: &a [*a]", "'a' "),
            (b"? [a]\n: b\nmodel: x", "not"),
            (b"model: x\nledger: 'redis://:pa55word@[::1'\n", "ledger: is not an address such as"),
            (b"model: x\nledger: ''\n", "writer.yml:2: ledger: name a file"),
            (b'model: x\nledger: "\\0"\n', "writer.yml:2: ledger: name a file"),
            (b"model: x\ninstructions: no.md\n", "writer.yml: instructions: "),
            (b"model: x\nsources: true\n", "writer.yml: sources: "),
        ],
    )
    def test_configuration_file(self, tmp_path: Path, content: bytes | None, message: str) -> None:
        """A file that cannot be used is one clear line, without its secrets."""
        if content is not None:
            (tmp_path / "writer.yml").write_bytes(content)
        problem = refusal(tmp_path)
        assert message in problem
        assert "pa55word" not in problem

    def test_plain_http(self, tmp_path: Path) -> None:
        """The key for a model on another host is not sent without encryption unless allowed."""
        configure(tmp_path, "http://models.example/v1")
        problem = r"endpoint: 'http://models.*allow_http"
        with pytest.raises(ConfigurationError, match=problem), serving(tmp_path):
            pass

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Idempotency-Key": ""}, 400),
            ({"Idempotency-Key": "k" * 256}, 400),
            ({"Content-Type": "text/plain"}, 415),
        ],
    )
    def test_headers(self, server: ServedWriter, headers: dict[str, str], status: int) -> None:
        """Headers that cannot be used are refused."""
        assert server.ask(**headers).status_code == status

    @pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "é" * 70])
    def test_unknown_host(self, tmp_path: Path, model: ModelDouble, host: str) -> None:
        """A name that is no host is an error of one line."""
        configure(tmp_path, model.endpoint)
        add_user(tmp_path)
        ran = run(tmp_path, "serve", "--host", host, "--port", "0")
        assert (ran.exit_code, type(ran.exception)) == (1, SystemExit)
        assert f"{host}:0 cannot be used (unknown host)" in ran.stderr
        assert "choose another one with --host" in ran.stderr

    @pytest.mark.system
    def test_database_gone(self, tmp_path: Path, model: ModelDouble) -> None:
        """Without its database the server writes nothing, says 503, and is not ready."""
        with postgres_running() as postgres:
            configure(tmp_path, model.endpoint, ledger=postgres.url)
            with writer_running(tmp_path) as server:
                assert server.ask(key="k").status_code == 200
                calls = len(model.calls)
                postgres.stop()
                answer = server.ask("Wasps")
                assert answer.status_code == 503
                assert int(answer.headers["Retry-After"]) > 0
                wait_until(lambda: server.get("/readyz").status_code == 503)
                assert "make sure that the server runs" in server.get("/readyz").text
                assert server.get("/healthz").status_code == 200
                assert len(model.calls) == calls
                postgres.start()
                assert server.ask("Wasps").status_code == 200
                wait_until(lambda: server.get("/readyz").status_code == 200)

    def test_text_that_waits(self, tmp_path: Path, model: ModelDouble, gate: Gate) -> None:
        """A text that cannot be kept is not lost: it is tried again, with one warning."""
        configure(tmp_path, model.endpoint)
        ledger = CountingLedger(SQLite(tmp_path / "writer.db", timeout=0.05))
        with (
            serving(tmp_path, ledger=ledger) as server,
            closing(sqlite3.connect(tmp_path / "writer.db", isolation_level=None)) as other,
        ):
            asked = server.begin(key="k")
            wait_until(lambda: gate.waiting)
            other.execute("BEGIN EXCLUSIVE")
            gate.is_open.set()
            wait_until(lambda: ledger.tries >= 3)
            other.execute("ROLLBACK")
            assert asked.result(60).status_code == 200
            # A beat that meets the lock has a warning of its own.
            warnings = [it for it in server.warnings if "a finished text waits to be kept" in it]
            assert len(warnings) == 1
            assert server.ask(key="k").text == asked.result().text
        assert len(model.calls) == 1

    def test_drain_with_a_queue(self, serve: Serve, gate: Gate) -> None:
        """What waits for its turn is written, too, as far as there is time for it."""
        with serve(parallel=1, limits={"parallel": 10}) as server:
            number = TEXTS_AT_ONCE + 2
            asked = [server.begin(key=str(key)) for key in range(number)]
            wait_until(lambda: "contentgen_queue 2.0" in server.get("/metrics").text)
            drained = server.portal.start_task_soon(server.server.jobs.drain)
            wait_until(lambda: server.get("/readyz").status_code == 503)
            assert server.get("/healthz").status_code == 200
            late = server.ask(key="late")
            assert (late.status_code, int(late.headers["Retry-After"]) > 0) == (503, True)
            assert not drained.done()
            gate.is_open.set()
            assert {answer.result(60).status_code for answer in asked} == {200}
            drained.result(60)

    def test_drain_with_a_queue_in_time(self, serve: Serve, model: ModelDouble, gate: Gate) -> None:
        """After that time, what waits is refused, and counts for no limit."""
        with serve(parallel=1, limits={"parallel": 10}) as server:
            number = TEXTS_AT_ONCE + 2
            asked = [server.begin(key=str(key)) for key in range(number)]
            wait_until(lambda: "contentgen_queue 2.0" in server.get("/metrics").text)
            server.portal.call(server.server.jobs.drain, 0.1)
            wait_until(lambda: sum(answer.done() for answer in asked) == 2)
            gate.is_open.set()
            statuses = sorted(answer.result(60).status_code for answer in asked)
        assert statuses == [*[200] * (number - 2), 503, 503]
        assert len(model.calls) == number - 2

    @pytest.mark.system
    def test_log_on_full_disk(self, tmp_path: Path, model: ModelDouble) -> None:
        """A log that cannot be written costs no text."""
        configure(tmp_path, model.endpoint)
        with (
            Path("/dev/full").open("wb") as full,
            writer_running(tmp_path, stdout=full.fileno()) as server,
        ):
            answer = server.ask(key="k")
            assert answer.status_code == 200
            assert server.ask(key="k").text == answer.text
            server.process.send_signal(signal.SIGTERM)
            assert server.wait() == 0
            assert "Traceback" not in "".join(server.errors)

    def test_model_error_is_not_repeated(self, server: ServedWriter, model: ModelDouble) -> None:
        """What the model server says, which can repeat a topic, is neither told nor logged."""
        model.answer = raw(b'{"error": {"message": "internal host 10.1.2.3"}}', 400)
        answer = server.ask()
        assert answer.status_code == 500
        assert "10.1.2.3" not in answer.text
        assert "10.1.2.3" not in json.dumps(server.log)
        assert "400 Bad Request" in server.log[-1]["error"]
