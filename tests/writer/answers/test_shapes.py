"""What becomes of answers as real models give them. The cases are in `golden/writer/shapes`."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_file import expect
from shapes import families, results


@pytest.mark.parametrize("path", families(), ids=lambda path: path.stem)
def test_family(path: Path) -> None:
    """Each case becomes what a person expects of it, byte for byte as it was before."""
    found = results(path)
    assert [case.name for case, result in found if not result.is_as(case)] == []
    expect("".join(f"{case.source}{result}\n" for case, result in found), path)
