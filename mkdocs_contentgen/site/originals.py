"""Find the originals of translations among the requests of a site.

No function here reads files: pages that a run does not build are read by whoever calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ..display import did_you_mean, quoted
from ..files import normal_form
from ..page_request import PageRequest
from ..requests import TRANSLATION_KEY, Request, TranslationOf
from ..translation_request import request_of_its_own, translation_request

_MAX_SHOWN = 300
"""The length of front matter that a message has, in characters."""


@dataclass(frozen=True)
class FoundTranslation:
    """The front matter of a translation, and where it was found."""

    translation_of: TranslationOf
    page: str
    place: str
    page_language: str


@dataclass(frozen=True)
class KeptTranslation:
    """The text of a translation in a file, whatever became of its original."""

    path: str
    record: Mapping[str, object]
    """The record of the request that it was made for."""

    def is_of(self, request: Request) -> bool:
        """Tell whether a request is that of its original."""
        original = self.record.get(TRANSLATION_KEY)
        return isinstance(original, dict) and request.answers_to(original)


Requests = Sequence[PageRequest | FoundTranslation]
"""The requests of one page, or of all."""


class Originals:
    """Finds the originals of translations."""

    def __init__(
        self,
        found: Requests,
        with_problems: Collection[str],
        read_other: Callable[[str], Requests | None],
        read_kept: Callable[[FoundTranslation], KeptTranslation | None],
        find_in_other_folders: Callable[[str], Sequence[str]],
    ) -> None:
        """`found` are the requests of all pages, and `with_problems` the pages with problems.

        `read_other` returns the requests of a page that is not among them, or None if there is no
        such page. `read_kept` returns the text that the file of a translation has, if any.
        `find_in_other_folders` returns the pages that request a text and have the same file name.
        """
        self._with_problems = set(map(normal_form, with_problems))
        self._read_other = read_other
        self._find_in_other_folders = find_in_other_folders
        self._read_kept = read_kept
        self._pages: dict[str, list[PageRequest | FoundTranslation]] = {}
        """The requests of each page, by its path in the form that `translation_of` has."""

        for asked in found:
            self._pages.setdefault(normal_form(asked.page), []).append(asked)

    def resolve(self, found: FoundTranslation) -> tuple[PageRequest | None, str]:
        """Return the request of a translation with that of its original, or why there is none."""
        original, problem = self._find(found)
        if original is None:
            return None, f"translation_of: {problem}"
        language = found.translation_of.own.language or found.page_language
        if not language:
            return None, (
                "'language' is missing, and nothing else says in which language this page is; "
                "write for example `language: de`"
            )
        if language == (original.request.language or original.language):
            return None, (
                f"language: the original is in '{language}', too; write the language to translate "
                "it into"
            )
        request = translation_request(found.translation_of, original.request, language)
        return PageRequest(request, found.page, found.place, found.page_language, original), ""

    def _find(self, found: FoundTranslation) -> tuple[PageRequest | None, str]:
        """Return the request of an original, or what is wrong with the name of it."""
        page = found.translation_of.page
        name = found.translation_of.article
        if (page, name) == (normal_form(found.page), found.translation_of.id):
            return None, f"{quoted(page)} is this page itself; name the page of the original"
        if page in self._with_problems:
            return None, f"the request of {quoted(page)} is not valid; correct that first"
        on_page: Requests | None = self._pages.get(page)
        if on_page is None:
            on_page = self._read_other(page)
        if on_page is None:
            cure = self._nearest_original(page) or "; name the page of the original"
            return None, f"there is no page {quoted(page)}{self._advice(found, cure)}"
        if not on_page:
            cure = "; name the page of the original"
            return None, f"{quoted(page)} requests no text{self._advice(found, cure)}"
        names = []
        for other in on_page:
            if _id_of(other) == name:
                return _as_original(other, found.page)
            names.append(f"`{page}#{_id_of(other)}`")
        cure = f"; write {' or '.join(names)}"
        return None, f"{quoted(page)} has no article {quoted(name)}{self._advice(found, cure)}"

    def _nearest_original(self, page: str) -> str:
        """Return the end of a message about a page that does not exist, if one is near to that."""
        same_named = self._find_in_other_folders(page)
        if len(same_named) == 1:
            return f"; did you mean `{same_named[0]}`?"
        return did_you_mean(page, [*self._originals(), *same_named])

    def _originals(self) -> list[str]:
        """Return the pages that ask for a text that is not a translation."""
        pages = []
        for page, on_page in self._pages.items():
            if any(isinstance(asked, PageRequest) for asked in on_page):
                pages.append(page)
        return pages

    def _advice(self, found: FoundTranslation, cure: str) -> str:
        """Return the end of a message about an original that is not there: what to do about it.

        `cure` says what to do if its name is wrong.
        """
        kept = self._read_kept(found)
        if kept is None:
            return cure
        for on_page in self._pages.values():
            for asked in on_page:
                if isinstance(asked, PageRequest) and kept.is_of(asked.request):
                    return f"; {quoted(asked.name)} asks for its text now, so name that"
        request = request_of_its_own(found.translation_of, kept.record)
        if len(request) > _MAX_SHOWN:
            language = f"`language: {kept.record.get('language')}`"
            request = f"what {kept.path} has below `translation_of`, with {language},"
        return (
            f"{cure}; if it is gone for good, write {request} here, and the text stays as one of "
            "its own"
        )


def _id_of(found: PageRequest | FoundTranslation) -> str:
    """Return the id of a request on its page."""
    if isinstance(found, PageRequest):
        return found.request.id
    return found.translation_of.id


def _as_original(
    found: PageRequest | FoundTranslation, translation: str
) -> tuple[PageRequest | None, str]:
    """Return a request as that of the original for the page `translation`, or why it is not one."""
    if isinstance(found, PageRequest):
        return found, ""
    page = quoted(found.page)
    original = found.translation_of.page
    if original == normal_form(translation):
        return None, f"{page} is a translation of this page; write type and topic on one of both"
    return None, (
        f"{page} is a translation itself; name the page of its original, {quoted(original)}"
    )
