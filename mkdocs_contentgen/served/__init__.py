"""The writer as an HTTP server for a team and its CI, with users, budgets and a ledger."""
