"""The JSON Schema of the options, for editors."""

from __future__ import annotations

import pytest
import yaml
from golden_file import cases
from jsonschema import Draft202012Validator

from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.site.options_schema import options_schema
from mkdocs_contentgen.writer.settings import WriterFields

CASES = cases("options_schema")


def test_every_option_is_described() -> None:
    """Each has its text from where it is declared, with its default."""
    schemas = options_schema()["$defs"]
    properties = schemas["options"]["properties"]  # type: ignore[index]  # JSON
    writer = schemas["WriterFields"]["properties"]  # type: ignore[index]  # JSON
    assert set(properties) == set(dict(ContentgenConfig._schema))
    assert set(writer) == set(WriterFields.__struct_fields__)
    for name, schema in {**properties, **writer}.items():
        assert schema["description"].strip(), name
        assert "efault" in schema["description"] or name in ("parameters",), name


WRITER, DEFAULTS = "plugins/0/contentgen/writer", "plugins/0/contentgen/defaults"


def problems(text: str) -> list[str]:
    """Return what is wrong with a `mkdocs.yml`, as the path of each value."""
    validator = Draft202012Validator(options_schema())
    found = validator.iter_errors(yaml.safe_load(text))
    return ["/".join(map(str, error.absolute_path)) for error in found]


@pytest.mark.parametrize("text", CASES["what_is_right"])
def test_what_is_right(text: str) -> None:
    """Nothing is flagged, neither of other plugins."""
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("plugins: [{contentgen: {stiles: keep}}]", "plugins/0/contentgen"),
        ("plugins: [{contentgen: {styles: kep}}]", "plugins/0/contentgen/styles"),
        ("plugins: [{contentgen: {max_age: soon}}]", "plugins/0/contentgen/max_age"),
        ("plugins: [{contentgen: {retries: -1}}]", "plugins/0/contentgen/retries"),
        ("plugins: [{contentgen: {timeout: 0}}]", "plugins/0/contentgen/timeout"),
        ("plugins: [{contentgen: {image_hosts: }}]", "plugins/0/contentgen/image_hosts"),
        ("plugins: [{contentgen: {writer: {modle: m}}}]", "plugins/0/contentgen/writer"),
        ("plugins: [{contentgen: {writer: {price: {input: 1}}}}]", f"{WRITER}/price"),
        ("plugins: [{contentgen: {defaults: {length: tiny}}}]", f"{DEFAULTS}/length"),
        ("plugins: [{contentgen: {defaults: {blog: {topic: x}}}}]", f"{DEFAULTS}/blog"),
        ("plugins: {contentgen: {styles: kep}}", "plugins/contentgen/styles"),
    ],
)
def test_what_is_wrong(text: str, place: str) -> None:
    """It is flagged where it stands."""
    assert problems(text) == [place]
