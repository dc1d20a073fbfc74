"""What people do with texts: approve, propose, compare, update, translate, import and eject them.

In: a site, the articles that a command or the desk names, and what a person wants of them.
Out: written drafts, files and pages, and records that commands, the desk and reports show.
Open the module of the action first: `approving.py`, `proposing.py`, `updating.py`, `importing.py`
or `ejection.py`. What a reviewer of a pull request gets begins in `pull_requests.py`.
"""
