"""What data among the sources say."""

from __future__ import annotations

from growth import LINEAR, growth

from mkdocs_contentgen.writer.marks.data_facts import read_facts, words_of_key


def test_keys_of_json_and_yaml_and_tables() -> None:
    """Each key has its path, its value, and the name of what it stands in."""
    given = (
        'Some words.\n{"name": "A", "on": {"WiFi": "no", "list": [{"name": "b", "x": 1}]}}\n\n'
        "cache:\n  ttl: 3600  # seconds\nport: 80\n\n"
        "| name | size |\n|---|---|\n| `c` | 5 |\n"
    )
    found = [(fact.path, fact.name, fact.value) for fact in read_facts(given)]
    assert found == [
        (("name",), "A", "A"),
        (("on", "WiFi"), "", "no"),
        (("on", "list", "name"), "b", "b"),
        (("on", "list", "x"), "b", "1"),
        (("cache", "ttl"), "", "3600"),
        (("port",), "", "80"),
        (("c", "size"), "c", "5"),
    ]


def test_words_of_a_key() -> None:
    """Words are told apart by capitals, hyphens and underscores."""
    assert words_of_key("OutdoorSeating_now") == ("outdoor", "seating", "now")
    assert words_of_key("WiFi") == ("wifi",)


def test_facts_in_linear_time() -> None:
    """One long line of JSON is scanned once, and so are keys that are never closed."""
    assert growth(lambda text: read_facts(text), '{"a": {"b": [1, '.__mul__, 4_000) < LINEAR
    assert growth(lambda text: read_facts(text), "a: b\n".__mul__, 8_000) < LINEAR
