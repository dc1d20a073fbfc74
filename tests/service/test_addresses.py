"""Addresses of servers, and the tokens for them."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from golden_file import cases
from service_double import TOKEN

from mkdocs_contentgen.errors import ConfigurationError
from mkdocs_contentgen.service.addresses import check_address, check_token

CASES = cases("addresses")


def check(address: str, *, allow_http: bool = False) -> str:
    """Return the URL of an address in `base_url`."""
    return str(check_address(address, "base_url", "'https://…'", allow_http=allow_http))


def refusal(address: str) -> str:
    """Return the message about an address that is refused: one line without the token."""
    with pytest.raises(ConfigurationError) as caught:
        check(address)
    message = str(caught.value)
    assert message.isprintable()
    assert TOKEN[:12] not in message
    return message


@pytest.mark.parametrize("address", CASES["an_address_that_is_accepted"])
def test_an_address_that_is_accepted(address: str) -> None:
    """Any https address will do, and http on this machine."""
    assert check(address).startswith("http")


@pytest.mark.parametrize("address", CASES["plain_http_elsewhere"])
def test_plain_http_elsewhere(address: str) -> None:
    """Plain http to another machine needs a word of the user's, since it shows the token."""
    assert "allow_http" in refusal(address)
    assert check(address, allow_http=True) == address


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
    """What is not an address, or holds more than an address, is refused and not shown."""
    message = refusal(address)
    assert message.startswith("base_url:")
    assert "password" not in message


@pytest.mark.parametrize(
    ("address", "suggested"),
    [
        ("service.example:443", "https://service.example:443"),
        ("localhost:8000/v1", "http://localhost:8000/v1"),
    ],
)
def test_an_address_without_a_scheme(address: str, suggested: str) -> None:
    """The message says what to write."""
    assert refusal(address).endswith(f"did you mean `{suggested}`?")


@pytest.mark.parametrize(
    "token",
    CASES["a_token_that_cannot_be_one"],
    ids=["space", "line-break", "header", "nul", "accent", "zero-width-space", "surrogate"],
)
def test_a_token_that_cannot_be_one(token: str) -> None:
    """A token that was copied wrongly is an error that does not quote it."""
    with pytest.raises(ConfigurationError, match=r"^token: ") as caught:
        check_token(token, "token")
    assert TOKEN[:12] not in str(caught.value)


def test_a_token_with_spaces_around_it() -> None:
    """Spaces around a token are not a part of it."""
    assert check_token(f" {TOKEN}\n", "token") == TOKEN
