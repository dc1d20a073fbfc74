"""`contentgen zensical build`, and Zensical alone: real builds against a service on loopback."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from approved_headers import sign
from conftest import Project, wait_until
from golden_file import cases
from model_double import ModelDouble
from msgspec.structs import replace
from served_site import serving
from service_double import ServiceDouble, generated, hold, raw

from mkdocs_contentgen import DiskStore
from mkdocs_contentgen.texts.generation import WAITING_MESSAGE

pytestmark = pytest.mark.system

CASES = cases("building")

EXTENSIONS: list[object] = ["attr_list", {"toc": {"permalink": True}}, "contentgen"]


@pytest.fixture
def site(project: Project) -> Project:
    """Return a site for Zensical with one request."""
    configure(project)
    project.page("index.md", {"type": "blog", "topic": "One"})
    return project


def configure(project: Project, options: object = None, **config: object) -> None:
    """Write a configuration that both generators can read."""
    config = {"theme": "material", "markdown_extensions": EXTENSIONS, **config}
    project.configure(options, **config)


def build(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `contentgen zensical build`."""
    return project.run("mkdocs_contentgen", "zensical", "build", *arguments)


def build_alone(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `zensical build`."""
    return project.run("zensical", "build", *arguments)


Build = Callable[[Project], subprocess.CompletedProcess[str]]


def add_extension(project: Project, name: str, module: str, run: str) -> None:
    """Add an extension of Python-Markdown: its module, and a line that each page runs."""
    project.write(
        f"{name}.py",
        f"{module}\n"
        "from markdown.extensions import Extension\n"
        "class Added(Extension):\n"
        "    def extendMarkdown(self, md):\n"
        f"        {run}\n"
        "def makeExtension(**options):\n"
        "    return Added()\n",
    )
    configure(project, markdown_extensions=["contentgen", name])
    project.environment["PYTHONPATH"] = str(project.root)


def test_a_text_is_asked_for_once(site: Project, service: ServiceDouble) -> None:
    """The command gets a text, and neither it nor Zensical alone asks for it again."""
    ran = site.run_process("mkdocs_contentgen", "zensical", "build")
    assert ran.returncode == 0, ran.stdout
    assert "Text number 1" in site.html("index.html")
    assert "1 text: 0 from approved files, 0 from the cache, 1 generated, 0 missing" in ran.stdout
    alone = site.run_process("zensical", "build", "--clean")
    for again in (build(site), build_alone(site), alone):
        assert again.returncode == 0, again.stdout
        assert "Text number 1" in site.html("index.html")
    assert service.topics == ["One"]


def test_what_the_author_knows(site: Project, model: ModelDouble) -> None:
    """Brief, language and sources of a request reach the model, and the page says the language."""
    configure(
        site,
        {"base_url": "writer", "writer": {"model": "large:8b", "endpoint": model.endpoint}},
        theme={"name": "material", "language": "nl"},
    )
    site.write("docs/plan.md", "# Plan\n\nThe plan has 90 steps.\n")
    news = {"type": "news", "topic": "Plan is out", "length": "short"}
    fields = {"language": "de", "sources": ["plan.md"], "brief": "- on 3 May 2031"}
    site.page("index.md", {**news, **fields})
    site.page("other.md", news)
    ran = build(site)
    assert ran.returncode == 0, ran.stdout
    prompts = {
        "<brief>" in text: f"{call.body['messages'][0]['content']}{text}"
        for call in model.calls
        if (text := call.body["messages"][1]["content"])
    }
    assert "The plan has 90 steps." in prompts[True]
    assert "- on 3 May 2031" in prompts[True]
    assert "- Write in German (de)." in prompts[True]
    assert "- Write in Dutch (nl)." in prompts[False]
    for page, language in (("index.html", "de"), ("other/index.html", "nl")):
        article = site.soup(page).find("article", class_="contentgen")
        assert article is not None
        assert article["lang"] == language
        assert f'"inLanguage": "{language}"' in site.html(page)
    site.page("other.md", {**news, "sources": ["no.md"]})
    assert "docs/other.md:2: contentgen.sources: 'no.md' is not a source" in build(site).stdout


def test_zensical_alone_asks_nobody(site: Project, service: ServiceDouble) -> None:
    """A missing text ends `zensical build` with one line each; no cache of others is asked."""
    site.page("two.md", [{"type": "news", "topic": "Two"}])
    ran = build_alone(site)
    assert ran.returncode == 1
    errors = re.findall(r"Error: docs/(\S+): the text is neither approved nor cached", ran.stdout)
    assert sorted(errors) == ["index.md:2", "two.md:3"]
    assert "Error: the site was not built; see the errors above" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert service.received == []
    with socket.create_server(("127.0.0.1", 0)) as cache:
        configure(site, {"cache_url": f"redis://127.0.0.1:{cache.getsockname()[1]}"})
        assert build_alone(site).returncode == 1
        cache.settimeout(0.1)
        with pytest.raises(TimeoutError):
            cache.accept()


@pytest.mark.parametrize("options", CASES["policies_are_those_of_a_build_with_mkdocs"])
def test_policies_are_those_of_a_build_with_mkdocs(
    site: Project, service: ServiceDouble, options: dict[str, object]
) -> None:
    """Messages, exit status and requests are the same, whichever program builds the site."""
    service.answer = raw(b"{}", 500)
    site.page("two.md", {"type": "news", "topic": "Two"}, "\n<!-- contentgn -->\n")
    configure(site, options)
    with_mkdocs, asked = site.build(), sorted(service.topics)
    service.received.clear()
    with_zensical = build(site)
    assert sorted(service.topics) == asked
    assert bool(with_zensical.returncode) == bool(with_mkdocs.returncode)

    def messages(text: str) -> set[str]:
        found = re.findall(
            r"(?:Warning|Error|WARNING -  contentgen|ERROR   -  contentgen): (.*)", text
        )
        return {line for line in found if line.startswith("docs/") or "max_requests" in line}

    assert messages(with_zensical.stdout) == messages(with_mkdocs.stdout)
    assert "Traceback" not in with_zensical.stdout


def test_what_has_changed_is_shown(site: Project) -> None:
    """Zensical renders the page of an approved text anew, and all for an option of their look."""
    site.page("two.md", {"type": "news", "topic": "Two"})
    assert build(site).returncode == 0
    site.ran("mkdocs_contentgen", "approve", "two.md", "--by", "Ada")
    assert build(site).returncode == 0
    assert "reviewed by Ada" in site.html("two/index.html")
    assert "not reviewed" in site.html("index.html")
    assert "<style>" in site.html("index.html").partition("<article")[2]
    configure(site, {"styles": "strip", "disclosure": False})
    assert build(site).returncode == 0
    assert "<style>" not in site.html("index.html").partition("<article")[2]
    assert "not reviewed" not in site.html("index.html")


def test_a_translation(site: Project) -> None:
    """It is made after its original, and both pages have it, also when Zensical runs alone."""
    configure(site, {"base_url": "sandbox"})
    site.page("de/index.md", {"translation_of": "index.md", "language": "de"})
    ran = build(site)
    assert ran.returncode == 0, ran.stdout
    assert "KI-übersetzt" in site.html("de/index.html")
    original = site.soup("index.html").select_one(".md-content h1")
    translation = site.soup("de/index.html").select_one(".md-content h1")
    assert original
    assert translation
    words = original.get_text().removesuffix("¶")
    assert translation.get_text().removesuffix("¶") == f"[de] {words}"

    assert build_alone(site).returncode == 0
    assert "KI-übersetzt" in site.html("de/index.html")
    site.ran("mkdocs_contentgen", "approve", "--all", "--by", "Ada")
    assert build(site).returncode == 0
    assert "Ada" in site.html("de/index.html")


def test_arguments_and_exit_status_are_passed_on(site: Project) -> None:
    """Zensical gets the arguments, and its exit status is that of the command."""
    site.write("docs/two.md", "A [link](nowhere.md).\n")
    assert build(site).returncode == 0
    assert build(site, "--strict").returncode != 0
    assert build(site, "--no-such-option").returncode == 2
    (site.root / "mkdocs.yml").rename(site.root / "other.yml")
    assert build(site, "-f", "other.yml").returncode == 0
    assert "Text number 1" in site.html("index.html")
    ran = build(site)
    assert ran.returncode == 1
    assert "Error: there is no zensical.toml or mkdocs.yml here" in ran.stdout


def test_problems_of_markers_are_said_each_time(site: Project) -> None:
    """A wrong marker is a warning of each build, also if its page is not rendered anew."""
    site.write("docs/two.md", "# Two\n\n<!-- contentgen none -->\n")
    site.page("index.md", {"type": "blog", "topic": "One"}, "Text.\n\n<!-- contentgn -->\n")
    for arguments in ((), ("--strict",), ("--strict",)):
        ran = build(site, *arguments)
        assert ran.returncode == len(arguments), ran.stdout
        warning = "Warning: docs/index.md:8: '<!-- contentgn -->' is not a marker"
        assert ran.stdout.count(warning) == 1
        assert ran.stdout.count("Warning: docs/two.md:3: ") == 1
        assert ("Error: --strict: 2 warnings" in ran.stdout) == bool(arguments)
    site.write("docs/two.md", "# Two\n")
    site.page("index.md", {"type": "blog", "topic": "One"}, "Text.\n")
    ran = build(site, "--strict")
    assert ran.returncode == 0, ran.stdout
    assert "Warning" not in ran.stdout


def test_a_text_that_could_not_be_refreshed(site: Project, service: ServiceDouble) -> None:
    """The warning about an old text is printed once, and the text stays."""
    assert build(site).returncode == 0
    old = site.run("mkdocs_contentgen", "status", "--json")
    assert '"draft"' in old.stdout
    database = site.root / ".contentgen-cache/cache.db"
    make_old(database)
    service.answer = raw(b"{}", 500)
    configure(site, {"max_age": "1h", "on_error": "placeholder"})
    for arguments in ((), ("--clean",)):
        ran = build(site, *arguments)
        assert ran.returncode == 0, ran.stdout
        assert ran.stdout.count("Warning: docs/index.md:2: ") == 1, ran.stdout
        assert "neither approved nor cached" not in ran.stdout
        assert "Text number 1" in site.html("index.html")


def make_old(database: Path) -> None:
    """Replace the texts of a cache by the same, generated in 2020."""
    store = DiskStore(database.parent)
    texts, problems = store.load(store.requests()[0])
    assert (len(texts), problems) == (1, [])
    store.save(
        {key: replace(t, generated_at=datetime(2020, 1, 1, tzinfo=UTC)) for key, t in texts.items()}
    )
    store.close()


def test_links_follow_the_pages_that_they_lead_to(site: Project, service: ServiceDouble) -> None:
    """A page whose text cites another is rendered anew when that page is gone."""
    address = "https://docs.example/two/"
    configure(site, site_url="https://docs.example/")
    site.write("docs/two.md", "# Two\n")
    assert build(site).returncode == 0
    store = DiskStore(site.root / ".contentgen-cache")
    texts, _ = store.load(store.requests()[0])
    html = f'<article><h1>One</h1><p>See <a href="{address}#two">two</a>.</p></article>'
    sources = {f"{address}#two": "0" * 64}
    store.save({key: replace(t, html=html, sources=sources) for key, t in texts.items()})
    store.close()
    assert build(site).returncode == 0
    assert 'See <a href="two/#two"' in site.html("index.html").replace('"./', '"')
    (site.root / "docs/two.md").rename(site.root / "docs/three.md")
    assert build(site).returncode == 0
    assert f'See <a href="{address}#two"' in site.html("index.html")


def test_what_is_needed(site: Project, service: ServiceDouble) -> None:
    """Without Zensical or the extension, which puts the articles in, nothing is asked for."""
    site.write(
        "without.py",
        "import sys\n"
        "sys.modules['zensical'] = None\n"
        "from mkdocs_contentgen.cli.main import main\n"
        "main(['zensical', 'build'])\n",
    )
    ran = site.run("without")
    assert (ran.returncode, service.received) == (1, [])
    command = 'pip install "mkdocs-contentgen[zensical]"'
    assert f"Zensical is not installed; install it with: {command}" in ran.stdout
    configure(site, markdown_extensions=["toc"])
    ran = build(site)
    assert (ran.returncode, service.received) == (1, [])
    assert "markdown_extensions has no 'contentgen'" in ran.stdout


def test_wrong_options(site: Project) -> None:
    """They are named with both programs, and with MkDocs; once, and not for each page."""
    site.page("two.md", {"type": "news", "topic": "Two"})
    configure(site, {"styles": "nope"})
    ran = build_alone(site)
    assert ran.returncode == 1
    assert ran.stdout.count("plugins.contentgen.styles") == 1, ran.stdout
    configure(site, {"disclosure": False, "base_url": "sandbox"})
    assert build(site).returncode == 0
    ran = build_alone(site)
    assert ran.stdout.count("Warning: disclosure: is false") == 1, ran.stdout
    configure(site, markdown_extensions=[{"contentgen": {"base_url": "x"}}])
    for ran in (build(site), site.build()):
        assert ran.returncode == 1
        assert "contentgen: has options; write them under `plugins`" in ran.stdout


PAGES = [
    *("docs.md", "deep/README.md", "deep/index.md", "excluded.md", "glob/a.md", "drafty.md"),
    *(".hidden/a.md", "templates/a.md", "glob/deep/b.md", "rx1.md"),
    *("blog/posts/done.md", "blog/posts/draft.md", "blog/posts/folder/a.md"),
    *("two/posts/done.md", "two/posts/draft.md"),
]


@pytest.mark.parametrize("plugins", CASES["pages_that_are_not_built_cost_nothing"])
def test_pages_that_are_not_built_cost_nothing(
    site: Project, service: ServiceDouble, plugins: list[object]
) -> None:
    """Texts are asked for exactly for the pages that Zensical builds."""
    for path in PAGES:
        is_draft = path.endswith("/draft.md")
        more = {"draft": True} if is_draft else {}
        front = {"contentgen": {"type": "blog", "topic": path}, "date": "2026-01-01", **more}
        site.write(f"docs/{path}", f"---\n{json.dumps(front)}\n---\n")
    site.write("docs/blog/index.md", "# Blog\n")
    site.write("docs/two/index.md", "# Two\n")
    # Zensical builds files `.md` in real directories, and index.md in place of README.md.
    site.write("elsewhere/c.md", "---\ncontentgen: {type: blog, topic: Linked}\n---\n")
    (site.root / "docs/linked").symlink_to("../elsewhere")
    for name in ("a.markdown", "README.md"):
        site.page(name, {"type": "blog", "topic": name})
    configure(
        site,
        plugins=["search", *plugins, "contentgen"],
        exclude_docs="excluded.md\n",
        draft_docs="drafty.md\n",
    )
    ran = build(site)
    assert ran.returncode == 0, ran.stdout
    shown = {
        topic
        for page in (site.root / "site").rglob("index.html")
        for topic in PAGES
        if f">{topic}" in page.read_text()
    }
    assert set(service.topics) - {"One"} == shown
    assert len(shown) >= 5
    assert not (site.root / "site/linked/c/index.html").exists()


def test_an_article_is_not_in_the_markdown_within_its_page(site: Project) -> None:
    """Markdown that is rendered within a page, such as a docstring, gets no article of its own."""
    site.write("module.py", '"""A module."""\n\ndef call():\n    """Do it."""\n')
    site.page("index.md", {"type": "blog", "topic": "One"}, "# API\n\n::: module\n")
    configure(
        site, plugins=["contentgen", {"mkdocstrings": {"handlers": {"python": {"paths": ["."]}}}}]
    )
    ran = build(site)
    assert ran.returncode == 0, ran.stdout
    assert site.html("index.html").count("Text number 1") == 1


@pytest.mark.parametrize("how", [build, build_alone], ids=["command", "alone"])
def test_a_merge_conflict_is_not_published(site: Project, how: Build) -> None:
    """The build fails, and names file and line; a formatted file is as good as before."""
    assert build(site).returncode == 0
    assert site.run("mkdocs_contentgen", "approve", "index.md", "--by", "Jo").returncode == 0
    file = site.root / "contentgen/index.md/main.html"
    file.write_text(file.read_text().replace("\n<", "\n\n  <"))
    assert how(site).returncode == 0
    assert "reviewed by Jo" in site.html("index.html")
    file.write_text(file.read_text().replace("</article>", "\n=======\n</article>"))
    ran = how(site)
    assert ran.returncode == 1
    assert re.search(r"index\.md/main\.html:\d+: merge conflict in line \d+; resolve", ran.stdout)


def test_the_file_of_the_only_request_is_named(site: Project) -> None:
    """A site that has lost its only request says so, and a strict build fails."""
    assert build(site).returncode == 0
    assert site.run("mkdocs_contentgen", "approve", "index.md", "--by", "Jo").returncode == 0
    site.write("docs/index.md", "# Home\n")
    assert "main.html: no page requests this text" in build(site).stdout
    ran = site.run("mkdocs_contentgen", "zensical", "build", "--strict")
    assert ran.returncode == 1
    assert "--strict: 1 warning" in ran.stdout


@pytest.mark.parametrize("before", [build, build_alone], ids=["command", "alone"])
def test_zensical_alone_shows_no_old_text(site: Project, before: Build) -> None:
    """It keeps no page with an article, so that each build shows what is true now.

    Neither a page that has changed nor a message is needed for that.
    """
    site.write("docs/other.md", "# Other\n")
    assert build(site).returncode == 0
    assert before(site).returncode == 0
    assert site.run("mkdocs_contentgen", "approve", "index.md", "--by", "Jo").returncode == 0
    assert build_alone(site).returncode == 0
    assert "reviewed by Jo" in site.html("index.html")
    assert before(site).returncode == 0
    file = site.root / "contentgen/index.md/main.html"
    sign(file, file.read_text().replace("approved_by: Jo", "approved_by: Kim"))
    assert build_alone(site).returncode == 0
    assert "reviewed by Kim" in site.html("index.html")
    assert before(site).returncode == 0
    configure(site, {"disclosure": {"approved": "Checked by {name}"}})
    assert build_alone(site).returncode == 0
    assert "Checked by Kim" in site.html("index.html")
    assert before(site).returncode == 0
    shutil.rmtree(site.root / "contentgen")
    configure(site, {"require_approval": True})
    ran = build_alone(site)
    assert ran.returncode == 1
    assert "docs/index.md:2: nobody approved this text" in ran.stdout


def test_pages_beside_the_configuration(site: Project, service: ServiceDouble) -> None:
    """With `docs_dir: .`, neither the built site nor approved files are pages or published."""
    (site.root / "mkdocs.yml").unlink()
    (site.root / "docs/index.md").rename(site.root / "index.md")
    settings = 'site_name = "Site"\nsite_url = "https://docs.example/"\ndocs_dir = "."\n'
    options = f'[project.plugins.contentgen]\nbase_url = "{service.base_url}"\n'
    extension = "[project.markdown_extensions.contentgen]\n"
    site.write("zensical.toml", f"[project]\n{settings}{options}{extension}")
    refused = build(site)
    assert refused.returncode == 1
    assert "approved_dir: 'contentgen' is in docs_dir" in refused.stdout
    assert "add `/contentgen/` to exclude_docs" in refused.stdout
    left_out = 'exclude_docs = "/contentgen/"\n'
    site.write("zensical.toml", f"[project]\n{settings}{left_out}{options}{extension}")
    ran = build(site)
    assert ran.returncode == 0, ran.stdout
    assert "Text number 1" in site.html("index.html")
    site.write("site/other.md", (site.root / "index.md").read_text())
    site.write("wrong.md", "---\ncontentgen: {type: none}\n---\n")
    assert "Error: wrong.md:2: contentgen.type:" in build(site).stdout
    (site.root / "wrong.md").unlink()
    site.ran("mkdocs_contentgen", "approve", "--all", "--by", "Jo")
    for again in (build(site), build_alone(site)):
        assert again.returncode == 0, again.stdout
        assert "reviewed by Jo" in site.html("index.html")
    assert service.topics == ["One"]
    assert not list((site.root / "site").glob("contentgen/**/*.html"))


@pytest.mark.parametrize(("content", "problem"), CASES["a_wrong_configuration_is_one_line"])
def test_a_wrong_configuration_is_one_line(site: Project, content: str, problem: str) -> None:
    """What is wrong with a configuration is said in one line."""
    site.write("mkdocs.yml", content)
    ran = build(site)
    assert ran.returncode == 1
    assert problem in ran.stdout
    assert len(ran.stdout.splitlines()) == 1, ran.stdout


def test_a_configuration_may_name_what_is_not_installed(site: Project) -> None:
    """Tags, inherited files and plugins of MkDocs that are not installed are no obstacle."""
    extensions = yaml.safe_dump({"markdown_extensions": EXTENSIONS, "theme": "material"})
    site.write("base.yml", f"site_name: Base\n{extensions}")
    site.write(
        "mkdocs.yml",
        "INHERIT: base.yml\n"
        "extra: {home: !ENV HOME}\n"
        "markdown_extensions:\n"
        "  - pymdownx.emoji:\n"
        "      emoji_index: !!python/name:zensical.extensions.emoji.twemoji\n"
        "  - contentgen\n"
        "plugins: [not-installed, {contentgen: {max_requests: !ENV [LIMIT, 5]}}]\n",
    )
    ran = build(site)
    assert ran.returncode == 0, ran.stdout
    assert "Text number 1" in site.html("index.html")
    status = site.run("mkdocs_contentgen", "status")
    assert re.search(r"index.md\tdraft\t.*\tblog: One", status.stdout), status.stdout


@pytest.mark.system
def test_an_interrupt_keeps_what_was_paid_for(site: Project, service: ServiceDouble) -> None:
    """Ctrl-C during generation waits for the requests in flight, and runs no build."""
    release = hold(service)
    process = site.start("mkdocs_contentgen", "zensical", "build")
    wait_until(lambda: service.in_flight)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: WAITING_MESSAGE in site.output)
    release.set()
    assert process.wait(60) != 0
    assert service.answered == ["One"]
    assert not (site.root / "site").exists()
    service.received.clear()
    assert build(site).returncode == 0
    assert service.received == []


def test_placeholders_of_failed_requests(site: Project, service: ServiceDouble) -> None:
    """A placeholder says what to do, as with MkDocs, and goes when the text is there."""
    service.answer = raw(b"{}", 500)
    configure(site, {"on_error": "placeholder"})
    ran = build(site)
    assert ran.returncode == 0, ran.stdout
    assert "500 Internal Server Error" in ran.stdout
    assert "`contentgen generate index.md`" in site.html("index.html")
    service.answer = generated()
    assert build(site).returncode == 0
    assert "Text number 2" in site.html("index.html")


@pytest.mark.system
@pytest.mark.parametrize("is_served", [False, True])
def test_what_a_killed_build_has_left_is_not_shown(site: Project, is_served: bool) -> None:
    """Zensical keeps what it has rendered, until it is told to forget it at its end. 9 s."""
    module = (
        "import atexit, os, signal\n"
        "def kill():\n"
        "    if os.path.exists('kill'):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # It is called before those that were registered earlier.
    add_extension(site, "killing", module, "atexit.register(kill)")
    (site.root / "kill").touch()

    def leaves_a_page() -> bool:
        ran = site.run_process("mkdocs_contentgen", "zensical", "build")
        assert ran.returncode == 128 + signal.SIGKILL, ran.stdout
        return any(b"index.md" in it.read_bytes() for it in (site.root / ".cache").glob("[0-9]*"))

    # On a slow machine, Zensical can end before it has kept one.
    wait_until(leaves_a_page, 240)
    (site.root / "kill").unlink()
    site.ran("mkdocs_contentgen", "approve", "index.md", "--by", "Ada")
    if is_served:
        with serving(site, "mkdocs_contentgen", "zensical", "serve") as server:
            wait_until(lambda: "reviewed by Ada" in server.page())
    else:
        assert build(site).returncode == 0
        assert "reviewed by Ada" in site.html("index.html")


def test_a_cache_of_another_form_is_deleted(site: Project) -> None:
    """Directories, and entries of any content, hide no new text and end no build."""
    assert build(site).returncode == 0
    site.run("mkdocs_contentgen", "approve", "index.md", "--by", "Ada")
    cache = site.root / ".cache"
    for entry in (path for path in cache.iterdir() if path.name.isdigit()):
        entry.write_text("[")
    (cache / "123").mkdir()
    (cache / "456").write_bytes(b"\xff" * 100)
    assert build(site).returncode == 0
    assert "reviewed by Ada" in site.html("index.html")


@pytest.mark.system
def test_a_terminated_command_leaves_no_program(site: Project) -> None:
    """SIGTERM to the command ends Zensical too."""
    add_extension(site, "slow", "import time", "print('rendering', flush=True); time.sleep(60)")
    process = site.start("mkdocs_contentgen", "zensical", "build")
    wait_until(lambda: "rendering" in site.output)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.terminate()
    assert process.wait(60) == 128 + signal.SIGTERM
    assert children
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
