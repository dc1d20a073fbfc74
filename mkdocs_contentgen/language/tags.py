"""What the BCP 47 tag of a language says."""

from __future__ import annotations

import re

_RIGHT_TO_LEFT = frozenset("ar ckb dv fa he ps sd ug ur yi adlm arab hebr nkoo syrc thaa".split())
"""Languages and scripts."""

_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")


def base_language(tag: str) -> str:
    """Return the key of a language in tables, such as `de` for `de-AT`.

    That of Chinese in the traditional script is `zh-hant`. It is empty for a tag with any other
    script, such as `sr-Latn`: no table has one for that.
    """
    tag = tag.lower()
    if re.match(r"[a-z]+-(?!hans|hant)[a-z]{4}(?:-|$)", tag):
        return ""
    is_traditional = tag.startswith(_TRADITIONAL) and "-hans" not in tag
    return "zh-hant" if is_traditional else tag.partition("-")[0]


def is_right_to_left(tag: str) -> bool:
    """Tell whether a language is written from right to left, in the script that its tag names."""
    script = re.search(r"-([A-Za-z]{4})(?:-|$)", tag)
    if script:
        name = script[1]
    else:
        name = tag.partition("-")[0]
    return name.lower() in _RIGHT_TO_LEFT
