"""Keep translations true: find what has changed in an original, and bring it into its translation.

Only what has changed is translated again. All else stays as it is, byte for byte, and so does each
block that a person wrote, whatever became of its original.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import date

from bs4 import Tag
from msgspec import structs

from ..errors import EditError
from ..files import sha256
from ..html.article import image_hosts_of
from ..html.carried_words import (
    carry_descriptions,
    carry_words,
    have_same_parts,
    numbered_citations,
)
from ..html.descriptions import ATTRIBUTES, description_names, descriptions_in
from ..html.document import Block, Document, is_block, start_tag, unwrap_signs
from ..html.tags import closest
from ..html.translatable import to_translatable
from ..service.protocol import MAX_BLOCKS, OriginalBlock, Translated, Translation
from ..text import MAX_BLOCK, Edits, Original, Text, clean_fields, model_name
from .alignment import Pair, align
from .merging import Slot, Tree, merge, without_content
from .original_parts import OriginalParts
from .remembered import (
    MISSING,
    REMOVED,
    Remembered,
    forms_of,
    short_digest_of,
    write_additions,
    write_remembered,
)
from .translation import (
    MORE_UNTRANSLATED,
    REMARK_START,
    STAYS,
    Wording,
    is_on_whole,
    leaf_name,
    remarks_on_untranslated,
    remarks_on_whole,
    renew_remarks_on_missing,
    reread,
)

_CHANGED = f"{REMARK_START}its original has changed: "
_GONE = f"{REMARK_START}its original is gone: "

_REASONS = {
    "changed": "its original has changed",
    "translated": "it had no translation",
    "adapted": "its original has the same words in another form",
    "copied": "it needs no translation",
    "added": "it is new in the original",
    "moved": "its original has moved",
    "removed": "its original is gone",
}
"""Why an update does something with a block."""

_STARTS_OF_NAMES = ("'", *(f"`{name}` '" for name in ATTRIBUTES))
"""How the name of a block or a description begins in a remark."""

_ReadLeaf = tuple[Tag, Block]
"""The element of a leaf of the translation, and the leaf as it is when the HTML is read again."""

_MAX_NAMED = 4
"""How many blocks an update names of those with which it does the same."""


def plan_translation_update(
    translation: Text, original: Text, *, repeats: bool = False
) -> Translation | None:
    """Return what a translator gets of a changed original, or None if no words are needed.

    With `repeats`, blocks that an earlier answer left untranslated are asked for again. Raises
    UnsafeHTMLError, and EditError for a text that is no translation.
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
    html, leaves = update.apply()
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
        html=html,
        remarks=fields.get("remarks", ()),
        edits=update.edits(translation.edits),
        sources=original.sources,
        passages=original.passages,
        original=Original(
            update.pairs_after(leaves),
            sha256(original.html),
            state.remembered.language,
            is_draft=is_draft,
            additions=update.additions_after(leaves),
        ),
    )


class ComparedTranslation:
    """A translation and its original as they are now, and which leaf stands for which.

    Making it raises UnsafeHTMLError, and EditError for a text that is no translation.
    """

    def __init__(self, translation: Text, original: Text) -> None:
        if translation.original is None:
            raise EditError("this text is no translation")
        self.remembered = translation.original
        self.html = translation.html
        self.changed_by = translation.changed_by
        self._remarks = translation.remarks
        # Pictures of all hosts stay: which of them are shown, a page decides.
        hosts = image_hosts_of(original.html) | image_hosts_of(translation.html)
        self.original = Document(original.html, hosts)
        self.own = Document(translation.html, hosts)
        requested = str(translation.request.get("language", ""))
        self.language = requested or str(self.own.article.get("lang", ""))
        self.parts = OriginalParts(self.original, self.language)
        self.leaves = self.parts.leaves
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

        for pair in self.alignment.pairs:
            if pair.original is not None:
                self.pairs[pair.original] = pair
        self.carried = self._carry_words()
        """New elements with the words of the translation, by the number of the original's leaf.

        They are for leaves that have the same words with other parts, such as links. If it is not
        certain which part goes where, a leaf is not among them, and a translator is asked for it.
        """

    def _carry_words(self) -> dict[int, Tag]:
        carried = {}
        for leaf_number in sorted({number for number, _ in self.parts}):
            leaf = self.leaves[leaf_number]
            pair = self.pairs.get(leaf_number)
            if pair is None or pair.own is None or not pair.has_new_content:
                continue
            if self.is_by_person(pair.own):
                continue
            new = Block(leaf_number, _for_translation(leaf))
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
        return any(map(self.lacks_without_words, self.leaves))

    def own_leaf(self, leaf_number: int) -> Block | None:
        """Return what stands for a leaf of the original, or None."""
        pair = self.pairs.get(leaf_number)
        if pair is None or pair.own is None:
            return None
        return self.own_leaves[pair.own]

    def lacks_without_words(self, leaf: Block) -> bool:
        """Tell whether a leaf of the original needs no words, and never stood in the translation.

        Such are code, figures, pictures without a description, lines and empty cells.
        """
        pair = self.pairs.get(leaf.number)
        return pair is not None and pair.is_missing and not self.parts.of(leaf.number)

    def is_by_person(self, own: int) -> bool:
        """Tell whether a person wrote, changed or added a leaf of the translation."""
        return own in self.alignment.leaves_by_persons

    def needs_words(self, leaf_number: int, *, repeats: bool) -> bool:
        """Tell whether a block of the original is to be translated now."""
        pair = self.pairs.get(leaf_number)
        if pair is None:
            return True
        if pair.own is None:
            return repeats and pair.is_missing
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
        for name in same:
            if any(self._says_untranslated(remark, name) for remark in self._remarks):
                return True
        return False

    def _says_untranslated(self, remark: str, name: str) -> bool:
        """Tell whether a remark is about words without a translation, or about many."""
        named = f"{REMARK_START}{name} {STAYS}"
        return remark.startswith(named) or remark.endswith(MORE_UNTRANSLATED)


class _Update:
    """Makes the changes of a translation, and collects what is to be said of them.

    apply() comes first: it changes the documents of the state in place.
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
        self._elements = [leaf.element for leaf in state.own_leaves]
        """The elements of the translation's leaves that merge() finds in it, by their numbers."""

        self._new: dict[int, Tag] = {}
        """The new elements, by the number of the leaf of the original."""

        self._outdated: set[int] = set()
        """The leaves of the original whose former translation stays, since there is no new one."""

        self._problems: list[str] = []
        self._remarks: list[str] = []
        self._renamed: dict[str, str] = {}
        """The first words of blocks as they were, with those that have other numbers now."""

        self.changed_by = dict(state.changed_by)
        """Who wrote a block of the updated translation, by its digest."""

        self._done: dict[str, list[str]] = {action: [] for action in _REASONS}
        """The names of the blocks that were changed, by what was done with them."""

        self._has_asked_again = False
        """Whether the translator was asked for blocks that an earlier answer did not translate."""

    def apply(self) -> tuple[str, list[_ReadLeaf]]:
        """Return the HTML of the updated translation, and its leaves as they are read again.

        Raises EditError if it could not be shown.
        """
        self._number_citations_of_persons()
        slots = [self._slot(leaf) for leaf in self._state.leaves]  # takes notes, too
        if self._repeats:
            self._fill_without_words(slots)
        removed = self._find_removed()
        has_changes = any(self._done.values()) or bool(removed)
        if has_changes:
            self._merge(slots, removed)
        after = reread(self._state.own)
        self._check_words_of_persons(after)
        leaves = self._leaves_after(after)
        if has_changes:
            return after.to_lines(), leaves
        return self._state.html, leaves  # byte for byte

    def _merge(self, slots: Sequence[Slot], removed: Collection[int]) -> None:
        """Bring what the slots have into the translation, and take out what is to be removed."""
        state = self._state
        original = Tree(state.original.article, [leaf.element for leaf in state.leaves])
        own = Tree(state.own.article, self._elements)
        merge(original, own, slots, removed)
        self._note_removed(removed)

    def _check_words_of_persons(self, after: Document) -> None:
        """Raise EditError if a block of a person is not in the updated translation."""
        state = self._state
        kept = after.digests()
        for number in state.alignment.leaves_by_persons:
            own = state.own_leaves[number]
            if is_block(own.element) and own.digest not in kept:
                raise EditError("words of a person would be lost; edit it on the desk")

    def _slot(self, leaf: Block) -> Slot:
        """Return what is to stand for a leaf of the original, and note what is to be said of it."""
        pair = self._state.pairs.get(leaf.number)
        if pair is None:
            return self._slot_for_new(leaf)
        if pair.is_missing and self._is_asked(leaf):
            return self._slot_for_missing(leaf)
        if pair.own is None:  # a person has removed it, or has left it out
            return Slot()
        own = self._state.own_leaves[pair.own]
        self._renew(leaf, pair, own)
        new = self._new.get(leaf.number)
        if not pair.was_moved_by_person:
            if pair.has_moved:
                self._done["moved"].append(leaf_name(own))
            return Slot(pair.own, new, pair.has_moved, pair.has_new_place)
        # It stays where the person has put it, so merge() has nothing to do for it.
        if new is not None:
            self._replace_in_place(own, new)
        return Slot()

    def _replace_in_place(self, own: Block, new: Tag) -> None:
        """Put a new element where a leaf of the translation stands, before merge() reads that."""
        own.element.replace_with(new)
        self._elements[own.number] = new

    def _fill_without_words(self, slots: list[Slot]) -> None:
        """Let what needs no words stand where it never stood. `slots` are those of all leaves.

        A cell does not, while words of its row have no translation.
        """
        incomplete_rows = set()
        for leaf in self._missing():
            if self._state.parts.of(leaf.number):
                incomplete_rows.add(id(closest(leaf.element, ("tr",))))
        for leaf in self._state.leaves:
            row = closest(leaf.element, ("tr",))
            is_in_incomplete_row = row is not None and id(row) in incomplete_rows
            if self._state.lacks_without_words(leaf) and not is_in_incomplete_row:
                new, _ = self._translated(leaf)
                self._new[leaf.number] = new.element
                self._done["copied"].append(leaf_name(new))
                slots[leaf.number] = Slot(new=new.element)

    def _is_asked(self, leaf: Block) -> bool:
        """Tell whether the translator was asked for words of a leaf of the original."""
        return any(part.number in self._asked for part in self._state.parts.of(leaf.number))

    def _slot_for_new(self, leaf: Block) -> Slot:
        new, problem = self._translated(leaf)
        if problem:
            self._problems.append(f"{leaf.first_words} {STAYS}: {problem}")
        self._new[leaf.number] = new.element
        self._done["added"].append(leaf_name(new))
        return Slot(new=new.element)

    def _slot_for_missing(self, leaf: Block) -> Slot:
        new, problem = self._translated(leaf)
        if problem:
            return Slot()
        self._new[leaf.number] = new.element
        self._done["translated"].append(leaf_name(new))
        return Slot(new=new.element)

    def _renew(self, leaf: Block, pair: Pair, own: Block) -> None:
        """Make a new element for a leaf that has changed, or say why the former one stays."""
        if self._state.is_by_person(own.number):
            # A person may have brought the other links or citations into it already.
            lacks_content = pair.has_new_content and not have_same_parts(leaf, own)
            if pair.has_changed or lacks_content:
                self._remarks.append(f"{_CHANGED}{leaf_name(own)}")
        elif self._is_asked(leaf):
            self._translate(leaf, pair, own)
        elif leaf.number in self._state.carried:
            new = Block(leaf.number, self._state.carried[leaf.number])
            self._new[leaf.number] = new.element
            self._renamed[own.first_words] = new.first_words
            self._done["adapted"].append(leaf_name(new))
        elif pair.has_changed or pair.has_new_content:
            self._translate(leaf, pair, own)
        if pair.has_new_place and leaf.number not in self._new:
            self._adapt(leaf, own)

    def _translate(self, leaf: Block, pair: Pair, own: Block) -> None:
        """Make a new element in new words for a leaf, or say why there are none."""
        has_changed = pair.has_changed or pair.has_new_content
        if not has_changed:
            self._has_asked_again = True
        new, problem = self._translated(leaf)
        if not problem:
            self._new[leaf.number] = new.element
            action = "changed" if has_changed else "translated"
            self._done[action].append(leaf_name(own))
        elif has_changed:
            self._outdated.add(leaf.number)
            self._remarks.append(f"{_CHANGED}{leaf_name(own)}: it is as before, since {problem}")
        else:
            self._problems.append(f"{leaf.first_words} {STAYS}: {problem}")

    def _adapt(self, leaf: Block, own: Block) -> None:
        """Give the words of the translation the tag of their original, if it is another one."""
        self._done["adapted"].append(leaf_name(own))
        element = without_content(leaf.element)
        if start_tag(element) != start_tag(own.element):
            element.extend(copy(own.element).contents[:])
            self._new[leaf.number] = element

    def _number_citations_of_persons(self) -> None:
        """Give the citations in words of persons the numbers that they have in the original."""
        state = self._state
        labels = {}
        for link in numbered_citations(state.original.article):
            labels[link["href"]] = link.get_text()
        for number in sorted(state.alignment.leaves_by_persons):
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

    def _translated(self, leaf: Block) -> tuple[Block, str]:
        """Return a copy of a leaf of the original in the other language, or why there is none."""
        new = Block(leaf.number, _for_translation(leaf))
        return new, self._wording.put_into(new)

    def _find_removed(self) -> set[int]:
        """Return the leaves of the translation that have to go, and say which cannot."""
        removed = set()
        for pair in self._state.alignment.pairs:
            if pair.original is not None or pair.own is None:
                continue
            own = self._state.own_leaves[pair.own]
            if self._state.is_by_person(pair.own):
                self._remarks.append(f"{_GONE}{leaf_name(own)}")
            else:
                removed.add(pair.own)
        return removed

    def _note_removed(self, removed: Iterable[int]) -> None:
        """Note which leaves are gone: in a row with words of a person, all cells stay."""
        article = self._state.own.article
        for number in sorted(removed):
            own = self._state.own_leaves[number]
            if not any(parent is article for parent in own.element.parents):
                self._done["removed"].append(leaf_name(own))

    def additions_after(self, leaves: Sequence[_ReadLeaf]) -> str:
        """Return `Original.additions`: the blocks that stand for no block of the original."""
        state = self._state
        aligned = set(map(id, self._new.values()))
        for pair in state.pairs.values():
            if pair.own is not None:
                aligned.add(id(state.own_leaves[pair.own].element))
        added = []
        for element, leaf in leaves:
            if id(element) not in aligned:
                added.append(leaf)
        return write_additions(added)

    def _leaves_after(self, after: Document) -> list[_ReadLeaf]:
        """Return the element of each leaf of the translation, and that leaf as it is in `after`."""
        leaves = self._state.own.leaves()
        read = after.leaves()
        if len(read) != len(leaves):  # nobody can say which is which
            read = leaves
        return [(leaf.element, again) for leaf, again in zip(leaves, read, strict=True)]

    def pairs_after(self, leaves: Sequence[_ReadLeaf]) -> str:
        """Return the pairs that the updated translation is to remember."""
        state = self._state
        digest_of = {}
        for element, leaf in leaves:
            digest_of[id(element)] = short_digest_of(leaf)
        remembered = []
        for leaf, form in zip(state.leaves, forms_of(state.leaves), strict=True):
            pair = state.pairs.get(leaf.number)
            if pair and leaf.number in self._outdated:  # so that it is asked for again
                before = pair.remembered.form
                form = replace(form, words=before.words, content=before.content)
            remembered.append(Remembered(form, self._own_digest(leaf, pair, digest_of)))
        return write_remembered(remembered)

    def _own_digest(self, leaf: Block, pair: Pair | None, digest_of: Mapping[int, str]) -> str:
        """Return what to remember of what stands for a leaf of the original.

        `digest_of` has the digests of the translation's leaves by the `id()` of their elements.
        """
        new = self._new.get(leaf.number)
        if pair is None or pair.own is None:  # nothing stood for it before
            if new is not None:
                return digest_of.get(id(new), REMOVED)
            if pair is not None and pair.is_missing:
                return MISSING
            return REMOVED
        own = self._state.own_leaves[pair.own]
        before = pair.remembered.own
        if self._state.is_by_person(pair.own) and own.digest not in self.changed_by:
            # align() knows a leaf of a person by its digest, which is not the remembered one.
            return before
        if new is None:
            return digest_of.get(id(own.element), before)
        return digest_of.get(id(new), before)

    def _missing(self) -> list[Block]:
        """Return the leaves of the original that still have no translation."""
        numbers = self._state.alignment.missing
        return [self._state.leaves[number] for number in numbers if number not in self._new]

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
        self, before: Sequence[str], of_translator: Sequence[str], *, is_draft: bool
    ) -> list[str]:
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
            has_old_number = self._has_asked_again and remark.endswith(MORE_UNTRANSLATED)
            if not has_old_number:
                remarks.append(remark)
        remarks = renew_remarks_on_missing([*remarks, *new], self._missing())
        return sorted(remarks, key=_rank)

    def _with_new_names(self, remarks: Sequence[str]) -> list[str]:
        """Return remarks with the blocks as they are called now."""
        renamed = []
        for remark in remarks:
            for before, now in self._renamed.items():
                remark = remark.replace(before, now)
            renamed.append(remark)
        return renamed

    def _new_remarks(self) -> list[str]:
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


def _for_translation(leaf: Block) -> Tag:
    """Return a copy of a leaf of an original that can stand in a text in another language."""
    element = copy(leaf.element)
    unwrap_signs(element)
    element.attrs = without_content(element).attrs
    return element


def _rank(remark: str) -> int:
    """Return 0 for a remark on the whole text or on a whole block, and 1 for one on words."""
    if is_on_whole(remark):
        return 0
    on_blocks = (_CHANGED, _GONE, STAYS, MORE_UNTRANSLATED)
    if any(part in remark for part in on_blocks):
        return 0
    return 1


def remarks_still_true(
    before: Sequence[str], new: Sequence[str], names: Collection[str]
) -> list[str]:
    """Return the remarks of a translation that are true after a change, and not said again.

    `before` are those before the change, and `new` those that it brings. A remark that names a
    block is true while a block has that name; `names` are those of all blocks.
    """
    kept = []
    for remark in before:
        if is_on_whole(remark) or remark in new:
            continue
        start = _start_of(remark)
        behind_start = remark.removeprefix(start)
        names_block = remark.startswith(start) and behind_start.startswith(_STARTS_OF_NAMES)
        if not names_block:
            kept.append(remark)
            continue
        about = _start_with_name(remark, start, names)
        is_said_anew = any(other.startswith(about) for other in new)
        if about and not is_said_anew:
            kept.append(remark)
    return kept


def _start_with_name(remark: str, start: str, names: Iterable[str]) -> str:
    """Return how a remark begins, with the name of its block; empty if no block has that name."""
    for name in names:
        if remark.startswith(start + name):
            return start + name
    return ""


def _start_of(remark: str) -> str:
    """Return how a remark of its kind begins, before the name of a block."""
    for start in (_CHANGED, _GONE):
        if remark.startswith(start):
            return start
    return REMARK_START
