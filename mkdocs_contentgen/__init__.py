"""Articles from a content generation service in the pages of a documentation site.

Data flows one way: front matter → request → text → safe HTML → page. What programs may use is named
here; all else is private and may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import ContentgenError
    from .html.disclosure import Provenance, Review
    from .html.presentation import Presentation, present
    from .page_request import PageRequest
    from .requests import ArticleRequest, BlogRequest, NewsRequest, Problem, parse_front_matter
    from .service.client import ServiceClient
    from .text import Text
    from .texts.approved_dir import read_all
    from .texts.articles import Article
    from .texts.obtain import Foreground, Obtained, obtain
    from .texts.policy import Limits, Policy
    from .texts.store import DiskStore
    from .texts.store.shared import SharedStore

__all__ = [
    "Article",
    "ArticleRequest",
    "BlogRequest",
    "ContentgenError",
    "DiskStore",
    "Foreground",
    "Limits",
    "NewsRequest",
    "Obtained",
    "PageRequest",
    "Policy",
    "Presentation",
    "Problem",
    "Provenance",
    "Review",
    "ServiceClient",
    "SharedStore",
    "Text",
    "obtain",
    "parse_front_matter",
    "present",
    "read_all",
]

_MODULES = {
    "errors": ["ContentgenError"],
    "html.disclosure": ["Provenance", "Review"],
    "html.presentation": ["Presentation", "present"],
    "page_request": ["PageRequest"],
    "requests": [
        "ArticleRequest",
        "BlogRequest",
        "NewsRequest",
        "Problem",
        "parse_front_matter",
    ],
    "service.client": ["ServiceClient"],
    "texts.approved_dir": ["read_all"],
    "texts.articles": ["Article"],
    "texts.obtain": ["Foreground", "Obtained", "obtain"],
    "texts.policy": ["Limits", "Policy"],
    "text": ["Text"],
    "texts.store": ["DiskStore"],
    "texts.store.shared": ["SharedStore"],
}


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
            return value
    return object.__getattribute__(import_module(__name__), name)  # raises AttributeError
