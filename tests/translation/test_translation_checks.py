"""What the comparison of a translation with its original finds, and what it leaves alone.

The sentences are in `golden/writer/translations`: those of `en.yml` are translated in the other
files. `wrong` are changes that make a translation false, `missed` those that are not found, and
`noise` is what is said of a true one.
"""

from __future__ import annotations

import re
from functools import cache

import pytest
import yaml
from golden_file import GOLDEN, cases
from growth import LINEAR, growth

from mkdocs_contentgen.html.html_reader import read_content
from mkdocs_contentgen.service.protocol import OriginalBlock
from mkdocs_contentgen.translation.checks import (
    are_swapped,
    check,
    compare_block,
    element_of,
    is_of_another_block,
)
from mkdocs_contentgen.translation.compared_words import BlockText
from mkdocs_contentgen.translation.exchanged_words import exchanged_words
from mkdocs_contentgen.translation.translatable import read_translated, write_translated

FOLDER = GOLDEN / "writer" / "translations"
LANGUAGES = sorted(path.stem for path in FOLDER.glob("*.yml") if path.stem != "en")
MARK = re.compile("==.+?==")
CHANGES = cases("translation_changes")["changes"]
TRUE = cases("true_translations")["translations"]


@cache
def sentences(language: str) -> dict[str, dict[str, list[str]]]:
    """Return the sentences of a language by their names."""
    found: dict[str, dict[str, list[str]]] = yaml.safe_load(
        (FOLDER / f"{language}.yml").read_text(encoding="utf-8")
    )
    return found


def checked(
    original: str, text: str, language: str = "de", from_language: str = "en", kind: str = "p"
) -> tuple[str, str]:
    """Return a translation with marks, and its remark."""
    element = read_translated(text, original)
    block = OriginalBlock(0, kind, original)
    remark = check(element, element_of(block), language, from_language)
    return write_translated(element), remark


def noise(original: str, text: str, language: str) -> str:
    """Return the marks of a translation, and its remark."""
    marked, remark = checked(original, text, language)
    return "; ".join([*MARK.findall(marked), *([remark] if remark else [])])


@pytest.mark.parametrize("language", LANGUAGES)
def test_true_translations_are_left_alone(language: str) -> None:
    """Figures, dates and names in the forms of another language are neither marked nor missed."""
    originals = sentences("en")
    for name, row in sentences(language).items():
        assert noise(str(originals[name]), str(row["text"]), language) == row.get("noise", "")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["wrong", "missed"])
def test_false_translations_are_found(language: str, kind: str) -> None:
    """A changed figure, unit, date, name, address or negation is marked, or has a remark."""
    originals = sentences("en")
    found: list[str] = []
    missed: list[str] = []
    for name, row in sentences(language).items():
        for change in row.get(kind, []):
            right, wrong = change.split("→")
            text = str(row["text"]).replace(right.strip(), wrong.strip(), 1)
            said = noise(str(originals[name]), text, language)
            is_found = said != row.get("noise", "")
            (found if is_found else missed).append(f"{name}: {change}")
    assert not (missed if kind == "wrong" else found)


@pytest.mark.parametrize(("language", "original", "text", "change"), CHANGES)
def test_a_change_that_makes_a_translation_false(
    language: str, original: str, text: str, change: str
) -> None:
    """A designation, a sign, a colour, or a figure in another script is found."""
    right, wrong = change.split(" → ")
    assert noise(original, text, language) == ""
    assert noise(original, text.replace(right, wrong, 1), language) != ""


@pytest.mark.parametrize(
    ("original", "right", "wrong"),
    [
        (
            "The first build takes 5 minutes. The next one takes 9 seconds.",
            "Der erste Build dauert 5 Minuten. Der nächste dauert 9 Sekunden.",
            "Der nächste dauert 9 Sekunden. Der erste Build dauert 5 Minuten.",
        ),
        (
            "Plan A has 5 pages. Plan B has 9 pages.",
            "Plan A hat 5 Seiten. Plan B hat 9 Seiten.",
            "Plan A hat 9 Seiten. Plan B hat 5 Seiten.",
        ),
        (
            "Run `build` to make it. Run `serve` to see it.",
            "Mit `build` entsteht es. Mit `serve` sieht man es.",
            "Mit `serve` entsteht es. Mit `build` sieht man es.",
        ),
        (
            "The server writes the protocol. The client reads a message.",
            "Der Server schreibt das Protokoll. Der Client liest eine Meldung.",
            "Der Client liest eine Meldung. Der Server schreibt das Protokoll.",
        ),
    ],
)
def test_sentences_that_have_changed_places(original: str, right: str, wrong: str) -> None:
    """A block that has all of its original is wrong if figures or words are elsewhere in it."""
    assert "each other's sentence" not in checked(original, right)[1]
    assert "each other's sentence" in checked(original, wrong)[1]


@pytest.mark.parametrize(
    ("original", "text", "other", "other_text", "expected"),
    [
        (  # one word each is theirs
            "A format is used everywhere.",
            "Ein Editor gehört zu jedem Haus.",
            "An editor is part of each house.",
            "Das Format nutzen sehr viele Leute.",
            True,
        ),
        (  # a block of four words
            "A format is used.",
            "Ein Editor gehört dazu.",
            "An editor is part of each house.",
            "Das Format nutzen sehr viele Leute.",
            False,
        ),
        (  # both words are of one block
            "A format and a standard are used here.",
            "Ein Teil jedes Hauses ist grün gestrichen.",
            "A part of each house is painted green.",
            "Ein Format und ein Standard werden genutzt.",
            False,
        ),
        (  # the plugin is where it should be, against four other words
            "A plugin reads a format, a standard and a terminal.",
            "Ein Plugin liest den Editor in jedem Haus sofort.",
            "An editor in each house is read by a browser.",
            "Ein Format, ein Standard und ein Terminal sind da.",
            False,
        ),
        (  # against five
            "A plugin reads a format, a standard and a terminal.",
            "Ein Plugin liest den Editor in einem Browser aus.",
            "An editor in each house is read by a browser.",
            "Ein Format, ein Standard und ein Terminal sind da.",
            True,
        ),
        (  # one word is theirs, and the lengths are each other's
            "A format is a rule that all who write it and all who read it have to know well.",
            "Das ist der kleine Laden dort gegenüber.",
            "An editor is what they open first each day.",
            "Ein Format nennt man eine Regel, die alle, die es schreiben oder lesen, gut kennen.",
            True,
        ),
        (  # one word is theirs, and the lengths are their own
            "An editor is what they open first each day.",
            "Das ist der kleine Laden dort gegenüber.",
            "A format is a rule that all who write it and all who read it have to know well.",
            "Den Editor nennt man so, weil darin alle, die etwas schreiben, gern viel arbeiten.",
            False,
        ),
    ],
)
def test_how_many_words_say_that_two_blocks_are_swapped(
    original: str, text: str, other: str, other_text: str, *, expected: bool
) -> None:
    """Each block has a word of the other, and each word in its place outweighs three of them."""
    block = OriginalBlock(0, "p", original)
    other_block = OriginalBlock(1, "p", other)
    element = read_translated(text, original)
    other_element = read_translated(other_text, other)
    assert are_swapped(block, element, other_block, other_element) is expected


def test_citations_are_no_figures() -> None:
    """Their numbers state nothing, with an address or without one."""
    original = read_content('Fast [7] <a href="https://a.example">[8]</a>.')
    translation = read_content("Schnell [9].")
    assert check(translation, original, "de", "en") == ""
    assert not translation.find("mark")


@pytest.mark.parametrize(
    ("original", "text", "marked"),
    [
        ("It takes **5 minutes**.", "Es dauert **6 Minuten**.", "Es dauert **==6 Minuten==**."),
        ("See [5 pages](1).", "Siehe [6 Seiten](1).", "Siehe [==6== Seiten](1)."),
        ("Run `wait 5` for ⟦1⟧.", "Für ⟦1⟧ `wait 5` und 7.", "Für ⟦1⟧ `wait 5` und ==7==."),
        ("A page.", "Eine Seite auf www.evil.example.", "Eine Seite auf ==www.evil.example==."),
        ("A page.", "Eine Seite auf evil.com.", "Eine Seite auf ==evil.com==."),
        ("A page.", "Eine &lt;b onclick=x&gt; Seite.", r"Eine ==\<b onclick=x>== Seite."),
        ("A page.", "Seite javascript:alert(1)", "Seite ==javascript:alert(1)=="),
    ],
)
def test_what_only_the_translation_says_is_marked(original: str, text: str, marked: str) -> None:
    """The mark is around that alone, and code and parts that stay have none."""
    assert checked(original, text)[0] == marked


@pytest.mark.parametrize(
    ("original", "text", "remark"),
    [
        ("It takes 5 minutes.", "Es dauert etwas.", "'5 minutes' of the original is missing"),
        ("See example.com/a_b_c.", "Siehe dort.", "'a_b_c' of the original is missing"),
        ("It is safe.", "Es ist nicht sicher.", "it has a negation that the original has not"),
        ("words " * 30, "Wörter", "it is less than a third as long as the original"),
        ("Short.", "Das ist lang. " * 20, "it is more than three times as long as the original"),
    ],
)
def test_what_cannot_be_marked_is_the_remark(original: str, text: str, remark: str) -> None:
    """What only the original has, a negation, and an absurd length are said of the block."""
    assert remark in checked(original, text)[1]


@pytest.mark.parametrize(
    ("language", "original", "text"),
    [
        ("fr", "See [Return a File](1) now.", "Voir maintenant [Renvoyer un fichier](1)."),
        ("fr", "As in [Many Pages](1).", "Comme dans [Plusieurs Pages](1)."),
        ("fr", "`size` - A number.", "`size` - Un nombre."),
        ("fr", "🚨 Keep this.", "🚨 Gardez cela."),
        ("es", 'It says "Wrong name" then.', 'Dice entonces "Nombre incorrecto".'),
        ("es", "So, in a hurry?", "Entonces, ¿Con prisa?"),
        ("es", "However, it works.", "Sin embargo, funciona."),
        ("fr", "It starts a second process.", "Il lance un autre processus."),
        ("pt", "On Unix-like systems.", "Em sistemas tipo Unix."),
        ("de", "The API docs are new.", "Die API-Dokumentation ist neu."),
        ("de", "The response says more.", "Die Response Folgendes sagt mehr."),
        ("de", "With the help of an LLM.", "Mit LLM Unterstützung."),
        ("tr", "Open the Acme Cloud now.", "Acme Cloud'da bekle."),
        ("ja", "You have to wait.", "待たなければなりません。"),
        ("ja", "It may be slow.", "遅れるかもしれません。"),
        ("ja", "If it does not start, wait.", "起動しなければ、待ちます。"),
        ("ja", "It is not only fast but small.", "速いだけでなく小さいです。"),
        ("ko", "It is not a page.", "페이지가 아닙니다."),
        ("ko", "Wait, or you lose it.", "기다리세요. 그렇지 않으면 잃습니다."),
        ("ru", "See No. 5 in it.", "См. № 5 в нём."),
        ("ja", "It gets that as a prop.", "props として受け取ります。"),
        ("ko", "Read about JavaScript now.", "이제 자바스크립트에 대해 읽으세요."),
        ("es", "Read about JavaScript now.", "Lee ahora sobre Javascript."),
        ("pl", "It takes 5 days.", "Trwa to 5 dni."),
        ("hi", "It takes 5 days.", "इसमें ५ दिन लगते हैं।"),
        ("tr", "About 5% are here.", "%5’i burada."),
        ("de", "Press Ctrl+C to stop it.", "Drücke Strg+C, um es zu stoppen."),
        ("de", "Many MP3s need Python3, v1.2.", "Viele MP3 brauchen Python 3, Version 1.2."),
        ("fr", "In Q3, it grew.", "Au T3, il a augmenté."),
        ("fr", "It does--as before--what it can.", "Il fait, comme avant, ce qu’il peut."),
        ("zh", "It reads from different pages.", "它从不同的页面读取。"),
        ("ja", "You may use it in any order.", "どの順番で使っても構いません。"),
        ("ja", "It is fast enough.", "十分に速いです。"),
        ("es", "It says whether it is there.", "Dice si está o no."),
        ("de", "At -5 °C, it is 3–5 cm.", "Bei minus 5 °C sind es 3–5 cm."),
        ("de", "You must not use more.", "Du kannst weniger nehmen, aber nicht mehr."),
        ("pl", "Many readers are in Germany now.", "Teraz wielu czytelników ma Niemcy."),
        ("sv", "The sun rises here.", "Här går Solen upp."),
    ],
)
def test_a_good_translation_has_no_remark(language: str, original: str, text: str) -> None:
    """Titles of pages, compounds, quotes, and words that only look like a name or a negation."""
    assert noise(original, text, language) == ""


@pytest.mark.parametrize("case", TRUE, ids=lambda case: f"{case[0]}-{case[2]}")
def test_what_is_said_of_true_translations(case: list[str]) -> None:
    """What people write in other words than the checks know has no remark."""
    language, from_language, original, text = case[:4]
    marked, remark = checked(original, text, language, from_language)
    assert "; ".join([*MARK.findall(marked), remark]).strip("; ") == "".join(case[4:])


def read_and_checked(original: str, text: str, language: str) -> tuple[list[str], str]:
    """Return the marks of a person's translation in HTML, and its remark."""
    element = read_content(text)
    remark = check(element, read_content(original), language, "en")
    return [mark.get_text() for mark in element.find_all("mark")], remark


def test_words_beside_a_line_break() -> None:
    """They are two words, and what is marked behind a break is what is meant."""
    original = "It is new.<br>Read <b>on</b><br>now."
    text = "Es ist neu.<br>Lies<br>jetzt<br>am 5. Mai weiter."
    assert read_and_checked(original, text, "de") == (["5. Mai"], "")
    assert read_and_checked("It has MAX_AGE<br>here.", "Da ist MAX_AGE<br>nun.", "de") == ([], "")


@pytest.mark.parametrize(
    ("original", "text"),
    [
        ("Start it with <code>--zjit</code>.", "--zjit で起動します。"),
        ("An ArgumentError is raised in v1.5-rc1.", "<code>ArgumentError</code> は v1.5-rc1。"),
        ("Share <code>Proc</code> objects.", "Proc を共有します。"),
        ('See <a href="https://a.example/x">this</a>.', "https://a.example/x を見ます。"),
    ],
)
def test_code_and_addresses_vouch_for_words(original: str, text: str) -> None:
    """What the original has as code or as an address, a translation can have in its words."""
    assert read_and_checked(original, text, "ja") == ([], "")


def test_a_translated_title_is_that_of_its_block() -> None:
    """What a link is called says nothing of which block a translation belongs to."""
    block = OriginalBlock(0, "p", "You can read more in [Return a File](1) there.")
    other = OriginalBlock(1, "p", "You can wait a little [there](1).")
    element = read_translated("Vous pouvez lire plus dans [Renvoyer un fichier](1).", block.text)
    assert not is_of_another_block(element, block, [other], "fr", "en")


@pytest.mark.parametrize(
    ("other", "expected"),
    [("It needs 7 days.", True), ("It needs 7 days or 9 hours.", False), ("It is new.", False)],
)
def test_the_words_of_another_block(other: str, expected: bool) -> None:
    """They are those of a block from which nothing is missing, and to which nothing is added."""
    block = OriginalBlock(0, "p", "It costs 5 EUR.")
    element = read_translated("Es braucht 7 Tage.", block.text)
    others = [OriginalBlock(1, "p", other)]
    assert is_of_another_block(element, block, others, "de", "en") is expected


def test_chinese_is_shorter() -> None:
    """A text in Chinese has a third of the characters, and is as long."""
    original = "The server keeps what it has written, so that no text is paid for twice. " * 3
    assert (
        checked(original, "服务器会保留已写入的内容，因此不会为任何文本重复付费。" * 3, "zh")[1]
        == ""
    )


@pytest.mark.parametrize(
    ("original", "text"),
    [
        ("It uses GitHub Actions in Berlin.", "Es nutzt GitHub-Actions-Abläufe in Berlin."),
        ("The pages of GitHub are fast.", "GitHubs Seiten sind schnell."),
        ("The Oxford study took 3 days.", "Die Oxfordstudie dauerte drei Tage."),
        ("Open the Settings page.", "Öffnen Sie die Seite der Einstellungen."),
        ("Click Save in the Settings menu of Docker.", "Klicken Sie im Menü von Docker auf OK."),
    ],
)
def test_german_compounds_and_nouns(original: str, text: str) -> None:
    """A name is kept within a compound, and a noun with a capital letter is no name."""
    assert checked(original, text)[0] == text
    assert "Actions" not in checked(original, text)[1]


def test_german_names() -> None:
    """A name that is invented, or partly another one, is marked."""
    assert "==Peter Müller==" in checked("He said so.", "Er sagte es Peter Müller.")[0]
    original = "It is by Jane Smith."
    assert "==Jane Miller==" in checked(original, "Es ist von Jane Miller.")[0]


def test_places_that_are_missing() -> None:
    """Their messages always have the same order."""
    _, remark = checked("She went from England to France then.", "Sie reiste dann weiter.")
    assert remark == ("'France' of the original is missing; 'England' of the original is missing")


def test_a_block_has_few_marks() -> None:
    """So many that it could not be read any more are left out."""
    original = "A list of many numbers. " * 20
    marked, remark = checked(original, "Zahlen " + ", ".join(str(n) for n in range(1000, 1200)))
    assert len(MARK.findall(marked)) == 100
    assert len(remark) <= 250


def test_a_language_without_a_table() -> None:
    """Only what is written in figures and letter for letter is compared then."""
    original = "On March 5, five teams had 1,000 pages at https://example.com/a."
    text = "Dne 5. března mělo pět týmů na https://example.com/a 1.000 stránek."
    assert checked(original, text, "cs") == (text, "")
    wrong = text.replace("1.000", "2.000")
    assert checked(original, wrong, "cs") == (
        wrong.replace("2.000", "==2.000=="),
        "'1,000' of the original is missing",
    )


def test_other_originals() -> None:
    """A German original is compared with its translation into English."""
    original = "Laut Maria Lopez kostet es am 5. März um 17 Uhr 1.200,50 €."
    text = "According to Maria Lopez, it costs €1,200.50 at 5 pm on March 5."
    assert checked(original, text, "en", "de") == (text, "")
    marked, _ = checked(original, text.replace("Lopez", "Gomez"), "en", "de")
    assert "==Maria Gomez==" in marked


@pytest.mark.parametrize(
    "piece",
    "17 |Ab Cd |x GitHub|per day |Berlin |not; |SHA-256 |Ab1.2-|AB-|-5 |must; |Ab 7. ".split("|"),
)
def test_comparing_takes_linear_time(piece: str) -> None:
    """No block takes long, whatever its translation is."""

    def compare_with(text: str) -> None:
        other = "Word nine " * (len(text) // 10)
        for pair in ((text, text), (other, text), (text, other)):
            compare_block(BlockText(*pair, "en", "de"))
            exchanged_words(BlockText(*pair, "en", "de"))

    assert growth(compare_with, lambda size: piece * (size // len(piece)), 2_000) < LINEAR


def test_a_long_word_is_compared_in_linear_time() -> None:
    """A word that is far longer than any name of a place is not tried at each of its lengths."""

    def compare_word(word: str) -> None:
        compare_block(BlockText(word, word, "en", "de"))

    assert growth(compare_word, lambda size: "İ" * size, 16_000) < LINEAR
