"""The JSON Schema of the options, for editors."""

from __future__ import annotations

import pytest
import yaml
from golden_file import cases
from jsonschema import Draft202012Validator

from mkdocs_contentgen.site.options import ContentgenConfig
from mkdocs_contentgen.site.options_schema import options_schema
from mkdocs_contentgen.writer.models.settings import WriterFields

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


def problems(text: str) -> list[str]:
    """Return what is wrong with a `mkdocs.yml`, as the path of each value."""
    validator = Draft202012Validator(options_schema())
    found = validator.iter_errors(yaml.safe_load(text))
    return ["/".join(map(str, error.absolute_path)) for error in found]


@pytest.mark.parametrize("text", CASES["what_is_right"])
def test_what_is_right(text: str) -> None:
    """Nothing is flagged, neither of other plugins."""
    assert problems(text) == []


@pytest.mark.parametrize(("text", "place"), CASES["what_is_wrong"])
def test_what_is_wrong(text: str, place: str) -> None:
    """It is flagged where it stands."""
    assert problems(text) == [place]
