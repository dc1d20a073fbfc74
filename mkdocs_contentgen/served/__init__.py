"""The writer as an HTTP server for a team and its CI, with users, budgets and a ledger.

In: `writer.yml`, and requests of clients with their tokens.
Out: texts of `writer`, each written once, and what they have cost.
Open `app.py` first, for the routes; then `jobs.py`, for how a text is written, and `ledger.py`, for
what is kept. Only `databases.py` uses SQLite and PostgreSQL.
"""
