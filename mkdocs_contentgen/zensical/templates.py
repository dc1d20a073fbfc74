"""Write the templates that show the languages of a page, for the author's `custom_dir`."""

from __future__ import annotations

from pathlib import Path

from ..errors import ConfigurationError
from ..files import read_text, reason_of, refuse_links, replace_text

_MAX_TEMPLATE = 100_000
"""The number of characters of a template of the author that is compared."""

_OVERRIDES = Path(__file__).parent / "overrides"
"""The templates, which read what metadata_of_languages() returns."""


def write_templates(folder: Path) -> list[str]:
    """Write the templates into a folder, and return their paths. None takes the author's place.

    Raises ConfigurationError, with nothing written, if there is another template already.
    """
    templates = {}
    for source in sorted(_OVERRIDES.rglob("*.html")):
        templates[folder / source.relative_to(_OVERRIDES)] = source.read_text("utf-8")
    path = folder
    try:
        for path, template in templates.items():
            refuse_links(path, folder)
            if path.exists() and read_text(path, folder, _MAX_TEMPLATE) != template:
                raise ConfigurationError(
                    f"{path}: is a template of your own, and stays; name another folder, and copy "
                    "from there what yours lacks"
                )
        for path, template in templates.items():
            replace_text(path, folder, template)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"{path}: the template cannot be written ({reason_of(error)})"
        ) from error
    return [str(path) for path in templates]
