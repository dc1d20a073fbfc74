"""What an HTTP request can meet: proxies, lost connections, statuses, and wrong answers."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import re
import socket
import ssl
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from service_calls import (
    ARTICLE,
    CHUNKED,
    GOOD,
    HEAD,
    LONG,
    answer,
    assert_discreet,
    failure,
    ok,
    send,
)
from service_double import (
    SECRET,
    TOKEN,
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
    InvalidAnswerError,
    NotSentError,
    RejectedError,
    ServiceError,
    UnknownOutcomeError,
    UnreachableError,
    UnusableServiceError,
)
from mkdocs_contentgen.service import exchange
from mkdocs_contentgen.service.bodies import MAX_ANSWER
from mkdocs_contentgen.service.exchange import HTTPConnection


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


@pytest.mark.parametrize(
    ("status", "expected", "words"),
    [
        (202, UnknownOutcomeError, "the service answered 202 Accepted; it may have been processed"),
        (204, RejectedError, "the service answered 204 No Content"),
        (
            300,
            UnusableServiceError,
            "the service answered 300 Multiple Choices; is base_url right?",
        ),
        (400, RejectedError, "the service answered 400 Bad Request"),
        (
            401,
            UnusableServiceError,
            "the service answered 401 Unauthorized; check token and user_id",
        ),
        (
            403,
            UnusableServiceError,
            "the service answered 403 Forbidden; check token and user_id, from "
            "the service's dashboard, or from `contentgen writer user add`",
        ),
        (404, RejectedError, "the service answered 404 Not Found; is base_url right?"),
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
    assert isinstance(error, exchange.FOREIGN_ERRORS)
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
        (401, refused("who?"), "401 Unauthorized: who?; check token and user_id"),
        (
            403,
            refused("The plan has ended."),
            "403 Forbidden: The plan has ended; check token and user_id",
        ),
        (404, b'{"detail": "Not here"}', "404 Not Found: Not here; is base_url right?"),
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
    monkeypatch.setattr(exchange, "REASON_TIMEOUT", 0.05)

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
    ("value", "seconds", "ending", "detail"),
    [
        ("4.5", 4.5, "429 Too Many Requests, and asks to retry after 4.5 s", ""),
        ("0", 0, "429 Too Many Requests", ""),
        ("soon", None, "429 Too Many Requests", "the header `Retry-After: soon` cannot be read"),
    ],
)
def test_a_server_that_asks_to_wait(
    service: ServiceDouble, value: str, seconds: float | None, ending: str, detail: str
) -> None:
    """The error has the seconds, and its message names them; what cannot be read is a detail."""
    service.answer = raw(b"", 429, {"Retry-After": value})
    error = failure(NotSentError, service.base_url)
    assert (error.retry_after, error.detail) == (seconds, detail)
    assert str(error).endswith(ending)


def test_a_waiting_time_that_repeats_the_token(service: ServiceDouble) -> None:
    """What cannot be read is not shown if the token is in it."""
    service.answer = raw(b"", 429, {"Retry-After": f"after {TOKEN}"})
    assert failure(NotSentError, service.base_url).detail == ""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(service: ServiceDouble, status: int) -> None:
    """The token goes to the address in the options and to no other."""
    with running() as elsewhere:
        service.answer = raw(GOOD, status, {"Location": f"{elsewhere.base_url}/generate-blog"})
        error = failure(UnusableServiceError, service.base_url)
    assert "is base_url right?" in str(error)
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


@pytest.mark.system
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
