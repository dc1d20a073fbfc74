"""What MkDocs and Zensical share: options, front matter, and articles in pages.

In: the options and pages of a site, and the texts that `texts` gets for its requests.
Out: a `Site` with its requests, the texts of a build, and pages with the articles in them.
Open `site.py` first, then `build.py` for the texts of a build, or `extension.py` for how articles
get into pages.
"""
