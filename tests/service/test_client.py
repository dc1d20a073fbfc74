"""The client of the service: what goes out, and what is made of the answer."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator

import pytest
from golden_file import cases
from remarks import said
from service_calls import ARTICLE, GOOD, LONG, REQUEST, answer, failure, send
from service_double import TOKEN, USER, ServiceDouble, generated, listening, raw, running

from mkdocs_contentgen.errors import (
    ConfigurationError,
    FailedTextError,
    InvalidAnswerError,
    RejectedError,
    UnknownOutcomeError,
)
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.requests import ArticleRequest, BlogRequest, NewsRequest, Request
from mkdocs_contentgen.service import SANDBOX
from mkdocs_contentgen.service.client import ServiceClient
from mkdocs_contentgen.service.protocol import (
    Attempt,
    OriginalBlock,
    Translated,
    TranslatedBlock,
    Translation,
    parse_answer,
)
from mkdocs_contentgen.translation_request import TranslationRequest

CASES = cases("client")


@pytest.mark.parametrize(
    ("type_", "path", "fields"),
    [
        (ArticleRequest, "/generate-article", {"focus": "review", "audience": "expert"}),
        (BlogRequest, "/generate-blog", {"style": "casual", "format": "howto"}),
        (NewsRequest, "/generate-news", {"tone": "editorial"}),
    ],
)
def test_a_request_is_what_the_interface_describes(
    service: ServiceDouble, type_: Callable[..., Request], path: str, fields: dict[str, str]
) -> None:
    """Each operation has its address, its fields and nothing of the plugin's own."""
    body = {"topic": "Tides", "length": "long", **fields}
    request = type_(**body, id="x", revision=7)
    assert asyncio.run(send(service.base_url, request)).startswith("<article>")
    [received] = service.received
    assert (received.method, received.path) == ("POST", path)
    assert received.query == [("user_id", USER)]
    assert received.body == body
    headers = received.headers
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["content-type"] == "application/json"
    assert headers["accept"] == "application/json"
    assert headers["accept-encoding"] == "identity"
    assert headers["idempotency-key"] == "key-1"
    assert headers["user-agent"].startswith("mkdocs-contentgen/")
    assert "cookie" not in headers


@pytest.mark.parametrize(
    "topic",
    ["Ümläute & <Tags> \"' \\", "日本語の題", "🧭 emoji 👩‍👩‍👧", "a\nb\tc", "עברית", "x" * 20_000],
    ids=["latin", "japanese", "emoji", "white-space", "hebrew", "long"],
)
def test_a_topic_arrives_as_it_was_written(service: ServiceDouble, topic: str) -> None:
    """No character of a topic is lost on the way."""
    asyncio.run(send(service.base_url, ArticleRequest(topic=topic)))
    assert service.topics == [topic]


@pytest.mark.parametrize("prefix", ["", "/", "/api/v2", "/api/v2/", "/a%2Fb/%C3%BC"])
def test_base_url_may_have_a_path(prefix: str) -> None:
    """The operation follows the path of base_url, which is left as it is."""
    with running() as double:
        asyncio.run(send(double.base_url + prefix))
    assert [got.path for got in double.received] == [f"{prefix.rstrip('/')}/generate-blog"]


def test_the_request_line(service: ServiceDouble) -> None:
    """A user identifier cannot add to the address, whatever is in it."""
    lines: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        lines.append(connection.recv(65536).split(b"\r\n")[0])

    with listening(talk) as address:
        failure(UnknownOutcomeError, f"http://{address}", user_id="a&b=c/../ü+#? %41")
    assert lines == [b"POST /generate-blog?user_id=a%26b%3Dc%2F..%2F%C3%BC%2B%23%3F+%2541 HTTP/1.1"]


def test_white_space_around_the_options(service: ServiceDouble) -> None:
    """A line break that was copied along does no harm."""
    asyncio.run(send(f" {service.base_url}\n", user_id=f"\t{USER} ", token=f" {TOKEN}\r\n"))
    [received] = service.received
    assert received.headers["authorization"] == f"Bearer {TOKEN}"
    assert received.query == [("user_id", USER)]


def test_the_sandbox_needs_no_credentials() -> None:
    """The sandbox is asked through the same code as a service."""
    html = asyncio.run(send("sandbox", ArticleRequest(topic="Tides"), user_id="", token=""))
    assert "Tides" in html


@pytest.mark.parametrize(
    "content",
    [ARTICLE, f"\n {ARTICLE}\n", "<article><p>🧭 &amp; \u2028 <script>x</script></p></article>"],
)
def test_the_content_is_returned_as_it_came(service: ServiceDouble, content: str) -> None:
    """A text is kept as it was paid for; what is done to it later can be done anew."""
    service.answer = generated(content)
    assert asyncio.run(send(service.base_url)) == content


@pytest.mark.parametrize(
    "body",
    [
        b'\xef\xbb\xbf{"success": true, "content": "%s"}',
        b'{"success": true, "content": "%s", "usage": {"cost": 1' + b"0" * 5000 + b"}}",
    ],
)
def test_what_stands_around_a_text_does_not_lose_it(service: ServiceDouble, body: bytes) -> None:
    """A byte order mark or a huge number beside a text costs nobody the text."""
    service.answer = raw(body % ARTICLE.replace('"', "'").encode())
    assert asyncio.run(send(service.base_url)) == ARTICLE.replace('"', "'")


def test_a_client_does_not_show_its_token() -> None:
    """A client that is printed, as in a traceback with variables, is discreet."""
    client = ServiceClient("http://127.0.0.1:1", USER, TOKEN, allow_http=False)
    assert TOKEN not in f"{client} {client!r} {vars(client)}"


BLOCK = OriginalBlock(3, "p", "Words.")
TRANSLATION = Translation("de", [BLOCK], "en")
TRANSLATED = Translated([TranslatedBlock(3, "Wörter.")], [Remark("original_draft")], "m")


@pytest.fixture
def translator(service: ServiceDouble) -> Iterator[ServiceDouble]:
    """Run a service that gets requests for translations, which the interface does not have."""
    yield service
    service.violations.clear()


async def translate(base_url: str, *, token: str = TOKEN) -> Translated:
    """Ask for the translation of a text, as a build does."""
    original = PageRequest(NewsRequest(topic="Tides", length="long", brief="Say it."))
    request = TranslationRequest(
        type="news", topic="Tides", language="de", revision=7, original=original.request
    )
    asked = PageRequest(request, original=original)
    async with ServiceClient(base_url, USER, token) as client:
        return await client.translate(asked, TRANSLATION, Attempt("key-1", LONG))


def test_a_translation(translator: ServiceDouble) -> None:
    """The request of the original and the blocks are sent, and the translated blocks returned."""
    translator.answer = raw(TRANSLATED.encode(usage={"cost": 1}))
    assert asyncio.run(translate(translator.base_url)) == TRANSLATED
    [received] = translator.received
    assert (received.path, received.headers["idempotency-key"]) == ("/translate-text", "key-1")
    assert received.body == {
        "type": "news",
        "topic": "Tides",
        "length": "long",
        "tone": "neutral",
        "brief": "Say it.",
        "translation": {
            "language": "de",
            "from_language": "en",
            "blocks": [{"number": 3, "kind": "p", "text": "Words.", "translation": ""}],
        },
    }


def test_a_translation_of_the_sandbox() -> None:
    """The sandbox marks each block with the language."""
    answer = asyncio.run(translate(SANDBOX))
    assert answer.blocks == [TranslatedBlock(3, "[de] Words.")]


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_service_without_translations(translator: ServiceDouble, status: int) -> None:
    """The error says that the service has no such operation, and who has it."""
    translator.answer = raw(b"{}", status)
    with pytest.raises(RejectedError, match=r"only writers .*`translate-text`.*`base_url: writer`"):
        asyncio.run(translate(translator.base_url))


def test_a_text_that_a_proxy_does_not_let_pass(translator: ServiceDouble) -> None:
    """The error says what the proxy has to allow, which is enough for each text."""
    translator.answer = raw(b"<html>413 Request Entity Too Large</html>", 413)
    with pytest.raises(RejectedError, match=r"answered 413 .*`client_max_body_size 8m`"):
        asyncio.run(translate(translator.base_url))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        GOOD,
        b'{"blocks": [{"block": "3", "text": "x"}]}',
        b'{"blocks": [{"block": 3, "text": "\\ud800"}]}',
        b'{"blocks": ' + b"[" * 100_000,
    ],
    ids=["empty", "list", "new text", "number", "surrogate", "deep"],
)
def test_a_wrong_translation(translator: ServiceDouble, body: bytes) -> None:
    """What is not a translation is refused, and not quoted."""
    translator.answer = raw(body)
    with pytest.raises(InvalidAnswerError, match="the answer is not a translation of a writer"):
        asyncio.run(translate(translator.base_url))


@pytest.mark.parametrize("status", [200, 201, 202, 203])
def test_a_whole_answer_with_another_status_of_success(service: ServiceDouble, status: int) -> None:
    """A text that was paid for is a text, whichever status of success it comes with."""
    service.answer = raw(GOOD, status)
    assert asyncio.run(send(service.base_url)) == ARTICLE


def test_an_unusable_text_with_status_201(service: ServiceDouble) -> None:
    """Its reason says more than the status."""
    service.answer = raw(answer(content="<p>no article</p>"), 201)
    assert failure(FailedTextError, service.base_url).answer == "<p>no article</p>"


@pytest.mark.parametrize("content", [None, "<p>no article</p>"])
def test_a_request_that_was_only_accepted(service: ServiceDouble, content: str | None) -> None:
    """Status 202 without a text means that the text is still being written."""
    service.answer = raw(answer(content=content), 202)
    failure(UnknownOutcomeError, service.base_url)


NOT_JSON = "the answer is not JSON in UTF-8; is base_url right?"
NO_SUCCESS = "the service reports a failure (`success` is not true)"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(b"", NOT_JSON, id="empty"),
        pytest.param(b"<html>Login</html>", NOT_JSON, id="html"),
        pytest.param(GOOD + GOOD, NOT_JSON, id="twice"),
        pytest.param(b"1" * 5000, NO_SUCCESS, id="number-too-long-for-python"),
        pytest.param(b"[" * 200_000 + b"]" * 200_000, NOT_JSON, id="deep"),
        pytest.param(b"\xff\xfe" + GOOD, NOT_JSON, id="not-utf-8"),
        pytest.param(GOOD.replace(b"Text", b"\xc3\x28"), NOT_JSON, id="not-utf-8-inside"),
        pytest.param(b"null", NO_SUCCESS, id="null"),
        pytest.param(b"[" + GOOD + b"]", NO_SUCCESS, id="list"),
        pytest.param(json.dumps(ARTICLE).encode(), NO_SUCCESS, id="string"),
        pytest.param(b"{}", NO_SUCCESS, id="nothing"),
        pytest.param(answer(success=False), NO_SUCCESS, id="no-success"),
        pytest.param(answer(success="true"), NO_SUCCESS, id="success-string"),
        pytest.param(answer(success=1), NO_SUCCESS, id="success-number"),
    ],
)
def test_a_wrong_answer(service: ServiceDouble, body: bytes, words: str) -> None:
    """What the interface does not describe is an error, never a text, and is not quoted."""
    service.answer = raw(body)
    assert str(failure(InvalidAnswerError, service.base_url)) == words
    assert len(service.received) == 1


NO_TEXT = "the answer has no text in `content`"
NONE, TWO = "expected one <article>, found none", "expected one <article>, found 2"


EMPTY = "the <article> has no text"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(b'{"success": true}', NO_TEXT, id="content-missing"),
        pytest.param(answer(content=None), NO_TEXT, id="content-null"),
        pytest.param(answer(content=[ARTICLE]), NO_TEXT, id="content-list"),
        pytest.param(answer(content=""), NONE, id="content-empty"),
        pytest.param(answer(content="<p>Text</p>"), NONE, id="no-article"),
        pytest.param(answer(content=ARTICLE * 2), TWO, id="two-articles"),
        pytest.param(answer(content="<article> \n<p></p></article>"), EMPTY, id="article-empty"),
        pytest.param(answer(content="<article><script>x</script></article>"), EMPTY, id="script"),
        pytest.param(
            answer(content="<article>\ud83d</article>"), "surrogates not allowed", id="half"
        ),
        pytest.param(answer(content=f"<article>{'<b>' * 999}x</article>"), "", id="deep-html"),
        pytest.param(answer(content=f"<article>{'x' * 600_000}</article>"), "", id="large-html"),
    ],
)
def test_a_paid_answer_without_an_article(service: ServiceDouble, body: bytes, words: str) -> None:
    """What a service calls a success was paid for, so the error tells what was answered."""
    service.answer = raw(body)
    content = json.loads(body).get("content")
    error = failure(FailedTextError, service.base_url)
    assert str(error).endswith(words)
    assert error.answer == (content if isinstance(content, str) else body.decode())
    assert (error.model, error.cost) == ("", None)


FAILED = {"success": False, "error": "looped", "answer": "a a\x1b", "model": "m"}


@pytest.mark.parametrize(("fields", "model", "cost"), CASES["a_failed_text_of_a_served_writer"])
def test_a_failed_text_of_a_served_writer(
    service: ServiceDouble, fields: dict[str, object], model: str, cost: float | None
) -> None:
    """Status 500 with what the model answered is a text that was paid for, and failed."""
    service.answer = raw(json.dumps({**FAILED, **fields}).encode(), 500)
    error = failure(FailedTextError, service.base_url)
    assert str(error) == "the service answered 500 Internal Server Error: looped"
    assert (error.answer, error.model, error.cost) == ("a a\x1b", model, cost)


def test_a_failed_text_with_the_token(service: ServiceDouble) -> None:
    """What was answered is kept and shown, so it is left out where it repeats the token."""
    failed = json.dumps({**FAILED, "answer": f"Bearer {TOKEN}"}).encode()
    paid = json.dumps({"success": True, "headers": TOKEN}).encode()
    for body, status in ((failed, 500), (paid, 200)):
        service.answer = raw(body, status)
        assert failure(FailedTextError, service.base_url).answer == ""


@pytest.mark.parametrize("answer", [b"[]", b"{", b'{"answer": 5}', b'"answer"', b""])
def test_other_errors_of_the_server(service: ServiceDouble, answer: bytes) -> None:
    """Status 500 without an answer of the model is as any other service means it."""
    service.answer = raw(answer, 500)
    failure(RejectedError, service.base_url)


def test_the_remarks_of_an_answer(service: ServiceDouble) -> None:
    """Remarks are lines for terminals, not too many and not too long; others count as none."""
    remarks = ["640 words\n for 900", 7, "", "\x1b[2J", "\ud83d", "x" * 301, *map(str, range(60))]
    found = said(parse_answer(answer(content=ARTICLE, remarks=remarks), REQUEST))
    assert found[:4] == ("640 words for 900", "\\x1b[2J", "\\ud83d", "x" * 300)
    assert len(found) == 50
    for other in (None, "text", {"a": "b"}, 5):
        assert said(parse_answer(answer(content=ARTICLE, remarks=other), REQUEST)) == ()


@pytest.mark.parametrize("model", ["\x1b[2J", "a\nb", "x" * 301, 7, None])
def test_the_model_of_an_answer(model: object) -> None:
    """A name that is none, or that a terminal would obey, counts as none."""
    assert parse_answer(answer(content=ARTICLE, model=model), REQUEST).model == ""


@pytest.mark.parametrize(
    ("user_id", "token", "option"), CASES["credentials_that_are_missing_or_wrong"]
)
def test_credentials_that_are_missing_or_wrong(
    service: ServiceDouble, user_id: str, token: str, option: str
) -> None:
    """The message begins with the option to set."""
    error = failure(ConfigurationError, service.base_url, user_id=user_id, token=token)
    assert str(error).startswith(f"{option}:")
    assert ("`contentgen writer user add`" in str(error)) == ("is not set" in str(error))
    assert service.received == []


@pytest.mark.parametrize(
    ("given", "shown"),
    [("4f1c-A9", " (request 4f1c-A9)"), (TOKEN, ""), ("a b", ""), ("x" * 65, ""), ("", "")],
)
def test_the_id_of_a_request(service: ServiceDouble, given: str, shown: str) -> None:
    """A served writer's id is in the message, unless it is none, or has the token in it."""
    service.answer = raw(b'{"error": "wrong"}', 400, {"X-Request-Id": given} if given else {})
    error = failure(RejectedError, service.base_url)
    assert str(error) == f"the service answered 400 Bad Request: wrong{shown}"
