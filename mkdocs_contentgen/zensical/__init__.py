"""Integrate articles with Zensical: the Markdown extension, and what commands need of a site."""
