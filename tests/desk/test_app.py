"""The desk's routes: what they answer, what they change, and whom they refuse."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from commands import like_a_process, run_here
from conftest import Project
from desk_site import BLOG, HTML, LINK, NEWS, WHEN, make_site, save, save_stale
from msgspec import structs
from remarks import in_words
from repository import commit, git

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.cli.output import article_to_json
from mkdocs_contentgen.desk import app
from mkdocs_contentgen.desk.app import MAX_BODY, DeskApp
from mkdocs_contentgen.desk.builder import Builder
from mkdocs_contentgen.desk.session import DeskSite
from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.html.block import Block
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.remark import Remark, quotation_remarks
from mkdocs_contentgen.site.progress import LineReporter
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.store import DiskStore, row_key

API = "/_contentgen/api/"
DESK, TOKEN = "http://127.0.0.1:8767", "secret-token"
PAGES = "http://0123456789abcdef0123456789abcdef.localhost:8768"
"""A host that looks like that of a page."""


class Reviewer:
    """A browser that talks to a desk."""

    def __init__(self, root: Path, desk: DeskApp) -> None:
        self.root = root
        self.app = desk
        self.headers = {"Sec-Fetch-Site": "same-origin"}
        self._refs: dict[str, object] = {}

    def send(
        self, path: str, body: object = None, origin: str = DESK, **headers: str
    ) -> httpx.Response:
        """Send a request, with a body by POST."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport) as client:
                sent = {**self.headers, **headers}
                if body is None:
                    return await client.get(f"{origin}{path}", headers=sent)
                sent.setdefault("Content-Type", "application/json")
                content = body if isinstance(body, bytes) else json.dumps(body)
                return await client.post(f"{origin}{path}", content=content, headers=sent)

        return asyncio.run(send())

    def log_in(self) -> None:
        """Exchange the token for a session."""
        answer = self.call("session", token=TOKEN)
        assert answer.status_code == 200
        assert answer.headers["clear-site-data"] == '"cache", "storage"'
        self.headers["X-Contentgen-Key"] = answer.json()["key"]
        assert "set-cookie" not in answer.headers

    def host_of(self, path: str) -> str:
        """Return the origin of a page of the site, as the desk tells its own script."""
        answer = self.call("page", address=path)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["frame"])

    def call(self, action: str, **body: object) -> httpx.Response:
        """Send what the desk's page sends."""
        return self.send(f"{API}{action}", body)

    def queue(self) -> dict[str, dict[str, object]]:
        """Return the texts of the queue by page."""
        answer = self.call("queue")
        assert answer.status_code == 200, answer.text
        return {text["page"]: text for text in answer.json()["queue"]}

    def text(self, page: str = "report.md") -> dict[str, object]:
        """Return all of a text."""
        if page not in self._refs:
            self._refs[page] = self.queue()[page]["ref"]
        answer = self.call("text", ref=self._refs[page])
        assert answer.status_code == 200, answer.text
        found: dict[str, object] = answer.json()
        return found

    def act(self, action: str, page: str = "report.md", **body: object) -> httpx.Response:
        """Change, undo, approve or ask, having seen the newest text."""
        text = self.text(page)
        in_page = text["in_page"]
        shown = in_page["digest"] if isinstance(in_page, dict) else ""
        seen = {"ref": text["ref"], "seen": text["seen"], "shown": shown}
        return self.call(action, **{**seen, **body})

    def change(self, action: str, block: int, page: str = "report.md", **more: object) -> object:
        """Change a block, and return the answer."""
        blocks = self.text(page)["blocks"]
        assert isinstance(blocks, list)
        change = {"action": action, "block": block, "digest": blocks[block]["digest"], **more}
        answer = self.act("change", page, changes=[change])
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def reviewer(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Reviewer]:
    """Open a desk in the process of the test, and log in. The site is not built again.

    The parameter is the path below which the site is served, if a test has one.
    """
    base = getattr(request, "param", "")
    make_site(tmp_path)
    built = tmp_path / "built"
    (built / "report").mkdir(parents=True)
    (built / "report/index.html").write_text("<body><p>The page.</p></body>")
    (built / "secret.js").write_text("1")
    builder = Builder(["mkdocs", "build"], LineReporter(print))
    builder.site_dir = built
    environment = {"HOME": str(tmp_path)}
    with (
        like_a_process(tmp_path, environment),
        DeskSite(
            lambda: open_site(None, drafts=True), (), "Jo", article_to_json, LineReporter(print)
        ) as texts,
    ):
        builder.stamp = texts.stamp
        texts.build = lambda stamp, is_urgent: setattr(builder, "stamp", stamp)
        desk = DeskApp(texts, builder, (8767, 8768), TOKEN, base=base)
        found = Reviewer(tmp_path, desk)
        found.log_in()
        yield found


def cached(reviewer: Reviewer, key: str = NEWS.key(sandbox=False)) -> Text:
    """Return a text as a build finds it."""
    store = DiskStore(reviewer.root / ".cache/plugin/contentgen")
    texts, problems = store.load([key])
    store.close()
    assert not problems
    return texts[key]


def test_the_queue(reviewer: Reviewer) -> None:
    """It has all texts, in the order of their pages."""
    queue = reviewer.queue()
    assert {page: text["marked"] for page, text in queue.items()} == {"report.md": 3, "post.md": 0}
    assert queue["report.md"]["url"] == "/report/"
    assert list(queue) == ["post.md", "report.md"]


def test_a_text_with_its_sources(reviewer: Reviewer) -> None:
    """Statements stand with their sentence and the section that they cite, as it is now."""
    text = reviewer.text()
    assert text["brief"] == "- needs Python 3.11"
    remark = {"kind": "service", "values": {"block": "", "text": "length: too short"}}
    assert text["remarks"] == [{**remark, "words": "length: too short"}]
    statements = text["statements"]
    assert isinstance(statements, list)
    assert [it["text"] for it in statements] == ["4 seconds", "Jane Smith", "5 EUR"]
    assert [it["source"] for it in statements] == [LINK, None, None]
    sources = text["sources"]
    assert isinstance(sources, list)
    [source] = sources
    assert source["text"] == "A build takes 4 seconds, and took 12 before."
    assert source["state"] == "same"
    (reviewer.root / "docs/plan.md").write_text("# Plan\n\n## Speed\n\nFive.\n")
    (reviewer.root / "docs/report.md").touch()
    assert reviewer.text()["sources"][0]["state"] == "changed"  # type: ignore[index]


def test_citations_without_a_link(reviewer: Reviewer) -> None:
    """A file that is not a page, and a page of a site without an address, are cited by number."""
    (reviewer.root / "notes.txt").write_text("It took 12 days.\n")
    config = yaml.safe_load((reviewer.root / "mkdocs.yml").read_text())
    config["plugins"][0]["contentgen"]["writer"]["sources"] = ["notes.txt"]
    (reviewer.root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    html = (
        "<article><h1>T</h1><p>It took <mark>12 days</mark> [2]. It costs <mark>5 EUR</mark> [1]."
        " Of <mark>9 people</mark>, see [7].</p>"
        "<h2>Sources</h2><ol><li>Plan</li><li>notes</li></ol></article>"
    )
    digest = sha256("It took 12 days.")
    text = Text(html, WHEN, NEWS.record(), "m", {"file:notes.txt": digest})
    save(reviewer.root, {NEWS.key(sandbox=False): text})
    statements = reviewer.text()["statements"]
    assert isinstance(statements, list)
    found = [(card["source"], card["source_title"]) for card in statements]
    assert found == [("file:notes.txt", "notes"), (None, "Plan"), (None, "")]


def test_a_persons_whole_way(reviewer: Reviewer) -> None:
    """Confirm, change, remove, approve: the file says what was done, and has no mark."""
    assert reviewer.act("approve").json() == {"error": "statements left to check: 3"}
    reviewer.change("confirm", 1)
    reviewer.change("remove", 3)
    after = reviewer.change("edit", 4, markdown="Costs **nothing**")
    assert isinstance(after, dict)
    assert (after["left"], after["checked"]) == (0, 3)
    assert [it["changed_by"] for it in after["blocks"] if it["changed_by"]] == ["Jo"]
    text = cached(reviewer)
    assert "<mark>" not in text.html
    assert text.edits is not None
    assert text.edits.confirmed == ("4 seconds",)
    assert text.edits.removed == ("Thrown away, says Jane Smith.",)
    approved = reviewer.act("approve").json()
    assert approved["state"] == "approved"
    directory = reviewer.root / "contentgen"
    file = read_approved(directory / "report.md/main.html", directory)
    assert file is not None
    assert "Costs <strong>nothing</strong>" in file.text.html
    assert file.approval is not None
    assert file.approval.approved_by == "Jo"
    assert file.text.edits == text.edits
    assert not file.is_changed


def test_a_sentence_is_confirmed_as_a_whole(reviewer: Reviewer) -> None:
    """It counts as checked once none of its statements is left, and one *Undo* brings all back."""
    html = (
        "<article><h1>T</h1><p>It has <mark>2 doors</mark> and <mark>4 windows</mark>. It costs "
        "<mark>5 EUR</mark>.</p></article>"
    )
    save(reviewer.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    row = reviewer.queue()["report.md"]
    assert (row["marked"], row["marked_sentences"], row["checked"]) == (3, 2, 0)
    assert row["reason"] == "not reviewed, 3 statements to check in 2 sentences"
    before = cached(reviewer)
    reviewer.change("confirm_sentence", 1, statement=1)
    text = cached(reviewer)
    assert text.edits is not None
    assert text.edits.confirmed == ("2 doors", "4 windows")
    assert text.edits.settled == 1
    assert "costs <mark>5 EUR</mark>" in text.html
    assert "doors</mark>" not in text.html
    reviewer.change("reopen", 1, markdown="2 doors")
    row = reviewer.queue()["report.md"]
    assert (row["marked"], row["marked_sentences"], row["checked"]) == (2, 2, 0)
    for _ in range(2):
        assert reviewer.act("undo").status_code == 200
    assert_restored(cached(reviewer), before)


def test_approve_anyway(reviewer: Reviewer) -> None:
    """It needs a reason, which is written down."""
    assert reviewer.act("approve", reason=" \u200b").status_code == 422
    assert reviewer.act("approve", reason="a\nb").status_code == 400
    assert reviewer.act("approve", reason="The lawyer said so").json()["state"] == "approved"
    header = (reviewer.root / "contentgen/report.md/main.html").read_text()
    assert "reason: The lawyer said so" in header


def assert_restored(text: Text, before: Text) -> None:
    """Look whether a text is the one before, as a draft that is newer than all others."""
    assert text.edition > before.edition
    assert structs.replace(text, edition=before.edition) == before


def test_undo(reviewer: Reviewer) -> None:
    """Each change can be taken back, in order."""
    before = cached(reviewer)
    reviewer.change("delete", 6)
    reviewer.change("insert", 2, kind="p", markdown="New.")
    assert reviewer.act("undo").status_code == 200
    assert reviewer.act("undo").status_code == 200
    assert_restored(cached(reviewer), before)
    assert "nothing to undo" in reviewer.act("undo").text


def test_sentences_that_may_be_wrong_now(reviewer: Reviewer) -> None:
    """Each with its block, and with what its source does not have now; none once it is repaired."""
    assert reviewer.text()["stale"] == []
    save_stale(reviewer.root)
    found: Any = reviewer.text()["stale"]
    [stale] = found
    assert (stale["address"], stale["level"]) == (LINK, "wrong")
    [sentence] = stale["sentences"]
    assert (sentence["lost"], sentence["block"]) == (["40 seconds"], 1)
    assert sentence["text"].startswith("A build takes 40 seconds")
    assert "4 seconds" in sentence["now"]
    words = f"A build takes 4 seconds [1]({LINK})."
    after = reviewer.change("edit", 1, markdown=words)
    assert isinstance(after, dict)
    assert [source["level"] for source in after["stale"]] != ["wrong"]


def test_redo(reviewer: Reviewer) -> None:
    """What was taken back is done again, in order, until the text changes."""
    assert reviewer.text()["redo"] is None
    reviewer.change("confirm", 1)
    reviewer.change("delete", 6)
    after = cached(reviewer)
    for _ in range(2):
        assert reviewer.act("undo").status_code == 200
    assert reviewer.text()["redo"] == {"act": "confirm"}
    for act in ("confirm", "delete"):
        assert reviewer.text()["redo"] == {"act": act}
        assert reviewer.act("redo").status_code == 200
    assert_restored(cached(reviewer), after)
    undo: Any = reviewer.text()["undo"]
    assert undo["act"] == "delete"
    assert "nothing to redo" in reviewer.act("redo").text
    assert reviewer.act("undo").status_code == 200
    reviewer.change("remove", 3)
    assert reviewer.text()["redo"] is None


FORMATTED = {
    "<meta><p>Some <b>bold</b> words.</p><ul><li>one</li><li>two</li></ul>": (
        "Some **bold** words.\n\n- one\n- two"
    ),
    "<table><tr><th>a</th></tr><tr><td><a href='https://a.example/x'>b*</a></td></tr></table>": (
        "| a |\n| --- |\n| [b\\*](https://a.example/x) |"
    ),
    "<pre><code class='language-py'>a = 1\n</code></pre>": "```py\na = 1\n```",
    "<p>Write &lt;a href='//b'&gt; or &amp;lt; <code>&lt;b&gt;</code>, 1 &lt; 2</p>": (
        r"Write \<a href='//b'> or \&lt; `<b>`, 1 < 2"
    ),
}
"""Formatted text, and the Markdown that is pasted."""


def test_formatted_text_is_pasted_as_markdown(reviewer: Reviewer) -> None:
    """Also lists, tables and code; what is too deep is refused."""
    for html, markdown in FORMATTED.items():
        assert reviewer.call("markdown", html=html).json()["markdown"].strip() == markdown
    deep = "<div>" * 2_000
    assert reviewer.call("markdown", html=deep).status_code in (200, 422)


def test_compare(reviewer: Reviewer) -> None:
    """With what was generated: changed words, what is gone, and what is new."""
    reviewer.change("edit", 1, markdown="A build takes five seconds. It is fast.")
    reviewer.change("delete", 2)
    reviewer.change("insert", 0, kind="p", markdown="New.")
    ref = reviewer.queue()["report.md"]["ref"]
    rows = reviewer.call("compare", ref=ref).json()["rows"]
    kinds = sorted("".join(sorted({kind[0] for kind, _ in row["words"]})) for row in rows)
    assert kinds == ["eno", "n", "o"]  # equal, new and old words
    store = DiskStore(reviewer.root / ".cache/plugin/contentgen")
    notes, _ = store.load([row_key("generated", NEWS.key(sandbox=False))])
    store.close()
    assert [it.html for it in notes.values()] == [HTML]


def test_an_approved_text_can_be_changed(reviewer: Reviewer) -> None:
    """The change is a draft beside the approved text, until it is approved too."""
    reviewer.act("approve", "post.md")
    path = reviewer.root / "contentgen/post.md/main.html"
    before = path.read_text()
    reviewer.change("edit", 1, "post.md", markdown="First and second.")
    assert path.read_text() == before
    assert reviewer.text("post.md")["blocks"][1]["text"] == "First and second."  # type: ignore[index]
    assert reviewer.act("approve", "post.md").json()["state"] == "approved"
    assert "<p>First and second.</p>" in path.read_text()
    ref = reviewer.queue()["post.md"]["ref"]
    [row] = reviewer.call("compare", ref=ref, earlier="generated").json()["rows"]
    assert row["words"] == [["old", "First."], ["new", "First and second."]]


def test_a_text_that_changed_beneath(reviewer: Reviewer) -> None:
    """Nothing is written over what the person has not seen: 409, and the text stays."""
    text = reviewer.text("post.md")
    newer = '<article class="blog-post"><h1>Other</h1><p>Words.</p></article>'
    key = BLOG.key(sandbox=False)
    stored = cached(reviewer, key)
    save(reviewer.root, {key: Text(newer, stored.generated_at, stored.request, "m")})
    for action, body in (
        ("approve", {}),
        ("undo", {}),
        ("change", {"changes": [{"action": "delete", "block": 1, "digest": "x"}]}),
    ):
        seen = {"ref": text["ref"], "seen": text["seen"]}
        assert reviewer.call(action, **seen, **body).status_code == 409
    assert cached(reviewer, key).html == newer
    (reviewer.root / "docs/post.md").write_text("# No request any more\n")
    gone = reviewer.call("text", ref=text["ref"])
    assert gone.status_code == 409


def test_changes_outlive_the_desk(reviewer: Reviewer) -> None:
    """A change is in the cache when it is answered, and a build shows it."""
    reviewer.change("edit", 6, markdown="A persons words.")
    assert "A persons words." in cached(reviewer).html


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"action": "edit", "block": 1, "markdown": ""}, 422),
        ({"action": "edit", "block": 1, "markdown": "x" * 20_001}, 422),
        ({"action": "confirm", "block": 0}, 422),
        ({"action": "confirm", "block": 1, "statement": 7}, 422),
        ({"action": "confirm", "block": 1, "statement": -1}, 422),
        ({"action": "delete", "block": 0}, 422),
        ({"action": "delete", "block": 99}, 409),
        ({"action": "delete", "block": -1}, 409),
        ({"action": "delete", "block": 1, "digest": "other"}, 409),
        ({"action": "format", "block": 1}, 400),
        ({"action": "edit", "block": "1"}, 400),
        ({"action": "edit", "block": 1, "path": "../x"}, 400),
    ],
)
def test_wrong_changes(reviewer: Reviewer, change: dict[str, object], status: int) -> None:
    """Each is refused with a reason, and changes nothing."""
    before = cached(reviewer)
    blocks = reviewer.text()["blocks"]
    assert isinstance(blocks, list)
    number = change["block"]
    digest = blocks[number]["digest"] if isinstance(number, int) and 0 <= number < 7 else ""
    answer = reviewer.act("change", changes=[{"digest": digest, **change}])
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]
    assert cached(reviewer) == before


def test_the_words_of_the_desk() -> None:
    """Each that a script uses is in all six languages, and no script has words of its own."""
    package = Path(app.__file__).parent / "page"
    words = json.loads((package / "data/words.json").read_text(encoding="utf-8"))
    assert words["languages"] == ["en", "de", "fr", "es", "ja", "zh"]
    assert {len(row) for row in words.values()} == {6}
    assert not any("" in row for row in words.values())
    scripts = {file.name: file.read_text("utf-8") for file in package.rglob("*.js")}
    used: set[str] = set()
    for script in scripts.values():
        used |= set(re.findall(r'\bsay\(\s*"(\w+)"[,)]', script))
        for choice in re.findall(r'\bsay\([^"]+\? ("\w+" : "\w+")', script):
            used |= set(re.findall(r"\w+", choice))
    used |= set(re.findall(r'"(undone_\w+)"', scripts["undoing.js"]))
    assert used <= set(words)
    style = (package / "desk.css").read_text("utf-8")
    lines = [line for file in (style, *scripts.values()) for line in file.splitlines()]
    assert max(map(len, lines)) <= 100


def test_messages_of_the_server_are_translated() -> None:
    """Those that have other words now are found here."""
    package = Path(app.__file__).parents[1]
    messages = json.loads((package / "desk/page/data/server.json").read_text(encoding="utf-8"))
    assert messages.pop("languages") == ["de", "fr", "es", "ja", "zh"]
    code = " ".join(file.read_text("utf-8") for file in package.rglob("*.py"))
    code = re.sub(r'"\s+f?"', "", code)  # a message can be on several lines
    code = code.replace("{hint}", "")
    code += os.strerror(errno.ENOSPC) + os.strerror(errno.EACCES)  # which messages contain
    for message, translations in messages.items():
        places = set(re.findall(r"\{\d\}", message))
        for translation in translations:
            assert translation
            assert set(re.findall(r"\{\d\}", translation)) == places, translation
        assert len(translations) == 5
        for part in re.split(r"\{\d\}|[,;]", message):
            assert part.strip(" ()") in code, message


def test_a_repeated_act_does_nothing(reviewer: Reviewer) -> None:
    """What was seen before the first act is not what the second one would act on."""
    text = reviewer.text()
    blocks = text["blocks"]
    assert isinstance(blocks, list)
    change = {"action": "confirm", "block": 1, "digest": blocks[1]["digest"]}
    body = {"ref": text["ref"], "seen": text["seen"], "changes": [change]}
    statuses = [reviewer.call("change", **body).status_code for _ in range(2)]
    assert statuses == [200, 409]


def test_a_newer_text_is_taken_back(reviewer: Reviewer) -> None:
    """After another text has arrived, Undo brings back the one that it has replaced."""
    reviewer.change("edit", 6, markdown="A persons words.")
    stored = cached(reviewer)
    newer = Text("<article><h1>N</h1><p>x</p></article>", stored.generated_at, {}, "m")
    save(reviewer.root, {NEWS.key(sandbox=False): newer})
    assert reviewer.text()["undo"] == {"act": "ask", "by": "", "deletes_file": False}
    assert reviewer.act("undo").status_code == 200
    assert "A persons words." in cached(reviewer).html
    assert reviewer.text()["undo"] == {"act": "edit", "by": "Jo", "deletes_file": False}


def test_an_edited_file_is_approved_with_its_reason(reviewer: Reviewer) -> None:
    """What a person wrote into the file counts, its marks go, and the reason is written down."""
    reviewer.act("approve", reason="first")
    path = reviewer.root / "contentgen/report.md/main.html"
    path.write_text(path.read_text().replace("The end.", "Now <mark>9</mark> end."))
    assert reviewer.text()["left"] == 1
    assert reviewer.act("approve", reason="second").json()["state"] == "approved"
    assert "<mark" not in path.read_text()
    assert "Now 9 end." in path.read_text()
    assert "reason: second" in path.read_text()


def test_an_edited_file_keeps_its_time(reviewer: Reviewer) -> None:
    """On the desk as with the command: nobody has generated it anew."""
    reviewer.act("approve", reason="first")
    path = reviewer.root / "contentgen/report.md/main.html"
    generated = re.findall("generated_at: .*", path.read_text())
    path.write_text(path.read_text().replace("The end.", "The very end."))
    assert reviewer.act("approve").json()["state"] == "approved"
    assert "The very end." in path.read_text()
    assert re.findall("generated_at: .*", path.read_text()) == generated


def test_the_copied_command_is_only_a_command(reviewer: Reviewer) -> None:
    """A title has no power over the terminal that the command is pasted into, nor the shell."""
    title = "Pay\x9b31m \u202e'; $(id) `id`"
    stored = cached(reviewer)
    text = Text(f"<article><h1>{title}</h1><p>x</p></article>", WHEN, stored.request, "m")
    save(reviewer.root, {NEWS.key(sandbox=False): text})
    git(reviewer.root, "init", "-q")
    assert reviewer.text()["commit_command"] == ""
    command = reviewer.act("approve").json()["commit_command"]
    words = shlex.split(command)
    file = "contentgen/report.md/main.html"
    message = "Approve Pay\\x9b31m \\u202e'; $(id) `id`"
    assert words == ["git", "add", "--", file, "&&", "git", "commit", "-m", message, "--", file]
    assert "; $(id) `id`'" in command


def test_a_link_that_the_model_made_can_be_put_back(reviewer: Reviewer) -> None:
    """Its card names the address, and one edit puts it back; then no remark is about it."""
    stored = cached(reviewer)
    script = Remark("link", values={"words": "It is fast", "address": "javascript:alert(1)"})
    link = Remark("link", values={"words": "4 seconds", "address": "https://a.example/?x=1"})
    save(reviewer.root, {NEWS.key(sandbox=False): structs.replace(stored, remarks=(script, link))})
    links = reviewer.text()["links"]
    assert isinstance(links, list)
    never, lost = links
    assert never["markdown"] == ""  # no page may have such a link
    assert (lost["words"], lost["address"]) == ("4 seconds", "https://a.example/?x=1")
    reviewer.change("edit", lost["block"], markdown=lost["markdown"])
    [left] = cached(reviewer).remarks
    assert left == script
    html = cached(reviewer).html
    assert 'href="https://a.example/?x=1"' in html
    assert "<mark>4 seconds</mark>" in html or ">4 seconds</a></mark>" in html


def test_a_commit_is_offered_while_there_is_something_to_commit(reviewer: Reviewer) -> None:
    """Nothing is offered outside of git, nor once the approved files are committed."""

    def offered() -> str:
        command: str = reviewer.call("queue").json()["commit_command"]
        return command

    assert reviewer.act("approve", reason="Checked").json()["commit_command"] == ""
    assert offered() == ""
    git(reviewer.root, "init", "-q")
    assert offered() == "git add -- 'contentgen' && git commit -m 'Approve texts'"
    commit(reviewer.root)
    assert offered() == ""


def test_many_statements_can_be_approved(reviewer: Reviewer) -> None:
    """The file says what fits into its header."""
    long = "".join(f"<p>It is <mark>{'very ' * 50}{n}</mark>.</p>" for n in range(120))
    stored = cached(reviewer)
    edits = Edits(tuple(f"{'very ' * 50}{n}" for n in range(260)))
    html = f"<article><h1>T</h1>{long.replace('<mark>', '').replace('</mark>', '')}</article>"
    text = Text(html, stored.generated_at, stored.request, "m", edits=edits)
    save(reviewer.root, {NEWS.key(sandbox=False): text})
    assert reviewer.act("approve").json()["state"] == "approved"
    header = (reviewer.root / "contentgen/report.md/main.html").read_text()
    assert re.search(r"… and \d+ more", header)


def test_refresh_keeps_a_persons_words(reviewer: Reviewer) -> None:
    """`generate --refresh` replaces them in a terminal only, where somebody is asked."""
    reviewer.change("edit", 6, markdown="A persons words.")
    command = ["mkdocs_contentgen", "generate", "--refresh", "report.md"]
    refused = run_here(reviewer.root, {"HOME": str(reviewer.root)}, *command)
    assert refused.returncode == 1
    assert "people have changed the drafts of report.md" in refused.stdout
    assert "A persons words." in cached(reviewer).html
    assert reviewer.act("approve", reason="Read").json()["state"] == "approved"
    refreshed = run_here(reviewer.root, {"HOME": str(reviewer.root)}, *command)
    assert "people have changed" not in refreshed.stdout


def test_refresh_keeps_words_in_a_file(reviewer: Reviewer) -> None:
    """Those that a person wrote into a file, and nobody has approved, are replaced by no draft."""
    home = {"HOME": str(reviewer.root)}
    assert run_here(reviewer.root, home, "mkdocs_contentgen", "propose", "--all").returncode == 0
    path = reviewer.root / "contentgen/report.md/main.html"
    path.write_text(path.read_text().replace("The end.", "The very end."))
    command = ["mkdocs_contentgen", "generate", "--refresh"]
    refused = run_here(reviewer.root, home, *command, "report.md")
    assert refused.returncode == 1
    assert "people have changed the drafts of report.md" in refused.stdout
    unchanged = run_here(reviewer.root, home, *command, "post.md")
    assert "people have changed" not in unchanged.stdout
    approve = ["mkdocs_contentgen", "approve", "report.md", "--by=Jo", "--reason=Read"]
    assert run_here(reviewer.root, home, *approve).returncode == 0
    path.write_text(path.read_text().replace("The very end.", "The last end."))
    refused = run_here(reviewer.root, home, *command, "report.md")
    assert "people have changed the drafts of report.md" in refused.stdout


def test_a_proposed_text_on_another_machine(reviewer: Reviewer) -> None:
    """Without its cache, it is checked, compared with what was proposed, and approved."""
    home = {"HOME": str(reviewer.root)}
    proposed = run_here(reviewer.root, home, "mkdocs_contentgen", "propose", "report.md")
    assert proposed.returncode == 0, proposed.stdout
    git = ["git", "-C", str(reviewer.root), "-c", "user.name=Ada", "-c", "user.email=x@example.org"]
    for arguments in (["init", "-q"], ["add", "contentgen"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True)
    shutil.rmtree(reviewer.root / ".cache")
    path = reviewer.root / "contentgen/report.md/main.html"
    path.write_text(path.read_text().replace("The end.", "The very end."))
    text = reviewer.text()
    assert text["state"] == "proposed"
    assert text["left"] != 0
    blocks = text["blocks"]
    assert isinstance(blocks, list)
    by = {block["text"]: block["changed_by"] for block in blocks}
    assert [words for words, name in by.items() if name] == ["The very end."]
    [row] = reviewer.call("compare", ref=text["ref"], earlier="generated").json()["rows"]
    assert ["new", "very "] in row["words"]
    assert reviewer.act("approve", reason="Read").json()["state"] == "approved"
    assert "approved_by: Jo" in path.read_text()
    assert "<mark" not in path.read_text()
    assert reviewer.act("undo").json()["state"] == "proposed"
    assert "<mark" in path.read_text()


# --- Security -------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example:8767", "localhost:8767", "127.0.0.1", "[::1]:8767"])
def test_other_hosts(reviewer: Reviewer, host: str) -> None:
    """DNS rebinding leads nowhere."""
    for path in ("/_contentgen/", "/_contentgen/api/queue", "/report/"):
        assert reviewer.send(path, Host=host).status_code == 403


def test_no_service_worker(reviewer: Reviewer) -> None:
    """It would outlive the session, and answer for the next program on the port."""
    script = {"Service-Worker": "script"}
    for origin in (DESK, reviewer.host_of("/report/")):
        assert reviewer.send("/secret.js", origin=origin).status_code == 200
        assert reviewer.send("/secret.js", origin=origin, **script).status_code == 403


def test_no_session(reviewer: Reviewer) -> None:
    """Without the key, nothing is read or written; a wrong token gives none."""
    ref = reviewer.queue()["report.md"]["ref"]
    del reviewer.headers["X-Contentgen-Key"]
    for action in ("queue", "page", "text", "compare", "change", "undo", "approve", "ask"):
        assert reviewer.call(action, ref=ref).status_code == 401
    for token in ("", "wrong", TOKEN[:-1], "ä"):
        refused = reviewer.call("session", token=token)
        assert refused.status_code == 403
        assert "key" not in refused.json()


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": DESK},
        {"Sec-Fetch-Site": "", "Origin": PAGES},
        {"Sec-Fetch-Site": "", "Origin": "null"},
        {"Sec-Fetch-Site": ""},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ],
    ids=str,
)
def test_what_other_pages_send(reviewer: Reviewer, headers: dict[str, str]) -> None:
    """A page of another origin, also of the site itself, changes nothing, and reads nothing."""
    text = reviewer.text()
    body = {"ref": text["ref"], "seen": text["seen"], "reason": "x"}
    refused = reviewer.send(f"{API}approve", body, **headers)
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    assert not (reviewer.root / "contentgen").exists()
    assert reviewer.send(f"{API}queue", {}, **headers).status_code == 403


def test_an_equal_origin_is_enough(reviewer: Reviewer) -> None:
    """Browsers without Sec-Fetch-Site send an Origin."""
    text = reviewer.text()
    body = {"ref": text["ref"], "seen": text["seen"]}
    del reviewer.headers["Sec-Fetch-Site"]
    assert reviewer.send(f"{API}undo", body, Origin=DESK).status_code == 422
    del reviewer.headers["X-Contentgen-Key"]
    assert reviewer.send(f"{API}undo", body, Origin=DESK).status_code == 401


def test_bodies(reviewer: Reviewer) -> None:
    """They are bounded, and JSON of the right form."""
    path = f"{API}change"
    assert reviewer.send(path, b" " * (MAX_BODY + 1)).status_code == 413
    for body in (b"", b"{", b"[]", b'{"path": "x"}', b"[" * 100_000, b"\xff"):
        assert reviewer.send(path, body).status_code == 400


def test_the_pages_of_the_desk(reviewer: Reviewer) -> None:
    """They run only their own script, and nobody can frame them. The token is not in them."""
    for path in ("/_contentgen/", "/report/", "/anything"):
        page = reviewer.send(path)
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "frame-src http://*.localhost:8768;" in policy
        assert "unsafe" not in policy
        assert TOKEN not in page.text


def test_the_pages_of_the_site(reviewer: Reviewer) -> None:
    """Each has a host of its own, with the script that talks to the desk, and nothing else is."""
    pages = reviewer.host_of("/report/")
    assert re.fullmatch(r"http://[0-9a-f]{32}\.localhost:8768", pages)
    assert reviewer.queue()["report.md"]["frame"] == pages
    page = reviewer.send("/report/", origin=pages)
    assert "<p>The page.</p><script" in page.text
    assert page.headers["content-security-policy"] == f"frame-ancestors {DESK}"
    assert "set-cookie" not in page.headers
    assert reviewer.send("/secret.js", origin=pages).text == "1"
    for path in ("/_contentgen/api/queue", "/../mkdocs.yml", "/%2e%2e/mkdocs.yml", "/no.css"):
        assert reviewer.send(path, origin=pages).status_code == 404
    assert "site_name" not in reviewer.send("/%2e%2e/mkdocs.yml", origin=pages).text
    other = reviewer.host_of("/report/other/")
    assert "data-contentgen-plain" in reviewer.send("/report/other/", origin=other).text
    assert reviewer.send("/report/", {}, origin=pages).status_code == 405


@pytest.mark.parametrize("reviewer", ["", "v1/"], indirect=True)
def test_an_address_that_no_file_can_have(reviewer: Reviewer) -> None:
    """It is not found, also where the site is served below a path: no error of the desk."""
    pages = reviewer.host_of("/report/")
    for path in (f"/{'a' * 300}", f"/v1/{'a' * 300}", "/v1/%00", "/v1//etc/passwd"):
        assert reviewer.send(path, origin=pages).status_code == 404, path


def test_a_page_reads_no_other_page(reviewer: Reviewer) -> None:
    """A link leads to the host of the other page, whose content no script of the first one gets."""
    (reviewer.root / "built/plan").mkdir()
    (reviewer.root / "built/plan/index.html").write_text("<p>The plan.</p>")
    report, plan = reviewer.host_of("/report/"), reviewer.host_of("/plan/")
    assert plan != report
    assert plan == reviewer.host_of("/plan") == reviewer.host_of("/plan/index.html")
    for path in ("/plan/", "/plan/index.html", "/report/../plan/"):
        moved = reviewer.send(path, origin=report, **{"Sec-Fetch-Dest": "iframe"})
        assert moved.status_code == 307, path
        assert moved.headers["location"].startswith(f"{plan}/")
        target = moved.headers["location"].removeprefix(plan)
        assert "The plan." in reviewer.send(target, origin=plan).text
        for into in ("empty", "script", "object", "embed", "image"):
            refused = reviewer.send(path, origin=report, **{"Sec-Fetch-Dest": into})
            assert "The plan." not in refused.text
    assert reviewer.send("/nowhere/", origin=report).status_code == 307
    assert reviewer.send("/no.css", origin=report).status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        *("feed_json_created.json", "search/index.json", "data.json"),
        *("feed_rss_created.xml", "sitemap.xml.gz", "llms-full.txt", "index.md", "objects.inv"),
        *("pdf/document.pdf", "notes.CSV", "assets/app.js.map", "page.htm", "no_extension"),
    ],
)
def test_a_file_that_is_not_on_the_list_is_not_served(reviewer: Reviewer, name: str) -> None:
    """Any of them can have the text of a draft, whoever has made it."""
    write_built(reviewer, name, "The plan.")
    report = reviewer.host_of("/report/")
    for into in ("empty", "script", "iframe"):
        refused = reviewer.send(f"/{name}", origin=report, **{"Sec-Fetch-Dest": into})
        assert refused.status_code in (404, 307), name
        assert "The plan." not in refused.text


@pytest.mark.parametrize("name", ["search/search_index.json", "search.json"])
def test_the_index_of_the_search_is_empty(reviewer: Reviewer, name: str) -> None:
    """It has the words of all pages, and the scripts of themes fail without one."""
    report = reviewer.host_of("/report/")
    for index, config in (
        ('{"config": {"lang": 1}, "docs": ["The plan."]}', {"lang": 1}),
        ("", {}),
    ):
        write_built(reviewer, name, index)
        found = reviewer.send(f"/{name}", origin=report).json()
        assert found == {"config": config, "docs": [], "items": []}


@pytest.mark.parametrize(
    "script",
    [
        'var __index = {"docs": ["The plan."]}',
        '\ufeff/* index */ window.pages=["The plan.", "It has three parts."];\n',
        '// index\nSearch.setIndex({"docs": {"plan": "The plan."}})',
        'export default {"plan": "The plan.", "parts": 3, "a": {"b": 1}};\nexport const v = 1;\n',
    ],
)
def test_a_script_that_is_data_is_not_served(reviewer: Reviewer, script: str) -> None:
    """Such as the search index of a site that works without a server, whatever its name is."""
    write_built(reviewer, "assets/some.js", script)
    report = reviewer.host_of("/report/")
    assert reviewer.send("/assets/some.js", origin=report).status_code == 404


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("style.css", "p { color: red }"),
        ("app.js", 'window.options = {"a": 1}; document.body.append("x".repeat(99), "and more");'),
        ("math.js", "window.MathJax = { tex: { inlineMath: [] } };"),
        ("part.mjs", "export const one = 1;"),
        ("fonts/own.woff2", "font"),
        ("picture.PNG", "picture"),
        ("film.webm", "film"),
    ],
)
def test_what_a_page_is_shown_with_is_served(reviewer: Reviewer, name: str, content: str) -> None:
    """That is styles, scripts, fonts, pictures, sound and films."""
    write_built(reviewer, name, content)
    assert reviewer.send(f"/{name}", origin=reviewer.host_of("/report/")).text == content


def write_built(reviewer: Reviewer, name: str, content: str) -> None:
    """Write a file of the built site."""
    file = reviewer.root / "built" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def test_hostile_texts(reviewer: Reviewer) -> None:
    """What a text, a brief or a source says stays data in the answers."""
    title = "&lt;img src=x onerror=alert(1)&gt;"
    hostile = f"<article><h1>{title}</h1><p>x<script>alert(1)</script></p></article>"
    stored = cached(reviewer)
    save(
        reviewer.root,
        {NEWS.key(sandbox=False): Text(hostile, stored.generated_at, stored.request, "m")},
    )
    text = reviewer.text()
    assert text["title"] == "<img src=x onerror=alert(1)>"
    assert "script" not in json.dumps(text["blocks"])


def test_asking_again_keeps_a_persons_words(reviewer: Reviewer) -> None:
    """A new text is only asked for when that is confirmed; why none arrived is said."""
    reviewer.change("edit", 6, markdown="A persons words.")
    refused = reviewer.act("ask")
    assert refused.status_code == 422
    assert "confirm that first" in refused.text
    asked = reviewer.act("ask", replace=True)
    assert asked.status_code == 200
    reviewer.app._site.wait()
    assert "127.0.0.1:9" in str(reviewer.text()["ask_problem"])
    assert "A persons words." in cached(reviewer).html


def differences(reviewer: Reviewer) -> list[dict[str, Any]]:
    """Return the differences to the text as it was generated."""
    ref = reviewer.queue()["report.md"]["ref"]
    rows: list[dict[str, Any]] = reviewer.call("compare", ref=ref).json()["rows"]
    return rows


def test_a_difference_is_taken_back(reviewer: Reviewer) -> None:
    """The block is there again, is nobody's, and its sentence counts as removed no more."""
    reviewer.change("remove", 3)
    reviewer.change("edit", 4, markdown="Needs nothing at all")
    reviewer.change("insert", 5, markdown="Free", kind="li")
    before = cached(reviewer).edits
    assert before is not None
    assert before.removed == ("Thrown away, says Jane Smith.",)
    assert before.settled == 2
    thrown, *_, added = differences(reviewer)
    for row in (added, thrown):
        assert reviewer.act("change", changes=[row["change"]]).status_code == 200
    text = cached(reviewer)
    assert "<p>Thrown away, says <mark>Jane Smith</mark>.</p>" in text.html
    assert text.edits is not None
    assert text.edits.removed == ("Free",)
    assert text.edits.settled == 1
    assert [it.text for it in blocks_of(text) if it.digest in text.edits.changed_by] == [
        "Needs nothing at all"
    ]
    (row,) = differences(reviewer)
    reviewer.act("change", changes=[row["change"]])
    assert Document(cached(reviewer).html).to_lines() == Document(HTML).to_lines()


def test_changes_that_are_sent_together(reviewer: Reviewer) -> None:
    """They are made in their order and undone one by one, and none is made if one cannot be."""
    blocks: Any = reviewer.text()["blocks"]
    confirm = [
        {"action": "confirm", "block": number, "digest": blocks[number]["digest"]}
        for number in (1, 3, 5)
    ]
    answer = reviewer.act("change", changes=[*confirm, {**confirm[0], "statement": 7}])
    assert answer.status_code == 422
    assert reviewer.text()["left"] == 3
    answer = reviewer.act("change", changes=confirm)
    assert (answer.json()["left"], answer.json()["checked"]) == (0, 3)
    for left in (1, 2, 3):
        assert reviewer.act("undo").json()["left"] == left
    assert reviewer.text()["undo"] is None
    assert cached(reviewer).html == HTML


def take_all_back(reviewer: Reviewer) -> None:
    """Take back one difference after the other."""
    for _ in range(10):
        rows = differences(reviewer)
        if not rows:
            return
        answer = reviewer.act("change", changes=[rows[0]["change"]])
        assert answer.status_code == 200, answer.text
    raise AssertionError("each difference that was taken back is another one")


def test_all_that_a_person_changed_is_taken_back(reviewer: Reviewer) -> None:
    """Classes, rules, pictures, and a block that stood alone come back as they were."""
    reviewer.change("delete", 1)
    reviewer.change("edit", 1, markdown="Other")
    for number in (4, 3):
        reviewer.change("delete", number)
    take_all_back(reviewer)
    text = cached(reviewer)
    assert Document(text.html).to_lines() == Document(HTML).to_lines()
    assert text.edits is None or not (text.edits.changed_by or text.edits.removed)


def test_a_difference_that_is_no_more_is_not_taken_back(reviewer: Reviewer) -> None:
    """Row numbers of an older comparison name nothing, and nothing is changed."""
    reviewer.change("edit", 1, markdown="Other.")
    (row,) = differences(reviewer)
    reviewer.change("edit", 1, markdown="Another.")
    before = cached(reviewer)
    for change in (row["change"], {**row["change"], "block": 99}, {**row["change"], "block": -1}):
        assert reviewer.act("change", changes=[change]).status_code == 409
    assert cached(reviewer) == before


def blocks_of(text: Text) -> list[Block]:
    """Return the blocks of a text."""
    return Document(text.html).blocks()


def test_what_is_only_bold_is_a_persons_too(reviewer: Reviewer) -> None:
    """Words that stay the same with other markup are changed."""
    reviewer.change("edit", 4, markdown="**Needs** Python 3.11")
    edits = cached(reviewer).edits
    assert edits is not None
    assert list(edits.changed_by.values()) == ["Jo"]


@pytest.mark.parametrize(
    ("rest", "reason"),
    [("<p>" + ">" * 100_000, "too large: 400,"), ("<ul>" + "<li>x" * 5_200, "too large: 10,")],
    ids=["characters", "tags"],
)
def test_a_change_that_no_page_could_show(reviewer: Reviewer, rest: str, reason: str) -> None:
    """It is refused with the reason, and the draft stays, whatever is done with it."""
    html = f"<article><h1>T</h1><p>A <mark>5</mark>.</p>{rest}"
    key = NEWS.key(sandbox=False)
    save(reviewer.root, {key: Text(html, WHEN, NEWS.record(), "m")})
    before = reviewer.text()
    blocks = before["blocks"]
    assert isinstance(blocks, list)
    block = {"block": 1, "digest": blocks[1]["digest"]}
    for change in ({"action": "confirm"}, {"action": "edit", "markdown": "B"}):
        answer = reviewer.act("change", changes=[{**change, **block}])
        assert answer.status_code == 422
        assert (
            f"nothing was changed: no page could show the text then (the HTML is {reason}"
            in (answer.json()["error"])
        )
    assert cached(reviewer).html == html
    assert reviewer.text()["version"] == before["version"]


def test_quotations_that_a_person_has_settled(reviewer: Reviewer) -> None:
    """A draft that quotes what nobody said is approved once its statements are settled."""
    key = NEWS.key(sandbox=False)
    [remark] = quotation_remarks(["Jane Smith"])
    save(reviewer.root, {key: Text(HTML, WHEN, NEWS.record(), "m", {}, (remark,))})
    refused = reviewer.act("approve", reason="I know")
    assert refused.status_code == 422
    assert "in no source: Jane Smith" in refused.json()["error"]
    reviewer.change("edit", 6, markdown="The very end.")
    assert reviewer.act("approve", reason="I know").status_code == 422
    reviewer.change("confirm", 1)
    assert reviewer.act("approve", reason="I know").status_code == 422
    reviewer.change("confirm", 3)
    assert reviewer.act("approve").status_code == 422
    assert reviewer.act("approve", reason="I know").status_code == 200


@pytest.mark.parametrize(
    "html",
    [
        "<p><mark>“It is new</mark><br>\n<mark>and we like it”</mark></p>",
        "<ul><li><mark>“It is new</mark></li><li><mark>and we like it”</mark></li></ul>",
        "<p><mark>“It is new</mark>  <em><mark>and we</mark></em><mark> like [2] it”</mark></p>",
        "<p><mark>“It is new</mark> <code>x</code> <mark>and we like it”</mark></p>",
    ],
)
def test_quotations_in_several_parts(reviewer: Reviewer, html: str) -> None:
    """Neither a reason nor another change settles them, but each part that is confirmed."""
    remarks = tuple(quotation_remarks(["“It is new and we like it”"]))
    html = f"<article><h1>T</h1>{html}<p>The end.</p></article>"
    save(
        reviewer.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m", {}, remarks)}
    )
    assert reviewer.act("approve", reason="I know").status_code == 422
    last = len(blocks_of(cached(reviewer))) - 1
    reviewer.change("edit", last, markdown="The very end.")
    assert reviewer.act("approve", reason="I know").status_code == 422
    while statements := reviewer.text()["statements"]:
        reviewer.change("confirm", statements[-1]["block"])  # type: ignore[index]
    assert reviewer.act("approve").status_code == 200


def test_texts_that_share_pages_and_requests(tmp_path: Path, reviewer: Reviewer) -> None:
    """Two texts of a page are two; one text on two pages is approved for each, and changed once."""
    second = {**BLOG.record(), "id": "second"}
    pages = {"both.md": [NEWS.record(), second], "again.md": [BLOG.record()]}
    for name, requests in pages.items():
        front = yaml.safe_dump({"contentgen": requests})
        (tmp_path / "docs" / name).write_text(f"---\n{front}---\n")
    (tmp_path / "mkdocs.yml").touch()
    texts = reviewer.call("queue").json()["queue"]
    named = {(it["page"], it["id"]): it["ref"] for it in texts}
    assert len(set(named.values())) == 5
    reviewer.change("edit", 1, "post.md", markdown="Changed.")
    for page in ("post.md", "again.md"):
        blocks = reviewer.text(page)["blocks"]
        assert blocks[1]["text"] == "Changed."  # type: ignore[index]
    assert reviewer.act("approve", "again.md").status_code == 200
    assert (tmp_path / "contentgen/again.md/main.html").exists()
    assert not (tmp_path / "contentgen/post.md").exists()
    ref = named["both.md", "second"]
    text = reviewer.call("text", ref=ref).json()
    body = {"ref": ref, "seen": text["seen"], "shown": text["in_page"]["digest"]}
    assert text["in_page"]["index"] == 1
    assert text["in_page"]["count"] == 2
    assert reviewer.call("approve", **{**body, "shown": "x"}).status_code == 409
    assert reviewer.call("approve", **body).status_code == 200
    assert (tmp_path / "contentgen/both.md/second.html").exists()


def test_commands_know_what_was_changed(project: Project) -> None:
    """`status`, `diff`, `show` and `prune` beside a text that was changed on the desk."""
    make_site(project.root)
    with (
        like_a_process(project.root, project.environment),
        DeskSite(
            lambda: open_site(None, drafts=True), (), "Jo", article_to_json, LineReporter(print)
        ) as texts,
    ):
        builder = Builder([], LineReporter(print))
        builder.stamp = texts.stamp
        reviewer = Reviewer(project.root, DeskApp(texts, builder, (8767, 8768), TOKEN))
        reviewer.log_in()
        reviewer.act("approve", "post.md")
        reviewer.change("edit", 1, "post.md", markdown="Other words.")
        reviewer.change("confirm", 1)
    said = json.loads(project.run("mkdocs_contentgen", "status", "--json").stdout)
    found = {it["page"]: it for it in said}
    assert found["report.md"]["edits"]["confirmed"] == ["4 seconds"]
    assert found["report.md"]["newer_draft"] is False
    assert found["post.md"]["newer_draft"] is True
    assert found["post.md"]["state"] == "approved"
    assert "a newer draft waits" in found["post.md"]["reason"]
    diff = project.run("mkdocs_contentgen", "diff", "post.md").stdout
    assert "Other words." in diff
    assert "Other words." not in project.run("mkdocs_contentgen", "show", "post.md").stdout
    project.run("mkdocs_contentgen", "prune")
    assert "Other words." in project.run("mkdocs_contentgen", "diff", "post.md").stdout
    approved = project.run("mkdocs_contentgen", "approve", "post.md", "--by", "Jo")
    assert "approved in" in approved.stdout
    assert "Other words." in project.run("mkdocs_contentgen", "show", "post.md").stdout


def test_only_a_writer_updates(reviewer: Reviewer) -> None:
    """Another service is not asked, and a note is not too long."""
    config = yaml.safe_load((reviewer.root / "mkdocs.yml").read_text())
    config["plugins"] = [{"contentgen": {"base_url": "https://service.example"}}]
    (reviewer.root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    assert reviewer.text()["can_update"] is False
    for body in ({"update": True}, {"note": "shorter"}):
        answer = reviewer.act("ask", **body)
        assert answer.status_code == 422
        assert "cannot update" in answer.json()["error"]
    assert reviewer.act("ask", note="x" * 3000).status_code == 400


def test_a_clock_that_is_behind(reviewer: Reviewer) -> None:
    """A change of an approved text is newer than that, whatever the clock says."""
    reviewer.act("approve", "post.md")
    path = reviewer.root / "contentgen/post.md/main.html"
    path.write_text(re.sub(r"(?<=generated_at: )\d{4}", "2199", path.read_text(), count=1))
    reviewer.change("edit", 1, "post.md", markdown="Changed.")
    assert reviewer.text("post.md")["blocks"][1]["text"] == "Changed."  # type: ignore[index]


def test_markup_that_is_taken_back_is_nobodys(reviewer: Reviewer) -> None:
    """A block that is as the model wrote it is the model's again."""
    reviewer.change("edit", 4, markdown="**Needs** Python 3.11")
    (row,) = differences(reviewer)
    reviewer.act("change", changes=[row["change"]])
    edits = cached(reviewer).edits
    assert edits is None or edits.changed_by == {}


PASTED = """# First

Words of **mine**.

- one
  - two

| Plan | Price |
|---|--:|
| Free | 0 |

```sh
pip install x
```
"""


def test_markdown_is_pasted(reviewer: Reviewer) -> None:
    """Paragraphs, lists, tables and code are blocks behind the one that was chosen, a person's."""
    reviewer.change("paste", 4, markdown=PASTED)
    text = cached(reviewer)
    lines = text.html[text.html.index("</ul>") :]
    for part in ("<h2>First</h2>", "<strong>mine</strong>", "<td>0</td>", "pip install x"):
        assert part in lines
    assert text.edits is not None
    by = {it.text: text.edits.changed_by.get(it.digest) for it in blocks_of(text)}
    assert by["Words of mine."] == by["two"] == by["Free"] == "Jo"
    assert by["Needs Python 3.11"] is None
    refused = reviewer.text()["seen"]
    for markdown in ("", "![x](http://a.example/b.png)", "<div>x</div>"):
        blocks = reviewer.text()["blocks"]
        assert isinstance(blocks, list)
        change = {"action": "paste", "block": 4, "digest": blocks[4]["digest"]}
        answer = reviewer.act("change", changes=[{**change, "markdown": markdown}])
        assert answer.status_code == 422, markdown
    assert reviewer.text()["seen"] == refused


def test_long_markdown_is_pasted_in_any_script(reviewer: Reviewer) -> None:
    """As many characters as a paste can have, each of which takes three bytes; no more."""
    lines = "\n\n".join(["語" * 9_998] * 10)
    reviewer.change("paste", 4, markdown=lines)
    assert "語" * 9_998 in cached(reviewer).html
    block = reviewer.text()["blocks"][4]  # type: ignore[index]
    change = {"action": "paste", "block": 4, "digest": block["digest"]}
    for markdown in ("x" * 200_000, "x" * 2_000_000):
        answer = reviewer.act("change", changes=[{**change, "markdown": markdown}])
        assert answer.json() == {"error": "at most 100,000 characters can be added at once"}


def test_undo_says_what_it_takes_back(reviewer: Reviewer) -> None:
    """Also that it deletes an approved file, and no other one."""
    assert reviewer.text()["undo"] is None
    reviewer.change("delete", 2)
    assert reviewer.text()["undo"] == {"act": "delete", "by": "Jo", "deletes_file": False}
    reviewer.act("approve", reason="I know")
    assert reviewer.text()["undo"] == {"act": "approve", "by": "Jo", "deletes_file": True}
    reviewer.change("edit", 5, markdown="Another end.")
    reviewer.act("approve", reason="I know")
    assert reviewer.text()["undo"] == {"act": "approve", "by": "Jo", "deletes_file": False}


def quoting(reviewer: Reviewer) -> tuple[Remark, ...]:
    """Save a text with two invented quotations and a figure to check, and return its remarks."""
    html = (
        "<article><h1>T</h1><p><mark>“It is new and fast”</mark>, she said.</p><p>It has "
        "<mark>5</mark> parts.</p><p><mark>“We all like it”</mark>, he said.</p><p>End.</p>"
        "</article>"
    )
    quotations = quotation_remarks(["“It is new and fast”", "“We all like it”"])
    remarks = (*quotations, *in_words("length: too short"))
    key = NEWS.key(sandbox=False)
    save(reviewer.root, {key: Text(html, WHEN, NEWS.record(), "m", remarks=remarks)})
    return remarks


def about_quotations(reviewer: Reviewer) -> list[Remark]:
    """Return the remarks on quotations that are left."""
    return [remark for remark in cached(reviewer).remarks if remark.is_about_quotation]


def test_the_remark_on_a_quotation_goes(reviewer: Reviewer) -> None:
    """It goes with its quotation, and a reason is enough for what is left once all are settled."""
    first, second, length = quoting(reviewer)
    reviewer.change("confirm", 1)
    assert cached(reviewer).remarks == (second, length)
    assert reviewer.text()["can_approve_open"] is False
    assert reviewer.act("approve", reason="I know").status_code == 422
    reviewer.change("confirm", 3)
    assert cached(reviewer).remarks == (length,)
    assert reviewer.text()["can_approve_open"] is True
    reviewer.change("reopen", 1, markdown="“It is new and fast”")
    assert cached(reviewer).remarks == (length, first)
    assert reviewer.act("undo").status_code == 200
    assert reviewer.act("undo").status_code == 200
    assert cached(reviewer).remarks == (second, length)
    reviewer.change("confirm", 3)
    assert reviewer.act("approve", reason="I know").status_code == 200


def test_a_quotation_that_is_removed_or_comes_back(reviewer: Reviewer) -> None:
    """Its remark goes with its sentence or its block, and comes back with it."""
    first, second, _ = quoting(reviewer)
    reviewer.change("remove", 1)
    assert about_quotations(reviewer) == [second]
    reviewer.change("delete", 2)
    assert about_quotations(reviewer) == []
    for remarks in ([first], [first, second]):
        compared = reviewer.act("compare", earlier="generated").json()
        change = compared["rows"][0]["change"]
        assert reviewer.act("change", changes=[change]).status_code == 200
        assert about_quotations(reviewer) == remarks


def test_a_quotation_that_is_reworded(reviewer: Reviewer) -> None:
    """One that is still marked is no less invented; without a mark, the words are the person's."""
    first, second, _ = quoting(reviewer)
    reviewer.change("edit", 1, markdown="==“It is new and slow”==, she said.")
    assert about_quotations(reviewer) == [first, second]
    reviewer.change("edit", 3, markdown="We all like it.")
    assert about_quotations(reviewer) == [first]


def test_a_confirmed_statement_is_checked_again(reviewer: Reviewer) -> None:
    """It has its mark again, is not confirmed any more, and the block is nobody's."""
    before = cached(reviewer)
    reviewer.change("confirm", 3)
    assert reviewer.queue()["report.md"]["checked"] == 1
    reviewer.change("reopen", 3, markdown="Jane Smith")
    text = cached(reviewer)
    assert Document(text.html).to_lines() == Document(before.html).to_lines()
    assert text.edits == Edits()
    blocks = reviewer.text()["blocks"]
    assert isinstance(blocks, list)
    change = {"action": "reopen", "block": 3, "digest": blocks[3]["digest"], "markdown": "Thrown"}
    assert "was not confirmed" in reviewer.act("change", changes=[change]).text


def test_a_cell_has_its_heads(reviewer: Reviewer) -> None:
    """A statement in a table is read with the heads of its column and its row."""
    table = "<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Free</td><td><mark>0</mark></td>"
    html = f"<article><h1>Builds take seconds</h1>{table}</tr></table></article>"
    save(reviewer.root, {NEWS.key(sandbox=False): Text(html, WHEN, NEWS.record(), "m")})
    cards = reviewer.text()["statements"]
    assert isinstance(cards, list)
    assert [card["place"] for card in cards] == [["Price", "Free"]]


def test_differences_have_their_places(reviewer: Reviewer) -> None:
    """Each names the block that differs; of a block that is gone, the one before it."""
    reviewer.change("delete", 3)
    reviewer.change("edit", 3, markdown="Needs nothing")
    gone, changed = differences(reviewer)
    assert (gone["block"], gone["is_gone"]) == (2, True)
    assert (changed["block"], changed["is_gone"]) == (3, False)


def translated(reviewer: Reviewer) -> None:
    """Add a page with a translation of the post, which the sandbox has made."""
    reviewer.root.joinpath("docs/post.de.md").write_text(
        "---\ncontentgen: {translation_of: post.md, language: de}\n---\n"
    )
    config = yaml.safe_load((reviewer.root / "mkdocs.yml").read_text())
    config["plugins"] = [{"contentgen": {"base_url": "sandbox"}}]
    (reviewer.root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    write_post(reviewer, "In 2019.")
    ref = reviewer.queue()["post.de.md"]["ref"]
    assert reviewer.call("ask", ref=ref, replace=True).status_code == 200
    reviewer.app._site.wait()


def write_post(reviewer: Reviewer, words: str, edition: int = 1) -> None:
    """Put a version of the post into the cache."""
    html = f'<article lang="en"><h1>Ten habits</h1><p>{words}</p><p>Last.</p></article>'
    sources = {LINK: "0" * 64}
    text = Text(html, WHEN, BLOG.record(), "m", sources, edition=edition)
    save(reviewer.root, {BLOG.key(sandbox=True): text})


def test_a_translation_beside_its_original(reviewer: Reviewer) -> None:
    """Each block has its original, which is the evidence, and there is no other source."""
    translated(reviewer)
    reviewer.change("edit", 1, "post.de.md", markdown="Im Jahr ==2020==.")
    text = reviewer.text("post.de.md")
    blocks = text["blocks"]
    assert isinstance(blocks, list)
    assert [block["original"] for block in blocks] == ["Ten habits", "In 2019.", "Last."]
    assert (text["translation_of"], text["original_language"]) == ("post.md", "en")
    assert text["sources"] == []
    remarks = text["remarks"]
    assert isinstance(remarks, list)
    assert [remark["kind"] for remark in remarks] == ["original_draft"]
    statements = text["statements"]
    assert isinstance(statements, list)
    [evidence] = statements[0]["evidence"]
    assert (evidence["text"], evidence["file"]) == ("In 2019.", "docs/post.md")


def test_a_translated_cell_has_the_original_of_its_own_block(reviewer: Reviewer) -> None:
    """Words of other cells are in its row, and short ones in many sentences."""
    translated(reviewer)
    cells = "".join(f"<td>Cell {letter} is long.</td>" for letter in "ABCD")
    table = f"<table><tbody><tr><td>In</td>{cells}<td>In 2019.</td></tr></tbody></table>"
    html = f'<article lang="en"><h1>Ten habits</h1>{table}<p>In 2018, there were 7.</p></article>'
    save(reviewer.root, {BLOG.key(sandbox=True): Text(html, WHEN, BLOG.record(), edition=2)})
    row = reviewer.queue()["post.de.md"]
    asked = reviewer.call("ask", ref=row["ref"], seen=row["seen"], replace=True)
    assert asked.status_code == 200
    reviewer.app._site.wait()
    for block in (6, 7):
        reviewer.change("edit", block, "post.de.md", markdown="Im Jahr ==2020==, In.")
    statements = reviewer.text("post.de.md")["statements"]
    assert isinstance(statements, list)
    found = [[passage["text"] for passage in card["evidence"]] for card in statements]
    assert found == [["In 2019."], ["In 2018, there were 7."]]


def test_a_translation_whose_original_has_changed(reviewer: Reviewer) -> None:
    """It is said in the list and in the text; an update translates that, and a note is refused."""
    translated(reviewer)
    assert reviewer.queue()["post.de.md"]["original_changes"] == 0
    write_post(reviewer, "In 2021.", edition=2)
    row = reviewer.queue()["post.de.md"]
    assert row["original_changes"] == 1
    assert reviewer.text("post.de.md")["original_changes"] == 1

    noted = reviewer.act("ask", "post.de.md", note="shorter")
    assert noted.status_code == 422
    assert "change that, or edit this" in noted.json()["error"]
    # As the list sends it.
    asked = reviewer.call("ask", ref=row["ref"], seen=row["seen"], update=True)
    assert asked.status_code == 200
    reviewer.app._site.wait()
    text = reviewer.text("post.de.md")
    assert text["ask_problem"] == ""
    assert text["original_changes"] == 0
    assert [block["text"] for block in text["blocks"]] == [  # type: ignore[attr-defined]
        "[de] Ten habits",
        "[de] In 2021.",
        "[de] Last.",
    ]


def test_an_update_of_a_translation_that_is_taken_back(reviewer: Reviewer) -> None:
    """The words of before are there again, and so is what is to be said of the original."""
    translated(reviewer)
    write_post(reviewer, "In 2021.", edition=2)
    before = reviewer.text("post.de.md")["blocks"]
    row = reviewer.queue()["post.de.md"]
    reviewer.call("ask", ref=row["ref"], seen=row["seen"], update=True)
    reviewer.app._site.wait()
    assert reviewer.text("post.de.md")["blocks"] != before
    assert reviewer.act("undo", "post.de.md").status_code == 200
    text = reviewer.text("post.de.md")
    assert (text["blocks"], text["original_changes"]) == (before, 1)


def test_what_a_changed_original_costs(reviewer: Reviewer) -> None:
    """The estimate is that of the blocks to translate; without a change, nothing is sent."""
    translated(reviewer)
    desk = reviewer.app._site.open()
    article = desk.find(str(reviewer.queue()["post.de.md"]["ref"]))
    assert article.draft
    ref = reviewer.queue()["post.de.md"]["ref"]
    assert reviewer.call("cost", ref=ref, update=True).json() == {}

    writer = {"model": "m", "endpoint": "http://127.0.0.1:9/v1"}
    config = yaml.safe_load((reviewer.root / "mkdocs.yml").read_text())
    config["plugins"] = [{"contentgen": {"base_url": "writer", "writer": writer}}]
    (reviewer.root / "mkdocs.yml").write_text(yaml.safe_dump(config))
    post = Text(
        '<article lang="en"><h1>Ten habits</h1><p>In 2021.</p></article>', WHEN, BLOG.record()
    )
    key = article.request.key(sandbox=False)
    save(reviewer.root, {BLOG.key(sandbox=False): post, key: article.draft})
    ref = reviewer.queue()["post.de.md"]["ref"]
    assert reviewer.call("cost", ref=ref, update=True).json()["calls"] == 1
