"""The Markdown extension for Zensical, its builds and its server, and its sites for commands.

In: the configuration and the pages of a site that Zensical builds, in a process of its own.
Out: pages with articles, or a `Site` for a command. Texts come from `site` and `texts`.
Open `building.py` first, for what happens in our process; then `extension.py`, for what happens in
that of Zensical.
"""
