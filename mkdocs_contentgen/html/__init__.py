"""From untrusted HTML to the article of a page, and to a document that people can edit.

In: HTML of a service, the cache or a file, which are all untrusted, or Markdown of a person.
Out: sanitized HTML, an element with its disclosure, blocks and their differences, or Markdown.
Open `sanitizer.py` first, then `presentation.py` for what a page shows, or `document.py` for what
people, comparisons and updates read and change.
"""
