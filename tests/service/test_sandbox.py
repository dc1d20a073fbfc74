"""The sandbox answers as the interface document describes, and writes what it is asked for."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import date
from typing import Any

import httpx
import msgspec
import pytest
from bs4 import BeautifulSoup, Tag
from golden_file import cases
from hypothesis import given
from hypothesis import strategies as st
from service_double import FIELDS as INTERFACE
from starlette.types import Message

from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.requests import REQUEST_TYPES, NewsRequest, choices
from mkdocs_contentgen.service.application import MAX_BODY, allow_everybody, application
from mkdocs_contentgen.service.protocol import (
    MAX_TEXT_BODY,
    OriginalBlock,
    ServiceRequest,
    Translation,
)
from mkdocs_contentgen.service.sandbox import LABEL, app, write_article
from mkdocs_contentgen.translation.translatable import has_words, set_translated, to_translatable

CASES = cases("sandbox")

TOKEN = "s3cr3t-t0ken-0f-the-caller"
TOPIC = "Ten ways to speed up a docs build"
FIELDS = {
    path.removeprefix("/generate-"): {
        name: sorted(known) for name, known in fields.items() if known
    }
    for path, fields in INTERFACE.items()
}
WORDS = {"short": (120, 200), "medium": (300, 450), "long": (700, 1000)}


def combinations(kind: str) -> Iterator[dict[str, str]]:
    """Yield every choice of values that an operation allows."""
    names = FIELDS[kind]
    for values in itertools.product(*names.values()):
        yield dict(zip(names, values, strict=True))


EVERY_BODY = [(kind, fields) for kind in FIELDS for fields in combinations(kind)]


def call(
    path: str = "/generate-article",
    *,
    method: str = "POST",
    query: str = "?user_id=u-1",
    content: bytes | AsyncIterator[bytes] = b'{"topic": "Bees"}',
    headers: Mapping[str, str | None] | None = None,
) -> httpx.Response:
    """Send one request, right in all that is not given; a header of `None` is left out."""
    wanted = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    sent = {k: v for k, v in {**wanted, **(headers or {})}.items() if v is not None}

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client:
            return await client.request(method, path + query, content=content, headers=sent)

    return asyncio.run(send())


def generate(kind: str, body: Mapping[str, object]) -> str:
    """Return the content that comes back for a body."""
    response = call(f"/generate-{kind}", content=json.dumps(body).encode())
    assert response.status_code == 200, response.text
    answer = response.json()
    assert set(answer) == {"success", "content"}
    assert answer["success"] is True
    content = answer["content"]
    assert isinstance(content, str)
    return content


def refusal(response: httpx.Response) -> str:
    """Return the reason that a refusal gives, having made sure that it has the right form."""
    answer = response.json()
    assert set(answer) == {"success", "error"}
    assert answer["success"] is False
    error = answer["error"]
    assert isinstance(error, str)
    assert error
    assert "\n" not in error
    assert TOKEN not in response.text + str(response.headers)
    return error


def write(kind: str, topic: str = TOPIC, **fields: str) -> str:
    """Write a text without HTTP in between."""
    return write_article(msgspec.convert({"topic": topic, **fields}, REQUEST_TYPES[kind]))


def parse(html: str) -> Tag:
    """Return the root element, having made sure that there is one only."""
    soup = BeautifulSoup(html, "html.parser")
    roots = [child for child in soup.children if isinstance(child, Tag) or str(child).strip()]
    assert len(roots) == 1
    root = roots[0]
    assert isinstance(root, Tag)
    assert root.name == "article"
    return root


def find(root: Tag, selector: str) -> Tag:
    """Return the one element that there is of a kind."""
    found = root.select(selector)
    assert len(found) == 1, f"{selector}: {len(found)}"
    return found[0]


def headings(root: Tag) -> list[str]:
    """Return the titles of an article's sections."""
    return [heading.get_text() for heading in root.find_all("h2")]


def sentences(root: Tag) -> list[str]:
    """Return the sentences of an article one by one."""
    blocks = (block.get_text() for block in root.select("p, li, blockquote, .pro-tip"))
    return [sentence for block in blocks for sentence in re.split(r"(?<=[.!?])\s+", block)]


class TestAnswer:
    """What comes back when all is right (interface sections 2.2 and 4)."""

    @pytest.mark.parametrize("kind", FIELDS)
    def test_topic_alone_is_enough(self, kind: str) -> None:
        """A body with nothing but a topic gets an article whose title is the topic."""
        root = parse(generate(kind, {"topic": TOPIC}))
        assert find(root, "h1").get_text() == TOPIC

    def test_tables_above_are_those_of_the_models(self) -> None:
        """The fields of the tests, taken from the interface document, are those of the models."""
        for kind, model in REQUEST_TYPES.items():
            values = {n: sorted(known) for n, known in choices(model).items() if n != "type"}
            assert values == FIELDS[kind]
            assert set(model(topic="x", type=kind).body()) == {"topic", *FIELDS[kind]}

    def test_headers_are_exact(self) -> None:
        """The answer is JSON in UTF-8 whose length in bytes is declared, emoji included."""
        response = call("/generate-blog", content='{"topic": "Übergrößen 🐝"}'.encode())
        assert response.headers["content-type"] == "application/json"
        assert response.headers["content-length"] == str(len(response.content))
        assert "Übergrößen 🐝" in response.content.decode()

    @pytest.mark.parametrize(
        "sent",
        [
            {"headers": {"Content-Type": "application/json; charset=utf-8"}},
            {"headers": {"Content-Type": "Application/JSON"}},
            {"headers": {"Authorization": f"bearer {TOKEN}"}},
            {"headers": {"Authorization": f"Bearer  {TOKEN} "}},
            {"headers": {"Idempotency-Key": "abc"}},
            {"query": "?trace=1&user_id=%C3%BC%20%2B&x="},
            {"content": b'{"topic": "Bees"}'.ljust(MAX_BODY)},
        ],
        ids=range(7),
    )
    def test_other_spellings_are_taken(self, sent: dict[str, Any]) -> None:
        """What HTTP calls the same is taken as the same, up to the largest body."""
        assert call(**sent).json() == call().json()


class TestRefusal:
    """What comes back when something is wrong; the interface leaves it open (section 7)."""

    @pytest.mark.parametrize(
        ("status", "reason", "sent"),
        [
            *((404, "/generate-article, /generate-blog, /generate-news", {"path": path})
              for path in ("/", "/generate", "/generate-article/", "/Generate-news")),
            *((405, "POST", {"method": method}) for method in ("GET", "PUT", "DELETE", "OPTIONS")),
            *((401, "Authorization: Bearer", {"headers": {"Authorization": value}})
              for value in (None, "", "Bearer", "Bearer ", TOKEN, f"Basic {TOKEN}", "Bearerx")),
            *((400, "user_id", {"query": query})
              for query in ("", "?user_id=", "?user_id=%20", "?user=u-1", "?user_id=a&user_id=b",
                            "?user_id=&user_id=b")),
            *((415, "application/json", {"headers": {"Content-Type": value}})
              for value in (None, "", "text/plain", "application/jsonp", "json")),
            *((400, "object", {"content": content})
              for content in (b"null", b"[]", b'"Bees"', b"1", b'[{"topic": "Bees"}]')),
            (413, str(MAX_BODY), {"content": b" " * (MAX_BODY + 1)}),
            # Who may not ask does not learn what is wrong with the question.
            *((401, "", {"query": "", "content": content, "headers": {"Authorization": None}})
              for content in (b"nonsense", b" " * (MAX_BODY + 1))),
        ],
        ids=str,
    )  # fmt: skip
    def test_status(self, status: int, reason: str, sent: dict[str, Any]) -> None:
        """What is wrong has the status that HTTP has for it, its headers, and a reason."""
        response = call(**sent)
        assert response.status_code == status
        assert reason in refusal(response)
        assert response.headers.get("allow") == ("POST" if status == 405 else None)
        assert response.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)

    @pytest.mark.parametrize("second", [b"Bearer b", b"Bearer a", b"Basic b"])
    def test_two_tokens(self, second: bytes) -> None:
        """Two tokens are as good as none."""
        pairs = [(b"authorization", b"Bearer a"), (b"authorization", second)]
        assert drive(pairs, [{"type": "http.request", "body": b"{}"}])[0]["status"] == 401

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"topic=Bees",
            b'{"topic": "Bees"',
            b'{"topic": "Bees",}',
            b"{'topic': 'Bees'}",
            b'{"topic": "B\xffes"}',
            '{"topic": "Bees"}'.encode("utf-16"),
            b'\xef\xbb\xbf{"topic": "Bees"}',
            b'{"topic": NaN}',
            b'{"topic": "Bees", "length": Infinity}',
            b"NaN",
            b'{"topic": "a\nb"}',
            b'{"topic": ' + b"9" * 5000 + b"}",
            b'{"topic": "half a \\ud83d"}',
            b'{"topic": "Bees", "\\ud83d": ""}',
            b"[" * 200_000,
            b'{"a":' * 100_000,
        ],
        ids=range(17),
    )
    def test_not_json(self, content: bytes) -> None:
        """What is not JSON in UTF-8 is 400, also where Python is more lenient than JSON."""
        response = call(content=content)
        assert response.status_code == 400
        assert "JSON" in refusal(response)

    @pytest.mark.parametrize(("kind", "body", "expected"), CASES["values"])
    def test_values(self, kind: str, body: dict[str, object], expected: str) -> None:
        """A value that is not allowed is 422, and the answer says what would be."""
        response = call(f"/generate-{kind}", content=json.dumps(body).encode())
        assert response.status_code == 422
        assert expected in refusal(response)

    @pytest.mark.parametrize(
        ("kind", "name"),
        [("article", "type"), ("blog", "revision"), ("article", "tone"), ("news", "Topic"),
         ("news", "zwei\nZeilen"), ("news", "x" * 10_000)],
    )  # fmt: skip
    def test_unknown_fields(self, kind: str, name: str) -> None:
        """A field that the operation does not have is 422, the plugin's own keys among them."""
        body = json.dumps({"topic": "Bees", name: "x"}).encode()
        response = call(f"/generate-{kind}", content=body)
        assert response.status_code == 422
        error = refusal(response)
        assert f"unknown field '{ascii(name)[1:-1]}"[:60] in error
        assert error.endswith(
            f"allowed are {', '.join(['topic', *FIELDS[kind], 'brief', 'language'])}"
        )
        assert len(error) < 200

    def test_an_update_of_a_long_text(self) -> None:
        """The words of a text of 256 K characters with their translation are more than 1 MiB."""
        words = "言" * 16_000
        blocks = [OriginalBlock(number, "p", words, words) for number in range(16)]
        asked = Translation("ja", [*blocks, OriginalBlock(99, "p", "New.")])
        body = ServiceRequest(NewsRequest(topic="Bees"), asked).body()
        content = msgspec.json.encode(body)
        assert len(content) > MAX_BODY
        response = call("/translate-text", content=content)
        assert [block["block"] for block in response.json()["blocks"]] == [99]
        assert call("/translate-text", content=b" " * (MAX_TEXT_BODY + 1)).status_code == 413

    def test_too_large_without_saying_so(self) -> None:
        """A body of unknown length is read no further than to the limit."""
        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            while True:
                sent += 1
                yield b" " * 2**16

        assert call(content=endless()).status_code == 413
        assert sent == MAX_BODY // 2**16 + 1


def drive(headers: list[tuple[bytes, bytes]], incoming: list[Message]) -> list[Message]:
    """Run the application without a client in between, and return the messages that it sends."""
    scope: Message = {
        "type": "http",
        "method": "POST",
        "path": "/generate-news",
        "query_string": b"user_id=\xff",
        "headers": headers,
    }
    outgoing: list[Message] = []
    waiting = iter(incoming)

    async def receive() -> Message:
        return next(waiting)

    async def send(message: Message) -> None:
        outgoing.append(message)

    asyncio.run(app(scope, receive, send))
    return outgoing


class TestProtocol:
    """What servers expect of an ASGI 3 application."""

    HEADERS = ((b"authorization", b"Bearer x"), (b"content-type", b"application/json"))

    def test_client_gone(self) -> None:
        """A client that leaves before its body is complete gets no text."""
        incoming: list[Message] = [
            {"type": "http.request", "body": b'{"topic": "Bees"}', "more_body": True},
            {"type": "http.disconnect"},
        ]
        assert drive(list(self.HEADERS), incoming)[0]["status"] == 400

    def test_failure_of_the_writer(self) -> None:
        """An exception that nobody foresaw is answered as an error, and logged by the server."""

        async def fail(asked: ServiceRequest, user: str, key: str) -> bytes:
            raise RuntimeError(TOKEN)

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(
                application(fail, allow_everybody), raise_app_exceptions=False
            )
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
                return await client.post(
                    "/generate-news?user_id=u-1",
                    json={"topic": "Bees"},
                    headers={"Authorization": f"Bearer {TOKEN}"},
                )

        response = asyncio.run(send())
        assert response.status_code == 500
        assert "log" in refusal(response)


class TestUpdates:
    """POST /update-text, which the interface does not have."""

    BLOCKS = (
        {"number": 1, "kind": "p", "text": "A person's words.", "is_fixed": True},
        {"number": 2, "kind": "p", "text": "Bees fly."},
    )

    def update(self, **update: object) -> httpx.Response:
        """Send an update of a text about bees."""
        body = {"type": "news", "topic": "Bees", "update": update}
        return call("/update-text", content=json.dumps(body).encode())

    def test_changes(self) -> None:
        """The first paragraph that may change does, with the reason; the answer names no other."""
        answer = self.update(blocks=self.BLOCKS, note="<i>shorter</i>").json()
        [change] = answer["changes"]
        assert (change["block"], change["action"]) == (2, "change")
        assert "&lt;i&gt;shorter" in change["html"]
        assert answer["success"] is True

    def test_nothing_may_change(self) -> None:
        """The answer says why it names no block."""
        answer = self.update(blocks=self.BLOCKS[:1], note="shorter").json()
        assert (answer["changes"], answer["reason"]) == ([], "no paragraph may change")

    def test_no_update(self) -> None:
        """A body without one is refused, and the message names the field."""
        assert "update" in refusal(call("/update-text", content=b'{"type": "news", "topic": "x"}'))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
TITLE = {"number": 1, "kind": "h1", "text": "Bees"}
DONE = {"number": 2, "kind": "p", "text": "Bees fly.", "translation": "Bienen fliegen."}
RICH = {"number": 7, "kind": "p", "text": "See [the hive](1) and `bees --all` ⟦2⟧."}
TRANSLATION = {"language": "de", "blocks": [TITLE, DONE, RICH]}


def translate(translation: object) -> httpx.Response:
    """Send a translation of a text about bees."""
    body = {"type": "news", "topic": "Bees", "translation": translation}
    return call("/translate-text", content=json.dumps(body).encode())


class TestTranslations:
    """POST /translate-text, which the interface does not have."""

    def test_blocks(self) -> None:
        """Each block without a translation gets one, which names the language."""
        answer = translate(TRANSLATION).json()
        assert answer["success"] is True
        assert [(block["block"], block["text"]) for block in answer["blocks"]] == [
            (1, "[de] Bees"),
            (7, "[de] See [the hive](1) and `bees --all` ⟦2⟧."),
        ]
        assert translate(TRANSLATION).json() == answer

    @pytest.mark.parametrize(
        "inner",
        [
            'A <a href="https://x.example/a_b">link</a>, <code>a `b` [c](d)</code>.',
            "Words<br>and more.",
            'A <a href="https://x.example/"><strong>strong</strong> link</a> first.',
            '<a href="https://x.example/">Link</a>',
            "(words) in brackets",
            "[words] in square brackets",
            ": words after a colon",
            "1. no list",
            "# no heading",
            "مرحبا <em>بالعالم</em>",
            "言葉。<mark>2019</mark>",
            'A claim<sup><a href="#source-2">2</a></sup> and H<sub>2</sub>O.',
        ],
    )
    def test_what_has_to_stay(self, inner: str) -> None:
        """Links, code and numbers of a block are in its translation, which a text can have."""
        document = Document(f"<article><h1>T</h1><p>{inner}</p></article>")
        block = document.blocks()[1]
        assert has_words(block)
        before = block.text
        asked = {"number": 1, "kind": block.kind, "text": to_translatable(block)}
        answer = translate({"language": "pt-BR", "blocks": [asked]}).json()
        links = block.links
        set_translated(block, answer["blocks"][0]["text"])
        assert document.blocks()[1].text == f"[pt-BR] {before}"
        assert document.blocks()[1].links == links

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"blocks": []}, "blocks"),
            ({"blocks": [{**TITLE, "number": "secret"}]}, "number"),
            ({"blocks": [{**TITLE, "kind": "<secret>"}]}, "kind"),
            ({"blocks": [{**TITLE, "text": "secret" * 5000}]}, "text"),
            ({"blocks": [{**TITLE, "extra": "secret"}]}, "extra"),
            ({"blocks": [TITLE, TITLE]}, "number"),
            ({"blocks": [{"number": 1, "kind": "p"}]}, "text"),
            ({"blocks": [{**TITLE, "number": number} for number in range(2001)]}, "blocks"),
            ({"language": ""}, "language"),
            ({"language": "secret words for a model"}, "language"),
            ({"language": 7}, "language"),
            ({"from_language": "secret words"}, "from_language"),
            ({"extra": "secret"}, "extra"),
        ],
    )
    def test_wrong(self, change: dict[str, object], named: str) -> None:
        """A translation that is not valid is refused with the field, without its value."""
        answer = translate({**TRANSLATION, **change})
        assert answer.status_code == 422
        reason = refusal(answer)
        assert "translation" in reason
        assert named in reason
        assert "secret" not in reason

    @pytest.mark.parametrize(
        "body",
        [
            {"type": "news", "topic": "Bees"},
            {"type": "poem", "topic": "Bees", "translation": TRANSLATION},
            {"type": "news", "topic": "Bees", "translation": TRANSLATION, "update": {}},
            {"type": "news", "translation": TRANSLATION},
        ],
        ids=["no translation", "type", "update", "topic"],
    )
    def test_wrong_body(self, body: dict[str, object]) -> None:
        """So is a body with other fields than those of the original's request."""
        answer = call("/translate-text", content=json.dumps(body).encode())
        assert answer.status_code == 422
        refusal(answer)

    @given(
        block=st.dictionaries(st.sampled_from(["number", "kind", "text", "x"]), JSON),
        others=st.dictionaries(st.sampled_from(["language", "from_language", "x\n\x1b"]), JSON),
    )
    def test_any_translation(self, block: dict[str, object], others: dict[str, object]) -> None:
        """Whatever a client sends is answered, or refused with a reason."""
        answer = translate({**TRANSLATION, "blocks": [{**TITLE, **block}], **others})
        assert answer.status_code == 200 or refusal(answer).startswith("translation is not valid")

    def test_a_large_text(self) -> None:
        """A text of 5,000 long words in 1,000 blocks, half of them translated, is no problem."""
        words = " ".join(["अंतरराष्ट्रीयकरण"] * 5)
        blocks: list[dict[str, object]] = []
        for number in range(1000):
            translation = words if number % 2 else ""
            blocks.append(
                {"number": number, "kind": "p", "text": words, "translation": translation}
            )
        answer = translate({"language": "hi", "blocks": blocks})
        assert len(answer.json()["blocks"]) == 500


class TestText:
    """What the sandbox writes (interface section 2.2)."""

    @pytest.mark.parametrize(("kind", "fields"), EVERY_BODY)
    def test_kind_length_and_label(self, kind: str, fields: dict[str, str]) -> None:
        """Every text is of the wanted length, labelled, without repetition or placeholders."""
        for topic in (TOPIC, "Sourdough", "Town council approves new bridge", "Bees", "Hiring"):
            html = write(kind, topic, **fields)
            root = parse(html)
            words = root.get_text(" ").split()
            least, most = WORDS[fields["length"]]
            # Ten items need some room, however short the text is to be.
            items = topic == TOPIC and fields.get("format") == "listicle"
            assert least <= len(words) <= (max(most, 320) if items else most)
            assert [p.get_text() for p in root.find_all("p")].count(LABEL) == 1
            assert not re.search(r"[{}]|  ", html)
            said = sentences(root)
            assert len(said) == len(set(said))
            assert len(headings(root)) == len(set(headings(root))) > 0

    @pytest.mark.parametrize("kind", FIELDS)
    def test_topic_is_escaped(self, kind: str) -> None:
        """Markup, quotes and placeholders in a topic are shown and have no effect."""
        topic = '<script>alert(1)</script> & "x" {topic} {date} &amp; </article>'
        html = generate(kind, {"topic": topic})
        root = parse(html)
        assert "<script" not in html
        assert root.find("script") is None
        assert find(root, "h1").get_text() == topic
        assert topic in root.get_text().replace(topic, "", 1)

    @given(
        topic=st.text(min_size=1).filter(lambda topic: topic.strip() != ""),
        body=st.sampled_from(EVERY_BODY),
    )
    def test_any_topic(self, topic: str, body: tuple[str, dict[str, str]]) -> None:
        """Whatever the topic is, there is one root, one title, and it holds the topic as text."""
        kind, fields = body
        request = msgspec.convert({"topic": topic, **fields}, REQUEST_TYPES[kind])
        root = parse(write_article(request))
        assert find(root, "h1").get_text() == request.topic
        assert LABEL in root.get_text()

    @pytest.mark.parametrize("kind", FIELDS)
    def test_the_shape_of_all_types(self, kind: str) -> None:
        """Titles, headings and paragraphs have colours, and the first paragraph is the label."""
        for fields in combinations(kind):
            root = parse(write(kind, **fields))
            assert all("color: #" in str(it["style"]) for it in root.select("h1, h2, p"))
            assert "background-color: #" in str(root)
            assert root.select("p:not(.byline)")[0].get_text() == LABEL

    def test_article(self) -> None:
        """An article has no classes."""
        root = parse(write("article"))
        assert not root.select("[class]")
        assert [child.name for child in root.find_all(recursive=False)][:3] == ["h1", "p", "p"]

    def test_blog(self) -> None:
        """A blog post has its classes, and a tip."""
        root = parse(write("blog"))
        assert root["class"] == ["blog-post"]
        find(root, "p.intro")
        assert "linear-gradient" in str(find(root, "div.pro-tip")["style"])
        assert root.find_all(recursive=False)[-1] is find(root, "p.conclusion")

    @pytest.mark.parametrize(
        ("topic", "items"),
        [("Bees", (4, 6, 12)), ("Ten ways to wait", (10,) * 3), ("2 bees", (2,) * 3),
         ("50 bees", (12,) * 3)],
    )  # fmt: skip
    def test_the_items_of_a_listicle(self, topic: str, items: tuple[int, ...]) -> None:
        """They are numbered, as many as the topic names or the length allows."""
        for length, number in zip(WORDS, items, strict=True):
            found = headings(parse(write("blog", topic, format="listicle", length=length)))
            assert [int(it.partition(". ")[0]) for it in found] == [*range(1, number + 1)]

    def test_news(self) -> None:
        """A news article has header, byline, date, lead, body, quotation and sections."""
        for fields in combinations("news"):
            root = parse(write("news", **fields))
            assert root["class"] == ["news-article"]
            assert find(root, "header > h1").get_text() == TOPIC
            time = find(root, "header > p.byline > time[datetime]")
            day = date.fromisoformat(str(time["datetime"]))
            assert date(2020, 1, 1) <= day < date(2025, 1, 1)
            assert time.get_text() == f"{day.day} {day:%B} {day.year}"
            assert time.get_text() in find(root, "article > p.lead").get_text()
            find(root, "div.article-body > blockquote")
            find(root, "div.article-body > p:first-child")
            assert root.select("div.article-body > h2")
