"""A person's translation is aligned with its original, and what cannot be aligned is said."""

from __future__ import annotations

from edited_translations import HOSTS, TODAY, imported_from, text_of, translated, update
from msgspec.structs import replace
from remarks import HasRemarks, said

from mkdocs_contentgen.files import sha256
from mkdocs_contentgen.html.document import Document
from mkdocs_contentgen.text import Edits, Text
from mkdocs_contentgen.translation.comparing import ComparedTranslation
from mkdocs_contentgen.translation.first_translation import count_changes
from mkdocs_contentgen.translation.imported_translation import (
    ImportedTranslation,
)
from mkdocs_contentgen.translation.remembered import read_remembered, short_digest_of
from mkdocs_contentgen.translation.updated_translation import (
    apply_translation_update,
    plan_translation_update,
)

ROWS = "".join(f"<tr><td>Row number {number}</td><td>{number} s</td></tr>" for number in range(60))
ORIGINAL = text_of(f"""<article lang="en"><h1>Fast builds</h1><p>A build of MkDocs takes 12 s.</p>
<h2>Why it is slow</h2><p>It reads <a href="https://a.example/x">each page</a> twice.</p>
<ul><li>The first reason is Python</li><li>The second is 5 GB of pictures</li></ul>
<pre><code>mkdocs build --strict</code></pre><h2>What helps</h2><p>A cache, since version 1.6.</p>
<table><tbody>{ROWS}</tbody></table><p>Read on.</p></article>""")
OWN_ROW = "<tr><td>Zeile Nummer 7</td><td>7 s</td></tr>"
OWN_ROWS = ROWS.replace("Row number", "Zeile Nummer")
OWN = text_of(f"""<article lang="de"><h1>Schnelles Bauen</h1><p>Ein Bau mit MkDocs dauert 12 s.</p>
<h2>Warum das lange dauert</h2><p>Er liest <a href="https://a.example/x">jede Seite</a> zweimal.</p>
<ul><li>Der erste Grund ist Python</li><li>Der zweite sind 5 GB an Bildern</li></ul>
<pre><code>mkdocs build --strict</code></pre><h2>Was hilft</h2><p>Ein Cache, ab Version 1.6.</p>
<table><tbody>{OWN_ROWS}</tbody></table><p>Weiterlesen.</p></article>""")


def aligned(html: str, original: Text = ORIGINAL) -> tuple[ImportedTranslation, dict[str, str]]:
    """Return the alignment, and the words of each block of the original with those of its own."""
    html = Document(html, HOSTS).to_lines()
    found = imported_from(original, html, language="en")
    own = {short_digest_of(leaf): leaf.text for leaf in Document(html, HOSTS).leaves()}
    texts = [leaf.text for leaf in Document(original.html, HOSTS).leaves()]
    pairs = zip(texts, read_remembered(found.original.blocks), strict=True)
    return found, {text: own.get(leaf.own, "") for text, leaf in pairs}


def test_a_whole_translation() -> None:
    """Each block stands for one, and the translation remembers them."""
    found, pairs = aligned(OWN.html)
    assert said_of_translation(found) == []
    assert (found.original.digest, found.original.language) == (sha256(ORIGINAL.html), "en")
    assert pairs["Fast builds"] == "Schnelles Bauen"
    assert pairs["Row number 31"] == "Zeile Nummer 31"
    assert pairs["Read on."] == "Weiterlesen."


def test_a_part_that_is_missing() -> None:
    """Blocks that have no translation, or stand for nothing, are named; the others are found."""
    html = OWN.html.replace("<p>Ein Bau mit MkDocs dauert 12 s.</p>", "")
    html = html.replace("<li>Der erste Grund ist Python</li>", "")
    html = html.replace("<tr><td>Zeile Nummer 7</td><td>7 s</td></tr>", "")
    html = html.replace("<p>Weiterlesen.</p>", "<p>Weiterlesen.</p><p>Übersetzt von Ann.</p>")
    found, pairs = aligned(html)
    assert said_of_translation(found) == [
        "the original's 'A build of MkDocs takes 12 s.' has no translation",
        "the original's 'The first reason is Python' has no translation",
        "the original's 'Row number 7' has no translation",
        "the original's '7 s' has no translation",
        "'Übersetzt von Ann.' stands for nothing in the original",
    ]
    assert pairs["The second is 5 GB of pictures"] == "Der zweite sind 5 GB an Bildern"
    assert pairs["Row number 8"] == "Zeile Nummer 8"
    assert pairs["A cache, since version 1.6."] == "Ein Cache, ab Version 1.6."


def test_a_translation_in_another_form() -> None:
    """Code and links that are not those of the original are named, and so are many blocks."""
    html = OWN.html.replace("--strict", "--streng").replace(
        "https://a.example/x", "https://b.example/"
    )
    found, _ = aligned(html)
    assert said_of_translation(found) == [
        "'Er liest jede Seite zweimal.' lacks https://a.example/x of the original",
        "the code 'mkdocs build --streng' is not that of the original",
    ]
    cited = text_of(ORIGINAL.html.replace("version 1.6", "version 1.6 [4] [5]"))
    found, _ = aligned(OWN.html.replace("Version 1.6", "Version 1.6 [5]"), cited)
    assert said_of_translation(found) == [
        "'Ein Cache, ab Version 1.6 [5].' lacks [4] of the original"
    ]
    picture = '<figure><img src="https://img.example/a.png" alt="x"></figure><p>Read on.'
    shown = text_of(ORIGINAL.html.replace("<p>Read on.", picture))
    other = picture.replace("a.png", "b.png").replace("Read on", "Weiterlesen")
    found, _ = aligned(OWN.html.replace("<p>Weiterlesen.", other), shown)
    assert said_of_translation(found) == [
        "a picture lacks https://img.example/a.png of the original"
    ]
    found, _ = aligned("<article><h1>Kurz</h1></article>")
    assert said_of_translation(found)[4:] == [
        "the original's 'The second is 5 GB of pictures' has no translation",
        "124 more blocks of the original have no translation",
    ]


def test_many_blocks_that_stand_for_nothing() -> None:
    """Five of them are named, and the others counted."""
    added = "".join(f"<p>Zusatz {number}</p>" for number in range(7))
    found, _ = aligned(OWN.html.replace("<p>Weiterlesen.</p>", f"<p>Weiterlesen.</p>{added}"))
    assert said_of_translation(found)[4:] == [
        "'Zusatz 4' stands for nothing in the original",
        "2 more blocks stand for nothing in the original",
    ]


def test_updates_of_an_imported_translation() -> None:
    """What a person wrote stays, with a remark; what is new in the original is translated."""
    blocks = Document(OWN.html, HOSTS).blocks()
    own = replace(
        OWN,
        request={"type": "article", "language": "de"},
        written_by="Ann",
        edits=Edits(changed_by={block.digest: "Ann" for block in blocks}),
        original=imported_from(ORIGINAL, OWN.html, language="en").original,
    )
    html = ORIGINAL.html.replace("takes 12 s", "takes 9 s").replace("<p>Read", "<p>new</p><p>Read")
    after = update(own, text_of(html))
    assert after.html == OWN.html.replace("<p>Weiter", "<p>NEW</p>\n<p>Weiter")
    assert said(after) == (
        "translation: its original has changed: 'Ein Bau mit MkDocs dauert 12 s.'",
    )


def test_the_structure_of_an_import() -> None:
    """It is the original's at once, which is said, so that no update changes it."""
    html = OWN.html.replace("<h2>Was hilft</h2>", "<h3>Was hilft</h3>").replace("ul>", "ol>")
    own = html.replace("<p>Ein Cache", "<p>Dies ist von Ann.</p><hr><p>Ein Cache")
    found, _ = aligned(own)
    assert found.document.to_lines() == OWN.html.replace(
        "<p>Ein Cache", "<p>Dies ist von Ann.</p>\n<hr>\n<p>Ein Cache"
    )
    reason = "a translation has the levels and lists of its original"
    assert found.changes == [
        f"restored 'Der erste Grund ist Python': {reason}",
        f"restored 'Der zweite sind 5 GB an Bildern': {reason}",
        f"restored 'Was hilft': {reason}",
    ]
    translation = imported(own)
    assert update(translation, ORIGINAL).html == translation.html


def test_a_row_of_an_import_that_lacks_a_cell() -> None:
    """It stays a whole row, with the words of the original, which an update translates."""
    original = text_of(
        "<article><h1>Builds</h1><table><tr><td>first words</td><td>5</td><td>last words</td></tr>"
        "<tr><td>other words</td><td>6</td><td>more words</td></tr></table></article>"
    )
    own = imported(
        "<article><h1>Bauten</h1><table><tr><td>erste Worte</td><td>5</td></tr>"
        "<tr><td>andere Worte</td><td>6</td><td>mehr Worte</td></tr></table></article>",
        original,
    )
    assert "<tr><td>erste Worte</td><td>5</td><td>last words</td></tr>" in own.html
    assert said(own) == (
        "translation: 'last words' stays in the language of the original: "
        "its row has no words for it",
    )
    assert plan_translation_update(own, original) is None
    asked = plan_translation_update(own, original, repeats=True)
    assert asked
    assert [block.text for block in asked.blocks if not block.translation] == ["last words"]
    after = apply_translation_update(own, original, asked, translated(asked), TODAY, repeats=True)
    assert "<tr><td>erste Worte</td><td>5</td><td>LAST WORDS</td></tr>" in after.html
    assert said(after) == ()


def test_a_new_column_beside_a_row_that_an_import_lacks() -> None:
    """The row is asked for as a whole or not at all, and no cell of it stands alone."""
    rows = "<tr><td>cold words</td><td>5</td></tr><tr><td>warm words</td><td>6</td></tr>"
    original = text_of(f"<article><h1>Builds</h1><table>{rows}</table></article>")
    own_row = "<tr><td>kalte Worte</td><td>5</td></tr>"
    own = imported(f"<article><h1>Bauten</h1><table>{own_row}</table></article>", original)
    wider = original.html.replace("5</td>", "5</td><td>new</td>")
    changed = text_of(wider.replace("6</td>", "6</td><td>newer</td>"))
    asked = plan_translation_update(own, changed)
    assert asked
    assert [block.text for block in asked.blocks if not block.translation] == ["new"]
    after = update(own, changed)
    assert after.html.count("<tr>") == 1
    assert "<tr><td>kalte Worte</td><td>5</td><td>NEW</td></tr>" in after.html
    asked = plan_translation_update(after, changed, repeats=True)
    assert asked
    whole = apply_translation_update(after, changed, asked, translated(asked), TODAY, repeats=True)
    assert "<tr><td>WARM WORDS</td><td>6</td><td>NEWER</td></tr>" in whole.html


def without_a_paragraph() -> Text:
    """Return a person's translation that lacks a paragraph and a row, as it is imported."""
    html = OWN.html.replace("<p>Ein Bau mit MkDocs dauert 12 s.</p>", "")
    return imported(html.replace(OWN_ROW, ""))


def said_of_translation(found: HasRemarks) -> list[str]:
    """Return what remarks say, without what all of them are about."""
    return [sentence.removeprefix("translation: ") for sentence in said(found)]


def imported(html: str, original: Text = ORIGINAL) -> Text:
    """Return a translation by Ann, as it is imported."""
    lines = Document(html, HOSTS).to_lines()
    found = imported_from(original, lines, language="en")
    return replace(
        OWN,
        html=found.document.to_lines(),
        request={"type": "article", "language": "de"},
        remarks=tuple(found.remarks),
        edits=Edits(changed_by={block.digest: "Ann" for block in Document(lines, HOSTS).blocks()}),
        original=found.original,
    )


def test_code_in_a_sentence() -> None:
    """What a person changed or left out is named; without its formatting, it is there."""
    html = (
        "<article><h1>t</h1><p>Use <code>make -j4</code>, <code>f()</code> or <code>a</code>.</p>"
    )
    original = text_of(f"{html}</article>")
    for own, problems in (
        ("Nimm <code>a</code>, f() oder <code>make -j4</code>.", []),
        ("使用<code>a</code>或f()或<code>make -j4</code>。", []),
        ("Nimm <code>make -j8</code>, <code>f()</code> oder <code>a</code>.", ["`make -j4`"]),
        ("Nimm <code>make -j42</code> oder <code>ab</code>.", ["`make -j4`", "`f()`", "`a`"]),
    ):
        found, _ = aligned(f"<article><h1>t</h1><p>{own}</p></article>", original)
        assert [problem.split(" lacks ")[1] for problem in said_of_translation(found)] == [
            f"{code} of the original" for code in problems
        ]


def test_an_update_translates_what_an_import_lacks() -> None:
    """Only where a person asks for it; it stands where it does in the original, and all is said."""
    own = without_a_paragraph()
    assert len(said(own)) == 3
    assert own.original
    assert count_changes(own.original, ORIGINAL.html) == 0
    assert plan_translation_update(own, ORIGINAL) is None
    asked = plan_translation_update(own, ORIGINAL, repeats=True)
    after = apply_translation_update(own, ORIGINAL, asked, translated(asked), TODAY)
    assert after.html == OWN.html.replace(
        "Ein Bau mit MkDocs dauert 12 s.", "A BUILD OF MKDOCS TAKES 12 S."
    ).replace(OWN_ROW, "<tr><td>ROW NUMBER 7</td><td>7 S</td></tr>")
    assert said(after) == ()
    assert plan_translation_update(after, ORIGINAL, repeats=True) is None


PLAIN = """<p>It takes 12 s.</p>
<pre><code>make</code></pre>
<hr>
<table>
<tbody>
<tr><td>cold</td><td>12</td><td></td></tr>
<tr><td>3</td><td>warm</td><td></td></tr>
</tbody>
</table>
<figure>
<img alt="" loading="lazy" src="https://img.example/a.png">
</figure>
<p>Last words.</p>"""
OWN_PLAIN = """<article lang="de"><h1>Bauten</h1><p>Es dauert 12 s.</p><table><tbody>
<tr><td>kalt</td><td>12</td><td></td></tr></tbody></table><p>Letzte Worte.</p></article>"""


def test_an_update_brings_what_needs_no_words() -> None:
    """Code, pictures, lines and the other cells of a row stand there without a question."""
    original = text_of(f"<article><h1>Builds</h1>{PLAIN}</article>")
    own = imported(OWN_PLAIN, original)
    assert [remark.split("original's ")[1] for remark in said(own)] == [
        f"{name} has no translation" for name in ("'make'", "'3'", "'warm'", "picture")
    ]
    asked = plan_translation_update(own, original, repeats=True)
    assert asked
    assert [block.text for block in asked.blocks if not block.translation] == ["warm"]
    answer = translated(asked)
    after = apply_translation_update(own, original, asked, answer, TODAY, repeats=True)
    words = {"It takes": "Es dauert", "cold": "kalt", "warm": "WARM", "Last words": "Letzte Worte"}
    expected = PLAIN
    for word, own_word in words.items():
        expected = expected.replace(word, own_word)
    assert expected in after.html
    assert said(after) == ()
    assert not ComparedTranslation(after, original).lacks_what_needs_no_words()
    assert update(after, original).html == after.html
    fails = translated(asked, lambda: True)
    failed = apply_translation_update(own, original, asked, fails, TODAY, repeats=True)
    assert failed.html.count("<tr>") == 1
    assert "make" in failed.html
    assert said(failed) == said(own)[1:3]
    assert apply_translation_update(own, original, None, translated(None), TODAY).html == own.html


def test_what_a_translator_fails_at_is_still_missing() -> None:
    """The remark stays, and another update asks again."""
    own = without_a_paragraph()
    asked = plan_translation_update(own, ORIGINAL, repeats=True)
    after = apply_translation_update(own, ORIGINAL, asked, translated(asked, lambda: True), TODAY)
    assert (after.html, said(after)) == (own.html, said(own))
    assert plan_translation_update(after, ORIGINAL, repeats=True) == asked


def test_an_edited_block_is_not_what_was_missing_beside_it() -> None:
    """What was missing is looked for among what a person adds, after what that has changed."""
    own = without_a_paragraph()
    edited = replace(own, html=own.html.replace("Warum das lange dauert", "Wieso das dauert"))
    assert said(update(edited, ORIGINAL)) == said(own)
    changed = text_of(ORIGINAL.html.replace("Why it is slow", "Why it is so slow"))
    remarks = said(update(edited, changed))
    assert "translation: its original has changed: 'Wieso das dauert'" in remarks


def test_a_block_whose_original_is_gone_is_not_what_was_missing_beside_it() -> None:
    """A person's block stays one of its own, and the other one is still translated."""
    removed = "<h2>Why it is slow</h2><p>It reads each page.</p>"
    html = f"<article><h1>Builds</h1><p>It takes 12 s.</p>{removed}<pre>make</pre></article>"
    own = imported(
        "<article><h1>Bauten</h1><h2>Warum</h2><p>Er liest alles.</p><pre>make</pre></article>",
        text_of(html),
    )
    original = text_of(html.replace(removed, ""))
    after = update(own, original)
    gone = "translation: its original is gone: 'Er liest alles.'"
    assert set(said(after)) > {*said(own), gone}
    changed = text_of(original.html.replace("12 s", "9 s"))
    for now, words in ((original, "12 s"), (changed, "9 s")):
        second = update(after, now)
        assert set(said(second)) >= {gone, said(own)[0].replace("12 s", words)}
        asked = plan_translation_update(second, now, repeats=True)
        assert asked
        missing = [block.text for block in asked.blocks if not block.translation]
        assert missing == [f"It takes {words}."]
        third = apply_translation_update(second, now, asked, translated(asked), TODAY)
        assert f"IT TAKES {words.upper()}." in third.html
        assert "Er liest alles." in third.html and gone in said(third)


def test_a_long_import() -> None:
    """Hundreds of blocks without headings are aligned in their order."""
    words = "".join(f"<p>The text number {number} of Ann is here.</p>" for number in range(250))
    original = text_of(f"<article><h1>T</h1>{words}</article>")
    html = original.html.replace("<p>The text number 17 of Ann is here.</p>", "")
    found, pairs = aligned(html.replace("The text", "Der Text"), original)
    assert said_of_translation(found) == [
        "the original's 'The text number 17 of Ann is here.' has no translation"
    ]
    assert pairs["The text number 200 of Ann is here."] == "Der Text number 200 of Ann is here."
