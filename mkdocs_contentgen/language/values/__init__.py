"""Read figures, dates, times and number words as values, so that texts can be compared.

`5 pm` and `17:00` are one time, `18 %` and `18 percent` one share, and `five` is 5.
"""

from .conversion import is_converted
from .figure import Figure
from .finding import find_values, known_values
from .value import Readings, Value
from .vocabulary import (
    common_words,
    guess_language,
    has_unit_words,
    has_vocabulary,
    languages_with_common_words,
    spellings_of_months,
)

__all__ = [
    "Figure",
    "Readings",
    "Value",
    "common_words",
    "find_values",
    "guess_language",
    "has_unit_words",
    "has_vocabulary",
    "is_converted",
    "known_values",
    "languages_with_common_words",
    "spellings_of_months",
]
