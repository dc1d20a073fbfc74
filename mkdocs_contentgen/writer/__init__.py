"""The writer: texts by a language model of the user's choice.

In: a request with its brief and sources, and the options `writer`.
Out: the HTML of interface section 2.2, with remarks, cited sources and statements to check.
Open `writing.py` first: prompt, Markdown, checks, one repair, HTML. `models/` asks, `answers/`
reads, `sources/` finds and cites passages, and `marks/` finds what is to be checked. Caching is in
`texts`.
"""
