"""Ask a model: over HTTP, or as a program.

In: messages, and the options `writer`.
Out: an answer with its use of tokens and its cost, or the reason why there is none.
Open `model.py` first, then `chat_completions.py` or `program.py`. `settings.py` checks the options.
"""
