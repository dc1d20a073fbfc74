"""Write the templates that show the languages of a page, for the author's `custom_dir`."""

from __future__ import annotations

from pathlib import Path

from ..errors import ConfigurationError
from ..files import reason_of, refuse_links, replace_text

_OVERRIDES = Path(__file__).parent / "overrides"
"""The templates, which read what metadata_of_languages() returns."""


def write_templates(folder: Path) -> list[str]:
    """Write the templates into a folder, and return their paths. None takes the author's place.

    Raises ConfigurationError, with nothing written, if there is another template already.
    """
    templates = {}
    for source in sorted(_OVERRIDES.rglob("*.html")):
        templates[folder / source.relative_to(_OVERRIDES)] = source.read_text("utf-8")
    try:
        for path, template in templates.items():
            refuse_links(path, folder)
            if path.exists() and path.read_text("utf-8") != template:
                raise ConfigurationError(
                    f"{path}: is a template of your own, and stays; name another folder, and copy "
                    "from there what yours lacks"
                )
        for path, template in templates.items():
            replace_text(path, folder, template)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"{folder}: the templates cannot be written ({reason_of(error)})"
        ) from error
    return [str(path) for path in templates]
