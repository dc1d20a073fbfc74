"""Keep translations true: find what has changed in an original, and bring it into its translation.

Only what has changed is translated again. All other words stay, and so do those of each block that
a person wrote, whatever became of its original. The structure is that of the original.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from bs4 import Tag
from msgspec import structs

from ..errors import EditError
from ..files import sha256
from ..html.block import Block, is_block
from ..html.descriptions import description_names, descriptions_in
from ..html.document import Document
from ..remark import Kind, Remark
from ..service.protocol import OriginalBlock, Translated, Translation
from ..text import Edits, Original, Text, clean_fields, model_name
from .alignment import Pair
from .carried_words import have_same_parts, numbered_citations
from .code_blocks import take_comments, take_label
from .comparing import ComparedTranslation
from .composing import Composed, Former, compose, tree_of
from .first_translation import (
    RESTORED,
    ReadAgain,
    Wording,
    for_translation,
    is_on_whole,
    leaf_name,
    remarks_on_untranslated,
    remarks_on_whole,
    renew_remarks_on_missing,
    reread,
    untranslated,
)
from .remembered import (
    MISSING,
    REMOVED,
    Remembered,
    short_digest_of,
    write_additions,
    write_remembered,
)

_REASONS = {
    "changed": "its original has changed",
    "translated": "it had no translation",
    "adapted": "its original has the same words in another form",
    "copied": "it needs no translation",
    "added": "it is new in the original",
    "moved": "its original has moved",
    "moved back": "a translation has the order of its original",
    "restored": RESTORED,
    "removed": "its original is gone",
}
"""Why an update does something with a block."""

_ABOUT: Mapping[Kind, str] = {
    "original_changed": "original",
    "outdated": "original",
    "original_gone": "gone",
    "untranslated": "words",
    "differs": "words",
    "unmatched": "words",
    "not_followed": "words",
    "other_code": "words",
    "lacks": "words",
}
"""What of a block of the translation a remark is about. A newer one on the same replaces it."""

_FIRST: frozenset[Kind] = frozenset(
    {
        "original_draft",
        "descriptions",
        "original_changed",
        "outdated",
        "original_gone",
        "untranslated",
        "untranslated_more",
    }
)
"""The remarks on a whole text or a whole block, which come before those on words."""

_MAX_NAMED = 4
"""How many blocks an update names of those with which it does the same."""


def plan_translation_update(
    translation: Text, original: Text, *, repeats: bool = False
) -> Translation | None:
    """Return what a translator gets of a changed original, or None if no words are needed.

    With `repeats`, blocks that an earlier answer left untranslated are asked for again. Raises
    UnsafeHTMLError, and EditError for a text that is not a translation.
    """
    return ComparedTranslation(translation, original).plan_update(repeats=repeats)


def apply_translation_update(
    translation: Text,
    original: Text,
    asked: Translation | None,
    translated: Translated,
    today: date,
    *,
    is_draft: bool = False,
    repeats: bool = False,
) -> Text:
    """Return a translation with what has changed in its original.

    `asked` is what plan_translation_update() returned, and `translated` the untrusted answer.
    `is_draft` says that nobody has approved the original. With `repeats`, what needs no words and
    never stood in the translation comes from the original, too. Raises UnsafeHTMLError, and
    EditError if the text could not be shown.
    """
    state = ComparedTranslation(translation, original)
    asked_blocks: Sequence[OriginalBlock] = ()
    if asked is not None:
        asked_blocks = asked.blocks
    update = _Update(state, asked_blocks, translated, repeats=repeats)
    updated = update.apply()
    remarks = update.remarks_after(translation.remarks, translated.remarks, is_draft=is_draft)
    by = f"{today}"
    if update.has_new_words:
        model = model_name(translated.model)
        translation = translation.with_words_of(model)
        if model:
            by = f"{today}, {model}"
    lines = [f"{by}: {line}" for line in update.lines()]
    fields = clean_fields({"remarks": remarks, "updates": lines}, ("remarks", "updates"))
    return structs.replace(
        translation.with_updates(fields.get("updates", ())),
        html=updated.html,
        remarks=fields.get("remarks", ()),
        edits=update.edits(translation.edits),
        sources=original.sources,
        passages=original.passages,
        original=Original(
            updated.blocks,
            sha256(original.html),
            state.remembered.language,
            is_draft=is_draft,
            additions=updated.additions,
        ),
    )


@dataclass(frozen=True)
class _Updated:
    """The HTML of an updated translation, and what that is to remember."""

    html: str
    blocks: str
    additions: str


class _Update:
    """Makes the changes of a translation, and collects what is to be said of them.

    apply() comes first: with it, the translation of the state is the updated one.
    """

    def __init__(
        self,
        state: ComparedTranslation,
        asked: Sequence[OriginalBlock],
        translated: Translated,
        *,
        repeats: bool,
    ) -> None:
        self._state = state
        self._repeats = repeats
        self._wording = Wording(state.parts, state.language, asked, translated)
        self._asked = {block.number for block in asked if not block.translation}
        self._missing: list[int] = []
        """The leaves of the original that still have no translation."""

        self._outdated: set[int] = set()
        """The leaves of the original whose former translation stays, since there is no new one."""

        self._problems: list[Remark] = []
        self._remarks: list[Remark] = []
        self._renamed: dict[str, str] = {}
        """The first words of blocks as they were, with those that have other numbers now."""

        self.changed_by = dict(state.changed_by)
        """Who wrote a block of the updated translation, by its digest."""

        self._done: dict[str, list[str]] = {action: [] for action in _REASONS}
        """The names of the blocks that were changed, by what was done with them."""

        self._has_asked_again = False
        """Whether the translator was asked for blocks that an earlier answer did not translate."""

    def apply(self) -> _Updated:
        """Return the updated translation. Raises EditError if it could not be shown."""
        state = self._state
        before = state.own.to_lines()
        self._number_citations_of_persons()
        words = self._words()
        dropped = self._find_dropped()
        composed = compose(
            tree_of(state.original.article, state.leaves),
            words,
            Former(tree_of(state.own.article, state.own_leaves), self._stands_for(), dropped),
        )
        self._note_dropped(dropped - composed.added.keys())
        composed.root.attrs = dict(state.own.article.attrs)
        state.own.article = composed.root
        after = reread(state.own)
        self._check_words_of_persons(after)
        html = after.to_lines()
        if html == before:
            html = state.html  # byte for byte
        read = ReadAgain(state.own, after)
        added = [read.leaf(leaf) for leaf in composed.added.values()]
        return _Updated(html, self._remembered(composed, read), write_additions(added))

    def _words(self) -> list[Tag | None]:
        """Return the words for each leaf of the original, and note what is to be said of them."""
        missing = self._words_for_missing()
        words: list[Tag | None] = []
        for leaf in self._state.leaves:
            if leaf.number in self._state.missing:
                words.append(missing.get(leaf.number))
            elif leaf.number in self._state.removed:
                words.append(None)
            else:
                words.append(self._words_for(leaf))
        self._missing = sorted(self._state.missing - missing.keys())
        return words

    def _words_for_missing(self) -> dict[int, Tag]:
        """Return the words that there are now for leaves which never had a translation.

        A cell has none while others of its row have none.
        """
        state = self._state
        found: dict[int, Tag] = {}
        for number in sorted(state.missing):
            parts = state.parts.of(number)
            is_asked = any(part.number in self._asked for part in parts)
            if is_asked or (self._repeats and not parts):
                new, problem = self._wording.translated(state.leaves[number])
                if not problem:
                    found[number] = new.element
        for row in state.rows:
            if not found.keys() >= state.missing.intersection(row):
                for number in row:
                    found.pop(number, None)
        for number, element in found.items():
            action = "translated" if state.parts.of(number) else "copied"
            self._done[action].append(leaf_name(Block(number, element)))
        return found

    def _words_for(self, leaf: Block) -> Tag:
        """Return the words for a leaf of the original, and note what is to be said of them."""
        pair = self._state.pairs.get(leaf.number)
        own = self._state.own_leaf(leaf.number)
        if pair is None or own is None:
            new, problem = self._wording.translated(leaf)
            if problem:
                self._problems.append(untranslated(leaf.first_words, problem))
            self._done["added"].append(leaf_name(new))
            return new.element
        element = self._words_for_known(leaf, pair, own)
        if pair.has_moved:
            self._done["moved"].append(leaf_name(own))
        elif pair.was_moved_by_person:
            self._done["moved back"].append(leaf_name(own))
        if element is own.element and pair.has_new_place:
            self._done["adapted"].append(leaf_name(own))
        elif leaf.number in self._state.restructured and not pair.has_new_place:
            self._done["restored"].append(leaf_name(own))
        return element

    def _words_for_known(self, leaf: Block, pair: Pair, own: Block) -> Tag:
        """Return the words for a leaf for which some stand already."""
        has_changed = pair.has_changed or pair.has_new_content
        is_code = leaf.kind == "pre" and own.kind == "pre"
        if is_code and take_label(own.element, leaf.element):
            self._done["adapted"].append(leaf_name(own))
        if self._state.is_by_person(own.number):
            # A person may have brought the other links or citations into it already.
            lacks_content = pair.has_new_content and not have_same_parts(leaf, own)
            if pair.has_changed or lacks_content:
                self._remarks.append(Remark("original_changed", leaf_name(own)))
            return own.element
        if self._is_asked(leaf):
            return self._translate(leaf, own, has_changed=has_changed)
        if leaf.number in self._state.carried:
            new = Block(leaf.number, self._state.carried[leaf.number])
            self._renamed[own.first_words] = new.first_words
            self._done["adapted"].append(leaf_name(new))
            return new.element
        if has_changed:
            return self._translate(leaf, own, has_changed=True)
        if short_digest_of(own) == pair.remembered.form.content:  # such as code
            return for_translation(leaf).element
        return own.element

    def _is_asked(self, leaf: Block) -> bool:
        """Tell whether the translator was asked for words of a leaf of the original."""
        return any(part.number in self._asked for part in self._state.parts.of(leaf.number))

    def _translate(self, leaf: Block, own: Block, *, has_changed: bool) -> Tag:
        """Return new words for a leaf, or the former ones with a word on why there are no new."""
        if not has_changed:
            self._has_asked_again = True
        new, problem = self._wording.translated(leaf)
        if not problem:
            if leaf.kind == "pre" and take_comments(new.element, own.element):
                # Nobody knows whether the original's comments are still the same.
                self._remarks.append(Remark("original_changed", leaf_name(new)))
            action = "changed" if has_changed else "translated"
            self._done[action].append(leaf_name(own))
            return new.element
        if has_changed:
            self._outdated.add(leaf.number)
            self._remarks.append(Remark("outdated", leaf_name(own), {"because": problem}))
        else:
            self._problems.append(untranslated(leaf.first_words, problem))
        return own.element

    def _stands_for(self) -> dict[int, int]:
        """Return the number of the original's leaf by that of the one which stands for it."""
        found = {}
        for number, pair in self._state.pairs.items():
            if pair.own is not None:
                found[pair.own] = number
        return found

    def _find_dropped(self) -> set[int]:
        """Return the leaves of the translation that have to go, and say which cannot."""
        dropped = set()
        for pair in self._state.gone:
            if pair.own is None:
                continue
            if self._state.is_by_person(pair.own):
                own = self._state.own_leaves[pair.own]
                self._remarks.append(Remark("original_gone", leaf_name(own)))
            else:
                dropped.add(pair.own)
        return dropped

    def _note_dropped(self, dropped: Iterable[int]) -> None:
        for number in sorted(dropped):
            self._done["removed"].append(leaf_name(self._state.own_leaves[number]))

    def _check_words_of_persons(self, after: Document) -> None:
        """Raise EditError if a block of a person is not in the updated translation."""
        state = self._state
        kept = after.digests()
        for number in state.by_persons:
            own = state.own_leaves[number]
            if is_block(own.element) and own.digest not in kept:
                raise EditError("words of a person would be lost; edit it on the desk")

    def _number_citations_of_persons(self) -> None:
        """Give the citations in words of persons the numbers that they have in the original."""
        state = self._state
        labels = {}
        for link in numbered_citations(state.original.article):
            labels[link["href"]] = link.get_text()
        for number in sorted(state.by_persons):
            own = state.own_leaves[number]
            former_digest = own.digest
            former_name = own.first_words
            for link in numbered_citations(own.element):
                link.string = labels.get(link["href"], link.get_text())
            # Both are made of the words as they are now.
            if own.digest != former_digest:
                self._done["adapted"].append(leaf_name(own))
                self._renamed[former_name] = own.first_words
                if former_digest in self.changed_by:
                    self.changed_by[own.digest] = self.changed_by.pop(former_digest)

    def _remembered(self, composed: Composed, read: ReadAgain) -> str:
        """Return `Original.blocks` of the updated translation."""
        state = self._state
        remembered = []
        for leaf, form in zip(state.leaves, state.forms, strict=True):
            pair = state.pairs.get(leaf.number)
            if pair and leaf.number in self._outdated:  # so that it is asked for again
                before = pair.remembered.form
                form = replace(form, words=before.words, content=before.content)
            placed = composed.placed.get(leaf.number)
            if placed is None:
                own_digest = REMOVED if leaf.number in state.removed else MISSING
                remembered.append(Remembered(form, own_digest))
                continue
            own = state.own_leaf(leaf.number)
            is_by_person = own is not None and state.is_by_person(own.number)
            own_digest = short_digest_of(read.leaf(placed))
            remembered.append(Remembered(form, own_digest, is_by_person))
        return write_remembered(remembered)

    @property
    def has_new_words(self) -> bool:
        """Whether there are words of the answer in the translation."""
        return self._wording.has_new_words

    def edits(self, before: Edits | None) -> Edits | None:
        """Return what people did with the text, whose blocks may have other digests now."""
        if before is None:
            return None
        return structs.replace(before, changed_by=self.changed_by)

    def remarks_after(
        self, before: Sequence[Remark], of_translator: Sequence[Remark], *, is_draft: bool
    ) -> list[Remark]:
        """Return all remarks on the updated translation, of which a text keeps the first ones.

        `before` are the remarks on the translation before the update, `of_translator` those in the
        answer, and `is_draft` says that nobody has approved the original.
        """
        state = self._state
        names = [leaf_name(leaf) for leaf in state.own.leaves()]
        names += description_names(state.own.article)
        new = [*self._new_remarks(), *of_translator]
        described = descriptions_in(state.original.article)
        remarks = remarks_on_whole(described, state.own.article, is_draft=is_draft)
        for remark in remarks_still_true(self._with_new_names(before), new, names):
            # The new remarks have the number of blocks that are untranslated now.
            has_old_number = self._has_asked_again and remark.kind == "untranslated_more"
            if not has_old_number:
                remarks.append(remark)
        missing = [state.leaves[number] for number in self._missing]
        remarks = renew_remarks_on_missing([*remarks, *new], missing)
        return sorted(remarks, key=lambda remark: remark.kind not in _FIRST)

    def _with_new_names(self, remarks: Sequence[Remark]) -> list[Remark]:
        """Return remarks with the blocks as they are called now."""
        renamed = []
        for remark in remarks:
            name = self._renamed.get(remark.block, remark.block)
            renamed.append(structs.replace(remark, block=name))
        return renamed

    def _new_remarks(self) -> list[Remark]:
        """Return the remarks that the update itself makes."""
        untranslated = remarks_on_untranslated([*self._problems, *self._wording.problems])
        return [*self._remarks, *self._wording.remarks, *untranslated]

    def lines(self) -> list[str]:
        """Return what was changed and why."""
        lines = []
        for action, names in self._done.items():
            reason = _REASONS[action]
            lines += [f"{action} {name}: {reason}" for name in names[:_MAX_NAMED]]
            more = len(names) - _MAX_NAMED
            if more > 0:
                blocks = "1 more block"
                if more != 1:
                    blocks = f"{more:,} more blocks"
                lines.append(f"{action} {blocks}: {reason}")
        return lines or ["nothing had to change"]


def remarks_still_true(
    before: Sequence[Remark], new: Sequence[Remark], names: Collection[str]
) -> list[Remark]:
    """Return the remarks of a translation that are true after a change, and not said again.

    `before` are those before the change, and `new` those that it brings. A remark on a block of the
    translation is true while a block has its name; `names` are those of all blocks.
    """
    said_anew = set()
    for remark in new:
        if remark.kind in _ABOUT:
            said_anew.add((_ABOUT[remark.kind], remark.block))
    kept = []
    for remark in before:
        if is_on_whole(remark) or remark in new:
            continue
        about = _ABOUT.get(remark.kind)
        if about is None or (remark.block in names and (about, remark.block) not in said_anew):
            kept.append(remark)
    return kept
