"""The glossary of a site: terms, and how each language says them.

```yaml
MkDocs: keep                      # stays as it is in each language
build: {de: Build, fr: compilation}
```
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...display import quoted
from ...yaml_files import NotYAMLError, YAMLDocument, read_yaml

KEEP = "keep"
"""In place of translations: the term stays as it is."""

_MAX_TERM = 200
"""The maximum length of a term, in characters."""

_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
"""A BCP 47 tag."""

_WRONG = "expected `keep`, or languages with their terms, such as `{de: Build, fr: compilation}`"
_ENDINGS = "(?:['’]s|s|es|e|n|en|er|em)?"
"""What a text may add to a term, in English and German."""

_SHARE_OF_TERM = 0.7
"""How much of a word of a term has to stand in a translation, which may change its end."""

_LEAST_OF_TERM = 4
"""The minimum number of letters of that part. A shorter word has to begin a word there."""

_ALPHABET = re.compile("[A-Za-z\u00c0-\u052f]")
"""A letter of Latin, Greek or Cyrillic, whose words have spaces between them, and endings."""


@dataclass(frozen=True)
class Term:
    """A term, and how a language says it."""

    source: str
    target: str

    @property
    def stays(self) -> bool:
        """Whether it stays as it is."""
        return self.source == self.target


@dataclass(frozen=True)
class Glossary:
    """The terms, each with its translations by language in lower case, or None if it stays."""

    terms: Mapping[str, Mapping[str, str] | None]

    def terms_in(self, texts: Iterable[str], language: str) -> list[Term]:
        """Return the terms that are in texts and that have a translation into a language.

        Where one term is a part of another, such as `cache` of `cache key`, the longer one counts.
        """
        known = []
        for source in self.terms:
            term = self._term(source, language)
            if term:
                known.append(term)
        rest = "\n".join(texts)
        found = []
        for term in sorted(known, key=lambda known_term: -len(known_term.source)):
            # Without the longer terms, so that none of their parts is found.
            rest, times = _pattern(term.source).subn("\n", rest)
            if times:
                found.append(term)
        return found

    def _term(self, source: str, language: str) -> Term | None:
        """Return a term in a language. A translation for `de` is one for `de-AT`, too."""
        targets = self.terms[source]
        if targets is None:
            return Term(source, source)
        tag = language.lower()
        while tag:
            if tag in targets:
                return Term(source, targets[tag])
            tag = tag.rpartition("-")[0]
        return None


NO_GLOSSARY = Glossary({})


def is_kept(term: Term, translation: str) -> bool:
    """Tell whether a translation has the term, in any inflection and also within a compound."""
    text = _plain(translation)
    words = _plain(term.target).split()
    return all(re.search(_stem_pattern(word), text) for word in words)


def _stem_pattern(word: str) -> str:
    """Return a pattern for a word of a term, without the end that an inflection may change."""
    if not _ALPHABET.match(word):
        return re.escape(word)
    stem = word[: max(_LEAST_OF_TERM, round(len(word) * _SHARE_OF_TERM))]
    if len(stem) < _LEAST_OF_TERM:
        return rf"(?<!\w){re.escape(stem)}"
    return re.escape(stem)


def read_glossary(text: str) -> Glossary:
    """Return the glossary in a file. Raises GlossaryError."""
    try:
        document = read_yaml(text, plain=True, unique_keys=True)
    except NotYAMLError as error:
        raise GlossaryError(str(error), error.line) from None
    value = document.value
    if value is None:
        return Glossary({})
    if not isinstance(value, dict):
        raise GlossaryError("expected terms, such as `build: {de: Build}`", 1)
    terms: dict[str, Mapping[str, str] | None] = {}
    for source, targets in value.items():
        if not _is_term(source):
            line = document.line_of(str(source))
            raise GlossaryError(f"{_not_a_term(source)}, found {quoted(source)}", line)
        if targets == KEEP:
            terms[source] = None
        else:
            terms[source] = _read_targets(source, targets, document)
    return Glossary(terms)


class GlossaryError(ValueError):
    """A glossary is not valid. The message does not name the `line`, which the caller has to."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def _read_targets(source: str, targets: object, document: YAMLDocument) -> Mapping[str, str]:
    """Return the translations of a term by language. Raises GlossaryError."""
    if not isinstance(targets, dict) or not targets:
        line = document.line_of(source)
        raise GlossaryError(f"{quoted(source)}: {_WRONG}, found {quoted(targets)}", line)
    found = {}
    for tag, target in targets.items():
        line = document.line_of(source, str(tag))
        if not isinstance(tag, str) or not _TAG.fullmatch(tag):
            # YAML reads `no`, Norwegian, as false.
            hint = "; put `no` in quotes" if tag is False else ""
            raise GlossaryError(
                f"{quoted(source)}: expected the tag of a language, such as de or pt-BR, found "
                f"{quoted(tag)}{hint}",
                line,
            )
        if not _is_term(target):
            raise GlossaryError(
                f"{quoted(source)}: {tag}: {_not_a_term(target)}, found {quoted(target)}", line
            )
        found[tag.lower()] = target
    return found


def _is_term(value: object) -> bool:
    is_text = isinstance(value, str) and 0 < len(value) <= _MAX_TERM
    return is_text and str(value).isprintable() and str(value).strip() == value


def _not_a_term(value: object) -> str:
    if isinstance(value, str) and len(value) > _MAX_TERM:
        return f"expected a term of at most {_MAX_TERM} characters"
    return "expected a term in words, in quotes if it looks like something else to YAML"


def _pattern(source: str) -> re.Pattern[str]:
    """Return what finds a term, in capitals or not unless it has a capital letter itself."""
    flags: int = re.IGNORECASE
    if any(character.isupper() for character in source):
        flags = 0
    if not _ALPHABET.search(source):
        return re.compile(re.escape(source), flags)
    return re.compile(rf"(?<!\w){re.escape(source)}{_ENDINGS}(?!\w)", flags)


def _plain(text: str) -> str:
    """Return a text in lower case without accents: `Häuser` has the stem of `Haus`."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def glossary_prompt(terms: Sequence[Term]) -> str:
    """Return the lines of a prompt for terms."""
    lines = []
    for term in terms:
        target = "stays as it is" if term.stays else term.target
        lines.append(f"- {term.source}: {target}")
    return "\n".join(lines)
