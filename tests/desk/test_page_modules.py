"""The modules of the desk's page: what is known, the parts, the screens, and the start."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

from mkdocs_contentgen.desk import app

PAGE = Path(app.__file__).with_name("page")

LAYERS = ("state", "parts", "screens", "")
"""The folders of the desk's own modules, from the bottom up. The start is in none of them."""

IMPORT = re.compile(r'^(?:import|\} from)\b[^;]*?"(\.[^"]+)";', re.MULTILINE)


def imports_of(module: Path) -> list[Path]:
    """Return the modules that one imports."""
    names = IMPORT.findall(module.read_text("utf-8"))
    return [(module.parent / name).resolve() for name in names]


def layer_of(module: Path) -> str:
    """Return the folder of a module of the desk."""
    folder = module.parent.relative_to(PAGE).as_posix()
    return "" if folder == "." else folder


def test_no_module_imports_one_above_it() -> None:
    """State, parts, screens, start: no import runs up, and there is no circle within a layer."""
    graph: dict[str, list[str]] = {}
    up = []
    for module in PAGE.rglob("*.js"):
        name = module.relative_to(PAGE).as_posix()
        found = imports_of(module)
        graph[name] = [other.relative_to(PAGE).as_posix() for other in found]
        layer = layer_of(module)
        if layer not in LAYERS:  # a script that pages of the site get, which share nothing
            assert {layer_of(other) for other in found} <= {layer}, name
            continue
        for other in found:
            assert other.is_file(), f"{name} imports {other}"
            if LAYERS.index(layer_of(other)) > LAYERS.index(layer):
                up.append(f"{name} imports {other.name}")
    assert up == []
    TopologicalSorter(graph).prepare()  # raises CycleError
    assert len(graph["desk.js"]) > 5  # the imports were found


def test_each_module_is_used() -> None:
    """The start leads to each module of the desk, and each script of the pages is asked for."""
    reached: set[Path] = set()
    waiting = [PAGE / "desk.js"]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += imports_of(module)
    own = {module for module in PAGE.rglob("*.js") if layer_of(module) in LAYERS}
    assert reached == own
