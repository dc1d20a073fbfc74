"""The HTTP client against a service on loopback: what goes out, and what is made of the answer."""

from __future__ import annotations

import asyncio
import base64
import gc
import gzip
import json
import re
import socket
import ssl
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, quote_plus

import httpx
import pytest
from golden_file import cases
from service_double import (
    SECRET,
    TOKEN,
    USER,
    Answer,
    ServiceDouble,
    forever,
    generated,
    listening,
    raw,
    reset,
    running,
    silence,
    wire,
)

from mkdocs_contentgen.errors import (
    ConfigurationError,
    ContentgenError,
    FailedTextError,
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    ServiceError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import (
    ArticleRequest,
    BlogRequest,
    NewsRequest,
    Request,
)
from mkdocs_contentgen.service import SANDBOX, connection
from mkdocs_contentgen.service.client import ServiceClient
from mkdocs_contentgen.service.connection import MAX_ANSWER, HTTPConnection
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

ARTICLE = "<article><h1>T</h1><p>Text.</p></article>"
GOOD = json.dumps({"success": True, "content": ARTICLE}).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
REQUEST = BlogRequest(topic="T")
LONG = 10.0
"""Seconds for requests that are not meant to run into the deadline."""

AnyError = TypeVar("AnyError", bound=ContentgenError)


async def send(
    base_url: str,
    request: Request = REQUEST,
    *,
    user_id: str = USER,
    token: str = TOKEN,
    allow_http: bool = False,
    timeout: float = LONG,
) -> str:
    """Send one request, as a build does."""
    async with ServiceClient(base_url, user_id, token, allow_http=allow_http) as client:
        return (await client.generate(PageRequest(request), Attempt("key-1", timeout))).html


def failure(
    expected: type[AnyError],
    base_url: str,
    request: Request = REQUEST,
    *,
    user_id: str = USER,
    token: str = TOKEN,
    timeout: float = LONG,
) -> AnyError:
    """Send what must fail with exactly this error, on one line, with nothing of the token in it."""
    with pytest.raises(ContentgenError) as caught:
        asyncio.run(send(base_url, request, user_id=user_id, token=token, timeout=timeout))
    assert_discreet(caught.value)
    assert type(caught.value) is expected
    return caught.value


def assert_discreet(error: BaseException) -> None:
    """Look for the token in an error and in all the errors behind it."""
    assert str(error).isprintable()
    behind: list[BaseException | None] = [error]
    while behind:
        if (found := behind.pop()) is None:
            continue
        shown = f"{found} {found!r} {found.args}"
        for secret in (TOKEN, quote(TOKEN), quote(TOKEN, safe=""), quote_plus(TOKEN), TOKEN[:12]):
            assert secret not in shown
        assert base64.b64encode(TOKEN.encode()).decode() not in shown
        behind += [found.__cause__, found.__context__]


def ok(extra: bytes, body: bytes = GOOD) -> bytes:
    """Return a whole answer with status 200 and with header lines of its own."""
    return HEAD + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body


# --- what goes out -------------------------------------------------------------------------------


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


def test_white_space_around_the_options_is_none_of_them(service: ServiceDouble) -> None:
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


# --- proxies and TLS -----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Take away the proxy variables that the machine may have."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


def test_no_proxy_sees_a_plain_http_request(
    service: ServiceDouble, no_proxy: pytest.MonkeyPatch
) -> None:
    """A request over plain http, token included, goes to the service itself and to nobody else."""
    with running() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            no_proxy.setenv(name, proxy.base_url)
        asyncio.run(send(service.base_url))
    assert len(service.received) == 1
    assert proxy.received == []


def test_a_proxy_for_https_sees_no_token(no_proxy: pytest.MonkeyPatch) -> None:
    """A proxy is asked for a tunnel, and when it refuses, nothing was sent to the service."""
    asked: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        asked.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
        asked.append(connection.recv(65536))

    with listening(talk) as address:
        no_proxy.setenv("HTTPS_PROXY", f"http://{address}")
        failure(UnreachableError, "https://service.example")
    assert asked[0].startswith(b"CONNECT service.example:443 ")
    assert TOKEN.encode() not in b"".join(asked)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTPS_PROXY", "garbage://proxy.example"),
        ("ALL_PROXY", "http://user:pass/word@proxy.example"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
        ("NO_PROXY", "localhost, [::1]"),
        ("no_proxy", "10.0.0.0/8,::1,fe80::/10"),
        ("NO_PROXY", "user:pass@host:port"),
    ],
)
def test_an_environment_that_cannot_be_used(
    no_proxy: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """A wrong variable of the environment is an error that names it, and no password."""
    no_proxy.setenv(name, value)
    error = failure(ConfigurationError, "https://service.example")
    assert name.upper() in str(error)
    assert "pass" not in str(error)


def test_an_entry_of_no_proxy_that_cannot_be_read(no_proxy: pytest.MonkeyPatch) -> None:
    """Companies set it for all programs: the message quotes the entry, and says what can stand."""
    no_proxy.setenv("NO_PROXY", "localhost,127.0.0.1,::1,10.0.0.0/8,[::1]:80,.example.com")
    error = failure(ConfigurationError, "https://service.example")
    assert str(error).startswith("NO_PROXY: '[::1]:80' cannot be read; write host names, ")


@pytest.fixture
def tls_service(certificate: Path) -> Iterator[ServiceDouble]:
    """Run a service over https, with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with running(context) as double:
        yield double
    assert double.violations == []


def test_a_certificate_that_is_trusted(
    tls_service: ServiceDouble, certificate: Path, no_proxy: pytest.MonkeyPatch
) -> None:
    """A company's own certificate authority can be named in the environment, as elsewhere."""
    no_proxy.setenv("SSL_CERT_FILE", str(certificate))
    asyncio.run(send(tls_service.base_url))
    assert tls_service.topics == ["T"]


def test_a_certificate_that_is_not_trusted(tls_service: ServiceDouble) -> None:
    """Nothing is sent to whom nobody vouches for."""
    assert "certificate" in str(failure(UnreachableError, tls_service.base_url))
    assert tls_service.received == []


# --- no connection -------------------------------------------------------------------------------


def test_a_connection_that_is_refused() -> None:
    """Where nobody listens, the request surely did not run."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        error = failure(UnreachableError, f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert str(error).startswith("no connection to 127.0.0.1:")
    assert str(error).endswith("; is base_url right?")


def test_a_name_that_leads_nowhere() -> None:
    """A name that no machine can have is no connection, too."""
    failure(UnreachableError, f"https://{'x' * 64}.invalid")


def test_packets_that_are_dropped() -> None:
    """A machine that does not answer at all, as behind a firewall, costs no more than `timeout`."""
    with ExitStack() as stack:
        # Linux drops the packets for a listener whose queue is full.
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        started = time.monotonic()
        port = listener.getsockname()[1]
        error = failure(UnreachableError, f"http://127.0.0.1:{port}", timeout=0.3)
        assert str(error).endswith(f":{port} within 0.3 s; is base_url right?")
        assert time.monotonic() - started < 20


def test_https_where_http_is_spoken(service: ServiceDouble) -> None:
    """The token is not sent before the other side has shown that it speaks TLS."""
    failure(UnreachableError, service.base_url.replace("http:", "https:"))
    assert service.received == []


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_handshake_that_never_ends() -> None:
    """The deadline is for the handshake, too, before which nothing was sent."""
    with listening(drain) as address:
        started = time.monotonic()
        failure(UnreachableError, f"https://{address}", timeout=0.3)
        assert time.monotonic() - started < 20
        # httpcore leaves the socket of a cancelled handshake to the garbage collector.
        gc.collect()


def drain(connection: socket.socket) -> None:
    """Read until the client hangs up."""
    while connection.recv(65536):
        pass


# --- an answer with another status ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "expected", "words"),
    [
        (202, UnknownOutcomeError, "the service answered 202 Accepted; it may have been processed"),
        (204, RejectedError, "the service answered 204 No Content"),
        (300, UnusableServiceError, "the service answered 300 Multiple Choices; check base_url"),
        (400, RejectedError, "the service answered 400 Bad Request"),
        (401, UnusableServiceError, "the service answered 401 Unauthorized; check base_url"),
        (
            403,
            UnusableServiceError,
            "the service answered 403 Forbidden; check base_url, token and user_id, from "
            "the service's dashboard, or from `contentgen writer user add`",
        ),
        (404, RejectedError, "the service answered 404 Not Found; check base_url"),
        (409, UnknownOutcomeError, "the service answered 409 Conflict; it may have been processed"),
        (408, UnknownOutcomeError, "the service answered 408 Request Timeout; it may have been"),
        (425, NotSentError, "the service answered 425 Too Early"),
        (429, NotSentError, "the service answered 429 Too Many Requests"),
        (499, UnknownOutcomeError, "the service answered 499 Client Closed Request; it may have"),
        (500, RejectedError, "the service answered 500 Internal Server Error; try again later, or"),
        (
            502,
            UnknownOutcomeError,
            "the service answered 502 Bad Gateway; it may have been processed, so only the next "
            "build asks again, with the same Idempotency-Key",
        ),
        (503, NotSentError, "the service answered 503 Service Unavailable"),
        (504, UnknownOutcomeError, "the service answered 504 Gateway Timeout"),
        (520, UnknownOutcomeError, "the service answered 520 Unknown Error; it may have been"),
        (521, UnknownOutcomeError, "the service answered 521 Web Server Is Down; it may have been"),
        (522, UnknownOutcomeError, "the service answered 522 Connection Timed Out; it may have"),
        (523, UnknownOutcomeError, "the service answered 523 Origin Is Unreachable; it may have"),
        (524, UnknownOutcomeError, "the service answered 524 A Timeout Occurred; it may have been"),
        (525, RejectedError, "the service answered 525"),
        (529, NotSentError, "the service answered 529 Overloaded"),
        (598, UnknownOutcomeError, "the service answered 598 Network Read Timeout; it may have"),
        (999, RejectedError, "the service answered 999"),
    ],
)
def test_a_status_decides(
    service: ServiceDouble, status: int, expected: type[ServiceError], words: str
) -> None:
    """Each status without a text says whether the request may have been processed."""
    service.answer = raw(b"" if status < 300 else GOOD, status)
    assert str(failure(expected, service.base_url)).startswith(words)
    assert len(service.received) == 1


BLOCK = OriginalBlock(3, "p", "Words.")
TRANSLATION = Translation("de", [BLOCK], "en")
TRANSLATED = Translated([TranslatedBlock(3, "Wörter.")], ["a remark"], "m")


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
    """What is no translation is refused, and not quoted."""
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


FOREIGN = [
    TimeoutError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"),
    *(
        kind("x")
        for kind in vars(httpx).values()
        if isinstance(kind, type)
        and issubclass(kind, httpx.HTTPError | httpx.StreamError | httpx.InvalidURL)
        and not issubclass(kind, httpx.HTTPStatusError | httpx.StreamConsumed)
        and not issubclass(kind, httpx.StreamClosed | httpx.ResponseNotRead)
        and not issubclass(kind, httpx.RequestNotRead)
    ),
    httpx.StreamConsumed(),
    httpx.StreamClosed(),
    httpx.ResponseNotRead(),
    httpx.RequestNotRead(),
]


@pytest.mark.parametrize("error", FOREIGN, ids=lambda error: type(error).__name__)
def test_foreign_exceptions_become_our_own(error: Exception) -> None:
    """Whatever httpx raises says whether the request may have been processed."""
    assert isinstance(error, connection.FOREIGN_ERRORS)
    asked = HTTPConnection(httpx.URL("http://127.0.0.1"), "the service")
    unsent = asked.connection_error(error, "5 s", "nothing for 5 s", was_sent=False)
    sent = asked.connection_error(error, "5 s", "nothing for 5 s", was_sent=True)
    assert type(unsent) is UnreachableError
    assert type(sent) is UnknownOutcomeError


def test_all_exceptions_of_httpx_are_mapped() -> None:
    """An exception that a later httpx adds is not forgotten."""
    raised = {type(error) for error in FOREIGN}
    others = {httpx.HTTPStatusError, httpx.CookieConflict}  # which nothing here can raise
    found = {
        kind
        for kind in vars(httpx).values()
        if isinstance(kind, type)
        if issubclass(kind, Exception)
    }
    assert found - raised - others == set()


def refused(reason: object) -> bytes:
    """Return the body of an error, as the served writer sends it."""
    return json.dumps({"success": False, "error": reason}).encode()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (400, refused("no such field"), "400 Bad Request: no such field"),
        (401, refused("who?"), "401 Unauthorized: who?; check base_url"),
        (403, refused("The plan has ended."), "403 Forbidden: The plan has ended; check base_url"),
        (404, b'{"detail": "Not here"}', "404 Not Found: Not here; check base_url"),
        (429, refused("20 a minute"), "429 Too Many Requests: 20 a minute, and asks to retry"),
        (500, refused("the model fails"), "500 Internal Server Error: the model fails; try again"),
        (400, refused("a\n\x1b[2J\u202eb"), "400 Bad Request: a \\x1b[2J\\u202eb"),
        (400, refused("::error::x"), "400 Bad Request: \\x3a:error::x"),
        (400, refused("x" * 1000), f"400 Bad Request: {'x' * 200}"),
        (400, b"<html>no</html>", "400 Bad Request"),
        (400, refused(7), "400 Bad Request"),
        pytest.param(400, refused("x") + b" " * MAX_ANSWER, "400 Bad Request", id="large"),
        (400, refused(f"the token {TOKEN}"), "400 Bad Request"),
        (400, refused(f"the token {' '.join(TOKEN).upper()}"), "400 Bad Request"),
        (400, refused(f"the token {TOKEN[:8]}…"), "400 Bad Request"),
    ],
)
def test_the_reason_of_the_service(
    service: ServiceDouble, status: int, body: bytes, words: str
) -> None:
    """The service's own words are part of the line, bounded, escaped and without credentials."""
    service.answer = raw(body, status, {"Retry-After": "7"})
    with pytest.raises(ServiceError) as caught:
        asyncio.run(send(service.base_url))
    text = str(caught.value)
    assert text.startswith(f"the service answered {words}")
    assert len(words) > 60 or status != 400 or text.endswith(words)
    assert_discreet(caught.value)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"Content-Length: 999\r\n\r\n" + GOOD, id="half-a-body"),
        pytest.param(b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", id="compressed"),
        pytest.param(b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", id="no-chunk"),
    ],
)
def test_a_reason_that_breaks_off(service: ServiceDouble, broken: bytes) -> None:
    """A status means the same whether or not its reason arrives."""
    service.answer = wire(b"HTTP/1.1 403 X\r\n" + broken)
    failure(UnusableServiceError, service.base_url)


def test_a_reason_that_does_not_end(
    service: ServiceDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits long for the rest of a reason."""
    service.answer = forever(b"HTTP/1.1 403 X\r\n\r\n", b" ", 0.01)
    monkeypatch.setattr(connection, "REASON_TIMEOUT", 0.05)

    async def ask() -> None:
        url = httpx.URL(service.base_url)
        async with HTTPConnection(url, "x") as client:
            answer = await client.request(
                "POST", "/generate-blog", timeout=LONG, body={"topic": "T"}
            )
        assert (answer.status, answer.body) == (403, b"")

    asyncio.run(ask())
    service.violations.clear()  # the request has no credentials


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0),
        ("7", 7),
        (" 120 ", 120),
        ("999999999", 999999999),
        ("9" * 400, None),
        ("-1", None),
        ("1.5", 1.5),
        ("4.5", 4.5),
        ("5s", 5),
        ("5 seconds", 5),
        ("1m30s", 90),
        ("1m 30s", 90),
        ("250ms", 0.25),
        ("2h", 7200),
        ("1.5.5", None),
        ("5 parsecs", None),
        ("5m3", None),
        ("1e3", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2015 07:28:00", 0),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 +999999", None),
        ("Wed, 99 Oct 2015 99:99:99 GMT", None),
    ],
)
def test_retry_after(service: ServiceDouble, value: str | None, seconds: float | None) -> None:
    """A service may say when to come back; what it says wrongly counts as not said."""
    line = b"" if value is None else f"Retry-After: {value}\r\n".encode()
    service.answer = wire(b"HTTP/1.1 429 X\r\n%sContent-Length: 0\r\n\r\n" % line)
    error = failure(NotSentError, service.base_url)
    assert error.retry_after == seconds
    assert ("and asks to retry after" in str(error)) == bool(seconds)
    assert not seconds or str(error).endswith(f" after {round(seconds, 1)} s")
    unread = f"`Retry-After: {value.strip()}` cannot be read" if value and seconds is None else ""
    assert unread[:40] in error.detail
    assert bool(unread) == bool(error.detail)


@pytest.mark.parametrize(
    ("headers", "seconds", "detail"),
    [
        ({"retry-after-ms": "4500"}, 4.5, ""),
        ({"retry-after-ms": "4500", "Retry-After": "5"}, 4.5, ""),
        ({"retry-after-ms": "4.5s"}, 4.5, ""),
        ({"retry-after-ms": "soon", "Retry-After": "5"}, 5, ""),
        ({"retry-after-ms": "soon"}, None, "the header `retry-after-ms: soon` cannot be read"),
    ],
)
def test_retry_after_in_milliseconds(
    service: ServiceDouble, headers: dict[str, str], seconds: float | None, detail: str
) -> None:
    """The header of OpenAI and Azure is read, and goes before the standard one."""
    service.answer = raw(b"", 429, headers)
    error = failure(NotSentError, service.base_url)
    assert (error.retry_after, error.detail) == (seconds, detail)


def test_two_waiting_times(service: ServiceDouble) -> None:
    """A server and the gateway before it can each say one: the longer one is safe for both."""
    lines = b"Retry-After: 5\r\nRetry-After: 20\r\nRetry-After: soon\r\n"
    service.answer = wire(b"HTTP/1.1 429 X\r\n%sContent-Length: 0\r\n\r\n" % lines)
    assert failure(NotSentError, service.base_url).retry_after == 20


def test_a_waiting_time_that_repeats_the_token(service: ServiceDouble) -> None:
    """What cannot be read is not shown if the token is in it."""
    service.answer = raw(b"", 429, {"Retry-After": f"after {TOKEN}"})
    assert failure(NotSentError, service.base_url).detail == ""


def test_retry_after_as_a_date(service: ServiceDouble) -> None:
    """A date is turned into the seconds from now."""
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)
    service.answer = raw(b"", 503, {"Retry-After": date})
    seconds = failure(NotSentError, service.base_url).retry_after
    assert seconds is not None
    assert 290 < seconds <= 300


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(service: ServiceDouble, status: int) -> None:
    """The token goes to the address in the options and to no other."""
    with running() as elsewhere:
        service.answer = raw(GOOD, status, {"Location": f"{elsewhere.base_url}/generate-blog"})
        error = failure(UnusableServiceError, service.base_url)
    assert "check base_url" in str(error)
    assert elsewhere.received == []
    assert len(service.received) == 1


@pytest.mark.parametrize("location", [b"http://[::1", b"https://xn--a/", b"\xff\xfe", SECRET])
def test_a_redirect_to_no_address(service: ServiceDouble, location: bytes) -> None:
    """A redirect that leads nowhere is one error like another."""
    service.answer = wire(b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % location)
    with pytest.raises(ServiceError) as caught:
        asyncio.run(send(service.base_url))
    assert_discreet(caught.value)
    assert type(caught.value) in (UnusableServiceError, UnknownOutcomeError)


# --- an answer that is not one -------------------------------------------------------------------


def answer(**fields: object) -> bytes:
    """Return the JSON of an answer, right but for these fields."""
    return json.dumps({"success": True, "content": ARTICLE, **fields}).encode()


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
    found = parse_answer(answer(content=ARTICLE, remarks=remarks), REQUEST).remarks
    assert found[:4] == ("640 words for 900", "\\x1b[2J", "\\ud83d", "x" * 300)
    assert len(found) == 50
    for other in (None, "text", {"a": "b"}, 5):
        assert parse_answer(answer(content=ARTICLE, remarks=other), REQUEST).remarks == ()


@pytest.mark.parametrize("model", ["\x1b[2J", "a\nb", "x" * 301, 7, None])
def test_the_model_of_an_answer(model: object) -> None:
    """A name that is none, or that a terminal would obey, counts as none."""
    assert parse_answer(answer(content=ARTICLE, model=model), REQUEST).model == ""


def test_the_largest_answer(service: ServiceDouble) -> None:
    """The limit of an answer's size is exactly where it is said to be."""
    service.answer = raw(GOOD.ljust(MAX_ANSWER))
    assert asyncio.run(send(service.base_url)) == ARTICLE
    service.answer = raw(GOOD.ljust(MAX_ANSWER + 1))
    assert "2 MiB" in str(failure(InvalidAnswerError, service.base_url))


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (CHUNKED, b"10000\r\n" + b" " * 65536 + b"\r\n"),
        (HEAD + b"Connection: close\r\n\r\n", b" " * 65536),
        (HEAD + b"Content-Length: 99999999999\r\n\r\n", b" " * 65536),
    ],
    ids=["chunked", "until-closed", "content-length"],
)
def test_an_endless_answer(service: ServiceDouble, start: bytes, again: bytes) -> None:
    """Whatever length an answer claims, no more of it is read or kept than the limit."""
    service.answer = forever(start, again)
    tracemalloc.start()
    try:
        failure(InvalidAnswerError, service.base_url)
        assert tracemalloc.get_traced_memory()[1] < 4 * MAX_ANSWER
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(GOOD)),
        ("x-gzip", gzip.compress(GOOD)),
        ("identity, gzip", gzip.compress(GOOD)),
        ("gzip", gzip.compress(bytes(20_000_000))),
        ("", gzip.compress(GOOD)),
    ],
    ids=["gzip", "x-gzip", "two", "bomb", "unnamed"],
)
def test_a_compressed_answer(service: ServiceDouble, encoding: str, body: bytes) -> None:
    """Compression was not asked for: nothing is unpacked, and the text can be asked for again."""
    service.answer = raw(body, headers={"Content-Encoding": encoding} if encoding else {})
    tracemalloc.start()
    try:
        error = failure(UnknownOutcomeError, service.base_url)
        assert f"sent its answer compressed ({encoding or 'gzip'}), although" in str(error)
        assert "turn compression off there" in str(error)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_an_answer_in_pieces(service: ServiceDouble) -> None:
    """An answer without a length, cut within a character, is put together."""
    body = answer(content="<article>ü</article>").replace(b"\\u00fc", "ü".encode())
    cut = body.index(b"\xc3") + 1
    pieces = [b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:cut], body[cut:])]
    service.answer = wire(CHUNKED + b"".join(pieces) + b"0\r\n\r\n")
    assert asyncio.run(send(service.base_url)) == "<article>ü</article>"


# --- an answer that does not come whole ----------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(wire(b""), id="hangs-up"),
        pytest.param(reset, id="reset"),
        pytest.param(wire(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), id="not-http"),
        pytest.param(wire(b"HTTP/1.1 200"), id="half-a-status-line"),
        pytest.param(wire(b"HTTP/1.1 101 Switching\r\n\r\n"), id="switches"),
        pytest.param(wire(HEAD + b"no header\r\n\r\n"), id="no-header"),
        pytest.param(wire(HEAD + b"Content-Length: 999\r\n\r\n" + GOOD), id="length-too-long"),
        pytest.param(wire(HEAD + b"Transfer-Encoding: gzip\r\n\r\n"), id="transfer-gzip"),
        pytest.param(wire(CHUNKED + b"zz\r\n"), id="no-chunk"),
        pytest.param(wire(CHUNKED + b"2\r\n{}\r\n"), id="no-last-chunk"),
        pytest.param(forever(HEAD, b"X: %s\r\n" % (b"y" * 1000)), id="endless-head"),
    ],
)
def test_an_answer_that_breaks_off(service: ServiceDouble, broken: Answer) -> None:
    """Once the request was sent it may be paid for, and nobody may send it again."""
    service.answer = broken
    error = failure(UnknownOutcomeError, service.base_url)
    assert re.match(
        r"the connection to 127\.0\.0\.1:\d+ was lost after the request was sent \(", str(error)
    )
    assert "it may have been processed, so only the next build asks again" in str(error)
    assert len(service.received) == 1


@pytest.mark.parametrize(
    "slow",
    [
        pytest.param(silence, id="silent"),
        pytest.param(generated(delay=3.0), id="late"),
        pytest.param(forever(HEAD + b"X: ", b"y", 0.05), id="drips-header"),
        pytest.param(forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), id="continues"),
        pytest.param(forever(CHUNKED, b"1\r\n \r\n", 0.05), id="drips-chunks"),
    ],
)
def test_an_answer_that_does_not_end_in_time(service: ServiceDouble, slow: Answer) -> None:
    """`timeout` is for the request as a whole, also where something arrives all the time."""
    service.answer = slow
    started = time.monotonic()
    error = failure(UnknownOutcomeError, service.base_url, timeout=0.8)
    assert 0.79 < time.monotonic() - started < 20
    assert " sent no complete answer within 0.8 s (the option" in str(error)
    assert "it may have been processed" in str(error)
    assert len(service.received) == 1


# --- the token -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "echo",
    [
        *(
            b"HTTP/1.1 %d %s" % (status, echo)
            for status in (200, 302, 401, 429, 500)
            for echo in (
                SECRET + b"\r\nContent-Length: 0\r\n\r\n",
                b"X\r\nLocation: /" + SECRET + b"\r\nContent-Length: 0\r\n\r\n",
                b"X\r\nRetry-After: " + SECRET + b"\r\nContent-Length: 0\r\n\r\n",
                b"X\r\nConnection: close\r\n\r\n" + SECRET,
            )
        ),
        # The lengths that are right for the placeholder are wrong, and that is one more mistake.
        SECRET + b"\r\n\r\n",
        HEAD + SECRET + b"\r\n\r\n",
        HEAD + b"Content-Length: " + SECRET + b"\r\n\r\n",
        CHUNKED + SECRET + b"\r\n\r\n",
        HEAD + b"Content-Encoding: " + SECRET + b"\r\nContent-Length: 0\r\n\r\n",
        ok(b"", b'{"success": true, "content": "' + SECRET + b'"}'),
        ok(b"", b'{"success": false, "' + SECRET + b'": "' + SECRET + b'"}'),
        ok(b"", b'"' + SECRET + b'\xff"'),
    ],
)
def test_a_service_that_repeats_the_token(service: ServiceDouble, echo: bytes) -> None:
    """What the service says is not passed on, nor what a protocol error quotes of it."""
    service.answer = wire(echo)
    with pytest.raises(ServiceError) as caught:
        asyncio.run(send(service.base_url))
    assert_discreet(caught.value)


@pytest.mark.parametrize(
    "token",
    CASES["a_token_that_cannot_be_one"],
    ids=["space", "line-break", "header", "nul", "accent", "zero-width-space", "surrogate"],
)
def test_a_token_that_cannot_be_one(service: ServiceDouble, token: str) -> None:
    """A token that was copied wrongly is an error before anything is sent."""
    error = failure(ConfigurationError, service.base_url, token=token)
    assert str(error).startswith("token:")
    assert service.received == []


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


# --- the address ---------------------------------------------------------------------------------


@pytest.mark.parametrize("address", CASES["an_address_that_is_accepted"])
def test_an_address_that_is_accepted(address: str) -> None:
    """Any https address will do, and http on this machine."""
    ServiceClient(address, USER, TOKEN, allow_http=False)


@pytest.mark.parametrize("address", CASES["plain_http_elsewhere"])
def test_plain_http_elsewhere(address: str) -> None:
    """Plain http to another machine needs a word of the user's, for it shows the token."""
    error = failure(ConfigurationError, address)
    assert "allow_http" in str(error)
    ServiceClient(address, USER, TOKEN, allow_http=True)


@pytest.mark.parametrize(
    "address",
    [
        "  ",
        "service.example:443",
        "//service.example",
        "javascript:alert(1)",
        "sandbox/",
        "https:///path",
        "https://service.example:65536",
        "https://127.0.0.1:-1",
        "https://[bad]",
        "https://xn--a",
        "https://\udcff.example",
        "https://service.example\r\nX: y",
        "https://service.example/\x1b[2J",
        pytest.param("https://" + "x" * 70_000, id="long"),
        "https://user:password@service.example",
        pytest.param(f"https://user:{TOKEN}@service.example", id="token-as-password"),
        pytest.param(f"https://{quote(TOKEN, safe='')}@service.example", id="token-as-user"),
        pytest.param(f"https://service.example/?token={TOKEN}", id="token-in-query"),
        pytest.param(f"https://service.example/#{TOKEN}", id="token-in-fragment"),
        pytest.param(TOKEN, id="token-instead"),
        "https://service.example/?",
        "http://127.0.0.1@service.example",
        "http://127.0.0.1\\@service.example",
    ],
)
def test_an_address_that_cannot_be_used(address: str) -> None:
    """An address that is none, or that holds more than an address, is refused and not shown."""
    error = failure(ConfigurationError, address)
    assert str(error).startswith("base_url:")
    assert "password" not in str(error)


@pytest.mark.parametrize(
    ("given", "shown"),
    [("4f1c-A9", " (request 4f1c-A9)"), (TOKEN, ""), ("a b", ""), ("x" * 65, ""), ("", "")],
)
def test_the_id_of_a_request(service: ServiceDouble, given: str, shown: str) -> None:
    """A served writer's id is in the message, unless it is none, or has the token in it."""
    service.answer = raw(b'{"error": "wrong"}', 400, {"X-Request-Id": given} if given else {})
    error = failure(RejectedError, service.base_url)
    assert str(error) == f"the service answered 400 Bad Request: wrong{shown}"
