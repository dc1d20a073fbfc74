"""What MkDocs and Zensical share: the options and pages of a site, and articles in pages.

These modules read front matter and insert articles into pages. `texts` decides which text a request
gets, and `html` sanitizes it.
"""
