"""Integrate articles with MkDocs: the plugin, and what commands need of a site."""
