"""Get the text of each request: from an approved file, from the cache, or from the service.

In: requests, and a policy that says what may be sent. Nothing here depends on MkDocs.
Out: an outcome for each request, and messages that the caller logs or prints.
Open `obtain.py` first, then `articles.py` for the states of texts. Only `store/` uses the caches,
`approved_dir.py` reads approved files, and `approved_writer.py` writes them.
"""
