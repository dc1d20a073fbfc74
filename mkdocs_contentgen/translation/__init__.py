"""Translations: from an original and the words of a model or a person to a text.

In: the original's text, the former translation, and what people wrote in a page.
Out: a text with the original's structure, the records by which it can be updated, and remarks.
Open `first_translation.py` and `updated_translation.py` first: both ask with `asking.py`, check
with `checks.py`, and put words into the original's structure with `composing.py`.
`imported_translation.py` begins with a page.
"""
