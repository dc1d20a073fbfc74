"""The three requests, their keys, and what front matter asks for."""

from __future__ import annotations

import unicodedata
from itertools import combinations

import msgspec
import pytest
from golden_file import cases
from hypothesis import given
from hypothesis import strategies as st

from mkdocs_contentgen.requests import (
    REQUEST_TYPES,
    ArticleRequest,
    BlogRequest,
    NewsRequest,
    Problem,
    Request,
    check_defaults,
    parse_front_matter,
)

CASES = cases("requests")

BLOG = BlogRequest(topic="Ten ways to speed up a docs build", format="listicle")

VARIATIONS: list[Request] = [
    ArticleRequest(topic="T"),
    *(ArticleRequest(topic="T", focus=focus) for focus in ("research", "review")),
    *(ArticleRequest(topic="T", audience=audience) for audience in ("academic", "expert")),
    *(ArticleRequest(topic="T", length=length) for length in ("short", "long")),
    ArticleRequest(topic="t"),
    ArticleRequest(topic="T T"),
    ArticleRequest(topic="T", revision=2),
    BlogRequest(topic="T"),
    *(BlogRequest(topic="T", style=style) for style in ("casual", "technical")),
    *(BlogRequest(topic="T", format=format_) for format_ in ("howto", "listicle")),
    BlogRequest(topic="T", length="short"),
    NewsRequest(topic="T"),
    *(NewsRequest(topic="T", tone=tone) for tone in ("investigative", "editorial")),
    NewsRequest(topic="T", revision=11),
]


def test_the_key_of_a_request_never_changes() -> None:
    """These keys are in caches and approved files everywhere: another one is paid for again."""
    assert [BLOG.key(sandbox=False), BLOG.key(sandbox=True)] == [
        "a3fdaf8b8df82a14bd3801a5aca6e4f3746bae7950479ce28e402f20de8972ad",
        "ef5482362debd94b1e39cb5a00e762863ee96b2ddd7f9490059ef941eedd90ec",
    ]
    news = NewsRequest(topic="Größe „zählt“ \N{GRINNING FACE}", tone="editorial", revision=3)
    assert news.key(sandbox=False) == (
        "a11724714148c740a683a44f75f16a54fa8fbf539c6c4a2b6096492990771d8b"
    )
    assert ArticleRequest(topic="Coral reefs").key(sandbox=False) == (
        "bd8c9b893592f4d3cecd40ee6135d04e975ce9afeec1eb9e89b7a387757b31dc"
    )


def test_sources_that_no_file_can_have() -> None:
    """An unpaired surrogate is a problem, also in the defaults, and equal paths are one."""
    problems = check_defaults({"sources": ["\ud800.md"]})
    assert [problem.path for problem in problems] == [("defaults", "sources")]
    one = BlogRequest(topic="T", sources=("e\u0301.md", "\u00e9.md", "b.md"))
    assert one.sources == ("\u00e9.md", "b.md")


def test_a_brief_is_part_of_the_key() -> None:
    """A request without one is what it always was, and each brief makes another text."""
    plain, other = BlogRequest(topic="T"), BlogRequest(topic="T", brief=" It is fast.\n")
    assert other.brief == "It is fast."
    assert "brief" not in {*plain.body(), *plain.record()}
    assert other.body() == {**plain.body(), "brief": "It is fast."}
    assert plain.key(sandbox=False) != other.key(sandbox=False)
    assert plain.key(sandbox=False) == BlogRequest(topic="T", brief="").key(sandbox=False)
    with pytest.raises(ValueError, match="4000"):
        BlogRequest(topic="T", brief="x" * 4001)


def test_a_language_and_sources_are_part_of_the_key() -> None:
    """Where they are set; sources are not sent. A language has one spelling."""
    plain = BlogRequest(topic="T", language="", sources=())
    assert plain.key(sandbox=False) == BlogRequest(topic="T").key(sandbox=False)
    german = BlogRequest(topic="T", language="DE-at")
    assert german.body() == {**plain.body(), "language": "de-AT"}
    assert german == BlogRequest(topic="T", language="de-AT")
    grounded = BlogRequest(topic="T", sources=("a.md", "b.md"))
    assert grounded.body() == plain.body()
    assert grounded.record() == {**plain.record(), "sources": ["a.md", "b.md"]}
    others = [plain, german, grounded, BlogRequest(topic="T", sources=("b.md", "a.md"))]
    assert len({it.key(sandbox=False) for it in others}) == 4
    assert msgspec.convert(grounded.record(), BlogRequest) == grounded


@pytest.mark.parametrize(("tag", "spelling"), CASES["language_tags"])
def test_language_tags(tag: str, spelling: str | None) -> None:
    """A tag has language, script, region and variants, of which each can be missing."""
    if spelling is None:
        with pytest.raises(ValueError, match="language"):
            BlogRequest(topic="T", language=tag)
    else:
        assert BlogRequest(topic="T", language=tag).language == spelling


@pytest.mark.parametrize(
    "same",
    [
        BlogRequest(topic=f"\n {BLOG.topic}\u2003", format="listicle"),
        BlogRequest(topic=BLOG.topic, format="listicle", id="another"),
        BlogRequest(
            type="blog",
            topic=BLOG.topic,
            length="medium",
            style="professional",
            format="listicle",
            revision=1,
        ),
    ],
    ids=["white space around the topic", "another id", "defaults written out"],
)
def test_equal_requests_have_one_key(same: Request) -> None:
    """What gets the same text from the service is paid for once."""
    assert same.key(sandbox=False) == BLOG.key(sandbox=False)


def test_a_topic_has_one_key_however_it_was_typed() -> None:
    """A Mac's decomposed letters are the same topic."""
    topic = "Café Größe Åland"
    forms = [unicodedata.normalize(form, topic) for form in ("NFC", "NFD")]
    assert forms[0] != forms[1]
    assert len({NewsRequest(topic=form).key(sandbox=False) for form in forms}) == 1
    assert NewsRequest(topic=forms[1]).body()["topic"] == forms[0]


def test_every_difference_makes_another_key() -> None:
    """Operation, each field, revision and sandbox tell texts apart."""
    keys = [
        (request.key(sandbox=sandbox), request, sandbox)
        for request in VARIATIONS
        for sandbox in (False, True)
    ]
    for (one, *left), (other, *right) in combinations(keys, 2):
        assert one != other, (left, right)


def test_the_defaults_are_those_of_the_interface() -> None:
    """Omitted fields take the values of interface section 2.1."""
    assert [model(type=name, topic="T").body() for name, model in REQUEST_TYPES.items()] == [
        {"topic": "T", "length": "medium", "focus": "analysis", "audience": "general"},
        {"topic": "T", "length": "medium", "style": "professional", "format": "narrative"},
        {"topic": "T", "length": "medium", "tone": "neutral"},
    ]


def test_a_request_cannot_be_changed() -> None:
    """A key that was looked up stays the key of that request."""
    with pytest.raises(AttributeError):
        setattr(BLOG, "topic", "Another")  # noqa: B010  a type checker refuses it as well


def test_a_topic_has_a_limit() -> None:
    """A text whose request is too long for a cache would be paid for in each build."""
    meta = {"contentgen": {"type": "blog", "topic": "x" * 20_000}}
    assert parse_front_matter(meta)[1] == []
    meta["contentgen"]["topic"] += "x"
    [problem] = parse_front_matter(meta)[1]
    expected = "contentgen.topic: expected visible, valid text of at most 20,000 characters, found"
    assert str(problem).startswith(expected)


@pytest.mark.parametrize(("name", "message"), CASES["half_a_character_is_no_value"])
def test_half_a_character_is_no_value(name: str, message: str) -> None:
    """A lone surrogate, which no JSON body can carry, is refused before it is sent."""
    fields = {"type": "blog", "topic": "x", name: "half \ud83d"}
    requests, problems = parse_front_matter({"contentgen": fields})
    assert requests == []
    assert [str(problem) for problem in problems] == [
        f"contentgen.{name}: expected {message}, found 'half \\ud83d'"
    ]
    with pytest.raises(ValueError):
        BlogRequest(**fields)  # type: ignore[arg-type]  # as a program without types may


def test_a_page_without_the_key_asks_for_nothing() -> None:
    """Other front matter is none of the plugin's business."""
    assert parse_front_matter({"title": "T", "ContentGen": 5}, {"length": "short"}) == ([], [])


HUGE = 16**4400
"""More digits than Python prints; YAML brings them as `0x…`."""


@pytest.mark.parametrize(
    "meta",
    [
        {"contentgen": HUGE},
        {"contentgen": [HUGE, -HUGE]},
        {"contentgen": {"type": HUGE}},
        {"contentgen": {"type": "news", "topic": [[HUGE]], "revision": -HUGE, "id": HUGE}},
        {"contentgen": {"type": "news", "topic": "T", "revision": HUGE}},
        {"contentgen": {"type": "news", "topic": "T", HUGE: "key"}},
        {"contentgen": {"type": "news"}, "title": HUGE},
    ],
    ids=["value", "entries", "type", "fields", "revision", "key", "title"],
)
def test_a_number_that_python_cannot_print_is_a_problem(meta: dict[str, object]) -> None:
    """Nothing but problems comes of it, and each is a line."""
    requests, problems = parse_front_matter(meta, {"length": HUGE})
    assert requests == []
    assert problems
    assert all(one_line(problem) for problem in [*problems, *check_defaults({"blog": HUGE})])


@pytest.mark.parametrize(
    ("key", "shown"), [("lenght", "lenght"), ("a\nb", "'a\\nb'"), ("", "''"), (5, "5")]
)
def test_a_key_that_no_request_has(key: object, shown: str) -> None:
    """The place of its problem is on one line: what cannot be printed is in quotes."""
    _, problems = parse_front_matter({"contentgen": {"type": "news", "topic": "T", key: 1}})
    assert [problem.path for problem in problems] == [("contentgen", shown)]


def test_an_empty_list_of_requests() -> None:
    """It asks for nothing, and so it is a mistake of the page."""
    requests, problems = parse_front_matter({"contentgen": []})
    assert requests == []
    assert [problem.path for problem in problems] == [("contentgen",)]


def test_a_list_that_doubles_itself_is_shown_in_a_moment() -> None:
    """Forty lists within lists, each twice, would be a message of some terabytes."""
    value: object = "x"
    for _ in range(40):
        value = [value, value]
    _, problems = parse_front_matter({"contentgen": {"type": "news", "topic": value, "id": value}})
    assert [problem.path for problem in problems] == [("contentgen", "topic"), ("contentgen", "id")]
    assert all(len(str(problem)) < 200 for problem in problems)


def one_line(problem: Problem) -> bool:
    """Tell whether a problem is a line that any terminal can show."""
    text = str(problem)
    return len(text.splitlines()) == 1 and bool(text.encode())


@given(
    topic=st.text(min_size=1).filter(str.strip),
    request=st.sampled_from(VARIATIONS),
    revision=st.integers(1, 10**9),
)
def test_the_key_of_any_topic_survives_normalisation(
    topic: str, request: Request, revision: int
) -> None:
    """A topic read back from what was sent has the key of what was asked for."""
    model = type(request)
    first = msgspec.structs.replace(request, topic=topic, revision=revision)
    again = msgspec.convert(first.record(), model)
    decomposed = msgspec.structs.replace(first, topic=f" {unicodedata.normalize('NFD', topic)}\n")
    assert first.key(sandbox=False) == again.key(sandbox=False) == decomposed.key(sandbox=False)


@pytest.mark.parametrize("topic", ["", " ", "\u200b", "\u200b \u2060\ufeff", "\u00ad\u202e"])
def test_a_topic_that_nobody_sees(topic: str) -> None:
    """It is none."""
    with pytest.raises(ValueError, match="topic"):
        BlogRequest(topic=topic)
