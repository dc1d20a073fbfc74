"""The writer as an HTTP server, for a team and its CI."""
