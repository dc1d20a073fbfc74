"""The plugin in real builds, against a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from conftest import Project
from golden_file import cases
from mkdocs.commands.build import build
from mkdocs.config import load_config
from service_double import TOKEN, ServiceDouble, generated, raw

from mkdocs_contentgen.html.disclosure import DISCLOSURE_LINES
from mkdocs_contentgen.mkdocs.loading import load_mkdocs_site

CASES = cases("plugin")

ALL_FIELDS: dict[str, dict[str, str]] = {
    "article": {"length": "long", "focus": "review", "audience": "expert"},
    "blog": {"length": "short", "style": "casual", "format": "howto"},
    "news": {"length": "medium", "tone": "editorial"},
}


def test_all_operations_and_fields(project: Project, service: ServiceDouble) -> None:
    """Every operation is asked for with all its fields, and its article is in the page."""
    for kind, fields in ALL_FIELDS.items():
        project.page(f"{kind}.md", {"type": kind, "topic": f"On {kind} & more", **fields})
    project.built("--strict")
    assert {request.path: request.body for request in service.received} == {
        f"/generate-{kind}": {"topic": f"On {kind} & more", **fields}
        for kind, fields in ALL_FIELDS.items()
    }
    for kind in ALL_FIELDS:
        page = project.soup(f"{kind}/index.html")
        title = page.select_one("h1.contentgen-title:has(~ article.contentgen)")
        assert title is not None
        assert title.get_text() == f"On {kind} & more"


NEWS = """<article class="news-article"><header><h1>Generated title</h1><p class="byline">By
<time datetime="2026-01-02">2 January</time></p></header><p class="lead">Generated lead.</p>
</article>"""
METADATA = """
def on_page_markdown(markdown, *, page, **_):
    print("early", page.file.src_uri, page.title, page.meta.get("description"))
    return markdown.replace("INSERTED", "# Inserted")

def on_post_page(output, *, page, **_):
    said = [page.title, page.meta.get("description"), page.meta.get("date")]
    print("said", page.file.src_uri, *said, sep=" | ")
"""


@pytest.mark.parametrize(
    ("text", "front", "expected"), CASES["an_article_is_the_page_or_a_section_of_it"]
)
def test_an_article_is_the_page_or_a_section_of_it(
    project: Project, service: ServiceDouble, text: str, front: dict[str, str], expected: str
) -> None:
    """Only an article that begins its page gives it title, description and date."""
    service.answer = generated(NEWS)
    project.configure({}, hooks=["metadata.py"])
    project.write("metadata.py", METADATA)
    project.page("page.md", {"type": "news", "topic": "x"}, text, **front)
    built = project.built("--strict")
    assert f"said | page.md | {expected}" in built
    if not text:
        assert project.soup("page/index.html").select_one("h1.contentgen-title ~ article")


FIRST_LINE = """
def on_page_markdown(markdown, *, page, **_):
    print("first line:", markdown.splitlines()[0])
"""


@pytest.mark.parametrize(
    ("topic", "meta", "line"),
    [
        ("Faster\nbuilds", {}, "# Faster builds"),
        ("Faster builds", {"title": "Of the author"}, "# Of the author"),
        ("What {{ x }} is", {}, "<!-- contentgen -->"),
    ],
)
def test_hooks_get_a_first_line(
    project: Project, topic: str, meta: dict[str, str], line: str
) -> None:
    """A hook that reads the first line of a page finds one, and the page stays the same."""
    project.page("index.md", {"type": "blog", "topic": topic}, **meta)
    assert project.build().returncode == 0
    without_hook = project.files()
    project.write("hook.py", FIRST_LINE)
    project.configure(hooks=["hook.py"])
    assert f"first line: {line}\n" in project.ran("mkdocs", "build")
    assert project.files() == without_hook


HOOK_THAT_ADDS = """
def on_page_markdown(markdown, **_):
    return f"Above.\\n\\n{markdown}\\n\\nBelow."
"""


def test_what_a_hook_adds_stays(project: Project) -> None:
    """The first line goes, wherever it is by then; what the hook has written is there."""
    project.configure(hooks=["hook.py"])
    project.write("hook.py", HOOK_THAT_ADDS)
    project.page("index.md", {"type": "blog", "topic": "Faster builds"})
    project.built("--strict")
    text = project.soup("index.html").get_text()
    assert text.index("Above.") < text.index("Below.") < text.rindex("Faster builds")
    assert project.soup("index.html").select("h1") == []


def test_second_build_asks_nobody(project: Project, service: ServiceDouble) -> None:
    """A second build needs no token and no network, and makes the same bytes."""
    project.page("index.md", {"type": "blog", "topic": "Once"})
    assert project.build("--strict").returncode == 0
    first = project.files()
    for name in ("CONTENTGEN_TOKEN", "CONTENTGEN_USER_ID", "CONTENTGEN_BASE_URL"):
        del project.environment[name]
    built = project.built("--strict")
    assert "1 from the cache" in built
    assert project.files() == first
    assert service.topics == ["Once"]


def test_requests_of_a_list_and_from_defaults(project: Project, service: ServiceDouble) -> None:
    """Several articles, a topic from the title, and site-wide defaults all reach the service."""
    project.configure({"defaults": {"length": "short", "blog": {"style": "technical"}}})
    project.page(
        "index.md",
        [{"type": "blog"}, {"type": "news", "id": "n", "topic": "Own", "length": "long"}],
        "# Mine\n\n<!-- contentgen n -->\n\nbetween\n\n<!-- contentgen -->\n",
        title="From the title",
    )
    assert project.build("--strict").returncode == 0
    bodies = {request.path: request.body for request in service.received}
    assert bodies["/generate-blog"] == {
        "topic": "From the title",
        "length": "short",
        "style": "technical",
        "format": "narrative",
    }
    assert bodies["/generate-news"] == {"topic": "Own", "length": "long", "tone": "neutral"}
    text = project.soup("index.html").get_text()
    assert text.index("Own") < text.index("between") < text.rindex("From the title")


def test_front_matter_problems_all_at_once(project: Project, service: ServiceDouble) -> None:
    """All problems of all pages are reported before anything is sent."""
    project.page("good.md", {"type": "blog", "topic": "Good"})
    project.page("one.md", {"type": "blog", "topic": "x", "format": "listcle", "token": "s3cret"})
    project.page("two.md", {"type": "blgo", "topic": "x", "base_url": "https://evil.example"})
    built = project.built(code=1)
    lines = [line for line in built.splitlines() if "docs/" in line]
    assert [line.split("contentgen: ", 1)[1].rsplit(": ", 1)[0] for line in lines] == [
        "docs/one.md:5: contentgen.format",
        "docs/one.md:6: contentgen.token",
        "docs/two.md:3: contentgen.type",
        "docs/two.md:5: contentgen.base_url",
    ]
    assert "expected one of howto, listicle, narrative" in built
    assert "s3cret" not in built
    assert "Traceback" not in built
    assert service.received == []


def test_marker_without_article_counts_for_strict(project: Project) -> None:
    """A marker that names no article is a warning with its line, and fails a strict build."""
    project.page("index.md", {"type": "blog", "topic": "x"}, "Text\n\n<!-- contentgen nope -->\n")
    built = project.built("--strict", code=1)
    assert "docs/index.md:8: the marker names an article 'nope', and the page" in built


def test_side_by_side_and_equal_ones_once(project: Project, service: ServiceDouble) -> None:
    """Requests run side by side up to `concurrency`, and equal ones are sent once."""
    service.answer = generated(delay=0.3)
    project.configure({"concurrency": 4})
    for number in range(12):
        project.page(f"p{number}.md", {"type": "article", "topic": f"T{number % 6}"})
    project.built("--strict")
    assert sorted(service.topics) == [f"T{number}" for number in range(6)]
    assert service.most_in_flight == 4


def test_failures_are_reported_together(project: Project, service: ServiceDouble) -> None:
    """One failure stops no other request, all are reported, and nothing paid for is lost."""

    def answer(request: Any, handler: Any) -> None:
        if request.topic.startswith("bad"):
            raw(b'{"success": false}')(request, handler)
        else:
            generated()(request, handler)

    service.answer = answer
    for topic in ("bad1", "good1", "bad2", "good2"):
        project.page(f"{topic}.md", {"type": "blog", "topic": topic})
    built = project.built(code=1)
    assert built.count("the service reports a failure") == 1
    assert "; 2 pages: docs/bad1.md, docs/bad2.md\n" in built
    assert "Traceback" not in built

    service.answer = generated()
    assert project.build("--strict").returncode == 0
    assert sorted(service.topics) == ["bad1", "bad1", "bad2", "bad2", "good1", "good2"]


def test_the_token_is_nowhere(project: Project, service: ServiceDouble) -> None:
    """A token with white space around it is trimmed, and is in no output, cache or page."""
    project.environment["CONTENTGEN_TOKEN"] = f"  {TOKEN}\n"
    service.answer = raw(TOKEN.encode(), 500)
    project.page("index.md", {"type": "blog", "topic": "x"})
    outputs = [project.build("--verbose").stdout]
    service.answer = generated()
    outputs.append(project.build("--verbose").stdout)
    project.configure({"token": TOKEN, "user_id": "user-7", "concurrency": 0})
    outputs.append(project.build("--verbose").stdout)

    assert {request.headers["authorization"] for request in service.received} == {f"Bearer {TOKEN}"}
    kept = [
        path.read_bytes()
        for folder in ("site", ".cache")
        for path in (project.root / folder).rglob("*")
        if path.is_file()
    ]
    assert any(b"Text number" in content for content in kept)
    for content in [*kept, *(output.encode() for output in outputs)]:
        assert TOKEN.encode() not in content


@pytest.mark.parametrize(
    ("options", "environment", "message"),
    [
        ({}, {"CONTENTGEN_BASE_URL": ""}, "set CONTENTGEN_BASE_URL to the service's address, or"),
        ({}, {"CONTENTGEN_TOKEN": ""}, "token: is not set; set CONTENTGEN"),
        ({}, {"CONTENTGEN_USER_ID": " "}, "user_id: is not set; set CONTENTGEN"),
        ({"base_url": "http://far.example"}, {}, "would send credentials unencrypted"),
        ({"base_url": "far.example"}, {}, "base_url: 'far.example' is not an https address"),
        ({"base_url": "http://127.0.0.1:9"}, {}, "docs/index.md:2: no connection to 127.0.0.1"),
        ({"concurrency": 10**400}, {}, "expected a whole number from 1 to 1000, found"),
        ({"timeout": "soon"}, {}, "expected a number of seconds above 0, found 'soon'"),
        ({"max_age": "3x"}, {}, "expected a time such as 12h, 30d or 8w, found '3x'"),
        ({"token": 12345}, {}, "put it in quotes, or set CONTENTGEN_TOKEN instead"),
        ({"defaults": {"lenght": "short"}}, {}, "'defaults': defaults.lenght: "),
        ({"on_missing": "never"}, {}, "expected one of generate, placeholder, fail, found 'never'"),
        ({}, {"CONTENTGEN_ON_MISSING": "x"}, "CONTENTGEN_ON_MISSING: 'x' is not one of generate"),
        ({"cache_dir": "mkdocs.yml"}, {}, "mkdocs.yml/cache.db cannot be written"),
        ({"cache_url": "host:6379"}, {}, "is not an address such as redis://host:6379; it begins"),
        ({"editorial_responsibility": "a\nb"}, {}, "expected a name of at most 200 characters"),
        ({"disclosure": "no"}, {}, "expected true, false or lines for draft, approved, "),
        ({"disclosure": {"drafts": "x"}}, {}, "original_changed, found {'drafts': 'x'}"),
        ({"timeout": 10**400}, {}, "expected a number of seconds above 0, found 1000"),
        ({"timeout": True}, {}, "expected a number of seconds above 0, found true"),
        ({"base_url": "https://far.example/?x"}, {}, "without a user, '?' or '#'"),
        ({}, {"CONTENTGEN_TOKEN": "a b"}, "token: contains an invalid character"),
        ({}, {"CONTENTGEN_USER_ID": "a\nb"}, "user_id: has an invalid character"),
    ],
)
def test_options_that_cannot_be_used(
    project: Project,
    service: ServiceDouble,
    options: dict[str, object],
    environment: dict[str, str],
    message: str,
) -> None:
    """An unusable option ends the build with one clear line, before anything is sent."""
    project.configure({"retries": 0, **options})
    project.environment |= environment
    project.page("index.md", {"type": "blog", "topic": "x"})
    built = project.built(code=1)
    assert message in built
    assert "Traceback" not in built
    assert service.received == []


def test_pages_that_are_not_built_cost_nothing(project: Project, service: ServiceDouble) -> None:
    """An excluded page and a draft are not asked for."""
    project.configure(exclude_docs="out.md\n", draft_docs="draft.md\n")
    for name in ("out", "draft", "index"):
        project.page(f"{name}.md", {"type": "blog", "topic": name})
    assert project.build("--strict").returncode == 0
    assert service.topics == ["index"]


@pytest.mark.parametrize("theme", ["mkdocs", "readthedocs", "material"])
def test_other_pages_are_untouched(project: Project, theme: str) -> None:
    """Pages without a request are byte for byte what they are without the plugin."""
    text = (
        "# Title\n\nText <!-- a comment --> with `<!-- contentgen -->` in it.\n\n[TOC]\n\n## Two\n"
    )
    project.write("docs/index.md", text)
    project.write("docs/other.md", f"---\ntitle: T\n---\n{text}")
    project.configure(theme=theme, plugins=["search", "contentgen"])
    assert project.build("--strict").returncode == 0
    with_plugin = project.files()
    project.configure(theme=theme, plugins=["search"])
    assert project.build("--strict").returncode == 0
    assert project.files() == with_plugin


def imported_by_build(project: Project) -> set[str]:
    """Return the top-level modules that a build imports."""
    project.write(
        "main.py",
        "import json, sys\n"
        "from mkdocs.commands.build import build\n"
        "from mkdocs.config import load_config\n"
        "build(load_config('mkdocs.yml'))\n"
        "print(json.dumps(sorted(sys.modules)))\n",
    )
    ran = project.run_process("main")
    assert ran.returncode == 0, ran.stdout
    return set(json.loads(ran.stdout.splitlines()[-1]))


@pytest.mark.system
def test_what_is_not_needed_is_not_imported(project: Project) -> None:
    """A site without requests imports little, a warm build no HTTP client, and none a server."""
    project.write("docs/index.md", "# Hello\n")
    modules = imported_by_build(project)
    assert "mkdocs_contentgen.mkdocs.plugin" in modules
    heavy = {"httpx", "starlette", "uvicorn", "markdown_it", "bs4", "diskcache", "rich"}
    heavy |= {"asyncio", "watchdog", "pycountry"}
    assert not modules & (heavy | {"msgspec", "nh3", "tinycss2"})

    project.page("index.md", {"type": "blog", "topic": "x"})
    modules = imported_by_build(project)
    assert "httpx" in modules
    assert not modules & {"starlette", "uvicorn", "markdown_it", "watchdog"}
    modules = imported_by_build(project)
    assert "nh3" in modules
    assert not modules & heavy
    package = "mkdocs_contentgen"
    assert not modules & {f"{package}.mkdocs.languages", f"{package}.site.page_groups"}


def test_the_core_works_without_mkdocs() -> None:
    """The core can be imported, and makes an article, where MkDocs cannot be imported."""
    program = """
import sys
for name in ("mkdocs", "markdown", "click", "rich", "jinja2"):
    sys.modules[name] = None
import asyncio, tempfile, pathlib
from mkdocs_contentgen import errors
from mkdocs_contentgen.texts import obtain
from mkdocs_contentgen import page_request, requests as request
from mkdocs_contentgen.service import sandbox
from mkdocs_contentgen.html import sanitizer
from mkdocs_contentgen.service import client as service
from mkdocs_contentgen.texts import store
from mkdocs_contentgen.html import inline_styles
asked = page_request.PageRequest(request.NewsRequest(topic="A library"))
with tempfile.TemporaryDirectory() as folder:
    source = obtain.Foreground(
        store.DiskStore(pathlib.Path(folder)),
        lambda: service.ServiceClient("sandbox", "", "", allow_http=False),
    )
    outcomes, problems = source.get({asked.request.key(sandbox=True): asked}, ())
(outcome,) = outcomes.values()
print(sanitizer.parse_article(outcome.text.html).find(".//h1").text)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.stderr == ""
    assert ran.stdout == "A library\n"


def test_a_service_that_cannot_translate(project: Project, service: ServiceDouble) -> None:
    """The build fails with page and line, and says what can; nothing is sent, also no other."""
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    project.built("--strict")
    project.page("other.md", {"type": "blog", "topic": "Beta"})
    project.page("de.md", {"translation_of": "index.md", "language": "de"})
    message = "docs/de.md:2: contentgen.translation_of: this service cannot translate, which needs"
    refused = project.built(code=1)
    assert f"{message} a writer: use `base_url: writer`" in refused
    assert refused.count("translation_of") == 1
    assert message in project.run("mkdocs_contentgen", "status").stdout
    assert project.run("mkdocs_contentgen", "generate").returncode == 1
    assert service.topics == ["Alpha"]
    project.configure({"service_fields": ["translate"]})
    assert "cannot translate" not in project.run("mkdocs_contentgen", "status").stdout


def test_builds_after_a_command_in_one_process(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command collects the requests only; each build after it has a budget of its own."""
    project.configure({"base_url": "sandbox", "max_requests": 1})
    monkeypatch.chdir(project.root)
    for topic in ("Alpha", "Beta"):
        project.page("index.md", {"type": "blog", "topic": topic})
        with load_mkdocs_site(None) as site:
            assert [it.request.topic for it in site.requests] == [topic]
        config = load_config()
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
        assert topic in str(project.soup("index.html").article)


def test_a_translation_in_a_build(project: Project) -> None:
    """The line, the attribute and the JSON-LD say of what it is a translation, and who read it."""

    def shown() -> tuple[str, str, dict[str, object]]:
        assert project.build("--strict").returncode == 0
        page = project.soup("de/index.html")
        line = page.select_one("p.contentgen-disclosure")
        article = page.select_one("article[ai-disclosure]")
        script = page.select_one("script[type='application/ld+json']")
        assert line
        assert article
        assert script
        return line.get_text(), str(article["ai-disclosure"]), json.loads(script.text)[0]

    project.configure({"base_url": "sandbox"})
    project.page("index.md", {"type": "blog", "topic": "Alpha", "language": "en"})
    project.page("de.md", {"translation_of": "index.md", "language": "de"})
    line, attribute, described = shown()
    title = project.soup("index.html").select_one("h1")
    assert title
    assert line.startswith("KI-übersetzt (aus: English), nicht geprüft")
    assert attribute == "ai-autonomous"
    assert described["inLanguage"] == "de"
    original = {"@type": "BlogPosting", "inLanguage": "en", "name": title.get_text()}
    assert described["translationOfWork"] == original

    project.ran("mkdocs_contentgen", "approve", "de.md", "--by", "Jo", "--reason", "read")
    project.configure({"base_url": "sandbox", "disclosure": {"translated_approved": "{name}"}})
    line, attribute, described = shown()
    assert line.startswith("Jo")
    assert attribute == "ai-assisted"
    assert described["editor"] == {"@type": "Person", "name": "Jo"}


def test_remarks_in_a_build(project: Project, service: ServiceDouble) -> None:
    """A draft with remarks is no warning; the page shows them, and so does a line of the log."""
    html = "<article><h1>T</h1><p>Text.</p></article>"
    remarks = ["length: 640 words for 900", "HTML: {{ x }} <b> &amp; \x02"]
    answer = {"success": True, "content": html, "model": "m", "remarks": remarks}
    service.answer = raw(json.dumps(answer).encode())
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    for _ in range(2):
        built = project.built("--strict")
        assert "1 text has remarks; `contentgen status` lists them" in built
        lines = project.soup("index.html").select("p.contentgen-disclosure")
        assert [line.get_text() for line in lines] == [
            f"{DISCLOSURE_LINES['draft']} · m",
            f"Not as requested: {remarks[0]}; HTML: {{{{ x }}}} <b> &amp; \\x02",
        ]
    project.configure({"disclosure": False})
    project.build()
    assert "Not as requested" not in project.html("index.html")
    project.configure()
    assert project.run("mkdocs_contentgen", "approve", "index.md", "--by", "Jo").returncode == 0
    assert "has remarks" not in project.build("--strict").stdout
    assert "Not as requested" not in project.html("index.html")


def test_a_dirty_build_shows_what_was_approved(project: Project) -> None:
    """The page has not changed since it was built, but what it says of its text has."""
    project.page("index.md", {"type": "blog", "topic": "Alpha"})
    project.built("--strict")
    assert project.run("mkdocs_contentgen", "approve", "index.md", "--by", "Jo").returncode == 0
    project.built("--dirty")
    assert "reviewed by Jo" in project.soup("index.html").get_text()


@pytest.mark.parametrize("enabled", [True, False])
def test_a_request_for_a_whole_folder(project: Project, *, enabled: bool) -> None:
    """One in a file of the plugin `meta` is not read, and the warning names file and pages."""
    plugins = [{"meta": {"enabled": enabled}}, {"contentgen": {"base_url": "sandbox"}}]
    project.configure(theme="material", plugins=plugins)
    project.write("docs/posts/.meta.yml", "tags: [x]\ncontentgen: {type: blog, length: short}\n")
    project.write("docs/other/.meta.yml", "tags: [x]\n")
    project.write("docs/index.md", "# Home\n")
    for number in range(5):
        project.write(f"docs/posts/p{number}.md", "---\ntitle: Faster builds\n---\n")
    built = project.build("--strict")
    message = (
        "docs/posts/.meta.yml:2: 'contentgen' is only read in pages, so docs/posts/p0.md, "
        "docs/posts/p1.md, docs/posts/p2.md and 2 more get nothing of it; write it into each page"
    )
    assert (message in built.stdout) == enabled
    assert built.returncode == int(enabled)
