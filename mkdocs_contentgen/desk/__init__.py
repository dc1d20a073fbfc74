"""The review desk: people read, check, change and approve texts in the browser.

In: a site, and the requests of a browser on this machine.
Out: the pages of the built site with the desk beside them, and changed or approved texts.
Open `app.py` first, for the routes; then `acts.py`, for what a person can do with a text. The page
itself, HTML and JavaScript, is in `page/`.
"""
