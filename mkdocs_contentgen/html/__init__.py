"""Sanitize untrusted HTML, present it as an article of a page, and convert articles to Markdown.

The sanitizer treats all HTML alike, whether it comes from the service, the cache or a file.
"""
