"""From untrusted HTML to an article that can be shown, and on to Markdown.

Here are the limits of what is accepted, the classes that take the place of styles, and what a page
says of an article elsewhere. Nothing here knows where a text came from.
"""
