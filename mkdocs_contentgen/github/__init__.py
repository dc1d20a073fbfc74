"""Reviews in pull requests on GitHub: show, propose and approve texts there.

In: the environment and the event of a job, the git repository, and answers of GitHub's REST API.
Out: one comment for a pull request, a summary, and commits with proposals and approvals.
Open `checking.py`, `proposing.py` or `approving.py` first: each is a command of `action.yml`. Only
`api.py` sends requests.
"""
