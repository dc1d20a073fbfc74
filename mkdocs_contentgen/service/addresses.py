"""Check the addresses of servers in options, and the tokens for them.

No message quotes what could be a token or a password.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

from ..errors import ConfigurationError
from .exchange import URL, parse_url

_HOST_AND_PATH = re.compile(
    r"(?=[^/]*[.:]|localhost)[a-z0-9-]{1,30}(\.[a-z0-9-]{1,30})*(:[0-9]{1,5})?(/[a-z0-9./-]{0,60})?"
)
"""What is surely a host with a port or a path, and neither a token nor a password."""


def check_address(address: str, option: str, expected: str, *, allow_http: bool) -> URL:
    """Return the URL in an option. Raises ConfigurationError, which says what is `expected`."""
    address = address.strip()
    url = parse_url(address)
    if url is None or not _is_base_address(url, address):
        raise ConfigurationError(_wrong_address_message(address, option, expected))
    if url.scheme == "http" and not (allow_http or _is_loopback(url.host)):
        raise ConfigurationError(
            f"{option}: '{url}' would send credentials unencrypted; "
            "use https, or set `allow_http: true` where the network is trusted"
        )
    return url


def _is_base_address(url: URL, address: str) -> bool:
    """Tell whether an address is one of HTTP, without a user, a query or a fragment."""
    if url.userinfo or "?" in address or "#" in address:
        return False
    return url.scheme in ("http", "https") and bool(url.host)


def _wrong_address_message(address: str, option: str, expected: str) -> str:
    """Return a message about what is not an address, which is quoted if it has no secret."""
    wanted = f"expected {expected}, without a user, '?' or '#'"
    if not _HOST_AND_PATH.fullmatch(address):
        return f"{option}: is not an https address; {wanted}"
    host = address.partition("/")[0].partition(":")[0]
    scheme = "http" if _is_loopback(host) else "https"
    return (
        f"{option}: '{address}' is not an https address; {wanted}; "
        f"did you mean `{scheme}://{address}`?"
    )


def check_token(token: str, option: str) -> str:
    """Return a token without surrounding spaces. Raises ConfigurationError if it is invalid."""
    token = token.strip()
    if not re.fullmatch(r"[!-~]*", token):
        raise ConfigurationError(
            f"{option}: contains an invalid character, such as a space or a line break; "
            "copy it again"
        )
    return token


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
