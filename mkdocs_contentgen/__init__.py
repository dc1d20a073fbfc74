"""Articles from a content generation service in MkDocs pages.

Data flows one way: front matter → request → text → safe HTML → page.
"""
