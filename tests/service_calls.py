"""Calls of the HTTP client, and what is true of all errors that it raises."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TypeVar
from urllib.parse import quote, quote_plus

import pytest
from service_double import TOKEN, USER

from mkdocs_contentgen.errors import ContentgenError
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest, Request
from mkdocs_contentgen.service.client import ServiceClient
from mkdocs_contentgen.service.protocol import Attempt

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
    """Look for the token in an error and in all the errors that caused it."""
    assert str(error).isprintable()
    causes: list[BaseException | None] = [error]
    while causes:
        found = causes.pop()
        if found is None:
            continue
        shown = f"{found} {found!r} {found.args}"
        for secret in (TOKEN, quote(TOKEN), quote(TOKEN, safe=""), quote_plus(TOKEN), TOKEN[:12]):
            assert secret not in shown
        assert base64.b64encode(TOKEN.encode()).decode() not in shown
        causes += [found.__cause__, found.__context__]


def ok(extra: bytes, body: bytes = GOOD) -> bytes:
    """Return a whole answer with status 200 and with header lines of its own."""
    return HEAD + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body


def answer(**fields: object) -> bytes:
    """Return the JSON of an answer, right but for these fields."""
    return json.dumps({"success": True, "content": ARTICLE, **fields}).encode()
