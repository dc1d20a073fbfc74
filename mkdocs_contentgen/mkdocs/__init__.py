"""Integrate articles with MkDocs: the plugin, its options, and what commands need of a site.

These modules read front matter and insert articles into pages. `texts` decides which text a request
gets, and `html` sanitizes it.
"""
