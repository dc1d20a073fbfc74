"""The messages in errors of servers."""

from __future__ import annotations

import pytest
from service_double import TOKEN

from mkdocs_contentgen.service.error_words import has_secret, reason_in, without_secret


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", ""),
        (b'{"error": "no such field"}', "no such field"),
        (b'{"detail": "Not here"}', "Not here"),
        (b'{"error": {"message": "Too long", "code": 5}}', "Too long"),
        (b'{"errors": [{"message": "first"}, {"message": "second"}]}', "first"),
        (b'{"message": "a", "error": "a"}', "a"),
        (b'{"message": "general", "metadata": {"raw": "exact"}}', "general: exact"),
        (b'{"message": "{\\"error\\": \\"in the message\\"}"}', "in the message"),
        (b'{"error": 7}', ""),
        (b"[" * 50 + b'"x"' + b"]" * 50, ""),
        (b"out of memory", "out of memory"),
        (b"error: out of memory", "out of memory"),
        (b'data: {"error": "in a stream"}\n\n', "in a stream"),
        (b"<html>a proxy</html>", ""),
        (b'{"error": "cut o', ""),
        (b"\xff\xfe", ""),
    ],
)
def test_the_reason_in_a_body(body: bytes, reason: str) -> None:
    """Whatever the form of an error, its message is found, the most general part first."""
    assert reason_in(body) == reason


@pytest.mark.parametrize(
    "text", [TOKEN, f"x{TOKEN[3:11]}x", TOKEN.upper(), " ".join(TOKEN), f"a\n{TOKEN[:8]}…"]
)
def test_a_text_with_the_token(text: str) -> None:
    """Eight consecutive characters are enough, in whatever case and with spaces between them."""
    assert has_secret(text, TOKEN)
    assert without_secret(text, TOKEN) == ""


@pytest.mark.parametrize("secret", [TOKEN, "", "short"])
def test_a_text_without_the_token(secret: str) -> None:
    """It is one short line that a terminal can show."""
    text = "a\n\x1b[2J. " + "x" * 300
    assert not has_secret(text, secret)
    shown = without_secret(text, secret)
    assert shown.startswith("a \\x1b[2J. x")
    assert len(shown) == 200
