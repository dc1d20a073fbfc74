"""The MkDocs plugin, and sites of MkDocs for commands.

In: the events of MkDocs with its configuration, files and pages.
Out: pages with articles, or a `Site` for a command. Texts come from `site` and `texts`.
Open `plugin.py` first: it handles the events in their order. Only `internals.py` accesses private
attributes of MkDocs.
"""
