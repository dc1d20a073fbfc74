"""From the answer of a model to a document of blocks.

In: what a model answered: Markdown in whatever form, which is not trusted.
Out: a document of blocks without talk, loops and HTML, remarks on what was taken out, or the
reason why it is no text.
Open `reading.py` first, then `markdown.py`; numbered blocks are read by `numbered_blocks.py`.
"""
