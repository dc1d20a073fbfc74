"""The review desk: people read, check, change and approve texts in the browser."""
