"""Reviews in pull requests on GitHub: its events, comments and pull requests."""
