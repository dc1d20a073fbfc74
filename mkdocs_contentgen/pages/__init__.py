"""What MkDocs and Zensical share: pages with requests, and articles in pages.

These modules read front matter and insert articles into pages. `texts` decides which text a request
gets, and `html` sanitizes it.
"""
