"""A translation has the structure of its original, and words that nobody trusts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from remarks import in_words, said

from mkdocs_contentgen.errors import EditError
from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.html.disclosure import Provenance
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.html.presentation import Presentation, present
from mkdocs_contentgen.service.protocol import (
    MAX_BLOCKS,
    OriginalBlock,
    Translated,
    TranslatedBlock,
    Translation,
)
from mkdocs_contentgen.text import Text
from mkdocs_contentgen.translation.first_translation import first_translation, plan_translation
from mkdocs_contentgen.translation.links_within import link_to_own_headings
from mkdocs_contentgen.translation.remembered import forms_of, read_remembered, short_digest_of

CODE = "\n".join(f"line {number}:  run --flag={number} < a > b" for number in range(200))
ROWS = "".join(f"<tr><td>Row {number}</td><td>{number} s</td></tr>" for number in range(60))
HTML = Document(
    f"""<article class="blog-post" lang="en"><h1>Fast builds</h1>
<p class="intro">A build takes <mark>4 seconds</mark> <a href="https://a.example/#s">[1]</a>.</p>
<h2>Why</h2><ul><li>One <code>mkdocs build</code></li><li><p>Two</p></li></ul>
<pre><code class="language-sh">{CODE.replace("<", "&lt;")}</code></pre>
<section lang="en">Loose words <h3>Deeper</h3> and more</section><hr>
<table><caption>Times</caption><thead><tr><th>What</th><th></th></tr></thead><tbody>{ROWS}</tbody></table>
<figure><img src="https://img.example/a.png" alt="A"><figcaption>A picture</figcaption></figure>
<dl><dt>Term</dt><dd>Meaning</dd></dl><blockquote><p>Quoted</p></blockquote>
<h2>Sources</h2><ol><li><a href="https://a.example/#s">Speed</a></li></ol></article>""",
    ["img.example"],
).to_lines()
MOMENT = datetime(2026, 11, 1, tzinfo=UTC)
ORIGINAL = Text(
    HTML,
    MOMENT,
    {"type": "blog", "topic": "Fast builds"},
    "m",
    {"https://a.example/#s": "1" * 64},
    remarks=in_words("length: 640 words for 900"),
    passages={"https://a.example/#s": "4 seconds"},
)


def translate(
    text: Callable[[OriginalBlock], str],
    *,
    original: Text = ORIGINAL,
    language: str = "de",
    is_draft: bool = False,
) -> Text:
    """Return the translation by a translator that answers each block with a text."""
    asked = plan_translation(original, language, "en")
    blocks = [TranslatedBlock(block.number, text(block)) for block in asked.blocks]
    return made(asked, Translated(blocks, model="t"), original=original, is_draft=is_draft)


def made(
    asked: Translation, answer: Translated, *, original: Text = ORIGINAL, is_draft: bool = False
) -> Text:
    """Return the translation that is made of an answer."""
    return first_translation(
        original,
        asked,
        answer,
        request={"type": "blog", "language": asked.language},
        generated_at=MOMENT,
        is_draft=is_draft,
    )


def in_upper_case(block: OriginalBlock) -> str:
    """Return a translation that has all parts: the words in capitals, code as it is."""
    parts = re.split(r"(`[^`]*`|\]\(\d+\)|⟦\d+⟧)", block.text)
    return "".join(part.upper() if index % 2 == 0 else part for index, part in enumerate(parts))


def test_what_is_asked() -> None:
    """All blocks with words, but neither code nor the list of sources."""
    asked = plan_translation(ORIGINAL, "de", "en")
    kinds = [(block.number, block.kind, block.text) for block in asked.blocks[:9]]
    assert kinds == [
        (0, "h1", "Fast builds"),
        (1, "p", "A build takes 4 seconds ⟦1⟧."),
        (2, "h2", "Why"),
        (3, "li", "One `mkdocs build`"),
        (4, "p", "Two"),
        (6, "text", "Loose words"),
        (7, "h3", "Deeper"),
        (8, "text", "and more"),
        (9, "caption", "Times"),
    ]
    assert [block.text for block in asked.blocks[-4:]] == ["A picture", "Term", "Meaning", "Quoted"]
    assert (asked.language, asked.from_language) == ("de", "en")


def test_only_words_differ() -> None:
    """Code, tables, links, pictures and the list of sources are those of the original."""
    text = translate(in_upper_case)
    expected = re.sub(
        r"(<pre>.*?</pre>|<code>.*?</code>|<h2>Sources.*|<[^>]*>|&lt;)|([^<&]+)",
        lambda part: part[1] or part[2].upper(),
        HTML.replace("<mark>", "").replace("</mark>", ""),
        flags=re.DOTALL,
    )
    expected = expected.replace(' lang="en"', ' lang="de"', 1).replace(' lang="en"', "")
    assert text.html == expected.replace("<h2>Sources", "<h2>Quellen")
    assert (text.model, said(text)) == ("t", ())
    assert (text.sources, text.passages) == (ORIGINAL.sources, ORIGINAL.passages)


def test_what_a_translation_remembers() -> None:
    """Each part of the original and of the translation, in pairs, and the whole original."""
    original = translate(in_upper_case).original
    assert original
    leaves = Document(HTML, ["img.example"]).leaves()
    pairs = read_remembered(original.blocks)
    assert [pair.form for pair in pairs] == forms_of(leaves)
    same = [
        leaf.kind
        for leaf, pair in zip(leaves, pairs, strict=True)
        if pair.own == short_digest_of(leaf)
    ]
    assert set(same) == {"pre", "hr", "th", "text", "li"}  # the picture is a loose text
    assert (original.digest, original.language, original.is_draft) == (sha256(HTML), "en", False)


def test_statements_to_check() -> None:
    """Those of the original are not those of the translation, which has its own."""
    text = translate(lambda block: block.text.replace("4 seconds", "==5 Sekunden=="))
    assert Document(text.html).statements() == ["5 Sekunden"]


def test_what_stays_is_found_behind_a_mark() -> None:
    """Where a person had to check a part of what stays, the translation keeps it, too."""
    html = "<article><h1>T</h1><p>Fast [<mark>3</mark>], \\(a = <mark>5</mark>\\).</p></article>"
    original = replace(ORIGINAL, html=Document(html).to_lines())
    text = translate(in_upper_case, original=original)
    assert (said(text), "FAST [3], \\(a = 5\\)." in text.html) == ((), True)


def test_links_within_a_translation_lead_to_its_headings() -> None:
    """They are the original's until a page shows the text, whatever a heading is called then."""
    link = '<a href="#why%20it-is">Why</a>, <a href="#other">other</a>'
    html = f"<article><h1>T</h1><h2>Why it is?</h2><p>See {link} or x.</p></article>"
    original = replace(ORIGINAL, html=Document(html).to_lines())
    words = {"Why it is?": "Warum ist das?"}
    text = translate(lambda block: words.get(block.text, block.text), original=original)
    assert 'href="#why%20it-is"' in text.html
    shown = link_to_own_headings(text, original)
    assert re.findall('href="([^"]*)"', shown) == ["#warumistdas", "#other"]
    edited = replace(text, html=text.html.replace("Warum ist das?", "理由 (1)"))
    shown = link_to_own_headings(edited, original)
    assert re.findall('href="([^"]*)"', shown) == ["#理由1", "#other"]
    assert link_to_own_headings(original, original) == original.html


def test_a_list_of_sources_in_a_language_that_is_not_known() -> None:
    """Its heading is asked for like others."""
    asked = plan_translation(ORIGINAL, "gsw", "en")
    assert asked.blocks[-1].text == "Sources"
    assert "<h2>SOURCES</h2>" in translate(in_upper_case, language="gsw").html


@pytest.mark.parametrize(
    ("language", "byline", "translated"),
    [
        ("de", "AI-generated", "KI-generiert"),
        ("ja", "KI-generiert", "AIによる生成"),
        ("de", "Ada", "ADA"),
        ("gsw", "AI-generated", "AI-GENERATED"),
    ],
)
def test_the_byline_of_a_news_report(language: str, byline: str, translated: str) -> None:
    """One that names no person is that of the language, if it is known, and is not asked for."""
    line = '<p class="byline">{} · <time datetime="2026-02-03">2026-02-03</time></p>'
    header = f"<header><h1>News</h1>{line.format(byline)}</header>"
    original = replace(ORIGINAL, html=f"<article>{header}<p>So it is.</p></article>")
    asked = plan_translation(original, language)
    is_asked = translated == byline.upper()
    assert any(byline in block.text for block in asked.blocks) is is_asked
    text = translate(in_upper_case, original=original, language=language)
    assert line.format(translated) in text.html
    assert said(text) == ()


def test_a_block_without_a_usable_translation() -> None:
    """It stays in the original's language with a remark that says why; the others do not."""
    answers = {"Why": "", "Two": "[Zwei](1)", "Deeper": "<h2>x</h2>"}
    text = translate(lambda block: answers.get(block.text, in_upper_case(block)))
    assert "<h2>Why</h2>" in text.html and "<p>Two</p>" in text.html
    assert "<h1>FAST BUILDS</h1>" in text.html
    assert said(text) == (
        "translation: 'Why' stays in the language of the original: "
        "the answer has no translation of it",
        "translation: 'Two' stays in the language of the original: […](1) is not in the original",
        "translation: 'Deeper' stays in the language of the original: "
        "<h2> begins another block; to write of it, write `<h2>`",
    )


def test_numbers_that_nobody_asked_for() -> None:
    """What is said of unknown blocks, code and sources is ignored, and so is what is said twice."""
    asked = plan_translation(ORIGINAL, "de", "en")
    good = [TranslatedBlock(block.number, in_upper_case(block)) for block in asked.blocks]
    bad = [TranslatedBlock(number, "Invented") for number in (0, 5, 99_999, -1)]
    last = max(block.number for block in asked.blocks)
    sources = [TranslatedBlock(last + number, "Invented") for number in (1, 2, 3)]
    text = made(asked, Translated([*good, *bad, *sources]))
    assert "Invented" not in text.html
    assert said(text) == (
        "translation: 'Fast builds' stays in the language of the original: "
        "the answer has two translations of it",
    )


def test_remarks_on_words_leave_room_for_those_on_blocks() -> None:
    """A text keeps 50 remarks; that a block has no translation is always among them."""
    asked = plan_translation(ORIGINAL, "de", "en")
    blocks = []
    for block in asked.blocks[:-1]:
        words = in_upper_case(block)
        blocks.append(TranslatedBlock(block.number, words, f"'{block.number}' is missing"))
    text = made(asked, Translated(blocks))
    assert len(said(text)) == 50
    assert "stays in the language of the original" in said(text)[0]


def test_the_remarks_of_a_translator() -> None:
    """They name the block; control characters of a hostile service do not reach a terminal."""
    asked = plan_translation(ORIGINAL, "de", "en")
    blocks = [TranslatedBlock(block.number, in_upper_case(block)) for block in asked.blocks]
    blocks[0] = TranslatedBlock(0, "Schnell", "'build' was not kept")
    blocks[2] = TranslatedBlock(2, "", "it was \x1b[2J refused")
    answer = Translated(blocks, in_words("translation: the whole \x07"), "model")
    text = made(asked, answer)
    assert said(text) == (
        "translation: 'Why' stays in the language of the original: it was \\x1b[2J refused",
        "translation: 'Schnell': 'build' was not kept",
        "translation: the whole \\x07",
    )
    assert text.model == "model"


def test_many_untranslated_blocks() -> None:
    """Twenty have remarks of their own, so that other remarks have room."""
    text = translate(lambda block: "")
    assert len(said(text)) == 21
    assert said(text)[-1] == ("translation: 115 more blocks without a usable translation")
    assert text.html.replace('lang="de"', 'lang="en"').count("Row 59") == 1


def test_a_draft_as_the_original() -> None:
    """Nobody vouches for it, which the translation says and remembers."""
    text = translate(in_upper_case, is_draft=True)
    assert said(text) == ("translation: the original is a draft that nobody has approved",)
    assert text.original and text.original.is_draft


@pytest.mark.parametrize(
    ("language", "direction", "words"),
    [
        ("ar", "rtl", "بناء سريع"),
        ("ja", "ltr", "高速なビルド"),
        ("de", "ltr", "Hochgeschwindigkeitsbau"),
    ],
)
def test_other_scripts(language: str, direction: str, words: str) -> None:
    """A page shows the text in its language and direction, and code from left to right."""
    text = translate(
        lambda block: block.text.replace("Fast builds", words).replace("Two", words),
        language=language,
    )
    assert f'lang="{language}"' in text.html and "dir=" not in text.html
    provenance = Provenance("blog", MOMENT, language=language)
    article, facts = present(text.html, provenance, Presentation())
    assert (article.get("lang"), article.get("dir"), facts.title) == (language, direction, words)
    code = article.find(".//pre")
    assert code is not None and code.get("dir", "ltr") == "ltr"


def test_a_translation_is_read_as_it_was_written() -> None:
    """Its HTML does not change when it is read and written again, so it can be compared."""
    for original in (ORIGINAL, replace(ORIGINAL, html=translate(in_upper_case).html)):
        text = translate(in_upper_case, original=original)
        assert Document(text.html, ["img.example"]).to_lines() == text.html


def test_a_translation_that_is_too_large() -> None:
    """A page could not show it, so it is none."""
    html = f"<article><h1>T</h1>{('<p>' + 'word ' * 700 + '</p>') * 60}</article>"
    with pytest.raises(EditError, match="cannot be shown: the HTML is too large"):
        translate(lambda block: f"{block.text} " * 4, original=replace(ORIGINAL, html=html))


def test_a_text_of_many_blocks() -> None:
    """More than a service takes are not sent, and stay as they are with a remark."""
    items = "".join(f"<li>Item {number}</li>" for number in range(MAX_BLOCKS + 5))
    html = f"<article><h1>T</h1><ul>{items}</ul></article>"
    original = replace(ORIGINAL, html=html)
    assert len(plan_translation(original, "de").blocks) == MAX_BLOCKS
    text = translate(lambda block: "", original=original)
    assert said(text)[-1] == ("translation: 1,986 more blocks without a usable translation")


def test_a_block_that_was_not_asked_for() -> None:
    """Its remark says why, although there is no answer."""
    html = "<article><h1>The sign ⟦</h1><p>One</p><p>Two</p></article>"
    asked = plan_translation(replace(ORIGINAL, html=html), "de")
    assert [block.text for block in asked.blocks] == ["One", "Two"]
    first = Translation("de", asked.blocks[:1])
    answer = Translated([TranslatedBlock(1, "Eins"), TranslatedBlock(2, "Zwei")])
    text = made(first, answer, original=replace(ORIGINAL, html=html))
    assert said(text) == (
        "translation: 'The sign ⟦' stays in the language of the original: "
        "it has `⟦`, which stands for something else here",
        "translation: 'Two' stays in the language of the original: "
        "at most 2,000 blocks are translated",
    )
    assert "<p>Eins</p>\n<p>Two</p>" in text.html


def test_a_long_text() -> None:
    """5,000 words in 300 blocks come back block for block."""
    paragraph = "The <strong>build</strong> of <code>docs</code> takes [x] 12 s, as measured. "
    html = f"<article><h1>T</h1>{f'<p>{paragraph * 2}</p>' * 300}</article>"
    text = translate(in_upper_case, original=replace(ORIGINAL, html=html))
    assert said(text) == ()
    assert text.html.count("<strong>BUILD</strong> OF <code>docs</code>") == 600
