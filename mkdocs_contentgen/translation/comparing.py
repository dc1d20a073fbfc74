"""Hold a translation against its original: which block stands for which, and what needs words.

What align() finds is put right here for what only a whole text shows: rows stay whole, words that
are the same are not asked for, and cells go with their row.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace

from bs4 import Tag

from ..errors import EditError
from ..html.block import Block
from ..html.descriptions import ATTRIBUTES, description_names
from ..html.document import Document, image_hosts_of
from ..html.tags import closest
from ..service.protocol import MAX_BLOCKS, OriginalBlock, Translation
from ..text import MAX_BLOCK, Text
from .alignment import Pair, align
from .carried_words import carry_descriptions, carry_words
from .composing import rows_in
from .first_translation import for_translation
from .remembered import forms_of, place_of, shared_elements
from .translatable import to_translatable
from .units import OriginalParts


class ComparedTranslation:
    """A translation and its original as they are now, and which leaf stands for which.

    Making it raises UnsafeHTMLError, and EditError for a text that is not a translation.
    """

    def __init__(self, translation: Text, original: Text) -> None:
        if translation.original is None:
            raise EditError("this text is not a translation")
        self.remembered = translation.original
        self.html = translation.html
        self.changed_by = translation.changed_by
        self._untranslated: set[str] = set()
        """The names of blocks and descriptions that have a remark on their language."""

        self._has_more_untranslated = False
        """Whether there are more of them, which no remark names."""

        for remark in translation.remarks:
            if remark.kind == "untranslated":
                self._untranslated.add(remark.block)
            elif remark.kind == "untranslated_more":
                self._has_more_untranslated = True
        # Pictures of all hosts stay: which of them are shown, a page decides.
        hosts = image_hosts_of(original.html) | image_hosts_of(translation.html)
        self.original = Document(original.html, hosts)
        self.own = Document(translation.html, hosts)
        requested = str(translation.request.get("language", ""))
        self.language = requested or str(self.own.article.get("lang", ""))
        self.parts = OriginalParts(self.original, self.language)
        self.leaves = self.parts.leaves
        self.rows = rows_in(self.leaves)
        self.own_leaves = self.own.leaves()
        self.alignment = align(
            self.remembered.blocks,
            self.leaves,
            self.own_leaves,
            self.changed_by,
            self.remembered.additions,
        )
        self.pairs: dict[int, Pair] = {}
        """By the number of the leaf in the original. Pairs that are gone from it are left out."""

        self.gone: list[Pair] = []
        """Pairs whose part of the original is gone."""

        for pair in self.alignment.pairs:
            if pair.original is None:
                self.gone.append(pair)
            else:
                self.pairs[pair.original] = pair
        self.forms = forms_of(self.leaves)
        self._keep_rows()
        self._pair_same_words()
        self.by_persons = self._find_by_persons()
        self.removed: set[int] = set()
        """The leaves of the original that a person has removed, with new cells in their rows."""

        self.missing: set[int] = set()
        """Those that never had a translation, with new cells in their rows."""

        self._find_absent()
        self.restructured = self._find_restructured()
        """Those around which a person has changed the structure."""

        self.carried = self._carry_words()
        """New elements with the words of the translation, by the number of the original's leaf.

        They are for leaves that have the same words with other parts, such as links. If it is not
        certain which part goes where, a leaf is not among them, and a translator is asked for it.
        """

    def _keep_rows(self) -> None:
        """Part cells from those in another row than most of their own row stands for.

        That is done where words have changed, and in a row that is mostly a person's.
        """
        row_of: dict[int | None, int] = {}
        for row, numbers in enumerate(self.rows):
            row_of |= dict.fromkeys(numbers, row)
        pair_of = {pair.own: pair for pair in self.pairs.values() if pair.original in row_of}
        for own_row in rows_in(self.own_leaves):
            pairs = [pair_of[own] for own in own_row if own in pair_of]
            rows = Counter(row_of[pair.original] for pair in pairs)
            # What has not changed tells more than any number of other cells.
            for pair in pairs:
                if not pair.has_changed:
                    rows[row_of[pair.original]] += len(own_row)
            by_person = self.alignment.leaves_by_persons.intersection(own_row)
            is_of_person = 2 * len(by_person) > len(own_row)
            main_rows = rows.most_common(1)
            for pair in pairs:
                is_elsewhere = row_of[pair.original] != main_rows[0][0]
                if is_elsewhere and (pair.has_changed or is_of_person):
                    self._part(pair)

    def _part(self, pair: Pair) -> None:
        """Let what stands for a leaf of the original stand for none."""
        if pair.original is not None:
            del self.pairs[pair.original]
            self.gone.append(replace(pair, original=None))

    def _pair_same_words(self) -> None:
        """Pair new and changed leaves with gone ones of the same words, such as one of many notes.

        Cells are left out: they belong to their row.
        """
        to_ask = set(self.alignment.added)
        for number, pair in self.pairs.items():
            if pair.has_changed and pair.own not in self.alignment.leaves_by_persons:
                to_ask.add(number)
        left: dict[str, list[int]] = {}
        for number in sorted(to_ask.difference(*self.rows), reverse=True):
            left.setdefault(self.forms[number].words, []).append(number)
        gone = []
        for pair in self.gone:
            before = pair.remembered.form
            same = left.get(before.words)
            is_cell = pair.own is not None and closest(self.own_leaves[pair.own].element, ("tr",))
            if not same or pair.own is None or is_cell:
                gone.append(pair)
                continue
            number = same.pop()
            form = self.forms[number]
            if number in self.pairs:
                gone.append(replace(self.pairs[number], original=None))
            self.pairs[number] = replace(
                pair,
                original=number,
                has_changed=False,
                has_new_content=before.differs_only_in_content(form),
                has_new_place=before.place != form.place,
                has_moved=True,
            )
        self.gone = gone

    def _find_absent(self) -> None:
        """Find the leaves of the original for which nothing is to stand."""
        for number, pair in self.pairs.items():
            if pair.own is None:
                absent = self.missing if pair.is_missing else self.removed
                absent.add(number)
        for row in self.rows:
            known = self.pairs.keys() & set(row)
            if not known:
                continue
            if self.removed.issuperset(known):
                self.removed.update(row)
            elif (self.removed | self.missing).issuperset(known):
                self.missing.update(set(row) - self.removed)
            else:  # the row stands, so that all of its cells do
                self.missing.difference_update(row)

    def _find_restructured(self) -> set[int]:
        """Return the leaves of the original whose translation has another tag than it was given.

        So have those around which there is something else, such as another list.
        """
        found = set()
        before: Pair | None = None
        for pair in self.alignment.pairs:
            if pair.own is not None and pair.original is not None:
                own = self.own_leaves[pair.own]
                form = pair.remembered.form
                is_grouped_anew = False
                if before is not None and before.own is not None:
                    stay = not (pair.was_moved_by_person or before.was_moved_by_person)
                    together = shared_elements([self.own_leaves[before.own], own])[1]
                    is_grouped_anew = stay and together != form.shared
                if is_grouped_anew or place_of(own) != form.place:
                    found.add(pair.original)
            before = pair
        return found

    def _carry_words(self) -> dict[int, Tag]:
        carried = {}
        for leaf_number in sorted({number for number, _ in self.parts}):
            leaf = self.leaves[leaf_number]
            pair = self.pairs.get(leaf_number)
            if pair is None or pair.own is None or not pair.has_new_content:
                continue
            if self.is_by_person(pair.own):
                continue
            new = for_translation(leaf)
            own = self.own_leaves[pair.own]
            with suppress(EditError):
                if leaf_number in self.parts.words:
                    carry_words(own, new, self.language, self.remembered.language)
                else:
                    carry_descriptions(own, new)
                carried[leaf_number] = new.element
        return carried

    def plan_update(self, *, repeats: bool) -> Translation | None:
        """Return what a translator gets of the original, or None if no words are needed.

        With `repeats`, blocks that an earlier answer left untranslated are asked for again.
        """
        asked: list[OriginalBlock] = []
        asked_and_shown: list[OriginalBlock] = []
        for leaf_number, part in self.parts:
            try:
                markdown = to_translatable(part)
            except EditError:  # the updated text will have a remark that says why
                continue
            own = self.own_leaf(leaf_number)
            if self.needs_words(leaf_number, repeats=repeats):
                block = OriginalBlock(part.number, part.kind, markdown)
                asked.append(block)
                asked_and_shown.append(block)
            elif own and own.text and part.kind not in ATTRIBUTES:
                # It is only shown, with its translation, which a person may have emptied.
                words = own.text[:MAX_BLOCK]
                asked_and_shown.append(OriginalBlock(part.number, part.kind, markdown, words))
        if not asked:
            return None
        blocks = asked_and_shown
        if len(blocks) > MAX_BLOCKS:
            blocks = asked[:MAX_BLOCKS]
        return Translation(self.language, blocks, self.remembered.language)

    def lacks_what_needs_no_words(self) -> bool:
        """Tell whether something such as code or a figure never stood in the translation."""
        return any(not self.parts.of(number) for number in self.missing)

    def own_leaf(self, leaf_number: int) -> Block | None:
        """Return what stands for a leaf of the original, or None."""
        pair = self.pairs.get(leaf_number)
        if pair is None or pair.own is None:
            return None
        return self.own_leaves[pair.own]

    def is_by_person(self, own: int) -> bool:
        """Tell whether a person wrote, changed or added a leaf of the translation."""
        return own in self.by_persons

    def _find_by_persons(self) -> set[int]:
        """Return the leaves of the translation that a person wrote, changed or added.

        What an import has left in the language of the original is by nobody.
        """
        found = set(self.alignment.leaves_by_persons)
        for number, pair in self.pairs.items():
            if pair.own in found:
                leaf = self.leaves[number]
                is_same = self.own_leaves[pair.own].text == leaf.text
                if is_same and leaf.first_words in self._untranslated:
                    found.remove(pair.own)
        return found

    def needs_words(self, leaf_number: int, *, repeats: bool) -> bool:
        """Tell whether a block of the original is to be translated now."""
        if leaf_number in self.removed:
            return False
        if leaf_number in self.missing:
            return repeats
        pair = self.pairs.get(leaf_number)
        if pair is None or pair.own is None:
            return True
        if self.is_by_person(pair.own):
            return False
        if pair.has_changed or (pair.has_new_content and leaf_number not in self.carried):
            return True
        return repeats and self._is_untranslated(leaf_number, pair.own)

    def _is_untranslated(self, leaf_number: int, own: int) -> bool:
        """Tell whether words of a leaf are still the original's, since there was no translation."""
        leaf = self.leaves[leaf_number]
        own_leaf = self.own_leaves[own]
        same = set(description_names(leaf.element)) & set(description_names(own_leaf.element))
        if own_leaf.text and own_leaf.text == leaf.text:
            same.add(own_leaf.first_words)
        is_one_of_more = self._has_more_untranslated and bool(same)
        return is_one_of_more or not self._untranslated.isdisjoint(same)
