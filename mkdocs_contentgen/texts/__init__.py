"""Get the text of each request: from approved files, from the cache, or from the service.

Nothing here depends on MkDocs. Callers pass requests, and log or print the messages they get back.
"""
