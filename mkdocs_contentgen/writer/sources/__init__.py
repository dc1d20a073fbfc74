"""What texts are grounded in: files, the passages that a text cites, and what of it is stale.

In: the files of a site and of folders, which are not trusted, and a text with its citations.
Out: passages for a prompt, citations, and the sentences that their passages no longer support.
Open `sources.py` first, then `retrieval.py` for what a prompt gets, and `staleness.py` for texts
whose sources have changed.
"""
