"""What commands and builds print of pages, caches and approved files that a stranger prepared."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import unicodedata
from contextlib import closing, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import click
import pytest
from approved_texts import approve, save_approved
from conftest import Project
from msgspec import structs
from service_double import ServiceDouble, generated

from mkdocs_contentgen.cli.output import print_article, print_articles_table
from mkdocs_contentgen.errors import MissingReason
from mkdocs_contentgen.page_request import PageRequest
from mkdocs_contentgen.requests import BlogRequest
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.articles import Article
from mkdocs_contentgen.texts.lookup import Outcome
from mkdocs_contentgen.texts.store.entries import decode_text, encode_entry

HOSTILE = (
    "::error::a\x1b]52;c;eA==\x07b\n::set-output name=c::d \u202e##[group]e\u2028\x9b31m\ud800"
)
"""Each piece of it is obeyed by some terminal, log viewer or CI."""


def test_an_article(capsys: pytest.CaptureFixture[str]) -> None:
    """It is printed as Markdown to be read, with its statements to check and its addresses."""
    print_article(
        "<article><h1>T</h1><pre><code>def f():\n    return 1\x1b\n</code></pre>"
        "<ul><li>\n<p>One</p>\n</li></ul><ol start='3'><li>Three<ul><li>Nested</li></ul></li>"
        "<li><p>Four</p><p>Its second</p></li></ol>"
        "<p>A <mark>4 s</mark> <a href='https://a.example/b'>c_d</a> * e</p></article>"
    )
    assert capsys.readouterr().out == (
        "# T\n\n```\ndef f():\n    return 1\n```\n\n• One\n\n3. Three\n   • Nested\n4. Four\n\n"
        "   Its second\n\nA ==4 s== [c_d](https://a.example/b) * e\n"
    )


def run(project: Project, *command: str, code: int = 0, **environment: str) -> str:
    """Run a command; return what it printed, of which nothing is obeyed."""
    project.environment |= environment
    ran = project.run(*command)
    assert ran.returncode == code, ran.stdout
    assert "Traceback" not in ran.stdout
    assert_harmless(ran.stdout)
    return ran.stdout


def assert_harmless(printed: str) -> None:
    """No line is a command of a CI, and no character does anything but be read."""
    assert not re.search(r"^\s*::\w", printed, re.MULTILINE)
    assert not re.search(r"##\w*\[", printed)
    for character in printed:
        assert (
            unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") or character in "\n\t"
        )
        assert not "\u202a" <= character <= "\u202e"
        assert not "\u2066" <= character <= "\u2069"


def write_approved(project: Project, text: str, page: str = "index.md", topic: str = "Alpha",
                   by: str = "Jo") -> Path:  # fmt: skip
    """Write the approved file of a page."""
    directory = project.root / "contentgen"
    path = directory / page / "main.html"
    generated_at = datetime(2026, 1, 2, tzinfo=UTC)
    stored = Text(text, generated_at, BlogRequest(topic=topic).record())
    save_approved(path, directory, approve(stored, "0", "sandbox", by))
    return path


def edit_cache(project: Project, **request: object) -> None:
    """Change what the texts in the cache were asked for with."""
    with closing(sqlite3.connect(project.root / ".cache/plugin/contentgen/cache.db")) as database:
        for key, value in database.execute("SELECT key, value FROM Cache").fetchall():
            text = decode_text(key, value)
            assert text is not None
            entry = encode_entry(key, structs.replace(text, request=text.request | request))
            database.execute("UPDATE Cache SET value = ? WHERE key = ?", (entry, key))
        database.commit()


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_topics(project: Project, columns: str) -> None:
    """A topic, and a table whose folded lines may begin with any part of one."""
    project.configure({"on_missing": "placeholder"})
    topic = (
        HOSTILE.replace("\ud800", "")
        + " x" * 20
        + "".join("a" * n + "::warning::b " for n in range(30))
    )
    front = json.dumps({"type": "blog", "topic": topic})  # JSON is YAML, escapes included
    project.write("docs/index.md", f"---\ncontentgen: {front}\n---\n")
    run(project, "mkdocs_contentgen", "status", COLUMNS=columns)
    shown = run(project, "mkdocs_contentgen", "generate", "--dry-run")
    assert "docs/index.md:2: \\x3a:error::a\\x1b]52;c;eA==\\x07b\\n" in shown
    listed = json.loads(run(project, "mkdocs_contentgen", "status", "--json"))
    assert listed[0]["topic"] == unicodedata.normalize("NFC", topic).strip()
    assert "docs/index.md:2: " in run(project, "mkdocs", "build")


def test_page_paths(project: Project) -> None:
    """A page's path is at the start of many lines, in a log and in the page in place of a text."""
    project.configure({"on_missing": "placeholder"})
    name = "::error::\x1b[31m\x02wzxhzdk:0\x03\u202e##[group]\n::warning::x.md"
    project.page(name, {"type": "blog", "topic": "x"}, "<div>raw</div>\n")
    assert "\\x3a:error::\\x1b[31m\\x02wzxhzdk:0\\x03" in run(
        project, "mkdocs_contentgen", "status"
    )
    run(project, "mkdocs_contentgen", "diff", "*")
    run(project, "mkdocs_contentgen", "approve", "--all", "--by", "Jo", code=1)
    project.page(name, {"type": "x"}, "<div>raw</div>\n")
    run(project, "mkdocs_contentgen", "status", code=1)
    project.page("index.md", {"type": "blog", "topic": "x"})
    project.configure({"on_missing": "fail"})
    page = project.root / "docs" / name
    page.write_text(page.read_text().replace("type: x", "type: blog\n  topic: y"))
    ran = project.build()
    ours = [line for line in ran.stdout.split("\n") if "contentgen:" in line]
    assert_harmless("\n".join(ours))
    assert any("\\x02wzxhzdk:0\\x03" in line for line in ours)


def test_a_placeholder_is_text(project: Project) -> None:
    """A message that quotes a page cannot name Markdown's own places for raw HTML."""
    name = "a\x02wzxhzdk:0\x03b"
    project.page(f"{name}/index.md", {"type": "x"}, "<div>raw words</div>\n")
    assert project.build_as_server().returncode == 0
    page = project.soup(f"{name}/index.html")
    assert "docs/a\\x02wzxhzdk:0\\x03b/index.md:3: contentgen.type: " in page.get_text()
    assert page.get_text().count("raw words") == 1


def test_bodies_in_diff(project: Project, service: ServiceDouble) -> None:
    """Approved text and draft are shown word by word, whatever they hold."""
    body = HOSTILE.replace("\ud800", "").replace("\x1b", "").replace("\x07", "").replace("\x9b", "")
    service.answer = generated(
        f"<article><pre>x\n::error::y\n##[group]z</pre><p>{body}</p></article>"
    )
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    run(project, "mkdocs_contentgen", "generate")
    raw = HOSTILE.replace("\ud800", "")
    write_approved(
        project, f"<article>\n<pre>\nx\n::error::y\n</pre>\n{raw}\n::warning::z\n</article>\n"
    )
    shown = run(project, "mkdocs_contentgen", "diff", "index.md")
    assert "\n\\x3a:error::y\n" in shown
    assert "\\x3a:set-output name=c::d \\u202e" in shown


def test_what_a_cache_holds(project: Project) -> None:
    """`prune` shows the fields of cached texts, and nothing of them is obeyed."""
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    run(project, "mkdocs_contentgen", "generate")
    project.page("index.md", {"type": "blog", "topic": "Beta"})
    hostile = HOSTILE.replace("\ud800", "")  # with that, nothing can be encoded
    for value in (hostile, {"a": hostile}, None):
        edit_cache(project, topic=value, type=value)
        shown = run(project, "mkdocs_contentgen", "prune", "--dry-run")
        assert "texts to be dropped: 1" in shown
    assert "texts dropped: 1" in run(project, "mkdocs_contentgen", "prune")


def test_yaml_that_is_quoted(project: Project) -> None:
    """Errors that quote a front matter, an option or an approved file quote nothing harmful."""
    project.write(
        "docs/index.md", '---\ncontentgen: {type: "\\e[31m\\n::error::x", a\u2028b: 1}\n---\n'
    )
    run(project, "mkdocs_contentgen", "status", code=1)
    project.write("docs/index.md", "---\ncontentgen: {type: blog, topic: [}\n::error::x\n---\n")
    run(project, "mkdocs_contentgen", "status", code=1)
    project.page("index.md", {"type": "blog", "topic": "x"})
    project.write("contentgen/index.md/main.html", "---\n::error::x\n\u202e: [\n---\n")
    run(project, "mkdocs_contentgen", "status", code=1)
    run(project, "mkdocs", "build", code=1)
    project.write("mkdocs.yml", "site_name: x\n::error::y: [\n")
    run(project, "mkdocs_contentgen", "status", code=1)
    run(project, "mkdocs_contentgen", "status", "-f", "::error::\x1b[31m.yml", code=1)


SURROGATES = [
    *('{type: blog, topic: "\\ud800"}', '{type: blog, topic: x, id: "\\ud800"}'),
    *('{"\\ud800": 1, type: blog}', '"\\ud800"', '{type: "\\ud800"}'),
]


@pytest.mark.parametrize("line", SURROGATES)
def test_unpaired_surrogates(project: Project, line: str) -> None:
    """No place of a front matter or the option `defaults` ends a command with a traceback."""
    project.write("docs/index.md", f'---\ntitle: "\\ud800"\ncontentgen: {line}\n---\n')
    run(project, "mkdocs_contentgen", "status", code=1)
    run(project, "mkdocs", "build", code=1)
    project.write("docs/index.md", '---\ntitle: "a\\ud800"\ncontentgen: {type: blog}\n---\n')
    run(project, "mkdocs_contentgen", "status", code=1)
    project.write("docs/index.md", "# x\n")
    project.write(
        "mkdocs.yml", f"site_name: x\nplugins: [contentgen: {{defaults: {{blog: {line}}}}}]"
    )
    run(project, "mkdocs_contentgen", "status", code=1)


def test_unpaired_surrogates_without_libyaml(project: Project) -> None:
    """PyYAML without libyaml, as some systems have it, takes them for characters."""
    project.write("sitecustomize.py", "import yaml\ndel yaml.CSafeLoader\n")
    path = f"{project.root}{os.pathsep}{project.environment.get('PYTHONPATH', '')}"
    project.environment["PYTHONPATH"] = path
    for number, line in enumerate(SURROGATES):
        front = f'title: "\\ud800"\ncontentgen: {line}\n'
        project.write(f"docs/{number}.md", f"---\n{front}---\n")
    ran = project.run_process("mkdocs_contentgen", "status")
    assert (ran.returncode, "Traceback" in ran.stdout) == (1, False)
    assert set(re.findall(r"docs/(\d)\.md:", ran.stdout)) == set("01234")


RUN_ALL = """
import sys
from mkdocs_contentgen.cli.main import main
for command in sys.argv[1:]:
    main(command.split(), standalone_mode=False)
    print("=====", flush=True)
"""


@pytest.mark.system
@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252:strict"},
    ],
    ids=str,
)
def test_terminals_that_cannot_show_a_character(
    project: Project, environment: dict[str, str]
) -> None:
    """No command ends because of an encoding."""
    project.page("index.md", {"type": "blog", "topic": "Łódź שלום 👩‍💻"})
    commands = ("status", "generate --dry-run", "generate", "status",
                "approve --all --by Jo", "status", "generate --refresh", "diff index.md",
                "status --json", "schema", "prune", "eject index.md")  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *commands],
        cwd=project.root,
        env=project.environment | environment,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.system
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
def test_a_terminal_without_colours(project: Project) -> None:
    """With `NO_COLOR`, no command prints an escape sequence for one."""
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    for command in ("generate", "approve --all --by Jo", "generate --refresh"):
        run(project, "mkdocs_contentgen", *command.split())
    for variables, coloured in ({"NO_COLOR": "1"}, False), ({}, True):
        ours, theirs = os.openpty()
        subprocess.run(
            [sys.executable, "-c", RUN_ALL, "status", "diff index.md"],
            cwd=project.root,
            env=project.environment | {"TERM": "xterm", **variables},
            stdout=theirs,
            timeout=300,
            check=True,
        )
        os.close(theirs)
        printed = os.read(ours, 65536)
        os.close(ours)
        table, difference, _ = printed.split(b"=====")
        assert (b"\x1b[" in table, b"\x1b[" in difference) == (coloured, coloured)


class Terminal(StringIO):
    """A standard output that is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def status_table(
    monkeypatch: pytest.MonkeyPatch, output: StringIO, *articles: Article, columns: int = 80
) -> list[str]:
    """Return the lines that `contentgen status` prints of articles."""
    monkeypatch.setenv("COLUMNS", str(columns))
    with redirect_stdout(output):
        print_articles_table(articles)
    return [line.rstrip() for line in click.unstyle(output.getvalue()).splitlines()]


def reviewed(page: str, name: str = "main", topic: str = "Ten ways to speed up a docs build",
             model: str = "") -> Article:  # fmt: skip
    """Return an approved article."""
    request = BlogRequest(topic=topic, id=name)
    time = datetime(2026, 1, 2, tzinfo=UTC)
    text = Text("<article>Text.</article>", time, request.record(), model)
    approved = approve(text, "0", "sandbox", "Jo")
    assert approved.approval is not None
    approval = structs.replace(approved.approval, approved_at=time.date())
    approved = replace(approved, header=approval)
    return Article(PageRequest(request, page), key="0", directory=Path(), approved=approved)


def test_a_table_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where paths leave room, each article has a line, of which only the topic is shortened."""
    articles = [reviewed("blog/posts/speed.md"), reviewed("news.md", topic="Short")]
    assert status_table(monkeypatch, Terminal(), *articles) == [
        "Page                 State     Reason                        Topic",
        "blog/posts/speed.md  approved  Jo approved it on 2026-01-02  blog: Ten ways …",
        "news.md              approved  Jo approved it on 2026-01-02  blog: Short",
    ]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Paths and reasons are folded, whole, and each row has its state."""
    model = "hf.co/a-model/of-a-very-long-name:8b"
    long = f"guides/{'very-' * 20}long.md"
    articles = [reviewed("a-page.md", "one", model=model), reviewed(long, topic="Short")]
    lines = status_table(monkeypatch, Terminal(), *articles, columns=columns)
    assert max(map(len, lines)) <= columns
    assert re.findall(r"(one|main)  +approved ", "\n".join(lines)) == ["one", "main"]
    assert long in "".join(line.partition(" ")[0] for line in lines)


def test_a_terminal_of_50_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row has its page, its state and why, without topic and model."""
    articles = [reviewed("blog/posts/speed.md", model="small:8b"), reviewed("news.md")]
    assert status_table(monkeypatch, Terminal(), *articles, columns=50) == [
        "Page                 State     Reason",
        "blog/posts/speed.md  approved  Jo approved it on",
        "                               2026-01-02",
        "news.md              approved  Jo approved it on",
        "                               2026-01-02",
    ]


def test_a_long_reason_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason is never shortened."""
    page, request = "a-page-in-the-docs.md", BlogRequest(topic="Alpha")
    reason = " ".join(f"reason{number}" for number in range(20))
    failed = Outcome(error=MissingReason("missing", reason))
    article = Article(PageRequest(request, page), key="0", directory=Path(), draft_outcome=failed)
    lines = status_table(monkeypatch, Terminal(), article)
    assert re.findall(r"reason\d+", "\n".join(lines)) == reason.split()
    assert max(map(len, lines)) <= 80


def test_a_piped_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere, nothing is shortened or padded: a tab stands between the cells of a line."""
    topic = "Ten ways " * 30 + "and one"
    output = StringIO()
    lines = status_table(monkeypatch, output, reviewed("a.md", topic=topic), reviewed("b.md"))
    assert [line.split()[0] for line in lines] == ["Page", "a.md", "b.md"]
    assert lines[1].split("\t")[-1] == f"blog: {topic}"
    ways = "blog: Ten ways to speed up a docs build"
    assert lines[2] == f"b.md\tapproved\tJo approved it on 2026-01-02\t{ways}"


def test_paths_from_here(project: Project, service: ServiceDouble) -> None:
    """Paths below the folder in which one stands are relative to it."""
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    run(project, "mkdocs_contentgen", "generate")
    shown = run(project, "mkdocs_contentgen", "approve", "--all", "--by", "Jo")
    assert "index.md: approved in contentgen/index.md/main.html" in shown
    file = project.root / "contentgen/index.md/main.html"
    file.write_text(file.read_text() + "x")
    above = Project(project.root.parent, project.environment)
    name = project.root.name
    shown = run(above, "mkdocs_contentgen", "status", "-f", f"{name}/mkdocs.yml", code=1)
    assert f"Error: {name}/contentgen/index.md/main.html:" in shown
    assert str(project.root) not in shown
    assert "ERROR   -  contentgen: contentgen/index.md/main.html:" in run(
        project, "mkdocs", "build", code=1
    )


def test_pages_from_a_folder_above(project: Project, service: ServiceDouble) -> None:
    """Messages begin with the path to the site, and pages keep all their names."""
    project.page("sub/b.md", {"type": "blog", "topic": "Alpha", "length": "shrt"})
    above = Project(project.root.parent, project.environment)
    name = project.root.name
    options = ("-f", f"{name}/mkdocs.yml")
    shown = run(above, "mkdocs_contentgen", "status", *options, code=1)
    assert f"Error: {name}/docs/sub/b.md:5: contentgen.length: " in shown
    shown = run(above, "mkdocs", "build", *options, code=1)
    assert f"ERROR   -  contentgen: {name}/docs/sub/b.md:5: contentgen.length: " in shown
    project.page("sub/b.md", {"type": "blog", "topic": "Alpha"})
    run(above, "mkdocs_contentgen", "generate", *options)
    for page in ("sub/b.md", "docs/sub/b.md", f"{name}/docs/sub/b.md", "docs/*/*.md", "*.md"):
        assert "Alpha" in run(above, "mkdocs_contentgen", "show", page, *options)
    run(above, "mkdocs_contentgen", "show", "b.md", *options, code=1)


def test_a_page_beside_which_one_stands(project: Project, service: ServiceDouble) -> None:
    """Its name alone is enough."""
    project.page("sub/b.md", {"type": "blog", "topic": "Alpha"})
    run(project, "mkdocs_contentgen", "generate")
    beside = Project(project.root / "docs/sub", project.environment)
    assert "Alpha" in run(beside, "mkdocs_contentgen", "show", "b.md", "-f", "../../mkdocs.yml")


def test_warnings_of_others(project: Project, service: ServiceDouble) -> None:
    """Commands repeat none of MkDocs and other plugins, and those about our options stay."""
    project.configure({"max_reqests": 3}, nav=["missing.md", {"Link": "nowhere.md"}])
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    assert "missing.md" in run(project, "mkdocs", "build")
    shown = run(project, "mkdocs_contentgen", "status")
    warnings = [line for line in shown.splitlines() if "missing" in line.split("\t")[0]]
    assert warnings == []
    assert "Warning: Config value 'plugins': Plugin 'contentgen' option 'max_reqests'" in shown
