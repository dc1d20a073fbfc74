"""What MkDocs wants: the plugin, its options, the pages, and the server.

Here front matter is read from pages and articles are put into them. Which text a request gets is
decided in `texts`, and what the text may hold in `html`.
"""
