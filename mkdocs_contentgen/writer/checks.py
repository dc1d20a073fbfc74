"""The checks of a text: why nobody can use it, and what is not as requested.

A text with remarks is a draft that a person can review. A message says what is there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..display import counted, escape_controls
from ..html.elements import HEADINGS
from ..language.languages import any_of, find_language
from ..language.ranges import without_overlaps
from ..language.sentences import SENTENCE_SIGNS, rough_end
from ..language.words import count_scripts, count_words, split_words
from ..remark import Remark, quotation_remarks
from ..remark_words import message_of
from ..requests import NewsRequest, Request
from ..topics import is_listicle, items_of
from .answers.answers import NO_ANSWER
from .answers.degenerate import degenerate_problem
from .answers.document import MarkdownBlock, MarkdownDocument
from .answers.markdown import is_quote, is_tip
from .answers.reading import whole_paragraphs
from .marks.marking import inline_text
from .marks.names import find_names
from .marks.statements import find_quotations, find_statements, is_invented, item_number
from .models.completion import Completion

CLOSE = 0.15
"""The share by which the number of words may differ from the target without a remark."""


_LEAST_TEXT = 20
"""A text with fewer words than this, or a tenth of the target, counts as empty."""

_LEAST_BEFORE_LOOP = 100
"""A text with fewer words before a loop is not a text."""

_CUT_SHARE = 3
"""A text that ended early is unusable with a third of the words asked for, or fewer."""

_MOST_NO_TEXT = 150
"""A text with so many words, or more, is no refusal or error message."""

_MOST_QUOTED = 200
"""The maximum number of characters of a refusal in a message."""

_SCRIPT_SHARE = 5
"""At least one word in so many has to be in the script that is expected."""

_AT_LIMIT = ("length", "max_tokens")
"""The finish reasons of a text that has reached its limit of tokens."""

_LEAST_REPEATED_BLOCK = 8
"""A block with fewer words, such as a label, can stand in a text twice."""

_NO_TEXT = re.compile(
    rf"\A\W{{0,5}}{any_of('refusal')}"
    r"|\A(?:\{\s?[\"']|\[\s?[{\"'])"  # data of a program
    r"|\A\W{0,3}(?:error\]?:|error\] |upstream connect error|ChatCompletion\w{0,30}\()"
    "|Answer with the text alone|Invent no numbers, dates, studies|lorem ipsum dolor"
    r"|^(?:A first paragraph\.|Heading of a section)$",  # of the prompt
    re.IGNORECASE | re.MULTILINE,
)
"""Refusals, error messages and other answers that are not texts."""

_ABOUT_ITSELF = re.compile(
    rf"{any_of('about_itself')}|^{any_of('narration')}|\A{any_of('thinking_step')}",
    re.IGNORECASE | re.MULTILINE,
)
"""What only a text about itself says, such as `In this article, we …`, or a model that plans."""

_ABOUT_HELP = re.compile(any_of("about_help"), re.IGNORECASE)
"""What is said to the person who asked, or to the reader of a letter: `I hope you liked it`."""

_LETTER = re.compile(rf"^\W{{0,4}}{any_of('letter')}", re.IGNORECASE | re.MULTILINE)
"""The start of a letter, such as `Dear …`."""

_SENTENCE_END = re.compile(rf"[{SENTENCE_SIGNS}:：;；][^\w\s]{{0,4}}\Z")
"""The end of a paragraph or an item that is a sentence."""

_SENTENCE_WITHIN = re.compile(rough_end())
"""The end of a sentence with another one after it."""

_OPEN_END = re.compile(r"(?<!\S)[^\s#]*[^\W\d_\u0e00-\u0eff]\Z|[,，、]\Z")
"""The end of half a sentence: no hashtag, and no Thai, which has no full stops."""

_LEAST_OPEN = 6
"""The minimum number of words of a last sentence that may be cut off. Shorter ones are labels."""

_SHOWN = 60
"""The number of characters of a text that a remark shows."""

_MOST_SHOWN = 3
"""The number of parts of a brief that a remark names."""


@dataclass(frozen=True)
class Candidate:
    """A text of the model, and what was asked for."""

    request: Request
    completion: Completion
    document: MarkdownDocument
    target: int
    """The number of words that were asked for."""

    repaired: tuple[Remark, ...] = ()
    """The remarks of what was repaired already."""

    earlier: Sequence[MarkdownBlock] = ()
    """What is written already, for a section of a long text."""

    sources: str = ""
    """The text of the sources."""

    is_part: bool = False
    """Whether it is a plan or a part of a text, and so can be very short."""

    text: str = ""
    """The repaired Markdown, for further prompts."""

    by_person: bool = False
    """Whether a person wrote or changed it, and so means what looks like a loop of a model."""

    @property
    def source_text(self) -> str:
        """What statements and quotations may come from."""
        items = items_of(self.request.topic) or ""  # `Ten ways` says 10
        return f"{self.request.topic}\n{items}\n{self.request.brief}\n{self.sources}"

    @property
    def can_go_on(self) -> bool:
        """Whether the model can be asked for the rest of a text that was cut off."""
        return (
            self.completion.finish_reason.lower() in (*_AT_LIMIT, "lost")
            and self.document.words < self.target
            and whole_paragraphs(self.text) != ""
        )

    @cached_property
    def problem(self) -> str:
        """Why nobody can use the text, or an empty string."""
        checks = (
            _refusal_problem,
            _cut_problem,
            _unread_problem,
            _no_text_problem,
            _empty_problem,
            _headings_only_problem,
            _script_problem,
            _degenerate_problem,
            _repeated_problem,
        )
        for check in checks:
            problem = check(self)
            if problem:
                return problem
        return ""

    @cached_property
    def remarks(self) -> list[Remark]:
        """What is not as requested in a usable text."""
        found = (
            _cut_remark(self),
            _items_remark(self),
            _closing_remark(self),
            _length_remark(self),
            _repetition_remark(self),
            _self_reference_remark(self),
            _brief_remark(self),
        )
        remarks = [remark for remark in found if remark is not None]
        return [*self.repaired, *remarks, *quotation_remarks(_invented_quotations(self))]


def _refusal_problem(candidate: Candidate) -> str:
    """Return what the model says in place of a text, where its server marks that as a refusal."""
    if candidate.completion.finish_reason != "refusal" or not _is_far_too_short(candidate):
        return ""
    words = escape_controls(" ".join(candidate.completion.text.split()))
    return f"the model refuses to write it: {words[:_MOST_QUOTED] or 'it gives no reason'}"


def _is_far_too_short(candidate: Candidate) -> bool:
    """Tell whether a text has at most a third of the words that were asked for."""
    return _CUT_SHARE * candidate.document.words <= candidate.target


def _cut_problem(candidate: Candidate) -> str:
    if candidate.completion.is_cut and _is_far_too_short(candidate):
        return message_of(_remark_on_cut(candidate))
    return ""


def _unread_problem(candidate: Candidate) -> str:
    """Return why the Markdown was not read, such as its size."""
    return candidate.document.problem


def _cut_remark(candidate: Candidate) -> Remark | None:
    if candidate.completion.is_cut:
        return _remark_on_cut(candidate)
    if candidate.completion.finish_reason == "too long":
        return Remark("stopped", values={"words": candidate.document.words})
    sentence = _open_sentence(candidate.document)
    if sentence:
        return Remark("open_end", values={"end": sentence[-_SHOWN:]})
    return None


def _open_sentence(document: MarkdownDocument) -> str:
    """Return the last paragraph or item if it seems to be cut off, or an empty string.

    Headings, signatures, verses and items of a list can end without a full stop.
    """
    last = document.blocks[-1]
    if last.kind not in ("p", "ul", "ol") or not last.inlines:
        return ""
    is_verse = last.kind == "p" and any(token.type == "hardbreak" for token in last.inlines[-1])
    if is_verse:
        return ""
    text = inline_text(last.inlines[-1]).strip()
    is_prose = _follows_sentences(document) or _SENTENCE_WITHIN.search(text)
    is_open = _OPEN_END.search(text) and count_words(split_words(text)) >= _LEAST_OPEN
    return text if is_prose and is_open else ""


def _follows_sentences(document: MarkdownDocument) -> bool:
    """Tell whether all paragraphs, or all items of the list, before the last one are sentences."""
    last = document.blocks[-1]
    if last.kind == "p":
        before = []
        for block in document.blocks[:-1]:
            if block.kind == "p":
                before.append(block.text)
    else:
        before = [inline_text(children) for children in last.inlines[:-1]]
    return bool(before) and all(_SENTENCE_END.search(text.strip()) for text in before)


def _remark_on_cut(candidate: Candidate) -> Remark:
    """Return the remark about a text that ended early."""
    reason = candidate.completion.finish_reason[:40]
    values: dict[str, str | int] = {
        "words": candidate.document.words,
        "reason": reason,
        "said": candidate.completion.server_words,
    }
    return Remark("cut_at_limit" if reason.lower() in _AT_LIMIT else "cut", values=values)


def _empty_problem(candidate: Candidate) -> str:
    words = candidate.document.words
    has_code = any(block.kind == "pre" for block in candidate.document.blocks)
    if not candidate.document.text.strip() and not has_code:
        return NO_ANSWER
    least = 0
    if not candidate.is_part:
        least = min(_LEAST_TEXT, candidate.target // 10)
    if words < least:
        beside = " beside its code, and a text needs more" if has_code else ""
        return f"the answer has {counted(words, 'word')} only{beside}"
    return ""


def _no_text_problem(candidate: Candidate) -> str:
    is_short = candidate.document.words < _MOST_NO_TEXT
    if is_short and _NO_TEXT.search(candidate.document.text.strip()):
        return "the answer is a refusal, an error message, data or filler, and no text"
    return ""


def _headings_only_problem(candidate: Candidate) -> str:
    is_outline = all(block.kind in HEADINGS for block in candidate.document.blocks)
    if is_outline and not candidate.is_part:
        return "the text has headings only"
    return ""


def _script_problem(candidate: Candidate) -> str:
    """Return a problem for a text in another script than its topic, which can have several."""
    language = find_language(candidate.request.language)
    if candidate.request.language and not language:
        return ""
    # The heading of a list of sources is in the script of its language.
    example = language.sources if language else candidate.request.topic
    expected = list(count_scripts(example))
    if not expected:
        return ""
    counts = count_scripts(candidate.document.prose)
    main_script = max(counts, key=counts.__getitem__, default="")
    # Texts on software have many names in Latin script.
    is_expected = any(counts[name] * _SCRIPT_SHARE >= counts.total() for name in expected)
    if main_script and is_expected:
        return ""
    asked = f"{language.name} is" if language else "the topic"
    return f"the text is in {main_script or 'no'} script and {asked} in {' or '.join(expected)}"


def _degenerate_problem(candidate: Candidate) -> str:
    if candidate.by_person:
        return ""
    words = candidate.document.words
    least = min(_LEAST_BEFORE_LOOP, candidate.target // 4)
    if candidate.completion.finish_reason == "loop" and words < least:
        return (
            f"the model repeated itself without end after {words} words; try again, or choose a "
            "larger model"
        )
    return degenerate_problem(candidate.document.prose)


def _repeated_problem(candidate: Candidate) -> str:
    if candidate.by_person:
        return ""
    again = sum(len(block.words) for block in _repeated_blocks(candidate))
    if again and 2 * again > len(split_words(candidate.document.text)):
        return "the text says again what stands before it"
    return ""


def _repeated_blocks(candidate: Candidate) -> list[MarkdownBlock]:
    """Return the blocks that repeat one before them, here or in what was written earlier."""
    seen = {tuple(block.words) for block in candidate.earlier}
    found = []
    for block in candidate.document.blocks:
        words = tuple(block.words)
        if count_words(words) >= _LEAST_REPEATED_BLOCK and words in seen:
            found.append(block)
        seen.add(words)
    return found


def _is_refrain(block: MarkdownBlock) -> bool:
    """Tell whether a block can stand in a text twice: a verse, a label or a formula."""
    breaks = 0
    for tokens in block.inlines:
        breaks += sum(token.type == "hardbreak" for token in tokens)
    is_verse = breaks > 1
    is_label = block.text.rstrip().endswith((":", "："))
    is_formula = count_words(split_words(block.prose)) < _LEAST_REPEATED_BLOCK
    return is_verse or is_label or is_formula


def _items_remark(candidate: Candidate) -> Remark | None:
    if not is_listicle(candidate.request):
        return None
    numbers = item_numbers(candidate.document.headings)
    wanted = items_of(candidate.request.topic)
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) < 2:
        return Remark("headings")
    if wanted and len(numbers) != wanted:
        return Remark("items", values={"items": len(numbers), "wanted": wanted})
    return None


def item_numbers(headings: Sequence[str]) -> list[int]:
    """Return the numbers at the start of headings."""
    matches = map(item_number, headings)
    numbers = []
    for match in matches:
        if match:
            numbers.append(int(match[1]))
    return numbers


def lacks_closing(candidate: Candidate) -> bool:
    """Tell whether a text is a blog post that does not end with a paragraph, as it should."""
    if candidate.request.type != "blog":
        return False
    last = candidate.document.blocks[-1]
    return last.kind != "p" or is_tip(last)


def _closing_remark(candidate: Candidate) -> Remark | None:
    return Remark("closing") if lacks_closing(candidate) else None


def _length_remark(candidate: Candidate) -> Remark | None:
    words = candidate.document.words
    if abs(words - candidate.target) <= CLOSE * candidate.target:
        return None
    return Remark("length", values={"words": words, "target": candidate.target})


def _repetition_remark(candidate: Candidate) -> Remark | None:
    repeated = _repeated_blocks(candidate)
    for block in repeated:
        if block.kind == "p" and not _is_refrain(block):
            return Remark("repetition", values={"start": block.text[:_SHOWN]})
    return None


def _self_reference_remark(candidate: Candidate) -> Remark | None:
    prose = candidate.document.prose.strip()
    match = _ABOUT_ITSELF.search(prose)
    if match is None and not _LETTER.search(_lines(candidate.document)):
        match = _ABOUT_HELP.search(prose)
    if match is None:
        return None
    words = " ".join(match[0].split())
    return Remark("self_reference", values={"quote": words[:_SHOWN]})


def _lines(document: MarkdownDocument) -> str:
    """Return the first lines of all blocks, each on a line."""
    return "\n".join(block.text[:_SHOWN] for block in document.blocks)


def _invented_quotations(candidate: Candidate) -> list[str]:
    """Return the quotations that nobody has said, as far as the sources tell.

    Without sources, they are only looked for in news. Elsewhere, they are statements to check.
    """
    if not (isinstance(candidate.request, NewsRequest) or candidate.sources):
        return []
    given = candidate.source_text
    found = find_quotations(candidate.document.prose, given)
    for block in candidate.document.blocks:
        if is_quote(block) and is_invented(block.text, given):
            found.append(block.text)
    return found


def _brief_remark(candidate: Candidate) -> Remark | None:
    brief = candidate.request.brief
    if not brief:
        return None
    text = f"{inline_text(candidate.document.title)}\n{candidate.document.text}"
    # The other way round than for marks: what the brief states, and the text does not.
    ranges = find_statements(brief, text)
    for name in find_names(brief, text):
        before = brief[: name.start].rstrip(" -*•")
        # At the start of a sentence, `Needs Python` looks like a name.
        is_within_sentence = before[-1:].isalnum()
        if is_within_sentence:
            ranges.append(name)
    missing = []
    for part in without_overlaps(ranges):
        missing.append(f"'{part.of(brief)[:_SHOWN]}'")
    if not missing:
        return None
    parts = ", ".join(missing[:_MOST_SHOWN])
    more = len(missing) - _MOST_SHOWN
    if more > 0:
        return Remark("brief_more", values={"parts": parts, "more": more})
    return Remark("brief", values={"parts": parts})
