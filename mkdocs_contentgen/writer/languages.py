"""The languages of texts: their names for prompts, and the words that the writer adds to a text."""

from __future__ import annotations

import re
from typing import NamedTuple


class Language(NamedTuple):
    """The English name of a language, and words in it."""

    name: str
    byline: str
    """The byline of a news report. It names no person."""

    sources: str
    """The heading of the list of sources."""

    tip: str
    """The label of a tip."""


ENGLISH = Language("English", "AI-generated", "Sources", "Tip")

# The most used languages of documentation sites.
LANGUAGES = {
    "en": ENGLISH,
    "ar": Language("Arabic", "من إنشاء الذكاء الاصطناعي", "المصادر", "نصيحة"),
    "cs": Language("Czech", "Vytvořeno umělou inteligencí", "Zdroje", "Tip"),
    "de": Language("German", "KI-generiert", "Quellen", "Tipp"),
    "es": Language("Spanish", "Generado por IA", "Fuentes", "Consejo"),
    "fa": Language("Persian", "تولیدشده با هوش مصنوعی", "منابع", "نکته"),
    "fr": Language("French", "Généré par IA", "Sources", "Astuce"),
    "hi": Language("Hindi", "एआई द्वारा निर्मित", "स्रोत", "सुझाव"),
    "id": Language("Indonesian", "Dibuat oleh AI", "Sumber", "Tips"),
    "it": Language("Italian", "Generato dall'IA", "Fonti", "Suggerimento"),
    "ja": Language("Japanese", "AIによる生成", "出典", "ヒント"),
    "ko": Language("Korean", "AI 생성", "출처", "팁"),
    "nl": Language("Dutch", "Door AI gegenereerd", "Bronnen", "Tip"),
    "pl": Language("Polish", "Wygenerowane przez AI", "Źródła", "Wskazówka"),
    "pt": Language("Portuguese", "Gerado por IA", "Fontes", "Dica"),
    "ru": Language("Russian", "Создано ИИ", "Источники", "Совет"),
    "tr": Language("Turkish", "Yapay zekâ ile oluşturuldu", "Kaynaklar", "İpucu"),
    "uk": Language("Ukrainian", "Створено ШІ", "Джерела", "Порада"),
    "vi": Language("Vietnamese", "Do AI tạo", "Nguồn", "Mẹo"),
    "zh": Language("Simplified Chinese", "由 AI 生成", "来源", "提示"),
    "zh-hant": Language("Traditional Chinese", "由 AI 產生", "資料來源", "提示"),
}

SOURCES_HEADINGS = frozenset(language.sources for language in LANGUAGES.values())
"""The headings of lists of sources."""

_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk", "zh-mo")


def find_language(tag: str) -> Language | None:
    """Return the language of a BCP 47 tag, or None if it, or its script, is not in the table."""
    tag = tag.lower()
    if re.match(r"[a-z]+-(?!hans|hant)[a-z]{4}(?:-|$)", tag):
        return None
    is_traditional = tag.startswith(_TRADITIONAL) and "-hans" not in tag
    name = "zh-hant" if is_traditional else tag.partition("-")[0]
    return LANGUAGES.get(name)


def language_name(tag: str) -> str:
    """Return the name of a language for a prompt, such as `German (de-AT)`."""
    language = find_language(tag)
    return f"{language.name} ({tag})" if language else f"the language with the tag `{tag}`"
