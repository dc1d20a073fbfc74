"""The command `contentgen`. Each command loads the site, calls one function, and prints the result.

What happens to a text is decided in `texts` and `mkdocs`, not here.
"""
