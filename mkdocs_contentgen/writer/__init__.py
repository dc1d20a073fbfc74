"""The writer: texts by a language model of the user's choice, through a chat completions API.

A request becomes a prompt, the model's Markdown is checked and repaired once, and code gives it the
HTML of interface section 2.2. Caching and concurrency are implemented in `texts`.
"""
