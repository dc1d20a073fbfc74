"""Which statements of a text a person has to check."""

from __future__ import annotations

import pytest
from growth import growth, seconds
from hypothesis import given, settings
from hypothesis import strategies as st

from mkdocs_contentgen.writer.statements import (
    find_names,
    find_quotations,
    find_statements,
    item_number,
)


def found(text: str, topic: str = "") -> list[str]:
    """Return the statements in a text."""
    return [text[start:end] for start, end in find_statements(text, topic)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("as Jane Smith said", "Jane Smith"),
        ("Jane Smith said so. John Miller did not.", "Jane Smith|John Miller"),
        ("The Acme Server starts. In Python the Acme Server stops.", "Acme Server|Acme Server"),
        ("In May it rains. The Server starts.", ""),
        (
            "by Ludwig van Beethoven and the University of Oxford",
            "Ludwig van Beethoven|University of Oxford",
        ),
        ("mit Frau Müller aus Bad Säckingen", "Frau Müller|Bad Säckingen"),
        ("Die Stadt baut. Der neue Server läuft auf dem Rechner.", ""),
        ("a single Name, JSON and HTML, an API", ""),
        ("the Known Server and the Other Server", "Other Server"),
        ("O'Brien McDonald-Smith met Éva Ősz", "O'Brien McDonald-Smith"),
        ("la fille d’Anne Martin, l’ex-Ministre Jean Petit", "Anne Martin|Ministre Jean Petit"),
        ("Messen Sie zuerst. Jedes Plugin bremst, auch in Bad Säckingen.", "Bad Säckingen"),
        ("A-A-A-A Jane, a-A-A Smith", "A-A-A-A Jane|A-A Smith"),
    ],
)
def test_names_are_found(text: str, names: str) -> None:
    """Several words with capital letters are a name, unless one of them only begins a sentence."""
    spans = find_names(text, "Topic.\nThe Known Server does it.")
    assert "|".join(text[start:end] for start, end in spans) == names


@pytest.mark.parametrize("piece", ["A-", "a-A-", "A’--", "A ", "Ab-"])
def test_names_are_found_in_linear_time(piece: str) -> None:
    """A long chain of capital letters is tried once, and not from each letter again."""
    text = piece * (2**17 // len(piece))
    assert seconds(lambda: find_names(text, ""), times=1) < 1


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("about 5 % of it, or 3.5 million euros", "5 %|3.5 million euros"),
        ("$20, €3.50, 30 USD and 1,000.50 £", "$20|€3.50|30 USD|1,000.50 £"),
        ("10 Millionen Euro, 12,5 Prozent, 20 °C", "10 Millionen Euro|12,5 Prozent|20 °C"),
        ("in the 1990s and the 21st century", "1990s|21st"),
        ("8GB, 5 ms and 10x, after 3 days", "8GB|5 ms|10x|3 days"),
        ("pages 5–8, and 3/4 of 10\u00a0000", "5–8|3/4|10\u00a0000"),
        ("at 10:30, with Python 3.12", "10:30|3.12"),
        ("on 15 March 2024 and on May 3, 2021 in June 2020", "15 March 2024|May 3, 2021|June 2020"),
        ("am 15. März 2024, le 1er mai 2020", "15. März 2024|1er mai 2020"),
        ("el 3 de mayo de 2021, on 2024-03-15", "3 de mayo de 2021|2024-03-15"),
        ("在2024年3月15日增长了30%，共5万元。", "2024年3月15日|30%|5万元"),
        ("في عام ٢٠٢٤ بنسبة 30%", "٢٠٢٤|30%"),
        ("see https://a.example/b?c=1. Or www.a.example!", "https://a.example/b?c=1|www.a.example"),
        ("help@a.example, docs.example.com/x", "help@a.example|docs.example.com/x"),
        ("详见https://a.example/b，谢谢", "https://a.example/b"),
        ("It starts [not known: when it starts].", "[not known: when it starts]"),
        ("“a statement of five 5 words”, 6", "“a statement of five 5 words”|6"),
        ("„das sind aber vier Worte“ und «ce sont bien quatre mots»", None),
        ("他说：“缓存失效是最难的问题。”", "“缓存失效是最难的问题。”"),
        ("「これは引用された文章です」と", "「これは引用された文章です」"),
        ("he said ‘it isn’t the best of days’ there", "‘it isn’t the best of days’"),
        ('the "term 5" and then some more words "other"', "5"),
        ("»A« und dann noch mehr Worte und »B«", ""),
        ("utf-8, H2O, C++20, COVID-19, v2, x86, HTTP/2, 3D and Base64", ""),
        ("24/7, step 3 and Section 12, 第3步", ""),
        ("nothing [1] here", "1"),
        ("a $5bn deal, 10k users at 3pm", "$5bn|10k|3pm"),
        ("20pp, 10Mbps, 60fps and 100km/h", "20pp|10Mbps|60fps|100km/h"),
        ("in mid-2023 and the pre-1914 years, since early-1990s", "mid-2023|pre-1914|early-1990s"),
        ("”Vi har alltid varit här”, sade han, ”ja”", "”Vi har alltid varit här”"),
        ('„Wir waren immer schon hier" sagte er', '„Wir waren immer schon hier"'),
        ('5" and 7" screens', "5|7"),
    ],
)
def test_statements_are_found(text: str, statements: str | None) -> None:
    """Figures, dates, quotations, addresses and gaps are found, and nothing else."""
    expected = text.split(" und ") if statements is None else statements.split("|")
    assert found(text) == [part for part in expected if part]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("in 2025, for $5 million", "Firm pays $5 Million in 2025"),
        ("“We will rebuild it all”, they say", 'Mayor: "We will rebuild it all"'),
        ("2024年", "2024年的缓存"),
        ("see https://a.example/b", "What is https://a.example/b?"),
    ],
)
def test_what_the_topic_says_is_given(text: str, topic: str) -> None:
    """A statement of the topic is not to be checked."""
    assert found(text) != []
    assert found(text, topic) == []


def test_a_part_of_a_figure_is_not_given() -> None:
    """A figure that only begins like one of the topic is to be checked."""
    assert found("about 20 %", "Costs fall by 200 %") == ["20 %"]


def test_short_quotations_are_terms() -> None:
    """Quotation marks around fewer than four words mark a term."""
    assert find_quotations('"a term", "so many words here"', "") == ['"so many words here"']


@pytest.mark.parametrize(
    ("text", "quotation"),
    [
        ('"It is wonderful," says Jane Roe.', '"It is wonderful,"'),
        ("“Great!” she said. It was.", "“Great!”"),
        ("“It works,” the lead engineer of Acme explained.", "“It works,”"),
        ('Jane Roe said: "It works."', '"It works."'),
        ('As Jane Roe put it, she said, "we won".', '"we won"'),
        ("said Jane Roe of Acme. “We like it.”", "“We like it.”"),
        ("„Läuft ganz gut“, sagt Jo.", "„Läuft ganz gut“"),
        ("Jo Roe erklärte: „Es läuft.“", "„Es läuft.“"),
        ("« C’est bien », dit-elle.", "« C’est bien »"),
        ("Elle a dit : « C’est bien. »", "« C’est bien. »"),
        ("«Es genial», dice Ana.", "«Es genial»"),
        ("他说：“很好。”", "“很好。”"),
        ("“很好，”李明说。", "“很好，”"),
        ("「速いです」と述べた。", "「速いです」"),
    ],
)
def test_short_quotations_of_somebody(text: str, quotation: str) -> None:
    """Somebody who says it beside it makes a quotation of a few words."""
    assert found(text) == [quotation]
    assert found(text, f"Given: {quotation}") == []


@pytest.mark.parametrize(
    "text",
    [
        'The error "not found" says that a page is gone.',
        'Choose "fast," "slow," or "none," and build.',
        'Set it to "strict", which says what to check.',
        'Click "Save", then add "tags" to the page.',
        'They said that "caching" is hard. "Cache" is a term.',
        'It says so. "Cache" is a term.',
        "Die Option „schnell“ sagt, was gilt.",
        "Le mot « cache » dit tout.",
        "所谓“缓存”是指",
    ],
)
def test_terms_beside_a_verb_of_saying(text: str) -> None:
    """Without the punctuation of a quotation, it is a term."""
    assert found(text) == []


def test_short_quotations_in_linear_time() -> None:
    """Only a few words beside each quotation are looked at."""

    def make(size: int) -> str:
        return '"a," Jane ' * size + "Roe " * size

    assert growth(found, make, 4_000) < 3.2


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("3. Cache", "3"),
        ("3) Cache", "3"),
        ("Step 12: Cache", "12"),
        ("第3步：缓存", "3"),
        ("2、缓存", "2"),
        ("1️⃣ Cache", "1"),
        ("4 – Cache", "4"),
        ("10 caches", None),
        ("3.5 million", None),
        ("Use 3. Cache", "3"),
        ("Cache", None),
    ],
)
def test_the_number_of_an_item_is_found(heading: str, number: str | None) -> None:
    """The number at the start of a heading is that of an item or a step."""
    match = item_number(heading)
    assert (match[1] if match else None) == number


@settings(max_examples=200)
@given(st.text(alphabet="ab1 .,:/-$%“”\"'[]()@«»年é\n", max_size=80))
def test_statements_are_in_order_and_apart(text: str) -> None:
    """Ranges do not overlap, are not empty, and stand in their text."""
    end = 0
    for start, stop in find_statements(text, ""):
        assert end <= start < stop <= len(text)
        end = stop
