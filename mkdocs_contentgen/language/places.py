"""Other names of a place: codes, and the names of countries in other languages.

pycountry has the tables of ISO 3166. It is only imported where a name is not found otherwise: that
takes a quarter of a second, once.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache

from .tags import base_language

_WITH_CODES_OF_STATES = ("US", "CA", "AU")
"""The countries whose states stand in addresses by their codes, such as `Monterey, CA`."""

_TRADITIONAL = "zh_TW"
"""The locale of pycountry with the traditional script."""

_NOT_IN_ISO = {
    "GB": ("UK", "Great Britain", "Britain"),
    "US": ("USA", "United States of America"),
    "RU": ("Russia",),
    "SY": ("Syria",),
    "TR": ("Turkey",),
    "VN": ("Vietnam",),
}
"""Names of countries that the standard does not have."""


@dataclass
class OtherNames:
    """What else a place is called."""

    codes: set[str] = field(default_factory=set)
    """In capital letters, such as `CA`."""

    names: set[str] = field(default_factory=set)


@lru_cache(maxsize=256)
def other_names_of(name: str, languages: tuple[str, ...]) -> OtherNames:
    """Return the codes and the other names of a state or a country.

    `languages` are the BCP 47 tags of those in which countries are looked up, beside English. A
    name that is not a place has none.
    """
    found = OtherNames()
    wanted = name.casefold()
    found.codes |= _codes_of_states().get(wanted, set())
    for tag in ("en", *languages):
        for country in _countries(base_language(tag)).get(wanted, ()):
            for other in ("en", *languages):
                found.names |= _names(base_language(other)).get(country, set())
            found.names |= set(_NOT_IN_ISO.get(country, ()))
            found.codes.add(country)
    for code in list(found.codes):
        found.codes |= {short for short in _NOT_IN_ISO.get(code, ()) if short.isupper()}
    found.names.discard(name)
    return found


@cache
def _codes_of_states() -> dict[str, set[str]]:
    """Return the codes of states by their names in lower case."""
    import pycountry  # takes long, and few texts need it

    codes: dict[str, set[str]] = {}
    for state in pycountry.subdivisions:
        if state.country_code not in _WITH_CODES_OF_STATES:
            continue
        codes.setdefault(state.name.casefold(), set()).add(state.code.partition("-")[2])
    return codes


@cache
def _countries(language: str) -> dict[str, set[str]]:
    """Return the codes of countries by their names in a language, in lower case."""
    codes: dict[str, set[str]] = {}
    for code, names in _names(language).items():
        for name in names:
            codes.setdefault(name.casefold(), set()).add(code)
    for code, others in _NOT_IN_ISO.items():
        for name in others:
            codes.setdefault(name.casefold(), set()).add(code)
    return codes


@cache
def _names(language: str) -> dict[str, set[str]]:
    """Return the names of countries in a language by their codes."""
    import pycountry  # takes long, and few texts need it

    # The language can be what somebody wrote into a page, and is part of a path here.
    wanted = [_TRADITIONAL] if language == "zh-hant" else re.findall(r"\A[a-z]{2,3}\Z", language)
    translations = gettext.translation(
        "iso3166-1", pycountry.LOCALES_DIR, languages=wanted or ["en"], fallback=True
    )
    names = {}
    for country in pycountry.countries:
        names[country.alpha_2] = set(map(translations.gettext, _names_in_english(country)))
    return names


def _names_in_english(country: object) -> Iterator[str]:
    """Yield the names of a country, without those such as `Korea, Republic of`."""
    for kind in ("common_name", "name"):
        name = getattr(country, kind, "")
        if name and "," not in name:
            yield name
