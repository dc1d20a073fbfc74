"""Generated text outside of its article: in titles, descriptions, feeds, cards and attributes.

Templates and other plugins take what a page says of itself for its author's own HTML. Some print
it as it is, some escape it, some remove tags and decode entities first, and some put it into
attributes, scripts or Markdown. So the text itself holds nothing that any of them could read as
markup.
"""

from __future__ import annotations

import html
import re
import unicodedata

LONGEST = 500
"""Characters that are kept of a text; a description of search engines has about 160."""

# With those that Unicode normalisation turns into one: some plugins normalise what they get.
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
_REFERENCE = re.compile(r"&(?=(#?\w{1,32};?))")
# Jinja's and Markdown's: what runs a template, and what makes a link.
_SEQUENCE = re.compile(r"(?:(?<=\{)(?=[{%#])|(?<=\])(?=\())")
# Controls, directions that go on after the text, and what no XML may hold.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def plain_text(text: str) -> str:
    """Return `text` on one line, without any character or sequence that is markup to somebody.

    Look-alikes keep it readable: `<b>` becomes `‹b›`. An `&` stays where it begins no entity.
    A text of more than LONGEST characters is cut.
    """
    text = _INVISIBLE.sub(" ", text[: 8 * LONGEST])
    text = unicodedata.normalize("NFC", " ".join(text.split()))
    text = _OPENING_QUOTE.sub("“", text).translate(_LOOKALIKES)
    text = _SEQUENCE.sub(" ", _REFERENCE.sub(_without_reference, text))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _without_reference(ampersand: re.Match[str]) -> str:
    reference = f"&{ampersand[1]}"
    return "&" if html.unescape(reference) == reference else "& "
