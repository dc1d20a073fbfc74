"""The commands `import` and `prompt`: texts of people, chats and agents, in the process."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from bs4 import Tag
from commands import like_a_process
from conftest import Project
from model_writer import sentences, write
from msgspec import structs

from mkdocs_contentgen.cli.common import open_site
from mkdocs_contentgen.review.importing import import_text as import_draft
from mkdocs_contentgen.text import MAX_EDIT
from mkdocs_contentgen.texts.store import ChangedError

TOPIC = "How to speed up a docs build"
MARKDOWN = f"""# Faster builds

{sentences(60, "start")}

## Measure first

{sentences(90, "measure")} A build took 42 seconds in 2019, as [the guide](https://x.example) says.

## Then cache

{sentences(90, "cache")}

{sentences(40, "end")}
"""


@pytest.fixture
def site(project: Project) -> Project:
    """Return a site of one page whose text is nowhere, without a service."""
    project.configure({})
    project.page("index.md", {"type": "blog", "topic": TOPIC, "length": "short"})
    return project


def import_text(site: Project, text: str, *arguments: str) -> str:
    """Return what `contentgen import` prints about a text in a file."""
    (site.root / "text.md").write_text(text, encoding="utf-8")
    return site.run("mkdocs_contentgen", "import", "index.md", "text.md", *arguments).stdout


def approve(site: Project) -> str:
    """Approve all texts, with their statements, and return what that prints."""
    arguments = ("approve", "--all", "--by", "Jo", "--reason", "I know")
    return site.run("mkdocs_contentgen", *arguments).stdout


def row(site: Project) -> dict[str, object]:
    """Return the row of `status --json`."""
    [found] = json.loads(site.run("mkdocs_contentgen", "status", "--json").stdout)
    assert isinstance(found, dict)
    return found


def test_a_text_of_a_chat(site: Project) -> None:
    """It becomes a draft with its marks, whose page says that it is AI-generated and by whom."""
    assert "Next: contentgen review index.md" in import_text(site, MARKDOWN, "--model", "a-chat")
    assert (row(site)["state"], row(site)["model"]) == ("draft", "a-chat")
    assert site.build("--strict").returncode == 0
    html = site.html("index.html")
    assert "AI-generated, not reviewed · a-chat" in html
    assert [mark.text for mark in site.soup("index.html").select("article mark")] == [
        "42 seconds",
        "2019",
        "the guide",
    ]


ROWS = "\n".join(f"| `option_{number}` | off | off | off | off | off |" for number in range(60))
TABLE = f"{MARKDOWN}\n\n| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n{ROWS}\n\nThat is all of them.\n"


def test_a_text_of_a_person_that_repeats_itself(site: Project) -> None:
    """Rows that are nearly the same are a loop of a model; those of a person stay, as a table."""
    assert "repeats itself without end" in import_text(site, TABLE, "--model", "a-chat")
    import_text(site, TABLE, "--by", "Ana")
    assert "repeat" not in json.dumps(row(site)["remarks"])
    site.build("--strict")
    assert len(site.soup("index.html").select("article tr")) == 61


def test_the_first_and_the_last_words_of_a_person(site: Project) -> None:
    """What a model says to the person who asked is no part of a text, and what a person says is."""
    opening = "Certainly! Here is what I think."
    closing = "I hope this helps! Let me know if you have any questions.\n\nEnd."
    text = f"{opening}\n\n{sentences(200, 'all')}\n\n{closing}\n"
    assert "what the model said" in import_text(site, text, "--model", "a-chat")
    assert "what the model said" not in import_text(site, text, "--by", "Ana")
    site.build("--strict")
    shown = site.soup("index.html").select_one("article.contentgen")
    assert shown
    said = shown.text
    assert opening in said
    assert all(words in said for words in closing.split("\n\n"))


@pytest.mark.parametrize("kind", ["blog", "news"])
def test_a_text_of_a_person(site: Project, kind: str) -> None:
    """Once somebody has approved it, line, attribute and metadata name the person, and no AI.

    Before that, only `status` does: its page is that of a draft, in the cache and as proposed.
    """
    site.page("index.md", {"type": kind, "topic": TOPIC, "length": "short"})
    import_text(site, MARKDOWN, "--by", "Ana <b>")
    for command in ("status", "propose"):
        site.run("mkdocs_contentgen", command, *(["--all"] if command == "propose" else []))
        assert (row(site)["written_by"], row(site)["model"]) == ("Ana <b>", None)
        article, metadata = shown(site)
        assert article["ai-disclosure"] == "ai-autonomous"
        assert "AI-generated, not reviewed" in article.text
        assert "Written by" not in article.text
        assert "author" not in metadata
    approve(site)
    assert "written_by: Ana <b>" in (site.root / "contentgen/index.md/main.html").read_text()
    article, metadata = shown(site)
    assert article["ai-disclosure"] == "human-only"
    assert "Written by Ana <b>" in article.text
    assert not re.search(r"AI.generated|Algorithmic", str(article) + json.dumps(metadata))
    assert metadata["author"] == {"@type": "Person", "name": "Ana ‹b›"}
    source_type = "http://cv.iptc.org/newscodes/digitalsourcetype/digitalCreation"
    assert metadata["digitalSourceType"] == source_type


def shown(site: Project) -> tuple[Tag, dict[str, object]]:
    """Build the site, and return the article of its page and the article's JSON-LD."""
    site.build("--strict")
    article = site.soup("index.html").select_one("article.contentgen")
    script = site.soup("index.html").select_one("script[type='application/ld+json']")
    assert article
    assert script
    [metadata] = json.loads(script.text)
    return article, metadata


def test_addresses_of_links_that_are_not_kept(site: Project) -> None:
    """Whoever wrote them, each is named with its words, or as one in HTML."""
    links = (
        f"Read [this](/page), [that](https://a.example/{'x' * 999}), `[b](https://c.example)`, "
        '<a href="https://b.example">this</a> and <https://shown.example>.\n'
    )
    for author in (("--by", "Ana"), ("--model", "a-chat")):
        import_text(site, f"{MARKDOWN}\n{links}", *author, "--yes")
        remarks = row(site)["remarks"]
        assert isinstance(remarks, list)
        named = [remark for remark in remarks if "was taken out, since nobody checked" in remark]
        assert named[1].startswith("link: the address of 'this' was taken out, ")
        assert named[1].endswith(": /page")
        assert named[2].endswith("x…")
        assert "repaired: the addresses of links were taken out: https://b.example" in remarks
        assert max(map(len, named)) < 2 * MAX_EDIT
    many = "".join(f" [x{number}](https://a.example/{number})" for number in range(19))
    (site.root / ".cache").rename(site.root / "old-cache")
    assert "10 more links were taken out" in import_text(site, f"{MARKDOWN}\n{many}.\n")


def words(number: int) -> str:
    """Return four words that no other number has in this order."""
    return " ".join("abcdefghij"[int(digit)] * 4 for digit in f"{number:04}")


ITEMS = "\n".join(f"- {words(number)}" for number in range(900))
ROWS = "\n".join(
    "|".join(words(number) for number in range(first, first + 6)) for first in range(0, 900, 6)
)


@pytest.mark.parametrize(
    "blocks", [ITEMS, f"a|b|c|d|e|f\n-|-|-|-|-|-\n{ROWS}"], ids=["items", "cells"]
)
def test_a_long_text_of_a_person_can_be_approved(site: Project, blocks: str) -> None:
    """Its file knows of each block who wrote it."""
    text = f"{MARKDOWN}\n## More\n\n{blocks}\n"
    assert "the text is a draft" in import_text(site, text, "--by", "Ana Maria " + "x" * 190)
    approve(site)
    assert row(site)["state"] == "approved"
    edits = row(site)["edits"]
    assert isinstance(edits, dict)
    assert len(edits["changed_by"]) >= 900


@pytest.mark.parametrize(
    ("arguments", "label"),
    [([], "AI-generated, reviewed by Jo"), (["--by", "Ana"], "Written by Ana")],
)
def test_statements_of_texts_without_a_model(
    site: Project, arguments: list[str], label: str
) -> None:
    """They are counted and listed for the reviewer, and not published as marks."""
    import_text(site, MARKDOWN, *arguments)
    assert row(site)["marked"] == 3
    said = approve(site)
    site.build("--strict")
    assert label in site.html("index.html")
    assert "to check: A build took ‹42 seconds› in ‹2019›" in said
    assert "<mark" not in (site.root / "contentgen/index.md/main.html").read_text()


def test_an_author_in_an_edited_header(site: Project) -> None:
    """A generated text does not become one of a person unnoticed, nor a person's another's."""
    for arguments in [], ["--by", "Ana"]:
        import_text(site, MARKDOWN, *arguments)
        approve(site)
        path = site.root / "contentgen/index.md/main.html"
        header, text = path.read_text().split("\n---\n", 1)
        header = re.sub("^(model|written_by): .*\n?", "", header, flags=re.MULTILINE)
        path.write_text(f"{header.rstrip()}\nwritten_by: Bob\n---\n{text}")
        compared = site.run("mkdocs_contentgen", "diff", "index.md").stdout
        assert "who wrote it, says: Bob" in compared
        assert row(site)["state"] == "changed"
        assert "edited since Jo approved it" in site.build("--strict").stdout
        path.unlink()


def test_html_and_standard_input(site: Project) -> None:
    """A page of HTML is read as well, from the standard input, without its scripts."""
    html = f"<h1>Title</h1><script>alert(1)</script><p>{sentences(120, 'a')}</p><ul><li>One</ul>"
    ran = site.call(
        "bash", "-c", f"{sys.executable} -m mkdocs_contentgen import index.md - <<< '{html}'"
    )
    assert "the text is a draft" in ran.stdout, ran.stdout
    site.build()
    assert "alert" not in str(site.soup("index.html").select_one("article"))
    assert site.soup("index.html").select_one("article ul li")


def test_what_is_no_text(site: Project) -> None:
    """An empty file, a refusal, a file that is none and a wrong name are one line each."""
    assert "text.md: is empty; write the text into it first" in import_text(site, "")
    assert "the answer is a refusal" in import_text(site, "I'm sorry, I cannot help with that.")
    (site.root / "bytes.md").write_bytes(b"\xff\xfe\x00")
    for arguments, message in (
        (["bytes.md"], "bytes.md: cannot be read"),
        (["none.md"], "No such file"),
        (["text.md", "--by", "a", "--model", "b"], "leave --model or --by out"),
        (["text.md", "--id", "b"], "has no article 'b'; it has: main"),
    ):
        ran = site.run("mkdocs_contentgen", "import", "index.md", *arguments)
        assert message in ran.stdout
        assert ran.returncode != 0
    assert row(site)["state"] == "missing"
    site.page("other.md", {"type": "blog", "topic": "Another"})
    many = site.run("mkdocs_contentgen", "import", "*.md", "text.md").stdout
    assert "name one of: index.md --id main, other.md --id main" in many
    site.configure({"base_url": "sandbox"})
    assert "first take `base_url: sandbox` out of the configuration" in import_text(site, MARKDOWN)


def test_words_of_a_person_are_not_replaced_unasked(site: Project) -> None:
    """A second import asks first, and without a terminal it ends."""
    import_text(site, MARKDOWN, "--by", "Ana")
    assert "people have changed the drafts of index.md" in import_text(site, MARKDOWN)
    assert row(site)["written_by"] == "Ana"


def test_words_of_a_person_that_come_after_the_question(site: Project) -> None:
    """Whoever agrees to lose what people wrote has seen no later words: these stay."""
    import_text(site, MARKDOWN, "--by", "Ana")

    def change() -> None:
        store = opened.store()
        [(key, text)] = store.load([article.key])[0].items()
        html = text.html.replace("</article>", "<p>Later words.</p></article>")
        store.save({key: structs.replace(text, html=html)}, agreed=True)
        store.close()

    with like_a_process(site.root, site.environment), open_site(None) as opened:
        [article], _ = opened.articles(["index.md"])
        with pytest.raises(ChangedError):
            import_draft(opened, article, MARKDOWN, model="m", by="", ask_before_replacing=change)
        [now], _ = opened.articles(["index.md"])
    assert "Later words." in str(now.draft)


def test_words_of_a_person_are_not_dropped_unasked(site: Project) -> None:
    """`prune` names them, and deletes them in a terminal only, where somebody is asked."""
    import_text(site, MARKDOWN, "--by", "Ana")
    asked = site.root / "docs/index.md"
    before = asked.read_text()
    asked.write_text("# No request\n")
    pruned = site.run("mkdocs_contentgen", "prune")
    assert pruned.returncode == 1
    assert ", which people have changed\n" in pruned.stdout
    assert "run this in a terminal to drop them" in pruned.stdout
    asked.write_text(before)
    assert row(site)["written_by"] == "Ana"


def test_an_answer_that_was_refused(site: Project) -> None:
    """What a program answered is printed, repaired and imported, and is a draft then."""
    script = "print('I cannot write about that topic, as a language model.')"
    site.configure({"base_url": "writer", "writer": {"command": [sys.executable, "-c", script]}})
    assert "the answer is a refusal" in site.build().stdout
    answer = site.run("mkdocs_contentgen", "show", "index.md", "--answer").stdout
    assert answer == "I cannot write about that topic, as a language model.\n"
    import_text(site, MARKDOWN, "--model", "mine")
    assert row(site)["state"] == "draft"


def test_a_program_that_fails(site: Project) -> None:
    """Its text stays missing and is asked for again, and what was written can be read."""
    script = (
        "import sys; print('# A title\\n\\nThe text has only just begun here, and'); "
        "sys.exit('no credit')"
    )
    site.configure({"base_url": "writer", "writer": {"command": [sys.executable, "-c", script]}})
    for _ in range(2):
        assert "ended with status 1: no credit; # A title The text has" in site.build().stdout
    assert row(site)["state"] == "missing"
    assert "ended with status 1: no credit; # A title" in str(row(site)["reason"])
    answer = site.run("mkdocs_contentgen", "show", "index.md", "--answer").stdout
    assert answer == "# A title\n\nThe text has only just begun here, and\n"
    import_text(site, MARKDOWN, "--model", "mine")
    assert row(site)["state"] == "draft"
    shown = site.run("mkdocs_contentgen", "show", "index.md", "--answer")
    assert "no answer of this page is remembered" in shown.stdout


def test_a_program_that_fails_with_a_message(site: Project) -> None:
    """A message on the standard output is not a text, and quoted in the error."""
    script = "print('Limit reached'); raise SystemExit(1)"
    site.configure({"base_url": "writer", "writer": {"command": [sys.executable, "-c", script]}})
    assert "ended with status 1: Limit reached" in site.build().stdout
    assert (row(site)["state"], row(site)["reason"]) == ("missing", "never generated")


def test_a_program_and_the_credentials_of_the_site(
    site: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that `!ENV` names for a token of the plugin does not reach the program."""
    monkeypatch.setenv("SITE_TOKEN", "tok-secret")
    script = "import os; raise SystemExit(f'token: {os.environ.get(\"SITE_TOKEN\")}')"
    program = {"command": [sys.executable, "-c", script]}
    site.configure({"base_url": "writer", "token": "TOKEN", "writer": program})
    config = site.root / "mkdocs.yml"
    config.write_text(config.read_text().replace("TOKEN", "!ENV SITE_TOKEN"))
    assert "ended with status 1: token: None" in site.build().stdout


def test_a_program_writes_a_site(site: Project) -> None:
    """A build gets its text from a program, which the label names."""
    path = Path(__file__).parents[1] / "model_writer.py"
    script = (
        f"import sys; sys.path.insert(0, {str(path.parent)!r}); import model_writer as m; "
        "s, t = sys.stdin.read().split('\\n\\nTopic: '); "
        "print(m.write([{'content': s}, {'content': 'Topic: ' + t}]))"
    )
    writer = {"command": [sys.executable, "-c", script], "model": "mine"}
    site.configure({"base_url": "writer", "writer": writer})
    built = site.built("--strict")
    assert "1 text generated by mine" in built
    assert "AI-generated, not reviewed · mine" in site.html("index.html")


def test_prompt(site: Project) -> None:
    """It is what a model is asked, with the sources, and an answer can be imported."""
    (site.root / "docs/facts.md").write_text(
        f"# Facts\n\nA docs build took 42 seconds.\n\n{TOPIC}\n"
    )
    site.configure({"writer": {"sources": True}}, site_url="https://site.example/")
    printed = site.run("mkdocs_contentgen", "prompt", "index.md").stdout
    system, user = printed.split("Topic: ")
    assert "about 400 words" in user
    assert "<source 1" in user
    assert "42 seconds" in user
    text = write([{"content": system}, {"content": f"Topic: {user}"}])
    import_text(site, text.replace("It took 42 days", "It took 42 seconds [1]"))
    site.build()
    assert site.soup("index.html").select_one("article a[href*=facts]")


def test_a_program_that_is_missing(site: Project) -> None:
    """A build of texts that are there needs no program; one that lacks a text says what to do."""
    import_text(site, MARKDOWN)
    site.configure({"base_url": "writer", "writer": {"command": ["no-such-program"]}})
    assert site.build().returncode == 0
    site.page("other.md", {"type": "blog", "topic": "Another"})
    built = site.build()
    assert "the program 'no-such-program' (writer.command) cannot be started" in built.stdout
    assert "Traceback" not in built.stdout
