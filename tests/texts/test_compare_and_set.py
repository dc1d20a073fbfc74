"""Nobody's words are lost when two people, or a person and a run, change one text at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from approved_texts import approve, save_approved
from client_double import ClientDouble
from msgspec import structs
from redis_server import redis_running

from mkdocs_contentgen.errors import ApprovalError
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.service.protocol import Attempt, Client
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.generation import Generation
from mkdocs_contentgen.texts.lookup import look_up
from mkdocs_contentgen.texts.policy import SendingOptions
from mkdocs_contentgen.texts.store import ChangedError, DiskStore, Kept, decode_kept, row_key
from mkdocs_contentgen.texts.store.shared import SharedStore

ROUNDS = 40
ARTICLE = "<article><h1>T</h1><p>{}</p></article>"
KEY = "a" * 64
TEXT = Text("<article>Text.</article>", datetime(2026, 11, 20, tzinfo=UTC), {}, edits=Edits())


@pytest.fixture(params=["disk", pytest.param("redis", marks=pytest.mark.system)])
def open_stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[DiskStore]]:
    """Return the caches of two programs, with Redis of two machines."""
    if request.param == "disk":
        yield [DiskStore(tmp_path / "cache") for _ in range(2)]
        return
    with redis_running() as server:
        yield [SharedStore(tmp_path / name, server.url) for name in "ab"]


def at_once(*acts: Callable[[], None]) -> None:
    """Do several things at the same time, and fail if one fails."""
    errors: list[BaseException] = []

    def run(act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001  raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_two_people_add_words_at_once(open_stores: list[DiskStore]) -> None:
    """In 40 rounds, each word that was saved stays; who was late begins with the other's text."""
    one, other = open_stores
    one.save({KEY: TEXT})
    conflicts = []
    both_have_read = threading.Barrier(2)

    def add(store: DiskStore, name: str) -> None:
        for number in range(ROUNDS):
            text = store.load([KEY], newest=True)[0][KEY]
            both_have_read.wait()
            while True:
                changed = structs.replace(text, html=f"{text.html} {name}{number}")
                try:
                    store.save({KEY: changed}, replacing={KEY: text})
                    break
                except ChangedError as error:
                    assert error.now is not None
                    conflicts.append(error.now)
                    text = error.now
        store.close()

    at_once(lambda: add(one, "a"), lambda: add(other, "b"))
    found, problems = one.load([KEY], newest=True)
    one.close()
    assert problems == []
    words = found[KEY].html.split()
    assert sorted(words[1:]) == sorted(f"{name}{n}" for name in "ab" for n in range(ROUNDS))
    assert len(conflicts) >= ROUNDS


def test_the_first_text_is_saved_once(open_stores: list[DiskStore]) -> None:
    """Where there was no text, the second one of two is told so."""
    one, other = open_stores
    one.save({KEY: TEXT}, replacing={KEY: None})
    with pytest.raises(ChangedError) as raised:
        other.save({KEY: structs.replace(TEXT, html="other")}, replacing={KEY: None})
    assert raised.value.now == TEXT
    for store in open_stores:
        assert store.load([KEY])[0] == {KEY: TEXT}
        store.close()


def test_another_machine_has_changed_a_text(open_stores: list[DiskStore]) -> None:
    """Whoever looks for the newest text gets it, whatever was cached before."""
    one, other = open_stores
    one.save({KEY: TEXT})
    assert other.load([KEY])[0] == {KEY: TEXT}
    newer = structs.replace(TEXT, html="newer")
    one.save({KEY: newer}, replacing={KEY: TEXT})
    assert other.load([KEY], newest=True)[0] == {KEY: newer}
    assert other.load([KEY])[0] == {KEY: newer}
    for store in open_stores:
        store.close()


class Silent(ClientDouble):
    """A client that nobody asks."""

    async def generate(self, asked: PageRequest, attempt: Attempt) -> Text:
        """Refuse."""
        raise NotImplementedError


def test_a_person_changes_a_draft_that_is_being_replaced(open_stores: list[DiskStore]) -> None:
    """The person's words stay, and the new text, which was paid for, is kept beside them."""
    store, other = open_stores
    request = BlogRequest(topic="Alpha")
    key = request.key(sandbox=False)
    before = structs.replace(TEXT, edits=None)
    mine = structs.replace(TEXT, html="my words")
    new = structs.replace(TEXT, html="new", edits=None)
    store.save({key: before})
    assert other.load([key])[0] == {key: before}

    async def ask(client: Client, asked: PageRequest, attempt: Attempt) -> Text:
        other.save({key: mine}, replacing={key: before})
        other.close()
        return new

    generation = Generation(SendingOptions(store, lambda: nullcontext(Silent()), ask=ask))
    outcomes = asyncio.run(generation.run({key: PageRequest(request)}, replaced=[key]))
    assert outcomes[key].text == mine
    assert "people have changed a draft meanwhile" in generation.problems[-1]
    assert store.load([key, row_key("generated", key)])[0] == {
        key: mine,
        row_key("generated", key): new,
    }
    store.close()


@pytest.mark.parametrize("operation", ["", "update", "translate"])
@pytest.mark.parametrize("is_agreed", [True, False])
def test_a_new_text_over_human_edits(tmp_path: Path, operation: str, is_agreed: bool) -> None:
    """They stay, unless a person has agreed to lose them as they are; then they are kept."""
    request = BlogRequest(topic="Alpha")
    key = request.key(sandbox=False)
    mine = structs.replace(TEXT, html=ARTICLE.format("Mine."), written_by="Ann")
    new = structs.replace(TEXT, html=ARTICLE.format("New."), edits=None)
    store = DiskStore(tmp_path)
    store.save({key: mine})

    async def ask(client: Client, asked: PageRequest, attempt: Attempt) -> Text:
        return new

    options = SendingOptions(
        store,
        lambda: nullcontext(Silent()),
        ask=ask,
        operations={key: operation} if operation else {},
        agreed=frozenset([mine.version if is_agreed else TEXT.version]),
    )
    generation = Generation(options, refresh=not operation)
    outcomes = asyncio.run(generation.run({key: PageRequest(request)}, replaced=[key]))
    found = store.load([key])[0][key]
    assert outcomes[key].text == found
    if is_agreed:
        assert found.html == new.html
        [kept] = map(decode_kept, store.load_kept(key))
        assert kept == Kept(new.version, mine)
    else:
        assert found == mine
        assert "people have changed a draft meanwhile" in generation.problems[-1]
    store.close()


def test_words_of_a_person_do_not_expire(tmp_path: Path) -> None:
    """`max_age` asks for a new text in place of one that nobody has changed."""
    store = DiskStore(tmp_path)
    requests = {name: BlogRequest(topic=name) for name in ("changed", "as it was")}
    texts = {"changed": TEXT, "as it was": structs.replace(TEXT, edits=None)}
    store.save(texts)
    outcomes, _ = look_up(requests, store, max_age=timedelta(days=1))
    assert outcomes["changed"].error is None
    assert "old" in str(outcomes["as it was"].error)


def test_two_approvals_at_once(tmp_path: Path) -> None:
    """In 40 rounds, one of two approvals of the same text counts, and the other is told so."""
    path = tmp_path / "page.md/main.html"
    for number in range(ROUNDS):
        before = read_approved(path, tmp_path)
        said: list[str] = []

        def approve_as(name: str, number: int = number, said: list[str] = said) -> None:
            text = structs.replace(TEXT, html=f"<article>{name}{number}</article>")
            try:
                new = approve(text, KEY, "writer", name)
                save_approved(path, tmp_path, new, before=before)  # noqa: B023
            except ApprovalError as error:
                said.append(str(error))

        at_once(lambda: approve_as("a"), lambda: approve_as("b"))
        now = read_approved(path, tmp_path)
        assert now is not None
        assert now.text.html in (f"<article>{name}{number}</article>" for name in "ab")
        assert len(said) == 1
        assert "by somebody else" in said[0]


def test_an_edit_in_an_editor_is_not_overwritten(tmp_path: Path) -> None:
    """An approval that was prepared before a person saved the file writes nothing."""
    path = tmp_path / "page.md/main.html"
    save_approved(path, tmp_path, approve(TEXT, KEY, "writer", "Jo"))
    before = read_approved(path, tmp_path)
    path.write_text(path.read_text().replace("Text.", "Text. By hand."))
    edited = path.read_text()
    with pytest.raises(ApprovalError, match="by somebody else"):
        save_approved(path, tmp_path, approve(TEXT, KEY, "writer", "Jo"), before=before)
    assert path.read_text() == edited
