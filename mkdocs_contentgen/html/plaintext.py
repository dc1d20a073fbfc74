"""Make generated text safe for titles, descriptions, feeds, social cards and attributes.

Themes and plugins trust page metadata. Some insert it unescaped, some escape it, some strip tags
and decode entities first, and some put it into attributes, scripts or Markdown. So the text itself
must not contain anything that one of them could interpret as markup.
"""

from __future__ import annotations

import html
import re
import unicodedata

MAX_PLAIN_TEXT = 500
"""The maximum length in characters. Search engines show about 160 of a description."""

# Including characters that Unicode normalization turns into these, since some plugins normalize.
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("<≮﹤＜", "‹"),
        **dict.fromkeys(">≯﹥＞", "›"),
        **dict.fromkeys('"＂', "”"),
        **dict.fromkeys("'＇", "’"),
        **dict.fromkeys("`\u1fef｀", "‘"),
        **dict.fromkeys("\\﹨＼", "∖"),
        **dict.fromkeys("{︷﹛｛", "{"),
        **dict.fromkeys("&﹠＆", "&"),
    }
)
_OPENING_QUOTE = re.compile(r'(?<![^\s(\[{])["＂](?=\S)')
_AMPERSAND = re.compile(r"&(?=(#?\w{1,32};?))")
# The start of a Jinja expression, and the middle of a Markdown link.
_MARKUP_START = re.compile(r"(?:(?<=\{)(?=[{%#])|(?<=\])(?=\())")
# Most texts: reading on would take ten times as long.
_PLAIN = re.compile(r"[A-Za-z0-9.,:;!?-]+(?: [A-Za-z0-9.,:;!?-]+)*")
# Control characters, bidirectional controls, and characters that XML forbids.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def plain_text(text: str) -> str:
    """Return `text` on one line, with markup characters replaced by look-alikes.

    For example, `<b>` becomes `‹b›`. An `&` stays unless it begins a character reference. A text
    of more than MAX_PLAIN_TEXT characters is truncated.
    """
    if len(text) <= MAX_PLAIN_TEXT and _PLAIN.fullmatch(text):
        return text
    # More than the maximum, since white space is collapsed below.
    text = _INVISIBLE.sub(" ", text[: 8 * MAX_PLAIN_TEXT])
    text = unicodedata.normalize("NFC", " ".join(text.split()))
    text = _OPENING_QUOTE.sub("“", text).translate(_LOOKALIKES)
    text = _AMPERSAND.sub(_break_reference, text)
    text = _MARKUP_START.sub(" ", text)  # between two characters
    if len(text) <= MAX_PLAIN_TEXT:
        return text
    return f"{text[: MAX_PLAIN_TEXT - 1].rstrip()}…"


def _break_reference(ampersand: re.Match[str]) -> str:
    """Return an `&`, with a space where it would begin a character reference."""
    text = f"&{ampersand[1]}"
    is_reference = html.unescape(text) != text
    return "& " if is_reference else "&"
