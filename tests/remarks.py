"""Remarks of tests, and what the remarks on a text say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from mkdocs_contentgen.remark import Remark, service_remark
from mkdocs_contentgen.remark_words import sentences_of


class HasRemarks(Protocol):
    """A text, or what a model has answered."""

    @property
    def remarks(self) -> Sequence[Remark]:
        """Its remarks."""


def said(found: HasRemarks) -> tuple[str, ...]:
    """Return what the remarks on a text say."""
    return tuple(sentences_of(found.remarks))


def in_words(*sentences: str) -> tuple[Remark, ...]:
    """Return remarks in the words of a service."""
    return tuple(map(service_remark, sentences))


def kinds(remarks: Iterable[Remark]) -> list[str]:
    """Return the kinds of remarks."""
    return [remark.kind for remark in remarks]
