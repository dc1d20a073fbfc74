"""The commands `prompt` and `import` for translations that are made without the site's writer."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from msgspec.structs import replace
from sandbox_site import Site, make_site

from mkdocs_contentgen.cli.common import load_articles, open_site
from mkdocs_contentgen.html.document import ReadText, document_of
from mkdocs_contentgen.remark import Remark
from mkdocs_contentgen.reporting import SILENT
from mkdocs_contentgen.review import updating
from mkdocs_contentgen.review.translated_elsewhere import remarks_on_changed
from mkdocs_contentgen.site.build import Build
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.translation.imported_translation import import_translation

ORIGINAL = (
    '<article lang="en"><h1>Fast builds</h1><p>Run <code>make</code> in 20 minutes.</p>'
    '<h2>Why</h2><p>See <a href="https://x.example/why">the reasons</a> of 2024.</p>'
    "<pre><code>make -j4\n</code></pre><p>Then wait.</p></article>"
)
MARKDOWN = """---
title: Schnell
---

# Schnelles Bauen

`make` dauert 25 Minuten.

## Warum

Das sind [die Gründe](https://x.example/why) von 2024.

```sh
make -j4
```

Übersetzt von Ada.
"""
HTML = (
    "<h1>Schnelles Bauen</h1><p><code>make</code> dauert 20 Minuten.</p><h2>Warum</h2>"
    '<p>Das sind <a href="https://x.example/why">die Gründe</a> von 2024.</p>'
    "<pre><code>make -j4\n</code></pre><p>Dann warten.</p>"
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return a site with a draft and the request for its translation, and no service."""
    return site_with(ORIGINAL, tmp_path, monkeypatch)


def site_with(original: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return such a site with this original."""
    site = make_site(tmp_path, monkeypatch)
    site.configure(plugins=["contentgen"])
    site.write(
        "docs/index.de.md", "---\ncontentgen: {translation_of: index.md, language: de}\n---\n"
    )
    site.draft(original, is_for_writer=True)
    return site


def import_text(site: Site, text: str, *arguments: str) -> str:
    """Return what `contentgen import` prints about a text in a file."""
    site.write("text.md", text)
    return site.run("import", "index.de.md", "text.md", *arguments)


def approved(site: Site, *options: str) -> str:
    """Approve the translation, and return its file."""
    site.run("approve", "index.de.md", "--by", "Jo", "--reason", "I know", *options)
    return (site.root / "contentgen/index.de.md/main.html").read_text(encoding="utf-8")


def state(site: Site) -> dict[str, object]:
    """Return what `status` says of the translation."""
    [found] = [row for row in json.loads(site.run("status", "--json")) if row["language"] == "de"]
    assert isinstance(found, dict)
    return found


def test_a_translation_in_markdown(site: Site) -> None:
    """Figures are those of the block, and what has no counterpart is named."""
    said = import_text(site, MARKDOWN, "--model", "a-chat")
    remarks = state(site)["remarks"]
    assert isinstance(remarks, list)
    assert all(remark.startswith("translation: ") for remark in remarks)
    assert any("the original is a draft" in remark for remark in remarks)
    assert any("20" in remark for remark in remarks)
    assert "Next: contentgen review index.de.md" in said

    assert "to check: make dauert ‹25 Minuten›." in site.run("show", "index.de.md")

    html = approved(site)
    assert 'lang="de"' in html
    assert "<h1>Schnelles Bauen</h1>" in html
    assert state(site)["original_changes"] == 0


def test_an_order_that_nobody_can_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours that do not fit their originals have one remark together, and no marks."""
    days = (3, 14, 25)
    said = [f"Wait {day} days, and never stop." for day in days]
    others = [f"Warte {day + 1} Tage am Meer." for day in days]
    original = "".join(f"<p>{words}</p>" for words in said)
    site = site_with(f'<article lang="en"><h1>T</h1>{original}</article>', tmp_path, monkeypatch)
    import_text(site, "\n\n".join(["# T", *others]))
    remarks = state(site)["remarks"]
    assert isinstance(remarks, list)
    about_words = [remark for remark in remarks if "draft" not in remark]
    assert about_words == [
        "translation: the 3 blocks from 'Warte 4 Tage am Meer.' on say other things than those "
        "beside them; check which one translates which"
    ]
    assert "‹" not in site.run("show", "index.de.md")


def test_a_translation_with_other_levels(site: Site) -> None:
    """It gets those of its original at once, which is printed."""
    said = import_text(site, HTML.replace("h2>", "h3>"), "--by", "Ada")
    assert "restored 'Warum': a translation has the levels and lists of its original" in said
    assert "<h2>Warum</h2>" in approved(site)


def test_descriptions_of_a_person_are_checked(site: Site) -> None:
    """What a picture or a link says is compared with what it says in the original."""
    title = 'href="https://x.example/why" title="The 3 reasons"'
    site.draft(ORIGINAL.replace('href="https://x.example/why"', title), is_for_writer=True)
    own = HTML.replace('href="https://x.example/why"', title.replace("The 3 reasons", "4 Gründe"))
    import_text(site, own, "--by", "Ada")
    remarks = state(site)["remarks"]
    assert isinstance(remarks, list)
    said = "translation: `title` '4 Gründe': '4' is not in the original; '3' of the original is"
    assert [remark for remark in remarks if remark.startswith(said)]


def test_a_translation_of_a_person_is_kept_true(site: Site) -> None:
    """Each block is the person's, and stays when the original changes, which is said."""
    site.run("approve", "index.md", "--by", "Jo")
    assert "1 remarks" not in import_text(site, HTML, "--by", "Ada")
    assert state(site)["remarks"] == []
    before = approved(site)
    assert before.count("Ada") > 1
    assert "written_by: Ada" in before

    change_original(site, "Then wait.", "Then go.")
    assert state(site)["original_changes"] == 1


def test_the_answer_to_the_prompt(site: Site) -> None:
    """Of it, the words are taken alone, so that all else is as in the original."""
    prompt = site.run("prompt", "index.de.md")
    assert "from English (en) into German (de)" in prompt
    assert "[3] See [the reasons](1) of 2024." in prompt
    assert "make -j4" not in prompt
    assert re.findall(r"^\[(\d+)\]", prompt.partition("<text>")[2], re.MULTILINE) == list("01235")
    answer = (
        "[0] ## Schnelles Bauen\n[1] `make` dauert 20 Minuten.\n[2] ## Warum\n"
        "[3] Das sind [die Gründe](1) von 2024.\n[5] Dann warten.\n"
    )
    import_text(site, answer, "--model", "a-chat")
    html = approved(site)
    assert '<a href="https://x.example/why"' in html
    assert "<pre><code>make -j4" in html
    assert "Dann warten." in html


def test_a_changed_original_without_a_model(site: Site) -> None:
    """What has changed is asked for alone, and put into the translation, whose words stay."""
    site.run("approve", "index.md", "--by", "Jo")
    import_text(site, HTML, "--by", "Ada")
    before = approved(site)
    change_original(site, "<p>Then wait.</p>", "<p>Then wait.</p>\n<p>Read [3] of it.</p>")

    blocks = site.run("prompt", "index.de.md").partition("<text>")[2]
    assert re.findall(r"^\[\d+\] .*$", blocks, re.MULTILINE) == ["[6] Read ⟦1⟧ of it."]
    said = import_text(site, "Here it is:\n\n[6] Lies ⟦1⟧ davon.\n", "--model", "a-chat")
    assert "the text is a draft, no remarks" in said
    assert state(site)["original_changes"] == 0
    after = approved(site)
    end = "<p>Dann warten.</p>\n"
    new = f"{end}<p>Lies [3] davon.</p>\n"
    assert after.split("---\n")[2] == before.split("---\n")[2].replace(end, new)
    assert "model: a-chat" in after


def test_a_changed_original_and_a_person(site: Site) -> None:
    """Its new block is the person's; another text takes the place of all, if they want that."""
    site.run("approve", "index.md", "--by", "Jo")
    import_text(site, HTML, "--by", "Ada")
    change_original(site, "<p>Then wait.</p>", "<p>Then wait.</p>\n<p>Read it.</p>")
    assert "no remarks" in import_text(site, "[6] Lies das.\n", "--by", "Ben")
    html = approved(site)
    assert "written_by: Ada" in html
    assert html.count(": Ben") == 1
    change_original(site, "<p>Read it.</p>", "<p>Read all.</p>")
    import_text(site, MARKDOWN, "--model", "a-chat", "--yes")
    refused = site.run("approve", "index.de.md", "--by", "Jo", "--reason", "I know", code=1)
    assert "'Dann warten.' by Ada" in refused
    assert "Übersetzt von Ada." in approved(site, "--yes")


def change_original(site: Site, before: str, after: str) -> None:
    """Change the approved original, and approve it again."""
    html = site.approved.read_text(encoding="utf-8")
    assert html.count(before) == 1
    site.approved.write_text(html.replace(before, after), encoding="utf-8")
    site.run("approve", "index.md", "--by", "Jo")


def test_the_answers_to_several_prompts(site: Site) -> None:
    """A long text takes several; their answers are imported in one file, with what is said around.

    Each answer has words of a chat before and behind it.
    """
    paragraphs = "".join(f"<p>Part {number} says {'so ' * 500}.</p>" for number in range(8))
    site.draft(f'<article lang="en"><h1>Fast</h1>{paragraphs}</article>', is_for_writer=True, day=2)
    printed = site.run("prompt", "index.de.md")
    assert "put the answers into one file, one below the other" in printed
    assert "Next: contentgen import index.de.md FILE" in printed
    prompts = printed.split("----- prompt ")[1:]
    assert [prompt[:6] for prompt in prompts] == ["1 of 2", "2 of 2"]
    answers = []
    for prompt in prompts:
        blocks = re.findall(r"^\[(\d+)\] (.*)$", prompt.partition("<text>")[2], re.MULTILINE)
        lines = [f"[{number}] {text.replace('says', 'sagt')}" for number, text in blocks]
        answers.append("\n".join(["Here is it:", "", *lines, "", "Tell me if you need more."]))

    import_text(site, "\n".join(answers))
    html = approved(site)
    assert html.count("sagt") == 8
    assert "Tell me" not in html


@pytest.mark.parametrize("command", ["prompt", "import"])
def test_an_original_without_a_text(site: Site, command: str) -> None:
    """It is said which command to run first, and where the request is."""
    (site.root / ".cache").rename(site.root / "old")
    site.write("text.md", MARKDOWN)
    arguments = ["text.md"] if command == "import" else []
    said = site.run(command, "index.de.md", *arguments, code=1)
    assert "docs/index.de.md:2: its original, index.md, has no text" in said
    assert "`contentgen generate index.md`" in said


def test_what_cannot_be_shown(site: Site) -> None:
    """A file without words is not a translation."""
    assert "no text" in import_text_fails(site, "<script>alert(1)</script>")
    assert not (site.root / "contentgen").exists()


def test_a_page_with_html(site: Site) -> None:
    """Comments and elements around Markdown are left out, which is said, and code is not HTML."""
    page = MARKDOWN.partition("---\n\n")[2].replace("## Warum", "<!-- more -->\n\n## Warum")
    page = page.replace("```sh", '<div class="term">\n\n```sh').replace(
        "-j4\n```", "-j4\n```\n\n</div>"
    )
    said = import_text(site, f"<p align=center>Logo</p>\n\n{page}\nDas ist `<article>`.\n")
    assert "repaired: HTML was replaced by Markdown or text" in said
    html = approved(site)
    assert "<pre><code>make -j4\n</code></pre>" in html
    assert "<code>&lt;article&gt;</code>" in html
    assert "more" not in html
    assert "term" not in html
    assert "a code" not in str(state(site)["remarks"])


def test_a_page_of_a_site_with_extensions(site: Site) -> None:
    """Boxes are quotations, as in an original that was imported, and ids are not words."""
    page = MARKDOWN.replace("## Warum", '## Warum { #why }\n\n!!! tip "Tipp"\n\n    Das geht.\n')
    said = import_text(site, page)
    assert "repaired: marks of boxes and tabs were taken out" in said
    html = approved(site)
    assert "<h2>Warum</h2>" in html
    assert "<p><strong>Tipp</strong></p>" in html
    assert "<p>Das geht.</p>" in html
    assert html.count("<pre>") == 1


def import_text_fails(site: Site, text: str) -> str:
    """Return what `contentgen import` prints about a text that it refuses."""
    site.write("text.md", text)
    return site.run("import", "index.de.md", "text.md", code=1)


def test_remarks_go_with_the_words_that_they_are_about() -> None:
    """What is said of a block goes when a person changes it, and what is said of none stays."""
    remarks = (
        Remark("missing", "'Three'"),
        Remark("differs", "'Eins'", {"because": "the original has 1"}),
        Remark("differs", "'Zwei'", {"because": "the original has 2"}),
    )
    when = datetime(2026, 1, 1, tzinfo=UTC)
    before = Text("<article><p>Eins</p><p>Zwei</p></article>", when, {}, remarks=remarks)
    after = replace(before, html="<article><p>Eins (1)</p><p>Zwei</p></article>")
    assert remarks_on_changed(before, after, None) == (remarks[0], remarks[2])


def test_a_remark_on_what_is_missing_goes_when_a_person_adds_that() -> None:
    """It is looked for where it stands in the original."""
    when = datetime(2026, 1, 1, tzinfo=UTC)
    original = Text("<article><p>One</p><p>Two</p><h2>Three</h2><p>Four</p></article>", when, {})
    html = "<article><p>Eins</p><h2>Drei</h2></article>"
    read = ReadText(original, document_of(original.html))
    aligned = import_translation(read, document_of(html))
    remarks = tuple(aligned.remarks)
    assert remarks == (Remark("missing", "'Two'"), Remark("missing", "'Four'"))
    before = Text(html, when, {}, remarks=remarks, original=aligned.original)
    after = replace(before, html="<article><p>Eins</p><p>Zwei</p><h2>Drei</h2></article>")
    assert remarks_on_changed(before, after, original) == remarks[1:]


def test_another_structure_needs_no_answer(site: Site) -> None:
    """Without a model, an update follows what needs no words, and nobody is asked for a text."""
    site.run("approve", "index.md", "--by", "Jo")
    import_text(site, HTML)
    approved(site)
    file = site.approved
    file.write_text(file.read_text("utf-8").replace("h2>", "h3>"), "utf-8")
    site.run("approve", "index.md", "--by", "Jo")
    said = site.run("prompt", "index.de.md", code=1)
    assert (
        "the change of its original needs no words; next: `contentgen update index.de.md`" in said
    )
    assert "updates to be sent: 1" in site.run("update", "--all", "--dry-run")
    site.run("update", "index.de.md")
    assert "<h3>Warum</h3>" in approved(site)


def test_a_translation_that_somebody_changes_before_its_update(site: Site) -> None:
    """The update of what needs no words does not overwrite it, either."""
    import_text(site, HTML.replace("<pre><code>make -j4\n</code></pre>", ""), "--by", "Ada")
    context = click.Context(click.Command("update"))
    with context, open_site(str(site.root / "mkdocs.yml"), drafts=True) as opened:
        articles = load_articles(opened, ["index.de.md"])
        build = Build(opened, opened.options.command_policy(), SILENT)
        planned = updating.plan(build, articles)
        import_text(site, HTML, "--by", "Bo", "--yes")
        [result], problems = updating.run(build, planned.updates)
    assert "somebody has changed this text meanwhile" in str(result.error)
    assert result.after is None
    assert not problems
    assert "von 2024" in approved(site)


def test_code_that_an_import_lacks(site: Site) -> None:
    """An update copies it from the original, and needs neither a service nor an answer."""
    said = import_text(site, HTML.replace("<pre><code>make -j4\n</code></pre>", ""), "--by", "Ada")
    assert "the original's 'make -j4' has no translation" in said
    assert "nothing was sent" in site.run("update", "--all")
    assert "what it lacks of its original" in site.run("update", "index.de.md", "--dry-run")
    said = site.run("update", "index.de.md")
    assert "copied 'make -j4': it needs no translation" in said
    assert "has no translation" not in said
    html = approved(site)
    assert html.index("von 2024") < html.rindex("make -j4") < html.index("Dann warten.")
    assert "its original has not changed" in site.run("update", "index.de.md")
