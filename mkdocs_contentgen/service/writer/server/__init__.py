"""The writer as a server: the interface document for a team, its CI and other programs."""
