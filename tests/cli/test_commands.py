"""The command line, run as a person would."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from approved_headers import sign
from approved_texts import approve, save_approved
from conftest import Project, wait_until
from golden_file import cases
from jsonschema import Draft202012Validator
from model_double import Call, ModelDouble, ModelHandler, written
from model_writer import sentences
from msgspec import structs
from service_double import TOKEN, ServiceDouble, generated, raw, silence

from mkdocs_contentgen.requests import BlogRequest, front_matter_schema
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.texts.approved_dir import read_approved
from mkdocs_contentgen.texts.generation import WAITING_MESSAGE
from mkdocs_contentgen.texts.store import DiskStore

CASES = cases("commands")

ASKED = {"type": "blog", "topic": "Alpha"}
COMMANDS = ("status", "generate", "diff", "approve", "eject", "prune", "schema", "sandbox")


def run(project: Project, *arguments: str, code: int = 0) -> str:
    """Run `contentgen`; return what it printed, of which no line is a traceback's."""
    ran = project.run("mkdocs_contentgen", *arguments)
    assert ran.returncode == code, ran.stdout
    assert "Traceback" not in ran.stdout
    return ran.stdout


def states(project: Project) -> dict[tuple[str, str], tuple[str, str]]:
    """Return state and reason of each article, by page and id."""
    listed = json.loads(run(project, "status", "--json"))
    return {(a["page"], a["id"]): (a["state"], a["reason"]) for a in listed}


def approved_file(project: Project, page: str = "index.md", name: str = "main") -> Path:
    """Return the path of an approved file."""
    return project.root / "contentgen" / page / f"{name}.html"


def approve_one(project: Project) -> Path:
    """Approve the text of a page, and return its approved file."""
    project.page("index.md", ASKED)
    run(project, "generate")
    run(project, "approve", "index.md", "--by", "Jo")
    return approved_file(project)


def test_a_full_disk_for_the_output(project: Project) -> None:
    """What a command cannot print is said in one line. 1 s."""
    project.page("index.md", ASKED)
    command = [sys.executable, "-m", "mkdocs_contentgen", "status"]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(command, cwd=project.root, stdout=full, stderr=subprocess.PIPE)
    assert ran.stderr == b"Error: the output is not complete: No space left on device\n"


def test_the_life_of_a_text(project: Project, service: ServiceDouble) -> None:
    """A text goes from missing to draft, approved, changed, approved again, and outdated."""
    key = ("index.md", "main")
    page = project.page("index.md", ASKED)
    assert states(project) == {key: ("missing", "never generated")}
    run(project, "generate")
    assert states(project) == {key: ("draft", "not reviewed")}

    run(project, "approve", "index.md", "--by", "Jo Doe")
    (state, reason) = states(project)[key]
    assert state == "approved"
    assert reason.startswith("Jo Doe approved it on 2")

    file = approved_file(project)
    file.write_text(file.read_text().replace("Text number", "Text with the number"))
    assert states(project) == {key: ("changed", "edited since Jo Doe approved it")}
    built = project.build()
    assert built.returncode == 0
    assert "docs/index.md:2: changed, edited since Jo Doe approved it" in built.stdout
    assert project.build("--strict").returncode == 1
    assert 'ai-disclosure="ai-autonomous"' in project.html("index.html")
    assert "Text with the number" in project.html("index.html")

    run(project, "approve", "index.md", "--by", "Ada")
    assert states(project)[key][0] == "approved"
    assert "Text with the number" in file.read_text()

    page.write_text(page.read_text().replace("Alpha", "Beta"))
    assert states(project) == {key: ("outdated", "topic was 'Alpha'; the new text is missing")}
    run(project, "generate")
    assert states(project) == {key: ("outdated", "topic was 'Alpha'; the new text is a draft")}
    built = project.build()
    outdated = "docs/index.md:2: outdated, topic was 'Alpha'; the new text is a draft"
    assert outdated in built.stdout
    assert "Text number 2" in project.html("index.html")
    assert service.topics == ["Alpha", "Beta"]


HOOK = """
def on_files(files, config):
    files.remove(files.src_uris["left-out.md"])
"""


def test_a_page_that_is_not_built_is_named(project: Project, service: ServiceDouble) -> None:
    """A page that asks for a text and that no build has: each command says it, no build fails."""
    project.write("docs/index.md", "# Home\n")
    project.write("docs/plain.md", "# contentgen without a request\n")
    project.write("docs/.hidden/x.md", "---\ncontentgen: {type: blog, topic: X}\n---\n")
    project.write("hooks.py", HOOK)
    for page in ("excluded.md", "draft.md", "left-out.md", "plain/excluded.md"):
        project.page(page, ASKED)
    excluded = "*excluded.md\nplain.md"
    project.configure({}, exclude_docs=excluded, draft_docs="draft.md", hooks=["hooks.py"])
    named = "docs/draft.md, docs/excluded.md, docs/left-out.md and 1 more ask for texts, but"
    for command in (["status"], ["generate"], ["approve", "--all", "--by", "Jo"]):
        shown = run(project, *command)
        assert f"{named} this build has no such pages (excluded, a draft, or left out" in shown
    assert service.received == []
    assert project.build("--strict").returncode == 0
    for page in ("excluded.md", "left-out.md", "plain/excluded.md"):
        (project.root / "docs" / page).unlink()
    project.configure({}, draft_docs="draft.md")
    shown = run(project, "status")
    assert "docs/draft.md asks for a text, but this build has no such page (excluded," in shown


@pytest.mark.parametrize("clock", [timedelta(minutes=10), timedelta(days=-3), timedelta(days=900)])
def test_a_draft_is_newer_whatever_the_clocks_say(
    project: Project, service: ServiceDouble, clock: timedelta
) -> None:
    """A colleague's clock decides neither whether a paid draft is offered, nor what is older."""
    key = ("index.md", "main")
    file = approve_one(project)
    made = f"generated_at: {datetime.now(UTC) + clock:%Y-%m-%d %H:%M:%S}+00:00"
    sign(file, re.sub("generated_at: .*", made, file.read_text()))
    shutil.rmtree(project.root / ".cache")  # it was approved on another machine
    for words in ("Text number 2", "Text number 3"):
        run(project, "generate", "--refresh")
        assert states(project)[key][1].endswith("; a newer draft waits for review")
        assert "1 draft: contentgen review" in run(project, "status")
        if words == "Text number 3":
            run(project, "approve", "--all", "--by", "Ann")
            assert words in file.read_text()
    assert "newer" not in states(project)[key][1]
    run(project, "generate", "--refresh")
    assert states(project)[key][1].endswith("; a newer draft waits for review")
    assert len(service.received) == 4


def test_an_earlier_draft_is_not_offered(project: Project) -> None:
    """The draft of a machine that has not seen the later ones is older, whatever its clock said."""
    file = approve_one(project)
    first = shutil.copytree(project.root / ".cache", project.root / "of another machine")
    run(project, "generate", "--refresh")
    run(project, "approve", "--all", "--by", "Ann")
    assert "edition: 2" in file.read_text()
    slow = re.sub("generated_at: .*", "generated_at: 2020-01-02 03:04:05+00:00", file.read_text())
    sign(file, slow)
    slow = file.read_text()
    shutil.rmtree(project.root / ".cache")
    first.rename(project.root / ".cache")
    assert states(project)["index.md", "main"][0] == "approved"
    assert "draft" not in states(project)["index.md", "main"][1]
    assert "already approved" in run(project, "approve", "--all", "--by", "Jo")
    assert file.read_text() == slow


def test_a_draft_of_a_machine_that_knew_of_no_other(project: Project) -> None:
    """Two people asked for a first text each: nobody loses the one that was not approved."""
    file = approve_one(project)
    later = f"generated_at: {datetime.now(UTC) + timedelta(minutes=10):%Y-%m-%d %H:%M:%S}+00:00"
    sign(file, re.sub("generated_at: .*", later, file.read_text()))
    state, reason = states(project)["index.md", "main"]
    assert state == "approved"
    assert "there is another draft, which was made elsewhere: `contentgen diff index.md`" in reason
    assert "already approved" in run(project, "approve", "--all", "--by", "Jo")


def test_a_build_from_approved_files(project: Project, service: ServiceDouble) -> None:
    """It needs no token, no cache and no network, and makes the same bytes on every machine."""
    project.configure({"require_approval": True}, theme="material")
    project.page("index.md", [ASKED, {"type": "news", "topic": "Beta", "id": "news"}])
    run(project, "generate")
    run(project, "approve", "--all", "--by", "Jo")
    assert project.build("--strict").returncode == 0
    first = project.files()
    for name in ("CONTENTGEN_TOKEN", "CONTENTGEN_USER_ID", "CONTENTGEN_BASE_URL"):
        del project.environment[name]
    shutil.rmtree(project.root / ".cache")
    project.environment["TZ"] = "Pacific/Auckland"
    sent = len(service.received)
    built = project.built("--strict")
    assert "2 from approved files, 0 from the cache" in built
    assert project.files() == first
    assert len(service.received) == sent
    page = project.html("index.html")
    assert page.count('ai-disclosure="ai-assisted"') == 3  # of two articles and the page's title
    assert page.count("AI-generated, reviewed by Jo on 2") == 2
    assert '"editor": {"@type": "Person", "name": "Jo"}' in page


def test_require_approval_lists_all_before_asking(project: Project, service: ServiceDouble) -> None:
    """Everything that nobody approved is named, and nothing is sent."""
    project.configure({"require_approval": True})
    project.page("one.md", ASKED)
    project.page("two.md", {"type": "blog", "topic": "Beta"})
    built = project.build()
    assert built.returncode == 1
    for page in ("one", "two"):
        assert (
            f"docs/{page}.md:2: there is no text to approve; `contentgen generate {page}.md` makes"
        ) in built.stdout
    assert len(re.findall("(?m)^ERROR ", built.stdout)) == 2
    assert service.received == []
    run(project, "generate", "one.md")
    built = project.build()
    assert "`contentgen review one.md`" in built.stdout
    assert "`contentgen generate two.md`" in built.stdout


def test_an_approved_file_reads_well(project: Project, service: ServiceDouble) -> None:
    """Under a YAML header, each block element has a line; the same text makes the same bytes."""
    service.answer = generated(
        '<article class="blog-post"><h1 style="color: #333">A &amp; B</h1>'
        '<p style="line-height: 1.6">One <b>bold</b>\n   word.</p><ul><li>x</li><li>y</li></ul>'
        '<div class="pro-tip" style="background: #eef; color: navy"><p>Tip.</p></div>'
        "<pre><code>a\n  b</code></pre></article>"
    )
    content = approve_one(project).read_text()
    header, _, text = content.removeprefix("---\n").partition("---\n")
    keys = "format key service approved_by approved_at sha256 generated_at request blocks"
    assert re.findall(r"(?m)^(\w+):", header) == keys.split()
    assert text == (
        '<article class="blog-post">\n<h1>A &amp; B</h1>\n<p>One <b>bold</b> word.</p>\n'
        "<ul>\n<li>x</li>\n<li>y</li>\n</ul>\n"
        '<div class="pro-tip" style="background: #eef; color: navy">\n<p>Tip.</p>\n</div>\n'
        "<pre><code>a\n  b</code></pre>\n</article>\n"
    )
    assert "already approved" in run(project, "approve", "index.md", "--by", "Other")
    assert approved_file(project).read_text() == content


def test_line_breaks_of_another_system_are_no_change(project: Project) -> None:
    """An approved file that version control gave CRLF line breaks is still approved."""
    file = approve_one(project)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert states(project)["index.md", "main"][0] == "approved"


@pytest.mark.parametrize(("name", "value"), CASES["a_header_may_be_edited"])
def test_a_header_may_be_edited(tmp_path: Path, name: str, value: str) -> None:
    """Quotes around times and dates, and keys of one's own are no damage."""
    path = tmp_path / "main.html"
    generated_at = datetime(2026, 1, 2, 10, 11, 12, tzinfo=UTC)
    stored = Text("<article>text</article>", generated_at, BlogRequest(topic="x").record())
    save_approved(path, tmp_path, approve(stored, "0" * 64, "sandbox", "Jo"))
    lines = [line for line in path.read_text().splitlines() if not line.startswith(f"{name}:")]
    lines.insert(1, f"{name}: {value}")
    path.write_text("\n".join(lines))
    text = read_approved(path, tmp_path)
    assert text is not None
    assert text.text.generated_at == generated_at
    assert text.approval is not None
    assert type(text.approval.approved_at) is date
    assert text.was_made_for(BlogRequest(topic="x"))


@pytest.mark.parametrize(("old", "new", "message"), CASES["a_damaged_file_is_an_error"])
def test_a_damaged_file_is_an_error(project: Project, old: str, new: str, message: str) -> None:
    """Build and commands name file and line, and nothing overwrites the file."""
    file = approve_one(project)
    damaged = file.read_text().replace(old, new, 1)
    file.write_text(damaged)
    built = project.built(code=1)
    assert message in built
    assert message in run(project, "status", code=1)
    assert message in run(project, "approve", "--all", "--by", "Eve", code=1)
    assert file.read_text() == damaged


def test_what_is_sound_is_done_beside_what_is_damaged(project: Project) -> None:
    """`status` lists and `approve --all` approves the others, name the rest, and end with 1."""
    for name in "abc":
        project.page(f"{name}.md", {**ASKED, "topic": name})
    project.page("deep.md", {**ASKED, "topic": "deep"})
    run(project, "generate", "?.md")
    nested = "<article><p>Text</p>" + "<div>" * 150 + "x" + "</div>" * 150 + "</article>"
    request = BlogRequest(topic="deep")
    store = DiskStore(project.root / ".cache/plugin/contentgen")
    store.prepare()
    store.save({request.key(sandbox=False): Text(nested, datetime.now(UTC), request.record())})
    store.close()
    run(project, "approve", "a.md", "--by", "Jo")
    file = approved_file(project, "a.md")
    file.write_text(file.read_text().replace("key:", "key: ["))
    listed = run(project, "status", code=1)
    assert "b.md" in listed
    assert "c.md" in listed
    assert "a.md/main.html:" in listed
    done = run(project, "approve", "--all", "--by", "Jo", code=1)
    assert "b.md: approved in" in done
    assert "c.md: approved in" in done
    assert "Error: " in done
    assert "a.md/main.html:" in done
    assert "deep.md:2: " in done


def test_an_edit_that_leaves_no_article(project: Project) -> None:
    """The page is not built without its text: the build fails, and names file and line."""
    with approve_one(project).open("a") as file:
        file.write("<article>Another</article>\n")
    built = project.built(code=1)
    assert re.search(r"main\.html:\d+: <article> stands after </article>; move it", built)


def test_diff_and_refresh_leave_the_approved_text(project: Project, service: ServiceDouble) -> None:
    """A refresh makes a draft beside the approved text, `diff` shows it, `approve` decides."""
    before = approve_one(project).read_text()
    run(project, "generate", "--refresh", "index.md")
    assert approved_file(project).read_text() == before
    assert states(project)["index.md", "main"][0] == "approved"
    shown = run(project, "diff", "index.md")
    assert "Text number [-1.-]{+2.+}" in shown
    project.build()
    assert "Text number 1" in project.html("index.html")
    edit_date(approved_file(project))
    run(project, "generate", "--refresh", "index.md")
    run(project, "approve", "index.md", "--by", "Jo")
    assert "Text number 3" in approved_file(project).read_text()
    assert len(service.received) == 3


def age_texts(project: Project, days: int) -> None:
    """Make all texts in the cache older."""
    store = DiskStore(project.root / ".cache/plugin/contentgen")
    texts, _ = store.load(store.requests()[0])
    for key, text in texts.items():
        older = text.generated_at - timedelta(days=days)
        store.save({key: structs.replace(text, generated_at=older)})
    store.close()


@pytest.mark.parametrize("option", ["--refresh", "max_age"])
def test_a_new_text_that_did_not_arrive(
    project: Project, service: ServiceDouble, option: str
) -> None:
    """Whoever asks for new texts learns from the exit status that an old one is still there."""
    for name in ("Alpha", "Beta"):
        project.page(f"{name}.md", {"type": "blog", "topic": name})
    run(project, "generate")
    if option == "max_age":
        age_texts(project, days=2)
        project.configure({"max_age": "1d"})
    options = ("--refresh",) if option == "--refresh" else ()
    service.answer = raw(b"", 422)
    printed = run(project, "generate", *options, code=1)
    assert "Error: new texts that did not arrive: 2 of 2; the old ones stay" in printed
    assert printed.count("422 Unprocessable") == 1
    assert "the old text stays; 2 pages: docs/Alpha.md, docs/Beta.md" in printed
    service.answer = generated()
    run(project, "generate", *options)


def edit_date(approved: Path) -> None:
    """Make an approved text older than any draft, since approved files have whole seconds."""
    text = re.sub(r"(?m)^generated_at: \d+", "generated_at: 2025", approved.read_text())
    sign(approved, text)


def test_generate_chooses_pages(project: Project, service: ServiceDouble) -> None:
    """Pages are named by path or glob; what is there is not asked for again."""
    for name in ("a/one", "a/two", "b"):
        project.page(f"{name}.md", {"type": "blog", "topic": name})
    run(project, "generate", "a/one.md")
    assert service.topics == ["a/one"]
    run(project, "generate", "docs/a/*.md")
    assert sorted(service.topics) == ["a/one", "a/two"]
    assert "no request was needed" in run(project, "generate", "a/*")
    assert "nope.md: there is no such page" in run(project, "generate", "nope.md", code=1)


def test_a_dry_run_tells_the_numbers(project: Project, service: ServiceDouble) -> None:
    """It prints what a real run would send, equal requests once; neither it nor too many are."""
    project.page("one.md", ASKED)
    project.page("two.md", ASKED)
    project.page("three.md", {"type": "blog", "topic": "Beta"})
    shown = run(project, "generate", "--dry-run", "--max-requests", "5")
    assert "requests to be sent: 2; max_requests allows 5" in shown
    assert "max_requests" in run(project, "generate", "--max-requests", "1", code=1)
    assert service.received == []
    shown = run(project, "generate", "-f", "mkdocs.yml")
    assert "texts generated: 2; failed: 0\n" in shown
    assert shown.endswith("3 drafts: contentgen review -f mkdocs.yml\n")
    assert len(service.received) == 2


def test_generate_reports_failures_and_keeps_the_rest(
    project: Project, service: ServiceDouble
) -> None:
    """With a failure the exit status is 1, and everything else is kept."""

    def answer(request: object, handler: object) -> None:
        topic = getattr(request, "topic", "")
        (raw(b"no", 500) if topic == "Bad" else generated())(request, handler)  # type: ignore[arg-type]  # handed on as they come

    service.answer = answer
    project.page("good.md", ASKED)
    project.page("bad.md", {"type": "blog", "topic": "Bad"})
    shown = run(project, "generate", code=1)
    assert "docs/bad.md:2: the service answered 500" in shown
    assert "texts generated: 1; failed: 1" in shown
    assert project.cached() == {"Alpha"}
    assert TOKEN not in shown


def test_status_of_a_changed_request(project: Project) -> None:
    """Its text is missing, and a field that the service does not take is said."""
    project.page("index.md", ASKED)
    run(project, "generate")
    project.page("index.md", ASKED | {"topic": "Beta"})
    assert states(project) == {("index.md", "main"): ("missing", "never generated")}
    project.page("index.md", ASKED | {"brief": "New"})  # which the service does not take
    shown = run(project, "status")
    assert "docs/index.md:2: contentgen.brief: is not sent to this service; use" in shown


def test_samples_are_no_texts_of_other_pages(project: Project) -> None:
    """With a real service, what the sandbox had for a page explains nothing of a similar one."""
    project.configure({"base_url": "sandbox"})
    project.page("a.md", ASKED)
    project.page("b.md", ASKED | {"format": "howto"})
    run(project, "generate")
    project.configure()
    assert {reason for _, reason in states(project).values()} == {"never generated"}


@pytest.mark.parametrize("require_approval", [False, True])
def test_status_check(project: Project, *, require_approval: bool) -> None:
    """`--check` is for CI: 1 unless all articles are approved, whatever the options say."""
    project.configure({"require_approval": require_approval})
    project.page("index.md", ASKED)
    run(project, "status", "--check", code=1)
    run(project, "generate")
    run(project, "status", "--check", code=1)
    run(project, "approve", "--all", "--by", "Jo")
    run(project, "status", "--check")
    project.page("other.md", {"type": "blog", "topic": "Beta"})
    run(project, "status", "--check", code=1)
    run(project, "status", "index.md", "--check")
    file = approved_file(project)
    file.write_text(file.read_text().replace("</p>", " More.</p>", 1))
    run(project, "status", "index.md", "--check", code=1)


def test_an_edited_file_where_approvals_are_required(project: Project) -> None:
    """The build fails and says what to do; nothing is sent, and a server only warns."""
    file = approve_one(project)
    file.write_text(file.read_text().replace("</p>", " One more sentence.</p>", 1))
    assert "docs/index.md:2: changed, edited since Jo approved it; read" in project.built()
    shown = project.html("index.html")
    project.configure({"require_approval": True})
    project.page("new.md", {"type": "blog", "topic": "Beta"})
    message = (
        "docs/index.md:2: changed, edited since Jo approved it, and require_approval is set; "
        "read and approve it with `contentgen review index.md`"
    )
    built = project.built(code=1)
    assert message in built
    assert "docs/new.md:2: there is no text to approve" in built
    served = project.build_as_server()
    assert served.returncode == 0
    assert message in served.stdout
    (project.root / "docs/new.md").unlink()
    run(project, "approve", "index.md", "--by", "Eve")
    assert "1 from approved files" in project.built("--strict")
    assert "One more sentence." in shown
    assert "reviewed by Eve" in project.html("index.html")


def test_json_is_all_there_is_on_standard_output(project: Project) -> None:
    """Scripts can parse the output even when there is something to complain of."""
    project.page("index.md", ASKED)
    run(project, "generate")
    database = project.root / ".cache/plugin/contentgen/cache.db"
    database.write_bytes(b"rubbish")
    ran = subprocess.run(
        ["contentgen", "status", "--json", "-f", str(project.root / "mkdocs.yml")],
        cwd="/",
        env=project.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (listed,) = json.loads(ran.stdout)
    keys = "page id type topic state key reason where model marked generated_at approved_by remarks"
    assert set(listed) >= set(keys.split())
    assert "cannot be read (" in ran.stderr


def test_approve_asks_git_for_the_name(project: Project) -> None:
    """Without `--by`, git's user answers for the text; without either, there is an error."""
    project.page("index.md", ASKED)
    run(project, "generate")
    project.environment |= {"HOME": str(project.root), "XDG_CONFIG_HOME": str(project.root)}
    project.environment["GIT_CONFIG_NOSYSTEM"] = "1"
    assert "say who approves with --by" in run(project, "approve", "--all", code=2)
    subprocess.run(
        ["git", "config", "--global", "user.name", "Git User"], env=project.environment, check=True
    )
    run(project, "approve", "--all")
    assert "approved_by: Git User" in approved_file(project).read_text()


def test_eject(project: Project, service: ServiceDouble) -> None:
    """The article becomes Markdown at its marker; of the rest, only a byte order mark goes."""
    service.answer = generated(
        "<article><h1>Own <em>title</em></h1><p>A * b_c_d <strong>bold</strong>.</p>"
        "<h2>Part</h2><ol><li>one</li><li>two</li></ol></article>"
    )
    project.write(
        "docs/index.md",
        "\ufeff---\n# a comment\ntitle: T # kept\n"
        "contentgen:\n  # asks\n  type: blog\n  topic: Alpha\n"
        "tags: [a, b]\n---\n\nBefore.\n\n```\n```md\n<!-- contentgen -->\n```\n\n"
        "<!-- contentgen -->\n\n"
        "After.\n",
    )
    run(project, "generate")
    run(project, "eject", "index.md")
    assert (project.root / "docs/index.md").read_text() == (
        "---\n# a comment\ntitle: T # kept\ntags: [a, b]\n---\n\nBefore.\n\n"
        "```\n```md\n<!-- contentgen -->\n```\n\n"
        "## Own *title*\n\nA \\* b_c_d **bold**.\n\n### Part\n\n1. one\n2. two\n\nAfter.\n"
    )
    sent = len(service.received)
    assert project.build("--strict").returncode == 0
    assert len(service.received) == sent
    assert "<strong>bold</strong>" in project.html("index.html")


def test_commands_say_what_they_need(project: Project, service: ServiceDouble) -> None:
    """Whoever names too little, too much, or what is not there reads what to do."""
    project.write("docs/index.md", "# Title\n")
    assert "No page asks for a text.\n" in run(project, "status")
    assert "No page asks for a text.\n" in run(project, "generate")
    for name in ("a", "b"):
        page = project.page(f"{name}.md", {"type": "blog", "topic": name})
    before = page.read_text()
    assert "there is no text to write" in run(project, "eject", "b.md", code=1)
    assert page.read_text() == before
    assert "there is no text to approve" in run(project, "approve", "--all", "--by", "J", code=1)
    assert "?.md matches 2 pages; name one" in run(project, "eject", "?.md", code=2)
    assert "name the pages to approve, or use --all" in run(project, "approve", code=2)
    both = run(project, "approve", "--all", "a.md", code=2)
    assert "name the pages to approve, or use --all" in both
    compared = run(project, "diff", "a.md")
    assert "article 'main': missing, never generated; there is nothing to compare" in compared
    run(project, "generate")
    run(project, "approve", "a.md", "--by", "Jo")
    assert "both texts are the same for a reader" in run(project, "diff", "a.md")
    assert sorted(service.topics) == ["a", "b"]


def test_prune(project: Project, service: ServiceDouble) -> None:
    """Only texts that no page asks for are dropped, pages that only `serve` shows included."""
    project.configure(draft_docs="draft.md\n")
    for name in ("one", "two"):
        project.page(f"{name}.md", {"type": "blog", "topic": name})
    run(project, "generate")
    project.page("draft.md", {"type": "blog", "topic": "two"})
    (project.root / "docs/two.md").unlink()
    project.page("one.md", {"type": "blog", "topic": "one", "length": "short"})
    assert "blog: one\ntexts to be dropped: 1" in run(project, "prune", "--dry-run")
    assert project.cached() == {"one", "two"}
    assert "texts dropped: 1" in run(project, "prune")
    assert project.cached() == {"two"}


def test_prune_keeps_sample_texts(project: Project) -> None:
    """Whoever tries the sandbox and goes back to the service finds both; damage is a warning."""
    project.page("index.md", ASKED)
    run(project, "generate")
    project.configure({"base_url": "sandbox"})
    run(project, "generate")
    for base_url in ({}, {"base_url": "sandbox"}):
        project.configure(base_url)
        assert "texts dropped: 0" in run(project, "prune")
    project.write(".cache/plugin/contentgen/cache.db", "garbage")
    assert "cannot be read (" in run(project, "prune", "--dry-run")


@pytest.mark.parametrize(
    ("front_matter", "wrong"),
    [
        ({"contentgen": {"type": "blog", "topic": "x", "format": "howto"}}, []),
        ({"contentgen": [{"type": "news", "tone": "editorial"}], "title": "x"}, []),
        ({"contentgen": {"length": "short"}}, []),
        ({"contentgen": {}, "title": "x"}, []),
        ({"contentgen": {"type": "blgo"}}, ["contentgen.type: 'blgo' is not one of ['article', "]),
        ({"contentgen": {"fromat": "howto"}}, ["contentgen: Additional properties are not"]),
        ({"contentgen": {"type": "news", "format": "x"}},
         ["contentgen.format: 'x' is not one of ["]),
        ({"contentgen": [{"length": "x", "topic": ""}]},
         ["contentgen[0].length: 'x' is not one of ['short'", "contentgen[0].topic: '' does not "]),
        ({"contentgen": 3}, ["contentgen: 3 is not of type 'object'"]),
        ({"contentgen": []}, ["contentgen: [] should be non-empty"]),
    ],
)  # fmt: skip
def test_the_schema(front_matter: dict[str, object], wrong: list[str]) -> None:
    """It names the field that is wrong, and leaves what is missing to the build."""
    errors = Draft202012Validator(front_matter_schema()).iter_errors(front_matter)
    found = sorted(f"{error.json_path[2:]}: {error.message}" for error in errors)
    assert [one.startswith(it) for one, it in zip(found, wrong, strict=True)] == [True] * len(wrong)


def test_the_schema_describes_each_field(project: Project) -> None:
    """Editors show the descriptions."""
    schema = json.loads(run(project, "schema"))
    Draft202012Validator.check_schema(schema)
    fields = schema["$defs"]["request"]["properties"]
    assert fields["format"]["enum"] == ["howto", "listicle", "narrative"]
    assert all(field["description"] for field in fields.values())


def test_commands_see_what_the_build_sees(project: Project, service: ServiceDouble) -> None:
    """Pages that plugins make or move are the same to `status` as to a build, which it leaves."""
    plugins: list[object] = ["blog", {"contentgen": {}}]
    project.configure(theme="material", plugins=plugins, exclude_docs="out.md\n")
    project.write("docs/blog/index.md", "# Blog\n")
    post = {"type": "blog", "topic": "Post"}
    project.write(
        "docs/blog/posts/p.md", f"---\ndate: 2026-01-01\ncontentgen: {json.dumps(post)}\n---\n"
    )
    project.page("out.md", {"type": "blog", "topic": "Out"})
    project.page("in.md", {"type": "blog", "topic": "In"})
    listed = json.loads(run(project, "status", "--json"))
    assert project.build("--strict").returncode == 0
    assert (
        sorted(article["topic"] for article in listed) == sorted(service.topics) == ["In", "Post"]
    )
    before = project.files()
    assert all(state == "draft" for state, _ in states(project).values())
    assert project.files() == before


def test_help(project: Project) -> None:
    """Each command is listed, and explains itself."""
    listed = run(project, "--help")
    for command in COMMANDS:
        assert f"\n  {command} " in listed
        assert "Usage: " in run(project, command, "--help")


def test_errors_are_one_line(project: Project) -> None:
    """A missing configuration, a missing plugin and a bad page are told in one line each."""
    project.page("index.md", {"type": "blgo", "topic": "x"})
    assert "expected one of article, blog, news" in run(project, "status", code=1)
    project.configure(plugins=["search"])
    assert "has no plugin 'contentgen'" in run(project, "status", code=1)
    assert "nowhere.yml" in run(project, "status", "-f", "nowhere.yml", code=1)


@pytest.mark.system
def test_an_interrupted_generate_says_what_it_waits_for(
    project: Project, service: ServiceDouble
) -> None:
    """After Ctrl-C it says what is in flight and what a second one gives up, and keeps the text."""
    service.answer = generated(delay=2)
    project.page("index.md", ASKED)
    process = project.start("mkdocs_contentgen", "generate")
    wait_until(lambda: service.received)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    assert WAITING_MESSAGE in project.output
    assert "Traceback" not in project.output
    assert project.cached() == {"Alpha"}


def test_no_call_begins_after_an_interrupt(project: Project, model: ModelDouble) -> None:
    """After Ctrl-C, texts that wait for the model are not written, and the last line counts all."""
    writer = {"model": "m", "endpoint": model.endpoint, "parallel": 2}
    project.configure({"base_url": "writer", "writer": writer})
    for number in range(7):
        page = {"type": "blog", "topic": f"Topic {number}", "length": "short"}
        project.page(f"{number}.md", page)
    interrupted = threading.Event()
    text = f"# Tides\n\n{sentences(200, 'one')}\n\n## Why\n\n{sentences(200, 'two')}"

    def answer(call: Call, handler: ModelHandler) -> None:
        assert interrupted.wait(60)
        written(text)(call, handler)

    model.answer = answer
    process = project.start("mkdocs_contentgen", "generate")
    wait_until(lambda: len(model.calls) == 2)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: WAITING_MESSAGE in project.output)
    interrupted.set()
    assert process.wait(60) == 128 + signal.SIGINT
    assert len(model.calls) == 2
    assert project.output.splitlines()[-1] == "2 texts kept, 5 not requested"
    assert "Aborted!" not in project.output
    # A run of more than ten seconds says how far it is.
    assert "failed" not in project.output.replace("0 failed", "")
    assert len(project.cached()) == 2


def test_a_second_interrupt_says_what_is_given_up(project: Project, service: ServiceDouble) -> None:
    """What was in flight then may have been paid for, and is counted."""
    service.answer = silence
    project.configure({"concurrency": 1})
    for name in ("Alpha", "Beta", "Gamma"):
        project.page(f"{name}.md", {"type": "blog", "topic": name})
    process = project.start("mkdocs_contentgen", "generate")
    wait_until(lambda: service.received)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: WAITING_MESSAGE in project.output)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    last = "0 texts kept, 2 not requested, 1 given up, which may have been paid for"
    assert project.output.splitlines()[-1] == last


def test_a_piped_status_has_a_line_for_each_article(project: Project) -> None:
    """However narrow the terminal was, no path or topic is broken where a script reads it."""
    project.environment["COLUMNS"] = "80"
    page = f"a-folder-with-a-long-name/{'long-' * 12}name.md"
    topic = "Why " + "very " * 20 + "long topics are not broken"
    project.page(page, {"type": "blog", "topic": topic})
    lines = run(project, "status").splitlines()
    assert lines[2:] == ["1 missing text: contentgen generate"]
    assert run(project, "status", page).splitlines() == lines
    assert "there is no such page" in run(project, "status", "other.md", code=1)
    assert page in lines[1]
    assert topic in lines[1]


def test_approve_all_goes_on_after_an_error(project: Project) -> None:
    """What can be approved is, the rest is named, and the exit status says that there is some."""
    for name in ("b", "c"):
        project.page(f"{name}.md", {"type": "blog", "topic": name})
    run(project, "generate")
    project.page("a.md", ASKED)
    shown = run(project, "approve", "--all", "--by", "Jo", code=1)
    assert "docs/a.md:2: there is no text to approve" in shown
    assert [state for state, _ in states(project).values()] == ["missing", "approved", "approved"]


def test_a_home_directory_in_an_option(project: Project) -> None:
    """`~` is the home directory, as in a shell."""
    project.environment["HOME"] = str(project.root / "home")
    project.configure({"cache_dir": "~/cache", "approved_dir": "~/approved"})
    project.page("index.md", ASKED)
    run(project, "generate")
    run(project, "approve", "--all", "--by", "Jo")
    assert (project.root / "home/cache/cache.db").is_file()
    assert (project.root / "home/approved/index.md/main.html").is_file()
    assert not (project.root / "~").exists()
    for path in ("a\0b", "a" * 300, "~a-user-who-is-not-there/b"):
        project.configure({"cache_dir": path})
        assert re.search("cache_dir: '~?a.* is not a path", run(project, "status", code=1))


def test_the_sandbox_on_a_busy_port(project: Project) -> None:
    """One line says what to do about a port that another program has."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        shown = run(project, "sandbox", "--port", str(port), code=1)
    assert shown == (
        f"Error: 127.0.0.1:{port} cannot be used (Address already in use); "
        "choose another one with --port\n"
    )


def test_the_sandbox_on_a_port(project: Project) -> None:
    """`contentgen sandbox` serves any client over HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = project.start("mkdocs_contentgen", "sandbox", "--port", str(port))
    try:
        wait_until(lambda: "running on" in project.output)
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/generate-news?user_id=u",
            data=json.dumps({"topic": "Port"}).encode(),
            headers={"Content-Type": "application/json", "Authorization": "Bearer t"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.loads(response.read())
        assert answer["success"] is True
        assert '<article class="news-article">' in answer["content"]
    finally:
        process.terminate()
        process.wait(60)
