"""Write a text with a model: prompt, Markdown, checks, one repair, HTML.

A short or medium text takes one call, a long one a plan and a call for each section. A text or a
section that fails a check is repaired at most once, which limits the number of calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from ...errors import FailedTextError, UnsafeHTMLError
from ...html.article import parse_article
from ...requests import BlogRequest, Request
from ..answer import encode_answer
from ..topics import items_of
from .checks import (
    ALL_CHECKS,
    PLAN_CHECKS,
    SECTION_CHECKS,
    Check,
    Draft,
    Problem,
    closing_problem,
    failed_checks,
    opening_problem,
)
from .citations import address_of, cite, sources_list
from .completion import Completion
from .markdown import Block, Document, clean_answer, count_marks, read_markdown, to_html
from .model import Message
from .options import WriterOptions
from .prompts import fill, sources_prompt, system_prompt, topic_prompt
from .retrieval import MAX_CHARACTERS
from .sources import Section
from .usage import Usage

WORDS_PER_SECTION = 350
"""The number of words of a section of a long text."""

MAX_OWN = 4000
"""Characters of the text around an article that become a source."""

TOKENS_PER_WORD, TOKENS_FOR_THINKING = 4, 4000
"""The limit of tokens of a call: enough for all languages, and for a model that thinks first."""

_LEAST_WORDS = 100
"""The minimum number of words of a section. A text with shorter items takes one call."""

_CHARACTERS_PER_TOKEN = 4

Ask = Callable[[Sequence[Message], int], Awaitable[Completion]]
"""Asks the model: a conversation, and the maximum number of tokens of the answer."""


@dataclass
class Written:
    """A text, with the problems that remain after its repair. Texts with problems are not kept."""

    html: str = ""
    problems: list[Problem] = field(default_factory=list)
    words: int = 0
    marked: int = 0
    repairs: int = 0
    sources: Sequence[Section] = ()
    """The sections that the model got."""

    cited: Sequence[Section] = ()
    digests: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of the cited sections by address."""

    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Estimate:
    """The number of calls for a text without and with repairs, and the usage without repairs."""

    calls: int
    most_calls: int
    input_tokens: int
    output_tokens: int


async def write(
    request: Request, options: WriterOptions, ask: Ask, *, today: date, own: str = ""
) -> Written:
    """Return the text for a request. `today` is the date of a news article.

    `own` is the text around the article on its page, which becomes the first source.

    Raises the errors of `ask`.
    """
    sections: list[Section] = []
    if options.sources.paths:
        sections = await asyncio.to_thread(options.sources.search, request.topic)
        if own.strip():
            title = "the text around the article, on the same page"
            sections.insert(0, Section("", title, own[:MAX_OWN], is_own=True))
    writing = _Writing(request, options, ask, sections)
    document = await writing.write()
    await asyncio.to_thread(writing.finish, document, today)
    return writing.written


def raise_problems(written: Written) -> None:
    """Raise FailedTextError if the text failed a check."""
    if written.problems:
        found = "; ".join(f"{problem.check}: {problem.message}" for problem in written.problems)
        raise FailedTextError(
            f"the model's text failed, also after a repair: {found} (nothing was kept, so the next "
            "build asks and pays again; try a larger model or a shorter length)"
        )


def encode_written(written: Written, model: str) -> bytes:
    """Return the body of the answer with a text (interface section 2.2)."""
    usage = written.usage
    return encode_answer(
        written.html,
        model=model,
        **({"sources": written.digests} if written.digests else {}),
        usage={
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost": usage.cost,
        },
    )


def estimate(request: Request, options: WriterOptions) -> Estimate:
    """Estimate the calls and the usage of a text."""
    words = options.target(request.length)
    prompt = len(system_prompt(request, options)) + len(topic_prompt(request, words))
    prompt += MAX_CHARACTERS if options.sources.paths else 0
    sections = _number_of_sections(request, words)
    calls = 1 + sections
    text = words * 3 // 2
    given = calls * prompt // _CHARACTERS_PER_TOKEN + sections * text // 2
    return Estimate(calls, 2 * calls, given, text)


class _Writing:
    """The conversation with the model about one text."""

    def __init__(
        self, request: Request, options: WriterOptions, ask: Ask, sections: Sequence[Section]
    ) -> None:
        self.words = options.target(request.length)
        self.written = Written(sources=sections)
        self._request = request
        self._ask = ask
        self._sections = sections
        self._site_url = options.fields.site_url
        self._sources = "\n".join(section.text for section in sections)
        topic = topic_prompt(request, self.words)
        self._start: list[Message] = [
            {"role": "system", "content": system_prompt(request, options)},
            {"role": "user", "content": topic + sources_prompt(sections)},
        ]

    async def write(self) -> Document:
        """Return the text. If problems remain after a repair, it can be incomplete."""
        if number := _number_of_sections(self._request, self.words):
            return await self._long_text(number)
        return (await self._checked(self._start, self.words, ALL_CHECKS)).document

    def finish(self, document: Document, today: date) -> None:
        """Add the HTML of a document to what was written."""
        self.written.words = document.words
        self.written.cited = cite(document, self._sections, self._site_url)
        addresses = ((address_of(it, self._site_url), it.digest) for it in self.written.cited)
        self.written.digests = {address: digest for address, digest in addresses if address}
        html = to_html(
            document,
            self._request.type,
            given=f"{self._request.topic}\n{self._sources}",
            day=today,
            names=bool(self._sections),  # without sources, all names would be marked
            after=sources_list(self.written.cited, self._site_url),
        )
        try:
            parse_article(html)
        except UnsafeHTMLError as error:
            self.written.problems = self.written.problems or [Problem("shape", str(error))]
        else:
            self.written.html, self.written.marked = html, count_marks(html)

    async def _long_text(self, number: int) -> Document:
        """Write a plan, and then each section."""
        message = Message(role="user", content=fill("plan", sections=number))
        plan = await self._checked([*self._start, message], 50 * number, self._plan_checks(number))
        document = Document(plan.document.title)
        headings = plan.document.headings
        text = ""
        for index, heading in enumerate(headings):
            if self.written.problems:
                return document
            words = max(50, (self.words - document.words) // (number - index))
            place = {
                0: "Before its heading, write the paragraph that opens the whole text.",
                number - 1: "After the section, write a last paragraph that ends the whole text.",
            }.get(index, "")
            prompt = fill(
                "section",
                plan=clean_answer(plan.completion.text),
                text=text.strip() or "(nothing)",
                number=index + 1,
                sections=number,
                heading=heading,
                words=words,
                place=place,
            )
            messages = [*self._start, Message(role="user", content=prompt)]
            checks = [
                *SECTION_CHECKS,
                *([opening_problem] if index == 0 else []),
                *([closing_problem] if index == number - 1 else []),
            ]
            section = await self._checked(messages, words, checks, document.blocks)
            document.blocks += section.document.blocks
            text += f"\n\n{clean_answer(section.completion.text)}"
        if not self.written.problems:
            whole = Draft(
                self._request, Completion(text), document, self.words, sources=self._sources
            )
            self.written.problems = failed_checks(whole, ALL_CHECKS)
        return document

    def _plan_checks(self, number: int) -> tuple[Check, ...]:
        def plan_problem(draft: Draft) -> str | None:
            found = len(draft.document.headings)
            if found != number:
                return f"the plan has {found} sections with '## '; it needs {number}"
            return None

        return (*PLAN_CHECKS, plan_problem)

    async def _checked(
        self,
        messages: Sequence[Message],
        words: int,
        checks: Sequence[Check],
        earlier: Sequence[Block] = (),
    ) -> Draft:
        """Return a checked text, repaired once if needed, and record the problems that remain."""
        draft, problems = await self._draft(messages, words, checks, earlier)
        if problems:
            self.written.repairs += 1
            messages = _with_repair(messages, draft.completion, problems)
            draft, problems = await self._draft(messages, words, checks, earlier)
        self.written.problems = problems
        return draft

    async def _draft(
        self,
        messages: Sequence[Message],
        words: int,
        checks: Sequence[Check],
        earlier: Sequence[Block],
    ) -> tuple[Draft, list[Problem]]:
        completion = await self._call(messages, words)
        # In a thread, so that calls for other texts do not wait for it.
        return await asyncio.to_thread(self._read, completion, words, checks, earlier)

    def _read(
        self,
        completion: Completion,
        words: int,
        checks: Sequence[Check],
        earlier: Sequence[Block],
    ) -> tuple[Draft, list[Problem]]:
        text = clean_answer(completion.text)
        document = read_markdown(text, title=self._request.topic, words=words)
        draft = Draft(self._request, completion, document, words, earlier, self._sources)
        return draft, failed_checks(draft, checks)

    async def _call(self, messages: Sequence[Message], words: int) -> Completion:
        completion = await self._ask(messages, words * TOKENS_PER_WORD + TOKENS_FOR_THINKING)
        self.written.usage += completion.usage
        return completion


def _with_repair(
    messages: Sequence[Message], completion: Completion, problems: Sequence[Problem]
) -> list[Message]:
    listed = "\n".join(f"- {problem.message}" for problem in problems)
    return [
        *messages,
        {"role": "assistant", "content": clean_answer(completion.text) or "(nothing)"},
        {"role": "user", "content": fill("repair", problems=listed)},
    ]


def _number_of_sections(request: Request, words: int) -> int:
    """Return the number of sections with a call of their own, or 0 for a text of one call."""
    if request.length != "long":
        return 0
    if isinstance(request, BlogRequest) and request.format == "listicle":
        items = items_of(request.topic)
        if items:
            return items if words // items >= _LEAST_WORDS else 0
    return max(3, round(words / WORDS_PER_SECTION))
