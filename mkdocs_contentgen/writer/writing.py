"""Write a text with a model: ask, take out what is not a text, check, ask for the rest, make HTML.

A text of one call can be followed by a repair, which asks only for what is missing. The better of
all attempts is kept. A text with remarks is a text; only one that nobody can use is an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from msgspec import structs

from ..errors import FailedTextError, ServiceError, UnsafeHTMLError
from ..html.sanitizer import parse_article
from ..language.words import count_words, split_words
from ..remark import KINDS, Remark, without_repeated
from ..remark_words import sentences_of
from ..requests import Request
from ..service.protocol import UNOBSERVED, Attempt, encode_answer
from ..text import Text, clean_fields, within_limits
from ..topics import is_listicle, items_of
from .answers.answers import answer_so_far, read_answer
from .answers.article_blocks import read_article
from .answers.degenerate import find_loop
from .answers.document import MarkdownBlock, MarkdownDocument
from .answers.links import link_remarks, remarks_on_html_links
from .answers.markdown import as_section, read_markdown, to_html
from .answers.reading import join_texts, mend_answer, trim, whole_paragraphs
from .checks import Candidate
from .models.completion import Ask, Completion, Message, ModelCall, Watch, ask_nobody
from .models.kept_answers import KeptAnswers
from .models.settings import WriterOptions, public_name
from .models.usage import CHARACTERS_PER_TOKEN, Usage
from .prompts import fill, is_small, sources_prompt, system_prompt, topic_prompt
from .repairs import find_repair, insert_part
from .sources.citations import citation_of, cite, sources_list
from .sources.retrieval import MAX_SOURCE_CHARACTERS
from .sources.sources import Passage

WORDS_PER_SECTION = 350
"""The number of words of a section of a text with a plan."""

MAX_TEXT_AROUND = 4000
"""Characters of the text around an article that become a source."""

TOKENS_PER_WORD = 4
"""The limit of tokens of a call has so many for each word, enough for all languages."""

TOKENS_FOR_THINKING = 4000
"""And so many more, for a model that thinks first."""

MAX_CHARACTERS_PER_TOKEN = 40
"""An answer with more characters for each token of its limit is stopped, also if it is thinking."""

TOO_LONG = 3
"""A text with so many times its target of words is stopped."""

MAX_FAILED = 64 * 1024
"""The maximum length of an answer that nobody can use, in characters. The rest is not kept."""

_MIN_SECTION = 100
"""The minimum number of words of a section. A text with shorter items takes one call."""

_MIN_REST = 50
"""The minimum number of words that are asked for in a further part."""

_WORDS_OF_PLAN = 50
"""The number of words of a plan for each section."""

_LEAST_SECTIONS = 3
"""The minimum number of sections of a text with a plan."""

_LOST = ("lost", "content_filter", "refusal")
"""The finish reasons of texts that another attempt would not improve."""


@dataclass(frozen=True)
class FinishedText:
    """A text that is written, and what it took."""

    text: Text
    words: int
    repairs: int
    usage: Usage

    def encode(self) -> bytes:
        """Return the body of the answer with the text (interface section 2.2)."""
        return encode_answer(self.text, usage=self.usage.fields())


@dataclass(frozen=True)
class Estimate:
    """The number of calls for a text without and with repairs, and the usage without repairs."""

    calls: int
    most_calls: int
    input_tokens: int
    output_tokens: int


async def write(
    request: Request,
    options: WriterOptions,
    ask: Ask,
    *,
    today: date,
    text_around: str = "",
    attempt: Attempt = UNOBSERVED,
) -> FinishedText:
    """Return the text for a request. `today` is the date of a news article.

    `text_around` is that around the article on its page, which becomes the first source. `attempt`
    keeps the answers of a text that takes several calls.

    Raises FailedTextError for a text that nobody can use, and the errors of `ask`.
    """
    passages = await asyncio.to_thread(find_passages, request, options, text_around)
    writing = _Writing(request, options, ask, passages, attempt)
    candidate = await writing.write()
    return await asyncio.to_thread(writing.finish, candidate, today)


def text_from_answer(
    request: Request,
    options: WriterOptions,
    answer: str,
    *,
    author: str = "",
    today: date,
    text_around: str = "",
) -> FinishedText:
    """Return the text in an answer from elsewhere, read and checked as that of the model.

    `author` is the person who wrote it, or empty; what a person says again and again stays. The
    other arguments are those of write(), and its sources are those of prompt(). Raises
    FailedTextError.
    """
    passages = find_passages(request, options, text_around)
    writing = _Writing(request, options, ask_nobody, passages, UNOBSERVED)
    candidate = writing.read_whole(answer, by_person=bool(author))
    return writing.finish(candidate, today, author)


def remarks_on_form(request: Request, options: WriterOptions, html: str) -> tuple[Remark, ...]:
    """Return what is to be said of the form of a text that a person has changed.

    Raises FailedTextError for what is not a text, and UnsafeHTMLError.
    """
    writing = _Writing(request, options, ask_nobody, (), UNOBSERVED)
    remarks = writing.remarks_on(read_article(parse_article(html)))
    # Cleaned as those are that are stored with a text.
    found: tuple[Remark, ...] = clean_fields({"remarks": remarks}).get("remarks", ())
    return found


def prompt(request: Request, options: WriterOptions, passages: Sequence[Passage]) -> list[Message]:
    """Return what a model is asked first, with what find_passages() has found."""
    topic = topic_prompt(request, options.target(request.length))
    return [
        {"role": "system", "content": system_prompt(request, options)},
        {"role": "user", "content": topic + sources_prompt(passages)},
    ]


def find_passages(
    request: Request, options: WriterOptions, text_around: str = "", note: str = ""
) -> list[Passage]:
    """Return the passages of sources for a text, or a change of it.

    The text around the article becomes the first one.
    """
    if not (options.sources.paths or request.sources):
        return []
    query = f"{request.topic}\n{request.brief}\n{note}"
    passages = options.sources.search(query, request.sources)
    if text_around.strip():
        title = "the text around the article, on the same page"
        passages.insert(0, Passage("", title, text_around[:MAX_TEXT_AROUND], is_own=True))
    return passages


def estimate(request: Request, options: WriterOptions) -> Estimate:
    """Estimate the calls and the usage of a text."""
    words = options.target(request.length)
    sections = _number_of_sections(request, options)
    calls = 1 + sections  # the first one is for the plan, or for all of the text
    calls_with_repairs = 1 + options.fields.repairs
    if sections:
        most_calls = 1 + _most_sections(request, sections) * calls_with_repairs
    else:
        most_calls = calls_with_repairs
    prompt_length = len(system_prompt(request, options)) + len(topic_prompt(request, words))
    if options.sources.paths or request.sources:
        prompt_length += MAX_SOURCE_CHARACTERS
    output_tokens = words * 3 // 2  # one or two for a word
    input_tokens = calls * prompt_length // CHARACTERS_PER_TOKEN
    input_tokens += sections * output_tokens // 2  # each is asked for with the text so far
    return Estimate(calls, most_calls, input_tokens, output_tokens)


@dataclass(frozen=True)
class _Plan:
    """The plan of a long text, in Markdown, and the headings of its sections."""

    text: str
    headings: Sequence[str]


@dataclass
class _Sections:
    """The sections of a long text that are written so far."""

    document: MarkdownDocument
    text: str = ""
    """The same in Markdown."""

    remarks: list[Remark] = field(default_factory=list)

    def add(self, section: Candidate, plan: _Plan, index: int) -> None:
        """Add a section, or say that it is missing."""
        self.remarks += section.repaired
        heading = plan.headings[index]
        if section.problem:
            values = {"heading": heading, "because": section.problem}
            self.remarks.append(Remark("section_missing", values=values))
            return
        if section.completion.is_cut:
            values = {"heading": heading, "said": section.completion.server_words}
            self.remarks.append(Remark("section_cut", values=values))
        later = plan.headings[index + 1 :]
        self.document.blocks += as_section(section.document, heading, later)
        self.text += f"\n\n{section.text}"


class _Writing:
    """The conversation with the model about one text."""

    def __init__(
        self,
        request: Request,
        options: WriterOptions,
        ask: Ask,
        passages: Sequence[Passage],
        attempt: Attempt,
    ) -> None:
        self._target = options.target(request.length)
        self._request = request
        self._options = options
        self._ask = KeptAnswers(ask, attempt, options.fields.model)
        self._report = attempt.report
        self._passages = passages
        given = [passage.text for passage in passages]
        if passages:
            given.append(options.site_names)
        self._sources = "\n".join(given)
        self._is_small = is_small(options.fields.model)
        self._repairs = 0
        self._first_messages = prompt(request, options, passages)

    async def write(self) -> Candidate:
        """Return a usable text, repaired if that pays. Raises FailedTextError."""
        candidate = None
        sections = _number_of_sections(self._request, self._options)
        if sections:
            candidate = await self._text_of_sections(sections)
        if candidate is None:
            candidate = await self._best_attempt(self._first_messages, self._target)
            if candidate.problem:
                raise self.failure(candidate.problem, candidate)
        return await self._repaired(candidate)

    def read_whole(self, answer: str, *, by_person: bool) -> Candidate:
        """Return the text in an answer with all of it. Raises FailedTextError."""
        candidate = self.read(Completion(answer), self._target, by_person=by_person)
        if candidate.problem:
            raise self.failure(candidate.problem, candidate)
        return candidate

    def remarks_on(self, document: MarkdownDocument) -> list[Remark]:
        """Return the remarks on a text of a person. Raises FailedTextError."""
        candidate = Candidate(
            self._request,
            Completion(document.text),
            document,
            target=self._target,
            sources=self._sources,
            by_person=True,
        )
        if candidate.problem:
            raise self.failure(candidate.problem, candidate)
        return candidate.remarks

    def finish(self, candidate: Candidate, today: date, author: str = "") -> FinishedText:
        """Return a text as HTML. Raises FailedTextError."""
        document = candidate.document
        fields = self._options.fields
        words = document.words
        links = link_remarks(document)  # before their addresses are taken out
        cited = cite(document, self._passages, fields.site_url)
        remarks = [*candidate.remarks, *_citation_remarks(cited.dropped), *links]
        citations = [citation_of(passage, fields.site_url) for passage in cited.passages]
        html = to_html(
            document,
            self._request.type,
            given=candidate.source_text,
            day=today,
            author=author,
            names=bool(self._passages),  # without sources, all names would be marked
            after=sources_list(
                cited.passages,
                fields.site_url,
                self._request.language,
                self._options.repository,
            ),
            language=self._request.language,
        )
        try:
            parse_article(html)
        except UnsafeHTMLError as error:
            raise self.failure(str(error), candidate) from None
        if fields.strict and remarks:
            reason = f"it has remarks, and {self._options.prefix}strict is true"
            raise self.failure(f"{reason}: {'; '.join(sentences_of(remarks))}", candidate)
        text = Text(
            html,
            datetime.now(UTC),
            self._request.record(),
            public_name(fields.model),
            remarks=tuple(remarks),
        )
        text = within_limits(text.with_citations(citations))
        return FinishedText(text, words, self._repairs, self._ask.usage)

    def failure(self, reason: str, candidate: Candidate) -> FailedTextError:
        """Return the error for a text that nobody can use."""
        return FailedTextError(
            f"the text cannot be used: {reason}",
            candidate.completion.text[:MAX_FAILED],
            model=self._options.fields.model,
            cost=self._ask.usage.cost,
        )

    async def _text_of_sections(self, number: int) -> Candidate | None:
        """Write a plan and then each section, or return None if there is no usable plan."""
        message = Message(role="user", content=fill("plan", sections=number))
        plan_words = _WORDS_OF_PLAN * number
        planned = await self._attempt([*self._first_messages, message], plan_words, is_part=True)
        headings = planned.document.headings[: _most_sections(self._request, number)]
        if planned.problem or len(headings) < 2:
            return None
        plan = _Plan(planned.text, headings)
        written = _Sections(MarkdownDocument(planned.document.title), remarks=[*planned.repaired])
        for index in range(len(headings)):
            section = await self._write_section(plan, index, written)
            written.add(section, plan, index)
        if not written.document.blocks:
            raise self.failure(section.problem, section)  # the last one stands for all
        return Candidate(
            self._request,
            Completion(written.text),
            written.document,
            target=self._target,
            repaired=tuple(without_repeated(written.remarks)),
            sources=self._sources,
            text=written.text.strip(),
        )

    async def _write_section(self, plan: _Plan, index: int, written: _Sections) -> Candidate:
        """Return the next section of a plan, which has its part of the words that are left."""
        words_left = self._target - written.document.words
        words = max(_MIN_REST, words_left // (len(plan.headings) - index))
        place = ""
        if index == 0:
            place = "Before its heading, write the paragraph that opens the whole text."
        elif index == len(plan.headings) - 1:
            place = "After the section, write a last paragraph that ends the whole text."
        asked = fill(
            "small_section" if self._is_small else "section",
            plan=plan.text,
            text=written.text.strip() or "(nothing)",
            number=index + 1,
            sections=len(plan.headings),
            heading=plan.headings[index],
            words=words,
            place=place,
        )
        messages = [*self._first_messages, Message(role="user", content=asked)]
        return await self._best_attempt(messages, words, written.document.blocks)

    async def _best_attempt(
        self, messages: Sequence[Message], words: int, earlier: Sequence[MarkdownBlock] = ()
    ) -> Candidate:
        """Return the better of all attempts, of which there are more if nobody can use the first.

        A text that was cut off is gone on with. Otherwise, a further attempt asks again, since
        small models do not improve a text that they are shown.
        """
        best = await self._attempt(messages, words, earlier)
        for _ in range(self._options.fields.repairs):
            if best.can_go_on:
                again = await self._continued(messages, best)
            elif best.problem and best.completion.finish_reason not in _LOST:
                again = await self._attempt(messages, words, earlier, penalty=True)
            else:
                break
            self._repairs += 1
            best = min(best, again, key=_faults)
        if best.completion.is_cut and not best.problem:
            return self._with_text(best, trim(best.text))
        return best

    async def _continued(self, messages: Sequence[Message], candidate: Candidate) -> Candidate:
        """Return a text that was cut off, with the rest of it if the model writes that."""
        start = whole_paragraphs(candidate.text)
        words = max(_MIN_REST, candidate.target - count_words(split_words(start)))
        conversation = [
            *messages,
            Message(role="assistant", content=start),
            Message(role="user", content=fill("continue", words=words)),
        ]
        try:
            rest = await self._attempt(
                conversation, candidate.target, candidate.earlier, is_part=True
            )
        except ServiceError:
            return candidate  # what is there was paid for
        # A rest that was cut off, too, is better than none.
        if not rest.document.blocks or (rest.problem and not rest.completion.is_cut):
            return candidate
        repaired_parts = (*candidate.repaired, *rest.repaired)
        candidate = replace(candidate, completion=rest.completion, repaired=repaired_parts)
        return self._with_text(candidate, join_texts(start, rest.text))

    async def _repaired(self, candidate: Candidate) -> Candidate:
        """Return a text with what it misses, if the model can write that."""
        fields = self._options.fields
        while self._repairs < fields.repairs:
            repair = find_repair(candidate, fields.tolerance)
            if repair is None:
                break
            self._repairs += 1
            blocks = candidate.document.blocks
            messages = [
                *self._first_messages,
                Message(role="assistant", content=candidate.text),
                Message(role="user", content=repair.prompt),
            ]
            try:
                part = await self._attempt(messages, repair.words, blocks, is_part=True)
            except ServiceError:
                break  # the text is there, and was paid for
            if part.problem or not part.document.blocks:
                continue
            document = replace(candidate.document, blocks=insert_part(blocks, part.document.blocks))
            text = f"{candidate.text}\n\n{part.text}"  # a further repair has to see it
            completion = structs.replace(candidate.completion, text=text)
            repaired = replace(candidate, document=document, completion=completion, text=text)
            candidate = min(candidate, repaired, key=_faults)
        return candidate

    async def _attempt(
        self,
        messages: Sequence[Message],
        words: int,
        earlier: Sequence[MarkdownBlock] = (),
        *,
        penalty: bool = False,
        is_part: bool = False,
    ) -> Candidate:
        has_parts = self._ask.has_answers
        limit = words * TOKENS_PER_WORD + TOKENS_FOR_THINKING
        before = sum(len(block.words) for block in earlier)
        watch = self._watch(words, before, MAX_CHARACTERS_PER_TOKEN * limit)
        # Without a penalty, most texts of small models are loops.
        penalty = penalty or self._is_small
        completion = await self._ask(ModelCall(messages, limit, watch, penalty))
        if completion.error and has_parts:
            raise completion.error  # the next build goes on with what is written already
        # In a thread, so that calls for other texts do not wait for it.
        return await asyncio.to_thread(self.read, completion, words, earlier, is_part=is_part)

    def _watch(self, words: int, before: int, characters: int) -> Watch:
        """Return what stops an answer that is too long, or repeats itself.

        `words` is its target, `before` the number of words that are written already, and
        `characters` the most that it can have, with its thoughts.
        """

        def watch(text: str) -> str:
            if len(text) > characters:
                return "too long"
            text = answer_so_far(text)
            written = count_words(split_words(text))
            self._report(before + written, self._target)
            if written > TOO_LONG * words:
                return "too long"
            return "loop" if find_loop(text) is not None else ""

        return watch

    def read(
        self,
        completion: Completion,
        words: int,
        earlier: Sequence[MarkdownBlock] = (),
        *,
        is_part: bool = False,
        by_person: bool = False,
    ) -> Candidate:
        """Return the text in an answer, repaired. `words` is its target."""
        answer, remarks, is_framed = read_answer(completion.text)
        reason = completion.finish_reason
        loop = None if by_person else find_loop(answer)
        if loop is not None:
            answer = answer[:loop]
            reason = "loop"
        if reason in ("loop", "too long"):
            answer = trim(answer)
        text, changes = mend_answer(answer, has_talk=not (by_person or is_framed))
        remarks += changes
        if loop is not None:
            remarks.append(Remark("repaired_loop"))
        candidate = Candidate(
            self._request,
            structs.replace(completion, finish_reason=reason),
            MarkdownDocument(),
            target=words,
            repaired=tuple(remarks),
            earlier=earlier,
            sources=self._sources,
            is_part=is_part,
            by_person=by_person,
        )
        return self._with_text(candidate, text)

    def _with_text(self, candidate: Candidate, text: str) -> Candidate:
        """Return a candidate with another text, in Markdown."""
        document = read_markdown(
            text,
            title=self._request.topic,
            by_person=candidate.by_person,
            has_sources=bool(self._passages),
        )
        remarks = [*candidate.repaired, *document.remarks]
        remarks += remarks_on_html_links(text, document)
        return replace(
            candidate,
            document=document,
            repaired=tuple(sorted(without_repeated(remarks), key=_place_of)),
            text=text or "(nothing)",  # many servers refuse an empty message
        )


def _place_of(remark: Remark) -> int:
    """Return the place of a remark among others."""
    return KINDS.index(remark.kind)


def _citation_remarks(dropped: Sequence[str]) -> list[Remark]:
    if not dropped:
        return []
    shown = ", ".join(dict.fromkeys(dropped))
    return [Remark("citation", values={"numbers": shown})]


def _faults(candidate: Candidate) -> tuple[bool, int, int]:
    """Return how far a text is from what was requested, to compare attempts."""
    words = candidate.document.words
    if candidate.problem:
        return True, 0, -words
    return False, len(candidate.remarks), abs(words - candidate.target)


def _most_sections(request: Request, number: int) -> int:
    """Return how many sections of a plan are written, if `number` are asked for."""
    return number if is_listicle(request) else 2 * number


def _number_of_sections(request: Request, options: WriterOptions) -> int:
    """Return the number of sections with a call of their own, or 0 for a text of one call."""
    if request.length == "short":
        return 0
    chosen = options.fields.sections
    if chosen == "auto":
        has_sections = request.length == "long" or is_small(options.fields.model)
    else:
        has_sections = chosen
    if not has_sections:
        return 0
    words = options.target(request.length)
    items = items_of(request.topic)
    if is_listicle(request) and items:
        return items if words // items >= _MIN_SECTION else 0
    return max(_LEAST_SECTIONS, round(words / WORDS_PER_SECTION))
