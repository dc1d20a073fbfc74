"""The checks of a model's text. Each is a function that returns a problem as a message, or None.

A message tells the model what to change, and a person what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...requests import BlogRequest, NewsRequest, Request
from ..topics import items_of
from .markdown import Block, Document, is_tip, quoted_texts
from .model import Completion
from .prompts import word_range
from .statements import find_quotations, is_invented, item_number
from .words import count_scripts


@dataclass(frozen=True)
class Draft:
    """A text of the model, and what was asked for."""

    request: Request
    completion: Completion
    document: Document
    words: int
    """The target for the number of words."""

    earlier: Sequence[Block] = ()
    """What is written already, for a section of a long text."""

    sources: str = ""
    """The text of the sources."""

    @property
    def given(self) -> str:
        """What statements and quotations may come from."""
        return f"{self.request.topic}\n{self.sources}"


Check = Callable[[Draft], str | None]


@dataclass(frozen=True)
class Problem:
    """A failed check with its name and its message."""

    check: str
    message: str


def failed_checks(draft: Draft, checks: Sequence[Check]) -> list[Problem]:
    """Return the problems that these checks find. A check that finds no text at all ends it."""
    problems = []
    for check in checks:
        if message := check(draft):
            problems.append(Problem(check.__name__.removesuffix("_problem"), message))
            if check in (finish_problem, size_problem, empty_problem, refusal_problem):
                break
    return problems


def finish_problem(draft: Draft) -> str | None:
    """Return a problem unless the model finished the text."""
    match draft.completion.finish_reason:
        case "stop" | "eos" | "end_turn":
            return None
        case "length":
            return (
                "the text was cut off (finish_reason 'length'); write a shorter one, or raise the "
                "model's limit of tokens or its context"
            )
        case "content_filter":
            return "the provider's content filter stopped the text; use other words for the topic"
        case reason:
            return f"the text was not finished (finish_reason {reason[:40]!r})"


def size_problem(draft: Draft) -> str | None:
    """Return a problem if the text is too large to be read."""
    return draft.document.problem or None


def empty_problem(draft: Draft) -> str | None:
    """Return a problem if there is no text, or only thinking."""
    if draft.document.text.strip():
        return None
    if draft.completion.thought or "<think>" in draft.completion.text:
        return (
            "the answer has thinking text only; write the text itself (a person can turn off "
            "thinking with `parameters`, or choose a larger model)"
        )
    return "the answer is empty; write the text"


def thinking_problem(draft: Draft) -> str | None:
    """Return a problem if thinking text stands in the text."""
    if re.search(r"</?(?:think|thinking|reasoning)>|<\|channel\|>", draft.document.prose):
        return "the text contains thinking text; leave it out"
    return None


def refusal_problem(draft: Draft) -> str | None:
    """Return a problem if the model refused to write."""
    if _REFUSAL.match(draft.document.text.strip()) and draft.document.words < 150:
        return "the answer is a refusal, and no text about the topic"
    return None


def html_problem(draft: Draft) -> str | None:
    """Return a problem if the text has HTML."""
    if match := _HTML.search(draft.document.prose):
        return f"the text contains HTML, {match[0][:40]!r}; use Markdown only"
    return None


def headings_problem(draft: Draft) -> str | None:
    """Return a problem unless the sections suit the length and the format."""
    found, request = draft.document.headings, draft.request
    least = _LEAST_SECTIONS[request.length]
    match request:
        case BlogRequest(format="listicle"):
            return _listicle_problem(found, request.topic)
        case NewsRequest() | BlogRequest(format="narrative"):
            least = 0
    if len(found) < least:
        return f"the text has {len(found)} headings with '## '; it needs at least {least}"
    return None


def section_problem(draft: Draft) -> str | None:
    """Return a problem unless the text is a single section."""
    if (found := len(draft.document.headings)) != 1:
        return f"the text has {found} headings with '## '; write this section alone, with one"
    return None


def steps_problem(draft: Draft) -> str | None:
    """Return a problem if a guide has neither a numbered list nor numbered headings."""
    request, blocks = draft.request, draft.document.blocks
    if not isinstance(request, BlogRequest) or request.format != "howto":
        return None
    has_list = any(token.tag == "ol" for block in blocks for token in block.tokens)
    if has_list or sum(item_number(text) is not None for text in draft.document.headings) > 1:
        return None
    return "the text has no numbered list of steps"


def opening_problem(draft: Draft) -> str | None:
    """Return a problem unless a blog post or a news article begins with a paragraph."""
    first = draft.document.blocks[0]
    if draft.request.type != "article" and (first.kind != "p" or is_tip(first)):
        return "the text does not begin with a paragraph; write one after the title"
    return None


def closing_problem(draft: Draft) -> str | None:
    """Return a problem unless a blog post ends with a paragraph of its own."""
    first, last = draft.document.blocks[0], draft.document.blocks[-1]
    if draft.request.type == "blog" and (last is first or last.kind != "p" or is_tip(last)):
        return "the text does not end with a paragraph; write a conclusion"
    return None


def length_problem(draft: Draft) -> str | None:
    """Return a problem unless the number of words is within 15 % of the target."""
    least, most = word_range(draft.words)
    words = draft.document.words
    if least <= words <= most:
        return None
    hint = "add substance" if words < least else "shorten it"
    return f"the text has {words:,} words; it needs {least:,} to {most:,}: {hint}"


def repetition_problem(draft: Draft) -> str | None:
    """Return a problem if a paragraph stands twice in the text."""
    seen = {tuple(block.words) for block in draft.earlier}
    for block in draft.document.blocks:
        words = tuple(block.words)
        if len(words) >= _LEAST_REPEATED and words in seen:
            return f"a paragraph is repeated: '{block.text[:60]}…'; say each thing once"
        seen.add(words)
    return None


def self_reference_problem(draft: Draft) -> str | None:
    """Return a problem if the text talks about itself or its author."""
    prose = draft.document.prose.strip()
    match = _REMARK.match(prose)
    if match is None and _MAY_BE_ABOUT_ITSELF.search(prose.casefold()):
        match = _ABOUT_ITSELF.search(prose)
    if match:
        found = " ".join(match[0].split())[:60]
        return f"the text talks about itself ('{found}'); write about the topic only"
    return None


def language_problem(draft: Draft) -> str | None:
    """Return a problem unless the text is in a script of the topic.

    Topics such as `Kubernetes 入门` have two, of which each may be that of the text.
    """
    topic, text = count_scripts(draft.request.topic), count_scripts(draft.document.prose)
    expected = [name for name in topic if topic[name] * 4 > topic.total()]
    found = max(text, key=text.__getitem__, default="")
    if expected and found not in expected:
        names = " or ".join(map(_script_name, expected))
        return (
            f"the text is in {_script_name(found)} script and the topic in {names}; write in the "
            "language of the topic"
        )
    return None


def quotation_problem(draft: Draft) -> str | None:
    """Return a problem if a text quotes what no source says.

    Without sources, only for news: elsewhere, quotations are statements to check.
    """
    if not (isinstance(draft.request, NewsRequest) or draft.sources):
        return None
    found = find_quotations(draft.document.prose, draft.given)
    quotes = (text for block in draft.document.blocks for text in quoted_texts(block))
    found += (text for text in quotes if is_invented(text, draft.given))
    if found:
        return f"the text quotes what nobody said: {found[0][:60]}; leave quotations out"
    return None


ALL_CHECKS: tuple[Check, ...] = (
    finish_problem,
    size_problem,
    empty_problem,
    thinking_problem,
    refusal_problem,
    html_problem,
    headings_problem,
    steps_problem,
    opening_problem,
    closing_problem,
    length_problem,
    repetition_problem,
    self_reference_problem,
    language_problem,
    quotation_problem,
)
"""The checks of a whole text."""

_CHECKS_OF_THE_WHOLE = (headings_problem, steps_problem, opening_problem, closing_problem)
SECTION_CHECKS: tuple[Check, ...] = (
    *(check for check in ALL_CHECKS if check not in _CHECKS_OF_THE_WHOLE),
    section_problem,
)
"""The checks of a section of a long text."""

PLAN_CHECKS: tuple[Check, ...] = (finish_problem, size_problem, headings_problem)
"""The checks of the plan of a long text."""

_LEAST_SECTIONS = {"short": 1, "medium": 2, "long": 3}
_LEAST_REPEATED = 8
_REFUSAL = re.compile(
    r"(?:(?:(?:I(?:['’]m| am) )?(?:\w+ )?sorry|unfortunately|I apologi[sz]e)\W+(?:but )?)?"
    r"I(?: must decline\b|(?: am|['’]m)? ?(?:can(?:['’]t|not)|won['’]t|(?:un|not )able to|will not)"
    r" (?:\w+ )?(?:help(?! but)|assist|write|provide|create|generate|comply|fulfil|produce|discuss"
    r"|answer|complete|engage))"
    r"|(?:Es tut mir (?:sehr )?leid|Leider|Entschuldigung)\b.{0,20}\b(?:kann ich|ich kann)\b"
    r"|Je suis désolée?.{0,20} je ne peux|Lo siento.{0,20} no puedo"
    r"|(?:很?抱歉|对不起|非常抱歉).{0,4}我(?:不能|无法|没有办法)|我(?:不能|无法)(?:提供|帮助|协助|满足|撰写)"
    r"|申し訳.{0,20}(?:できません|できかねます)",
    re.IGNORECASE,
)
_HTML = re.compile(
    r"</?(?:p|div|span|h[1-6]|ul|ol|li|br|a|b|i|strong|em|img|script|style|table|article|iframe)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_WORK = "(?:article|blog ?post|post|report|text|guide|piece|listicle)"
_REMARK = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|great)\b[,!.:]? *"
    r"(?:here|below|I (?:can|will|would)|I['’](?:ll|d|ve))\b"
    rf"|(?:here|below)(?:['’]s| is) (?:the|an?|your|my)\b[^.\n]{{0,80}}\b{_WORK}\b[^.\n]{{0,80}}:"
    r"|hier ist (?:der|die|das|ein|eine|Ihr|dein)\b.{0,60}\b(?:Artikel|Beitrag|Text|Bericht)\b"
    r"|(?:好的|当然)?[，,！!]?以下是.{0,40}(?:文章|博客|报道|稿)",
    re.IGNORECASE,
)
"""What models say before a text."""

_MAY_BE_ABOUT_ITSELF = re.compile(
    "as an|as a l|in this|this (?:article|blog|post|report|text|guide|piece|listicle)|i hope"
    "|let me know|word|note|als ki|in diesem|作为|在本文|本文将|在这篇"
)
"""Looking for these first takes a tenth of the time for most texts."""

_ABOUT_ITSELF = re.compile(
    r"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b(?: \w+){0,3},? I\b"
    rf"|\bin this (?:{_WORK}|section),? (?:we|I|you|let)\b"
    rf"|\bthis {_WORK} (?:will|explores|discusses|aims|examines|delves)\b"
    r"|\bI hope (?:this|you (?:found|enjoyed|liked))\b"
    r"|\blet me know if (?:you|there|this|anything)\b"
    r"|^[^\w\n]{0,9}(?:word count|words)\W{0,3}:"
    rf"|^[^\w\n]{{0,9}}note:.{{0,60}}\b(?:this|the|my) {_WORK}\b"
    r"|\bals KI(?:-\w+)? (?:kann|habe|bin) ich\b"
    r"|\bin diesem (?:Artikel|(?:Blog)?beitrag|Text|Bericht) (?:werden|wollen|möchten|erfahren)\b"
    r"|作为一?[个名]?(?:AI|人工智能|语言模型|大模型)\w{0,6}，我|(?:在本文中|本文将|在这篇文章中)",
    re.IGNORECASE | re.MULTILINE,
)


def _script_name(name: str) -> str:
    return {"CJK": "Chinese or Japanese", "": "no"}.get(name, name.capitalize())


def _listicle_problem(found: Sequence[str], topic: str) -> str | None:
    numbers = [int(match[1]) for text in found if (match := item_number(text))]
    wanted = items_of(topic)
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) < 2:
        return "the items need headings in order: '## 1. …', '## 2. …' and so on"
    if wanted and len(numbers) != wanted:
        return f"the text has {len(numbers)} items; the topic asks for {wanted}"
    return None
